"""A result: all that came out for one output, as the store keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from evenhand.assertions import Checked, checked_json, layer_scores
from evenhand.judging import Judged, finding_json, judgment_json, suggestion_json
from evenhand.model import Finding, Judgment, Kept, Made, Rubric, Scorecard, Scored
from evenhand.runs._book import Book
from evenhand.runs._layers import Measures, composite, composite_rubric, layers_on_scale
from evenhand.runs._outputs import made_json
from evenhand.runs._work import Work
from evenhand.runs.store import Row, compact
from evenhand.scoring import scorecard_json

Json = dict[str, object]
State = Literal["scored", "incomplete", "failed"]
EMPTY = "the output is empty: there is nothing to judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one output; `key` is empty where another try may give more."""

    work: Work
    key: str
    cluster: str | None
    rubric: Rubric | None
    made: Made | None
    why: str
    findings: tuple[Finding, ...]
    checked: tuple[Checked, ...]
    judged: Judged | None

    @property
    def card(self) -> Scorecard | None:
        """The scorecard under the rubric, where judges were asked."""
        cards = self.judged.scores.scorecards if self.judged else ()
        return next((card for card in cards if card.id == self.work.variant), None)


def result_row(result: Result, subject: str, book: Book) -> Row:
    """The row of a result; scores are exact fractions."""
    work, card = result.work, result.card
    whole = _whole(result, card) if result.made else None
    total = whole.card if whole else None
    state, why = _state(result, total)
    return {
        "run": book.run,
        "position": work.position,
        "variant": work.variant,
        "repeat": work.repeat,
        "key": result.key,
        "state": state,
        "subject": subject,
        "score": _exact(card.exact if card else None),
        "composite": _exact(total.exact if total else None),
        "number": None if total is None or total.exact is None else float(total.exact),
        "content": compact(_content(result, card, whole, why)),
        "at": book.now(),
    }


@dataclass(frozen=True, slots=True)
class _Whole:
    """A composite with its layers and steps as a result keeps them."""

    card: Scorecard
    layers: Json
    steps: object


_WHOLES: Kept[_Whole] = Kept(512)  # Most outputs of a run come to one of the same few scores.


def _whole(result: Result, card: Scorecard | None) -> _Whole:
    measured = layer_scores(result.checked)
    judged = None if card is None else (card.exact, card.missing)
    key = (result.rubric or "", result.work.variant, repr((measured, judged)))
    return _WHOLES.get(key, lambda: _worked_out(result.rubric, result.work.variant, measured, card))


def _worked_out(rubric: Rubric | None, id: str, measured: Measures, card: Scorecard | None) -> _Whole:
    whole = composite(rubric, id, measured, card)
    layers: Json = {name: _exact(value) for name, value in layers_on_scale(rubric, whole).items()}
    return _Whole(whole, layers, scorecard_json(composite_rubric(rubric), whole)["steps"])


def _state(result: Result, whole: Scorecard | None) -> tuple[State, str]:
    if whole is None:
        return "failed", result.why
    if whole.exact is not None:
        return "scored", ""
    if result.rubric and not (result.made and result.made.text.strip()):
        return "incomplete", EMPTY
    reasons = [f"{entry.criterion}: {entry.why}" for entry in whole.missing]
    return "incomplete", "; ".join(reasons) or "; ".join(whole.notes)


def _content(result: Result, card: Scorecard | None, whole: _Whole | None, why: str) -> Json:
    judged, variant = result.judged, result.work.variant
    return {
        "why": why,
        "cluster": result.cluster,
        "rubric": result.rubric.name if result.rubric else None,
        "output": made_json(result.made) if result.made else None,
        "findings": [finding_json(one) for one in result.findings],
        "assertions": [checked_json(one) for one in result.checked],
        "layers": whole.layers if whole else {},
        "scorecard": scorecard_json(result.rubric, card) if result.rubric and card else None,
        "composite_steps": whole.steps if whole else [],
        "judgments": [_judgment(one) for one in judged.judgments if one.output == variant] if judged else [],
        "suggestions": [suggestion_json(one) for one in judged.suggestions.get(variant, ())] if judged else [],
        "decided_by": judged.decided_by.get(variant) if judged else None,
        "unsafe": card.unsafe if card else None,
        "criteria": criteria_json(result.rubric, card),
        "seats": _seats(judged, variant),
        "calls": list(dict.fromkeys(result.work.keys)),
    }


def criteria_json(rubric: Rubric | None, card: Scorecard | None) -> dict[str, str | None]:
    """The exact score of each criterion that counts for a result, the panel's where there is one; null where none."""
    scores = card.criteria if card else {}
    leaves = [id for id, leaf in rubric.leaves.items() if leaf.judged] if rubric else []
    return {id: _exact(score.value if isinstance(score := scores.get(id), Scored) else None) for id in leaves}


def _seats(judged: Judged | None, variant: str) -> dict[str, int]:
    """At which place each judge that saw several outputs at once was shown this one: 1 is first."""
    orders = judged.orders if judged else {}
    return {judge: order.index(variant) + 1 for judge, order in orders.items() if variant in order}


def _judgment(one: Judgment) -> Json:
    """A judgment with its exact score, from which another rubric can be scored."""
    return {**judgment_json(one), "exact": _exact(one.score.value if isinstance(one.score, Scored) else None)}


def _exact(value: Fraction | None) -> str | None:
    return None if value is None else f"{value.numerator}/{value.denominator}"
