"""evenhand score: answers and a rubric to scores, decisions, a ranking, and why; and their tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from evenhand.cli.history import print_subject_evaluation
from evenhand.cli.options import read_limit_command_options
from evenhand.cli.output import (
    escape_cli_line,
    open_command_stdin,
    print_json,
    print_message,
    print_until_reader_leaves,
)
from evenhand.cli.screen import Screen
from evenhand.model.method import Method
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Gate, Scored
from evenhand.model.scorecard import Scorecard, Scores
from evenhand.wording import format_fraction, join_names, pluralize_count, word_criterion, word_gate, word_tie_break
from evenhand.workflows.score import score_file


@click.command("score")
@click.argument("answers", metavar="FILE")
@click.option("--rubric", "-r", required=True, metavar="NAME|FILE", help="A shipped rubric, or a YAML or JSON file.")
@click.option(
    "--subject", metavar="NAME", help="Store the evaluation of this subject, and compare it with its history."
)
@click.option("--explain", is_flag=True, help="Say each step in a sentence; with --subject always.")
@click.option("--json", "as_data", is_flag=True, help="Print the stable JSON.")
@click.option("--min-score", metavar="NUMBER", help="Fail (exit 1) when a score is below this.")
@click.option("--min-grade", metavar="GRADE", help="Fail (exit 1) when a grade is below this.")
@click.option("--strict", is_flag=True, help="Count a borderline verdict as a failure.")
def score_command(answers: str, rubric: str, subject: str | None, **options: Any) -> int:
    """Score the answers in FILE (JSON, JSONL, or a reviewer's reply that holds them; - for standard input).

    Exit code: 0 all well; 1 a verdict 'fail', a failed gate, an incomplete scorecard, a limit not reached or a red flag
    that the rubric does not have; 2 bad input; 3 a fault of Evenhand itself.
    """
    limits = read_limit_command_options(options["min_score"], options["min_grade"], options["strict"])
    scored = score_file(rubric, answers, limits=limits, stdin=open_command_stdin(), subject=subject)
    with print_until_reader_leaves():
        for note in scored.ignored:  # A misspelt red flag lifts the score: nobody should have to look for that.
            print_message(escape_cli_line(f"warning: {note}"), err=True)
        if options["as_data"]:
            print_json(scored.to_json())
        else:
            print_scores(scored.scores, explain=options["explain"] or scored.evaluation is not None)
            print_subject_evaluation(scored.evaluation)
        print_shortfalls(scored.shortfalls, err=options["as_data"])
    return scored.exit_code


def print_shortfalls(shortfalls: Sequence[str], *, err: bool) -> None:
    """Print a line for each score below a limit."""
    if shortfalls:
        click.echo("\n" + "\n".join(map(escape_cli_line, shortfalls)), err=err)


MOST_NAMED = 3  # Outputs that a note is about.
SCORE_COLOURS = {"pass": "green", "borderline": "yellow", "fail": "red", "incomplete": "magenta"}


def print_scores(scores: Scores, *, explain: bool, screen: Screen | None = None) -> None:
    """Print the table, the notes, and with `explain` the steps."""
    screen = screen or Screen()
    rubric = scores.rubric
    name = rubric.name if rubric.name == rubric.method.name else f"{rubric.name} ({rubric.method.name})"
    outputs = pluralize_count(len(scores.scorecards), "output")
    screen.line(f"{name} · {outputs} · fingerprint {scores.fingerprint}", dim=True)
    screen.line()
    if not scores.scorecards:
        screen.line("no output was scored: every reviewer abstained")
        return
    screen.table(_build_scorecard_terminal_columns(scores), right=("rank", "score"), colours=SCORE_COLOURS)
    cards = order_printed_scorecards(scores)
    # With the steps it is said below why there is no score.
    missing = {card.id: [] if explain else _list_missing_terminal_lines(card) for card in cards}
    own_notes = _join_notes_of_outputs([(card.id, (*missing[card.id], *card.notes)) for card in cards])
    for place, note in enumerate((*_print_note_on_failed_above_others(scores), *scores.notes, *own_notes)):
        screen.line(note, gap=place == 0)
    for card in cards if explain else ():
        parts = (card.id, _format_cli_score(card, rubric.method), card.grade, card.label, card.verdict)
        screen.line(" ".join(filter(None, parts)), gap=True, bold=True)
        described = next((one.description for one in rubric.method.grades if one.grade == card.grade), "")
        lines = [f"{card.grade}: {described}"] if described else []
        lines += [f"{review.judge}: {moved.why}" for review in card.reviews or () for moved in review.steps]
        lines += [moved.why for moved in card.steps]
        lines += [f"no score: {line}" for line in _list_missing_terminal_lines(card)]
        for gate in rubric.all_gates:
            if gate.criterion in card.gates_failed:
                lines.append(f"gate failed: {_format_failed_gate_cli_line(rubric, gate, card)}")
            elif gate.criterion in card.gates_open:
                lines.append(f"gate not known: {gate.criterion} has no answer")
        for line in lines:
            screen.line(line, indent=2)


def _print_note_on_failed_above_others(scores: Scores) -> list[str]:
    """A note where an output that failed a gate has a better rank than one that did not: a gate moves no score."""
    cards = {card.id: card for card in scores.scorecards}
    ranked = [(place.rank, cards[place.id]) for place in scores.ranking or () if place.rank is not None]
    lowest = max((rank for rank, card in ranked if card.verdict != "fail"), default=0)
    above = [card.id for rank, card in ranked if card.gates_failed and card.verdict == "fail" and rank < lowest]
    if not above:
        return []
    named = [
        *above[:MOST_NAMED],
        *([f"{len(above) - MOST_NAMED} more"] if above[MOST_NAMED:] else []),
    ]
    which = "an output that did not" if len(above) == 1 else "outputs that did not"
    return [f"ranks go by the score alone: {join_names(named)} failed a gate and ranked above {which}"]


def _format_failed_gate_cli_line(rubric: Rubric, gate: Gate, card: Scorecard) -> str:
    """The criterion and what it lacks; of several reviewers, how many reach it."""
    gated = rubric.criterion(gate.criterion)
    yes_no, least = gated is not None and gated.scale.yes_no, format_fraction(gate.min)
    given = [one.criteria.get(gate.criterion) for one in card.reviews or ()]
    values = [score.value for score in given if isinstance(score, Scored)]
    if len(values) > 1:
        reached = sum(value >= gate.min for value in values)
        how = "said yes" if yes_no else f"gave at least {least}"
        return f"{word_criterion(gate.criterion)}: {reached} of {len(values)} reviewers {how}; more than half must"
    return f"{word_criterion(gate.criterion)} is {'required and not met' if yes_no else f'under {least}'}"


def _build_scorecard_terminal_columns(scores: Scores) -> dict[str, list[str]]:
    cards = order_printed_scorecards(scores)
    ranks = {place.id: place for place in scores.ranking or ()}
    # Exact scores have as many decimals as the longest of them, so that the points stand below each other.
    shown = [_format_cli_score(card, scores.rubric.method).partition(".") for card in cards]
    places = max(len(part) for _, _, part in shown) if scores.rubric.method.scale.decimals is None else 0
    columns: dict[str, list[str]] = {
        "rank": [str(ranks[card.id].rank or "–") for card in cards] if ranks else [],
        "output": [card.id for card in cards],
        "score": [
            f"{whole}.{part:0<{places}}" if places and whole != "–" else f"{whole}{point}{part}"
            for whole, point, part in shown
        ],
        "holistic": [_format_cli_holistic_cell(card) for card in cards],
        "grade": [" ".join(filter(None, (card.grade, card.label))) for card in cards],
        "verdict": [card.verdict or "" for card in cards],
        "tie broken by": [word_tie_break(ranks[card.id].tie_broken_by or "") for card in cards] if ranks else [],
        "flags": [", ".join(card.flags) for card in cards],
        "unsafe": [card.unsafe or "" for card in cards],
        "bonuses": [", ".join(card.bonuses) for card in cards],
        "gates failed": [", ".join(map(word_gate, card.gates_failed)) for card in cards],
        "gates not known": [", ".join(map(word_gate, card.gates_open)) for card in cards],
    }
    return {name: cells for name, cells in columns.items() if any(cells)}


def _join_notes_of_outputs(notes: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Each note behind the outputs that it is about: a judge that failed has failed for several."""
    outputs: dict[str, list[str]] = {}
    for id, own in notes:
        for note in dict.fromkeys(own):
            outputs.setdefault(note, []).append(id)
    more = {note: [f"{len(ids) - MOST_NAMED:,} more"] if ids[MOST_NAMED:] else [] for note, ids in outputs.items()}
    return [f"{join_names([*ids[:MOST_NAMED], *more[note]])}: {note}" for note, ids in outputs.items()]


def _format_cli_holistic_cell(card: Scorecard) -> str:
    """The score for the whole that was asked beside the criteria, or whose stands in for the criteria."""
    if isinstance(card.whole, Scored):
        return format_fraction(card.whole.value, card.decimals)
    if card.holistic is None:
        return ""
    return f"used for {', '.join(card.holistic)}" if card.holistic else "used"


def _list_missing_terminal_lines(card: Scorecard) -> list[str]:
    """What is missing, one line per reason; a panel's notes say it per reviewer."""
    reasons: dict[str, list[str]] = {}
    told = any(review.exact is None for review in card.reviews or ())
    for gap in () if told else card.missing:
        reasons.setdefault(gap.why, []).append(gap.criterion)
    return [f"{', '.join(map(word_criterion, ids))} missing ({why})" for why, ids in reasons.items()]


def order_printed_scorecards(scores: Scores) -> list[Scorecard]:
    """The scorecards, best first where they are ranked."""
    if scores.ranking is None:
        return list(scores.scorecards)
    cards = {card.id: card for card in scores.scorecards}
    return [cards[place.id] for place in scores.ranking]


def _format_cli_score(card: Scorecard, method: Method) -> str:
    limits = [*(one.from_ for one in method.grades), *(one.from_ for one in method.verdicts)]
    return "–" if card.exact is None else format_fraction(card.exact, card.decimals, beside=limits)
