"""Names: those that look the same are the same, and none is made of what cannot be seen."""

import sys
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.contest.task import (
    Challenge,
    Submission,
    find_contest_author_fault,
    is_blank_submission,
    normalize_contest_author_name,
)
from evenhand.errors import ContestError

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def submission(**changes: str) -> Submission:
    return Submission(**{"id": "a", "author": "heron", "at": NOON, "text": "Gold.", **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("heron ", "heron"),
        ("\theron\n", "heron"),
        ("\u200bheron\ufeff\u200d", "heron"),
        ("\U0001bca3heron\U0001d173", "heron"),
        ("Rene\u0301", "Ren\u00e9"),
        ("\u212bngstr\u00f6m", "\u00c5ngstr\u00f6m"),
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),  # Persian needs the joiner inside.
        ("two  words", "two  words"),
        ("h\u0435ron", "h\u0435ron"),  # A Cyrillic letter stays one.
    ],
)
def test_names_that_differ_in_what_cannot_be_seen_are_one(name: str, same: str) -> None:
    """A space at the end would make another author, with revisions of its own."""
    found = submission(id=name, author=name, revises=name)

    assert (found.id, found.author, found.revises) == (same, same, same)
    assert Challenge(by=name, at=NOON, reason="no").by == same


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "cannot be empty"),
        (" \u200b\u2060\u00ad\u3164\u2800\ufe0f", "cannot be empty"),
        ("a\nb", "holds a character that cannot be seen, U+000A"),
        ("a\x1b[31mb", "holds a character that cannot be seen, U+001B"),
        ("a\u202eb", "holds a character that cannot be seen, U+202E"),
        ("he\u200bron", "holds a character that cannot be seen, U+200B"),
        ("he\U0001d173ron", "holds a character that cannot be seen, U+1D173"),
        ("a\ud800b", "holds a character that cannot be seen, U+D800"),
        ("x" * 501, "is longer than 500 characters"),
    ],
)
@pytest.mark.parametrize("field", ["id", "author", "revises"])
def test_a_name_that_cannot_be_read_is_refused(field: str, name: str, why: str) -> None:
    """By the value itself, whoever makes it: a file, a log or a service."""
    with pytest.raises(ContestError) as refused:
        submission(**{field: name})

    assert str(refused.value) == f"{field}: {field} {why}"


def test_a_challenge_is_by_somebody_who_can_be_read() -> None:
    """It is told to everybody."""
    with pytest.raises(ContestError, match="by holds a character that cannot be seen"):
        Challenge(by="a\nb", at=NOON, reason="no")


def test_no_format_character_without_a_shape_is_seen() -> None:
    """As a class: of what Unicode calls format characters, only signs that are drawn around numbers have a shape."""
    formats = [letter for letter in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(letter) == "Cf"]

    seen = {unicodedata.name(letter) for letter in formats if not is_blank_submission(letter)}

    assert {name.split()[0] for name in seen} == {"ARABIC", "SYRIAC", "KAITHI"}


@given(st.text())
def test_one_name_is_one_however_often_it_is_read(text: str) -> None:
    """Or a log would give another state than the one it was written from."""
    name = normalize_contest_author_name(text)

    assert normalize_contest_author_name(name) == name
    assert find_contest_author_fault(name) == find_contest_author_fault(text)
    assert is_blank_submission(text) == (name == "")
