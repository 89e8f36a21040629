"""The judges of an eval: names, weights, a cascade of two, or a file with maps; and assertions that they answer."""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.assertions.assertion import Assertion
from evenhand.assertions.rule_inputs import AssertionFacts, AssertionMeasurement
from evenhand.errors import EvalError, Fault, InputError
from evenhand.evals.eval_schema import CASCADE_FIELDS, PASS_ON_BUDGET, PASS_ON_FIELDS
from evenhand.evals.eval_scoring import EvalCompositeSettings
from evenhand.files.allowed_files import explain_forbidden_path, is_allowed_file
from evenhand.files.parsing import LARGEST_RUBRIC_FILE, parse_tree, read_text_file
from evenhand.files.rubrics import load_rubric
from evenhand.files.tree import (
    FieldReader,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    describe_node,
    find_node_line,
    read_node_number,
    read_node_weight,
)
from evenhand.judging.results import JudgedSample
from evenhand.judging.single_judge import Cascade, JudgeOptions
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding, Sample
from evenhand.model.scorecard import MAPPED_DECIMALS, ScoreMap
from evenhand.models.requests import EMBEDDED

JUDGE_FILE_ENDINGS = (".yaml", ".yml", ".json")
CASCADE_HINT = "as in judges: {cascade: [openai/SMALL, openai/LARGE], pass_on: 0.2}"
MAP_EXAMPLE = "{judge: openai/NAME, criterion: tone, fingerprint: 0123456789abcdef, points: [[1, 1.4], [5, 4.6]]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalJudges:
    """The judges of an eval, where each stands for messages, what each counts for, and maps of their scores, if any."""

    names: tuple[str, ...]
    places: tuple[str, ...] = ()
    weights: dict[str, Fraction] = field(default_factory=dict)
    maps: tuple[ScoreMap, ...] = ()
    cascade: Cascade | None = None


def read_eval_judges(fields: FieldReader, tree: TreeNode, path: Path, *, may_name_file: bool = True) -> EvalJudges:
    """Those under `judges` in the file at `path`: names, names with weights, a cascade, or a file that holds either."""
    node = fields.node("judges")
    if node is None:
        return EvalJudges(names=(EMBEDDED,))
    names: list[str] = []
    weights: dict[str, Fraction] = {}
    if isinstance(node, ScalarNode):
        if may_name_file and node.text.endswith(JUDGE_FILE_ENDINGS):
            return _read_eval_judges_file(path.parent / node.text, fields.faults)
        names = [node.text]
    elif isinstance(node, MappingNode) and node.get("cascade") is not None:
        return _read_eval_cascade(fields, node, tree, path)
    elif isinstance(node, MappingNode):
        for name, entry, _ in fields.pairs("judges"):
            weight = read_node_weight(entry)
            if isinstance(weight, str):
                fields.fault(f"the weight of {name} {weight}", "", "judges", name)
            weights[name] = Fraction(1) if isinstance(weight, str) else weight
        names = list(weights)
    else:
        for entry, place in fields.items("judges"):
            if isinstance(entry, ScalarNode) and entry.text.strip():
                names.append(entry.text)
            else:
                what = f"a judge is a name, got {describe_node(entry)}"
                fields.faults.append(Fault(what, "as in openai/NAME", place))
    keys = names if isinstance(node, MappingNode) else range(len(names))
    places = tuple(f"{path}:{find_node_line(tree, ('judges', key))}" for key in keys)
    return EvalJudges(names=tuple(names) or (EMBEDDED,), places=places, weights=weights)


def _read_eval_cascade(fields: FieldReader, node: MappingNode, tree: TreeNode, path: Path) -> EvalJudges:
    """Two judges, the cheap one first, and what is passed on to the second."""
    own = FieldReader(node, CASCADE_FIELDS, fields.faults, ("judges",))
    names = [entry.text for entry, _ in own.items("cascade") if isinstance(entry, ScalarNode) and entry.text.strip()]
    if len(names) != 2:
        own.fault(f"a cascade has two judges, got {len(names)}", CASCADE_HINT, "cascade")
    places = tuple(f"{path}:{find_node_line(tree, ('judges', 'cascade', place))}" for place in range(len(names)))
    try:
        cascade = Cascade(**_read_eval_cascade_share(own))
    except InputError as error:
        own.fault(error.faults[0].what, CASCADE_HINT, "pass_on")
        cascade = Cascade()
    return EvalJudges(names=tuple(names) or (EMBEDDED,), places=places, cascade=cascade)


def _read_eval_cascade_share(own: FieldReader) -> dict[str, Any]:
    """How much is passed on: a share of the rest, `budget`, or a mapping."""
    node = own.node("pass_on")
    if node is None:
        return {}
    if isinstance(node, MappingNode):
        fields = FieldReader(node, PASS_ON_FIELDS, own.faults, ("judges", "pass_on"))
        given = {name: fields.number(name) for name in PASS_ON_FIELDS}
        if given["share"] is not None and given["for_width"] is not None:
            fields.fault("share and for_width both say how much is passed on", "keep one of them")
        return {name: value for name, value in given.items() if value is not None}
    if isinstance(node, ScalarNode) and node.text == PASS_ON_BUDGET:
        return {"spend": True}
    share = own.number("pass_on")
    return {} if share is None else {"share": share}


def list_eval_cascade_conflicts(
    how: JudgeOptions, judges: int, repeats: int, keep: str, composite: EvalCompositeSettings, *, has_budget: bool
) -> list[Fault]:
    """What an eval asks for that a cascade cannot give: its scores are of two judges, and only means are corrected."""
    if how.cascade is None:
        return []
    checks: dict[tuple[str, str, str], bool] = {
        ("judges", f"a cascade has two judges, got {judges}", CASCADE_HINT): judges != 2,
        ("repeats", "a cascade asks about each sample once", "leave repeats out"): repeats > 1,
        ("keep", f"a cascade looks at samples twice, and keep: {keep} lets their texts go", "keep: raw"): keep != "raw",
        ("per", "a cascade corrects means over samples", "leave per: cluster out"): composite.per != "sample",
        ("multivariate", "a cascade corrects no test of all layers together", "leave multivariate out"): (
            composite.multivariate
        ),
        ("smallest_loss_share", "a cascade does not know every loss", "leave smallest_loss_share out"): (
            composite.smallest_loss_share is not None
        ),
        ("standardise", "standardise and debias: regress need all outputs scored by one judge", "leave them out"): (
            composite.needs_all_outputs
        ),
        ("judges", "pass_on: budget needs a budget", "as in budget: 5"): how.cascade.spend and not has_budget,
    }
    return [Fault(what, hint, (name,)) for (name, what, hint), applies in checks.items() if applies]


def _read_eval_judges_file(path: Path, faults: list[Fault]) -> EvalJudges:
    """The judges of a file with lines of its own, such as `evenhand calibrate --write` writes."""
    outside = explain_forbidden_path(path)
    if outside is not None:  # Whether it is there is nobody's to know.
        faults.append(replace(outside, what=f"judges {path.name!r}: it {outside.what}", path=("judges",)))
        return EvalJudges(names=())
    if not is_allowed_file(path):
        hint = "evenhand calibrate --write writes such a file"
        faults.append(Fault(f"no judges {path.name!r}: there is no such file", hint, ("judges",)))
        return EvalJudges(names=())
    try:
        tree = parse_tree(path, read_text_file(path, LARGEST_RUBRIC_FILE, EvalError))
    except InputError as error:
        faults += [replace(fault, hint="evenhand calibrate --write writes such a file") for fault in error.faults]
        return EvalJudges(names=())
    fields = FieldReader(tree, ("judges", "maps"), [])
    if "judges" not in fields and not fields.faults:
        fields.fault("no judges in it", "as in judges: {openai/NAME: 0.6, embedded: 0.4}")
    found = read_eval_judges(fields, tree, path, may_name_file=False)
    if fields.node("maps") is not None:
        found = replace(found, maps=tuple(read_eval_judge_maps(fields)))
    faults += EvalError(*fields.faults).with_locations(lambda at: f"{path}:{find_node_line(tree, at)}").faults
    return found


def load_eval_judge_maps(path: Path) -> tuple[ScoreMap, ...]:
    """The maps in a file of judges; an error with all that is wrong in it."""
    faults: list[Fault] = []
    found = _read_eval_judges_file(path, faults)
    if faults:
        raise InputError(*faults)
    if not found.maps:
        raise InputError(Fault("no maps in it", "evenhand calibrate --write FILE --maps writes them", where=str(path)))
    return found.maps


def read_eval_judge_maps(fields: FieldReader) -> Iterator[ScoreMap]:
    """Those under `maps`; what is wrong with one is a fault with its line."""
    for entry, place in fields.items("maps"):
        own = FieldReader(entry, ("judge", "criterion", "fingerprint", "points"), fields.faults, place)
        names = {name: own.text(name) for name in ("judge", "criterion", "fingerprint")}
        for name in (name for name, text in names.items() if not text):
            own.fault(f"a map has a {name}", MAP_EXAMPLE)
        points = [_read_eval_judge_map_point(node) for node, _ in own.items("points")]
        if None in points or not all(names.values()):
            own.fault("a map has points: pairs of numbers", MAP_EXAMPLE, "points")
            continue
        try:
            yield ScoreMap(**{name: str(text) for name, text in names.items()}, points=tuple(filter(None, points)))
        except InputError as error:
            own.fault(error.faults[0].what, error.faults[0].hint, "points")


def _read_eval_judge_map_point(node: TreeNode) -> tuple[Fraction, Fraction] | None:
    if not isinstance(node, SequenceNode) or len(node.items) != 2:
        return None
    pair = [read_node_number(one) for one in node.items]
    return None if any(isinstance(one, str) for one in pair) else (pair[0], pair[1])  # type: ignore[return-value]


def write_eval_judge_maps(maps: Sequence[ScoreMap]) -> list[str]:
    """The lines of YAML that hold them; a name in quotes of JSON is the same name in YAML, whatever stands in it."""
    if not maps:
        return []
    lines = ["maps:"]
    for one in maps:
        points = ", ".join(
            f"[{_write_eval_judge_map_number(said)}, {_write_eval_judge_map_number(people)}]"
            for said, people in one.points
        )
        names = {"judge": one.judge, "criterion": one.criterion, "fingerprint": one.fingerprint}
        told = ", ".join(f"{name}: {json.dumps(text)}" for name, text in names.items())
        lines.append(f"  - {{{told}, points: [{points}]}}")
    return lines


def _write_eval_judge_map_number(value: Fraction) -> str:
    return f"{float(value):.{MAPPED_DECIMALS}f}".rstrip("0").rstrip(".")


JUDGE_QUESTIONS = {
    "faithfulness": {
        0: "Nothing the output states follows from the context, or it contradicts the context.",
        3: "Some of what the output states follows from the context.",
        7: "Most of what the output states follows from the context.",
        10: "Everything the output states follows from the context.",
    },
    "answer_relevancy": {
        0: "The output does not answer the question.",
        3: "Some of the output answers the question.",
        7: "Most of the output answers the question.",
        10: "All of the output answers the question, and nothing in it is beside the point.",
    },
    "context_recall": {
        0: "Nothing the output states is found in the context.",
        3: "Some of what the output states is found in the context.",
        7: "Most of what the output states is found in the context.",
        10: "Everything the output states is found in the context.",
    },
}  # fmt: skip


@cache
def eval_question_rubric(kind: str) -> Rubric:
    """The rubric that asks one such question."""
    levels = {str(start): text for start, text in JUDGE_QUESTIONS[kind].items()}
    return load_rubric({"name": kind, "criteria": [{"id": kind, "score_ranges": levels}]})


def eval_question_material(
    assertion: Assertion, facts: AssertionFacts, findings: tuple[GuardFinding, ...]
) -> Sample | str:
    """What the judges are shown, with what guards found in the output, or why they cannot be asked.

    Recall asks for the reference, found in the context.
    """
    needs = {"faithfulness": "context", "answer_relevancy": "input", "context_recall": "context"}[assertion.kind]
    shown = facts.reference if assertion.kind == "context_recall" else facts.made.text
    if not getattr(facts, needs).strip():
        return f"the sample has no {needs}"
    if not shown.strip():
        return "the sample has no reference" if assertion.kind == "context_recall" else "the output is empty"
    context = facts.context if needs == "context" else ""
    found = {"output": findings} if findings and shown is facts.made.text else {}
    return Sample(outputs={"output": shown}, input=facts.input, context=context, findings=found)


def measure_eval_question_answer(judged: JudgedSample) -> AssertionMeasurement:
    """What the judges' answer comes to, as a share."""
    card = judged.scores.scorecards[0]
    reasons = [one.reason for one in judged.judgments if one.reason]
    if card.exact is None:
        return AssertionMeasurement(why="; ".join(dict.fromkeys(entry.why for entry in card.missing)) or "no score")
    return AssertionMeasurement(value=card.exact, found=reasons[0] if reasons else "")


def measure_eval_sample_similarity(assertion: Assertion, facts: AssertionFacts) -> AssertionMeasurement:
    """How near the output is in meaning to the reference, or to the text that the assertion names."""
    other = str(dict(assertion.arguments).get("to") or facts.reference)
    if not other.strip():
        return AssertionMeasurement(why="the sample has no reference")
    if not facts.made.text.strip():
        return AssertionMeasurement(why="the output is empty")
    value = _measure_sample_text_similarity(facts.made.text, other)
    if value is None:
        return AssertionMeasurement(why="it needs word vectors: pip install '/path/to/evenhand[embedded]'")
    return AssertionMeasurement(value=Fraction(value).limit_denominator(10_000))


def _measure_sample_text_similarity(one: str, other: str) -> float | None:
    """How near two texts are in meaning, from 0 to 1; None where the word vectors are not installed."""
    vectors = _load_sample_similarity_vectors()
    if vectors is None:
        return None
    # Half of a surrogate pair is no text to the tokenizer.
    first, second = vectors.embed([text.encode("utf-8", "replace").decode() for text in (one, other)], norm=True)
    return min(1.0, max(0.0, float(first @ second)))


@cache
def _load_sample_similarity_vectors() -> Any:
    """The word vectors, loaded once: that takes half a second. None where `wordllama` is not installed."""
    try:
        wordllama = importlib.import_module("wordllama")
    except ImportError:
        return None
    logging.getLogger("wordllama").setLevel(logging.ERROR)
    # Its own folder as the cache: what it ships is found there, and nothing is downloaded.
    home = Path(str(wordllama.__file__)).parent
    return wordllama.WordLlama.load(cache_dir=home, dim=256, disable_download=True)
