"""The stable JSON of judging: the scores as ever, and beside them all that they rest on."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.judging._driver import Call
from evenhand.judging._judged import Judged, Preferred, Saved
from evenhand.judging._request import NoReply
from evenhand.judging._told import Preference, Suggestion
from evenhand.judging.models import Spent
from evenhand.model import Finding, Judgment, Scored, Spread, number_for_json
from evenhand.scoring import as_json

Json = dict[str, object]


def judged_json(judged: Judged, spent: Spent) -> Json:
    """What `evenhand judge --json` prints."""
    return {
        **as_json(judged.scores),
        "heuristic": list(judged.heuristic),
        "judgments": [judgment_json(one) for one in judged.judgments],
        "suggestions": {output: list(map(suggestion_json, given)) for output, given in judged.suggestions.items()},
        "seed": judged.seed,
        "orders": {judge: list(order) for judge, order in judged.orders.items()},
        "decided_by": dict(judged.decided_by) or None,
        "guards": {output: [finding_json(one) for one in found] for output, found in judged.findings.items()},
        "saved": None if judged.saved is None else _saved(judged.saved),
        "calls": _calls(judged.calls),
        "spent": spent_json(spent),
    }


def preferred_json(preferred: Preferred, spent: Spent) -> Json:
    """What `evenhand judge --pairwise --json` prints."""
    judges = dict.fromkeys(one.judge for one in preferred.preferences)
    return {
        "standings": [
            {
                "output": one.output,
                "won": one.won,
                "tied": one.tied,
                "lost": one.lost,
                "undecided": one.undecided,
                "rate": one.rate,
            }
            for one in preferred.standings
        ],
        "preferences": [_preference(one) for one in preferred.preferences],
        "position_bias": {
            judge: dict(zip(("pairs", "of"), preferred.position_bias(judge), strict=True)) for judge in judges
        },
        "seed": preferred.seed,
        "calls": _calls(preferred.calls),
        "spent": spent_json(spent),
    }


def spent_json(spent: Spent) -> Json:
    """What was used; a cost that is not known is null."""
    return {
        "requests": spent.requests,
        "input_tokens": spent.input,
        "output_tokens": spent.output,
        "cached_tokens": spent.cached,
        "cost": None if spent.cost is None else float(spent.cost),
        "requests_without_price": spent.unpriced,
        "replayed": spent.replayed,
    }


def judgment_json(one: Judgment) -> Json:
    """What one judge said on one criterion."""
    score = one.score
    return {
        "judge": one.judge,
        "output": one.output,
        "criterion": one.criterion,
        "score": number_for_json(score.value) if isinstance(score, Scored) else None,
        "band": score.band if isinstance(score, Scored) else None,
        "why_not": None if isinstance(score, Scored) else score.why,
        "reason": one.reason,
        "evidence": [{"text": quote.text, "start": quote.start, "end": quote.end} for quote in one.evidence],
        "feedback": one.feedback or None,
        "spread": None if one.spread is None else _spread(one.spread),
    }


def _spread(spread: Spread) -> Json:
    return {"n": spread.n, "sd": spread.sd, "how": spread.how}


def finding_json(one: Finding) -> Json:
    """What a guard found, and where."""
    what: Json = {"guard": one.guard, "rule": one.rule, "says": one.says}
    return {**what, "text": one.text, "start": one.start, "end": one.end}


def suggestion_json(one: Suggestion) -> Json:
    """Advice for a revision."""
    return {"problem": one.problem, "suggestion": one.suggestion, "severity": one.severity}


def _preference(one: Preference) -> Json:
    return {
        "judge": one.judge,
        "first": one.first,
        "second": one.second,
        "winner": one.winner,
        "votes": list(one.votes),
        "position_bias": one.position_bias,
        "why_not": one.why_not or None,
        "reasons": list(one.reasons),
    }


def _saved(saved: Saved) -> Json:
    return {"outputs": saved.outputs, "of": saved.of, "cost": None if saved.cost is None else float(saved.cost)}


def _calls(calls: Sequence[Call]) -> list[Json]:
    return [call_json(call) for call in calls]


def call_json(call: Call) -> Json:
    """What a judge was asked, and what it replied."""
    reply = call.reply
    shared: Json = {"judge": call.judge, "dialogue": call.request.dialogue, "attempts": reply.attempts}
    if isinstance(reply, NoReply):
        return {**shared, "failed": reply.why}
    return {
        **shared,
        "model": reply.model,
        "stop": reply.stop,
        "input_tokens": reply.usage.input,
        "output_tokens": reply.usage.output,
        "cached_tokens": reply.usage.cached,
        "request_id": reply.request_id,
        "recorded": reply.recorded,
        "reply": reply.text,
    }
