"""What a contest wants done: whoever runs it asks, tells and pays; the machine only says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, get_args

Panel = Literal["judges", "challenge_judges"]
EffectKind = Literal["ask_gate", "ask_individual", "ask_horizontal", "tell_submitter", "release_payment", "close"]
EFFECT_KINDS: tuple[EffectKind, ...] = get_args(EffectKind)
Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskGate:
    """Have the judges check the acceptance criteria."""

    kind: ClassVar[EffectKind] = "ask_gate"
    submission: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskIndividual:
    """Have a panel score a submission on its own."""

    kind: ClassVar[EffectKind] = "ask_individual"
    submission: str
    panel: Panel = "judges"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHorizontal:
    """Have a panel score the finalists side by side, anonymous, one request per dimension, all at once."""

    kind: ClassVar[EffectKind] = "ask_horizontal"
    submissions: tuple[str, ...]
    panel: Panel = "judges"


@dataclass(frozen=True, slots=True, kw_only=True)
class TellSubmitter:
    """Tell an author how a submission stands: what may be seen of it now, and nothing more."""

    kind: ClassVar[EffectKind] = "tell_submitter"
    submission: str
    author: str
    status: str
    feedback: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePayment:
    """Pay the winner. It is wanted once in the life of a contest."""

    kind: ClassVar[EffectKind] = "release_payment"
    submission: str
    author: str
    reward: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """The contest is over."""

    kind: ClassVar[EffectKind] = "close"
    winner: str | None
    why: str


Effect = AskGate | AskIndividual | AskHorizontal | TellSubmitter | ReleasePayment | Close


def effect_json(effect: Effect) -> Json:
    """An effect as plain data."""
    given: Json = {field.name: getattr(effect, field.name) for field in fields(effect)}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    return {"effect": effect.kind, **plain}
