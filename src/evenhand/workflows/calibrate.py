"""The judges of a run against labels, which are kept with it, and the recommended panel as a file for `run`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from evenhand.calibrate.calibration import JudgeCalibration, hold_judges_against_people
from evenhand.calibrate.fitted_to_people import MapKnots
from evenhand.calibrate.panel_recommendation import NoRecommendedPanel
from evenhand.errors import Fault, InputError, make_unwritable_file_error
from evenhand.evals.eval_judges import write_eval_judge_maps
from evenhand.evals.eval_scoring import name_sample_rubric_criterion
from evenhand.files.private_files import require_new_file
from evenhand.model.scorecard import MAPPED_DECIMALS, ScoreMap
from evenhand.models.model_names import PROVIDERS
from evenhand.models.requests import EMBEDDED
from evenhand.runs.columns import load_run_columns
from evenhand.store.store import Store
from evenhand.wording import read_kept_fraction
from evenhand.workflows.run_labels import keep_labels_with_run, load_labels_from_file
from evenhand.workflows.stores import with_opened_user_store

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedRun:
    """What labels tell of a run, how many there were, and what became of the panel and of earlier labels."""

    found: JudgeCalibration
    labels: int
    replaced: int = 0  # Labels that were kept with the run before.
    panel_refused: InputError | None = None  # Why no panel was written; then no label is kept either.


@with_opened_user_store
def calibrate_run(
    store: Store, run: str, labels: Path, panel: Path | None = None, *, maps: bool = False
) -> CalibratedRun:
    """Hold the judges of a run against the labels in a file, and keep these; `panel` is where to write the best.

    With `maps`, the file also holds a map to people's scale for each of its judges and criteria where one helps.
    """
    row = store.find_run(run)
    table = load_run_columns(store, row["id"])
    read = load_labels_from_file(labels, table)
    setup = json.loads(row["setup"])
    variants = setup["variants"]
    models = {name: str(one["model"]) for name, one in variants.items() if one.get("model")}
    # What a call of each judge cost, where all of them have a price.
    judges = json.loads(row["summary"])["judges"] if row["summary"] else []
    paid = {one["name"]: (one["cost"], one["calls"] - one["cached"]) for one in judges}
    priced = all(cost is not None and calls > 0 for cost, calls in paid.values())
    costs = {name: cost / calls for name, (cost, calls) in paid.items()} if priced else {}
    weights = _load_rubric_weights_for_user(setup["rubrics"])
    found = hold_judges_against_people(table, read, models=models, cost=costs, weights=weights, seed=table.frame.seed)
    refused = None if panel is None else _try_writing_panel_for_user(found, panel, setup if maps else None)
    if refused is not None:
        return CalibratedRun(found=found, labels=len(read), panel_refused=refused)
    kept, before = keep_labels_with_run(store, table, read)
    return CalibratedRun(found=found, labels=kept, replaced=before)


def _load_rubric_weights_for_user(rubrics: Mapping[str, Any]) -> list[dict[str, float]]:
    """The weights of each rubric whose criteria are one list: shares of nested ones and points are another matter."""
    found = []
    for key, rubric in rubrics.items():
        criteria = rubric["criteria"]
        if not any(one["children"] or one["points"] is not None for one in criteria):
            named = {name_sample_rubric_criterion(key, one["id"]): one for one in criteria}
            found.append({name: float(read_kept_fraction(one["weight"])) for name, one in named.items()})
    return found


def _try_writing_panel_for_user(found: JudgeCalibration, target: Path, setup: Json | None) -> InputError | None:
    """Write the recommended panel; the error, if it cannot be, is for after what was found."""
    try:
        text = export_panel_for_user(found, [] if setup is None else list_maps_for_user(found, setup))
        require_new_file(target)
        write_user_file_at_once(target, text)
    except InputError as error:
        return error
    return None


def write_user_file_at_once(target: Path, text: str) -> None:
    """Write a file; whoever reads it meanwhile sees the old or the new one."""
    part = target.with_name(f".{target.name}.part")
    try:
        part.write_text(text, "utf-8")
        part.replace(target)
    except OSError as problem:
        raise make_unwritable_file_error(str(target), problem) from None
    finally:
        part.unlink(missing_ok=True)


def list_maps_for_user(found: JudgeCalibration, setup: Json) -> list[ScoreMap]:
    """The maps that help, of judges in the recommended panel on criteria with numbers; refused where there is none.

    What a yes or no is mapped to is a chance, which no gate on yes could take.
    """
    if _has_run_mapped_judges(setup):
        what = "the judges of this run are mapped already: a map is made for what they say by themselves"
        raise InputError(Fault(what, "run the eval without maps, and calibrate that run"))
    if "fingerprints" not in setup:
        what = f"run {found.run} does not say how each of its judges was asked: an older Evenhand made it"
        raise InputError(Fault(what, "run the eval again, and calibrate that run"))
    chosen = _choose_panel_to_export(found)
    asked = list_run_criteria_to_map(setup)
    maps = [
        make_score_map(setup, one.who, one.question, one.knots)
        for one in found.maps
        if one.helps and one.who in chosen and one.question in asked
    ]
    if chosen and not maps:
        hint = "evenhand calibrate without --maps writes the panel"
        raise InputError(Fault("no map helps a judge of the panel on a criterion with numbers", hint))
    return maps


def list_run_criteria_to_map(setup: Json) -> dict[str, str]:
    """The criteria of a run that a map can be of, each with the key of its rubric; none where one is used already."""
    if _has_run_mapped_judges(setup):
        return {}
    return {
        criterion["id"]: key
        for key, rubric in setup["rubrics"].items()
        if key in setup.get("fingerprints", {})
        for criterion in rubric["criteria"]
        if not criterion["scale"]["yes_no"] and not criterion["scale"].get("bands")
    }


def make_score_map(setup: Json, judge: str, criterion: str, knots: MapKnots) -> ScoreMap:
    """The map of a judge on a criterion, for the judge as the run asked it."""
    return ScoreMap(
        judge=judge,
        criterion=criterion,
        fingerprint=setup["fingerprints"][list_run_criteria_to_map(setup)[criterion]][judge],
        points=tuple((_round_exported_map_number(said), _round_exported_map_number(people)) for said, people in knots),
    )


def _has_run_mapped_judges(setup: Json) -> bool:
    return any("maps" in one for one in setup["judges"])


def _choose_panel_to_export(found: JudgeCalibration) -> Mapping[str, float]:
    """The recommended panel, or the only judge, of which there is nothing to choose; empty where none is known."""
    judges = found.labelled.judges
    if isinstance(found.recommended, NoRecommendedPanel):
        return {judges[0]: 1.0} if len(judges) == 1 else {}
    return found.recommended.chosen.weights


def _round_exported_map_number(value: float) -> Fraction:
    return Fraction(round(value * 10**MAPPED_DECIMALS), 10**MAPPED_DECIMALS)


def export_panel_for_user(found: JudgeCalibration, maps: Sequence[ScoreMap] = ()) -> str:
    """The recommended panel as YAML that `judges:` in an eval file can name; refused where there is none."""
    chosen = found.recommended
    if found.imported:
        _refuse_guest_judges_in_file(found.run, _choose_panel_to_export(found))
    if isinstance(chosen, NoRecommendedPanel) and not maps:
        more = f"label {chosen.more} more" if chosen.more else "evenhand calibrate without --write says the rest"
        raise InputError(Fault(f"there is no panel to write: {chosen.why}", more))
    lines = [
        f"# Chosen by evenhand calibrate on {found.labelled.samples} labelled samples of run {found.run}.",
        "# In an eval file:  judges: FILE",
    ]
    if found.imported:
        lines.append(f"# Run {found.run} was imported: its judges and their answers are what its file says.")
    kind = "" if isinstance(chosen, NoRecommendedPanel) else chosen.chosen.kind
    if kind == "median":
        lines.append("# This panel is a median. In the rubric:  panel: {aggregate: median}")
    for warning in found.warnings:  # What ends a line in YAML, or may not stand in it, has no place in a comment.
        lines.append(f"# Beware: {''.join(one if one.isprintable() else ' ' for one in warning)}")
    chosen_judges = _choose_panel_to_export(found)
    return format_exported_judge_file(lines, chosen_judges if kind == "weights" else list(chosen_judges), maps)


def _refuse_guest_judges_in_file(run: str, judges: Iterable[str]) -> None:
    """Of an imported run only judges are written whose server your environment names: what is code, a file or an
    address would be opened by the eval that names the file, and its author chose it.
    """
    providers = (*PROVIDERS, "openai-decisions")
    foreign = [name for name in judges if name != EMBEDDED and name.partition("/")[0] not in providers]
    if foreign:
        what = f"run {run} was imported, and no file is written that names a judge of its author's: {foreign[0][:80]!r}"
        raise InputError(Fault(what, "name judges that you know under judges in the eval file"))


def format_exported_judge_file(
    comments: Sequence[str], judges: Mapping[str, float] | Sequence[str], maps: Sequence[ScoreMap]
) -> str:
    """The YAML of a file of judges, with their weights where they have some, and maps of their scores."""
    # A name in quotes of JSON is the same name in YAML, whatever stands in it.
    lines = [f"  - {json.dumps(name)}" for name in judges]
    if isinstance(judges, Mapping):
        lines = [f"  {json.dumps(name)}: {weight:g}" for name, weight in judges.items()]
    return "\n".join([*comments, "judges:", *lines, *write_eval_judge_maps(maps), ""])
