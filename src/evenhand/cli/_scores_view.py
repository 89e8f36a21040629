"""Scores on a terminal: one table, what needs attention, and on request every step."""

from __future__ import annotations

from evenhand.cli._screen import Screen
from evenhand.model import Gate, Rubric, Scorecard, Scores, written

COLOURS = {"pass": "green", "borderline": "yellow", "fail": "red", "incomplete": "magenta"}


def show_scores(scores: Scores, *, explain: bool, screen: Screen | None = None) -> None:
    """Print the table, the notes, and with `explain` the steps."""
    screen = screen or Screen()
    screen.line(_heading(scores), dim=True)
    screen.gap()
    if not scores.scorecards:
        screen.line("no output was scored: every reviewer abstained")
        return
    screen.table(_columns(scores), right=("rank", "score"), colours=COLOURS)
    _show_notes(screen, scores)
    if explain:
        for card in in_order(scores):
            _show_steps(screen, scores.rubric, card)


def _heading(scores: Scores) -> str:
    count = len(scores.scorecards)
    rubric = scores.rubric
    name = rubric.name if rubric.name == rubric.method.name else f"{rubric.name} ({rubric.method.name})"
    outputs = "1 output" if count == 1 else f"{count} outputs"
    return f"{name} · {outputs} · fingerprint {scores.fingerprint}"


def _columns(scores: Scores) -> dict[str, list[str]]:
    cards = in_order(scores)
    ranks = {place.id: place for place in scores.ranking or ()}
    columns: dict[str, list[str]] = {
        "rank": [_rank(ranks[card.id].rank) for card in cards] if ranks else [],
        "output": [card.id for card in cards],
        "score": _aligned([_score(card) for card in cards]),
        "grade": [" ".join(filter(None, (card.grade, card.label))) for card in cards],
        "verdict": [card.verdict or "" for card in cards],
        "tie broken by": [ranks[card.id].tie_broken_by or "" for card in cards] if ranks else [],
        "flags": [", ".join((*card.flags, *([f"unsafe: {card.unsafe}"] if card.unsafe else []))) for card in cards],
        "bonuses": [", ".join(card.bonuses) for card in cards],
        "gates failed": [", ".join(card.gates_failed) for card in cards],
    }
    return {name: cells for name, cells in columns.items() if any(cells)}


def _show_notes(screen: Screen, scores: Scores) -> None:
    notes = list(scores.notes)
    for card in in_order(scores):
        notes += [f"{card.id}: {line}" for line in (*_gaps(card), *card.notes)]
    if notes:
        screen.gap()
    for note in notes:
        screen.line(note)


def _show_steps(screen: Screen, rubric: Rubric, card: Scorecard) -> None:
    screen.gap()
    parts = (card.id, _score(card), card.grade, card.label, card.verdict)
    screen.line(" ".join(filter(None, parts)), bold=True)
    for review in card.reviews or ():
        for moved in review.steps:
            screen.line(f"{review.judge}: {moved.why}", indent=2)
    for moved in card.steps:
        screen.line(moved.why, indent=2)
    for line in _gaps(card):
        screen.line(f"no score: {line}", indent=2)
    for gate in rubric.all_gates():
        if gate.criterion in card.gates_failed:
            screen.line(f"gate failed: {_demand(rubric, gate)}", indent=2)


def _demand(rubric: Rubric, gate: Gate) -> str:
    criterion = rubric.criterion(gate.criterion)
    if criterion is not None and criterion.scale.yes_no:
        return f"{gate.criterion} is required and not met"
    return f"{gate.criterion} is under {written(gate.min)}"


def _gaps(card: Scorecard) -> list[str]:
    """What is missing, one line per reason; a panel's notes say it per reviewer."""
    reasons: dict[str, list[str]] = {}
    told = any(review.exact is None for review in card.reviews or ())
    for gap in () if told else card.missing:
        reasons.setdefault(gap.why, []).append(gap.criterion)
    return [f"{', '.join(ids)} missing ({why})" for why, ids in reasons.items()]


def in_order(scores: Scores) -> list[Scorecard]:
    """The scorecards, best first where they are ranked."""
    if scores.ranking is None:
        return list(scores.scorecards)
    cards = {card.id: card for card in scores.scorecards}
    return [cards[place.id] for place in scores.ranking]


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _score(card: Scorecard) -> str:
    return "–" if card.exact is None else written(card.exact, card.decimals)


def _aligned(scores: list[str]) -> list[str]:
    """Exact scores with as many decimals as the longest of them, so that the points stand below each other."""
    places = max(len(score.partition(".")[2]) for score in scores)
    return [score if score == "–" or not places else _padded(score, places) for score in scores]


def _padded(score: str, places: int) -> str:
    whole, _, part = score.partition(".")
    return f"{whole}.{part:0<{places}}"
