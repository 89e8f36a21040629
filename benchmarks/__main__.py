"""Measures scoring and start-up in one run, beside what they are compared with, and says which targets hold."""

import sys

from benchmarks.scoring import measure_scoring
from benchmarks.startup import measure_startup


def main() -> int:
    """Print every figure with its target; 1 when one is missed."""
    figures = [*measure_scoring(), *measure_startup()]
    for figure in figures:
        print(figure)
    missed = sum(not figure.holds for figure in figures)
    print(f"{len(figures) - missed} of {len(figures)} targets hold")
    return 1 if missed else 0


sys.exit(main())
