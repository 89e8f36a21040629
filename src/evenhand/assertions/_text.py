"""Rules on the words of an output: contains, equals, starts and ends with."""

from __future__ import annotations

from evenhand.assertions._facts import Facts, Found, Span
from evenhand.assertions._shown import listed, passage, place, shown


def contains(facts: Facts, *, text: str, ignore_case: bool) -> Found:
    """The text stands somewhere in the output."""
    output = facts.made.text
    span = find(output, text, ignore_case)
    if span:
        return Found(passed=True, found=passage(output, span), span=span)
    return Found(passed=False, found=_instead(output, text, ignore_case))


def not_contains(facts: Facts, *, text: str, ignore_case: bool) -> Found:
    """The text stands nowhere in the output."""
    output = facts.made.text
    span = find(output, text, ignore_case)
    return Found(passed=span is None, found=passage(output, span) if span else "not there", span=span)


def contains_all(facts: Facts, *, texts: tuple[str, ...], ignore_case: bool) -> Found:
    """Every one of the texts stands in the output."""
    spans = [find(facts.made.text, text, ignore_case) for text in texts]
    missing = [text for text, span in zip(texts, spans, strict=True) if span is None]
    if missing:
        return Found(passed=False, found=f"{len(texts) - len(missing)} of {len(texts)}; not there: {listed(missing)}")
    return Found(passed=True, found=f"all {len(texts)}", span=spans[0])


def contains_any(facts: Facts, *, texts: tuple[str, ...], ignore_case: bool) -> Found:
    """At least one of the texts stands in the output."""
    output = facts.made.text
    span = next(filter(None, (find(output, text, ignore_case) for text in texts)), None)
    return Found(passed=span is not None, found=passage(output, span) if span else "none of them", span=span)


def equals(facts: Facts, *, to: str | None, ignore_case: bool) -> Found:
    """The output is the text, white space at both ends aside."""
    fold = str.casefold if ignore_case else str
    wanted = compared_with(facts, to)
    if fold(facts.made.text.strip()) == fold(wanted):
        return Found(passed=True, found="the same")
    return _difference(facts.made.text, wanted, ignore_case)


def not_equals(facts: Facts, *, to: str | None, ignore_case: bool) -> Found:
    """The output is not the text, white space at both ends aside."""
    found = equals(facts, to=to, ignore_case=ignore_case)
    return Found(passed=not found.passed, found=found.found, span=found.span)


def starts_with(facts: Facts, *, text: str, ignore_case: bool) -> Found:
    """The output begins with the text, white space before it aside."""
    output = facts.made.text
    start = len(output) - len(output.lstrip())
    wanted, fold = text.lstrip(), str.casefold if ignore_case else str
    passed = fold(output[start:]).startswith(fold(wanted))
    span = find(output[start:], wanted, ignore_case) if passed else None
    end = start + (span[1] if span else len(wanted))
    return Found(passed=passed, found=_end_of(output[start:end]), span=_within(output, start, end))


def ends_with(facts: Facts, *, text: str, ignore_case: bool) -> Found:
    """The output ends with the text, white space after it aside."""
    output, wanted = facts.made.text.rstrip(), text.rstrip()
    start = max(0, len(output) - len(wanted))
    passed = output.endswith(wanted)
    if ignore_case and output.casefold().endswith(wanted.casefold()):
        passed, start = True, _start_of_ending(output, len(wanted.casefold()))
    return Found(passed=passed, found=_end_of(output[start:]), span=_within(output, start, len(output)))


def find(output: str, text: str, ignore_case: bool) -> Span | None:
    """Where a text stands first. Without case, by Unicode's full folding, so that STRASSE is found in Straße."""
    if not ignore_case:
        start = output.find(text)
        return None if start < 0 else (start, start + len(text))
    folded, wanted = output.casefold(), text.casefold()
    start = folded.find(wanted)
    if start < 0:
        return None
    end = start + len(wanted)
    if len(folded) == len(output):
        return start, end
    origin = [index for index, letter in enumerate(output) for _ in letter.casefold()]
    return origin[start], origin[end - 1] + 1


def compared_with(facts: Facts, to: str | None) -> str:
    """The text that the output is held against."""
    return (facts.reference if to is None else to).strip()


def _instead(output: str, text: str, ignore_case: bool) -> str:
    if not output.strip():
        return "the output is empty"
    nearly = None if ignore_case else find(output, text, ignore_case=True)
    return f"not there; in other case {passage(output, nearly)}" if nearly else "not there"


def _difference(output: str, wanted: str, ignore_case: bool) -> Found:
    """What stands at the first place where two texts part."""
    start = len(output) - len(output.lstrip())
    stripped = output.strip()
    fold = str.casefold if ignore_case else str
    pairs = enumerate(zip(stripped, wanted, strict=False))
    parted = next((index for index, (one, two) in pairs if fold(one) != fold(two)), min(len(stripped), len(wanted)))
    here, there = stripped[parted:], wanted[parted:]
    is_said = f"{shown(here, 30)} stands" if here else "the output ends"
    is_wanted = shown(there, 30) if there else "the end"
    found = f"{is_said} where {is_wanted} should, at {place(output, start + parted)}"
    return Found(passed=False, found=found, span=_within(output, start + parted, start + len(stripped)))


def _end_of(text: str) -> str:
    return shown(text) if text else "the output is empty"


def _start_of_ending(output: str, folded: int) -> int:
    """Where the ending begins that has so many letters when its case is folded."""
    start = len(output)
    while folded > 0:
        start -= 1
        folded -= len(output[start].casefold())
    return start


def _within(output: str, start: int, end: int) -> Span | None:
    end = min(end, len(output))
    return (start, end) if start < end else None
