"""Document 000, the scoring methodology: its formula, tables, rules and examples give what it says."""

import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from evenhand import Scorecard, load_rubric, score
from tests.documents.read import list_blocks, read_document, read_table

FLAGS = [f"flag-{n}" for n in range(1, 7)]
BONUSES = [f"bonus-{n}" for n in range(1, 7)]
RUBRIC = {
    "name": "skill",
    "method": "judge-skill",
    "red_flags": [{"id": id, "asks": f"Is {id} there?"} for id in FLAGS],
    "bonuses": [{"id": id, "asks": f"Is {id} there?"} for id in BONUSES],
}


@pytest.fixture(scope="module")
def document(shared: Path) -> str:
    return read_document(shared, "000")


def score_alike(value: object, **found: Any) -> Scorecard:
    """One output with the same score on all seven dimensions."""
    scores = {one.id: value for one in load_rubric("judge-skill").criteria}
    return score(RUBRIC, [{"id": "output", "scores": scores, **found}]).scorecards[0]


def test_the_weights_are_those_of_the_formula(document: str) -> None:
    (explicit,) = (block for block in list_blocks(document, "") if "correctness *" in block)

    given = {name: Fraction(weight) for name, weight in re.findall(r"(\w+) \* ([\d.]+)", explicit)}

    assert {one.id: one.weight for one in load_rubric("judge-skill").criteria} == given
    assert sum(given.values()) == 1


def test_every_row_of_the_grade_table(document: str) -> None:
    """Both ends of each range have its grade and label."""
    rows = read_table(document, "| Grade")

    assert len(rows) == 12
    for row in rows:
        for end in row["Range"].split(" - "):
            card = score_alike(float(end))
            assert (card.grade, card.label) == (row["Grade"], row["Label"]), end


def test_the_example_at_a_boundary(document: str) -> None:
    (example,) = re.findall(r"- Example: (.*)", document)

    for given, grade in re.findall(r'A score of ([\d.]+) is an "([^"]+)"', example):
        assert score_alike(float(given)).grade == grade


@pytest.mark.parametrize("flags", range(7))
def test_the_formula_of_deductions(document: str, flags: int) -> None:
    """0.5 each and 2.0 at most, also where the formula of the document would go below 1."""
    assert "final_score = max(1.0, composite_score - (num_red_flags * 0.5))" in document
    for composite in (9, 2):
        card = score_alike(composite, red_flags=dict.fromkeys(FLAGS[:flags], "seen"))

        assert card.exact == max(Fraction(1), composite - min(flags, 4) * Fraction("0.5"))


@pytest.mark.parametrize("bonuses", range(7))
def test_the_formula_of_bonuses(document: str, bonuses: int) -> None:
    """After the deductions, 0.25 each and 1.0 at most, never above 10."""
    assert "final_score_with_bonus = min(10.0, final_score + (num_bonuses * 0.25))" in document
    found = dict.fromkeys(BONUSES[:bonuses], "seen")
    for composite in (8, 9.5):
        flagged = score_alike(composite, bonuses=found, red_flags={"flag-1": "seen"})
        unflagged = score_alike(composite, bonuses=found)

        added = min(bonuses, 4) * Fraction("0.25")
        assert flagged.exact == min(Fraction(10), Fraction(composite) - Fraction("0.5") + added)
        assert unflagged.exact == min(Fraction(10), Fraction(composite) + added)


def test_the_order_of_tie_breaks(document: str) -> None:
    """Of two outputs with one score, whichever leads in the dimension named first wins, whatever comes after."""
    order = [name.lower() for name in re.findall(r"^\d\. \*\*(\w+) score\*\*", document, re.MULTILINE)]
    weights = {one.id: one.weight for one in load_rubric("judge-skill").criteria}

    assert sorted(order) == sorted(weights)
    for leading, trailing in pairwise(order):
        more, less = dict.fromkeys(order, Fraction(5)), dict.fromkeys(order, Fraction(5))
        more[leading] += Fraction("0.1") / weights[leading]
        less[trailing] += Fraction("0.1") / weights[trailing]
        ranked = score(
            "judge-skill",
            [
                {"id": id, "scores": {name: float(value) for name, value in scores.items()}}
                for id, scores in (("less", less), ("more", more))
            ],
        )
        assert ranked.scorecards[0].score == ranked.scorecards[1].score
        assert ranked.ranking is not None
        assert [(place.id, place.rank) for place in ranked.ranking] == [("more", 1), ("less", 2)], leading


def test_the_last_tie_breaks_and_the_equivalent(document: str) -> None:
    """Fewer red flags, then more bonuses; equal in everything is one shared rank."""
    assert "8. **Fewer red flags**" in document
    assert "9. **More bonuses**" in document
    scores = {one.id: 8 for one in load_rubric("judge-skill").criteria}
    clean: dict[str, Any] = {"id": "clean", "scores": scores}
    flagged = {
        "id": "flagged",
        "scores": scores,
        "red_flags": {"flag-1": "x"},
        "bonuses": {"bonus-1": "x", "bonus-2": "x"},
    }

    apart = score(RUBRIC, [flagged, clean]).ranking
    alike = score(RUBRIC, [clean, {**clean, "id": "twin"}]).ranking

    assert apart is not None
    assert alike is not None
    assert [(place.id, place.rank) for place in apart] == [("clean", 1), ("flagged", 2)]
    assert [place.rank for place in alike] == [1, 1]


def test_the_report_of_deductions_lists_what_the_document_asks_for(document: str) -> None:
    """The composite before, each flag with its explanation and amount, the score after."""
    assert "The original composite score before deductions" in document
    card = score_alike(8, red_flags={"flag-1": "a secret in line 4"})

    (step,) = (one for one in card.steps if one.step == "deduct")
    assert (step.before, step.after) == (Fraction(8), Fraction("7.5"))
    assert "flag-1" in step.why
    assert "a secret in line 4" in step.why
    assert "0.5" in step.why


def test_the_steps_run_in_the_order_of_the_document(document: str) -> None:
    """Weighted sum, deductions, bonuses, then the range; the grade is read off the rounded score."""
    assert "2. Compute the weighted composite score using the formula." in document
    card = score_alike(8, red_flags={"flag-1": "x"}, bonuses={"bonus-1": "x"})

    kinds = [step.step for step in card.steps]

    assert [kind for kind in kinds if kind in ("weighted_sum", "deduct", "add")] == ["weighted_sum", "deduct", "add"]
    assert (card.exact, card.grade) == (Fraction("7.75"), "B")
