"""Executing a run: as many samples at once as the judges take, until all is done, a rule is satisfied or somebody
stops it. Of each sample: outputs, guards, assertions, judges, score; each finished result is stored at once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from evenhand.assertions.assertion import Assertion, assertion_to_definition, check_assertion, list_outside_assertions
from evenhand.assertions.custom import run_custom_assertion
from evenhand.assertions.rule_inputs import AssertionFacts, AssertionMeasurement
from evenhand.errors import BudgetError, CircuitOpenError, OutputError, RunLostError
from evenhand.evals.eval_definition import RecheckedSamples
from evenhand.evals.eval_judges import (
    JUDGE_QUESTIONS,
    eval_question_material,
    eval_question_rubric,
    measure_eval_question_answer,
    measure_eval_sample_similarity,
)
from evenhand.evals.eval_scoring import PAIRWISE
from evenhand.evals.sample import EvalSample, read_sample_output_json, write_output_json
from evenhand.evals.variants.variant import VariantOutputMaker
from evenhand.files.parsing import encode_plain_json
from evenhand.guards.output_guards import list_guard_findings
from evenhand.judging.judge import ask_judges_for_reviews, ask_pairwise_judge_dialogues
from evenhand.judging.single_judge import await_judges_in_order, run_text_work
from evenhand.model.rubric import Rubric
from evenhand.model.sample import VariantOutput
from evenhand.models.hidden_keys import ModelSecrets
from evenhand.models.requests import ChainedModel, Middleware
from evenhand.runs.batches import PIECES_AT_ONCE, RunBatches
from evenhand.runs.cascade_draw import RunCascadeDraw, SampleStages, StopRunOnceDecided
from evenhand.runs.kept_texts import is_output_of_run_kept_raw, list_texts_kept_by_run, list_texts_of_run_sample
from evenhand.runs.pairs import build_run_pair_rubric, score_run_pairs
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.results import OutputResult, build_judged_sample, build_result_row
from evenhand.runs.run_record import RunRecorder, RunWork
from evenhand.runs.setup import RunSetup
from evenhand.store.rows import Row

SAMPLES_AHEAD = 2  # Pieces under way for each call that may be: while one is scored, the next is asked about.

FinishedResults = Mapping[tuple[int, str, int], str]  # Keys of results by position, variant and repeat.
ResultOutcome = Literal["scored", "unscored", "abandoned"]  # Abandoned for want of money: there is no result.


@dataclass(slots=True)
class RunProgress:
    """How far a run has come, in pieces: one sample, one repeat, all variants."""

    total: int
    repeats: int = 1  # Of each sample.
    outputs: int = 0  # Over all variants.
    judges: tuple[str, ...] = ()
    fresh: bool = False  # Whether judges are asked even what they have answered before.
    note: str = ""  # What should be known before anything is paid for.
    until: str = ""  # What ends it before all is done, where something may.
    to_make: int = 0  # Outputs that variants have to make, over all of them.
    made: int = 0
    done: int = 0
    carried: int = 0  # Of these, those for which nothing had to be asked or made: all was kept from before.
    passed_on: int = 0  # Of the total: samples that a cascade drew, each scored once more after all others.
    skipped: int = 0  # That an earlier sitting had finished.
    failed: int = 0  # Results without a score.
    waiting: str = ""  # What is under way in batches, in words.
    settled: str = ""  # Why nothing more needs to be asked.
    stopping: bool = False
    on_stop: Callable[[], None] = lambda: None

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.done + self.skipped >= self.total

    def add_pieces(self, live: int, pieces: int) -> None:
        """A drawn sample is a second piece of work; its outputs, of so many live variants, are there already."""
        self.total += pieces
        self.passed_on += pieces
        self.to_make += pieces * live

    def stop_run(self) -> None:
        """Start nothing more; what is under way may end."""
        self.stopping = True
        self.on_stop()


async def execute_run(
    worker: RunWorker,
    samples: RecheckedSamples,
    course: RunProgress,
    ending: StopRunOnceDecided | None,
    *,
    draw: RunCascadeDraw | None = None,
    goes_on: bool = True,
) -> None:
    """Work through every sample that is not finished, stage by stage, until all is done or `ending` gives a reason.

    A cascade's `draw` has further stages: samples passed on at random. A run that goes on may have finished some.
    """
    # What a sitting that was killed had no time to drop.
    finished = await drop_replies_unneeded_by_run(worker) if goes_on else {}
    worker.tell = ending.note_result if ending else None
    stages: SampleStages = (enumerate(samples),) if ending is None else ending.plan_stages(samples)
    if draw is not None:
        worker.tell, worker.drawn = draw.note_result, draw.drawn
        live = sum(variant.live for variant in worker.setup.eval.variants.values())
        stages = draw.plan_stages(samples, partial(course.add_pieces, live))
    for stage in stages:
        await score_run_stage(worker, stage, course, ending, finished)
        finished = {} if draw is not None else finished  # What is drawn is scored once more.
        if course.settled or course.stopping or worker.memory.asks_no_more:
            break
    await worker.memory.turns.wait_until_idle()  # Calls that a cancelled piece left behind are paid for.


async def score_run_stage(
    worker: RunWorker,
    stage: Iterable[tuple[int, EvalSample]],
    course: RunProgress,
    ending: StopRunOnceDecided | None,
    finished: FinishedResults,
) -> None:
    """Work through some samples with their positions, but for what is finished; as many at once as the judges take."""
    pieces = _iter_unfinished_run_pieces(worker, stage, course, ending, finished)
    at_once = SAMPLES_AHEAD * worker.setup.eval.limits.concurrency
    lanes = at_once if worker.batches is None else min(PIECES_AT_ONCE, course.total)
    tasks = [asyncio.create_task(_score_run_pieces(worker, pieces, course, ending)) for _ in range(lanes)]
    try:
        await asyncio.gather(*tasks)
    finally:  # The first error of one ends the others.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _iter_unfinished_run_pieces(
    worker: RunWorker,
    stage: Iterable[tuple[int, EvalSample]],
    course: RunProgress,
    ending: StopRunOnceDecided | None,
    finished: FinishedResults,
) -> Iterator[tuple[EvalSample, int, int]]:
    """What is to be done: a sample, its position, a repeat."""
    book, has_keys = worker.book, any(worker.secrets.keys)
    for position, sample in stage:
        if course.stopping or worker.memory.asks_no_more:
            return
        todo: Sequence[int] = range(worker.setup.eval.repeats)
        if finished:
            todo = list_unfinished_repeats(worker.setup, sample, position, course, ending, finished)
        if todo:  # The sample is in the queue of the writer before its results are.
            told = worker.secrets.remove_from_data(sample.to_json()) if has_keys else sample.to_json()
            place = {"run": book.hold.run, "position": position, "id": sample.id}
            book.leave_row("samples", {**place, "content": encode_plain_json(told)})
        for repeat in todo:
            yield sample, position, repeat


def list_unfinished_repeats(
    setup: RunSetup,
    sample: EvalSample,
    position: int,
    course: RunProgress,
    ending: StopRunOnceDecided | None,
    finished: FinishedResults,
) -> list[int]:
    """The repeats of a sample that are to be done; those that are finished are counted."""
    todo = []
    for repeat in range(setup.eval.repeats):
        if finished and all(
            finished.get((position, name, repeat)) == setup.make_result_key(sample, name, repeat)
            for name in setup.eval.variants
        ):
            course.skipped += 1
            course.made += sum(variant.live for variant in setup.eval.variants.values())
            course.settled = course.settled or (ending.why_stop(position, repeat) if ending else "")
        else:
            todo.append(repeat)
    return todo


async def _score_run_pieces(
    worker: RunWorker,
    pieces: Iterator[tuple[EvalSample, int, int]],
    course: RunProgress,
    ending: StopRunOnceDecided | None,
) -> None:
    """Score one piece after the other; several of these share the pieces."""
    for sample, position, repeat in pieces:
        try:
            kept = await worker.score_sample(sample, position, repeat)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            continue  # A call of it was waiting for its turn when the run was stopped.
        except RunLostError:  # The writer says so too when it is closed; until then, replies under way are kept.
            course.stop_run()
            return
        course.failed += kept.count("unscored")
        if "abandoned" not in kept:
            course.done += 1
            course.settled = course.settled or (ending.why_stop(position, repeat) if ending else "")


async def drop_replies_unneeded_by_run(worker: RunWorker, *, over: bool = False) -> FinishedResults:
    """Drop the replies that no result waits for, where they are not to be kept; return what is finished.

    Where a sitting is `over`, none waits: what is not finished may be tried again, and is then asked again.
    """
    eval, finished = worker.setup.eval, worker.book.store.finished_keys(worker.book.hold.run)

    def has_all_results(position: int, repeat: int) -> bool:  # An empty key says that a variant needs another try.
        return over or all(finished.get((position, name, repeat)) for name in eval.variants)

    if eval.keep != "raw":
        if over:
            await worker.book.end_raw_texts()
        await worker.memory.drop_finished_replies(has_all_results, eval.keep)
    return finished


@dataclass
class RunWorker:
    """Carries out the pieces of a run; `tell` is told every result as it is kept."""

    setup: RunSetup
    book: RunRecorder
    memory: ReplyCache
    makers: Mapping[str, VariantOutputMaker]
    environ: Mapping[str, str]
    secrets: ModelSecrets  # The keys of judges and the variables that variants send, which are kept nowhere.
    runs: Sequence[str] = ()  # Whose outputs may be taken over.
    batches: RunBatches | None = None  # Where questions are answered in batches, or some still are.
    tell: Callable[[Row], None] | None = None
    drawn: Collection[int] = ()  # Positions of the samples that a cascade passes on at random.
    course: RunProgress = field(default_factory=lambda: RunProgress(total=0))  # Told of outputs and what was kept.

    async def score_sample(self, sample: EvalSample, position: int, repeat: int) -> list[ResultOutcome]:
        """Results for all variants, and what became of each.

        Where the budget has run out on the way, none is kept that lacks something: it is asked another time.
        """
        rubric = self.setup.eval.rubric_for_sample(sample)
        works = [RunWork(position, repeat, name) for name in self.setup.eval.variants]
        # All variants in one question, as reviewers of a panel see them, or each in its own.
        together = rubric is not None and rubric.method.dialogue in ("listwise", PAIRWISE)
        together = together or self.setup.eval.how.cascade is not None  # Passed on together, or not at all.
        parts = [works] if together else [[work] for work in works]
        shown = {"input": sample.input, "reference": sample.reference, "context": sample.context}
        if any(self.secrets.keys):  # Neither judges nor checks see one, here or in the output.
            shown = {name: self.secrets.remove_keys(text) for name, text in shown.items()}
        if len(parts) == 1:  # One alone needs nobody who waits for several.
            kept = await self._score_outputs(rubric, sample, shown, parts[0])
        else:
            each = [self._score_outputs(rubric, sample, shown, part) for part in parts]
            kept = [outcome for part in await await_judges_in_order(each) for outcome in part]
        self.course.carried += any(work.kept for work in works) and not any(work.asked for work in works)
        return kept

    async def _score_outputs(
        self, rubric: Rubric | None, sample: EvalSample, shown: Mapping[str, str], works: Sequence[RunWork]
    ) -> list[ResultOutcome]:
        """Results for outputs that judges see together."""
        results = await await_judges_in_order([self._check_output(rubric, sample, shown, work) for work in works])
        found = {one.work.variant: (one, one.made) for one in results if one.made and one.made.text.strip()}
        if rubric is not None and found:
            findings = {name: one.findings for name, (one, _) in found.items()}
            made = {name: output for name, (_, output) in found.items()}
            asked = build_judged_sample(sample.id, shown, made, findings)
            shared = works[0] if len(works) == 1 else RunWork(works[0].position, works[0].repeat)
            if rubric.method.dialogue == PAIRWISE:
                eval, judges = self.setup.eval, self._open_judges(shared)
                pairs = await ask_pairwise_judge_dialogues(rubric, asked, judges, eval.how)
                judged = score_run_pairs(rubric, asked, pairs, eval.how, [one.name for one in judges], eval.control)
                preferences = pairs.preferences
            else:
                judges, preferences = self._open_judges(shared), ()
                how, draw = self.setup.eval.how, works[0].position in self.drawn
                judged = await ask_judges_for_reviews(rubric, asked, judges, how, draw=draw)
            for one in results:
                one.judged, one.preferences = judged, preferences
                one.weights = {name: float(weight) for name, weight in self.setup.eval.how.weights.items()}
                if one.work is not shared:
                    one.work.add_calls(shared)
        return await await_judges_in_order([self._record_result(sample, one) for one in results])

    async def _check_output(
        self, rubric: Rubric | None, sample: EvalSample, shown: Mapping[str, str], work: RunWork
    ) -> OutputResult:
        """The output and what rules find in it, or why there is none."""
        eval, scored = self.setup.eval, rubric
        if rubric is not None and rubric.method.dialogue == PAIRWISE:
            scored = build_run_pair_rubric(rubric, eval.control)
        result = OutputResult(work=work, cluster=sample.cluster, rubric=scored)
        result.own_rubric = eval.own_rubrics.find_rubric_key(sample)
        result.in_tables = result.own_rubric is None or eval.own_rubrics.fits_tables(result.own_rubric)
        live = eval.variants[work.variant].live
        try:
            maker = self.makers[work.variant]
            made = await (self._make_or_load_output(sample, work) if live else maker.make(sample, work.repeat))
        except (OutputError, BudgetError, CircuitOpenError) as error:
            self.course.made += live and not isinstance(error, BudgetError)
            work.unanswered += live  # A recorded output that is not there will not be there another time.
            self.memory.note_end_of_asking(error)
            result.why = self.secrets.remove_keys(str(error))
            return result
        made = self._hide_keys_in_output(made) if any(self.secrets.keys) else made
        result.made = made
        result.findings = await run_text_work(len(made.text), list_guard_findings, made.text, eval.guards)
        assertions = eval.assertions_for(sample)
        if not assertions:
            return result
        facts, leaves = AssertionFacts(made=made, **shown), list_outside_assertions(assertions)
        values = await await_judges_in_order([self._measure_assertion(leaf, facts, result) for leaf in leaves])
        measured = dict(zip(leaves, values, strict=True))
        result.checked = tuple(check_assertion(one, facts, measured) for one in assertions)
        return result

    async def _make_or_load_output(self, sample: EvalSample, work: RunWork) -> VariantOutput:
        """What a live variant makes of a sample; one that it made before is taken over."""
        book, maker = self.book, self.makers[work.variant]
        key = self.setup.make_output_key(sample, work.variant, work.repeat)
        found = book.store.rows.find_outputs([key], self.runs).get(key)
        work.asked += found is None
        work.kept += found is not None
        if found is not None and not is_output_of_run_kept_raw(found["content"]):
            found = None
        if found is None:
            made = await self.memory.turns.wait_for_budget(sample, lambda one: maker.make(one, work.repeat))
            made = self._hide_keys_in_output(made)
        else:
            made = read_sample_output_json(json.loads(found["content"]))
        if found is None or found["run"] != book.hold.run:
            content = encode_plain_json(write_output_json(made))
            await book.put_row("made", {**work.place_in_run(book), "key": key, "content": content})
        self.course.made += 1
        return made

    def _hide_keys_in_output(self, made: VariantOutput) -> VariantOutput:
        """The output, unless it repeats a key: it is stored, shown to judges, and reported."""
        told = write_output_json(made)
        hidden = self.secrets.remove_from_data(told)
        return made if hidden == told else read_sample_output_json(hidden)

    async def _measure_assertion(
        self, leaf: Assertion, facts: AssertionFacts, result: OutputResult
    ) -> AssertionMeasurement:
        if leaf.kind == "custom":
            return await asyncio.to_thread(
                run_custom_assertion,
                leaf,
                facts,
                folder=self.setup.eval.folder,
                hide=self.secrets.remove_keys,
                environ=self.environ,
            )
        if leaf.kind not in JUDGE_QUESTIONS:
            return measure_eval_sample_similarity(leaf, facts)
        shown = eval_question_material(leaf, facts, result.findings)
        if isinstance(shown, str):
            return AssertionMeasurement(why=shown)
        rubric, judges, how = eval_question_rubric(leaf.kind), self._open_judges(result.work), self.setup.eval.how
        if how.cascade is not None:  # Checks go into the score without correction: the strong judge answers them.
            judges, how = judges[-1:], replace(how, cascade=None)
        return measure_eval_question_answer(await ask_judges_for_reviews(rubric, shown, judges, how))

    def _open_judges(self, work: RunWork) -> list[ChainedModel]:
        """The judges as a piece of work asks them: through the cache, within the budget, and in batches if wanted."""
        cache, batches = self.memory, self.batches
        judges = []
        for model in self.setup.judges:
            middleware: list[Middleware] = [partial(cache.ask_once, model, work), cache.turns.wait_for_budget]
            if batches is not None and model.name in batches.endpoints:
                middleware.append(partial(batches.ask_in_batch, model, work))
            judges.append(ChainedModel(model, middleware))
        return judges

    async def _record_result(self, sample: EvalSample, result: OutputResult) -> ResultOutcome:
        work = result.work
        if self.memory.spent is not None and work.unanswered:
            return "abandoned"
        if not work.unanswered:
            result.key = self.setup.make_result_key(sample, work.variant, work.repeat)
        eval = self.setup.eval
        row = build_result_row(result, eval.name, self.book, eval.composite.weights)
        quoted: list[str] = []
        if eval.keep != "raw":
            checks = [assertion_to_definition(one) for one in eval.assertions_for(sample)]
            quoted = [*list_texts_of_run_sample(sample.to_json()), *list_texts_kept_by_run(checks)]
        await self.book.put_row("results", row, quoted)
        if self.tell:
            self.tell(row)
        return "scored" if row["state"] == "scored" else "unscored"
