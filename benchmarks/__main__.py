"""Measures judging, scoring, start-up, the guards and the embedded judge in one run: which targets hold."""

import sys

from benchmarks.embedded import measure_embedded
from benchmarks.guards import measure_guards
from benchmarks.judging import measure_judging
from benchmarks.scoring import measure_scoring
from benchmarks.startup import measure_startup


def main() -> int:
    """Print every figure with its target; 1 when one is missed."""
    figures = [*measure_judging(), *measure_scoring(), *measure_startup(), *measure_guards(), *measure_embedded()]
    for figure in figures:
        print(figure)
    missed = sum(not figure.holds for figure in figures)
    print(f"{len(figures) - missed} of {len(figures)} targets hold")
    return 1 if missed else 0


sys.exit(main())
