"""Reading task files with their dimensions: every fault at once, each with its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Mapping as AnyMapping
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from evenhand.contest.task import (
    CONTEST_METHOD,
    CONTEST_MODES,
    Task,
    find_contest_dimension_faults,
    parse_contest_duration,
    parse_contest_moment,
)
from evenhand.errors import ContestError, Fault, FaultPath, RubricError
from evenhand.evals.json_lines import explain_unstorable_sample_text
from evenhand.files.methods import load_shipped_method_file, override_rubric_file_fields
from evenhand.files.parsing import LARGEST_RUBRIC_FILE, parse_tree, read_text_file
from evenhand.files.rubrics import read_rubric_file
from evenhand.files.tree import (
    FieldReader,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    describe_node,
    find_node_line,
    is_null_node,
    read_node_weight,
)
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion
from evenhand.wording import format_fraction

T = TypeVar("T")
TASK_FILE_FIELDS = (
    "name", "description", "acceptance", "acceptance_criteria", "mode", "deadline", "revisions", "revision_limit",
    "challenge_period", "reward", "dimensions", "judges", "challenge_judges", "keep",
)  # fmt: skip
TASK_FIELD_ALIASES = {"acceptance": "acceptance_criteria", "revisions": "revision_limit"}
TASK_FIELDS_BY_ALIAS = {also: name for name, also in TASK_FIELD_ALIASES.items()}
TASK_HINTS = {
    "evenhand rubric init writes a starter": "a task needs description, acceptance and mode",
    "one file holds one rubric: remove '---'": "one file holds one task: remove '---'",
}


def load_task(path: Path, environ: AnyMapping[str, str]) -> tuple[Task, str]:
    """The task in a YAML or JSON file, and the file's text. Settings in the environment override its dimensions."""
    source = read_text_file(path, LARGEST_RUBRIC_FILE, ContestError)
    return parse_task_text(source, path, environ), source


def parse_task_text(source: str, path: Path, environ: AnyMapping[str, str]) -> Task:
    """The task in a text; faults are told with the lines of the file that it is, or would be, from."""
    try:
        tree = parse_tree(path, source)
    except RubricError as error:
        faults = (replace(fault, hint=TASK_HINTS.get(fault.hint, fault.hint)) for fault in error.faults)
        raise ContestError(*faults) from None
    if not isinstance(tree, MappingNode):
        what = f"a task file is a mapping, got {describe_node(tree)}"
        raise ContestError(Fault(what, "as in description: …", where=f"{path}:{tree.line}"))
    if unkept := [Fault(why, where=f"{path}:{line}") for line, why in _find_unstorable_contest_texts(tree)]:
        raise ContestError(*unkept)
    return _ContestTaskReader(tree, path, environ).task()


def _find_unstorable_contest_texts(tree: TreeNode) -> Iterator[tuple[int, str]]:
    """The lines of texts that no file or database can hold, and why."""
    waiting: list[TreeNode] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, SequenceNode):
            waiting += reversed(node.items)
        elif isinstance(node, MappingNode):
            waiting += [part for pair in reversed(node.items) for part in reversed(pair)]
        elif why := explain_unstorable_sample_text(node.text):
            yield node.line, why


class _ContestTaskReader:
    """Reads one task file and collects its faults."""

    def __init__(self, tree: MappingNode, path: Path, environ: AnyMapping[str, str]) -> None:
        self.faults: list[Fault] = []
        self.tree = tree
        self.fields = FieldReader(tree, TASK_FILE_FIELDS, self.faults)
        self.path = path
        self.environ = environ

    def task(self) -> Task:
        """The task, or an error with all that is wrong."""
        parts = self._read_parts()
        told = {
            (TASK_FIELDS_BY_ALIAS.get(str(name), name), what)
            for one in self.faults
            for name in one.path[:1]
            for what in ("", one.what)
        }
        try:
            task = Task(**parts)
        except ContestError as error:
            # What was refused already is left out of the task, which would only say that it misses it.
            # Of judges it may say something new: there the text counts too.
            panels = ("judges", "challenge_judges")
            keys = [(one.path[0], one.what if one.path[0] in panels else "") for one in error.faults]
            self.faults += [one for one, key in zip(error.faults, keys, strict=True) if key not in told]
        if self.faults:
            # What is wrong in another file comes after what is wrong in this one.
            ordered = sorted(self.faults, key=lambda one: (bool(one.where), self._line_of_path(one.path)))
            raise ContestError(*ordered).with_locations(lambda path: f"{self.path}:{self._line_of_path(path)}")
        return task

    def _read_parts(self) -> dict[str, Any]:
        for given, also in TASK_FIELD_ALIASES.items():
            self.fields.node(given, also)  # Notes a fault where a field is given under both its names.
        name = self.fields.text("name") or self.path.stem
        judges, weights = read_contest_judges(self.fields, self.tree, self.path)
        description, acceptance = self.fields.text("description") or "", self._read_acceptance()
        if "mode" not in self.fields:
            self.fields.fault("a task needs a mode", f"one of {', '.join(CONTEST_MODES)}", "mode")
        node = self.fields.node("dimensions")
        return {
            "name": name,
            "description": description,
            "acceptance": acceptance,
            "mode": self.fields.choice("mode", CONTEST_MODES) or "",
            "deadline": self._read_parsed("deadline", parse_contest_moment),
            "revisions": self.fields.integer(self._written_field_name("revisions")),
            "challenge_period": self._read_parsed("challenge_period", parse_contest_duration) or timedelta(),
            "reward": self.fields.text("reward") or "",
            "dimensions": None
            if node is None
            else read_contest_dimensions(node, name, self.faults, self.path.parent, self.environ),
            "judges": judges,
            "weights": weights,
            "challenge_judges": read_contest_challenge_judges(self.fields),
            "masked": self._read_masked(),
        }

    def _read_masked(self) -> bool:
        """Whether texts of others are masked; a log without them could neither be gone on with nor verified."""
        node = self.fields.node("keep")
        if isinstance(node, ScalarNode) and node.text == "none":
            what = "a contest cannot keep: none, as it is rebuilt, verified and paid from its log"
            self.fields.fault(what, "keep: masked, and evenhand contest delete when it is over", "keep")
            return False
        return self.fields.choice("keep", ("raw", "masked")) == "masked"

    def _read_acceptance(self) -> tuple[str, ...]:
        name = self._written_field_name("acceptance")
        node = self.fields.node(name)
        if node is not None and not isinstance(node, SequenceNode):
            hint = "write a list, one entry for each criterion, even for one"
            self.fields.fault(f"{name} must be a list, got {describe_node(node)}", hint, name)
            return ()
        found: dict[str, int] = {}
        for entry, path in self.fields.items(name):
            text = entry.text.strip() if isinstance(entry, ScalarNode) and not is_null_node(entry) else None
            if text is None:
                hint = "a text with a colon in it needs quotes" if isinstance(entry, MappingNode) else ""
                self.faults.append(Fault(f"an acceptance criterion is a text, got {describe_node(entry)}", hint, path))
            elif not text:
                self.faults.append(Fault("an acceptance criterion cannot be empty", "write what must be met", path))
            elif text in found:
                first = find_node_line(self.tree, (name, found[text]))
                self.faults.append(Fault(f"the same criterion as in line {first}", "keep one of them", path))
            else:
                found[text] = int(path[-1])
        return tuple(found)

    def _read_parsed(self, name: str, parse: Callable[[str, str, list[Fault]], T | None]) -> T | None:
        text = self.fields.text(name)
        return None if text is None else parse(text, name, self.faults)

    def _written_field_name(self, name: str) -> str:
        """The name under which a field is given, of the two that it may have."""
        return TASK_FIELD_ALIASES[name] if TASK_FIELD_ALIASES[name] in self.fields and name not in self.fields else name

    def _line_of_path(self, path: FaultPath) -> int:
        name = str(path[0]) if path else ""
        written = (self._written_field_name(name), *path[1:]) if name in TASK_FIELD_ALIASES else path
        return find_node_line(self.tree, written)


# No scale and no gates: every dimension is answered by a band and a number, and it is the acceptance that gates.
DIMENSION_FIELDS = ("id", "asks", "expected_outcome", "description", "weight", "fixed", "type")
DIMENSION_TYPES = ("fixed", "dynamic")


def read_contest_dimensions(
    node: TreeNode, name: str, faults: list[Fault], folder: Path, environ: AnyMapping[str, str]
) -> Rubric | None:
    """The rubric that a list under `dimensions` makes; None where it has a fault."""
    if not isinstance(node, SequenceNode) or not node.items:
        got = "an empty list" if isinstance(node, SequenceNode) else describe_node(node)
        hint = "as in {id: credibility, asks: …, weight: 0.25, fixed: true}; left out, they are generated"
        faults.append(Fault(f"dimensions must be a list, got {got}", hint, ("dimensions",)))
        return None
    before = len(faults)
    entries = SequenceNode(
        node.line, [_contest_dimension_as_criterion(one, faults, at) for at, one in enumerate(node.items)]
    )
    wrong = len(faults) > before
    if all(isinstance(entry, MappingNode) for entry in entries.items):
        method, criteria = ScalarNode("method", node.line), ScalarNode("criteria", node.line)
        tree = MappingNode(node.line, [(method, ScalarNode(CONTEST_METHOD, node.line)), (criteria, entries)])
        try:
            rubric = override_rubric_file_fields(read_rubric_file(tree, name, folder), environ)
        except RubricError as error:
            # What is said of the list as a whole is found below, as far as it is true although an entry is wrong.
            faults += [
                _move_fault_to_contest_dimensions(one) for one in error.faults if one.where or one.path != ("criteria",)
            ]
        else:
            if not wrong:
                return rubric
    faults += _find_contest_dimension_list_faults(node.items, unweighted=None if wrong else Fraction(1))
    return None


def _find_contest_dimension_list_faults(entries: list[TreeNode], unweighted: Fraction | None) -> Iterator[Fault]:
    """What is wrong with how many there are and with what they sum to, each where it can be told."""
    known = []
    for entry in entries:
        fields = FieldReader(entry, DIMENSION_FIELDS, [])
        fixed, kind = fields.boolean("fixed"), fields.choice("type", DIMENSION_TYPES)
        if not fields.faults and not ("fixed" in fields and "type" in fields):
            known.append(kind == "fixed" if fixed is None else fixed)
    if len(known) == len(entries):
        yield from find_contest_dimension_faults(known)
    nodes = [entry.get("weight") if isinstance(entry, MappingNode) else None for entry in entries]
    weights = [unweighted if node is None else read_node_weight(node) for node in nodes]
    numbers = [one for one in weights if isinstance(one, Fraction) and one > 0]
    if len(numbers) == len(weights):
        plain = [Criterion(id=str(at), asks="?", weight=weight, fixed=True) for at, weight in enumerate(numbers)]
        try:
            Rubric(name="", method=load_shipped_method_file(CONTEST_METHOD), criteria=tuple(plain))
        except RubricError as error:
            yield from (_move_fault_to_contest_dimensions(one) for one in error.faults if one.path == ("criteria",))


def _contest_dimension_as_criterion(node: TreeNode, faults: list[Fault], at: int) -> TreeNode:
    """An entry as a criterion has it, without what was told to be wrong with it already."""
    fields = FieldReader(node, DIMENSION_FIELDS, faults, ("dimensions", at))
    if not isinstance(node, MappingNode):
        return node
    if "id" not in fields:
        fields.fault("a dimension needs an id", "as in id: credibility")
    if "fixed" in fields and "type" in fields:
        fields.fault("'fixed' and 'type' are the same field", "keep one of them", "type")
    kind = fields.choice("type", DIMENSION_TYPES)
    kept = [(key, value) for key, value in node.items if key.text in fields and key.text != "type"]
    if kind is not None and "fixed" not in fields:
        kept.append((ScalarNode("fixed", node.line), ScalarNode("true" if kind == "fixed" else "false", node.line)))
    return MappingNode(node.line, kept)


def _move_fault_to_contest_dimensions(fault: Fault) -> Fault:
    below = fault.path[1:] if fault.path[:1] == ("criteria",) else fault.path
    return replace(fault, path=("dimensions", *below))


JUDGE_NAME_EXAMPLE = "as in openai/NAME"


def read_contest_judges(fields: FieldReader, tree: TreeNode, path: Path) -> tuple[tuple[str, ...], dict[str, Fraction]]:
    """Those named under `judges`, with their weights; where nobody is, whoever opens the contest decides."""
    if not _is_contest_judge_named(fields, "judges"):
        return (), {}
    from evenhand.evals.eval_judges import read_eval_judges  # slow to load, and few tasks name judges.

    found = read_eval_judges(fields, tree, path)
    if found.cascade is not None:
        fields.fault("a contest takes no cascade: every submission is judged by the same judges", "", "judges")
    for name, weight in found.weights.items():
        if weight <= 0:
            fields.fault(f"the weight of {name} must be above 0, got {format_fraction(weight)}", "", "judges", name)
    fields.faults.extend(_find_repeated_contest_judges(found.names, "judges"))
    return (found.names if found.places else ()), found.weights


def read_contest_challenge_judges(fields: FieldReader) -> tuple[str, ...]:
    """The name, or the names, under `challenge_judges`."""
    if not _is_contest_judge_named(fields, "challenge_judges"):
        return ()
    node = fields.node("challenge_judges")
    if isinstance(node, ScalarNode):
        return (node.text,)
    names = []
    for entry, path in fields.items("challenge_judges"):
        if isinstance(entry, ScalarNode) and entry.text.strip() and not is_null_node(entry):
            names.append(entry.text)
        else:
            fields.faults.append(Fault(f"a judge is a name, got {describe_node(entry)}", JUDGE_NAME_EXAMPLE, path))
    fields.faults.extend(_find_repeated_contest_judges(names, "challenge_judges"))
    return tuple(names)


def _is_contest_judge_named(fields: FieldReader, name: str) -> bool:
    """Whether somebody is named; a name that is empty is a fault."""
    node = fields.node(name)
    if isinstance(node, ScalarNode) and (is_null_node(node) or not node.text.strip()):
        what = f"{name} must be a name or a list of names, got {describe_node(node)}"
        fields.fault(what, f"{JUDGE_NAME_EXAMPLE}, or leave it out", name)
        return False
    return node is not None


def _find_repeated_contest_judges(names: Sequence[str], field: str) -> Iterator[Fault]:
    for at, name in enumerate(names):
        if name in names[:at]:
            yield Fault(f"{name!r} is named twice", "each judge once", (field, at))
