"""What was measured about one treatment against the control: everything the rules look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evenhand.stats import Agreement, Difference, Mcnemar, PowerBand, Saturation, Undefined

ALPHA = 0.05
NEARLY = 1e-9  # A mean that is on its gate on paper is on it.


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerFacts:
    """One layer: the paired difference, and both means against the gate. `p_held` is adjusted over the layers."""

    difference: Difference | None
    p_held: float
    gate: float
    control_mean: float | None
    treatment_mean: float | None

    @property
    def worse(self) -> bool:
        """Significantly lower, on its own."""
        return self.difference is not None and self.difference.estimate < 0 and self.difference.p < ALPHA

    @property
    def worse_among_all(self) -> bool:
        """Significantly lower even as one of several layers that were looked at."""
        return self.worse and self.p_held < ALPHA

    @property
    def below(self) -> bool:
        """The treatment's mean does not reach the gate."""
        return self.treatment_mean is not None and self.treatment_mean < self.gate - NEARLY

    @property
    def fell(self) -> bool:
        """The control's mean reached the gate and the treatment's does not."""
        return self.below and self.control_mean is not None and self.control_mean >= self.gate - NEARLY


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """How far the judges of one variant agree: correlation of pairs, and α where there are three or more."""

    judges: int
    pearson: Agreement | Undefined
    alpha: Agreement | Undefined | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One treatment against the control, measured. `dropped` counts rows that the treatment alone has no score for."""

    treatment: str
    control: str
    pairs: int
    lost: Mcnemar
    dropped: int
    wins: int
    ties: int
    losses: int
    composite: Difference | None
    p: float | None
    tests: int
    layers: Mapping[str, LayerFacts]
    power: PowerBand | None
    needed: int
    saturation: Saturation | None
    agreed: Mapping[str, Agreed]

    @property
    def significant(self) -> bool:
        """Whether the composite differs, counting that several treatments were tried."""
        return self.p is not None and self.p < ALPHA

    @property
    def better(self) -> bool:
        """Significantly higher."""
        return self.significant and self.composite is not None and self.composite.estimate > 0

    @property
    def worse(self) -> bool:
        """Significantly lower."""
        return self.significant and self.composite is not None and self.composite.estimate < 0
