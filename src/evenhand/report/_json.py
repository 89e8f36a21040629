"""A run as JSON: everything that is known of it, one sample a line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import TextIO

from evenhand.report._figures import Data
from evenhand.report._inert import ACTING


def write_json(head: Data, samples: Iterable[Data], stream: TextIO) -> None:
    """Write one object: the keys of the head, then the samples, streamed."""
    stream.write("{\n")
    for key, value in head.items():
        stream.write(f"{dumped(key)}: {dumped(value)},\n")
    stream.write('"samples": [')
    for place, sample in enumerate(samples):
        stream.write(f"{',' if place else ''}\n{dumped(sample)}")
    stream.write("\n]\n}\n")


def dumped(value: object) -> str:
    """A value as JSON on one line; what would act on a terminal is an escape, which means the same."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:  # Metadata may hold NaN, which JSON has not.
        text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)
    return ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value
