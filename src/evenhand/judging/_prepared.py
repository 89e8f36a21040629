"""Prompts made ready for a rubric: worked out once, used for every output."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.judging._form import (
    Group,
    Schema,
    bands_text,
    closed,
    criteria_text,
    form_text,
    groups_of,
    judged,
    schema_of,
    statements_text,
)
from evenhand.judging._material import MARKER, MATERIAL, Outline
from evenhand.judging._prompts import Prompts
from evenhand.judging.reading import Wanted
from evenhand.model import YES_NO, Criterion, Kept, Rubric, Statement


@dataclass(frozen=True, slots=True)
class Prepared:
    """The outline of a prompt and the groups of questions it asks."""

    outline: Outline
    groups: tuple[Group, ...]


_KEPT: Kept[Prepared] = Kept()
_KEPT_EACH: Kept[tuple[Prepared, ...]] = Kept()


def whole(rubric: Rubric, prompts: Prompts, name: str) -> Prepared:
    """All questions of a rubric in one prompt."""
    return _KEPT.get((rubric, prompts, name), lambda: _whole(rubric, prompts, name))


def listed(rubric: Rubric, prompts: Prompts, labels: tuple[str, ...]) -> Prepared:
    """All questions of a rubric about each of several outputs, in one prompt."""
    return _KEPT.get((rubric, prompts, "listwise", *labels), lambda: _listed(rubric, prompts, labels))


def one_by_one(rubric: Rubric, prompts: Prompts, name: str) -> tuple[Prepared, ...]:
    """A prompt for each question of a rubric."""
    return _KEPT_EACH.get((rubric, prompts, name), lambda: tuple(_each(rubric, prompts, name)))


def _whole(rubric: Rubric, prompts: Prompts, name: str) -> Prepared:
    advises = name == "individual"
    groups = groups_of(rubric, more=("feedback",) if advises else ())
    form, schema = form_text(groups, prompts), schema_of(groups)
    if advises:
        form = form.removesuffix("\n}") + ",\n" + SUGGESTIONS_FORM + "\n}"
        schema = closed({**schema["properties"], ADVICE: SUGGESTIONS})
    halves = _filled(rubric, prompts, name, judged(rubric), form, statements_text(rubric, prompts))
    return Prepared(Outline(halves=halves, ids=_ids(groups), schema=schema, asked=_asked(rubric)), groups)


def _listed(rubric: Rubric, prompts: Prompts, labels: tuple[str, ...]) -> Prepared:
    groups = groups_of(rubric)
    one = form_text(groups, prompts).replace("\n", "\n    ")
    form = '{\n  "responses": {\n' + ",\n".join(f'    "{label}": {one}' for label in labels) + "\n  }\n}"
    schema = closed({"responses": closed(dict.fromkeys(labels, schema_of(groups)))})
    halves = _filled(rubric, prompts, "listwise", judged(rubric), form, statements_text(rubric, prompts))
    outline = Outline(halves=halves, ids=_ids(groups), schema=schema, labels=labels, asked=_asked(rubric))
    return Prepared(outline, groups)


def _each(rubric: Rubric, prompts: Prompts, name: str) -> list[Prepared]:
    prepared = []
    for key, criterion in _asked(rubric):
        groups = (Group(key, (Wanted(criterion.id, criterion.scale),)),)
        halves = _filled(rubric, prompts, name, (criterion,), form_text(groups, prompts), "")
        one = ((key, criterion),)
        outline = Outline(halves=halves, ids=(criterion.id,), schema=schema_of(groups), asked=one)
        prepared.append(Prepared(outline, groups))
    return prepared


def _asked(rubric: Rubric) -> tuple[tuple[str, Criterion], ...]:
    return (
        *(("criteria", leaf) for leaf in judged(rubric)),
        *(("red_flags", as_criterion(one)) for one in rubric.red_flags),
        *(("bonuses", as_criterion(one)) for one in rubric.bonuses),
    )


def _ids(groups: tuple[Group, ...]) -> tuple[str, ...]:
    return tuple(wanted.id for group in groups for wanted in group.wanted)


def _filled(
    rubric: Rubric, prompts: Prompts, name: str, criteria: tuple[Criterion, ...], form: str, statements: str
) -> tuple[str, str]:
    scale = next((criterion.scale for criterion in criteria if criterion.scale.bands), None)
    return prompts.fill(
        name,
        criteria=criteria_text(criteria, prompts),
        statements=statements,
        bands=bands_text(scale, rubric, prompts) if scale else "",
        form=form,
        marker=MARKER,
        material=MATERIAL,
    )


def as_criterion(statement: Statement) -> Criterion:
    """A statement as the yes/no question it is."""
    return Criterion(id=statement.id, asks=statement.asks, scale=YES_NO)


ADVICE = "revision_suggestions"
SUGGESTIONS: Schema = {
    "type": "array",
    "minItems": 2,
    "maxItems": 2,
    "items": closed(
        {
            "problem": {"type": "string"},
            "suggestion": {"type": "string"},
            "severity": {"type": "string", "enum": ["high", "medium", "low"]},
        }
    ),
}
SUGGESTIONS_FORM = (
    '  "revision_suggestions": [\n'
    '    {"problem": "…", "suggestion": "…", "severity": <high|medium|low>},\n'
    '    {"problem": "…", "suggestion": "…", "severity": <high|medium|low>}\n'
    "  ]"
)
