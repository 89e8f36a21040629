"""Maps of judges' scores to people's scale, read from a file of judges and written into one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction

from evenhand.errors import InputError
from evenhand.files.tree import FieldReader, SequenceNode, TreeNode, read_node_number
from evenhand.model.score_map import MAPPED_DECIMALS, ScoreMap

MAP_EXAMPLE = "{judge: openai/NAME, criterion: tone, fingerprint: 0123456789abcdef, points: [[1, 1.4], [5, 4.6]]}"


def read_score_maps(fields: FieldReader) -> Iterator[ScoreMap]:
    """Those under `maps`; what is wrong with one is a fault with its line."""
    for entry, place in fields.items("maps"):
        own = FieldReader(entry, ("judge", "criterion", "fingerprint", "points"), fields.faults, place)
        names = {name: own.text(name) for name in ("judge", "criterion", "fingerprint")}
        for name in (name for name, text in names.items() if not text):
            own.fault(f"a map has a {name}", MAP_EXAMPLE)
        points = [_read_map_point(node) for node, _ in own.items("points")]
        if None in points or not all(names.values()):
            own.fault("a map has points: pairs of numbers", MAP_EXAMPLE, "points")
            continue
        try:
            yield ScoreMap(**{name: str(text) for name, text in names.items()}, points=tuple(filter(None, points)))
        except InputError as error:
            own.fault(error.faults[0].what, error.faults[0].hint, "points")


def _read_map_point(node: TreeNode) -> tuple[Fraction, Fraction] | None:
    if not isinstance(node, SequenceNode) or len(node.items) != 2:
        return None
    pair = [read_node_number(one) for one in node.items]
    return None if any(isinstance(one, str) for one in pair) else (pair[0], pair[1])  # type: ignore[return-value]


def write_score_maps(maps: Sequence[ScoreMap]) -> list[str]:
    """The lines of YAML that hold them; a name in quotes of JSON is the same name in YAML, whatever stands in it."""
    if not maps:
        return []
    lines = ["maps:"]
    for one in maps:
        points = ", ".join(f"[{_write_map_number(said)}, {_write_map_number(people)}]" for said, people in one.points)
        names = {"judge": one.judge, "criterion": one.criterion, "fingerprint": one.fingerprint}
        told = ", ".join(f"{name}: {json.dumps(text)}" for name, text in names.items())
        lines.append(f"  - {{{told}, points: [{points}]}}")
    return lines


def _write_map_number(value: Fraction) -> str:
    return f"{float(value):.{MAPPED_DECIMALS}f}".rstrip("0").rstrip(".")
