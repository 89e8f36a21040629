"""What a run keeps of itself and of those before it: its id, the snapshot of its eval, its recorder, which run it
resumes, its history.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.errors import StoreError
from evenhand.files.codec import Codec
from evenhand.scoring.consistency import Consistency, PastScores, check_score_consistency
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.store.writer import StoreWriter

if TYPE_CHECKING:
    from evenhand.evals.eval_definition import Eval
    from evenhand.model.rubric import Rubric


Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvalRecord:
    """An eval without its samples and without anything that could be asked."""

    name: str
    control: str
    variants: Mapping[str, str]  # What each is, in a few words.
    judges: tuple[str, ...]
    guards: tuple[str, ...]
    rubrics: tuple[Json, ...]
    assertions: tuple[str, ...]
    gates: Mapping[str, Fraction]
    smallest_effect: Fraction
    repeats: int
    seed: int
    fingerprints: Mapping[str, str]

    def to_json(self) -> Json:
        """As plain data."""
        written: Json = SNAPSHOT_JSON.to_json(self)
        return written

    @property
    def scale(self) -> tuple[float, float] | None:
        """The scale of the rubrics' own scores, where they share one."""
        scales = {tuple(rubric["score_scale"]) for rubric in self.rubrics}
        return scales.pop() if len(scales) == 1 else None

    @property
    def shippable_variants(self) -> list[str]:
        """The variants that somebody may want to ship: the treatments, or the only one there is."""
        return [name for name in self.variants if name != self.control] or [self.control]


def record_eval_of_run(eval: Eval, fingerprints: Mapping[str, str]) -> RunEvalRecord:
    """The frame of an eval."""
    return RunEvalRecord(
        name=eval.name,
        control=eval.control,
        variants={name: variant.about for name, variant in eval.variants.items()},
        judges=eval.judges if fingerprints else (),
        guards=eval.guards,
        rubrics=tuple(rubric_snapshot_json(tag, rubric) for tag, rubric in eval.rubrics.items()),
        assertions=tuple(one.title for one in eval.assertions),
        gates=eval.gates,
        smallest_effect=eval.smallest_effect,
        repeats=eval.repeats,
        seed=eval.how.seed,
        fingerprints=fingerprints,
    )


def read_run_eval_record(data: object) -> RunEvalRecord:
    """The frame that a run has kept."""
    return SNAPSHOT_JSON.from_json(RunEvalRecord, data)


SNAPSHOT_JSON = Codec(error=StoreError, hint="the store is damaged, or of another version")


def rubric_snapshot_json(tag: str, rubric: Rubric) -> Json:
    """A rubric as a report shows it."""
    span = rubric.method.scale
    return {
        "name": rubric.name,
        "method": rubric.method.name,
        "about": rubric.about,
        "tags": [tag] if tag else [],
        "score_scale": [float(span.min), float(span.max)],
        "grades": [
            {"grade": one.grade, "from": float(one.from_), "label": one.label, "description": one.description}
            for one in rubric.method.grades
        ],
        "criteria": [
            {
                "id": leaf.id,
                "asks": leaf.asks,
                "weight": float(leaf.weight),
                "scale": str(leaf.scale),
                "ends": [float(leaf.scale.min), float(leaf.scale.max)],
            }
            for leaf in rubric.leaves.values()
        ],
    }


@dataclass(frozen=True, slots=True)
class RunRecorder:
    """The store as one run writes to it; `now` tells the time of day so that it sorts."""

    store: Store
    writer: StoreWriter
    run: str
    now: Callable[[], str]


@dataclass(slots=True)
class RunWork:
    """What is being asked about, and what asking has come to so far; `variant` is empty where it is about several."""

    position: int
    repeat: int
    variant: str = ""
    keys: list[str] = field(default_factory=list)  # Of the calls that it rests on.
    unanswered: int = 0  # Calls that failed and may go well another time.


def make_run_id(began: datetime) -> str:
    """An id such as 20261116-053741-2a19f0."""
    return f"{began:%Y%m%d-%H%M%S}-{began.microsecond // 1000:03x}{secrets.token_hex(2)[:3]}"


def find_resumable_run_record(store: Store, name: str, digest: str) -> Row | None:
    """The newest run of an eval in which all was the same, else the newest; one that was rescored asked nothing."""
    runs = store.list_runs(name)
    same = (row for row in runs if row["digest"] == digest)
    return next(filter(_run_asked_judges, same), None) or next(filter(_run_asked_judges, runs), None)


def list_run_record_lineage(store: Store, row: Row) -> list[str]:
    """A run, the one it took over from, the one before that, …: what they made need not be made again."""
    before = {one["id"]: one["taken_from"] for one in store.list_runs(row["name"])}
    line, earlier = [row["id"]], row["taken_from"]
    while earlier is not None:
        line.append(earlier)
        earlier = before.get(earlier)
    return line


def _run_asked_judges(row: Row) -> bool:
    return "rescored_from" not in json.loads(row["setup"])


@dataclass(frozen=True, slots=True, kw_only=True)
class PastEvaluation:
    """One variant in one finished run."""

    run: str
    ended: str
    fingerprint: str
    composite: float | None
    score: float | None
    criteria: Mapping[str, Fraction]
    asked: int  # Calls that were made for it.
    digest: str | None  # Of its outputs and all that was said of them; runs from before it was kept have none.
    same_as: str | None = None  # The earlier run with the very same outputs and replies: both are one evaluation.
    consistency: Consistency | None = None


def evaluate_run_records(runs: Iterable[Mapping[str, Any]], variant: str) -> list[PastEvaluation]:
    """A variant through the finished runs of its eval, oldest first, each held against those before it."""
    past: dict[str, PastScores] = {}  # By run; what was all kept from before, or came out the same, is no other one.
    seen: dict[tuple[str, str], str] = {}
    found = []
    for row in sorted(runs, key=lambda row: (row["ended"] or "", row["id"])):
        one = _read_run_record_evaluation(row, variant)
        if one is None:
            continue
        same_as = seen.setdefault((one.fingerprint, one.digest), one.run) if one.digest else one.run
        others = [scores for run, scores in past.items() if run != same_as]
        held = check_score_consistency(one.fingerprint, one.criteria, others)
        found.append(replace(one, consistency=held, same_as=None if same_as == one.run else same_as))
        if one.asked and same_as == one.run:
            past[one.run] = PastScores(fingerprint=one.fingerprint, scores=one.criteria)
    return found


def _read_run_record_evaluation(row: Mapping[str, Any], variant: str) -> PastEvaluation | None:
    if row["state"] != "finished" or row["summary"] is None:
        return None
    summary = json.loads(row["summary"])
    own = next((one for one in summary["variants"] if one["name"] == variant), None)
    if own is None:
        return None
    criteria = {id: Fraction(one["exact"]) for id, one in own["criteria"].items() if one["exact"] is not None}
    layers = {name: Fraction(one["exact"]) for name, one in own["layers"].items() if one is not None}
    asked = sum(one["calls"] - one["cached"] for one in summary["judges"])
    return PastEvaluation(
        run=row["id"],
        ended=row["ended"],
        fingerprint=row["fingerprint"],
        composite=own["composite"]["mean"] if own["composite"] else None,
        score=own["score"]["mean"] if own["score"] else None,
        criteria={**layers, **criteria},
        asked=asked if summary["judges"] else 1,
        digest=own.get("digest"),
    )
