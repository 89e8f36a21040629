"""Front matter: says whose a text is, and never becomes text, shown to judges, because a word in it is misspelt."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evenhand.contest.read_submissions import LARGEST_FRONT_MATTER, load_submission
from evenhand.contest.task import Submission
from evenhand.errors import ContestError

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
AS_TEXT = "an empty line before the block makes it part of the text"


def put(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    os.utime(path, (NOON.timestamp(), NOON.timestamp()))
    return path


def test_front_matter_says_whose_a_text_is(tmp_path: Path) -> None:
    """All four fields, and the text begins after them."""
    head = "---\nid: 7\nauthor: Heron\nat: 2026-12-01T18:00:00+01:00\nrevises: heron\n---\n"
    path = put(tmp_path / "second.txt", f"{head}\nGold.\n---\nSilver.\n")

    found = load_submission(path)

    at = NOON + timedelta(hours=5)
    assert found == Submission(id="7", author="Heron", at=at, text="\nGold.\n---\nSilver.\n", revises="heron")


def test_an_author_is_called_by_the_id_that_is_given(tmp_path: Path) -> None:
    """Where only that is said."""
    found = load_submission(put(tmp_path / "x.md", "---\nid: heron\n---\nGold."))

    assert (found.id, found.author, found.at, found.text) == ("heron", "heron", NOON, "Gold.")


@pytest.mark.parametrize(
    "text",
    [
        "---\nGold.\n---\nSilver.",
        "---\ntitle: Gold\ntags: [price]\n---\nSilver.",
        "---\ntitle: [Gold\n---\nSilver.",
        "---\n- id: a\n---\nGold.",
        "---\nid: a\nGold.",
        "---\n---\nGold.",
        "---\n{}\n---\nGold.",
        " ---\nid: a\n---\nGold.",
        "\n---\nid: a\n---\nGold.",
        "---- \nid: a\n---\nGold.",
        "Gold.\n---\nid: a\n---\n",
        "Gold\r\n\tand silver \x85\u2028 \r\n\n",
        "",
    ],
)
def test_what_is_no_front_matter_is_text(tmp_path: Path, text: str) -> None:
    """To the last character; an empty text is told of by the contest, which has its author to tell."""
    path = put(tmp_path / "heron.md", text)

    assert load_submission(path) == Submission(id="heron", author="heron", at=NOON, text=text)


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("id: a\nauthr: Heron", ["3: unknown field 'authr' (did you mean 'author'?)"]),
        ("authr: Heron", [f"2: unknown field 'authr' (did you mean 'author'?; {AS_TEXT})"]),
        (
            "At: 2026-12-01T18:00Z\nAuthor: Heron",
            ["2: unknown field 'At' (did you mean 'at'?)", "3: unknown field 'Author' (did you mean 'author'?)"],
        ),
        ("id: a\nid: b", ["3: the key 'id' is given twice (keep one of them)"]),
        ("title: Gold\nid: a", [f"2: unknown field 'title' (known: id, author, at, revises; {AS_TEXT})"]),
        ("id: a\ntext: Silver", [f"3: unknown field 'text' (known: id, author, at, revises; {AS_TEXT})"]),
        (
            "author: Heron: B.",
            [f"2: not valid YAML: mapping values are not allowed in this context ({AS_TEXT})"],
        ),
        (
            "at: today\nauthr: Heron",
            [
                "3: unknown field 'authr' (did you mean 'author'?)",
                "2: at must be a time in ISO 8601, got 'today' (as in 2026-12-01T18:00:00+01:00)",
            ],
        ),
        (
            "autor: Heron\nid: a\nid: b",
            [
                "2: unknown field 'autor' (did you mean 'author'?)",
                "4: the key 'id' is given twice (keep one of them)",
            ],
        ),
    ],
)
def test_front_matter_that_is_misspelt_is_refused_and_not_shown_to_judges(
    tmp_path: Path, block: str, told: list[str]
) -> None:
    """As text it would lose the author and the time, and tell judges who wrote it."""
    path = put(tmp_path / "a.md", f"---\n{block}\n---\nGold.")

    with pytest.raises(ContestError) as refused:
        load_submission(path)

    assert [str(fault).removeprefix(f"{path}:") for fault in refused.value.faults] == told


def test_front_matter_bears_the_line_breaks_of_any_system(tmp_path: Path) -> None:
    """A byte order mark and carriage returns come with some editors; those of the text stay."""
    found = load_submission(put(tmp_path / "a.md", "\ufeff---\r\nauthor: Heron\r\n--- \r\nGold.\r\n"))

    assert (found.author, found.text) == ("Heron", "Gold.\r\n")


@pytest.mark.parametrize("line", ["key{}: v\n", "author: ev\n", "- [author: ev, {}\n", "autor: ev # {}\n"])
def test_long_front_matter_is_refused_unread(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading it takes long, and it would be read again on every call."""
    block = "author: ev\n" + "".join(line.format(number) for number in range(LARGEST_FRONT_MATTER // len(line) + 1))
    monkeypatch.setattr("evenhand.contest.read_submissions.parse_yaml_tree", lambda _: pytest.fail("it was read"))
    path = put(tmp_path / "x.md", f"---\n{block}---\nGold.")

    with pytest.raises(ContestError) as refused:
        load_submission(path)

    what = "front matter is longer than the 65,536 characters allowed"
    assert str(refused.value) == f"{path}:1: {what} ({AS_TEXT})"


def test_a_long_block_with_other_keys_is_text(tmp_path: Path) -> None:
    """As a short one is: a text may begin with a rule and have another one far below."""
    text = f"---\nGold: {'and silver ' * 7000}\n---\nCopper."

    assert load_submission(put(tmp_path / "x.md", text)).text == text
