"""Panels whose biases are known because they were planted."""

from dataclasses import dataclass

import numpy as np

from evenhand.runs.columns import RunTable
from tests.calibrate.audited import rubric, table

JUDGES = ("openai/gpt-x", "anthropic/claude-x", "ollama/llama-x")
VARIANTS = ("gpt", "claude")
MAKERS = {"gpt": "openai/gpt-y", "claude": "anthropic/claude-y"}


@dataclass(frozen=True, kw_only=True)
class Planted:
    """What the first judge does beside judging: points of score; `length` is per 100 characters."""

    position: float = 0.0
    length: float = 0.0
    own: float = 0.0
    harsh: float = 0.0


def panel(planted: Planted, seed: int, *, samples: int = 60, repeats: int = 1, noise: float = 0.4) -> RunTable:
    """Three judges that see one quality through a little noise; the second variant is better by half a point."""
    rng = np.random.default_rng(seed)
    shape = (samples, 2, repeats)
    length = rng.integers(200, 1200, (samples, 2, 1)) * np.ones(shape)
    quality = 5.5 + rng.normal(0, 1, (samples, 1, 1)) + rng.normal(0, 0.5, shape) + np.array([0, 0.5])[:, None]
    judgments, seats = {}, {}
    for place, judge in enumerate(JUDGES):
        first = rng.integers(0, 2, (samples, 1, repeats)) == np.arange(2)[:, None]
        seats[judge] = np.where(first, 1, 2)
        shift = np.zeros(shape)
        if place == 0:
            shift += planted.position * first + planted.length * length / 100 - planted.harsh
            shift[:, 0] += planted.own
        for criterion in rubric().leaves:
            judgments[judge, criterion] = np.clip(quality + shift + rng.normal(0, noise, shape), 1, 10)
    return table(judgments, variants=VARIANTS, length=length, seats=seats)
