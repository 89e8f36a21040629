"""The results of one variant counted: exact means, assertions, failures, findings, cost."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import nan
from typing import Any

from evenhand.guards.personal_data import mask_personal_data
from evenhand.model.scale import Missing

COMPOSITE_BIN_EDGES = [1 + step / 4 for step in range(17)]  # Quarters of a point from 1 to 5.
PASSING_VERDICTS = ("pass", "borderline")
MOST_REPEATS = 1_000_000
MOST_FAILURE_REASONS = 200  # Different reasons that are told apart; all are counted.


@dataclass(slots=True)
class ExactMean:
    """An exact mean with the values behind it; what is missing is counted.

    Repeats of a sample, and samples of one cluster, count as one: the mean is taken over these, as intervals are.
    """

    values: array[float] = field(default_factory=lambda: array("d"))
    missing: int = 0
    absent: int = 0  # Nobody was asked: neither there nor missing.
    sums: dict[int, int] = field(default_factory=dict)  # Of numerators, by denominator: far quicker than fractions.
    units: int = 0
    open: tuple[int, Fraction, int] | None = None  # The sample that is being added to: repeats come one after another.
    named: dict[int, tuple[Fraction, int]] = field(default_factory=dict)  # By cluster: the sum, and of how many.

    def add(self, value: Fraction | None, cluster: int) -> None:
        """Count one value, or that there is none; clusters of several samples have numbers below 0."""
        if value is None:
            self.missing += 1
            self.values.append(nan)
            return
        self.values.append(value.numerator / value.denominator)
        if cluster < 0:
            total, n = self.named.get(cluster, (Fraction(0), 0))
            self.named[cluster] = total + value, n + 1
        elif self.open is not None and self.open[0] == cluster:
            self.open = cluster, self.open[1] + value, self.open[2] + 1
        else:
            self._close_sample()
            self.open = cluster, value, 1

    def skip(self, rows: int = 1) -> None:
        """Count rows that this is not asked about, so that all columns have the same rows."""
        self.absent += rows
        self.values.extend([nan] * rows)

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.values) - self.missing - self.absent

    @property
    def exact(self) -> Fraction | None:
        """The mean of those that there are."""
        self._close_sample()
        total = sum((Fraction(over, under) for under, over in self.sums.items()), Fraction(0))
        total += sum((part / n for part, n in self.named.values()), Fraction(0))
        units = self.units + len(self.named)
        return total / units if units else None

    def _close_sample(self) -> None:
        if self.open is not None:
            _, total, n = self.open
            mean = total if n == 1 else total / n
            self.sums[mean.denominator] = self.sums.get(mean.denominator, 0) + mean.numerator
            self.units += 1
            self.open = None


@dataclass(slots=True)
class VariantTally:
    """One variant, result by result, in the order of samples and repeats."""

    states: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    clusters: array[int] = field(default_factory=lambda: array("q"))
    places: array[int] = field(default_factory=lambda: array("q"))  # Position and repeat in one number.
    score: ExactMean = field(default_factory=ExactMean)
    composite: ExactMean = field(default_factory=ExactMean)
    layers: dict[str, ExactMean] = field(default_factory=dict)
    criteria: dict[str, ExactMean] = field(default_factory=dict)
    judges: dict[str, ExactMean] = field(default_factory=dict)
    assertions: dict[str, Counter[str]] = field(default_factory=dict)
    assertion_layers: dict[str, str] = field(default_factory=dict)
    lengths: array[float] = field(default_factory=lambda: array("d"))  # Of outputs, in characters; NaN without one.
    latency: array[float] = field(default_factory=lambda: array("d"))
    cost: Decimal = Decimal(0)
    costed: int = 0
    passed: int = 0  # Results that pass: by their verdict, or because they have a score.
    unfinished: int = 0  # Results that another try may better: something failed that need not.
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    flags: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    unsafe: Counter[tuple[str, str]] = field(default_factory=Counter)  # Outputs that the safety gate capped.
    unsafe_passages: dict[tuple[str, ...], str] = field(default_factory=dict)  # The first of each pattern.
    first: dict[tuple[str, ...], int] = field(default_factory=dict)  # The position where each was met first.

    def add(self, row: Mapping[str, Any], content: Mapping[str, Any], cluster: int) -> None:
        """Count one result."""
        self.states[row["state"]] += 1
        self.clusters.append(cluster)
        self.places.append(row["position"] * MOST_REPEATS + row["repeat"])
        self.unfinished += row["key"] == ""
        self.score.add(parse_result_fraction(row["score"]), cluster)
        self.composite.add(parse_result_fraction(row["composite"]), cluster)
        self._add_to_means(self.layers, {name: parse_result_fraction(text) for name, text in content["layers"].items()})
        reviews = (content["scorecard"]["reviews"] or ()) if content["scorecard"] else ()
        scores = {one["judge"]: None if one["score"] is None else Fraction(str(one["score"])) for one in reviews}
        self._add_to_means(self.judges, scores)
        self._add_card(row, content)
        for one in content["assertions"]:
            word = {True: "passed", False: "failed", None: "unanswered"}[one["passed"]]
            self.assertions.setdefault(one["name"], Counter())[word] += 1
            self.assertion_layers[one["name"]] = one["layer"]
        self._add_output(content["output"])
        self._add_failures(row, content)

    def _add_to_means(self, means: dict[str, ExactMean], values: Mapping[str, Fraction | None]) -> None:
        """Count one value for each name that there ever was, so that all columns have the same rows."""
        before = len(self.clusters) - 1
        for name in values:
            if name not in means:
                means[name] = ExactMean(values=array("d", [nan]) * before, missing=before)
        for name, mean in means.items():
            mean.add(values.get(name), self.clusters[-1])

    def _add_card(self, row: Mapping[str, Any], content: Mapping[str, Any]) -> None:
        verdict = content["scorecard"]["verdict"] if content["scorecard"] else None
        if verdict is not None:
            self.verdicts[verdict] += 1
        # Where a method gives no verdict, whatever has a score passes.
        self.passed += verdict in PASSING_VERDICTS if verdict is not None else row["state"] == "scored"
        asked = content["criteria"]
        for id in asked:
            if id not in self.criteria:
                self.criteria[id] = ExactMean()
                self.criteria[id].skip(len(self.clusters) - 1)
        for id, mean in self.criteria.items():
            if id in asked:
                mean.add(parse_result_fraction(asked[id]), self.clusters[-1])
            else:
                mean.skip()

    def _add_output(self, output: Mapping[str, Any] | None) -> None:
        self.lengths.append(nan if output is None else len(output["text"]))
        if output is None:
            return
        if output["latency_ms"] is not None:
            self.latency.append(float(output["latency_ms"]))
        if output["cost"] is not None:
            self.cost += Decimal(str(output["cost"]))
            self.costed += 1

    def _add_failures(self, row: Mapping[str, Any], content: Mapping[str, Any]) -> None:
        for kind, why in dict.fromkeys(list_result_row_failures(row, content)):
            self._count_reason(self.failures, (kind, why), row["position"])
        for one in content["findings"]:
            self._count_reason(self.flags, (one["guard"], one["rule"], one["says"]), row["position"])
        if content.get("unsafe"):
            what = ("safety_gate", content["unsafe"])
            self._count_reason(self.unsafe, what, row["position"])
            passages = (one["text"] for one in content["findings"] if one["rule"] == content["unsafe"])
            self.unsafe_passages.setdefault(what, mask_personal_data(next(passages, "")))

    def _count_reason(self, counter: Counter[Any], what: tuple[str, ...], position: int) -> None:
        if what not in counter and len(counter) >= MOST_FAILURE_REASONS:
            what = (*what[:1], *("other" for _ in what[1:]))
        counter[what] += 1
        self.first.setdefault(what, position)


@lru_cache(4096)  # Most scores of a run are the same few.
def parse_result_fraction(text: str | None) -> Fraction | None:
    """The number that the store keeps as a fraction."""
    return None if text is None else Fraction(text)


def list_result_row_failures(row: Mapping[str, Any], content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What went wrong with a result, by whom."""
    if row["state"] == "failed":
        yield "output", content["why"]
    for one in content["judgments"]:
        if one["why_not"]:
            missing = Missing.from_text(one["why_not"].replace(f"{one['judge']}: ", "", 1))
            # An abstention depends on what was asked; a failure is the judge's own.
            if missing.kind == "abstained":
                yield "abstention", f"{one['judge']} on {one['criterion']}: {missing.text}"
            else:
                yield "judge", f"{one['judge']}: {missing.text}"
    if content["scorecard"] is None and content["rubric"] and row["state"] == "incomplete" and content["why"]:
        yield "judge", content["why"]
    for one in content["assertions"]:
        if one["passed"] is None:
            yield "assertion", f"{one['name']}: {one['why_not']}"
