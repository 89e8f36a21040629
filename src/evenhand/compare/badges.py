"""The four badges of a comparison: judges agree, difference significant, saturated, human-aligned."""

from __future__ import annotations

from evenhand.compare.decision import Badge, BadgeColour, treatment_difference_text
from evenhand.compare.facts import CompareFacts, JudgeAgreement, adjusted_treatments_p_value_text
from evenhand.compare.shipping import LEAST_JUDGE_AGREEMENT, do_judges_put_verdict_in_doubt
from evenhand.stats.arrays import Undefined
from evenhand.stats.power import LEAST_NEEDED
from evenhand.stats.ratings import AGREED, Agreement, band
from evenhand.wording import format_number, format_percent_tenths, format_plural

_BADGE_COLOURS: tuple[BadgeColour, ...] = ("green", "amber", "red")


def grade_treatment_by_badges(facts: CompareFacts) -> tuple[Badge, ...]:
    """Judges agree, difference significant, saturated, human-aligned."""
    return (
        _grade_treatment_agreement(facts),
        _grade_treatment_significance(facts),
        _grade_treatment_saturation(facts),
        grade_treatment_human_alignment(facts.aligned),
    )


def _grade_treatment_agreement(facts: CompareFacts) -> Badge:
    """The variant that its judges agree on least speaks for both."""
    seen = {
        name: (agreed.pearson.value, agreed)
        for name, agreed in facts.agreed.items()
        if isinstance(agreed.pearson, Agreement)
    }
    if not seen:
        why = next((found.pearson for found in facts.agreed.values()), None)
        says = "fewer than two judges" if why is None or isinstance(why, Agreement) else why.why
        hint = (
            "Score more outputs that differ with all judges." if why else "Ask a second judge, on outputs that differ."
        )
        return _make_treatment_grade_badge("judges agree", "grey", None, says, hint)
    name = max(
        seen, key=lambda one: (_BADGE_COLOURS.index(_grade_compared_variant_judges(seen[one][1])), -seen[one][0])
    )
    correlation, agreed = seen[name]
    says = f"mean correlation {format_number(correlation)} of {agreed.judges} judges on {name}"
    if isinstance(agreed.alpha, Agreement):
        says += f", Krippendorff's α {format_number(agreed.alpha.value)}"
    asked = f"a mean correlation of {LEAST_JUDGE_AGREEMENT}" + (f" and an α of {AGREED}" if agreed.alpha else "")
    advice = f"Sharpen the rubric until the judges reach {asked}."
    return _make_treatment_grade_badge(
        "judges agree", _grade_compared_variant_judges(agreed), correlation, says, advice
    )


def _grade_compared_variant_judges(agreed: JudgeAgreement) -> BadgeColour:
    if do_judges_put_verdict_in_doubt(agreed):
        return "red"
    return band(agreed.alpha.value) if isinstance(agreed.alpha, Agreement) else "green"


def _grade_treatment_significance(facts: CompareFacts) -> Badge:
    name = "difference significant"
    if facts.composite is None or facts.p is None:
        says = f"{format_plural(facts.pairs, 'pair')}: nothing to test"
        return _make_treatment_grade_badge(name, "grey", None, says, "Score the same samples with both variants.")
    says = treatment_difference_text(facts.composite) + adjusted_treatments_p_value_text(facts)
    colour: BadgeColour = "green" if facts.significant else "red"
    return _make_treatment_grade_badge(name, colour, facts.p, says, "To be significant, p must be below 0.05.")


def _grade_treatment_saturation(facts: CompareFacts) -> Badge:
    found = facts.saturation
    if found is None or found.changed is None:
        advice = f"It takes at least {LEAST_NEEDED} samples."
        return _make_treatment_grade_badge("saturated", "grey", None, "too few samples to tell", advice)
    width = format_percent_tenths(found.changed)
    says = f"the last 30% of the samples changed the interval's width by at most {width} per tenth"
    if found.moved is not None:
        says += f" and moved the estimate by {format_percent_tenths(found.moved)} of the half-width"
    colour: BadgeColour = "green" if found.saturated else "red"
    advice = f"To be saturated, these must be below 10% and 50%, with at least {LEAST_NEEDED} samples."
    return _make_treatment_grade_badge("saturated", colour, found.changed, says, advice)


def grade_treatment_human_alignment(found: Agreement | Undefined | None) -> Badge:
    """How far panel and people agree; grey where there are no labels."""
    name = "human-aligned"
    if found is None:
        step = "Have people score some of the outputs: evenhand calibrate labels.jsonl RUN."
        return _make_treatment_grade_badge(name, "grey", None, "no labels", step)
    if isinstance(found, Undefined):
        return _make_treatment_grade_badge(name, "grey", None, found.why, "Have people score more of the outputs.")
    outputs = format_plural(found.n, "output")
    says = f"Krippendorff's α {format_number(found.value)} between panel and people, on {outputs}"
    advice = f"Sharpen the rubric, or choose judges by evenhand calibrate, until α reaches {AGREED}."
    return _make_treatment_grade_badge(name, band(found.value), found.value, says, advice)


def _make_treatment_grade_badge(name: str, colour: BadgeColour, value: float | None, says: str, advice: str) -> Badge:
    return Badge(name=name, colour=colour, value=value, says=says, advice="" if colour == "green" else advice)
