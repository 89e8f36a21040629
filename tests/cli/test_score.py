"""evenhand score, as a user runs it: what it prints, what it returns, and what it says of bad input."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evenhand import JudgeError, load_rubric
from evenhand.judging.open_judge import (
    REFERENCE_FIELD,
    REFERENCE_OPTION,
    describe_criteria_unfit_for_judges,
    list_criteria_unfit_for_judges,
)
from evenhand.models.model_names import parse_oracle_model_name
from tests.builders import COUNCIL, SKILL
from tests.cli.command import evenhand
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"


def answers(*outputs: dict[str, Any]) -> str:
    return json.dumps({"outputs": list(outputs)})


def test_the_table_ranks_two_or_more() -> None:
    """Rank, score, grade, and what broke the tie."""
    done = evenhand("score", "--rubric", "judge-skill", str(EXAMPLES / "answers.json"))

    assert done.returncode == 0
    assert done.stdout.splitlines()[2:] == [
        "rank  output     score  grade            tie broken by",
        "   1  prompt-v2   8.50  A- Very Good",
        "   2  prompt-v1   7.78  B Above Average  safety",
        "   3  prompt-v3   7.78  B Above Average  safety",
    ]


def _blocks(shared: Path) -> list[str]:
    """The JSON that the document of the method prints."""
    (text,) = (path.read_text("utf-8") for path in sorted((shared / "seeds").glob("001_*")))
    return re.findall(r"```json\n(.*?)```", text, re.DOTALL)


def test_the_json_of_the_document_is_read_as_it_is_printed(shared: Path) -> None:
    """Criteria decide; overall and ranking are claims, and notes are shown."""
    done = evenhand("score", "-r", "council-v1", "-", stdin=_blocks(shared)[1])

    assert [line.split()[-1] for line in done.stdout.splitlines()[3:6]] == ["8.15", "8.10", "6.00"]
    assert "Response B: reviewer: claimed score 8.0 differs from 8.10" in done.stdout
    assert "Response C: reviewer notes: " in done.stdout


def test_scores_for_the_whole_alone_are_read_and_marked_in_the_table(shared: Path) -> None:
    """The first form of the document: one number for each response."""
    done = evenhand("score", "-r", "council-v1", "-", stdin=_blocks(shared)[0])

    assert done.stdout.splitlines()[2:5] == [
        "rank  output      score  holistic",
        "   1  Response A   8.00  used for reviewer",
        "   2  Response B   6.00  used for reviewer",
    ]


ORACLE = {"substantiveness": 60, "credibility": 55, "completeness": 63, "readability": 79}


@pytest.fixture
def oracle(tmp_path: Path) -> Path:
    weights = {"substantiveness": 0.25, "credibility": 0.2, "completeness": 0.25, "readability": 0.3}
    criteria = "".join(
        f"  - {{id: {id}, asks: {id}?, weight: {weight}, fixed: {str(id != 'readability').lower()}}}\n"
        for id, weight in weights.items()
    )
    (tmp_path / "oracle.yaml").write_text(f"name: report\nmethod: oracle\ncriteria:\n{criteria}")
    return tmp_path


def _oracle_reply(**more: object) -> dict[str, object]:
    told = {"evidence": "...", "feedback": "..."}
    scores = {id: {"band": "B" if score > 69 else "C", "score": score, **told} for id, score in ORACLE.items()}
    scores["credibility"]["flag"] = "below_expected"
    advice = [{"problem": "...", "suggestion": "...", "severity": "high"}]
    return {"dimension_scores": scores, "overall_band": "B", "revision_suggestions": advice, **more}


@pytest.mark.parametrize(
    ("data", "ids"),
    [
        (_oracle_reply(), ["submission"]),
        ([_oracle_reply(id="a"), _oracle_reply(id="b")], ["a", "b"]),
        (_oracle_reply(id="a", type="individual_scoring", penalty=0.9, penalized_total=60, risk_flags=[]), ["a"]),
    ],
)
def test_the_json_of_an_oracle_judge_is_read_as_it_is_printed(oracle: Path, data: object, ids: list[str]) -> None:
    """Alone it need not name its submission; its band is a claim, and a score never looks past a limit."""
    done = evenhand("score", "-r", "oracle.yaml", "-", "--min-score", "60", stdin=json.dumps(data), folder=oracle)

    rows = [line.removeprefix("   1").split()[:2] for line in done.stdout.splitlines()[3 : 3 + len(ids)]]
    assert rows == [[id, "60.00"] for id in ids]
    assert f"{' and '.join(ids)}: the judge said band B; the scores give C" in done.stdout
    assert f"{ids[0]}: 60.00 (59.9958) is below --min-score 60" in done.stdout


def test_a_score_just_below_its_band_is_shown_below_it(oracle: Path) -> None:
    """90.00 and B would contradict each other."""
    weights = (oracle / "oracle.yaml").read_text()
    for old, new in (("0.25", "0.333"), ("0.2,", "0.333,"), ("0.3,", "0.001,")):
        weights = weights.replace(old, new)
    (oracle / "oracle.yaml").write_text(weights)
    scores = {**{id: {"band": "A", "score": 90} for id in ORACLE}, "readability": {"band": "B", "score": 86}}

    done = evenhand("score", "-r", "oracle.yaml", "-", stdin=answers({"id": "a", "scores": scores}), folder=oracle)

    assert done.stdout.splitlines()[3].split()[:3] == ["a", "89.996", "B"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ([_oracle_reply(id="a"), _oracle_reply()], "an output needs an id"),
        (_oracle_reply(dimension_scores=[]), "dimension_scores must be an object, got a list"),
        (_oracle_reply(scores={}), "scores and dimension_scores say the same"),
        (_oracle_reply(verdict="pass"), "unknown field 'verdict'"),
    ],
)
def test_an_oracle_judges_json_that_cannot_be_right_is_refused(oracle: Path, data: object, told: str) -> None:
    """With what would work."""
    done = evenhand("score", "-r", "oracle.yaml", "-", stdin=json.dumps(data), folder=oracle)

    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_evaluations_of_several_reviewers_make_a_panel() -> None:
    """Each under its name, beside reviews in the usual form."""
    one = {"judge": "x", "evaluations": {"a": {**COUNCIL, "notes": "Fine."}}}
    two = {"judge": "y", "outputs": [{"id": "a", "scores": COUNCIL, "notes": "Good."}]}
    done = evenhand("score", "-r", "council", "-", "--json", stdin=json.dumps([one, two]))

    (card,) = json.loads(done.stdout)["scorecards"]
    assert [(entry["judge"], entry["notes"]) for entry in card["reviews"]] == [("x", "Fine."), ("y", "Good.")]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"evaluations": {}}, "evaluations must be an object of outputs with their scores"),
        ({"evaluations": {"a": 7}}, "an evaluation is an object, got a number"),
        ({"evaluations": {"a": {"accuracy": 9, "notes": 3}}}, "notes must be a text, got a number"),
        ({"evaluations": {"a": {"accuracy": 9}}, "rankings": []}, "unknown field 'rankings'"),
    ],
)
def test_evaluations_that_cannot_be_right_are_refused(data: object, told: str) -> None:
    """With what would work."""
    done = evenhand("score", "-r", "council", "-", stdin=json.dumps(data))

    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_a_holistic_score_of_one_judge_shows_in_the_table() -> None:
    """Nobody should take it for a score from criteria."""
    done = evenhand("score", "-r", "council", "-", stdin=answers({"id": "a", "holistic": 7}))

    assert done.stdout.splitlines()[2:] == [
        "output  score  holistic", "a        7.00  used", "", "a: holistic score: no criterion was answered",
    ]  # fmt: skip


def test_one_output_has_no_rank() -> None:
    """There is nobody to rank it against."""
    done = evenhand("score", "-r", "council", "-", stdin=answers({"id": "a", "scores": COUNCIL}))

    assert done.stdout.splitlines()[2:] == ["output  score", "a        8.00"]


def test_a_gate_that_a_panel_misses_says_how_many_reach_it(tmp_path: Path) -> None:
    """A mean above the limit does not pass where only half of the reviewers reach it."""
    (tmp_path / "r.yaml").write_text(
        "criteria:\n  - {id: cause, asks: Names the cause}\n  - {id: depth, asks: How deep, required_min_score: 7}\n"
    )
    said = {"a": {"cause": True, "depth": 9}, "b": {"cause": False, "depth": 6}}
    reviews = [{"judge": judge, "outputs": [{"id": "x", "scores": scores}]} for judge, scores in said.items()]
    given = json.dumps({"reviews": reviews})

    done = evenhand("score", "-r", str(tmp_path / "r.yaml"), "-", "--explain", stdin=given)

    assert "  gate failed: cause: 1 of 2 reviewers said yes; more than half must\n" in done.stdout
    assert "  gate failed: depth: 1 of 2 reviewers gave at least 7; more than half must\n" in done.stdout


def test_explain_says_each_step_in_a_sentence() -> None:
    """The sentence of the ceiling, word by word."""
    lie = {"accuracy": 3, "completeness": 9, "conciseness": 9, "clarity": 9}

    done = evenhand("score", "-r", "council-v1", "-", "--explain", stdin=answers({"id": "a", "scores": lie}))

    assert "  capped at 4.00: accuracy 3 is under 5 (was 6.90)" in done.stdout.splitlines()


def test_a_failed_gate_says_what_it_asked_for(tmp_path: Path) -> None:
    """Required and not met, or under a level."""
    (tmp_path / "r.yaml").write_text(
        "criteria:\n  - {id: cause, asks: Names the cause}\n  - {id: depth, asks: How deep, required_min_score: 7}\n"
    )
    given = answers({"id": "a", "scores": {"cause": False, "depth": 6}})

    done = evenhand("score", "-r", str(tmp_path / "r.yaml"), "-", "--explain", stdin=given)

    assert "  gate failed: cause is required and not met\n  gate failed: depth is under 7\n" in done.stdout


def test_the_json_has_every_key_of_the_contract() -> None:
    """What a method does not have is null."""
    done = evenhand("score", "-r", "council", "-", "--json", stdin=answers({"id": "a", "scores": COUNCIL}))
    data = json.loads(done.stdout)

    expected = ["method", "rubric", "fingerprint", "scorecards", "ranking", "panel", "safety_gate", "notes"]
    assert list(data) == expected
    assert (data["method"], data["rubric"], data["ranking"]) == ("council", "council", None)
    assert data["scorecards"] == [
        {
            "id": "a",
            "score": 8.0,
            "grade": None,
            "label": None,
            "description": None,
            "verdict": None,
            "gates_failed": [],
            "gates_open": [],
            "missing": [],
            "flags": [],
            "bonuses": [],
            "statements": [],
            "steps": [
                {
                    "step": "weighted_sum",
                    "before": None,
                    "after": 8.0,
                    "why": "weighted sum 8.00: accuracy 8 × 0.35 + relevance 8 × 0.1 + completeness 8 × 0.2 "
                    "+ conciseness 8 × 0.15 + clarity 8 × 0.2",
                }
            ],
            "criteria": COUNCIL,
            "reviews": None,
            "holistic": None,
            "notes": [],
        }
    ]


def test_an_incomplete_scorecard_in_json() -> None:
    """Score null, verdict incomplete, exit 1."""
    done = evenhand(
        "score", "-r", "council", "-", "--json", stdin=answers({"id": "a", "scores": {**COUNCIL, "clarity": 11}})
    )
    card = json.loads(done.stdout)["scorecards"][0]

    assert done.returncode == 1
    assert (card["score"], card["verdict"]) == (None, "incomplete")
    assert card["missing"] == [{"criterion": "clarity", "why": "unreadable: 11 is outside 1–10"}]
    assert card["criteria"]["clarity"] is None


def test_the_safety_gate_lists_the_models_that_failed() -> None:
    """By author where it is known."""
    output = {"id": "a", "scores": COUNCIL, "unsafe": "self_harm", "author": "gpt"}

    done = evenhand("score", "-r", "council", "-", "--json", stdin=answers(output))

    assert json.loads(done.stdout)["safety_gate"] == {
        "failed_models": ["gpt"],
        "findings": [{"id": "a", "pattern": "self_harm", "passage": None}],
    }


CHECK = '{"criteria": [{"id": "a", "asks": "?"}, {"id": "b", "asks": "?", "weight": 2, "required": false}]}'


@pytest.mark.parametrize(
    ("scores", "options", "code"),
    [
        ({"a": True, "b": True}, [], 0),
        ({"a": False, "b": True}, [], 1),
        ({"a": True}, [], 1),
        ({"a": True, "b": False}, [], 1),
        ({"a": True, "b": True}, ["--min-score", "1"], 0),
        ({"a": True, "b": True}, ["--min-score", "1.01"], 1),
        ({"a": True, "b": True}, ["--min-score", "1.0000000000000000001"], 1),
        ({"a": True, "b": False}, ["--min-score", "1/3"], 1),
    ],
)
def test_the_verdict_reaches_the_exit_code(
    scores: dict[str, bool], options: list[str], code: int, tmp_path: Path
) -> None:
    """A failed gate, a fail and an incomplete scorecard are 1."""
    (tmp_path / "r.json").write_text(CHECK)

    done = evenhand(
        "score", "-r", str(tmp_path / "r.json"), "-", *options, stdin=answers({"id": "x", "scores": scores})
    )

    assert done.returncode == code


def test_borderline_fails_only_when_asked(tmp_path: Path) -> None:
    """--strict."""
    (tmp_path / "r.yaml").write_text(
        "criteria:\n" + "".join(f"  - {{id: c{n}, asks: x?, required: false}}\n" for n in range(3))
    )
    given = answers({"id": "x", "scores": {"c0": True, "c1": True, "c2": False}})

    plain = evenhand("score", "-r", str(tmp_path / "r.yaml"), "-", stdin=given)
    strict = evenhand("score", "-r", str(tmp_path / "r.yaml"), "-", "--strict", stdin=given)

    assert (plain.returncode, strict.returncode) == (0, 1)


@pytest.mark.parametrize(("grade", "code"), [("B+", 0), ("A-", 1)])
def test_grades_fail_only_when_asked(grade: str, code: int) -> None:
    """--min-grade: 8.00 is a B+."""
    given = answers({"id": "x", "scores": SKILL})

    done = evenhand("score", "-r", "judge-skill", "-", "--min-grade", grade, stdin=given)

    assert done.returncode == code
    assert ("x: B+ is below --min-grade A-" in done.stdout) is (code == 1)


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (["score", "-r", "council", "gone.json"], "", "gone.json: cannot be read: no such file or directory"),
        (["score", "-r", "concil", "-"], "", "no rubric is called 'concil' (did you mean 'council'? or name a file)"),
        (
            ["score", "-r", "council", "-"],
            "{",
            "standard input:1: not valid JSON: it breaks off: Expecting property name",
        ),
        (["score", "-r", "council", "-"], "", "standard input: there is nothing in it"),
        (
            ["score", "-r", "council", "-", "--min-score", "x"],
            "{}",
            "--min-score: must be a number, got 'x' (as in 7.5 or 2/3)",
        ),
        (
            ["score", "-r", "council", "-", "--min-score", "nan"],
            "{}",
            "--min-score: must be a number, got 'nan' (as in 7.5 or 2/3)",
        ),
        (
            ["score", "-r", "judge-skill", "-", "--min-grade", "b+"],
            "{}",
            "--min-grade: 'b+' is not a grade (did you mean 'B+'?)",
        ),
        (
            ["score", "-r", "judge-skill", "-", "--min-grade", "Z"],
            "{}",
            "--min-grade: 'Z' is not a grade (from best to worst: A+, A, A-, B+, B, B-, C+, C, C-, D+, D, F)",
        ),
        (["score", "-r", "council", "-", "--min-grade", "A"], "{}", "council gives no grades; use --min-score"),
        (["score", "-"], "", "Missing option '--rubric'"),
        (["score", "-r", "oracle", "-"], "{}", "no criteria: the method 'oracle' has none of its own"),
        (["scroe"], "", "No such command 'scroe'"),
    ],
)
def test_bad_input_is_exit_two_and_a_sentence(arguments: list[str], stdin: str, said: str) -> None:
    """Never a traceback, nothing on standard output."""
    done = evenhand(*arguments, stdin=stdin)

    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_the_environment_is_heard() -> None:
    """Weights and the cap, as documented."""
    given = answers(
        {"id": "a", "scores": {**COUNCIL, "accuracy": 10}, "unsafe": "x"},
        {"id": "b", "scores": {**COUNCIL, "accuracy": 10}},
    )

    done = evenhand(
        "score", "-r", "council", "-", "--json", stdin=given,
        LLM_COUNCIL_WEIGHT_ACCURACY="0.45", LLM_COUNCIL_WEIGHT_CLARITY="0.1", LLM_COUNCIL_SAFETY_SCORE_CAP="1.5",
    )  # fmt: skip

    assert [card["score"] for card in json.loads(done.stdout)["scorecards"]] == [1.5, 8.9]


def test_a_limit_missed_by_less_than_is_shown_says_so() -> None:
    """7.00 below 7 would be a riddle."""
    scores = {"accuracy": 7, "relevance": 7, "completeness": 7, "conciseness": 7, "clarity": 6.98}

    done = evenhand("score", "-r", "council", "-", "--min-score", "7", stdin=answers({"id": "a", "scores": scores}))

    assert "a: 7.00 (6.996) is below --min-score 7" in done.stdout


@pytest.mark.parametrize("options", [[], ["--json"], ["--explain"]])
def test_reviewers_that_all_abstain_are_not_all_well(options: list[str]) -> None:
    """Nothing was scored, so nothing passed."""
    given = json.dumps({"reviews": [{"judge": "a", "abstained": "no"}, {"judge": "b", "abstained": "no"}]})

    done = evenhand("score", "-r", "council", "-", *options, stdin=given)

    assert done.returncode == 1
    assert done.stderr == ""


def test_a_misspelt_red_flag_is_said_first() -> None:
    """It does not count, so the score is higher than its author meant: nobody should have to look for the note."""
    given = {"id": "a", "scores": SKILL, "red_flags": {"made-up-fact": "x"}}

    done = evenhand("score", "--rubric", "judge-skill", "-", stdin=answers(given))

    assert done.stderr.splitlines()[0] == "warning: a: 'made-up-fact' is not a red flag of this rubric: ignored"


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ({"secrets": "line 4 shows a password"}, 1),
        (["secrets"], 1),
        ({"secret": "line 4", "secerts": True}, 1),
        ({"secrets": False}, 0),
        ({"secret": "line 4"}, 0),
    ],
)
def test_a_red_flag_that_the_rubric_does_not_have_does_not_pass(flags: object, code: int, tmp_path: Path) -> None:
    """What it would take off is not known; said not to be found, it takes nothing off."""
    rubric = tmp_path / "own.json"
    rubric.write_text(json.dumps({"name": "own", "method": "judge-skill", "red_flags": ["secret"]}), "utf-8")
    given = {"id": "a", "scores": SKILL, "red_flags": flags}

    done = evenhand("score", "-r", str(rubric), "-", stdin=answers(given))

    assert done.returncode == code, done.stdout
    assert ("which the rubric does not have" in done.stdout) == (code == 1)


def test_each_step_begins_where_the_last_one_ended() -> None:
    """A step before a rounding tells the number that is rounded."""
    scores = {**SKILL, "correctness": 9.13}
    done = evenhand("score", "--rubric", "judge-skill", "-", "--json", stdin=answers({"id": "a", "scores": scores}))

    steps = json.loads(done.stdout)["scorecards"][0]["steps"]
    assert steps[-1]["step"] == "round"
    assert [one["after"] for one in steps[:-1]] == [one["before"] for one in steps[1:]]


RANGES = {
    "method": "score-ranges",
    "criteria": [
        {"id": "right", "weight": 2, "required_min_score": 7, "score_ranges": {0: "no", 9: "yes"}},
        {"id": "style", "score_ranges": {0: "no", 9: "yes"}},
    ],
}


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ({"b": (7, 4), "gate": (6, 10)}, "gate failed a gate and ranked above an output that did not"),
        ({"b": (7, 4), "gate": (6, 10), "c": (6, 9)}, "gate and c failed a gate and ranked above outputs that did not"),
        ({"b": (9, 9), "gate": (6, 10)}, ""),
        ({"b": (7, 0), "gate": (6, 10)}, ""),
        ({"gate": (6, 10)}, ""),
    ],
)
def test_an_output_that_failed_a_gate_and_ranks_above_others_is_named(
    tmp_path: Path, scores: dict[str, tuple[int, int]], says: str
) -> None:
    """Ranks go by the exact score, as the method says; whoever reads the table must not take the first for the best."""
    (tmp_path / "r.json").write_text(json.dumps(RANGES))
    given = [{"id": id, "scores": {"right": right, "style": style}} for id, (right, style) in scores.items()]

    done = evenhand("score", "-r", str(tmp_path / "r.json"), "-", stdin=answers(*given))

    told = " ".join(done.stdout.split())
    assert ("ranks go by the score alone: " in told) == bool(says)
    assert says in told


@pytest.mark.parametrize(
    ("variable", "says"),
    [
        ("LLM_COUNCIL_WEIGHT_ACURACY", "did you mean 'LLM_COUNCIL_WEIGHT_ACCURACY'?"),
        ("ORACLE_LLM_BASEURL", "did you mean 'ORACLE_LLM_BASE_URL'?"),
        ("LLM_COUNCIL_WEIGHT_RELEVANCE", ""),
        ("ORACLE_HOME", ""),
    ],
)
def test_a_misspelt_setting_is_noted(variable: str, says: str) -> None:
    """It was ignored in silence; what other programs read is none of ours."""
    environ: Any = {variable: "0.1"}

    done = evenhand("score", "--rubric", "judge-skill", str(EXAMPLES / "answers.json"), **environ)

    told = " ".join(done.stderr.split())
    assert done.returncode == 0
    assert (f"environment variable {variable}: no shipped method reads it" in told) == bool(says)
    assert says in told


def test_an_oracle_server_that_is_none_is_named_by_its_variable() -> None:
    """The error spoke of "anthropic-compatible", which nobody had written."""
    with pytest.raises(JudgeError, match=r"^environment variable ORACLE_LLM_BASE_URL: this is not the URL of a server"):
        parse_oracle_model_name({"ORACLE_LLM_BASE_URL": "ftp://foo"})


def test_a_criterion_that_takes_a_reference_is_told_how_to_get_one() -> None:
    """Its advice was to ask yes/no questions, which it is."""
    rubric = load_rubric({"method": "checklist", "criteria": ["States time complexity correctly"]})
    found = list_criteria_unfit_for_judges(rubric, ["embedded"], has_reference=False)

    for way, says in ((REFERENCE_OPTION, "give --reference FILE"), (REFERENCE_FIELD, "give the samples a reference")):
        told = describe_criteria_unfit_for_judges(found, way)
        assert told.endswith(f": {says}, or name a model as judge")


def test_the_pattern_of_an_unsafe_output_is_no_red_flag() -> None:
    """On the screen as in the JSON: flags are those of the rubric, what is unsafe has a column of its own."""
    given = answers({"id": "a", "scores": COUNCIL, "unsafe": "malware_hacking"})

    done = evenhand("score", "-r", "council", "-", stdin=given)

    header = next(line for line in done.stdout.splitlines() if "score" in line and "output" in line)
    assert "unsafe" in header.split()
    assert "flags" not in header.split()
    assert "unsafe: malware_hacking" not in done.stdout


@pytest.mark.parametrize(("count", "named"), [(2, "o0 and o1"), (3, "o0, o1 and o2"), (6, "o0, o1, o2 and 3 more")])
def test_a_note_on_several_outputs_is_printed_once(count: int, named: str) -> None:
    """A reviewer that abstained did so for all of them."""
    outputs = [{"id": f"o{n}", "scores": {**COUNCIL, "accuracy": 8 - n / 10}} for n in range(count)]
    given = {"reviews": [{"judge": "x", "outputs": outputs}, {"judge": "y", "abstained": "refused"}]}

    done = evenhand("score", "-r", "council", "-", stdin=json.dumps(given))

    assert f"{named}: y not counted: abstained: refused" in done.stdout
    assert done.stdout.count("not counted") == 1
