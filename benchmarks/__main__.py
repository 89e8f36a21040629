"""Measures judging, scoring and start-up in one run, beside what they are compared with: which targets hold."""

import sys

from benchmarks.judging import measure_judging
from benchmarks.scoring import measure_scoring
from benchmarks.startup import measure_startup


def main() -> int:
    """Print every figure with its target; 1 when one is missed."""
    figures = [*measure_judging(), *measure_scoring(), *measure_startup()]
    for figure in figures:
        print(figure)
    missed = sum(not figure.holds for figure in figures)
    print(f"{len(figures) - missed} of {len(figures)} targets hold")
    return 1 if missed else 0


sys.exit(main())
