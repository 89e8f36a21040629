"""Word vectors, where the extra is installed: how near two texts are in meaning."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol


class Vectors(Protocol):
    """Whoever tells how near texts are."""

    def of(self, texts: Sequence[str]) -> Any:
        """A matrix, one row of length 1 for each text."""


@lru_cache(maxsize=1)
def vectors() -> Vectors | None:
    """The vectors, loaded once; None where `wordllama` is not installed."""
    try:
        wordllama = importlib.import_module("wordllama")
    except ImportError:
        return None
    logging.getLogger("wordllama").setLevel(logging.ERROR)
    # Its own folder as the cache: what it ships is found there, and nothing is downloaded.
    home = Path(str(wordllama.__file__)).parent
    return _WordLlama(wordllama.WordLlama.load(cache_dir=home, dim=256, disable_download=True))


class _WordLlama:
    def __init__(self, model: Any) -> None:
        self._model = model

    def of(self, texts: Sequence[str]) -> Any:
        """A matrix, one row of length 1 for each text."""
        # Half of a surrogate pair is no text to the tokenizer.
        return self._model.embed([text.encode("utf-8", "replace").decode() for text in texts], norm=True)


def similarity(one: str, other: str) -> float | None:
    """How near two texts are in meaning, from 0 to 1; None where the vectors are not installed."""
    known = vectors()
    if known is None:
        return None
    first, second = known.of([one, other])
    return min(1.0, max(0.0, float(first @ second)))
