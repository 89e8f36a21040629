"""Draft a rubric from a task and a few outputs known to be good or bad, by a model or by rule, and try it on them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.errors import Fault, InputError, make_unwritable_file_error, suggest_known_word_in_error
from evenhand.files.codec import Codec
from evenhand.files.parsing import decode_json, explain_json_error, parse_yaml_tree, read_text_file
from evenhand.files.private_files import require_new_file
from evenhand.files.rubric_writing import write_rubric_fields
from evenhand.files.rubrics import read_rubric_file
from evenhand.files.tree import MappingNode
from evenhand.guards.output_guards import flag_outputs_by_guards
from evenhand.judging.dialogues.rubric_draft import DraftExample, ask_model_for_rubric
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.judging.open_judge import find_judge_by_name
from evenhand.judging.single_judge import DialogueDriver, JudgeOptions, make_judge_dialogue_setup, run_text_work
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.models.connections import Connections
from evenhand.models.requests import EMBEDDED
from evenhand.wording import shorten_text_to_line
from evenhand.workflows.models import ConnectionOptions, open_user_connections

LARGEST_TASK, LARGEST_EXAMPLES, MOST_EXAMPLES = 200_000, 1_000_000, 20
EXAMPLE_FIELDS = ("id", "input", "output", "good", "why")
EXAMPLE_LINE = '{"output": "…", "good": false, "why": "it names no date"}'
PROPOSED_METHOD = "judge-skill"  # Criteria on 1 to 10 with anchors, red flags and gates.
DEFAULT_HOW = JudgeOptions()
DRAFT_JSON = Codec()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredExample:
    """An example with what the drafted rubric gives it; `missing` counts what the judges could not assess."""

    id: str
    good: bool
    score: float | None
    verdict: str | None
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftedRubric:
    """A rubric that passes every check, as the text of its file; `by` is the model that proposed it, None for rules."""

    rubric: Rubric
    text: str
    by: str | None
    judges: tuple[str, ...]
    examples: tuple[ScoredExample, ...]
    cost: float | None  # In dollars; None where some reply has no known price.


def draft_rubric(
    task: Path,
    examples: Path | None = None,
    *,
    proposer: str | None = None,
    judges: Sequence[str] = (EMBEDDED,),
    output: Path | None = None,
    connect: ConnectionOptions | None = None,
) -> DraftedRubric:
    """Draft a rubric, have the judges score the examples by it, and write it to `output`, which must not exist.

    Without a proposer the sentences of the task become yes/no criteria, and nothing is asked. With one, it is asked
    once, and once more if its reply makes no rubric that passes every check.
    """
    if output is not None:
        _refuse_unfit_draft_example(output)
    text = read_text_file(task, LARGEST_TASK, InputError)
    if not text.strip():
        raise InputError(Fault("the task is empty", "describe what is asked of an output", where=str(task)))
    given: list[DraftExample] = []
    if examples is not None:
        given = load_examples_for_draft(read_text_file(examples, LARGEST_EXAMPLES, InputError), str(examples))
    name = _make_drafted_rubric_name(output or task)
    drafted = asyncio.run(
        _draft_rubric_and_try_examples(name, text, given, proposer, tuple(judges), connect or ConnectionOptions())
    )
    if output is not None:
        try:
            with output.open("x", encoding="utf-8") as target:
                target.write(drafted.text)
        except OSError as problem:
            raise make_unwritable_file_error(str(output), problem) from None
    return drafted


def encode_drafted_rubric(drafted: DraftedRubric) -> dict[str, Any]:
    """The stable JSON of it."""
    return {
        "by": drafted.by or "rules",
        "rubric": drafted.text,
        "judges": list(drafted.judges),
        "examples": [DRAFT_JSON.to_json(one) for one in drafted.examples],
        "cost": drafted.cost,
    }


def load_examples_for_draft(text: str, where: str) -> list[DraftExample]:
    """Examples from JSONL: an output, whether it is good (true where nothing is said), its input, and why."""
    found: list[DraftExample] = []
    faults: list[Fault] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                found.append(_load_example_for_draft(line, len(found) + 1))
            except InputError as error:
                faults += [Fault(one.what, one.hint, where=f"{where}:{number}") for one in error.faults]
    if len(found) > MOST_EXAMPLES:
        faults.append(Fault(f"{len(found)} examples are too many", f"at most {MOST_EXAMPLES}", where=where))
    if not found and not faults:
        faults.append(Fault("no examples in it", f"one object per line: {EXAMPLE_LINE}", where=where))
    if faults:
        raise InputError(*faults)
    return found


def _load_example_for_draft(line: str, number: int) -> DraftExample:
    try:
        value = decode_json(line)
    except json.JSONDecodeError as error:
        fault = explain_json_error(line.rstrip(), error)
        raise InputError(replace(fault, hint=f"{fault.hint}; as in {EXAMPLE_LINE}")) from None
    if not isinstance(value, dict):
        raise InputError(Fault("expected an object", f"as in {EXAMPLE_LINE}"))
    faults = [
        Fault(f"unknown field {name[:40]!r}", suggest_known_word_in_error(name[:40], EXAMPLE_FIELDS))
        for name in value
        if name not in EXAMPLE_FIELDS
    ]
    texts = {name: value.get(name, "") for name in ("input", "output", "why")}
    faults += [Fault(f"{name} must be text") for name, one in texts.items() if not isinstance(one, str)]
    good = value.get("good", True)
    if not isinstance(good, bool):
        faults.append(Fault("good must be true or false", f"as in {EXAMPLE_LINE}"))
    if isinstance(texts["output"], str) and not texts["output"].strip():
        faults.append(Fault("no output", f"as in {EXAMPLE_LINE}"))
    if faults:
        raise InputError(*faults)
    return DraftExample(id=str(value.get("id", f"example-{number}")), good=good, **texts)


async def _draft_rubric_and_try_examples(
    name: str,
    task: str,
    examples: Sequence[DraftExample],
    proposer: str | None,
    judges: tuple[str, ...],
    connect: ConnectionOptions,
) -> DraftedRubric:
    async with open_user_connections(connect) as connections:
        if proposer is None:
            fields = scaffold_rubric_fields(name, task)
        else:
            fields = await _ask_proposer_for_draft(name, task, examples, proposer, connections)
        origin = f"by {proposer}" if proposer else "by rule, without a model"
        text = write_rubric_fields(fields, [f"Drafted {origin}. Read it before you rely on it: evenhand rubric check."])
        tree = parse_yaml_tree(text)
        assert isinstance(tree, MappingNode)
        rubric = read_rubric_file(tree, name, Path())
        scored = await _score_examples_by_drafted_rubric(rubric, examples, judges, connections)
        spent = connections.spent.cost
        cost = None if spent is None else float(spent)
        return DraftedRubric(rubric=rubric, text=text, by=proposer, judges=judges, examples=tuple(scored), cost=cost)


async def _ask_proposer_for_draft(
    name: str, task: str, examples: Sequence[DraftExample], proposer: str, connections: Connections
) -> dict[str, Any]:
    model = find_judge_by_name(connections, proposer)
    if proposer == EMBEDDED:
        raise InputError(Fault(f"{EMBEDDED} writes no rubrics", "name a model, as in --proposer openai/NAME"))
    driver = DialogueDriver(model, DEFAULT_HOW.deadline)
    manner = make_judge_dialogue_setup(model, DEFAULT_HOW)
    found = await driver.run(ask_model_for_rubric(name, PROPOSED_METHOD, task, examples, manner))
    if found.fields is None:
        hint = "ask again or another model; without --proposer a scaffold is made by rule"
        raise InputError(Fault(f"{proposer} gave no rubric that passes every check: {found.why_not}", hint))
    return dict(found.fields)


async def _score_examples_by_drafted_rubric(
    rubric: Rubric, examples: Sequence[DraftExample], judges: Sequence[str], connections: Connections
) -> list[ScoredExample]:
    models = [find_judge_by_name(connections, one) for one in judges]
    found = []
    for one in examples:
        sample = Sample(id=one.id, input=one.input, outputs={"output": one.output})
        sample = await run_text_work(len(one.output), flag_outputs_by_guards, sample)
        judged = await ask_judges_for_reviews(rubric, sample, models, DEFAULT_HOW)
        card = judged.scores.scorecards[0]
        score = None if card.exact is None else float(card.exact)
        missing = len(card.missing)
        found.append(ScoredExample(id=one.id, good=one.good, score=score, verdict=card.verdict, missing=missing))
    return found


def _refuse_unfit_draft_example(output: Path) -> None:
    """Said before any model is asked."""
    if output.suffix not in (".yaml", ".yml"):
        raise InputError(Fault("a rubric is YAML", "name a file that ends in .yaml", where=str(output)))
    require_new_file(output)


def _make_drafted_rubric_name(file: Path) -> str:
    words = "".join(letter if letter.isalnum() else " " for letter in file.stem.lower()).split()
    return "-".join(words)[:60] or "draft"


MOST_SCAFFOLD_CRITERIA = 12
LONGEST_SENTENCE = 300
_REQUIRES = re.compile(
    r"\b(must|shall|has to|have to|needs? to|required?|never|may not|cannot|only|at least|at most|no more than|"
    r"exactly|without|should|ought to|do not|don't|make sure|ensure)\b",
    re.IGNORECASE,
)
_MUST = re.compile(
    r"\b(must|shall|never|may not|cannot|required?|at least|at most|no more than|exactly)\b", re.IGNORECASE
)
_LISTED = re.compile(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)]|\[[ xX]\])\s+(.+)")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_WORD = re.compile(r"[a-z0-9]{3,}")
_COMMON_WORDS = frozenset(
    (
        "the", "and", "for", "must", "shall", "should", "has", "have", "with", "that", "this", "from", "are", "not",
        "never", "only", "each", "any", "all", "its", "into", "than", "them", "they", "when", "where", "which", "will",
        "can", "may", "output", "answer", "text", "least", "most", "more", "need", "needs", "sure", "make", "ensure",
        "does",
    )
)  # fmt: skip


def scaffold_rubric_fields(name: str, task: str) -> dict[str, Any]:
    """The fields of a checklist made of a task's own sentences; what says must, or the like, gates the verdict."""
    sentences = list(dict.fromkeys(_scaffold_requirements(task)))[:MOST_SCAFFOLD_CRITERIA]
    if not sentences:
        hint = "write what an output must do as sentences or as a list, or name a model with --proposer"
        raise InputError(Fault("the task says nothing that an output could be held against", hint))
    ids: list[str] = []
    for sentence in sentences:
        ids.append(_scaffold_criterion_id(sentence, ids))
    return {
        "name": name,
        "about": "Made by rule from the sentences of the task: read each question before you rely on it.",
        "method": "checklist",
        "criteria": [_scaffold_criterion(id, one) for id, one in zip(ids, sentences, strict=True)],
    }


def _scaffold_criterion(id: str, sentence: str) -> Mapping[str, Any]:
    return {
        "id": id,
        "asks": f"Does the output do what the task says here: “{sentence}”",
        "required": bool(_MUST.search(sentence)),
        "anchors": {
            "yes": "A passage of the output can be pointed at that does it, whole.",
            "no": "Nothing in the output does it, or only a part of it.",
        },
    }


def _scaffold_requirements(task: str) -> Iterator[str]:
    """Items of lists and sentences that require something; where there is none, all sentences."""
    lines = [
        line for line in task.splitlines() if line.strip() and not line.lstrip().startswith(("#", "```", "|", ">"))
    ]
    listed = [found[1] for line in lines if (found := _LISTED.match(line))]
    prose = " ".join(line.strip() for line in lines if not _LISTED.match(line))
    sentences = [one for one in _SENTENCE_END.split(prose) if one.strip()]
    requiring = [*listed, *(one for one in sentences if _REQUIRES.search(one))]
    for one in requiring or sentences:
        line = shorten_text_to_line(one, LONGEST_SENTENCE)
        if any(letter.isalnum() for letter in line):
            yield line


def _scaffold_criterion_id(sentence: str, taken: list[str]) -> str:
    """Two or three words of the sentence that name it, unlike every other id."""
    words = [word for word in _WORD.findall(sentence.lower()) if word not in _COMMON_WORDS]
    base = "-".join(words[:2])[:36] or "requirement"
    number = 2
    id = base
    while id in taken:
        id, number = f"{base}-{number}", number + 1
    return id
