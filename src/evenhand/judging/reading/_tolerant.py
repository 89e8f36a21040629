"""JSON as models write it, to plain values: one pass, no recursion, and nothing made up where it cannot be read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from evenhand.judging.reading._strings import string_at
from evenhand.judging.reading._values import Value
from evenhand.loading import decimal_in, object_of

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


def parse(text: str, start: int, end: int) -> list[Value]:
    """Every top-level value between two places, in order."""
    reader = _Reader(text, start, end)
    while reader.step():
        pass
    return sorted(reader.values, key=lambda value: value.start)


@dataclass(slots=True)
class _Frame:
    """A container that is still open."""

    opening: str
    start: int
    expects: str
    key: str = ""
    pairs: list[tuple[str, object]] = field(default_factory=list)
    items: list[object] = field(default_factory=list)
    inside: list[Value] = field(default_factory=list)

    def add(self, item: object) -> None:
        if self.opening == "{":
            self.pairs.append((self.key, item))
        else:
            self.items.append(item)
        self.expects = "after"

    def data(self) -> object:
        return object_of(self.pairs) if self.opening == "{" else self.items


class _Reader:
    """One pass over a text. A fault drops what is open and goes on from the fault, so that no place is read twice."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.at, self.end = text, start, end
        self.open: list[_Frame] = []
        self.values: list[Value] = []
        self.no_comment_ends = False
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
            self._break_off()
            return False
        frame = self.open[-1]
        if not self.takes[frame.expects](frame, self.text[self.at]):
            self._drop()
        return True

    def _key(self, frame: _Frame, char: str) -> bool:
        if char == "}":
            return self._close()
        if char in _QUOTES:
            text, self.at, found = string_at(self.text, self.at, self.end, "key")
            frame.key = text
        else:
            word = _KEY.match(self.text, self.at, self.end)
            found = "closed" if word else "broken"
            if word:
                frame.key, self.at = word.group(), word.end()
        frame.expects = "colon"
        return found != "broken"

    def _colon(self, frame: _Frame, char: str) -> bool:
        if char not in ":：":
            return False
        self.at += 1
        frame.expects = "value"
        return True

    def _value(self, frame: _Frame, char: str) -> bool:
        if char in "{[(":
            return self._push(char)
        if char in _QUOTES:
            text, self.at, found = string_at(self.text, self.at, self.end, "value" if frame.opening == "{" else "item")
            if found == "closed":
                frame.add(text)
            return found != "broken"
        if char == _CLOSING[frame.opening] and frame.opening != "{":
            return self._close()
        return self._word(frame)

    def _after(self, frame: _Frame, char: str) -> bool:
        if char == ",":
            self.at += 1
            frame.expects = "key" if frame.opening == "{" else "value"
            return True
        if frame.opening == "{" and char in _QUOTES:
            frame.expects = "key"  # A comma was forgotten.
            return True
        return char == _CLOSING[frame.opening] and self._close()

    def _word(self, frame: _Frame) -> bool:
        word = (_WORD_IN_OBJECT if frame.opening == "{" else _WORD_IN_LIST).match(self.text, self.at, self.end)
        if word is None:
            return False
        plain = re.split(r"\s*(?://|#|/\*)", word.group(), maxsplit=1)[0].rstrip()
        item = _plain(plain)
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
            self._pass_over()
            return False
        self.open.append(_Frame(char, self.at, "key" if char == "{" else "value"))
        self.at += 1
        return True

    def _pass_over(self) -> None:
        """Too deep to be an answer: go on shortly before something is closed again."""
        ending = _ENDING.search(self.text, self.at, self.end)
        self.at = max(self.at, (ending.start() if ending else self.end) - LONGEST_AFTER_RUBBISH)

    def _close(self) -> bool:
        frame = self.open.pop()
        self.at += 1
        value = Value(frame.data(), True, frame.start, self.at)
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
                self.at = space.end()
            if not self.text.startswith("/*", self.at) or self.no_comment_ends:
                return
            closing = self.text.find("*/", self.at + 2, self.end)
            self.no_comment_ends = closing < 0
            if closing >= 0:
                self.at = closing + 2

    def _drop(self) -> None:
        """Forget what is open, but keep what was whole inside it."""
        for frame in self.open:
            self.values.extend(value for value in frame.inside if value.data)
        self.open.clear()

    def _break_off(self) -> None:
        """The text ends inside a value: what was complete in it is kept, marked as not complete."""
        while len(self.open) > 1:
            inner = self.open.pop()
            self.open[-1].add(inner.data())
        self.values.append(Value(self.open[0].data(), False, self.open[0].start, self.end))
        self.open.clear()


def _plain(word: str) -> object:
    if word.lower() in _CONSTANTS:
        return _CONSTANTS[word.lower()]
    if not _NUMBER.fullmatch(word):
        return word
    digits = word.lstrip("+-")
    if digits.isdecimal() and len(digits) < 18:
        return int(word)
    return decimal_in(word)
