"""How often a gate decides otherwise than people, whether it may gate at all, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labelled_outputs import (
    HumanLabelledOutputColumns,
    Integers,
    LabelledOutputs,
    answers_by_calibrated_judge,
    average_people_by_sample,
    mean_over_human_raters,
)
from evenhand.calibrate.labels import SCORE_QUESTION
from evenhand.errors import Fault, InputError
from evenhand.files.json_shape import json_key
from evenhand.runs.columns import RunTable
from evenhand.stats.arrays import compute_cluster_means
from evenhand.stats.differences import difference_of
from evenhand.stats.means import Powered, powered_mean
from evenhand.stats.rates import RateInterval, exact_share_interval
from evenhand.wording import (
    format_p_value,
    format_percent,
    format_signed,
    join_names,
    pluralize_count,
    word_criterion,
)

TrustAnswer = Literal["may gate", "one way", "may not", "too few labels"]
MOST_ERRORS = 0.2  # Of the outputs that people fail, or pass: one in five, unless another limit is set.
MOST_FURTHER_LABELS = 10_000
_SAME = 1e-9  # Means of repeats and labels are floats: what differs by less is on the threshold.
_HALVINGS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustGate:
    """A gate: an output passes where every number that it looks at is at or above its least."""

    id: str
    about: str
    least: Mapping[str, float]  # By question, or by a node of a tree, which nobody is asked about.
    # Nodes as sums over the questions below them: a constant, and what each of them is multiplied by.
    nodes: Mapping[str, tuple[float, Mapping[str, float]]] = field(default_factory=dict)

    @property
    def questions(self) -> list[str]:
        """All that has to be answered for it to decide."""
        asked = ([*self.nodes[one][1]] if one in self.nodes else [one] for one in self.least)
        return list(dict.fromkeys(id for several in asked for id in several))

    def decide_at_gate(self, answers: Mapping[str, Floats], rows: int) -> Floats:
        """1 passes, 0 fails, NaN is not known. One number below its least is enough to fail."""
        decided, nobody = np.ones(rows), np.full(rows, np.nan)
        for question, least in self.least.items():
            given = answers.get(question, nobody)
            if question in self.nodes:
                constant, factors = self.nodes[question]
                given = constant + np.sum([by * answers.get(id, nobody) for id, by in factors.items()], axis=0)
            passes = np.where(np.isnan(given), np.nan, given >= least - _SAME)
            decided = np.where((decided == 0) | (passes == 0), 0.0, decided + passes - 1)
        return decided


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionErrors:
    """Outputs that were decided one way and should have been decided the other; `share` of the `n` that should."""

    wrong: int
    n: int
    share: RateInterval | None = None  # None where there is no such output.


@dataclass(frozen=True, slots=True, kw_only=True)
class GateTrust:
    """A gate held against people; `further` is how many labels more would settle what is still open.

    `unlabelled` are the questions that the gate looks at and that nobody labelled: no output is one that people pass.
    """

    gate: str
    about: str
    who: str = field(metadata=json_key("judge"))
    answer: TrustAnswer
    trusted: tuple[Literal["pass", "fail"], ...]  # The decisions that are wrong rarely enough.
    passed: DecisionErrors = field(metadata=json_key("wrongly_passed"))  # Of those that people fail.
    failed: DecisionErrors = field(metadata=json_key("wrongly_failed"))  # Of those that people pass.
    person_passed: DecisionErrors = field(metadata=json_key("person_wrongly_passed"))
    person_failed: DecisionErrors = field(metadata=json_key("person_wrongly_failed"))
    not_assessed: int  # Outputs on which people decided and the judge did not.
    split: int  # Outputs on which as many people passed it as failed it.
    further: int | None
    unlabelled: tuple[str, ...] = ()


def hold_gate_against_people(labelled: LabelledOutputs, gate: TrustGate, most: float = MOST_ERRORS) -> GateTrust:
    """How often the panel, or the only judge, is wrong at a gate, by the majority of people."""
    who, rows = labelled.decider, len(labelled.ids)
    judged = gate.decide_at_gate(
        {id: labelled.answers[who, id] for id in gate.questions if (who, id) in labelled.answers}, rows
    )
    persons = decide_gate_as_each_rater(labelled, gate)
    people = find_people_majority(persons)
    passed, failed = _count_gate_errors_against_people(judged, people, labelled.cluster, labelled.weight)
    states = [_find_trust_limit_state(one.share, most) for one in (passed, failed)]
    others = [(persons[row], find_people_majority(np.delete(persons, row, axis=0))) for row in range(len(persons))]
    alone, majority = (np.concatenate([pair[side] for pair in others]) for side in (0, 1))
    weight = None if labelled.weight is None else np.tile(labelled.weight, len(others))
    cluster = np.tile(labelled.cluster, len(others))
    person_passed, person_failed = _count_gate_errors_against_people(alone, majority, cluster, weight)
    decided = np.isfinite(people)
    unlabelled = tuple(id for id in gate.least if not np.isfinite(labelled.people.get(id, np.nan)).any())
    return GateTrust(
        gate=gate.id,
        about=gate.about,
        who=who,
        answer=_answer_trust_from_limit_states(states),
        trusted=tuple(way for way, state in zip(("pass", "fail"), states, strict=True) if state == "kept"),  # type: ignore[misc]
        passed=passed,
        failed=failed,
        person_passed=person_passed,
        person_failed=person_failed,
        not_assessed=int((decided & np.isnan(judged)).sum()),
        split=int((~decided & np.isfinite(persons).any(axis=0)).sum()),
        further=None if unlabelled else _count_further_labels([passed, failed], states, most),
        unlabelled=unlabelled,
    )


def decide_gate_by_people(labelled: LabelledOutputs, gate: TrustGate) -> list[bool | None]:
    """What the majority of people decides of each output: whether it passes, None where they are split or silent."""
    found = find_people_majority(decide_gate_as_each_rater(labelled, gate))
    return [None if np.isnan(one) else bool(one) for one in found]


def decide_gate_as_each_rater(labelled: LabelledOutputs, gate: TrustGate) -> Floats:
    """A row for each rater: 1 where they pass the output, 0 where they fail it, NaN where they did not say."""
    answers = (
        {id: labelled.people[id][row] for id in gate.questions if id in labelled.people}
        for row in range(len(labelled.raters))
    )
    return np.stack([gate.decide_at_gate(one, len(labelled.ids)) for one in answers])


def find_people_majority(persons: Floats) -> Floats:
    """What most of those who decided say; NaN where as many say the one as the other, or nobody decided."""
    there = np.isfinite(persons)
    balance = np.where(there, persons - 0.5, 0.0).sum(axis=0)
    return np.where(balance == 0, np.nan, (balance > 0).astype(np.float64))


def _count_gate_errors_against_people(
    decided: Floats, truth: Floats, cluster: Integers, weight: Floats | None
) -> tuple[DecisionErrors, DecisionErrors]:
    """Wrongly passed of those that should fail, wrongly failed of those that should pass."""
    both = np.isfinite(decided) & np.isfinite(truth)
    found = []
    for rows in (both & (truth == 0), both & (truth == 1)):
        wrong, share = decided[rows] != truth[rows], None
        if len(wrong):
            weights = None if weight is None else weight[rows]
            share = exact_share_interval(wrong.astype(np.float64), clusters=cluster[rows].tolist(), weights=weights)
        found.append(DecisionErrors(wrong=int(wrong.sum()), n=len(wrong), share=share))
    return found[0], found[1]


LimitState = Literal["kept", "broken", "open"]


def _find_trust_limit_state(share: RateInterval | None, most: float) -> LimitState:
    if share is None:
        return "open"
    return "kept" if share.high <= most else "broken" if share.low > most else "open"


def _answer_trust_from_limit_states(states: Sequence[LimitState]) -> TrustAnswer:
    if states == ["kept", "kept"]:
        return "may gate"
    if "kept" in states:
        return "one way"
    return "may not" if "broken" in states else "too few labels"


def _count_further_labels(errors: Sequence[DecisionErrors], states: Sequence[LimitState], most: float) -> int | None:
    """How many labels more would settle what is open, if errors go on as they are; None where that takes too many."""
    labels = sum(one.n for one in errors)
    needed = 0
    for one, state in zip(errors, states, strict=True):
        if state != "open":
            continue
        rate, part = (one.wrong + 0.5) / (one.n + 1), max(one.n, 1) / max(labels, 1)
        count = _find_label_count_that_settles(rate, one.n, most)
        if count is None:
            return None
        needed = max(needed, round((count - one.n) / part + 0.5))
    return needed if needed <= MOST_FURTHER_LABELS else None


def _find_label_count_that_settles(rate: float, have: int, most: float) -> int | None:
    """The least number of outputs of one kind at which this rate would be on one side of the limit."""
    count = max(have, 1)
    while count <= MOST_FURTHER_LABELS:
        wrong = min(count, int(rate * count + 0.5))
        share = exact_share_interval(np.repeat([1.0, 0.0], [wrong, count - wrong]))
        if _find_trust_limit_state(share, most) != "open":
            return count
        count += max(1, count // 20)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectionTrust:
    """Whether people see the difference between two variants as the judges do.

    `chance` is how often labels like these would come up at most if people saw no difference or the opposite one.
    """

    variant: str
    control: str
    judged: float | None = None
    people: Powered | None = None
    chance: float | None = None
    why: str = ""


def hold_directions_against_people(
    labelled: LabelledOutputs, table: RunTable, span: tuple[float, float]
) -> Iterator[DirectionTrust]:
    """Each treatment against the control, by the score: what the judges say of all samples, people of some."""
    control = table.frame.control
    judged = {name: average_people_by_sample(table, number, table.score) for number, name in enumerate(table.variants)}
    means = mean_over_human_raters(labelled.people[SCORE_QUESTION]) if SCORE_QUESTION in labelled.people else None
    cluster = np.arange(len(table.samples))
    cluster[table.sample] = table.cluster
    for variant in table.variants:
        if variant == control or means is None:
            continue
        felt = [labelled.spread_over_samples(means, name, table.samples) for name in (variant, control)]
        weight = labelled.weight
        yield _hold_direction_against_people(
            DirectionTrust(variant=variant, control=control),
            judged[variant] - judged[control],
            felt[0] - felt[1],
            cluster=cluster,
            span=span[1] - span[0],
            weight=None if weight is None else labelled.spread_over_samples(weight, variant, table.samples),
        )


def _hold_direction_against_people(
    plain: DirectionTrust, judged: Floats, felt: Floats, *, cluster: Integers, span: float, weight: Floats | None
) -> DirectionTrust:
    there = np.flatnonzero(np.isfinite(judged))
    known = [None if np.isnan(one) else float(one) for one in felt[there]]
    if not len(there):
        return replace(plain, why="no sample has a score with both")
    mean = float(judged[there].mean())
    plain = replace(plain, judged=mean)

    def measure(level: float) -> Powered:
        groups, weights = cluster[there].tolist(), None if weight is None else weight[there]
        return powered_mean(judged[there], known, level=level, clusters=groups, scale=(-span, span), weights=weights)

    try:
        found = measure(0.95)
        if None not in known:  # People's own difference on these samples is known; other samples may differ.
            units = compute_cluster_means(felt[there], cluster[there].tolist(), None, "sample")
            test = difference_of(units.means, sizes=units.sizes, rng=np.random.default_rng(0), span=span)
            return replace(plain, people=found, chance=test.p / 2 if test.estimate * mean > 0 else 1 - test.p / 2)
    except InputError as error:
        return replace(plain, why=error.faults[0].what)
    return replace(plain, people=found, chance=_find_chance_that_people_differ(measure, mean))


def _find_chance_that_people_differ(measure: Callable[[float], Powered], judged: float) -> float:
    """Half of the level at which the interval reaches 0: the one-sided p-value against the other direction."""
    low, high = 0.0, 1.0  # The interval of level 0 is a point, that of level 1 everything.
    for _ in range(_HALVINGS):
        level = (low + high) / 2
        found = measure(min(max(level, 1e-9), 1 - 1e-12))
        low, high = (low, level) if found.low <= 0 <= found.high else (level, high)
    tail = (1 - low) / 2
    same = measure(0.5).estimate * judged > 0
    return tail if same else 1 - tail


def require_trust_limit(most: float) -> float:
    """A share of errors that may be borne."""
    if not 0 < most < 0.5:
        raise InputError(Fault(f"--at-most {most:g} is not a limit for errors", "between 0 and 0.5, as in 0.2"))
    return most


CriterionShares = Mapping[str, tuple[float, float, float]]  # Weight, low and high end of the scale, by criterion.


def add_scores_to_labelled_outputs(
    labelled: LabelledOutputs, table: RunTable, shares: CriterionShares, span: tuple[float, float]
) -> LabelledOutputs:
    """The same with the score of each output: the judges', and that which people's own answers come to.

    A person's score for the whole comes first; else it takes an answer on every criterion.
    """
    places = {id: place for place, id in enumerate(table.samples)}
    keys = np.array([places[id] for id in labelled.ids]) * len(table.variants) + labelled.variant
    outputs = HumanLabelledOutputColumns(table, keys)
    columns = answers_by_calibrated_judge(table, labelled.judges, SCORE_QUESTION)
    scored = {(who, SCORE_QUESTION): outputs.mean(column) for who, column in columns.items()}
    people = dict(labelled.people)
    if shares and shares.keys() <= people.keys():
        parts = [weight * (people[id] - low) / (high - low) for id, (weight, low, high) in shares.items()]
        total = sum(weight for weight, _, _ in shares.values())
        derived = span[0] + (span[1] - span[0]) * np.sum(parts, axis=0) / total
        given = people.get(SCORE_QUESTION, np.full_like(derived, np.nan))
        people[SCORE_QUESTION] = np.where(np.isnan(given), derived, given)
    return replace(labelled, people=people, answers={**labelled.answers, **scored})


def phrase_trust_answer(gate: GateTrust, most: float) -> str:
    """The plain answer: whether this gate may gate, where a share of at most `most` wrong decisions is borne."""
    limit, about = format_percent(most), f"({gate.about})"
    if gate.answer == "may gate":
        return f"May gate {about}: wrong on at most {limit}, both of what people pass and of what they fail."
    if gate.answer == "one way":
        kept, other = ("passes", "fail") if gate.trusted == ("pass",) else ("fails", "pass")
        return f"May gate one way only {about}: {gate.who} {kept} few that people {other}."
    if gate.answer == "may not":
        ways = (("fail", gate.passed), ("pass", gate.failed))
        broken = " and ".join(way for way, one in ways if one.share is not None and one.share.low > most)
        return f"May not gate {about}: wrong on more than {limit} of what people {broken}."
    if gate.unlabelled:
        whom = "it" if len(gate.unlabelled) == 1 else "them"
        reason = f"the gate is on {_name_unlabelled_questions(gate)}, and no label is about {whom}"
        return f"Not known whether {gate.who} may gate {about}: {reason}."
    return f"Too few labels to say whether {gate.who} may gate {about} and be wrong on at most {limit}."


def _name_unlabelled_questions(gate: GateTrust) -> str:
    return join_names(["the score" if id == SCORE_QUESTION else word_criterion(id) for id in gate.unlabelled])


def list_gate_error_lines(gate: GateTrust) -> list[str]:
    """How often it is wrong, one way and the other, and what was not counted."""
    lines = [
        f"Wrongly passed: {_phrase_gate_errors_against_people(gate, gate.passed, 'that people fail')}.",
        f"Wrongly failed: {_phrase_gate_errors_against_people(gate, gate.failed, 'that people pass')}.",
    ]
    if gate.not_assessed:
        lines.append(f"Could not assess {pluralize_count(gate.not_assessed, 'output')}: not passed, and not counted.")
    if gate.split:
        lines.append(f"People are split over {pluralize_count(gate.split, 'output')}: not counted.")
    return lines


def _phrase_gate_errors_against_people(gate: GateTrust, errors: DecisionErrors, of: str) -> str:
    if errors.share is None and gate.unlabelled:
        return f"not known, as no label is about {_name_unlabelled_questions(gate)}"
    if errors.share is None:
        return f"not known, as no labelled output is one {of}"
    low, high = format_percent(errors.share.low), format_percent(errors.share.high)
    share = format_percent(errors.share.estimate)
    weighed = " with draws weighed back" if share != format_percent(errors.wrong / errors.n) else ""
    return f"{errors.wrong} of {errors.n} {of} ({share}{weighed}, 95% interval {low} to {high})"


def phrase_trust_next_step(gate: GateTrust, most: float) -> str:
    """What would change the answer."""
    if gate.answer == "may gate":
        return "gate on it; label again when the judge or the rubric changes."
    if gate.answer == "may not":
        return "another judge or a sharper rubric: see where it differs from people with evenhand calibrate."
    if gate.unlabelled:
        options = " ".join(f"--criterion {id}" for id in gate.unlabelled)
        return f"label {_name_unlabelled_questions(gate)} of outputs: evenhand labels next RUN {options}."
    if gate.further is None:
        return f"its error rate is too close to {format_percent(most)} for labels to settle; improve the judge."
    few = "about 1 more label" if gate.further == 1 else f"about {gate.further:,} more labels"
    return f"{few}, chosen at random, would settle it if errors stay as frequent."


def phrase_trust_in_direction(one: DirectionTrust) -> str:
    """Whether people see the difference between two variants as the judges do."""
    pair = f"{one.variant} − {one.control}"
    if one.people is None or one.chance is None or one.judged is None:
        return f"{pair}: whether people see it the same way is not known: {one.why}."
    seen = f"{format_signed(one.people.estimate)} by people, {format_signed(one.judged)} by the judges"
    return f"{pair}: {seen}. Against people seeing it the other way: {format_p_value(one.chance)}."
