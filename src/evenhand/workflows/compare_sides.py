"""Which variants of which runs are compared, what objections there are, and what the comparison could have shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.compare.decision import Comparison
from evenhand.compare.facts import SIGNIFICANCE_LEVEL, does_treatment_effect_reach, is_treatment_difference_beyond
from evenhand.compare.measure import SPAN_OF_COMPOSITES
from evenhand.compare.setup_differences import list_setup_differences
from evenhand.errors import Fault, InputError, StoreError, suggest_known_word_in_error
from evenhand.report.phrases import describe_reported_selection
from evenhand.runs.columns import JoinedRunResults, RunVariantRows, SharedSamples, load_run_columns
from evenhand.runs.kept_texts import SAMPLE_PARTS
from evenhand.runs.run_record import RunEvalRecord, read_run_eval_record
from evenhand.stats.differences import Difference
from evenhand.stats.power import LEAST_NEEDED, needed_for, power_of
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.wording import pluralize_count, word_layer

BASELINE_PREFIX = "baseline:"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRunSide:
    """One variant of one run, under the name that it is told by."""

    name: str
    run: Row
    member: RunVariantRows

    @property
    def frame(self) -> RunEvalRecord:
        """What its run keeps of the eval."""
        return self.member.table.frame

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        run = self.run
        return {
            "name": self.name,
            "run": run["id"],
            "variant": self.member.variant,
            "eval": run["name"],
            "state": run["state"],
            "ended": run["ended"],
            "fingerprint": run["fingerprint"],
            "samples": len(self.member.samples),
            "imported": run["imported"] is not None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _NamedRun:
    """A run as it was asked for, and the variant behind a colon if one was."""

    asked: str
    run: Row
    frame: RunEvalRecord
    variant: str | None


def choose_sides_for_user(store: Store, references: Sequence[str], control: str | None) -> list[UserRunSide]:
    """The control, then what is held against it."""
    if len(references) == 1:
        return _user_sides_within_run(store, _find_run_named_by_user(store, references[0]), control)
    if control is not None:
        hint = "of two runs the first is the control: RUN:VARIANT names a variant of it"
        raise InputError(Fault("--control is for the variants of one run", hint))
    first, second = (_find_run_named_by_user(store, reference) for reference in references)
    return _user_sides_of_two_runs(store, first, second)


def _find_run_named_by_user(store: Store, reference: str) -> _NamedRun:
    """The run that is meant as a whole; else the run before the last colon, and its variant behind it."""
    try:
        row, variant = store.find_run(reference), None
    except StoreError:
        before, colon, variant = reference.rpartition(":")
        if not colon or before == "baseline":
            raise
        row = store.find_run(before)
        frame = _load_eval_snapshot_for_user(row)
        if variant not in frame.variants:
            what = f"run {row['id']} has no variant {variant!r}"
            if before == "latest":  # It may have been the name of an eval.
                what = f"no run of {variant!r} is here, and {what}"
            raise InputError(Fault(what, suggest_known_word_in_error(variant, frame.variants))) from None
        reference = before
    if not (row["id"].startswith(reference) or reference.partition(":")[0] in ("latest", "baseline")):
        reference = f"{BASELINE_PREFIX}{reference}"  # A baseline that was named without saying so.
    if row["state"] == "running" and not store.is_run_held(row):  # Nobody works on it: it was killed.
        row = {**row, "state": "killed"}
    return _NamedRun(asked=reference, run=row, frame=_load_eval_snapshot_for_user(row), variant=variant)


def _load_eval_snapshot_for_user(row: Row) -> RunEvalRecord:
    return read_run_eval_record(json.loads(row["setup"])["frame"])


def _user_sides_within_run(store: Store, named: _NamedRun, control: str | None) -> list[UserRunSide]:
    """The variants of one run: all against the control, or one."""
    variants, base = list(named.frame.variants), control or named.frame.control
    if base not in variants:
        hint = suggest_known_word_in_error(base, variants)
        raise InputError(Fault(f"run {named.run['id']} has no variant {base!r} to be the control", hint))
    others = [name for name in variants if name != base] if named.variant is None else [named.variant]
    if base in others:
        hint = "name another variant, or another --control"
        raise InputError(Fault(f"{base!r} is the control: it cannot be compared with itself", hint))
    table = load_run_columns(store, named.run["id"])
    return [
        UserRunSide(name=name, run=named.run, member=RunVariantRows.from_run_table(table, name))
        for name in (base, *others)
    ]


def _user_sides_of_two_runs(store: Store, first: _NamedRun, second: _NamedRun) -> list[UserRunSide]:
    ours, theirs = _choose_run_variant_for_user(first, second), _choose_run_variant_for_user(second, first)
    if (first.run["id"], ours) == (second.run["id"], theirs):
        hint = "name two runs, or two variants: RUN:old RUN:new"
        raise InputError(Fault(f"run {first.run['id']} cannot be compared with itself", hint))
    names = (ours, theirs) if ours != theirs else _name_user_runs_of_one_variant(first, second, ours)
    return [
        UserRunSide(
            name=name,
            run=one.run,
            member=RunVariantRows.from_run_table(load_run_columns(store, one.run["id"]), variant),
        )
        for name, one, variant in zip(names, (first, second), (ours, theirs), strict=True)
    ]


def _choose_run_variant_for_user(one: _NamedRun, other: _NamedRun) -> str:
    """The variant that was named, the only one there is, or the one that was named of the other run."""
    if one.variant is not None:
        return one.variant
    variants = list(one.frame.variants)
    if len(variants) == 1:
        return variants[0]
    wanted = other.variant or (next(iter(other.frame.variants)) if len(other.frame.variants) == 1 else None)
    if wanted in variants:
        return str(wanted)
    hint = f"say which: {', '.join(f'{one.asked}:{name}' for name in variants[:5])}"
    raise InputError(Fault(f"run {one.run['id']} has {len(variants)} variants", hint))


def _name_user_runs_of_one_variant(first: _NamedRun, second: _NamedRun, variant: str) -> tuple[str, str]:
    """What sides are called whose variants have the same name: by their runs, and where those have others, by both."""
    ours, theirs = (_name_user_run_side(one, variant) for one in (first, second))
    if ours != theirs:
        return ours, theirs
    # The ends of two ids, which are short enough for a sentence, where they tell the runs apart.
    ids = first.run["id"], second.run["id"]
    ends = [id.rpartition("-")[2] for id in ids]
    ours, theirs = (f"run {end}" for end in ends) if ends[0] != ends[1] else ids
    several = any(len(one.frame.variants) > 1 for one in (first, second))
    return (f"{variant} in {ours}", f"{variant} in {theirs}") if several else (ours, theirs)


def _name_user_run_side(one: _NamedRun, variant: str) -> str:
    return f"baseline {one.asked.removeprefix(BASELINE_PREFIX)}" if one.asked.startswith(BASELINE_PREFIX) else variant


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonObjection:
    """One reason why two variants should not be compared: all that belongs to it, what would help, and why."""

    what: str
    parts: tuple[str, ...]
    fix: str
    why_fix: str = ""


FORCE_HINT = "; --force compares them all the same"


def refuse_user_runs(objections: Sequence[ComparisonObjection]) -> None:
    """All that speaks against it, at once."""
    faults = []
    for one in objections:
        fix = f"{one.fix}: {one.why_fix}" if one.why_fix else one.fix
        faults.append(Fault(f"{one.what}: {'; '.join(one.parts)}", f"{fix}{FORCE_HINT}"))
    if faults:
        raise InputError(*faults)


def refuse_unpaired_user_runs(sides: Sequence[UserRunSide]) -> None:
    """A preference is one over the control of its own run: held against anything else it means nothing."""
    control = sides[0]
    for side in sides:
        rubrics = json.loads(side.run["setup"])["rubrics"].values()
        if not any(one["method"].get("dialogue") == "pairwise" for one in rubrics):
            continue
        if side.run["id"] != control.run["id"] or control.member.variant != side.frame.control:
            what = f"in run {side.run['id']} judges compared outputs with those of {side.frame.control!r} in that run"
            raise InputError(Fault(what, "put both variants into one eval, with that one as its control"))


def object_to_unfinished_user_runs(sides: Sequence[UserRunSide]) -> Iterator[ComparisonObjection]:
    """Runs that may still change, or never came to their end."""
    for run in {side.run["id"]: side.run for side in sides}.values():
        if run["state"] != "finished":
            part = f"{run['id']} ({run['state']})"
            fix = "wait for its end" if run["state"] == "running" else "evenhand run EVAL --resume finishes it"
            yield ComparisonObjection(what="a run is not finished", parts=(part,), fix=fix)


def object_to_setup_of_user_runs(control: UserRunSide, treatment: UserRunSide) -> Iterator[ComparisonObjection]:
    """Fingerprints that differ, with what is behind them."""
    ours, theirs = control.run, treatment.run
    if ours["fingerprint"] != theirs["fingerprint"]:
        setups = json.loads(ours["setup"]), json.loads(theirs["setup"])
        parts = list_setup_differences(*setups) or [f"fingerprint {ours['fingerprint']} → {theirs['fingerprint']}"]
        fix = "run one of them again as the other was"
        yield ComparisonObjection(what="the runs were not scored alike", parts=tuple(parts), fix=fix)
    elif control.frame.composite.needs_all_outputs:
        changes = control.frame.composite.list_changes()
        part = ", ".join(f"{name}: {word}" for name, word in changes.items() if name in ("standardise", "debias"))
        fix = "run both variants in one eval"
        what = "composites depend on the other outputs of their run"
        yield ComparisonObjection(what=what, parts=(part,), fix=fix)


def object_to_selection_of_user_runs(control: UserRunSide, treatment: UserRunSide) -> Iterator[ComparisonObjection]:
    """Runs that were told to take different samples."""
    selections = [json.loads(side.run["setup"]).get("selection") for side in (control, treatment)]
    if selections[0] != selections[1]:
        told = [describe_reported_selection(one) for one in selections]
        parts = [
            f"{side.name} ({side.run['id']}) took {f'only {part}' if part else 'all samples'}"
            for side, part in zip((control, treatment), told, strict=True)
        ]
        yield ComparisonObjection(
            what="one run took a part of the samples", parts=tuple(parts), fix="run both on the same samples"
        )


def object_to_missing_samples_of_user_runs(
    control: UserRunSide, treatment: UserRunSide, found: SharedSamples
) -> Iterator[ComparisonObjection]:
    """Samples that the treatment never had."""
    if found.only_first and found.both:
        part = f"{treatment.name} lacks {pluralize_count(len(found.only_first), 'sample')} of {control.name}"
        yield ComparisonObjection(
            what="samples are missing",
            parts=(f"{part}, first {found.only_first[0]!r}",),
            fix="run it on all samples",
            why_fix="what is left out may be what it is bad at",
        )


def object_to_changed_samples_of_user_runs(
    store: Store, control: UserRunSide, treatment: UserRunSide, found: SharedSamples
) -> Iterator[ComparisonObjection]:
    """Samples that are not the same under one id."""
    if found.changed:
        first = found.changed[0]
        rows = [
            next(row for row in store.samples(run["id"]) if row["id"] == first) for run in (control.run, treatment.run)
        ]
        one, other = (json.loads(row["content"]) for row in rows)
        fields = ", ".join(name for name in SAMPLE_PARTS if one.get(name) != other.get(name))
        several = pluralize_count(len(found.changed), "sample has", "samples have")
        told = f"{several} the same id but another {fields or 'content'} (first: {first})"
        fix = "give changed samples new ids, or run both on the same ones"
        yield ComparisonObjection(what="samples differ", parts=(told,), fix=fix)


def do_user_runs_lack_samples_by_lot(
    store: Store, control: UserRunSide, treatment: UserRunSide, found: SharedSamples
) -> bool:
    """Whether the treatment lacks samples only because it was decided before it had asked about all of them.

    It asks in a random order of positions, so what is missing must be at positions that it planned and did not come to.
    A file that lost a sample has others in its place and in those behind it, and one of them gives it away.
    """
    setup = json.loads(treatment.run["setup"])
    if not found.only_first or treatment.run["state"] != "finished" or not setup.get("until_decided"):
        return False
    asked = {row["position"] for row in store.samples(treatment.run["id"])}
    ours = {row["id"]: row["position"] for row in store.samples(control.run["id"])}
    return all(ours[id] < setup["samples"] and ours[id] not in asked for id in found.only_first)


def object_to_layers_of_user_runs(
    sides: Sequence[UserRunSide], pairs: JoinedRunResults
) -> Iterator[ComparisonObjection]:
    """Composites that are means of different things."""
    sets = [pairs.layer_sets(place) for place in range(len(sides))]
    if len({layers for found in sets for layers in found}) <= 1:
        return
    told = [
        " and ".join(
            f"{' + '.join(map(word_layer, layers)) or 'no layers'} ({pluralize_count(count, 'sample')})"
            for layers, count in found.items()
        )
        for found in sets
    ]
    parts = [f"{side.name} by {layers}" for side, layers in zip(sides, told, strict=True) if layers]
    fix = "configure the same checks for all samples of both"
    yield ComparisonObjection(what="composites are of different layers", parts=tuple(parts), fix=fix)


Json = dict[str, Any]
SAMPLE_MULTIPLES = (1, 2, 5, 10)  # As many samples as there are, and more.


def requested_power_json(comparison: Comparison, treatments: int = 1) -> Json:
    """The chance to see a difference with so many samples, how many give four of five, and what these have shown.

    Several treatments share the 5%, as in a plan.
    """
    found, band = comparison.composite, comparison.power
    if found is None or band is None:
        raise InputError(Fault("nothing was compared, so its power is not known", "score more samples with both"))
    step, level = band.step or 0.0, 1 - SIGNIFICANCE_LEVEL / treatments
    effects = {"observed": abs(found.estimate), "smallest": band.smallest_effect}
    terms: Json = {"step": step, "level": level, "span": SPAN_OF_COMPOSITES if found.is_scale_bound else None}
    seen = needed_for(effects["observed"], found.sd, **terms) if effects["observed"] else None
    needed = {"observed": None if seen is None else max(LEAST_NEEDED, seen), "smallest": band.needed}
    states = _requested_effect_json(comparison, found, band.smallest_effect)
    sizes = {found.n * times for times in SAMPLE_MULTIPLES} | {n for n in needed.values() if n is not None}
    return {
        "pairs": found.n,
        "unit": "cluster" if comparison.clusters else "sample",
        "sd": round(found.sd, 6),
        **{
            name: {
                "effect": round(effects[name], 6),
                "needed": n,
                "more": None if n is None else max(0, n - found.n) if states[name] == "open" else 0,
                "state": states[name],
            }
            for name, n in needed.items()
        },
        "table": [
            {"n": n} | {name: round(power_of(n, one, found.sd, **terms).power, 4) for name, one in effects.items()}
            for n in sorted(sizes)
        ],
        "method": power_of(max(2, found.n), band.smallest_effect, found.sd, step=step).method,
    }


def _requested_effect_json(comparison: Comparison, found: Difference, smallest: float) -> dict[str, str | None]:
    """What these pairs have shown: "shown", "ruled out", "open", or None where the verdict does not turn on it."""
    significant = comparison.p is not None and comparison.p < SIGNIFICANCE_LEVEL
    few, beyond = found.n < LEAST_NEEDED, is_treatment_difference_beyond(found, smallest)
    # A loss is a loss from 5 pairs on; a gain has to be certain.
    observed = "shown" if significant and (found.estimate < 0 or beyond or not few) else "open"
    if significant and beyond:
        return {"observed": observed, "smallest": "shown"}
    if not few and not does_treatment_effect_reach(found, smallest):
        return {"observed": observed, "smallest": "ruled out"}
    return {"observed": observed, "smallest": None if significant else "open"}
