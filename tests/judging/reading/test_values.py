"""Values in a text: where they stand, what is whole, and what never becomes one."""

from decimal import Decimal

import pytest

from evenhand.files.parsing import DuplicateKeyJsonObject
from evenhand.judging.reading.reply_text import find_json_values_in_reply, strip_thinking_from_reply
from evenhand.judging.reading.tolerant_json import ReplyValue


def data_in(text: str) -> list[object]:
    return [value.data for value in find_json_values_in_reply(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ("[1, 2.50, -3e2]", [[1, Decimal("2.50"), Decimal("-3e2")]]),
        ("x {'a': (1, 2), 'b': None, 'c': False} y", [{"a": [1, 2], "b": None, "c": False}]),
        ('{"a": 1} and [2]', [{"a": 1}, [2]]),
        ('{"a": "\\u4e2d\\ud83d\\ude00\\n\\"\\/"}', [{"a": '中😀\n"/'}]),
        ('{"a": "\\ud800"}', [{"a": "\ufffd"}]),
        ('{"a": "C:\\\\"}', [{"a": "C:\\"}]),
        ('{"a": ""}', [{"a": ""}]),
        ("{}", [{}]),
        ("[]", [[]]),
        ('{"a": {"b": [{"c": 1}]}}', [{"a": {"b": [{"c": 1}]}}]),
        ('{"url": "http://x.y/z#q"}', [{"url": "http://x.y/z#q"}]),
        ('{"a": "[1, {2}]"}', [{"a": "[1, {2}]"}]),
        ('{"code": "f(\\"{}\\")", "n": 1}', [{"code": 'f("{}")', "n": 1}]),
        ('{"verdict": not met, "n": 1}', [{"verdict": "not met", "n": 1}]),
        ('{"a": 1, /* , "b": 2 */ "c": 3}', [{"a": 1, "c": 3}]),
        ('[{"a": 1} and more]', [{"a": 1}]),
        ('{ {"a": 1} }', [{"a": 1}]),
        ('the set {x, y} and {"a": 1}', [{"a": 1}]),
        ('{"a": "open, and then {"b": 1}', [{"b": 1}]),
        ("no value: (1, 2), <3>, 4", []),
        ("[see below]", []),
        ('{"a": 1, ...}', []),
    ],
)
def test_values_are_read_as_models_write_them(text: str, expected: list[object]) -> None:
    """What is valid JSON is read as JSON; the rest as it was plainly meant, or not at all."""
    found = find_json_values_in_reply(text)

    assert [value.data for value in found] == expected
    assert all(value.complete for value in found)


def test_a_value_knows_its_place() -> None:
    """Whoever marks or cuts it out needs to know where it stands."""
    text = 'Well: {"a": 1}.'

    assert find_json_values_in_reply(text) == (ReplyValue({"a": 1}, complete=True, start=6, end=14),)
    assert text[6:14] == '{"a": 1}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "b": 2', {"a": 1}),
        ('{"a": 1, "b": 2 ', {"a": 1, "b": 2}),
        ('{"a": 1, "b": "te', {"a": 1}),
        ('{"a": 1, "b', {"a": 1}),
        ('{"a": {"b": 1, "c": [2, 3', {"a": {"b": 1, "c": [2]}}),
        ('{"a": tru', {}),
        ("[1, 2, ", [1, 2]),
    ],
)
def test_what_breaks_off_keeps_only_what_was_whole(text: str, expected: object) -> None:
    """The 1 of a 10 that was cut is no 1."""
    (value,) = find_json_values_in_reply(text)

    assert not value.complete
    assert value.data == expected


def test_a_key_that_comes_twice_is_remembered() -> None:
    """Which of them would be meant?"""
    (value,) = find_json_values_in_reply('{"a": 1, "a": 2, "b": 3, "b": 3}')

    assert isinstance(value.data, DuplicateKeyJsonObject)
    assert value.data.differing() == ["a"]


def test_a_value_ends_with_its_fence() -> None:
    """A brace that is missing before the fence does not swallow the next block."""
    text = '```json\n{"a": 1,\n```\nand\n```json\n{"b": 2}\n```'

    assert [(value.data, value.complete) for value in find_json_values_in_reply(text)] == [
        ({"a": 1}, False),
        ({"b": 2}, True),
    ]


def test_numbers_are_never_floats() -> None:
    """0.1 is one tenth; and a number beyond all measure is no reason to stop."""
    (data,) = data_in("[0.1, 1e999999, 99999999999999999999, 1e9999999]")

    assert isinstance(data, list)
    assert [type(number) for number in data[:3]] == [Decimal, Decimal, Decimal]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("<think>a</think>b", "b"),
        ("<think>a</think>b<think>c</think>d", "b\nd"),
        ("a</think>b", "b"),
        ("a<think>b</think>c</think>d", "d"),
        ("a<think>b", "a"),
        ("<think>b", ""),
        ("<Thinking>\na\n</Thinking>\n\nb", "b"),
        ("<reasoning>a</reasoning>b", "b"),
        ('{"a": "</think>"}', '{"a": "</think>"}'),
        ('{\n  "a": "<think>"\n}', '{\n  "a": "<think>"\n}'),
        ("<thinks>a</thinks>", "<thinks>a</thinks>"),
    ],
)
def test_thinking_is_no_part_of_the_answer(text: str, expected: str) -> None:
    """Closed, left open, or opened in the prompt; but not where an answer quotes the tag."""
    assert strip_thinking_from_reply(text) == expected
