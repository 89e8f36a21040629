"""Forms of a text that can be counted or recognised: lists, tables, headings, code, links, dates, languages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from evenhand.judging.embedded._text import Text
from evenhand.judging.embedded._values import values_of


@dataclass(frozen=True, slots=True)
class Countable:
    """What can be counted in a text, by a pattern for the words that a criterion uses for it."""

    names: str
    count: Callable[[Text], int]
    in_lists: bool = False  # Three reasons may stand in one sentence: only in a list can they be counted.


@dataclass(frozen=True, slots=True)
class Feature:
    """What a text has or has not, by a pattern for the words that a criterion uses for it."""

    names: str
    called: str
    present: Callable[[Text], bool]
    plain_to_see: bool = False  # Where it is not there, none of its kind is, whatever else is asked of it.


def json_in(text: str) -> tuple[object] | None:
    """What a text holds as JSON, a code fence around it aside; a tuple of one, as null is JSON too."""
    bare = _OPENING_FENCE.sub("", text.strip(), count=1).removesuffix("```").strip()
    try:
        return (json.loads(bare, parse_constant=_refuse_constant),)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_OPENING_FENCE = re.compile(r"\A```(?:json)?\s*")


def language_of(text: str) -> str | None:
    """The language with most of its commonest words in a text; None where there are too few of them."""
    words, shares = _common_words(text)
    likeliest = max(shares, key=lambda name: shares[name])
    return likeliest if shares[likeliest] >= max(1, words // 20) else None


def foreign(text: str) -> str:
    """The language of a text that is plainly not English; empty where it is, or where it cannot be told."""
    _, shares = _common_words(text)
    likeliest = max(shares, key=lambda name: shares[name])
    return likeliest if shares[likeliest] >= max(4, 3 * shares["english"]) and likeliest != "english" else ""


def _common_words(text: str) -> tuple[int, dict[str, int]]:
    """How many words a text has, and how many of them are among the commonest of each language."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    counts = {name: sum(word in common for word in words) for name, common in _COMMON_WORDS.items()}
    han = len(re.findall(r"[\u4e00-\u9fff]", text))
    return len(words), {**counts, "chinese": han if han > len(words) else 0}


_COMMON_WORDS = {
    name: frozenset(words.split())
    for name, words in {
        "english": "the of and to is in that it for with was are this not you have be",
        "french": "le la les des et est dans que une un l d qu pour pas vous sur avec au ce cette il elle du ses soit "
        "par plus",
        "german": "der die das und ist nicht ein eine mit für auf den zu von sie dem im wird",
        "spanish": "el la los las de que y en es por con para una se del no su al",
        "italian": "il di che la e un per non con una sono del è le si da gli alla",
        "portuguese": "o a de que e do da em um para é com não uma os no se na",
        "dutch": "de het een en van is dat niet op te zijn voor met aan er om",
    }.items()
}
LANGUAGES = (*_COMMON_WORDS, "chinese")


def has_heading_first(text: str) -> bool:
    """Whether a text begins with a heading."""
    return bool(_HEADING.match(text.lstrip()))


_BULLET = re.compile(r"^[ \t]*[-*•‣–][ \t]+\S", re.MULTILINE)
_STEP = re.compile(r"^[ \t]*(?:step[ \t]+)?\(?\d{1,3}[.):][ \t]+\S", re.MULTILINE | re.IGNORECASE)
_STEP_IN_LINE = re.compile(r"(?<!\w)\(?\d{1,2}\)[ \t]")
# A line after #, a line underlined with = or -, or a line in bold.
_HEADING = re.compile(r"^#{1,6}[ \t]+\S|^[^\n]+\n(?:={3,}|-{3,})[ \t]*$|^\*\*[^*\n]{1,80}\*\*:?[ \t]*$", re.MULTILINE)
# A row of a table: between bars, or cells with bars between them.
_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$|^[^|\n]+(?:\|[^|\n]+){1,}$", re.MULTILINE)
_RULE_ROW = re.compile(r"^[\s|:+-]+$")
_CODE = re.compile(r"```.*?```|~~~.*?~~~", re.DOTALL)
# The lengths in these three are bounded, so that no text makes them slow.
_LINK = re.compile(r"\bhttps?://\S+|\bwww\.\S{1,300}\.\w+|\[[^\[\]\n]+\]\([^)\s]{1,500}\)", re.IGNORECASE)
_EMAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,255}\.[\w.]+\b")
_PLACEHOLDER = re.compile(
    r"\[[A-Z][^\]\n]{0,40}\](?!\()|\{\{[^}\n]{1,40}\}\}|<(?:insert|your|name)[^>\n]{0,40}>|"
    r"\b(?:TODO|TBD|XXX|lorem ipsum)\b"
)
_PHONE = re.compile(r"\+?\(?\d[\d ()/.-]{6,}\d")
_EMOJI = re.compile(r"[\U0001f300-\U0001faff\u2600-\u27bf]")
# Three characters or more between quotation marks, on one line.
_QUOTATION = re.compile(r"[\"“«„「][^\"”»“」«„「\n]{3,}[\"”»“」]")
_BOLD = re.compile(r"\*\*\S|__\S|<b>|<strong>")
_SUBJECT = re.compile(r"^[^\w\n]*subject:", re.IGNORECASE | re.MULTILINE)
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+(?:['’.,-][^\W_]+)*")
_DATES = ("date", "full date", "month", "weekday")


def _number(pattern: re.Pattern[str]) -> Callable[[Text], int]:
    return lambda text: sum(1 for _ in pattern.finditer(text.text))


def _any(pattern: re.Pattern[str]) -> Callable[[Text], bool]:
    return lambda text: pattern.search(text.text) is not None


def _rows(text: Text) -> list[str]:
    return [row for row in _ROW.findall(text.text) if not _RULE_ROW.match(row)]


def _columns(text: Text) -> int:
    return max((len(row.strip().strip("|").split("|")) for row in _rows(text)), default=0)


def _rows_below_the_head(text: Text) -> int:
    return max(0, len(_rows(text)) - 1)


def _steps(text: Text) -> int:
    return _number(_STEP)(text) or _number(_STEP_IN_LINE)(text)


def _items(text: Text) -> int:
    return _number(_BULLET)(text) or _number(_STEP)(text)


def _paragraphs(text: Text) -> int:
    return sum(1 for part in re.split(r"\n\s*\n", text.text) if part.strip())


def _lines(text: Text) -> int:
    return sum(1 for line in text.text.splitlines() if line.strip())


def _keys(text: Text) -> int:
    found = json_in(text.text)
    return len(found[0]) if found and isinstance(found[0], dict) else 0


def _dated(text: Text) -> bool:
    return any(value.kind in _DATES for sentence in text.sentences for value in values_of(sentence.text))


def _numbered(text: Text) -> bool:
    return max(_number(_STEP)(text), _number(_STEP_IN_LINE)(text)) >= 2


COUNTABLE = (
    Countable(r"words?", _number(_WORD)),
    Countable(r"sentences?", lambda text: len(text.sentences)),
    Countable(r"paragraphs?", _paragraphs),
    Countable(r"lines?", _lines),
    Countable(r"characters?|letters?", lambda text: len(text.text.strip())),
    Countable(r"bullet(?:s| points?| items?)?|bulleted (?:points?|items?)", _number(_BULLET)),
    Countable(r"(?:numbered )?steps?|numbered (?:points?|items?)", _steps),
    Countable(r"items?|points?|tips|reasons|options|examples|entries|tasks|ingredients|events", _items, in_lists=True),
    Countable(r"(?:section )?headings?|headers?|sections?", _number(_HEADING)),
    Countable(r"columns?", _columns),
    Countable(r"rows?", _rows_below_the_head),
    Countable(r"questions?|question marks?", _number(re.compile(r"[?？]"))),
    Countable(r"exclamation (?:marks?|points?)", _number(re.compile(r"[!！]"))),
    Countable(r"(?:hyper)?links?|urls?", _number(_LINK)),
    Countable(r"code blocks?", _number(_CODE)),
    Countable(r"emojis?|emoticons?", _number(_EMOJI)),
    Countable(r"keys?|fields?", _keys),
)
FEATURES = (
    Feature(r"placeholders?|blanks? to fill", "a placeholder", _any(_PLACEHOLDER)),
    Feature(r"(?:comparison |markdown )?tables?", "a table", lambda text: len(_rows(text)) >= 2),
    Feature(
        r"(?:fenced )?code blocks?|block of code|code snippets?|code fences?",
        "a code block",
        _any(_CODE),
        plain_to_see=True,
    ),
    Feature(
        r"bullet(?:ed)? (?:lists?|points?)|bullets|list of bullets|unordered list",
        "a bullet list",
        lambda text: _number(_BULLET)(text) >= 2,
        plain_to_see=True,
    ),
    Feature(r"numbered(?: lists?| steps?)?|ordered list", "a numbered list", _numbered, plain_to_see=True),
    Feature(r"(?:bold |section |markdown )?headings?|headers?", "a heading", _any(_HEADING)),
    Feature(r"bold(?: text| type| face)?", "bold text", _any(_BOLD)),
    Feature(r"(?:web |hyper)?links?|urls?|web addresse?s?", "a link", _any(_LINK)),
    Feature(r"e-?mail address(?:es)?", "an e-mail address", _any(_EMAIL)),
    Feature(r"(?:tele)?phone numbers?", "a phone number", _any(_PHONE)),
    Feature(r"(?:calendar )?dates?", "a date", _dated),
    Feature(r"numbers?|digits?|numerals?|figures", "a number", _any(re.compile(r"\d"))),
    Feature(r"(?:direct )?quotations?|quotes?", "a quotation", _any(_QUOTATION)),
    Feature(r"exclamation (?:marks?|points?)", "an exclamation mark", _any(re.compile(r"[!！]"))),
    Feature(r"question marks?", "a question mark", _any(re.compile(r"[?？]"))),
    Feature(r"emojis?|emoticons?", "an emoji", _any(_EMOJI)),
    Feature(r"subject lines?", "a subject line", _any(_SUBJECT)),
)
