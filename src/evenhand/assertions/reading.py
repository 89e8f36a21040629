"""Reading assertions from a file or plain data: every fault is collected with its path, none is raised."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypedDict

from evenhand.assertions.assertion import (
    AnyAssertion,
    Assertion,
    AssertionSet,
    CheckedAssertion,
    check_assertion,
    list_outside_assertions,
)
from evenhand.assertions.custom import run_custom_assertion
from evenhand.assertions.kinds import ASSERTION_KINDS, CHECK_WORD, EXECUTED_KIND, KIND_ALIASES, SET_KIND
from evenhand.assertions.rule_inputs import SCHEMA, AssertionFacts
from evenhand.errors import Fault, FaultPath, InputError, suggest_known_word_in_error
from evenhand.files.allowed_files import allow_files_named_by_samples, refuse_path_outside_folder
from evenhand.files.tree import (
    FieldReader,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    build_tree,
    describe_node,
    is_null_node,
)
from evenhand.model.sample import VariantOutput

SHARED_FIELDS = ("not", "weight", "name")  # What may stand beside any kind.
KIND_WORDS = (*ASSERTION_KINDS, *KIND_ALIASES, SET_KIND, CHECK_WORD)
_MAPPING_ARGUMENT_KINDS = ("json_schema",)  # Kinds whose argument is a mapping of somebody else's.


class _SharedFields(TypedDict, total=False):
    weight: Fraction
    negated: bool
    name: str | None


NamedChecks = Mapping[str, AnyAssertion]
NO_CHECKS: NamedChecks = {}


def read_assertions(
    node: TreeNode,
    folder: Path,
    faults: list[Fault],
    path: FaultPath,
    checks: NamedChecks = NO_CHECKS,
    *,
    may_execute: bool = True,
    confined: bool = False,
) -> tuple[AnyAssertion, ...]:
    """The assertions in a list; files that they name are found from the folder, and named checks in `checks`.

    Where `may_execute` is false, as in data, no function and no command of its own may stand there; where they are
    `confined`, as in a file of data, they name files below the folder only.
    """
    if is_null_node(node):
        return ()
    if not isinstance(node, SequenceNode):
        hint = "begin each with a dash: - contains: refund"
        faults.append(Fault(f"expected a list of assertions, got {describe_node(node)}", hint, path))
        return ()
    reader = _AssertionParser(folder, faults, checks, may_execute, confined)
    read = [reader.parse_assertion(item, (*path, position)) for position, item in enumerate(node.items)]
    return tuple(one for one in read if one is not None)


def read_plain_assertions(
    data: object, folder: Path, faults: list[Fault], path: FaultPath = (), checks: NamedChecks = NO_CHECKS
) -> tuple[AnyAssertion, ...]:
    """The assertions in plain data of a program."""
    try:
        return read_assertions(build_tree(data), folder, faults, path, checks)
    except InputError as error:
        faults.extend(error.within(*path).faults)
        return ()


def read_data_assertions(
    data: object, folder: Path, faults: list[Fault], checks: NamedChecks, *, confined: bool
) -> tuple[AnyAssertion, ...]:
    """The assertions of a sample, which may be anybody's: nothing in them is executed."""
    path = ("assertions",)
    try:
        return read_assertions(build_tree(data), folder, faults, path, checks, may_execute=False, confined=confined)
    except InputError as error:
        faults.extend(error.within(*path).faults)
        return ()


def read_named_assertions(fields: FieldReader, folder: Path) -> dict[str, AnyAssertion]:
    """The checks that an eval defines under `checks`, by name, for its samples to name."""
    reader = _AssertionParser(folder, fields.faults, NO_CHECKS, may_execute=True)
    read = {name: reader.parse_assertion(node, path) for name, node, path in fields.pairs("checks")}
    return {name: one for name, one in read.items() if one is not None}


def check_output(
    assertion: object, output: str | VariantOutput, *, input: str = "", reference: str = "", context: str = ""
) -> CheckedAssertion:
    """Check one output against one assertion, given as a file would give it. Its own checks are run."""
    faults: list[Fault] = []
    read = read_plain_assertions([assertion], Path(), faults)
    if faults:
        raise InputError(*faults)
    made = VariantOutput(text=output) if isinstance(output, str) else output
    facts = AssertionFacts(made=made, input=input, reference=reference, context=context)
    own = [leaf for leaf in list_outside_assertions(read) if leaf.kind == "custom"]
    return check_assertion(read[0], facts, {leaf: run_custom_assertion(leaf, facts) for leaf in own})


@dataclass(frozen=True, slots=True)
class _AssertionParser:
    folder: Path
    faults: list[Fault]
    checks: NamedChecks
    may_execute: bool
    confined: bool = False  # Whether files that are named stand below the folder.

    def parse_assertion(self, node: TreeNode, path: FaultPath) -> AnyAssertion | None:
        """One assertion, or None where something is wrong with it; one of its keys says the kind."""
        before = len(self.faults)
        if not isinstance(node, MappingNode) or not node.items:
            what = f"expected an assertion such as 'contains: refund', got {describe_node(node)}"
            self.faults.append(Fault(what, path=path))
            return None
        keys = [key.text for key, _ in node.items]
        words = [key for key in keys if key in KIND_WORDS]
        if len(words) > 1:
            what = f"{words[0]} and {words[1]} in one assertion"
            self.faults.append(Fault(what, "begin each with a dash", (*path, words[1])))
            return None
        if not words:
            first = next((key for key in keys if key not in SHARED_FIELDS), keys[0])
            hint = suggest_known_word_in_error(first[:40], KIND_WORDS)
            self.faults.append(Fault(f"unknown assertion {first[:80]!r}", hint, (*path, first)))
            return None
        if words[0] == EXECUTED_KIND and not self.may_execute:
            what = "data cannot say what is executed: this is not run"
            hint = "define it in the eval, checks: {NAME: {custom: …}}, and write check: NAME here"
            self.faults.append(Fault(what, hint, (*path, EXECUTED_KIND)))
            return None
        read: AnyAssertion | None
        try:
            if words == [SET_KIND]:
                read = self._parse_assertion_set(node, path)
            elif words == [CHECK_WORD]:
                read = self._parse_named_check(node, path)
            else:
                read = self._parse_single_assertion(node, words[0], path)
        except InputError as error:
            self.faults.extend(error.within(*path).faults)
            return None
        return read if len(self.faults) == before else None

    def _parse_single_assertion(self, node: TreeNode, word: str, path: FaultPath) -> Assertion | None:
        kind = ASSERTION_KINDS[KIND_ALIASES.get(word, word)]
        main, *options = (parameter.name for parameter in kind.parameters)
        outer = FieldReader(node, {word, *options, *SHARED_FIELDS}, self.faults, path)
        argument = outer.node(word)
        assert argument is not None
        inner = None
        if isinstance(argument, MappingNode) and kind.name not in _MAPPING_ARGUMENT_KINDS:
            inner = FieldReader(argument, {main, *options, *SHARED_FIELDS}, self.faults, (*path, word))
        arguments: dict[str, Any] = {}  # What is said to it, as yet unchecked,
        places: dict[str, FaultPath] = {}  # and where each was said.
        place: FaultPath
        good = True
        for parameter in kind.parameters:
            name = parameter.name
            key = word if inner is None and name == main else name
            holds, place = outer, (key,)
            if inner is not None and key in inner:
                if key in outer:
                    outer.fault(f"{name} is given twice", f"keep it beside {word} or in it", name)
                holds, place = inner, (word, key)
            said = holds.node(key)
            if said is None:
                continue
            places[name] = place
            try:
                if self.confined and parameter.sort is SCHEMA and isinstance(said, ScalarNode):
                    refuse_path_outside_folder(said.text, self.folder, InputError)
                with allow_files_named_by_samples(self.folder) if self.confined else nullcontext():
                    arguments[name] = parameter.sort.read(said, self.folder)
            except InputError as error:
                good = False
                here = (*path, *place)
                self.faults.extend(Fault(f"{name} {one.what}", one.hint, here) for one in error.faults)
        shared = any(name in fields for name in SHARED_FIELDS for fields in (outer, inner) if fields is not None)
        counts = self._parse_shared_assertion_fields(outer, inner) if shared else _SharedFields()
        if not good or counts is None:
            return None
        try:
            return Assertion(kind=kind.name, arguments=tuple(arguments.items()), **counts)
        except InputError as error:  # Each fault is shown where its argument was given.
            paths = [places.get(str(fault.path[0]) if fault.path else "", (word,)) for fault in error.faults]
            moved = (replace(fault, path=path) for fault, path in zip(error.faults, paths, strict=True))
            raise InputError(*moved) from None

    def _parse_named_check(self, node: TreeNode, path: FaultPath) -> AnyAssertion | None:
        """A check of the eval; what is said beside its name counts in place of what the eval says."""
        fields = FieldReader(node, {CHECK_WORD, *SHARED_FIELDS}, self.faults, path)
        name = fields.text(CHECK_WORD) or ""
        check = self.checks.get(name)
        if check is None:
            known = suggest_known_word_in_error(name[:40], self.checks) if self.checks else ""
            what = f"the eval defines no check {name[:60]!r}"
            self.faults.append(Fault(what, known or "it does so by checks: {NAME: {custom: …}}", (*path, CHECK_WORD)))
            return None
        counts = self._parse_shared_assertion_fields(fields, None)
        if counts is None:
            return None
        return replace(
            check,
            weight=counts["weight"] if "weight" in fields else check.weight,
            negated=check.negated != counts["negated"],
            name=counts["name"] or check.name or name,
        )

    def _parse_assertion_set(self, node: TreeNode, path: FaultPath) -> AssertionSet | None:
        outer = FieldReader(node, {SET_KIND, *SHARED_FIELDS}, self.faults, path)
        argument = outer.node(SET_KIND)
        assert argument is not None
        inner = FieldReader(argument, {"any", "all", *SHARED_FIELDS}, self.faults, (*path, SET_KIND))
        counts = self._parse_shared_assertion_fields(outer, inner)
        given: list[Literal["any", "all"]] = [word for word in ("any", "all") if word in inner]
        if len(given) != 1:
            if isinstance(argument, MappingNode):
                inner.fault("a set needs either any or all", "as in assert_set: {any: [...]}")
            return None
        before = len(self.faults)
        parts = [self.parse_assertion(item, place) for item, place in inner.items(given[0])]
        if counts is None or len(self.faults) > before:
            return None
        try:
            return AssertionSet(passes=given[0], parts=tuple(part for part in parts if part), **counts)
        except InputError as error:
            raise error.within(SET_KIND) from None

    def _parse_shared_assertion_fields(self, outer: FieldReader, inner: FieldReader | None) -> _SharedFields | None:
        before = len(self.faults)
        holds = {name: inner if inner is not None and name in inner else outer for name in SHARED_FIELDS}
        for name in SHARED_FIELDS:
            if inner is not None and name in inner and name in outer:
                outer.fault(f"{name} is given twice", "keep one of them", name)
        weight = holds["weight"].number("weight")
        if weight is not None and weight <= 0:
            holds["weight"].fault("weight must be above 0", "leave the assertion out", "weight")
        negated, called = holds["not"].boolean("not"), holds["name"].text("name")
        if len(self.faults) > before:
            return None
        return {"weight": Fraction(1) if weight is None else weight, "negated": bool(negated), "name": called}
