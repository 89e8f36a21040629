"""Scores in tables: criteria down the side or along the top."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from evenhand.judging.reading._names import Label, label_of, names_of
from evenhand.judging.reading._plain import plain
from evenhand.judging.reading._prose import read_prose, without_scale
from evenhand.judging.reading._values import Answer, Wanted
from evenhand.model import CriterionScore, Scale, Unscored

Row = list[str]
TWICE = Unscored("unreadable: given twice with different answers")
_RULE = re.compile(r"[\s|:\-+=]+")
_WEIGHT = re.compile(r"\W*(?:weight|max|scale|range|points? possible|权重|满分)", re.IGNORECASE)
_REASON = re.compile(
    r"reason|rationale|explanation|justification|comment|notes?|why|feedback|理由|说明|原因", re.IGNORECASE
)


def read_tables(text: str, wanted: Sequence[Wanted]) -> dict[str, Answer]:
    """What the tables of a plain text answer; a criterion with different scores in them is unreadable."""
    names = names_of(wanted)
    given: dict[str, list[Answer]] = {}
    for table in _tables(text):
        for one in wanted:
            for answer in [*_down(table, one, names, len(wanted) == 1), *_along(table, one, names, len(wanted) == 1)]:
                given.setdefault(one.id, []).append(answer)
    return {id: _agreed(answers) for id, answers in given.items()}


def _tables(text: str) -> Iterator[list[Row]]:
    rows: list[Row] = []
    for line in [*text.split("\n"), ""]:
        if line.count("|") >= 2 or (rows and "|" in line):
            if not _RULE.fullmatch(line):
                rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            if len(rows) > 1:
                yield rows
            rows = []


def _down(table: list[Row], one: Wanted, names: Mapping[str, str], alone: bool) -> Iterator[Answer]:
    """| accuracy | 8 | because … |"""
    header = table[0]
    columns = [at for at, cell in enumerate(header) if at and label_of(cell, {}) is not None]
    for row in table:
        named = _name_of(row, names)
        if named is None or not (named.whose == one.id or (alone and named.whose is None and row is not header)):
            continue
        cells = [at for at in columns if at < len(row) and row is not header]
        cells = cells or [at for at in range(1, len(row)) if at >= len(header) or not _WEIGHT.match(header[at])]
        scores = [score for at in cells if (score := _cell(row[at], one.scale)) is not None]
        if len(scores) == 1:
            yield Answer(scores[0], _reason(row, header))


def _name_of(row: Row, names: Mapping[str, str]) -> Label | None:
    """What a row is about: its first cell, or its second where the first only counts."""
    counted = len(row) > 2 and row[0].strip(".# ").isdigit()
    return label_of(row[1] if counted else row[0], names)


def _along(table: list[Row], one: Wanted, names: Mapping[str, str], alone: bool) -> Iterator[Answer]:
    """| accuracy | clarity | over | 8 | 7 |"""
    if len(table) != 2:
        return
    for at, cell in enumerate(table[0]):
        label = label_of(cell, names)
        mine = label is not None and (label.whose == one.id or (alone and label.whose is None))
        # In a table of criteria with scores, the first row's name makes it a row of its own.
        if mine and at < len(table[1]) and label_of(table[1][0], names) is None:
            score = _cell(table[1][at], one.scale)
            if score is not None:
                yield Answer(score, _reason(table[1], table[0]))


def _cell(text: str, scale: Scale) -> CriterionScore | None:
    """A cell that holds a score and little else."""
    if len(text.split()) > 6:
        return None
    return read_prose(without_scale(plain(text), scale), scale, {})


def _reason(row: Row, header: Row) -> str:
    return next((cell for cell, head in zip(row, header, strict=False) if _REASON.search(head)), "")


def _agreed(answers: list[Answer]) -> Answer:
    if any(answer.score != answers[0].score for answer in answers):
        return Answer(TWICE)
    return answers[0]
