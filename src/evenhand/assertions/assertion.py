"""Assertions, one by rule or a set of them, checked against the facts of an output; and the score of each layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Literal

from evenhand.assertions.kinds import ASSERTION_KINDS, SET_KIND, AssertionKind, AssertionLayer
from evenhand.assertions.rule_inputs import (
    AssertionArgument,
    AssertionFacts,
    AssertionFinding,
    AssertionMeasurement,
    leave_assertion_unanswered,
)
from evenhand.errors import Fault, InputError, suggest_known_word_in_error
from evenhand.files.codec import Codec
from evenhand.files.json_shape import json_write_only_scalar
from evenhand.model.scale import Missing, Scored
from evenhand.wording import format_fraction, format_number_for_json, format_quoted_texts, quote_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One check. `arguments` are pairs of a name and a value; what is not given gets its default at birth."""

    kind: str
    arguments: tuple[tuple[str, AssertionArgument], ...] = ()
    weight: Fraction = Fraction(1)
    negated: bool = False
    name: str | None = None
    layer: AssertionLayer = field(init=False, compare=False, repr=False)
    title: str = field(init=False, compare=False, repr=False)  # Its name, or a few words for it.
    looks_for: str = field(init=False, compare=False, repr=False)  # A sentence on what must be true for it to pass.

    def __post_init__(self) -> None:
        kind = ASSERTION_KINDS.get(self.kind)
        if kind is None:
            hint = suggest_known_word_in_error(self.kind[:40], ASSERTION_KINDS)
            raise InputError(Fault(f"unknown assertion {self.kind!r}", hint))
        if not self.weight > 0:
            raise _make_assertion_weight_error(self.weight)
        given = dict(self.arguments)
        known = [parameter.name for parameter in kind.parameters]
        faults = [
            Fault(f"unknown field {name!r}", suggest_known_word_in_error(name, known), (name,))
            for name in given
            if name not in known
        ]
        if kind.one_of and sum(name in given for name in kind.one_of) != 1:
            faults.append(Fault(f"{kind.name} needs either {' or '.join(kind.one_of)}"))
        kept: dict[str, AssertionArgument] = {}  # As their types keep them, in the order of the parameters.
        for parameter in kind.parameters:
            name, value = parameter.name, given.get(parameter.name, parameter.default)
            if value is None and parameter.required:
                faults.append(Fault(f"{kind.name} needs {name}: {parameter.means}"))
            if value is None:
                continue
            try:
                kept[name] = parameter.sort.normalise(value) if name in given else value
            except InputError as error:
                faults += [Fault(f"{name} {one.what}", one.hint, (name,)) for one in error.faults]
        if faults:
            raise InputError(*faults)
        object.__setattr__(self, "arguments", tuple(kept.items()))
        object.__setattr__(self, "layer", kind.layer)
        title, looks_for = _word_assertion(kind, kept, self.negated)
        object.__setattr__(self, "title", self.name or title)
        object.__setattr__(self, "looks_for", looks_for)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionSet:
    """Several assertions of one layer that count as one: it passes where any, or all, of its parts do."""

    passes: Literal["any", "all"]
    parts: tuple[Assertion | AssertionSet, ...]
    weight: Fraction = Fraction(1)
    negated: bool = False
    name: str | None = None
    kind: ClassVar[str] = SET_KIND

    def __post_init__(self) -> None:
        if self.passes not in ("any", "all"):
            raise InputError(Fault(f"a set passes where any or all of its parts pass, not {self.passes!r}"))
        if not self.parts:
            raise InputError(Fault("a set needs at least one assertion", path=(self.passes,)))
        if not self.weight > 0:
            raise _make_assertion_weight_error(self.weight)
        if len({part.layer for part in self.parts}) > 1:
            facts = format_quoted_texts(part.title for part in self.parts if part.layer == "fact")
            what = f"a set mixes layers: {facts} look at facts, the others at behavior"
            raise InputError(Fault(what, "make one set for each"))
        for position, part in enumerate(self.parts):
            if part.weight != 1:
                where = (self.passes, position, "weight")
                raise InputError(Fault("a weight inside a set counts nowhere", "weigh the set", where))

    @property
    def layer(self) -> AssertionLayer:
        """The layer of its leaves."""
        return self.parts[0].layer

    @property
    def title(self) -> str:
        """Its name, or a few words for it."""
        return self.name or f"{'not ' if self.negated else ''}{self.passes} of {len(self.parts)}"

    @property
    def looks_for(self) -> str:
        """A sentence on what must be true for it to pass."""
        parts = "; ".join(part.title for part in self.parts)
        return f"{'not: ' if self.negated else ''}{self.passes} of: {parts}"


def _make_assertion_weight_error(weight: Fraction) -> InputError:
    return InputError(Fault(f"weight must be above 0, got {weight}", "leave the assertion out", ("weight",)))


def _word_assertion(kind: AssertionKind, arguments: Mapping[str, AssertionArgument], negated: bool) -> tuple[str, str]:
    """A few words for an assertion, and a sentence on what it looks for."""
    words = {parameter.name: parameter.absent for parameter in kind.parameters}
    for name, value in arguments.items():
        if isinstance(value, bool):
            words[name] = str(value).lower()
        elif isinstance(value, (int, Fraction)):
            words[name] = format_fraction(Fraction(value))
        else:
            words[name] = quote_text(value) if isinstance(value, str) else format_quoted_texts(value)
    main = next((name for name in (kind.parameters[0].name, "command") if name in arguments), "")
    shown = f" {words[main]}" if main and kind.name != "json_schema" else ""
    case = ", in any case" if arguments.get("ignore_case") else ""
    looks_for = f"{'not: ' if negated else ''}{kind.looks_for.format(**words)}{case}"
    return f"{'not ' if negated else ''}{kind.name}{shown}", looks_for


AnyAssertion = Assertion | AssertionSet


def list_outside_assertions(assertions: Iterable[AnyAssertion]) -> tuple[Assertion, ...]:
    """The checks that need something from outside this room: a model, a function, a command. Each once, in order."""
    found: list[Assertion] = []
    for one in assertions:
        if isinstance(one, AssertionSet):
            found += list_outside_assertions(one.parts)
        elif ASSERTION_KINDS[one.kind].rule is None:
            found.append(one)
    return tuple(dict.fromkeys(found))


def assertion_to_definition(assertion: AnyAssertion) -> dict[str, object]:
    """Plain data that two assertions share when they check and count the same; a name alone changes nothing."""
    counts = {"weight": str(assertion.weight), "not": assertion.negated}
    if isinstance(assertion, AssertionSet):
        return {assertion.passes: [assertion_to_definition(part) for part in assertion.parts], **counts}
    plain: dict[str, object] = {}
    for name, value in assertion.arguments:
        exact = str(value) if isinstance(value, Fraction) else value
        plain[name] = list(exact) if isinstance(exact, tuple) else exact
    return {"kind": assertion.kind, "arguments": plain, **counts}


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
        found = _join_assertion_set_findings(assertion, parts)
    else:
        kind = ASSERTION_KINDS[assertion.kind]
        why = next(filter(None, (_explain_missing_assertion_fact(assertion, need, facts) for need in kind.needs)), "")
        if why:
            found = leave_assertion_unanswered(why)
        elif kind.rule is None:
            found = _check_measured_assertion(assertion, measured.get(assertion))
        else:
            defaults = {parameter.name: parameter.default for parameter in kind.parameters}
            found = kind.rule(facts, **{**defaults, **dict(assertion.arguments)})
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


def weigh_passed_assertions(checked: Sequence[CheckedAssertion]) -> dict[str, Scored | Missing]:
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


CHECKED_ASSERTION_JSON = Codec(scalars={Fraction: json_write_only_scalar(format_number_for_json)})
checked_assertion_to_json = CHECKED_ASSERTION_JSON.writer(CheckedAssertion)


def _explain_missing_assertion_fact(leaf: Assertion, need: str, facts: AssertionFacts) -> str:
    """Why a check cannot be answered without what it needs; empty where the facts have it."""
    if need == "reference" and dict(leaf.arguments).get("to") is not None:
        return ""
    if need in ("input", "reference", "context"):
        return "" if getattr(facts, need).strip() else f"the sample has no {need}"
    recorded = getattr(facts.made, need) is not None
    return "" if recorded else f"no {need.removesuffix('_ms')} was recorded for this output"


def _check_measured_assertion(leaf: Assertion, measured: AssertionMeasurement | None) -> AssertionFinding:
    if measured is None:
        return leave_assertion_unanswered("nobody measured it")
    least = dict(leaf.arguments).get("min")
    if isinstance(least, Fraction) and measured.value is not None:
        found = format_fraction(measured.value, 4) + (f"; {measured.found}" if measured.found else "")
        return AssertionFinding(passed=measured.value >= least, found=found, span=measured.span)
    if least is not None or measured.passed is None:
        return leave_assertion_unanswered(measured.why or "it came without a value")
    return AssertionFinding(passed=measured.passed, found=measured.found, span=measured.span)


def _join_assertion_set_findings(assertion: AssertionSet, parts: Sequence[CheckedAssertion]) -> AssertionFinding:
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
