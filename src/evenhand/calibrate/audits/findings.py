"""A run as an audit reads it, and a finding: a number with its interval, its colour, and what would turn it green."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate.jackknife import Floats, IntervalEstimate
from evenhand.calibrate.labelled_outputs import Integers
from evenhand.errors import Fault, InputError
from evenhand.files.json_shape import json_key
from evenhand.model.method import Cap
from evenhand.model.scale import Missing
from evenhand.runs.columns import RunTable
from evenhand.wording import format_number, format_plural

AuditColour = Literal["red", "amber", "green", "grey"]
JudgesFit = Literal["yes", "with care", "no", "not known"]

AUDIT_COLOURS: tuple[AuditColour, ...] = ("red", "amber", "grey", "green")  # Worst first.
PANEL_SUBJECT = "panel"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """One thing that was looked at, of one judge or of the panel; grey is not known, and `says` tells why.

    `n` counts independent samples, and of failures the answers. `low` and `high` are None where there is no interval.
    """

    name: str = field(metadata=json_key("finding"))
    judge: str
    criterion: str | None = None
    colour: AuditColour
    value: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    n: int = 0
    unit: str = ""
    typical: float | None = None  # How many units outputs of one sample differ by, where the colour goes by that.
    method: str = ""
    says: str
    advice: str = ""

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise InputError(Fault(f"{self.name} of {self.judge}: an interval has two ends"))
        if self.colour == "green" and self.advice:
            raise InputError(Fault(f"{self.name} of {self.judge}: what is green needs no advice"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Whether the judges of a run are fit to decide, what speaks against it most, and everything that was found."""

    run: str
    fit: JudgesFit
    headline: str
    next_step: str
    worst: AuditFinding | None
    judges: tuple[str, ...]
    samples: int
    findings: tuple[AuditFinding, ...]
    imported: bool = False  # Whether the run was made elsewhere.


def unknown_calibration_finding(
    name: str, judge: str, why: str, *, advice: str = "", criterion: str | None = None
) -> AuditFinding:
    """What cannot be told, and why."""
    return AuditFinding(name=name, judge=judge, criterion=criterion, colour="grey", says=why, advice=advice)


def measured_audit_finding(  # noqa: PLR0913 - every part of a finding is its own.
    name: str,
    judge: str,
    found: IntervalEstimate,
    colour: AuditColour,
    says: str,
    advice: str,
    *,
    unit: str,
    criterion: str | None = None,
) -> AuditFinding:
    """What was measured; advice is for what is not green."""
    return AuditFinding(
        name=name,
        judge=judge,
        criterion=criterion,
        colour=colour,
        value=found.value,
        low=found.low,
        high=found.high,
        level=None if found.low is None else found.level,
        n=found.n,
        unit=unit,
        method=found.method,
        says=says,
        advice="" if colour == "green" else advice,
    )


AUDIT_LEVEL = 0.95


def bonferroni_audit_level(tests: int) -> float:
    """The level of each of several intervals that hold together in 95 of 100 audits (Bonferroni)."""
    return 1 - (1 - AUDIT_LEVEL) / max(1, tests)


def grade_audit_effect(low: float | None, high: float | None, value: float, matters: float) -> AuditColour:
    """Of an effect that should be 0.

    Green: shown to be below half of what matters. Red: there, and as large as what matters. Amber: there, and smaller.
    Grey: it may be 0, and may be large.
    """
    if low is None or high is None:
        return "grey"
    if max(abs(low), abs(high)) <= matters / 2:
        return "green"
    if low <= 0 <= high:
        return "grey"
    return "red" if abs(value) >= matters else "amber"


def bracket_audit_interval(found: IntervalEstimate, digits: int = 2) -> str:
    """The interval in square brackets, or that there is none."""
    if found.low is None or found.high is None:
        return f"(no interval from {format_plural(found.n, 'sample')})"
    return f"[{format_number(found.low, digits)}, {format_number(found.high, digits)}]"


AuditData = Mapping[str, Any]
COMPOSITE_SPAN = 4.0  # The composite's scale: 1 to 5. The smallest effect that matters is given on it.


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedJudgeAnswerCounts:
    """What a judge was asked: answers that count, abstentions, and answers that never came or could not be read."""

    answered: int
    abstained: int = 0
    failed: int = 0

    @property
    def asked(self) -> int:
        """All of them."""
        return self.answered + self.abstained + self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationAuditedRun:
    """What an audit rests on, beside the columns of the run.

    `answer_counts` counts each judge's answers. `models` names the model behind each judge, `makers` the model
    that made each variant, where they are known. `holistic` holds scores for the whole that stand in for answers which
    could not be read, `asked_holistic` those that were asked for beside the criteria. `normalises` says whether a
    rubric of the run normalises its reviewers.
    `comparisons` are those of the run's decision, as plain data; `position_bias` is what the run keeps of each judge
    that was asked about pairs.
    """

    table: RunTable
    answer_counts: Mapping[str, AuditedJudgeAnswerCounts] = field(default_factory=dict)
    makers: Mapping[str, str] = field(default_factory=dict)
    holistic: Mapping[str, Floats] = field(default_factory=dict)
    asked_holistic: Mapping[str, Floats] = field(default_factory=dict)
    comparisons: tuple[AuditData, ...] = ()
    normalises: bool = False
    position_bias: tuple[AuditData, ...] = ()

    @property
    def judges(self) -> tuple[str, ...]:
        """Those that gave an answer, in the order of the eval."""
        answered = dict.fromkeys([*self.table.frame.judges, *(judge for judge, _ in self.table.judgments)])
        return tuple(judge for judge in answered if any(one == judge for one, _ in self.table.judgments))

    @property
    def span(self) -> float:
        """From the lowest to the highest score of the rubrics; 1 where they differ, and scores are shares."""
        scale = self.table.frame.scale
        return scale[1] - scale[0] if scale else 1.0

    @property
    def smallest_effect(self) -> float:
        """The smallest effect, in points of the score."""
        return float(self.table.frame.smallest_effect) / COMPOSITE_SPAN * self.span

    @property
    def criteria(self) -> dict[str, AuditData]:
        """Every criterion that was asked, by id."""
        return {one["id"]: one for rubric in self.table.frame.rubrics for one in rubric["criteria"]}

    def scores(self, judge: str) -> Floats:
        """What a judge's answers came to for each output: as the method counted it, else their mean by weight."""
        given = self.table.reviews.get(judge)
        if given is not None and not np.isnan(given).all():
            return given
        return self.table.score if len(self.judges) == 1 else self._mean_judge_answer(judge)

    def _mean_judge_answer(self, judge: str) -> Floats:
        total, weights = np.zeros(len(self.table.score)), np.zeros(len(self.table.score))
        for id, criterion in self.criteria.items():
            column = self.table.judgments.get((judge, id))
            if column is not None:
                low, high = criterion["ends"]
                given = ~np.isnan(column)
                total[given] += criterion["weight"] * (column[given] - low) / (high - low)
                weights[given] += criterion["weight"]
        low = self.table.frame.scale[0] if self.table.frame.scale else 0.0
        share: Floats = np.divide(total, weights, out=np.full(len(total), np.nan), where=weights > 0)
        return low + share * self.span

    @property
    def group(self) -> Integers:
        """A number for each sample and repeat: what a judge saw together."""
        repeats = int(self.table.repeat.max(initial=0)) + 1
        return self.table.sample * repeats + self.table.repeat

    def count_outputs(self, rows: NDArray[np.bool_]) -> int:
        """How many outputs these rows are of: a recorded one that is judged in every repeat is one output."""
        table = self.table
        if len(table.output) != len(table.score):
            return int(rows.sum())
        alone = np.where(table.output == 0, table.repeat, -1)  # Where the text is not known, each repeat has its own.
        return len(np.unique(np.stack([table.sample, table.variant, table.output, alone])[:, rows], axis=1).T)


def drop_capped_audit_scores(table: RunTable, capped: Sequence[int]) -> RunTable:
    """The columns without the scores of these rows: a cap on unsafe outputs is no doing of the judges."""
    score = table.score.copy()
    score[list(capped)] = np.nan
    return replace(table, score=score)


def count_complete_audited_answers(table: RunTable) -> dict[str, AuditedJudgeAnswerCounts]:
    """The answers of every judge in a run in which none failed and none abstained."""
    answered: Counter[str] = Counter()
    for (judge, _), column in table.judgments.items():
        answered[judge] += int((~np.isnan(column)).sum())
    return {judge: AuditedJudgeAnswerCounts(answered=count) for judge, count in answered.items()}


def count_audited_judge_answers(
    contents: Iterable[AuditData], rows: int
) -> tuple[dict[str, AuditedJudgeAnswerCounts], dict[str, Floats], dict[str, Floats], list[int]]:
    """The answers of every judge in these results, and its scores for the whole, columns of as many rows: those that
    stand in for answers, and those that were asked for. Last, which rows a cap on unsafe outputs decided.
    """
    counted: dict[str, Counter[str]] = {}
    holistic: dict[str, Floats] = {}
    asked: dict[str, Floats] = {}
    capped: list[int] = []
    for row, content in enumerate(contents):
        for one in content["judgments"]:
            why = (one["why_not"] or "").removeprefix(f"{one['judge']}: ")
            kind = "answered" if not why else "abstained" if Missing.from_text(why).kind == "abstained" else "failed"
            counted.setdefault(one["judge"], Counter())[kind] += 1
        card = content["scorecard"] or {}
        capped += [row for moved in card.get("steps") or () if moved["step"] == Cap.word]
        for review in card.get("reviews") or ():
            if review["holistic"] and review["score"] is not None:
                holistic.setdefault(review["judge"], np.full(rows, np.nan))[row] = review["score"]
            if review.get("holistic_score") is not None:
                asked.setdefault(review["judge"], np.full(rows, np.nan))[row] = review["holistic_score"]
    heard = {
        judge: AuditedJudgeAnswerCounts(
            answered=count["answered"], abstained=count["abstained"], failed=count["failed"]
        )
        for judge, count in counted.items()
    }
    return heard, holistic, asked, capped
