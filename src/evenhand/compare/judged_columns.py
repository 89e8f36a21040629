"""What the judges of a run answered, as columns: one review per judge, as far as a rubric looks at it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from evenhand.evals.eval_scoring import name_sample_rubric_criterion
from evenhand.model.rubric import Rubric
from evenhand.runs.columns import RunTable
from evenhand.runs.stored_judgments import STATEMENT_GROUPS, RunRubric
from evenhand.scoring.panel_columns import ReviewColumns
from evenhand.scoring.panel_pooling import Booleans, Floats

PANEL = "panel"  # Who stands for judges whose answers were not kept.


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedColumns:
    """The reviews of a run, one per judge, and where a guard found an output unsafe."""

    reviews: tuple[ReviewColumns, ...]
    unsafe: Booleans

    def take_rows(self, rows: Any) -> JudgedColumns:
        """The same of some outputs."""
        return JudgedColumns(
            reviews=tuple(_take_review_rows(one, rows) for one in self.reviews), unsafe=self.unsafe[rows]
        )


def collect_judged_columns(table: RunTable, rubric: Rubric, asked: RunRubric) -> JudgedColumns:
    """What judges were asked and answered, as far as the rubric looks at it.

    A run that came without judgments has what its panel came to on each criterion in their place; so has a cascade, of
    whose judges one decided on each output.
    """
    nobody = np.full(len(table.score), np.nan)
    columns = {id: name_sample_rubric_criterion(asked.tag, id) for id in rubric.leaves}
    columns = {id: name for id, name in columns.items() if name in table.criteria}
    unsafe = table.marks.get("unsafe", nobody) == 1
    known = any((judge, name) in table.judgments for judge in asked.judges for name in columns.values())
    if asked.cascade or not known:
        pooled = ReviewColumns(judge=PANEL, scores={id: table.criteria[name] for id, name in columns.items()})
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
                scores={id: table.judgments.get((judge, name), nobody) for id, name in columns.items()},
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


def list_run_judges(table: RunTable, rubric: Rubric, tag: str) -> RunRubric:
    """Who judged by a rubric as far as answers tell: all of them weigh the same."""
    return RunRubric(
        tag=tag,
        tags=frozenset(),
        scales={id: leaf.scale for id, leaf in rubric.leaves.items()},
        statements={group: tuple(one.id for one in getattr(rubric, group)) for group in STATEMENT_GROUPS},
        holistic=rubric.method.holistic,
        judges={judge: Fraction(1) for judge, _ in table.judgments},
        cascade=False,
        refuse=False,
    )


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


def _take_review_rows(review: ReviewColumns, rows: Any) -> ReviewColumns:
    return replace(
        review,
        scores={id: column[rows] for id, column in review.scores.items()},
        found={kind: {id: column[rows] for id, column in own.items()} for kind, own in review.found.items()},
        unanswered=None if review.unanswered is None else review.unanswered[rows],
        holistic=None if review.holistic is None else review.holistic[rows],
        votes=None if review.votes is None else review.votes[rows],
    )
