"""Which of several outputs a reply prefers: its JSON, else its last word, else what it says throughout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from evenhand.judging.reading.reply_text import (
    TOO_MUCH_JSON,
    find_json_values_in_reply,
    has_reply_too_much_json,
    normalize_reply_answer_name,
    strip_reply_markup,
    strip_thinking_from_reply,
)
from evenhand.model.scale import Missing

NO_VERDICT = Missing.unreadable("no verdict in the reply")
CHOICES_CONTRADICT = Missing.unreadable("contradicting verdicts")

NEITHER = ""  # A verdict that takes itself back.

_KEY = re.compile(
    r"(?:final|overall)?(?:winner|verdict|better|choice|preferred|preference|best|answer|decision|winning)"
    r"(?:response|output|answer|assistant|model|option)?"
)
_BOX = re.compile(r"\[\[\s{0,4}([^\[\]\n]{1,60}?)\s{0,4}\]\]|\\boxed\{\s{0,4}([^{}\n]{1,60}?)\s{0,4}\}")
_COMPARED = re.compile(r"([^<>=≈~]{1,30})([<>=≈~]{1,2})([^<>=≈~]{1,30})")
_BETTER = (
    r"(?:is|was|as|wins as)\s(?:(?:slightly|significantly|much|clearly|definitely|marginally|a|an|the|overall|"
    r"generally|by far|ultimately|considered|therefore|thus|far|somewhat)\s){0,4}"
    r"(?:better|best|superior|preferred|preferable|stronger|winner|winning|more preferable)\b"
    r"|(?:wins|should be (?:preferred|chosen))\b|更好|更优|胜出|获胜"
)
_CLOSING = re.compile(
    r"\b(?:therefore|thus|hence|overall|in conclusion|to conclude|in summary|so|finally|consequently|ultimately)\b|"
    r"因此|综上|总之|所以",
    re.IGNORECASE,
)
_ANNOUNCED = (
    r"(?:\b(?:verdict|winner|decision|choice|answer|judge?ment|preference|conclusion|better|"
    r"better (?:response|output|answer|one|assistant|option)|preferred (?:response|output|answer|option))|"
    r"胜者|结论|选择|更好的(?:回答|是))"
)
_CHOSEN = (
    r"\bi(?:'d|'ll|\swould|\swill|\shave|\smust)?\s"
    r"(?:prefer|choose|chose|chosen|select|selected|pick|go with|decided on|favou?r)"
)
_NOT_SAID = re.compile(
    r"\b(?:neither|nor|whether|if|not|false|untrue|wrong|cannot|argu\w+|claim\w*|in terms of|regarding|"
    r"with respect to|as for)\b|n't\b",
    re.IGNORECASE,
)

_SAID_TO_LOSE = re.compile(r"[^\n.;]{0,40}?(?:\b(?:worse|worst|weaker|loses?|lost|not)\b|n't\b)", re.IGNORECASE)


def read_reply_choice(text: str, choices: Mapping[str, Sequence[str]]) -> str | Missing:
    """The choice that the reply's verdict names; two that contradict each other are unreadable.

    What the reply says in JSON binds, else in double brackets, else under a label or alone on its last line, else
    where it concludes, else anywhere.
    """
    if has_reply_too_much_json(text):
        return TOO_MUCH_JSON
    reader = _ReplyChoiceReader(choices)
    body = strip_thinking_from_reply(text)
    said = strip_reply_markup(body)
    for verdicts in (
        reader.find_json_choices(text),
        reader.find_boxed_choices(body),
        reader.find_announced_choices(said),
        reader.find_concluded_choices(said),
        reader.find_stated_choices(said),
    ):
        found = set(verdicts)
        if NEITHER in found:
            return CHOICES_CONTRADICT
        if found:
            return found.pop() if len(found) == 1 else CHOICES_CONTRADICT
    return NO_VERDICT


class _ReplyChoiceReader:
    """The patterns of one set of choices."""

    def __init__(self, choices: Mapping[str, Sequence[str]]) -> None:
        self.known = {
            normalize_reply_answer_name(alias): id for id, aliases in choices.items() for alias in (*aliases, id)
        }
        spelt = {strip_reply_markup(alias).strip() for id, aliases in choices.items() for alias in (*aliases, id)}
        longest = sorted(spelt - {""}, key=len, reverse=True)
        one, named = map(_build_reply_choice_pattern, (longest, [alias for alias in longest if len(alias) > 1]))
        self.announcement = re.compile(
            rf"{_ANNOUNCED}\s?(?:is|would be)?\s?[:=]\s{{0,4}}(?:the |a )?[\"'(\[]?({one})(?!\s(?-i:[a-z]{{3,}}))",
            re.IGNORECASE,
        )
        self.any = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, longest)) or '(?!)'})(?!\w)")
        self.alone = re.compile(rf"[\s#\-\"'(\[]{{0,6}}({one})[\s.!\"')\]]{{0,6}}", re.IGNORECASE)
        self.better = re.compile(
            rf"({one})(?:'s)?\s?(?:(?:response|answer|output)\s)?(?:{_BETTER})"
            rf"|(?:better|best|preferred|superior|winning|stronger)\s(?:\w{{1,20}}\s){{0,2}}is\s(?:the\s)?({one})"
            rf"|{_CHOSEN}\s(?:the\s)?({named})"
            rf"|(?:rate|call|is|as|are)\s(?:it |this |them )?(?:an? )?({named})[\s.!]*\Z",
            re.IGNORECASE,
        )

    def find_json_choices(self, text: str) -> Iterator[str]:
        """{"winner": "A"}: the last complete object that has it."""
        for value in reversed(find_json_values_in_reply(text)):
            given = value.data.items() if value.complete and isinstance(value.data, dict) else ()
            items = [
                item
                for key, item in given
                if _KEY.fullmatch(normalize_reply_answer_name(str(key))) and isinstance(item, str)
            ]
            found = [id for item in items if (id := self.known.get(normalize_reply_answer_name(item)))]
            if found:
                after = strip_reply_markup(strip_thinking_from_reply(text[value.end :]))
                return iter([*found, *self.find_announced_choices(after)])
        return iter(())

    def find_boxed_choices(self, text: str) -> Iterator[str]:
        """[[A]], and [[A>>B]] or [[A=B]]."""
        for box in _BOX.finditer(text):
            said = box[1] or box[2]
            compared = _COMPARED.fullmatch(said)
            id = self.known.get(normalize_reply_answer_name(said)) or (
                self._read_compared_choice(*compared.groups()) if compared else None
            )
            if id:
                yield id

    def find_announced_choices(self, text: str) -> Iterator[str]:
        """Winner: A, or a name alone on the last line: one that may be quoted where another is said to be better."""
        announced = list(self.announcement.finditer(text))
        for found in announced:
            yield self.known[normalize_reply_answer_name(found[1])]
            # "A or B", "A/B", "A (maybe B)", "A in style, B in content": the line names them all.
            end = text.find("\n", found.end())
            line = text[found.end() : len(text) if end < 0 else end]
            yield from (self.known[normalize_reply_answer_name(other)] for other in self.any.findall(line))
            if line.lstrip().startswith("?") or _SAID_TO_LOSE.match(line):
                yield NEITHER
        last = self.alone.fullmatch(text.rstrip().rsplit("\n", maxsplit=1)[-1])
        if last:
            alone = self.known[normalize_reply_answer_name(last[1])]
            yield alone
            # A whole name is no letter or word that a text happens to end with.
            stated = set() if announced or " " in last[1] else set(self.find_stated_choices(text))
            yield from stated if alone not in stated else ()

    def find_concluded_choices(self, text: str) -> Iterator[str]:
        """Therefore, A is better."""
        for sentence in _split_reply_sentences(text):
            if _CLOSING.search(sentence):
                yield from self.find_stated_choices(sentence)

    def find_stated_choices(self, text: str) -> Iterator[str]:
        """A is better."""
        for sentence in _split_reply_sentences(text):
            if sentence.rstrip().endswith("?"):
                continue
            for found in self.better.finditer(sentence):
                if not _NOT_SAID.search(sentence[max(0, found.start() - 80) : found.start()]):
                    yield self.known[normalize_reply_answer_name(next(name for name in found.groups() if name))]

    def _read_compared_choice(self, left: str, sign: str, right: str) -> str | None:
        first, second = (
            self.known.get(normalize_reply_answer_name(left)),
            self.known.get(normalize_reply_answer_name(right)),
        )
        if first is None or second is None:
            return None
        if sign[0] in "=≈~":
            return next((id for word in ("tie", "draw", "equal") if (id := self.known.get(word))), None)
        return first if sign[0] == ">" else second


def _build_reply_choice_pattern(names: Sequence[str]) -> str:
    if not names:
        return r"(?!)"
    # A lone letter counts only as it is written: "a" is mostly an article.
    parts = [f"(?-i:{re.escape(name)})" if len(name) == 1 else re.escape(name) for name in names]
    return rf"(?<![\w(])(?:{'|'.join(parts)})(?![\w)])"


def _split_reply_sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?。])\s+|\n+", text)
