"""Assertions: one check by rule, or a set of them of which any or all must pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from evenhand.assertions.argument_types import AssertionArgument
from evenhand.assertions.kinds import ASSERTION_KINDS, SET_KIND, AssertionKind, AssertionLayer
from evenhand.errors import Fault, InputError, suggest_known_word_in_fault
from evenhand.wording import format_fraction, format_quoted_texts, quote_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One check. `arguments` are pairs of a name and a value; what is not given gets its default at birth."""

    kind: str
    arguments: tuple[tuple[str, AssertionArgument], ...] = ()
    weight: Fraction = Fraction(1)
    negated: bool = False
    name: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in ASSERTION_KINDS:
            raise InputError(
                Fault(f"unknown assertion {self.kind!r}", suggest_known_word_in_fault(self.kind[:40], ASSERTION_KINDS))
            )
        _refuse_assertion_weight(self.weight)
        object.__setattr__(self, "arguments", _complete_arguments(ASSERTION_KINDS[self.kind], self.arguments))

    @property
    def layer(self) -> AssertionLayer:
        """The layer it counts in."""
        return ASSERTION_KINDS[self.kind].layer

    @property
    def title(self) -> str:
        """Its name, or a few words for it."""
        if self.name:
            return self.name
        given = dict(self.arguments)
        main = given.get(ASSERTION_KINDS[self.kind].parameters[0].name, given.get("command"))
        shown = "" if main is None or self.kind == "json_schema" else f" {_format_argument(main, '')}"
        return f"{'not ' if self.negated else ''}{self.kind}{shown}"

    @property
    def looks_for(self) -> str:
        """A sentence on what must be true for it to pass."""
        given = dict(self.arguments)
        words = {
            one.name: _format_argument(given.get(one.name), one.absent) for one in ASSERTION_KINDS[self.kind].parameters
        }
        case = ", in any case" if given.get("ignore_case") else ""
        return f"{'not: ' if self.negated else ''}{ASSERTION_KINDS[self.kind].looks_for.format(**words)}{case}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionSet:
    """Several assertions of one layer that count as one: it passes where any, or all, of its parts do."""

    passes: Literal["any", "all"]
    parts: tuple[Assertion | AssertionSet, ...]
    weight: Fraction = Fraction(1)
    negated: bool = False
    name: str | None = None

    def __post_init__(self) -> None:
        if self.passes not in ("any", "all"):
            raise InputError(Fault(f"a set passes where any or all of its parts pass, not {self.passes!r}"))
        if not self.parts:
            raise InputError(Fault("a set needs at least one assertion", path=(self.passes,)))
        _refuse_assertion_weight(self.weight)
        if len({part.layer for part in self.parts}) > 1:
            facts = format_quoted_texts(part.title for part in self.parts if part.layer == "fact")
            raise InputError(
                Fault(f"a set mixes layers: {facts} look at facts, the others at behavior", "make one set for each")
            )
        for position, part in enumerate(self.parts):
            if part.weight != 1:
                raise InputError(
                    Fault("a weight inside a set counts nowhere", "weigh the set", (self.passes, position, "weight"))
                )

    @property
    def layer(self) -> AssertionLayer:
        """The layer of its leaves."""
        return self.parts[0].layer

    @property
    def kind(self) -> str:
        """The word that files have for it."""
        return SET_KIND

    @property
    def title(self) -> str:
        """Its name, or a few words for it."""
        return self.name or f"{'not ' if self.negated else ''}{self.passes} of {len(self.parts)}"

    @property
    def looks_for(self) -> str:
        """A sentence on what must be true for it to pass."""
        parts = "; ".join(part.title for part in self.parts)
        return f"{'not: ' if self.negated else ''}{self.passes} of: {parts}"


def _refuse_assertion_weight(weight: Fraction) -> None:
    if not weight > 0:
        raise InputError(Fault(f"weight must be above 0, got {weight}", "leave the assertion out", ("weight",)))


def _complete_arguments(
    kind: AssertionKind, arguments: tuple[tuple[str, AssertionArgument], ...]
) -> tuple[tuple[str, AssertionArgument], ...]:
    """Every argument as its type keeps it, defaults filled in, in the order of the kind's parameters."""
    given = dict(arguments)
    known = {parameter.name for parameter in kind.parameters}
    faults = [
        Fault(f"unknown field {name!r}", suggest_known_word_in_fault(name, known), (name,))
        for name in given
        if name not in known
    ]
    if kind.one_of and sum(name in given for name in kind.one_of) != 1:
        faults.append(Fault(f"{kind.name} needs either {' or '.join(kind.one_of)}"))
    kept: dict[str, AssertionArgument] = {}
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
    return tuple(kept.items())


def _format_argument(value: AssertionArgument | None, absent: str) -> str:
    if value is None:
        return absent
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, Fraction)):
        return format_fraction(Fraction(value))
    return quote_text(value) if isinstance(value, str) else format_quoted_texts(value)


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
