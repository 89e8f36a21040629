"""What a page shows of samples: a list with why each deserves a look, and one in full with its passages marked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from evenhand.report.html.formats import (
    format_page_count,
    format_page_duration,
    format_page_percent,
    format_page_signed_number,
)
from evenhand.report.html.marked_text import MarkedPiece, TextMark, find_differing_page_marks, split_page_text_at_marks
from evenhand.report.html.page_file import list_page_yes_no_criteria
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


def shorten_page_input(asked: Any) -> str:
    """The beginning of an input, or of the last message."""
    if isinstance(asked, list) and asked and isinstance(asked[-1], dict):
        asked = asked[-1].get("text", "")
    text = write_page_value(asked)
    return text if len(text) <= SNIPPET_LENGTH else text[: SNIPPET_LENGTH - 1] + "…"


def write_page_value(value: Any) -> str:
    """A text as it is, other data as JSON; nothing where there is none."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def list_page_reasons(sample: Any) -> Iterator[tuple[str, str]]:
    """Why a sample deserves a look, each with its tone."""
    if not sample.results:
        yield "", "no result yet"
    if sample.gates:
        yield "bad", f"{pluralize_count(sample.gates, 'gate')} failed"
    elif sample.verdict == "fail":
        yield "bad", "verdict fail"
    if sample.unscored:
        yield "bad", f"{pluralize_count(sample.unscored, 'output')} without a score"
    if sample.findings:
        yield "bad", f"{pluralize_count(sample.findings, 'guard finding')}"
    if sample.spread is not None:
        yield "warn", f"judges {format_page_percent(round(sample.spread, 2))} apart on {sample.spread_on}"
    if sample.moved is not None and abs(sample.moved) >= LARGE_MOVE:
        whose = f"{sample.moved_variant} " if len(sample.composites) > 2 else ""  # Of two, there is only one to move.
        yield ("good" if sample.moved > 0 else "bad"), f"{whose}moved {format_page_signed_number(sample.moved)}"
    if sample.near is not None:
        yield "warn", f"{format_figure(sample.near)} from a gate"
    if sample.assertions:
        yield "", f"{pluralize_count(sample.assertions, 'assertion')} failed"


SAMPLE_FILTERS: dict[str, Callable[..., Any]] = {
    "snippet": shorten_page_input,
    "reasons": list_page_reasons,
    "written": write_page_value,
}


def build_sample_page(head: Mapping[str, Any], sample: Mapping[str, Any]) -> dict[str, Any]:
    """All that the template of a sample is given."""
    roles = {one["name"]: one["role"] for one in head["variants"]}
    yes_no = list_page_yes_no_criteria(head["eval"]["rubrics"])
    asked = [("Input", sample["messages"] or sample["input"]), ("Reference", sample["reference"])]
    asked += [("Context", sample["context"])]
    facts = {**({"cluster": sample["cluster"]} if sample["cluster"] is not None else {}), **(sample["metadata"] or {})}
    return {
        "run": head["run"],
        "sample": sample,
        "asked": [(name, value) for name, value in asked if value],
        "facts": [(name, write_page_value(value)) for name, value in facts.items()],
        "repeats": list(_build_repeats_on_page(sample["results"], roles, yes_no)),
    }


def _build_repeats_on_page(
    results: Sequence[Result], roles: Mapping[str, str], yes_no: Sequence[str]
) -> Iterator[list[SimpleNamespace]]:
    """For each repeat the variants side by side, with what differs from the control marked."""
    for number in sorted({one["repeat"] for one in results}):
        own = [one for one in results if one["repeat"] == number]
        control = next((one for one in own if roles.get(one["variant"]) == "control"), own[0])
        yield [
            _build_sample_page_column(
                one, _find_compared_output_for_page(one, control, own), roles.get(one["variant"], ""), yes_no
            )
            for one in own
        ]


def _find_compared_output_for_page(one: Result, control: Result, own: Sequence[Result]) -> Result | None:
    """What an output is held against: the control, and, of two, the other one."""
    if one is not control:
        return control
    return next((other for other in own if other is not control), None) if len(own) == 2 else None


def _build_sample_page_column(one: Result, other: Result | None, role: str, yes_no: Sequence[str]) -> SimpleNamespace:
    made = one["output"] or {}
    text = made.get("text") or ""
    marks = list(_list_page_output_marks(one))
    if other is not None and (other["output"] or {}).get("text"):
        marks += find_differing_page_marks(text, other["output"]["text"])
    pieces = split_page_text_at_marks(text, marks)
    return SimpleNamespace(
        result=one,
        role=role,
        word=one["verdict"] if one["state"] == "scored" else one["state"],
        numbers=list(_list_page_column_numbers(one)),
        pieces=pieces,
        kinds=[kind for kind in MARK_WORDS if any(kind in piece.kinds for piece in pieces)],
        trace=made.get("trace") or [],
        criteria=list(_group_judgments_on_page(one, pieces, yes_no)),
        path=list(_build_score_path_on_page(one)),
    )


MARK_WORDS = {
    "evidence": "quoted by a judge",
    "found": "found by an assertion",
    "amiss": "found by an assertion that failed",
    "flag": "flagged by a guard",
    "differs": "differs between the variants",
}


def _list_page_output_marks(one: Result) -> Iterator[TextMark]:
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


def _list_page_column_numbers(one: Result) -> Iterator[tuple[str, str]]:
    card, made = one["scorecard"] or {}, one["output"] or {}
    numbers = {"composite": one["composite"], "score": one["score"]}
    numbers |= {word_layer(name): value for name, value in (one["layers"] or {}).items()}
    yield from ((name, format_figure(value)) for name, value in numbers.items() if value is not None)
    if card.get("grade"):
        yield "grade", " ".join(filter(None, (card["grade"], card.get("label"))))
    if made.get("latency_ms") is not None:
        yield "latency", format_page_duration(made["latency_ms"] / 1000) or ""
    if made.get("cost") is not None:
        yield "cost", format_dollar_amount(made["cost"])
    if made.get("turns") is not None:
        yield "turns", format_page_count(made["turns"]) or ""
    tokens = [format_page_count(made.get(name)) for name in ("input_tokens", "output_tokens")]
    if any(tokens):
        yield "tokens", " + ".join(one or MISSING_DASH for one in tokens)
    if made.get("author"):
        yield "by", made["author"]


def _group_judgments_on_page(
    one: Result, pieces: Sequence[MarkedPiece], yes_no: Sequence[str]
) -> Iterator[tuple[str, list[SimpleNamespace]]]:
    """Judgments by criterion, so that judges who looked at the same thing stand together."""
    places = {piece.start: piece.id for piece in pieces if piece.kinds}
    several = one["judgments"] or ()
    for criterion in dict.fromkeys(each["criterion"] for each in several):
        own = [each for each in several if each["criterion"] == criterion]
        yield (
            word_criterion(criterion),
            [
                SimpleNamespace(
                    given=each,
                    score=_word_score_on_page(each, one.get("own_rubric") or "", yes_no),
                    quotes=[(quote["text"], places.get(quote["start"])) for quote in each["evidence"] or ()],
                )
                for each in own
            ],
        )


def _word_score_on_page(judgment: Mapping[str, Any], own_rubric: str, yes_no: Sequence[str]) -> str:
    if judgment["score"] is None:
        return "no score"
    brought = own_rubric.removeprefix("sample:") if own_rubric.startswith("sample:") else ""
    id = f"{brought}.{judgment['criterion']}" if brought else judgment["criterion"]
    if id in yes_no and judgment["score"] in (0, 1):
        return "yes" if judgment["score"] else "no"
    return " ".join(filter(None, (format_figure(judgment["score"]), judgment.get("band"))))


def _build_score_path_on_page(one: Result) -> Iterator[SimpleNamespace]:
    """The way from criteria to verdict: what went in, each step that moved the number, what was decided."""
    card = one["scorecard"]
    if card is None and not one["composite_steps"]:
        return
    if card is not None:
        yield _make_score_path_stop_on_page(
            "criteria",
            "Criteria",
            parts=[(word_criterion(id), format_figure(value)) for id, value in card["criteria"].items()],
        )
        reviews = card["reviews"] or ()
        if len(reviews) > 1:
            said = [(review["judge"] or "a reviewer", format_figure(review["score"])) for review in reviews]
            yield _make_score_path_stop_on_page(
                "reviews", "Each judge", parts=said, steps=[step for each in reviews for step in each["steps"]]
            )
        yield from (
            _make_score_path_stop_on_page("step", step["step"].replace("_", " "), step=step) for step in card["steps"]
        )
        for gate in card["gates_failed"] or ():
            yield _make_score_path_stop_on_page("gate bad", "gate failed", says=write_page_value(gate))
        for gate in card["gates_open"] or ():
            yield _make_score_path_stop_on_page("gate", "gate not known", says=write_page_value(gate))
        yield _make_score_path_stop_on_page(
            "score", "Score", value=format_figure(card["score"]), says=card.get("grade") or ""
        )
    for step in one["composite_steps"] or ():
        yield _make_score_path_stop_on_page("step", step["step"].replace("_", " "), step=step)
    if one["composite"] is not None:
        yield _make_score_path_stop_on_page("score", "Composite", value=format_figure(one["composite"]))
    if one["verdict"]:
        yield _make_score_path_stop_on_page(f"verdict {one['verdict']}", "Verdict", value=one["verdict"])


def _make_score_path_stop_on_page(kind: str, name: str, **more: Any) -> SimpleNamespace:
    empty: dict[str, Any] = {"parts": [], "steps": [], "step": None, "value": "", "says": ""}
    return SimpleNamespace(kind=kind, name=name, **{**empty, **more})
