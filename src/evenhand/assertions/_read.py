"""Reading assertions from a file: every fault is collected with its path, none is raised."""

from __future__ import annotations

from collections.abc import Sequence as AnySequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypedDict

from evenhand import errors
from evenhand.assertions._assertion import AnyAssertion, Assertion, AssertionSet, outside
from evenhand.assertions._check import Checked, check
from evenhand.assertions._custom import run_custom
from evenhand.assertions._facts import Facts, Measured
from evenhand.assertions._kinds import ALIASES, KINDS, SET, Kind
from evenhand.errors import Fault, InputError, nearest
from evenhand.loading._fields import Fields, described, is_null
from evenhand.loading._tree import Mapping, Node, Sequence, tree_of
from evenhand.model import Made

BESIDE = ("not", "weight", "name")  # What may stand beside any kind.
WORDS = (*KINDS, *ALIASES, SET)
_WHOLE = ("json_schema",)  # Kinds whose argument is a mapping of somebody else's.


class _Counts(TypedDict):
    weight: Fraction
    negated: bool
    name: str | None


def read_assertions(node: Node, folder: Path, faults: list[Fault], path: errors.Path) -> tuple[AnyAssertion, ...]:
    """The assertions in a list; files that they name are found from the folder."""
    if is_null(node):
        return ()
    if not isinstance(node, Sequence):
        hint = "begin each with a dash: - contains: refund"
        faults.append(Fault(f"expected a list of assertions, got {described(node)}", hint, path))
        return ()
    reader = _Reader(folder, faults)
    read = [reader.entry(item, (*path, position)) for position, item in enumerate(node.items)]
    return tuple(one for one in read if one is not None)


def read_plain(data: object, folder: Path, faults: list[Fault], path: errors.Path = ()) -> tuple[AnyAssertion, ...]:
    """The assertions in plain data, such as those of one sample."""
    try:
        return read_assertions(tree_of(data), folder, faults, path)
    except InputError as error:
        faults.extend(error.within(*path).faults)
        return ()


def check_output(
    assertion: object, output: str | Made, *, input: str = "", reference: str = "", context: str = ""
) -> Checked:
    """Check one output against one assertion, given as a file would give it. Its own checks are run."""
    faults: list[Fault] = []
    read = read_plain([assertion], Path(), faults)
    if faults:
        raise InputError(*faults)
    made = Made(text=output) if isinstance(output, str) else output
    facts = Facts(made=made, input=input, reference=reference, context=context)
    return check(read[0], facts, _run_customs(read, facts))


def _run_customs(read: AnySequence[AnyAssertion], facts: Facts) -> dict[Assertion, Measured]:
    return {leaf: run_custom(leaf, facts) for leaf in outside(read) if leaf.kind == "custom"}


@dataclass(frozen=True, slots=True)
class _Reader:
    folder: Path
    faults: list[Fault]

    def entry(self, node: Node, path: errors.Path) -> AnyAssertion | None:
        """One assertion, or None where something is wrong with it."""
        before = len(self.faults)
        word = self._word(node, path)
        if word is None:
            return None
        try:
            read = self._set(node, path) if word == SET else self._leaf(node, word, path)
        except InputError as error:
            self.faults.extend(error.within(*path).faults)
            return None
        return read if len(self.faults) == before else None

    def _word(self, node: Node, path: errors.Path) -> str | None:
        """The one key of an entry that says its kind."""
        if not isinstance(node, Mapping) or not node.items:
            self._fault(path, f"expected an assertion such as 'contains: refund', got {described(node)}")
            return None
        keys = [key.text for key, _ in node.items]
        words = [key for key in keys if key in WORDS]
        if len(words) > 1:
            self._fault((*path, words[1]), f"{words[0]} and {words[1]} in one assertion", "begin each with a dash")
        elif not words:
            first = next((key for key in keys if key not in BESIDE), keys[0])
            self._fault((*path, first), f"unknown assertion {first[:80]!r}", nearest(first[:40], WORDS))
        return words[0] if len(words) == 1 else None

    def _leaf(self, node: Node, word: str, path: errors.Path) -> Assertion | None:
        kind = KINDS[ALIASES.get(word, word)]
        options = [option.name for option in kind.options]
        outer = Fields(node, {word, *options, *BESIDE}, self.faults, path)
        argument = outer.node(word)
        assert argument is not None
        inner = None
        if isinstance(argument, Mapping) and kind.name not in _WHOLE:
            inner = Fields(argument, {kind.main.name, *options, *BESIDE}, self.faults, (*path, word))
        arguments, places = self._arguments(kind, word, outer, inner)
        counts = self._counts(outer, inner)
        if arguments is None or counts is None:
            return None
        try:
            return Assertion(kind=kind.name, arguments=tuple(arguments.items()), **counts)
        except InputError as error:
            raise InputError(*(_moved(fault, places, word) for fault in error.faults)) from None

    def _arguments(
        self, kind: Kind, word: str, outer: Fields, inner: Fields | None
    ) -> tuple[dict[str, Any] | None, dict[str, errors.Path]]:
        """What is said to an assertion, as yet unchecked, and where each was said."""
        arguments: dict[str, Any] = {}
        places: dict[str, errors.Path] = {}
        good = True
        for parameter in kind.parameters:
            name = parameter.name
            if inner is None and parameter is kind.main:
                node, place = self._either(word, word, outer, None)
            else:
                node, place = self._either(name, word, outer, inner)
            if node is None:
                continue
            places[name] = place
            try:
                arguments[name] = parameter.sort.read(node, self.folder)
            except InputError as error:
                good = False
                for fault in error.faults:
                    self._fault((*outer.path, *place), f"{name} {fault.what}", fault.hint)
        return arguments if good else None, places

    def _either(self, name: str, word: str, outer: Fields, inner: Fields | None) -> tuple[Node | None, errors.Path]:
        """What stands beside the kind or in its mapping."""
        if inner is not None and name in inner:
            if name in outer:
                outer.fault(f"{name} is given twice", f"keep it beside {word} or in it", name)
            return inner.node(name), (word, name)
        return outer.node(name), (name,)

    def _set(self, node: Node, path: errors.Path) -> AssertionSet | None:
        outer = Fields(node, {SET, *BESIDE}, self.faults, path)
        argument = outer.node(SET)
        assert argument is not None
        inner = Fields(argument, {"any", "all", *BESIDE}, self.faults, (*path, SET))
        counts = self._counts(outer, inner)
        given: list[Literal["any", "all"]] = [word for word in ("any", "all") if word in inner]
        if len(given) != 1:
            if isinstance(argument, Mapping):
                inner.fault("a set needs either any or all", "as in assert_set: {any: [...]}")
            return None
        before = len(self.faults)
        parts = [self.entry(item, place) for item, place in inner.items(given[0])]
        if counts is None or len(self.faults) > before:
            return None
        try:
            return AssertionSet(passes=given[0], parts=tuple(part for part in parts if part), **counts)
        except InputError as error:
            raise error.within(SET) from None

    def _counts(self, outer: Fields, inner: Fields | None) -> _Counts | None:
        before = len(self.faults)
        holds = {name: inner if inner is not None and name in inner else outer for name in BESIDE}
        for name in BESIDE:
            if inner is not None and name in inner and name in outer:
                outer.fault(f"{name} is given twice", "keep one of them", name)
        weight = holds["weight"].number("weight")
        if weight is not None and weight <= 0:
            holds["weight"].fault("weight must be above 0", "leave the assertion out", "weight")
        negated, called = holds["not"].boolean("not"), holds["name"].text("name")
        if len(self.faults) > before:
            return None
        return {"weight": Fraction(1) if weight is None else weight, "negated": bool(negated), "name": called}

    def _fault(self, path: errors.Path, what: str, hint: str = "") -> None:
        self.faults.append(Fault(what, hint, path))


def _moved(fault: Fault, places: dict[str, errors.Path], word: str) -> Fault:
    """A fault of an argument, at the place where the argument was given."""
    named = str(fault.path[0]) if fault.path else ""
    return replace(fault, path=places.get(named, (word,)))
