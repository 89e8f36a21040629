"""What a judge is shown of how an output came about: calls of tools with their results, shortened by a stated rule.

Arguments and results that are too long keep their beginning, their end, and the passages with rare words of the
criteria; the longest are shortened first, and none to less than SHORTEST_PART. Where that is not enough, the calls at
the beginning and at the end stay, then those with the rarest words of the criteria, and of the others their names. What
is left out is said in its place, in the heading, and on the scorecard.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from evenhand.judging.answer_form import list_questions_for_judge
from evenhand.judging.fence import MaterialPiece
from evenhand.judging.prompts import JudgePrompts
from evenhand.model.rubric import Rubric
from evenhand.model.sample import OutputTrace, ToolCall
from evenhand.wording import pluralize_count

LONGEST_TRACE = 24_000  # Characters of a whole trace that a judge is shown: some six thousand tokens.
LONGEST_PART = 4_000  # Characters of the arguments of one call, or of its result.
SHORTEST_PART = 600  # To which these are shortened before whole calls are left out.
ROOM_FOR_WORDS = 0.85  # Of a trace, for arguments and results; the rest is for headings and what is said of gaps.
MOST_NAMES = 12  # Different tools named of calls that are left out together.
EDGE_SHARE = 0.8  # Of what is shown, for beginning and end; the rest is for what the criteria name.
PASSAGE = 240  # Characters of a passage with a word of the criteria.


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTrace:
    """A trace as a judge sees it."""

    text: str
    calls: int
    calls_shown: int
    left_out: int  # Characters.

    def describe_shortening_for_judge(self) -> str:
        """What did not fit, in a sentence for the scorecard; empty where all of it was shown."""
        if not self.left_out:
            return ""
        calls = f"{self.calls_shown} of {pluralize_count(self.calls, 'call')} shown"
        return f"trace shortened for the judge: {calls}, {self.left_out:,} characters left out"


def show_trace_to_judge(trace: OutputTrace, rubric: Rubric, prompts: JudgePrompts) -> JudgedTrace:
    """The trace as the judges of a rubric see it: the same for every criterion."""
    terms = list_criteria_terms_for_judge(
        text
        for one in list_questions_for_judge(rubric)
        for text in (one.asks, *(anchor.text for anchor in one.anchors))
    )
    most = _fit_call_parts_in_prompt(
        [len(part) for call in trace.calls for part in _list_prompt_call_parts(call).values()]
    )
    shown = [
        _write_call_into_judge_prompt(number, call, terms, most, prompts)
        for number, call in enumerate(trace.calls, start=1)
    ]
    kept = _choose_calls_for_prompt([text for text, _ in shown], terms)
    left_out = sum(cut for at, (_, cut) in enumerate(shown) if at in kept)
    gone = [call for at, call in enumerate(trace.calls) if at not in kept]
    left_out += sum(len(part) for call in gone for part in _list_prompt_call_parts(call).values())
    lines = [] if trace.turns is None else [prompts.say("trace_turns", turns=trace.turns)]
    lines += _join_prompt_calls(trace, [text for text, _ in shown], kept, prompts) or [prompts.say("trace_no_calls")]
    return JudgedTrace(text="\n\n".join(lines), calls=len(shown), calls_shown=len(kept), left_out=left_out)


def label_trace_for_prompt(
    rubric: Rubric, trace: OutputTrace | None, prompts: JudgePrompts, letter: str = ""
) -> list[MaterialPiece]:
    """The trace of an output, or of the response with a letter, as material to judge; nothing where there is none."""
    if trace is None:
        return []
    shown = show_trace_to_judge(trace, rubric, prompts)
    label = prompts.say("trace_of", letter=letter) if letter else prompts.say("trace")
    if shown.left_out:
        counts = {"shown": shown.calls_shown, "calls": shown.calls, "count": shown.left_out}
        label += prompts.say("trace_shortened", cannot=prompts.say("cannot"), **counts)
    return [(label, f"trace-{letter}" if letter else "trace", shown.text)]


def find_prompt_trace_text(pieces: Iterable[MaterialPiece], letter: str = "") -> str:
    """What of the pieces is the trace of an output: a judge may quote it too."""
    tag = f"trace-{letter}" if letter else "trace"
    return next((text for _, name, text in pieces if name == tag), "")


_WORD = re.compile(r"[^\W_](?:[\w./:-]*\w)?")
_QUOTED = re.compile(r"[\"“”‘’「『]([^\"“”‘’「」『』\n]{2,60})[\"“”‘’」』]|'([^'\n]{2,60})'")
LEAST_TERM = 4  # Letters of a word that may tell one passage from another.


def list_criteria_terms_for_judge(texts: Iterable[str]) -> tuple[str, ...]:
    """What criteria name: the words they use, and what stands in quotation marks."""
    terms: dict[str, None] = {}
    for text in texts:
        terms |= dict.fromkeys((found[1] or found[2]).casefold() for found in _QUOTED.finditer(text))
        terms |= dict.fromkeys(word.casefold() for word in _WORD.findall(text) if len(word) >= LEAST_TERM)
    return tuple(terms)


def _list_prompt_call_parts(call: ToolCall) -> dict[str, str]:
    """The arguments and the result of a call as text, by the phrase that names them, as far as they were recorded."""
    given = {"trace_arguments": call.input, "trace_result": call.output}
    return {
        phrase: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        for phrase, value in given.items()
        if value is not None
    }


def _fit_call_parts_in_prompt(lengths: Sequence[int]) -> int:
    """To how many characters parts are shortened: as few of them as it takes to fit, the longest first."""
    room, rest = int(LONGEST_TRACE * ROOM_FOR_WORDS), sorted(lengths)
    while rest and rest[0] * len(rest) <= room:
        room -= rest.pop(0)
    return min(LONGEST_PART, max(SHORTEST_PART, room // len(rest))) if rest else LONGEST_PART


def _write_call_into_judge_prompt(
    number: int, call: ToolCall, terms: Sequence[str], most: int, prompts: JudgePrompts
) -> tuple[str, int]:
    """One call as text, and how many characters of it are left out."""
    lines, left_out = [prompts.say("trace_call", number=number, name=" ".join(call.name.split()))], 0
    for phrase, whole in _list_prompt_call_parts(call).items():
        text, cut = _shorten_call_part_for_judge(whole, terms, most, prompts)
        # Further lines are indented: a result cannot write down a call that was never made.
        lines.append("\n  ".join(f"{prompts.say(phrase)}: {text}".splitlines()))
        left_out += cut
    lines += [prompts.say("trace_no_result")] if call.output is None else []
    return "\n".join(lines), left_out


def _shorten_call_part_for_judge(text: str, terms: Sequence[str], most: int, prompts: JudgePrompts) -> tuple[str, int]:
    """Beginning, end, and between them the passages with the rarest words of the criteria, in their order."""
    if len(text) <= most:
        return text, 0
    edge = int(most * EDGE_SHARE / 2)
    passages = max(1, int(most * (1 - EDGE_SHARE)) // PASSAGE)
    named = _find_passages_for_judge(text, terms, edge, len(text) - edge)[:passages]
    places = [(0, edge), *sorted(named), (len(text) - edge, len(text))]
    parts, last, left_out = [], 0, 0
    for start, end in places:
        if start > last:
            parts.append(prompts.say("trace_cut", count=start - last))
            left_out += start - last
        parts.append(text[max(start, last) : end])
        last = max(last, end)
    return " ".join(parts), left_out


def _find_passages_for_judge(text: str, terms: Sequence[str], start: int, end: int) -> list[tuple[int, int]]:
    """Passages with a word of the criteria, those with the rarest word first."""
    folded = text.casefold() if len(text.casefold()) == len(text) else text
    counts = {term: count for term in terms if (count := folded.count(term))}
    places: list[tuple[int, int]] = []
    for term in sorted(counts, key=lambda term: counts[term]):
        at = folded.find(term, start, end)
        if at >= 0 and not any(low <= at < high for low, high in places):
            places.append((max(start, at - PASSAGE // 2), min(end, at + PASSAGE // 2)))
    return places


def _choose_calls_for_prompt(texts: Sequence[str], terms: Sequence[str]) -> set[int]:
    """The places of the calls that fit: from both ends inwards, then by the rarest words of the criteria."""
    if sum(map(len, texts)) <= LONGEST_TRACE:
        return set(range(len(texts)))
    folded = [text.casefold() for text in texts]
    counts = {term: count for term in terms if (count := sum(term in text for text in folded))}
    rarity = [sum(1 / count for term, count in counts.items() if term in text) for text in folded]
    half = (len(texts) + 1) // 2
    ends = [
        at for pair in zip_longest(range(half), range(len(texts) - 1, half - 1, -1)) for at in pair if at is not None
    ]
    kept: set[int] = set()
    used = 0
    for order, most in ((ends, LONGEST_TRACE * EDGE_SHARE), (sorted(ends, key=lambda at: -rarity[at]), LONGEST_TRACE)):
        for at in order:
            if at not in kept and used + len(texts[at]) <= most:
                kept.add(at)
                used += len(texts[at])
            elif order is ends and at not in kept:
                break  # From the ends inwards without a gap.
    return kept


def _join_prompt_calls(trace: OutputTrace, texts: Sequence[str], kept: set[int], prompts: JudgePrompts) -> list[str]:
    """The calls that fit, in order, and in place of the others which they were."""
    lines: list[str] = []
    for is_kept, places in groupby(range(len(texts)), key=lambda at: at in kept):
        several = list(places)
        lines += [texts[at] for at in several] if is_kept else [_say_trace_gap_in_prompt(trace, several, prompts)]
    return lines


def _say_trace_gap_in_prompt(trace: OutputTrace, places: Sequence[int], prompts: JudgePrompts) -> str:
    counts = Counter(trace.calls[at].name for at in places)
    names = [f"{name} ×{count}" for name, count in counts.most_common(MOST_NAMES)] + ["…"] * (len(counts) > MOST_NAMES)
    numbers = "–".join(dict.fromkeys(str(at + 1) for at in (places[0], places[-1])))
    return prompts.say("trace_gap", calls=numbers, names=", ".join(names))
