"""What a page shows of samples: a list with why each deserves a look, and one in full with its passages marked."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from evenhand.report.html.formats import (
    format_report_count,
    format_report_duration,
    format_report_percent,
    format_report_signed_number,
)
from evenhand.report.html.sample_reasons import (
    LAYER_MEAN_NOTE,
    PageQuestions,
    describe_expected_answer_in_report,
    explain_verdict_in_report,
    find_report_questions,
)
from evenhand.report.judge_names import name_reported_judges_briefly, shorten_reported_judges
from evenhand.wording import (
    MISSING_DASH,
    format_dollar_amount,
    format_figure,
    pluralize_count,
    word_criterion,
    word_layer,
)

SNIPPET_LENGTH = 140  # Characters of the input that a list shows.
LARGE_MOVE = 1.0  # Points of the composite that are a reason to look.
Result = Mapping[str, Any]
WHY_PASSED_ON = {"near": "it is near a threshold", "drawn": "it was drawn at random"}
MARK_WORDS = {
    "evidence": "quoted by a judge",
    "found": "found by an assertion",
    "amiss": "found by an assertion that failed",
    "flag": "flagged by a guard",
    "differs": "differs between the variants",
}
MOST_COMPARED_TOKENS = 2_000  # Words of each text, else lines; comparing takes time that grows with their product.
LONGEST_SHOWN_TEXT = 60_000  # Characters of one output; a page stays small.
_WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")
_LINES = re.compile(r"[^\n]*\n?")


def shorten_report_input(asked: Any) -> str:
    """The beginning of an input, or of the last message."""
    if isinstance(asked, list) and asked and isinstance(asked[-1], dict):
        asked = asked[-1].get("text", "")
    text = write_report_value(asked)
    return text if len(text) <= SNIPPET_LENGTH else text[: SNIPPET_LENGTH - 1] + "…"


def write_report_value(value: Any) -> str:
    """A text as it is, other data as JSON; nothing where there is none."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def list_report_reasons(sample: Any) -> Iterator[tuple[str, str]]:
    """Why a sample deserves a look, each with its tone; of several variants, whose."""

    def name_whose(reason: str) -> str:
        return f"{', '.join(sample.whose[reason])}: " if len(sample.composites) > 1 else ""

    if not sample.results:
        yield "", "no result yet"
    if sample.gates:
        yield "bad", f"{name_whose('gates')}{pluralize_count(sample.gates, 'gate')} failed"
    elif sample.verdict == "fail":
        yield "bad", f"{name_whose('fail')}verdict fail"
    if sample.unscored:
        yield "bad", f"{name_whose('unscored')}{pluralize_count(sample.unscored, 'output')} without a score"
    if sample.findings:
        yield "bad", f"{name_whose('findings')}{pluralize_count(sample.findings, 'guard finding')}"
    if sample.spread is not None:
        apart = format_report_percent(round(sample.spread, 2))
        yield "warn", f"{name_whose('spread')}judges {apart} apart on {sample.spread_on}"
    if sample.moved is not None and abs(sample.moved) >= LARGE_MOVE:
        whose = f"{sample.moved_variant} " if len(sample.composites) > 2 else ""  # Of two, there is only one to move.
        yield ("good" if sample.moved > 0 else "bad"), f"{whose}moved {format_report_signed_number(sample.moved)}"
    if sample.near is not None:
        yield "warn", f"{name_whose('near')}{format_figure(sample.near)} from a gate"
    if sample.assertions:
        yield "", f"{name_whose('assertions')}{pluralize_count(sample.assertions, 'assertion')} failed"


SAMPLE_FILTERS: dict[str, Callable[..., Any]] = {
    "snippet": shorten_report_input,
    "reasons": list_report_reasons,
    "written": write_report_value,
    "briefly": name_reported_judges_briefly,
}


def build_sample_report_page(head: Mapping[str, Any], sample: Mapping[str, Any]) -> dict[str, Any]:
    """All that the template of a sample is given."""
    roles = {one["name"]: one["role"] for one in head["variants"]}
    rubric = find_report_questions(head["eval"]["rubrics"], sample["tags"])
    asked = [("Input", sample["messages"] or sample["input"]), ("Reference", sample["reference"])]
    asked += [("Context", sample["context"])]
    facts = {**({"cluster": sample["cluster"]} if sample["cluster"] is not None else {}), **(sample["metadata"] or {})}
    return {
        "run": head["run"],
        "short_judges": shorten_reported_judges(one["name"] for one in head.get("judges", ())),
        "sample": sample,
        "asked": [(name, value) for name, value in asked if value],
        "facts": [(name, write_report_value(value)) for name, value in facts.items()],
        "repeats": list(_build_repeats_in_report(sample["results"], roles, rubric)),
    }


def _build_repeats_in_report(
    results: Sequence[Result], roles: Mapping[str, str], rubric: PageQuestions
) -> Iterator[SimpleNamespace]:
    """For each repeat the variants side by side, with what they do not share with the control marked."""
    for number in sorted({one["repeat"] for one in results}):
        own = [one for one in results if one["repeat"] == number]
        control = next((one for one in own if roles.get(one["variant"]) == "control"), own[0])
        rest = [one for one in own if one is not control]
        yield SimpleNamespace(
            columns=[
                _build_sample_report_column(
                    one, rest if one is control else [control], roles.get(one["variant"], ""), rubric
                )
                for one in own
            ],
            replies=_list_pair_replies_in_report(own),
        )


def _build_sample_report_column(
    one: Result, others: Sequence[Result], role: str, rubric: PageQuestions
) -> SimpleNamespace:
    made = one["output"] or {}
    text = made.get("text") or ""
    marks = list(_list_report_output_marks(one))
    held_against = [other["output"]["text"] for other in others if (other["output"] or {}).get("text")]
    for other in held_against:
        marks += find_differing_report_marks(text, other)
    pieces = split_report_text_at_marks(text, marks)
    return SimpleNamespace(
        result=one,
        role=role,
        word=one["verdict"] if one["state"] == "scored" else one["state"],
        numbers=list(_list_report_column_numbers(one)),
        decided=_describe_cascade_in_report(one.get("cascade")),
        pieces=pieces,
        kinds=[kind for kind in MARK_WORDS if any(kind in piece.kinds for piece in pieces)],
        length=len(text),
        is_cut=len(text) > LONGEST_SHOWN_TEXT,
        is_unmarked=bool(text) and any(not can_mark_report_differences(text, other) for other in held_against),
        trace=made.get("trace") or [],
        criteria=list(_group_judgments_in_report(one, pieces, rubric)),
        preferences=one.get("preferences") or (),
        path=list(_build_score_path_in_report(one, rubric)),
    )


def _describe_cascade_in_report(cascade: Mapping[str, Any] | None) -> str:
    """Which judge of a cascade decided, and why it was that one."""
    if cascade is None:
        return ""
    why = WHY_PASSED_ON.get(cascade["passed_on"], "")
    if not why:
        return f"Decided by the cheap judge, {cascade['decided_by']}: the sample was not passed on."
    if not cascade["by_strong"]:
        return f"Decided by the cheap judge, {cascade['decided_by']}: passed on, as {why}, but without an answer."
    gave = "no score" if cascade["cheap_score"] is None else format_figure(cascade["cheap_score"])
    return f"Decided by the strong judge, {cascade['decided_by']}: {why}. The cheap judge gave {gave}."


def _list_pair_replies_in_report(own: Sequence[Result]) -> list[tuple[str, Mapping[str, Any]]]:
    """The replies of judges that compared outputs, which are those of all variants, each with the order it is about.

    Judges are asked about one pair after the other, in both orders; where more or fewer replies came, none is named.
    """
    pairs = [one for result in own for one in result.get("preferences") or () if not one.get("gate")]
    if not pairs:
        return []
    places = {one["variant"]: place for place, one in enumerate(own)}
    pairs.sort(key=lambda one: (places.get(one["first"], 0), places.get(one["second"], 0)))
    calls = max((one["calls"] for one in own), key=len)
    named: dict[str, list[str]] = {}
    for one in pairs:
        named.setdefault(one["judge"], []).extend(
            (f"{one['first']} first, then {one['second']}", f"{one['second']} first, then {one['first']}")
        )
    asked = Counter(call["judge"] for call in calls)
    orders = {judge: iter(several) for judge, several in named.items() if asked[judge] == len(several)}
    return [(next(orders[call["judge"]]) if call["judge"] in orders else "", call) for call in calls]


def _list_report_output_marks(one: Result) -> Iterator[TextMark]:
    for judgment in one["judgments"] or ():
        for quote in judgment["evidence"] or ():
            yield TextMark(
                quote["start"],
                quote["end"],
                "evidence",
                f"{word_criterion(judgment['criterion'])} · {judgment['judge']}",
            )
    for check in one["assertions"] or ():
        yield TextMark(check["start"], check["end"], "amiss" if check["passed"] is False else "found", check["name"])
    for finding in one["findings"] or ():
        yield TextMark(finding["start"], finding["end"], "flag", f"{finding['guard']}: {finding['says']}")


def _list_report_column_numbers(one: Result) -> Iterator[tuple[str, str]]:
    card, made = one["scorecard"] or {}, one["output"] or {}
    numbers = {"composite": one["composite"], "score": one["score"]}
    numbers |= {word_layer(name): value for name, value in (one["layers"] or {}).items()}
    yield from ((name, format_figure(value)) for name, value in numbers.items() if value is not None)
    if card.get("grade"):
        yield "grade", " ".join(filter(None, (card["grade"], card.get("label"))))
    if made.get("latency_ms") is not None:
        yield "latency", format_report_duration(made["latency_ms"] / 1000) or ""
    if made.get("cost") is not None:
        yield "cost", format_dollar_amount(made["cost"])
    if made.get("turns") is not None:
        yield "turns", format_report_count(made["turns"]) or ""
    tokens = [format_report_count(made.get(name)) for name in ("input_tokens", "output_tokens")]
    if any(tokens):
        yield "tokens", " + ".join(one or MISSING_DASH for one in tokens)
    if made.get("author"):
        yield "by", made["author"]


def _group_judgments_in_report(
    one: Result, pieces: Sequence[MarkedPiece], rubric: PageQuestions
) -> Iterator[tuple[str, str, list[SimpleNamespace]]]:
    """Judgments by criterion, so that judges who looked at the same thing stand together."""
    places = {piece.start: piece.id for piece in pieces if piece.kinds}
    several = one["judgments"] or ()
    own_rubric = one.get("own_rubric") or ""
    brought = f"{own_rubric.removeprefix('sample:')}." if own_rubric.startswith("sample:") else ""
    for criterion in dict.fromkeys(each["criterion"] for each in several):
        own = [each for each in several if each["criterion"] == criterion]
        unread = next((each for each in own if "unreadable" in (each.get("why_not") or "")), None)
        id = f"{brought}{criterion}"
        expected = describe_expected_answer_in_report(criterion, rubric.scales.get(id), yes_no=id in rubric.yes_no)
        yield (
            word_criterion(criterion),
            rubric.asks.get(id, ""),
            [
                SimpleNamespace(
                    given=each,
                    score=_word_score_in_report(each, id, rubric),
                    quotes=[(quote["text"], places.get(quote["start"])) for quote in each["evidence"] or ()],
                    expected=expected if each is unread else "",
                )
                for each in own
            ],
        )


def _word_score_in_report(judgment: Mapping[str, Any], id: str, rubric: PageQuestions) -> str:
    if judgment["score"] is None:
        return "no score"
    return " ".join(filter(None, (rubric.word_value(id, judgment["score"]), judgment.get("band"))))


def _build_score_path_in_report(one: Result, rubric: PageQuestions) -> Iterator[SimpleNamespace]:
    """The way from criteria to verdict: what went in, each step that moved the number, what was decided."""
    card = one["scorecard"]
    if card is None and not one["composite_steps"]:
        return
    if card is not None:
        yield _make_score_path_stop_in_report(
            "criteria",
            "Criteria",
            parts=[(word_criterion(id), rubric.word_value(id, value)) for id, value in card["criteria"].items()],
        )
        reviews = card["reviews"] or ()
        if len(reviews) > 1:
            said = [(review["judge"] or "a reviewer", format_figure(review["score"])) for review in reviews]
            yield _make_score_path_stop_in_report(
                "reviews", "Each judge", parts=said, steps=[step for each in reviews for step in each["steps"]]
            )
        yield from (
            _make_score_path_stop_in_report("step", step["step"].replace("_", " "), step=step) for step in card["steps"]
        )
        for gate in card["gates_failed"] or ():
            yield _make_score_path_stop_in_report("gate bad", "gate failed", says=write_report_value(gate))
        for gate in card.get("gates_open") or ():
            yield _make_score_path_stop_in_report("gate", "gate not known", says=write_report_value(gate))
        yield _make_score_path_stop_in_report(
            "score", "Score", value=format_figure(card["score"]), says=card.get("grade") or ""
        )
    if one["verdict"]:  # It is read off the score: the composite has no part in it.
        says = explain_verdict_in_report(one, rubric.verdicts)
        yield _make_score_path_stop_in_report(f"verdict {one['verdict']}", "Verdict", value=one["verdict"], says=says)
    for step in one["composite_steps"] or ():
        note = LAYER_MEAN_NOTE if step["step"] == "layer_mean" and " = " in step["why"] else ""
        yield _make_score_path_stop_in_report("step", step["step"].replace("_", " "), step=step, note=note)
    if one["composite"] is not None:
        yield _make_score_path_stop_in_report("score", "Composite", value=format_figure(one["composite"]))


def _make_score_path_stop_in_report(kind: str, name: str, **more: Any) -> SimpleNamespace:
    empty: dict[str, Any] = {"parts": [], "steps": [], "step": None, "value": "", "says": "", "note": ""}
    return SimpleNamespace(kind=kind, name=name, **{**empty, **more})


@dataclass(frozen=True, slots=True)
class TextMark:
    """A stretch of a text, in characters; without both ends it is nowhere."""

    start: int | None
    end: int | None
    kind: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPiece:
    """A piece of a text between two ends of marks, with all marks that lie over it."""

    text: str
    start: int
    kinds: tuple[str, ...] = ()
    by: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Its name within the text."""
        return f"at{self.start}"


def split_report_text_at_marks(text: str, marks: Iterable[TextMark]) -> list[MarkedPiece]:
    """The pieces of a text in order; what is beyond the longest that is shown is left out, and said so."""
    shown = text[:LONGEST_SHOWN_TEXT]
    placed = [
        (max(0, one.start), min(one.end, len(shown)), one)
        for one in marks
        if one.start is not None and one.end is not None and max(0, one.start) < min(one.end, len(shown))
    ]
    cuts = sorted({0, len(shown), *(end for start, stop, _ in placed for end in (start, stop))})
    pieces = []
    for start, end in pairwise(cuts):
        over = [one for first, last, one in placed if first <= start and end <= last]
        kinds, by = (tuple(dict.fromkeys(values)) for values in ([one.kind for one in over], [one.by for one in over]))
        pieces.append(MarkedPiece(text=shown[start:end], start=start, kinds=kinds, by=tuple(filter(None, by))))
    if len(text) > len(shown):
        rest = f"\n… {len(text) - len(shown):,} more characters"
        pieces.append(MarkedPiece(text=rest, start=len(shown)))
    return pieces


def find_differing_report_marks(text: str, other: str) -> list[TextMark]:
    """The stretches of a text that another one has not: word by word, of long texts line by line."""
    split = None if text == other else _split_report_texts_to_compare(text, other)
    return [] if split is None else list(_mark_unshared_report_words(*split))


def can_mark_report_differences(text: str, other: str) -> bool:
    """Whether two texts are short enough to be held against each other."""
    return text == other or _split_report_texts_to_compare(text, other) is not None


def _split_report_texts_to_compare(text: str, other: str) -> tuple[list[str], list[str]] | None:
    for tokens in (_WORDS, _LINES):
        ours, theirs = tokens.findall(text), tokens.findall(other)
        if len(ours) <= MOST_COMPARED_TOKENS and len(theirs) <= MOST_COMPARED_TOKENS:
            return ours, theirs
    return None


def _mark_unshared_report_words(ours: list[str], theirs: list[str]) -> Iterator[TextMark]:
    starts = [0]
    for token in ours:
        starts.append(starts[-1] + len(token))
    same = SequenceMatcher(None, theirs, ours, autojunk=False).get_matching_blocks()
    at = 0
    for block in same:
        if block.b > at:
            yield TextMark(starts[at], starts[block.b], "differs")
        at = block.b + block.size
