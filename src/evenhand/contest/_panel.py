"""A panel at work: what the machine wants asked becomes requests, and what comes back becomes an event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evenhand.contest._effects import AskGate, AskHorizontal, AskIndividual
from evenhand.contest._events import Event, GateChecked, RankedTogether, Resolved, ScoredAlone
from evenhand.contest._state import State
from evenhand.errors import EvenhandError, ModelError, RefusedError
from evenhand.judging import Call, Driver, How, Manner, Model, Reply, Request, judge_sample, manner_of, version_of
from evenhand.judging._driver import together
from evenhand.judging.dialogues import Anchored, gate, horizontal, shown_order
from evenhand.model import Judgment, Sample

Ask = AskGate | AskIndividual | AskHorizontal


class UnansweredError(EvenhandError):
    """A judge cannot be asked: nothing follows from that, and the contest waits where it is."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An event with the calls that it rests on."""

    event: Event
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Panels:
    """The judges of a contest and those for a challenge, and how they are asked."""

    judges: Sequence[Model]
    challenge_judges: Sequence[Model]
    how: How

    async def answer(self, state: State, ask: Ask, at: datetime) -> Answered:
        """Ask, and say what happened. Where a judge cannot be asked, that is no answer but an UnansweredError."""
        chosen = self.judges if isinstance(ask, AskGate) or ask.panel == "judges" else self.challenge_judges
        ears = [_Ear(model) for model in chosen]
        if isinstance(ask, AskGate):
            answered = await self._gate(state, ask, ears, at)
        elif isinstance(ask, AskIndividual):
            answered = await self._individual(state, ask, ears, at)
        else:
            answered = await self._horizontal(state, ask, ears, at)
        _refuse_silence(ask, ears)
        return answered

    async def _gate(self, state: State, ask: AskGate, ears: Sequence[_Ear], at: datetime) -> Answered:
        task, submission = state.terms, state.entries[ask.submission].submission
        drivers = [Driver(ear, self.how.deadline) for ear in ears]
        checks = await together(
            [
                one.run(
                    gate(task.description, task.acceptance, (submission.id, submission.text), self._manner(one.model))
                )
                for one in drivers
            ]
        )
        event = GateChecked(
            at=at, submission=submission.id, checks=tuple(check for one in checks for check in one.checks)
        )
        return Answered(event, _calls(drivers))

    async def _individual(self, state: State, ask: AskIndividual, ears: Sequence[_Ear], at: datetime) -> Answered:
        submission = state.entries[ask.submission].submission
        sample = Sample(input=state.terms.description, outputs={submission.id: submission.text})
        judged = await judge_sample(state.dimensions, sample, ears, self.how)
        if ask.panel == "challenge_judges":
            return Answered(Resolved(at=at, judgments=judged.judgments), judged.calls)
        event = ScoredAlone(
            at=at,
            submission=submission.id,
            judgments=judged.judgments,
            suggestions=judged.suggestions.get(submission.id, ()),
        )
        return Answered(event, judged.calls)

    async def _horizontal(self, state: State, ask: AskHorizontal, ears: Sequence[_Ear], at: datetime) -> Answered:
        """Judges see where each stood alone in their own eyes; those who look at a challenge see no earlier word."""
        drivers = [Driver(ear, self.how.deadline) for ear in ears]
        told = await together(
            [
                one.run(
                    horizontal(
                        state.dimensions,
                        state.terms.description,
                        [_anchored(state, id, one.model.name) for id in ask.submissions],
                        self._manner(one.model),
                    )
                )
                for one in drivers
            ]
        )
        judgments = tuple(judgment for one in told for each in one for judgment in each.judgments)
        shown = {one.model.name: tuple(shown_order(ask.submissions, self._manner(one.model))) for one in drivers}
        kind = RankedTogether if ask.panel == "judges" else Resolved
        return Answered(kind(at=at, judgments=judgments, shown=shown), _calls(drivers))

    def _manner(self, model: Model) -> Manner:
        return manner_of(model, self.how)


def _refuse_silence(ask: Ask, ears: Sequence[_Ear]) -> None:
    """One judge of a panel out of reach is enough: another panel would have scored this one than the others."""
    gone = next((ear for ear in ears if ear.away), None)
    if gone is not None:
        about = "the finalists" if isinstance(ask, AskHorizontal) else ask.submission  # Nobody knows them yet.
        raise UnansweredError(f"{gone.name} could not be asked about {about}: {gone.away}")


class _Ear:
    """A model that remembers why it could not be asked, where another try, or another set-up, may help."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self.away = ""
        self._model = model

    @property
    def version(self) -> str:
        """That of the model behind it."""
        return version_of(self._model)

    async def ask(self, request: Request) -> Reply:
        """The reply of the model behind it."""
        try:
            return await self._model.ask(request)
        except ModelError as error:
            if not isinstance(error, RefusedError) or error.always:
                self.away = str(error)
            raise


def _anchored(state: State, id: str, judge: str) -> Anchored:
    entry = state.entries[id]
    own: dict[str, Judgment] = {one.criterion: one for one in entry.judgments if one.judge == judge}
    return Anchored(id=id, text=entry.submission.text, judgments=own)


def _calls(drivers: Sequence[Driver]) -> tuple[Call, ...]:
    return tuple(call for driver in drivers for call in driver.calls)
