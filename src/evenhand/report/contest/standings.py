"""The first screen and the ranking: who won, what is waited for, key facts, every submission by rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace

from evenhand.report.contest.reported_contest import (
    STATUS_BADGES,
    ContestReportJson,
    ContestStage,
    ReportedContest,
    StatusBadge,
    choose_page_status_badge,
    find_reported_feedback_scores,
    find_reported_final_scores,
    get_reported_value,
)
from evenhand.report.html.formats import format_page_count
from evenhand.report.html.run_page import PageKeyFact
from evenhand.wording import format_dollar_amount, format_kept_figure, pluralize_count

LONGEST_LARGE_NAME = 22  # Characters of a name that is written large.
# By stage: the badge where nobody has won, what stands above a winner, and above what comes next or came last.
STAGE_LOOKS: dict[ContestStage, tuple[StatusBadge, str, str]] = {
    "open": (StatusBadge("…", "Not decided yet", "calm"), "First, not final yet", "What is waited for"),
    "ahead": (
        StatusBadge("∅", "No winner if nothing more comes", "calm"),
        "Winner if nothing more comes",
        "Where it will end",
    ),
    "closed": (StatusBadge("∅", "No winner", "calm"), "Winner", "Where it ended"),
}


def describe_standing_on_page(contest: ReportedContest) -> SimpleNamespace:
    """What the first screen says; `over` stands above the name, `title` above what comes next or came last (`now`)."""
    winner = next((one for one in contest.submissions if one["id"] == contest.record["winner"]), None)
    shown, over, title = STAGE_LOOKS[contest.stage]
    word = winner["id"] if winner else ""
    shown = choose_page_status_badge("won", contest.stage) if winner else shown
    return SimpleNamespace(
        look=shown, over=over if winner else "", word=word or shown.word, author=winner["author"] if winner else "",
        long=len(word) > LONGEST_LARGE_NAME, deposed=contest.deposed or "", title=title,
        now=_describe_closing_on_page(contest) if contest.closed else _describe_page_waiting(contest),
    )  # fmt: skip


def _describe_closing_on_page(contest: ReportedContest) -> str:
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


def _describe_page_waiting(contest: ReportedContest) -> str:
    deadline, state = contest.terms["deadline"], contest.record["state"]
    stopped = contest.record.get("stopped") or ""
    if state == "open" and stopped and not stopped.startswith("it "):
        return f"The contest stopped before its end. {_describe_unjudged_on_page(contest)}".rstrip()
    if state == "open":
        until = f" until {contest.clock.full(contest.time(deadline))}" if deadline else ""
        best = "the best is found after that" if contest.hidden else "the first that passes wins"
        return f"Submissions may come{until}; {best}. {_describe_unjudged_on_page(contest)}".rstrip()
    if state == "judging":
        return f"The deadline is over. {_describe_unjudged_on_page(contest)}".rstrip()
    if state == "ranking":
        return "Judges compare the finalists side by side; who they are is hidden until that is done."
    if state == "challenge_period" and contest.period:
        again = "The challenge was looked at; the" if contest.last_event("resolved") else "The"
        more = "" if contest.last_event("challenged") else " Until then the ranking may be challenged."
        return f"{again} challenge period ends on {contest.clock.full(contest.period[1])}.{more}"
    challenge = contest.last_event("challenged") or {}
    return f"{challenge['by']} challenged the ranking; judges who had not judged before look at it again."


def _describe_unjudged_on_page(contest: ReportedContest) -> str:
    left = sum(one["status"] == "submitted" or (one["status"] == "gate_passed" and not one["feedback"])
               for one in contest.submissions)  # fmt: skip
    many = pluralize_count(left, "submission")
    return f"{many} still {'waits' if left == 1 else 'wait'} for the judges." if left else ""


def list_contest_page_facts(contest: ReportedContest) -> Iterator[PageKeyFact]:
    """The numbers of the first screen."""
    winner = next((one for one in contest.submissions if one["id"] == contest.record["winner"]), None)
    if winner is not None:
        alone = get_reported_value(find_reported_feedback_scores(winner, "individual_scoring"), "penalized_total")
        compared = f"side by side; {format_kept_figure(alone)} alone"
        how = compared if find_reported_final_scores(winner) else "alone, not compared"
        yield PageKeyFact("Score", format_kept_figure(winner["score"]), how)
    authors = len({one["author"] for one in contest.submissions})
    refused = len(contest.record.get("refused") or ())
    said = f"of {pluralize_count(authors, 'author')}" if authors else "nothing came"
    said += f"; {refused} refused" if refused else ""
    yield PageKeyFact("Submissions", format_page_count(len(contest.submissions)) or "", said)
    yield _build_gate_fact_for_page(contest)
    if contest.record["mode"] == "quality_first":
        yield _build_finalists_fact_for_page(contest)
        yield _build_challenge_fact_for_page(contest)
    paid = next(iter(contest.effects("release_payment")), None)
    reward = contest.terms["reward"] or "no reward is named"
    if paid:
        when = contest.released or contest.clock.short(contest.time(paid["at"]))
        state = "released" if contest.released or contest.pays_at_end else "due"
        yield PageKeyFact("Payment", state, f"{when}, {reward}")
    else:
        yield PageKeyFact("Payment", "none" if contest.closed else "not yet", reward)
    yield _build_cost_fact_for_page(contest.record.get("spent"))


def _build_gate_fact_for_page(contest: ReportedContest) -> PageKeyFact:
    before = [one for one in contest.submissions if contest.last_event("scored", one["id"]) is None]
    by = Counter(one["status"] for one in before)
    failed, broke, waiting, left = (by[name] for name in ("gate_failed", "policy_violation", "submitted", "unjudged"))
    passed = len(contest.submissions) - failed - broke - waiting - left
    parts = ((failed, "failed"), (broke, "broke the rules"), (waiting, "waiting"), (left, "not judged"))
    said = ", ".join(f"{number} {word}" for number, word in parts if number)
    whole = "all that came" if contest.submissions else "nothing came"
    return PageKeyFact("Passed the gate", format_page_count(passed) or "", said or whole)


def _build_finalists_fact_for_page(contest: ReportedContest) -> PageKeyFact:
    compared = len(contest.finalists)
    if compared:
        return PageKeyFact("Compared", format_page_count(compared) or "", "side by side")
    if contest.hidden:
        now = contest.record["state"] == "ranking"
        return PageKeyFact("Compared", "–", "side by side, now" if now else "after the deadline")
    return PageKeyFact("Compared", "0", "nobody to compare with" if contest.record["winner"] else "nobody got so far")


def _build_challenge_fact_for_page(contest: ReportedContest) -> PageKeyFact:
    found = contest.last_event("challenged")
    if found is None:
        why = "nobody challenged the ranking" if contest.record["winner"] else "there was no ranking"
        return PageKeyFact("Challenge", "none", why if contest.stage == "closed" else "none so far")
    seen = contest.last_event("resolved")
    when = contest.clock.short(contest.time(found["at"]))
    return PageKeyFact(
        "Challenge", "looked at" if seen else "open", f"by {found['by']}, {when}", "" if seen else "warn"
    )


def _build_cost_fact_for_page(spent: ContestReportJson | None) -> PageKeyFact:
    if spent is None:
        return PageKeyFact("Cost", "–", "not recorded")
    replayed, unpriced = spent.get("replayed") or 0, spent.get("requests_without_price") or 0
    said = [pluralize_count(spent["requests"], "request")] * bool(spent["requests"] or not replayed)
    said += [f"{unpriced} without a price"] * bool(unpriced)
    said += [f"{pluralize_count(replayed, 'reply', 'replies')} from a record"] * bool(replayed)
    return PageKeyFact("Cost", format_dollar_amount(spent["cost"]), ", ".join(said))


def build_ranking_page_rows(contest: ReportedContest) -> list[SimpleNamespace]:
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
            look=choose_page_status_badge(one["status"], contest.stage),
        )
        status = order.index(row.status) if row.status in order else len(order)
        rows.append(((row.rank is None, row.rank or 0, status, -(row.score or 0.0)), row))
    return [row for _, row in sorted(rows, key=lambda one: one[0])]
