"""One sample in a real Chromium: what was asked, the variants side by side, numbers as people say them."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

from tests.report.browser import Opened, Reader
from tests.report.example import head, samples
from tests.report.results import Data


def changed(**of_result: Any) -> Data:
    """The first sample, with parts of all its results replaced."""
    one = next(samples(1))
    return {**one, "results": [{**result, **of_result} for result in one["results"]]}


def shown(reader: Reader, sample: Data, whole: Data | None = None, **context: Any) -> Opened:
    """The panel of a sample that is alone in its report."""
    seen = reader.open(whole or head(), [sample], **context)
    seen.sample("q-001")
    return seen


def test_messages_are_shown_with_who_wrote_them(reader: Reader) -> None:
    """A conversation is the input; the table shows how it ends."""
    messages = [{"role": "system", "text": "Be brief."}, {"role": "user", "text": "Where is my parcel?"}]

    seen = shown(reader, {**changed(), "input": "", "messages": messages})

    assert seen.page.locator("#table td.input").inner_text() == "Where is my parcel?"
    assert seen.page.locator(".asked .message").all_inner_texts() == ["system\nBe brief.", "user\nWhere is my parcel?"]


def test_variants_stand_side_by_side_in_every_repeat(reader: Reader) -> None:
    """Repeats are compared with repeats; on a narrow screen, what was side by side stands below one another."""
    sample = _repeated(changed(), ["old", "new", "other"], repeats=3)

    seen = shown(reader, sample)
    wide = _boxes(seen)
    seen.page.set_viewport_size({"width": 390, "height": 844})
    narrow = _boxes(seen)

    assert seen.page.locator(".repeat > h3").all_inner_texts() == [f"Repeat {n} of 3" for n in (1, 2, 3)]
    assert [len({box["y"] for box in row}) for row in wide] == [1, 1, 1]
    assert all(box["x"] + box["width"] <= 1280 for row in wide for box in row)
    assert all(above["y"] + above["height"] <= below["y"] for row in narrow for above, below in pairwise(row))


def test_a_repeat_that_a_variant_lacks_is_said(reader: Reader) -> None:
    """A run may be stopped between two variants; the others keep their columns."""
    sample = _repeated(changed(), ["old", "new"], repeats=2)
    sample["results"] = [one for one in sample["results"] if (one["variant"], one["repeat"]) != ("old", 1)]

    seen = shown(reader, sample)

    last = seen.page.locator(".repeat").last.locator(".result")
    assert last.locator(".head h3").first.inner_text() == "old"
    assert "no result" in last.first.inner_text()


def _repeated(sample: Data, names: Iterable[str], repeats: int) -> Data:
    results = [{**sample["results"][0], "variant": name, "repeat": n} for name in names for n in range(repeats)]
    return {**sample, "results": results}


def _boxes(seen: Opened) -> list[list[Any]]:
    rows = seen.page.locator(".repeat").all()
    return [[one.bounding_box() for one in row.locator(".result").all()] for row in rows]


@pytest.mark.parametrize(
    ("cost", "milliseconds", "texts"),
    [
        (0.00061, 207.8198769, ["cost $0.0006", "latency 208 ms"]),
        (0.00001, 0.0634, ["cost under $0.0001", "latency under 1 ms"]),
        (1234.5, 12345.6, ["cost $1,234.50", "latency 12.3 s"]),
        (0, 151500, ["cost $0", "latency 152 s"]),
    ],
)
def test_money_and_time_are_written_as_everywhere(
    reader: Reader, cost: float, milliseconds: float, texts: list[str]
) -> None:
    """Three digits tell enough."""
    output = {**changed()["results"][0]["output"], "cost": cost, "latency_ms": milliseconds}

    numbers = shown(reader, changed(output=output)).page.locator(".numbers span").all_inner_texts()

    assert [one for one in texts if one not in numbers] == []


@pytest.mark.parametrize(
    ("found", "passed", "text"),
    [
        ("207.8199 ms", True, "found: 208 ms"),
        ("5123.4567 ms", False, "found: 5120 ms"),
        ("5000.0001 ms", False, "found: 5000.0001 ms"),
    ],
)
def test_an_assertion_says_what_it_looked_for_and_what_it_found(
    reader: Reader, found: str, passed: bool, text: str
) -> None:
    """A latency is shortened, but never to a number that would have had the other result."""
    one = changed()["results"][0]["assertions"][0]
    one |= {"kind": "latency_max", "looked_for": "the output took 5000 ms or less", "found": found, "passed": passed}

    told = shown(reader, changed(assertions=[one])).page.locator(".result").first.locator("li .quiet.prose")

    assert told.all_inner_texts()[:2] == ["looked for: the output took 5000 ms or less", text]


@pytest.mark.parametrize(
    ("scale", "scores", "texts"),
    [("yes/no", [0.0, 1.0, 0.5], ["no", "yes", "0.50"]), ("0 to 1", [0.0, 1.0], ["0.00", "1.00"])],
)
def test_a_question_of_yes_or_no_is_answered_so(
    reader: Reader, scale: str, scores: list[float], texts: list[str]
) -> None:
    """A number is for what was measured on a scale."""
    whole = head()
    for criterion in whole["eval"]["rubrics"][0]["criteria"]:
        criterion["scale"] = scale
    one = changed()["results"][0]["judgments"][0]

    seen = shown(reader, changed(judgments=[{**one, "score": score} for score in scores]), whole)

    answers = seen.page.locator(".result").first.locator(".opinion .line b:last-child")
    assert answers.all_inner_texts() == texts


def test_every_filter_begins_with_any(reader: Reader) -> None:
    """What is not chosen leaves nothing out."""
    page = reader.open(head(), samples(8)).page

    firsts = page.locator("#filters select:not(#sort)").evaluate_all("(all) => all.map((one) => one.options[0].text)")

    assert firsts == ["any"] * 6
    assert page.locator("#assertion option").nth(1).inner_text() == "at least one"


def test_red_flags_and_bonuses_are_told_with_amount_and_reason(reader: Reader) -> None:
    """In the sample's window, and in the table of outputs that they moved; answers to them are yes and no."""
    said = [
        {"kind": "red_flag", "id": "leaks", "why": "a key in line 3", "amount": -0.5, "counted": -0.5, "judge": None},
        {"kind": "bonus", "id": "tested", "why": "", "amount": 0.25, "counted": 0, "judge": None},
    ]
    one = changed()
    result = one["results"][1]
    steps = [{"step": "deduct", "before": 8.0, "after": 7.5, "why": "took off 0.50"}]
    card = {"statements": said, "flags": ["leaks"], "bonuses": ["tested"], "description": "Quite good.", "steps": steps}
    result["scorecard"] |= card | {"score": 7.5}
    judgments = [
        {**result["judgments"][0], "criterion": id, "score": score} for id, score in (("leaks", 1), ("rude", 0))
    ]
    result["judgments"] = judgments
    whole = head(statements=[{"variant": "new", **said[0], "count": 1, "first": "q-001"}])
    asked = [{"kind": "red_flag", "id": id, "asks": "Is it so?"} for id in ("leaks", "rude")]
    whole["eval"]["rubrics"][0] |= {"statements": asked}

    seen = shown(reader, one, whole)

    window = seen.page.locator("dialog .result").nth(1).inner_text()
    assert "leaks −0.50 red flag\na key in line 3" in window
    assert "tested not counted bonus" in window
    assert "B: Quite good." in window
    assert [
        line.split("\n")[-1] for line in seen.page.locator("dialog .result").nth(1).locator(".line").all_inner_texts()
    ] == ["yes", "no"]
    rows = seen.page.locator("#adjusted-table tbody tr").all_inner_texts()
    assert [" ".join(row.split()) for row in rows] == [
        "q-001 new 8.00 leaks −0.50 (a key in line 3); tested not counted 7.50 B"
    ]
    assert seen.page.locator("#statements table").first.inner_text().count("Is it so?") == 1
    assert seen.troubles == []
