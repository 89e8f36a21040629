"""The judges of a run held against labels, which are kept with it, and the panel recommended, as a file for `run`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evenhand.calibrate import Calibration, Label, NotRecommended, Recommended, calibrate, read_labels
from evenhand.errors import Fault, InputError
from evenhand.loading import read_text
from evenhand.runs import table_of
from evenhand.runs.store import Row, Store

LARGEST = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """What labels tell of a run, and the labels, which nobody keeps yet."""

    found: Calibration
    labels: tuple[Label, ...]


def calibrated(store: Store, run: str, labels: Path) -> Calibrated:
    """The judges of a run against the labels in a file."""
    row = store.run(run)
    table = table_of(store, row["id"])
    read = read_labels(read_text(labels, LARGEST, InputError), str(labels), table)
    found = calibrate(table, read, models=_models(row), cost=_cost(row), seed=table.frame.seed)
    return Calibrated(found=found, labels=read)


def keep_labels(store: Store, one: Calibrated) -> int:
    """Keep the labels with the run in place of earlier ones; how many those were."""
    before = sum(1 for _ in store.labels(one.found.run))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    store.keep_labels(one.found.run, [{**label.row(), "at": now} for label in one.labels])
    return before


def panel_text(found: Calibration) -> str:
    """The recommended panel as YAML that `judges:` in an eval file can name; refused where there is none."""
    chosen = found.recommended
    if isinstance(chosen, NotRecommended):
        more = f"label {chosen.more} more" if chosen.more else "evenhand calibrate without --write says the rest"
        raise InputError(Fault(f"there is no panel to write: {chosen.why}", more))
    lines = [
        f"# Chosen by evenhand calibrate on {found.labelled.samples} labelled samples of run {found.run}.",
        "# In an eval file:  judges: FILE",
    ]
    if chosen.chosen.kind == "median":
        lines.append("# This panel is a median. In the rubric:  panel: {aggregate: median}")
    lines += [f"# Beware: {_on_one_line(warning)}" for warning in found.warnings]
    return "\n".join([*lines, "judges:", *_judge_lines(chosen), ""])


def _on_one_line(text: str) -> str:
    """For a comment: what ends a line in YAML, or may not stand in it, is no part of a name that is shown."""
    return "".join(character if character.isprintable() else " " for character in text)


def _judge_lines(one: Recommended) -> list[str]:
    # A name in quotes of JSON is the same name in YAML, whatever stands in it.
    weights = one.chosen.weights
    if one.chosen.kind == "weights":
        return [f"  {json.dumps(judge)}: {weight:g}" for judge, weight in weights.items()]
    return [f"  - {json.dumps(judge)}" for judge in weights]


def _models(run: Row) -> dict[str, str]:
    """The model behind each variant that a model with a prompt makes."""
    variants: Mapping[str, Mapping[str, Any]] = json.loads(run["setup"])["variants"]
    return {name: str(one["model"]) for name, one in variants.items() if one.get("model")}


def _cost(run: Row) -> dict[str, float]:
    """What a call of each judge cost, where all of them have a price."""
    judges = json.loads(run["summary"])["judges"] if run["summary"] else []
    paid = {one["name"]: (one["cost"], one["calls"] - one["cached"]) for one in judges}
    if any(cost is None or calls <= 0 for cost, calls in paid.values()):
        return {}
    return {name: cost / calls for name, (cost, calls) in paid.items()}
