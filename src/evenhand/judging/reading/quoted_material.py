"""What a reply quotes of the material it judges, and which of its answers may therefore be the author's.

An object that also stands in the material is the judge's own only where the reply is nothing else. A line, such as
"Score: 4", is too short to tell: words or marks around it, or another answer beside it, say whose it is.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from evenhand.judging.reading.copied_answers import COPIED, ComparedValue, PlantedReplyAnswers, read_given_answers
from evenhand.judging.reading.json_answers import cut_values_under_foreign_keys, squeeze_quotation_in_reply
from evenhand.judging.reading.quotation_signs import (
    QUOTATION_SIGNS,
    MarkedQuotations,
    find_introduced_quotations,
    find_quoting_cells_in_reply,
    is_answer_only_framed,
    is_quotation_attributed,
    is_quotation_left_open,
    is_quotation_of_judge,
)
from evenhand.judging.reading.repeated_text import (
    GONE,
    ReadAnswers,
    RepeatedStretch,
    WordPairs,
    cut_reply_stretches,
    drop_marks_of_ours,
    drop_reply_stretches_inside_values,
    find_doubtful_lines,
    find_reply_answered_otherwise,
    find_words_repeated_in_reply,
    holds_reply_answer,
    index_judged_word_pairs,
    list_disowned_reply_values,
    mark_reply_value,
    show_marks,
    split_reply_words,
)
from evenhand.judging.reading.reply_text import (
    find_broken_json_in_reply,
    find_json_values_in_reply,
    has_reply_too_much_json,
    holds_reply_json_object,
    is_reply_one_value,
    remove_thinking_marks_from_reply,
    spell_answer_shapes,
    spell_json_objects_of_reply,
    spell_out_reply_to_compare,
    strip_thinking_before_reply,
)
from evenhand.judging.reading.score_mentions import Answer, find_answer_value
from evenhand.judging.reading.tolerant_json import ReplyValue
from evenhand.model.scale import CriterionScore, Missing

WHICH_IS_QUOTED = "its answer also stands in the text it judges, and it says more: the answer alone would count"
MOST_STRETCHES = 500  # The last ones: an answer stands near the end.
MOST_BOXES = 50
MOST_REGIONS = 200
FIRST_MEASURED = 32
MOST_BROKEN = 20
LONGEST_QUOTATION = 2000
LONGEST_BROKEN = 40_000
_BOX = re.compile(r"[★⭐🌟]{1,20}☆{0,20}|\[\[[^\[\]\n]{1,60}\]\]|\\boxed\{[^{}\n]{1,60}\}")
_NUMBER_LINE = re.compile(r"^[^\w\n]{0,12}([0-9]{1,3}(?:[./][0-9]{1,3})?)[^\w\n]{0,12}$", re.MULTILINE)
_CONTENT = re.compile(r"[\w{\[★]")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\#[^\n]*", re.DOTALL)
# Nothing around an object but marks that strike it out or question it.
_CROSSED = re.compile(r"(?=.*?(?:(?<!~)~~(?!~)|[❌✖✗✘👎⛔🚫?？]))\W*", re.DOTALL)
_QUOTES_ALONE = frozenset("“„«‹「『>")  # In others a judge also puts an answer of its own.
_QUOTED_PAIR = re.compile(
    r"(?:[\"'“”‘’][^\"'“”‘’\n]{1,80}|\b[\w\-]{1,60})[\"'“”‘’]\s{0,4}[:：=]{1,2}\s{0,4}[\"'“”‘’]?[\w./%★]{1,30}"
)
_UNQUOTED = re.compile(r"[^\"“”「」`]+")


class JudgedMaterial:
    """The texts that a judge was shown, and what of a reply also stands in them."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = pieces
        self._last_cut: dict[tuple[str, ...], str] = {}  # A reply is read without its quotations, and then doubted.

    @cached_property
    def squeezed(self) -> str:
        """All of the material without layout and quotation marks."""
        return "\0".join(map(squeeze_quotation_in_reply, self.pieces))

    @cached_property
    def number_lines(self) -> set[str]:
        """The numbers that are all there is on a line of the material."""
        return {line[1] for piece in self.pieces for line in _NUMBER_LINE.finditer(piece)}

    @cached_property
    def objects(self) -> set[str]:
        """The JSON objects of the material, whatever the order of their keys and however they are written."""
        values = (value.data for piece in self.pieces for value in find_json_values_in_reply(piece))
        return {spelt for data in values for spelt in spell_json_objects_of_reply(data)}

    @cached_property
    def planted(self) -> PlantedReplyAnswers:
        """The answers that stand in the material."""
        return PlantedReplyAnswers(self.pieces)

    @cached_property
    def shapes(self) -> set[str]:
        """The objects of the material without their texts, each with one of these."""
        values = (value.data for piece in self.pieces for value in find_json_values_in_reply(piece))
        return {shape for data in values for shape in spell_answer_shapes(data)}

    @cached_property
    def pairs(self) -> WordPairs:
        """All words of the material, and where each pair of them stands."""
        return index_judged_word_pairs(self.pieces)

    def cut_quoted(self, reply: str, names: Collection[str] = ()) -> str:
        """The reply without what it says to be the material's, in words, by marks or by a key that is no name asked.

        `show_marks` makes it a text to be read.
        """
        asked = (reply, *names)
        if asked not in self._last_cut:
            self._last_cut = {asked: self._cut_quoted(reply, names)}
        return self._last_cut[asked]

    def _cut_quoted(self, reply: str, names: Collection[str]) -> str:
        reply = drop_marks_of_ours(reply)
        if has_reply_too_much_json(reply):
            return reply
        reply = remove_thinking_marks_from_reply(reply, self._stands_in_material)
        reply = cut_values_under_foreign_keys(reply, self.squeezed, names, partial(self._is_copy_with_text, reply))
        reply = cut_reply_stretches(reply, self._find_marked(reply))
        reply = cut_reply_stretches(reply, self._find_introduced(reply))
        repeated = self._find_repeated(reply)
        reworded = self._find_reworded(reply, repeated)
        both = sorted([*repeated, *reworded], key=lambda one: (one.start, -one.end))
        disowned = set(list_disowned_reply_values(reply, both))
        quoted = [
            one
            for one in both
            if one in disowned
            or is_quotation_attributed(reply, one.start, one.end, one.is_value)
            or (one.is_cut and is_quotation_left_open(reply, one.start))
        ]
        return cut_reply_stretches(reply, quoted)

    def find_doubtful(
        self,
        reply: str,
        given: Mapping[str, Answer],
        read: ReadAnswers,
        *,
        names: Collection[str] = (),
        is_asked_again: bool = False,
    ) -> set[str]:
        """The names whose answer in a reply may be the author's, because it also stands in the material.

        It is looked for in the reply without what that quotes of the `names` asked. Objects are held against the
        material as they came, too: what is left of one that was cut into stands in it no more.

        An object that does is left out, and the answer has to be there still, if anything at all is beside it. One
        without a text may be alike by chance: it is left out only where the judge is asked again. Beside a line
        nothing may say otherwise.
        """
        own, doubtful = self.cut_quoted(reply, names), set[str]()
        if own != reply:
            came = spell_out_reply_to_compare(drop_marks_of_ours(reply))
            doubtful = self._find_copied(
                came,
                self._find_repeated(came),
                given,
                lambda rest: read(self.cut_quoted(rest, names)),
                is_asked_again,
            )
        own = spell_out_reply_to_compare(own)
        repeated = self._find_repeated(own)
        doubtful |= self._find_copied(own, repeated, given, read, is_asked_again)
        doubtful |= find_doubtful_lines(own, [*repeated, *self._find_reworded(own, repeated)], given, read)
        added = self._list_added_to_bare(own, given)
        return doubtful.union(*(find_reply_answered_otherwise(part, given, read) for part in added))

    def _list_added_to_bare(self, own: str, given: Mapping[str, Answer]) -> Iterator[str]:
        """What objects without a text, which may be alike by chance, say beside their answers."""
        for value in find_json_values_in_reply(own)[-MOST_STRETCHES:]:
            added = self.planted.describe_added_to_bare(value.data, given) if value.complete else None
            if added is not None:
                comments = _COMMENT.findall(_STRING.sub("", own[value.start : value.end])) if value.has_comment else []
                yield "\n".join([added, *comments])

    def _find_copied(
        self,
        own: str,
        repeated: Sequence[RepeatedStretch],
        given: Mapping[str, Answer],
        read: ReadAnswers,
        is_asked_again: bool,
    ) -> set[str]:
        """The names whose answer an object of the material gives, and that the reply gives nowhere else."""
        cut = [one for one in repeated if one.is_cut]
        copies = [(one.start, one.end, ComparedValue(COPIED, True, True)) for one in cut]
        values = [*find_json_values_in_reply(own), *find_broken_json_in_reply(own)]
        for value in values[-MOST_STRETCHES:]:
            compared = self._compare_value(own, value, is_asked_again)
            copies += [] if compared is None else [(value.start, value.end, compared)]
        if not copies:
            return set()
        parts, at = [], 0
        for start, end, compared in sorted(copies, key=lambda one: (one[0], -one[1])):
            if start >= at:
                left = GONE if compared.rest is COPIED else json.dumps(compared.rest, default=str)
                parts += [own[at:start], left]
                at = end
        rest = "".join([*parts, own[at:]])
        beside = strip_thinking_before_reply(rest, len(parts[0])).replace(GONE, " ")
        beside = beside.replace('"', " ") if cut else beside  # Where it breaks off may be inside a text.
        is_once = len(parts) == 2 and is_answer_only_framed(beside)  # Given twice, one is beside the other.
        if (is_once or (cut and self._stands_in_material(own))) and all(one.is_whole for _, _, one in copies):
            return set()
        said = read(rest)
        return {name for name, value in given.items() if said.get(name) != value}

    def _compare_value(self, reply: str, value: ReplyValue, is_asked_again: bool) -> ComparedValue | None:
        """An object of a reply held against the material; None where nothing of it is copied."""
        if not holds_reply_json_object(value.data):
            return None
        has_text = any(spell_answer_shapes(value.data))
        is_plain = not value.has_comment and not read_given_answers(value.data).is_contradicted
        if self._holds_value(reply, value) or (not has_text and self.planted.gives_same_without_text(value.data)):
            is_crossed = _CROSSED.fullmatch(f"{reply[: value.start]}\n{reply[value.end :]}") is not None
            is_plain &= self.planted.adds_nothing(value.data, reply[value.start : value.end])
            is_plain &= not self._is_bracketed(value.data)
            return ComparedValue(COPIED, True, is_plain) if has_text or is_asked_again or is_crossed else None
        compared = self.planted.compare_value(value.data)
        return replace(compared, is_whole=compared.is_whole and is_plain) if compared.is_copied else None

    def _find_marked(self, reply: str) -> list[RepeatedStretch]:
        """What is marked as a quotation, with an answer in it; alone, only by marks that mean nothing else."""
        found: list[RepeatedStretch] = []
        at, marked = 0, MarkedQuotations(reply)
        for _ in range(MOST_REGIONS):
            region = marked.find_next(at)
            if region is None:
                break
            start, end, is_block = region
            length = self._measure_marked(reply, start, end, is_block)
            found += [RepeatedStretch(start, start + length, ())] if length else []
            at = start + length + bool(length and not is_block)  # An opening mark may have been a closing one.
        for start, end in deque(find_quoting_cells_in_reply(reply), maxlen=MOST_STRETCHES):
            if self._is_quotation(reply[start:end]):
                found.append(RepeatedStretch(start, end, ()))
        found = drop_reply_stretches_inside_values(sorted(found, key=lambda one: one.start), reply)
        if _CONTENT.search(cut_reply_stretches(reply, found).replace(GONE, "")):
            return found
        return [one for one in found if reply[one.start - 1 : one.start] in _QUOTES_ALONE]

    def _measure_marked(self, reply: str, start: int, end: int, is_block: bool) -> int:
        """How much of a marked region is quoted: all or nothing, but a judge may go on in the last line of a block."""
        if is_quotation_of_judge(reply, start):
            return 0
        if self._is_quotation(reply[start:end]):
            return end - start
        mark = reply[start - 1]
        if not is_block and mark not in "\"'":
            return 0
        length = self._measure_quotation(reply[start : end if is_block else len(reply)][:LONGEST_QUOTATION])
        if not is_block:  # JSON has such marks inside: the first one after its words closes it.
            body = reply[start : start + length].rstrip(f"{mark} \t\r\n")
            length = max(0, reply.find(mark, start + len(body), start + length) - start)
        return length if holds_reply_answer(reply[start : start + length]) else 0

    def _is_quotation(self, text: str) -> bool:
        if len(text) > LONGEST_QUOTATION or not holds_reply_answer(text):
            return False
        return self._stands_in_material(text.strip(QUOTATION_SIGNS + ".,;"))

    def _find_introduced(self, reply: str) -> list[RepeatedStretch]:
        """What follows words such as "the output says:", as far as it stands in the material, in one paragraph."""
        found = []
        for start in deque(find_introduced_quotations(reply), maxlen=MOST_STRETCHES):
            end = reply.find("\n\n", start)
            length = self._measure_quotation(reply[start : end if end >= 0 else len(reply)][:LONGEST_QUOTATION])
            if holds_reply_answer(reply[start : start + length]):
                found.append(RepeatedStretch(start, start + length, ()))
        return drop_reply_stretches_inside_values(found, reply)

    def _measure_quotation(self, text: str) -> int:
        """How many characters from the beginning of a text stand in the material."""
        low, high = 0, min(len(text), FIRST_MEASURED)
        while high < len(text) and self._stands_in_material(text[:high]):
            low, high = high, min(len(text), 4 * high)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._stands_in_material(text[:middle]) else (low, middle - 1)
        return low

    def _stands_in_material(self, text: str) -> bool:
        return squeeze_quotation_in_reply(text) in self.squeezed

    def _holds_value(self, reply: str, value: ReplyValue) -> bool:
        return self._stands_in_material(reply[value.start : value.end]) or self._is_made_of_copies(value.data)

    def _is_copy_with_text(self, reply: str, value: ReplyValue) -> bool:
        return value.complete and any(spell_answer_shapes(value.data)) and self._holds_value(reply, value)

    def _is_bracketed(self, data: object) -> bool:
        """Whether a list is brackets around objects of the material, and no list of it."""
        if not isinstance(data, list) or self._is_known_object(data):
            return False
        return all(self._is_known_object(one) or self._is_bracketed(one) for one in data)

    def _is_known_object(self, data: object) -> bool:
        return next(spell_json_objects_of_reply(data), None) in self.objects

    def _is_made_of_copies(self, data: object, depth: int = 4) -> bool:
        """Whether a value stands in the material, or all that it holds does: some of a longer answer, say."""
        below = list(data.values()) if isinstance(data, dict) else data if isinstance(data, list) else []
        return self._is_known_object(data) or (
            depth > 0 and bool(below) and all(self._is_made_of_copies(one, depth - 1) for one in below)
        )

    def _find_reworded(self, reply: str, repeated: Sequence[RepeatedStretch]) -> list[RepeatedStretch]:
        """Objects that give the answers of one in the material, with one of its texts: others may be changed."""
        known = {one.start for one in repeated if one.is_value}
        if is_reply_one_value(reply, find_json_values_in_reply(reply)):
            return []  # The same quotation and score, with a reason of its own: what that says is no second answer.
        return [
            mark_reply_value(reply, value)
            for value in find_json_values_in_reply(reply)[-MOST_STRETCHES:]
            if value.complete
            and value.start not in known
            and not self.shapes.isdisjoint(spell_answer_shapes(value.data))
        ]

    def _find_repeated(self, reply: str) -> list[RepeatedStretch]:
        """JSON values that stand in the material, and the longest runs of words with an answer in them that do."""
        values = [value for value in find_json_values_in_reply(reply) if holds_reply_json_object(value.data)]
        gaps = list(zip([0, *(one.end for one in values)], [*(one.start for one in values), len(reply)], strict=True))
        if is_reply_one_value(reply, values):
            return []  # Nothing but one answer: whose should it be?
        found = [
            mark_reply_value(reply, value)
            for value in values[-MOST_STRETCHES:]
            if value.complete and self._holds_value(reply, value)
        ]
        cut = [value for value in values if not value.complete]
        for value in [*cut[-MOST_BROKEN:], *find_broken_json_in_reply(reply)[-MOST_BROKEN:]]:
            # Also what follows the place where it breaks: the rest of a broken object is no line of the judge's.
            length = self._measure_quotation(reply[value.start : value.start + LONGEST_BROKEN])
            if holds_reply_answer(reply[value.start : value.start + length]):
                words = split_reply_words(reply[value.start : value.start + length])
                found.append(RepeatedStretch(value.start, value.start + length, words, is_cut=True))
        found += [
            RepeatedStretch(*box.span(), split_reply_words(box.group()) or (str(box.group().count(box.group()[0])),))
            for box in deque(_BOX.finditer(reply), maxlen=MOST_BOXES)
            if any(box.group() in piece for piece in self.pieces)
        ]
        found += [
            RepeatedStretch(*line.span(1), split_reply_words(line[1]))
            for line in deque(_NUMBER_LINE.finditer(reply), maxlen=MOST_BOXES)
            if line[1] in self.number_lines
        ]
        # No run goes on over a quotation mark: what is quoted ends there. `"name": 10` is a piece of an object.
        for start, end in gaps:
            found += [
                RepeatedStretch(*pair.span(), split_reply_words(pair.group()), is_cut=True)
                for pair in deque(_QUOTED_PAIR.finditer(reply, start, end), maxlen=MOST_STRETCHES)
                if self._is_quotation(pair.group())
            ]
            for part in _UNQUOTED.finditer(reply, start, end):
                runs = find_words_repeated_in_reply(reply, *part.span(), self.pairs)
                found += [RepeatedStretch(*run) for run in runs]
        return sorted(found, key=lambda stretch: (stretch.start, -stretch.end))[-MOST_STRETCHES:]


def read_own_score_in_reply(
    reply: str, material: Sequence[str], name: str, read: Callable[[str], CriterionScore]
) -> CriterionScore:
    """The one score of that name that the judge itself gives beside what it quotes."""
    shown = JudgedMaterial(material)
    own = shown.cut_quoted(reply, (name,))
    score = read(show_marks(own))
    if isinstance(score, Missing):
        return score

    def read_answer(text: str) -> dict[str, Answer]:
        value = find_answer_value(read(show_marks(text)))
        return {} if value is None else {name: value}

    doubtful = shown.find_doubtful(reply, {name: score.value}, read_answer, names=(name,))
    return Missing.unreadable(WHICH_IS_QUOTED) if doubtful else score
