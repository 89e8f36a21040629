"""The head of a report: a run as plain data, all but its samples and its decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.runs._frame import Frame
from evenhand.runs._lengths import lengths_json
from evenhand.runs._summary import Summary, agreement_json, judge_json, variant_json

Json = dict[str, Any]


def head_of(frame: Frame, summary: Summary, ids: Mapping[int, str]) -> Json:
    """What a run keeps of its numbers; `ids` names the samples in which something was met first."""
    from evenhand.judging import EMBEDDED  # noqa: PLC0415 - whoever reads what was kept asks no judge

    ends = {one["id"]: one["ends"] for rubric in frame.rubrics for one in rubric["criteria"]}
    variants = []
    for name in summary.tallies:
        one = variant_json(name, summary, frame.scale)
        one["criteria"] = {id: {**found, "scale": ends.get(id)} for id, found in one["criteria"].items()}
        role = "control" if name == frame.control else "treatment"
        variants.append({**one, "role": role, "about": frame.variants[name]})
    asked = (name for name in dict.fromkeys([*frame.judges, *summary.calls]) if name in summary.calls)  # As named.
    judges = [judge_json(name, summary.calls[name], name == EMBEDDED) for name in asked]
    return {
        "eval": {
            "judges": list(frame.judges),
            "guards": list(frame.guards),
            "rubrics": list(frame.rubrics),
            "assertions": list(frame.assertions),
        },
        "unfinished": sum(tally.unfinished for tally in summary.tallies.values()),
        "variants": variants,
        "judges": judges,
        "agreement": agreement_json(summary.tallies),
        "lengths": lengths_json(summary.tallies),
        "failures": _failures(summary, ids),
        "flags": _flags(summary, ids),
        "cost": _cost(variants, judges),
    }


def first_positions(summary: Summary) -> set[int]:
    """The positions whose sample ids the head names."""
    return {position for tally in summary.tallies.values() for position in tally.first.values()}


def _failures(summary: Summary, ids: Mapping[int, str]) -> list[Json]:
    return [
        {"kind": kind, "variant": name, "why": why, "count": count, "first": ids.get(tally.first[(kind, why)], "")}
        for name, tally in summary.tallies.items()
        for (kind, why), count in tally.failures.most_common()
    ]


def _flags(summary: Summary, ids: Mapping[int, str]) -> list[Json]:
    return [
        {
            "guard": guard,
            "rule": rule,
            "says": says,
            "variant": name,
            "count": count,
            "first": ids.get(tally.first[(guard, rule, says)], ""),
        }
        for name, tally in summary.tallies.items()
        for (guard, rule, says), count in tally.flags.most_common()
    ]


def _cost(variants: list[Json], judges: list[Json]) -> Json:
    outputs = [one["cost"]["outputs"] for one in variants if one["cost"]["outputs"] is not None]
    unpriced = sum(one["unpriced"] for one in judges)
    judged = sum(one["cost"] or 0.0 for one in judges)
    return {
        "outputs": sum(outputs) if outputs else None,
        "judges": None if unpriced or not judges else judged,
        "total": None if unpriced or not (judges or outputs) else judged + sum(outputs),
        "unpriced": unpriced,
    }
