"""The answers in a judge's reply: from its last fitting JSON value, else from its tables, else from its prose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from evenhand.judging.reading.json_answers import (
    GIVEN_TWICE,
    REMARK_KEYS,
    add_band_named_in_reply,
    read_json_reply_answers,
)
from evenhand.judging.reading.prose_scores import (
    SCORES_CONTRADICT,
    MentionWeight,
    WeighedMention,
    find_reply_score_statements,
    mentions_another_scale_in_reply,
    read_prose_reply_score,
    remove_scale_echoes_from_reply,
    settle_reply_score_statements,
)
from evenhand.judging.reading.reply_text import (
    TOO_MUCH_JSON,
    find_answering_reply_stretches,
    find_broken_json_in_reply,
    find_json_values_in_reply,
    find_judge_refusal,
    has_reply_too_much_json,
    holds_reply_json_object,
    normalize_reply_answer_name,
    strip_reply_markup,
)
from evenhand.judging.reading.score_labels import (
    ReadAnswer,
    ReplyAnswers,
    WantedReplyAnswer,
    map_reply_answer_names,
    read_reply_score_label,
)
from evenhand.judging.reading.score_mentions import is_score_all_of_reply
from evenhand.judging.reading.tolerant_json import ReplyValue
from evenhand.model.scale import CriterionScore, Missing, Scale, Scored

MOST_PROSE = 60_000  # More is no reply; what counts in it stands at its end.
MOST_VALUES = 500
CUT_IN_ANSWER = Missing.unreadable("the reply breaks off in an answer")
_JsonReading = tuple[ReplyValue, dict[str, ReadAnswer]]


def read_reply_answers(text: str, wanted: Sequence[WantedReplyAnswer]) -> ReplyAnswers:
    """The answers to what was asked, as far as the reply gives them.

    The last complete JSON value that answers everything binds. Where a later one answers only some of it and
    contradicts, or prose after it does, nobody can tell which is meant: unreadable. Where none answers
    everything, each answer comes from the last value that has it. A value that breaks off counts only where
    no complete one answers anything, then tables, then prose.
    """
    if has_reply_too_much_json(text):
        return ReplyAnswers({one.id: ReadAnswer(TOO_MUCH_JSON) for one in wanted})
    values = find_json_values_in_reply(text)
    readings = [
        (value, answers) for value in values[-MOST_VALUES:] if (answers := read_json_reply_answers(value.data, wanted))
    ]
    complete = [(value, answers) for value, answers in readings if value.complete]
    last = values[-1] if values else None
    cut = last if last and not last.complete and last.end == len(text) and isinstance(last.data, dict) else None
    if complete:
        value, answers = complete[-1]
        if cut is None or cut.start < value.end:
            bound = _bind_reply_json_answers(text, complete, wanted)
            return replace(bound, answers=_hold_reply_against_broken(bound.answers, text, wanted, complete[-1][0].end))
        # It breaks off in an object after its last answer: perhaps it was about to say otherwise.
        return ReplyAnswers({one.id: ReadAnswer(CUT_IN_ANSWER) for one in wanted if one.id in answers}, value.data)
    if readings:
        value, answers = readings[-1]
        held = _drop_answers_contradicted_in_reply(answers, text, wanted)
        return ReplyAnswers(_hold_reply_against_broken(held, text, wanted), value.data)
    said = _read_prose_reply_answers(_extract_reply_prose(text, values), wanted)
    if cut is not None:
        return ReplyAnswers({id: ReadAnswer(CUT_IN_ANSWER) for id in said})
    return ReplyAnswers(_hold_reply_against_broken(said, text, wanted))


def read_reply_score(text: str, scale: Scale, name: str = "") -> CriterionScore:
    """The one score that was asked for; unscored, with the reason, where the reply gives none."""
    answer = read_reply_answers(text, (WantedReplyAnswer(name, scale),)).answers.get(name)
    if answer:
        return answer.score
    refusal = find_refusal_beside_reasons(text)
    return Missing("abstained", refusal) if refusal else Missing.unreadable("no answer in the reply")


def find_refusal_beside_reasons(text: str) -> str | None:
    """The sentence in which a reply without any answer refuses to judge.

    Reasons and quotations in its objects may tell of a refusal of somebody else's.
    """
    values = find_json_values_in_reply(text)
    own = [_extract_reply_prose(text, values), *(one for value in values for one in _list_other_texts(value.data))]
    return next((refused for one in own if (refused := find_judge_refusal(one))), None)


def _list_other_texts(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            if normalize_reply_answer_name(str(key)) not in REMARK_KEYS:
                yield from _list_other_texts(value)
    elif isinstance(data, list):
        for one in data:
            yield from _list_other_texts(one)


def _bind_reply_json_answers(
    text: str, complete: list[_JsonReading], wanted: Sequence[WantedReplyAnswer]
) -> ReplyAnswers:
    full = [at for at, (_, answers) in enumerate(complete) if len(answers) == len(wanted)]
    bound = full[-1] if full else len(complete) - 1
    value, answers = complete[bound]
    if not full:
        answers = {id: answer for _, given in complete for id, answer in given.items()}
    later = [given for _, given in complete[bound + 1 :]]
    if any(_do_reply_answers_differ(answers[id], answer) for given in later for id, answer in given.items()):
        return ReplyAnswers({id: ReadAnswer(GIVEN_TWICE) for id in answers}, value.data)
    rest = text[complete[-1][0].end :]
    return ReplyAnswers(
        _drop_answers_contradicted_in_reply(answers, rest, wanted) if rest.strip() else answers, value.data
    )


def _drop_answers_contradicted_in_reply(
    answers: dict[str, ReadAnswer], rest: str, wanted: Sequence[WantedReplyAnswer]
) -> dict[str, ReadAnswer]:
    """The answers of an object, but for those that lines around it, such as "accuracy: 2", contradict."""
    return _hold_reply_against_other(
        answers, _read_prose_reply_answers(_extract_reply_prose(rest, ()), wanted, MentionWeight.LABEL)
    )


def _hold_reply_against_broken(
    answers: Mapping[str, ReadAnswer], text: str, wanted: Sequence[WantedReplyAnswer], after: int = 0
) -> Mapping[str, ReadAnswer]:
    """The answers, but for those that an object after that place contradicts which is never closed."""
    for value in find_broken_json_in_reply(text)[-MOST_VALUES:]:
        if value.start >= after:
            answers = _hold_reply_against_other(answers, read_json_reply_answers(value.data, wanted))
    return answers


def _hold_reply_against_other(
    answers: Mapping[str, ReadAnswer], others: Mapping[str, ReadAnswer]
) -> dict[str, ReadAnswer]:
    twice = {id for id, answer in others.items() if id in answers and _do_reply_answers_differ(answers[id], answer)}
    return {id: ReadAnswer(GIVEN_TWICE) if id in twice else answer for id, answer in answers.items()}


def _do_reply_answers_differ(one: ReadAnswer, other: ReadAnswer) -> bool:
    """Whether both are scores and not the same, or the other takes the score back: it cannot be assessed."""
    if not isinstance(one.score, Scored):
        return False
    if isinstance(other.score, Scored):
        return one.score.value != other.score.value
    return other.score.kind == "abstained"


def _extract_reply_prose(text: str, values: Sequence[ReplyValue]) -> str:
    """The reply without thinking and without its objects: a number that was cut off inside one is no prose."""
    objects = [value for value in values if holds_reply_json_object(value.data)]
    parts = []
    for begins, ends in find_answering_reply_stretches(text):
        at = begins
        for value in objects:
            if begins <= value.start < ends:
                parts.append(text[at : value.start])
                at = value.end
        parts.append(text[at:ends])
    return strip_reply_markup("\n".join(parts)[-MOST_PROSE:])


def _read_prose_reply_answers(
    text: str, wanted: Sequence[WantedReplyAnswer], least: MentionWeight = MentionWeight.BARE
) -> dict[str, ReadAnswer]:
    tables = read_reply_score_tables(text, wanted) if "|" in text else {}
    text = "\n".join(line for line in text.split("\n") if line.count("|") < 2)
    rest = [one for one in wanted if one.id not in tables]
    if len(wanted) != 1:
        return {**tables, **read_named_reply_scores(text, rest, max(least, MentionWeight.SHARE))}
    for one in rest:
        score = read_prose_reply_score(
            remove_scale_echoes_from_reply(text, one.scale), one.scale, map_reply_answer_names(wanted), least
        )
        if score is not None:
            return {one.id: ReadAnswer(add_band_named_in_reply(text, one.scale, score), text.strip())}
    return tables


MOST_SECTIONS = 20
_HEAD = re.compile(r"^[ \t]*([^\n:：(\[|]{1,80}?)[ \t]*(?:[:：(\[|]|[-–—] |$)", re.MULTILINE)
_LAST_WORD = re.compile(
    r"^[\s#\-]{0,8}(?:my |the |here are (?:my |the )?)?(?:final|revised|updated|adjusted|corrected)\b"
    r"[^\n:0-9]{0,50}:?[ \t]*$|"
    r"^[\s#\-]{0,8}(?:最终|修订)[^\n:0-9]{0,20}:?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)


def read_named_reply_scores(
    text: str, wanted: Sequence[WantedReplyAnswer], least: MentionWeight = MentionWeight.SHARE
) -> dict[str, ReadAnswer]:
    """What a plain text says on each of the things that were asked, where it names them."""
    names = map_reply_answer_names(wanted)
    answers = {}
    for scale in {one.scale: None for one in wanted}:
        own = remove_scale_echoes_from_reply(text, scale)
        found = [one for one in find_reply_score_statements(own, scale, names) if one.weight >= least]
        sections = _split_named_reply_sections(own, names) if least < MentionWeight.LABEL else {}
        for one in [one for one in wanted if one.scale == scale]:
            direct = [given for given in found if given.whose == one.id]
            below = sections.get(one.id, [])
            answer = _read_direct_reply_score(own, scale, direct) if direct else _read_reply_section_score(below, scale)
            answers.update({one.id: answer} if answer else {})
    return answers


def _read_direct_reply_score(text: str, scale: Scale, found: list[WeighedMention]) -> ReadAnswer:
    if mentions_another_scale_in_reply(text, scale):
        return ReadAnswer(Missing.unreadable(f"it speaks of another scale than {scale}"))
    # Under a heading such as "Revised scores" stands what counts.
    headings = [heading.start() for heading in _LAST_WORD.finditer(text)]
    revised = [one for one in found if headings and one.mention.start > headings[-1]]
    score = settle_reply_score_statements(revised or found)
    last = found[-1].mention
    reason = text[last.end :].split("\n", maxsplit=1)[0].strip(" \t-–—:;,.()|\"'")  # It follows on the same line.
    line = text[text.rfind("\n", 0, last.start) + 1 : last.end] + reason
    return ReadAnswer(add_band_named_in_reply(line, scale, score), reason)


def _split_named_reply_sections(text: str, names: Mapping[str, str]) -> dict[str, list[str]]:
    """What stands under each heading that names one, up to the next heading."""
    heads = [(head, label) for head in _HEAD.finditer(text) if (label := read_reply_score_label(head[1], names))]
    heads = [(head, label) for head, label in heads if label.whose is not None or label.final]
    ends = [*(head.start() for head, _ in heads[1:]), len(text)]
    sections: dict[str, list[str]] = {}
    for (head, label), end in zip(heads, ends, strict=False):
        if label.whose is not None:
            sections.setdefault(label.whose, []).append(text[head.end() : end])
    return sections


def _read_reply_section_score(bodies: list[str], scale: Scale) -> ReadAnswer | None:
    read = [(body, read_prose_reply_score(body, scale, {}, MentionWeight.SHARE)) for body in bodies[-MOST_SECTIONS:]]
    scores = [add_band_named_in_reply(body, scale, score) for body, score in read if score is not None]
    if not scores:
        return None
    return ReadAnswer(scores[0] if all(score == scores[0] for score in scores) else SCORES_CONTRADICT)


ScoreTableRow = list[str]
_RULE = re.compile(r"[\s|:\-+=]+")
_WEIGHT = re.compile(r"\W*(?:weight|max|scale|range|points? possible|权重|满分)", re.IGNORECASE)
_REASON = re.compile(
    r"reason|rationale|explanation|justification|comment|notes?|why|feedback|理由|说明|原因", re.IGNORECASE
)


def read_reply_score_tables(text: str, wanted: Sequence[WantedReplyAnswer]) -> dict[str, ReadAnswer]:
    """What the tables of a plain text answer; a criterion with different scores in them is unreadable."""
    names = map_reply_answer_names(wanted)
    given: dict[str, list[ReadAnswer]] = {}
    for table in _split_reply_tables(text):
        for one in wanted:
            for answer in [
                *_read_reply_table_rows(table, one, names, len(wanted) == 1),
                *_read_reply_table_columns(table, one, names, len(wanted) == 1),
            ]:
                given.setdefault(one.id, []).append(answer)
    return {
        id: answers[0] if all(answer.score == answers[0].score for answer in answers) else ReadAnswer(GIVEN_TWICE)
        for id, answers in given.items()
    }


def _split_reply_tables(text: str) -> Iterator[list[ScoreTableRow]]:
    rows: list[ScoreTableRow] = []
    for line in [*text.split("\n"), ""]:
        if line.count("|") >= 2 or (rows and "|" in line):
            if not _RULE.fullmatch(line):
                rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            if len(rows) > 1:
                yield rows
            rows = []


def _read_reply_table_rows(
    table: list[ScoreTableRow], one: WantedReplyAnswer, names: Mapping[str, str], alone: bool
) -> Iterator[ReadAnswer]:
    """| accuracy | 8 | because … |"""
    header = table[0]
    columns = [at for at, cell in enumerate(header) if at and read_reply_score_label(cell, {}) is not None]
    for row in table:
        # What a row is about: its first cell, or its second where the first only counts.
        counted = len(row) > 2 and row[0].strip(".# ").isdigit()
        named = read_reply_score_label(row[1] if counted else row[0], names)
        if named is None or not (named.whose == one.id or (alone and named.whose is None and row is not header)):
            continue
        cells = [at for at in columns if at < len(row) and row is not header]
        cells = cells or [at for at in range(1, len(row)) if at >= len(header) or not _WEIGHT.match(header[at])]
        scores = [score for at in cells if (score := _read_reply_score_cell(row[at], one.scale)) is not None]
        if len(scores) == 1:
            yield ReadAnswer(scores[0], _find_reply_row_reason(row, header))


def _read_reply_table_columns(
    table: list[ScoreTableRow], one: WantedReplyAnswer, names: Mapping[str, str], alone: bool
) -> Iterator[ReadAnswer]:
    """| accuracy | clarity | over | 8 | 7 |"""
    if len(table) != 2:
        return
    for at, cell in enumerate(table[0]):
        label = read_reply_score_label(cell, names)
        mine = label is not None and (label.whose == one.id or (alone and label.whose is None))
        # In a table of criteria with scores, the first row's name makes it a row of its own.
        if mine and at < len(table[1]) and read_reply_score_label(table[1][0], names) is None:
            score = _read_reply_score_cell(table[1][at], one.scale)
            if score is not None:
                yield ReadAnswer(score, _find_reply_row_reason(table[1], table[0]))


def _read_reply_score_cell(text: str, scale: Scale) -> CriterionScore | None:
    """A cell that holds a score and little else."""
    if len(text.split()) > 6:
        return None
    plain = strip_reply_markup(text)
    read = read_prose_reply_score(remove_scale_echoes_from_reply(plain, scale), scale, {})
    if isinstance(read, Scored) and not is_score_all_of_reply(plain, scale):
        return Missing.unreadable("… says more than a score", repr(text.strip()))
    return read


def _find_reply_row_reason(row: ScoreTableRow, header: ScoreTableRow) -> str:
    return next((cell for cell, head in zip(row, header, strict=False) if _REASON.search(head)), "")
