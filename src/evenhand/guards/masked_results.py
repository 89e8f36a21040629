"""Personal data masked in a result, with the places that findings and quotations name moved to where they are then."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from evenhand.guards.personal_data import TextMask, find_personal_data, mask_data, mask_personal_data

ResultJson = dict[str, Any]
MaskedPlaces = list[tuple[int, int, int, int]]


def mask_personal_result(result: ResultJson, hide: TextMask) -> ResultJson:
    """A result, as it is stored or reported, with every text masked."""
    shown: ResultJson = mask_data({**result, "output": None}, hide)  # type: ignore[assignment]
    output = result["output"]
    if output is None:
        return shown
    text, places = mask_personal_places(output["text"])
    rest: ResultJson = mask_data({**output, "text": "", "trace": None}, hide)  # type: ignore[assignment]
    quotes = [quote for one in shown["judgments"] for quote in one["evidence"]]
    cut = [quote for quote in quotes if _touches_personal_place(quote, places)]  # Judges may cut inside a value.
    for one in (*shown["findings"], *_flatten_masked_assertions(shown["assertions"]), *quotes):
        if places and one.get("start") is not None and one.get("end") is not None:
            one["start"] = move_personal_place(one["start"], places, end=False)
            one["end"] = move_personal_place(one["end"], places, end=True)
    for quote in cut:
        quote["text"] = text[quote["start"] : quote["end"]]
    kept = {name: output[name] for name in ("author", "cost") if name in output}
    trace = {"trace": mask_every_text(output["trace"], hide)} if "trace" in output else {}
    return {**shown, "output": {**rest, **kept, **trace, "text": text}}


def mask_every_text(data: object, hide: TextMask) -> object:
    """Somebody else's data with every text in it masked: keys too, and numbers that are personal when written."""
    if isinstance(data, str):
        return mask_data(data, hide)
    if isinstance(data, dict):
        return {str(mask_data(str(key), hide)): mask_every_text(value, hide) for key, value in data.items()}
    if isinstance(data, list):
        return [mask_every_text(value, hide) for value in data]
    if isinstance(data, (int, float)) and not isinstance(data, bool) and (masked := hide(str(data))) != str(data):
        return masked
    return data


def mask_personal_places(text: str) -> tuple[str, MaskedPlaces]:
    """The masked text, and for each masked passage its old start and end and its new ones."""
    parts, places, last, length = [], [], 0, 0
    for one in find_personal_data(text):
        parts += [text[last : one.start], one.text]
        start = length + one.start - last
        length = start + len(one.text)
        places.append((one.start, one.end, start, length))
        last = one.end
    shown = "".join((*parts, text[last:]))
    again = mask_personal_data(shown)  # May find more once masks stand in it: rare, and then places are not told.
    return again, places if again == shown else [(0, len(text), 0, len(again))]


def move_personal_place(at: int, places: MaskedPlaces, *, end: bool) -> int:
    """Where a place in the text is after masking; inside a mask it is the edge of the mask."""
    found = bisect_right(places, at, key=lambda place: place[0]) - 1
    if found < 0:
        return at
    _, old_end, start, new_end = places[found]
    if at >= old_end:
        return at - old_end + new_end
    return new_end if end and at > places[found][0] else start


def _touches_personal_place(quote: ResultJson, places: MaskedPlaces) -> bool:
    start, end = quote.get("start"), quote.get("end")
    if start is None or end is None:
        return False
    return any(first < end and start < after for first, after, *_ in places)


def _flatten_masked_assertions(assertions: list[ResultJson]) -> list[ResultJson]:
    return [part for one in assertions for part in (one, *_flatten_masked_assertions(one.get("parts") or []))]
