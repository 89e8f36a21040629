"""Drafting a rubric from files: by rule or by a model, checked, tried on examples, and never over another file."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import EvenhandError, InputError
from evenhand.files.parsing import parse_yaml_tree
from evenhand.files.rubric_writing import write_rubric_fields
from evenhand.files.rubrics import load_rubric, read_rubric_file
from evenhand.files.tree import MappingNode
from evenhand.scoring.rubric_advice import find_doubtful_score_parts
from evenhand.workflows.models import ConnectionOptions
from evenhand.workflows.rubric import check_rubric_file
from evenhand.workflows.rubric_draft import (
    MOST_SCAFFOLD_CRITERIA,
    draft_rubric,
    load_examples_for_draft,
    scaffold_rubric_fields,
)
from tests.conftest import ROOT
from tests.judging.test_rubric_draft import proposed

TASK, EXAMPLES = ROOT / "examples" / "draft" / "task.md", ROOT / "examples" / "draft" / "examples.jsonl"
PROPOSER = f"""
import json, re

def note():
    with open("asked", "a") as file:
        file.write(".")

def propose(request):
    note()
    return {proposed()!r}

def nonsense(request):
    note()
    return "no"

def score(request):
    text = re.search(r"<output-\\w+>\\n(.*)\\n</output-", request.messages[-1].text, re.DOTALL)[1]
    said = {{"evidence": [text[:20]], "reason": "r"}}
    each = {{id: {{**said, "score": 9 if "Orders" in text else 2}} for id in ("page", "length")}}
    flags = {{"invented-date": {{**said, "present": False, "score": "no"}}}}
    return json.dumps({{"criteria": each, "red_flags": flags}})
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "proposer.py").write_text(PROPOSER, "utf-8")
    return tmp_path


def test_without_a_proposer_the_sentences_of_the_task_become_criteria(folder: Path) -> None:
    """It passes the check without a warning; what the task says must be so gates, and the two wishes do not."""
    drafted = draft_rubric(TASK, EXAMPLES, output=Path("r.yaml"))

    assert drafted.by is None and check_rubric_file("r.yaml").warnings == ()
    assert load_rubric("r.yaml") == drafted.rubric
    assert {one.id: one.required for one in drafted.rubric.criteria} == {
        "say-sorry": False, "give-one": False, "name-page": True, "words-long": True, "promise-date": True,
    }  # fmt: skip
    assert [one.id for one in drafted.examples] == ["short-and-sure", "vague"]


def test_a_proposal_is_written_checked_and_tried(folder: Path) -> None:
    """The good example scores above the bad one, by the judge that is named."""
    judges = ["python:proposer:score"]
    drafted = draft_rubric(TASK, EXAMPLES, proposer="python:proposer:propose", judges=judges, output=Path("r.yaml"))

    assert check_rubric_file("r.yaml", judges).warnings == () and load_rubric("r.yaml") == drafted.rubric
    good, bad = drafted.examples
    assert (good.good, bad.good) == (True, False)
    assert good.score is not None and bad.score is not None and good.score > bad.score


def test_a_proposer_is_asked_twice_at_most(folder: Path) -> None:
    """Then it is refused with why, and no file is written."""
    with pytest.raises(InputError, match="gave no rubric that passes every check"):
        draft_rubric(TASK, proposer="python:proposer:nonsense", output=Path("r.yaml"))

    assert (folder / "asked").read_text() == ".." and not Path("r.yaml").exists()


def test_a_recorded_draft_is_replayed_without_a_model(folder: Path) -> None:
    """Proposal and scores come from the record, and the file is the same."""
    asked = {"proposer": "python:proposer:propose", "judges": ["python:proposer:score"]}
    record = Path("record.jsonl")

    first = draft_rubric(TASK, EXAMPLES, **asked, connect=ConnectionOptions(record=record))  # type: ignore[arg-type]
    Path("proposer.py").unlink()
    again = draft_rubric(TASK, EXAMPLES, **asked, connect=ConnectionOptions(replay=record))  # type: ignore[arg-type]

    assert again == replace(first, cost=again.cost) and again.cost == 0
    assert (folder / "asked").read_text() == "."


def test_a_spent_budget_stops_a_draft_before_anything_is_asked(folder: Path) -> None:
    """No file is written; drafting again asks from the beginning, which is one reply."""
    with pytest.raises(EvenhandError, match="budget"):
        draft_rubric(
            TASK, proposer="python:proposer:propose", output=Path("r.yaml"), connect=ConnectionOptions(tokens=1)
        )

    assert not (folder / "asked").exists() and not Path("r.yaml").exists()


def test_a_file_that_is_there_stays_and_no_model_is_asked(folder: Path) -> None:
    """Somebody's rubric is not a draft's to replace."""
    Path("r.yaml").write_text("mine", "utf-8")

    with pytest.raises(InputError, match="there is such a file already"):
        draft_rubric(TASK, proposer="python:proposer:propose", output=Path("r.yaml"))

    assert Path("r.yaml").read_text() == "mine" and not (folder / "asked").exists()


def test_a_task_that_asks_for_nothing_is_refused(folder: Path) -> None:
    """An empty rubric would pass everything."""
    Path("empty.md").write_text("# Title only\n", "utf-8")

    with pytest.raises(InputError, match="nothing that an output could be held against"):
        draft_rubric(Path("empty.md"))


@settings(max_examples=60)
@given(st.text(max_size=400))
def test_any_task_becomes_a_rubric_without_a_warning_or_is_refused(task: str) -> None:
    """Quotes, colons, tags, line separators: whatever stands in a task stays text in the file."""
    try:
        fields = scaffold_rubric_fields("t", f"{task}\n- Must be short.")
    except InputError:
        return

    tree = parse_yaml_tree(write_rubric_fields(fields))
    assert isinstance(tree, MappingNode)
    rubric = read_rubric_file(tree, "t", Path())
    assert find_doubtful_score_parts(rubric) == []
    assert 1 <= len(rubric.criteria) <= MOST_SCAFFOLD_CRITERIA


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not valid JSON"),
        ('{"input": "s1', r"not valid JSON: a string is not closed \(it breaks off at column 14"),
        ("[]", "expected an object"),
        ('{"output": ""}', "no output"),
        ('{"output": "a", "good": "yes"}', "good must be true or false"),
        ('{"output": 5}', "output must be text"),
        ('{"outptu": "a", "output": "b"}', "unknown field 'outptu'"),
    ],
)
def test_examples_are_refused_with_their_line(line: str, says: str) -> None:
    """All faults at once, each where it is."""
    with pytest.raises(InputError, match=f"e.jsonl:2: {says}"):
        load_examples_for_draft('{"output": "fine"}\n' + line, "e.jsonl")


def test_examples_have_a_limit() -> None:
    """A prompt of a thousand outputs is a bill, not a draft."""
    with pytest.raises(InputError, match="21 examples are too many"):
        load_examples_for_draft("\n".join([json.dumps({"output": "a"})] * 21), "e.jsonl")
