"""Measured on pairs that nothing was fitted on: how often the embedded judge is right, and how often it answers."""

import pytest
from benchmarks.embedded import SETS, STRANGERS, Bench, read_outputs, read_pairs, shares

from tests.docs.measured import kept
from tests.docs.pages import ROOT


def test_it_is_right_where_it_answers() -> None:
    """On everyday pairs, in 90 of 100 answers and more; and it answers 65 of 100 and more."""
    pairs = read_pairs(SETS["everyday"][1])

    share = shares(pairs, Bench(pairs).answers())["all"]

    assert share.of > 200
    assert share.answered >= 0.65 * share.of
    assert share.right >= 0.90 * share.answered


def test_short_criteria_about_everyday_outputs_are_answered() -> None:
    """Support answers, reviews, e-mails, how-tos: on outputs that nothing was fitted on, 50 of 100 at 90% right."""
    fitted, held_out = read_outputs(held_out=False), read_outputs(held_out=True)

    share = shares(held_out, Bench(held_out).answers())["all"]

    assert len(fitted) > 200
    assert share.of > 120
    assert share.answered >= 0.50 * share.of
    assert share.right >= 0.90 * share.answered


@pytest.mark.parametrize(("name", "right"), [("strangers", 0.90), (STRANGERS, 0.83)])
def test_it_is_right_on_pairs_by_others(name: str, right: float) -> None:
    """By two people who had not seen the rules; only the second set was written after the rules. As the docs say."""
    pairs = read_pairs(name)

    share = shares(pairs, Bench(pairs).answers())["all"]

    assert share.of == 100
    assert share.answered >= 0.30 * share.of
    assert share.right >= right * share.answered


def test_it_abstains_on_what_nobody_could_see_in_the_words() -> None:
    """Tone, truth and all that: nine of ten and more."""
    pairs = [pair for name in SETS["hard"] for pair in read_pairs(name) if pair.answer == "cannot"]

    given = Bench(pairs).answers()

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
