"""Compare stored runs: variants chosen, paired, checked, decided, told as plain data."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.compare.decide import DEFAULT_LAYER_GATE, decide_comparison
from evenhand.compare.decision import (
    PASS_RATE,
    SCORED_GATE,
    CompareDecision,
    ForcedComparison,
    GateSamples,
    GateState,
    VariantColumn,
    encode_compare_decision,
    read_compared_gate_state,
)
from evenhand.compare.facts import PositionPicks
from evenhand.compare.run_decision import list_decision_terms, list_looks_behind_verdict, list_position_picks
from evenhand.errors import Fault, InputError
from evenhand.report.result_view import ReportedResult
from evenhand.runs.columns import JoinedRunResults, SharedSamples, find_samples_in_both_runs, join_run_result_rows
from evenhand.stats.arrays import Undefined
from evenhand.stats.multiple_tests import Looks
from evenhand.stats.ratings import Agreement
from evenhand.store.store import Store
from evenhand.workflows.compare_sides import (
    ComparisonObjection,
    UserRunSide,
    choose_sides_for_user,
    do_user_runs_lack_samples_by_lot,
    object_to_changed_samples_of_user_runs,
    object_to_layers_of_user_runs,
    object_to_missing_samples_of_user_runs,
    object_to_selection_of_user_runs,
    object_to_setup_of_user_runs,
    object_to_unfinished_user_runs,
    refuse_unpaired_user_runs,
    refuse_user_runs,
    requested_power_json,
)
from evenhand.workflows.report import load_run_report
from evenhand.workflows.stores import StoreLike, with_opened_user_store

if TYPE_CHECKING:
    from evenhand.report.result_view import ReportedResultView
    from evenhand.workflows.run import RunResult

Json = dict[str, Any]
SAMPLE_IDS_NAMED = 5  # Ids that are named of samples that only one run has; all are counted.


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareTerms:
    """`control` is a variant, where those of one run are compared; with `force` what differs is marked, not refused."""

    control: str | None = None
    not_worse_by: float | None = None
    force: bool = False
    power: bool = False  # Also how many samples would settle it.


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CompareResult(ReportedResult):
    """What a comparison of stored runs came to; `forced` lists what it was made in spite of."""

    control: UserRunSide
    treatments: tuple[UserRunSide, ...]
    samples: Json
    notes: tuple[str, ...]
    forced: tuple[str, ...]
    decision: CompareDecision
    power: Json | None
    scales: Json
    people_scale: Json | None = None  # By the labels of people, where the runs have some.

    @property
    def exit_code(self) -> int:
        """0 where the treatments may be shipped."""
        return self.decision.exit_code

    def build_view(self) -> ReportedResultView:
        """What is shown of it."""
        from evenhand.report.result_view import view_reported_comparison

        return view_reported_comparison(self.to_json())

    def to_rows(self) -> list[Json]:
        """A dict for each difference: of the composite, of every layer and of every criterion."""
        from evenhand.report.result_view import list_reported_comparison_rows

        return list(list_reported_comparison_rows(self.to_json()))

    def to_json(self) -> Json:
        """As plain data."""
        return {
            "control": self.control.to_json(),
            "treatments": [side.to_json() for side in self.treatments],
            "samples": self.samples,
            "notes": list(self.notes),
            "forced": list(self.forced),
            "decision": encode_compare_decision(self.decision),
            "power": self.power,
            "scales": self.scales,
            **({} if self.people_scale is None else {"people_scale": self.people_scale}),
        }


def compare(
    control: RunResult | str,
    treatment: RunResult | str | None = None,
    *,
    variant: str | None = None,
    store: StoreLike = None,
    terms: CompareTerms = CompareTerms(),  # noqa: B008 - frozen
) -> CompareResult:
    """The decision between two runs, each a result or an id, or between the variants of one.

    `variant` is the one to compare where runs have several. Runs given by id alone are looked for in `store`, which
    is that of the environment unless it is given.
    """
    given = [one for one in (control, treatment) if one is not None]
    wrong = next((one for one in given if not isinstance(one, str) and not hasattr(one, "head")), None)
    if wrong is not None:
        hint = 'as in compare(before, after) or compare("latest", "baseline:main")'
        raise InputError(Fault(f"a run is a RunResult or its id, got {type(wrong).__name__}", hint))
    results = [one for one in given if not isinstance(one, str)]
    stores = list(dict.fromkeys(str(one.store) for one in results))
    if len(stores) > 1 and store is None:
        hint = "evenhand runs export and import bring a run from one store to another"
        raise InputError(Fault(f"the runs are in two stores: {' and '.join(stores)}", hint))
    ids = [one if isinstance(one, str) else one.id for one in given]
    named = [one if variant is None else f"{one}:{variant}" for one in ids]
    return compare_runs(store or (results[0].store if results else None), *named, terms=terms)


@with_opened_user_store
def compare_runs(
    store: Store,
    *runs: str,
    terms: CompareTerms = CompareTerms(),  # noqa: B008 - frozen
) -> CompareResult:
    """The decision between two runs, the first being the control, or between the variants of one.

    A run is given as `Store.run` takes it, with ":VARIANT" behind it where it has several.
    """
    sides = choose_sides_for_user(store, runs, terms.control)
    refuse_unpaired_user_runs(sides)
    control, *treatments = sides
    common = [find_samples_in_both_runs(control.member, side.member) for side in treatments]
    for side, shared in zip(treatments, common, strict=True):
        if not shared.both:  # There is nothing that could be forced.
            hint = "samples are paired by their ids: are these runs of the same eval?"
            raise InputError(Fault(f"{control.name} and {side.name} have no sample in common", hint))
    by_lot = [
        do_user_runs_lack_samples_by_lot(store, control, side, found)
        for side, found in zip(treatments, common, strict=True)
    ]
    pairs = join_run_result_rows([side.member for side in sides])
    objections = [
        *object_to_unfinished_user_runs(sides),
        *_list_run_objections_for_user(store, sides, common, by_lot),
        *object_to_layers_of_user_runs(sides, pairs),
    ]
    if not terms.force:
        refuse_user_runs(objections)
    forced = None
    if objections:
        forced = ForcedComparison(
            why="; ".join(dict.fromkeys(objection.what for objection in objections)),
            doubt="the difference may come from that" if treatments else "that may have made it what it is",
            fix="; ".join(dict.fromkeys(objection.fix for objection in objections)),
        )
    found = decide_user_runs(store, sides, pairs, terms, forced)
    return CompareResult(
        control=control,
        treatments=tuple(treatments),
        samples=_count_paired_user_samples(control, common),
        notes=(*_note_about_runs_for_user(sides, common, by_lot, pairs), *found.notes),
        forced=tuple(part for objection in objections for part in objection.parts),
        decision=found.decision,
        power=_user_runs_power_json(found, sides, pairs) if terms.power else None,
        scales={one["id"]: one["ends"] for rubric in control.frame.rubrics for one in rubric["criteria"]},
        people_scale=_load_people_scale_of_user_runs(store, sides),
    )


def _count_paired_user_samples(control: UserRunSide, common: Sequence[SharedSamples]) -> Json:
    """Over all treatments: what is in all of them is paired."""
    ids = {
        "only_control": dict.fromkeys(id for shared in common for id in shared.only_first),
        "only_treatment": dict.fromkeys(id for shared in common for id in shared.only_second),
        "changed": dict.fromkeys(id for shared in common for id in shared.changed),
    }
    named = {name: {"count": len(some), "first": list(some)[:SAMPLE_IDS_NAMED]} for name, some in ids.items()}
    return {"both": len(control.member.samples) - len(ids["only_control"]), **named}


def _load_people_scale_of_user_runs(store: Store, sides: Sequence[UserRunSide]) -> Json | None:
    if not any(list(store.labels(side.run["id"])) for side in sides):
        return None
    from evenhand.workflows.people_scale import compare_runs_on_people_scale, encode_people_scale  # most have no labels

    found = compare_runs_on_people_scale(store, sides)
    return None if found is None else encode_people_scale(found)


def _list_run_objections_for_user(
    store: Store, sides: Sequence[UserRunSide], common: Sequence[SharedSamples], by_lot: Sequence[bool]
) -> list[ComparisonObjection]:
    control, *treatments = sides
    objections: list[ComparisonObjection] = []
    for side, found, lot in zip(treatments, common, by_lot, strict=True):
        if side.run["id"] != control.run["id"]:
            selected = list(object_to_selection_of_user_runs(control, side))
            objections += [*object_to_setup_of_user_runs(control, side), *selected]
            if not lot and not selected:  # Where a part was asked for, that is why samples are missing.
                objections += object_to_missing_samples_of_user_runs(control, side, found)
            objections += object_to_changed_samples_of_user_runs(store, control, side, found)
    return objections


def _note_about_runs_for_user(
    sides: Sequence[UserRunSide], common: Sequence[SharedSamples], by_lot: Sequence[bool], pairs: JoinedRunResults
) -> list[str]:
    """What a reader should know that is no reason to refuse."""
    control, *treatments = sides
    notes = [
        f"the run of {side.name} was decided before it came to {len(found.only_first):,} of the samples of "
        f"{control.name}: left out at random"
        for side, found, lot in zip(treatments, common, by_lot, strict=True)
        if lot
    ]
    notes += [
        f"{len(found.only_second):,} of the samples of {side.name} are not in {control.name}, and left out"
        for side, found in zip(treatments, common, strict=True)
        if found.only_second
    ]
    notes += [
        f"{count:,} outputs of {side.name} are repeats that the other has not, and left out"
        for side, count in zip(sides, pairs.unpaired, strict=True)
        if count
    ]
    guests = dict.fromkeys(side.run["id"] for side in sides if side.run["imported"])
    notes += [f"run {id} was imported: its replies are what its file says" for id in guests]
    gates = {tuple(sorted(side.frame.gates.items())) for side in sides}
    notes += [f"the gates are those of {sides[-1].name}"] if len(gates) > 1 else []
    tried = len(control.frame.variants) - 1
    # One treatment picked from several of a run looks better than it is: nothing allows for the others.
    if len({side.run["id"] for side in sides}) == 1 and len(treatments) == 1 and tried > 1:
        notes.append(f"{sides[1].name} is one of {tried} treatments of its run: p is not adjusted for the others")
    return notes


def _user_runs_power_json(found: DecidedComparison, sides: Sequence[UserRunSide], pairs: JoinedRunResults) -> Json:
    compared = found.decision.comparisons
    return {one.treatment: requested_power_json(one, len(compared)) for one in compared if one.composite is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedComparison:
    """A decision and what it was decided by; `notes` are for its reader."""

    decision: CompareDecision
    columns: Mapping[str, VariantColumn]
    notes: tuple[str, ...]


def decide_user_runs(
    store: Store,
    sides: Sequence[UserRunSide],
    pairs: JoinedRunResults,
    terms: CompareTerms,
    forced: ForcedComparison | None = None,
) -> DecidedComparison:
    """Held to the gates, the smallest effect and the seed of whoever may be shipped."""
    frame = sides[-1].frame
    layers, columns = _load_paired_columns_of_user_runs(sides, pairs)
    _refuse_cascade_runs_to_compare(sides, columns, terms)
    layer_gates = dict.fromkeys(layers, DEFAULT_LAYER_GATE) | frame.list_layer_gates(layers)
    # What a run came to when it ended; of one that has not, what it has come to.
    runs = {side.run["id"]: side.run["summary"] for side in sides}
    heads = {id: json.loads(kept) if kept else load_run_report(store, id)[0] for id, kept in runs.items()}
    looked = next((side for side in reversed(sides) if _load_looks_of_user_runs(side) is not None), None)
    decision = decide_comparison(
        columns,
        control=sides[0].name,
        clusters=pairs.clusters,
        samples=pairs.samples,
        gates=frame.list_layer_gates(layers),
        other_gates={
            side.name: _choose_gates_of_user_side(side, heads[side.run["id"]], layers, sides) for side in sides
        },
        short_samples={
            side.name: _load_short_samples_of_user_runs(side, heads[side.run["id"]], layer_gates) for side in sides
        },
        judges={side.name: pairs.judges(place) for place, side in enumerate(sides)},
        aligned=load_label_agreement_for_user(store, sides),
        picks=_list_position_picks_of_user_runs(sides, heads),
        **list_decision_terms(frame),
        not_worse_by=terms.not_worse_by,
        seed=frame.seed,
        looks=_load_looks_of_user_runs(looked) if looked else None,
        forced=forced,
    )
    note = f"the run of {looked.name} was looked at while it came in: intervals and p allow for that" if looked else ""
    notes = (note,) if note and decision.comparisons else ()
    return DecidedComparison(decision=decision, columns=columns, notes=notes)


def _list_position_picks_of_user_runs(
    sides: Sequence[UserRunSide], heads: Mapping[str, Json]
) -> dict[str, tuple[PositionPicks, ...]]:
    """Of pairs within one run; others are not compared."""
    found = heads[sides[0].run["id"]].get("preferences", {}).get("picked_by_position", ())
    return list_position_picks(found, sides[0].member.variant)


def _refuse_cascade_runs_to_compare(
    sides: Sequence[UserRunSide], columns: Mapping[str, VariantColumn], terms: CompareTerms
) -> None:
    """An error where a cascade scored the outputs, and what is asked for needs the strong judge on all of them."""
    if not any(one.cascade for one in columns.values()):
        return
    if len({side.run["id"] for side in sides}) > 1:
        what = "a cascade passes on the variants of one run together: those of different runs make no pairs"
        raise InputError(Fault(what, "put both variants into one eval: what was judged is kept"))
    if terms.not_worse_by is not None:
        what = "--not-worse-by needs the strong judge on every sample, and a cascade asked it about some"
        raise InputError(Fault(what, "run the eval with the strong judge alone"))


def _choose_gates_of_user_side(
    side: UserRunSide, head: Json, layers: Collection[str], sides: Sequence[UserRunSide]
) -> tuple[GateState, ...]:
    """The gates that a variant was held to in its run, but for those of layers that are compared.

    Nor is a pass rate that nobody wrote, which runs of older versions have, nor, between two, that all has a score.
    """
    left_out = {*layers, *({SCORED_GATE} if len(sides) > 1 else ()), *({PASS_RATE} - side.frame.gates.keys())}
    states = head["decision"]["gates"].get(side.member.variant, ())
    return tuple(read_compared_gate_state(state) for state in states if state["gate"] not in left_out)


def _load_paired_columns_of_user_runs(
    sides: Sequence[UserRunSide], pairs: JoinedRunResults
) -> tuple[tuple[str, ...], dict[str, VariantColumn]]:
    """The layers that every composite was computed from, and what each side scored.

    Where layers differ, by those that all have: means of different things are no match.
    """
    sets = {layers for place in range(len(pairs.members)) for layers in pairs.layer_sets(place)}
    every, differ = tuple(sorted(set.intersection(*map(set, sets)))) if sets else (), len(sets) > 1
    if differ and not every:
        what = "no layer is behind all composites: there is nothing to compare by"
        raise InputError(Fault(what, "configure the same checks for all samples of both"))
    columns = {}
    for place, side in enumerate(sides):
        own = pairs.layers(place)
        columns[side.name] = VariantColumn(
            composite=pairs.composite(place, every if differ else None),
            layers={name: own[name] for name in every} if differ else own,
            criteria=pairs.criteria(place),
            cascade=pairs.cascade(place),
        )
    return every, columns


def _load_looks_of_user_runs(side: UserRunSide) -> Looks | None:
    return list_looks_behind_verdict(json.loads(side.run["setup"]), len(side.member.samples))


def _load_short_samples_of_user_runs(
    side: UserRunSide, head: Json, layer_gates: Mapping[str, float]
) -> dict[str, GateSamples | None]:
    """The samples below the gate of each layer, as the run of the variant has them; those of another gate are not."""
    states = map(read_compared_gate_state, head["decision"]["gates"].get(side.member.variant, ()))
    return {state.gate: state.short for state in states if layer_gates.get(state.gate) == state.min}


def load_label_agreement_for_user(store: Store, sides: Sequence[UserRunSide]) -> Agreement | Undefined | None:
    """By the labels of the treatments' run, else by those of the control's; None where nobody labelled anything."""
    for side in reversed(sides):
        if list(store.labels(side.run["id"])):
            from evenhand.calibrate.human_agreement import measure_panel_human_agreement  # most runs have no labels
            from evenhand.workflows.run_labels import load_kept_labels

            return measure_panel_human_agreement(side.member.table, load_kept_labels(store, side.member.table))
    return None
