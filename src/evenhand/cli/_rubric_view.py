"""Rubrics and methods on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from fractions import Fraction

from evenhand.cli._screen import Screen
from evenhand.model import Anchor, Criterion, Method, Rubric, Scale, Statement, Step, written
from evenhand.scoring import asked_ties


def show_list(rubrics: Sequence[Rubric], methods: Sequence[Method]) -> None:
    """The rubrics that can be used as they are, and the methods that need criteria."""
    screen = Screen()
    screen.table(
        {
            "rubric": [rubric.name for rubric in rubrics],
            "method": [rubric.method.name for rubric in rubrics],
            "criteria": [", ".join(criterion.id for criterion in rubric.criteria) for rubric in rubrics],
        }
    )
    screen.gap()
    screen.line("Methods for rubrics with criteria of your own:")
    screen.gap()
    screen.table({"method": [method.name for method in methods], "about": [method.about for method in methods]})


def show_rubric(rubric: Rubric) -> None:
    """Everything a rubric asks and does."""
    screen = Screen()
    screen.line(rubric.name, bold=True)
    if rubric.about:
        screen.line(rubric.about)
    if rubric.method.about:
        screen.line(f"Method {rubric.method.name}: {rubric.method.about}")
    _title(screen, "Criteria")
    for criterion in rubric.criteria:
        _show_criterion(screen, criterion, 2)
    for title, statements in (("Red flags", rubric.red_flags), ("Bonuses", rubric.bonuses)):
        if statements:
            _title(screen, title)
        for statement in statements:
            screen.line(_statement(statement), 2)
    _show_gates(screen, rubric)
    _show_steps(screen, rubric.method)
    ties = asked_ties(rubric)
    if ties:
        screen.line("Ties: " + ", ".join(map(str, ties)), 2)


def show_method(method: Method) -> None:
    """What a method without criteria of its own does."""
    screen = Screen()
    screen.line(method.name, bold=True)
    screen.line(method.about)
    screen.line("It has no criteria of its own: list them in a rubric.")
    _show_steps(screen, method)


def _show_criterion(screen: Screen, criterion: Criterion, indent: int) -> None:
    weight = f"weight {written(criterion.weight)}"
    worth = weight if criterion.points is None else f"points {written(criterion.points)}"
    screen.heading(criterion.id, f"{criterion.scale}, {worth}{', fixed' if criterion.fixed else ''}", indent)
    if criterion.asks:
        screen.line(criterion.asks, indent + 2)
    for anchor in criterion.anchors:
        screen.line(f"{_level(anchor, criterion.scale)}: {anchor.text}", indent + 4)
    for child in criterion.children:
        _show_criterion(screen, child, indent + 2)


def _show_gates(screen: Screen, rubric: Rubric) -> None:
    gates = rubric.all_gates()
    if gates:
        _title(screen, "Gates")
    for gate in gates:
        criterion = rubric.criterion(gate.criterion)
        yes_no = criterion is not None and criterion.scale.yes_no
        screen.line(f"{gate.criterion}: {'must be yes' if yes_no else f'at least {written(gate.min)}'}", 2)


def _show_steps(screen: Screen, method: Method) -> None:
    _title(screen, "Score")
    for line in _method_lines(method):
        screen.line(line, 2)


def _level(anchor: Anchor, scale: Scale) -> str:
    if scale.yes_no:
        return "yes" if anchor.min else "no"
    band = next((band.id for band in scale.bands if (band.min, band.max) == (anchor.min, anchor.max)), None)
    if band:
        return band
    return written(anchor.min) if anchor.min == anchor.max else f"{written(anchor.min)}–{written(anchor.max)}"


def _statement(statement: Statement) -> str:
    amount = f" ({written(statement.amount)})" if statement.amount is not None else ""
    return statement.id if statement.id == statement.asks else f"{statement.id}{amount}: {statement.asks}"


def _method_lines(method: Method) -> Iterator[str]:
    places = method.scale.decimals
    decimals = "exact" if places is None else "1 decimal" if places == 1 else f"{places} decimals"
    yield f"{written(method.scale.min)}–{written(method.scale.max)}, {decimals}, by these steps:"
    for number, step in enumerate(method.steps, start=1):
        yield f"{number}. {step.kind()}{_parameters(step)}: {(step.__doc__ or '').splitlines()[0].replace('`', '')}"
    if method.grades:
        yield "Grades: " + ", ".join(f"{g.grade} from {written(g.from_, method.scale.decimals)}" for g in method.grades)
    if method.verdicts:
        yield "Verdict: " + ", ".join(f"{t.verdict} from {written(t.from_)}" for t in method.verdicts) + ", else fail"
    if method.environment:
        yield "Environment: " + ", ".join(method.environment)


def _parameters(step: Step) -> str:
    values = {field.name.rstrip("_"): getattr(step, field.name) for field in fields(step)}
    given = [f"{name} {_value(value)}" for name, value in values.items() if value is not None]
    return f" ({', '.join(given)})" if given else ""


def _value(value: object) -> str:
    if isinstance(value, Fraction):
        return written(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _title(screen: Screen, title: str) -> None:
    screen.gap()
    screen.line(title, bold=True, underline=True)
