"""Contests from Python: judges opened, a task's contest played and kept, read back, gone on with."""

from evenhand.contesting._advice import check_submission, generate_dimensions
from evenhand.contesting._kept import contest_record
from evenhand.contesting._run import Contest, Played, run_contest

__all__ = ["Contest", "Played", "check_submission", "contest_record", "generate_dimensions", "run_contest"]
