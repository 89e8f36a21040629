"""The guard for personal data: found by form and check digits, and masked in texts, cut quotations and whole
results.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from evenhand.guards.escaped_text import mask_text_as_read
from evenhand.guards.personal_numbers import (
    PersonalPatterns,
    Span,
    load_personal_patterns,
    match_personal_card_numbers,
    match_personal_ibans,
    match_personal_phone_numbers,
    match_personal_social_security_numbers,
)
from evenhand.model.sample import GuardFinding, Sample
from evenhand.wording import quote_text, shorten_text_to_line

PERSONAL_DATA_RULES: Mapping[str, str] = MappingProxyType(
    {
        "ssn": "a US social security number",
        "card": "the number of a payment card",
        "iban": "the number of a bank account (IBAN)",
        "email": "an e-mail address",
        "phone": "a telephone number",
    }
)
TextMask = Callable[[str], str]
HIDDEN = "•"
_POSSIBLE = re.compile(r"@|[0-9]{2}|[0-9][0-9 .\-/()]{5,}[0-9]")  # What any of the rules needs.
_SHORTEST_PART = 6  # Characters: less of a value gives nobody away.
# Under these keys of data stand names by which one thing is told from another.
_NAME_KEYS = frozenset(
    {
        "id",
        "output",
        "file",
        "fingerprint",
        "judge",
        "model",
        "request_id",
        "criterion",
        "rule",
        "guard",
        "exact",
        "weight",
    }
)


def find_personal_data(text: str, patterns: PersonalPatterns | None = None) -> tuple[GuardFinding, ...]:
    """The personal data in a text, in order of start; the text of each finding is its mask."""
    shown, places = (text, None) if text.isascii() else fold_personal_characters(text)
    if not _POSSIBLE.search(shown):
        return ()
    patterns = patterns or load_personal_patterns()
    found: list[GuardFinding] = []
    for rule, match in _MATCHERS:
        spans = list(match(shown, patterns))
        for start, end in spans:
            first, after = (start, end) if places is None else (places[start], places[end - 1] + 1)
            says, masked = PERSONAL_DATA_RULES[rule], mask_personal_value(rule, text[first:after])
            found.append(GuardFinding(guard="personal", rule=rule, says=says, text=masked, start=first, end=after))
        shown = _mask_personal_spans(shown, ((start, end, HIDDEN * (end - start)) for start, end in spans))
    return tuple(sorted(found, key=lambda finding: finding.start))


def mask_personal_data(text: str) -> str:
    """The text with its personal data replaced by masks."""
    while found := find_personal_data(text):  # A mask may uncover what stood beside it: look until nothing is found.
        text = _mask_personal_spans(text, ((finding.start, finding.end, finding.text) for finding in found))
    return text


def mask_personal_value(rule: str, value: str) -> str:
    """Just enough of a value to recognise it, too little to tell it."""
    shown = fold_personal_characters(value)[0]
    if rule == "email":
        return f"[{HIDDEN * 3}@{HIDDEN * 3}.{shown.rpartition('.')[2]}]" if "." in shown else f"[{HIDDEN * 3}]"
    if rule == "iban":
        return f"[{shown[:2].upper()}{HIDDEN * 4}]"
    kept = 4 if rule == "card" else 2
    digits = "".join(filter(str.isdigit, shown))
    return f"[{HIDDEN * 4}{digits[-kept:] if len(digits) > 2 * kept else ''}]"


def _mask_personal_spans(text: str, pieces: Iterable[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    last = 0
    for start, end, piece in pieces:
        parts += text[last:start], piece
        last = end
    return "".join((*parts, text[last:])) if parts else text


# Masks for all that a reader sees about a sample, judgments included.


def build_personal_data_mask(sample: Sample) -> TextMask:
    """The function to put every text through that is shown about a sample."""
    calls = (call for trace in sample.traces.values() for call in trace.calls)
    traced = (str(part) for call in calls for part in (call.input, call.output) if part is not None)
    return build_personal_text_mask([*sample.outputs.values(), sample.input, sample.reference, sample.context, *traced])


def build_personal_text_mask(texts: Iterable[str]) -> TextMask:
    """A function that masks the personal data of these texts in another text, and whatever else reads like it."""
    values = {
        spelled: found.text
        for text in texts
        for found in find_personal_data(text)
        for spelled in _spell_personal_value_in_quotations(text[found.start : found.end])
    }
    parts: dict[str, str] = {}
    for value, masked in values.items():  # A value, and what is left of it where a passage was cut inside it.
        least = max(_SHORTEST_PART, len(value) * 2 // 3)
        parts |= dict.fromkeys((value[:end] for end in range(least, len(value) + 1)), masked)
        parts |= dict.fromkeys((value[start:] for start in range(1, len(value) - least + 1)), masked)
    longest_first = sorted(parts, key=len, reverse=True)
    find_cut_values = build_cut_personal_data_finder(values)

    def mask(text: str) -> str:
        # All on the same text: a part that is masked before would leave the rest of a value that shares it.
        found = [(one.start, one.end, one.text) for one in find_personal_data(text)]
        for part in longest_first:
            found += [(at, at + len(part), parts[part]) for at in _find_all_places(text, part)]
        found += find_cut_values(text)
        return mask_personal_data(_mask_places(text, found))

    return mask


def _find_all_places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


def _mask_places(text: str, found: Iterable[tuple[int, int, str]]) -> str:
    """The text with each place masked; of those that overlap, the mask of the first stands for all."""
    parts: list[str] = []
    last = 0
    for start, end, masked in sorted(found, key=lambda one: (one[0], -one[1])):
        if start >= last:
            parts += text[last:start], masked
        last = max(last, end)
    return "".join((*parts, text[last:]))


def _spell_personal_value_in_quotations(value: str) -> set[str]:
    """A value as it is, and as texts are quoted: with what cannot be printed escaped, or on one line."""
    return {value, quote_text(value, len(value))[1:-1], shorten_text_to_line(value, len(value))}


def mask_data(data: object, mask: TextMask) -> object:
    """Data with every text in it masked as it reads, escapes or not; keys and what stands under names stay."""
    if isinstance(data, str):
        return mask_text_as_read(data, mask)
    if isinstance(data, dict):
        return {key: value if key in _NAME_KEYS else mask_data(value, mask) for key, value in data.items()}
    if isinstance(data, list):
        return [mask_data(value, mask) for value in data]
    return data


# Digits and signs of any script as ASCII, and nothing unseen, so that disguise hides no number.

_UNSEEN = re.compile(
    "[\u00ad\u0332-\u0338\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20e3\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_DASHES = "‐‑‒–—―−﹘﹣"
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
# The zero of each row of ten digits in the scripts of today, and of the five mathematical alphabets.
_ZEROS = "٠۰߀०০੦૦୦௦౦೦൦๐໐༠၀០᠐" + "𝟎𝟘𝟢𝟬𝟶"
_FOLDS = {
    **dict.fromkeys(_DASHES, "-"),
    **dict.fromkeys(_SPACES, " "),
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **{chr(ord(zero) + digit): str(digit) for zero in _ZEROS for digit in range(10)},
}
# Characters beyond U+FFFF as one range: each of its own would be compared with every character of a text.
_FOLDED = re.compile("[" + "".join(character for character in _FOLDS if ord(character) <= 0xFFFF) + "𝟎-𝟿]")


def fold_personal_characters(text: str) -> tuple[str, list[int] | None]:
    """The text in plain characters, and the place of each in the text where that is not its own."""
    folded = _FOLDED.sub(lambda found: _FOLDS[found[0]], text)
    if not _UNSEEN.search(folded):
        return folded, None
    places: list[int] = []
    last = 0
    for unseen in _UNSEEN.finditer(folded):
        places += range(last, unseen.start())
        last = unseen.end()
    return _UNSEEN.sub("", folded), [*places, *range(last, len(folded))]


# E-mail addresses: from each @ outwards, as far as the letters of a name and of a domain go.

_LONGEST_NAME = 64
_LONGEST_DOMAIN = 253
_INSIDE_NAME = frozenset("._%+-'&~")
_BEFORE_NAME = ".-'&~%"
_WIDE = "\u2e80"  # From here on scripts write no spaces: an address and the sentence around it touch.
# A label is of one script: the sentence may go on in another right after the domain.
_LABEL = rf"(?:(?:[^\W_{_WIDE}-\U0010ffff]|-){{1,63}}+|(?:(?=[{_WIDE}-\U0010ffff])[^\W_]){{1,63}}+)"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{1,8}}+")
_TOP_DOMAIN = re.compile(r"[^\W\d_]{2,24}|xn--[a-z0-9-]{1,59}", re.IGNORECASE)
_LOGIN = re.compile(r"://[^\s/?#]{0,200}\Z")
_REMOTE_PATH = re.compile(r":[\w.~-]{0,80}/")
_PICTURE_SIZE = re.compile(r"[1-9]x\.", re.IGNORECASE)


def match_personal_email_addresses(text: str, _patterns: PersonalPatterns) -> Iterator[Span]:
    """Where each e-mail address stands."""
    at = text.find("@")
    last = 0
    while at >= 0:
        start = _find_personal_email_start(text, at, last)
        end = _personal_email_domain_end(text, at + 1) if start < at else 0
        if end and not _is_machine_name_not_personal(text, start, at, end):
            yield start, end
            last = end
        at = text.find("@", at + 1)


def _find_personal_email_start(text: str, at: int, last: int) -> int:
    """Where the name before an @ begins, or the place of the @ where there is none."""
    start, least = at, max(last, at - _LONGEST_NAME - 1)
    wide = at > 0 and text[at - 1] >= _WIDE
    while start > least:
        letter = text[start - 1]
        named = letter.isalnum() and (letter.isascii() or (letter >= _WIDE) == wide)
        if letter not in _INSIDE_NAME and not named:
            break
        start -= 1
    if at - start > _LONGEST_NAME:
        return at
    name = text[start:at].rpartition("..")[2].lstrip(_BEFORE_NAME)
    return at - len(name) if any(map(str.isalnum, name)) and name[-1] not in ".'" else at


def _personal_email_domain_end(text: str, start: int) -> int:
    """Where the domain that begins here ends, or 0 where there is none."""
    found = _DOMAIN.match(text, start, start + _LONGEST_DOMAIN)
    if found is None:
        return 0
    labels = found[0].split(".")
    while labels and not _TOP_DOMAIN.fullmatch(labels[-1].rstrip("-")):
        labels.pop()
    if len(labels) < 2 or any(label.startswith("-") for label in labels):
        return 0
    if len(labels) > 2 and labels[0].isdigit() and labels[1].isdigit():  # A version, as in package@1.0.beta.
        return 0
    return start + len(".".join(labels).rstrip("-"))


def _is_machine_name_not_personal(text: str, start: int, at: int, end: int) -> bool:
    """Whether the @ names a login, a path on another machine or the size of a picture."""
    return bool(
        _LOGIN.search(text, max(0, start - 200), start)
        or _REMOTE_PATH.match(text, end)
        or _PICTURE_SIZE.match(text, at + 1)
    )


# The surest form first: what one rule found is hidden from those after it, so that findings never overlap.
_MATCHERS: tuple[tuple[str, Callable[[str, PersonalPatterns], Iterable[Span]]], ...] = (
    ("email", match_personal_email_addresses),
    ("iban", match_personal_ibans),
    ("card", match_personal_card_numbers),
    ("ssn", match_personal_social_security_numbers),
    ("phone", match_personal_phone_numbers),
)


_LEAST = 3  # Characters: fewer of a value are in many words.
# Where a quotation may begin or end: at a mark of what was left out, and at quotation marks, but not inside a word.
_EDGE = re.compile(r"""…|(?<!\w)['"]|['"](?!\w)""")

_WORD = re.compile(r"[0-9A-Za-z]")  # A value never touches one.


def build_cut_personal_data_finder(values: Mapping[str, str]) -> Callable[[str], Iterator[tuple[int, int, str]]]:
    """A function that finds what quotations in a text have of these values, each given with its mask."""
    heads = {value[:end]: masked for value, masked in values.items() for end in range(_LEAST, len(value))}
    tails = {value[start:]: masked for value, masked in values.items() for start in range(1, len(value) - _LEAST + 1)}
    longest = max(map(len, values), default=0)

    def find_rests_of_values(text: str) -> Iterator[tuple[int, int, str]]:
        before = len(text)
        for edge in _EDGE.finditer(text):
            start, end = edge.span()
            for first in range(max(0, start - longest), start - _LEAST + 1):
                if text[first:start] in heads and not _WORD.match(text, max(0, first - 1), first):
                    yield first, start, heads[text[first:start]]
            for last in range(end + _LEAST, min(len(text), end + longest) + 1):
                if text[end:last] in tails and not _WORD.match(text, last):
                    yield end, last, tails[text[end:last]]
            if _LEAST <= start - before <= longest:
                yield from ((before, start, masked) for value, masked in values.items() if text[before:start] in value)
            before = end

    return find_rests_of_values


ResultJson = dict[str, Any]
MaskedPlaces = list[tuple[int, int, int, int]]


def mask_personal_result(result: ResultJson, hide: TextMask) -> ResultJson:
    """A result, as it is stored or reported, with every text masked."""
    shown: ResultJson = mask_data({**result, "output": None}, hide)  # type: ignore[assignment]
    output = result["output"]
    if output is None:
        return shown
    text, places = mask_personal_places(output["text"])
    rest: ResultJson = mask_data({**output, "text": "", "trace": None}, hide)  # type: ignore[assignment]
    quotes = [quote for one in shown["judgments"] for quote in one["evidence"]]
    cut = [quote for quote in quotes if _touches_personal_place(quote, places)]  # Judges may cut inside a value.
    for one in (*shown["findings"], *_flatten_masked_assertions(shown["assertions"]), *quotes):
        if places and one.get("start") is not None and one.get("end") is not None:
            one["start"] = move_personal_place(one["start"], places, end=False)
            one["end"] = move_personal_place(one["end"], places, end=True)
    for quote in cut:
        quote["text"] = text[quote["start"] : quote["end"]]
    kept = {name: output[name] for name in ("author", "cost") if name in output}
    trace = {"trace": mask_personal_in_every_text(output["trace"], hide)} if "trace" in output else {}
    return {**shown, "output": {**rest, **kept, **trace, "text": text}}


def mask_personal_in_every_text(data: object, hide: TextMask) -> object:
    """Somebody else's data with every text in it masked: keys too, and numbers that are personal when written."""
    if isinstance(data, str):
        return mask_data(data, hide)
    if isinstance(data, dict):
        return {str(mask_data(str(key), hide)): mask_personal_in_every_text(value, hide) for key, value in data.items()}
    if isinstance(data, list):
        return [mask_personal_in_every_text(value, hide) for value in data]
    if isinstance(data, (int, float)) and not isinstance(data, bool) and (masked := hide(str(data))) != str(data):
        return masked
    return data


def mask_personal_places(text: str) -> tuple[str, MaskedPlaces]:
    """The masked text, and for each masked passage its old start and end and its new ones."""
    parts, places, last, length = [], [], 0, 0
    for one in find_personal_data(text):
        parts += [text[last : one.start], one.text]
        start = length + one.start - last
        length = start + len(one.text)
        places.append((one.start, one.end, start, length))
        last = one.end
    shown = "".join((*parts, text[last:]))
    again = mask_personal_data(shown)  # May find more once masks stand in it: rare, and then places are not told.
    return again, places if again == shown else [(0, len(text), 0, len(again))]


def move_personal_place(at: int, places: MaskedPlaces, *, end: bool) -> int:
    """Where a place in the text is after masking; inside a mask it is the edge of the mask."""
    found = bisect_right(places, at, key=lambda place: place[0]) - 1
    if found < 0:
        return at
    _, old_end, start, new_end = places[found]
    if at >= old_end:
        return at - old_end + new_end
    return new_end if end and at > places[found][0] else start


def _touches_personal_place(quote: ResultJson, places: MaskedPlaces) -> bool:
    start, end = quote.get("start"), quote.get("end")
    if start is None or end is None:
        return False
    return any(first < end and start < after for first, after, *_ in places)


def _flatten_masked_assertions(assertions: list[ResultJson]) -> list[ResultJson]:
    return [part for one in assertions for part in (one, *_flatten_masked_assertions(one.get("parts") or []))]
