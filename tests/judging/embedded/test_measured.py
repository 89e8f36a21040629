"""Measured on pairs that nothing was fitted on: how often the embedded judge is right, and how often it answers."""

import pytest
from benchmarks.embedded import SETS, Bench, read_pairs, shares

from evenhand.judging.embedded.texts import load_judge_word_vectors
from tests.docs.measured import kept
from tests.docs.pages import ROOT


@pytest.mark.parametrize("with_vectors", [True, False])
def test_it_is_right_where_it_answers(with_vectors: bool) -> None:
    """On everyday pairs, in 85 of 100 answers and more; and it answers 60 of 100 and more."""
    pairs = read_pairs(SETS["everyday"][1])

    share = shares(pairs, Bench(pairs, with_vectors=with_vectors).answers())["all"]

    assert share.of > 200
    assert share.answered >= 0.60 * share.of
    assert share.right >= 0.85 * share.answered


def test_it_abstains_on_what_nobody_could_see_in_the_words() -> None:
    """Tone, truth and all that: nine of ten and more."""
    pairs = [pair for name in SETS["hard"] for pair in read_pairs(name) if pair.answer == "cannot"]

    given = Bench(pairs, with_vectors=load_judge_word_vectors() is not None).answers()

    assert len(pairs) > 60
    assert given.count(None) >= 0.9 * len(pairs)


def test_the_table_has_a_row_for_every_kind() -> None:
    """As its page keeps it; that the page keeps what is measured is a test of the pages."""
    table = dict(kept((ROOT / "docs" / "embedded.md").read_text("utf-8")))["embedded"]

    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]

    assert {len(row) for row in rows} == {5}
    assert [row[0] for row in rows[2:]] == [
        "format",
        "literal",
        "negated",
        "off topic",
        "paraphrased",
        "partly met",
        "wrong value",
        "all",
        "unseeable: abstains",
    ]
