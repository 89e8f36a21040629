"""Checking an assertion against the facts of an output, and the score of each layer of assertions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evenhand.assertions.assertion import AnyAssertion, Assertion, AssertionSet
from evenhand.assertions.facts import AssertionFacts, AssertionFinding, AssertionMeasurement, make_unanswered_finding
from evenhand.assertions.kinds import ASSERTION_KINDS, AssertionLayer
from evenhand.files.codec import Codec
from evenhand.files.json_shape import written_as
from evenhand.model.scale import Missing, Scored
from evenhand.wording import format_fraction, number_for_json


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAssertion:
    """What came of one assertion. `passed` is None where it was not answered; `start` and `end` are in the output."""

    name: str
    kind: str
    layer: AssertionLayer
    weight: Fraction
    passed: bool | None
    looked_for: str
    found: str = ""
    why_not: str = ""
    start: int | None = None
    end: int | None = None
    parts: tuple[CheckedAssertion, ...] = ()

    def __str__(self) -> str:
        state = {True: "passed", False: "failed", None: "not answered"}[self.passed]
        lines = [f"{state}: {self.name}", f"  looked for: {self.looked_for}"]
        lines += [f"  found: {self.found}"] if self.found else []
        lines += [f"  why not: {self.why_not}"] if self.why_not else []
        return "\n".join([*lines, *(f"  {line}" for part in self.parts for line in str(part).split("\n"))])


def check_assertion(
    assertion: AnyAssertion, facts: AssertionFacts, measured: Mapping[Assertion, AssertionMeasurement]
) -> CheckedAssertion:
    """Whether an assertion holds of an output. What comes from outside is looked up in `measured`."""
    parts: tuple[CheckedAssertion, ...] = ()
    if isinstance(assertion, AssertionSet):
        parts = tuple(check_assertion(part, facts, measured) for part in assertion.parts)
        found = _join_set_findings(assertion, parts)
    else:
        found = _check_assertion_leaf(assertion, facts, measured)
    passed = found.passed if found.passed is None else found.passed != assertion.negated
    start, end = found.span or (None, None)
    return CheckedAssertion(
        name=assertion.title,
        kind=assertion.kind,
        layer=assertion.layer,
        weight=assertion.weight,
        passed=passed,
        looked_for=assertion.looks_for,
        found=found.found,
        why_not=found.why_not,
        start=start,
        end=end,
        parts=parts,
    )


def measure_assertion_pass_rates(checked: Sequence[CheckedAssertion]) -> dict[str, Scored | Missing]:
    """Passed weight over total weight, layer by layer. A layer without assertions is absent."""
    scores: dict[str, Scored | Missing] = {}
    for layer in ("fact", "behavior"):
        own = [one for one in checked if one.layer == layer]
        unanswered = [f"{one.name} ({one.why_not})" for one in own if one.passed is None]
        if unanswered:
            more = f" and {len(unanswered) - 3} more" if len(unanswered) > 3 else ""
            scores[layer] = Missing("failed", f"not answered: {'; '.join(unanswered[:3])}{more}")
        elif own:
            passed = sum((one.weight for one in own if one.passed), Fraction(0))
            scores[layer] = Scored(passed / sum((one.weight for one in own), Fraction(0)))
    return scores


CHECKED_ASSERTION_JSON = Codec(scalars={Fraction: written_as(number_for_json)})
checked_assertion_to_json = CHECKED_ASSERTION_JSON.writer(CheckedAssertion)


def _check_assertion_leaf(
    leaf: Assertion, facts: AssertionFacts, measured: Mapping[Assertion, AssertionMeasurement]
) -> AssertionFinding:
    kind = ASSERTION_KINDS[leaf.kind]
    for need in kind.needs:
        if why := _explain_missing_fact(leaf, need, facts):
            return make_unanswered_finding(why)
    if kind.rule is None:
        return _check_measurement(leaf, measured.get(leaf))
    defaults = {parameter.name: parameter.default for parameter in kind.parameters}
    return kind.rule(facts, **{**defaults, **dict(leaf.arguments)})


def _explain_missing_fact(leaf: Assertion, need: str, facts: AssertionFacts) -> str:
    """Why a check cannot be answered without what it needs; empty where the facts have it."""
    if need == "reference" and dict(leaf.arguments).get("to") is not None:
        return ""
    if need in ("input", "reference", "context"):
        return "" if getattr(facts, need).strip() else f"the sample has no {need}"
    recorded = getattr(facts.made, need) is not None
    return "" if recorded else f"no {need.removesuffix('_ms')} was recorded for this output"


def _check_measurement(leaf: Assertion, measured: AssertionMeasurement | None) -> AssertionFinding:
    if measured is None:
        return make_unanswered_finding("nobody measured it")
    least = dict(leaf.arguments).get("min")
    if isinstance(least, Fraction) and measured.value is not None:
        found = format_fraction(measured.value, 4) + (f"; {measured.found}" if measured.found else "")
        return AssertionFinding(passed=measured.value >= least, found=found, span=measured.span)
    if least is not None or measured.passed is None:
        return make_unanswered_finding(measured.why or "it came without a value")
    return AssertionFinding(passed=measured.passed, found=measured.found, span=measured.span)


def _join_set_findings(assertion: AssertionSet, parts: Sequence[CheckedAssertion]) -> AssertionFinding:
    """Any and all over three values: what is not answered decides nothing, and is decided by nothing."""
    outcomes = [part.passed for part in parts]
    found = f"{outcomes.count(True)} of {len(parts)} passed"
    decisive = assertion.passes == "any"
    if decisive in outcomes:
        deciding = parts[outcomes.index(decisive)]
        span = None if deciding.start is None or deciding.end is None else (deciding.start, deciding.end)
        return AssertionFinding(passed=decisive, found=found, span=span)
    if None in outcomes:
        why = "; ".join(f"{part.name} ({part.why_not})" for part in parts if part.passed is None)
        return AssertionFinding(passed=None, found=found, why_not=why)
    return AssertionFinding(passed=not decisive, found=found)
