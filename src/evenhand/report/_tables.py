"""The tables that every reader sees: variants with their scores and counts, criteria, comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.report._columns import criteria_of, layers_of
from evenhand.report._figures import DASH, Data, chance, difference, dollars, duration, figure, with_interval

VERDICTS = ("pass", "borderline", "fail")

Column = tuple[str, list[str]]  # A name and the cells below it.


def variant_columns(head: Data) -> list[list[Column]]:
    """A row for each variant: names, scores, counts, costs; columns in which nothing was measured are left out."""
    variants = head["variants"]
    names = [("variant", [named(one, of=len(variants)) for one in variants])]
    groups = [names, _score_columns(head), _count_columns(variants), _cost_columns(variants)]
    measured = [[(name, cells) for name, cells in group if set(cells) != {DASH}] for group in groups]
    return [group for group in measured if group]


def _score_columns(head: Data) -> list[Column]:
    variants = head["variants"]
    return [
        ("score", [with_interval(one["score"]) for one in variants]),
        ("composite", [with_interval(one["composite"]) for one in variants]),
        *((name, [_mean(one["layers"].get(name)) for one in variants]) for name in layers_of(head)),
    ]


def _count_columns(variants: Sequence[Data]) -> list[Column]:
    decided = any(sum(one["verdicts"].values()) for one in variants)
    return [
        *((word, [f"{one['verdicts'].get(word, 0):,}" for one in variants]) for word in VERDICTS if decided),
        ("assertions", [_passed(one["assertions"]) for one in variants]),
        ("unanswered", _unless_zero([one["assertions"]["unanswered"] for one in variants])),
        ("scored", [f"{one['scored']:,} of {one['results']:,}" for one in variants]),
        ("incomplete", _unless_zero([one["incomplete"] for one in variants])),
        ("failed", _unless_zero([one["failed"] for one in variants])),
    ]


def _cost_columns(variants: Sequence[Data]) -> list[Column]:
    paid = [whose for whose in ("outputs", "judges") if any(one["cost"][whose] for one in variants)]
    return [
        *((f"{whose.removesuffix('s')} cost", [dollars(one["cost"][whose]) for one in variants]) for whose in paid),
        ("latency", [duration((one["latency_ms"] or {}).get("median")) for one in variants]),
    ]


def criterion_columns(head: Data) -> list[Column]:
    """The criteria, and a column of means for each variant; empty where there are none."""
    ids = criteria_of(head)
    variants = [(one["name"], [_criterion(one, one["criteria"].get(id)) for id in ids]) for one in head["variants"]]
    return [("criterion", ids), *variants] if ids else []


def comparison_columns(head: Data) -> list[list[Column]]:
    """A row for each comparison: what was decided, the differences, the pairs; empty where nothing was compared."""
    compared = head["decision"]["comparisons"]
    layers = dict.fromkeys(name for one in compared for name in one["layers"])
    groups = [
        [("comparison", [f"{one['treatment']} − {one['control']}" for one in compared])],
        [
            ("verdict", [one["verdict"] for one in compared]),
            ("composite", [difference(one["composite"]) for one in compared]),
            _chances(compared),
        ],
        [(name, [difference(one["layers"].get(name)) for one in compared]) for name in layers],
        [
            ("pairs", [f"{one['pairs']:,}" for one in compared]),
            ("better", [f"{one['wins']:,}" for one in compared]),
            ("equal", [f"{one['ties']:,}" for one in compared]),
            ("worse", [f"{one['losses']:,}" for one in compared]),
            ("lost by treatment", _unless_zero([one["lost_by_treatment"] for one in compared])),
            ("lost by control", _unless_zero([one["lost_by_control"] for one in compared])),
        ],
    ]
    measured = [[(name, cells) for name, cells in group if set(cells) != {DASH}] for group in groups]
    return [group for group in measured if group] if compared else []


def _chances(compared: Sequence[Data]) -> Column:
    """The p-values that decided: of several treatments they are adjusted for their number."""
    if len(compared) == 1:
        return "p", [chance(compared[0]["composite"])]
    cells = [DASH if one["p"] is None else chance(one) for one in compared]
    return f"p, adjusted for {len(compared)}", cells


def named(variant: Data, *, of: int) -> str:
    """A variant's name; the control says that it is one, where there is something to compare it with."""
    return f"{variant['name']} (control)" if of > 1 and variant["role"] == "control" else str(variant["name"])


def _mean(summary: Data | None) -> str:
    return DASH if summary is None else figure(summary["mean"], summary["scale"])


def _criterion(variant: Data, one: Data | None) -> str:
    """The mean; what is missing is told where the number of scored results does not tell it already."""
    if one is None:
        return DASH
    told = one["missing"] in (0, variant["results"] - variant["scored"])
    return figure(one["mean"], one["scale"]) + ("" if told else f" ({one['missing']:,} missing)")


def _passed(counts: Data) -> str:
    total = counts["passed"] + counts["failed"]
    return f"{counts['passed']:,} of {total:,}" if total else DASH


def _unless_zero(counts: Sequence[int]) -> list[str]:
    return [f"{count:,}" for count in counts] if any(counts) else [DASH] * len(counts)
