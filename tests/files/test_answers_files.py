"""Answers files: JSON, JSONL, both forms; wrong ones refused with their place, and nothing half read."""

import json
from pathlib import Path

import pytest

from evenhand import AnswersError, Missing, Scored, load_rubric
from evenhand.files.answers import parse_answers_json_text, read_answers_file_text
from evenhand.model.scorecard import Answers
from tests.builders import COUNCIL, card

COUNCIL_RUBRIC = load_rubric("council")


def first(text: str) -> Answers:
    entry = parse_answers_json_text(text, COUNCIL_RUBRIC, "a.json")[0]
    assert isinstance(entry, Answers)
    return entry


def refused(text: str) -> list[str]:
    with pytest.raises(AnswersError) as caught:
        parse_answers_json_text(text, COUNCIL_RUBRIC, "a.json")
    return str(caught.value).splitlines()


def test_a_number_keeps_its_decimals() -> None:
    """6.55 is 6.55, not the float next to it."""
    score = first('{"outputs": [{"id": "a", "scores": {"accuracy": 6.55}}]}').scores["accuracy"]

    assert isinstance(score, Scored)
    assert score.value * 100 == 655


@pytest.mark.parametrize(
    "text",
    [
        '{"outputs": [{"id": "a", "scores": {}}, {"id": "b", "scores": {}}]}',
        '[{"id": "a", "scores": {}}, {"id": "b", "scores": {}}]',
        '{"id": "a", "scores": {}}\n{"id": "b", "scores": {}}\n',
        '{"id": "a", "scores": {}}\n\n\n{"id": "b", "scores": {}}',
        '\n{\n"outputs": [{"id": "a", "scores": {}},\n {"id": "b", "scores": {}}]\n}\n',
    ],
)
def test_outputs_come_as_an_object_a_list_or_lines(text: str) -> None:
    """JSON or JSONL, with or without empty lines."""
    assert [entry.id for entry in parse_answers_json_text(text, COUNCIL_RUBRIC, "a") if isinstance(entry, Answers)] == [
        "a",
        "b",
    ]


def test_one_line_of_jsonl_is_one_output() -> None:
    """A file with a single line is not an object with outputs."""
    assert first('{"id": "a", "scores": {"accuracy": 9}}\n').id == "a"


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Path) -> None:
    """Some editors write one."""
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"outputs": [{"id": "a", "scores": {}}]}')

    assert len(parse_answers_json_text(read_answers_file_text(path), COUNCIL_RUBRIC, str(path))) == 1


def test_a_criterion_given_twice_with_different_answers_is_unreadable() -> None:
    """Which of them would be meant?"""
    scores = first(
        '{"outputs": [{"id": "a", "scores": {"accuracy": 9, "accuracy": 3, "clarity": 8, "clarity": 8}}]}'
    ).scores

    assert scores["accuracy"] == Missing("unreadable", "given twice with different answers")
    assert isinstance(scores["clarity"], Scored)


def test_not_a_number_in_a_score_is_unreadable() -> None:
    """NaN is what some tools write for a missing score."""
    assert first('{"outputs": [{"id": "a", "scores": {"accuracy": NaN}}]}').scores["accuracy"] == Missing(
        "unreadable", "nan is not a finite number"
    )


@pytest.mark.parametrize(
    "score",
    [
        '{"score": 9, "score": 3}',
        '{"score": 9, "score": 9, "why": "x", "why": "y"}',
        '{"missing": null, "missing": "x"}',
    ],
)
def test_an_answer_that_contradicts_itself_is_unreadable(score: str) -> None:
    """Twice inside the object of one criterion."""
    assert first('{"outputs": [{"id": "a", "scores": {"accuracy": ' + score + "}}]}").scores["accuracy"] == Missing(
        "unreadable", "given twice with different answers"
    )


def test_a_flag_found_and_not_found_is_refused() -> None:
    """A finding must not disappear."""
    rubric = load_rubric({"method": "judge-skill", "red_flags": ["f"]})

    with pytest.raises(AnswersError, match="was 'f' found"):
        parse_answers_json_text('{"id": "a", "scores": {}, "red_flags": {"f": "seen", "f": false}}', rubric, "a")
    twice = parse_answers_json_text('{"id": "a", "scores": {}, "red_flags": {"f": "seen", "f": "again"}}', rubric, "a")[
        0
    ]
    assert isinstance(twice, Answers)
    assert twice.red_flags == {"f": "seen; again"}


def test_other_line_breaks_do_not_end_a_line_of_jsonl() -> None:
    """U+2028 may stand inside a JSON string."""
    text = '{"id": "a\u2028b", "scores": {}}\n{"id": "c\u0085d", "scores": {}}\r\n'

    assert len(parse_answers_json_text(text, COUNCIL_RUBRIC, "a")) == 2


def test_a_thousand_faults_are_found_in_one_reading_and_told_in_part() -> None:
    """The first fifty, each with its line, and how many more."""
    text = '{"outputs": [' + ",\n".join('{"scores": {}}' for _ in range(1000)) + "]}"

    said = refused(text)

    assert len(said) == 51
    assert said[49] == 'a.json:50: an output needs an id (as in "id": "a")'
    assert said[50] == "and 950 more"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"outputs": [\n{"id": "a", "scores": {}},\n{"id": "b",\n"id": "c", "scores": {}}]}',
            "a.json:3: the field 'id' is given twice (keep one of them)",
        ),
        (
            '{"outputs": [\n{"id": "a", "scores": {"accuracy": NaN}},\n{"id": 1.5, "scores": {}}]}',
            'a.json:3: id must be a text (as in "id": "a")',
        ),
        (
            '{"outputs": [\n{"id": "a", "scores": {}, "metadata": '
            + "[" * 99
            + "]" * 99
            + '},\n{"id": "", "scores": {}}]}',
            'a.json:3: id must be a text (as in "id": "a")',
        ),
    ],
)
def test_the_line_is_found_whatever_else_is_odd(text: str, said: str) -> None:
    """Keys given twice, NaN and deep data are no reason to lose the place."""
    assert refused(text) == [said]


def test_a_contradiction_is_unreadable_everywhere() -> None:
    """In a holistic score, and in the first of two equal answers."""
    whole = first('{"id": "a", "holistic": {"score": 9, "score": 3}}')
    inner = first('{"id": "a", "scores": {"accuracy": {"score": 9, "score": 8}, "accuracy": {"score": 8}}}')

    assert isinstance(whole.holistic, Missing)
    assert isinstance(inner.scores["accuracy"], Missing)


@pytest.mark.long
def test_the_line_is_found_in_a_large_file() -> None:
    """Beyond what a rubric may hold."""
    rows = ['{"id": "' + str(n) + '", "scores": {"accuracy": 9, "clarity": 8}}' for n in range(60_000)]
    rows[50_000] = '{"scores": {}}'

    said = 'a.json:50002: an output needs an id (as in "id": "a")'
    assert refused('{"outputs": [\n' + ",\n".join(rows) + "]}") == [said]


@pytest.mark.parametrize("number", ["1e999999999", "-1e999999999", "1" * 4000, "1e9999999999999999999"])
def test_a_gigantic_number_is_unreadable_and_cheap(number: str) -> None:
    """Eleven characters must not become a gigabyte."""
    score = first(f'{{"outputs": [{{"id": "a", "scores": {{"accuracy": {number}}}}}]}}').scores["accuracy"]

    assert isinstance(score, Missing)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ['a.json: there is nothing in it (try {"outputs": [{"id": "a", "scores": {"accuracy": 9}}]})']),
        (
            "{",
            [
                "a.json:1: not valid JSON: it breaks off: Expecting property name enclosed in double quotes "
                "(column 2; answers are JSON or JSONL)"
            ],
        ),
        (
            '{"id": "a", "scores": {}}\n{"id": "b" "scores": {}}\n',
            ["a.json:2: not valid JSON: Expecting ',' delimiter (column 12)"],
        ),
        (
            '{"id": "a", "scores": {}}\n{"id": "b", "sco',
            [
                "a.json:2: not valid JSON: a string is not closed (it breaks off at column 17; the string begins at "
                "column 13)"
            ],
        ),
        (
            '{"id": "a", "sco\n{"id": "b", "scores": {}}\n',
            [
                "a.json:1: not valid JSON: a string is not closed (its line breaks off at column 17; answers are JSON "
                "or JSONL)"
            ],
        ),
        (
            "7",
            [
                'a.json:1: expected an object with outputs or reviews, got a number (try {"outputs": [{"id": "a", "scores": {"accuracy": 9}}]})'
            ],
        ),
        (
            '{"outputs": []}',
            [
                'a.json:1: outputs must be a list with entries (try {"outputs": [{"id": "a", "scores": {"accuracy": 9}}]})'
            ],
        ),
        (
            '{"outputs": [\n{"id": "a", "scores": {}},\n{"id": "a", "scores": {}}]}',
            ["a.json:3: the id 'a' is used twice (each id is unique)"],
        ),
        (
            '{"outputs": [\n{"id": "a", "scores": {},\n "red_flag": {}}]}',
            ["a.json:3: unknown field 'red_flag' (did you mean 'red_flags'?)"],
        ),
        (
            '{"outputs": [{"scores": []}, 7]}',
            [
                'a.json:1: an output needs an id (as in "id": "a")',
                "a.json:1: scores must be an object, got a list",
                "a.json:1: an output is an object with id and scores, got a number",
            ],
        ),
        ('{"outputs": [{"id": "a"}]}', ['a.json:1: an output needs scores (as in "scores": {"accuracy": 9})']),
        (
            '{"outputs": [{"id": "a", "scores": {}, "red_flags": {"x": null}}]}',
            ["a.json:1: red_flags: was 'x' found? (give the reason as text, or leave the id out if it was not found)"],
        ),
        (
            '{"outputs": [{"id": "a", "scores": {}, "unsafe": true}]}',
            ["a.json:1: unsafe must be a text (the name of the pattern, or null)"],
        ),
        (
            '{"reviews": [{"judge": "x", "outputs": [{"id": "a", "scores": {}}]},\n{"judge": "x", "abstained": "no"}]}',
            ["a.json:2: the judge 'x' is used twice (each judge is unique, as in \"judge\": NAME)"],
        ),
        (
            '{"reviews": [{"judge": "x", "outputs": [{"id": "a", "scores": {}}], "ranking": "a",\n "abstained": "no"}]}',
            [
                "a.json:1: ranking must be a list of ids, got a text",
                "a.json:2: a reviewer that abstained has no outputs (keep one of them)",
            ],
        ),
        ("[]", ['a.json:1: the list is empty (try {"outputs": [{"id": "a", "scores": {"accuracy": 9}}]})']),
        (
            '{"reviews": [{"judge": "x", "outputs": [{"id": "a", "scores": {}, "author": "x"}]},\n'
            '{"judge": "y", "outputs": [{"id": "a", "scores": {}, "author": "y"}]}]}',
            ["a.json:2: 'a' is by 'y' here and by 'x' above"],
        ),
        (
            '{"reviews": [{"judge": "x"}]}',
            ["a.json:1: outputs must be a list with entries (or say abstained: why)"],
        ),
        (
            '{"id": "a", "scores": {}}\n{"id": "b", "scroes": {}}\n',
            [
                "a.json:2: unknown field 'scroes' (did you mean 'scores'?)",
                'a.json:2: an output needs scores (as in "scores": {"accuracy": 9})',
            ],
        ),
        (
            '{"outputs": [{"id": "a", "id": "b", "scores": {}}]}',
            ["a.json:1: the field 'id' is given twice (keep one of them)"],
        ),
        ("[" * 100_000, ["a.json: nested too deep"]),
        (
            '{"outputs": [{"id": "a", "scores": {"accuracy": ' + "1" * 5000 + "}}]}",
            [
                "a.json: a number that cannot be read: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits"
            ],
        ),
    ],
)
def test_a_wrong_answers_file_is_refused_with_its_place(text: str, said: list[str]) -> None:
    """All faults at once here too."""
    assert refused(text) == said


def test_what_comes_out_of_a_file_is_what_comes_out_of_python() -> None:
    """One reader for both."""
    text = json.dumps({"outputs": [{"id": "a", "scores": COUNCIL}]})

    assert dict(first(text).scores) == dict(card("council", COUNCIL).criteria)
