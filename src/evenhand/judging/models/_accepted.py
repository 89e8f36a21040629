"""What a model accepts: it begins with everything, and gives up what the server says it does not know."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Accepted:
    """The parameters that may be sent. The first of several spellings is the one in use."""

    formats: tuple[str, ...]  # Ways to ask for an answer in a given form, the strictest first.
    limits: tuple[str, ...] = ("max_tokens",)  # Names for the longest reply.
    temperature: bool = True
    seed: bool = True
    logprobs: bool = True

    @property
    def format(self) -> str:
        """How the form of the answer is asked for; empty where it is not."""
        return self.formats[0] if self.formats else ""


def with_less(accepted: Accepted, body: Mapping[str, object], named: str, message: str) -> Accepted | None:
    """What is left once the parameter that a refusal names is given up; None where it names none that was sent.

    Each parameter is given up at most once, so that a server that refuses everything is asked a few times only.
    """
    for parameter in _PARAMETERS:
        if parameter.sent(accepted, body) and parameter.is_named(named, message):
            return parameter.given_up(accepted)
    return None


def both(one: Accepted, other: Accepted) -> Accepted:
    """What is accepted after both lessons, whichever came first."""
    return Accepted(
        formats=min(one.formats, other.formats, key=len),
        limits=min(one.limits, other.limits, key=len),
        temperature=one.temperature and other.temperature,
        seed=one.seed and other.seed,
        logprobs=one.logprobs and other.logprobs,
    )


@dataclass(frozen=True, slots=True)
class _Parameter:
    words: re.Pattern[str]
    sent: Callable[[Accepted, Mapping[str, object]], bool]
    given_up: Callable[[Accepted], Accepted]
    any_reason: bool = False  # Whatever is said of it, doing without helps.

    def is_named(self, named: str, message: str) -> bool:
        """Whether a refusal is about this parameter, and not only about its value."""
        if named and self.words.search(named):
            return self.any_reason or bool(_NOT_KNOWN.search(message))
        return bool(self.words.search(message)) and (self.any_reason or bool(_NOT_KNOWN.search(message)))


_NOT_KNOWN = re.compile(
    r"n[o']t support|unsupported|not (?:permitted|allowed|available|implemented|recogni[sz]ed|accepted|valid)|unknown"
    r"|unrecogni[sz]ed|unexpected|extra (?:input|field|param)|deprecated|only the default|cannot be (?:used|set)"
    r"|can't be (?:used|set)|incompatible|requires|must be (?:1|unset|omitted)",
    re.IGNORECASE,
)

_FORMAT_KEYS = ("response_format", "output_config", "tools")
_PARAMETERS = (
    _Parameter(
        re.compile(r"logprobs", re.IGNORECASE),
        lambda accepted, body: "logprobs" in body,
        lambda accepted: replace(accepted, logprobs=False),
        any_reason=True,
    ),
    _Parameter(
        re.compile(r"\bseed\b", re.IGNORECASE),
        lambda accepted, body: "seed" in body,
        lambda accepted: replace(accepted, seed=False),
    ),
    _Parameter(
        re.compile(r"\btemperature\b", re.IGNORECASE),
        lambda accepted, body: "temperature" in body,
        lambda accepted: replace(accepted, temperature=False),
    ),
    _Parameter(
        re.compile(r"\bmax_(?:completion_)?tokens\b", re.IGNORECASE),
        lambda accepted, body: len(accepted.limits) > 1,
        lambda accepted: replace(accepted, limits=accepted.limits[1:]),
    ),
    _Parameter(
        re.compile(r"response_format|json_schema|json_object|schema|grammar|structured|output_(?:config|format)"
                   r"|\btools?\b|tool_choice", re.IGNORECASE),
        lambda accepted, body: bool(accepted.formats) and not body.keys().isdisjoint(_FORMAT_KEYS),
        lambda accepted: replace(accepted, formats=accepted.formats[1:]),
        any_reason=True,
    ),
)  # fmt: skip
