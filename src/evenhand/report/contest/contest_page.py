"""A contest written as one HTML file: who won, key facts, the ranking, its events as a list, personal data masked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from string import ascii_uppercase
from types import SimpleNamespace
from typing import Any, TextIO

from evenhand.guards.personal_data import build_personal_text_mask, mask_personal_places, move_personal_place
from evenhand.report.contest.reported_contest import (
    MODE_SENTENCES,
    STATUS_BADGES,
    ContestReportJson,
    ContestStage,
    ReportedContest,
    StatusBadge,
    chart_finalists,
    choose_report_badge,
    draw_total_score_chart,
    find_reported_feedback_scores,
    find_reported_final_scores,
    get_reported_value,
)
from evenhand.report.contest.submission_details import build_submission_report_section
from evenhand.report.contest.timeline import draw_timelines
from evenhand.report.html.formats import format_report_count, format_report_moment, write_reported_moments
from evenhand.report.html.page_file import build_report_security_policy, load_report_template, load_report_template_part
from evenhand.report.html.run_page import PageKeyFact
from evenhand.wording import format_dollar_amount, format_kept_figure, format_whole_duration, pluralize_count

CONTEST_PACKAGE = "evenhand.report.contest"


def write_contest_report_page(record: dict[str, Any], stream: TextIO) -> None:
    """Write the report of a contest from its stable JSON; personal data in its texts is masked."""
    style = load_report_template_part("evenhand.report.html", "report.css") + load_report_template_part(
        CONTEST_PACKAGE, "contest.css"
    )
    shown = build_contest_report_page(mask_reported_contest(record))
    template = load_report_template(CONTEST_PACKAGE, "contest.html.j2")
    stream.writelines(template.generate(**shown, style=style, policy=build_report_security_policy(style)))


MOST_CHARTED_TOTALS = 8  # Rows of the chart on the first screen.
LETTER_ROUNDS = {"ranked": "in the final", "resolved": "on the challenge"}


def build_contest_report_page(record: ContestReportJson) -> dict[str, Any]:
    """All that the template is given beside style and policy."""
    contest = ReportedContest(record)
    details = [build_submission_report_section(contest, one) for one in contest.submissions]
    terms, refused = contest.terms, record.get("refused") or []
    letters = [  # Of every judge who saw the finalists under letters; nothing where that was not kept.
        SimpleNamespace(judge=judge, when=when, given=tuple(zip(ascii_uppercase, ids, strict=False)))
        for kind, when in LETTER_ROUNDS.items()
        for judge, ids in ((contest.last_event(kind) or {}).get("shown") or {}).items()
    ]
    return {
        "name": record["task"],
        "id": record.get("id"),
        "stopped": write_reported_moments(record.get("stopped")),
        "ahead": contest.clock.full(contest.ahead) if contest.ahead else None,
        "spent": record.get("spent"),
        "decision": record["decision"],
        "hidden": contest.hidden,
        "standing": describe_standing_in_report(contest),
        "facts": list(list_contest_report_facts(contest)),
        "totals": draw_total_score_chart(contest, MOST_CHARTED_TOTALS),
        "places": build_ranking_report_rows(contest),
        "sides": chart_finalists(contest),
        "letters": letters,
        "challenge": contest.last_event("challenged"),
        "details": details,
        "violations": [one for one in details if one.violations],
        "refused": [{**one, "at": contest.clock.full(contest.time(one["at"]))} for one in refused],
        "set_aside": record.get("set_aside") or [],
        "timelines": draw_timelines(contest),
        "happened": list(list_report_event_lines(contest)),
        "terms": {
            **terms,
            "mode": MODE_SENTENCES.get(terms["mode"], terms["mode"]),
            "deadline": contest.clock.full(contest.time(terms["deadline"])) if terms["deadline"] else None,
            "challenge_period": format_whole_duration(terms["challenge_period"]),
        },
        "dimensions": record["dimensions"],
        "zone": f"{contest.time(contest.events[0]['at']):%Z}",
        "sections": _list_contest_report_sections(contest, refused=bool(refused)),
    }


def _list_contest_report_sections(contest: ReportedContest, *, refused: bool) -> list[tuple[str, str]]:
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


def list_report_event_lines(contest: ReportedContest) -> Iterator[SimpleNamespace]:
    """Every event in order."""
    # Who is first has won at once only where the first that passes does.
    stage = contest.stage if contest.record["mode"] == "fastest_first" else "open"
    for event in contest.events:
        effects = [one for one in contest.record["effects"] if one["after"] == event["number"]]
        yield SimpleNamespace(
            number=event["number"],
            # A payment is released by the clock, not in the time of the contest.
            at=format_report_moment(event["at"])
            if event["event"] == "released"
            else contest.clock.full(contest.time(event["at"])),
            says=_describe_contest_event_in_report(event),
            follows=tuple(_describe_effect_in_report(one, stage, contest) for one in effects),
        )


def _describe_contest_event_in_report(event: ContestReportJson) -> str:
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


def _describe_effect_in_report(effect: ContestReportJson, stage: ContestStage, contest: ReportedContest) -> str:
    """What an effect asks for; `stage` is what being first is worth."""
    id, author = effect.get("submission"), effect.get("author")
    panel = " by the judges for challenges" if effect.get("panel") == "challenge_judges" else ""
    reward = f": {effect['reward']}" if effect.get("reward") else ""
    finalists = ", ".join(effect.get("submissions", ())) or "the finalists"
    known = {
        "ask_gate": f"{id} goes to the gate",
        "ask_individual": f"{id} will be scored alone{panel}",
        "ask_horizontal": f"{finalists} will be compared{panel}",
        "tell_submitter": f"{author} is told of {id}: {choose_report_badge(effect.get('status', ''), stage).word}",
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
    shown: ContestReportJson = _hide_report_texts(record, hide)
    for one in shown["events"]:
        if one["event"] == "submitted":
            text, places = texts[one["submission"]["id"]]
            one["submission"]["text"] = text
            _move_report_passages(one["findings"], places)
        for judgment in one.get("judgments", ()):
            _move_report_passages(judgment["evidence"], texts[judgment["output"]][1])
    _restore_report_sentences(shown, record)
    if record.get("stopped"):  # An id beside what a server or a judge wrote.
        spared = sorted((id for id in texts if hide(id) != id), key=len, reverse=True)
        parts = re.split(f"({'|'.join(map(re.escape, spared))})", record["stopped"]) if spared else [record["stopped"]]
        shown["stopped"] = "".join(part if part in spared else hide(part) for part in parts)
    return shown


def _hide_report_texts(data: Any, hide: HideText, key: str = "") -> Any:
    if isinstance(data, str):
        return data if key in UNMASKED_RECORD_KEYS else hide(data)
    if isinstance(data, dict):
        return {name: _hide_report_texts(value, hide, name) for name, value in data.items()}
    return [_hide_report_texts(value, hide, key) for value in data] if isinstance(data, list | tuple) else data


def _move_report_passages(passages: list[ContestReportJson], places: MaskedPlaces) -> None:
    for one in passages:
        one["start"] = move_personal_place(one["start"], places, end=False)
        one["end"] = move_personal_place(one["end"], places, end=True)


def _restore_report_sentences(shown: ContestReportJson, record: ContestReportJson) -> None:
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


LONGEST_LARGE_NAME = 22  # Characters of a name that is written large.
# By stage: the badge where nobody has won, what stands above a winner, and above what comes next or came last.
STAGE_LOOKS: dict[ContestStage, tuple[StatusBadge, str, str]] = {
    "open": (StatusBadge("…", "Not decided yet", "calm"), "First, not final yet", "What happens next"),
    "ahead": (
        StatusBadge("∅", "No winner if nothing more comes", "calm"),
        "Winner if nothing more comes",
        "Where it will end",
    ),
    "closed": (StatusBadge("∅", "No winner", "calm"), "Winner", "Where it ended"),
}


def describe_standing_in_report(contest: ReportedContest) -> SimpleNamespace:
    """What the first screen says; `over` stands above the name, `title` above what comes next or came last (`now`)."""
    winner = next((one for one in contest.submissions if one["id"] == contest.record["winner"]), None)
    shown, over, title = STAGE_LOOKS[contest.stage]
    word = winner["id"] if winner else ""
    shown = choose_report_badge("won", contest.stage) if winner else shown
    return SimpleNamespace(
        look=shown, over=over if winner else "", word=word or shown.word, author=winner["author"] if winner else "",
        long=len(word) > LONGEST_LARGE_NAME, deposed=contest.deposed or "", title=title,
        now=_describe_closing_in_report(contest) if contest.closed else _describe_report_waiting(contest),
    )  # fmt: skip


def _describe_closing_in_report(contest: ReportedContest) -> str:
    end = next(iter(contest.effects("close")), None)
    paid = next(iter(contest.effects("release_payment")), None)
    closes = "Closes" if contest.ahead else "Closed"
    when = f"{closes} on {contest.clock.full(contest.time(end['at']))}" if end else closes
    if paid is None:
        return f"{when}; nothing is paid."
    what = f"The reward ({paid['reward']})" if paid["reward"] else "The payment"
    if contest.ahead:
        return f"{when}. {what} is due to {paid['author']} on that date."
    if contest.released:
        return f"{when}. {what} was released to {paid['author']} on {contest.released}."
    released = "is released to" if contest.pays_at_end else "is not released yet; it is due to"
    return f"{when}. {what} {released} {paid['author']}."


def _describe_report_waiting(contest: ReportedContest) -> str:
    deadline, state = contest.terms["deadline"], contest.record["state"]
    stopped = contest.record.get("stopped") or ""
    if state == "open" and stopped and not stopped.startswith("it "):
        return f"The contest stopped before its end. {_describe_unjudged_in_report(contest)}".rstrip()
    if state == "open":
        until = f" until {contest.clock.full(contest.time(deadline))}" if deadline else ""
        best = "the best is found after that" if contest.hidden else "the first that passes wins"
        return f"Submissions may come{until}; {best}. {_describe_unjudged_in_report(contest)}".rstrip()
    if state == "judging":
        return f"The deadline is over. {_describe_unjudged_in_report(contest)}".rstrip()
    if state == "ranking":
        return "Judges compare the finalists side by side; who they are is hidden until that is done."
    if state == "challenge_period" and contest.period:
        again = "The challenge was looked at; the" if contest.last_event("resolved") else "The"
        more = "" if contest.last_event("challenged") else " Until then the ranking may be challenged."
        return f"{again} challenge period ends on {contest.clock.full(contest.period[1])}.{more}"
    challenge = contest.last_event("challenged") or {}
    return f"{challenge['by']} challenged the ranking; judges who had not judged before look at it again."


def _describe_unjudged_in_report(contest: ReportedContest) -> str:
    left = sum(one["status"] == "submitted" or (one["status"] == "gate_passed" and not one["feedback"])
               for one in contest.submissions)  # fmt: skip
    many = pluralize_count(left, "submission")
    return f"{many} still {'waits' if left == 1 else 'wait'} for the judges." if left else ""


def list_contest_report_facts(contest: ReportedContest) -> Iterator[PageKeyFact]:
    """The numbers of the first screen."""
    winner = next((one for one in contest.submissions if one["id"] == contest.record["winner"]), None)
    if winner is not None:
        alone = get_reported_value(find_reported_feedback_scores(winner, "individual_scoring"), "penalized_total")
        compared = f"side by side; {format_kept_figure(alone)} alone"
        how = compared if find_reported_final_scores(winner) else "alone, not compared"
        yield PageKeyFact("Score", format_kept_figure(winner["score"]), how)
    authors = len({one["author"] for one in contest.submissions})
    refused = len([one for one in contest.record.get("refused") or () if one["id"] is not None])
    said = f"of {pluralize_count(authors, 'author')}" if authors else "none yet"
    said += f"; {refused} refused" if refused else ""
    yield PageKeyFact("Submissions", format_report_count(len(contest.submissions)) or "", said)
    yield _build_gate_fact_for_report(contest)
    if contest.record["mode"] == "quality_first":
        yield _build_finalists_fact_for_report(contest)
        yield _build_challenge_fact_for_report(contest)
    paid = next(iter(contest.effects("release_payment")), None)
    reward = contest.terms["reward"] or "no reward is named"
    if paid:
        when = contest.released or contest.clock.short(contest.time(paid["at"]))
        state = "released" if contest.released or contest.pays_at_end else "due"
        yield PageKeyFact("Payment", state, f"{when}, {reward}")
    else:
        yield PageKeyFact("Payment", "none" if contest.closed else "not yet", reward)
    yield _build_cost_fact_for_report(contest.record.get("spent"))


def _build_gate_fact_for_report(contest: ReportedContest) -> PageKeyFact:
    before = [one for one in contest.submissions if contest.last_event("scored", one["id"]) is None]
    by = Counter(one["status"] for one in before)
    failed, broke, waiting, left = (by[name] for name in ("gate_failed", "policy_violation", "submitted", "unjudged"))
    passed = len(contest.submissions) - failed - broke - waiting - left
    parts = ((failed, "failed"), (broke, "broke the rules"), (waiting, "waiting"), (left, "not judged"))
    said = ", ".join(f"{number} {word}" for number, word in parts if number)
    whole = "all that came" if contest.submissions else "none yet"
    return PageKeyFact("Passed the gate", format_report_count(passed) or "", said or whole)


def _build_finalists_fact_for_report(contest: ReportedContest) -> PageKeyFact:
    compared = len(contest.finalists)
    if compared:
        return PageKeyFact("Compared", format_report_count(compared) or "", "side by side")
    if contest.hidden:
        now = contest.record["state"] == "ranking"
        return PageKeyFact("Compared", "–", "side by side, now" if now else "after the deadline")
    return PageKeyFact("Compared", "0", "nobody to compare with" if contest.record["winner"] else "nobody got that far")


def _build_challenge_fact_for_report(contest: ReportedContest) -> PageKeyFact:
    found = contest.last_event("challenged")
    # A challenge that was refused has no id, as it is no submission.
    refused = sum(one["id"] is None for one in contest.record.get("refused") or ())
    more = f"; {refused} refused" if refused else ""
    if found is None:
        why = "nobody challenged the ranking" if contest.record["winner"] else "there was no ranking"
        return PageKeyFact("Challenge", "none", (why if contest.stage == "closed" else "none so far") + more)
    seen = contest.last_event("resolved")
    when = contest.clock.short(contest.time(found["at"]))
    return PageKeyFact(
        "Challenge", "looked at" if seen else "open", f"by {found['by']}, {when}{more}", "" if seen else "warn"
    )


def _build_cost_fact_for_report(spent: ContestReportJson | None) -> PageKeyFact:
    if spent is None:
        return PageKeyFact("Cost", "–", "not recorded")
    replayed, unpriced = spent.get("replayed") or 0, spent.get("requests_without_price") or 0
    said = [pluralize_count(spent["requests"], "request")] * bool(spent["requests"] or not replayed)
    said += [f"{unpriced} without a price"] * bool(unpriced)
    said += [f"{pluralize_count(replayed, 'reply', 'replies')} from a record"] * bool(replayed)
    return PageKeyFact("Cost", format_dollar_amount(spent["cost"]), ", ".join(said))


def build_ranking_report_rows(contest: ReportedContest) -> list[SimpleNamespace]:
    """Every submission, the best first."""
    order, rows = [*STATUS_BADGES], []
    for one in contest.submissions:
        alone, now = find_reported_feedback_scores(one, "individual_scoring"), find_reported_final_scores(one)
        row = SimpleNamespace(
            **one,
            place=contest.places[one["id"]],
            side=get_reported_value(now, "final_score"),
            alone=get_reported_value(alone, "penalized_total"),
            band=get_reported_value(alone, "overall_band"),
            flags=tuple((now or alone or {}).get("risk_flags", ())),
            tie=get_reported_value(find_reported_feedback_scores(one, "scoring"), "tie_broken_by"),
            look=choose_report_badge(one["status"], contest.stage),
        )
        status = order.index(row.status) if row.status in order else len(order)
        rows.append(((row.rank is None, row.rank or 0, status, -(row.score or 0.0)), row))
    return [row for _, row in sorted(rows, key=lambda one: one[0])]
