"""The dialogues of a contest: choose the dimensions of a task, check the gate, score submissions side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from evenhand.errors import InputError, RubricError
from evenhand.judging.answer_form import (
    TEXT_SCHEMA,
    AnswerGroup,
    AnswerSchema,
    build_judge_answer_form,
    build_reply_schema,
    build_wanted_reply_answer,
    format_bands_prompt,
    format_criteria_prompt,
    list_judged_criteria,
    tag_criteria_for_judge,
)
from evenhand.judging.dialogues.listwise import (
    make_output_letters_for_judge,
    read_reply_under_letters,
    shuffle_outputs_for_judge,
)
from evenhand.judging.evidence import EvidencedJudgment, QuotedEvidenceText, read_form_reply, verify_form_evidence
from evenhand.judging.fence import neutralize_untrusted_prompt_text
from evenhand.judging.prompts import (
    JudgePrompts,
    JudgeSetup,
    PromptOutline,
    compose_judge_request,
    label_prompt_material,
)
from evenhand.judging.questions import Dialogue, JudgeQuestion, JudgeReplyReading, ask_judge_questions
from evenhand.judging.reading.json_answers import read_json_reply_answers
from evenhand.judging.reading.reply_text import find_json_values_in_reply
from evenhand.judging.reading.score_labels import WantedReplyAnswer
from evenhand.judging.results import AcceptanceCheck, GateCheck, OutputReview, TaskDimensions
from evenhand.model.method import Method
from evenhand.model.rubric import Rubric
from evenhand.model.scale import YES_NO, Criterion, Missing, Scored, to_exact_fraction
from evenhand.model.scorecard import Answers, Judgment

FIXED_DIMENSIONS = ("substantiveness", "credibility", "completeness")
LEAST_CHOSEN_DIMENSIONS, MOST_CHOSEN_DIMENSIONS = 1, 3
LONGEST_QUESTION = 300
LONGEST_ID = 40
DIMENSIONS_KEY = "dimensions"
DIMENSIONS_SCHEMA: AnswerSchema = build_reply_schema(
    {
        DIMENSIONS_KEY: {
            "type": "array",
            "minItems": len(FIXED_DIMENSIONS) + LEAST_CHOSEN_DIMENSIONS,
            "maxItems": len(FIXED_DIMENSIONS) + MOST_CHOSEN_DIMENSIONS,
            "items": build_reply_schema(
                {"id": TEXT_SCHEMA, "asks": TEXT_SCHEMA, "weight": {"type": "number", "minimum": 0, "maximum": 1}}
            ),
        }
    }
)
_DIMENSION_ID = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


def ask_judge_for_dimensions(task: str, method: Method, manner: JudgeSetup) -> Dialogue[TaskDimensions]:
    """Choose the dimensions of a task: a rubric under a method of bands, the fixed ones marked as such."""
    prompts = manner.prompts
    halves = prompts.fill(
        "dimensions",
        fixed="\n".join(f"  - {id}: {prompts.say(id)}" for id in FIXED_DIMENSIONS),
        least=str(LEAST_CHOSEN_DIMENSIONS),
        most=str(MOST_CHOSEN_DIMENSIONS),
        form=_build_dimensions_prompt_form(prompts),
    )
    outline = PromptOutline(halves=halves, ids=FIXED_DIMENSIONS, schema=DIMENSIONS_SCHEMA)
    request = compose_judge_request("dimensions", outline, label_prompt_material(prompts, task), manner)

    def read(text: str) -> JudgeReplyReading[Rubric]:
        entries = _find_dimensions_in_reply(text)
        if entries is None:
            return JudgeReplyReading(faults={DIMENSIONS_KEY: Missing.unreadable(prompts.say("missing"))})
        fault = _find_fault_in_dimensions_reply(entries)
        if fault is None:
            try:
                chosen = _build_rubric_from_reply(entries, method, prompts)
                return JudgeReplyReading(items={DIMENSIONS_KEY: chosen}, data=entries)
            except RubricError as error:
                fault = Missing("unreadable", str(error), _tell_judge_rubric_fault(entries))
        return JudgeReplyReading(faults={DIMENSIONS_KEY: fault})

    (reading,) = yield from ask_judge_questions([JudgeQuestion(request, read)], prompts)
    return TaskDimensions(
        rubric=reading.items.get(DIMENSIONS_KEY),
        why_not="" if DIMENSIONS_KEY in reading.items else reading.explain_missing(DIMENSIONS_KEY).text,
    )


def _build_dimensions_prompt_form(prompts: JudgePrompts) -> str:
    entries = ",\n".join(
        f'    {{"id": "{id}", "asks": "…", "weight": <{prompts.say("above_0")}>}}' for id in (*FIXED_DIMENSIONS, "…")
    )
    return f'{{\n  "{DIMENSIONS_KEY}": [\n{entries}\n  ]\n}}'


def _find_dimensions_in_reply(text: str) -> list[Mapping[str, object]] | None:
    """The last complete list of dimensions in a reply."""
    for value in reversed(find_json_values_in_reply(text)):
        data = value.data.get(DIMENSIONS_KEY) if isinstance(value.data, dict) else value.data
        if value.complete and isinstance(data, list) and data and all(isinstance(entry, dict) for entry in data):
            return data
    return None


def _find_fault_in_dimensions_reply(entries: list[Mapping[str, object]]) -> Missing | None:
    """What is wrong with the list, before it becomes a rubric."""
    ids = [entry.get("id") for entry in entries]
    missing = [id for id in FIXED_DIMENSIONS if id not in ids]
    if missing:
        return Missing.unreadable(f"{', '.join(missing)} missing")
    for id in ids:
        if not isinstance(id, str) or len(id) > LONGEST_ID or not _DIMENSION_ID.fullmatch(id):
            return Missing.unreadable("… is not an id of words joined by hyphens", repr(str(id)))
    extra = len(entries) - len(FIXED_DIMENSIONS)
    if not LEAST_CHOSEN_DIMENSIONS <= extra <= MOST_CHOSEN_DIMENSIONS:
        expected = f"{LEAST_CHOSEN_DIMENSIONS} to {MOST_CHOSEN_DIMENSIONS}"
        return Missing.unreadable(f"{extra} beside the fixed ones, expected {expected}")
    for entry in entries:
        if not isinstance(entry.get("asks"), str) or not str(entry["asks"]).strip():
            return Missing.unreadable("… asks nothing", entry["id"])
        if not isinstance(entry.get("weight"), (int, Decimal)) or isinstance(entry.get("weight"), bool):
            return Missing.unreadable("the weight of … is not a number", entry["id"])
    return None


def _tell_judge_rubric_fault(entries: list[Mapping[str, object]]) -> str:
    """What a judge is told of dimensions that make no rubric."""
    if len({entry["id"] for entry in entries}) < len(entries):
        return "the id … is used twice"
    weights = [entry["weight"] for entry in entries]
    if all(isinstance(weight, (int, Decimal)) and weight > 0 for weight in weights):
        return "the weights sum to …, not 1"
    return "weight must be above 0, got …"


def _build_rubric_from_reply(entries: list[Mapping[str, object]], method: Method, prompts: JudgePrompts) -> Rubric:
    criteria = []
    for number, entry in enumerate(entries, start=1):
        id = str(entry["id"])
        fixed = id in FIXED_DIMENSIONS
        # A judge wrote it after reading a stranger's task: one short line, which other judges read inside the fence.
        # It is powerless by itself too: whoever puts it into the task makes it a criterion like any other.
        line = neutralize_untrusted_prompt_text(" ".join(str(entry["asks"]).split()))[:LONGEST_QUESTION]
        asks = prompts.say(id) if fixed else line
        try:
            weight = to_exact_fraction(entry["weight"])  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise RubricError(f"a weight that cannot be used: {error}") from None
        one = Criterion(id=id, asks=asks, weight=weight, scale=method.criterion_scale, fixed=fixed)
        criteria.append(one if fixed else replace(one, shown_as=f"dimension-{number}"))
    return Rubric(name="task", method=method, criteria=tuple(criteria))


HINT_KEY = "revision_hint"


def ask_judge_gate_check(
    task: str, acceptance: Sequence[str], submission: tuple[str, str], manner: JudgeSetup
) -> Dialogue[GateCheck]:
    """Check one submission, given as its id and its text, against the acceptance criteria of a task."""
    id, text = submission
    prompts = manner.prompts
    criteria = [
        Criterion(id=f"criterion-{number}", asks=asks, scale=YES_NO) for number, asks in enumerate(acceptance, start=1)
    ]
    groups = (AnswerGroup("criteria", tuple(map(build_wanted_reply_answer, criteria)), (HINT_KEY,)),)
    form, schema = build_judge_answer_form(groups, prompts)
    halves = prompts.fill("gate", criteria=format_criteria_prompt(criteria, prompts), form=form)
    pieces = [*label_prompt_material(prompts, task), (prompts.say("submission"), "submission", text)]
    ids, asked = tuple(one.id for one in criteria), tuple(("criteria", one) for one in criteria)
    outline = PromptOutline(halves=halves, ids=ids, schema=schema, asked=asked)
    request = compose_judge_request("gate", outline, pieces, manner)
    read = partial(_read_gate_reply, groups, QuotedEvidenceText(text), prompts)
    (reading,) = yield from ask_judge_questions([JudgeQuestion(request, read, pieces)], prompts)
    checks = []
    for criterion in criteria:
        item = reading.items.get(criterion.id) or EvidencedJudgment(score=reading.explain_missing(criterion.id))
        checks.append(
            AcceptanceCheck(judgment=item.judgment(manner.judge, id, criterion.id), revision_hint=item.text(HINT_KEY))
        )
    # One that is not met fails the gate, whatever else is unknown; what is unknown never passes it.
    scores = [check.judgment.score for check in checks]
    unmet = any(isinstance(score, Scored) and score.value == 0 for score in scores)
    unknown = any(isinstance(score, Missing) for score in scores)
    return GateCheck(checks=tuple(checks), passed=False if unmet else None if unknown else True)


def _read_gate_reply(
    groups: Sequence[AnswerGroup], text: QuotedEvidenceText, prompts: JudgePrompts, reply: str
) -> JudgeReplyReading[EvidencedJudgment]:
    """The answers; one that a criterion is not met needs a hint for the revision."""
    answers, data = read_form_reply(reply, groups)
    reading = verify_form_evidence(answers, groups, text, prompts, needs_evidence=True)
    unmet = {id: item for id, item in reading.items.items() if isinstance(item.score, Scored) and item.score.value == 0}
    silent = [id for id, item in unmet.items() if not item.text(HINT_KEY)]
    faults = {**reading.faults, **{id: Missing.unreadable(prompts.say("no_hint")) for id in silent}}
    items = {id: item for id, item in reading.items.items() if id not in silent}
    return replace(reading, items=items, faults=faults, data=data)


MOST_SIDE_BY_SIDE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchoredSubmission:
    """A submission with what it was judged to be on its own."""

    id: str
    text: str
    judgments: Mapping[str, Judgment]  # By dimension.


def ask_judge_horizontal_scores(
    rubric: Rubric, task: str, submissions: Sequence[AnchoredSubmission], manner: JudgeSetup
) -> Dialogue[tuple[OutputReview, ...]]:
    """Score at most three submissions against each other: one request per dimension, all at once."""
    if len(submissions) > MOST_SIDE_BY_SIDE:
        raise InputError(f"at most {MOST_SIDE_BY_SIDE} submissions are compared side by side, got {len(submissions)}")
    texts = {one.id: one for one in submissions}
    order = shuffle_labels_for_judge(list(texts), manner)
    shown = {label: texts[id] for label, id in zip(make_output_letters_for_judge(len(order)), order, strict=True)}
    dimensions = list_judged_criteria(rubric)
    questions = [_build_horizontal_judge_question(rubric, criterion, task, shown, manner) for criterion in dimensions]
    readings = yield from ask_judge_questions(questions, manner.prompts)
    labels = {one.id: label for label, one in shown.items()}
    reviews = []
    for one in submissions:
        label = labels[one.id]
        items = {
            criterion.id: reading.items.get(label) or EvidencedJudgment(score=reading.explain_missing(label))
            for criterion, reading in zip(dimensions, readings, strict=True)
        }
        answers = Answers(id=one.id, scores={name: item.score for name, item in items.items()})
        judgments = tuple(item.judgment(manner.judge, one.id, name) for name, item in items.items())
        reviews.append(OutputReview(answers=answers, judgments=judgments))
    return tuple(reviews)


def shuffle_labels_for_judge(ids: Sequence[str], manner: JudgeSetup) -> list[str]:
    """Who is A, B and C to a judge: the seed and the judge decide, the same for every dimension."""
    return shuffle_outputs_for_judge(ids, manner.seed, manner.judge, "horizontal")


def _build_horizontal_judge_question(
    rubric: Rubric, criterion: Criterion, task: str, shown: Mapping[str, AnchoredSubmission], manner: JudgeSetup
) -> JudgeQuestion[EvidencedJudgment]:
    prompts, labels = manner.prompts, tuple(shown)
    group = AnswerGroup("submissions", tuple(WantedReplyAnswer(label, criterion.scale) for label in labels))
    form, schema = build_judge_answer_form([group], prompts)
    halves = prompts.fill(
        "horizontal",
        criteria=format_criteria_prompt([criterion], prompts),
        bands=format_bands_prompt(criterion.scale, rubric, prompts),
        form=form,
    )
    pieces = [*tag_criteria_for_judge([criterion]), *label_prompt_material(prompts, task)]
    for label, one in shown.items():
        pieces.append((prompts.say("candidate", letter=label), f"submission-{label}", one.text))
        alone = one.judgments.get(criterion.id)
        if alone is not None and isinstance(alone.score, Scored):
            # Where it stood alone: the passage is the author's text, so it goes inside the fence too.
            said = "anchor" if alone.evidence or not alone.absent else "anchor_absent"
            passage = "\n".join([quote.text for quote in alone.evidence] or alone.absent)
            pieces.append((prompts.say(said, band=alone.score.band), f"submission-{label}-alone", passage))
    outline = PromptOutline(halves=halves, ids=(criterion.id,), schema=schema, labels=labels)
    texts = {label: QuotedEvidenceText(one.text) for label, one in shown.items()}
    read = partial(_read_horizontal_reply, texts, criterion, prompts)
    return JudgeQuestion(compose_judge_request("horizontal", outline, pieces, manner), read, pieces)


def _read_horizontal_reply(
    texts: Mapping[str, QuotedEvidenceText], criterion: Criterion, prompts: JudgePrompts, reply: str
) -> JudgeReplyReading[EvidencedJudgment]:
    found, data = read_reply_under_letters(reply, tuple(texts), prompts.phrases["candidate"])
    wanted = WantedReplyAnswer(criterion.id, criterion.scale)
    items: dict[str, EvidencedJudgment] = {}
    faults: dict[str, Missing] = {}
    for label, text in texts.items():
        said = read_json_reply_answers({criterion.id: found.get(label)}, [wanted])
        groups = [AnswerGroup("criteria", (wanted,))]
        held = verify_form_evidence(said, groups, text, prompts, needs_evidence=True)
        if held.items:
            items[label] = held.items[criterion.id]
        else:
            faults[label] = held.faults[criterion.id]
    return JudgeReplyReading(items=items, faults=faults, data=data)
