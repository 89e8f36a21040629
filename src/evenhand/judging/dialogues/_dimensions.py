"""Dimensions: three that every task has and one to three that follow from this one, chosen once and locked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction

from evenhand.errors import RubricError
from evenhand.judging._ask import Dialogue, Question, Reading, ask
from evenhand.judging._fence import neutral
from evenhand.judging._form import TEXT, Schema, closed
from evenhand.judging._material import MARKER, MATERIAL, Outline, compose, pieces_of
from evenhand.judging._prompts import Prompts
from evenhand.judging._told import Dimensions, Manner
from evenhand.judging.reading import values_in
from evenhand.model import Criterion, Method, Rubric, exact

FIXED = ("substantiveness", "credibility", "completeness")
LEAST, MOST = 1, 3
LONGEST_QUESTION = 300
LONGEST_ID = 40
KEY = "dimensions"
FORM = (
    '{\n  "dimensions": [\n'
    + "".join(f'    {{"id": "{id}", "asks": "…", "weight": <above 0>}},\n' for id in FIXED)
    + '    {"id": "…", "asks": "…", "weight": <above 0>}\n  ]\n}'
)
SCHEMA: Schema = closed(
    {
        KEY: {
            "type": "array",
            "minItems": len(FIXED) + LEAST,
            "maxItems": len(FIXED) + MOST,
            "items": closed({"id": TEXT, "asks": TEXT, "weight": {"type": "number", "minimum": 0, "maximum": 1}}),
        }
    }
)
_ID = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


def dimensions(task: str, method: Method, manner: Manner) -> Dialogue[Dimensions]:
    """Choose the dimensions of a task: a rubric under a method of bands, the fixed ones marked as such."""
    prompts = manner.prompts
    fixed = "\n".join(f"  - {id}: {prompts.say(id)}" for id in FIXED)
    halves = prompts.fill(
        "dimensions", fixed=fixed, least=str(LEAST), most=str(MOST), form=FORM, marker=MARKER, material=MATERIAL
    )
    outline = Outline(halves=halves, ids=FIXED, schema=SCHEMA)
    request = compose("dimensions", outline, pieces_of(prompts, task), manner)
    (reading,) = yield from ask([Question(request, _reader(method, prompts))], prompts)
    return Dimensions(rubric=reading.items.get(KEY), why_not="" if KEY in reading.items else reading.why_not(KEY))


def _reader(method: Method, prompts: Prompts) -> Callable[[str], Reading[Rubric]]:
    def read(text: str) -> Reading[Rubric]:
        entries = _entries(text)
        if entries is None:
            return Reading(faults={KEY: prompts.say("missing")})
        fault = _fault(entries)
        if fault is None:
            try:
                return Reading(items={KEY: _rubric(entries, method, prompts)}, data=entries)
            except RubricError as error:
                fault = str(error)
        return Reading(faults={KEY: fault})

    return read


def _entries(text: str) -> list[Mapping[str, object]] | None:
    """The last complete list of dimensions in a reply."""
    for value in reversed(values_in(text)):
        data = value.data.get(KEY) if isinstance(value.data, dict) else value.data
        if value.complete and isinstance(data, list) and data and all(isinstance(entry, dict) for entry in data):
            return data
    return None


def _fault(entries: list[Mapping[str, object]]) -> str | None:
    """What is wrong with the list, before it becomes a rubric that checks its own weights."""
    ids = [entry.get("id") for entry in entries]
    texts = [id for id in ids if isinstance(id, str)]
    missing = [id for id in FIXED if id not in texts]
    wrong = [str(id) for id in ids if not isinstance(id, str) or len(id) > LONGEST_ID or not _ID.fullmatch(id)]
    if missing:
        return f"{', '.join(missing)} missing"
    if wrong:
        return f"{wrong[0]!r} is not an id of words joined by hyphens"
    extra = len(entries) - len(FIXED)
    if not LEAST <= extra <= MOST:
        return f"{extra} beside the fixed ones, expected {LEAST} to {MOST}"
    for entry in entries:
        if not isinstance(entry.get("asks"), str) or not str(entry["asks"]).strip():
            return f"{entry['id']} asks nothing"
        if not isinstance(entry.get("weight"), (int, Decimal)) or isinstance(entry.get("weight"), bool):
            return f"the weight of {entry['id']} is not a number"
    return None


def _rubric(entries: list[Mapping[str, object]], method: Method, prompts: Prompts) -> Rubric:
    criteria = []
    for entry in entries:
        id = str(entry["id"])
        fixed = id in FIXED
        # A judge wrote it after reading a stranger's task, and other judges will read it: one short, powerless line.
        asks = prompts.say(id) if fixed else neutral(" ".join(str(entry["asks"]).split()))[:LONGEST_QUESTION]
        weight = _weight(entry["weight"])
        criteria.append(Criterion(id=id, asks=asks, weight=weight, scale=method.criterion_scale, fixed=fixed))
    return Rubric(name="task", method=method, criteria=tuple(criteria))


def _weight(given: object) -> Fraction:
    try:
        return exact(given)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise RubricError(f"a weight that cannot be used: {error}") from None
