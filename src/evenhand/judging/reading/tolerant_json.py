"""JSON as models write it, parsed to plain values in one pass: nothing is made up where it cannot be read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Literal

from evenhand.files.parsing import decode_json_decimal, decode_json_object

# Deeper is no answer; and what is compared or copied later must not exhaust the stack.
MOST_NESTED = 64
LONGEST_AFTER_RUBBISH = 4096

# Only where a value can begin; a longer run of brackets than may be nested is none.
_OPENING = re.compile(
    r"\{(?=\s*(?:[\"'“”‘’}]|[^\W\d]|//|\#|/\*|\Z))"
    rf"|\[(?!\[{{{MOST_NESTED}}})(?=\s*(?:[\"'“”‘’{{\[(\]0-9+.\-]|[tfnTFN]|//|\#|/\*))"
)
_ENDING = re.compile(r"[}\]]")
_PLAIN_SPACE = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*)+")
_KEY = re.compile(r"[^\W\d][\w\-]{0,60}(?: [\w\-]{1,60}){0,3}(?=[ \t]{0,8}[:：])")
_WORD_IN_OBJECT = re.compile(r"[^\s,{}\[\]()\"'“”‘’:#][^,{}\[\]\"“”\n]{0,120}")
_WORD_IN_LIST = re.compile(r"[^\s,{}\[\]()\"'“”‘’:#]{1,120}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,20})?")
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_QUOTES = "\"'“”‘’"


_MOST_CHARACTERS_TRIED = 2_000_000  # Objects in each other that never end are read anew from each brace.
_PLAIN_OPENING = re.compile(r"\{(?=\s*[\"}])")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SIGN_BESIDE_JSON = re.compile(r"[<&\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PLAIN_DECODER = json.JSONDecoder(strict=False)


def escape_texts_in_reply_objects(reply: str) -> str:
    """The same JSON with no tag and no line break inside the texts of its objects.

    A tag or a fence that a reason quotes is none of the reply.
    """
    if "{" not in reply or not _SIGN_BESIDE_JSON.search(reply):
        return reply
    parts, done, tried = [], 0, 0
    for brace in _PLAIN_OPENING.finditer(reply):
        if brace.start() < done:
            continue
        if tried > _MOST_CHARACTERS_TRIED:
            break
        try:
            end = _PLAIN_DECODER.raw_decode(reply, brace.start())[1]
        except json.JSONDecodeError as error:
            tried += error.pos - brace.start()
            continue
        except (ValueError, RecursionError):
            tried += len(reply) - brace.start()
            continue
        parts += [reply[done : brace.start()], _STRING.sub(_escape_signs, reply[brace.start() : end])]
        done = end
    return "".join((*parts, reply[done:]))


def _escape_signs(text: re.Match[str]) -> str:
    return _SIGN_BESIDE_JSON.sub(lambda sign: _SHORT_ESCAPES.get(sign[0]) or f"\\u{ord(sign[0]):04x}", text[0])


def parse_tolerant_json_reply(text: str, start: int, end: int) -> tuple[list[ReplyValue], list[ReplyValue]]:
    """Every top-level value between two places, in order, and the objects that break off in between."""
    reader = _JudgeReplyScanner(text, start, end)
    while reader.step():
        pass
    return sorted(reader.values, key=lambda value: value.start), reader.broken


@dataclass(slots=True)
class _OpenReplyContainer:
    """A container that is still open."""

    opening: str
    start: int
    expects: str
    key: str = ""
    pairs: list[tuple[str, object]] = field(default_factory=list)
    items: list[object] = field(default_factory=list)
    inside: list[ReplyValue] = field(default_factory=list)

    def add(self, item: object) -> None:
        if self.opening == "{":
            self.pairs.append((self.key, item))
        else:
            self.items.append(item)
        self.expects = "after"

    def data(self) -> object:
        return decode_json_object(self.pairs) if self.opening == "{" else self.items


class _JudgeReplyScanner:
    """One pass over a text. A fault drops what is open and goes on from the fault, so that no place is read twice."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.at, self.end = text, start, end
        self.open: list[_OpenReplyContainer] = []
        self.values: list[ReplyValue] = []
        self.broken: list[ReplyValue] = []
        self.no_comment_ends = False
        self.last_comment = -1
        self.takes = {"key": self._key, "colon": self._colon, "value": self._value, "after": self._after}

    def step(self) -> bool:
        """Take one token; False at the end of the text."""
        if not self.open:
            opening = _OPENING.search(self.text, self.at, self.end)
            if opening is None:
                return False
            self.at = opening.start()
            self._push(self.text[self.at])
            return True
        self._skip_space()
        if self.at >= self.end:
            # The text ends inside a value: what was complete in it is kept, marked as not complete.
            self.values.append(self._close_broken(self.end))
            return False
        frame = self.open[-1]
        if not self.takes[frame.expects](frame, self.text[self.at]):
            # Forget what is open, but keep what was whole inside it.
            self.values += [value for frame in self.open for value in frame.inside if value.data]
            if any(frame.pairs for frame in self.open):
                self.broken.append(self._close_broken(max(self.at, self.open[0].start + 1)))
            self.open.clear()
        return True

    def _close_broken(self, end: int) -> ReplyValue:
        """What was complete in the containers that are open, marked as not complete."""
        while len(self.open) > 1:
            inner = self.open.pop()
            self.open[-1].add(inner.data())
        frame = self.open.pop()
        return ReplyValue(frame.data(), False, frame.start, end)

    def _key(self, frame: _OpenReplyContainer, char: str) -> bool:
        if char == "}":
            return self._close()
        if char in _QUOTES:
            text, self.at, found = read_quoted_reply_string(self.text, self.at, self.end, "key")
            frame.key = text
        else:
            word = _KEY.match(self.text, self.at, self.end)
            found = "closed" if word else "broken"
            if word:
                frame.key, self.at = word.group(), word.end()
        frame.expects = "colon"
        return found != "broken"

    def _colon(self, frame: _OpenReplyContainer, char: str) -> bool:
        if char not in ":：":
            return False
        self.at += 1
        frame.expects = "value"
        return True

    def _value(self, frame: _OpenReplyContainer, char: str) -> bool:
        if char in "{[(":
            return self._push(char)
        if char in _QUOTES:
            text, self.at, found = read_quoted_reply_string(
                self.text, self.at, self.end, "value" if frame.opening == "{" else "item"
            )
            if found == "closed":
                frame.add(text)
            return found != "broken"
        if char == _CLOSING[frame.opening] and frame.opening != "{":
            return self._close()
        return self._word(frame)

    def _after(self, frame: _OpenReplyContainer, char: str) -> bool:
        if char == ",":
            self.at += 1
            frame.expects = "key" if frame.opening == "{" else "value"
            return True
        if frame.opening == "{" and char in _QUOTES:
            frame.expects = "key"  # A comma was forgotten.
            return True
        return char == _CLOSING[frame.opening] and self._close()

    def _word(self, frame: _OpenReplyContainer) -> bool:
        word = (_WORD_IN_OBJECT if frame.opening == "{" else _WORD_IN_LIST).match(self.text, self.at, self.end)
        if word is None:
            return False
        plain = re.split(r"\s*(?://|#|/\*)", word.group(), maxsplit=1)[0].rstrip()
        item = _parse_unquoted_reply_word(plain)
        ends = word.end() if isinstance(item, str) else self.at + len(plain)
        if ends == self.end:  # Whether it ends here or was cut here, nobody can tell.
            self.at = self.end
            return True
        if isinstance(item, str) and (frame.opening != "{" or self.text[word.end()] not in ",}\n"):
            return False
        self.at += len(plain)
        frame.add(item)
        return True

    def _push(self, char: str) -> bool:
        if len(self.open) >= MOST_NESTED:
            # Too deep to be an answer: go on shortly before something is closed again.
            ending = _ENDING.search(self.text, self.at, self.end)
            self.at = max(self.at, (ending.start() if ending else self.end) - LONGEST_AFTER_RUBBISH)
            return False
        self.open.append(_OpenReplyContainer(char, self.at, "key" if char == "{" else "value"))
        self.at += 1
        return True

    def _close(self) -> bool:
        frame = self.open.pop()
        self.at += 1
        value = ReplyValue(frame.data(), True, frame.start, self.at, has_comment=self.last_comment > frame.start)
        if self.open:
            self.open[-1].add(value.data)
            self.open[-1].inside.append(value)
        else:
            self.values.append(value)
        return True

    def _skip_space(self) -> None:
        while self.at < self.end and (self.text[self.at] in "#/" or self.text[self.at].isspace()):
            space = _PLAIN_SPACE.match(self.text, self.at, self.end)
            if space:
                self.last_comment = self.last_comment if space.group().isspace() else space.end()
                self.at = space.end()
            if not self.text.startswith("/*", self.at) or self.no_comment_ends:
                return
            closing = self.text.find("*/", self.at + 2, self.end)
            self.no_comment_ends = closing < 0
            if closing >= 0:
                self.at = self.last_comment = closing + 2


def _parse_unquoted_reply_word(word: str) -> object:
    if word.lower() in _CONSTANTS:
        return _CONSTANTS[word.lower()]
    if not _NUMBER.fullmatch(word):
        return word
    digits = word.lstrip("+-")
    if digits.isdecimal() and len(digits) < 18:
        return int(word)
    return decode_json_decimal(word)


StringEnding = Literal["closed", "cut", "broken"]
StringPlace = Literal["key", "value", "item"]

MOST_OF_A_KEY = 200

# Which characters may end a text that began with this one.
_ENDS = {'"': '"', "'": "'", "“": "“”\"", "”": "“”\"", "‘": "‘’'", "’": "‘’'"}  # fmt: skip
_MARKS = {opening: re.compile(rf"\\(?s:.)|[{ends}]") for opening, ends in _ENDS.items()}

# A quote ends a text only where what follows could follow a text: in valid JSON it always does, and a quote that
# nobody escaped rarely does.
_NEXT_KEY = r"[\"'“”‘’}]|[^\W\d][\w\-]{0,60}[ \t]{0,8}[:：]|//|\#|/\*|\Z"
_FOLLOWS: dict[StringPlace, re.Pattern[str]] = {
    "key": re.compile(r"\s*[:：]|\s*\Z"),
    "value": re.compile(
        rf"\s*(?:\}}|,\s*(?:{_NEXT_KEY})|//|\#|/\*|\Z)|\s*\n\s*[\"'“][^\"'“”\n]{{1,60}}[\"'”][ \t]{{0,8}}:"
    ),
    "item": re.compile(r"\s*(?:[\]),]|//|\#|/\*|\Z)"),
}
_OPENS_OBJECT = re.compile(r"\{\s{0,8}\Z")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|((?s:.)))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_quoted_reply_string(text: str, start: int, end: int, place: StringPlace) -> tuple[str, int, StringEnding]:
    """The quoted text that begins here, where to go on, and whether it was closed, cut off or is none at all."""
    stop = min(end, start + MOST_OF_A_KEY) if place == "key" else end
    for mark in _MARKS[text[start]].finditer(text, start + 1, stop):
        if mark.group()[0] == "\\":
            continue
        if _FOLLOWS[place].match(text, mark.end(), end):
            return _unescape_reply_string(text[start + 1 : mark.start()]), mark.end(), "closed"
        opens = _OPENS_OBJECT.search(text, max(start + 1, mark.start() - 9), mark.start())
        if opens:  # A quote was never closed, and this is the next object.
            return "", opens.start(), "broken"
    return ("", end, "cut") if stop == end else ("", start + 1, "broken")


def _unescape_reply_string(text: str) -> str:
    if "\\" in text:
        text = _ESCAPE.sub(lambda one: chr(int(one[1], 16)) if one[1] else _ESCAPED.get(one[2], one[2]), text)
    text = _SURROGATE_PAIR.sub(lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _SURROGATE.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class ReplyValue:
    """A JSON-like object or array in a text, and where; not complete where it breaks off."""

    data: object
    complete: bool
    start: int
    end: int
    has_comment: bool = False
