"""Edits of a rubric as values: each names a criterion and what becomes of it, and is applied, or refused with a
reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from evenhand.errors import RubricError
from evenhand.guards.output_guards import list_guard_findings
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Anchor, Criterion, CriterionExample
from evenhand.scoring.rubric_advice import find_doubtful_score_parts
from evenhand.wording import format_fraction, format_rounded, pluralize_count, quote_text

LONGEST_EDIT_TEXT = 600  # Characters of a question, an anchor or a clause.
LEAST_WORDS_REPEATED = 8  # So many words in a row that stand in a held-out sample are taken from it.
MOST_PARTS = 4
_WORD = re.compile(r"\w+")
_SHORTEST_CONTENT = 3  # Letters: shorter words say nothing new.


@dataclass(frozen=True, slots=True, kw_only=True)
class SharpenQuestion:
    """Ask another question on the same scale."""

    criterion: str
    asks: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceAnchor:
    """Pin one level of the scale by another text."""

    criterion: str
    level: Fraction  # Any within the stretch that the anchor pins.
    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddClause:
    """Say what else counts, or does not."""

    criterion: str
    clause: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddCounterExample:
    """Show a passage that is easily scored wrongly."""

    criterion: str
    example: CriterionExample
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitCriterion:
    """Ask several questions in place of one; they share its weight, scale and anchors."""

    criterion: str
    parts: tuple[tuple[str, str], ...]  # Ids with their questions.
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddExamples:
    """Show passages that people scored."""

    criterion: str
    examples: tuple[CriterionExample, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCalibrationMap:
    """Put the judge's scores onto people's scale. The rubric stays; a judge file holds the map."""

    criterion: str
    knots: tuple[tuple[float, float], ...]
    reason: str = ""


RubricEdit = (
    SharpenQuestion | ReplaceAnchor | AddClause | AddCounterExample | SplitCriterion | AddExamples | UseCalibrationMap
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedEdit:
    """An edit that is not tried, and why."""

    edit: RubricEdit
    why: str


def apply_rubric_edit(rubric: Rubric, edit: RubricEdit, held_out: Sequence[str] = ()) -> Rubric | RefusedEdit:
    """The rubric with an edit; `held_out` are texts that no edit may have seen."""
    before = rubric.criterion(edit.criterion)
    if before is None or before.children:
        return RefusedEdit(edit=edit, why=f"the rubric asks no criterion {quote_text(edit.criterion)}")
    if isinstance(edit, UseCalibrationMap):
        return rubric
    why = _find_edit_text_fault(before, edit, held_out)
    if why:
        return RefusedEdit(edit=edit, why=why)
    try:
        changed = replace(rubric, criteria=tuple(_edit_rubric_criteria(rubric.criteria, edit)))
    except RubricError as error:
        return RefusedEdit(edit=edit, why=f"the rubric would not be valid: {error.faults[0].what}")
    if changed == rubric:
        return RefusedEdit(edit=edit, why="it changes nothing")
    known = {advice.what for advice in find_doubtful_score_parts(rubric)}
    doubts = [advice.what for advice in find_doubtful_score_parts(changed) if advice.what not in known]
    return RefusedEdit(edit=edit, why=f"rubric check would warn: {doubts[0]}") if doubts else changed


def list_edit_texts(edit: RubricEdit) -> tuple[str, ...]:
    """What an edit would put into the rubric."""
    if isinstance(edit, SharpenQuestion):
        return (edit.asks,)
    if isinstance(edit, ReplaceAnchor):
        return (edit.text,)
    if isinstance(edit, AddClause):
        return (edit.clause,)
    if isinstance(edit, SplitCriterion):
        return tuple(asks for _, asks in edit.parts)
    return tuple(text for one in list_edit_examples(edit) for text in (one.passage, one.why) if text)


def list_edit_examples(edit: RubricEdit) -> tuple[CriterionExample, ...]:
    """The examples that an edit would add."""
    if isinstance(edit, AddExamples):
        return edit.examples
    return (edit.example,) if isinstance(edit, AddCounterExample) else ()


def list_criteria_after_rubric_edits(edits: Sequence[RubricEdit], criterion: str) -> tuple[str, ...]:
    """The criteria whose answers stand for one after some edits: itself, or what it was split into."""
    split = next((one for one in edits if isinstance(one, SplitCriterion) and one.criterion == criterion), None)
    return (criterion,) if split is None else tuple(id for id, _ in split.parts)


def describe_rubric_edit(rubric: Rubric, edit: RubricEdit) -> tuple[str, str, str]:
    """What of a rubric an edit changes: the place, what stands there now, and what would."""
    criterion = rubric.criterion(edit.criterion)
    asks = criterion.asks if criterion else ""
    if isinstance(edit, ReplaceAnchor):
        anchor = _find_edited_anchor(criterion, edit.level) if criterion else None
        return f"{edit.criterion}, anchor {format_fraction(edit.level)}", anchor.text if anchor else "", edit.text
    if isinstance(edit, SplitCriterion):
        return edit.criterion, asks, "; ".join(f"{id}: {text}" for id, text in edit.parts)
    if isinstance(edit, UseCalibrationMap):
        points = ", ".join(f"{x:g} → {format_rounded(y, 2)}" for x, y in edit.knots)
        return f"{edit.criterion}, scores of the judge", "as they are", points
    if examples := list_edit_examples(edit):
        shown = "; ".join(f"{format_fraction(one.score)}: {quote_text(one.passage)}" for one in examples)
        now = len(criterion.examples) if criterion else 0
        return f"{edit.criterion}, {pluralize_count(len(examples), 'example')}", pluralize_count(now, "example"), shown
    if isinstance(edit, AddClause):
        return f"{edit.criterion}, question", asks, _add_edit_clause(asks, edit)
    return f"{edit.criterion}, question", asks, " ".join(list_edit_texts(edit))


def _edit_rubric_criteria(criteria: Sequence[Criterion], edit: RubricEdit) -> Iterator[Criterion]:
    for one in criteria:
        if one.children:
            yield replace(one, children=tuple(_edit_rubric_criteria(one.children, edit)))
        elif one.id == edit.criterion:
            yield from _edit_rubric_criterion(one, edit)
        else:
            yield one


def _edit_rubric_criterion(one: Criterion, edit: RubricEdit) -> list[Criterion]:
    if isinstance(edit, SharpenQuestion):
        return [replace(one, asks=edit.asks)]
    if isinstance(edit, AddClause):
        return [replace(one, asks=_add_edit_clause(one.asks, edit))]
    if isinstance(edit, ReplaceAnchor):
        old = _find_edited_anchor(one, edit.level)
        if old is None:
            raise RubricError(f"no anchor of {one.id!r} pins {format_fraction(edit.level)}")
        new = replace(old, text=edit.text)
        return [replace(one, anchors=tuple(new if anchor is old else anchor for anchor in one.anchors))]
    if isinstance(edit, SplitCriterion):
        if not 2 <= len(edit.parts) <= MOST_PARTS:
            raise RubricError(f"a criterion is split into 2 to {MOST_PARTS}, got {len(edit.parts)}")
        share = Fraction(1, len(edit.parts))
        weight, points = one.weight * share, None
        if one.points is not None:  # Then the weight does nothing.
            weight, points = one.weight, one.points * share
        return [replace(one, id=id, asks=asks, weight=weight, points=points) for id, asks in edit.parts]
    return [replace(one, examples=(*one.examples, *list_edit_examples(edit)))]


def _add_edit_clause(asks: str, edit: AddClause) -> str:
    return f"{asks.rstrip()} {edit.clause.strip()}"


def _find_edited_anchor(criterion: Criterion, level: Fraction) -> Anchor | None:
    return next((one for one in criterion.anchors if one.min <= level <= one.max), None)


def _find_edit_text_fault(before: Criterion, edit: RubricEdit, held_out: Sequence[str]) -> str:
    """Why the texts of an edit may not stand in a rubric; empty where they may."""
    examples = bool(list_edit_examples(edit))
    checks: tuple[Callable[[], str], ...] = (
        lambda: "it says nothing" if not all(text.strip() for text in list_edit_texts(edit)) else "",
        lambda: "" if examples else _find_edit_length_fault(before, edit),
        lambda: _find_passage_repeated_in_edit(edit, held_out),
        lambda: "" if examples else _find_instruction_in_edit(list_edit_texts(edit)),
    )
    return next((why for check in checks if (why := check())), "")


def _find_edit_length_fault(before: Criterion, edit: RubricEdit) -> str:
    longest = max(map(len, list_edit_texts(edit)), default=0)
    if longest > LONGEST_EDIT_TEXT:
        return f"a text of {longest:,} characters is too long: {LONGEST_EDIT_TEXT} are the most"
    known = _list_edit_content_words(" ".join((before.id, before.asks, *(anchor.text for anchor in before.anchors))))
    anchor = _find_edited_anchor(before, edit.level) if isinstance(edit, ReplaceAnchor) else None
    old = 0 if isinstance(edit, AddClause) else len(anchor.text if anchor else before.asks)
    grows = sum(map(len, list_edit_texts(edit))) > old
    new = _list_edit_content_words(" ".join(list_edit_texts(edit))) - known
    return "it only lengthens: every word of it is in the criterion already" if grows and not new else ""


def _find_passage_repeated_in_edit(edit: RubricEdit, held_out: Sequence[str]) -> str:
    """What an edit shares with a held-out text: all of a passage, or many words in a row of anything else."""
    kept = [_normalise_edit_words(text) for text in held_out]
    repeated = [one.passage for one in list_edit_examples(edit) if _normalise_edit_words(one.passage) in kept]
    if not list_edit_examples(edit):
        for text in list_edit_texts(edit):
            words = _normalise_edit_words(text).split()
            starts = range(len(words) - LEAST_WORDS_REPEATED + 1)
            runs = (" ".join(words[start : start + LEAST_WORDS_REPEATED]) for start in starts)
            repeated += [run for run in runs if any(f" {run} " in one for one in kept)]
    return f"it repeats a sample that it is to be tried on: {quote_text(repeated[0])}" if repeated else ""


def _normalise_edit_words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _find_instruction_in_edit(texts: Sequence[str]) -> str:
    """A question is read outside the fence, so it may not carry what an output said to the judge."""
    found = [one for text in texts for one in list_guard_findings(text, ("injection",))]
    return f"it speaks to the judge instead of asking about the output: {quote_text(found[0].text)}" if found else ""


def _list_edit_content_words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.casefold()) if len(word) >= _SHORTEST_CONTENT}
