"""What holds for every reply: nothing raises, form does not matter, and no cut makes another number."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.judging.reading.choice import read_reply_choice
from evenhand.judging.reading.reply_reader import read_reply_answers, read_reply_score
from evenhand.judging.reading.reply_text import (
    find_json_values_in_reply,
    find_judge_refusal,
    split_reply_sections,
    strip_thinking_from_reply,
)
from evenhand.model.scale import YES_NO, ZERO_TO_TEN, CriterionScore, Scored
from tests.judging.reading.asked import ASKED, BANDS, ONE_TO_FIVE
from tests.judging.reading.scored_json import JSON
from tests.judging.reading.several import SEVERAL

IDS = [one.id for one in ASKED]
PIECES = st.sampled_from(
    [*'{}[]()"\':,|#*_`~<>/\\=-–“”‘’\n\t .0123456789½分', "```json\n", "<think>", "</think>", "score", "Score: ", "4/5",
     "accuracy", " out of ", "3-4", "null", "/*", "*/", "//", "\\u12", "\ud800", "[[", "]]", "\\boxed{", "评分：",
     "final ", "yes", "no", "n/a", "four", "between ", " and ", " or ", "1e9", "9" * 30, "band", "A is better",
     '{"score": 4}', '{"accuracy": {"score": 4, "reason": "']
)  # fmt: skip
ANY_TEXT = st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join))
SCORES = st.fixed_dictionaries({id: st.integers(0, 10) for id in IDS})
PROSE = st.sampled_from(
    ["", "Here is my answer.", "The text has 3 parts, of which 2 are fine.", "我的看法如下。", "Well {so} it [is]."]
)


def values(text: str) -> dict[str, CriterionScore]:
    return {id: answer.score for id, answer in read_reply_answers(text, ASKED).answers.items()}


@given(ANY_TEXT)
def test_no_text_raises(text: str) -> None:
    """A judge may write anything at all."""
    for scale in (ONE_TO_FIVE, ZERO_TO_TEN, YES_NO, BANDS):
        read_reply_score(text, scale, "accuracy")
    read_reply_answers(text, ASKED)
    read_reply_choice(text, {"A": ("A",), "B": ("B", "Response B")})
    split_reply_sections(text, ["Response A", "A"])
    find_judge_refusal(text)
    strip_thinking_from_reply(text)
    for value in find_json_values_in_reply(text):
        assert 0 <= value.start < value.end <= len(text)


@given(ANY_TEXT)
def test_a_score_is_always_on_its_scale(text: str) -> None:
    """Never clamped, never rescaled, never beside it."""
    score = read_reply_score(text, ONE_TO_FIVE)

    assert not isinstance(score, Scored) or 1 <= score.value <= 5


def as_python(scores: dict[str, int]) -> str:
    return repr(scores | {"fine": True, "note": None})


def with_commas(scores: dict[str, int]) -> str:
    return "{" + "".join(f'"{id}": {score},\n' for id, score in scores.items()) + "}"


def with_comments(scores: dict[str, int]) -> str:
    lines = [f'  "{id}": {score}, // not {score + 1}, "{id}": 3' for id, score in scores.items()]
    return "\n".join(["{ # scores", *lines, "/* } */ }"])


def with_curly_quotes(scores: dict[str, int]) -> str:
    return "{" + ", ".join(f"“{id}”: {score}" for id, score in scores.items()) + "}"


def with_reasons(scores: dict[str, int]) -> str:
    return json.dumps({id: {"reason": f'not {score + 1}: "{{}}"', "score": score} for id, score in scores.items()})


def as_list(scores: dict[str, int]) -> str:
    return json.dumps([{"criterion": id, "score": f"{score}/10"} for id, score in scores.items()], indent=1)


JSON_FORMS = [json.dumps, as_python, with_commas, with_comments, with_curly_quotes, with_reasons, as_list]


@pytest.mark.parametrize("form", JSON_FORMS)
@given(scores=SCORES, before=PROSE, after=PROSE, fenced=st.booleans())
def test_the_form_does_not_matter(form, scores: dict[str, int], before: str, after: str, fenced: bool) -> None:  # type: ignore[no-untyped-def]
    """JSON, Python, fences, commas, comments, quotes and prose around it: the same answers."""
    body = f"```json\n{form(scores)}\n```" if fenced else form(scores)

    assert values(f"{before}\n{body}\n{after}") == {id: Scored(ZERO_TO_TEN.read(n).value) for id, n in scores.items()}  # type: ignore[union-attr]


@given(scores=SCORES)
def test_lines_and_tables_read_as_json_does(scores: dict[str, int]) -> None:
    """What is named and numbered is read, whichever way it is laid out."""
    expected = {id: ZERO_TO_TEN.read(score) for id, score in scores.items()}
    table = "\n".join(["| Criterion | Score |", "|---|---|", *(f"| {id} | {score} |" for id, score in scores.items())])

    assert values("\n".join(f"- **{id}**: {score}/10 – fine" for id, score in scores.items())) == expected
    assert values(table) == expected


@given(scores=SCORES, earlier=SCORES, fenced=st.booleans())
def test_an_earlier_block_never_changes_a_later_full_one(
    scores: dict[str, int], earlier: dict[str, int], fenced: bool
) -> None:
    """A template or a quoted answer stands before the real one."""
    quoted = f"```json\n{json.dumps(earlier)}\n```" if fenced else json.dumps(earlier)
    last = json.dumps(scores)

    assert values(f"As in\n{quoted}\nmy answer is\n{last}") == values(last)
    assert values(f"As in\n{quoted[:-9]}\nmy answer is\n{last}") == values(last)


@pytest.mark.parametrize("form", JSON_FORMS)
@given(scores=SCORES, fenced=st.booleans(), data=st.data())
def test_no_cut_makes_another_number(form, scores: dict[str, int], fenced: bool, data: st.DataObject) -> None:  # type: ignore[no-untyped-def]
    """The 1 of a 10 that was cut off is not read."""
    whole = f"My answer:\n```json\n{form(scores)}\n```\nThat is all." if fenced else form(scores)
    cut = whole[: data.draw(st.integers(0, len(whole)))]

    for id, score in values(cut).items():
        assert not isinstance(score, Scored) or score.value == scores[id]


@pytest.mark.parametrize(("scale", "text", "expected"), [form for form in JSON if "closed" not in form[1]])
def test_no_cut_of_a_form_makes_another_number(scale, text: str, expected: str) -> None:  # type: ignore[no-untyped-def]
    """Every JSON form, cut at every place after the last block has begun."""
    start = text.rfind("{") + 1

    for end in range(start, len(text)):
        score = read_reply_score(text[:end], scale, "coherence")
        assert not isinstance(score, Scored) or score.value == Decimal(expected), text[:end]


@pytest.mark.parametrize(
    ("text", "expected"), [(text, e) for text, e in SEVERAL if text.startswith(("1. A", "- a", "**A"))]
)
def test_no_cut_of_lines_makes_another_number(text: str, expected: str) -> None:
    """Lines that were cut lack scores, but those they have are right."""
    full = dict(zip(IDS, expected.split(), strict=True))

    for end in range(len(text)):
        for id, score in values(text[:end]).items():
            assert not isinstance(score, Scored) or str(score.value) == full[id], text[:end]
