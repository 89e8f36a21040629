"""What each judge of a stored run said, as columns: for scoring all its outputs at once by a changed rubric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.model.rubric import Rubric
from evenhand.runs.columns import RunTable
from evenhand.runs.stored_judgments import STATEMENT_GROUPS, RunRubric
from evenhand.scoring.panel_columns import Booleans, Floats, ReviewColumns

PANEL = "panel"  # Who stands for judges whose answers were not kept.


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedColumns:
    """The reviews of a run, one per judge, and where a guard found an output unsafe."""

    reviews: tuple[ReviewColumns, ...]
    unsafe: Booleans


def collect_judged_columns(table: RunTable, rubric: Rubric, asked: RunRubric) -> JudgedColumns:
    """What judges were asked and answered, as far as the rubric looks at it.

    A run that came without judgments has what its panel came to on each criterion in their place.
    """
    nobody = np.full(len(table.score), np.nan)
    leaves = [id for id in rubric.leaves if id in table.criteria]
    unsafe = table.marks.get("unsafe", nobody) == 1
    if not any((judge, id) in table.judgments for judge in asked.judges for id in leaves):
        pooled = ReviewColumns(judge=PANEL, scores={id: table.criteria[id] for id in leaves})
        return JudgedColumns(reviews=(pooled,), unsafe=unsafe)
    reviews = []
    for judge, weight in asked.judges.items():
        statements = list(_read_statement_columns(table, rubric, asked, judge))
        by_judge = table.authors.get(judge)
        whole = table.reviews.get(judge, table.score if len(asked.judges) == 1 else None)
        reviews.append(
            ReviewColumns(
                judge=judge,
                weight=weight,
                scores={id: table.judgments.get((judge, id), nobody) for id in leaves},
                found={
                    group: {id: column == 1 for of, id, column in statements if of == group}
                    for group in STATEMENT_GROUPS
                },
                unanswered=np.any([column == -1 for _, _, column in statements], axis=0) if statements else None,
                # Only a score for the whole is there where no criterion was answered.
                holistic=whole if rubric.method.holistic else None,
                votes=None if by_judge is None or rubric.method.panel.self_votes else by_judge != 1,
            )
        )
    return JudgedColumns(reviews=tuple(reviews), unsafe=unsafe)


def _read_statement_columns(
    table: RunTable, rubric: Rubric, asked: RunRubric, judge: str
) -> Iterator[tuple[str, str, Floats]]:
    """The answers of a judge on the red flags and bonuses of the rubric, by group and id."""
    for group in STATEMENT_GROUPS:
        for one in getattr(rubric, group):
            if one.id in asked.statements[group]:
                groups = [name for name, ids in asked.statements.items() if one.id in ids]
                column = table.statements.get((judge, one.id, groups.index(group)))
                if column is not None:
                    yield group, one.id, column
