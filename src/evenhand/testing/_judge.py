"""A judge without a model: it says what it was told to say, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from evenhand.errors import Fault, InputError, RefusedError
from evenhand.judging import Matter, Reply, Request
from evenhand.judging._form import CANNOT
from evenhand.model import Criterion, Number, exact, number_for_json

Scores = Mapping[str, Number | bool | None]
LONGEST_QUOTE = 80
ADVICE = {"problem": "none was scripted", "suggestion": "none was scripted", "severity": "low"}


def scripted_judge(*replies: str | Scores, name: str = "scripted") -> ScriptedJudge:
    """A judge that gives these replies one after the other; scores that come last answer all that follows.

    A text is a raw reply. A mapping of scores by criterion becomes a reply in the form that is asked for, with the
    beginning of the output as evidence; on a criterion that it does not name the judge abstains.
    """
    return ScriptedJudge(replies, name)


class ScriptedJudge:
    """What `scripted_judge` gives: it goes wherever a judge goes. `asked` holds its requests in order."""

    def __init__(self, replies: Sequence[str | Scores], name: str) -> None:
        if not replies:
            raise InputError(Fault("a scripted judge needs a reply", "as in scripted_judge({'polite': 1})"))
        self.name = name
        self.asked: list[Request] = []
        self._replies = tuple(replies)

    async def ask(self, request: Request) -> Reply:
        """The next reply; a RefusedError where none is left."""
        self.asked.append(request)
        at, last = len(self.asked) - 1, len(self._replies) - 1
        reply = self._replies[min(at, last)]
        if isinstance(reply, str) and at > last:
            raise RefusedError(f"{self.name}: asked {at + 1} times, and {last + 1} replies were scripted")
        text = reply if isinstance(reply, str) else _written(reply, request, self.name)
        return Reply(text=text, stop="end", model=self.name)


def _written(scores: Scores, request: Request, name: str) -> str:
    about = request.about
    if about is None or not about.asked:
        raise RefusedError(f"{name}: scores do not answer the dialogue {request.dialogue}: script its replies as texts")
    if request.labels:
        return json.dumps(
            {"responses": {label: _answers(scores, about, f"response-{label}") for label in request.labels}}
        )
    tag = "submission" if "submission" in about.texts else "output"
    answers = _answers(scores, about, tag)
    return json.dumps(
        {**answers, "revision_suggestions": [ADVICE] * 2} if request.dialogue == "individual" else answers
    )


def _answers(scores: Scores, about: Matter, tag: str) -> dict[str, dict[str, object]]:
    quote = about.texts[tag].strip()[:LONGEST_QUOTE]
    groups: dict[str, dict[str, object]] = {}
    for key, criterion in about.asked:
        value = scores.get(criterion.id)
        reason = "as scripted" if value is not None else "nothing was scripted"
        said = {"evidence": [quote] if value is not None else [], "reason": reason}
        groups.setdefault(key, {})[criterion.id] = {**said, **_answer(criterion, value)}
    return groups


def _answer(criterion: Criterion, value: Number | bool | None) -> dict[str, object]:
    scale = criterion.scale
    if scale.yes_no:
        return {"answer": CANNOT if value is None else "yes" if value else "no"}
    if value is None:
        return {"band": CANNOT, "score": CANNOT} if scale.bands else {"score": CANNOT}
    number = exact(int(value) if isinstance(value, bool) else value)
    bands = [band.id for band in scale.bands if band.min <= number <= band.max]
    return {**({"band": (*bands, CANNOT)[0]} if scale.bands else {}), "score": number_for_json(number)}
