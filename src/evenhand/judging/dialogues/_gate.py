"""The gate: each acceptance criterion is met or not, with evidence, and a hint for what is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from evenhand.judging._ask import Dialogue, Question, Reading, ask
from evenhand.judging._evidence import Item, hold, read_form
from evenhand.judging._form import Group, criteria_text, form_text, schema_of
from evenhand.judging._material import MARKER, MATERIAL, Outline, compose, pieces_of, texts_of
from evenhand.judging._prompts import Prompts
from evenhand.judging._quotes import Quoted
from evenhand.judging._told import Check, GateCheck, Manner
from evenhand.judging.reading import Wanted
from evenhand.model import YES_NO, Criterion, Scored, Unscored

HINT = "revision_hint"


def gate(task: str, acceptance: Sequence[str], submission: tuple[str, str], manner: Manner) -> Dialogue[GateCheck]:
    """Check one submission, given as its id and its text, against the acceptance criteria of a task."""
    id, text = submission
    criteria = [
        Criterion(id=f"criterion-{number}", asks=asks, scale=YES_NO) for number, asks in enumerate(acceptance, start=1)
    ]
    (reading,) = yield from ask([_question(task, criteria, text, manner)], manner.prompts)
    checks = []
    for criterion in criteria:
        item = reading.items.get(criterion.id) or Item(score=Unscored(reading.why_not(criterion.id)))
        checks.append(Check(judgment=item.judgment(manner.judge, id, criterion.id), revision_hint=item.text(HINT)))
    return GateCheck(checks=tuple(checks), passed=_passed(checks))


def _question(task: str, criteria: Sequence[Criterion], text: str, manner: Manner) -> Question[Item]:
    prompts = manner.prompts
    groups = (Group("criteria", tuple(Wanted(one.id, YES_NO) for one in criteria), (HINT,)),)
    halves = prompts.fill(
        "gate",
        criteria=criteria_text(criteria, prompts),
        form=form_text(groups, prompts),
        marker=MARKER,
        material=MATERIAL,
    )
    pieces = [*pieces_of(prompts, task), (prompts.say("submission"), "submission", text)]
    ids, asked = tuple(one.id for one in criteria), tuple(("criteria", one) for one in criteria)
    outline = Outline(halves=halves, ids=ids, schema=schema_of(groups), asked=asked)
    return Question(compose("gate", outline, pieces, manner), _reader(groups, Quoted(text), prompts), texts_of(pieces))


def _reader(groups: Sequence[Group], text: Quoted, prompts: Prompts) -> Callable[[str], Reading[Item]]:
    def read(reply: str) -> Reading[Item]:
        answers, data = read_form(reply, groups)
        reading = hold(answers, groups, text, prompts, needs_evidence=True)
        silent = [id for id, item in reading.items.items() if _is_no(item) and not item.text(HINT)]
        faults = {**reading.faults, **{id: prompts.say("no_hint") for id in silent}}
        items = {id: item for id, item in reading.items.items() if id not in silent}
        return replace(reading, items=items, faults=faults, data=data)

    return read


def _is_no(item: Item) -> bool:
    return isinstance(item.score, Scored) and item.score.value == 0


def _passed(checks: Sequence[Check]) -> bool | None:
    """One that is not met fails the gate, whatever else is unknown; what is unknown never passes it."""
    scores = [check.judgment.score for check in checks]
    if any(isinstance(score, Scored) and score.value == 0 for score in scores):
        return False
    return None if any(isinstance(score, Unscored) for score in scores) else True
