"""What a run keeps of itself and of those before it: its id, the snapshot of its eval, its recorder, which run it
resumes, its history.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from evenhand.errors import StoreError
from evenhand.evals.eval_schema import LAYERS, KeepReplies
from evenhand.evals.eval_scoring import (
    SAMPLE_RUBRIC_PREFIX,
    EvalCompositeSettings,
    name_sample_rubric_criterion,
    read_eval_layer_weights,
)
from evenhand.files.codec import Codec
from evenhand.runs.kept_texts import reduce_kept_row, reduce_unneeded_row
from evenhand.scoring.scores import Consistency, PastScores, ScoreHistory, list_scorecard_tie_breaks
from evenhand.store.rows import Row, StoreWriter, to_stored_json
from evenhand.store.run_holds import RunHold
from evenhand.store.store import Store
from evenhand.wording import read_kept_fraction, spell_exact_fraction, word_layer

if TYPE_CHECKING:
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
    composite: EvalCompositeSettings = field(default_factory=EvalCompositeSettings)
    count_borderline: bool = False  # Whether a borderline output counts for the gate on the pass rate.

    def find_layer_weights(self) -> dict[str, Fraction]:
        """What the layers weigh in the composite: as the eval says, else as its only rubric does; empty for alike."""
        if self.composite.weights:
            return dict(self.composite.weights)
        own = [
            {name: read_kept_fraction(one) for name, one in (rubric.get("layer_weights") or {}).items()}
            for rubric in self.rubrics
        ]
        return own[0] if own and all(one == own[0] for one in own) else {}

    def list_layer_gates(self, layers: Collection[str]) -> dict[str, float]:
        """The gates of some layers, as far as they are not the default of every layer.

        The judge layer's is, unless it is written, the least score that does not fail by the rubric's own verdicts.
        """
        own = [
            read_kept_fraction(rubric["judge_gate"]) for rubric in self.rubrics if rubric.get("judge_gate") is not None
        ]
        gates = ({"judge": min(own)} if own else {}) | dict(self.gates)
        return {name: float(least) for name, least in gates.items() if name in layers}

    @property
    def scale(self) -> tuple[float, float] | None:
        """The scale of the rubrics' own scores, where they share one."""
        scales = {tuple(rubric["score_scale"]) for rubric in self.rubrics}
        return scales.pop() if len(scales) == 1 else None

    @property
    def tie_breaks(self) -> list[str]:
        """Those of the rubrics, in their order."""
        return list(dict.fromkeys(one for rubric in self.rubrics for one in rubric.get("ties", ())))

    @property
    def shippable_variants(self) -> list[str]:
        """The variants that somebody may want to ship: the treatments, or the only one there is."""
        return [name for name in self.variants if name != self.control] or [self.control]


PAUSED_SECONDS = "paused"  # In the setup of a run that was resumed: how long nobody worked on it.
SNAPSHOT_JSON = Codec(error=StoreError, hint="the store is damaged, or of another version", lenient=True)
read_run_eval_record = SNAPSHOT_JSON.reader(RunEvalRecord)  # Of the "frame" that a run has kept.
write_run_eval_record = SNAPSHOT_JSON.writer(RunEvalRecord)
read_composite_record = partial(SNAPSHOT_JSON.from_json, EvalCompositeSettings)  # Of its "composite".


def run_rubric_snapshot_json(key: str, rubric: Rubric, *, with_criteria: bool = True) -> Json:
    """A rubric as a report shows it; one that samples bring says so, and its criteria have the names of columns."""
    span = rubric.method.scale
    least = None  # The least score that does not fail by the verdicts of the method, put linearly onto 1 to 5.
    if rubric.method.verdicts:
        least = 1 + 4 * (min(one.from_ for one in rubric.method.verdicts) - span.min) / (span.max - span.min)
    own = key.startswith(SAMPLE_RUBRIC_PREFIX)
    name: Callable[[str], str] = partial(name_sample_rubric_criterion, key) if own else str
    return {
        "name": rubric.name,
        "method": rubric.method.name,
        "about": rubric.about,
        "tags": [key] if key and not own else [],
        **({"key": key} if own else {}),
        "score_scale": [float(span.min), float(span.max)],
        **({"normalise": rubric.method.panel.normalise} if rubric.method.panel.normalise != "none" else {}),
        "grades": [
            {"grade": one.grade, "from": float(one.from_), "label": one.label, "description": one.description}
            for one in rubric.method.grades
        ],
        "ties": [
            name(one.of) if one.by == "criterion" else str(one)
            for one in (list_scorecard_tie_breaks(rubric) if rubric.method.ties else ())
        ],
        "statements": [
            {"kind": kind, "id": name(one.id), "asks": one.asks}
            for kind, several in (("red_flag", rubric.red_flags), ("bonus", rubric.bonuses))
            for one in several
        ],
        "judge_gate": spell_exact_fraction(least),
        "verdicts": [{"verdict": one.verdict, "from": float(one.from_)} for one in rubric.method.verdicts],
        "layer_weights": {name: str(weight) for name, weight in read_eval_layer_weights(rubric).items()},
        "why": rubric.why,
        "gated": list(dict.fromkeys(gate.criterion for gate in rubric.all_gates)),
        "criteria": [
            {
                "id": name(leaf.id),
                "asks": leaf.asks,
                "weight": float(leaf.weight),
                "scale": str(leaf.scale),
                "ends": [float(leaf.scale.min), float(leaf.scale.max)],
            }
            for leaf in (rubric.leaves.values() if with_criteria else ())
        ],
    }


def find_run_rubric_key(snapshot: Mapping[str, Any]) -> str:
    """By what a rubric of a run goes: its tag, nothing where it is for all, or its key where samples bring it."""
    return str(snapshot.get("key") or next(iter(snapshot["tags"]), ""))


def name_layers_of_run_composite(layers: Sequence[str], shares: Mapping[str, Fraction] | None = None) -> str:
    """What a composite is of: a mean of layers, as they weigh, or one layer alone."""
    if len(layers) < 2:
        return f"{word_layer(layers[0])} alone" if layers else "no layer was scored"
    if not shares:
        return f"mean of {', '.join(map(word_layer, layers))}"
    return f"weighted mean of {', '.join(f'{word_layer(name)} × {float(shares[name]):g}' for name in layers)}"


def find_kept_result_composite(summary: Mapping[str, Any] | None) -> tuple[tuple[str, ...], str]:
    """The layers that the composites of a run are of, and how they were computed; earlier versions kept no words."""
    variants = summary["variants"] if summary else ()
    layers = tuple(name for name in LAYERS if any((one.get("layers") or {}).get(name) for one in variants))
    composed = (summary or {}).get("composite")
    if composed:
        return tuple(composed["layers"]), composed["says"] if composed["layers"] else ""
    return layers, name_layers_of_run_composite(layers) if layers else ""


@dataclass(slots=True)
class RunRecorder:
    """The store as one run writes to it; `now` tells the time of day so that it sorts."""

    store: Store
    writer: StoreWriter
    hold: RunHold
    now: Callable[[], str]
    keep: KeepReplies = "raw"
    has_other_workers: bool = False  # That write to the same run at the same time.
    is_ending: bool = False  # Replies and outputs are being dropped: none is written as it came any more.

    def put_row(self, kind: str, row: Row, texts: Iterable[str] = ()) -> asyncio.Future[Any]:
        """Write a row of the run with as much of its texts as the run keeps; `texts` are those that it may quote."""
        return self.writer.put(kind, row if self.keep == "raw" else self._reduce_row(kind, row, texts))

    def leave_row(self, kind: str, row: Row) -> None:
        """Write a row in its turn, for nobody who waits."""
        self.writer.leave(kind, row if self.keep == "raw" else self._reduce_row(kind, row, ()))

    def _reduce_row(self, kind: str, row: Row, texts: Iterable[str]) -> Row:
        row = reduce_kept_row(kind, row, self.keep, texts)
        return reduce_unneeded_row(kind, row, self.keep) if self.is_ending else row

    def end_raw_texts(self) -> asyncio.Future[None]:
        """Write no reply and no output as it came any more; what was put before is in the store once it is over."""
        self.is_ending = True
        return self.writer.flush()


@dataclass(slots=True)
class RunWork:
    """What is being asked about, and what asking has come to so far; `variant` is empty where it is about several."""

    position: int
    repeat: int
    variant: str = ""
    keys: list[str] = field(default_factory=list)  # Of the calls that it rests on.
    unanswered: int = 0  # Calls that failed and may go well another time.
    asked: int = 0  # Calls that were made for it.
    kept: int = 0  # Replies and outputs that were there from before.

    def add_calls(self, shared: RunWork) -> None:
        """Count what was asked about several outputs at once, this one among them."""
        self.keys += shared.keys
        self.unanswered += shared.unanswered
        self.asked += shared.asked
        self.kept += shared.kept

    def place_in_run(self, book: RunRecorder) -> Row:
        """The columns that say where in the run a row belongs, and when it was written."""
        return {
            "run": book.hold.run,
            "position": self.position,
            "variant": self.variant,
            "repeat": self.repeat,
            "at": book.now(),
        }


def make_run_record_id(began: datetime) -> str:
    """An id such as 20261116-053741-2a19f0."""
    return f"{began:%Y%m%d-%H%M%S}-{began.microsecond // 1000:03x}{secrets.token_hex(2)[:3]}"


@lru_cache(1)  # Many rows are written in one second.
def write_run_record_second(seconds: int) -> str:
    """A second since the beginning of 1970 in UTC, written so that it sorts."""
    return (datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)).replace(tzinfo=None).isoformat()


def read_run_record_moment(id: str) -> str | None:
    """When what has this id began, as its row has it; None where the id does not say."""
    try:
        second = datetime.strptime(id[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
        began = second.replace(microsecond=1000 * int(id[16:19], 16))
    except ValueError:
        return None
    return began.isoformat(timespec="milliseconds")


def count_run_record_seconds(run: Row, end: datetime) -> float:
    """How long a run was worked on until a moment: the pauses before it was resumed do not count."""
    spent = (end - datetime.fromisoformat(run["started"])).total_seconds()
    paused = json.loads(run["setup"]).get(PAUSED_SECONDS)
    known = isinstance(paused, int | float) and 0 <= paused <= spent  # Of an imported run it is anybody's word.
    return max(0.0, spent - paused if known else spent)


def add_pause_to_run_record(run: Row, left: str, now: str) -> Row:
    """The row of a run that is resumed, with the time since it was left among what it keeps of itself."""
    setup = json.loads(run["setup"])
    pause = (datetime.fromisoformat(now) - datetime.fromisoformat(left)).total_seconds()
    paused = round(setup.get(PAUSED_SECONDS, 0) + max(0.0, pause), 3)
    return {**run, "setup": to_stored_json({**setup, PAUSED_SECONDS: paused})}


def find_run_record_by_digest(store: Store, name: str, digest: str) -> Row | None:
    """The newest run of an eval in which all was the same, else the newest; one that was rescored asked nothing.

    An imported run is no run of ours to go on with.
    """
    runs = [row for row in store.list_runs(name) if row["imported"] is None]
    same = (row for row in runs if row["digest"] == digest)
    asked = (row for row in (*same, *runs) if "rescored_from" not in json.loads(row["setup"]))
    return next(asked, None)


def list_run_record_chain(store: Store, row: Row) -> list[str]:
    """A run, the one it took over from, the one before that, …: what they made need not be made again."""
    own = [one for one in store.list_runs(row["name"]) if one["imported"] is None]
    before = {one["id"]: one["taken_from"] for one in own}
    line, earlier = [row["id"]], row["taken_from"]
    while earlier in before and earlier not in line:
        line.append(earlier)
        earlier = before[earlier]
    return line


@dataclass(frozen=True, slots=True, kw_only=True)
class PastEvaluation:
    """One variant in one finished run."""

    run: str
    ended: str
    fingerprint: str
    selection: Json | None  # Which samples the run was told to take; None for all.
    composite: float | None
    score: float | None
    criteria: Mapping[str, Fraction]
    layers: tuple[str, ...]  # Those that the composite is of.
    computed: str  # How the composite was computed from them.
    asked: int  # Calls that were made for it.
    same_as: str | None  # The earlier run with the very same outputs and replies: both are one evaluation.
    imported: bool  # It is held against those before it, and none against it.
    consistency: Consistency


def evaluate_variant_in_run_records(runs: Iterable[Mapping[str, Any]], variant: str) -> list[PastEvaluation]:
    """A variant through the finished runs of its eval, oldest first, each held against those before it."""
    history = ScoreHistory()  # What was all kept from before, or came out the same, counts once.
    found = []
    for row in sorted(runs, key=lambda row: (row["ended"] or "", row["id"])):
        if row["state"] != "finished" or row["summary"] is None:
            continue
        summary = json.loads(row["summary"])
        own = next((one for one in summary["variants"] if one["name"] == variant), None)
        if own is None:
            continue
        composed = find_kept_result_composite(summary)
        layers = {name: read_kept_fraction(one["exact"]) for name, one in own["layers"].items() if one is not None}
        criteria = {
            id: read_kept_fraction(one["exact"]) for id, one in own["criteria"].items() if one["exact"] is not None
        }
        # A run of some samples is held against runs of the same selection.
        selection = summary["run"].get("selection")
        mark = row["fingerprint"] if selection is None else json.dumps([row["fingerprint"], selection])
        scores = PastScores(fingerprint=mark, scores={**layers, **criteria})
        asked = sum(one["calls"] - one["cached"] for one in summary["judges"]) if summary["judges"] else 1
        digest = own.get("digest")  # Of its outputs and all that was said of them; older runs have none.
        guest = row["imported"] is not None
        consistency, same_as = history.add_scores(row["id"], scores, digest, counts=asked > 0, guest=guest)
        one = PastEvaluation(
            run=row["id"],
            ended=row["ended"],
            fingerprint=row["fingerprint"],
            selection=selection,
            composite=own["composite"]["mean"] if own["composite"] else None,
            score=own["score"]["mean"] if own["score"] else None,
            criteria=scores.scores,
            layers=composed[0],
            computed=composed[1],
            asked=asked,
            same_as=same_as,
            imported=guest,
            consistency=consistency,
        )
        found.append(one)
    return found
