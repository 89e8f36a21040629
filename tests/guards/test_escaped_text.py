"""Personal data that characters written as escapes hide: what a text says is masked, not only how it is written."""

import json
import time

import pytest

from evenhand.guards.personal_data import mask_data, mask_personal_data

ADDRESS = "zoe.hidden@example.com"
NUMBER = "536-90-4399"
SAID = {"reason": f"Write to {ADDRESS},\nor call\n{NUMBER}. “Ünd” \\ 💶", "more": [ADDRESS, 7, {ADDRESS: None}]}


def mask(text: str) -> str:
    return str(mask_data(text, mask_personal_data))


def escape(text: str) -> str:
    """As any writer of JSON may write it."""
    return text.replace("@", "\\u0040").replace("536", "\\u0035\\u00336").replace("hidden", "hi\\u0064den")


def read(text: str, deep: int) -> object:
    found: object = text
    for _ in range(deep):
        assert isinstance(found, str)
        found = json.loads(found)
    return found


@pytest.mark.parametrize("deep", [1, 2, 3, 4])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_what_a_reply_in_json_says_is_masked_however_deep(deep: int, ascii_only: bool) -> None:
    """It stays JSON that says the same but for the masks: a reader of it sees what was said."""
    text = escape(json.dumps(SAID, ensure_ascii=ascii_only))
    for _ in range(deep - 1):
        text = json.dumps(text)

    masked = read(mask(text), deep)

    reason = "Write to [•••@•••.com],\nor call\n[••••99]. “Ünd” \\ 💶"
    assert masked == {"reason": reason, "more": ["[•••@•••.com]", 7, {"[•••@•••.com]": None}]}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f'Here: ```json\n{{"a": "{ADDRESS}"}}\n``` "so"', 'Here: ```json\n{"a": "[•••@•••.com]"}\n``` "so"'),
        (f"to {ADDRESS} it goes", "to [•••@•••.com] it goes"),
        (f"'{ADDRESS}'", "'[•••@•••.com]'"),
        (f'{{"a": "it breaks off at {ADDRESS}', '{"a": "it breaks off at [•••@•••.com]'),
        (f'{{"a": "no \\d JSON {ADDRESS}"}}', '{"a": "no d JSON [•••@•••.com]"}'),
        (f'{{"a": "\\ud83d half {ADDRESS}"}}', '{"a": "\\ud83d half [•••@•••.com]"}'),
        (f'{{"{ADDRESS}": 1, "{ADDRESS}": 2}}', '{"[•••@•••.com]": 1, "[•••@•••.com]": 2}'),
    ],
)
def test_what_is_no_whole_json_is_masked_where_escapes_hide_something(text: str, masked: str) -> None:
    """In prose, in a fence, cut, or not quite JSON: nothing is left out, and nothing else is written anew."""
    assert mask(escape(text)) == masked
    assert mask(text.replace("@", "\\\\u005cu0040").replace("hidden", "\\x68idden")).count("•••@•••") == text.count("@")


@pytest.mark.parametrize(
    "text", [r'{"a": "C:\\new\\table", "b": "é 💶"}', r"\frac{1}{2} \u0041 \n", r'"a\u0042" and \"c\"', '"\\', "\\"]
)
def test_a_text_in_which_nothing_personal_is_hidden_stays_as_it_is_written(text: str) -> None:
    """To the letter, whatever it escapes."""
    assert mask(text) == text


@pytest.mark.parametrize(
    "unit",
    ['\\"', "\\u005c", "\\", '"\\n', "u0022\\u005c", "\\u0040a.com "],
)
def test_time_grows_with_the_length_and_no_faster_where_escapes_are_many(unit: str) -> None:
    """A reply of any shape is read in a moment."""
    began = time.process_time()
    mask(f'"{unit * (200_000 // len(unit))}')

    assert time.process_time() - began < 5
