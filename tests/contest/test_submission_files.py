"""Submissions in a JSONL file, in order of arrival, nothing dropped without a word."""

import json
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.contest.intake import load_submission_intake
from evenhand.contest.read_submissions import load_submission
from evenhand.contest.task import Submission, find_contest_author_fault
from evenhand.errors import MOST_FAULTS_SHOWN, ContestError

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
SOUND = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)
NAMES = SOUND.filter(lambda text: not find_contest_author_fault(text))
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
    """What was set aside, or, where nothing could be taken, refused."""
    try:
        faults = [fault for one in load_submission_intake(path).set_aside for fault in one.faults]
    except ContestError as refused:
        faults = list(refused.faults)
    return [str(fault).removeprefix(f"{path.parent}/") for fault in faults]


def load_submissions(path: Path) -> tuple[Submission, ...]:
    intake = load_submission_intake(path)
    assert intake.set_aside == ()
    return intake.submissions


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


def test_lines_that_are_no_objects_lose_no_line_after_them(tmp_path: Path) -> None:
    """However many there are: whoever handed in below them would not be judged, and nobody would be told."""
    bad = "x\n" * (MOST_FAULTS_SHOWN * 2)
    path = put(tmp_path / "s.jsonl", f"{line(id='first')}\n{bad}{line(id='last')}\n")

    intake = load_submission_intake(path)

    assert [one.id for one in intake.submissions] == ["first", "last"]
    assert len(intake.set_aside) == MOST_FAULTS_SHOWN * 2


def test_a_line_that_is_not_utf8_is_set_aside_alone(tmp_path: Path) -> None:
    """The others are judged, also those after it; a byte order mark at the beginning is none of the first line."""
    path = tmp_path / "s.jsonl"
    good, other = line(id="a").encode(), line(id="ü").encode()
    path.write_bytes(b"\n".join((b"\xef\xbb\xbf" + good, b"\xff\xfe", other, b'{"id": "\xe4"}')))

    intake = load_submission_intake(path)

    assert [one.id for one in intake.submissions] == ["a", "ü"]
    assert [(one.file, one.why) for one in intake.set_aside] == [
        (f"{path}:{number}", "not UTF-8 text (save the file as UTF-8)") for number in (2, 4)
    ]


def test_nothing_at_all_is_a_fault(tmp_path: Path) -> None:
    """A contest without submissions is more likely a wrong path."""
    put(tmp_path / ".hidden.md", "\n")

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
