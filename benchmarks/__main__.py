"""Measures judging, rewards, runs, reports, scoring, start-up, guards, statistics, the embedded judge and the service:
which targets hold.
"""

import sys

from benchmarks.agreement import measure_agreement
from benchmarks.cascade import measure_cascades
from benchmarks.comparing import measure_comparing
from benchmarks.embedded import measure_embedded
from benchmarks.few_labels import measure_few_labels
from benchmarks.guards import measure_guards
from benchmarks.judging import measure_judging
from benchmarks.label_coverage import measure_label_coverage
from benchmarks.learning import measure_alignment_promises, measure_drift_promises
from benchmarks.paraphrase import measure_paraphrase_check
from benchmarks.report import measure_report
from benchmarks.rewards import measure_rewards
from benchmarks.runs import measure_runs
from benchmarks.scoring import measure_scoring
from benchmarks.sensitivity import measure_sensitivity
from benchmarks.service import measure_service
from benchmarks.startup import measure_startup
from benchmarks.what_if import measure_what_if_page
from benchmarks.workbench import measure_workbench

MEASURES = (
    measure_judging,
    measure_rewards,
    measure_scoring,
    measure_startup,
    measure_guards,
    measure_paraphrase_check,
    measure_embedded,
    measure_report,
    measure_agreement,
    measure_few_labels,
    measure_label_coverage,
    measure_cascades,
    measure_alignment_promises,
    measure_drift_promises,
    measure_sensitivity,
    measure_comparing,
    measure_runs,
    measure_service,
    measure_what_if_page,
    measure_workbench,
)


def main() -> int:
    """Print every figure with its target as it comes; 1 when one is missed."""
    figures = []
    for measure in MEASURES:
        for figure in measure():
            print(figure, flush=True)
            figures.append(figure)
    missed = sum(not figure.holds for figure in figures)
    print(f"{len(figures) - missed} of {len(figures)} targets hold")
    return 1 if missed else 0


sys.exit(main())
