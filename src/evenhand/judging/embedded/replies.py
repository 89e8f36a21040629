"""Replies of the embedded judge: a request answered in the form that every judge is asked for."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from evenhand.errors import RefusedError
from evenhand.judging.answer_form import CANNOT_ASSESS
from evenhand.judging.embedded.decisions import decide_criterion
from evenhand.judging.embedded.scales import place_on_scale
from evenhand.judging.embedded.texts import PreparedText, WordVectors
from evenhand.model.criterion import Criterion
from evenhand.models.requests import Request, RequestSubject
from evenhand.wording import number_for_json

FURTHER_TEXT = {"individual": "feedback", "gate": "revision_hint"}  # What some dialogues ask for beside an answer.
MOST_TEXTS = 64  # Outputs and references kept ready; criteria of one output are asked one after another.
Answer = dict[str, object]


class EmbeddedReplier:
    """Answers requests by rules, and by word vectors where there are any."""

    def __init__(self, vectors: WordVectors | None) -> None:
        self._vectors = vectors
        self._texts: OrderedDict[str, PreparedText] = OrderedDict()

    @property
    def with_vectors(self) -> bool:
        """Whether it has word vectors."""
        return self._vectors is not None

    def reply(self, request: Request) -> str:
        """The reply, as JSON; a RefusedError where the request asks for more than answers to criteria."""
        about = request.about
        if about is None or not about.asked or request.dialogue in ("sampled", "likely"):
            raise RefusedError(f"embedded answers criteria about one output at a time; it cannot do {request.dialogue}")
        reply: dict[str, object]
        if request.labels:
            reply = {"responses": {one: self._answer_criteria(about, f"response-{one}") for one in request.labels}}
        else:
            tag = "submission" if "submission" in about.texts else "output"
            answers = self._answer_criteria(about, tag, FURTHER_TEXT.get(request.dialogue))
            reply = {**answers}
            if request.dialogue == "individual":
                asked = [criterion for key, criterion in about.asked if key == "criteria"]
                reply["revision_suggestions"] = _suggest_revisions(asked, answers["criteria"])
        return json.dumps(reply, ensure_ascii=False)

    def _answer_criteria(
        self, about: RequestSubject, tag: str, further: str | None = None
    ) -> dict[str, dict[str, Answer]]:
        """The answer to each criterion, under the key of the reply where it belongs."""
        text = self._prepare_text(about.texts[tag])
        reference, context = (
            self._prepare_text(about.texts[name]) if about.texts.get(name, "").strip() else None
            for name in ("reference", "context")
        )
        groups: dict[str, dict[str, Answer]] = {}
        for key, criterion in about.asked:
            answer = _answer_criterion(criterion, text, reference, context)
            if further and key == "criteria":
                reason = str(answer["reason"])
                answer[further] = f"{criterion.asks} {reason[:1].upper()}{reason[1:]}."
            groups.setdefault(key, {})[criterion.id] = answer
        return groups

    def _prepare_text(self, text: str) -> PreparedText:
        if text not in self._texts:
            self._texts[text] = PreparedText(text, self._vectors)
            if len(self._texts) > MOST_TEXTS:
                self._texts.popitem(last=False)
        return self._texts[text]


def _answer_criterion(
    criterion: Criterion, text: PreparedText, reference: PreparedText | None, context: PreparedText | None
) -> Answer:
    if criterion.scale.yes_no:
        decision = decide_criterion(criterion.asks, text, reference)
        answer = CANNOT_ASSESS if decision.holds is None else "yes" if decision.holds else "no"
        evidence = [decision.quote] if decision.quote else []
        return {"evidence": evidence, "reason": decision.reason, "answer": answer}
    placed = place_on_scale(criterion, text, reference, context)
    value = CANNOT_ASSESS if placed.value is None else number_for_json(placed.value)
    bands = [one.id for one in criterion.scale.bands if placed.value is not None and one.min <= placed.value <= one.max]
    band = {"band": (*bands, CANNOT_ASSESS)[0]} if criterion.scale.bands else {}
    evidence = [placed.quote] if placed.quote else []
    return {"evidence": evidence, "reason": placed.reason, **band, "score": value}


def _suggest_revisions(asked: Sequence[Criterion], given: Mapping[str, Answer]) -> list[Answer]:
    """Two, as asked for: what is lacking first, then what a person or a model has to look at."""
    found: list[Answer] = [
        {
            "problem": f"{criterion.id}: {given[criterion.id]['reason']}",
            "suggestion": f"Look at this again: {criterion.asks}",
            "severity": "medium" if _rank_answer(given[criterion.id]) < math.inf else "low",
        }
        for criterion in sorted(asked, key=lambda one: _rank_answer(given[one.id]))
    ]
    return (found * 2)[:2]


def _rank_answer(answer: Answer) -> float:
    score = answer.get("score")
    return float(score) if isinstance(score, (int, float)) else math.inf
