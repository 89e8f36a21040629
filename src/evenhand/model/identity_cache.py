"""A cache of values computed once for the same objects, found again by identity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

CachedValue = TypeVar("CachedValue")


class IdentityCache(Generic[CachedValue]):
    """Keeps what was made for a key of objects, texts and numbers.

    Objects are told apart by identity: hashing a rubric costs more than most of what is kept. What is kept holds its
    objects alive, so that no identity is used twice.
    """

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._kept: dict[tuple[object, ...], tuple[tuple[object, ...], CachedValue]] = {}

    def get(self, key: tuple[object, ...], make: Callable[[], CachedValue]) -> CachedValue:
        """What was made for this key, made now where it is the first time."""
        ids = tuple(part if isinstance(part, (str, int)) else id(part) for part in key)
        found = self._kept.get(ids)
        if found is None:
            if len(self._kept) >= self._most:
                self._kept.clear()
            found = self._kept[ids] = (key, make())
        return found[1]
