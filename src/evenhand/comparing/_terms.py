"""On what terms runs are compared."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """`control` is a variant, where those of one run are compared; with `force` what differs is marked, not refused."""

    control: str | None = None
    not_worse_by: float | None = None
    force: bool = False
    power: bool = False  # Also how many samples would settle it.
