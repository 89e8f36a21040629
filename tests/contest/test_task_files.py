"""Task files: one file that says what is wanted and how a winner is found, refused with every fault and its line."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.contest.read_task import TASK_FILE_FIELDS, load_task
from evenhand.contest.task import Task
from evenhand.errors import ContestError, Fault

LEAST = "description: A note\nacceptance: [It names a price]\nmode: fastest_first\n"
RANKED = "description: A note\nacceptance: [It names a price]\nmode: quality_first\ndeadline: 2026-12-01T18:00:00Z\n"
FIXED = """
  - {id: substantiveness, asks: "Is it of use?", weight: 0.2, fixed: true}
  - {id: credibility, asks: "Can it be trusted?", weight: 0.2, fixed: true}
  - {id: completeness, asks: "Is every part covered?", weight: 0.2, fixed: true}
"""


def task_of(folder: Path, text: str, file: str = "task.yaml") -> Task:
    (folder / file).write_text(text, "utf-8")
    return load_task(folder / file, {})[0]


def told_of(folder: Path, text: str, file: str = "task.yaml") -> list[str]:
    with pytest.raises(ContestError) as refused:
        task_of(folder, text, file)
    return [str(fault).removeprefix(f"{folder}/") for fault in refused.value.faults]


def test_what_is_left_out_has_the_value_that_most_want(tmp_path: Path) -> None:
    """The least file; nobody is made a judge by a file that names none."""
    task = task_of(tmp_path, LEAST, "market.yaml")

    assert task == Task(name="market", description="A note", acceptance=("It names a price",), mode="fastest_first")


def test_every_field_is_read(tmp_path: Path) -> None:
    """A file that says everything."""
    text = f"""
name: market
description: |
  A note on the market.
acceptance:
  - It names a price
  - "It has a date: of this year"
mode: quality_first
deadline: 2026-12-01T18:00:00+01:00
revisions: 2
challenge_period: 3 days
reward: invoice 4471
dimensions:{FIXED}  - {{id: readability, asks: "Can it be followed?", weight: 0.4}}
judges: {{openai/a: 2, openai/b: 0.5}}
challenge_judges: [openai/c, openai/d]
"""

    task = task_of(tmp_path, text)

    assert (task.name, task.description, task.reward) == ("market", "A note on the market.\n", "invoice 4471")
    assert task.acceptance == ("It names a price", "It has a date: of this year")
    assert (task.mode, task.revisions, task.challenge_period) == ("quality_first", 2, timedelta(days=3))
    assert task.deadline == datetime(2026, 12, 1, 17, tzinfo=UTC)
    assert task.judges == ("openai/a", "openai/b")
    assert task.weights == {"openai/a": Fraction(2), "openai/b": Fraction(1, 2)}
    assert task.challenge_judges == ("openai/c", "openai/d")
    assert task.dimensions is not None
    assert (task.dimensions.name, task.dimensions.method.name) == ("market", "oracle")
    assert [(one.id, one.weight, one.fixed) for one in task.dimensions.criteria] == [
        ("substantiveness", Fraction(1, 5), True),
        ("credibility", Fraction(1, 5), True),
        ("completeness", Fraction(1, 5), True),
        ("readability", Fraction(2, 5), False),
    ]


def test_the_text_of_the_file_comes_with_the_task(tmp_path: Path) -> None:
    """A contest keeps what it was told, comments and all."""
    (tmp_path / "task.yaml").write_text(f"# ours\n{LEAST}", "utf-8")

    _, source = load_task(tmp_path / "task.yaml", {})

    assert source == f"# ours\n{LEAST}"


def test_other_names_of_a_field_say_the_same(tmp_path: Path) -> None:
    """Those of whoever wrote tasks before."""
    text = LEAST.replace("acceptance", "acceptance_criteria") + "revision_limit: 1\n"

    task = task_of(tmp_path, text)

    assert task == task_of(tmp_path, f"{LEAST}revisions: 1\n")


def test_a_type_says_what_fixed_says(tmp_path: Path) -> None:
    """fixed or dynamic, as in the method's own words."""
    by_type = (
        FIXED.replace("fixed: true", "type: fixed") + '  - {id: style, asks: "Plain?", weight: 0.4, type: dynamic}\n'
    )
    by_flag = FIXED + '  - {id: style, asks: "Plain?", weight: 0.4}\n'

    task = task_of(tmp_path, f"{LEAST}dimensions:{by_type}")

    assert task == task_of(tmp_path, f"{LEAST}dimensions:{by_flag}")


def test_a_task_can_be_json(tmp_path: Path) -> None:
    """For programs that write tasks."""
    data = {"description": "A note", "acceptance": ["It names a price"], "mode": "fastest_first"}

    task = task_of(tmp_path, json.dumps(data), "task.json")

    assert task == task_of(tmp_path, LEAST)


@pytest.mark.parametrize(
    ("judges", "names"),
    [
        ("judges: openai/a", ("openai/a",)),
        ("judges: [openai/a, openai/b]", ("openai/a", "openai/b")),
        ("judges: panel.yaml", ("openai/p", "openai/q")),
        ("judges: []", ()),
        ("judges: empty.yaml", ()),
    ],
)
def test_judges_are_named_as_in_evals(tmp_path: Path, judges: str, names: tuple[str, ...]) -> None:
    """By name, as a list or in a file; without any the door decides, and not the embedded one in secret."""
    (tmp_path / "panel.yaml").write_text("judges: {openai/p: 2, openai/q: 1}", "utf-8")
    (tmp_path / "empty.yaml").write_text("judges: []", "utf-8")

    assert task_of(tmp_path, f"{LEAST}{judges}\n").judges == names


def test_one_name_is_enough_to_look_at_a_challenge(tmp_path: Path) -> None:
    """As for judges."""
    assert task_of(tmp_path, f"{RANKED}challenge_judges: openai/c\n").challenge_judges == ("openai/c",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "task.yaml: the file is empty (a task needs description, acceptance and mode)"),
        ("- a\n", "task.yaml:1: a task file is a mapping, got a list (as in description: …)"),
        (f"{LEAST}---\na: b\n", "task.yaml:4: a second document (one file holds one task: remove '---')"),
        (f"{LEAST}mode: quality_first\n", "task.yaml:4: the key 'mode' is given twice (keep one of them)"),
        (f"{LEAST}dedline: x\n", "task.yaml:4: unknown field 'dedline' (did you mean 'deadline'?)"),
        ("acceptance: [a]\nmode: fastest_first\n", "task.yaml:1: a task needs a description"),
        (LEAST.replace("A note", '""'), "task.yaml:1: description cannot be empty"),
        ("description: a\nacceptance: [a]\n", "task.yaml:1: a task needs a mode (one of fastest_first, quality_first)"),
        (LEAST.replace("_first", ""), "task.yaml:3: mode 'fastest' is not known (did you mean 'fastest_first'?)"),
        (f"{LEAST}name: []\n", "task.yaml:4: name must be text, got a list"),
        (f"{LEAST}reward: {{}}\n", "task.yaml:4: reward must be text, got a mapping"),
        (f'{LEAST}reward: "a\\0b"\n', "task.yaml:4: a NUL character, which no database can hold"),
        (f"{LEAST}revisions: 1.5\n", "task.yaml:4: revisions must be a whole number"),
        (f"{LEAST}revision_limit: few\n", "task.yaml:4: revision_limit must be a number, got 'few'"),
        (f"{LEAST}revision_limit: -1\n", "task.yaml:4: revisions must be 0 or more, got -1"),
        (
            f"{LEAST}revisions: 1\nrevision_limit: 1\n",
            "task.yaml:5: 'revisions' and 'revision_limit' are the same field (keep one of them)",
        ),
        (
            LEAST.replace("fastest", "quality"),
            "task.yaml:1: quality_first needs a deadline: the ranking is made then (add one)",
        ),
        (
            f"{LEAST}challenge_period: 3 days\n",
            "task.yaml:4: challenge_period has no use: fastest_first pays the first that passes, and nothing is "
            "challenged (leave it out)",
        ),
        (f"{RANKED}challenge_period: -3 days\n", "task.yaml:5: a challenge period cannot be negative"),
        (f"{LEAST}judges:\n", "task.yaml:4: judges must be a name or a list of names, got nothing"),
        (f"{LEAST}judges:\n  - a\n  - b\n  - a\n", "task.yaml:7: 'a' is named twice (each judge once)"),
        (f"{LEAST}judges:\n  a: 1\n  b: 0\n", "task.yaml:6: the weight of b must be above 0, got 0"),
        (f"{LEAST}judges: none.yaml\n", "task.yaml:4: no judges 'none.yaml': there is no such file"),
        (f"{RANKED}challenge_judges:\n  - [a]\n", "task.yaml:6: a judge is a name, got a list (as in openai/NAME)"),
        (f"{RANKED}challenge_judges: {{a: 1}}\n", "task.yaml:5: challenge_judges must be a list, got a mapping"),
        (f"{RANKED}challenge_judges: ''\n", "task.yaml:5: challenge_judges must be a name or a list of names"),
        (f"{RANKED}challenge_judges: [a, a]\n", "task.yaml:5: 'a' is named twice (each judge once)"),
        (
            f"{RANKED}judges: [a]\nchallenge_judges: [b, a]\n",
            "task.yaml:6: 'a' judges before: a challenge is for a panel that did not (name another judge)",
        ),
    ],
)
def test_what_cannot_be_right_is_refused_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    """Where, what, and what would work; one thing wrong is told once."""
    faults = told_of(tmp_path, text)

    assert len(faults) == 1
    assert faults[0].startswith(told)


@pytest.mark.parametrize(
    ("acceptance", "told"),
    [
        ("acceptance: It is short", "3: acceptance must be a list, got 'It is short' (write a list"),
        ("acceptance_criteria: short", "3: acceptance_criteria must be a list, got 'short' (write a list"),
        ("acceptance: []", "3: a task needs at least one acceptance criterion"),
        ("acceptance_criteria: []", "3: a task needs at least one acceptance criterion"),
        ("acceptance:\n- a\n- ' '", "5: an acceptance criterion cannot be empty"),
        ("acceptance:\n- a\n-", "5: an acceptance criterion is a text, got nothing"),
        (
            "acceptance:\n- a\n- It says: yes",
            "5: an acceptance criterion is a text, got a mapping (a text with a colon",
        ),
        ("acceptance:\n- a\n- b\n- a ", "6: the same criterion as in line 4 (keep one of them)"),
        ("acceptance_criteria:\n- a\n- b\n- a ", "6: the same criterion as in line 4 (keep one of them)"),
    ],
)
def test_acceptance_is_a_list_of_different_texts(tmp_path: Path, acceptance: str, told: str) -> None:
    """Each is checked on its own, so each must say something of its own."""
    faults = told_of(tmp_path, f"description: A note\nmode: fastest_first\n{acceptance}\n")

    assert len(faults) == 1
    assert faults[0].startswith(f"task.yaml:{told}")


@pytest.mark.parametrize(
    ("dimensions", "told"),
    [
        (" fast", "4: dimensions must be a list, got 'fast' (as in {id: credibility, asks: …"),
        (" []", "4: dimensions must be a list, got an empty list"),
        ("\n  - a", "5: expected fields such as asks, description, expected_outcome, fixed, got 'a'"),
        (
            FIXED + "  - {id: d, asks: q, weight: 0.3}\n",
            "4: the weights sum to 0.9, not 1 (oracle needs weights that sum to 1)",
        ),
        (FIXED.replace("0.2", "1/3"), "4: 0 dimensions beside the fixed ones, expected 1 to 3"),
        (
            FIXED + "".join(f"  - {{id: d{at}, asks: q, weight: 0.1}}\n" for at in range(4)),
            "4: 4 dimensions beside the fixed ones, expected 1 to 3",
        ),
        (
            FIXED.replace("fixed: true", "type: dynamic", 1) + "  - {id: d, asks: q, weight: 0.4}\n",
            "4: 2 dimensions are fixed, expected 3 (mark them with fixed: true)",
        ),
        (
            FIXED + "  - id: d\n    asks: q\n    weight: 0.4\n    type: odd\n",
            "11: type 'odd' is not known (known: dynamic, fixed)",
        ),
        (
            FIXED + "  - id: d\n    asks: q\n    weight: 0.4\n    fixed: false\n    type: dynamic\n",
            "12: 'fixed' and 'type' are the same field (keep one of them)",
        ),
        (FIXED + "  - id: d\n    asks: q\n    weight: much\n", "10: weight must be a number, got 'much'"),
        (
            FIXED + "  - id: d\n    asks: q\n    weight: 0.4\n    scale: 1-5\n",
            "11: unknown field 'scale' (known: asks, ",
        ),
        (FIXED + "  - id: d\n    asks: q\n    wieght: 0.4\n", "10: unknown field 'wieght' (did you mean 'weight'?)"),
        (FIXED + "  - asks: q\n    weight: 0.4\n", "8: a dimension needs an id (as in id: credibility)"),
        (
            FIXED + "  - id: credibility\n    asks: q\n    weight: 0.4\n",
            "8: the id 'credibility' is used twice (ids are unique)",
        ),
        (FIXED + "  - id: d\n    weight: 0.4\n", "8: criterion 'd' asks nothing (add asks"),
    ],
)
def test_dimensions_are_refused_at_their_own_line(tmp_path: Path, dimensions: str, told: str) -> None:
    """A rubric inside a task is read as strictly as one on its own."""
    faults = told_of(tmp_path, f"{LEAST}dimensions:{dimensions}")

    assert len(faults) == 1
    assert faults[0].startswith(f"task.yaml:{told}")


def test_all_faults_come_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Whoever mends a file wants to mend it once; what is wrong in another file comes last."""
    text = """nmae: x
mode: best
acceptance: one
deadline: soon
challenge_period: 3
judges: panel.yaml
dimensions: [a]
challenge_judges: [[]]
"""
    (tmp_path / "panel.yaml").write_text("judge: a", "utf-8")

    faults = told_of(tmp_path, text)

    lines = [fault.split(": ")[0] for fault in faults]
    assert lines == ["task.yaml:1", *(f"task.yaml:{line}" for line in (1, 2, 3, 4, 5, 7, 8)), "panel.yaml:1"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            f"{RANKED}judges: [a, b]\nchallenge_judges: [c, c, a]\ndimensions:"
            + FIXED.replace("fixed: true", "fixed: false", 1),
            [
                "6: 'c' is named twice (each judge once)",
                "6: 'a' judges before: a challenge is for a panel that did not (name another judge)",
                "7: 2 dimensions are fixed, expected 3 (mark them with fixed: true)",
                "7: the weights sum to 0.6, not 1 (oracle needs weights that sum to 1)",
            ],
        ),
        (
            f"{LEAST}dimensions:{FIXED}  - {{id: d, weight: 0.3, fixed: true}}\n",
            [
                "4: 4 dimensions are fixed, expected 3 (mark them with fixed: true)",
                "4: 0 dimensions beside the fixed ones, expected 1 to 3",
                "4: the weights sum to 0.9, not 1 (oracle needs weights that sum to 1)",
                "8: criterion 'd' asks nothing (add asks (or expected_outcome), or score_ranges)",
            ],
        ),
        (
            f"{LEAST}dimensions:\n  - {{id: d, asks: q}}\n",
            [
                "4: 0 dimensions are fixed, expected 3 (mark them with fixed: true)",
            ],
        ),
        (
            f"{LEAST}dimensions:{FIXED}  - {{id: d, asks: q, wieght: 0.3, fixd: true}}\n",
            [
                "8: unknown field 'wieght' (did you mean 'weight'?)",
                "8: unknown field 'fixd' (did you mean 'fixed'?)",
            ],
        ),
    ],
)
def test_what_is_said_of_the_whole_does_not_wait_for_its_parts(tmp_path: Path, text: str, told: list[str]) -> None:
    """As much as can be known at once; where an entry leaves a sum or a number open, nothing is said of it."""
    assert [fault.removeprefix("task.yaml:") for fault in told_of(tmp_path, text)] == told


def test_a_fault_of_a_field_hides_no_other(tmp_path: Path) -> None:
    """What a task as a whole says of its other fields is told although one of them could not be read."""
    faults = told_of(tmp_path, "description: x\nacceptance: []\nmode: best\nrevisions: -1\n")

    assert [fault.split(": ")[0] for fault in faults] == ["task.yaml:2", "task.yaml:3", "task.yaml:4"]


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)


@given(st.dictionaries(st.sampled_from(TASK_FILE_FIELDS), st.one_of(WORDS, st.lists(WORDS), st.none(), st.integers())))
def test_whatever_stands_in_a_task_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: object) -> None:
    """With a line of the file, and never with an error of ours."""
    path = tmp_path_factory.mktemp("any") / "task.json"
    path.write_text(json.dumps(data, indent=1), "utf-8")

    told = _told(lambda: load_task(path, {}))

    assert all(fault.where.startswith(str(path.parent)) for fault in told)


def _told(read: Callable[[], object]) -> tuple[Fault, ...]:
    try:
        read()
    except ContestError as error:
        return error.faults
    return ()


def test_a_contest_keeps_texts_raw_or_masked_and_never_without_them(tmp_path: Path) -> None:
    """Without its texts a contest could neither go on nor be verified."""
    text = "description: d\nacceptance: [a]\nmode: fastest_first\njudges: [embedded]\n"
    path = tmp_path / "task.yaml"

    def read(keep: str) -> bool:
        path.write_text(text + keep)
        return load_task(path, {})[0].masked

    assert (read(""), read("keep: raw\n"), read("keep: masked\n")) == (False, False, True)
    with pytest.raises(ContestError, match=r"task\.yaml:5: a contest cannot keep: none"):
        read("keep: none\n")
