"""Personal data on its way to a reader: what the guard found in the texts of a sample is shown masked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from evenhand.guards._personal import masked, personal
from evenhand.model import Sample

Hide = Callable[[str], str]
SHORTEST = 6  # Characters: less of a value gives nobody away.
# Under these keys stand names by which one thing is told from another.
NAMES = frozenset({"id", "output", "file", "fingerprint", "judge", "model", "request_id", "criterion", "rule", "guard"})


def hider_for(sample: Sample) -> Hide:
    """What to put every text through that is shown about a sample."""
    return hider([*sample.outputs.values(), sample.input, sample.reference, sample.context])


def hider(texts: Iterable[str]) -> Hide:
    """What to put every shown text through: values that these texts hold, and whatever else reads like one."""
    values = {text[one.start : one.end]: one.text for text in texts for one in personal(text)}
    parts = {part: hidden for value, hidden in values.items() for part in _parts(value)}
    longest_first = sorted(parts, key=len, reverse=True)

    def hide(text: str) -> str:
        for part in longest_first:
            text = text.replace(part, parts[part])
        return masked(text)  # A judge may have written it in another form, or have brought its own.

    return hide


def _parts(value: str) -> Iterator[str]:
    """A value, and what is left of it where a passage was cut inside it."""
    least = max(SHORTEST, len(value) * 2 // 3)
    yield from (value[:end] for end in range(least, len(value) + 1))
    yield from (value[start:] for start in range(1, len(value) - least + 1))


def hidden(data: object, hide: Hide) -> object:
    """Data with every text in it put through; keys and what stands under names stay as they are."""
    if isinstance(data, str):
        return hide(_unescaped(data))
    if isinstance(data, dict):
        return {key: value if key in NAMES else hidden(value, hide) for key, value in data.items()}
    if isinstance(data, list):
        return [hidden(value, hide) for value in data]
    return data


def _unescaped(text: str) -> str:
    """A reply in JSON with its escaped letters written out, so that what they spell is seen."""
    if "\\u" not in text:
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
