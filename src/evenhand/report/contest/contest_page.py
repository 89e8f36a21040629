"""A contest written as one HTML file: what the page shows, its events as a list, personal data masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from string import ascii_uppercase
from types import SimpleNamespace
from typing import Any, TextIO

from evenhand.guards.masked_results import mask_personal_places, move_personal_place
from evenhand.guards.personal_data import build_personal_text_mask
from evenhand.report.contest.reported_contest import (
    MODE_SENTENCES,
    ContestReportJson,
    ContestStage,
    ReportedContest,
    choose_page_status_badge,
)
from evenhand.report.contest.scale_charts import chart_finalists, draw_total_score_chart
from evenhand.report.contest.standings import (
    build_ranking_page_rows,
    describe_standing_on_page,
    list_contest_page_facts,
)
from evenhand.report.contest.submission_details import build_submission_page_section
from evenhand.report.contest.timeline import draw_timelines
from evenhand.report.html.page_file import build_page_security_policy, load_page_part, load_page_template
from evenhand.wording import format_whole_duration, pluralize_count

CONTEST_PACKAGE = "evenhand.report.contest"


def write_contest_report_page(record: dict[str, Any], stream: TextIO) -> None:
    """Write the report of a contest from its stable JSON; personal data in its texts is masked."""
    style = load_page_part("evenhand.report.html", "report.css") + load_page_part(CONTEST_PACKAGE, "contest.css")
    shown = build_contest_page(mask_reported_contest(record))
    template = load_page_template(CONTEST_PACKAGE, "contest.html.j2")
    stream.writelines(template.generate(**shown, style=style, policy=build_page_security_policy(style)))


MOST_CHARTED_TOTALS = 8  # Rows of the chart on the first screen.
LETTER_ROUNDS = {"ranked": "in the final", "resolved": "on the challenge"}


def build_contest_page(record: ContestReportJson) -> dict[str, Any]:
    """All that the template is given beside style and policy."""
    contest = ReportedContest(record)
    details = [build_submission_page_section(contest, one) for one in contest.submissions]
    terms, refused = contest.terms, record.get("refused") or []
    letters = [  # Of every judge who saw the finalists under letters; nothing where that was not kept.
        SimpleNamespace(judge=judge, when=when, given=tuple(zip(ascii_uppercase, ids, strict=False)))
        for kind, when in LETTER_ROUNDS.items()
        for judge, ids in ((contest.last_event(kind) or {}).get("shown") or {}).items()
    ]
    return {
        "name": record["task"],
        "id": record.get("id"),
        "stopped": record.get("stopped"),
        "ahead": contest.clock.full(contest.ahead) if contest.ahead else None,
        "spent": record.get("spent"),
        "decision": record["decision"],
        "hidden": contest.hidden,
        "standing": describe_standing_on_page(contest),
        "facts": list(list_contest_page_facts(contest)),
        "totals": draw_total_score_chart(contest, MOST_CHARTED_TOTALS),
        "places": build_ranking_page_rows(contest),
        "sides": chart_finalists(contest),
        "letters": letters,
        "challenge": contest.last_event("challenged"),
        "details": details,
        "violations": [one for one in details if one.violations],
        "refused": [{**one, "at": contest.clock.full(contest.time(one["at"]))} for one in refused],
        "set_aside": record.get("set_aside") or [],
        "timelines": draw_timelines(contest),
        "happened": list(list_page_event_lines(contest)),
        "terms": {
            **terms,
            "mode": MODE_SENTENCES.get(terms["mode"], terms["mode"]),
            "deadline": contest.clock.full(contest.time(terms["deadline"])) if terms["deadline"] else None,
            "challenge_period": format_whole_duration(terms["challenge_period"]),
        },
        "dimensions": record["dimensions"],
        "zone": f"{contest.time(contest.events[0]['at']):%Z}",
        "sections": _list_contest_page_sections(contest, refused=bool(refused)),
    }


def _list_contest_page_sections(contest: ReportedContest, *, refused: bool) -> list[tuple[str, str]]:
    broke = any(one["status"] == "policy_violation" for one in contest.submissions)
    sections = (
        (contest.submissions, "ranking", "So far" if contest.hidden else "Ranking"),
        (chart_finalists(contest), "sides", "Side by side"),
        (contest.submissions, "submissions", "Submissions"),
        (broke, "violations", "Violations"),
        (refused, "refused", "Refused"),
        (contest.record.get("set_aside"), "aside", "Set aside"),
        *((True, name, name.capitalize()) for name in ("events", "terms", "cost")),
    )
    return [(id, title) for shown, id, title in sections if shown]


def list_page_event_lines(contest: ReportedContest) -> Iterator[SimpleNamespace]:
    """Every event in order."""
    # Who is first has won at once only where the first that passes does.
    stage = contest.stage if contest.record["mode"] == "fastest_first" else "open"
    for event in contest.events:
        effects = [one for one in contest.record["effects"] if one["after"] == event["number"]]
        yield SimpleNamespace(
            number=event["number"],
            # A payment is released by the clock, not in the time of the contest.
            at=event["at"][:19].replace("T", " ")
            if event["event"] == "released"
            else contest.clock.full(contest.time(event["at"])),
            says=_describe_contest_event_on_page(event),
            follows=tuple(_describe_effect_on_page(one, stage, contest) for one in effects),
        )


def _describe_contest_event_on_page(event: ContestReportJson) -> str:
    if event["event"] == "submitted":
        sent, number = event["submission"], len(event["findings"])
        revises = f", which revises {sent['revises']}" if sent["revises"] else ""
        found = f"; a guard found {pluralize_count(number, 'passage')}" if number else ""
        return f"{sent['author']} handed in {sent['id']}{revises}{found}."
    known = {
        "created": "The contest began, its dimensions locked.",
        "gate_checked": f"The acceptance criteria were checked on {event.get('submission')}.",
        "scored": f"{event.get('submission')} was scored alone.",
        "deadline_reached": f"The time for {event.get('deadline')} was over.",
        "ranked": "The finalists were scored side by side.",
        "challenged": f"{event.get('by')} challenged the ranking: {event.get('reason')}",
        "resolved": "Judges who had not judged before looked again.",
        "released": f"Payment {event.get('payment')} was released.",
    }
    return known[event["event"]]


def _describe_effect_on_page(effect: ContestReportJson, stage: ContestStage, contest: ReportedContest) -> str:
    """What an effect asks for; `stage` is what being first is worth."""
    id, author = effect.get("submission"), effect.get("author")
    panel = " by the judges for challenges" if effect.get("panel") == "challenge_judges" else ""
    reward = f": {effect['reward']}" if effect.get("reward") else ""
    finalists = ", ".join(effect.get("submissions", ())) or "the finalists"
    known = {
        "ask_gate": f"{id} goes to the gate",
        "ask_individual": f"{id} is to be scored alone{panel}",
        "ask_horizontal": f"{finalists} are to be compared{panel}",
        "tell_submitter": f"{author} is told of {id}: {choose_page_status_badge(effect.get('status', ''), stage).word}",
        "release_payment": f"payment {'released' if contest.pays_at_end else 'due'} to {author}{reward}",
        "close": f"{'closes' if contest.ahead else 'closed'}: {effect.get('why')}",
    }
    return known[effect["effect"]]


HideText = Callable[[str], str]
MaskedPlaces = list[tuple[int, int, int, int]]
# Under these keys stand times, words of the machine, and names: of one thing among others, of who is paid and by what.
UNMASKED_RECORD_KEYS = frozenset((
    "id", "winner", "submission", "submissions", "revises", "output", "judge", "judges", "challenge_judges", "guard",
    "rule", "at", "deadline", "event", "effect", "kind", "mode", "state", "status", "type", "weight", "author", "by",
    "reward", "payment", "contest",
))  # fmt: skip


def mask_reported_contest(record: ContestReportJson) -> ContestReportJson:
    """The record with every text masked; ids, authors and the reward are not, wherever they stand outside a text."""
    sent = [one for one in record["events"] if one["event"] == "submitted"]
    texts = {one["submission"]["id"]: mask_personal_places(one["submission"]["text"]) for one in sent}
    description = record["events"][0]["task"]["description"]
    hide = cache(build_personal_text_mask([description, *(one["submission"]["text"] for one in sent)]))
    shown: ContestReportJson = _hide_page_texts(record, hide)
    for one in shown["events"]:
        if one["event"] == "submitted":
            text, places = texts[one["submission"]["id"]]
            one["submission"]["text"] = text
            _move_page_passages(one["findings"], places)
        for judgment in one.get("judgments", ()):
            _move_page_passages(judgment["evidence"], texts[judgment["output"]][1])
    _restore_page_sentences(shown, record)
    if record.get("stopped"):  # An id beside what a server or a judge wrote.
        spared = sorted((id for id in texts if hide(id) != id), key=len, reverse=True)
        parts = re.split(f"({'|'.join(map(re.escape, spared))})", record["stopped"]) if spared else [record["stopped"]]
        shown["stopped"] = "".join(part if part in spared else hide(part) for part in parts)
    return shown


def _hide_page_texts(data: Any, hide: HideText, key: str = "") -> Any:
    if isinstance(data, str):
        return data if key in UNMASKED_RECORD_KEYS else hide(data)
    if isinstance(data, dict):
        return {name: _hide_page_texts(value, hide, name) for name, value in data.items()}
    return [_hide_page_texts(value, hide, key) for value in data] if isinstance(data, list | tuple) else data


def _move_page_passages(passages: list[ContestReportJson], places: MaskedPlaces) -> None:
    for one in passages:
        one["start"] = move_personal_place(one["start"], places, end=False)
        one["end"] = move_personal_place(one["end"], places, end=True)


def _restore_page_sentences(shown: ContestReportJson, record: ContestReportJson) -> None:
    """Put back the sentences that are made of names and numbers only, with nothing of a text in them."""
    for key in ("decision", "refused"):
        if key in record:
            shown[key] = record[key]
    for one, given in zip(shown["events"], record["events"], strict=True):
        if "shown" in given:
            one["shown"] = given["shown"]
    for one, given in zip(shown["effects"], record["effects"], strict=True):
        if given["effect"] == "close":
            one["why"] = given["why"]
    for one, given in zip(shown["submissions"], record["submissions"], strict=True):
        if given["status"] == "superseded" or not given["feedback"]:  # It says who counts, or had passed, instead.
            one["why"] = given["why"]
