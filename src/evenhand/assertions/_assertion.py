"""Assertions: one check by rule, or a set of them of which any or all must pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from evenhand.assertions._kinds import KINDS, SET, Kind, Layer
from evenhand.assertions._shown import listed, shown
from evenhand.assertions._sorts import Argument
from evenhand.errors import Fault, InputError, nearest
from evenhand.model import written


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One check. `arguments` are pairs of a name and a value; what is not given gets its default at birth."""

    kind: str
    arguments: tuple[tuple[str, Argument], ...] = ()
    weight: Fraction = Fraction(1)
    negated: bool = False
    name: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(Fault(f"unknown assertion {self.kind!r}", nearest(self.kind[:40], KINDS)))
        _refuse_weight(self.weight)
        object.__setattr__(self, "arguments", _complete(KINDS[self.kind], self.arguments))

    @property
    def layer(self) -> Layer:
        """The layer it counts in."""
        return KINDS[self.kind].layer

    @property
    def title(self) -> str:
        """Its name, or a few words for it."""
        if self.name:
            return self.name
        main = "" if self.kind == "json_schema" else self._short()
        return f"{'not ' if self.negated else ''}{self.kind}{main}"

    @property
    def looks_for(self) -> str:
        """A sentence on what must be true for it to pass."""
        given = dict(self.arguments)
        words = {one.name: _said(given.get(one.name), one.absent) for one in KINDS[self.kind].parameters}
        case = ", in any case" if given.get("ignore_case") else ""
        return f"{'not: ' if self.negated else ''}{KINDS[self.kind].looks_for.format(**words)}{case}"

    def _short(self) -> str:
        given = dict(self.arguments)
        value = given.get(KINDS[self.kind].main.name, given.get("command"))
        return f" {_said(value, '')}" if value is not None else ""


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
        _refuse_weight(self.weight)
        if len({part.layer for part in self.parts}) > 1:
            facts = listed(part.title for part in self.parts if part.layer == "fact")
            raise InputError(
                Fault(f"a set mixes layers: {facts} look at facts, the others at behavior", "make one set for each")
            )
        for position, part in enumerate(self.parts):
            if part.weight != 1:
                raise InputError(
                    Fault("a weight inside a set counts nowhere", "weigh the set", (self.passes, position, "weight"))
                )

    @property
    def layer(self) -> Layer:
        """The layer of its leaves."""
        return self.parts[0].layer

    @property
    def kind(self) -> str:
        """The word that files have for it."""
        return SET

    @property
    def title(self) -> str:
        """Its name, or a few words for it."""
        return self.name or f"{'not ' if self.negated else ''}{self.passes} of {len(self.parts)}"

    @property
    def looks_for(self) -> str:
        """A sentence on what must be true for it to pass."""
        parts = "; ".join(part.title for part in self.parts)
        return f"{'not: ' if self.negated else ''}{self.passes} of: {parts}"


AnyAssertion = Assertion | AssertionSet


def outside(assertions: Iterable[AnyAssertion]) -> tuple[Assertion, ...]:
    """The checks that need something from outside this room: a model, a function, a command. Each once, in order."""
    return tuple(dict.fromkeys(leaf for leaf in _leaves(assertions) if KINDS[leaf.kind].rule is None))


def definition(assertion: AnyAssertion) -> dict[str, object]:
    """Plain data that two assertions share when they check and count the same; a name alone changes nothing."""
    counts = {"weight": str(assertion.weight), "not": assertion.negated}
    if isinstance(assertion, AssertionSet):
        return {assertion.passes: [definition(part) for part in assertion.parts], **counts}
    plain = {name: _plain(value) for name, value in assertion.arguments}
    return {"kind": assertion.kind, "arguments": plain, **counts}


def _leaves(assertions: Iterable[AnyAssertion]) -> Iterator[Assertion]:
    for one in assertions:
        if isinstance(one, AssertionSet):
            yield from _leaves(one.parts)
        else:
            yield one


def _refuse_weight(weight: Fraction) -> None:
    if not weight > 0:
        raise InputError(Fault(f"weight must be above 0, got {weight}", "leave the assertion out", ("weight",)))


def _complete(kind: Kind, arguments: tuple[tuple[str, Argument], ...]) -> tuple[tuple[str, Argument], ...]:
    """Every argument as its sort keeps it, defaults filled in, in the order of the kind's parameters."""
    given = dict(arguments)
    known = {parameter.name for parameter in kind.parameters}
    faults = [Fault(f"unknown field {name!r}", nearest(name, known), (name,)) for name in given if name not in known]
    if kind.one_of and sum(name in given for name in kind.one_of) != 1:
        faults.append(Fault(f"{kind.name} needs either {' or '.join(kind.one_of)}"))
    kept: dict[str, Argument] = {}
    for parameter in kind.parameters:
        value = given.get(parameter.name, parameter.default)
        if value is None and parameter.required:
            faults.append(Fault(f"{kind.name} needs {parameter.name}: {parameter.means}"))
        if value is None:
            continue
        try:
            kept[parameter.name] = parameter.sort.kept(value)
        except InputError as error:
            faults += [Fault(f"{parameter.name} {one.what}", one.hint, (parameter.name,)) for one in error.faults]
    if faults:
        raise InputError(*faults)
    return tuple(kept.items())


def _said(value: Argument | None, absent: str) -> str:
    if value is None:
        return absent
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, Fraction)):
        return written(Fraction(value))
    return shown(value) if isinstance(value, str) else listed(value)


def _plain(value: Argument) -> object:
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Fraction) else value
