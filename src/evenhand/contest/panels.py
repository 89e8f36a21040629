"""The panels of a contest: what the machine wants asked becomes requests to judges, and their replies become an
event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evenhand.contest.events import (
    AskGate,
    AskHorizontal,
    AskIndividual,
    ChallengeResolved,
    ContestEvent,
    FinalistsRanked,
    GateChecked,
    SubmissionScored,
)
from evenhand.contest.state import ContestState
from evenhand.errors import EvenhandError, ModelError, RefusedError
from evenhand.judging.dialogues.contest_dialogues import (
    AnchoredSubmission,
    ask_judge_gate_check,
    ask_judge_horizontal_scores,
    shuffle_labels_for_judge,
)
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.judging.results import JudgeCall
from evenhand.judging.single_judge import DialogueDriver, JudgeOptions, await_judges_in_order, make_judge_dialogue_setup
from evenhand.model.sample import Sample
from evenhand.models.requests import CallNext, ChainedModel, Middleware, Model, Reply, Request

PanelQuestion = AskGate | AskIndividual | AskHorizontal


class UnansweredError(EvenhandError):
    """A judge cannot be asked: nothing follows from that, and the contest waits where it is."""


class UnreadableError(UnansweredError):
    """No judge gave an answer that can be read: these judges would not give one later either."""


@dataclass(frozen=True, slots=True)
class PanelAnswer:
    """An event with the calls that it rests on."""

    event: ContestEvent
    calls: tuple[JudgeCall, ...]


@dataclass(frozen=True, slots=True)
class ContestMachinePanels:
    """The judges of a contest and those for a challenge, and how they are asked."""

    judges: Sequence[Model]
    challenge_judges: Sequence[Model]
    how: JudgeOptions

    async def answer_machine_question(self, state: ContestState, ask: PanelQuestion, at: datetime) -> PanelAnswer:
        """Ask, and say what happened. Where a judge cannot be asked, that is no answer but an UnansweredError."""
        chosen = self.judges if isinstance(ask, AskGate) or ask.panel == "judges" else self.challenge_judges
        failures: dict[str, str] = {}
        judges = [ChainedModel(model, [_note_contest_event_judge_failure(failures, model.name)]) for model in chosen]
        if isinstance(ask, AskGate):
            answered = await self._ask_panel_at_gate(state, ask, judges, at)
        elif isinstance(ask, AskIndividual):
            answered = await self._ask_panel_about_submission(state, ask, judges, at)
        else:
            answered = await self._ask_panel_about_finalists(state, ask, judges, at)
        # One judge of a panel out of reach is enough: another panel would have scored this one than the others.
        gone = next((judge.name for judge in judges if judge.name in failures), None)
        if gone is not None:
            about = "the finalists" if isinstance(ask, AskHorizontal) else ask.submission  # Nobody knows them yet.
            why = failures[gone].removeprefix(f"{gone}: ")
            raise UnansweredError(f"{gone} could not be asked about {about}: {why}")
        return answered

    async def _ask_panel_at_gate(
        self, state: ContestState, ask: AskGate, judges: Sequence[Model], at: datetime
    ) -> PanelAnswer:
        task, submission = state.required_task, state.entries[ask.submission].submission
        drivers = [DialogueDriver(judge, self.how.deadline) for judge in judges]
        text = (submission.id, submission.text)
        dialogues = [
            ask_judge_gate_check(task.description, task.acceptance, text, make_judge_dialogue_setup(judge, self.how))
            for judge in judges
        ]
        told = await await_judges_in_order([one.run(each) for one, each in zip(drivers, dialogues, strict=True)])
        checks = tuple(check for one in told for check in one.checks)
        return PanelAnswer(
            GateChecked(at=at, submission=submission.id, checks=checks), _collect_calls_behind_contest_event(drivers)
        )

    async def _ask_panel_about_submission(
        self, state: ContestState, ask: AskIndividual, judges: Sequence[Model], at: datetime
    ) -> PanelAnswer:
        submission = state.entries[ask.submission].submission
        sample = Sample(input=state.required_task.description, outputs={submission.id: submission.text})
        judged = await ask_judges_for_reviews(state.dimensions, sample, judges, self.how)
        if ask.panel == "challenge_judges":
            return PanelAnswer(ChallengeResolved(at=at, judgments=judged.judgments), judged.calls)
        advice = judged.suggestions.get(submission.id, ())
        event = SubmissionScored(
            at=at,
            submission=submission.id,
            judgments=judged.judgments,
            suggestions=advice,
            overall_bands=judged.overall_bands.get(submission.id, {}),
        )
        return PanelAnswer(event, judged.calls)

    async def _ask_panel_about_finalists(
        self, state: ContestState, ask: AskHorizontal, judges: Sequence[Model], at: datetime
    ) -> PanelAnswer:
        """Judges see where each stood alone in their own eyes; those who look at a challenge see no earlier word."""
        drivers = [DialogueDriver(judge, self.how.deadline) for judge in judges]
        setups = {judge.name: make_judge_dialogue_setup(judge, self.how) for judge in judges}
        task, rubric = state.required_task.description, state.dimensions
        dialogues = []
        for name, setup in setups.items():
            anchored = []
            for entry in (state.entries[id] for id in ask.submissions):
                own = {one.criterion: one for one in entry.judgments if one.judge == name}
                anchored.append(AnchoredSubmission(id=entry.id, text=entry.submission.text, judgments=own))
            dialogues.append(ask_judge_horizontal_scores(rubric, task, anchored, setup))
        told = await await_judges_in_order([one.run(each) for one, each in zip(drivers, dialogues, strict=True)])
        judgments = tuple(judgment for one in told for each in one for judgment in each.judgments)
        shown = {name: tuple(shuffle_labels_for_judge(ask.submissions, setup)) for name, setup in setups.items()}
        kind = FinalistsRanked if ask.panel == "judges" else ChallengeResolved
        return PanelAnswer(kind(at=at, judgments=judgments, shown=shown), _collect_calls_behind_contest_event(drivers))


def _note_contest_event_judge_failure(failures: dict[str, str], name: str) -> Middleware:
    """Remember why a judge could not be asked, where another try, or another set-up, may help."""

    async def ask_contest_panel_and_note(request: Request, call_next: CallNext) -> Reply:
        try:
            return await call_next(request)
        except ModelError as error:
            if not isinstance(error, RefusedError) or error.always:
                failures[name] = str(error)
            raise

    return ask_contest_panel_and_note


def _collect_calls_behind_contest_event(drivers: Sequence[DialogueDriver]) -> tuple[JudgeCall, ...]:
    return tuple(call for driver in drivers for call in driver.calls)
