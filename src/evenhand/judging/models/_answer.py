"""What comes of an exchange with a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server sent back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Cut:
    """That no whole answer came: too late, cut off, nobody there, or for a reason that will not change."""

    why: str
    kind: Literal["late", "cut", "unreached", "final"]
