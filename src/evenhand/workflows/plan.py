"""Plan a run: every first question is made, counted and looked up, and none is sent."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

from evenhand.errors import RefusedError, StoreError
from evenhand.evals.eval_definition import Eval, check_eval_samples
from evenhand.evals.eval_file import load_eval
from evenhand.evals.eval_schema import eval_schema
from evenhand.evals.sample import EvalSample, read_output_json
from evenhand.judging.judge import judge_sample
from evenhand.judging.unanswerable import UnanswerableCriterion, list_unanswerable_criteria
from evenhand.model.sample import Sample
from evenhand.models.connections import Connections
from evenhand.models.middleware import CallNext, ChainedModel
from evenhand.models.prices import Prices
from evenhand.models.requests import EMBEDDED, Reply, Request, TokenUsage, estimate_input_tokens
from evenhand.runs.reply_cache import reply_key
from evenhand.runs.run_record import find_resumable_run_record, list_run_record_lineage
from evenhand.runs.setup import RunSetup, build_run_setup
from evenhand.runs.worker import made_output_key
from evenhand.store.store import Store

__all__ = ["eval_schema", "plan_run"]

Json = dict[str, Any]
OutputTexts = Mapping[tuple[str, int], str]  # By variant and repeat.
SAMPLES_PLANNED = 1000  # Samples whose questions are made; what is beyond is taken to be like them.
SAMPLES_FOR_LIMITS = 50  # Samples that are looked at for a reference: where one has none, few others have.
TYPICAL_REPLY_TOKENS = 300  # Tokens.


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
    _seen: set[str] = field(default_factory=set)

    async def count_question(self, request: Request, call_next: CallNext) -> Reply:
        """Count the question for every repeat, and refuse it."""
        keys = [reply_key(self.model, request, repeat) for repeat in self.repeats]
        new = [key for key in keys if key not in self._seen]
        self._seen.update(new)
        kept = len(self.store.find_cached_replies(new)) if self.store else 0
        self.calls += len(new)
        self.kept += kept
        if self.model.name != EMBEDDED:  # Rules read no tokens.
            self.input += estimate_input_tokens(request) * (len(new) - kept)
            self.output += min(TYPICAL_REPLY_TOKENS, request.settings.max_tokens) * (len(new) - kept)
        raise RefusedError("planned, not asked")


async def plan_run(file: Path, *, resume: bool = False) -> Json:
    """What a run of the eval in a file, begun anew or resumed, would ask, of whom, and about what it would cost."""
    eval = load_eval(file, os.environ)
    counted = check_eval_samples(eval)
    prices = Prices.load(eval.prices) if eval.prices else Prices.shipped()
    async with Connections(os.environ, limits=eval.limits, budget=eval.budget, prices=prices) as connections:
        setup = build_run_setup(eval, connections, counted.questions)
        taken: Counter[str] = Counter()
        with _open_existing_store() as store:
            meters = [PlannedQuestionMeter(model, store) for model in setup.judges]
            digest = setup.digest_with_samples(counted.digest)
            row = find_resumable_run_record(store, eval.name, digest) if store is not None and resume else None
            runs = list_run_record_lineage(store, row) if store is not None and row is not None else []
            for sample in islice(eval.samples, SAMPLES_PLANNED):
                made = _load_stored_outputs(store, eval, runs, sample)
                taken.update(name for name, _ in made)
                await _plan_requested_questions(setup, sample, meters, made)
        share = max(1.0, counted.samples / SAMPLES_PLANNED)
        budget = eval.budget
        money = float(budget.money) if budget is not None and budget.money is not None else None
        return {
            "name": eval.name,
            "samples": counted.samples,
            "repeats": eval.repeats,
            "looked_at": min(SAMPLES_PLANNED, counted.samples),
            "fingerprint": setup.fingerprint,
            "variants": [
                _planned_variant_json(eval, name, counted.samples, taken[name] * share) for name in eval.variants
            ],
            "judges": [_planned_judge_json(meter, connections, share) for meter in meters],
            "budget": None if budget is None else {"money": money, "tokens": budget.tokens},
            "note": counted.mixed or None,
            "unanswerable": [asdict(one) for one in list_eval_unanswerable(eval)],
        }


def list_eval_unanswerable(eval: Eval) -> tuple[UnanswerableCriterion, ...]:
    """The criteria of an eval that its judges cannot answer, whatever the outputs."""
    if not eval.rubrics or any(name != EMBEDDED for name in eval.judges):
        return ()
    known = list(islice(eval.samples, SAMPLES_FOR_LIMITS))
    given = {"has_reference": any(one.reference for one in known), "has_context": any(one.context for one in known)}
    found = [list_unanswerable_criteria(rubric, eval.judges, **given) for rubric in eval.rubrics.values()]
    return tuple(one for several in found for one in several)


async def _plan_requested_questions(
    setup: RunSetup, sample: EvalSample, meters: list[PlannedQuestionMeter], made: OutputTexts
) -> None:
    """Ask about every output; only those of earlier runs are known to differ from repeat to repeat."""
    eval, repeats = setup.eval, range(setup.eval.repeats)
    rubric = eval.rubric_for(sample.tags)
    if rubric is None:
        return
    judges = [ChainedModel(meter.model, [meter.count_question]) for meter in meters]
    recorded = {name: output.text for name, output in sample.outputs.items()}
    to_make = {name: f"(what {name} will make of {sample.id})" for name in eval.variants}
    for alike in [[one] for one in repeats] if made else [repeats]:
        for meter in meters:
            meter.repeats = alike
        own = {name: text for (name, repeat), text in made.items() if repeat == alike[0]}
        texts = {**to_make, **own, **recorded}
        outputs = {name: texts[name] for name in eval.variants if texts[name].strip()}
        listwise = rubric.method.dialogue == "listwise"
        for shown in [outputs] if listwise else [{name: text} for name, text in outputs.items()]:
            if shown:
                asked = Sample(outputs=shown, input=sample.input, reference=sample.reference, context=sample.context)
                await judge_sample(rubric, asked, judges, eval.how)


def _planned_variant_json(eval: Eval, name: str, samples: int, made: float) -> Json:
    variant, taken = eval.variants[name], round(made)
    to_make = samples * eval.repeats - taken if variant.live else 0
    return {"name": name, "about": variant.about, "to_make": to_make, "taken_over": taken}


def _planned_judge_json(meter: PlannedQuestionMeter, connections: Connections, share: float) -> Json:
    name = meter.model.name
    usage = TokenUsage(input=round(meter.input * share), output=round(meter.output * share))
    free = name == EMBEDDED or name.startswith(("gguf:", "python:", "replay:"))
    price = connections.price(name)
    cost = Decimal(0) if free else price.cost(usage) if price else None
    return {
        "name": name,
        "calls": round(meter.calls * share),
        "kept": round(meter.kept * share),
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cost": None if cost is None else float(cost),
    }


def _load_stored_outputs(store: Store | None, eval: Eval, runs: list[str], sample: EvalSample) -> OutputTexts:
    """The outputs of a sample that were made in earlier runs of the same line."""
    if store is None or not runs:
        return {}
    units = {
        made_output_key(name, variant, sample, repeat): (name, repeat)
        for name, variant in eval.variants.items()
        for repeat in range(eval.repeats)
        if variant.live
    }
    found = store.find_outputs(list(units), runs) if units else {}
    return {units[key]: read_output_json(json.loads(row["content"])).text for key, row in found.items()}


def _open_existing_store() -> AbstractContextManager[Store | None]:
    """The store, where there is one; a plan makes none."""
    try:
        return Store.open(None, os.environ, create=False)
    except StoreError:
        return nullcontext()
