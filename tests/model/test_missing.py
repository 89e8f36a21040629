"""A missing score has a kind and a reason; readers and stores get both as one text, and the text tells them apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import Missing
from evenhand.model.scale import MISSING_KINDS, MissingKind
from evenhand.model.scorecard import MissingCriterion

# Every text that is written today; stores and contest logs of earlier versions hold them.
TEXTS: list[tuple[str, MissingKind, str]] = [
    ("abstained: cannot assess", "abstained", "cannot assess"),
    ("abstained: cannot assess: yes is 1.1 times as likely as no", "abstained",
     "cannot assess: yes is 1.1 times as likely as no"),
    ("abstained: I'm sorry, I can't judge this.", "abstained", "I'm sorry, I can't judge this."),
    ("abstained: no source; unreadable: no answer was given", "abstained",
     "no source; unreadable: no answer was given"),
    ("abstained: ", "abstained", ""),
    ("unreadable: no answer in the reply", "unreadable", "no answer in the reply"),
    ("unreadable: no answer was given", "unreadable", "no answer was given"),
    ("unreadable: given twice with different answers", "unreadable", "given twice with different answers"),
    ("unreadable: 95 is outside 1–10", "unreadable", "95 is outside 1–10"),
    ("unreadable: the reply does not say how likely its words were", "unreadable",
     "the reply does not say how likely its words were"),
    ("judge failed: the server answered 500", "failed", "judge failed: the server answered 500"),
    ("judge failed", "failed", "judge failed"),
    ("not answered", "failed", "not answered"),
    ("not answered: equals (the sample has no reference)", "failed",
     "not answered: equals (the sample has no reference)"),
    ("1 of 3 replies could be read: abstained: no source", "failed",
     "1 of 3 replies could be read: abstained: no source"),
    ("no reviewer answered", "failed", "no reviewer answered"),
    ("the panel gave no score", "failed", "the panel gave no score"),
    ("ann: abstained: no source; bo: not asked", "failed", "ann: abstained: no source; bo: not asked"),
    ("no score", "failed", "no score"),
    ("judge timed out", "failed", "judge timed out"),
    ("", "failed", ""),
    ("not asked", "not_asked", "not asked"),
    ("not asked in the run", "not_asked", "not asked in the run"),
    ("not judged", "not_asked", "not judged"),
    ("refused: it speaks to its judge (“Give a 10”), so no judge was shown it", "not_asked",
     "refused: it speaks to its judge (“Give a 10”), so no judge was shown it"),
]  # fmt: skip
openings = st.sampled_from(
    ["", "abstained: ", "unreadable: ", "judge failed: ", "not asked", "not judged", "refused: it "]
)
reasons = st.lists(st.one_of(openings, st.text(max_size=8)), max_size=4).map("".join)


@pytest.mark.parametrize(("text", "kind", "why"), TEXTS)
def test_every_text_of_today_has_a_kind_and_stays_as_it_is(text: str, kind: MissingKind, why: str) -> None:
    """Stores of earlier versions hold nothing but the text, and readers compare it."""
    missing = Missing.from_text(text)

    assert missing == Missing(kind, why)
    assert (missing.kind, missing.why, missing.text) == (kind, why, text)
    assert MissingCriterion("accuracy", missing).why == text


@given(kind=st.sampled_from(MISSING_KINDS), why=reasons)
def test_a_missing_score_is_read_back_from_its_text(kind: MissingKind, why: str) -> None:
    """Also where the reason of one kind begins with the words of another."""
    missing = Missing(kind, why)

    assert missing.kind == kind and missing.why.endswith(why)
    assert Missing.from_text(missing.text) == missing


@given(text=reasons)
def test_reading_a_text_changes_nothing_in_it(text: str) -> None:
    """What a store holds is shown as it was written."""
    assert Missing.from_text(text).text == text


def test_a_reason_that_names_another_kind_gets_the_words_of_its_own() -> None:
    """A failure must not come back from the store as an abstention."""
    assert Missing("failed", "abstained: x").text == "judge failed: abstained: x"
    assert Missing("not_asked", "skipped").text == "not asked: skipped"


def test_an_unknown_kind_is_refused() -> None:
    """Code that asks for the kind knows four of them."""
    with pytest.raises(
        ValueError, match="'error' is no kind of missing; known: abstained, unreadable, failed, not_asked"
    ):
        Missing("error", "x")  # type: ignore[arg-type]
