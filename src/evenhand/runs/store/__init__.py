"""Where runs are kept: SQLite in a folder, or PostgreSQL; written as results come, read back a few rows at a time."""

from evenhand.runs.store._collect import Collected
from evenhand.runs.store._contests import Contests
from evenhand.runs.store._finished import Finished, Unit
from evenhand.runs.store._holding import this_process
from evenhand.runs.store._migrate import NO_CONTESTS
from evenhand.runs.store._rows import Batch, Row, compact
from evenhand.runs.store._store import Store
from evenhand.runs.store._writer import Writer

__all__ = [
    "NO_CONTESTS",
    "Batch",
    "Collected",
    "Contests",
    "Finished",
    "Row",
    "Store",
    "Unit",
    "Writer",
    "compact",
    "this_process",
]
