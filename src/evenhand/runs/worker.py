"""One sample, one repeat: outputs, guards, assertions, judges, score; each finished result is stored at once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

from evenhand.assertions.assertion import Assertion, CheckedAssertion, check_assertion, list_outside_assertions
from evenhand.assertions.custom import run_custom_assertion
from evenhand.assertions.facts import AssertionFacts, AssertionMeasurement
from evenhand.errors import BudgetError, OutputError
from evenhand.evals.sample import EvalSample, read_output_json, write_output_json
from evenhand.evals.sample_assertions import (
    JUDGE_QUESTIONS,
    measure_judged_sample_assertion,
    measure_sample_similarity,
    sample_assertion_material,
    sample_assertion_rubric,
)
from evenhand.evals.variants.makers import Variant
from evenhand.evals.variants.variant import EndpointVariant, OutputMaker
from evenhand.guards.output_guards import guard_text
from evenhand.judging.judge import judge_sample
from evenhand.judging.results import JudgedSample
from evenhand.judging.single_judge import await_judges_in_order
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding, OutputTrace, Sample, VariantOutput
from evenhand.models.middleware import ChainedModel
from evenhand.models.model_names import KEY_VARIABLES, Secrets
from evenhand.models.requests import Model
from evenhand.runs.reply_cache import ReplyCache, RunBudgetQueue
from evenhand.runs.results import OutputResult, build_result_row
from evenhand.runs.run_record import RunRecorder, RunWork
from evenhand.runs.setup import RunSetup, digest_run_parts, variant_program_folder
from evenhand.store.rows import Row, to_stored_json

_SENT_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

ResultOutcome = Literal["scored", "unscored", "abandoned"]  # Abandoned for want of money: there is no result.


@dataclass(frozen=True, slots=True)
class CheckedOutput:
    """An output with what rules found in it, before any judge is asked for a score."""

    made: VariantOutput
    findings: tuple[GuardFinding, ...]
    checked: tuple[CheckedAssertion, ...]


@dataclass
class RunWorker:
    """Carries out the pieces of a run; `tell` is told every result as it is kept."""

    setup: RunSetup
    book: RunRecorder
    memory: ReplyCache
    outputs: RunOutputs
    environ: Mapping[str, str]
    tell: Callable[[Row], None] | None = None

    async def score_sample(self, sample: EvalSample, position: int, repeat: int) -> list[ResultOutcome]:
        """Results for all variants, and what became of each.

        Where the budget has run out on the way, none is kept that lacks something: it is asked another time.
        """
        rubric = self.setup.eval.rubric_for(sample.tags)
        works = [RunWork(position, repeat, name) for name in self.setup.eval.variants]
        if rubric is not None and rubric.method.dialogue == "listwise" and len(works) > 1:
            return await self._score_side_by_side(rubric, sample, works)
        return await await_judges_in_order([self._score_variant(rubric, sample, work) for work in works])

    async def _score_variant(self, rubric: Rubric | None, sample: EvalSample, work: RunWork) -> ResultOutcome:
        looked = await self._check_output(sample, work)
        judged = None
        if rubric is not None and isinstance(looked, CheckedOutput):
            judged = await self._judge_outputs(rubric, sample, {work.variant: looked}, work)
        return await self._record_result(rubric, sample, work, looked, judged)

    async def _score_side_by_side(
        self, rubric: Rubric, sample: EvalSample, works: Sequence[RunWork]
    ) -> list[ResultOutcome]:
        """All variants in one question, as reviewers of a panel see them."""
        looked = await asyncio.gather(*(self._check_output(sample, work) for work in works))
        by_name = {work.variant: one for work, one in zip(works, looked, strict=True) if isinstance(one, CheckedOutput)}
        shared = RunWork(works[0].position, works[0].repeat)
        judged = await self._judge_outputs(rubric, sample, by_name, shared)
        for work in works:
            work.keys += shared.keys
            work.unanswered += shared.unanswered
        each = zip(works, looked, strict=True)
        return await asyncio.gather(*(self._record_result(rubric, sample, work, one, judged) for work, one in each))

    async def _check_output(self, sample: EvalSample, work: RunWork) -> CheckedOutput | str:
        """The output and what rules find in it, or why there is none."""
        live = self.setup.eval.variants[work.variant].live
        try:
            made = await self.outputs.get_output(sample, work)
        except (OutputError, BudgetError) as error:
            work.unanswered += live  # A recorded output that is not there will not be there another time.
            self.memory.spent = error if isinstance(error, BudgetError) else self.memory.spent
            return str(error)
        facts = AssertionFacts(made=made, input=sample.input, reference=sample.reference, context=sample.context)
        assertions = self.setup.eval.assertions_for(sample)
        leaves = list_outside_assertions(assertions)
        values = await asyncio.gather(*(self._measure_assertion(leaf, facts, work) for leaf in leaves))
        measured = dict(zip(leaves, values, strict=True))
        checked = tuple(check_assertion(one, facts, measured) for one in assertions)
        return CheckedOutput(made, guard_text(made.text, self.setup.eval.guards), checked)

    async def _measure_assertion(self, leaf: Assertion, facts: AssertionFacts, work: RunWork) -> AssertionMeasurement:
        if leaf.kind == "custom":
            return await asyncio.to_thread(
                run_custom_assertion, leaf, facts, folder=self.setup.eval.folder, hide=self._secrets.remove_keys
            )
        if leaf.kind not in JUDGE_QUESTIONS:
            return measure_sample_similarity(leaf, facts)
        shown = sample_assertion_material(leaf, facts)
        if isinstance(shown, str):
            return AssertionMeasurement(why=shown)
        judged = await judge_sample(
            sample_assertion_rubric(leaf.kind), shown, self._cached_judges(work), self.setup.eval.how
        )
        return measure_judged_sample_assertion(judged)

    async def _judge_outputs(
        self, rubric: Rubric, sample: EvalSample, looked: Mapping[str, CheckedOutput], work: RunWork
    ) -> JudgedSample | None:
        """What the judges say of those outputs in which there is something to judge."""
        shown = {name: one for name, one in looked.items() if one.made.text.strip()}
        if not shown:
            return None
        authors = {name: one.made.author for name, one in shown.items() if one.made.author}
        asked = Sample(
            id=sample.id,
            outputs={name: one.made.text for name, one in shown.items()},
            input=sample.input,
            reference=sample.reference,
            context=sample.context,
            authors=authors,
            traces={
                name: OutputTrace(calls=one.made.trace, turns=one.made.turns)
                for name, one in shown.items()
                if one.made.trace is not None
            },
            findings={name: one.findings for name, one in shown.items() if one.findings},
        )
        return await judge_sample(rubric, asked, self._cached_judges(work), self.setup.eval.how)

    def _cached_judges(self, work: RunWork) -> list[Model]:
        cache = self.memory
        return [
            ChainedModel(model, [partial(cache.ask_once, model, work), cache.turns.wait_for_budget])
            for model in self.setup.judges
        ]

    @cached_property
    def _secrets(self) -> Secrets:
        """The keys of judges and the variables that variants send, which no check may show."""
        endpoints = [one for one in self.setup.eval.variants.values() if isinstance(one, EndpointVariant)]
        templates = [text for one in endpoints for text in (one.url, *one.headers.values())]
        sent = [name for text in templates for name in _SENT_VARIABLE.findall(text)]
        return Secrets(self.environ.get(name, "") for name in (*KEY_VARIABLES, *sent))

    async def _record_result(
        self,
        rubric: Rubric | None,
        sample: EvalSample,
        work: RunWork,
        looked: CheckedOutput | str,
        judged: JudgedSample | None,
    ) -> ResultOutcome:
        if self.memory.spent is not None and work.unanswered:
            return "abandoned"
        result = OutputResult(
            work=work,
            key="" if work.unanswered else make_result_key(self.setup, sample, work),
            cluster=sample.cluster,
            rubric=rubric,
            made=looked.made if isinstance(looked, CheckedOutput) else None,
            why=looked if isinstance(looked, str) else "",
            findings=looked.findings if isinstance(looked, CheckedOutput) else (),
            checked=looked.checked if isinstance(looked, CheckedOutput) else (),
            judged=judged,
        )
        row = build_result_row(result, self.setup.eval.name, self.book)
        await self.book.writer.put("results", row)
        if self.tell is not None:
            self.tell(row)
        return "scored" if row["state"] == "scored" else "unscored"


def make_result_key(setup: RunSetup, sample: EvalSample, work: RunWork) -> str:
    """A name for all that decides a result: a finished one of the same name is not worked out again."""
    text = f"{setup.digests[work.variant]} {sample.digest()} {work.repeat}"
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class RunOutputs:
    """Gives the output of a variant for a sample; `runs` are those whose outputs may be taken over."""

    variants: Mapping[str, Variant]
    makers: Mapping[str, OutputMaker]
    book: RunRecorder
    turns: RunBudgetQueue
    runs: Sequence[str]

    async def get_output(self, sample: EvalSample, work: RunWork) -> VariantOutput:
        """The output, or an OutputError that says why there is none."""
        variant, maker = self.variants[work.variant], self.makers[work.variant]
        if not variant.live:
            return await maker.make(sample, work.repeat)
        key = made_output_key(work.variant, variant, sample, work.repeat)
        found = self.book.store.find_outputs([key], self.runs).get(key)
        if found is None:
            made = await self.turns.wait_for_budget(sample, lambda one: maker.make(one, work.repeat))
        else:
            made = read_output_json(json.loads(found["content"]))
        if found is None or found["run"] != self.book.run:
            await self.book.writer.put("made", self._made_output_row(key, work, made))
        return made

    def _made_output_row(self, key: str, work: RunWork, made: VariantOutput) -> Row:
        return {
            "run": self.book.run,
            "key": key,
            "position": work.position,
            "variant": work.variant,
            "repeat": work.repeat,
            "content": to_stored_json(write_output_json(made)),
            "at": self.book.now(),
        }


def made_output_key(name: str, variant: Variant, sample: EvalSample, repeat: int) -> str:
    """A name for all that decides what a live variant makes of a sample, as far as can be seen from outside."""
    folder = variant_program_folder(variant)
    return digest_run_parts(name, variant.definition(), folder, sample.variant_input(repeat), sample.reference)
