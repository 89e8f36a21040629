"""Document 003, the oracle: bands, aggregation, flow, feedback and settings, read out of its tables."""

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evenhand import score
from evenhand.files.methods import load_shipped_method_file
from evenhand.judging.dialogues.contest_dialogues import FIXED_DIMENSIONS
from evenhand.model.method import Shortfall
from evenhand.model.scale import Scored
from evenhand.models.model_names import ORACLE_MODEL, parse_oracle_model_name
from tests.contest.building import Contest
from tests.documents.read import list_blocks, read_document, read_table

FIXED = {"实质性": "substantiveness", "可信度": "credibility", "完整性": "completeness"}
WEIGHTS = {"substantiveness": 0.2, "credibility": 0.2, "completeness": 0.1, "fit": 0.5}


@pytest.fixture(scope="module")
def document(shared: Path) -> str:
    return read_document(shared, "003")


@pytest.fixture(scope="module")
def bands(document: str) -> dict[str, tuple[int, int]]:
    rows = read_table(document, "| Band | ")
    ends = {row["Band"]: [int(end) for end in row["分数区间"].split("-")] for row in rows}
    return {band: (low, high) for band, (low, high) in ends.items()}


def _banded(value: int, bands: dict[str, tuple[int, int]]) -> dict[str, object]:
    return {"band": next(band for band, (low, high) in bands.items() if low <= value <= high), "score": value}


def _score(scores: dict[str, Any]) -> Any:
    criteria = [
        {"id": id, "asks": "?", "weight": weight, "fixed": id in FIXED.values()} for id, weight in WEIGHTS.items()
    ]
    return score({"method": "oracle", "criteria": criteria}, [{"id": "a", "scores": scores}]).scorecards[0]


def test_the_bands_of_the_table(bands: dict[str, tuple[int, int]]) -> None:
    """Both ends of each band are in it, and the score beyond an end is not."""
    assert list(bands) == ["A", "B", "C", "D", "E"]
    for band, (low, high) in bands.items():
        for inside in (low, high):
            card = _score({id: _banded(inside, bands) for id in WEIGHTS})
            assert card.missing == (), (band, inside)
        for outside in {low - 1, high + 1} & set(range(101)):
            card = _score({id: {"band": band, "score": outside} for id in WEIGHTS})
            assert len(card.missing) == len(WEIGHTS), (band, outside)


def test_every_row_of_the_table_of_penalties(document: str, bands: dict[str, tuple[int, int]]) -> None:
    """Its named dimensions at the scores it gives, the others chosen so that the base is the one it gives."""
    rows = read_table(document, "| base |")

    assert len(rows) == 3
    for row in rows:
        low = {FIXED[name]: int(value) for name, value in re.findall(r"(\w+)=(\d+)", row["场景"])}
        base = int(row["base"])
        left = [id for id in WEIGHTS if id not in low]
        rest = (base - sum(WEIGHTS[id] * value for id, value in low.items())) / sum(WEIGHTS[id] for id in left)
        card = _score({id: _banded(low.get(id, round(rest)), bands) for id in WEIGHTS})
        found_base, found = card.steps[0].after, card.exact
        assert found / found_base == Fraction(row["penalty"]), row
        assert float(found_base) == pytest.approx(base, abs=0.5)
        assert float(found) == pytest.approx(float(row["final"]), abs=0.5)


def test_the_rows_whose_scores_are_whole_are_exact(document: str, bands: dict[str, tuple[int, int]]) -> None:
    """72 with credibility 45 and substantiveness 40 is 36.00: the others at 90 and 100."""
    assert "| 可信度=45, 实质性=40 | 72 | 0.50 | 36.0 |" in document
    given = {"substantiveness": 40, "credibility": 45, "completeness": 100, "fit": 90}

    card = _score({id: _banded(value, bands) for id, value in given.items()})

    assert (card.steps[0].after, card.exact) == (72, 36)


def test_the_printed_aggregation_has_our_fixed_dimensions_and_threshold(document: str) -> None:
    (code,) = list_blocks(document, "python")
    fixed = set(re.findall(r'"(\w+)"', code))
    method = load_shipped_method_file("oracle")

    (step,) = (step for step in method.steps if isinstance(step, Shortfall))

    assert fixed == set(FIXED.values()) == set(FIXED_DIMENSIONS)
    assert f"PENALTY_THRESHOLD = {step.below}" in code


def test_the_printed_scores_of_a_submission_are_read(document: str) -> None:
    """Band and score as they are printed; the dimension under 60 carries the printed flag."""
    (block,) = list_blocks(document, "json")
    printed = json.loads(block)["dimension_scores"]
    criteria = [{"id": id, "asks": "?", "weight": 0.5, "fixed": True} for id in printed]

    (card,) = score({"method": "oracle", "criteria": criteria}, [{"id": "a", "scores": printed}]).scorecards

    assert {id: (one.band, int(one.value)) for id, one in card.criteria.items() if isinstance(one, Scored)} == {
        id: (one["band"], one["score"]) for id, one in printed.items()
    }
    assert list(card.flags) == [id for id, one in printed.items() if "flag" in one]


def test_a_submission_is_told_in_the_printed_form(document: str) -> None:
    """The fields of the printed output, for every dimension, and two suggestions in order of severity."""
    (block,) = list_blocks(document, "json")
    printed = json.loads(block)

    told = Contest("fastest_first").enters("a", 1, (74, 42, 60, 45)).feedback("a", "individual_scoring")

    assert printed.keys() <= told.keys()
    assert set(told["dimension_scores"]["substantiveness"]) == set(printed["dimension_scores"]["substantiveness"])
    assert set(told["dimension_scores"]["credibility"]) == set(printed["dimension_scores"]["credibility"])
    given, shown = told["revision_suggestions"], printed["revision_suggestions"]
    assert [set(one) for one in given] == [set(one) for one in shown]
    ranks = ["high", "medium", "low"]
    for suggestions in (given, shown):
        assert [one["severity"] for one in suggestions] == sorted(
            (one["severity"] for one in suggestions), key=ranks.index
        )


def test_every_kind_of_feedback_has_the_fields_of_the_table(document: str) -> None:
    rows = {row["type"]: re.findall(r"`(\w+)[^`]*`", row["关键字段"] + "`") for row in read_table(document, "| type |")}
    failed = Contest().comes("a", 1).gate("a", (False,))
    ranked = Contest().enters("a", 1, 80).enters("b", 2, 70).deadline().rank({"a": 80, "b": 70})

    told = {
        "gate_check": failed.feedback("a", "gate_check"),
        "individual_scoring": ranked.feedback("a", "individual_scoring"),
        "scoring": ranked.feedback("a", "scoring"),
    }

    assert rows.keys() == told.keys()
    for kind, fields in rows.items():
        assert set(fields) <= told[kind].keys(), kind
    assert "revision_hint" in told["gate_check"]["criteria_checks"][0]


@pytest.mark.parametrize(("value", "closed"), [(60, True), (59, False)])
def test_fastest_first_closes_at_sixty(document: str, value: int, closed: bool) -> None:
    """60 closes and pays; below it the submission keeps the score it has."""
    assert "≥ 60 → 关闭任务 + 付款" in document
    contest = Contest("fastest_first").enters("a", 1, value)

    shown = contest.published("a")

    assert (contest.record["winner"] == "a") is closed
    assert shown["score"] is not None


def test_the_judge_that_the_settings_name(document: str) -> None:
    """The table's defaults; a base address goes with either provider."""
    defaults = {row["变量"]: row["默认值"] for row in read_table(document, "| 变量 |")}

    assert set(defaults) == {
        "ORACLE_LLM_PROVIDER",
        "ORACLE_LLM_MODEL",
        "ORACLE_LLM_BASE_URL",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
    }
    assert defaults["ORACLE_LLM_MODEL"] == ORACLE_MODEL
    assert parse_oracle_model_name({}) == f"{defaults['ORACLE_LLM_PROVIDER']}/{ORACLE_MODEL}"
