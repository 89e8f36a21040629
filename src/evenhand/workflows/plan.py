"""Plan a run: every first question is made, counted and looked up, and none is sent."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from itertools import islice
from typing import Any

from evenhand.errors import OutputError, RefusedError, StoreError
from evenhand.evals.eval_definition import Eval, SampleCounts, check_eval_samples
from evenhand.evals.eval_schema import eval_schema
from evenhand.evals.eval_scoring import PAIRWISE
from evenhand.evals.sample import EvalSample, read_sample_output_json
from evenhand.evals.variants.makers import Variant, open_variant_output_makers
from evenhand.evals.variants.variant import ModelVariant
from evenhand.guards.output_guards import list_guard_findings
from evenhand.judging.judge import ask_judges_for_reviews, ask_pairwise_judge_dialogues
from evenhand.model.sample import VariantOutput
from evenhand.models.budget import Budget
from evenhand.models.connections import Connections
from evenhand.models.prices import Prices
from evenhand.models.requests import (
    EMBEDDED,
    CallNext,
    ChainedModel,
    Reply,
    Request,
    TokenUsage,
    estimate_input_tokens,
    join_repeated_prompt_beginning,
)
from evenhand.runs.reply_cache import run_reply_key
from evenhand.runs.results import build_judged_sample
from evenhand.runs.run_record import find_run_record_by_digest, list_run_record_chain
from evenhand.runs.setup import RunSetup, build_run_setup
from evenhand.store.store import Store
from evenhand.workflows.plan_power import plan_power
from evenhand.workflows.run import (
    DEFAULT_OPTIONS,
    EvalLike,
    RunOptions,
    narrow_user_eval,
    resolve_user_eval,
)
from evenhand.workflows.run_batches import refuse_run_without_batches
from evenhand.workflows.run_cascade import plan_cascade_of_run
from evenhand.workflows.run_resuming import (
    keep_orders_of_resumed_run,
    list_notes_before_run,
    list_user_eval_unanswerable,
    load_remaining_budget_for_user,
)

__all__ = ["eval_schema", "plan_run"]

Json = dict[str, Any]
MadeOutputs = Mapping[tuple[str, int], VariantOutput]  # By variant and repeat.
SAMPLES_PLANNED = 1000  # Samples whose questions are made; what is beyond is taken to be like them.
TYPICAL_REPLY_TOKENS = 300  # Tokens.
BYTES_PER_TOKEN = 3  # As estimate_input_tokens counts them.
CACHING_PROVIDERS = ("openai/", "anthropic/")  # Of other servers nobody knows what they keep.
LEAST_CACHED_TOKENS = 1_024  # A shorter beginning is not kept; some models of Anthropic want more.
PROVIDER_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
ENGLISH_BYTES_PER_TOKEN = 4  # So that nothing is called long enough that may not be.


@dataclass(slots=True)
class PlannedQuestionMeter:
    """Middleware that counts what a model would be asked, and asks nothing."""

    model: ChainedModel
    store: Store | None
    repeats: Sequence[int] = ()  # For which the next questions are asked.
    calls: int = 0
    kept: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0  # Of the input: what the server has read before and keeps.
    _seen: set[str] = field(default_factory=set)
    _begun: set[str] = field(default_factory=set)  # Beginnings that the server has read.

    async def count_question(self, request: Request, call_next: CallNext) -> Reply:
        """Count the question for every repeat, and refuse it."""
        keys = [run_reply_key(self.model, request, repeat) for repeat in self.repeats]
        new = [key for key in keys if key not in self._seen]
        self._seen.update(new)
        kept = len(self.store.find_cached_replies(new)) if self.store else 0
        self.calls += len(new)
        self.kept += kept
        if self.model.name != EMBEDDED:  # Rules read no tokens.
            self.input += estimate_input_tokens(request) * (len(new) - kept)
            self.output += min(TYPICAL_REPLY_TOKENS, request.settings.max_tokens) * (len(new) - kept)
            self._count_cached(join_repeated_prompt_beginning(request), len(new) - kept)
        raise RefusedError("planned, not asked")

    def _count_cached(self, beginning: str, asked: int) -> None:
        """Count a beginning that is long enough to be kept, from the second time on."""
        size = len(beginning.encode("utf-8", "replace"))
        if asked < 1 or size < LEAST_CACHED_TOKENS * ENGLISH_BYTES_PER_TOKEN:
            return
        self.cached += size // BYTES_PER_TOKEN * (asked - (beginning not in self._begun))
        self._begun.add(beginning)


@dataclass(slots=True)
class PlannedOutputMeter:
    """What a variant would be asked to make."""

    taken: int = 0  # Made by earlier runs of the same line.
    calls: int = 0
    input: int = 0
    output: int = 0

    def add_sample(self, variant: Variant, sample: EvalSample, repeats: int, taken: int) -> None:
        """Count what it would make of one sample."""
        self.taken += taken
        if isinstance(variant, ModelVariant):
            with suppress(OutputError):  # Its prompt asks for what the sample lacks: nothing is asked.
                request = Request(dialogue="variant", messages=variant.build_messages(sample))
                calls = repeats - taken
                self.calls += calls
                self.input += estimate_input_tokens(request) * calls
                self.output += min(TYPICAL_REPLY_TOKENS, variant.settings.max_tokens) * calls


async def plan_run(eval: EvalLike, *, options: RunOptions = DEFAULT_OPTIONS, sd: float | None = None) -> Json:
    """What a run of an eval, begun so, would ask, of whom, about what it would cost and show.

    `sd` is how far differences between variants scatter, in points; without it, as far as in the last run.
    """
    eval = narrow_user_eval(resolve_user_eval(eval), options)
    counted = check_eval_samples(eval, os.environ)
    eval = replace(eval, own_rubrics=counted.rubrics)
    prices = Prices.load(eval.prices) if eval.prices else Prices.shipped()
    environ, unset = _stand_in_for_keys_in_plan(eval, os.environ)
    connections = Connections(environ, limits=eval.limits, budget=eval.budget, prices=prices)
    async with (
        connections.hide_variables(eval.sent_variables),
        # What could not be made is said now, as the run would say it.
        open_variant_output_makers(eval.variants, connections, os.environ, eval.limits.concurrency),
    ):
        setup = build_run_setup(eval, connections, counted.questions)
        if options.batch:
            refuse_run_without_batches(eval, setup.judges, connections)
        with _open_existing_user_store() as store:
            meters = [PlannedQuestionMeter(model, None if options.fresh else store) for model in setup.judges]
            digest = setup.digest_with_samples(counted.digest)
            row = find_run_record_by_digest(store, eval.name, digest) if store is not None and options.resume else None
            runs = list_run_record_chain(store, row) if store is not None and row is not None else []
            setup = setup if row is None else keep_orders_of_resumed_run(setup, row)
            planned = await _plan_first_samples(store, setup, runs, meters)
            power = _plan_run_power(store, eval, counted, sd)
            budget = eval.budget
            if budget is not None and store is not None and row is not None and row["digest"] == digest:
                budget = load_remaining_budget_for_user(eval, budget, store, runs)
        share, outputs = max(1.0, counted.samples / SAMPLES_PLANNED), counted.samples * eval.repeats
        variants = [
            _planned_variant_json(name, variant, outputs, planned[name], connections, share)
            for name, variant in eval.variants.items()
        ]
        judges = [_planned_judge_json(meter, connections, share, in_batch=bool(options.batch)) for meter in meters]
        cascade, judges = plan_cascade_of_run(eval, counted.samples, judges)
        total = _planned_run_total_json(variants, judges)
        return {
            "name": eval.name,
            "samples": counted.samples,
            "selection": options.selection.to_json(),
            "repeats": eval.repeats,
            "looked_at": min(SAMPLES_PLANNED, counted.samples),
            "fingerprint": setup.fingerprint,
            **({"batch": True} if options.batch else {}),
            "variants": variants,
            "judges": judges,
            **({} if cascade is None else {"cascade": cascade}),
            "total": total,
            "budget": None if budget is None else _planned_budget_json(budget, total),
            "power": power,
            "note": "; ".join([*unset, *list_notes_before_run(eval, counted)]) or None,
            "unanswerable": [asdict(one) for one in list_user_eval_unanswerable(eval)],
        }


def _stand_in_for_keys_in_plan(eval: Eval, environ: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The environment with something in place of keys that are not set, as nothing is asked; and notes on these."""
    asked = [*eval.judges, *(one.model for one in eval.variants.values() if isinstance(one, ModelVariant))]
    providers = {name.partition("/")[0].removesuffix("-decisions") for name in asked}
    needed = [name for provider, name in PROVIDER_KEYS.items() if provider in providers]
    unset = [name for name in needed if not environ.get(name, "").strip()]
    return {**environ, **dict.fromkeys(unset, "not-set")}, [f"{name} is not set: the run needs it" for name in unset]


async def _plan_first_samples(
    store: Store | None, setup: RunSetup, runs: list[str], meters: list[PlannedQuestionMeter]
) -> dict[str, PlannedOutputMeter]:
    """What making the outputs takes, by variant; what asking about them takes is counted by the meters."""
    eval = setup.eval
    planned = {name: PlannedOutputMeter() for name in eval.variants}
    for sample in islice(eval.samples, SAMPLES_PLANNED):
        texts = _load_outputs_to_plan(store, setup, runs, sample)
        taken = Counter(name for name, _ in texts)
        for name, variant in eval.variants.items():
            planned[name].add_sample(variant, sample, eval.repeats, taken[name])
        await _plan_run_questions(setup, sample, meters, texts)
    return planned


def _plan_run_power(store: Store | None, eval: Eval, counted: SampleCounts, sd: float | None) -> Json | None:
    planned = list(islice(eval.samples, SAMPLES_PLANNED))
    # Samples of one cluster count as one.
    units = {position if sample.cluster is None else sample.cluster for position, sample in enumerate(planned)}
    return plan_power(
        store,
        eval.name,
        treatments=[name for name in eval.variants if name != eval.control],
        pairs=round(len(units) * max(1.0, counted.samples / SAMPLES_PLANNED)),
        smallest_effect=float(eval.smallest_effect),
        stated_sd=sd,
        unit="cluster" if len(units) < len(planned) else "sample",
    )


async def _plan_run_questions(
    setup: RunSetup, sample: EvalSample, meters: list[PlannedQuestionMeter], made: MadeOutputs
) -> None:
    """Ask about every output; only those of earlier runs are known to differ from repeat to repeat."""
    eval, repeats = setup.eval, range(setup.eval.repeats)
    rubric = eval.rubric_for_sample(sample)
    if rubric is None:
        return
    judges = [ChainedModel(meter.model, [meter.count_question]) for meter in meters]
    # Of which nobody knows the text yet, and of each another: as long as a reply usually is.
    to_make = {
        name: VariantOutput(
            text=f"(what {name} will make of {sample.id})".ljust(TYPICAL_REPLY_TOKENS * BYTES_PER_TOKEN, "."),
            author=variant.model if isinstance(variant, ModelVariant) else None,
        )
        for name, variant in eval.variants.items()
    }
    for alike in [[one] for one in repeats] if made else [repeats]:
        for meter in meters:
            meter.repeats = alike
        own = {name: output for (name, repeat), output in made.items() if repeat == alike[0]}
        known = {**to_make, **own, **sample.outputs}
        outputs = {name: known[name] for name in eval.variants if known[name].text.strip()}
        listwise = rubric.method.dialogue in ("listwise", "pairwise")
        for shown in [outputs] if listwise else [{name: output} for name, output in outputs.items()]:
            if shown:
                findings = {name: list_guard_findings(one.text, eval.guards) for name, one in shown.items()}
                texts = {"input": sample.input, "reference": sample.reference, "context": sample.context}
                asked = build_judged_sample(sample.id, texts, shown, findings)
                if rubric.method.dialogue == PAIRWISE:
                    await ask_pairwise_judge_dialogues(rubric, asked, judges, eval.how)
                else:  # Of a cascade, as if all were passed on.
                    await ask_judges_for_reviews(rubric, asked, judges, replace(eval.how, cascade=None))


def _planned_judge_json(meter: PlannedQuestionMeter, connections: Connections, share: float, *, in_batch: bool) -> Json:
    name = meter.model.name
    usage = TokenUsage(input=round(meter.input * share), output=round(meter.output * share))
    price = connections.price(name)
    price = price.in_batch() if price is not None and in_batch else price
    is_free = name.startswith("replay:") or not (usage.input or usage.output)  # Every reply is cached.
    cost = Decimal(0) if is_free else price.cost(usage) if price else None
    return {
        "name": name,
        "calls": round(meter.calls * share),
        "kept": round(meter.kept * share),
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cached_tokens": round(meter.cached * share) if name.startswith(CACHING_PROVIDERS) else None,
        "cost": None if cost is None else float(cost),
    }


def _planned_variant_json(
    name: str, variant: Variant, outputs: int, planned: PlannedOutputMeter, connections: Connections, share: float
) -> Json:
    made = round(planned.taken * share)
    usage = TokenUsage(input=round(planned.input * share), output=round(planned.output * share))
    price = connections.price(variant.model) if isinstance(variant, ModelVariant) else None
    cost = price.cost(usage) if price else None
    return {
        "name": name,
        "about": variant.about,
        "to_make": outputs - made if variant.live else 0,
        "taken_over": made,
        "calls": round(planned.calls * share),
        "model": variant.model if isinstance(variant, ModelVariant) else None,
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cost": None if cost is None else float(cost),
    }


def _planned_run_total_json(variants: list[Json], judges: list[Json]) -> Json:
    """All of it together, in the terms in which a report tells its cost."""
    asked = [one for one in (*variants, *judges) if one["calls"] > one.get("kept", 0)]
    unpriced: Counter[str] = Counter()
    for one in asked:
        if one["cost"] is None:
            unpriced[one.get("model") or one["name"]] += one["calls"] - one.get("kept", 0)
    known = sum(one["cost"] or 0.0 for one in asked)
    return {
        "input_tokens": sum(one["input_tokens"] for one in asked),
        "output_tokens": sum(one["output_tokens"] for one in asked),
        "total": None if unpriced else known,
        "at_least": known,
        "unpriced": unpriced.total(),
        "unpriced_calls": dict(unpriced),
    }


def _planned_budget_json(budget: Budget, total: Json) -> Json:
    """The budget, what was spent of it before, and whether the estimate goes beyond what is left."""
    tokens = total["input_tokens"] + total["output_tokens"]
    over_money = budget.money is not None and total["at_least"] > budget.money - budget.paid
    return {
        "money": None if budget.money is None else float(budget.money),
        "tokens": budget.tokens,
        "paid": float(budget.paid),
        "used": budget.used,
        "exceeded": over_money or (budget.tokens is not None and tokens > budget.tokens - budget.used),
    }


def _load_outputs_to_plan(store: Store | None, setup: RunSetup, runs: list[str], sample: EvalSample) -> MadeOutputs:
    """The outputs of a sample that were made in earlier runs of the same line."""
    if store is None or not runs:
        return {}
    units = {
        setup.make_output_key(sample, name, repeat): (name, repeat)
        for name, variant in setup.eval.variants.items()
        for repeat in range(setup.eval.repeats)
        if variant.live
    }
    found = store.rows.find_outputs(list(units), runs) if units else {}
    return {units[key]: read_sample_output_json(json.loads(row["content"])) for key, row in found.items()}


def _open_existing_user_store() -> AbstractContextManager[Store | None]:
    """The store, where there is one; a plan makes none."""
    try:
        return Store.open(None, os.environ, create=False)
    except StoreError:
        return nullcontext()
