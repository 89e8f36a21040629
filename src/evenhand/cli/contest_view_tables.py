"""A contest on a terminal as others than its operator see it, what happens in it line by line, and lists around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from evenhand.cli.contest_tables import (
    STATUS_COLOURS,
    WAITING_REASONS,
    format_printed_contest_status,
    list_unmet_cli_lines,
    mask_printed_data,
    quote_passage_in_terminal,
)
from evenhand.cli.screen import (
    Screen,
    measure_terminal_minimum,
    narrow_terminal_table_rows,
    print_section,
    print_table_or_sentences,
)
from evenhand.wording import format_kept_figure, pluralize_count

ContestData = Mapping[str, Any]
LISTED_COLUMNS = ("contest", "task", "state", "winner", "started")
RANKING_COLUMNS = ("rank", "submission", "author", "score", "status")
OWN_COLUMNS = ("submission", "status", "rank", "score", "revises", "received")
CHANGE_WIDTH = len("deadline_reached")


def print_contest_view(view: ContestData) -> None:
    """Print what an author, or anybody, may see of a contest: where it stands, the ranking, and what is their own."""
    view, screen = mask_printed_view(view), Screen()
    unfinished = [] if view["state"] == "closed" else [view["state"].replace("_", " ")]
    screen.line(" · ".join([view["task"], view["mode"], f"contest {view['contest']}", *unfinished]), dim=True)
    screen.line()
    _print_view_decision(screen, view)
    if view["ranking"]:
        rows = [
            [
                str(one["rank"]),
                one["id"],
                one["author"],
                _format_printed_view_score(one),
                format_printed_contest_status(one["status"], view["state"]),
            ]
            for one in view["ranking"]
        ]
        screen.line()
        right = ("rank", "score")
        print_table_or_sentences(screen, RANKING_COLUMNS, rows, heads=3, right=right, colours=STATUS_COLOURS)
    own = view["submissions"]
    if own:
        rows = [_build_printed_own_row(one, view["state"]) for one in own]
        screen.line(f"Submissions of {own[0]['author']}", bold=True, gap=True)
        print_table_or_sentences(screen, OWN_COLUMNS, rows, heads=1, right=("rank", "score"), colours=STATUS_COLOURS)
    parts = {
        "Acceptance check failed": _list_printed_gate_lines(own),
        "Scores": list_printed_score_lines(own),
        "Suggestions": _list_printed_advice_lines(own),
    }
    for title, lines in parts.items():
        print_section(screen, title, list(lines))
    print_section(screen, "Why", [(f"{one['id']}: {one['why']}", None) for one in own if one["why"]])


def mask_printed_view(view: ContestData) -> ContestData:
    """A view with what is personal in its texts masked; names stay."""
    texts = [view["description"], *(one["text"] or "" for one in view["submissions"])]
    named = [*view["submissions"], *(view["ranking"] or ())]
    return mask_printed_data(view, texts=texts, names=[name for one in named for name in (one["author"], one["id"])])


def _print_view_decision(screen: Screen, view: ContestData) -> None:
    decision, winner = view["decision"], view["winner"]
    if decision is None:
        until = (
            f", until {_format_printed_view_time(view['deadline'])} UTC"
            if view["state"] == "open" and view["deadline"]
            else ""
        )
        why = WAITING_REASONS.get(view["state"], view["state"])
        screen.line(f"Not decided yet: {why}{until}.", fg="yellow", bold=True)
    elif winner is None:
        screen.line("Nobody won.", fg="red", bold=True)
    else:
        name, author = winner["submission"], winner["author"]
        name = name if name == author else f"{name} by {author}"
        closed = view["state"] == "closed"
        said = f"{name} won." if closed else f"{name} is first, and {WAITING_REASONS[view['state']]}."
        screen.line(said, fg="green" if closed else "yellow", bold=True)
    if decision is not None:
        screen.line(f"why: {' '.join(decision['why'])}", indent=2)
    if view["state"] == "challenge_period" and view["period_ends"]:
        until = f"{_format_printed_view_time(view['period_ends'])} UTC"
        reviewed = any(one["kind"] == "resolved" for one in view["events"])
        ends = f"reviewed, and final; the challenge period ends at {until}"
        screen.line(ends if reviewed else f"can be challenged until {until}", indent=2)


def _build_printed_own_row(one: ContestData, state: str) -> list[str]:
    rank = "" if one["rank"] is None else str(one["rank"])
    times = (one["revises"] or "", _format_printed_view_time(one["at"]))
    return [
        one["id"],
        format_printed_contest_status(one["status"], state),
        rank,
        _format_printed_view_score(one),
        *times,
    ]


def _list_printed_gate_lines(own: Sequence[ContestData]) -> Iterator[tuple[str, str | None]]:
    for one in own:
        for feedback in one["feedback"]:
            if feedback["type"] == "gate_check":
                yield from (
                    (f"{one['id']}: {line}", None) for line in list_unmet_cli_lines(feedback["criteria_checks"])
                )
                for found in feedback["policy_violations"]:
                    yield f"{one['id']} {found['says']}: {quote_passage_in_terminal(found['text'])}", "red"


def list_printed_score_lines(own: Sequence[ContestData]) -> Iterator[tuple[str, str | None]]:
    """What each dimension was given, on what evidence, and what the penalty took."""
    for one in own:
        for feedback in one["feedback"]:
            for name, found in feedback.get("dimension_scores", {}).items():
                stage = "side by side" if feedback["type"] == "scoring" and feedback["compared"] else "alone"
                score = "–" if found["score"] is None else format_kept_figure(found["score"])
                parts = [
                    f"{one['id']}, {stage}: {name} {found['band'] or ''} {score}".rstrip(),
                    found["feedback"] or "",
                ]
                parts += [quote_passage_in_terminal(found["evidence"])] if found["evidence"] else []
                yield " · ".join(filter(None, parts)), None
            if feedback.get("penalty_reasons"):
                yield (
                    f"{one['id']}: penalty × {feedback['penalty']}: {'; '.join(feedback['penalty_reasons'])}",
                    "yellow",
                )


def _list_printed_advice_lines(own: Sequence[ContestData]) -> Iterator[tuple[str, str | None]]:
    for one in own:
        for feedback in one["feedback"]:
            for advice in feedback.get("revision_suggestions", ()):
                yield f"{one['id']}: {advice['severity']}: {advice['problem']} → {advice['suggestion']}", None


def _format_printed_view_score(one: ContestData) -> str:
    return "" if one["score"] is None else format_kept_figure(one["score"])


def _format_printed_view_time(at: str, form: str = "%Y-%m-%d %H:%M") -> str:
    """In UTC: a deadline may be written in any zone, and what is listed below each other is in one."""
    return datetime.fromisoformat(at).astimezone(UTC).strftime(form)


def print_contest_change(change: ContestData) -> None:
    """Print one thing that happened on one line: when, what, and with whom."""
    event, id, author = change["event"], change["submission"], change["author"]
    parts = [id if author in (None, id) else f"{id or ''} by {author}".lstrip()] if id or author else []
    parts += [change["status"]] if change["status"] else []
    if event == "state":
        won = "won" if change["state"] == "closed" else "is first"
        parts = [change["state"], *([f"{change['winner']} {won}"] if change["winner"] else [])]
    colour = "green" if change["state"] == "closed" else STATUS_COLOURS.get(change["status"] or "")
    line = (
        f"{_format_printed_view_time(change['at'], '%Y-%m-%d %H:%M:%S')}  {event:<{CHANGE_WIDTH}}  {' · '.join(parts)}"
    )
    Screen().line(line.rstrip(), fg=colour)


def print_contest_list(contests: Sequence[ContestData], name: str | None) -> None:
    """Print contests as a table; a service tells others than operators only which there are."""
    screen = Screen()
    if not contests:
        from evenhand.workflows.contests import NO_CONTESTS

        screen.line(f"no contest of {name!r} is here" if name else NO_CONTESTS)
        return
    table = [_build_printed_contest_row(one) for one in contests]
    way = ("task", "winner")
    narrow = narrow_terminal_table_rows(LISTED_COLUMNS, table, giving_way=way, right=("started",), width=screen.width)
    fits = measure_terminal_minimum(LISTED_COLUMNS, narrow, ("started",)) <= screen.width
    print_table_or_sentences(screen, LISTED_COLUMNS, narrow if fits else table, heads=1, right=("started",))


def _build_printed_contest_row(one: ContestData) -> list[str]:
    """The task with the name of a deliberate repetition; the start to the minute, as the seconds are in the id."""
    task = one["task"] if one.get("again") is None else f"{one['task']} (again: {one['again']})"
    if "state" not in one:
        return [one["id"], task, "", "", ""]
    return [one["id"], task, one["state"], one["winner"] or "–", (one["started"] or "–")[:16].replace("T", " ")]


def print_hook_messages(messages: Sequence[ContestData]) -> None:
    """Print messages as a table: what each is, how it stands, and why it was not heard."""
    screen = Screen()
    if not messages:
        screen.line("no messages")
        return
    for one in messages:
        if "damaged" in one:
            screen.line(f"{one['id']}  {one['kind']}  damaged ({one['state']})", fg="red")
            screen.line(one["damaged"], indent=2)
        else:
            _print_intact_hook_message(screen, one)
        if one["failure"]:
            screen.line(f"last try: {one['failure']}", indent=2)


def _print_intact_hook_message(screen: Screen, one: ContestData) -> None:
    tries = f", {pluralize_count(one['attempts'], 'try', 'tries')}" if one["attempts"] else ""
    state = {"dead": "given up", "pending": "due"}.get(one["state"], one["state"])
    at = {"delivered": one["delivered"], "pending": one["due"]}.get(one["state"])
    when = f" {_format_printed_view_time(at)}" if at else ""
    screen.line(f"{one['id']}  {one['kind']}  {state}{when}{tries}", fg="red" if one["state"] == "dead" else None)
    screen.line(f"to {one['target']}", indent=2)
