"""The four badges of the methodology audit, each with its number and what would turn it green."""

from __future__ import annotations

from evenhand.compare._decision import Badge, Colour
from evenhand.compare._facts import Agreed, Facts
from evenhand.compare._rules import LEAST_AGREEMENT, disagreeing
from evenhand.compare._words import difference, number, plural, probability
from evenhand.stats import AGREED, Agreement, Undefined, band

_COLOURS: tuple[Colour, ...] = ("green", "amber", "red")


def badges(facts: Facts) -> tuple[Badge, ...]:
    """Judges agree, difference significant, saturated, human-aligned."""
    return _judges_agree(facts), _significant(facts), _saturated(facts), human_aligned(facts.aligned)


def _judges_agree(facts: Facts) -> Badge:
    """The variant that its judges agree on least speaks for both."""
    seen = {name: agreed for name, agreed in facts.agreed.items() if isinstance(agreed.pearson, Agreement)}
    if not seen:
        why = next((found.pearson for found in facts.agreed.values()), None)
        says = "fewer than two judges" if why is None or isinstance(why, Agreement) else why.why
        return _badge("judges agree", "grey", None, says, "Ask a second judge, on outputs that differ.")
    name, agreed = max(seen.items(), key=lambda one: (_COLOURS.index(_colour(one[1])), -_pearson(one[1])))
    says = f"mean correlation {number(_pearson(agreed))} of {agreed.judges} judges on {name}"
    if isinstance(agreed.alpha, Agreement):
        says += f", Krippendorff's α {number(agreed.alpha.value)}"
    asked = f"a mean correlation of {LEAST_AGREEMENT}" + (f" and an α of {AGREED}" if agreed.alpha else "")
    return _badge(
        "judges agree",
        _colour(agreed),
        _pearson(agreed),
        says,
        f"Sharpen the rubric until the judges reach {asked}.",
    )


def _pearson(agreed: Agreed) -> float:
    assert isinstance(agreed.pearson, Agreement)
    return agreed.pearson.value


def _colour(agreed: Agreed) -> Colour:
    if disagreeing(agreed):
        return "red"
    return band(agreed.alpha.value) if isinstance(agreed.alpha, Agreement) else "green"


def _significant(facts: Facts) -> Badge:
    name = "difference significant"
    if facts.composite is None or facts.p is None:
        says = f"{plural(facts.pairs, 'pair')}: nothing to test"
        return _badge(name, "grey", None, says, "Score the same samples with both variants.")
    several = f"; {probability(facts.p)} adjusted for {facts.tests} treatments" if facts.tests > 1 else ""
    says = difference(facts.composite) + several
    return _badge(name, "green" if facts.significant else "red", facts.p, says, "Add samples, or make a larger change.")


def _saturated(facts: Facts) -> Badge:
    found = facts.saturation
    if found is None or found.changed is None:
        return _badge("saturated", "grey", None, "too few samples to tell", f"Score at least {facts.needed} samples.")
    width = _percent(found.changed)
    says = f"each of the last three tenths of the samples changed the interval's width by {width} at most"
    if found.moved is not None:
        says += f", all moved the estimate by {_percent(found.moved)} of its half-width"
    colour: Colour = "red" if found.low_confidence else "green"
    return _badge("saturated", colour, found.changed, says, "Add samples until these are below 10 % and 50 %.")


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def human_aligned(found: Agreement | Undefined | None) -> Badge:
    """How far panel and people agree; grey where there are no labels."""
    name = "human-aligned"
    if found is None:
        step = "Have people score some of the outputs: evenhand calibrate labels.jsonl RUN."
        return _badge(name, "grey", None, "no labels", step)
    if isinstance(found, Undefined):
        return _badge(name, "grey", None, found.why, "Have people score more of the outputs.")
    says = f"Krippendorff's α {number(found.value)} between panel and people, on {plural(found.n, 'output')}"
    advice = f"Sharpen the rubric, or choose judges by evenhand calibrate, until α reaches {AGREED}."
    return _badge(name, band(found.value), found.value, says, advice)


def _badge(name: str, colour: Colour, value: float | None, says: str, advice: str) -> Badge:
    return Badge(name=name, colour=colour, value=value, says=says, advice="" if colour == "green" else advice)
