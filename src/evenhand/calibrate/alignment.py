"""A rubric aligned with people: labels that edits are drafted from, the dialogue that proposes them, what decides."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from evenhand.calibrate.fitted_to_people import fit_calibration_knots
from evenhand.calibrate.labelled_outputs import Integers, LabelledOutputs
from evenhand.calibrate.labels import HumanLabelQuestion
from evenhand.calibrate.nested_selection import CandidateAnswers, NestedSelection
from evenhand.calibrate.rubric_edits import (
    AddClause,
    AddCounterExample,
    AddExamples,
    RefusedEdit,
    ReplaceAnchor,
    RubricEdit,
    SharpenQuestion,
    SplitCriterion,
    UseCalibrationMap,
    apply_rubric_edit,
    list_criteria_after_rubric_edits,
)
from evenhand.errors import InputError
from evenhand.files.methods import LIBRARY
from evenhand.files.parsing import read_text_file
from evenhand.judging.answer_form import (
    TEXT_SCHEMA,
    AnswerSchema,
    build_reply_schema,
    format_criteria_prompt,
    list_judged_criteria,
)
from evenhand.judging.fence import MaterialPiece, neutralize_untrusted_prompt_text
from evenhand.judging.prompts import JudgeSetup, PromptOutline, compose_judge_request
from evenhand.judging.questions import Dialogue, JudgeQuestion, JudgeReplyReading, ask_judge_questions
from evenhand.judging.reading.reply_text import find_json_values_in_reply
from evenhand.model.rubric import Rubric
from evenhand.model.scale import MOST_EXAMPLE_TOKENS, CriterionExample, Missing, Scale, to_exact_fraction
from evenhand.wording import format_fraction

LEAST_ALIGNED_SAMPLES = 20
DRAFTING_SHARE = 4  # One sample of so many is for drafting; with fewer to decide, good edits are missed.
EXAMPLE_COUNTS = (2, 4)  # Of a criterion; which of them, if any, is chosen inside cross-validation.
BYTES_PER_TOKEN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRubric:
    """A rubric that is tried: the present one with some edits."""

    rubric: Rubric
    edits: tuple[RubricEdit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedSamples:
    """Places of labelled outputs: those that edits may be drafted from, and those that decide. No sample is in both."""

    drafting: Integers
    deciding: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedRubric:
    """What aligning came to: the rubrics that were tried, the present one first, and which of them is kept.

    `edits` are those of the rubric that is written; none where the present one stands, and `why` says why.
    """

    rubric: Rubric
    edits: tuple[RubricEdit, ...]
    why: str
    selection: NestedSelection
    tried: tuple[CandidateRubric, ...]
    refused: tuple[RefusedEdit, ...] = ()
    drafting: int = 0  # Samples that edits were drafted from.
    map_tried: bool = False
    notes: tuple[str, ...] = ()


def seed_alignment(seed: int) -> np.random.Generator:
    """Chance for one alignment: how samples are divided, folded and dealt labels."""
    return np.random.default_rng(seed)


def divide_labelled_samples(labelled: LabelledOutputs, rng: np.random.Generator) -> DividedSamples:
    """Divide by lot, by sample: outputs of one sample stay together."""
    units = np.unique(labelled.cluster)
    drafting = np.isin(labelled.cluster, rng.permutation(units)[: len(units) // DRAFTING_SHARE])
    return DividedSamples(drafting=np.flatnonzero(drafting), deciding=np.flatnonzero(~drafting))


def draft_alignment_candidates(
    rubric: Rubric, cases: Sequence[JudgedCase], proposed: Sequence[RubricEdit], held_out: Sequence[str]
) -> tuple[tuple[CandidateRubric, ...], tuple[RefusedEdit, ...]]:
    """The rubrics to try, the present one first: with more or fewer examples, and with each proposed edit alone."""
    tried = [CandidateRubric(rubric=rubric)]
    refused: list[RefusedEdit] = []
    for edits in (*_list_example_edits(rubric, cases), *((edit,) for edit in proposed)):
        changed: Rubric | RefusedEdit = rubric
        for edit in edits:
            changed = changed if isinstance(changed, RefusedEdit) else apply_rubric_edit(changed, edit, held_out)
        if isinstance(changed, RefusedEdit):
            refused.append(changed)
        elif all(changed != one.rubric for one in tried):
            tried.append(CandidateRubric(rubric=changed, edits=edits))
    return tuple(tried), tuple(refused)


def _list_example_edits(rubric: Rubric, cases: Sequence[JudgedCase]) -> Iterator[tuple[RubricEdit, ...]]:
    """For each number of examples, so many for every criterion that has labels."""
    for count in EXAMPLE_COUNTS:
        drawn = {
            id: draw_alignment_examples([one for one in cases if one.criterion == id], rubric, id, count)
            for id, leaf in rubric.leaves.items()
            if leaf.judged
        }
        why = "people's labels, shown where the judge was furthest from them"
        edits = tuple(AddExamples(criterion=id, examples=some, reason=why) for id, some in drawn.items() if some)
        if edits:
            yield edits


def draw_alignment_examples(
    cases: Sequence[JudgedCase], rubric: Rubric, criterion: str, count: int
) -> tuple[CriterionExample, ...]:
    """The cases on which the judge was furthest from people, of each level of people's at most half."""
    scale = rubric.leaves[criterion].scale
    longest = (MOST_EXAMPLE_TOKENS // count - 1) * BYTES_PER_TOKEN
    drawn: list[CriterionExample] = []
    for case in sorted(cases, key=lambda one: -one.measure_disagreement(scale)):
        example = make_alignment_example(case, scale, most=longest)
        if example is not None and sum(one.score == example.score for one in drawn) * 2 < count:
            drawn.append(example)
        if len(drawn) == count:
            break
    return tuple(drawn)


AnswersByOutput = Mapping[tuple[int, str], Fraction | None]  # By the place of an output and the id of a criterion.


def tabulate_candidate_answers(
    labelled: LabelledOutputs,
    questions: Sequence[HumanLabelQuestion],
    places: Integers,
    tried: Sequence[CandidateRubric],
    answers: Sequence[AnswersByOutput],
    mappable: Container[str],
) -> CandidateAnswers:
    """What people and every candidate said of the outputs that decide; `mappable` are questions that may have a map."""
    table = np.full((len(tried), len(places), len(questions)), np.nan)
    for layer, (candidate, said) in enumerate(zip(tried, answers, strict=True)):
        for row, place in enumerate(places):
            for column, question in enumerate(questions):
                parts = [
                    said.get((int(place), id)) for id in list_criteria_after_rubric_edits(candidate.edits, question.id)
                ]
                given = [float(one) for one in parts if one is not None]
                if len(given) == len(parts):
                    table[layer, row, column] = sum(given) / len(given)
    return CandidateAnswers(
        people=np.stack([labelled.mean(one)[places] for one in questions], axis=1),
        answers=table,
        unit=labelled.cluster[places],
        variant=labelled.variant[places],
        low=np.array([one.low for one in questions]),
        high=np.array([one.high for one in questions]),
        mappable=np.array([one.id in mappable for one in questions]),
    )


def conclude_alignment(
    tried: Sequence[CandidateRubric],
    refused: Sequence[RefusedEdit],
    selection: NestedSelection,
    data: CandidateAnswers,
    questions: Sequence[HumanLabelQuestion],
) -> AlignedRubric:
    """The rubric to write: the choice made once more with all samples that decide, if it is kept at all."""
    present = tried[0].rubric
    edits: tuple[RubricEdit, ...] = ()
    if selection.kept:
        mapped = selection.chosen == len(tried)
        edits = tuple(_list_map_edits(data, questions)) if mapped else tried[selection.chosen].edits
    kept = tried[selection.chosen].rubric if selection.kept and selection.chosen < len(tried) else present
    return AlignedRubric(
        rubric=kept,
        edits=edits,
        why="" if selection.kept else _explain_alignment_keeps_rubric(selection),
        selection=selection,
        tried=tuple(tried),
        refused=tuple(refused),
        map_tried=bool(data.mappable.any()),
    )


def _list_map_edits(data: CandidateAnswers, questions: Sequence[HumanLabelQuestion]) -> Iterator[UseCalibrationMap]:
    for column, question in enumerate(questions):
        said, people = data.answers[0, :, column], data.people[:, column]
        both = np.isfinite(said) & np.isfinite(people)
        if data.mappable[column] and both.any():
            knots = fit_calibration_knots(said[both], people[both], "linear", question)
            yield UseCalibrationMap(criterion=question.id, knots=knots, reason="the judge's scores lie off people's")


def _explain_alignment_keeps_rubric(selection: NestedSelection) -> str:
    if selection.chosen == 0:
        return "no other rubric has a lower error on the samples that decide"
    if selection.fall <= 0:
        return "a rubric chosen on four fifths of the samples is no better on the last fifth"
    return "the error falls by no more than chance explains"


MOST_PROPOSALS = 10
MOST_CASES = 12
LONGEST_CASE = 1_500  # Characters, or bytes of an example.
LONGEST_REASON = 200
EDITS_KEY = "edits"
PROPOSAL = "propose-edits"
EDIT_KINDS = ("clause", "question", "anchor", "split", "counter-example")
_LARGEST_PROMPT = 20_000
_NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")
_PART_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+){0,5}")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCase:
    """A passage on which judge and people may differ: what people answered, and what the judge did and why."""

    criterion: str
    passage: str
    people: Fraction
    judge: Fraction | None
    why: str = ""

    def measure_disagreement(self, scale: Scale) -> Fraction:
        """How far apart they are, as a share of the scale; half of it where the judge did not answer."""
        if self.judge is None:
            return Fraction(1, 2)
        return abs(self.people - self.judge) / (scale.max - scale.min)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedEdits:
    """The edits that a model proposed, or why there are none."""

    edits: tuple[RubricEdit, ...] = ()
    why_not: str = ""


def choose_alignment_cases_to_show(rubric: Rubric, cases: Sequence[JudgedCase]) -> list[JudgedCase]:
    """Those that differ most, and as many others as fit: a rule must leave alone what is right; none if all agree."""
    known = [one for one in cases if one.criterion in rubric.leaves]
    apart = sorted(known, key=lambda one: -one.measure_disagreement(rubric.leaves[one.criterion].scale))
    return apart[:MOST_CASES] if any(one.people != one.judge for one in apart) else []


def ask_for_rubric_edits(rubric: Rubric, cases: Sequence[JudgedCase], manner: JudgeSetup) -> Dialogue[ProposedEdits]:
    """Show a model cases on which judge and people differ, and read the edits that it proposes."""
    text = read_text_file(LIBRARY / f"{PROPOSAL}.md", _LARGEST_PROMPT, InputError)
    prompts = replace(manner.prompts, texts={**manner.prompts.texts, PROPOSAL: text})
    halves = prompts.fill(
        PROPOSAL,
        most=str(MOST_PROPOSALS),
        criteria=format_criteria_prompt(list_judged_criteria(rubric), prompts),
        form=_PROPOSAL_FORM,
    )
    pieces = list(_list_alignment_case_pieces(rubric, cases))
    outline = PromptOutline(halves=halves, ids=(EDITS_KEY,), schema=_build_edit_proposal_schema(rubric))
    request = compose_judge_request(PROPOSAL, outline, pieces, manner)

    def read(reply: str) -> JudgeReplyReading[tuple[RubricEdit, ...]]:
        entries = _find_proposed_edits(reply)
        if entries is None:
            return JudgeReplyReading(faults={EDITS_KEY: Missing.unreadable(prompts.say("missing"))})
        found = (_read_proposed_edit(rubric, entry, cases) for entry in entries[: 2 * MOST_PROPOSALS])
        return JudgeReplyReading(items={EDITS_KEY: tuple(edit for edit in found if edit is not None)}, data=entries)

    (reading,) = yield from ask_judge_questions([JudgeQuestion(request, read, pieces)], prompts)
    if EDITS_KEY not in reading.items:
        return ProposedEdits(why_not=reading.explain_missing(EDITS_KEY).text)
    edits = tuple(dict.fromkeys(reading.items[EDITS_KEY]))[:MOST_PROPOSALS]
    return ProposedEdits(edits=edits, why_not="" if edits else "none of what was proposed is an edit of this rubric")


def _list_alignment_case_pieces(rubric: Rubric, cases: Sequence[JudgedCase]) -> Iterator[MaterialPiece]:
    for number, case in enumerate(cases, start=1):
        scale = rubric.leaves[case.criterion].scale
        judge = "nothing" if case.judge is None else _spell_people_answer(case.judge, scale)
        said = f"people answered {_spell_people_answer(case.people, scale)}, the judge {judge}"
        yield f"Case {number}, criterion {case.criterion}: {said}", f"case-{number}", case.passage[:LONGEST_CASE]
        if case.why.strip():
            yield f"What the judge said of case {number}", f"case-{number}-why", case.why[:LONGEST_CASE]


def _spell_people_answer(value: Fraction, scale: Scale) -> str:
    return ("yes" if value > Fraction(1, 2) else "no") if scale.yes_no else format_fraction(value, 2)


_PROPOSAL_FORM = """{
  "edits": [
    {"kind": <"clause" | "question" | "anchor" | "split" | "counter-example">, "criterion": "…", "text": "…",
     "level": "…", "case": "…", "parts": [{"id": "…", "asks": "…"}], "reason": "…"}
  ]
}"""


def _build_edit_proposal_schema(rubric: Rubric) -> AnswerSchema:
    part = build_reply_schema({"id": TEXT_SCHEMA, "asks": TEXT_SCHEMA})
    edit = build_reply_schema(
        {
            "kind": {"type": "string", "enum": list(EDIT_KINDS)},
            "criterion": {"type": "string", "enum": [leaf.id for leaf in list_judged_criteria(rubric)]},
            "text": TEXT_SCHEMA,
            "level": TEXT_SCHEMA,
            "case": TEXT_SCHEMA,
            "parts": {"type": "array", "items": part},
            "reason": TEXT_SCHEMA,
        }
    )
    return build_reply_schema({EDITS_KEY: {"type": "array", "maxItems": MOST_PROPOSALS, "items": edit}})


def _find_proposed_edits(text: str) -> list[Mapping[str, object]] | None:
    """The last complete list of edits in a reply."""
    for value in reversed(find_json_values_in_reply(text)):
        data = value.data.get(EDITS_KEY) if isinstance(value.data, dict) else None
        if value.complete and isinstance(data, list) and all(isinstance(entry, dict) for entry in data):
            return data
    return None


def _read_proposed_edit(rubric: Rubric, entry: Mapping[str, object], cases: Sequence[JudgedCase]) -> RubricEdit | None:
    """The edit that an entry is; None where it is none."""
    kind, criterion = entry.get("kind"), str(entry.get("criterion", ""))
    text, reason = _read_proposed_line(entry.get("text")), _read_proposed_line(entry.get("reason"))[:LONGEST_REASON]
    if criterion not in rubric.leaves:
        return None
    if kind == "clause" and text:
        return AddClause(criterion=criterion, clause=text, reason=reason)
    if kind == "question" and text:
        return SharpenQuestion(criterion=criterion, asks=text, reason=reason)
    if kind == "anchor" and text and (level := _read_proposed_number(entry.get("level"))) is not None:
        return ReplaceAnchor(criterion=criterion, level=level, text=text, reason=reason)
    if kind == "split" and isinstance(given := entry.get("parts"), list):
        named = [(str(one.get("id")), _read_proposed_line(one.get("asks"))) for one in given if isinstance(one, dict)]
        if all(_PART_ID.fullmatch(id) and asks for id, asks in named):
            return SplitCriterion(criterion=criterion, parts=tuple(named), reason=reason)
    number = _read_proposed_number(entry.get("case")) if kind == "counter-example" else None
    if number is not None and number.denominator == 1 and 1 <= number <= len(cases):
        example = make_alignment_example(cases[int(number) - 1], rubric.leaves[criterion].scale, text)
        if example is not None and cases[int(number) - 1].criterion == criterion:
            return AddCounterExample(criterion=criterion, example=example, reason=reason)
    return None


def make_alignment_example(
    case: JudgedCase, scale: Scale, why: str = "", most: int = LONGEST_CASE
) -> CriterionExample | None:
    """A case as an example: its passage, and people's mean on the nearest level; None where that is between two."""
    score = case.people
    if scale.integers:
        score = Fraction(round(score))
        if abs(score - case.people) * 3 > 1:  # People are split.
            return None
    cut = case.passage.encode("utf-8", "replace")
    passage = case.passage if len(cut) <= most else cut[: most - len("…".encode())].decode("utf-8", "ignore") + "…"
    if scale.find_fault(score) or not passage.strip():
        return None
    return CriterionExample(passage=passage, score=score, why=why)


def _read_proposed_line(value: object) -> str:
    """A text on one line that holds nothing a model could take for a tag or a turn; else nothing."""
    line = " ".join(value.split()) if isinstance(value, str) else ""
    return line if neutralize_untrusted_prompt_text(line) == line else ""


def _read_proposed_number(value: object) -> Fraction | None:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return Fraction(value.strip())
    try:
        return None if isinstance(value, str) else to_exact_fraction(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
