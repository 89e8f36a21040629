"""What makes the scores of two runs incomparable: judges, prompts, criteria, steps, assertions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from evenhand.evals.eval_scoring import SAMPLE_RUBRIC_PREFIX, name_sample_rubric_criterion
from evenhand.runs.run_record import find_run_rubric_key, read_composite_record

SetupData = Mapping[str, Any]
_CRITERION_FIELDS = ("id", "asks", "weight", "scale")  # Fields of a criterion that are told from the frame.
# Characters that are shown of a text, and of what two texts share before they differ.
LONGEST_SHOWN_TEXT, SHARED_TEXT_SHOWN = 40, 12
_FRACTION_TEXT = re.compile(r"-?[0-9]{1,30}/[1-9][0-9]{0,29}")
_RUN_FIELDS = ("control", "repeats", "smallest_effect", "count_borderline")
_FIELDS_WITHOUT_EFFECT = ("name", "about", "tags", "environment", "criteria")  # Names change no score.


def list_setup_differences(first: SetupData, second: SetupData) -> list[str]:
    """What differs in the setups of two runs, of all that decides a score; empty where nothing was kept of it."""
    ours, theirs = first["prompts"], second["prompts"]
    return [
        *_compare_setups_by_judges(first["judges"], second["judges"]),
        *(
            f"prompt {name}: {'removed' if name not in theirs else 'changed' if name in ours else 'added'}"
            for name in sorted(ours.keys() | theirs.keys())
            if ours.get(name) != theirs.get(name)
        ),
        *_compare_rubrics_of_setups(first, second),
        *_compare_setups_by_assertions(first, second),
        *_compare_setup_fields("composite", _compared_setup_composite(first), _compared_setup_composite(second)),
        *_compare_setup_fields("how", {"refuse": first["how"]["refuse"]}, {"refuse": second["how"]["refuse"]}),
    ]


def list_compared_run_differences(first: SetupData, second: SetupData) -> list[str]:
    """Why a run is not continued by another: what differs in their setups, and if nothing does, the samples."""
    ours, theirs = first["frame"], second["frame"]
    fields = [{name: frame.get(name) for name in _RUN_FIELDS} for frame in (ours, theirs)]
    how = [_compared_setup_without(one["how"], ("refuse",)) for one in (first, second)]
    found = [
        *list_setup_differences(first, second),
        *_compare_setups_by_variants(first["variants"], second["variants"]),
        *(f"{part} changed" for part in ("gates", "guards") if ours.get(part) != theirs.get(part)),
        *_compare_setup_fields("eval", *fields),
        *_compare_setup_fields("how", *how),
    ]
    # Where the program of a variant lies is not kept with a run.
    programs = any(one.keys() & {"command", "python"} for one in second["variants"].values())
    return found or ["samples, or the folder of a program" if programs else "samples"]


def _compare_setups_by_variants(first: SetupData, second: SetupData) -> Iterator[str]:
    for name in {**first, **second}:
        if first.get(name) != second.get(name):
            yield f"variant {name}: {'removed' if name not in second else 'changed' if name in first else 'added'}"


def _compare_setups_by_judges(first: Iterable[SetupData], second: Iterable[SetupData]) -> Iterator[str]:
    ours, theirs = ({one["name"]: one for one in judges} for judges in (first, second))
    if list(ours) != list(theirs):
        word = "judge" if len(ours) == len(theirs) == 1 else "judges"
        yield f"{word}: {', '.join(ours) or 'none'} → {', '.join(theirs) or 'none'}"
    for name in ours.keys() & theirs.keys():
        yield from _compare_setup_fields(f"judge {name}", ours[name], theirs[name])


def _compare_rubrics_of_setups(first: SetupData, second: SetupData) -> Iterator[str]:
    ours, theirs = ({find_run_rubric_key(one): one for one in setup["frame"]["rubrics"]} for setup in (first, second))
    for tag in ours.keys() | theirs.keys():
        own = tag.removeprefix(SAMPLE_RUBRIC_PREFIX)
        of = f"rubric {own} of samples" if own != tag else f"rubric for {tag}" if tag else "rubric"
        if tag not in ours or tag not in theirs:
            yield f"{of}: {'removed' if tag in ours else 'added'}"
            continue
        # Each rubric as it was scored by and as judges were asked by it: one that was scored anew has two.
        shown, new_shown = ours[tag], theirs[tag]
        whole, new_whole = (setup["rubrics"].get(tag, {}) for setup in (first, second))
        if shown["method"] != new_shown["method"]:
            yield f"method: {shown['method']} → {new_shown['method']}"
        yield from _compare_criteria(shown, whole, new_shown, new_whole)
        yield from _compare_rubrics_beside_criteria(of, whole, new_whole)


def _compare_criteria(shown: SetupData, whole: SetupData, new_shown: SetupData, new_whole: SetupData) -> Iterator[str]:
    ours, theirs = ({one["id"]: one for one in rubric["criteria"]} for rubric in (shown, new_shown))
    key = find_run_rubric_key(shown)
    asked, new_asked = (
        {name_sample_rubric_criterion(key, one["id"]): one for one in _compared_setup_criteria(rubric)}
        for rubric in (whole, new_whole)
    )
    for id in {**ours, **theirs}:
        if id not in ours or id not in theirs:
            yield f"criterion {id}: {'removed' if id in ours else 'added'}"
            continue
        told = [name for name in _CRITERION_FIELDS if name != "id"]
        yield from _compare_setup_fields(
            f"criterion {id}", {name: ours[id][name] for name in told}, {name: theirs[id][name] for name in told}
        )
        one, other = asked.get(id), new_asked.get(id)
        if one is not None and other is not None:
            yield from _compare_setup_fields(
                f"criterion {id}",
                _compared_setup_without(one, _CRITERION_FIELDS),
                _compared_setup_without(other, _CRITERION_FIELDS),
            )


def _compared_setup_criteria(rubric: SetupData) -> Iterator[SetupData]:
    for one in rubric.get("criteria") or ():
        yield one
        yield from _compared_setup_criteria(one)


def _compare_rubrics_beside_criteria(of: str, whole: SetupData, new_whole: SetupData) -> Iterator[str]:
    """What a rubric has beside its criteria, and the steps of its method."""
    for part, one, other in (
        (
            of,
            _compared_setup_without(whole, ("method", "gates")),
            _compared_setup_without(new_whole, ("method", "gates")),
        ),
        ("method", whole.get("method") or {}, new_whole.get("method") or {}),
    ):
        yield from _compare_setup_fields(
            part,
            _compared_setup_without(one, _FIELDS_WITHOUT_EFFECT),
            _compared_setup_without(other, _FIELDS_WITHOUT_EFFECT),
        )
    gates = [sorted(json.dumps(gate, sort_keys=True) for gate in one.get("gates") or ()) for one in (whole, new_whole)]
    if gates[0] != gates[1]:
        yield f"{of}: gates changed"


_ASSERTION_WEIGHT = ("weight",)  # Assertions that differ in this alone are the same one, changed.


def _compare_setups_by_assertions(first: SetupData, second: SetupData) -> Iterator[str]:
    """What asks for the same is one assertion, however it is weighed; the rest was removed or added."""
    removed, added = (
        _list_compared_assertion_differences(first, second),
        _list_compared_assertion_differences(second, first),
    )
    for title, one in list(removed):
        asks = _compared_setup_without(one, _ASSERTION_WEIGHT)
        same = next((it for it in added if _compared_setup_without(it[1], _ASSERTION_WEIGHT) == asks), None)
        if same is not None:
            removed.remove((title, one))
            added.remove(same)
            yield from _compare_setup_fields(f"assertion {same[0]}", one, same[1])
    yield from (f"assertion removed: {title}" for title, _ in removed)
    yield from (f"assertion added: {title}" for title, _ in added)


def _list_compared_assertion_differences(setup: SetupData, other: SetupData) -> list[tuple[str, SetupData]]:
    """The assertions that the other setup does not have in just this way, as often as it lacks them, by title."""
    titles, kept = setup["frame"]["assertions"], setup["assertions"]
    rest = list(other["assertions"])
    unshared = []
    for title, one in zip(titles if len(titles) == len(kept) else ["?"] * len(kept), kept, strict=True):
        if one in rest:
            rest.remove(one)
        else:
            unshared.append((title, one))
    return unshared


def _compared_setup_composite(setup: SetupData) -> SetupData:
    return read_composite_record(setup["frame"].get("composite") or {}).list_changes()


def _compare_setup_fields(part: str, one: SetupData, other: SetupData) -> Iterator[str]:
    for name in {**one, **other}:
        before, after = one.get(name), other.get(name)
        # What a run kept before there was such a field is a run without it.
        unset = all(value is None or value is False for value in (before, after))
        if before != after and not unset:
            short = _shorten_compared_setup_values(before, after)
            yield f"{part}: {name} {short[0]} → {short[1]}" if all(short) else f"{part}: {name} changed"


def _shorten_compared_setup_values(before: object, after: object) -> tuple[str, str]:
    """Two values as they fit into a sentence, from where they differ; empty where one is more than a text."""
    one, other = _compared_setup_value_text(before), _compared_setup_value_text(after)
    if not one or not other:
        return "", ""
    pairs = enumerate(zip(one, other, strict=False))
    same = next((place for place, (ours, theirs) in pairs if ours != theirs), min(len(one), len(other)))
    start = max(0, same - SHARED_TEXT_SHOWN) if max(len(one), len(other)) > LONGEST_SHOWN_TEXT else 0
    return _cut_compared_setup_text(one, start), _cut_compared_setup_text(other, start)


def _compared_setup_value_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str) and _FRACTION_TEXT.fullmatch(value):
        return f"{float(Fraction(value)):.6g}"
    if isinstance(value, str):
        return " ".join(value.split())
    return "none" if value is None else str(value) if isinstance(value, int) else ""


def _cut_compared_setup_text(text: str, start: int) -> str:
    end = start + LONGEST_SHOWN_TEXT
    cut = ("…" if start else "") + text[start:end] + ("…" if len(text) > end else "")
    return f'"{cut}"' if " " in text else cut


def _compared_setup_without(data: SetupData, names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in set(names)}
