"""The judgments of a stored run scored by another rubric: what its judges were asked, and what they answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from evenhand.errors import Fault, InputError
from evenhand.evals.eval_scoring import PAIRWISE, SAMPLE_RUBRIC_PREFIX
from evenhand.judging.results import explain_output_hidden_from_judge
from evenhand.model.method import (
    STEPS,
    EnvironmentSetting,
    Grade,
    LayerMean,
    Method,
    PointsShare,
    ScoreScale,
    Step,
    TieBreak,
    VerdictThreshold,
    WeightedMean,
    WeightedSum,
)
from evenhand.model.rubric import Rubric
from evenhand.model.scale import (
    Anchor,
    Criterion,
    CriterionExample,
    CriterionScore,
    Gate,
    Missing,
    Scale,
    ScaleBand,
    Scored,
    Statement,
    to_exact_fraction,
)
from evenhand.model.scorecard import Answers, Review, Scorecard
from evenhand.scoring.scores import compute_scorecards_and_ranks, score_reviews
from evenhand.wording import format_fraction, read_kept_fraction

Json = dict[str, Any]
CRITERIA = "criteria"
STATEMENT_GROUPS = {"red_flags": "the red flag", "bonuses": "the bonus"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRubric:
    """What the judges of a run were asked by one of its rubrics, and how they were heard."""

    tag: str  # Or the key of a rubric that samples bring.
    tags: frozenset[str]  # Those with a rubric of their own.
    scales: Mapping[str, Scale]  # By criterion.
    statements: Mapping[str, tuple[str, ...]]  # Red flags and bonuses.
    holistic: Scale | None
    judges: Mapping[str, Fraction]  # With their weights, in order.
    cascade: bool
    refuse: bool

    def covers(self, tags: Sequence[str], own: str | None = None) -> bool:
        """Whether a sample was judged by this rubric: its own, that of its first tag that has one, the one for all."""
        return next((tag for tag in tags if tag in self.tags), "") == self.tag if own is None else own == self.tag


def find_run_rubric_for_tag(setup: Json, tag: str) -> RunRubric:
    """What a run asked by its rubric for a tag, or by the one for all; refuses where there is none."""
    rubrics = setup["rubrics"]
    if f"{SAMPLE_RUBRIC_PREFIX}{tag}" in rubrics and tag not in rubrics:
        tag = f"{SAMPLE_RUBRIC_PREFIX}{tag}"
    if tag not in rubrics:
        tags = ", ".join(one.removeprefix(SAMPLE_RUBRIC_PREFIX) for one in rubrics if one)
        own = any(one.startswith(SAMPLE_RUBRIC_PREFIX) for one in rubrics)
        what, hint = "the run has no judgments to score: it had no rubric", ""
        if rubrics and not tag:
            what, hint = (
                f"the run has no rubric for all samples, only for {'some' if own else 'those with a tag'}",
                f"name one with --tag: {tags}",
            )
        elif rubrics:
            what = f"the run has no rubric for the tag {tag!r}"
            hint = (
                f"{'it has' if own else 'tags with one'}: {tags}"
                if tags
                else "it has one for all samples: leave out --tag"
            )
        raise InputError(Fault(what, hint))
    old, how = rubrics[tag], setup["how"]
    if old["method"].get("dialogue") == PAIRWISE:
        what = "the judges of this run compared outputs in pairs: there are no scores that another rubric could use"
        raise InputError(Fault(what, "run the eval with the other rubric"))
    holistic = old["method"]["holistic"]
    return RunRubric(
        tag=tag,
        tags=frozenset(one for one in rubrics if one and not one.startswith(SAMPLE_RUBRIC_PREFIX)),
        scales={leaf["id"]: restore_run_scale(leaf["scale"]) for leaf in _run_leaf_criteria(old[CRITERIA])},
        statements={group: tuple(one["id"] for one in old[group]) for group in STATEMENT_GROUPS},
        holistic=None if holistic is None else restore_run_scale(holistic),
        judges={one["name"]: read_kept_fraction(one["weight"]) for one in setup["judges"]},
        cascade=how["cascade"] is not None,
        refuse=how["refuse"],
    )


def refuse_criteria_without_run_judgments(rubric: Rubric, asked: RunRubric) -> None:
    """What nobody was asked has no answer, and a number means something else on another scale."""
    leaves = {id: leaf for id, leaf in rubric.leaves.items() if leaf.judged}
    faults = [
        Fault(
            (
                f"the criterion {id!r} was answered on {_spell_out_run_scale(asked.scales[id])}, not on "
                f"{_spell_out_run_scale(leaf.scale)}"
            ),
            "an answer cannot be moved to another scale: run the eval with this rubric",
        )
        for id, leaf in leaves.items()
        if id in asked.scales and _normalise_run_scale(leaf.scale) != _normalise_run_scale(asked.scales[id])
    ]
    strangers = [id for id in leaves if id not in asked.scales]
    for group, title in STATEMENT_GROUPS.items():
        strangers += [f"{title} {one.id}" for one in getattr(rubric, group) if one.id not in asked.statements[group]]
    if strangers:
        known = [
            *asked.scales,
            *(f"{STATEMENT_GROUPS[group]} {id}" for group, ids in asked.statements.items() for id in ids),
        ]
        hint = f"its judges were asked about {', '.join(known)}; run the eval for the others"
        faults.append(Fault(f"the run has no judgments on {', '.join(strangers)}", hint))
    if faults:
        raise InputError(*faults)


def _run_leaf_criteria(criteria: Sequence[Json]) -> Iterator[Json]:
    for one in criteria:
        if one["children"]:
            yield from _run_leaf_criteria(one["children"])
        else:
            yield one


def _normalise_run_scale(scale: Scale) -> Scale:
    return replace(scale, bands=tuple(sorted(scale.bands, key=lambda band: band.min)))


def _spell_out_run_scale(scale: Scale) -> str:
    bands = ", ".join(f"{one.id} {format_fraction(one.min)}–{format_fraction(one.max)}" for one in scale.bands)
    return f"{scale} ({bands})" if bands else str(scale)


def rescore_cheap_judge(rubric: Rubric, asked: RunRubric, contents: Mapping[str, Json]) -> dict[str, Scorecard]:
    """What the cheap judge of a cascade alone comes to, by output; empty where there was no cascade."""
    if not asked.cascade:
        return {}
    cheap, known = next(iter(asked.judges)), {name: Answers(id=name) for name in contents}
    said = (_read_answers_of_result_row(rubric, asked, known[name], one, cheap) for name, one in contents.items())
    return {card.id: card for card in compute_scorecards_and_ranks(rubric, list(filter(None, said))).scorecards}


def rescore_result_rows(rubric: Rubric, asked: RunRubric, contents: Mapping[str, Json]) -> tuple[Scorecard, ...]:
    """Scorecards of the outputs of one sample that are judged together."""
    known = [Answers(id=name, author=content["output"]["author"]) for name, content in contents.items()]
    each = list(zip(known, contents.values(), strict=True))
    if asked.cascade:
        decided = [
            _read_answers_of_result_row(rubric, asked, one, content, content["decided_by"]) or one
            for one, content in each
        ]
        return compute_scorecards_and_ranks(rubric, decided).scorecards
    reviews = []
    for judge, weight in asked.judges.items():
        given = (_read_answers_of_result_row(rubric, asked, one, content, judge) for one, content in each)
        reviews.append(Review(judge=judge, outputs=tuple(filter(None, given)), weight=weight))
    if len(reviews) == 1 and len(reviews[0].outputs) == len(known):
        return compute_scorecards_and_ranks(rubric, reviews[0].outputs).scorecards
    return score_reviews(rubric, reviews, outputs=known).scorecards


def _read_answers_of_result_row(
    rubric: Rubric, asked: RunRubric, known: Answers, content: Json, judge: str | None
) -> Answers | None:
    """What a judge said of an output; None where it said nothing because it was not to be asked."""
    if judge is None or (known.author == judge and not rubric.method.panel.self_votes):
        return None
    said = _index_result_row_judgments(asked, content, judge)
    findings = {one["guard"]: one for one in reversed(content["findings"])}  # The first of each guard counts.
    hidden = findings.get("injection") if asked.refuse else None
    if not said and hidden is None:
        return None
    unasked = Missing("not_asked", "not asked in the run")
    if hidden is not None:
        unasked = explain_output_hidden_from_judge(hidden["says"], hidden["text"])
    unsafe = findings.get("safety") if rubric.safety_gate else None
    return replace(
        known,
        scores={
            id: _criterion_score_of_stored_result(said[CRITERIA, id]) if (CRITERIA, id) in said else unasked
            for id, leaf in rubric.leaves.items()
            if leaf.judged
        },
        red_flags=_true_statements_of_result(rubric, said, "red_flags"),
        bonuses=_true_statements_of_result(rubric, said, "bonuses"),
        unanswered={
            id: Missing.from_text(one["why_not"])
            for (group, id), one in said.items()
            if group != CRITERIA and one["exact"] is None and id in [own.id for own in getattr(rubric, group)]
        },
        unsafe=unsafe["rule"] if unsafe else None,
        passage=unsafe["text"] if unsafe else None,
        holistic=_result_row_holistic_score(content["scorecard"], judge)
        if rubric.method.holistic == asked.holistic
        else None,
    )


def _index_result_row_judgments(asked: RunRubric, content: Json, judge: str) -> dict[tuple[str, str], Json]:
    """The judgments of a judge by what they answer: they come in the order asked, and a flag may share an id."""
    groups = {CRITERIA: asked.scales, **asked.statements}
    said: dict[tuple[str, str], Json] = {}
    for one in content["judgments"]:
        if one["judge"] == judge:
            id = one["criterion"]
            group = next((name for name, ids in groups.items() if id in ids and (name, id) not in said), None)
            if group is not None:
                said[group, id] = one
    return said


def _criterion_score_of_stored_result(said: Json) -> CriterionScore:
    if said["exact"] is None:
        return Missing.from_text(said["why_not"])
    return Scored(read_kept_fraction(said["exact"]), said["band"], said["reason"])


def _true_statements_of_result(rubric: Rubric, said: Mapping[tuple[str, str], Json], group: str) -> dict[str, str]:
    """The statements that are true of the output: of several replies, that most say so of."""
    given = {one.id: said.get((group, one.id)) for one in getattr(rubric, group)}
    return {
        id: one["reason"]
        for id, one in given.items()
        if one and one["exact"] and read_kept_fraction(one["exact"]) > Fraction(1, 2)
    }


def _result_row_holistic_score(card: Json | None, judge: str) -> Scored | None:
    """A score for the whole that stood in for answers; it is no judgment, so only the scorecard has it."""
    if card is None:
        return None
    if card["reviews"] is None:
        whole = next((step["after"] for step in card["steps"] if step["step"] == "holistic"), None)
    else:
        whole = next((one["score"] for one in card["reviews"] if one["judge"] == judge and one["holistic"]), None)
    return None if whole is None else Scored(to_exact_fraction(whole))


def find_scoring_rubrics(setup: Mapping[str, Any]) -> dict[str, Any]:
    """The rubrics that gave a run its scores, by tag: those its judges were asked by, unless it was rescored."""
    return {**setup["rubrics"], **setup.get("scored_by", {})}


def refuse_run_without_scoring_rubric(setup: Mapping[str, Any]) -> None:
    """Earlier versions did not keep the rubric of a rescored run; weights of another one would give wrong answers."""
    if "rescored_from" in setup and "scored_by" not in setup:
        what = "this run was rescored by an earlier version, which did not keep the rubric"
        raise InputError(Fault(what, f"rescore it again: evenhand runs rescore {setup['rescored_from']} --rubric FILE"))


LAYERED = "layered"  # The shipped method whose mean is over layers that may be absent.
STEP_NUMBERS = ("below", "at", "each", "most", "min", "max", "quorum")


def restore_run_rubric(kept: Mapping[str, Any]) -> Rubric:
    """The rubric of a run, as it scored."""
    criteria = tuple(_restore_run_criterion(one) for one in kept["criteria"])
    return Rubric(
        name=kept["name"],
        method=_restore_run_method(kept["method"], criteria),
        criteria=criteria,
        red_flags=tuple(_restore_run_statement(one) for one in kept["red_flags"]),
        bonuses=tuple(_restore_run_statement(one) for one in kept["bonuses"]),
        gates=tuple(Gate(criterion=one["criterion"], min=read_kept_fraction(one["min"])) for one in kept["gates"]),
        tags=tuple(kept["tags"]),
        about=kept["about"],
        safety_gate=kept["safety_gate"],
        holistic=kept.get("holistic", False),  # Runs of older versions do not say.
        too_close=_read_run_rubric_number(kept.get("too_close")),
    )


def _restore_run_method(kept: Mapping[str, Any], criteria: Sequence[Criterion]) -> Method:
    scale = kept["scale"]
    return Method(
        name=kept["name"],
        scale=ScoreScale(
            min=read_kept_fraction(scale["min"]), max=read_kept_fraction(scale["max"]), decimals=scale["decimals"]
        ),
        steps=tuple(_restore_run_step(one, place, kept, criteria) for place, one in enumerate(kept["steps"])),
        about=kept["about"],
        criterion_scale=restore_run_scale(kept["criterion_scale"]),
        criteria=tuple(_restore_run_criterion(one) for one in kept["criteria"]),
        required=kept["required"],
        weights_sum_to=_read_run_rubric_number(kept["weights_sum_to"]),
        holistic=None if kept["holistic"] is None else restore_run_scale(kept["holistic"]),
        grades=tuple(
            Grade(grade=one["grade"], from_=read_kept_fraction(one["from_"]), label=one["label"])
            for one in kept["grades"]
        ),
        verdicts=tuple(
            VerdictThreshold(verdict=one["verdict"], from_=read_kept_fraction(one["from_"])) for one in kept["verdicts"]
        ),
        ties=tuple(TieBreak(**one) for one in kept["ties"]),
        environment={name: EnvironmentSetting(**one) for name, one in kept["environment"].items()},
        dialogue=kept["dialogue"],
    )


def _restore_run_step(
    kept: Mapping[str, Any], place: int, method: Mapping[str, Any], criteria: Sequence[Criterion]
) -> Step:
    """A step by its fields; the first one makes the number, and some of those have the same fields."""
    if place == 0 and not kept:
        return PointsShare() if any(one.points is not None for one in criteria) else WeightedSum()
    if place == 0 and set(kept) == {"onto"}:
        onto = None if kept["onto"] is None else restore_run_scale(kept["onto"])
        return (LayerMean if method["name"] == LAYERED else WeightedMean)(onto=onto)
    given = {name: _read_run_rubric_number(one) if name in STEP_NUMBERS else one for name, one in kept.items()}
    if "for_" in kept:
        return STEPS["deduct" if kept["for_"] == "red_flags" else "add"](**given)
    fields = {"ceiling": {"criterion", "below", "at"}, "shortfall": {"below"}, "cap": {"at", "when"}}
    fields |= {"clamp": {"min", "max"}, "round": {"decimals"}}
    word = next((word for word, names in fields.items() if set(kept) == names), "panel")
    return STEPS[word](**given)


def _restore_run_criterion(kept: Mapping[str, Any]) -> Criterion:
    return Criterion(
        id=kept["id"],
        asks=kept["asks"],
        weight=read_kept_fraction(kept["weight"]),
        points=_read_run_rubric_number(kept["points"]),
        scale=restore_run_scale(kept["scale"]),
        anchors=tuple(
            Anchor(min=read_kept_fraction(one["min"]), max=read_kept_fraction(one["max"]), text=one["text"])
            for one in kept["anchors"]
        ),
        required=kept["required"],
        required_min_score=_read_run_rubric_number(kept["required_min_score"]),
        fixed=kept["fixed"],
        examples=tuple(
            CriterionExample(passage=one["passage"], score=read_kept_fraction(one["score"]), why=one["why"])
            for one in kept.get("examples", ())
        ),
        children=tuple(_restore_run_criterion(one) for one in kept["children"]),
    )


def restore_run_scale(kept: Mapping[str, Any]) -> Scale:
    """A scale, from the plain data of it."""
    bands = (
        ScaleBand(id=one["id"], min=read_kept_fraction(one["min"]), max=read_kept_fraction(one["max"]))
        for one in kept["bands"]
    )
    ends = {"min": read_kept_fraction(kept["min"]), "max": read_kept_fraction(kept["max"])}
    return Scale(**ends, integers=kept["integers"], yes_no=kept["yes_no"], bands=tuple(bands))


def _restore_run_statement(kept: Mapping[str, Any]) -> Statement:
    return Statement(id=kept["id"], asks=kept["asks"], amount=_read_run_rubric_number(kept["amount"]))


def _read_run_rubric_number(kept: str | None) -> Fraction | None:
    return None if kept is None else read_kept_fraction(kept)
