"""Changes of one place in the JSON of a forged run, by chance."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

VALUES: list[object] = [None, "x", -1, [], {}, True, ["x"], {"a": 1}, 1e300, "1/0", "nan"]
Path = tuple[str | int, ...]


def mutate_json(text: str, chance: random.Random, below: tuple[str, ...] = ()) -> str:
    """The text with something else in one of its places; in one below a field of `below`, where it has some of them."""
    data = json.loads(text)
    first = [name for name in below if data.get(name)]
    start: Path = (chance.choice(first),) if first else ()
    inside: Any = data[start[0]] if start else data
    *above, last = chance.choice([*([start] if start else []), *_list_json_paths(inside, start)])
    place: Any = data
    for key in above:
        place = place[key]
    if isinstance(place, dict) and chance.random() < 0.1:
        del place[last]
    else:
        place[last] = chance.choice(VALUES)
    return json.dumps(data)


def _list_json_paths(data: Any, path: Path) -> Iterator[Path]:
    for key, below in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield (*path, key)
        yield from _list_json_paths(below, (*path, key))
