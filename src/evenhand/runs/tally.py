"""Results taken in one at a time: those of a variant counted, exact means included, and all of a run as columns."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from math import nan
from typing import Any

from evenhand.evals.eval_schema import LAYERS, MOST_REPEATS
from evenhand.evals.eval_scoring import name_sample_rubric_criterion
from evenhand.guards.personal_data import mask_personal_data
from evenhand.model.scale import Missing
from evenhand.runs.kept_texts import count_characters_of_run_output, list_result_texts
from evenhand.stats.arrays import CountedPer
from evenhand.wording import read_kept_amount, read_kept_fraction

COMPOSITE_BIN_EDGES = [1 + step / 4 for step in range(17)]  # Quarters of a point from 1 to 5.
VERDICT_NUMBERS = {"fail": 0, "borderline": 1, "pass": 2}
PASSED_ON_NUMBERS = {"": 0, "drawn": 1, "near": 2}
MOST_FAILURE_REASONS = 200  # Different reasons that are told apart; all are counted.


@dataclass(slots=True)
class RunTallyMean:
    """An exact mean with the values behind it; what is missing is counted.

    Repeats of a sample count as one, and samples of one cluster where clusters are what counts.
    """

    values: array[float] = field(default_factory=lambda: array("d"))  # NaN is missing, or nobody was asked.
    n: int = 0  # Values that there are.
    gaps: array[int] = field(default_factory=lambda: array("q"))  # Rows whose value was asked for and is missing.
    sums: dict[int, int] = field(default_factory=dict)  # Of numerators, by denominator: far quicker than fractions.
    units: int = 0
    # The sample that is being added to, with a numerator, a denominator and how many: repeats come one after another.
    open: tuple[int, int, int, int] | None = None
    named: dict[int, tuple[Fraction, int]] = field(default_factory=dict)  # By cluster: the sum, and of how many.

    def add(self, value: tuple[int, int] | None, unit: int) -> None:
        """Count one value of what counts once, or that there is none; clusters of several samples are below 0.

        A value is a numerator and a denominator without a common factor.
        """
        if value is None:
            self.gaps.append(len(self.values))
            self.values.append(nan)
            return
        self.n += 1
        above, below = value
        self.values.append(above / below)
        if unit < 0:
            total, n = self.named.get(unit, (Fraction(0), 0))
            self.named[unit] = total + Fraction(above, below), n + 1
            return
        if self.open is not None:
            before, over, under, n = self.open
            if before == unit:
                self.open = unit, over * below + above * under, under * below, n + 1
                return
            if n > 1:
                over, under = Fraction(over, under * n).as_integer_ratio()
            self.sums[under] = self.sums.get(under, 0) + over
            self.units += 1
        self.open = unit, above, below, 1

    @property
    def missing(self) -> int:
        """How many values are missing."""
        return len(self.gaps)

    @property
    def exact(self) -> Fraction | None:
        """The mean of those that there are."""
        total = sum((Fraction(over, under) for under, over in self.sums.items()), Fraction(0))
        total += sum((part / n for part, n in self.named.values()), Fraction(0))
        units = self.units + len(self.named)
        if self.open is not None:
            _, over, under, n = self.open
            total, units = total + Fraction(over, under * n), units + 1
        return total / units if units else None


@dataclass(slots=True)
class StatementTally:
    """A red flag or bonus: where it was found first and why, what it is worth, and in how many outputs."""

    first: int
    amount: float
    why: str
    outputs: int = 0


@dataclass(slots=True)
class RunVariantTally:
    """One variant, result by result, in the order of samples and repeats."""

    per: CountedPer = "sample"  # What counts once in its means.
    states: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    grades: Counter[str] = field(default_factory=Counter)
    statements: dict[tuple[str, str], StatementTally] = field(default_factory=dict)  # By kind and id.
    red_flags: array[int] = field(default_factory=lambda: array("i"))  # How many each result has.
    bonuses: array[int] = field(default_factory=lambda: array("i"))
    clusters: array[int] = field(default_factory=lambda: array("q"))
    places: array[int] = field(default_factory=lambda: array("q"))  # Position and repeat in one number.
    score: RunTallyMean = field(default_factory=RunTallyMean)
    composite: RunTallyMean = field(default_factory=RunTallyMean)
    layers: dict[str, RunTallyMean] = field(default_factory=dict)
    # Positions of the results with a composite, by the layers that it is of.
    composites_by_layers: dict[tuple[str, ...], array[int]] = field(default_factory=dict)
    criteria: dict[str, RunTallyMean] = field(default_factory=dict)
    judges: dict[str, RunTallyMean] = field(default_factory=dict)
    cascade: dict[str, RunTallyMean] = field(default_factory=dict)  # The way through a cascade, where there is one.
    assertion_rate: RunTallyMean = field(default_factory=RunTallyMean)
    raw_judge: RunTallyMean = field(
        default_factory=RunTallyMean
    )  # The judge layer before anything was removed from it.
    assertions: dict[str, Counter[str]] = field(default_factory=dict)
    assertion_layers: dict[str, str] = field(default_factory=dict)
    lengths: array[float] = field(default_factory=lambda: array("d"))  # Of outputs, in characters; NaN without one.
    latency: array[float] = field(default_factory=lambda: array("d"))
    cost: Decimal = Decimal(0)
    costed: int = 0
    not_passed: dict[str, array[int]] = field(default_factory=dict)  # Positions of results that do not, by verdict.
    failed_gates: dict[str, array[int]] = field(default_factory=dict)  # Positions of results that fail a criterion's.
    open_gates: dict[str, array[int]] = field(default_factory=dict)  # … that fail none, but one is open.
    missing_criteria: dict[str, array[int]] = field(default_factory=dict)  # … that have no score for want of an answer.
    unpriced: int = 0  # Outputs that a model was asked for and that have no known price.
    input_tokens: int = 0  # That making the outputs took.
    output_tokens: int = 0
    passed: int = 0  # Results that pass: by their verdict, or because they have a score.
    borderline: int = 0  # Complete results that are.
    gated: int = 0  # Results that fail a gate of their rubric.
    gates_unknown: int = 0  # Results that fail none, and of which not every gate is known.
    unfinished: int = 0  # Results that another try may better: something failed that need not.
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    flags: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    unsafe: Counter[tuple[str, str]] = field(default_factory=Counter)  # Outputs that the safety gate capped.
    unsafe_passages: dict[tuple[str, ...], str] = field(default_factory=dict)  # The first of each pattern.
    first: dict[tuple[str, ...], int] = field(default_factory=dict)  # The position where each was met first.
    seen: Any = field(default_factory=sha256)  # Over all outputs and what was said of them.

    @property
    def samples(self) -> array[int]:
        """The position of each result's sample."""
        return array("q", (place // MOST_REPEATS for place in self.places))

    def add(self, row: Mapping[str, Any], content: Mapping[str, Any], cluster: int, *, priced: bool = False) -> None:
        """Count one result; `priced` where each output is a call that costs something."""
        self.seen.update(list_result_texts(row, content))
        self.states[row["state"]] += 1
        self.clusters.append(cluster)
        self.places.append(row["position"] * MOST_REPEATS + row["repeat"])
        self.unfinished += row["key"] == ""
        unit = cluster if self.per == "cluster" else row["position"]
        if row["score"] is None and row["state"] == "scored":
            self.score.values.append(nan)  # It is complete: nothing asked for a score of its own.
        else:
            self.score.add(parse_result_ratio(row["score"]), unit)
        self.composite.add(parse_result_ratio(row["composite"]), unit)
        five = content.get("five_layers") or {}
        self.assertion_rate.add(parse_result_ratio(five.get("assertion")), unit)
        self.raw_judge.add(parse_result_ratio(five.get("llm")), unit)
        card = content["scorecard"] or {"reviews": None, "verdict": None}
        reviews = {one["judge"]: one["score"] for one in card["reviews"]} if card["reviews"] else {}
        self._add_to_means(self.layers, content["layers"], unit)
        if row["composite"] is not None:
            own = tuple([name for name in LAYERS if content["layers"].get(name) is not None])
            self.composites_by_layers.setdefault(own, array("i")).append(row["position"])
        if self.judges or reviews:
            self._add_to_means(
                self.judges, {name: None if one is None else str(one) for name, one in reviews.items()}, unit
            )
        self._add_to_means(self.criteria, content["criteria"], unit, asked=content["criteria"])
        if self.cascade or "cascade" in content:
            self._add_to_means(self.cascade, number_cascade_content(content), unit)
        if card.get("grade") is not None:
            self.grades[card["grade"]] += 1
        self.red_flags.append(len(card.get("flags") or ()))
        self.bonuses.append(len(card.get("bonuses") or ()))
        if card.get("statements"):
            self._add_statements(row["position"], card["statements"])
        self._add_verdict(row, card["verdict"])
        failed, unknown = card.get("gates_failed") or (), content.get("gates_open") or ()
        if failed or unknown:
            own = content.get("own_rubric", "")
            failed, unknown = ([name_sample_rubric_criterion(own, id) for id in ids] for ids in (failed, unknown))
            self._add_gates(row["position"], failed, unknown)
        if row["state"] != "scored":
            for criterion in [name for name, value in content["criteria"].items() if value is None]:
                self.missing_criteria.setdefault(criterion, array("q")).append(row["position"])
        length = count_characters_of_run_output(content)
        self.lengths.append(nan if length is None else length)
        self._add_output_facts(content["output"], priced=priced)
        self._add_findings(row, content)

    def _add_verdict(self, row: Mapping[str, Any], verdict: str | None) -> None:
        """Count an output by its verdict, and where it does not pass."""
        if verdict is not None:
            self.verdicts[verdict] += 1
        # Where a method gives no verdict, whatever has a score passes; what is incomplete never does.
        if row["state"] != "scored":
            verdict = verdict if verdict in (None, "fail") else "incomplete"
        passed = row["state"] == "scored" and verdict in ("pass", None)
        self.passed += passed
        self.borderline += verdict == "borderline"
        if not passed:
            self.not_passed.setdefault(verdict or "", array("q")).append(row["position"])

    def _add_findings(self, row: Mapping[str, Any], content: Mapping[str, Any]) -> None:
        """Count what assertions, guards and the safety gate say of an output, and what failed about it."""
        for one in content["assertions"]:
            word = {True: "passed", False: "failed", None: "unanswered"}[one["passed"]]
            self.assertions.setdefault(one["name"], Counter())[word] += 1
            self.assertion_layers[one["name"]] = one["layer"]
        for kind, why in dict.fromkeys(iter_failures_in_result_row(row, content)):
            self._count_reason(self.failures, (kind, why), row["position"])
        for one in content["findings"]:
            self._count_reason(self.flags, (one["guard"], one["rule"], one["says"]), row["position"])
        if content.get("unsafe"):
            what = ("safety_gate", content["unsafe"])
            self._count_reason(self.unsafe, what, row["position"])
            passages = (one["text"] for one in content["findings"] if one["rule"] == content["unsafe"])
            self.unsafe_passages.setdefault(what, mask_personal_data(next(passages, "")))

    def _add_gates(self, position: int, failed: Sequence[str], unknown: Sequence[str]) -> None:
        """Count an output that fails a gate of its rubric, or else one of which that is not known."""
        self.gated += bool(failed)
        self.gates_unknown += bool(unknown and not failed)
        for criterion in failed:
            self.failed_gates.setdefault(criterion, array("q")).append(position)
        for criterion in () if failed else unknown:
            self.open_gates.setdefault(criterion, array("q")).append(position)

    def _add_statements(self, position: int, statements: Iterable[Mapping[str, Any]]) -> None:
        """Count each red flag and bonus once for an output, however many judges found it."""
        first: dict[tuple[str, str], Mapping[str, Any]] = {}
        for one in statements:
            first.setdefault((one["kind"], one["id"]), one)
        for key, one in first.items():
            known = self.statements.setdefault(key, StatementTally(position, one["amount"], one["why"]))
            known.outputs += 1

    def _add_output_facts(self, output: Mapping[str, Any] | None, *, priced: bool) -> None:
        """Count what making an output took."""
        if output is None:
            return
        if output["latency_ms"] is not None:
            self.latency.append(float(output["latency_ms"]))
        if output["cost"] is not None:
            self.cost += read_kept_amount(output["cost"])
            self.costed += 1
        else:
            self.unpriced += priced
        self.input_tokens += output.get("input_tokens") or 0  # Earlier versions did not keep them.
        self.output_tokens += output.get("output_tokens") or 0

    def _add_to_means(
        self,
        means: dict[str, RunTallyMean],
        texts: Mapping[str, str | None],
        unit: int,
        asked: Mapping[str, object] | None = None,
    ) -> None:
        """Count one value for each name that there ever was, so that all columns have the same rows.

        What is not among `asked` is not missing: nobody wanted to know.
        """
        before = len(self.clusters) - 1
        for name in texts:
            if name not in means:
                gaps = array("q", range(before if asked is None else 0))
                means[name] = RunTallyMean(values=array("d", [nan]) * before, gaps=gaps)
        for name, mean in means.items():
            if asked is None or name in asked:
                mean.add(parse_result_ratio(texts.get(name)), unit)
            else:
                mean.values.append(nan)

    def _count_reason(self, counter: Counter[Any], what: tuple[str, ...], position: int) -> None:
        if what not in counter and len(counter) >= MOST_FAILURE_REASONS:
            what = (*what[:1], *("other" for _ in what[1:]))
        counter[what] += 1
        self.first.setdefault(what, position)


@dataclass(slots=True)
class JudgeCallTally:
    """The calls to one judge."""

    calls: int = 0
    cached: int = 0
    failed: int = 0
    retries: int = 0
    input: int = 0
    output: int = 0
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    seconds: array[float] = field(default_factory=lambda: array("d"))

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one call; a kept answer costs nothing, and its time is not ours."""
        self.calls += 1
        if row["cached_from"] is not None:
            self.cached += 1
            return
        self.failed += row["failed"] is not None
        self.retries += row["attempts"] - 1
        self.input += row["input_tokens"] or 0
        self.output += row["output_tokens"] or 0
        self.seconds.append(row["seconds"])
        if row["cost"] is not None:
            self.cost += read_kept_amount(row["cost"])
        else:
            self.unpriced += row["failed"] is None


def number_cascade_content(content: Mapping[str, Any]) -> dict[str, str | None]:
    """What a result keeps of its way through a cascade, as numbers by name; empty where there was none."""
    found = content.get("cascade")
    if not found:
        return {}
    verdicts = {name: VERDICT_NUMBERS.get(found[name] or "") for name in ("cheap_verdict", "verdict")}
    return {
        "passed_on": str(PASSED_ON_NUMBERS[found["passed_on"]]),
        "by_strong": str(int(found["by_strong"])),
        **{name: found[name] for name in ("cheap_score", "cheap_layer")},
        **{name: None if number is None else str(number) for name, number in verdicts.items()},
    }


@lru_cache(4096)  # Most scores of a run are the same few.
def parse_result_ratio(text: str | None) -> tuple[int, int] | None:
    """Numerator and denominator of the number that the store keeps as a fraction."""
    return None if text is None else read_kept_fraction(text).as_integer_ratio()


def number_statement_answer(exact: str | None) -> float | None:
    """1 for a red flag or bonus that most replies of a judge say yes to, −1 for one without an answer."""
    if exact is None:
        return -1
    ratio = parse_result_ratio(exact)
    return 1 if ratio is not None and 2 * ratio[0] > ratio[1] else None


def iter_failures_in_result_row(row: Mapping[str, Any], content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What went wrong with a result, by whom."""
    if row["state"] == "failed":
        yield "output", content["why"]
    for one in content["judgments"]:
        if one["why_not"]:
            missing = Missing.from_text(one["why_not"].replace(f"{one['judge']}: ", "", 1))
            # An abstention depends on what was asked; a failure is the judge's own.
            if missing.kind == "abstained":
                asked = name_sample_rubric_criterion(content.get("own_rubric", ""), one["criterion"])
                yield "abstention", f"{one['judge']} on {asked}: {missing.text}"
            else:
                yield "judge", f"{one['judge']}: {missing.text}"
    if content["scorecard"] is None and content["rubric"] and row["state"] == "incomplete" and content["why"]:
        yield "judge", content["why"]
    for one in content["assertions"]:
        if one["passed"] is None:
            yield "assertion", f"{one['name']}: {one['why_not']}"
