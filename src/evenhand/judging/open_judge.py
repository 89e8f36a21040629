"""Judges by name, and the criteria that the chosen ones cannot answer, named before anything is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING

from evenhand.judging.answer_form import list_judged_criteria
from evenhand.judging.dialogues.decisions import explain_criterion_unfit_for_decisions
from evenhand.judging.single_judge import CRITERION_WORK, run_text_work
from evenhand.model.rubric import Rubric
from evenhand.model.scale import YES_NO, Criterion
from evenhand.models.connections import Connections, ModelProbe, send_model_probe_request
from evenhand.models.model_names import is_decision_model_name
from evenhand.models.requests import EMBEDDED, ChainedModel, Reply, Request, TokenUsage, read_model_version
from evenhand.wording import join_names

if TYPE_CHECKING:
    from evenhand.judging.embedded.replies import EmbeddedReplier


def find_judge_by_name(connections: Connections, name: str) -> ChainedModel:
    """The judge of that name, the same object each time; a JudgeError where it cannot be asked."""
    return connections.open(name, EmbeddedModel) if name == EMBEDDED else connections.open(name)


async def probe_judge_by_prompt(connections: Connections, name: str) -> ModelProbe:
    """What is known of a judge after one small question; the embedded one needs none."""
    if name != EMBEDDED:
        return await send_model_probe_request(connections, name)
    return ModelProbe(
        name=name,
        reachable=True,
        model=read_model_version(find_judge_by_name(connections, name)),
        structured=True,
        logprobs=False,
        price=connections.price(name),
    )


class EmbeddedModel:
    """Answers at once and always the same; it loads at the first question."""

    name = EMBEDDED

    @cached_property
    def version(self) -> str:
        """What its answers depend on: the weights and the lexicons."""
        library = resources.files("evenhand") / "library"
        lexicons = sorted((library / "embedded").iterdir(), key=lambda file: file.name)
        known = hashlib.sha256()
        for file in (library / "embedded.json", *lexicons):
            known.update(file.read_bytes())
        return f"rules {known.hexdigest()[:12]}"

    async def ask(self, request: Request) -> Reply:
        """The reply, or a ModelError that says what to do."""
        asked = 0 if request.about is None else len(request.about.asked) * max(1, len(request.labels))
        text = await run_text_work(CRITERION_WORK * asked, self._replier.reply, request)
        return Reply(text=text, stop="end", model=f"{self.name} {self.version}", usage=TokenUsage(input=0, output=0))

    @cached_property
    def _replier(self) -> EmbeddedReplier:
        from evenhand.judging.embedded.replies import EmbeddedReplier  # whoever asks others needs no tables.

        return EmbeddedReplier()


WAY_OUT_OF_LEVELS = "give them anchors at two to ten levels, or name a model that writes, such as openai/NAME"
NAME_A_MODEL = "name a model as judge"
WAY_OUT = f"{NAME_A_MODEL}, or ask yes/no questions"
REFERENCE_OPTION, REFERENCE_FIELD = "give --reference FILE", "give the samples a reference"
UNSEEN = "the words of an output do not show it"
UNSEEN_SCORES = "they ask for scores, or for what words do not show"
MOST_NAMED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class UnanswerableCriterion:
    """A criterion that no judge of those chosen can answer, and why."""

    rubric: str
    criterion: str
    why: str
    is_score: bool  # It asks for more than yes or no.
    judge: str = EMBEDDED  # The first of those that cannot.


def list_criteria_unfit_for_judges(
    rubric: Rubric, judges: Sequence[str], *, has_reference: bool = True, has_context: bool = True
) -> tuple[UnanswerableCriterion, ...]:
    """The criteria, red flags and bonuses that none of the judges can answer: where one can, it is asked.

    Only the embedded judge and decision models are known to have such limits.
    """
    if judges and all(map(is_decision_model_name, judges)):
        return tuple(
            UnanswerableCriterion(rubric=rubric.name, criterion=leaf.id, why=why, is_score=True, judge=judges[0])
            for leaf in list_judged_criteria(rubric)
            if (why := explain_criterion_unfit_for_decisions(leaf))
        )
    if not judges or any(name != EMBEDDED for name in judges):
        return ()
    # Whoever asks others needs no tables of rules.
    from evenhand.judging.embedded.replies import explain_criterion_unfit_for_judge

    statements = [
        Criterion(id=one.id, asks=one.asks, scale=YES_NO) for one in (*rubric.red_flags, *rubric.bonuses) if one.asks
    ]
    asked = [leaf for leaf in rubric.leaves.values() if leaf.judged]
    found = []
    for one in (*asked, *statements):
        why = explain_criterion_unfit_for_judge(one, has_reference=has_reference, has_context=has_context)
        if why:
            is_score = not one.scale.yes_no
            found.append(UnanswerableCriterion(rubric=rubric.name, criterion=one.id, why=why, is_score=is_score))
    return tuple(found)


def describe_criteria_unfit_for_judges(
    found: Sequence[UnanswerableCriterion], reference: str = REFERENCE_OPTION
) -> str:
    """In one short sentence which they are, why, and what to do; empty where there are none.

    `reference` says how one is given, which helps with questions that take one.
    """
    if not found:
        return ""
    names = list(dict.fromkeys(one.criterion for one in found))
    more = len(names) - MOST_NAMED
    named = join_names([*names[:MOST_NAMED], f"{more} more"] if more > 0 else names)
    judge = found[0].judge
    way_out = WAY_OUT if judge == EMBEDDED else WAY_OUT_OF_LEVELS
    helped = [not one.is_score and "takes a reference" in one.why for one in found]
    if any(helped):
        way_out = f"{reference}, or {NAME_A_MODEL if all(helped) else WAY_OUT}"
    return f"the judge {judge} cannot answer {named} ({_explain_criteria_judged_together(found, names)}): {way_out}"


def _explain_criteria_judged_together(found: Sequence[UnanswerableCriterion], names: Sequence[str]) -> str:
    """The reason that all of them have, else what their reasons have in common."""
    reasons = {one.why for one in found}
    if len(reasons) > 1:
        reasons = {one.why.partition(",")[0] if one.is_score else UNSEEN for one in found}
    if len(reasons) > 1:
        return UNSEEN_SCORES if any(one.is_score for one in found) else UNSEEN
    (why,) = reasons
    return f"they ask {why.removeprefix('it asks ')}" if why.startswith("it asks ") and len(names) > 1 else why
