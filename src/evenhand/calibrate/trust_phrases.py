"""What is said of a gate that was held against people: whether judges may gate, how they err, and what to do next."""

from __future__ import annotations

from evenhand.calibrate.labels import SCORE_QUESTION
from evenhand.calibrate.trust import DecisionErrors, DirectionTrust, GateTrust
from evenhand.wording import (
    format_p_value,
    format_percent,
    format_signed,
    join_names,
    pluralize_count,
    word_criterion,
)


def phrase_trust_answer(gate: GateTrust, most: float) -> str:
    """The plain answer: whether this gate may gate, where a share of at most `most` wrong decisions is borne."""
    limit, about = format_percent(most), f"({gate.about})"
    if gate.answer == "may gate":
        return f"May gate {about}: wrong on at most {limit}, both of what people pass and of what they fail."
    if gate.answer == "one way":
        kept, other = ("passes", "fail") if gate.trusted == ("pass",) else ("fails", "pass")
        return f"May gate one way only {about}: {gate.who} {kept} few that people {other}."
    if gate.answer == "may not":
        return (
            f"May not gate {about}: wrong on more than {limit} of what people {_find_broken_trust_limit(gate, most)}."
        )
    if gate.unlabelled:
        whom = "it" if len(gate.unlabelled) == 1 else "them"
        reason = f"the gate is on {_name_unlabelled_questions(gate)}, and no label is about {whom}"
        return f"Not known whether {gate.who} may gate {about}: {reason}."
    return f"Too few labels to say whether {gate.who} may gate {about} and be wrong on at most {limit}."


def _name_unlabelled_questions(gate: GateTrust) -> str:
    return join_names(["the score" if id == SCORE_QUESTION else word_criterion(id) for id in gate.unlabelled])


def _find_broken_trust_limit(gate: GateTrust, most: float) -> str:
    broken = [
        way
        for way, one in (("fail", gate.passed), ("pass", gate.failed))
        if one.share is not None and one.share.low > most
    ]
    return " and ".join(broken)


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
    return f"{errors.wrong} of {errors.n} {of} ({share}, 95% interval {low} to {high})"


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
