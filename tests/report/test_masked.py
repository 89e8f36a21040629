"""Personal data in a report: masked in every text, and marked places still mark the same words."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evenhand.guards.personal_data import mask_personal_places, move_personal_place
from evenhand.report.report_data import mask_report_sample

MAIL = "jo@example.org"


def sample(text: str, **result: Any) -> dict[str, Any]:
    own = {
        "variant": "new",
        "output": {"text": text, "author": None},
        "findings": [],
        "assertions": [],
        "judgments": [],
    }
    return {"id": "a", "input": f"Ask {MAIL}", "reference": "", "context": "", "results": [{**own, **result}]}


def test_every_text_is_masked_and_names_are_not() -> None:
    """Input, output, reasons and replies: whoever reads the page reads no address."""
    data = mask_report_sample(sample(f"Write to {MAIL}.", judgments=[{"reason": f"names {MAIL}", "evidence": []}]))

    assert MAIL not in str(data)
    assert data["id"] == "a"
    assert data["results"][0]["variant"] == "new"


def test_a_place_behind_a_mask_moves_with_the_text() -> None:
    """Evidence is highlighted where it stands, though the text before it has another length."""
    text = f"Write to {MAIL} for a refund."
    start = text.index("refund")
    quote = {"text": "refund", "start": start, "end": start + 6}

    data = mask_report_sample(sample(text, judgments=[{"reason": "", "evidence": [quote]}]))

    shown, placed = data["results"][0]["output"]["text"], data["results"][0]["judgments"][0]["evidence"][0]
    assert shown[placed["start"] : placed["end"]] == "refund"


def test_places_of_parts_of_an_assertion_move_too() -> None:
    """A set of assertions has parts, each with its own place."""
    text = f"{MAIL} refund"
    part = {"start": text.index("refund"), "end": len(text), "parts": []}

    data = mask_report_sample(sample(text, assertions=[{"start": None, "end": None, "parts": [part]}]))

    placed = data["results"][0]["assertions"][0]["parts"][0]
    assert data["results"][0]["output"]["text"][placed["start"] : placed["end"]] == "refund"


@given(st.lists(st.sampled_from(["word", MAIL, "4111 1111 1111 1111", "ü", " "]), max_size=12))
def test_places_never_leave_the_text_and_never_cross(parts: list[str]) -> None:
    """Whatever is masked, a span stays a span of the masked text."""
    text = " ".join(parts)
    shown, places = mask_personal_places(text)

    starts = [move_personal_place(at, places, end=False) for at in range(len(text) + 1)]
    ends = [move_personal_place(at, places, end=True) for at in range(len(text) + 1)]

    assert starts == sorted(starts)
    assert ends == sorted(ends)
    assert all(0 <= start <= end <= len(shown) for start, end in zip(starts, ends, strict=True))
