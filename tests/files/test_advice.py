"""What a careful colleague points out in a valid rubric, and what not."""

from pathlib import Path

import pytest

from evenhand import load_rubric
from evenhand.files.rubrics import open_rubric_with_file_lines
from evenhand.scoring.rubric_advice import find_doubtful_score_parts


def test_advice_is_quick_on_large_rubrics() -> None:
    """Where there are too many combinations to try, nothing is said."""
    many = [{"id": f"c{n}", "asks": "x?", "weight": 1 + n / 7, "required": False} for n in range(200)]
    huge = [
        "x?",
        {"id": "b", "asks": "y?", "scale": {"min": 0, "max": 10**9, "integers": True}, "anchors": {0: "none"}},
    ]

    assert find_doubtful_score_parts(load_rubric({"criteria": many})) == []
    assert find_doubtful_score_parts(load_rubric({"criteria": huge})) == []


def test_bands_describe_the_levels_of_a_criterion() -> None:
    """Nobody is asked for anchors beside them."""
    ids = ("substantiveness", "credibility", "completeness", "clarity")
    criteria = [{"id": id, "asks": f"{id}?", "weight": 0.25, "fixed": id != "clarity"} for id in ids]

    assert find_doubtful_score_parts(load_rubric({"method": "oracle", "criteria": criteria})) == []


@pytest.mark.parametrize(
    ("rubric", "said"),
    [
        ("criteria:\n  - {id: a, asks: How right?, scale: 1-10}\n", "criterion 'a' has no anchors"),
        ("criteria:\n  - The answer is appropriate\n", "criterion 'rubric-1' asks for 'appropriate'"),
        (
            "method: judge-skill\ngates:\n  - {criterion: safety, min: 1}\n",
            "the gate safety of at least 1 can never fail: 1–10 starts there",
        ),
        (
            "method: judge-skill\ngates:\n  - {criterion: safety, min: 11}\n",
            "the gate safety of at least 11 must always fail: 1–10 ends before it",
        ),
        (
            "criteria:\n  - {id: a, asks: x?, weight: 10}\n  - {id: b, asks: y?, weight: 10}\n"
            "  - {id: c, asks: z?, weight: 0.01, required: false}\n",
            "the weight of 'c' can change no decision: the verdict is the same whatever it is answered",
        ),
        (
            "method: judge-skill\ncriteria:\n  - {id: a, asks: x, weight: 0.9999}\n  - {id: b, asks: y, weight: 0.0001}\n",
            "the weight of 'b' hardly matters: from worst to best it moves the score by 0.0009",
        ),
        (
            "criteria:\n  - {id: a, asks: x?, points: 2}\nmethod: checklist\n",
            "'checklist' does nothing with the points of 'a'",
        ),
        ("criteria:\n  - {id: a, asks: x?, points: 2, weight: 3}\n", "'points' does nothing with the weight of 'a'"),
        (
            "criteria:\n  - {id: a, asks: x?, points: 2}\n  - {id: b, asks: y?, points: -2}\ngates: [{criterion: b}]\n",
            "the gate on 'b' demands a fault",
        ),
        (
            "criteria:\n  - {id: a, asks: x?, weight: 5.5}\n  - {id: b, asks: y?, weight: 3.5}\n"
            "  - {id: c, asks: z?, weight: 1, required: false}\n",
            "the weight of 'c' can change no decision",
        ),
        (
            "method: council\ncriteria: [{id: accuracy, weight: 1, fixed: true}]\n",
            "'council' does nothing with 'fixed' of 'accuracy'",
        ),
        ("method: council\nred_flags: [slow]\n", "red_flags are listed but 'council' does nothing with them"),
        (
            "method: oracle\ncriteria:\n  - {id: a, asks: x, weight: 1, fixed: true}\n",
            "1 fixed of 1 criteria: a task has 3 fixed ones and 1 to 3 of its own",
        ),
    ],
)
def test_a_careful_colleague_points_it_out(rubric: str, said: str, tmp_path: Path) -> None:
    """Valid, and worth a second look."""
    (tmp_path / "r.yaml").write_text(rubric)

    advice = find_doubtful_score_parts(open_rubric_with_file_lines(tmp_path / "r.yaml").rubric)

    assert any(entry.what.startswith(said) for entry in advice), advice


def test_a_weight_that_can_tip_the_verdict_is_not_warned_about() -> None:
    """With 6, 3 and 1 the last one lifts 0.9 to 1 — and 0.5 to 0.6 in another split."""
    plain = [{"id": f"c{n}", "asks": "x?", "weight": 1, "required": False} for n in range(5)]

    assert find_doubtful_score_parts(load_rubric({"criteria": plain})) == []
