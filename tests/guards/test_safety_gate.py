"""The safety gate of the council method, from text to score: all criteria are given 9, and what is unsafe is capped."""

import asyncio
import re
from pathlib import Path

import pytest
import yaml

from evenhand.files.rubrics import load_rubric
from evenhand.guards.output_guards import SAFETY_RULES
from evenhand.testing import scripted_judge
from evenhand.workflows.judge import judge

COUNCIL = load_rubric({"method": "council", "safety_gate": True})
NINES = dict.fromkeys(COUNCIL.leaves, 9)
WORDINGS = yaml.safe_load((Path(__file__).parent / "safety_wordings.yaml").read_text("utf-8"))
LEAST = 15  # Texts of each kind for every pattern.


def gate(text: str) -> tuple[float | None, str | None]:
    """The score of a response with all criteria at 9, and the pattern under which it was capped."""
    judged = asyncio.run(judge(COUNCIL, text, judges=scripted_judge(NINES)))
    (card,) = judged.scores.scorecards
    return None if card.score is None else float(card.score), card.unsafe


def wordings(kind: str) -> list[tuple[str, str]]:
    return [(pattern, text) for pattern, texts in WORDINGS.items() for text in texts[kind]]


@pytest.fixture(scope="session")
def document(shared: Path) -> str:
    """The document that describes the gate."""
    found = sorted((shared / "seeds").glob("001_*"))
    if not found:
        pytest.skip("the folder ../shared/seeds is not here: the examples of the document are not checked")
    return found[0].read_text("utf-8")


def test_every_row_of_the_documents_table_is_capped_under_its_pattern(document: str) -> None:
    """Read from the table itself: pattern, description, example."""
    rows = dict(re.findall(r'^\| \*\*(\w+)\*\* \|[^|\n]*\| "([^"\n]+)" \|$', document, re.MULTILINE))

    assert rows.keys() == SAFETY_RULES.keys()
    assert [gate(example) for example in rows.values()] == [(0.0, pattern) for pattern in rows]


def test_every_line_of_the_documents_list_passes_or_fails_as_it_says(document: str) -> None:
    """Defence and refusal pass, an announcement of instructions fails."""
    lines = re.findall(r'^- "([^"\n]+)" \S+ (Passes|Fails)\b', document, re.MULTILINE)
    expected = {text: (9.0, None) if said == "Passes" else (0.0, "malware_hacking") for text, said in lines}

    assert sorted(said for _, said in lines) == ["Fails", "Passes", "Passes"]
    assert {text: gate(text) for text in expected} == expected


@pytest.mark.parametrize(("pattern", "text"), wordings("stopped"))
def test_other_wordings_of_a_pattern_are_capped_too(pattern: str, text: str) -> None:
    """Titles, orders, questions and answers that are in no list of the document."""
    assert gate(text) == (0.0, pattern)


@pytest.mark.parametrize(("pattern", "text"), wordings("passed"))
def test_what_only_looks_like_a_pattern_keeps_its_score(pattern: str, text: str) -> None:
    """News, history, refusals, defence, medical help, games, idioms and test data."""
    assert gate(text) == (9.0, None)


def test_the_examples_of_the_manual_are_stopped_and_pass_as_it_says() -> None:
    """The table of the page on guards: rule, what it finds, what is stopped, what passes."""
    page = (Path(__file__).parents[2] / "docs" / "guards.md").read_text("utf-8")
    rows = re.findall(r'^\| `(\w+)` \| [^|\n]+ \| "([^"\n]+)" \| "([^"\n]+)" \|$', page, re.MULTILINE)

    assert [rule for rule, _, _ in rows] == list(SAFETY_RULES)
    assert [gate(stopped) for _, stopped, _ in rows] == [(0.0, rule) for rule, _, _ in rows]
    assert [gate(passes) for _, _, passes in rows] == [(9.0, None)] * len(rows)


def test_every_pattern_has_enough_wordings_of_both_kinds() -> None:
    """None of them twice."""
    assert WORDINGS.keys() == SAFETY_RULES.keys()
    assert all(len(set(texts[kind])) >= LEAST for texts in WORDINGS.values() for kind in ("stopped", "passed"))
    texts = [text for kind in ("stopped", "passed") for _, text in wordings(kind)]
    assert len(texts) == len(set(texts))


def test_a_number_that_is_exposed_is_not_shown_by_the_finding() -> None:
    """The gate says why a response was capped without exposing the number once more."""
    judged = asyncio.run(judge(COUNCIL, "SSN: 219-09-9999", judges=scripted_judge(NINES)))

    assert judged.scores.scorecards[0].passage == "[••••99]"
