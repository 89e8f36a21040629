"""Personal data on its way to a reader: what the guard found in the texts of a sample is shown masked."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from evenhand.guards import masked, personal
from evenhand.model import Sample

Hide = Callable[[str], str]


def hider_for(sample: Sample) -> Hide:
    """What to put every text through that is shown about a sample."""
    return hider([*sample.outputs.values(), sample.input, sample.reference, sample.context])


def hider(texts: Iterable[str]) -> Hide:
    """What to put every shown text through; where there is no personal data it changes nothing."""
    values = {text[one.start : one.end]: one.text for text in texts for one in personal(text)}
    if not values:
        return str
    longest_first = sorted(values, key=len, reverse=True)

    def hide(text: str) -> str:
        for value in longest_first:
            text = text.replace(value, values[value])
        return masked(text)  # A judge may have written it in another form.

    return hide


def hidden(data: object, hide: Hide) -> object:
    """Data with every text in it put through; keys stay as they are."""
    if isinstance(data, str):
        return hide(data)
    if isinstance(data, dict):
        return {key: hidden(value, hide) for key, value in data.items()}
    if isinstance(data, list):
        return [hidden(value, hide) for value in data]
    return data
