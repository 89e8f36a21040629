"""Checking: an assertion and the facts in; whether it passed, what it looked for, what it found and where out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evenhand.assertions._assertion import AnyAssertion, Assertion, AssertionSet
from evenhand.assertions._facts import Facts, Found, Measured, unanswered
from evenhand.assertions._kinds import KINDS, Layer
from evenhand.model import Scored, Unscored, number_for_json, written


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What came of one assertion. `passed` is None where it was not answered; `start` and `end` are in the output."""

    name: str
    kind: str
    layer: Layer
    weight: Fraction
    passed: bool | None
    looked_for: str
    found: str = ""
    why_not: str = ""
    start: int | None = None
    end: int | None = None
    parts: tuple[Checked, ...] = ()

    def __str__(self) -> str:
        state = {True: "passed", False: "failed", None: "not answered"}[self.passed]
        lines = [f"{state}: {self.name}", f"  looked for: {self.looked_for}"]
        lines += [f"  found: {self.found}"] if self.found else []
        lines += [f"  why not: {self.why_not}"] if self.why_not else []
        return "\n".join([*lines, *(f"  {line}" for part in self.parts for line in str(part).split("\n"))])


def check(assertion: AnyAssertion, facts: Facts, measured: Mapping[Assertion, Measured]) -> Checked:
    """Whether an assertion holds of an output. What comes from outside is looked up in `measured`."""
    parts: tuple[Checked, ...] = ()
    if isinstance(assertion, AssertionSet):
        parts = tuple(check(part, facts, measured) for part in assertion.parts)
        found = _joined(assertion, parts)
    else:
        found = _found(assertion, facts, measured)
    passed = found.passed if found.passed is None else found.passed != assertion.negated
    start, end = found.span or (None, None)
    return Checked(
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


def lacking(leaf: Assertion, facts: Facts) -> str:
    """What a check needs and the facts do not have; nothing where it can be answered."""
    for need in KINDS[leaf.kind].needs:
        if need == "reference" and dict(leaf.arguments).get("to") is not None:
            continue
        if need in ("input", "reference", "context"):
            if not getattr(facts, need).strip():
                return f"the sample has no {need}"
        elif getattr(facts.made, need) is None:
            return f"no {need.removesuffix('_ms')} was recorded for this output"
    return ""


def layer_scores(checked: Sequence[Checked]) -> dict[str, Scored | Unscored]:
    """Passed weight over total weight, layer by layer. A layer without assertions is absent."""
    return {
        layer: _share([one for one in checked if one.layer == layer])
        for layer in ("fact", "behavior")
        if any(one.layer == layer for one in checked)
    }


def checked_json(checked: Checked) -> dict[str, object]:
    """Plain data of what came of an assertion."""
    return {
        "name": checked.name,
        "kind": checked.kind,
        "layer": checked.layer,
        "weight": number_for_json(checked.weight),
        "passed": checked.passed,
        "looked_for": checked.looked_for,
        "found": checked.found,
        "why_not": checked.why_not,
        "start": checked.start,
        "end": checked.end,
        "parts": [checked_json(part) for part in checked.parts],
    }


def _found(leaf: Assertion, facts: Facts, measured: Mapping[Assertion, Measured]) -> Found:
    rule = KINDS[leaf.kind].rule
    if why := lacking(leaf, facts):
        return unanswered(why)
    if rule is None:
        return _from_outside(leaf, measured.get(leaf))
    defaults = {parameter.name: parameter.default for parameter in KINDS[leaf.kind].parameters}
    return rule(facts, **{**defaults, **dict(leaf.arguments)})


def _from_outside(leaf: Assertion, measured: Measured | None) -> Found:
    if measured is None:
        return unanswered("nobody measured it")
    least = dict(leaf.arguments).get("min")
    if isinstance(least, Fraction) and measured.value is not None:
        found = written(measured.value, 4) + (f"; {measured.found}" if measured.found else "")
        return Found(passed=measured.value >= least, found=found, span=measured.span)
    if least is not None or measured.passed is None:
        return unanswered(measured.why or "it came without a value")
    return Found(passed=measured.passed, found=measured.found, span=measured.span)


def _joined(assertion: AssertionSet, parts: Sequence[Checked]) -> Found:
    """Any and all over three values: what is not answered decides nothing, and is decided by nothing."""
    outcomes = [part.passed for part in parts]
    found = f"{outcomes.count(True)} of {len(parts)} passed"
    decisive = assertion.passes == "any"
    if decisive in outcomes:
        deciding = parts[outcomes.index(decisive)]
        span = None if deciding.start is None or deciding.end is None else (deciding.start, deciding.end)
        return Found(passed=decisive, found=found, span=span)
    if None in outcomes:
        why = "; ".join(f"{part.name} ({part.why_not})" for part in parts if part.passed is None)
        return Found(passed=None, found=found, why_not=why)
    return Found(passed=not decisive, found=found)


def _share(checked: Sequence[Checked]) -> Scored | Unscored:
    open_ = [one for one in checked if one.passed is None]
    if open_:
        more = f" and {len(open_) - 3} more" if len(open_) > 3 else ""
        why = "; ".join(f"{one.name} ({one.why_not})" for one in open_[:3])
        return Unscored(f"not answered: {why}{more}")
    passed = sum((one.weight for one in checked if one.passed), Fraction(0))
    return Scored(passed / sum((one.weight for one in checked), Fraction(0)))
