"""What aligning starts from and asks: rubric, judges and labelled outputs of a run, its plan, and rubrics tried."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from evenhand.calibrate.alignment import (
    EXAMPLE_COUNTS,
    LONGEST_CASE,
    MOST_CASES,
    MOST_PROPOSALS,
    CandidateRubric,
    JudgedCase,
    ProposedEdits,
    ask_for_rubric_edits,
    choose_alignment_cases_to_show,
)
from evenhand.calibrate.labelled_outputs import PANEL_ANSWERER, Integers, LabelledOutputs
from evenhand.calibrate.labels import SCORE_QUESTION, HumanLabelQuestion
from evenhand.errors import EvenhandError, Fault, InputError
from evenhand.evals.eval_definition import DEFAULT_TAG
from evenhand.evals.sample import read_sample_output_json
from evenhand.files.allowed_files import allow_shipped_files
from evenhand.files.parsing import parse_tree
from evenhand.files.rubric_writing import convert_yaml_node_to_data
from evenhand.files.rubrics import LocatedRubric, open_rubric_with_file_lines
from evenhand.files.tree import MappingNode, ScalarNode, SequenceNode
from evenhand.guards.output_guards import list_guard_findings
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.judging.prompts import LANGUAGES, load_prompts
from evenhand.judging.single_judge import Cascade, DialogueDriver, JudgeOptions, make_judge_dialogue_setup
from evenhand.model.rubric import Rubric
from evenhand.model.sample import OutputTrace, Sample, VariantOutput
from evenhand.model.scale import Scored, to_exact_fraction
from evenhand.models.connections import Connections
from evenhand.models.requests import ChainedModel, ModelSettings, TokenUsage
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.run_record import RunRecorder, RunWork, make_run_record_id
from evenhand.scoring.scores import to_scoring_fingerprint_data
from evenhand.store.rows import Row, StoreWriter, to_stored_json
from evenhand.store.run_holds import name_lock_process
from evenhand.store.store import Store
from evenhand.workflows.plan import PlannedQuestionMeter
from evenhand.workflows.run import read_clock_for_user
from evenhand.workflows.run_resuming import BALANCED_ORDERS

Json = dict[str, Any]
COMPARED_FIELDS = ("criteria", "red_flags", "bonuses", "gates", "method", "safety_gate")
_PLAIN_OPTIONS = (
    "language", "seed", "each", "samples", "logprobs", "deadline", "refuse", "paraphrase_check",
)  # fmt: skip
LONGEST_TASK = 400  # Characters of an input that are shown before the output of a case.


def open_run_rubric(row: Row, named: str | Json | None) -> LocatedRubric:
    """The rubric that a run asked by: the one that is given, or what the eval of the run names or writes out."""
    asked = json.loads(row["setup"])["rubrics"]
    if list(asked) != [DEFAULT_TAG]:
        what = "the run has no rubric" if not asked else "the samples of the run have different rubrics"
        raise InputError(Fault(f"{what}, and one rubric at a time is aligned", "run an eval with one rubric for all"))
    if asked[DEFAULT_TAG]["method"]["dialogue"] == "pairwise":
        raise InputError(Fault("the judges of this run compared pairs: there are no scores to align with labels"))
    try:
        with allow_shipped_files("its author named it") if row["imported"] and not named else nullcontext():
            opened = (
                open_rubric_with_file_lines(named)
                if named
                else _open_run_eval_rubric(row["source"], asked[DEFAULT_TAG]["name"])
            )
    except EvenhandError as error:
        if named:
            raise
        what = f"the rubric of run {row['id']} cannot be found from here: {error}"
        raise InputError(Fault(what, "name its file: --rubric FILE")) from None
    ours = json.loads(json.dumps(to_scoring_fingerprint_data(opened.rubric)))
    if any(ours[name] != asked[DEFAULT_TAG][name] for name in COMPARED_FIELDS):
        what = f"the rubric {opened.rubric.name!r} is not the one that run {row['id']} asked by"
        hint = "run the eval again, or name the rubric as it was: --rubric FILE"
        raise InputError(Fault(what, hint, where=opened.file))
    return opened


def _open_run_eval_rubric(source: str, name: str) -> LocatedRubric:
    tree = parse_tree(Path("eval.yaml"), source)
    given = tree.get("rubric") if isinstance(tree, MappingNode) else None
    if isinstance(given, ScalarNode):
        return open_rubric_with_file_lines(given.text)
    listed = tree.get("rubrics") if given is None and isinstance(tree, MappingNode) else None
    if isinstance(listed, SequenceNode):
        return open_rubric_with_file_lines({"name": name, "rubrics": convert_yaml_node_to_data(listed)})
    if not isinstance(given, MappingNode):
        raise InputError("its eval does not say which it is")
    return open_rubric_with_file_lines({"name": name, **convert_yaml_node_to_data(given)})


def read_run_judge_options(setup: Json, *, imported: str | None = None) -> JudgeOptions:
    """How the judges of a run were asked; one that was `imported` names no folder of prompt texts."""
    how = dict(setup["how"])
    cascade, language = how["cascade"], how["language"]
    if imported and language not in LANGUAGES:
        what = "the imported run was asked with prompt texts of its author's, and no folder that it names is opened"
        raise InputError(Fault(what, f"judges are asked about imported runs in {' or '.join(LANGUAGES)}"))
    near: dict[str, Any] = {
        name: _read_run_option_fraction(one) for name, one in (cascade or {}).items() if name != "spend"
    }
    rules = setup["prompts"].get("rules")
    plain = [load_prompts(language, ignore_length=ignored).texts["rules"] for ignored in (False, True)]
    return JudgeOptions(
        **{name: how[name] for name in _PLAIN_OPTIONS if name in how},
        settings=ModelSettings(**how["settings"]),
        weights={name: Fraction(str(weight)) for name, weight in how["weights"].items()},
        cascade=Cascade(**{name: value for name, value in near.items() if value is not None}) if near else None,
        ignore_length=rules == plain[1] != plain[0],
        balance_orders=bool(setup.get(BALANCED_ORDERS)),
    )


def _read_run_option_fraction(value: object) -> Fraction | None:
    return None if value is None else Fraction(str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSampleToAlign:
    """A labelled sample as its judges saw it, with its place in the run and their reasons by output and criterion."""

    position: int
    sample: Sample
    reasons: Mapping[tuple[str, str], str]

    def show_output(self, variant: str) -> str:
        """An output with what was asked for, as a passage by itself."""
        task = self.sample.input.strip()
        if not task:
            return self.sample.outputs[variant]
        short = task if len(task) <= LONGEST_TASK else task[: LONGEST_TASK - 1] + "…"
        return f"Task: {short}\nOutput: {self.sample.outputs[variant]}"

    def list_texts(self) -> list[str]:
        """All that could be copied from it."""
        shown = [self.show_output(variant) for variant in self.sample.outputs]
        return [*self.sample.outputs.values(), *shown, self.sample.input, self.sample.reference]


def load_labelled_samples(store: Store, row: Row, labelled: LabelledOutputs) -> dict[str, LabelledSampleToAlign]:
    """The labelled samples of a run by id; an InputError where the run kept no texts."""
    if row["keep"] != "raw":
        what = f"run {row['id']} kept no texts (keep: {row['keep']}), and other rubrics cannot be tried on them"
        raise InputError(Fault(what, "run the eval with keep: raw"))
    wanted, guards = set(labelled.ids), json.loads(row["setup"])["frame"]["guards"]
    contents = {one["position"]: json.loads(one["content"]) for one in store.samples(row["id"]) if one["id"] in wanted}
    results: dict[int, dict[str, Json]] = {}
    for one in store.results(row["id"]):
        if one["position"] in contents and one["repeat"] == 0:
            results.setdefault(one["position"], {})[one["variant"]] = json.loads(one["content"])
    return {
        content["id"]: _build_sample_to_align(position, content, results.get(position, {}), guards)
        for position, content in contents.items()
    }


def _build_sample_to_align(
    position: int, content: Json, results: Mapping[str, Json], guards: Sequence[str]
) -> LabelledSampleToAlign:
    made = {name: read_sample_output_json(one["output"]) for name, one in results.items() if one["output"]}
    made = {name: one for name, one in made.items() if one.text.strip()}
    findings = {name: list_guard_findings(one.text, guards) for name, one in made.items()}
    sample = Sample(
        id=content["id"],
        input=content.get("input", ""),
        reference=content.get("reference", ""),
        context=content.get("context", ""),
        outputs={name: one.text for name, one in made.items()},
        authors={name: one.author for name, one in made.items() if one.author},
        traces={name: _load_trace_to_align(one) for name, one in made.items() if one.trace is not None},
        findings={name: found for name, found in findings.items() if found},
    )
    reasons = {
        (name, said["criterion"]): str(said.get("reason") or "")
        for name, one in results.items()
        for said in one["judgments"]
    }
    return LabelledSampleToAlign(position=position, sample=sample, reasons=reasons)


def _load_trace_to_align(made: VariantOutput) -> OutputTrace:
    return OutputTrace(calls=made.trace or (), turns=made.turns)


def show_sample_part_to_align(one: LabelledSampleToAlign, variants: Sequence[str]) -> Sample:
    """The sample with some of its outputs."""
    sample = one.sample
    kept = {name: sample.outputs[name] for name in sample.outputs if name in variants}
    rest: dict[str, Any] = {
        name: {id: value for id, value in getattr(sample, name).items() if id in kept}
        for name in ("authors", "traces", "findings")
    }
    return replace(sample, outputs=kept, **rest)


def list_questions_to_align(labelled: LabelledOutputs, rubric: Rubric) -> tuple[HumanLabelQuestion, ...]:
    """The labelled questions that a rubric answers; an InputError where there are none."""
    judged = {leaf.id for leaf in rubric.leaves.values() if leaf.judged} | {SCORE_QUESTION}
    found = tuple(one for one in labelled.questions if one.id in judged)
    if not found:
        raise InputError(Fault("no label is about a criterion that judges answer", "label criteria of the rubric"))
    return found


def list_cases_to_align(
    labelled: LabelledOutputs, samples: Mapping[str, LabelledSampleToAlign], rubric: Rubric, places: Integers
) -> Iterator[JudgedCase]:
    """What people and the judges of the run said of outputs, criterion by criterion."""
    who = PANEL_ANSWERER if len(labelled.judges) > 1 else labelled.judges[0]
    for question in labelled.questions:
        if question.id not in rubric.leaves:
            continue
        people, said = labelled.mean(question), labelled.answers[who, question.id]
        for place in places:
            variant, sample = labelled.variants[labelled.variant[place]], samples.get(labelled.ids[place])
            if sample is None or variant not in sample.sample.outputs or people[place] != people[place]:
                continue
            judge = (
                None if said[place] != said[place] else to_exact_fraction(float(said[place])).limit_denominator(1000)
            )
            yield JudgedCase(
                criterion=question.id,
                passage=sample.show_output(variant),
                people=to_exact_fraction(float(people[place])).limit_denominator(1000),
                judge=judge,
                why=sample.reasons.get((variant, question.id), ""),
            )


LONGEST_PROPOSAL = 4096  # Tokens.
PLACE_OF_PROPOSER = -1  # Among the samples of the run: none of them.


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentPlan:
    """What aligning asks at most, and about what that costs; a cost of None is not known."""

    samples: int
    drafting: int
    rubrics: int
    calls: int
    cost: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignWorkflowAsking:
    """The labelled samples of a run, and how its judges are asked about them."""

    present: Rubric
    labelled: LabelledOutputs
    samples: Mapping[str, LabelledSampleToAlign]
    how: JudgeOptions

    async def plan_questions(
        self,
        connections: Connections,
        models: Sequence[ChainedModel],
        proposer: ChainedModel | None,
        places: Integers,
    ) -> AlignmentPlan:
        """Ask every question of the present rubric of nobody, and count: no other rubric asks many more."""
        meters = [PlannedQuestionMeter(model, None, repeats=[0]) for model in models]
        counted = [ChainedModel(meter.model, [meter.count_question]) for meter in meters]
        for part in self._list_sample_parts(places):
            sample = show_sample_part_to_align(self.samples[part[0]], part[1])
            await ask_judges_for_reviews(self.present, sample, counted, self.how)
        rubrics = 1 + len(EXAMPLE_COUNTS) + (MOST_PROPOSALS if proposer else 0)
        costs: list[Decimal | None] = []
        for meter in meters:
            price = connections.price(meter.model.name)
            usage = TokenUsage(input=meter.input * rubrics, output=meter.output * rubrics)
            costs.append(price.cost(usage) if price else None)
        if proposer is not None:
            price = connections.price(proposer.name)
            usage = TokenUsage(input=MOST_CASES * LONGEST_CASE, output=LONGEST_PROPOSAL)
            costs.append(price.cost(usage) if price else None)
        known = [one for one in costs if one is not None]
        deciding = len(set(self.labelled.cluster[places].tolist()))
        # A reply that cannot be read is asked for once more.
        calls = 2 * (sum(meter.calls for meter in meters) * rubrics + (proposer is not None))
        cost = sum(known, Decimal(0)) if len(known) == len(costs) else None
        return AlignmentPlan(
            samples=deciding, drafting=self.labelled.samples - deciding, rubrics=rubrics, calls=calls, cost=cost
        )

    def _list_sample_parts(self, places: Integers) -> list[tuple[str, tuple[str, ...]]]:
        """What judges see at once: all outputs of a sample side by side, or each labelled one alone."""
        together = self.present.method.dialogue == "listwise" and not self.how.each
        found: dict[tuple[str, tuple[str, ...]], None] = {}
        for place in places:
            id, variant = self.labelled.ids[place], self.labelled.variants[self.labelled.variant[place]]
            outputs = self.samples[id].sample.outputs
            if variant in outputs:
                found[id, tuple(outputs) if together else (variant,)] = None
        return list(found)

    async def ask_proposer(
        self, proposer: ChainedModel | None, cases: Sequence[JudgedCase], cache: ReplyCache
    ) -> ProposedEdits:
        """The edits that a model proposes where judge and people differ; none without a model."""
        if proposer is None:
            return ProposedEdits()
        shown = choose_alignment_cases_to_show(self.present, cases)
        if not shown:
            return ProposedEdits(why_not="judge and people agree on every sample that it may be shown")
        driver = DialogueDriver(
            ask_model_for_workflow(cache, proposer, RunWork(PLACE_OF_PROPOSER, 0)), self.how.deadline
        )
        manner = make_judge_dialogue_setup(driver.model, JudgeOptions(seed=self.how.seed))
        return await driver.run(ask_for_rubric_edits(self.present, shown, manner))

    async def judge_candidates(
        self, tried: Sequence[CandidateRubric], models: Sequence[ChainedModel], places: Integers, cache: ReplyCache
    ) -> list[dict[tuple[int, str], Fraction | None]]:
        """What the judges answer by every rubric, by the place of an output and the criterion."""
        number = {(id, variant): place for place, id, variant in self._number_outputs(places)}
        answers: list[dict[tuple[int, str], Fraction | None]] = [{} for _ in tried]

        async def ask(layer: int, id: str, variants: tuple[str, ...]) -> None:
            if cache.asks_no_more:
                return
            one, rubric = self.samples[id], tried[layer].rubric
            work = RunWork(one.position, 0, variants[0] if len(variants) == 1 else "")
            asked = [ask_model_for_workflow(cache, model, work) for model in models]
            judged = await ask_judges_for_reviews(rubric, show_sample_part_to_align(one, variants), asked, self.how)
            for card in judged.scores.scorecards:
                place = number.get((id, card.id))
                if place is not None:
                    said = {name: got.value if isinstance(got, Scored) else None for name, got in card.criteria.items()}
                    answers[layer] |= {
                        (place, name): value for name, value in {SCORE_QUESTION: card.exact, **said}.items()
                    }

        parts = self._list_sample_parts(places)
        await asyncio.gather(*(ask(layer, *part) for layer in range(len(tried)) for part in parts))
        return answers

    def _number_outputs(self, places: Integers) -> list[tuple[int, str, str]]:
        return [
            (int(place), self.labelled.ids[place], self.labelled.variants[self.labelled.variant[place]])
            for place in places
        ]


def ask_model_for_workflow(cache: ReplyCache, model: ChainedModel, work: RunWork) -> ChainedModel:
    """A model as a piece of work asks it: through the cache, and within the budget."""
    return ChainedModel(model, [partial(cache.ask_once, model, work), cache.turns.wait_for_budget])


@asynccontextmanager
async def open_workflow_reply_cache(
    store: Store, aligned: Row, connections: Connections, name: str, *, fresh: bool = False
) -> AsyncIterator[ReplyCache]:
    """Replies about a run kept by content in one of their own, which shows in the list of runs and is never the latest.

    `fresh` takes none from other runs: a record must have them all, and a replay none but its own.
    """
    began = datetime.now(UTC)
    setup = {**json.loads(aligned["setup"]), "aligned_from": aligned["id"]}
    row = {
        **aligned,
        "id": make_run_record_id(began),
        "name": name,
        "digest": f"aligned {aligned['digest']} {began.isoformat()}",
        "state": "running",
        "started": began.isoformat(timespec="milliseconds"),
        "ended": None,
        "summary": None,
        "taken_from": None,
        "imported": aligned["imported"] and "trusted",  # Its texts are a guest's, its replies our own.
        "setup": to_stored_json(setup),
        "holder": name_lock_process(),
    }
    hold = store.begin_run(row)
    state = "stopped"
    with ExitStack() as alive:
        alive.enter_context(store.beat_for_run(hold))
        try:
            with closing(StoreWriter(partial(store.write_rows, hold=hold), lambda: None)) as writer:
                book = RunRecorder(store, writer, hold, read_clock_for_user)
                cache = ReplyCache(book, connections.price, fresh)
                yield cache
                state = "stopped" if cache.spent else "finished"
        finally:
            store.release_run(row["id"], state, read_clock_for_user(), None, hold=hold)
