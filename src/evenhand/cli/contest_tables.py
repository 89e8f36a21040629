"""A contest on a terminal, personal data masked: the decision, the ranking, one checked submission."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from evenhand.cli.screen import Screen, measure_terminal_minimum, print_section, print_table_or_sentences
from evenhand.guards.personal_data import build_personal_text_mask, mask_data
from evenhand.wording import format_dollar_amount, format_kept_figure, pluralize_count

if TYPE_CHECKING:
    from evenhand.contest.task import Task


ContestData = Mapping[str, Any]
WAITING_REASONS = {
    "open": "submissions are still taken",
    "judging": "the deadline has passed, and some submissions have not been judged",
    "ranking": "the best have not been compared side by side",
    "challenge_period": "the challenge period is not over",
    "challenged": "it was challenged, and the challenge has not been reviewed yet",
}
AHEAD_NOTE = (
    "A rehearsal: played past the present as if no more submissions came. Nobody is paid. With --until now it waits "
    "for what may still come."
)
UNCHALLENGEABLE_NOTE = (
    "the challenge period had passed before the ranking was made: nobody could challenge it; started with "
    "--until now, a contest leaves the whole period for challenges"
)


def print_contest(record: ContestData) -> None:
    """Print what came out; the decision comes first."""
    record, screen = mask_contest_to_print(record), Screen()
    count = pluralize_count(len(record["submissions"]), "submission")
    unfinished = [] if record["state"] == "closed" else [record["state"].replace("_", " ")]
    again = [f"again: {record['again']}"] if record.get("again") else []
    parts = [record["task"], *again, record["mode"], count, f"contest {record['id']}", *unfinished]
    screen.line(" · ".join(parts), dim=True)
    screen.line()
    _print_contest_decision(screen, record)
    print_contest_ranking(screen, record)
    # What could not be judged has not failed: it is told of below, with those that are not ranked.
    checks = [
        (one["id"], feedback["criteria_checks"])
        for one in record["submissions"]
        for feedback in one["feedback"]
        if one["status"] != "unjudged" and feedback["type"] == "gate_check" and not feedback["policy_violations"]
    ]
    failed = [(f"{id}: {line}", None) for id, several in checks for line in list_unmet_cli_lines(several)]
    print_section(screen, "Acceptance check failed", failed)
    print_section(screen, "Pulled down by a penalty", list(_list_penalty_cli_lines(record)))
    violations = [
        (f"{one['id']} {found['says']}: {quote_passage_in_terminal(found['text'])}", "red")
        for one in record["submissions"]
        for feedback in one["feedback"]
        for found in feedback.get("policy_violations", ())
    ]
    print_section(screen, "Policy violations", violations)
    came = [one for one in record["events"] if one["event"] == "submitted"]
    flagged = [(one["submission"]["id"], line) for one in came for line in _list_flag_cli_lines(one["findings"])]
    print_section(screen, "Flagged by a guard", [(f"{id}: {line}", "yellow") for id, line in flagged])
    told_above = ("policy_violation", "gate_failed")
    unranked = [one for one in record["submissions"] if one["why"] and one["status"] not in told_above]
    print_section(screen, "Not ranked", [(f"{one['id']}: {one['why']}", None) for one in unranked])
    noted = [
        (one["id"], note)
        for one in record["submissions"]
        for given in one["feedback"]
        if given["type"] != "scoring"
        for note in given.get("notes", ())
    ]
    print_section(screen, "Notes", _group_cli_lines(noted))
    refused = record["refused"]
    names = [f"a challenge by {one['author']}" if one["id"] is None else one["id"] for one in refused]
    print_section(screen, "Refused", _group_cli_lines(zip(names, (one["why"] for one in refused), strict=True)))
    aside = [
        (one["file"] + (f" by {one['author']}" if one["author"] else ""), one["why"]) for one in record["set_aside"]
    ]
    print_section(screen, "Set aside", _group_cli_lines(aside))
    _print_contest_spending(screen, record)


def _list_flag_cli_lines(findings: Sequence[ContestData]) -> Iterator[str]:
    """What guards found and the contest only tells; what speaks to a judge is a violation, and told as such."""
    for one in findings:
        if one["guard"] != "injection":
            yield f"{one['guard']} guard, {one['rule']}: {one['says']}: {quote_passage_in_terminal(one['text'])}"


def _group_cli_lines(told: Iterable[tuple[str, str]]) -> list[tuple[str, str | None]]:
    """A line for each thing that is told of somebody, with all of whom it is told: many share one."""
    whose: dict[str, list[str]] = {}
    for name, what in told:
        whose.setdefault(what, []).append(name)
    return [(f"{', '.join(names)}: {what}", None) for what, names in whose.items()]


def _list_penalty_cli_lines(record: ContestData) -> Iterator[tuple[str, str | None]]:
    """The submissions whose score is not the weighted sum: by the scores that decide, side by side where there are."""
    for one in record["submissions"]:
        feedback = {given["type"]: given for given in one["feedback"]}
        told = feedback.get("scoring") or feedback.get("individual_scoring") or {}
        if told.get("penalty") not in (None, 1):
            yield f"{one['id']}: {explain_contest_total_in_terminal(told)}", None


def _print_contest_spending(screen: Screen, record: ContestData) -> None:
    """Print what this call spent, and what the contest did in all where that is more."""
    spent, now = record["spent"], record.get("spent_now")
    if spent is None or now == spent:
        print_contest_cost(screen, spent)
        return
    if now is not None:
        screen.line(f"now: {_format_printed_contest_cost(now)}", dim=True, gap=True)
    screen.line(f"in all: {_format_printed_contest_cost(spent)}", dim=True, gap=now is None)


def print_contest_cost(screen: Screen, spent: ContestData | None) -> None:
    """Print what was asked and what it cost, where that is known."""
    if spent is not None:
        screen.line(_format_printed_contest_cost(spent), dim=True, gap=True)


def _format_printed_contest_cost(spent: ContestData) -> str:
    asked, replayed = spent["requests"], spent["replayed"]
    parts = [pluralize_count(asked, "request") if asked else "no model was asked"]
    if replayed:
        parts.append(f"{pluralize_count(replayed, 'reply', 'replies')} from a record")
    if spent["input_tokens"] or spent["output_tokens"]:
        parts.append(f"{spent['input_tokens']:,} tokens in, {spent['output_tokens']:,} out")
    if asked:
        cost = spent["cost"]
        parts.append("price unknown" if cost is None else format_dollar_amount(cost) if cost else "no cost")
    return " · ".join(parts)


def _print_contest_decision(screen: Screen, record: ContestData) -> None:
    decision, closed = record["decision"], record["state"] == "closed"
    if decision is None:
        waiting = WAITING_REASONS.get(record["state"], record["state"])
        if record["state"] == "open" and not (record["stopped"] or "it ").startswith("it "):
            waiting = "it stopped before its end"  # Whether it is still open is not known: nobody played it so far.
        screen.line(f"Not decided yet: {waiting}.", fg="yellow", bold=True)
    elif decision["winner"] is None:
        screen.line("Nobody won.", fg="red", bold=True)
    else:
        author = next(one["author"] for one in record["submissions"] if one["id"] == decision["winner"])
        winner = decision["winner"] if author == decision["winner"] else f"{decision['winner']} by {author}"
        said = f"{winner} won." if closed else f"{winner} is first, and {WAITING_REASONS[record['state']]}."
        screen.line(said, fg="green" if closed else "yellow", bold=True)
    if decision is not None:
        screen.line(f"why: {' '.join(decision['why'])}", indent=2)
        if decision["how_sure"]:
            screen.line(f"how sure: {'; '.join(decision['how_sure'])}.", indent=2)
        if record.get("unchallengeable"):
            screen.line(UNCHALLENGEABLE_NOTE, indent=2, fg="yellow")
        if paid := record["payment"]:
            what = f"{_format_payment_terminal_line(record)} to {paid['author']}"
            screen.line(f"{what}: {paid['reward']}" if paid["reward"] else what, indent=2)
    if record.get("ahead"):
        screen.line(AHEAD_NOTE, indent=2, fg="yellow")
    if stopped := record["stopped"]:
        screen.line(stopped if stopped.startswith("it ") else f"stopped: {stopped}", indent=2)


def _format_payment_terminal_line(record: ContestData) -> str:
    paid = record["payment"]
    if paid["state"] == "rehearsal":
        at = next(one["at"] for one in record["effects"] if one["effect"] == "release_payment")
        return f"payment would be due on {at[:10]}"
    if paid["state"] == "due":
        return f"payment {paid['id']} not released yet"
    when = "newly released" if paid["newly_released"] else f"released before, on {paid['released'][:19]},"
    return f"payment {paid['id']} {when}"


def list_unmet_cli_lines(checks: Sequence[ContestData]) -> Iterator[str]:
    """A line for each acceptance criterion that is not met, or that could not be checked."""
    unknown: dict[str, list[str]] = {}  # By reason: a reply that cannot be read leaves all of them open.
    for check in checks:
        if check["passed"] is False:
            yield f"not met: {check['criterion']} → {check['revision_hint'] or check['reason']}"
        elif check["passed"] is None:
            unknown.setdefault(check["reason"], []).append(check["criterion"])
    yield from (f"not known: {' '.join(criteria)} ({reason})" for reason, criteria in unknown.items())


def quote_passage_in_terminal(passage: str) -> str:
    """A passage of a text on one line, its line breaks marked as in verse."""
    return f"“{' / '.join(part.strip() for part in passage.splitlines())}”"


UNRANKED_COLOURS = dict.fromkeys(("below_threshold", "gate_failed", "unjudged"), "yellow")
STATUS_COLOURS = {"won": "green", "policy_violation": "red", **UNRANKED_COLOURS}
RANKING_COLOURS = {**STATUS_COLOURS, **{status.replace("_", " "): colour for status, colour in STATUS_COLOURS.items()}}
NUMBER_COLUMNS = ("rank", "score", "alone")


def print_contest_ranking(screen: Screen, record: ContestData) -> None:
    """Those with a rank first, the others in order of arrival."""
    if not record["submissions"]:
        return
    ranked = sorted(record["submissions"], key=lambda one: (one["rank"] is None, one["rank"] or 0))
    fastest = record["mode"] == "fastest_first"
    names = ["rank", "submission", "author", "score", "band" if fastest else "alone", "status", "flags"]
    rows = [_build_cli_rank_row(one, record["state"], fastest=fastest) for one in ranked]
    # The table, without its authors, and with statuses and flags in words that can be wrapped; ids never break.
    tables = [(names, rows)] if any(one["author"] != one["id"] for one in ranked) else []
    names, *rows = ([*cells[:2], *cells[3:]] for cells in (names, *rows))
    tables.append((names, rows))
    tables.append((names, [[*row[:-2], row[-2].replace("_", " "), row[-1].replace(",", "")] for row in rows]))
    fitting = (table for table in tables if measure_terminal_minimum(*table, NUMBER_COLUMNS) <= screen.width)
    names, rows = next(fitting, tables[0])
    screen.line()
    print_table_or_sentences(screen, names, rows, heads=len(names) - 4, right=NUMBER_COLUMNS, colours=RANKING_COLOURS)


def format_printed_contest_status(status: str, state: str) -> str:
    """A status on screen: nobody has won before the contest is closed."""
    return "leading" if status == "won" and state != "closed" else status


def _build_cli_rank_row(one: ContestData, state: str, *, fastest: bool) -> list[str]:
    """A finalist's score is the one side by side, and what it had alone stands beside it."""
    feedback = {given["type"]: given for given in one["feedback"]}
    alone = feedback.get("individual_scoring", {})
    flags = (feedback.get("scoring") or alone).get("risk_flags", ())
    band, totals = alone.get("overall_band") or "", (one["score"], alone.get("penalized_total"))
    score, total = ("" if value is None else format_kept_figure(value) for value in totals)
    rank = "–" if one["rank"] is None else str(one["rank"])
    beside = band if fastest else f"{band} {total}".strip()
    status = format_printed_contest_status(one["status"], state)
    return [rank, one["id"], one["author"], score, beside, status, ", ".join(flags)]


def print_submission_check(task: Task, checked: ContestData) -> None:
    """Print whether the gate is passed, each criterion that is not met with its hint, and what to fix."""
    screen = Screen()
    screen.line(f"{task.name} · {task.mode} · {checked['id']} by {checked['author']}", dim=True)
    screen.line()
    colour, verdict = _choose_check_terminal_line(task, checked)
    screen.line(verdict, fg=colour, bold=True)
    for check in checked["criteria_checks"]:
        if check["passed"]:
            screen.line(f"met: {check['criterion']}{_format_terminal_evidence(check)}", indent=2)
    for line in list_unmet_cli_lines(checked["criteria_checks"]):
        screen.line(line, indent=2, fg="red")
    for feedback in checked["feedback"]:
        for found in feedback.get("policy_violations", ()):
            screen.line(f"it {found['says']}: {quote_passage_in_terminal(found['text'])}", indent=2, fg="red")
    for line in _list_flag_cli_lines(checked["guards"]):
        screen.line(line, indent=2, fg="yellow")
    for feedback in checked["feedback"]:
        if feedback["type"] != "gate_check":
            if feedback.get("dimension_scores"):
                _print_dimension_scores(screen, feedback, checked["dimensions"])
            advice = feedback["revision_suggestions"]
            lines = [(f"{one['severity']}: {one['problem']} → {one['suggestion']}", None) for one in advice]
            print_section(screen, "Suggestions for a revision", lines)
            print_section(screen, "Notes", [(str(note), None) for note in feedback.get("notes", ())])
    print_contest_cost(screen, checked["spent"])


def _choose_check_terminal_line(task: Task, checked: ContestData) -> tuple[str, str]:
    status, count = checked["status"], len(task.acceptance)
    if status == "policy_violation":
        return "red", "It breaks the rules: it would be shown to no judge."
    if status == "gate_failed":
        return "red", "The acceptance check failed."
    if any(check["passed"] is None for check in checked["criteria_checks"]):
        return "yellow", "It could not be judged: not every acceptance criterion could be checked."
    if status == "unjudged":
        return "yellow", f"It could not be judged: {checked['why']}."
    met = (
        "The acceptance criterion is met"
        if count == 1
        else f"{'Both' if count == 2 else f'All {count}'} acceptance criteria are met"
    )
    if checked["score"] is None:
        return "green", f"{met}. Scores are hidden until the ranking is done."
    if status == "won":
        return "green", f"{met}, and {format_kept_figure(checked['score'])} would win."
    from evenhand.contest.ranking import PASSING_SCORE

    return "yellow", f"{met}, but {format_kept_figure(checked['score'])} is below the {PASSING_SCORE} that win."


def _format_terminal_evidence(one: ContestData) -> str:
    if one["evidence"]:
        return f" {quote_passage_in_terminal(one['evidence'])}"
    return f" stated absent: {one['absent']}" if one.get("absent") else ""


def _print_dimension_scores(screen: Screen, feedback: ContestData, dimensions: Sequence[ContestData]) -> None:
    scores = feedback["dimension_scores"]
    screen.line()
    columns = {
        "dimension": list(scores),
        "weight": [f"{one['weight']:g}" for one in dimensions],
        "score": ["–" if one["score"] is None else f"{one['band']} {one['score']:g}" for one in scores.values()],
        # Of several judges each says it on a line of its own, and a cell has one.
        "what would raise it": ["; ".join((one["feedback"] or "").splitlines()) for one in scores.values()],
        "evidence": [_format_terminal_evidence(one).strip() for one in scores.values()],
    }
    screen.table(columns, right=("weight", "score"))
    if (line := explain_contest_total_in_terminal(feedback)) is not None:
        screen.line(line, fg="yellow" if feedback["penalty_reasons"] else None)


def explain_contest_total_in_terminal(feedback: ContestData) -> str | None:
    """How the weighted base became the score: 78.00 × 0.75 = 58.50, credibility is under 60 (45); None without one."""
    total = feedback.get("final_score", feedback.get("penalized_total"))
    if total is None:
        return None
    base, shown = (format_kept_figure(value) for value in (feedback["weighted_base"], total))
    if feedback["penalty"] == 1:
        return f"weighted sum {base}, no penalty"
    reasons = "; ".join(feedback["penalty_reasons"])
    return f"weighted sum {base} × penalty {feedback['penalty']:g} = {shown}: {reasons}"


TextMask = Callable[[str], str]
# Under these keys stand names by which somebody is told from others or paid, times, and words of the machine.
UNMASKED_KEYS = frozenset({
    "id", "author", "by", "reward", "winner", "submission", "submissions", "revises", "output", "judge", "judges",
    "challenge_judges", "guard", "rule", "at", "ahead", "deadline", "period_ends", "event", "effect", "kind", "mode",
    "state", "status", "type", "weight", "contest", "payment", "released", "file",
})  # fmt: skip
SENTENCE_KEYS = frozenset({"why", "how_sure", "notes", "stopped"})  # Our own words, with names in them.
QUOTING_STATUS = "policy_violation"  # With this status, why it is so quotes the text.


def mask_contest_to_print(record: ContestData) -> ContestData:
    """The record of a contest for people and programs."""
    events = record["events"]
    texts = [one["submission"]["text"] for one in events if one["event"] == "submitted"]
    task = next(one["task"] for one in events if one["event"] == "created")
    named = (*record["submissions"], *record["refused"])  # Who challenges the ranking: only an author may.
    names = [task["reward"], *(name for one in named for name in (one["author"], one["id"] or ""))]
    names += [one["author"] or "" for one in record.get("set_aside", ())]
    return mask_printed_data(record, texts=[*texts, task["description"]], names=names)


def mask_printed_data(data: ContestData, *, texts: Iterable[str], names: Iterable[str]) -> ContestData:
    """Data with what is personal in these texts masked; in our sentences these names stay."""
    hide = cache(build_personal_text_mask(texts))

    def text(given: str) -> str:
        return str(mask_data(given, hide))

    # Names are left alone where they stand by themselves, not as a part of something longer.
    longest_first = sorted((one for one in set(names) if one and hide(one) != one), key=len, reverse=True)
    name = re.compile(rf"(?<![\w@.+-])({'|'.join(map(re.escape, longest_first))})(?![\w@-]|\.\w)")

    def sentence(given: str) -> str:
        return "".join(part if place % 2 else text(part) for place, part in enumerate(name.split(given)))

    masked: ContestData = _mask_value_to_print(data, "", text, sentence if longest_first else text)
    return masked


def _mask_value_to_print(data: Any, key: str, text: TextMask, sentence: TextMask) -> Any:
    if isinstance(data, str):
        return data if key in UNMASKED_KEYS else sentence(data) if key in SENTENCE_KEYS else text(data)
    if isinstance(data, Mapping):
        if key == "shown":  # By judge, the ids in the order in which it saw them.
            return data
        quotes = data.get("status") == QUOTING_STATUS
        names = {name: "text" if quotes and name == "why" else name for name in data}
        return {name: _mask_value_to_print(value, names[name], text, sentence) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_mask_value_to_print(value, key, text, sentence) for value in data]
    return data
