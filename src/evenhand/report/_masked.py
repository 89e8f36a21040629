"""A sample for readers: personal data masked in every text, and the places inside outputs moved along."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from evenhand.guards import hidden, hider, masked, personal

Json = dict[str, Any]


class Masked:
    """One sample of a report on its way to a reader."""

    def __init__(self, sample: Json) -> None:
        self._sample = sample
        outputs = [one["output"]["text"] for one in sample["results"] if one["output"]]
        self._hide = hider([sample["input"], sample["reference"], sample["context"], *outputs])

    def data(self) -> Json:
        """The sample with every text masked."""
        own = {name: hidden(value, self._hide) for name, value in self._sample.items() if name != "results"}
        return {**own, "results": [self._result(one) for one in self._sample["results"]]}

    def _result(self, result: Json) -> Json:
        shown: Json = hidden({**result, "output": None}, self._hide)  # type: ignore[assignment]
        output = result["output"]
        if output is None:
            return shown
        text, places = masked_with_places(output["text"])
        rest: Json = hidden({**output, "text": ""}, self._hide)  # type: ignore[assignment]
        for one in (*shown["findings"], *_all_parts(shown["assertions"]), *_quotes(shown["judgments"])):
            _move(one, places)
        return {**shown, "output": {**rest, "text": text}}


def masked_with_places(text: str) -> tuple[str, list[tuple[int, int, int, int]]]:
    """The masked text, and for each masked passage its old start and end and its new ones."""
    parts, places, last, length = [], [], 0, 0
    for one in personal(text):
        parts += [text[last : one.start], one.text]
        start = length + one.start - last
        length = start + len(one.text)
        places.append((one.start, one.end, start, length))
        last = one.end
    shown = "".join((*parts, text[last:]))
    again = masked(shown)  # What a mask no longer stands against may show: rare, and then places are not told.
    return again, places if again == shown else [(0, len(text), 0, len(again))]


def moved(at: int, places: list[tuple[int, int, int, int]], *, end: bool) -> int:
    """Where a place in the text is after masking; inside a mask it is the edge of the mask."""
    found = bisect_right(places, at, key=lambda place: place[0]) - 1
    if found < 0:
        return at
    _, old_end, start, new_end = places[found]
    if at >= old_end:
        return at - old_end + new_end
    return new_end if end and at > places[found][0] else start


def _move(one: Json, places: list[tuple[int, int, int, int]]) -> None:
    if places and one.get("start") is not None and one.get("end") is not None:
        one["start"], one["end"] = moved(one["start"], places, end=False), moved(one["end"], places, end=True)


def _all_parts(assertions: list[Json]) -> list[Json]:
    return [part for one in assertions for part in (one, *_all_parts(one.get("parts") or []))]


def _quotes(judgments: list[Mapping[str, Any]]) -> list[Json]:
    return [quote for one in judgments for quote in one["evidence"]]
