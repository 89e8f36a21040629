"""How long a test may look: seconds in `make test`, minutes in `make soak`."""

import math
import os

SOAK = bool(os.environ.get("EVENHAND_SOAK"))


def often(short: int, long: int) -> int:
    """How many times something is tried."""
    return long if SOAK else short


def at_most(share: float, tries: int) -> float:
    """A share that a rate of at most `share` exceeds by chance in one of a thousand simulations."""
    return share + 3.1 * math.sqrt(share * (1 - share) / tries)


def at_least(share: float, tries: int) -> float:
    """A share that a rate of at least `share` falls short of by chance in one of a thousand simulations."""
    return share - 3.1 * math.sqrt(share * (1 - share) / tries)
