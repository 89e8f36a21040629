"""Dimensions written into a task file: a block at its end, and nothing else changed."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenhand.contest.events import contest_task_json
from evenhand.contest.read_task import load_task
from evenhand.files.methods import load_shipped_method_file
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion
from evenhand.workflows.contest_files import dimensions_to_user_yaml, save_dimensions_to_user_file

TASK = """# A task with a comment.
description: |
  A note on the price of gold.
acceptance: [It names a price]   # one is enough
mode: fastest_first
"""
FIXED = ("substantiveness", "credibility", "completeness")


def dimensions(*, id: str = "clarity", asks: str = "Is it clear?", weight: Fraction = Fraction(1, 4)) -> Rubric:
    method = load_shipped_method_file("oracle")
    rest = (1 - weight) / 3
    given = [(one, "Is it so?", rest, True) for one in FIXED] + [(id, asks, weight, False)]
    criteria = [
        Criterion(id=one, asks=text, weight=share, fixed=fixed, scale=method.criterion_scale)
        for one, text, share, fixed in given
    ]
    return Rubric(name="task", method=method, criteria=tuple(criteria))


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        TASK.encode(),
        TASK.encode().replace(b"\n", b"\r\n"),
        TASK.encode().rstrip(b"\n"),
        b"\xef\xbb\xbf" + TASK.encode(),
        TASK.encode() + b"\n\n# the end\n",
    ],
    ids=["as usual", "with CRLF", "without an end", "with a mark of order", "with blank lines"],
)
def test_what_stands_in_the_file_stays_to_the_byte(tmp_path: Path, content: bytes) -> None:
    """Comments, order and line ends are the author's."""
    path = written(tmp_path / "task.yaml", content)
    task, _ = load_task(path, {})

    locked = save_dimensions_to_user_file(path, task, dimensions())

    found, _ = load_task(path, {})
    assert locked.written
    assert path.read_bytes().startswith(content)
    assert (b"\r\n" in content) == (path.read_bytes().count(b"\r\n") == path.read_bytes().count(b"\n"))
    assert found.dimensions is not None
    assert [one.id for one in found.dimensions.criteria] == [*FIXED, "clarity"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("task.json", '{"description": "x", "acceptance": ["y"], "mode": "fastest_first"}\n'),
        ("task.yaml", "{description: x, acceptance: [y], mode: fastest_first}\n"),
        ("task.yaml", f"{TASK}...\n"),
        ("task.yaml", "  description: x\n  acceptance: [y]\n  mode: fastest_first\n"),
    ],
    ids=["JSON", "flow style", "an end mark", "indented"],
)
def test_a_file_that_nothing_can_follow_is_left_alone(tmp_path: Path, name: str, content: str) -> None:
    """What to paste is in a form that is at home in JSON and in YAML."""
    path = written(tmp_path / name, content.encode())
    task, _ = load_task(path, {})

    locked = save_dimensions_to_user_file(path, task, dimensions())

    assert not locked.written
    assert path.read_text("utf-8") == content
    assert list(tmp_path.iterdir()) == [path]
    pasted = written(tmp_path / "pasted.json", f"{{{locked.to_paste}, {JSON_REST}}}".encode())
    found, _ = load_task(pasted, {})
    assert contest_task_json(found)["dimensions"] is not None


JSON_REST = '"description": "x", "acceptance": ["y"], "mode": "fastest_first"'


def test_a_link_stays_a_link_and_a_mode_stays(tmp_path: Path) -> None:
    """What the file is to others does not change."""
    real = written(tmp_path / "real.yaml", TASK.encode())
    real.chmod(0o640)
    link = tmp_path / "task.yaml"
    link.symlink_to(real)
    task, _ = load_task(link, {})

    locked = save_dimensions_to_user_file(link, task, dimensions())

    assert locked.written
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert b"dimensions:" in real.read_bytes()


@given(
    id=st.from_regex(r"[^\W_]{1,12}(-[^\W_]{1,12})?", fullmatch=True),
    asks=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=80).map(
        lambda text: " ".join(text.split())
    ),
    weight=st.decimals("0.01", "0.97", places=4).map(Fraction),
)
@example(id="no", asks="Is it\x7f \ufeff\u200bclear\U000e0041?", weight=Fraction(1, 4))
def test_whatever_a_judge_chose_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, id: str, asks: str, weight: Fraction
) -> None:
    """Ids such as `no` and `2026-11`, questions with quotes, colons, invisible marks and what YAML does not print."""
    path = written(tmp_path_factory.mktemp("task") / "task.yaml", TASK.encode())
    rubric = dimensions(id=id, asks=asks or "?", weight=weight)
    task, _ = load_task(path, {})

    locked = save_dimensions_to_user_file(path, task, rubric)

    assert locked.written, dimensions_to_user_yaml(rubric)
