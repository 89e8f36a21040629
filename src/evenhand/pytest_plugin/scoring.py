"""Scoring an output for a test: scored as a run does it, held against what the test asks for, and what a failed test
says.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, cast

from evenhand.errors import Fault, InputError, suggest_known_word_in_error
from evenhand.guards.personal_data import build_personal_text_mask
from evenhand.model.rubric import Rubric
from evenhand.model.sample import VariantOutput
from evenhand.model.scale import to_exact_fraction
from evenhand.pytest_plugin.plugin import PytestRequirements, ScoredData, ScoredOutput, resolve_beside_test
from evenhand.report.untrusted_text import fold_to_report_line
from evenhand.wording import format_fraction, read_kept_fraction
from evenhand.workflows.score_in_test import (
    SINGLE_VARIANT,
    OutputRows,
    judge_and_score_user_output,
    load_rubric,
    resolve_user_assertions,
)

T = TypeVar("T")
SHOWN_SCORES = ("score", "composite")


def score_pytest_output(
    output: str | VariantOutput, demand: PytestRequirements, test: str, folder: Path
) -> tuple[ScoredOutput, OutputRows]:
    """Score an output; an EvenhandError where what is asked cannot be."""
    if not isinstance(output, str | VariantOutput):
        raise InputError(Fault(f"an output is a text or a VariantOutput, got {type(output).__name__}"))
    made = VariantOutput(text=output) if isinstance(output, str) else output
    rubric = demand.rubric
    if rubric is not None and not isinstance(rubric, Rubric):
        rubric = load_rubric(cast("str | Path", resolve_beside_test(rubric, folder)))
    assertions = resolve_user_assertions(demand.assertions, folder)
    if rubric is None and not assertions:
        raise InputError(Fault("there is nothing to score by", "give a rubric, or assertions, or both"))
    threshold = PytestThreshold.from_requirements(demand, rubric)
    variant = demand.variant or SINGLE_VARIANT
    texts = {name: getattr(demand, name) or "" for name in ("input", "reference", "context")}
    rows = run_beside_pytest_loop(
        judge_and_score_user_output(
            test, {variant: made}, texts, rubric=rubric, assertions=assertions, judges=demand.judges
        )
    )
    # The row of a result as plain data for readers.
    content = json.loads(rows.result["content"])
    layers = {name: _pytest_row_to_float(value) for name, value in content["layers"].items()}
    shown = {name: _pytest_row_to_float(rows.result[name]) for name in SHOWN_SCORES}
    data = {**content, "state": rows.result["state"], **shown, "layers": layers}
    missed = tuple(threshold.missed(rows.result, data["scorecard"] or {}, rubric))
    problems, scales = tuple(list_pytest_shortfalls(data, missed)), {}
    if rubric is not None:
        scales = {leaf.id: (float(leaf.scale.min), float(leaf.scale.max)) for leaf in rubric.leaves.values()}
        scales[""] = (float(rubric.method.scale.min), float(rubric.method.scale.max))
    return ScoredOutput(test=test, variant=variant, missed=missed, problems=problems, scales=scales, data=data), rows


def run_beside_pytest_loop(work: Coroutine[Any, Any, T]) -> T:
    """What the work comes to, done in a thread with a loop of its own: a loop of the test's is left as it is."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(asyncio.run(work))
        except BaseException as problem:  # Whatever it is, whoever waits is told.
            done.set_exception(problem)

    threading.Thread(target=run, name="evenhand", daemon=True).start()
    return done.result()


def _pytest_row_to_float(exact: str | None) -> float | None:
    return None if exact is None else float(read_kept_fraction(exact))


def serialize_pytest_entry(scored: ScoredOutput, rows: OutputRows | None) -> str:
    """The text; `rows` are for the report, where one is asked for."""
    return json.dumps(
        {
            "test": scored.test,
            "variant": scored.variant,
            "state": scored.state,
            "composite": scored.composite,
            "missed": list(scored.missed),
            "problems": list(scored.problems),
            "rows": None if rows is None else asdict(rows),
        }
    )


SCORED_STATE = "scored"
ASSERTION_FAILED = "assertion failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestThreshold:
    """A least score and a least grade, each on the rubric's own scale; None where it is not asked for."""

    score: Fraction | None = None
    grade: str | None = None

    @classmethod
    def from_requirements(cls, demand: PytestRequirements, rubric: Rubric | None) -> PytestThreshold:
        """What a demand asks for, refused where no output could ever reach it or fall short of it."""
        asked = {"min_score": demand.min_score, "min_grade": demand.min_grade}
        name = next((name for name, value in asked.items() if value is not None), None)
        if rubric is None and name is not None:
            raise InputError(Fault(f"{name} needs a rubric", "without one every assertion must hold", where=name))
        score = (
            None
            if demand.min_score is None or rubric is None
            else _parse_pytest_mark_min_score(demand.min_score, rubric)
        )
        if demand.min_grade is not None and rubric is not None:
            grade, grades = demand.min_grade, _list_pytest_grades(rubric)
            if not grades:
                what = f"the rubric {rubric.name!r} gives no grades"
                raise InputError(Fault(what, "use min_score", where="min_grade"))
            if grade not in grades:
                hint = suggest_known_word_in_error(str(grade), grades)
                raise InputError(Fault(f"{grade!r} is not a grade", hint, where="min_grade"))
        return cls(score=score, grade=demand.min_grade)

    def missed(self, row: ScoredData, card: ScoredData, rubric: Rubric | None) -> Iterator[str]:
        """Where a score or a grade is below what is asked for; exact numbers decide."""
        if self.score is not None and row["score"] is not None and read_kept_fraction(row["score"]) < self.score:
            reached = format_fraction(read_kept_fraction(row["score"]), beside=[self.score])
            yield f"score {reached} is below {format_fraction(self.score)}"
        grade = card.get("grade")
        if self.grade is not None and rubric is not None and grade is not None:
            grades = _list_pytest_grades(rubric)
            if grades.index(grade) > grades.index(self.grade):
                yield f"grade {grade} is below {self.grade}"


def list_pytest_shortfalls(data: ScoredData, missed: Sequence[str]) -> Iterator[str]:
    """Why an output does not pass, in a few words each; an incomplete scorecard never does."""
    card = data["scorecard"] or {}
    if data["state"] != SCORED_STATE:
        missing = "; ".join(f"{one['criterion']}: {one['why']}" for one in card.get("missing", ()))
        yield f"no score: {missing or data['why']}"
    yield from missed
    yield from (f"gate failed: {criterion}" for criterion in card.get("gates_failed", ()))
    yield from (f"gate not known: {criterion}" for criterion in card.get("gates_open", ()))
    if card.get("verdict") == "fail":
        yield "the verdict is fail"
    yield from (f"{ASSERTION_FAILED}: {one['name']}" for one in data["assertions"] if one["passed"] is False)


def _parse_pytest_mark_min_score(asked: object, rubric: Rubric) -> Fraction:
    try:
        least = to_exact_fraction(asked)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise InputError(Fault(str(error), "as in min_score=0.8", where="min_score")) from None
    span = rubric.method.scale
    if not span.min <= least <= span.max:
        ends = f"{format_fraction(span.min)}–{format_fraction(span.max)}"
        what = f"{format_fraction(least)} is outside {ends}, the scale of the rubric {rubric.name!r}"
        raise InputError(Fault(what, where="min_score"))
    return least


def _list_pytest_grades(rubric: Rubric) -> list[str]:
    """The best first."""
    return [grade.grade for grade in rubric.method.grades]


LONGEST_MESSAGE_TEXT = 300  # Characters of one text.
MOST_CRITERIA_TOLD = 20  # Criteria.


def format_pytest_failure(scored: ScoredOutput, place: str) -> str:
    """The message to fail with; empty where the output passes. Personal data is masked, and nothing in it acts."""
    if not scored.problems:
        return ""
    output = scored.data["output"]["text"]
    hide = build_personal_text_mask([output])

    def shown(text: object) -> str:
        return fold_to_report_line(hide(str(text)), LONGEST_MESSAGE_TEXT)

    first, *others = map(shown, scored.problems)
    lines = [f"{first} ({place})", *(f"also: {one}" for one in others if not one.startswith(ASSERTION_FAILED))]
    for one in _iterate_pytest_assertions(scored.assertions):
        failed = one["passed"] is False
        lines.append(f"{ASSERTION_FAILED if failed else 'assertion not answered'}: {shown(one['name'])}")
        lines.append(f"    looked for: {shown(one['looked_for'])}")
        lines.append(
            f"    found: {shown(one['found'] or 'nothing')}" if failed else f"    why not: {shown(one['why_not'])}"
        )
    lines += _describe_pytest_criteria(scored, shown)
    return "\n".join([*lines, f"output: {shown(output) or 'empty'}"])


def _iterate_pytest_assertions(assertions: Any) -> Iterator[ScoredData]:
    """The assertions that did not pass, and inside sets theirs."""
    for one in assertions:
        if one["passed"] is not True:
            yield one
            yield from _iterate_pytest_assertions(one["parts"])


def _describe_pytest_criteria(scored: ScoredOutput, shown: Callable[[object], str]) -> Iterator[str]:
    """What judges said on criteria that are not fully met, the lowest first."""
    lacking = sorted(
        (one for one in scored.judgments if _measure_pytest_criterion(scored, one) < 1),
        key=lambda one: _measure_pytest_criterion(scored, one),
    )
    for one in lacking[:MOST_CRITERIA_TOLD]:
        ends = scored.scales.get(one["criterion"])
        scale = f" of {ends[0]:g}–{ends[1]:g}" if ends else ""
        score = "no answer" if one["score"] is None else f"{one['score']:g}{scale}"
        yield f"criterion {shown(one['criterion'])}: {score} by {shown(one['judge'])}"
        why = one["why_not"] or one["reason"]
        if why:
            yield f"    {shown(why)}"
        yield from (f"    quoted: {shown(quote['text'])}" for quote in one["evidence"])
        yield from (f"    quoted from the trace: {shown(quote)}" for quote in one.get("from_trace", ()))
        yield from (f"    stated absent: {shown(absent)}" for absent in one.get("absent", ()))
    if len(lacking) > MOST_CRITERIA_TOLD:
        yield f"and {len(lacking) - MOST_CRITERIA_TOLD} more criteria that are not fully met"


def _measure_pytest_criterion(scored: ScoredOutput, one: ScoredData) -> float:
    """How much of a criterion is met; what was not answered comes first."""
    if one["score"] is None:
        return -1.0
    low, high = scored.scales.get(one["criterion"], (0.0, 1.0))
    return float((one["score"] - low) / (high - low))
