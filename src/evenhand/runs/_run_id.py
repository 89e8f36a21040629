"""Ids of runs: they sort by the moment of the start, to the millisecond, and no two machines make the same."""

from __future__ import annotations

import secrets
from datetime import datetime


def run_id(began: datetime) -> str:
    """An id such as 20261116-053741-2a19f0."""
    return f"{began:%Y%m%d-%H%M%S}-{began.microsecond // 1000:03x}{secrets.token_hex(2)[:3]}"
