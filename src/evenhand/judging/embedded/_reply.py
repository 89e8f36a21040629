"""A request answered: the reply of the embedded judge in the form that every judge is asked for."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from evenhand.errors import RefusedError
from evenhand.judging.answer_form import CANNOT_ASSESS
from evenhand.judging.embedded._decide import Decision, decide
from evenhand.judging.embedded._scales import place
from evenhand.judging.embedded._text import Text
from evenhand.judging.embedded._vectors import Vectors
from evenhand.model.criterion import Criterion
from evenhand.models.requests import Request, RequestSubject
from evenhand.wording import number_for_json

MORE = {"individual": "feedback", "gate": "revision_hint"}
KEPT = 64  # Outputs and references made ready; criteria of one output are asked one after another.
Answer = dict[str, object]


class Replier:
    """Answers requests by rules, and by word vectors where there are any."""

    def __init__(self, vectors: Vectors | None) -> None:
        self._vectors = vectors
        self._texts: OrderedDict[str, Text] = OrderedDict()

    @property
    def with_vectors(self) -> bool:
        """Whether it has word vectors."""
        return self._vectors is not None

    def reply(self, request: Request) -> str:
        """The reply, as JSON; a RefusedError where the request asks for more than answers to criteria."""
        about = request.about
        if about is None or not about.asked or request.dialogue in ("sampled", "likely"):
            raise RefusedError(f"embedded answers criteria about one output at a time; it cannot do {request.dialogue}")
        if request.labels:
            return _json({"responses": {label: self._answers(about, f"response-{label}") for label in request.labels}})
        tag = "submission" if "submission" in about.texts else "output"
        answers = self._answers(about, tag, MORE.get(request.dialogue))
        if request.dialogue != "individual":
            return _json(answers)
        asked = [criterion for key, criterion in about.asked if key == "criteria"]
        return _json({**answers, "revision_suggestions": _suggestions(asked, answers["criteria"])})

    def _answers(self, about: RequestSubject, tag: str, more: str | None = None) -> dict[str, dict[str, Answer]]:
        text = self._text(about.texts[tag])
        reference, context = (
            self._text(about.texts[name]) if about.texts.get(name, "").strip() else None
            for name in ("reference", "context")
        )
        groups: dict[str, dict[str, Answer]] = {}
        for key, criterion in about.asked:
            answer = _answer(criterion, text, reference, context)
            groups.setdefault(key, {})[criterion.id] = _with_more(
                answer, criterion, more if key == "criteria" else None
            )
        return groups

    def _text(self, text: str) -> Text:
        if text not in self._texts:
            self._texts[text] = Text(text, self._vectors)
            if len(self._texts) > KEPT:
                self._texts.popitem(last=False)
        return self._texts[text]


def _answer(criterion: Criterion, text: Text, reference: Text | None, context: Text | None) -> Answer:
    if criterion.scale.yes_no:
        decision = decide(criterion.asks, text, reference)
        return {**_said(decision.quote, decision.reason), "answer": _word(decision)}
    placed = place(criterion, text, reference, context)
    value = CANNOT_ASSESS if placed.value is None else number_for_json(placed.value)
    bands = [one.id for one in criterion.scale.bands if placed.value is not None and one.min <= placed.value <= one.max]
    band = {"band": (*bands, CANNOT_ASSESS)[0]} if criterion.scale.bands else {}
    return {**_said(placed.quote, placed.reason), **band, "score": value}


def _said(quote: str, reason: str) -> Answer:
    return {"evidence": [quote] if quote else [], "reason": reason}


def _with_more(answer: Answer, criterion: Criterion, more: str | None) -> Answer:
    """The answer with the further text that some dialogues ask for."""
    reason = str(answer["reason"])
    return {**answer, more: f"{criterion.asks} {reason[:1].upper()}{reason[1:]}."} if more else answer


def _word(decision: Decision) -> str:
    return CANNOT_ASSESS if decision.holds is None else "yes" if decision.holds else "no"


def _suggestions(asked: Sequence[Criterion], given: Mapping[str, Answer]) -> list[Answer]:
    """Two, as asked for: what is lacking first, then what a person or a model has to look at."""
    found: list[Answer] = [
        {
            "problem": f"{criterion.id}: {given[criterion.id]['reason']}",
            "suggestion": f"Look at this again: {criterion.asks}",
            "severity": "medium" if _rank(given[criterion.id]) < math.inf else "low",
        }
        for criterion in sorted(asked, key=lambda one: _rank(given[one.id]))
    ]
    return (found * 2)[:2]


def _rank(answer: Answer) -> float:
    score = answer.get("score")
    return float(score) if isinstance(score, (int, float)) else math.inf


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False)
