"""Checking an assertion against the facts of an output, and the score of each layer of assertions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evenhand.assertions.assertion import AnyAssertion, Assertion, AssertionSet
from evenhand.assertions.facts import AssertionFacts, AssertionFinding, AssertionMeasurement, make_unanswered_finding
from evenhand.assertions.kinds import ASSERTION_KINDS, AssertionLayer
from evenhand.files.codec import Codec
from evenhand.files.json_scalars import written_as
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


def explain_missing_fact(leaf: Assertion, facts: AssertionFacts) -> str:
    """What a check needs and the facts do not have; nothing where it can be answered."""
    for need in ASSERTION_KINDS[leaf.kind].needs:
        if need == "reference" and dict(leaf.arguments).get("to") is not None:
            continue
        if need in ("input", "reference", "context"):
            if not getattr(facts, need).strip():
                return f"the sample has no {need}"
        elif getattr(facts.made, need) is None:
            return f"no {need.removesuffix('_ms')} was recorded for this output"
    return ""


def score_assertion_layers(checked: Sequence[CheckedAssertion]) -> dict[str, Scored | Missing]:
    """Passed weight over total weight, layer by layer. A layer without assertions is absent."""
    return {
        layer: _score_layer_share([one for one in checked if one.layer == layer])
        for layer in ("fact", "behavior")
        if any(one.layer == layer for one in checked)
    }


CHECKED_ASSERTION_JSON = Codec(scalars={Fraction: written_as(number_for_json)})
checked_assertion_to_json = CHECKED_ASSERTION_JSON.writer(CheckedAssertion)


def _check_assertion_leaf(
    leaf: Assertion, facts: AssertionFacts, measured: Mapping[Assertion, AssertionMeasurement]
) -> AssertionFinding:
    rule = ASSERTION_KINDS[leaf.kind].rule
    if why := explain_missing_fact(leaf, facts):
        return make_unanswered_finding(why)
    if rule is None:
        return _check_measurement(leaf, measured.get(leaf))
    defaults = {parameter.name: parameter.default for parameter in ASSERTION_KINDS[leaf.kind].parameters}
    return rule(facts, **{**defaults, **dict(leaf.arguments)})


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


def _score_layer_share(checked: Sequence[CheckedAssertion]) -> Scored | Missing:
    open_ = [one for one in checked if one.passed is None]
    if open_:
        more = f" and {len(open_) - 3} more" if len(open_) > 3 else ""
        why = "; ".join(f"{one.name} ({one.why_not})" for one in open_[:3])
        return Missing("failed", f"not answered: {why}{more}")
    passed = sum((one.weight for one in checked if one.passed), Fraction(0))
    return Scored(passed / sum((one.weight for one in checked), Fraction(0)))
