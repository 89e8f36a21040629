"""The stable JSON of a contest: all of it for its operator, and for authors and the public what each may see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from math import comb
from typing import Any

from evenhand.contest.events import (
    AskHorizontal,
    ChallengeResolved,
    ContestEffect,
    ContestEvent,
    DeadlineReached,
    FinalistsRanked,
    PaymentReleased,
    RankingChallenged,
    contest_effect_json,
    contest_event_json,
)
from evenhand.contest.feedback import view_submission
from evenhand.contest.machine import apply_contest_event, rebuild_contest_state
from evenhand.contest.ranking import (
    PASSING_SCORE,
    rank_submissions,
    score_finalists,
    score_finalists_together,
    score_submission_alone,
)
from evenhand.contest.state import ContestEntry, ContestState
from evenhand.contest.task import normalize_contest_author_name
from evenhand.errors import ContestError, Fault
from evenhand.files.codec import Codec
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Scored
from evenhand.model.scorecard import Scorecard
from evenhand.wording import format_fraction, format_number_for_json

Json = dict[str, Any]
HIDDEN_EVENT_FIELDS = (
    "judgments",
    "suggestions",
    "overall_bands",
)  # What of an event would tell scores, or advice to others.


def encode_contest_state(events: Sequence[ContestEvent]) -> Json:
    """A contest as its log has it: where it stands, every submission, what happened and what was wanted."""
    state = ContestState()
    effects: list[tuple[ContestEffect, int, ContestEvent]] = []
    for number, event in enumerate(events):
        state, wanted = apply_contest_event(state, event)
        effects += [(one, number, event) for one in wanted]
    if state.task is None:
        raise ContestError(Fault("nothing has happened yet", "a log begins with created"))
    task, decision = state.task, explain_contest_decision(state)
    hidden = () if state.revealed else HIDDEN_EVENT_FIELDS
    submissions = []
    for entry in state.entries.values():
        at, revises = entry.submission.at.isoformat(), entry.submission.revises
        # While scores are hidden, `why` is not what a judge wrote instead of one: a number off the scale is in it.
        unscored = entry.status == "unjudged" and entry.scored and hidden
        why = "it could not be scored" if unscored else entry.why or None
        submissions.append({**view_submission(state, entry.id), "at": at, "revises": revises, "why": why})
    return {
        "task": task.name,
        "mode": task.mode,
        "state": state.phase,
        "winner": state.winner,
        "period_ends": None if state.period_ends is None else state.period_ends.isoformat(),
        "payment": _encode_contest_payment_state(state),
        "decision": None if decision is None else DECISION_JSON.to_json(decision),
        "dimensions": encode_contest_dimensions(state.dimensions),
        "submissions": submissions,
        "events": [
            {"number": number, **_omit_contest_state_fields(contest_event_json(event), hidden)}
            for number, event in enumerate(events)
        ],
        "effects": [
            {"after": number, "at": event.at.isoformat()}
            | _omit_contest_state_fields(
                # Who is in the final is hidden as long as the scores that put them there.
                contest_effect_json(one),
                ("submissions",) if isinstance(one, AskHorizontal) and hidden else (),
            )
            for one, number, event in effects
        ],
    }


def encode_contest_dimensions(rubric: Rubric) -> list[Json]:
    """What a contest scores, with what weight."""
    return [
        {"id": one.id, "asks": one.asks, "weight": format_number_for_json(one.weight), "fixed": one.fixed}
        for one in rubric.criteria
    ]


def _encode_contest_payment_state(state: ContestState) -> Json | None:
    """What is to be paid to whom: released once, or, in a rehearsal, never."""
    if not state.paid or state.winner is None:
        return None
    winner, released = state.entries[state.winner].submission, state.released
    return {
        "id": state.payment,
        "state": "rehearsal" if state.rehearsal else "due" if released is None else "released",
        "released": None if released is None else released.isoformat(),
        "newly_released": False,  # Whoever releases it says so, once.
        "submission": winner.id,
        "author": winner.author,
        "reward": state.required_task.reward,
    }


def _omit_contest_state_fields(data: Json, names: Sequence[str]) -> Json:
    return {name: value for name, value in data.items() if name not in names}


DECISION_JSON = Codec()
JUDGE_ERROR_UNKNOWN = "how often this judge errs is not known here: evenhand calibrate measures a judge against people"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestDecision:
    """What was decided, what it rests on, and how sure that is."""

    winner: str | None
    why: tuple[str, ...]
    how_sure: tuple[str, ...] = ()


def explain_contest_decision(state: ContestState) -> ContestDecision | None:
    """The decision of a contest that has been ranked or closed; None before."""
    if not state.revealed or (state.phase == "open" and state.winner is None) or state.phase in ("new", "judging"):
        return None
    if state.winner is None:
        return ContestDecision(winner=None, why=(f"{state.why[0].upper()}{state.why[1:]}.",))
    if state.required_task.mode == "fastest_first":
        return _explain_first_submission_to_pass(state, state.winner)
    if len(state.finalists) == 1:
        card = score_submission_alone(state, state.entries[state.winner])
        score = f"{_write_finalist_total(card)}, not compared"
        why = f"{state.winner} is the only one with every dimension at band C or above: {score}."
        told = (why, *_contest_challenge_outcome(state))
        return ContestDecision(winner=state.winner, why=told, how_sure=("it had nobody to be compared with",))
    return _explain_ranked_contest_winner(state, state.winner)


def _explain_first_submission_to_pass(state: ContestState, winner: str) -> ContestDecision:
    card = score_submission_alone(state, state.entries[winner])
    earlier = list(state.entries.values())[: list(state.entries).index(winner)]
    judged = sum(entry.status not in ("unjudged", "policy_violation") for entry in earlier)
    unjudged = sum(entry.status == "unjudged" for entry in earlier)
    before = (
        f" The {judged} judged before it did not."
        if judged > 1
        else " The one judged before it did not."
        if judged
        else ""
    )
    before += f" {unjudged} before it could not be judged." if unjudged else ""
    why = f"{winner} is the first to reach {format_fraction(PASSING_SCORE)}: {_write_finalist_total(card)}.{before}"
    passing = [Fraction(1 if one.exact >= PASSING_SCORE else -1) for one in card.reviews or () if one.exact is not None]
    sure = _explain_majority_for_finalist(passing, "put it at 60 or more")
    return ContestDecision(winner=winner, why=(why,), how_sure=(sure,))


def _explain_ranked_contest_winner(state: ContestState, winner: str) -> ContestDecision:
    places = rank_submissions(state)
    second = places[1].id
    compared = score_finalists(state)
    alone = {id: score_submission_alone(state, state.entries[id]) for id in state.finalists}
    cards = alone if compared is None else compared.cards
    how = "by their scores alone, as too few side-by-side replies could be read" if compared is None else "side by side"
    first, next_ = cards[winner].exact, cards[second].exact
    assert first is not None
    assert next_ is not None
    ahead = "less than 0.01" if 0 < first - next_ < Fraction(1, 200) else format_fraction(first - next_, 2)
    lead = f"{_write_finalist_total(cards[winner])}, "
    lead += f"level with {second}" if first == next_ else f"{ahead} ahead of {second}"
    why = [f"{winner} came first of {len(state.finalists)} compared {how}: {lead}."]
    tie = places[1].tie_broken_by
    why += [f"The two are equal in score; {winner} comes first by {tie}."] if tie else []
    why += _contest_challenge_outcome(state)
    why += [f"{note}." for note in (compared.notes if compared else ())]
    sure = [_compare_finalists_by_dimension(state, cards, winner, second)]
    sure += (
        [_compare_finalists_alone(alone, winner)] if compared else []
    )  # Else the scores alone are those that decided.
    # By how much each judge who counts puts the winner ahead of the second.
    said = [{one.judge: one.exact for one in cards[id].reviews or ()} for id in (winner, second)]
    pairs = [(mine, said[1].get(judge)) for judge, mine in said[0].items()]
    leads = [mine - other for mine, other in pairs if mine is not None and other is not None]
    sure.append(_explain_majority_for_finalist(leads, f"put it ahead of {second}"))
    return ContestDecision(winner=winner, why=tuple(why), how_sure=tuple(sure))


def _contest_challenge_outcome(state: ContestState) -> list[str]:
    """Who doubted the ranking, and what came of it."""
    if state.challenge is None:
        return []
    by = state.challenge.by
    if state.review is None:
        return [f"{by} has challenged it; the challenge has not been reviewed yet."]
    said = state.review.judgments
    if len(state.finalists) > 1:
        readable = score_finalists_together(state, said) is not None
    else:
        only = replace(state.entries[state.finalists[0]], judgments=said)
        readable = score_submission_alone(state, only).exact is not None
    if not readable:
        return [f"{by} challenged it; those who looked again could not be read, and the winner stands."]
    before = [place.id for place in rank_submissions(replace(state, review=None))]
    now = [place.id for place in rank_submissions(state)]
    change = "the winner stands" if before == now else "the winner stands; places behind it changed"
    if before[0] != now[0]:
        change = f"the ranking changed: {before[0]} had come first"
    return [f"{by} challenged it; judges who had not judged before looked again, and {change}."]


def _compare_finalists_by_dimension(
    state: ContestState, cards: Mapping[str, Scorecard], winner: str, second: str
) -> str:
    gaps = {}
    for one in state.dimensions.criteria:
        mine, other = cards[winner].criteria[one.id], cards[second].criteria[one.id]
        assert isinstance(mine, Scored)
        assert isinstance(other, Scored)
        gaps[one.id] = mine.value - other.value
    ahead = sum(gap > 0 for gap in gaps.values())
    lost = [f"{id} by {format_fraction(-gap, 2)}" for id, gap in gaps.items() if gap < 0]
    than = f"; {second} is ahead on {', '.join(lost)}" if lost else ""
    return f"ahead of {second} on {ahead} of {len(gaps)} dimensions{than}"


def _compare_finalists_alone(alone: Mapping[str, Scorecard], winner: str) -> str:
    """Whether the finalists stood in the same order alone."""
    scores = {id: card.exact for id, card in alone.items() if card.exact is not None}
    others = {id: score for id, score in scores.items() if id != winner}
    best = max(others, key=lambda id: others[id])
    own = _write_finalist_total(alone[winner])
    if others[best] < scores[winner]:
        return f"alone it was the best of the finalists too: {own}"
    if others[best] == scores[winner]:
        return f"alone it was equal to {best}: {own}"
    return f"alone {best} was better: {_write_finalist_total(alone[best])} to {own}"


def _explain_majority_for_finalist(leads: Sequence[Fraction], what: str) -> str:
    """How many judges agree, and how often so clear a majority would come up between equals."""
    if not leads:
        return JUDGE_ERROR_UNKNOWN
    for_it, against = sum(lead > 0 for lead in leads), sum(lead < 0 for lead in leads)
    equal = len(leads) - for_it - against
    told = f"{for_it} of {len(leads)} judges {what}" + (f", {equal} saw no difference" if equal else "")
    if for_it <= against:
        return f"{told}: the mean of their scores decided, not a majority"
    n = for_it + against
    chance = min(Fraction(1), 2 * Fraction(sum(comb(n, k) for k in range(for_it, n + 1)), 2**n))
    return f"{told}; between equals, so clear a majority comes up in {format_fraction(chance * 100, 0)}% of contests"


def _write_finalist_total(card: Scorecard) -> str:
    return "–" if card.exact is None else format_fraction(card.exact, card.decimals, beside=[PASSING_SCORE])


# What happens to everybody; what happens to one submission is its author's alone.
_PUBLIC_EVENTS = (DeadlineReached, FinalistsRanked, RankingChallenged, ChallengeResolved, PaymentReleased)


def view_contest_record(
    events: Sequence[ContestEvent], author: str | None = None, *, known: ContestState | None = None
) -> Json:
    """A contest as an author may see it now, or, without one, as anybody may.

    Of others nothing is shown before the contest is decided: not how many there are, nor who. After that the ranking is
    public: who came where with which score; texts and feedback stay with their authors. The state that the events lead
    to may be `known`.
    """
    state = known or rebuild_contest_state(events)
    if state.task is None:
        raise ContestError(Fault("nothing has happened yet", "a log begins with created"))
    own = [] if author is None else state.entries_by_author(normalize_contest_author_name(author))
    # The ranking is public once it is made, or, where the first to pass wins, at the end.
    decided = state.phase in ("challenge_period", "challenged", "closed")
    decision = explain_contest_decision(state) if decided else None
    winner = None
    if decided and state.winner is not None:
        winner = {"submission": state.winner, "author": state.entries[state.winner].submission.author}
    return {
        "contest": state.contest,
        "task": state.task.name,
        "description": state.task.description,
        "acceptance": list(state.task.acceptance),
        "mode": state.task.mode,
        "state": state.phase,
        "deadline": None if state.task.deadline is None else state.task.deadline.isoformat(),
        "period_ends": None if state.period_ends is None else state.period_ends.isoformat(),
        "reward": state.task.reward,
        "dimensions": encode_contest_dimensions(state.dimensions),
        "winner": winner,
        "decision": None if decision is None else DECISION_JSON.to_json(decision),
        "ranking": _public_contest_ranking(state) if decided else None,
        "events": [_view_public_contest_event(one) for one in events if isinstance(one, _PUBLIC_EVENTS)],
        "submissions": [_view_own_contest_submission(state, one) for one in own],
    }


def _view_public_contest_event(event: ContestEvent) -> Json:
    """Who challenged is public, as the decision names them; why they did is for judges and the operator."""
    by = event.challenge.by if isinstance(event, RankingChallenged) else None
    return {"kind": event.kind, "at": event.at.isoformat(), "by": by}


def _view_own_contest_submission(state: ContestState, entry: ContestEntry) -> Json:
    """An author's own submission: status, feedback that may be seen now, and the text as it was received."""
    seen = view_submission(state, entry.id)
    # While scores are hidden, why nothing could be scored may hold what a judge wrote instead of one.
    unscored = entry.status == "unjudged" and entry.scored and not state.revealed
    why = "it could not be scored" if unscored else entry.why or None
    given = entry.submission
    return {**seen, "at": given.at.isoformat(), "revises": given.revises, "why": why, "text": given.text}


def _public_contest_ranking(state: ContestState) -> list[Json]:
    """Who came where: the ranked ones, best first."""
    ranked = sorted((one for one in state.entries.values() if one.rank is not None), key=lambda one: one.rank or 0)
    seen = [view_submission(state, one.id) for one in ranked]
    return [{name: one[name] for name in ("rank", "id", "author", "score", "status")} for one in seen]


RECEIVED = "received"  # The status of a submission that nobody has looked at yet.
CONTEST_CHANGE_FIELDS = ("at", "event", "submission", "author", "status", "state", "winner")


def list_contest_changes(before: Mapping[str, Any] | None, after: Mapping[str, Any], *, seen: str) -> list[Json]:
    """What happened between two looks at a contest, or, with one, so far; each change has the same fields.

    A look is the record of a contest, which has every event, or a view of it, in which an author's own submissions
    change. What has no time of its own has the one at which it was seen.
    """
    whole = "effects" in after
    found = [
        *(_list_contest_record_changes(before, after) if whole else _list_contest_view_changes(before, after, seen))
    ]
    # A review between two looks leaves the state as it was, and may put another first.
    if before is None or any(before[name] != after[name] for name in ("state", "winner")):
        winner = after["winner"] if whole or after["winner"] is None else after["winner"]["submission"]
        since = found[-1] if found else {}
        found.append({"at": since.get("at", seen), "event": "state", "state": after["state"], "winner": winner})
    return [{name: {"at": seen, **one}.get(name) for name in CONTEST_CHANGE_FIELDS} for one in found]


def _list_contest_record_changes(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> Iterator[Json]:
    """Every new event, with what the author was told of it."""
    told = {one["after"]: one for one in after["effects"] if one["effect"] == "tell_submitter"}
    authors = {one["id"]: one["author"] for one in after["submissions"]}
    for event in after["events"][0 if before is None else len(before["events"]) :]:
        given = event.get("submission")
        id = given["id"] if isinstance(given, Mapping) else given
        about = {"submission": id, "author": event.get("by", authors.get(id))}
        # At the ranking many are told at once, each of their own place.
        status = told.get(event["number"], {}).get("status") if id is not None else None
        yield {"at": event["at"], "event": event["event"], **about, "status": status}


def _list_contest_view_changes(before: Mapping[str, Any] | None, after: Mapping[str, Any], seen: str) -> list[Json]:
    """What came and what happened to everybody, in order of time; then which own submissions stand otherwise since."""
    known = {} if before is None else {one["id"]: one["status"] for one in before["submissions"]}
    own, events = after["submissions"], after["events"][0 if before is None else len(before["events"]) :]
    found = [
        {"at": one["at"], **_describe_submission_in_record(one, RECEIVED)} for one in own if one["id"] not in known
    ]
    found += [{"at": event["at"], "event": event["kind"], "author": event.get("by")} for event in events]
    found.sort(key=lambda one: datetime.fromisoformat(one["at"]))
    at = found[-1]["at"] if found else seen  # A status has no time of its own: it follows what may have led to it.
    changed = [one for one in own if known.get(one["id"], RECEIVED) != one["status"]]
    return found + [{"at": at, **_describe_submission_in_record(one, one["status"])} for one in changed]


def _describe_submission_in_record(one: Mapping[str, Any], status: str) -> Json:
    return {"event": "submission", "submission": one["id"], "author": one["author"], "status": status}
