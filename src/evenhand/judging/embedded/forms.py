"""Forms: what a criterion asks of the form of a text, measured and not weighed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from evenhand.judging.embedded.lexicon import (
    Entry,
    find_embedded_words,
    is_embedded_content_word,
    load_claim_words,
    load_embedded_lexicon_numbers,
    load_judge_lexicon,
    load_judge_pattern,
    load_judge_patterns,
    lower_claim_letters,
)
from evenhand.judging.embedded.texts import (
    JudgedText,
    contains_claim_words,
    detect_judged_language,
    find_values_of_claim,
    shorten_judged_passage,
)

LONGEST_QUOTE = 200  # Characters of a line that are quoted.


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """What a check of form found: whether it holds, and in which words."""

    holds: bool
    reason: str
    quote: str = ""  # The passage that shows it, where there is one.


def judge_form_claim(asks: str, text: JudgedText) -> FormAnswer | None:
    """Whether a criterion of form holds for a text; None where the criterion is not one of form alone."""
    of_form = (_judge_edge_claim, _judge_language_claim, _judge_json_claim, _judge_count_claim, _judge_code_claim)
    return next(
        (found for check in (*of_form, _judge_word_claim, _judge_feature_claim) if (found := check(asks, text))), None
    )


def _judge_edge_claim(asks: str, text: JudgedText) -> FormAnswer | None:
    """ "Begins with a heading", "ends with 'Kind regards'"."""
    asked = load_judge_pattern("forms", "edge").search(asks)
    if asked is None:
        return None
    first = lower_claim_letters(asked["end"])[0] in "bso"
    edge = text.sentences[0 if first else -1] if text.sentences else ""
    holds = _judge_edge_sentence(asked["what"], edge, text.text, first=first)
    if holds is None:
        return None
    denied = load_judge_pattern("forms", "edge_denial").search(asks) is not None
    reason = f"it {'begins' if first else 'ends'} with “{shorten_judged_passage(edge, 60)}”"
    return FormAnswer(holds != denied, reason, edge)


def _judge_edge_sentence(what: str, edge: str, text: str, *, first: bool) -> bool | None:
    """Whether the first or the last sentence is what is asked for; None where that is no matter of form."""
    quoted = load_judge_pattern("forms", "edge_quoted").search(what)
    if quoted:
        wanted, whole = quoted[1].strip().casefold(), text.strip().casefold()
        if first:
            return whole.startswith(wanted) and not whole[len(wanted) : len(wanted) + 1].isalnum()
        return whole.rstrip(" .!\"'").endswith(wanted.rstrip(" .!"))
    if load_judge_pattern("forms", "edge_quotation").match(what):
        return edge[:1] in '"“«„「' if first else edge[-1:] in '"”»“」'
    if load_judge_pattern("forms", "edge_question").match(what):
        return edge.rstrip("\"'”)*_ ").endswith(("?", "？"))
    if load_judge_pattern("forms", "edge_heading").match(what) and first:
        return load_judge_pattern("forms", "heading").match(text.lstrip()) is not None
    return None


def _judge_language_claim(asks: str, text: JudgedText) -> FormAnswer | None:
    asked = load_judge_pattern("forms", "language_asked").search(asks)
    if asked is None or _claims_more_than_form(_cut_form_from_claim(asks, asked.span())):
        return None
    seen = detect_judged_language(text.text)
    if seen is None:
        return None
    return FormAnswer(
        (seen == lower_claim_letters(asked[1])) != _denies_form_claim(asks), f"it reads as {seen.capitalize()}"
    )


def _judge_json_claim(asks: str, text: JudgedText) -> FormAnswer | None:
    asked = load_judge_pattern("forms", "json_asked").search(asks)
    if asked is None or load_judge_pattern("forms", "json_key").search(asks):
        return None
    around = _cut_form_from_claim(asks, asked.span())
    if _claims_more_than_form(load_judge_pattern("forms", "json_filler").sub(" ", around)):
        return None
    parses = parse_fenced_json_of_claim(text.text) is not None
    return FormAnswer(
        parses != _denies_form_claim(asks), "it parses as JSON" if parses else "it does not parse as JSON"
    )


def _judge_code_claim(asks: str, text: JudgedText) -> FormAnswer | None:
    """ "Includes code examples", "has no code", "shows code in Python"."""
    asked = load_judge_pattern("forms", "code_asked").search(asks)
    if asked is None or load_judge_pattern("forms", "of_every").search(asks):
        return None
    around = _cut_form_from_claim(asks, asked.span())
    more = _claims_more_than_form(around, load_claim_words("forms", "around_features"))
    denied, wanted = _denies_form_claim(asks), lower_claim_letters(asked["language"] or asked["before"] or "")
    blocks = list(load_judge_pattern("forms", "code_block").finditer(text.text))
    shown = blocks[0] if blocks else load_judge_pattern("forms", "code_line").search(text.text)
    start = text.text.find("\n", shown.start()) + 1 if blocks and shown else shown.start() if shown else 0
    if shown is None:
        # A name in backticks may be all the code that is asked for.
        doubtful = load_judge_pattern("forms", "inline_code").search(text.text)
        return None if doubtful or (more and denied) else FormAnswer(denied, "it has no code")
    if more:
        return None
    if not wanted:
        return FormAnswer(not denied, "it has code", _quote_judged_line(text.text, start))
    languages = load_judge_patterns("forms", "code_languages")
    tagged = load_judge_pattern("forms", "code_tag").findall(text.text)
    if not tagged or wanted not in languages:
        return None
    is_same = any(languages[wanted].fullmatch(tag) for tag in tagged)
    return FormAnswer(is_same != denied, f"its code is marked as {tagged[0]}", _quote_judged_line(text.text, start))


def _quote_judged_line(text: str, at: int) -> str:
    """The line of a text at some place, as far as it is readable."""
    start = text.rfind("\n", 0, at) + 1
    return text[start : start + LONGEST_QUOTE].partition("\n")[0].strip()


def _judge_count_claim(asks: str, text: JudgedText) -> FormAnswer | None:
    """ "At most three sentences", where the criterion has one limit and asks for nothing else."""
    limit = load_judge_pattern("forms", "limit").search(asks)
    if limit is None or load_judge_pattern("forms", "of_each").search(asks):
        return None
    start, end = limit.span()
    around = _cut_form_from_claim(asks, limit.span())
    if load_judge_pattern("forms", "limit").search(asks[end:]) or _claims_more_than_form(around):
        return None
    what = lower_claim_letters(limit["what"])
    name = next(name for name, names in load_judge_patterns("forms", "countables").items() if names.fullmatch(what))
    in_lists = "in_lists" in load_judge_lexicon("forms")["countables"][name]
    if in_lists and not load_judge_pattern("forms", "asks_for_list").search(asks):
        return None
    found, quote = count_form_of_claim(name, text)
    unit = what.removesuffix("s") + ("" if found == 1 else "s")
    return FormAnswer(
        _keeps_limit_of_claim(found, limit) != _denies_form_claim(asks[:start]), f"it has {found} {unit}", quote
    )


def _keeps_limit_of_claim(number: int, limit: re.Match[str]) -> bool:
    """Whether so many are within the limit of a criterion."""
    how, first, after = (lower_claim_letters(limit[name] or "") for name in ("how", "n", "after"))
    least = _read_limit_of_claim(first)
    most = _read_limit_of_claim(lower_claim_letters(limit["m"])) if limit["m"] else least
    any_number = first in ("a", "an") and not how and not after
    if load_judge_pattern("forms", "limit_least").fullmatch(how) or after == "or more" or any_number:
        return number >= least
    if load_judge_pattern("forms", "limit_most").fullmatch(how) or after:
        return number <= most
    if load_judge_pattern("forms", "limit_below").fullmatch(how):
        return number < least
    if load_judge_pattern("forms", "limit_above").fullmatch(how):
        return number > most
    return least <= number <= most


def _read_limit_of_claim(word: str) -> int:
    bare = word.replace(",", "")
    return int(bare) if bare.isdigit() else load_embedded_lexicon_numbers("forms", "limit_numbers")[word]


def _judge_word_claim(asks: str, text: JudgedText) -> FormAnswer | None:
    """ "Uses the word 'gentle' or 'easy'"."""
    asked = load_judge_pattern("forms", "word_asked").search(asks)
    if asked is None:
        return None
    phrase = next(filter(None, asked.groups()))
    parts = load_judge_pattern("forms", "word_break").split(phrase.strip())
    words, either = parts[::2], "or" in map(str.lower, parts[1::2])
    found = [word for word in words if contains_claim_words(text.text, word)]
    occurs = bool(found) if either else len(found) == len(words)
    quote = next((one for one in text.sentences if occurs and contains_claim_words(one, found[0])), "")
    denied = load_judge_pattern("forms", "word_denial").search(asks.replace(phrase, "")) is not None
    named = f" {'or' if either else 'and'} ".join(f"“{word}”" for word in words)
    return FormAnswer(occurs != denied, f"{named} {'occurs' if occurs else 'does not occur'} in it", quote)


def _judge_feature_claim(asks: str, text: JudgedText) -> FormAnswer | None:
    """ "Includes a table", "has no placeholders"."""
    if load_judge_pattern("forms", "of_every").search(asks):
        return None
    named = ((name, names.search(asks)) for name, names in load_judge_patterns("forms", "features").items())
    name, asked = next(((name, found) for name, found in named if found), ("", None))
    if asked is None or load_judge_pattern("forms", "digit").search(asks):
        return None  # With a number, it asks for one of them, not for any.
    feature: Entry = load_judge_lexicon("forms")["features"][name]
    quote, denied, called = find_feature_of_claim(name, text), _denies_form_claim(asks), feature["called"]
    has_it = bool(quote)
    around = asks[: asked.start()] + " " + asks[asked.end() :]
    more = name != "placeholder" and _claims_more_than_form(around, load_claim_words("forms", "around_features"))
    # What is there may still be the wrong one, unless a text has seldom two; what is not there cannot be the right one.
    if more and (denied or "plain_to_see" not in feature or (has_it and "is_single" not in feature)):
        return None
    shown = called if has_it else f"no {called.removeprefix('an ').removeprefix('a ')}"
    return FormAnswer(has_it != denied, f"it has {shown}", quote)


def _denies_form_claim(asks: str) -> bool:
    return load_judge_pattern("forms", "form_denial").search(asks) is not None


def _cut_form_from_claim(asks: str, span: tuple[int, int]) -> str:
    """A criterion without the form in that span, and without the word before "list": "a shopping list"."""
    return load_judge_pattern("forms", "word_before_list").sub("", f"{asks[: span[0]]} {asks[span[1] :]}")


def _claims_more_than_form(rest: str, also: frozenset[str] = frozenset()) -> bool:
    """Whether the words of a criterion around its form ask for something besides it."""
    known = load_claim_words("forms", "around_forms") | also
    return any(
        is_embedded_content_word(word.raw) and lower_claim_letters(word.raw) not in known
        for word in find_embedded_words(rest)
    )


def count_form_of_claim(name: str, text: JudgedText) -> tuple[int, str]:
    """How many of a countable thing a text has, and the line of the first.

    It is the first of its marks that occurs, or as a function counts it.
    """
    if name in _COUNTERS:
        return _COUNTERS[name](text), ""
    for mark in load_judge_lexicon("forms")["countables"][name]["marks"].split():
        found = [match.start() for match in load_judge_pattern("forms", mark).finditer(text.text)]
        if found:
            return len(found), "" if name == "word" else _quote_judged_line(text.text, found[0])
    return 0, ""


def find_feature_of_claim(name: str, text: JudgedText) -> str:
    """The line with the first mark of a feature, where one of its marks is there often enough; empty where none is."""
    if name == "table":
        rows = _find_table_rows_of_claim(text)
        return rows[0].strip() if len(rows) >= 2 else ""
    if name == "date":
        dates = ("date", "full date", "month", "weekday")
        return next((one for one in text.sentences for value in find_values_of_claim(one) if value.kind in dates), "")
    feature: Entry = load_judge_lexicon("forms")["features"][name]
    least = int(feature.get("least", 1))
    for mark in feature["marks"].split():
        found = list(islice(load_judge_pattern("forms", mark).finditer(text.text), least))
        if len(found) == least:
            return _quote_judged_line(text.text, found[0].end() - len(found[0][0].lstrip()))
    return ""


def parse_fenced_json_of_claim(text: str) -> tuple[object] | None:
    """What a text holds as JSON, a code fence around it aside; a tuple of one, as null is JSON too."""
    bare = load_judge_pattern("forms", "code_fence").sub("", text.strip(), count=1).removesuffix("```").strip()
    try:
        return (json.loads(bare, parse_constant=_refuse_json_constant_of_claim),)
    except (ValueError, RecursionError):
        return None


def _refuse_json_constant_of_claim(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _find_table_rows_of_claim(text: JudgedText) -> list[str]:
    """The rows of a table, without the rule below its head."""
    rule = load_judge_pattern("forms", "table_rule")
    return [row for row in load_judge_pattern("forms", "table_row").findall(text.text) if not rule.match(row)]


def _count_json_keys_of_claim(text: JudgedText) -> int:
    found = parse_fenced_json_of_claim(text.text)
    return len(found[0]) if found and isinstance(found[0], dict) else 0


_COUNTERS: dict[str, Callable[[JudgedText], int]] = {
    "sentence": lambda text: len(text.sentences),
    "paragraph": lambda text: sum(1 for part in re.split(r"\n\s*\n", text.text) if part.strip()),
    "line": lambda text: sum(1 for line in text.text.splitlines() if line.strip()),
    "character": lambda text: len(text.text.strip()),
    "column": lambda text: max(
        (row.strip().strip("|").count("|") + 1 for row in _find_table_rows_of_claim(text)), default=0
    ),
    "row": lambda text: max(0, len(_find_table_rows_of_claim(text)) - 1),  # The head is none.
    "key": _count_json_keys_of_claim,
}
