"""What makes the scores of two runs incomparable, named part by part: judges, prompts, criteria, steps, assertions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

Data = Mapping[str, Any]
_TOLD = ("id", "asks", "weight", "scale")  # Fields of a criterion that are told from the frame.
LONGEST, LEAD = 40, 12  # Characters that are shown of a text, and of what two texts share before they differ.
_RATIO = re.compile(r"-?\d+/[1-9]\d*")
_FOR_READERS = ("name", "about", "tags", "environment", "criteria")  # Names change no score.


def differences(first: Data, second: Data) -> list[str]:
    """What differs in the setups of two runs, of all that decides a score; empty where nothing was kept of it."""
    return [
        *_judges(first["judges"], second["judges"]),
        *_prompts(first["prompts"], second["prompts"]),
        *_rubrics(first, second),
        *_assertions(first, second),
        *_changed("how", {"refuse": first["how"]["refuse"]}, {"refuse": second["how"]["refuse"]}),
    ]


def _judges(first: Iterable[Data], second: Iterable[Data]) -> Iterator[str]:
    ours, theirs = ({one["name"]: one for one in judges} for judges in (first, second))
    if list(ours) != list(theirs):
        word = "judge" if len(ours) == len(theirs) == 1 else "judges"
        yield f"{word}: {', '.join(ours) or 'none'} → {', '.join(theirs) or 'none'}"
    for name in ours.keys() & theirs.keys():
        yield from _changed(f"judge {name}", ours[name], theirs[name])


def _prompts(first: Data, second: Data) -> Iterator[str]:
    for name in sorted(first.keys() | second.keys()):
        if first.get(name) != second.get(name):
            word = "changed" if name in first and name in second else "removed" if name in first else "added"
            yield f"prompt {name}: {word}"


def _rubrics(first: Data, second: Data) -> Iterator[str]:
    ours, theirs = (_by_tag(setup) for setup in (first, second))
    for tag in ours.keys() | theirs.keys():
        of = f"rubric for {tag}" if tag else "rubric"
        if tag not in ours or tag not in theirs:
            yield f"{of}: {'removed' if tag in ours else 'added'}"
            continue
        (shown, whole), (new_shown, new_whole) = ours[tag], theirs[tag]
        if shown["method"] != new_shown["method"]:
            yield f"method: {shown['method']} → {new_shown['method']}"
        yield from _criteria(shown, whole, new_shown, new_whole)
        yield from _rest(of, whole, new_whole)


def _by_tag(setup: Data) -> dict[str, tuple[Data, Data]]:
    """Each rubric as it was scored by and as judges were asked by it: one that was scored anew has two."""
    shown = {one["tags"][0] if one["tags"] else "": one for one in setup["frame"]["rubrics"]}
    return {tag: (one, setup["rubrics"].get(tag, {})) for tag, one in shown.items()}


def _criteria(shown: Data, whole: Data, new_shown: Data, new_whole: Data) -> Iterator[str]:
    ours, theirs = ({one["id"]: one for one in rubric["criteria"]} for rubric in (shown, new_shown))
    asked, new_asked = ({one["id"]: one for one in _leaves(rubric)} for rubric in (whole, new_whole))
    for id in {**ours, **theirs}:
        if id not in ours or id not in theirs:
            yield f"criterion {id}: {'removed' if id in ours else 'added'}"
            continue
        told = [name for name in _TOLD if name != "id"]
        yield from _changed(
            f"criterion {id}", {name: ours[id][name] for name in told}, {name: theirs[id][name] for name in told}
        )
        one, other = asked.get(id), new_asked.get(id)
        if one is not None and other is not None:
            yield from _changed(f"criterion {id}", _without(one, _TOLD), _without(other, _TOLD))


def _leaves(rubric: Data) -> Iterator[Data]:
    for one in rubric.get("criteria") or ():
        yield one
        yield from _leaves(one)


def _rest(of: str, whole: Data, new_whole: Data) -> Iterator[str]:
    """What a rubric has beside its criteria, and the steps of its method."""
    for part, one, other in (
        (of, _without(whole, ("method", "gates")), _without(new_whole, ("method", "gates"))),
        ("method", whole.get("method") or {}, new_whole.get("method") or {}),
    ):
        yield from _changed(part, _without(one, _FOR_READERS), _without(other, _FOR_READERS))
    gates = [sorted(json.dumps(gate, sort_keys=True) for gate in one.get("gates") or ()) for one in (whole, new_whole)]
    if gates[0] != gates[1]:
        yield f"{of}: gates changed"


def _assertions(first: Data, second: Data) -> Iterator[str]:
    ours, theirs = (
        {json.dumps(one, sort_keys=True): title for one, title in zip(setup["assertions"], _titles(setup), strict=True)}
        for setup in (first, second)
    )
    yield from (f"assertion removed: {title}" for key, title in ours.items() if key not in theirs)
    yield from (f"assertion added: {title}" for key, title in theirs.items() if key not in ours)


def _titles(setup: Data) -> list[str]:
    titles = list(setup["frame"]["assertions"])
    return titles if len(titles) == len(setup["assertions"]) else ["?"] * len(setup["assertions"])


def _changed(part: str, one: Data, other: Data) -> Iterator[str]:
    for name in {**one, **other}:
        before, after = one.get(name), other.get(name)
        if before != after:
            short = _shown(before, after)
            yield f"{part}: {name} {short[0]} → {short[1]}" if all(short) else f"{part}: {name} changed"


def _shown(before: object, after: object) -> tuple[str, str]:
    """Two values as they fit into a sentence, from where they differ; empty where one is more than a text."""
    one, other = _text(before), _text(after)
    if not one or not other:
        return "", ""
    pairs = enumerate(zip(one, other, strict=False))
    same = next((place for place, (ours, theirs) in pairs if ours != theirs), min(len(one), len(other)))
    start = max(0, same - LEAD) if max(len(one), len(other)) > LONGEST else 0
    return _cut(one, start), _cut(other, start)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str) and _RATIO.fullmatch(value):
        return f"{float(Fraction(value)):.6g}"
    if isinstance(value, str):
        return " ".join(value.split())
    return "none" if value is None else str(value) if isinstance(value, int) else ""


def _cut(text: str, start: int) -> str:
    end = start + LONGEST
    cut = ("…" if start else "") + text[start:end] + ("…" if len(text) > end else "")
    return f'"{cut}"' if " " in text else cut


def _without(data: Data, names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in set(names)}
