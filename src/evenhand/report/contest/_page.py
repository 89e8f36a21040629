"""What the page shows of a contest, in the order in which people ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.report.contest._contest import Contest, Json
from evenhand.report.contest._details import detail
from evenhand.report.contest._happened import happened
from evenhand.report.contest._letters import letters
from evenhand.report.contest._ranking import ranked
from evenhand.report.contest._side import side_by_side, totals
from evenhand.report.contest._standing import facts, standing
from evenhand.report.contest._timeline import timelines
from evenhand.report.contest._words import MODES, lasting

MOST_TOTALS = 8  # Rows of the chart on the first screen.


def page(record: Json) -> dict[str, Any]:
    """All that the template is given beside style and policy."""
    contest = Contest(record)
    details = [detail(contest, one) for one in contest.submissions]
    terms, refused = contest.terms, record.get("refused") or []
    return {
        "name": record["task"],
        "id": record.get("id"),
        "stopped": record.get("stopped"),
        "ahead": contest.clock.full(contest.ahead) if contest.ahead else None,
        "spent": record.get("spent"),
        "decision": record["decision"],
        "hidden": contest.hidden,
        "standing": standing(contest),
        "facts": list(facts(contest)),
        "totals": totals(contest, MOST_TOTALS),
        "places": ranked(contest),
        "sides": side_by_side(contest),
        "letters": list(letters(contest)),
        "challenge": contest.happened("challenged"),
        "details": details,
        "violations": [one for one in details if one.violations],
        "refused": [{**one, "at": contest.clock.full(contest.time(one["at"]))} for one in refused],
        "timelines": timelines(contest),
        "happened": list(happened(contest)),
        "terms": {
            **terms,
            "mode": MODES.get(terms["mode"], terms["mode"]),
            "deadline": contest.clock.full(contest.time(terms["deadline"])) if terms["deadline"] else None,
            "challenge_period": lasting(terms["challenge_period"]),
        },
        "dimensions": record["dimensions"],
        "zone": f"{contest.time(contest.events[0]['at']):%Z}",
        "sections": list(_sections(contest, refused=bool(refused))),
    }


def _sections(contest: Contest, *, refused: bool) -> Iterator[tuple[str, str]]:
    if contest.submissions:
        yield "ranking", "So far" if contest.hidden else "Ranking"
    if side_by_side(contest):
        yield "sides", "Side by side"
    if contest.submissions:
        yield "submissions", "Submissions"
    if any(one["status"] == "policy_violation" for one in contest.submissions):
        yield "violations", "Violations"
    if refused:
        yield "refused", "Refused"
    yield "events", "Events"
    yield "terms", "Terms"
    yield "cost", "Cost"
