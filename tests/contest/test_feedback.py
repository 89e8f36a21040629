"""What authors are told: the three kinds of feedback, field by field, and the penalties worked by hand."""

from dataclasses import replace
from typing import Any

import pytest

from tests.contest.building import ADVICE, INJECTION, NAMES, Contest, Values, dimensions, scored
from tests.contest.worked_quality import alone, five, two

FAST = "fastest_first"
PANEL = ("j", "m", "n")
UNEVEN = ("0.2", "0.2", "0.2", "0.4")
# Base, penalty and final score. 0.2 · (40 + 45 + 95) + 0.4 · 90 = 72, and 40/60 · 45/60 = 1/2.
PENALTIES: dict[str, tuple[tuple[str, ...], Values, tuple[float, float, float], list[str]]] = {
    "all at 60 or more": ((), 78, (78.0, 1.0, 78.0), []),
    "credibility 45": ((), (89, 45, 89, 89), (78.0, 0.75, 58.5), ["credibility"]),
    "credibility 45 and substantiveness 40": (
        UNEVEN, (40, 45, 95, 90), (72.0, 0.5, 36.0), ["substantiveness", "credibility"],
    ),
}  # fmt: skip
penalties = pytest.mark.parametrize(("weights", "values", "worth", "short"), PENALTIES.values(), ids=PENALTIES)


@penalties
def test_penalties_alone(
    weights: tuple[str, ...], values: Values, worth: tuple[float, float, float], short: list[str]
) -> None:
    """The table of the method, through the whole machine."""
    contest = Contest(FAST, dimensions=dimensions(*weights)).enters("a", 1, values)

    told = contest.feedback("a", "individual_scoring")

    assert (told["weighted_base"], told["penalty"], told["penalized_total"]) == worth
    assert told["risk_flags"] == short
    assert contest.published("a")["score"] == worth[2]


@penalties
def test_penalties_side_by_side(
    weights: tuple[str, ...], values: Values, worth: tuple[float, float, float], short: list[str]
) -> None:
    """The same arithmetic on the scores that decide."""
    contest = Contest(dimensions=dimensions(*weights)).enters("a", 1, 80).enters("b", 2, 80).deadline()

    told = contest.rank({"a": values, "b": 90}).feedback("a", "scoring")

    assert (told["weighted_base"], told["penalty"], told["final_score"]) == worth
    assert told["risk_flags"] == short
    assert [reason.split(" is under 60 (")[0] for reason in told["penalty_reasons"]] == short


def test_a_gate_that_failed_is_told_criterion_by_criterion() -> None:
    """With a hint for each that is not met, and for no other."""
    contest = Contest(acceptance=("names a price", "is short", "is new")).comes("a", 1).gate("a", (True, False, None))

    told = contest.feedback("a", "gate_check")

    assert told == {
        "type": "gate_check",
        "criteria_checks": [
            _check("names a price", True),
            _check("is short", False, revision_hint="j: mend 2"),
            _check("is new", None, evidence="", reason="j: unreadable: no answer"),
        ],
        "policy_violations": [],
    }
    assert [told] == [one.feedback[0] for one in contest.last("tell_submitter")]  # type: ignore[union-attr]


def _check(criterion: str, passed: bool | None, **changes: Any) -> dict[str, Any]:
    plain = {"criterion": criterion, "passed": passed, "evidence": "It costs 7", "reason": "", "revision_hint": None}
    return {**plain, **changes}


def test_what_judges_state_is_absent_is_no_quotation() -> None:
    """It stands under a key of its own, and only where there is something to say."""
    event = scored("a", 20)
    stated = tuple(replace(one, evidence=(), absent=("any source",)) for one in event.judgments)
    contest = Contest(FAST).comes("a", 1).gate("a")
    contest.happen(replace(event, judgments=stated))

    told = contest.feedback("a", "individual_scoring")["dimension_scores"]["credibility"]

    assert (told["evidence"], told["absent"]) == ("", "any source")


@pytest.mark.parametrize(
    ("count", "note"),
    [(0, "the judges gave no suggestions"), (1, "the judges gave one distinct suggestion, two were asked for")],
)
def test_an_author_is_told_where_suggestions_are_lacking(count: int, note: str) -> None:
    """Also while the scores are hidden."""
    for mode in (FAST, "quality_first"):
        contest = Contest(mode).comes("a", 1).gate("a")
        contest.happen(replace(scored("a", 70), suggestions=ADVICE[:count]))

        assert contest.feedback("a", "individual_scoring")["notes"][-1] == note


@pytest.mark.parametrize(("judges", "who"), [(("j",), ""), (("j", "m"), "j: ")])
def test_a_false_overall_band_is_noted(judges: tuple[str, ...], who: str) -> None:
    """As in a judgment outside of a contest; the band that counts is computed."""
    contest = Contest(FAST, judges=judges).comes("a", 1).gate("a", dict.fromkeys(judges, True))
    contest.happen(replace(scored("a", dict.fromkeys(judges, 65)), overall_bands={"j": "A"}))

    told = contest.feedback("a", "individual_scoring")

    assert told["overall_band"] == "C"
    assert told["notes"] == [f"{who}the judge said band A; the scores give C"]


def test_a_claimed_band_is_hidden_as_long_as_the_scores_are() -> None:
    """It tells nearly as much."""
    contest = Contest().comes("a", 1).gate("a")
    contest.happen(replace(scored("a", 55), overall_bands={"j": "A"}))

    assert "overall_bands" not in contest.record["events"][-1]
    assert "notes" not in contest.feedback("a", "individual_scoring")


# 0.25 · 60 + 0.2 · 55 + 0.25 · 63 + 0.3 · 79 = 65.45, times 55/60 is 59.99583….
NEARLY = (("0.25", "0.2", "0.25", "0.3"), (60, 55, 63, 79))


def test_a_total_just_below_what_wins_is_not_told_as_what_wins() -> None:
    """Who pays by the number pays as the contest does."""
    weights, values = NEARLY
    contest = Contest(FAST, dimensions=dimensions(*weights)).enters("a", 1, values)

    told = contest.feedback("a", "individual_scoring")

    assert (told["weighted_base"], told["penalty"], told["penalized_total"]) == (65.45, 0.9167, 59.9958)
    assert contest.published("a")["score"] == 59.9958


def test_a_total_just_below_a_band_is_not_told_as_in_it() -> None:
    """69.996 is C, and 70.00 would be B."""
    contest = Contest(FAST, dimensions=dimensions("0.333", "0.333", "0.333", "0.001")).enters("a", 1, (70, 70, 70, 66))

    told = contest.feedback("a", "individual_scoring")

    assert (told["overall_band"], told["penalized_total"]) == ("C", 69.996)


def test_a_policy_violation_is_told_with_its_passage() -> None:
    """And with nothing about criteria, which nobody looked at."""
    contest = Contest().comes("a", 1, text=INJECTION)

    told = contest.feedback("a", "gate_check")

    assert told["criteria_checks"] == []
    assert {one["guard"] for one in told["policy_violations"]} == {"injection"}
    assert told["policy_violations"][0]["text"] in INJECTION


def test_hints_are_those_of_the_judges_who_found_it_not_met() -> None:
    """Each once."""
    contest = Contest(judges=PANEL).comes("a", 1).gate("a", {"j": False, "m": True, "n": False})

    (check,) = contest.feedback("a", "gate_check")["criteria_checks"]

    assert check["revision_hint"] == "j: mend 1\nn: mend 1"


def test_a_gate_that_was_passed_is_not_fed_back() -> None:
    """The status says it; feedback comes with the scores."""
    contest = Contest().comes("a", 1).gate("a")

    assert contest.published("a")["feedback"] == []
    assert contest.published("a")["status"] == "gate_passed"


def test_individual_feedback_has_every_field() -> None:
    """The fields of the method's table, the scores dimension by dimension, and the advice."""
    contest = Contest(FAST).enters("a", 1, (74, 42, 60, 45))

    told = contest.feedback("a", "individual_scoring")

    assert told == {
        "type": "individual_scoring",
        "dimension_scores": {
            "substantiveness": _dimension("substantiveness", "B", 74.0),
            "credibility": {**_dimension("credibility", "D", 42.0), "flag": "below_expected"},
            "completeness": _dimension("completeness", "C", 60.0),
            "clarity": _dimension("clarity", "D", 45.0),
        },
        "overall_band": "D",  # Of 55.25 · 0.7 = 38.675.
        "revision_suggestions": [
            {"problem": one.problem, "suggestion": one.suggestion, "severity": one.severity} for one in ADVICE
        ],
        "weighted_base": 55.25,
        "penalty": 0.7,
        "penalty_reasons": ["credibility is under 60 (42)"],
        "penalized_total": 38.68,
        "risk_flags": ["credibility"],
        "by_judge": None,
        "notes": [],
    }


def _dimension(id: str, band: str, score: float) -> dict[str, Any]:
    return {"band": band, "score": score, "evidence": "It costs 7", "feedback": f"{id} of a"}


def test_scoring_feedback_has_every_field() -> None:
    """The fields of the method's table, and how the place came about."""
    contest = two().rank({"a": (74, 42, 60, 45), "b": 70})

    told = contest.feedback("a", "scoring")

    assert told == {
        "type": "scoring",
        "dimension_scores": {
            "substantiveness": _dimension("substantiveness", "B", 74.0),
            "credibility": {**_dimension("credibility", "D", 42.0), "flag": "below_expected"},
            "completeness": _dimension("completeness", "C", 60.0),
            "clarity": _dimension("clarity", "D", 45.0),
        },
        "weighted_base": 55.25,
        "penalty": 0.7,
        "penalty_reasons": ["credibility is under 60 (42)"],
        "final_score": 38.68,
        "risk_flags": ["credibility"],
        "by_judge": None,
        "rank": 2,
        "compared": True,
        "tie_broken_by": None,
        "notes": [],
    }


def test_who_was_not_compared_is_scored_by_its_own_score() -> None:
    """And is told so."""
    contest = five().rank({"a": 60, "b": 70, "c": 65})

    told = contest.feedback("d", "scoring")

    assert (told["final_score"], told["rank"], told["compared"]) == (84.0, 4, False)


@pytest.mark.parametrize("contest", [alone, lambda: Contest().enters("a", 1, (90, 90, 90, 49)).deadline()])
def test_only_who_is_ranked_has_feedback_on_a_rank(contest: Any) -> None:
    """Who is below the threshold keeps its score and has no place."""
    played = contest()

    types = [one["type"] for one in played.published("a")["feedback"]]

    assert ("scoring" in types) == (played.published("a")["rank"] is not None)
    assert types[0] == "individual_scoring"


def test_who_is_first_to_pass_has_its_scores_alone() -> None:
    """Nobody was ranked, and nothing was compared."""
    contest = Contest(FAST).enters("a", 1, 60)

    assert [one["type"] for one in contest.published("a")["feedback"]] == ["individual_scoring"]


def test_one_that_could_not_be_judged_is_told_its_advice_and_no_number() -> None:
    """One dimension could not be read: there is no total, and what single judges said of the others is none."""
    contest = Contest(FAST).enters("a", 1, (90, None, 90, 90))

    told = contest.feedback("a", "individual_scoring")

    assert contest.state.entries["a"].status == "unjudged"
    assert list(told) == ["type", "revision_suggestions"]


def test_a_panel_is_told_by_its_means_and_who_said_what() -> None:
    """Penalties are each judge's own: together they took what the totals lost against the base."""
    contest = Contest(FAST, judges=PANEL).enters("a", 1, {"j": (80, 45, 80, 80), "m": 80, "n": 80})

    told = contest.feedback("a", "individual_scoring")

    credibility = told["dimension_scores"]["credibility"]
    assert (credibility["score"], credibility["band"]) == (68.33, "C")
    assert credibility["feedback"] == "\n".join(f"{judge}: credibility of a" for judge in PANEL)
    assert credibility["evidence"] == "It costs 7"
    assert told["weighted_base"] == 77.08  # (71.25 + 80 + 80) / 3
    assert told["penalized_total"] == 71.15  # (53.4375 + 80 + 80) / 3
    assert told["penalty"] == round(53.4375 / 3 / (231.25 / 3) + 160 / 231.25, 4)
    assert told["by_judge"] == {"j": 53.44, "m": 80.0, "n": 80.0}
    assert told["penalty_reasons"] == ["credibility is under 60 (j: 45)"]


def test_a_dimension_is_flagged_where_the_panel_together_puts_it_low() -> None:
    """68.33 is not below what is expected, though one judge's 45 costs something; 50 is."""
    high = Contest(FAST, judges=PANEL).enters("a", 1, {"j": (80, 45, 80, 80), "m": 80, "n": 80})
    low = Contest(FAST, judges=PANEL).enters(
        "a", 1, {"j": (80, 45, 80, 80), "m": (80, 50, 80, 80), "n": (80, 55, 80, 80)}
    )

    flags = [one.feedback("a", "individual_scoring")["risk_flags"] for one in (high, low)]

    assert flags == [[], ["credibility"]]
    assert low.feedback("a", "individual_scoring")["dimension_scores"]["credibility"]["flag"] == "below_expected"


def test_a_mean_between_two_bands_lies_in_the_lower_one() -> None:
    """69.5 is not yet a B."""
    contest = Contest(FAST, judges=("j", "m")).enters("a", 1, {"j": 69, "m": 70})

    told = contest.feedback("a", "individual_scoring")

    assert {told["dimension_scores"][name]["band"] for name in NAMES} == {"C"}


def test_a_challenge_is_told_by_the_scores_of_those_who_looked_again() -> None:
    """Their words and numbers, not the first judges'."""
    contest = two().rank({"a": 71, "b": 78}).challenge("a", 12).resolve(k={"a": 73, "b": 72})

    told = contest.feedback("a", "scoring")

    assert (told["final_score"], told["rank"]) == (73.0, 1)
    assert told["dimension_scores"]["clarity"]["score"] == 73.0
