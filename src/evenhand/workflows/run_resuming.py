"""How a run begins, goes on and is left: what to say before anything is asked, what is left to do, and why it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any

from evenhand.compare.run_decision import list_decision_terms_for_stopping
from evenhand.compare.setup_differences import list_compared_run_differences
from evenhand.compare.stopping import EarlyVerdictRule
from evenhand.errors import EvalError, Fault, RunLostError, StoreError, suggest_close_word_in_error
from evenhand.evals.eval_definition import Eval, RecheckedSamples, SampleCounts
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants.variant import ModelVariant
from evenhand.judging.open_judge import (
    REFERENCE_FIELD,
    UnanswerableCriterion,
    describe_criteria_unfit_for_judges,
    list_criteria_unfit_for_judges,
)
from evenhand.model.method import LEAST_TO_NORMALISE
from evenhand.model.rubric import Rubric
from evenhand.models.budget import Budget
from evenhand.models.connections import Connections
from evenhand.models.model_names import is_decision_model_name
from evenhand.models.requests import EMBEDDED
from evenhand.runs.batches import RunBatches
from evenhand.runs.cascade_draw import StopRunOnceDecided, shuffle_run_order
from evenhand.runs.execute import RunProgress, RunWorker, drop_replies_unneeded_by_run
from evenhand.runs.kept_texts import is_output_of_run_kept_raw
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.run_record import (
    RunRecorder,
    add_pause_to_run_record,
    find_run_record_by_digest,
    read_run_eval_record,
)
from evenhand.runs.setup import RunSetup
from evenhand.store.rows import Row, StoreWriter
from evenhand.store.run_holds import name_lock_process
from evenhand.store.store import Store
from evenhand.wording import join_names, pluralize_count, read_kept_amount
from evenhand.workflows.inputs import suggest_judge_for_author

Json = dict[str, Any]
SAMPLES_CHANGED = "the samples changed while the run was going on: run it again"
STOPPED_BY_HAND = "stopped by hand"
BALANCED_ORDERS = "balanced_orders"  # In what a run was begun with; in older ones each reviewer drew its own.
MOST_CHANGES = 3  # That are named where a run cannot be resumed.


def begin_run_progress_for_user(
    store: Store, row: Row, planned: RunSetup, counted: SampleCounts, *, goes_on: bool
) -> tuple[RunProgress, StopRunOnceDecided | None]:
    """What there is to do, with notes on what would surprise whoever waits for it; and the rule to end early by."""
    eval, total, recorded = planned.eval, counted.samples * planned.eval.repeats, json.loads(row["setup"])
    until = recorded.get("until_decided")  # Part of the run: it does not change when it is resumed.
    ending = None if until is None else _load_run_ending_for_user(store, row["id"], eval, recorded)
    notes = list_notes_before_run(eval, counted)
    if row["taken_from"] is not None and not goes_on:
        notes.insert(0, explain_run_not_resumed_to_user(store, row))
    if EMBEDDED in eval.judges:
        notes.append(describe_criteria_unfit_for_judges(list_user_eval_unanswerable(eval), REFERENCE_FIELD))
    course = RunProgress(
        total=total,
        repeats=planned.eval.repeats,
        outputs=total * len(eval.variants),
        to_make=total * sum(variant.live for variant in eval.variants.values()),
        judges=tuple(judge.name for judge in planned.judges),
        fresh=bool(recorded.get("fresh")),
        until=ending.until if ending else "",
        note="; ".join(filter(None, notes)),
    )
    return course, ending


def find_run_to_resume(store: Store, name: str, digest: str, id: str | None) -> Row | None:
    """The run of that id, which must be of the eval as it stands; without one, the last run of the eval."""
    if id is None:
        return find_run_record_by_digest(store, name, digest)
    last = next((one for one in store.list_runs(name) if one["id"] == id), None)
    if last is not None and last["digest"] != digest:
        what = f"run {id} was begun with another eval, or by another version of Evenhand"
        raise EvalError(Fault(what, "begin a new one"))
    return last


def add_pause_of_resumed_run(store: Store, row: Row, now: str) -> Row:
    """The row of a run with the time that nobody worked on it; one that was killed was left at its last result."""
    left = row["ended"] or store.rows.find_last_result_moment(row["id"]) or row["started"]
    return add_pause_to_run_record(row, left, now)


def keep_orders_of_resumed_run(setup: RunSetup, row: Row) -> RunSetup:
    """The setup with the orders that a run was begun with: in others, what is answered would be asked again."""
    eval, balanced = setup.eval, bool(json.loads(row["setup"]).get(BALANCED_ORDERS))
    how = replace(eval.how, balance_orders=eval.how.balance_orders and balanced)
    return replace(setup, eval=replace(eval, how=how))


def explain_run_not_resumed_to_user(store: Store, row: Row) -> str:
    """Why the run that was to be resumed cannot be: what changed since."""
    setups = (json.loads(one["setup"]) for one in (store.find_run(row["taken_from"]), row))
    parts = list_compared_run_differences(*setups)
    more = [f"{len(parts) - MOST_CHANGES} more"] if len(parts) > MOST_CHANGES else []
    changed = "; ".join([*parts[:MOST_CHANGES], *more])
    taken = "this is a new run that takes over what stayed the same"
    return f"run {row['taken_from']} cannot be continued, as this changed: {changed}. So {taken}"


def _load_run_ending_for_user(store: Store, run: str, eval: Eval, recorded: Json) -> StopRunOnceDecided:
    """The rule by which a run ends early, with the results that it has."""
    until = recorded["until_decided"]
    order, looks = shuffle_run_order(until["looks"][-1], until["seed"]), tuple(until["looks"])
    rule = EarlyVerdictRule(
        order=order,
        looks=looks,
        variants=tuple(eval.variants),
        control=eval.control,
        repeats=eval.repeats,
        seed=eval.how.seed,
        terms=list_decision_terms_for_stopping(read_run_eval_record(recorded["frame"])),
    )
    return StopRunOnceDecided(order, looks, rule.take_compared_scores, store.results(run))


def load_remaining_budget_for_user(eval: Eval, budget: Budget, store: Store, line: Sequence[str]) -> Budget:
    """The budget, with what earlier sittings of the same run, the first of its line, have spent of it."""
    paid, used = Decimal(0), 0
    asked = [name for name, variant in eval.variants.items() if isinstance(variant, ModelVariant)]
    if asked:  # Outputs that the run took over were paid for before.
        rows = (row for row in store.list_outputs(line[0]) if row["variant"] in asked)
        made = {row["key"]: json.loads(row["content"]) for row in rows}
        earlier = store.rows.find_outputs(list(made), line[1:])
        taken = [key for key, row in earlier.items() if is_output_of_run_kept_raw(row["content"])]
        for output in (output for key, output in made.items() if key not in taken):
            paid += read_kept_amount(output["cost"] or 0)
            used += (output.get("input_tokens") or 0) + (output.get("output_tokens") or 0)
    for call in store.call_facts(line[0]):
        if call["cached_from"] is None:
            paid += read_kept_amount(call["cost"] or 0)
            used += (call["input_tokens"] or 0) + (call["output_tokens"] or 0)
    return replace(budget, paid=paid, used=used)


async def drop_replies_to_the_end(worker: RunWorker) -> None:
    """Drop all of them, also of what is not finished: nobody knows when, or whether, the run goes on.

    Even if whoever stops the run does not want to wait: raw texts would be left.
    """
    dropping = asyncio.ensure_future(drop_replies_unneeded_by_run(worker, over=True))
    hurried = False
    while not dropping.done():
        try:
            await asyncio.wait([dropping])
        except asyncio.CancelledError:
            hurried = True
    try:
        dropping.result()
    except RunLostError:
        raise
    except StoreError as error:
        run = worker.book.hold.run
        hint = f"--resume replaces them, evenhand runs delete {run} removes them"
        raise StoreError(
            *error.faults, Fault(f"replies and outputs of run {run} are left as they came", hint)
        ) from None
    if hurried and not worker.course.stopping:
        raise asyncio.CancelledError


async def drop_texts_of_killed_runs(store: Store, line: Sequence[str], name: str, now: Callable[[], str]) -> bool:
    """Drop what killed runs had no time to, as their `keep` says, once a run that took over from them is over.

    They are stopped then, and can go on as others that were stopped. Whether there was any.
    """
    own = [row for row in store.list_runs(name) if row["id"] in line[1:]] if line[1:] else []
    killed = [row for row in own if row["keep"] != "raw" and row["state"] == "running" and not store.is_run_held(row)]
    for row in killed:
        hold = store.hold_run(row["id"], name_lock_process())
        with closing(StoreWriter(partial(store.write_rows, hold=hold))) as writer:
            memory = ReplyCache(RunRecorder(store, writer, hold, now, row["keep"]), lambda _: None)
            await memory.drop_finished_replies(lambda *_: True, row["keep"])
        store.release_run(row["id"], "stopped", now(), None, hold=hold)
    return bool(killed)


def explain_stopped_run(course: RunProgress, memory: ReplyCache, samples: RecheckedSamples) -> tuple[str, bool]:
    """Why a run ends before all is done, "" where it does not, and whether it goes on only with a larger budget."""
    if samples.changed:
        return SAMPLES_CHANGED, False
    if course.settled:
        return "", False
    if course.stopping and not course.complete:
        return STOPPED_BY_HAND, False
    return str(memory.spent or memory.silent or ""), memory.spent is not None


def stop_asking_for_run(connections: Connections, batches: RunBatches | None) -> None:
    """Ask nothing more, directly or in a batch."""
    connections.shut()
    if batches is not None:
        batches.stop()


SAMPLES_FOR_LIMITS = 50  # Samples that are looked at for a reference: where one has none, few others have.


def list_notes_before_run(eval: Eval, counted: SampleCounts) -> list[str]:
    """What should be known of an eval before anything is paid for."""
    samples = eval.samples if counted.kept is None else counted.kept.samples
    first = list(islice(samples, SAMPLES_FOR_LIMITS))
    authors = dict.fromkeys(_find_author_near_judges(eval, sample, name) for sample in first for name in eval.variants)
    near = {author: suggest_judge_for_author(author, eval.judges) for author in authors if author}
    unknown = [f"{author!r} (did you mean {judge!r}?)" for author, judge in near.items() if judge]
    if unknown:
        unknown = [f"no judge is called {join_names(unknown)}: a judge is kept from its own outputs by its name"]
    unnamed = (name for name in counted.variants if name not in eval.variants)
    strangers = [_warn_user_of_unknown_variant(eval, counted, name) for name in unnamed]
    normalised = [rubric for rubric in eval.all_rubrics.values() if rubric.method.panel.normalise == "z"]
    few = _warn_user_of_few_outputs_to_normalise(eval, normalised, first) if normalised else ""
    return list(filter(None, (*eval.notes, counted.mixed, *unknown, *strangers, few)))


def _warn_user_of_unknown_variant(eval: Eval, counted: SampleCounts, name: str) -> str:
    """What to say of outputs that samples have under a name that is probably a slip; else nothing.

    A file may hold outputs of other variants on purpose: then all samples have one, under a name of its own.
    """
    count, hint = counted.variants[name], suggest_close_word_in_error(name, eval.variants)
    if count == counted.samples and not hint:
        return ""
    whose = f"{pluralize_count(count, 'sample')} {'has' if count == 1 else 'have'} an output of {name!r}"
    return f"{whose}, which is no variant of this eval" + (f" ({hint})" if hint else "")


def list_user_eval_unanswerable(eval: Eval) -> tuple[UnanswerableCriterion, ...]:
    """The criteria of an eval that its judges cannot answer, whatever the outputs."""
    if not eval.rubrics or any(name != EMBEDDED and not is_decision_model_name(name) for name in eval.judges):
        return ()
    known = list(islice(eval.samples, SAMPLES_FOR_LIMITS))
    given = {"has_reference": any(one.reference for one in known), "has_context": any(one.context for one in known)}
    found = [list_criteria_unfit_for_judges(rubric, eval.judges, **given) for rubric in eval.rubrics.values()]
    return tuple(one for several in found for one in several)


def _warn_user_of_few_outputs_to_normalise(eval: Eval, rubrics: Sequence[Rubric], known: Sequence[EvalSample]) -> str:
    """What to say where rubrics normalise reviewers and some score too few outputs of a sample for it; else nothing.

    A reviewer does not score the outputs that it wrote, unless the rubric lets it.
    """
    most = dict.fromkeys(eval.judges, len(eval.variants))
    if known and not any(rubric.method.panel.self_votes for rubric in rubrics):
        authors = [[_find_author_near_judges(eval, sample, name) for name in eval.variants] for sample in known]
        most = {judge: max(len(eval.variants) - one.count(judge) for one in authors) for judge in eval.judges}
    few = [judge for judge, outputs in most.items() if outputs < LEAST_TO_NORMALISE]
    if not few:
        return ""
    scored = pluralize_count(max(most[judge] for judge in few), "output")
    at_most = "" if len({most[judge] for judge in few}) == 1 else "at most "
    all_judges = len(few) == len(most)
    who = f"each judge scores {at_most}{scored}" if all_judges else f"{join_names(few)} score {at_most}{scored}"
    own = "" if len(eval.variants) < LEAST_TO_NORMALISE else ", not its own" if all_judges else ", not their own"
    does = "does nothing here" if all_judges else "leaves some judges as they are"
    counts = "every judge's scores count as they are" if all_judges else "their scores count as they are"
    return (
        f"normalise: z {does}: it needs {LEAST_TO_NORMALISE} outputs of one sample scored by a judge, and {who} of a "
        f"sample{own}; {counts}"
    )


def _find_author_near_judges(eval: Eval, sample: EvalSample, variant: str) -> str | None:
    maker, recorded = eval.variants[variant], sample.outputs.get(variant)
    return maker.model if isinstance(maker, ModelVariant) else recorded.author if recorded else None
