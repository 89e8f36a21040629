"""Which event is allowed in which phase and where it may lead: the whole machine on a page, and its drawing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evenhand.contest._events import Kind
from evenhand.contest._state import PHASES, Phase
from evenhand.contest._task import Mode

Moves = Mapping[Phase, Mapping[Kind, tuple[Phase, ...]]]

BEGIN: Moves = {"new": {"created": ("open",)}}
FASTEST: Moves = {
    **BEGIN,
    "open": {
        "submitted": ("open",),
        "gate_checked": ("open",),
        "scored": ("open", "closed"),
        "deadline_reached": ("judging", "closed"),
    },
    "judging": {"gate_checked": ("judging", "closed"), "scored": ("judging", "closed")},
    "closed": {},
}
_AFTER_JUDGING: tuple[Phase, ...] = ("judging", "ranking", "challenge_period", "closed")
QUALITY: Moves = {
    **BEGIN,
    "open": {
        "submitted": ("open",),
        "gate_checked": ("open",),
        "scored": ("open",),
        "deadline_reached": _AFTER_JUDGING,
    },
    "judging": {"gate_checked": _AFTER_JUDGING, "scored": _AFTER_JUDGING},
    "ranking": {"ranked": ("challenge_period",)},
    "challenge_period": {"challenged": ("challenged",), "deadline_reached": ("closed",)},
    "challenged": {"resolved": ("challenge_period", "closed")},
    "closed": {},
}
MOVES: Mapping[Mode, Moves] = {"fastest_first": FASTEST, "quality_first": QUALITY}


def allowed(mode: Mode | None, phase: Phase) -> tuple[Kind, ...]:
    """The kinds of event that can happen now; before a contest is created, that it is."""
    moves = BEGIN if mode is None else MOVES[mode]
    return tuple(moves.get(phase, {}))


def drawing(mode: Mode) -> str:
    """The machine of a mode as a Mermaid state diagram, an arrow for each pair of phases."""
    return "\n".join(["stateDiagram-v2", *(f"    {line}" for line in _arrows(MOVES[mode]))]) + "\n"


def _arrows(moves: Moves) -> Iterator[str]:
    for phase in PHASES:
        kinds = moves.get(phase)
        if kinds == {}:
            yield f"{phase} --> [*]"
        targets = dict.fromkeys(target for found in (kinds or {}).values() for target in found)
        for target in targets:
            names = ", ".join(kind for kind, found in (kinds or {}).items() if target in found)
            yield f"{'[*]' if phase == 'new' else phase} --> {target}: {names}"
