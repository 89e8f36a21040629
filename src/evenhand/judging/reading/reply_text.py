"""The text of a reply: without thinking and markup, cut into sections, and searched for a refusal."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from evenhand.errors import AnswersError
from evenhand.files.lookalikes import UNSEEN_CHARACTERS, fold_lookalike_letters
from evenhand.files.parsing import decode_json
from evenhand.judging.reading.tolerant_json import ReplyValue, parse_tolerant_json_reply
from evenhand.model.scale import Missing

_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*[\w+\-]*[ \t]*\r?$", re.MULTILINE)
_HALF = re.compile(r"\\ud[89a-f]", re.IGNORECASE)  # JSON can spell half a character, which no file can hold.
_THINKING = r"(?:think|thinking|thought|reasoning|scratchpad)"
_MARK = re.compile(
    rf"(?P<line>\n)|(?P<quoting>\{{|[\"'”][ \t]{{0,8}}:)|(?P<opens><{_THINKING}>)|(?P<closes></{_THINKING}>)",
    re.IGNORECASE,
)


MOST_JSON_SIGNS = 10_000
TOO_MUCH_JSON = Missing.unreadable("it holds more JSON than an answer has")


def has_reply_too_much_json(text: str) -> bool:
    """Whether a reply has so many brackets, colons and commas that it is no answer, and is not searched for values."""
    if len(text) <= MOST_JSON_SIGNS:
        return False
    return sum(map(text.count, "{[,:")) > MOST_JSON_SIGNS and parse_clean_reply_object(text.strip()) is None


def find_json_values_in_reply(text: str) -> tuple[ReplyValue, ...]:
    """Every top-level JSON-like object or array in a reply, in order; thinking is not looked into."""
    return () if has_reply_too_much_json(text) else _scan_short_reply(text).values


def find_broken_json_in_reply(text: str) -> tuple[ReplyValue, ...]:
    """The objects in a reply that are opened and never closed, although the text goes on."""
    return () if has_reply_too_much_json(text) else _scan_short_reply(text).broken


@dataclass(frozen=True, slots=True)
class ScannedJson:
    """The JSON-like values of a text, and the objects that are broken off in its middle."""

    values: tuple[ReplyValue, ...]
    broken: tuple[ReplyValue, ...] = ()


def scan_json_values_in_reply(text: str) -> ScannedJson:
    """The values in a text of any length."""
    stripped = text.strip()
    data = parse_clean_reply_object(stripped)
    if data is not None:
        start = text.index("{")
        return ScannedJson((ReplyValue(data, True, start, start + len(stripped)),))
    found: list[ReplyValue] = []
    broken: list[ReplyValue] = []
    for start, end in find_answering_reply_stretches(text):
        fences = [fence.span() for fence in _FENCE.finditer(text, start, end)]
        starts, stops = [start, *(after for _, after in fences)], [*(before for before, _ in fences), end]
        for part, stop in zip(starts, stops, strict=True):
            values, fragments = parse_tolerant_json_reply(text, part, stop)
            found += values
            broken += fragments
    return ScannedJson(tuple(found), tuple(broken))


# A reply is looked at from several sides: for its answers, for what it quotes, and without that again.
_scan_short_reply = lru_cache(maxsize=8)(scan_json_values_in_reply)


def holds_reply_json_object(data: object) -> bool:
    """Whether a value is an object or a list with one in it."""
    return isinstance(data, dict) or (isinstance(data, list) and any(map(holds_reply_json_object, data)))


@lru_cache(maxsize=8)  # Whether a reply may quote is asked before it is read.
def parse_clean_reply_object(text: str) -> dict[str, object] | None:
    """The object that a text is, where it is plain JSON and nothing else: most replies are."""
    if not text.startswith("{") or not text.endswith("}") or _HALF.search(text):
        return None
    try:
        data = decode_json(text)
    except (AnswersError, ValueError):
        return None
    return data if isinstance(data, dict) else None


# With halves of characters, and what the fence puts in their place.
_UNSEEN = re.compile(rf"(?!\s)[{UNSEEN_CHARACTERS}\ud800-\udfff\ufffd]")
MOST_ESCAPED = 3  # Times that a text is taken for HTML.


def drop_unseen_characters_from_reply(text: str) -> str:
    """The text without what leaves no mark: a judge may leave it out, and the fence puts some of it in."""
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub("", text)


def spell_out_entities_in_reply(text: str) -> str:
    """The text with `&lt;` as `<`, however often it was escaped."""
    for _ in range(MOST_ESCAPED):
        if "&" not in text:
            break
        text = html.unescape(text)
    return text


def fold_quotation_in_reply(text: str) -> str:
    """A text as it is held against another, so that one that was fenced or quoted is still the same.

    Unseen characters are gone, entities are spelt out, look-alikes are what they imitate, and all is in lower case.
    """
    return fold_lookalike_letters(spell_out_entities_in_reply(drop_unseen_characters_from_reply(text)))


def strip_thinking_from_reply(text: str) -> str:
    """The reply without what the model thought before answering."""
    return "\n".join(text[start:end] for start, end in find_answering_reply_stretches(text)).strip()


def find_answering_reply_stretches(text: str) -> list[tuple[int, int]]:
    """The stretches of a reply that are not thinking."""
    stretches: list[tuple[int, int]] = []
    start: int | None = 0
    quoting = False
    for mark in _MARK.finditer(text):
        kind = mark.lastgroup
        if kind in ("line", "quoting"):
            quoting = kind == "quoting"
        elif kind == "opens" and start is not None and not quoting:
            stretches.append((start, mark.start()))
            start = None
        elif kind == "closes" and (start is None or not quoting):
            # A closing tag alone: the opening one was in the prompt, and all before it is thinking.
            stretches = stretches if start is None else []
            start, quoting = mark.end(), False
    if start is not None:
        stretches.append((start, len(text)))
    return [(start, end) for start, end in stretches if text[start:end].strip()]


_SIGNS = {ord(wide): chr(ord(wide) - 0xFEE0) for wide in "０１２３４５６７８９．，：／（）［］＝－＋％；！？～｜"}
_SIGNS |= {ord(sign): "-" for sign in "−‐‑"} | {ord(quote): '"' for quote in "“”"} | {ord(quote): "'" for quote in "‘’"}
_SIGNS |= {ord(sign): "" for sign in "`✅❌✔✘✓✗☑\ufe0f\u200b\u200c\u200d\ufeff"} | {
    ord(sign): " " for sign in "_\u00a0\u3000\u202f"
}
_SIGNS |= str.maketrans({"【": "[", "】": "]", "。": ". ", "、": ", ", "\r": "\n", "⁄": "/"})
_STAR_UNIT = re.compile(r"(?<=[0-9])[ \t]?[★⭐🌟]+☆*")
# ★★★☆☆ anywhere; ★★★ only where it is an answer and no ornament: under a label, or alone.
_STAR_ROW = re.compile(
    r"(?<![★⭐🌟])([★⭐🌟]++)(☆++)(?![½¼¾⅓⅔])|(?:(?<=[:=])[ \t]{0,4}|\A\s{0,9})([★⭐🌟]++)(?=[ \t]{0,4}(?:\Z|[.,;(]))"
    r"|(?<=[:=])[ \t]{0,4}([★⭐🌟]++)(?=[ \t]{0,4}\n)"
)
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_STARS = re.compile(r"(?<![0-9*])\*+|(?<!\*)\*+(?![0-9*])")
_SPECIAL = re.compile(r"<\|[\w ]{1,40}\|>")
_TAG = re.compile(r"<(/?)([A-Za-z][\w \-]{0,40})/?>")
_BOX = re.compile(r"\[\[\s{0,4}([^\[\]\n]{1,40}?)\s{0,4}\]\]|\\boxed\{\s{0,4}(?:\\text\{)?([^{}\n]{1,40}?)\s{0,4}\}")
_BRACKETED = re.compile(r"\[([A-Za-z][A-Za-z ]{2,20})\]\s{0,3}:?\s{0,3}(?=[0-9])")
_FENCE_LINE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*[\w+\-]*[ \t]*\r?$", re.MULTILINE)
_LAYOUT = frozenset([
    "b", "i", "u", "em", "strong", "span", "p", "br", "li", "ul", "ol", "div", "td", "tr", "th", "table",
    "code", "pre", "h1", "h2", "h3", "h4", "hr", "sub", "sup",
])  # fmt: skip


def strip_reply_markup(text: str) -> str:
    """The same words without the marks around them."""
    text = _FENCE_LINE.sub("", text)
    text = _STRUCK.sub(" ", text)
    text = text.translate(_SIGNS)
    text = _STAR_ROW.sub(_count_stars_in_reply, _STAR_UNIT.sub(" stars", text))
    text = _STARS.sub("", text)
    text = _SPECIAL.sub(" ", text)
    text = _TAG.sub(_replace_reply_tag, text)
    text = _BRACKETED.sub(r"\n\1: ", text)
    return _BOX.sub(lambda box: f"\nfinal score: {box[1] or box[2]}\n", text)


def _count_stars_in_reply(row: re.Match[str]) -> str:
    filled = row[1] or row[3] or row[4]
    return f" {len(filled)}/{len(filled) + len(row[2])} " if row[2] else f" {len(filled)} stars"


def _replace_reply_tag(tag: re.Match[str]) -> str:
    name = tag[2].lower().strip()
    if name.split(" ")[0] in _LAYOUT:
        return "" if name in ("b", "i", "u", "em", "strong", "span") else " "
    return "\n" if tag[1] else f"\n{name}: "


# The same few keys come in every reply; long ones are texts, and are not worth the memory.
LONGEST_KEPT = 64
_BETWEEN = re.compile(r"[\s_\-*`\"'“”]+")
_normalize_short_name = lru_cache(maxsize=4096)(lambda text: _BETWEEN.sub("", text).casefold())


def normalize_reply_answer_name(text: str) -> str:
    """A name as it is compared: without case, hyphens, underscores and spaces."""
    return (_normalize_short_name if len(text) <= LONGEST_KEPT else _normalize_short_name.__wrapped__)(text)


def split_reply_sections(text: str, labels: Sequence[str]) -> dict[str, str]:
    """What stands under each label; empty where the labels do not head sections, or one heads two."""
    known = {normalize_reply_answer_name(label): label for label in labels if normalize_reply_answer_name(label)}
    if not known:
        return {}
    names = "|".join(
        re.sub(r"(?:\\?[\s_\-])+", r"[\\s_\\-]{1,3}", re.escape(label))
        for label in labels
        if normalize_reply_answer_name(label)
    )
    heading = re.compile(rf"^[ \t>\-+•]{{0,6}}(#{{0,6}}[ \t]*)([*_]{{0,3}})[\[(\"]?({names})[\])\"]?(?!\w)([*_]{{0,3}})"
                         r"(?:[ \t]*([:：.\-–—])|[ \t]*$)?[*_]{0,3}", re.MULTILINE | re.IGNORECASE)  # fmt: skip
    heads = [
        found
        for found in heading.finditer(text)
        if found[1].strip() or found[2] or found[5] or text[found.end() : found.end() + 1] in ("", "\n")
    ]
    found = [known[normalize_reply_answer_name(head[3])] for head in heads]
    if not heads or len(set(found)) != len(found):
        return {}
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {label: text[head.end() : end].strip() for label, head, end in zip(found, heads, ends, strict=True)}


MOST_SENTENCES = 20  # From the beginning and from the end: nobody refuses in the middle.
_SENTENCE = re.compile(r"[^.!?\n。！？]{1,400}[.!?。！？]?")
_CANNOT = (
    r"(?:cannot|can't|can not|could not|couldn't|won't|will not|should not|shouldn't|must not|mustn't|not able to|"
    r"unable to|unwilling to|not willing to|not going to|not allowed to|not permitted to|not in a position to|"
    r"decline to|refuse to|rather not|prefer not to|not comfortable|(?:not|n't) feel comfortable|"
    r"(?:not|n't) have (?:the ability|the means|enough \w+) to|lack the \w+ to)"
)
# What a judge is asked to do; after an article it is the thing and not the deed.
_DEED = (
    r"(?<!\bthe )(?<!\ban )(?<!\ba )(?<!\bany )(?<!\bthis )(?<!\bits )"
    r"(?:assist|help|rate|rating|rank|order|sort|scor|judg|evaluat|assess|review|provid|answer|respond|grad|compar|"
    r"fulfil|compl[yie]|engage|continue|choos|select|pick|giv|discuss|determin|offer|process|perform|proceed|"
    r"participat|do (?:that|this|so|it)\b)"
)
_REFUSES = re.compile(
    rf"\b(?:i|we)\b[^.!?\n]{{0,40}}?\s?{_CANNOT}\b[^.!?\n]{{0,60}}?\b{_DEED}"
    rf"|\A\W{{0,4}}(?:sorry,? )?(?:but )?{_CANNOT} {_DEED}"
    r"|\A\W{0,4}(?:sorry,? )?(?:but )?i(?:'m afraid i)? (?:must |have to )?(?:can't|cannot|won't|refuse|decline)\W*\Z"
    r"|\bi (?:must|have to|respectfully) (?:\w+ )?decline\b"
    r"|\b(?:these|this|the|both|they|it)\b(?: \w+){0,3} (?:cannot|can't|can not) be (?:fairly |meaningfully )?"
    r"(?:ranked|rated|scored|judged|graded|assessed|evaluated|compared)\b"
    rf"|\bnot (?:be )?appropriate for me to {_DEED}"
    rf"|(?:\bnot |n't |\bin)(?:enough|sufficient) (?:information|context|evidence|material|detail) to {_DEED}"
    rf"|\b(?:prevents?|prohibits?|forbids?|stops?) me from {_DEED}"
    r"|\bas an? (?:ai|(?:large )?language model)\b[^.!?\n]{0,80}(?:cannot|can't|unable|not able|do not|don't)"
    r"|\b(?:this|the) (?:request|content|task)[^.!?\n]{0,40}(?:violates?|against)\b"
    r"|\b(?:violates?|against) (?:my|our|the (?:content|usage|safety)) (?:guidelines|policy|policies|rules)\b"
    r"|\bi(?:'m| am)[^.!?\n]{0,20} sorry\b[^.!?\n]{0,80}(?:cannot|can't|unable|not able|won't)"
    r"|\bi(?:'m| am)[^.!?\n]{0,20} sorry, but\b"
    r"|(?:无法|不能|不便|拒绝|没有办法)(?:对|就|为|给|提供|进行|评|回答|协助|帮助|满足|判断|完成|排)"
    r"|抱歉[^。！？\n]{0,30}(?:无法|不能)",
    re.IGNORECASE,
)
# What somebody else is quoted to say, after some words of the judge's own.
_SAID = re.compile(r"""(?<=[\w:,] )(?:"[^"\n]{1,400}"|'(?=[A-Z])[^\n]{1,400}?'(?!\w))""")
_APOSTROPHES = str.maketrans("’ʼ＇`´‘“”", "''''''\"\"")


def find_judge_refusal(text: str) -> str | None:
    """The sentence in which the reply refuses to judge, if it does. Only for replies in which no answer was found."""
    own = _SAID.sub(lambda said: " " * len(said.group()), strip_thinking_from_reply(text).translate(_APOSTROPHES))
    sentences = list(_SENTENCE.finditer(own))
    for sentence in [*sentences[:MOST_SENTENCES], *sentences[MOST_SENTENCES:][-MOST_SENTENCES:]]:
        if _REFUSES.search(sentence.group()):
            return strip_thinking_from_reply(text)[sentence.start() : sentence.end()].strip()
    return None
