"""Submissions in files: a folder or JSONL, in order of arrival, nothing dropped without a word."""

import json
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.contest.read_submissions import load_submission, load_submissions
from evenhand.contest.task import Submission, find_author_name_fault
from evenhand.errors import MOST_FAULTS_SHOWN, ContestError

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
SOUND = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)
NAMES = SOUND.filter(lambda text: not find_author_name_fault(text))
ZONES = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
SUBMISSIONS = st.lists(
    st.builds(
        Submission,
        id=NAMES,
        author=NAMES,
        at=st.just(NOON) | st.datetimes(datetime(2026, 12, 1), datetime(2026, 12, 2), timezones=ZONES),
        text=SOUND,
        revises=st.none() | NAMES,
    ),
    min_size=1,
    unique_by=lambda submission: submission.id,
)


def written(submission: Submission, *, ascii: bool = True) -> str:
    facts = {"id": submission.id, "author": submission.author, "at": submission.at.isoformat()}
    return json.dumps({**facts, "text": submission.text, "revises": submission.revises}, ensure_ascii=ascii)


def line(**changed: object) -> str:
    entry = {"id": "a", "author": "heron", "at": "2026-12-01T12:00:00Z", "text": "Gold is at 4,000."}
    return json.dumps({name: value for name, value in {**entry, **changed}.items() if value is not ...})


def put(path: Path, text: str, at: datetime = NOON) -> Path:
    path.write_bytes(text.encode())
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def told_of(path: Path) -> list[str]:
    with pytest.raises(ContestError) as refused:
        load_submissions(path)
    return [str(fault).removeprefix(f"{path.parent}/") for fault in refused.value.faults]


@given(SUBMISSIONS, st.booleans())
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, submissions: list[Submission], ascii: bool
) -> None:
    """Every character of a text, whatever line breaks it holds, and every moment."""
    path = tmp_path_factory.mktemp("lines") / "s.jsonl"
    path.write_bytes("\n".join(written(one, ascii=ascii) for one in submissions).encode())

    found = load_submissions(path)

    assert found == tuple(sorted(submissions, key=lambda submission: submission.at))


@given(SUBMISSIONS, st.randoms())
def test_the_order_of_lines_decides_only_between_equal_moments(
    tmp_path_factory: pytest.TempPathFactory, submissions: list[Submission], random: Random
) -> None:
    """Who came first is a matter of time, not of who wrote the file."""
    folder = tmp_path_factory.mktemp("lines")
    shuffled = list(submissions)
    random.shuffle(shuffled)
    put(folder / "a.jsonl", "\n".join(map(written, submissions)))
    put(folder / "b.jsonl", "\n".join(map(written, shuffled)))

    one, other = load_submissions(folder / "a.jsonl"), load_submissions(folder / "b.jsonl")

    assert [submission.at for submission in one] == [submission.at for submission in other]
    assert {submission.id: submission for submission in one} == {submission.id: submission for submission in other}


def test_of_those_at_one_moment_the_name_and_the_line_decide(tmp_path: Path) -> None:
    """The same files give the same order on every machine; a revision called heron-2 comes after heron."""
    put(tmp_path / "wren.md", "b")
    put(tmp_path / "heron-2.md", "a2")
    put(tmp_path / "heron.md", "a")
    put(tmp_path / "swift.jsonl", line(id="z") + "\n" + line(id="y"))

    assert [one.id for one in load_submissions(tmp_path)] == ["heron", "heron-2", "z", "y", "wren"]


def test_a_text_alone_is_a_submission(tmp_path: Path) -> None:
    """Its file says the rest: the name, and when it was last changed."""
    put(tmp_path / "heron.md", "Gold is at 4,000.\n", NOON + timedelta(microseconds=250_000))

    found = load_submissions(tmp_path)

    at = NOON + timedelta(microseconds=250_000)
    assert found == (Submission(id="heron", author="heron", at=at, text="Gold is at 4,000.\n"),)


def test_a_folder_holds_every_kind_of_file(tmp_path: Path) -> None:
    """One object, one a line, or a text; hidden files are passed over."""
    put(tmp_path / "one.json", json.dumps(json.loads(line(id="b", at="2026-12-01T11:00:00Z")), indent=2))
    put(tmp_path / "many.jsonl", line(id="c", at="2026-12-01T10:00:00Z") + "\n\n" + line(id="d") + "\n")
    put(tmp_path / "TEXT.MD", "Gold.", NOON - timedelta(hours=3))
    put(tmp_path / ".DS_Store", "\0")
    (tmp_path / ".git").mkdir()

    assert [one.id for one in load_submissions(tmp_path)] == ["TEXT", "c", "b", "d"]


def test_all_faults_of_all_files_come_at_once(tmp_path: Path) -> None:
    """What would be left out in silence is told of, with the place of each."""
    folder = tmp_path / "in"
    (folder / "later").mkdir(parents=True)
    put(folder / "a.md", "---\nauthor: [Heron]\nat: today\n---\nGold.")
    put(folder / "b.pdf", "Gold.")
    put(folder / "c.jsonl", f"{line(id='c')}\n{{\n[1]\n{line(id='c')}")
    put(folder / "d.json", '{"id": "d", "author": "dan",\n "text": "",\n "at": 3}')
    (folder / "e.txt").write_bytes(b"Gold\n\xff")
    put(folder / "f.txt", "Gold\0")
    (folder / "g.md").symlink_to(folder / "a.md")
    os.mkfifo(folder / "h.md")

    assert told_of(folder) == [
        "in/a.md:2: author must be text, got a list",
        "in/a.md:3: at must be a time in ISO 8601, got 'today' (as in 2026-12-01T18:00:00+01:00)",
        "in/b.pdf: its name does not say what it holds (end it in .md .txt .json .jsonl)",
        "in/c.jsonl:2: not valid JSON: it breaks off: Expecting property name enclosed in double quotes (column 2)",
        "in/c.jsonl:3: expected an object, got a list"
        ' (as in {"id": "a", "author": "heron", "at": "2026-12-01T18:00:00Z", "text": "…"})',
        "in/d.json:3: at must be text, got a number (put it in quotes)",
        "in/e.txt:2: not UTF-8 text (save the file as UTF-8)",
        "in/f.txt: it holds a NUL character, which no database can hold",
        "in/g.md: is a link (put the file itself here)",
        "in/h.md: is not a regular file",
        "in/later: is a folder (submissions are read from one folder, not from those in it)",
        f"in/c.jsonl:4: the id 'c' is used twice, first in {folder}/c.jsonl:1 (each id is unique)",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (line(text=...), "text is missing"),
        (line(id=None), "id is missing"),
        (line(author=" "), "author cannot be empty"),
        (line(id=7), "id must be text, got a number (put it in quotes)"),
        (line(text=["Gold"]), "text must be text, got a list"),
        (line(revises=""), "revises cannot be empty"),
        (line(id="\u200b"), "id cannot be empty"),
        (line(author="a\nb"), "author holds a character that cannot be seen, U+000A"),
        (line(id="x" * 501), "id is longer than 500 characters"),
        (line(at="2026-12-01"), "at 2026-12-01 has no time of day (as in 2026-12-01T18:00:00+01:00)"),
        (line(at="2026-12-01T12:00"), "at 2026-12-01T12:00:00 has no time zone"),
        (line(revise="a"), "unknown field 'revise' (did you mean 'revises'?)"),
        (line(text="\ud800"), "half a character (a lone surrogate), which no file can hold"),
        (line(text="\0"), "a NUL character, which no database can hold"),
        ('{"id": "a", "id": "b"}', "the field 'id' is given twice"),
        ("7", "expected an object, got a number (as in "),
    ],
)
def test_a_line_that_cannot_be_right_is_refused_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    """Where, what, and what would work; one thing wrong is told once."""
    faults = told_of(put(tmp_path / "s.jsonl", f"{line(id='first')}\n{text}\n"))

    assert len(faults) == 1
    assert faults[0].startswith(f"s.jsonl:2: {told}")


def test_a_file_that_is_something_else_is_given_up_soon(tmp_path: Path) -> None:
    """Of a million lines that are no JSON, as many are read as are told of, and one more to say that there are."""
    faults = told_of(put(tmp_path / "s.jsonl", "x\n" * 1000))

    assert len(faults) == MOST_FAULTS_SHOWN + 1


def test_an_id_is_used_once_over_everything(tmp_path: Path) -> None:
    """In a line, a name or front matter."""
    put(tmp_path / "a.md", "Gold.")
    put(tmp_path / "b.jsonl", line(id="a"))
    put(tmp_path / "c.md", "---\nid: a\n---\nGold.")

    faults = told_of(tmp_path)

    name = tmp_path.name
    assert faults == [
        f"{name}/b.jsonl:1: the id 'a' is used twice, first in {tmp_path}/a.md (each id is unique)",
        f"{name}/c.md: the id 'a' is used twice, first in {tmp_path}/a.md (each id is unique)",
    ]


@pytest.mark.parametrize("hidden", [True, False])
def test_nothing_at_all_is_a_fault(tmp_path: Path, hidden: bool) -> None:
    """A contest without submissions is more likely a wrong path."""
    put(tmp_path / (".hidden.md" if hidden else "empty.jsonl"), "\n")

    assert told_of(tmp_path) == [
        f"{tmp_path.name}: there are no submissions in it (files that end in .md .txt .json .jsonl hold them)"
    ]


@pytest.mark.parametrize("name", ["nowhere", "nowhere.jsonl", "nowhere.md"])
def test_a_path_that_leads_nowhere_is_told_of(tmp_path: Path, name: str) -> None:
    """Whatever it ends in."""
    assert told_of(tmp_path / name) == [f"{name}: cannot be read: no such file or directory"]


@pytest.mark.parametrize("ending", ["", ".md"])
def test_a_path_that_no_system_takes_is_told_of(tmp_path: Path, ending: str) -> None:
    """Before anything is opened."""
    name = "x" * 300 + ending

    assert told_of(tmp_path / name) == [f"{name}: cannot be read: file name too long"]


def test_a_file_has_a_largest_size(tmp_path: Path) -> None:
    """Five million bytes, and not one more."""
    put(tmp_path / "a.md", "x" * 5_000_000)
    put(tmp_path / "b.md", "x" * 5_000_001)

    assert told_of(tmp_path) == [f"{tmp_path.name}/b.md: larger than the 5,000,000 bytes allowed"]


def test_a_long_object_is_refused_as_quickly_as_a_short_one(tmp_path: Path) -> None:
    """The line of a fault is worth looking for only where the text is short; memory would grow a hundredfold."""
    faults = told_of(put(tmp_path / "a.json", "\n" + line(text="x" * 4_000_000, at=1)))

    assert faults == ["a.json:1: at must be text, got a number (put it in quotes)"]


def test_a_time_of_change_beyond_the_calendar_is_told_of(tmp_path: Path) -> None:
    """Some archives lose it; the front matter can say it."""
    path = put(tmp_path / "a.md", "Gold.")
    os.utime(path, (-1, -1))

    faults = told_of(path)

    assert faults == ["a.md:1: at must be from 1970 to 2999, got 1969-12-31T23:59:59+00:00"]


def test_one_submission_is_read_as_it_would_be_in_its_folder(tmp_path: Path) -> None:
    """Before it is handed in, its author may want to know."""
    path = put(tmp_path / "heron.md", "---\nauthor: Heron\n---\nGold.")

    found = load_submission(path)

    assert (found,) == load_submissions(tmp_path)
    assert found.at == NOON


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.jsonl", line(), "a.jsonl: one submission is a text (in a file that ends in .md or .txt)"),
        ("a", "Gold.", "a: one submission is a text (in a file that ends in .md or .txt)"),
        ("a.md", "---\nat: 5\n---\nGold.", "a.md:2: at must be a time in ISO 8601, got '5'"),
        ("a.md", "Gold\0", "a.md: it holds a NUL character, which no database can hold"),
    ],
)
def test_one_submission_is_refused_with_its_place(tmp_path: Path, name: str, text: str, told: str) -> None:
    """As all of them are."""
    path = put(tmp_path / name, text)

    with pytest.raises(ContestError) as refused:
        load_submission(path)

    assert str(refused.value).removeprefix(f"{tmp_path}/").startswith(told)
