"""Regular expressions that cannot hang a run: refused where they grow too large, stopped after half a second."""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod

import regex

from evenhand.errors import InputError

LONGEST_PATTERN_SEARCH = 0.5  # Seconds.
LONGEST_PATTERN = 10_000
# The compiler writes counted repeats out: a{100} inside {100} inside {100} is a million.
MOST_PATTERN_REPEATS = 100_000

_PATTERN_PIECE = re.compile(
    r"""\\. | \[\^?\]?(?:\\.|[^\]\\])*\] | (?P<open>\() | (?P<close>\))
      | \{(?P<least>\d*)(?:,(?P<most>\d*))?\} | .""",
    re.VERBOSE | re.DOTALL,
)
_COMMENTED_PATTERN = re.compile(r"\(\?#|\(\?[a-zA-Z]*x")


class CheckLimitExceeded(Exception):  # noqa: N818
    """No answer within bounds, and why."""


def search_asserted_pattern(pattern: regex.Pattern[str], text: str) -> regex.Match[str] | None:
    """The first match of a pattern, within bounds."""
    try:
        return pattern.search(text, timeout=LONGEST_PATTERN_SEARCH)
    except TimeoutError:
        raise CheckLimitExceeded(f"took longer than {LONGEST_PATTERN_SEARCH} s on this output") from None
    except MemoryError:
        raise CheckLimitExceeded("took too much memory on this output") from None


@lru_cache(maxsize=1000)
def compile_assertion_pattern(pattern: str, ignore_case: bool = False) -> regex.Pattern[str]:
    """The pattern, ready to search with; or an error that says why it is none."""
    if len(pattern) > LONGEST_PATTERN:
        raise InputError(f"is longer than {LONGEST_PATTERN:,} characters")
    if _count_asserted_pattern_pieces(pattern) > MOST_PATTERN_REPEATS:
        raise InputError(f"repeats parts of itself more than {MOST_PATTERN_REPEATS:,} times in all")
    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except regex.error as problem:
        raise InputError(f"does not compile: {problem}") from None
    except (RecursionError, MemoryError, OverflowError, ValueError, IndexError, KeyError) as problem:
        raise InputError(f"cannot be used: {problem or type(problem).__name__}") from None


def _count_asserted_pattern_pieces(pattern: str) -> int:
    """How many pieces a pattern has once its counted repeats are written out, or more than that."""
    pieces = list(_PATTERN_PIECE.finditer(pattern))
    if _COMMENTED_PATTERN.search(pattern):  # A bracket in a comment opens nothing: take every repeat for a nested one.
        return len(pieces) * prod(max(1, _count_asserted_pattern_repeats(piece)) for piece in pieces)
    totals, last = [0], 0
    for piece in pieces:
        times = _count_asserted_pattern_repeats(piece)
        if piece["open"]:
            totals.append(0)
            last = 0
        elif piece["close"] and len(totals) > 1:
            last = totals.pop() + 1
            totals[-1] += last
        elif times:
            totals[-1] += last * (times - 1)
        else:
            last = 1
            totals[-1] += 1
    return sum(totals)


def _count_asserted_pattern_repeats(piece: re.Match[str]) -> int:
    """How often a piece like {2,5} repeats what stands before it; 0 for any other piece."""
    digits = [text for text in (piece["least"], piece["most"]) if text]
    return max((int(text[:12]) for text in digits), default=0)
