"""A contest to which anything happens in any order, and what must hold after whatever was taken or refused."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from evenhand.contest.events import (
    AskGate,
    AskHorizontal,
    AskIndividual,
    ChallengeResolved,
    CloseContest,
    ContestCreated,
    ContestEffect,
    ContestEvent,
    DeadlineReached,
    FinalistsRanked,
    GateChecked,
    NotifySubmitter,
    ReleasePayment,
    SubmissionScored,
    contest_effect_json,
    contest_event_from_json,
    contest_event_json,
)
from evenhand.contest.feedback import view_submission
from evenhand.contest.machine import apply_contest_event, list_pending_contest_effects
from evenhand.contest.ranking import PASSING_SCORE, list_ranked_entries, score_submission_alone
from evenhand.contest.record import encode_contest_state
from evenhand.contest.state import MOVES_BY_MODE, ContestState
from evenhand.errors import ContestError
from evenhand.model.scale import Scored
from evenhand.model.scorecard import Evidence, Judgment
from evenhand.wording import format_number_for_json
from tests.contest.building import NAMES, Ask

# In no time, weight or id: where one of these is seen, a score is.
PECULIAR = Fraction(137, 1000)
MARKS = ("quoted-from-it", "said-of-it", "in-band-")


class Life:
    """The machine under test, a second one that is only fed from the written log, and the books kept beside them."""

    def __init__(self) -> None:
        self.state = ContestState()
        self.rebuilt = ContestState()
        self.log: list[ContestEvent] = []
        self.told: list[NotifySubmitter] = []
        self.asked: list[Ask] = []
        self.open: list[Ask] = []
        self.payments = 0
        self.after_close = 0
        self.secrets = set(MARKS)
        self.met: Counter[str] = Counter()

    def try_out(self, event: ContestEvent) -> None:
        """Let an event happen or be refused; then everything must hold."""
        before = self.state
        try:
            self.state, effects = apply_contest_event(before, event)
        except ContestError as error:
            assert all(fault.what and fault.hint for fault in error.faults)
            self.met["refused"] += 1
            self.after_close += self.state.phase == "closed"
        else:
            self.met["taken"] += 1
            self.met[self.state.phase] += 1
            self._taken(before, event, effects)
        # The second machine never saw what was refused: whatever that left behind would set the two apart.
        assert self.state == self.rebuilt
        assert list(self.state.entries) == list(self.rebuilt.entries)
        for author in {one.submission.author for one in self.state.entries.values()}:
            own = [one for one in self.state.entries.values() if one.submission.author == author]
            assert self.state.entries_by_author(author) == own
        self._one_winner(before)

    def _taken(self, before: ContestState, event: ContestEvent, effects: tuple[ContestEffect, ...]) -> None:
        self.log.append(event)
        self.rebuilt, again = apply_contest_event(
            self.rebuilt, contest_event_from_json(json.loads(json.dumps(contest_event_json(event))))
        )
        assert again == effects
        assert self.state.phase in MOVES_BY_MODE[self.state.required_task.mode][before.phase][event.kind]
        self._everybody_spoke_once(before, event)
        self._asks(event, effects)
        self._payment(before, event, effects)
        self.told += [one for one in effects if isinstance(one, NotifySubmitter)]
        if isinstance(event, SubmissionScored):
            self._keep_secret(event)
        self._nothing_too_early()

    def _everybody_spoke_once(self, before: ContestState, event: ContestEvent) -> None:
        """Of what was taken, each judge who was asked has one answer on each thing, and nobody else has any."""
        if not isinstance(event, (GateChecked, SubmissionScored, FinalistsRanked, ChallengeResolved)):
            return
        checks = isinstance(event, GateChecked)
        said = [one.judgment for one in event.checks] if isinstance(event, GateChecked) else event.judgments
        judges = (
            before.required_task.challenge_judges
            if isinstance(event, ChallengeResolved)
            else before.required_task.judges
        )
        about = before.finalists if isinstance(event, (FinalistsRanked, ChallengeResolved)) else (event.submission,)
        asked = product(judges, ("criterion-1",) if checks else NAMES, about)
        assert sorted((one.judge, one.criterion, one.output) for one in said) == sorted(asked)
        values = [one.score.value for one in said if isinstance(one.score, Scored)]
        assert all(value in (0, 1) if checks else 0 <= value <= 100 for value in values)

    def _asks(self, event: ContestEvent, effects: tuple[ContestEffect, ...]) -> None:
        """Asked once each; what is open is what was asked and not answered."""
        answered = self._answered(event)
        if answered is not None:
            self.open.remove(answered)
        new = [one for one in effects if isinstance(one, (AskGate, AskIndividual, AskHorizontal))]
        assert not [one for one in new if one in self.asked]
        self.asked += new
        self.open += new
        assert Counter(self.open) == Counter(list_pending_contest_effects(self.state))

    def _answered(self, event: ContestEvent) -> Ask | None:
        if isinstance(event, GateChecked):
            return AskGate(submission=event.submission)
        if isinstance(event, SubmissionScored):
            return AskIndividual(submission=event.submission)
        if isinstance(event, (FinalistsRanked, ChallengeResolved)):
            (only,) = self.open
            assert not isinstance(only, AskGate)
            assert (only.panel == "judges") == (event.kind == "ranked")
            return only
        return None

    def _payment(self, before: ContestState, event: ContestEvent, effects: tuple[ContestEffect, ...]) -> None:
        payments = [one for one in effects if isinstance(one, ReleasePayment)]
        closes = [one for one in effects if isinstance(one, CloseContest)]
        self.payments += len(payments)
        assert self.payments == int(self.state.paid) <= 1
        assert len(closes) == (self.state.phase == "closed")
        assert [one.submission for one in payments] == [one.winner for one in closes if one.winner]
        if payments and self.state.required_task.mode == "quality_first":
            assert before.phase == "challenge_period"
            assert before.period_ends is not None
            assert isinstance(event, DeadlineReached)
            assert event.deadline == "challenges"
            assert event.at >= before.period_ends

    def _one_winner(self, before: ContestState) -> None:
        won = [entry.id for entry in self.state.entries.values() if entry.status == "won"]
        assert won == ([] if self.state.winner is None else [self.state.winner])
        assert not won or self.state.entries[won[0]].rank == 1
        if before.phase == "closed":
            assert self.state is before
        ranks = sorted(entry.rank for entry in self.state.entries.values() if entry.rank)
        assert ranks == list(range(1, len(ranks) + 1))
        if self.state.task is not None and self.state.task.mode == "fastest_first":
            self._first_to_pass(won)
        else:
            authors = [entry.submission.author for entry in list_ranked_entries(self.state)]
            assert len(authors) == len(set(authors))

    def _first_to_pass(self, won: list[str]) -> None:
        for entry in self.state.entries.values():
            if entry.status in ("scored", "won"):
                exact = score_submission_alone(self.state, entry).exact
                assert exact is not None
                assert (exact >= PASSING_SCORE) == (entry.id in won)

    def _keep_secret(self, event: SubmissionScored) -> None:
        values = [one.score.value for one in event.judgments if isinstance(one.score, Scored)]
        exact = score_submission_alone(self.state, self.state.entries[event.submission]).exact
        shown = [format_number_for_json(value, 2) for value in [*values, *([] if exact is None else [exact])]]
        self.secrets |= {str(value) for value in [*values, *shown]}

    def _nothing_too_early(self) -> None:
        # Not by `revealed`: that is the machine's own word for what is tested here.
        if self.state.required_task.mode == "fastest_first" or self.state.phase not in ("open", "judging", "ranking"):
            return
        public: list[Any] = [view_submission(self.state, id) for id in self.state.entries]
        text = json.dumps([*public, *map(contest_effect_json, self.told), encode_contest_state(self.log)])
        assert [one for one in self.secrets if one in text] == []
        assert "dimension_scores" not in text
        assert all((one["score"], one["rank"]) == (None, None) for one in public)

    @property
    def over(self) -> bool:
        """Whether it is closed, and some have tried to go on."""
        return self.after_close > 2

    def finished(self) -> None:
        """At the end of a life: the record is the same from the log as it was written."""
        if self.log:
            again = [contest_event_from_json(json.loads(json.dumps(contest_event_json(one)))) for one in self.log]
            assert json.dumps(encode_contest_state(again)) == json.dumps(encode_contest_state(self.log))
            assert isinstance(self.log[0], ContestCreated)


def marked(one: Judgment) -> Judgment:
    """The same answer with words and a number that are found wherever they show."""
    if not isinstance(one.score, Scored):
        return one
    value = min(one.score.value + PECULIAR, Fraction(100))
    band = f"{MARKS[2]}{one.score.band}"
    return replace(one, score=Scored(value, band), evidence=(Evidence(MARKS[0], 0, 4),), feedback=MARKS[1])
