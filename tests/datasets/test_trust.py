"""Wrong decisions at a gate from few labels, on recorded judges and experts: intervals cover what all labels say."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from evenhand.stats.rates import RateInterval, exact_share_interval
from tests.datasets.verdicts import CRITERIA, JUDGES, experts, judge
from tests.soak import SOAK, at_least, often

TRIES = often(100, 2_000)
GATE = 4.0


@pytest.mark.parametrize("labelled", [20, 40, 80])
@pytest.mark.parametrize("name", JUDGES if SOAK else ["letters"])
def test_wrong_passes_and_wrong_fails_are_covered(shared: Path, name: str, labelled: int) -> None:
    """Of 1,200 summaries some are labelled at random: 93% at least for both kinds of error on each criterion."""
    people, judged = experts(shared), judge(shared, name)
    rng = np.random.default_rng(labelled)
    for criterion in CRITERIA:
        keys = [key for key in sorted(people) if key[1] == criterion]
        truth, decided = (np.concatenate([np.array(side[key]) for key in keys]) >= GATE for side in (people, judged))
        for kind in (False, True):
            all_of_kind = (decided != truth)[truth == kind]
            if len(all_of_kind) < 50:
                continue
            covered = tried = 0
            for _ in range(TRIES):
                drawn = rng.permutation(len(truth))[:labelled]
                wrong = (decided != truth)[drawn][truth[drawn] == kind]
                if len(wrong):
                    share = _bound_share(int(wrong.sum()), len(wrong))
                    covered += share.low - 1e-9 <= all_of_kind.mean() <= share.high + 1e-9
                    tried += 1

            assert covered / tried >= at_least(0.93, tried), (criterion, kind)


@cache
def _bound_share(wrong: int, of: int) -> RateInterval:
    return exact_share_interval([1.0] * wrong + [0.0] * (of - wrong))
