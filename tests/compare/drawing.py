"""Scores drawn from known distributions, so that what a decision says can be held against what is true."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# How often each of 1 to 5 is given.
SHARES = {
    "uniform": (0.20, 0.20, 0.20, 0.20, 0.20),
    "skewed": (0.05, 0.10, 0.15, 0.30, 0.40),
    "ceiling": (0.02, 0.03, 0.05, 0.20, 0.70),
}
CONTINUOUS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "triangular": lambda rng, shape: rng.random(shape) - rng.random(shape),
    "long-tailed": lambda rng, shape: rng.laplace(size=shape),
}


def scores(name: str, rng: np.random.Generator, samples: int, repeats: int = 1) -> Floats:
    """One row per sample; repeats of a sample differ by a point now and then."""
    truth = rng.choice(np.arange(1.0, 6.0), size=samples, p=SHARES[name])
    if repeats == 1:
        return truth[:, np.newaxis]
    noise = rng.choice([-1.0, 0.0, 1.0], size=(samples, repeats), p=(0.2, 0.6, 0.2))
    given: Floats = np.clip(truth[:, np.newaxis] + noise, 1, 5)
    return given


# A hidden quality is graded at these cuts; the treatment's centre lies so far below the control's, which is 0, that the
# true difference of the grades is half the standard deviation of their differences. The cuts give the shares above.
HIDDEN: dict[str, tuple[float, tuple[float, ...]]] = {
    "normal": (-0.70711, ()),
    "uniform": (-0.74851, (-0.84162, -0.25335, 0.25335, 0.84162)),
    "skewed": (-0.74435, (-1.64485, -1.03643, -0.52440, 0.25335)),
    "ceiling": (-0.83889, (-2.05375, -1.64485, -1.28155, -0.52440)),
}


def half_a_deviation_worse(name: str, rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Differences of a treatment that is worse by half the standard deviation of the differences."""
    centre, cuts = HIDDEN[name]
    treatment, control = rng.normal(centre, 1, size=shape), rng.normal(size=shape)
    return _graded(treatment, cuts) - _graded(control, cuts)


def _graded(quality: Floats, cuts: tuple[float, ...]) -> Floats:
    if not cuts:
        return quality
    return np.searchsorted(cuts, quality.ravel(), side="right").reshape(quality.shape).astype(np.float64) + 1
