"""The rules that make a verdict, in order: the first that fits decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isinf

from evenhand.compare._decision import Verdict
from evenhand.compare._facts import ALPHA, Agreed, Facts
from evenhand.compare._words import chance, difference, how_often, listed, number, plural, points, probability, signed
from evenhand.stats import LEAST_NEEDED, Agreement, Difference

FEWEST_PAIRS = 5
LOST_ALPHA = 0.01
LEAST_AGREEMENT = 0.4
UNDECIDED: tuple[Verdict, ...] = ("NOISE", "UNDERPOWERED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A verdict, the rule that made it, why, and what to do next; `sure` where not the composite decided."""

    verdict: Verdict
    rule: str
    says: str
    why: tuple[str, ...]
    next_step: str
    sure: str = ""


def ruling(facts: Facts) -> Ruling:
    """The first rule that fits."""
    rules: tuple[Callable[[Facts], Ruling | None], ...] = (_lost, _too_few, _lower, _fell, _no_difference)
    return next(filter(None, (rule(facts) for rule in rules)), None) or _higher(facts)


def with_margin(facts: Facts, found: Ruling) -> Ruling:
    """A treatment that cannot be told from the control may still be shown not to be worse by more than was asked."""
    asked = facts.not_worse
    if asked is None or found.verdict not in UNDECIDED:
        return found
    level, low = f"{asked.level * 100:.4g} %", "no lower end" if isinf(asked.low) else signed(asked.low)
    if not asked.holds:
        why = f"It may be worse by more than {asked.by:g} points: the lower end of its {level} interval is {low}."
        return replace(found, why=(*found.why, why))
    return replace(
        found,
        says=f"{found.says}, and is not worse by more than {asked.by:g} points",
        why=(
            *found.why,
            f"Not worse by more than {asked.by:g}: the lower end of its {level} interval is {low}.",
            f"Losses in fewer than {_unseen(facts.pairs)} of the samples may have gone unseen.",
        ),
        next_step=f"Ship {facts.treatment} if it is cheaper, faster or simpler.",
    )


def _unseen(pairs: int) -> str:
    """The share below which something that strikes samples at random is missed by all of them in 1 of 20 tries."""
    return f"{100 * (1 - ALPHA ** (1 / pairs)):.2g} %"


def disagreeing(agreed: Agreed) -> bool:
    """Whether the judges of a variant contradict each other; judges without spread cannot."""
    return isinstance(agreed.pearson, Agreement) and agreed.pearson.value < LEAST_AGREEMENT - 1e-9


def _lost(facts: Facts) -> Ruling | None:
    if facts.lost.p >= LOST_ALPHA:
        return None
    why = (
        f"{facts.treatment} has no score for {plural(facts.lost.lost_by_treatment, 'sample')} that {facts.control} has "
        f"one for; the other way round it is {facts.lost.lost_by_control:,} ({probability(facts.lost.p)})."
    )
    return Ruling(
        verdict="REGRESS",
        rule="2. the treatment lost outputs",
        says=f"{facts.treatment} lost outputs that {facts.control} has",
        why=(why,),
        next_step=f"Find out why {facts.treatment} fails on those samples, then compare again.",
        sure=f"If both lost outputs equally often, so many losses on one side would come up in "
        f"{how_often(facts.lost.p)} ({probability(facts.lost.p)}).",
    )


def _too_few(facts: Facts) -> Ruling | None:
    if facts.pairs >= FEWEST_PAIRS:
        return None
    return Ruling(
        verdict="UNDERPOWERED",
        rule="3. fewer than 5 pairs",
        says=f"{plural(facts.pairs, 'pair')} cannot compare {facts.treatment} with {facts.control}",
        why=(f"Below {FEWEST_PAIRS} pairs nothing is significant.",),
        next_step=f"Score at least {max(facts.needed, LEAST_NEEDED):,} samples with both variants.",
    )


def _lower(facts: Facts) -> Ruling | None:
    if not facts.worse:
        return None
    return Ruling(
        verdict="REGRESS",
        rule=f"4. the {facts.what} is significantly lower",
        says=f"{facts.treatment} is worse than {facts.control} ({points(facts.composite)})",
        why=(f"The {facts.what} is significantly lower.",),
        next_step=f"Do not ship {facts.treatment}; look first at the samples that lost most.",
    )


def _fell(facts: Facts) -> Ruling | None:
    fallen = {name: layer for name, layer in facts.layers.items() if layer.fell}
    if not fallen:
        return None
    why = tuple(
        f"Layer {name} fell below its gate of {number(layer.gate)}: from {number(layer.control_mean)} to "
        f"{number(layer.treatment_mean)} ({difference(layer.difference)})."
        for name, layer in fallen.items()
    )
    sure = [name for name, layer in fallen.items() if layer.worse_among_all]
    if sure:
        return Ruling(
            verdict="REGRESS",
            rule="5. a layer fell below its gate, significantly",
            says=f"{facts.treatment} fell below the gate in {listed(sure)}",
            why=why,
            next_step=f"Do not ship {facts.treatment}; repair {listed(sure)} first.",
            sure=chance(fallen[sure[0]].difference, f"the two were equal in {sure[0]}"),
        )
    return Ruling(
        verdict="CAUTIOUS",
        rule="5. a layer fell below its gate, not significantly",
        says=f"{facts.treatment} fell below the gate in {listed(fallen)}, which may be chance",
        why=why,
        next_step=f"Look at {listed(fallen)} before shipping, or add samples to see whether the fall is real.",
        sure=chance(next(iter(fallen.values())).difference, f"the two were equal in {next(iter(fallen))}"),
    )


def _no_difference(facts: Facts) -> Ruling | None:
    """Rule 6, whose first half holds back and whose second says whether more samples would help."""
    if facts.better:
        return None
    worse = {name: layer.difference for name, layer in facts.layers.items() if layer.worse}
    if not worse:
        return _too_small(facts) or _unsettled(facts) or _noise(facts)
    return Ruling(
        verdict="CAUTIOUS",
        rule=f"6. the {facts.what} does not differ, but a layer is significantly lower",
        says=f"{facts.treatment} is lower than {facts.control} in {listed(worse)}",
        why=(
            _same(facts),
            *(f"Layer {name} is significantly lower: {difference(found)}." for name, found in worse.items()),
        ),
        next_step=f"Look at what {facts.treatment} lost in {listed(worse)} before shipping.",
        sure=chance(next(iter(worse.values())), f"the two were equal in {next(iter(worse))}"),
    )


def _lower_layer(name: str, found: Difference | None) -> str:
    return f"Layer {name} is significantly lower: {difference(found)}."


def _same(facts: Facts) -> str:
    return f"The {facts.what} does not differ significantly."


def _too_small(facts: Facts) -> Ruling | None:
    if facts.pairs >= facts.needed:
        return None
    return Ruling(
        verdict="UNDERPOWERED",
        rule=f"6. the {facts.what} does not differ, and the samples are too few to see it",
        says=f"{plural(facts.pairs, 'pair')} cannot tell {facts.treatment} from {facts.control} "
        f"({points(facts.composite)})",
        why=(_same(facts), _band(facts)),
        next_step=f"Score {plural(facts.needed - facts.pairs, 'more sample')} with both variants.",
    )


def _unsettled(facts: Facts) -> Ruling | None:
    found = facts.saturation
    if found is None or not found.low_confidence:
        return None
    why = "There are too few samples to see whether the interval has settled."
    if found.changed is not None and found.moved is not None:
        why = (
            "Of the last three tenths of the samples one still changed the interval's width by "
            f"{found.changed * 100:.1f} %, and together they moved the estimate by {found.moved * 100:.1f} % of its "
            "half-width; settled is below 10 % and below 50 %."
        )
    return Ruling(
        verdict="UNDERPOWERED",
        rule=f"6. the {facts.what} does not differ, and the interval is not saturated",
        says=f"{facts.treatment} cannot yet be told from {facts.control} ({points(facts.composite)})",
        why=(_same(facts), why, *_ruled_out(facts)),
        next_step=_keep(facts) if _ruled_out(facts) else "Add samples until the interval settles.",
    )


def _noise(facts: Facts) -> Ruling:
    return Ruling(
        verdict="NOISE",
        rule=f"6. the {facts.what} does not differ",
        says=f"{facts.treatment} cannot be told from {facts.control} ({points(facts.composite)})",
        why=(_same(facts), *(_ruled_out(facts) or _would_be_seen(facts))),
        next_step=_keep(facts),
    )


def _ruled_out(facts: Facts) -> tuple[str, ...]:
    """Said where the interval holds no difference that matters, to either side."""
    found, matters = facts.composite, facts.smallest_effect
    if found is None or not -matters < found.low <= found.high < matters:
        return ()
    return (f"The interval rules out a difference of {matters:g} points or more.",)


def _would_be_seen(facts: Facts) -> tuple[str, ...]:
    return (f"A difference of {facts.smallest_effect:g} points would have been seen four times out of five.",)


def _keep(facts: Facts) -> str:
    return (
        f"Keep the cheaper of the two; to see a difference below {facts.smallest_effect:g} points takes more samples "
        "(evenhand compare RUN --power)."
    )


def _higher(facts: Facts) -> Ruling:
    """Rule 7: all that speaks against shipping is told, the first of it decides."""
    why = f"The {facts.what} is significantly higher."
    says = f"{facts.treatment} is better than {facts.control} ({points(facts.composite)})"
    held = [one for one in (_layer_low(facts), _dropped(facts), _judges_differ(facts), _small(facts)) if one]
    if not held:
        return Ruling(
            verdict="PROGRESS",
            rule=f"7. the {facts.what} is significantly higher, and nothing speaks against it",
            says=says,
            why=(why,),
            next_step=f"Ship {facts.treatment}.",
        )
    return Ruling(
        verdict="CAUTIOUS",
        rule=f"7. the {facts.what} is significantly higher, but {held[0].what}",
        says=f"{says}, but {held[0].what}",
        why=(why, *(reason for one in held for reason in one.reasons)),
        next_step=held[0].next_step,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """One thing that speaks against shipping a treatment that scored higher."""

    what: str
    reasons: tuple[str, ...]
    next_step: str


def _layer_low(facts: Facts) -> _Held | None:
    low = {name: layer for name, layer in facts.layers.items() if layer.below or layer.worse}
    if not low:
        return None
    reasons = tuple(
        f"Layer {name} is below its gate: {number(layer.treatment_mean)}, and {number(layer.gate)} is asked."
        if layer.below
        else _lower_layer(name, layer.difference)
        for name, layer in low.items()
    )
    return _Held(what="a layer is low", reasons=reasons, next_step=f"Bring {listed(low)} up before shipping.")


def _dropped(facts: Facts) -> _Held | None:
    if not facts.dropped:
        return None
    lost = plural(facts.dropped, "output")
    return _Held(
        what="the treatment lost outputs",
        reasons=(f"{lost} of {facts.treatment} alone could not be scored, and left the comparison.",),
        next_step=f"Get a score for every output of {facts.treatment}, then compare again.",
    )


def _judges_differ(facts: Facts) -> _Held | None:
    apart = [(name, one.pearson) for name, one in facts.agreed.items() if disagreeing(one)]
    reasons = tuple(
        f"The judges of {name} disagree: mean correlation {number(found.value)}, below {LEAST_AGREEMENT}."
        for name, found in apart
        if isinstance(found, Agreement)
    )
    step = "Read the outputs the judges differ most on, and sharpen the rubric or change a judge."
    return _Held(what="the judges disagree", reasons=reasons, next_step=step) if reasons else None


def _small(facts: Facts) -> _Held | None:
    if facts.pairs >= facts.needed:
        return None
    step = f"Score {plural(facts.needed - facts.pairs, 'more sample')} with both variants to confirm it."
    return _Held(what="the samples are few", reasons=(_band(facts),), next_step=step)


def _band(facts: Facts) -> str:
    """Why it takes so many samples."""
    pairs = plural(facts.pairs, "pair")
    if facts.power is None or facts.needed == LEAST_NEEDED:
        return f"{pairs}, and the power band begins at {LEAST_NEEDED}."
    return (
        f"{pairs}; with differences this scattered (standard deviation {number(facts.power.sd)}) it takes "
        f"{facts.needed:,} to see a difference of {facts.power.smallest_effect:g} points four times out of five."
    )
