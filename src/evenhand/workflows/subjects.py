"""Subjects, such as a skill, a prompt or an agent: their evaluations stored, compared with earlier ones, deleted."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from typing import Any

from evenhand.errors import Fault, InputError, suggest_close_word_in_error
from evenhand.guards.personal_data import TextMask, mask_data, mask_personal_data
from evenhand.judging.results import judgment_to_json
from evenhand.model.scale import Scored
from evenhand.model.scorecard import Judgment, Scores
from evenhand.models.hidden_keys import collect_api_keys_to_hide
from evenhand.runs.run_record import make_run_record_id
from evenhand.scoring.scores import Consistency, PastScores, ScoreHistory
from evenhand.scoring.scores_json import score_consistency_to_json, scorecard_to_json
from evenhand.store.database import NO_HISTORY
from evenhand.store.rows import Row, to_stored_json
from evenhand.store.store import Store
from evenhand.wording import pluralize_count, read_kept_fraction, round_number_for_json, spell_exact_fraction
from evenhand.workflows.stores import StoreLike, open_user_store

Json = dict[str, Any]

EVAL_PREFIX, SUBJECT_PREFIX = "eval:", "subject:"  # Before a name that both an eval and a subject have.
LONGEST_SUBJECT_NAME = 120
ALL_EVALUATIONS, LATEST_EVALUATION = "all", "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectEvaluation:
    """One stored evaluation of a subject, compared with those before it.

    `changed` where its fingerprint is another than that of the evaluation before; `trend` is how far the score moved
    since then, None where the two cannot be compared.
    """

    subject: str
    id: str
    at: str
    rubric: str
    fingerprint: str
    scorecard: Json  # The stable JSON of its scorecard, personal data masked.
    output_digest: str | None  # SHA-256 of the output; None where only answers were given.
    criteria: Mapping[str, Fraction]
    consistency: Consistency
    same_as: str | None  # The earlier evaluation with the same output and the same answers: both count once.
    changed: bool = False
    trend: float | None = None

    def history_to_json(self) -> Json:
        """What `score` and `judge` print beside the scores."""
        history = {
            "n": self.consistency.n,
            **score_consistency_to_json(self.consistency),
            "fingerprint_changed": self.changed,
            "same_as": self.same_as,
        }
        return {"subject": self.subject, "evaluation": self.id, "history": history}

    def to_json(self) -> Json:
        """As plain data."""
        return {
            "subject": self.subject,
            "evaluation": self.id,
            "at": self.at,
            "rubric": self.rubric,
            "fingerprint": self.fingerprint,
            "fingerprint_changed": self.changed,
            "trend": self.trend,
            "output_digest": self.output_digest,
            "same_as": self.same_as,
            **score_consistency_to_json(self.consistency),
            "scorecard": self.scorecard,
        }


def store_subject_evaluation(
    store: StoreLike,
    subject: str,
    scores: Scores,
    *,
    output: str | None = None,
    judgments: Sequence[Judgment] = (),
    mask: TextMask = mask_personal_data,
) -> SubjectEvaluation:
    """Store the evaluation of one output of a subject, and compare it with the earlier ones; its score stays as it is.

    Kept are the scorecard, with personal data masked, and a digest of the output and what was said of it.
    """
    check_subject_name(subject)
    refuse_several_outputs_of_subject([card.id for card in scores.scorecards])
    (card,) = scores.scorecards
    found = scorecard_to_json(scores.rubric, card)
    output_digest = None if output is None else sha256(output.encode("utf-8", "surrogatepass")).hexdigest()
    if output is not None:  # The name of a file says nothing about what is in it.
        told = [output_digest, {**found, "id": None}, [{**judgment_to_json(one), "output": None} for one in judgments]]
    else:
        told = [found]
    content = {
        "rubric": scores.rubric.name,
        "judges": list(dict.fromkeys(one.judge for one in judgments)),
        "output_digest": output_digest,
        "exact": {
            id: spell_exact_fraction(score.value) for id, score in card.criteria.items() if isinstance(score, Scored)
        },
        # Keys first: one in which the mask finds a number would not be known any more.
        "scorecard": mask_data(collect_api_keys_to_hide(os.environ).remove_from_data(found), mask),
    }
    now = datetime.now(UTC)
    row = {
        "id": make_run_record_id(now),
        "subject": subject,
        "at": now.isoformat(timespec="microseconds"),  # Evaluations from Python may follow each other fast.
        "fingerprint": scores.fingerprint,
        "digest": sha256(json.dumps(told, sort_keys=True).encode()).hexdigest(),
        "content": to_stored_json(content),
    }
    with open_user_store(store, create=True) as opened:
        opened.evaluations.add_evaluation(row)
        return next(one for one in load_subject_evaluations(opened, subject) if one.id == row["id"])


def load_subject_evaluations(store: Store, subject: str) -> list[SubjectEvaluation]:
    """The evaluations of a subject, oldest first, each compared with those before it."""
    history, found = ScoreHistory(), list[SubjectEvaluation]()
    for row in store.evaluations.list_evaluations(subject):
        found.append(_compare_subject_history(row, history, found[-1] if found else None))
    return found


def _compare_subject_history(row: Row, history: ScoreHistory, before: SubjectEvaluation | None) -> SubjectEvaluation:
    content = json.loads(row["content"])
    criteria = {id: read_kept_fraction(text) for id, text in content["exact"].items()}
    scores = PastScores(fingerprint=row["fingerprint"], scores=criteria)
    # One in which nothing was answered is no evaluation to compare others with.
    consistency, same_as = history.add_scores(row["id"], scores, row["digest"], counts=bool(criteria))
    changed = before is not None and before.fingerprint != row["fingerprint"]
    score, last = content["scorecard"]["score"], before.scorecard["score"] if before else None
    return SubjectEvaluation(
        subject=row["subject"],
        id=row["id"],
        at=row["at"],
        rubric=content["rubric"],
        fingerprint=row["fingerprint"],
        scorecard=content["scorecard"],
        output_digest=content["output_digest"],
        criteria=criteria,
        consistency=consistency,
        same_as=same_as,
        changed=changed,
        trend=None if changed or score is None or last is None else round_number_for_json(score - last),
    )


def check_subject_name(subject: str) -> None:
    """Refuse a name that could not be told from others, or not be typed."""
    prefixed = subject.startswith((EVAL_PREFIX, SUBJECT_PREFIX))
    if prefixed or not subject or subject != subject.strip() or not subject.isprintable():
        hint = f"a name on one line, as in release-notes, without {EVAL_PREFIX} or {SUBJECT_PREFIX} before it"
        raise InputError(Fault(f"a subject cannot be called {subject!r}", hint, where="--subject"))
    if len(subject) > LONGEST_SUBJECT_NAME:
        what = f"the name of a subject has at most {LONGEST_SUBJECT_NAME} characters, got {len(subject):,}"
        raise InputError(Fault(what, "as in release-notes", where="--subject"))


def refuse_several_outputs_of_subject(outputs: Sequence[str]) -> None:
    """An evaluation of a subject is of one output."""
    if len(outputs) == 1:
        return
    named = ": " + ", ".join(outputs[:3]) + (", …" if len(outputs) > 3 else "") if outputs else ""
    what = f"an evaluation of a subject is of one output, got {pluralize_count(len(outputs), 'output')}{named}"
    hint = "one command for each output" if outputs else "there is nothing to store"
    raise InputError(Fault(what, hint, where="--subject"))


def delete_subject_evaluations(store: StoreLike, subject: str, which: str) -> list[str]:
    """Remove evaluations of a subject: "all", "latest", or one by its id or the beginning of it; their ids."""
    name = subject.removeprefix(SUBJECT_PREFIX)
    with open_user_store(store, empty=NO_HISTORY) as opened:
        ids = [row["id"] for row in opened.evaluations.list_evaluations(name)]
        if not ids:
            raise InputError(_make_unknown_subject_fault(opened, name))
        if which == ALL_EVALUATIONS:
            opened.evaluations.delete_evaluations(name)
            return ids
        chosen = ids[-1:] if which == LATEST_EVALUATION else [id for id in ids if which and id.startswith(which)]
        if len(chosen) != 1:
            what = f"{which!r} begins {'more than one evaluation' if chosen else 'no evaluation'} of {name!r}"
            raise InputError(Fault(what, f"all, latest, or an id that evenhand history {name} lists", where="--delete"))
        opened.evaluations.delete_evaluations(name, chosen[0])
        return chosen


def _make_unknown_subject_fault(store: Store, name: str) -> Fault:
    if store.list_runs(name):
        hint = "it is an eval: evenhand runs delete RUN removes a run of it"
    else:
        known = list(dict.fromkeys(row["subject"] for row in store.evaluations.list_evaluations()))
        hint = suggest_close_word_in_error(name, known) or "evenhand history lists those that are here"
    return Fault(f"no subject is called {name!r}", hint)
