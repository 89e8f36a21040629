"""A run with a cascade: how much is passed on, what earlier sittings have kept of the draw, and what a plan expects."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from evenhand.errors import EvalError, Fault
from evenhand.evals.eval_definition import Eval
from evenhand.judging.single_judge import Cascade
from evenhand.model.scale import to_exact_fraction
from evenhand.models.budget import Budget, Spending
from evenhand.runs.cascade_draw import RunCascadeDraw
from evenhand.runs.setup import RunSetup
from evenhand.stats.cascades import LEAST_DRAWN
from evenhand.store.store import Store

Json = dict[str, Any]


def plan_cascade_share_of_run(eval: Eval, for_width: float | None, budget: float | None) -> Eval:
    """The eval with another budget, and its cascade with a wanted width or, without one, that of the budget."""
    cascade = eval.how.cascade
    if for_width is not None and cascade is None:
        what = "--for-width says how much a cascade passes on, and the eval has none"
        raise EvalError(Fault(what, "as in judges: {cascade: [openai/SMALL, openai/LARGE]}"))
    if budget is not None:
        eval = replace(eval, budget=Budget(money=Decimal(str(budget))))
    if cascade is None:
        return eval
    width = cascade.for_width if for_width is None else to_exact_fraction(for_width)
    passing = replace(cascade, for_width=width, spend=width is None)
    return replace(eval, how=replace(eval.how, cascade=passing))


def refuse_run_of_cascade_until_decided(eval: Eval) -> None:
    """An error where a run that may stop at any sample has a cascade."""
    if eval.how.cascade is not None:
        what = "a cascade sees all samples before it draws, and --until-decided stops before"
        raise EvalError(Fault(what, "leave one of them out; --for-width asks the strong judge no more than needed"))


def refuse_run_of_cascade_on_fleet(eval: Eval) -> None:
    """An error where a run on many machines has a cascade, which draws from what all of them have scored."""
    if eval.how.cascade is not None:
        raise EvalError(Fault("a cascade is drawn on one machine", "leave --fleet out, or name one of its judges"))


def load_cascade_draw_of_run(
    store: Store,
    run: str,
    setup: RunSetup,
    budget: Budget | None,
    spent: Callable[[], Spending],
    rule: Cascade,
    *,
    goes_on: bool,
) -> RunCascadeDraw:
    """What the cascade of a run passes on at random, with what earlier sittings have kept."""
    eval = setup.eval

    def count_budget_left_for_run() -> Decimal | None:
        if budget is None or budget.money is None:
            return None
        return budget.money - budget.paid - (spent().cost or Decimal(0))

    draw = RunCascadeDraw(
        rule=rule,
        seed=eval.how.seed,
        control=eval.control,
        strong=eval.judges[-1],
        layer_weights=setup.build_eval_record().find_layer_weights(),
        left=count_budget_left_for_run,
        paid=lambda: store.call_facts(run),
    )
    for row in store.results(run) if goes_on else ():
        draw.note_result(row)
    return draw


def plan_cascade_of_run(eval: Eval, samples: int, judges: list[Json]) -> tuple[Json | None, list[Json]]:
    """What a plan can say of a cascade, and its judges with the strong one's calls reduced to those expected.

    What is near a threshold is known only once the cheap judge has answered: it is not counted. With a wanted width or
    a budget, the pilot is counted, as only that is sure.
    """
    cascade = eval.how.cascade
    if cascade is None or len(judges) != 2:
        return None, judges
    open_ended = cascade.for_width is not None or cascade.spend
    drawn = min(samples, max(LEAST_DRAWN, 0 if open_ended else math.ceil(cascade.share * samples)))
    share, strong = drawn / samples if samples else 0.0, judges[1]
    fewer = {name: math.ceil(strong[name] * share) for name in ("calls", "kept", "input_tokens", "output_tokens")}
    cost = None if strong["cost"] is None else strong["cost"] * share
    plan = {
        "cheap": judges[0]["name"],
        "strong": strong["name"],
        "drawn": drawn,
        "at_least": open_ended,
        "calls_for_all": strong["calls"],
        "cost_for_all": strong["cost"],
        "near": float(cascade.near),
        "for_width": None if cascade.for_width is None else float(cascade.for_width),
    }
    return plan, [judges[0], {**strong, **fewer, "cost": cost}]
