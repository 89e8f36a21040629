"""Asking for an alignment: the plan of it, the proposer, and every rubric that is tried, through the store's cache."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial

from evenhand.calibrate.alignment import EXAMPLE_COUNTS, CandidateRubric
from evenhand.calibrate.edit_proposals import (
    LONGEST_CASE,
    MOST_CASES,
    MOST_PROPOSALS,
    JudgedCase,
    ProposedEdits,
    ask_for_rubric_edits,
    choose_cases_to_show,
)
from evenhand.calibrate.labelled_outputs import Integers, LabelledOutputs
from evenhand.calibrate.labels import SCORE_QUESTION
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.judging.single_judge import DialogueDriver, JudgeOptions, make_judge_dialogue_setup
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Scored
from evenhand.models.connections import Connections
from evenhand.models.requests import ChainedModel, TokenUsage
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.run_record import RunRecorder, RunWork, make_run_record_id
from evenhand.store.rows import Row, StoreWriter, to_stored_json
from evenhand.store.run_holds import process_holder_name
from evenhand.store.store import Store
from evenhand.workflows.align_inputs import LabelledSample, show_sample_part
from evenhand.workflows.plan import PlannedQuestionMeter
from evenhand.workflows.run import read_clock_for_user

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
class AlignmentAsking:
    """The labelled samples of a run, and how its judges are asked about them."""

    present: Rubric
    labelled: LabelledOutputs
    samples: Mapping[str, LabelledSample]
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
            sample = show_sample_part(self.samples[part[0]], part[1])
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
        shown = choose_cases_to_show(self.present, cases)
        if not shown:
            return ProposedEdits(why_not="judge and people agree on every sample that it may be shown")
        driver = DialogueDriver(ask_through_cache(cache, proposer, RunWork(PLACE_OF_PROPOSER, 0)), self.how.deadline)
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
            asked = [ask_through_cache(cache, model, work) for model in models]
            judged = await ask_judges_for_reviews(rubric, show_sample_part(one, variants), asked, self.how)
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


def ask_through_cache(cache: ReplyCache, model: ChainedModel, work: RunWork) -> ChainedModel:
    """A model as a piece of work asks it: through the cache, and within the budget."""
    return ChainedModel(model, [partial(cache.ask_once, model, work), cache.turns.wait_for_budget])


@asynccontextmanager
async def open_cache_aside(
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
        "imported": None,
        "setup": to_stored_json(setup),
        "holder": process_holder_name(),
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
