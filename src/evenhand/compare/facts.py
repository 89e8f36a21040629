"""What was measured about one treatment against the control: everything the rules look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf

from evenhand.compare.decision import GateSamples, GateState
from evenhand.stats.arrays import CountedPer, Undefined
from evenhand.stats.differences import Difference
from evenhand.stats.power import LEAST_NEEDED, PowerBand, Saturation
from evenhand.stats.rates import Mcnemar
from evenhand.stats.ratings import Agreement
from evenhand.wording import format_p_value, format_plural, format_rounded, word_layer, word_layers

SIGNIFICANCE_LEVEL = 0.05
JUDGE_LAYER = "judge"  # The layer that judges fill.
GATE_TOLERANCE = 1e-9  # A mean that is on its gate on paper is on it.


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedLayer:
    """A layer's mean over the outputs that have it, and what it would be with the lowest score for each that has not.

    The two are equal where no output is `missing`.
    """

    mean: float | None
    lowest: float | None
    missing: int = 0

    def passes_gate(self, gate: float) -> bool | None:
        """Whether the gate is reached; None where nothing was measured, or where it depends on missing scores."""
        if self.mean is None or self.lowest is None:
            return None
        if self.mean < gate - GATE_TOLERANCE:
            return False
        return True if self.lowest >= gate - GATE_TOLERANCE else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedVariantJudges:
    """The difference by the judges that scored both outputs of a sample, where not all judges did.

    `samples` counts those whose outputs were not scored by the same judges; `p` is adjusted over all treatments.
    """

    judges: tuple[str, ...]
    samples: int
    difference: Difference | None
    p: float

    @property
    def significant(self) -> bool:
        """Whether they see a difference, surely."""
        return self.difference is not None and self.p < SIGNIFICANCE_LEVEL

    @property
    def better(self) -> bool:
        """Whether they score the treatment significantly higher."""
        return self.significant and self.difference is not None and self.difference.estimate > 0

    @property
    def worse(self) -> bool:
        """Whether they score it significantly lower."""
        return self.significant and self.difference is not None and self.difference.estimate < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionPicks:
    """A judge of pairs that follows the position above chance: in how many of its pairs, over all variants.

    `share` is what these answers, which count as ties, make up of all about a treatment and the control.
    """

    judge: str
    pairs: int
    followed: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedLayerFacts:
    """One layer: the paired difference, and what both reached of the gate. `p_held` is adjusted over all layers."""

    difference: Difference | None
    p_held: float
    gate: float
    control: ReachedLayer
    treatment: ReachedLayer
    power: PowerBand | None = None
    saturation: Saturation | None = None
    short: GateSamples | None = None  # Of the treatment's samples, where it is below the gate.
    shared_judges: SharedVariantJudges | None = None  # Of the judge layer, where not the same judges scored both.

    @property
    def worse(self) -> bool:
        """Significantly lower, on its own."""
        return self.difference is not None and self.difference.estimate < 0 and self.difference.p < SIGNIFICANCE_LEVEL

    @property
    def worse_among_all(self) -> bool:
        """Significantly lower even as one of several layers that were looked at."""
        sure = self.worse and self.p_held < SIGNIFICANCE_LEVEL
        return sure and (self.shared_judges is None or self.shared_judges.worse)

    @property
    def below(self) -> bool:
        """The treatment's mean does not reach the gate."""
        return self.treatment.passes_gate(self.gate) is False

    @property
    def open(self) -> bool:
        """Whether the treatment reaches the gate depends on outputs without a score."""
        return self.treatment.mean is not None and self.treatment.passes_gate(self.gate) is None

    @property
    def fell_below_gate(self) -> bool:
        """The control's mean reached the gate and the treatment's does not."""
        return self.below and self.control.mean is not None and self.control.passes_gate(self.gate) is not False


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAgreement:
    """How far the judges of one variant agree: correlation of pairs, and α where there are three or more."""

    judges: int
    pearson: Agreement | Undefined
    alpha: Agreement | Undefined | None
    normalised: bool | None = None  # By `normalise: z`; None where a judge scores too few outputs for it.


@dataclass(frozen=True, slots=True, kw_only=True)
class NotWorseResult:
    """Whether the treatment is not worse by more than `by`: a one-sided lower bound at this level lies above −`by`."""

    by: float
    low: float
    level: float
    holds: bool
    needed: int = 0  # The least number of samples that could show it; earlier versions did not say.

    def lower_by(self, points: float) -> NotWorseResult:
        """The same where the difference may be off by so much."""
        low = self.low - points
        return replace(self, low=low, holds=self.holds and low > -self.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossShare:
    """Losses of so many points that may make up a share of the samples; without a share they are only told."""

    points: float = 2.0
    share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeTreatmentLosses:
    """How many samples, or clusters, lost at least so many points, and the share that such losses may still have."""

    points: float
    seen: int
    upper: float
    allowed: float | None

    @property
    def too_many(self) -> bool:
        """They could still make up more than was allowed."""
        return self.allowed is not None and self.upper > self.allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedLayersTogether:
    """Whether the layers moved at all, in one test; without a p-value `why_not` says why there is none."""

    layers: tuple[str, ...]
    t2: float | None
    f: float | None
    df: tuple[int, ...]
    p: float | None
    n: int
    method: str
    why_not: str = ""
    # Layers that moved by the same amount in every pair: the test needs scatter, and says nothing about them.
    left_out: tuple[str, ...] | None = field(default=None, metadata={"only_if_set": True})

    @property
    def significant(self) -> bool:
        """Whether they did, surely."""
        return self.p is not None and self.p < SIGNIFICANCE_LEVEL


def compared_layers_reason(found: ComparedLayersTogether | None) -> tuple[str, ...]:
    """What the test of all layers together came to, as a reason; nothing where nobody asked for it."""
    if found is None:
        return ()
    left = tuple(
        f"{word_layer(name).capitalize()} is not in that test: it differs by the same amount in every pair."
        for name in found.left_out or ()
    )
    if found.p is None or found.t2 is None or found.f is None:
        return (f"The layers could not be tested together: {found.why_not}.", *left)
    f = f"F({found.df[0]}, {found.df[1]}) = {format_rounded(found.f, 2)}"
    which = f"{'Layers' if left else 'All layers'} together ({word_layers(found.layers)})"
    return (f"{which}: T² = {format_rounded(found.t2, 2)}, {f}, {format_p_value(found.p)}.", *left)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedClusters:
    """How the samples fall into clusters, and what the difference is by either way of counting.

    `largest_share` is what the largest cluster counts of the whole; `per` says what counts once: samples or clusters.
    """

    count: int
    per: CountedPer
    largest_share: float
    mean_over_samples: float
    mean_over_clusters: float

    @property
    def means_disagree(self) -> bool:
        """Whether samples and clusters, each counted once, say opposite things."""
        return self.mean_over_samples * self.mean_over_clusters < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceHistogram:
    """How the differences are spread: bars between edges, and the mean of them all."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareFacts:
    """One treatment against the control, measured. `dropped` counts rows that the treatment alone has no score for.

    `other_gates` are those that the treatment is held to beside the gates of the layers.
    """

    what: str  # The composite, or the layer that stands alone.
    treatment: str
    control: str
    samples: int  # All of them, scored or not.
    pairs: int
    lost: Mcnemar
    dropped: int
    wins: int
    ties: int
    losses: int
    composite: Difference | None
    p: float | None
    tests: int
    layers: Mapping[str, ComparedLayerFacts]
    power: PowerBand | None
    smallest_effect: float
    saturation: Saturation | None
    agreed: Mapping[str, JudgeAgreement]
    aligned: Agreement | Undefined | None
    criteria: Mapping[str, Difference | None]
    spread: DifferenceHistogram | None
    not_worse: NotWorseResult | None
    other_gates: tuple[GateState, ...] = ()
    together: ComparedLayersTogether | None = None  # Where a test of all layers together was asked for.
    clusters: ComparedClusters | None = None  # Where samples are in clusters.
    large_losses: LargeTreatmentLosses | None = None
    shared_judges: SharedVariantJudges | None = None  # Where not the same judges scored both outputs of some samples.
    picks: tuple[PositionPicks, ...] = ()  # Judges of pairs that follow the position.
    judge_share: float = 1.0  # What the rubric layer counts in the composite.
    span: float | None = None  # Between the ends of the scale, where it has some.

    def facts_of_layer(self, name: str) -> CompareFacts:
        """The same for one layer alone, its p adjusted as one of several that are looked at."""
        layer = self.layers[name]
        if layer.difference:
            layer = replace(layer, difference=replace(layer.difference, p=layer.p_held))
        return replace(
            self,
            what=f"{word_layer(name)} layer",
            pairs=(self.pairs if self.clusters else layer.difference.n) if layer.difference else 0,
            composite=layer.difference,
            p=layer.p_held if layer.difference else None,
            tests=1,
            layers={name: layer},
            power=layer.power,
            saturation=layer.saturation,
            agreed=self.agreed if name == JUDGE_LAYER else {},
            not_worse=None,
            other_gates=(),
            together=None,
            large_losses=None,
            shared_judges=layer.shared_judges,
            picks=self.picks if name == JUDGE_LAYER else (),
            judge_share=1.0,
        )

    @property
    def hidden(self) -> float:
        """How many points the difference may be off, to either side, as answers by position decided nothing.

        Each counts as a tie, and lies half the scale from what it would be had it been decided.
        """
        share = sum(one.share for one in self.picks) * self.judge_share
        return 0.0 if not share else inf if self.span is None else share * self.span / 2

    @property
    def hides_effect(self) -> bool:
        """Whether a difference that matters could be hidden by answers that went by position."""
        if not self.hidden or self.composite is None:
            return False
        low, high = self.composite.low - self.hidden, self.composite.high + self.hidden
        return does_treatment_effect_reach(replace(self.composite, low=low, high=high), self.smallest_effect)

    @property
    def needed(self) -> int:
        """Pairs that show `smallest_effect` four times out of five: for planning, it decides nothing."""
        return LEAST_NEEDED if self.power is None else self.power.needed

    @property
    def units(self) -> int:
        """How many independent observations there are: clusters, or pairs where these stand for themselves."""
        return self.clusters.count if self.clusters else self.pairs

    @property
    def unit(self) -> str:
        """What an independent observation is called."""
        return "cluster" if self.clusters else "sample"

    @property
    def counted_pairs(self) -> str:
        """How many pairs there are, and in how many clusters."""
        within = f" in {format_plural(self.clusters.count, 'cluster')}" if self.clusters else ""
        return f"{format_plural(self.pairs, 'pair')}{within}"

    @property
    def few(self) -> bool:
        """Fewer independent pairs than a verdict takes, unless the whole interval matters."""
        return self.units < LEAST_NEEDED

    @property
    def reaches_effect(self) -> bool:
        """The interval still holds a difference that would matter, to either side."""
        return self.composite is None or self.open_difference is not None

    @property
    def open_difference(self) -> Difference | None:
        """The difference whose interval does: of all judges, or of those that scored both."""
        shared = self.shared_judges.difference if self.shared_judges else None
        measured = (one for one in (self.composite, shared) if one is not None)
        return next((one for one in measured if does_treatment_effect_reach(one, self.smallest_effect)), None)

    @property
    def powered(self) -> bool:
        """Enough pairs to trust a difference, or an interval that holds nothing but differences that matter."""
        return not self.few or (
            self.composite is not None and is_treatment_difference_beyond(self.composite, self.smallest_effect)
        )

    @property
    def significant(self) -> bool:
        """Whether the composite differs, counting that several treatments were tried."""
        return self.p is not None and self.p < SIGNIFICANCE_LEVEL

    @property
    def better(self) -> bool:
        """Significantly higher."""
        return self.significant and self.composite is not None and self.composite.estimate > 0

    @property
    def worse(self) -> bool:
        """Significantly lower."""
        return self.significant and self.composite is not None and self.composite.estimate < 0

    @property
    def shared_judges_disagree(self) -> bool:
        """Whether the judges that scored both outputs do not bear out what all judges together say."""
        shared = self.shared_judges
        if shared is None:
            return False
        return shared.difference is None or (shared.better, shared.worse) != (self.better, self.worse)


def does_treatment_effect_reach(found: Difference, effect: float) -> bool:
    """Whether an interval still holds a difference of this size or more, in either direction."""
    return found.low <= GATE_TOLERANCE - effect or found.high >= effect - GATE_TOLERANCE


def is_treatment_difference_beyond(found: Difference, effect: float) -> bool:
    """Whether all of an interval is at least so far from 0."""
    return found.low >= effect - GATE_TOLERANCE or found.high <= GATE_TOLERANCE - effect


def adjusted_treatments_p_value_text(facts: CompareFacts) -> str:
    """What is said behind the p-value of a difference where several treatments were tried."""
    if facts.composite is None or facts.p is None or facts.tests == 1:
        return ""
    return f"; {format_p_value(facts.p, at_most=facts.composite.p_at_most)} adjusted for {facts.tests} treatments"
