"""What was received for a contest before, held against what is handed in now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evenhand.contest.intake import SubmissionSetAside
from evenhand.contest.state import ContestEntry
from evenhand.contest.task import Submission
from evenhand.errors import Fault


def set_changed_submissions_aside(
    entries: Mapping[str, ContestEntry], submissions: Sequence[Submission]
) -> tuple[list[Submission], list[SubmissionSetAside]]:
    """The submissions that are as they were received, or new, and the others, set aside.

    What judges have seen is not exchanged: what was received first counts, and nobody else waits for it.
    """
    ids = {one.id for one in submissions}
    held = [_restore_removed_revision(one, entries, ids) for one in submissions]
    changed = [one for one in held if one.id in entries and entries[one.id].submission != one]
    fault = Fault("has changed since it was received; what was received counts", "hand in another one as a revision")
    aside = [
        SubmissionSetAside(file=one.id, author=entries[one.id].submission.author, faults=(fault,)) for one in changed
    ]
    return [one for one in held if one not in changed], aside


def _restore_removed_revision(submission: Submission, entries: Mapping[str, ContestEntry], ids: set[str]) -> Submission:
    """A submission as it was received, where all that differs is that the one which it revises was removed since."""
    if submission.id not in entries:
        return submission
    received = entries[submission.id].submission
    is_removed = received.revises is not None and received.revises not in ids
    return received if is_removed and replace(submission, revises=received.revises) == received else submission
