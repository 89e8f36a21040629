"""The judges of a run against labels, which are kept with it, and the recommended panel as a file for `run`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evenhand.calibrate.calibration import JudgeCalibration, calibrate_judges
from evenhand.calibrate.labels import Label, read_labels
from evenhand.calibrate.panel_recommendation import NoRecommendedPanel, RecommendedPanel
from evenhand.errors import Fault, InputError, build_unwritable_error
from evenhand.files.parsing import read_text_file
from evenhand.runs.columns import load_run_table
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.stores import takes_store

LARGEST_LABEL_FILE = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedRun:
    """What labels tell of a run, how many there were, and what became of the panel and of earlier labels."""

    found: JudgeCalibration
    labels: int
    replaced: int = 0  # Labels that were kept with the run before.
    panel_refused: InputError | None = None  # Why no panel was written; then no label is kept either.


@takes_store
def calibrate_run(store: Store, run: str, labels: Path, panel: Path | None = None) -> CalibratedRun:
    """Hold the judges of a run against the labels in a file, and keep these; `panel` is where to write the best."""
    found, read = _hold_against_labels(store, run, labels)
    refused = None if panel is None else _try_writing_panel(found, panel)
    if refused is not None:
        return CalibratedRun(found=found, labels=len(read), panel_refused=refused)
    # Keep the labels with the run in place of earlier ones; how many those were.
    before = sum(1 for _ in store.labels(found.run))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    store.replace_labels(found.run, [{**label.row(), "at": now} for label in read])
    return CalibratedRun(found=found, labels=len(read), replaced=before)


def _hold_against_labels(store: Store, run: str, labels: Path) -> tuple[JudgeCalibration, tuple[Label, ...]]:
    row = store.find_run(run)
    table = load_run_table(store, row["id"])
    read = read_labels(read_text_file(labels, LARGEST_LABEL_FILE, InputError), str(labels), table)
    found = calibrate_judges(
        table, read, models=_run_variant_models(row), cost=_run_judge_costs(row), seed=table.frame.seed
    )
    return found, read


def _try_writing_panel(found: JudgeCalibration, target: Path) -> InputError | None:
    """Write the recommended panel; the error, if it cannot be, is for after what was found."""
    try:
        _write_panel_file(target, write_panel_yaml(found))
    except InputError as error:
        return error
    return None


def _write_panel_file(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")  # Whoever reads the file meanwhile sees the old one or the new one.
    try:
        part.write_text(text, "utf-8")
        part.replace(path)
    except OSError as problem:
        raise build_unwritable_error(str(path), problem) from None
    finally:
        part.unlink(missing_ok=True)


def write_panel_yaml(found: JudgeCalibration) -> str:
    """The recommended panel as YAML that `judges:` in an eval file can name; refused where there is none."""
    chosen = found.recommended
    if isinstance(chosen, NoRecommendedPanel):
        more = f"label {chosen.more} more" if chosen.more else "evenhand calibrate without --write says the rest"
        raise InputError(Fault(f"there is no panel to write: {chosen.why}", more))
    lines = [
        f"# Chosen by evenhand calibrate on {found.labelled.samples} labelled samples of run {found.run}.",
        "# In an eval file:  judges: FILE",
    ]
    if chosen.chosen.kind == "median":
        lines.append("# This panel is a median. In the rubric:  panel: {aggregate: median}")
    lines += [f"# Beware: {_yaml_comment_line(warning)}" for warning in found.warnings]
    return "\n".join([*lines, "judges:", *_panel_judge_lines(chosen), ""])


def _yaml_comment_line(text: str) -> str:
    """For a comment: what ends a line in YAML, or may not stand in it, is no part of a name that is shown."""
    return "".join(character if character.isprintable() else " " for character in text)


def _panel_judge_lines(one: RecommendedPanel) -> list[str]:
    # A name in quotes of JSON is the same name in YAML, whatever stands in it.
    weights = one.chosen.weights
    if one.chosen.kind == "weights":
        return [f"  {json.dumps(judge)}: {weight:g}" for judge, weight in weights.items()]
    return [f"  - {json.dumps(judge)}" for judge in weights]


def _run_variant_models(run: Row) -> dict[str, str]:
    """The model behind each variant that a model with a prompt makes."""
    variants: Mapping[str, Mapping[str, Any]] = json.loads(run["setup"])["variants"]
    return {name: str(one["model"]) for name, one in variants.items() if one.get("model")}


def _run_judge_costs(run: Row) -> dict[str, float]:
    """What a call of each judge cost, where all of them have a price."""
    judges = json.loads(run["summary"])["judges"] if run["summary"] else []
    paid = {one["name"]: (one["cost"], one["calls"] - one["cached"]) for one in judges}
    if any(cost is None or calls <= 0 for cost, calls in paid.values()):
        return {}
    return {name: cost / calls for name, (cost, calls) in paid.items()}
