"""JSON: all that is known, streamed, and harmless where it is printed."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from evenhand.report.ci_reports import write_junit
from evenhand.report.data_files import write_csv, write_json
from tests.report.example import head, hostile_head, hostile_samples, samples
from tests.report.texts import hostile, with_text


def text_of(whole: dict[str, Any], some: Any) -> str:
    stream = io.StringIO()
    write_json(whole, some, stream)
    return stream.getvalue()


def test_everything_is_in_it() -> None:
    """The head key by key, then the samples, one a line."""
    text = text_of(head(), samples())

    assert json.loads(text) == {**head(), "samples": list(samples())}
    assert sum(line.startswith('{"position"') for line in text.splitlines()) == 24


def test_a_run_without_samples_is_valid_too() -> None:
    """Stopped before the first one."""
    assert json.loads(text_of(head(), []))["samples"] == []


@hostile
def test_every_text_comes_back(text: str) -> None:
    """And none of them acts on a terminal."""
    whole, few = with_text(text)

    written = text_of(whole, few)

    assert json.loads(written) == {**whole, "samples": few}
    assert not set("\x00\x1b\x07\x7f\x9b\u202e\u2066\u2028") & set(written)


def test_half_a_character_comes_back_and_the_file_can_be_written() -> None:
    """As an escape it is plain ASCII."""
    one = {**next(iter(samples(1))), "id": "a\ud800"}

    written = text_of(head(), [one])

    assert json.loads(written.encode())["samples"][0]["id"] == "a\ud800"


def test_what_is_no_number_is_null() -> None:
    """Metadata may hold NaN; JSON may not."""
    one = {**next(iter(samples(1))), "metadata": {"a": float("nan"), "b": [float("inf"), 1.5]}}

    read = json.loads(text_of(head(), [one]), parse_constant=pytest.fail)

    assert read["samples"][0]["metadata"] == {"a": None, "b": [None, 1.5]}


@pytest.mark.parametrize("write", [write_json, write_csv])
def test_samples_are_written_as_they_come(write: Any) -> None:
    """A hundred thousand of them are never held at once."""
    stream = io.StringIO(newline="")
    lengths = []

    def watched() -> Iterator[dict[str, Any]]:
        for one in samples(3):
            lengths.append(len(stream.getvalue()))
            yield one

    write(head(), watched(), stream)

    assert 0 < lengths[0] < lengths[1] < lengths[2]


def test_a_head_with_hostile_texts_is_written_by_all() -> None:
    """None of them trips over a text in a place where a name was expected."""
    written = {}
    for write in (write_json, write_csv, write_junit):
        stream = io.StringIO(newline="")
        write(hostile_head(), hostile_samples(), stream)
        written[write] = stream.getvalue()

    assert len(json.loads(written[write_json])["samples"]) == len(list(hostile_samples()))
    assert "\x1b" not in written[write_csv] + written[write_junit]
