"""What each judge left unanswered, and what it gave for the whole: read off the results where columns do not tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from evenhand.calibrate.audits._seen import Floats, Heard
from evenhand.runs import Table

Json = Mapping[str, Any]


def all_answered(table: Table) -> dict[str, Heard]:
    """The answers of every judge in a run in which none failed and none abstained."""
    answered: Counter[str] = Counter()
    for (judge, _), column in table.judgments.items():
        answered[judge] += int((~np.isnan(column)).sum())
    return {judge: Heard(answered=count) for judge, count in answered.items()}


def heard_in(contents: Iterable[Json], rows: int) -> tuple[dict[str, Heard], dict[str, Floats]]:
    """The answers of every judge in these results, and its scores for the whole, a column of as many rows."""
    counted: dict[str, Counter[str]] = {}
    holistic: dict[str, Floats] = {}
    for row, content in enumerate(contents):
        for one in content["judgments"]:
            counted.setdefault(one["judge"], Counter())[_word(one)] += 1
        for review in (content["scorecard"] or {}).get("reviews") or ():
            if review["holistic"] and review["score"] is not None:
                holistic.setdefault(review["judge"], np.full(rows, np.nan))[row] = review["score"]
    heard = {
        judge: Heard(answered=count["answered"], abstained=count["abstained"], failed=count["failed"])
        for judge, count in counted.items()
    }
    return heard, holistic


def _word(judgment: Json) -> str:
    why = (judgment["why_not"] or "").removeprefix(f"{judgment['judge']}: ")
    return "abstained" if why.startswith("abstained") else "failed" if why else "answered"
