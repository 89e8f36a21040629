"""Checks of form: what a criterion asks of the form of a text, measured and not weighed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evenhand.judging.embedded._forms import FEATURES, LANGUAGES, has_heading_first, json_in, language_of
from evenhand.judging.embedded._limits import limit_of
from evenhand.judging.embedded._sentences import shown
from evenhand.judging.embedded._text import Text
from evenhand.judging.embedded._words import EMPTY, lowered, words_of


@dataclass(frozen=True, slots=True)
class Shape:
    """What a check of form found: whether it holds, and in which words."""

    holds: bool
    reason: str
    quote: str = ""  # The passage that shows it, where there is one.


def shape(asks: str, text: Text) -> Shape | None:
    """Whether a criterion of form holds for a text; None where the criterion is not one of form alone."""
    checks = (_begins_or_ends, _language, _json, _counted, _word_present, _feature)
    return next((found for check in checks if (found := check(asks, text)) is not None), None)


def speaks_of_form(asks: str) -> bool:
    """Whether a criterion speaks of form: then words are not weighed for it, even where no check can measure it."""
    return bool(_FORM.search(asks))


_FORM = re.compile(
    r"\b(?:bullets?|bullet(?:ed)? points?|numbered|headings?|paragraphs?|sentences?|columns?|rows?|code block|JSON|SQL|"
    r"markdown|in a table|boxes|by name|question marks?|exclamation marks?|words? long|"
    r"list (?:of )?(?:two|three|four|five|six|seven|eight|\d+))\b",
    re.IGNORECASE,
)


def _begins_or_ends(asks: str, text: Text) -> Shape | None:
    place = _PLACE.search(asks)
    if place is None:
        return None
    first = lowered(place["end"])[0] in "bso"
    edge = text.sentences[0 if first else -1].text if text.sentences else ""
    holds = _stands_there(place["what"], edge, text.text, first=first)
    if holds is None:
        return None
    flip = bool(re.search(r"\b(?:not|never|avoids?)\b|n['’]t\b", asks, re.IGNORECASE))
    return Shape(holds != flip, f"it {'begins' if first else 'ends'} with “{shown(edge, 60)}”", edge)


# "Begins with the word …", "ends in …", "opens directly with …".
_PLACE = re.compile(
    r"\b(?P<end>begins?|starts?|opens?|opening|beginning|ends?|ending|closes?|finish(?:es)?|conclude[sd]?)\s+"
    r"(?:(?:directly|exactly)\s+)?(?:with|in|on|by)\s+(?:the (?:word|words|phrase|line|sentence|greeting)\s+)?"
    r"(?P<what>.+)",
    re.IGNORECASE,
)


def _stands_there(what: str, edge: str, text: str, *, first: bool) -> bool | None:
    """Whether the first or the last sentence is what is asked for; None where that is no matter of form."""
    quoted = _QUOTED.search(what)
    if quoted:
        wanted, whole = quoted[1].strip().casefold(), text.strip().casefold()
        if first:
            return whole.startswith(wanted) and not whole[len(wanted) : len(wanted) + 1].isalnum()
        return whole.rstrip(" .!\"'").endswith(wanted.rstrip(" .!"))
    if re.match(r"a (?:direct )?(?:quotation|quote)", what, re.IGNORECASE):
        return edge[:1] in '"“«„「' if first else edge[-1:] in '"”»“」'
    if re.match(r"an? (?:\w+ )?question(?: mark)?\b", what, re.IGNORECASE):
        return edge.rstrip("\"'”)*_ ").endswith(("?", "？"))
    if re.match(r"an? (?:\w+ )?(?:heading|title)\b", what, re.IGNORECASE) and first:
        return has_heading_first(text)
    return None


_QUOTED = re.compile(r"[\"“'‘`]([^\"”’`]{1,120})[\"”'’`]")


def _language(asks: str, text: Text) -> Shape | None:
    wanted = _LANGUAGE.search(asks)
    seen = None if wanted is None or _asks_more(_beyond(asks, wanted.span())) else language_of(text.text)
    if wanted is None or seen is None:
        return None
    return Shape((seen == lowered(wanted[1])) != _denies(asks), f"it reads as {seen.capitalize()}")


_LANGUAGE = re.compile(rf"\b(?:in|written in|uses?|answers? in)\s+({'|'.join(LANGUAGES)})\b", re.IGNORECASE)


def _json(asks: str, text: Text) -> Shape | None:
    asked = re.search(r"\b(?:valid |well-formed |parseable )?JSON(?: object| array| document)?\b", asks)
    if asked is None or re.search(r"\bkeys?\b|\bfields?\b", asks):
        return None
    if _asks_more(re.sub(r"\b(?:parses?|parseable|single|raw|plain|nothing else)\b", " ", _beyond(asks, asked.span()))):
        return None
    there = json_in(text.text) is not None
    return Shape(there != _denies(asks), "it parses as JSON" if there else "it does not parse as JSON")


def _counted(asks: str, text: Text) -> Shape | None:
    limit = limit_of(asks)
    if (
        limit is None
        or re.search(r"\b(?:each|every|per|all)\b", asks, re.IGNORECASE)
        or limit_of(asks[limit.span[1] :])
    ):
        return None
    if _asks_more(_beyond(asks, limit.span)):
        return None
    if limit.countable.in_lists and not re.search(r"list|bullet|numbered|points?\b", asks, re.IGNORECASE):
        return None
    found, what = limit.countable.count(text), limit.what
    return Shape(
        limit.allows(found) != _denies(asks[: limit.span[0]]),
        f"it has {found} {what.removesuffix('s') if found == 1 else what.removesuffix('s') + 's'}",
    )


def _word_present(asks: str, text: Text) -> Shape | None:
    wanted = _WORD_ASKED.search(asks)
    if wanted is None:
        return None
    phrase = next(filter(None, wanted.groups()))
    parts = _BETWEEN_WORDS.split(phrase.strip())
    words, either = parts[::2], "or" in map(str.lower, parts[1::2])
    there = (any if either else all)(_occurs(word, text) for word in words)
    around = asks.replace(phrase, "")
    flip = bool(re.search(r"\b(?:not|never|avoids?|avoided|absent|missing|without)\b|n['’]t\b", around, re.IGNORECASE))
    named = f" {'or' if either else 'and'} ".join(f"“{word}”" for word in words)
    return Shape(there != flip, f"{named} {'occurs' if there else 'does not occur'} in it")


def _occurs(phrase: str, text: Text) -> bool:
    wanted = " ".join(phrase.casefold().split())
    before, after = (r"(?<!\w)" if wanted[:1].isalnum() else "", r"(?!\w)" if wanted[-1:].isalnum() else "")
    return re.search(f"{before}{re.escape(wanted)}{after}", text.plain) is not None


# "The word 'X' or 'Y'": one pair of quotation marks ends and the next begins.
_BETWEEN_WORDS = re.compile(r"[\"”'’`],?\s+(or|and)\s+(?:the \w+ )?[\"“'‘`]", re.IGNORECASE)
# "Uses the word 'X'", "the phrase 'X' is absent".
_WORD_ASKED = re.compile(
    r"\b(?:contains?|includes?|mentions?|uses?|has|says?)\s+(?:the )?(?:exact )?"
    r"(?:word|words|phrase|term|string|sentence|text|characters?)\s+[\"“'‘`](.+?)[\"”'’`](?=\W*$|\s+(?!or\b|and\b))|"
    r"\b(?:contains?|includes?)\s+[\"“'‘`](.+?)[\"”'’`](?=\W*$|\s+(?!or\b|and\b))|"
    r"\bthe (?:word|phrase|term) [\"“'‘`]([^\"”’`]+)[\"”'’`] (?:is |are )?(?:absent|missing|present|used|avoided)",
    re.IGNORECASE,
)


def _feature(asks: str, text: Text) -> Shape | None:
    if re.search(r"\b(?:each|every)\b", asks, re.IGNORECASE):
        return None
    for feature in FEATURES:
        named = re.search(rf"\b(?:{feature.names})\b", asks, re.IGNORECASE)
        if named is None:
            continue
        if re.search(r"\d", asks):
            return None  # It asks for one of them, not for any.
        there, flip = feature.present(text), bool(_NONE.search(asks))
        more = feature.called != "a placeholder" and _asks_more(_without(asks, named.span()), _AROUND_FEATURES)
        # What is there may still be the wrong one; what is not there cannot be the right one.
        if more and (there or flip or not feature.plain_to_see):
            return None
        return Shape(there != flip, f"it has {feature.called if there else _ARTICLE.sub('no ', feature.called)}")
    return None


def _denies(asks: str) -> bool:
    return bool(_NONE.search(asks))


_NONE = re.compile(r"\b(?:no|not|never|without|avoids?|free of|absent|lacks?)\b|n['’]t\b", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:an? )?")


def _beyond(asks: str, span: tuple[int, int]) -> str:
    """A criterion without the form in that span, and without the word before "list": "a shopping list"."""
    return re.sub(r"\b\w+ (?=list\b)", "", _without(asks, span))


def _without(asks: str, span: tuple[int, int]) -> str:
    return asks[: span[0]] + " " + asks[span[1] :]


def _asks_more(rest: str, also: frozenset[str] = frozenset()) -> bool:
    """Whether the words of a criterion around its form ask for something besides it."""
    return any(
        word.stem not in EMPTY and lowered(word.raw) not in _AROUND_FORMS and lowered(word.raw) not in also
        for word in words_of(rest)
    )


# Words around a form that speak of the whole output; others make it the form of something inside it.
_AROUND_FORMS = frozenset(
    word
    for line in """
is are has have contain contains long length in the it answer reply output response text summary message email
written be must should does do stay keep kept fit fits within of with a an there list items bullet bulleted numbered
given as and or fewer more less not no than longer shorter page total form made up consist consists use uses using
recipe instruction instructions description explanation note report table markdown presented present format
formatted structure structured limit limited entire whole overall comprise comprises answers exactly only just
between least most short full complete include includes feature features point points step steps
""".splitlines()
    for word in line.split()
)
_AROUND_FEATURES = frozenset(
    word
    for line in """
contain contains include includes has have use uses using give gives given present presented written as formatted
form format a an any is are there appear appears show shows page separate left single itself direct made kind
markdown style at least one or by way
""".splitlines()
    for word in line.split()
)
