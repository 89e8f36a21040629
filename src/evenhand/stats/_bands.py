"""How an agreement is read: from which α on it can be relied on (Krippendorff 2004)."""

from __future__ import annotations

from typing import Literal

from evenhand.stats._arrays import real

Band = Literal["green", "amber", "red"]

AGREED = 0.667  # Relied on.
TENTATIVE = 0.4  # Some agreement beyond chance, and too little to rely on.
_NEARLY = 1e-9  # An α that is on a limit on paper is on it.


def band(alpha: float) -> Band:
    """Green where it can be relied on, amber where it is tentative, red below."""
    alpha = real(alpha, "alpha")
    return "green" if alpha >= AGREED - _NEARLY else "amber" if alpha >= TENTATIVE - _NEARLY else "red"
