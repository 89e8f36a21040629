"""Reading scales, anchors and score ranges."""

from __future__ import annotations

import re
from fractions import Fraction

from evenhand.errors import Fault, Path, RubricError
from evenhand.loading._fields import Fields, described, is_null, number_in
from evenhand.loading._tree import Mapping, Node, Scalar, Sequence
from evenhand.model import YES_NO, Anchor, Band, Scale, exact

SCALE_FIELDS = ("min", "max", "integers", "bands")
_SPAN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:-|–|to)\s*(\d+(?:\.\d+)?)\s*")
_WORDS = {"yes": Fraction(1), "true": Fraction(1), "no": Fraction(0), "false": Fraction(0)}


def read_scale(node: Node, faults: list[Fault], path: Path) -> Scale | None:
    """A scale: yes/no, 1-10, or {min, max, integers, bands}."""
    if isinstance(node, Scalar):
        if node.text.lower() in ("yes/no", "yes-no"):
            return YES_NO
        span = span_in(node.text)
        if span:
            return _born(faults, path, min=span[0], max=span[1])
        faults.append(Fault(f"{described(node)} is not a scale", "try yes/no, 1-10 or {min: 0, max: 100}", path))
        return None
    fields = Fields(node, SCALE_FIELDS, faults, path)
    bands = tuple(_bands(fields))
    low, high = fields.number("min"), fields.number("max")
    if bands and low is None and high is None:
        low, high = min(band.min for band in bands), max(band.max for band in bands)
    if low is None or high is None:
        if isinstance(node, Mapping):
            fields.fault("a scale needs min and max")
        return None
    return _born(faults, path, min=low, max=high, integers=fields.boolean("integers") or bool(bands), bands=bands)


def span_in(text: str) -> tuple[Fraction, Fraction] | None:
    """The two ends in a text such as "9-10"."""
    found = _SPAN.fullmatch(text)
    return (Fraction(found[1]), Fraction(found[2])) if found and len(text) < 40 else None


def read_anchors(fields: Fields, scale: Scale) -> tuple[Anchor, ...]:
    """The texts that pin levels: by number, by stretch ("9-10"), by band, or by yes and no."""
    anchors = []
    for key, value, path in fields.pairs("anchors"):
        span = _level(key, scale)
        if span is None:
            fields.faults.append(Fault(f"{key!r} is not a level of the scale {scale}", "", path))
        elif not isinstance(value, Scalar) or is_null(value):
            fields.faults.append(Fault(f"an anchor is a text, got {described(value)}", "", path))
        else:
            anchors.append(Anchor(min=span[0], max=span[1], text=value.text))
    return tuple(anchors)


def read_ranges(fields: Fields) -> tuple[Anchor, ...] | None:
    """Score ranges over 0 to 10: a map of lower bounds, or a list of {score_range, expected_outcome}."""
    node = fields.node("score_ranges")
    if node is None:
        return None
    if isinstance(node, Mapping) and node.items:
        ranges = _range_map(fields)
    elif isinstance(node, Sequence) and node.items:
        ranges = [
            found for entry, path in fields.items("score_ranges") if (found := _range(entry, fields.faults, path))
        ]
        if len(ranges) < len(node.items):
            return None
    else:
        fields.fault("score_ranges must be a map of lower bounds or a list of ranges", "", "score_ranges")
        return None
    wrong = _uncovered(sorted(ranges, key=lambda anchor: anchor.min)) if ranges else None
    if wrong:
        fields.fault(wrong, "ranges cover 0 to 10 in whole numbers, without overlap or gap", "score_ranges")
    return tuple(ranges)


def _born(faults: list[Fault], path: Path, **parts: object) -> Scale | None:
    try:
        return Scale(**parts)  # type: ignore[arg-type]
    except RubricError as error:
        faults.extend(error.within(*path).faults)
        return None


def _bands(fields: Fields) -> list[Band]:
    bands = []
    for key, value, path in fields.pairs("bands"):
        ends = [number_in(item) for item in value.items] if isinstance(value, Sequence) else []
        if len(ends) != 2 or any(isinstance(end, str) or end.denominator != 1 for end in ends):
            fields.faults.append(Fault(f"band {key!r} needs two whole numbers, as in [90, 100]", "", path))
        else:
            bands.append(Band(id=key, min=exact(ends[0]), max=exact(ends[1])))  # type: ignore[arg-type]
    return bands


def _level(key: str, scale: Scale) -> tuple[Fraction, Fraction] | None:
    band = next((band for band in scale.bands if band.id == key), None)
    if band:
        return band.min, band.max
    if scale.yes_no and key.lower() in _WORDS:
        return _WORDS[key.lower()], _WORDS[key.lower()]
    number = number_in(Scalar(key))
    return span_in(key) if isinstance(number, str) else (number, number)


def _range_map(fields: Fields) -> list[Anchor]:
    starts: list[tuple[Fraction, str]] = []
    for key, value, path in fields.pairs("score_ranges"):
        number = number_in(Scalar(key))
        if isinstance(number, str) or number.denominator != 1 or not 0 <= number <= 10:
            fields.faults.append(Fault(f"{key!r} is not a whole number from 0 to 10", "", path))
        elif not isinstance(value, Scalar) or is_null(value):
            fields.faults.append(Fault(f"a range is described by a text, got {described(value)}", "", path))
        else:
            starts.append((number, value.text))
    starts.sort()
    if not starts:
        return []
    ends = [start - 1 for start, _ in starts[1:]] + [Fraction(10)]
    return [Anchor(min=low, max=high, text=text) for (low, text), high in zip(starts, ends, strict=True)]


def _range(node: Node, faults: list[Fault], path: Path) -> Anchor | None:
    fields = Fields(node, ("score_range", "expected_outcome", "description", "asks"), faults, path)
    ends = [number_in(entry) for entry, _ in fields.items("score_range")]
    text = fields.text("expected_outcome", "description", "asks")
    if len(ends) != 2 or any(isinstance(end, str) or end.denominator != 1 or not 0 <= end <= 10 for end in ends):
        fields.fault("score_range needs two whole numbers from 0 to 10, as in [0, 2]", "", "score_range")
        return None
    if text is None:
        if "expected_outcome" not in fields:
            fields.fault("a range needs expected_outcome")
        return None
    return Anchor(min=exact(ends[0]), max=exact(ends[1]), text=text)  # type: ignore[arg-type]


def _uncovered(ranges: list[Anchor]) -> str | None:
    """What is wrong with sorted ranges that should cover 0 to 10."""
    expected = Fraction(0)
    for entry in ranges:
        if entry.max < entry.min:
            return f"the range {entry.min}–{entry.max} runs backwards"
        if entry.min < expected:
            return f"the ranges overlap at {entry.min}"
        if entry.min > expected:
            last = entry.min - 1
            return f"the ranges leave a gap at {expected}" + (f"–{last}" if last > expected else "")
        expected = entry.max + 1
    return None if expected == 11 else f"the ranges end at {expected - 1}, not at 10"
