"""Chinese prompts are Chinese throughout: only ids, the keys of JSON and the names of tags are not."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from evenhand.files.methods import load_shipped_method_file
from evenhand.files.rubrics import load_rubric
from evenhand.judging.dialogues.contest_dialogues import (
    AnchoredSubmission,
    ask_judge_for_dimensions,
    ask_judge_gate_check,
    ask_judge_horizontal_scores,
)
from evenhand.judging.dialogues.listwise import ask_judge_listwise, ask_judge_pairwise
from evenhand.judging.dialogues.pointwise import ask_judge_pointwise
from evenhand.judging.dialogues.token_odds import ask_judge_by_logprobs, ask_judge_by_odds
from evenhand.judging.prompts import JudgeSetup, load_prompts
from evenhand.model.rubric import Rubric
from evenhand.model.sample import OutputTrace, Sample, ToolCall
from evenhand.model.scale import Missing, Scored
from evenhand.model.scorecard import Evidence, Judgment
from evenhand.models.requests import Request
from tests.judging.scripted import Answer, converse, in_turn

ZH = JudgeSetup(judge="j", prompts=load_prompts("zh"))
TEXT = "面包每公斤七元。" * 2000
TRACE = OutputTrace(calls=(ToolCall("查询", "价格", TEXT), ToolCall("查询")), turns=2)
SAMPLE = Sample(input="面包多少钱？", context="价目表", reference="七元", outputs={"甲": "七元。", "乙": "八元。"},
                traces={"甲": TRACE, "乙": OutputTrace()})  # fmt: skip
CRITERIA = [{"id": "c1", "asks": "是否正确？", "weight": 1, "anchors": {"1-5": "错误", "6-10": "正确"}}]
SKILL = replace(
    load_rubric({"method": "judge-skill", "criteria": CRITERIA, "red_flags": [{"id": "f1", "asks": "粗鲁"}],
                 "bonuses": [{"id": "b1", "asks": "有礼"}]}),
    holistic=True,
)  # fmt: skip
COUNCIL = load_rubric(
    {"method": load_shipped_method_file("council").name, "criteria": [{**CRITERIA[0], "id": "accuracy"}]}
)
CHECKS = load_rubric({"criteria": [{"id": "c1", "expected_outcome": "给出价格"}]})
ORACLE = load_rubric({"method": "oracle", "criteria": [{"id": "c1", "asks": "是否可信？", "fixed": True, "weight": 1}]})
LOW = Judgment(judge="j", output="甲", criterion="c1", score=Scored(Fraction(9), "E"), absent=("来源",))
HIGH = Judgment(
    judge="j", output="乙", criterion="c1", score=Scored(Fraction(75), "B"), evidence=(Evidence("八元", 0, 2),)
)


def _requests() -> Iterator[Request]:
    """What every dialogue asks, and how it asks again."""
    for rubric in (SKILL, CHECKS, ORACLE):
        yield from next(ask_judge_pointwise(rubric, SAMPLE, "甲", ZH))
        yield from next(ask_judge_pointwise(rubric, SAMPLE, "乙", ZH, each=True))
        yield from next(ask_judge_by_logprobs(rubric, SAMPLE, "甲", ZH, replies=2))
        yield from next(ask_judge_by_odds(rubric, SAMPLE, "甲", ZH))
    yield from next(ask_judge_listwise(COUNCIL, SAMPLE, ["甲", "乙"], ZH))
    yield from next(ask_judge_pairwise(SKILL, SAMPLE, "甲", "乙", ZH))
    yield from next(ask_judge_for_dimensions("写一份报告", load_shipped_method_file("oracle"), ZH))
    yield from next(ask_judge_gate_check("写一份报告", ["给出价格"], ("甲", "七元。"), ZH))
    entries = [AnchoredSubmission(id=one.output, text="七元。八元。", judgments={"c1": one}) for one in (LOW, HIGH)]
    yield from next(ask_judge_horizontal_scores(ORACLE, "写一份报告", entries, ZH))


def _english(text: str, rubrics: tuple[Rubric, ...] = (SKILL, COUNCIL, CHECKS, ORACLE)) -> list[str]:
    """The words that are not Chinese, ids and keys aside."""
    text = re.sub(r"</?[a-z]+-[^<>]*>|\b[0-9a-f]{16}\b|JSON", "", text)  # Tags and markers.
    text = re.sub(r'"[a-z_0-9-]+"(?=:| [^|]|：)|(?<=- )[a-z_0-9-]+(?=: )', "", text)  # Keys and ids of criteria.
    text = re.sub(r"revision_hint|problem|suggestion|severity|substantiveness|credibility|completeness", "", text)
    return re.findall(r"[A-Za-z]{2,}", text)


@pytest.mark.parametrize("request_", list(_requests()), ids=lambda one: one.dialogue)
def test_no_prompt_has_a_word_of_english(request_: Request) -> None:
    """Also where a form says which words an answer may be."""
    assert [_english(message.text) for message in request_.messages] == [[], []]
    allowed = re.findall(r'"enum": (\[[^]]*\])', json.dumps(request_.schema, ensure_ascii=False))
    assert not any(re.search("[A-Za-z]{2,}", words) for words in allowed), allowed


def _reply(**changes: object) -> str:
    one = {"evidence": ["七元"], "reason": "说明", "feedback": "改进", "band": "B", "score": 74, **changes}
    advice = [{"problem": "问题", "suggestion": "建议", "severity": word} for word in ("低", "高")]
    return json.dumps({"criteria": {"c1": one}, "revision_suggestions": advice}, ensure_ascii=False)


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (_reply(band="A"), "… 不在档位 A（90–100）之内"),
        (_reply(score=140), "… 不在 0–100 之间"),
        (_reply(band="Z"), "这不是档位；档位为 A, B, C, D, E"),
        (_reply(score=74.5), "… 不是整数"),
        (_reply(evidence=["九元"]), "不在文本中"),
        (_reply(evidence=["缺失：来源"]), "缺失的内容只能支持较低的回答"),
        (_reply(band="B", score="good or bad"), "这不是一个数"),
        ("I say nothing.", "没有回答"),
    ],
)
def test_a_repair_names_the_fault_in_chinese(wrong: Answer, fault: str) -> None:
    """Whatever part of the reader found it."""
    _, asked = converse(ask_judge_pointwise(ORACLE, SAMPLE, "甲", ZH), in_turn(wrong, _reply()))

    again = asked[1].messages[-1].text.removeprefix(asked[0].messages[-1].text)
    assert fault in again
    assert _english(again) == []


def test_a_fault_without_a_translation_is_told_in_general_words() -> None:
    """Not in English; in English it stays as it is."""
    assert load_prompts("zh").word_fault(Missing.unreadable("something new")) == "这个回答无法读取"
    assert load_prompts("en").word_fault(Missing.unreadable("something new")) == "something new"


def test_answers_in_chinese_words_are_read() -> None:
    """是, 否, 无法判断, 高, 中, 低, 平局: what the forms offer."""
    told, asked = converse(ask_judge_pointwise(ORACLE, SAMPLE, "甲", ZH), in_turn(_reply()))
    assert len(asked) == 1
    assert [one.severity for one in told.suggestions] == ["high", "low"]

    for word, value in {"是": Scored, "否": Scored, "无法判断": Missing}.items():
        reply = json.dumps({"criteria": {"c1": {"evidence": ["七元"], "reason": "说明", "answer": word}}})
        told, asked = converse(ask_judge_pointwise(CHECKS, SAMPLE, "甲", ZH), in_turn(reply))
        assert (len(asked), type(told.answers.scores["c1"])) == (1, value), word

    tied, _ = converse(
        ask_judge_pairwise(SKILL, SAMPLE, "甲", "乙", ZH), lambda _: '{"reason": "一样", "winner": "平局"}'
    )
    assert (tied.winner, tied.why_not) == (None, "")
