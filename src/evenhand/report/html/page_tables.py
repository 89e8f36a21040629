"""Tables of the page: a column for each variant, and no row or column in which nothing was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from evenhand.report.graded import STATEMENT_KINDS
from evenhand.report.html.chart_layout import ChartAxis
from evenhand.report.html.formats import format_report_count, format_report_duration, format_report_scale
from evenhand.report.phrases import list_report_criteria, list_report_layers
from evenhand.report.result_phrases import (
    CASCADE_TITLE,
    PEOPLE_SCALE_TITLE,
    build_cascade_table_columns,
    build_people_scale_table_columns,
    describe_reported_cascade,
    describe_reported_people_scale,
)
from evenhand.wording import (
    format_dollar_amount,
    pluralize_count,
    read_kept_fraction,
    word_criterion,
    word_gate,
    word_layer,
)

PageData = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageScoreRow:
    """A measure or criterion with its mean for each variant, and the difference where two are compared."""

    name: str
    asks: str = ""
    scale: str
    cells: Sequence[PageData | None]
    change: PageData | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageGateRow:
    """A gate with what each variant reached."""

    name: str
    least: float
    cells: Sequence[PageData | None]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageColumn:
    """A column of texts, one for each row of its table."""

    title: str
    cells: Sequence[str]


def build_report_score_rows(head: PageData) -> list[PageScoreRow]:
    """Composite, layers and score; those that no variant has are left out."""
    variants, one = head["variants"], _find_only_report_comparison(head)
    changes = {"composite": one["composite"]} if one else {}
    changes |= {word_layer(layer): change for layer, change in one["layers"].items()} if one else {}
    measures = {
        "composite": [variant["composite"] for variant in variants],
        **{
            word_layer(layer): [variant["layers"].get(layer) for variant in variants]
            for layer in list_report_layers(head)
        },
        "score": [variant["score"] for variant in variants],
    }
    return [
        PageScoreRow(name=name, scale=_name_report_measure_scale(cells), cells=cells, change=changes.get(name))
        for name, cells in measures.items()
        if any(cells)
    ]


def _name_report_measure_scale(cells: Iterable[PageData | None]) -> str:
    return next(format_report_scale(one["scale"]) or "" for one in cells if one)


def _find_only_report_comparison(head: PageData) -> PageData | None:
    compared: Sequence[PageData] = head["decision"]["comparisons"]
    return compared[0] if len(compared) == 1 and len(head["variants"]) == 2 else None


def build_report_criterion_rows(head: PageData) -> list[PageScoreRow]:
    """Every criterion with its question and its means, each with the share of its scale that it reaches."""
    asks = {one["id"]: one["asks"] for rubric in head["eval"]["rubrics"] for one in rubric["criteria"]}
    changes = (_find_only_report_comparison(head) or {}).get("criteria", {})
    rows = []
    for id in list_report_criteria(head):
        found = [variant["criteria"].get(id) for variant in head["variants"]]
        cells = [None if one is None or one["mean"] is None else _fill_report_criterion_cell(one) for one in found]
        scales = dict.fromkeys(format_report_scale(one["scale"]) for one in found if one and one["scale"])
        scale = f"({' or '.join(str(one) for one in scales)})" if scales else ""
        name, change = word_criterion(id), changes.get(id)
        rows.append(PageScoreRow(name=name, asks=asks.get(id, ""), scale=scale, cells=cells, change=change))
    return rows


def _fill_report_criterion_cell(one: PageData) -> PageData:
    """What share of its scale a mean fills; None where no rubric of the run tells the scale."""
    if one["scale"] is None:
        return {**one, "filled": None}
    axis = ChartAxis(low=one["scale"][0], high=one["scale"][1], left=0, right=100)
    return {**one, "filled": axis.at(one["mean"])}


def build_report_gate_rows(head: PageData) -> list[PageGateRow]:
    """Every gate of any variant, in order, with what each variant reached."""
    by_variant = head["decision"]["gates"]
    keys = dict.fromkeys((gate["gate"], gate["min"]) for gates in by_variant.values() for gate in gates)
    found = {(name, gate["gate"], gate["min"]): gate for name, gates in by_variant.items() for gate in gates}
    names = [variant["name"] for variant in head["variants"]]
    return [
        PageGateRow(
            name=word_gate(gate),
            least=least,
            cells=[found.get((name, gate, least)) for name in names],
            note="default" if _is_default_gate_in_report(head, gate, least) else "",
        )
        for gate, least in keys
    ]


DEFAULT_GATE = 3.5  # Of a layer on 1 to 5; of the rubric layer, where its method has verdicts, what does not fail.


def _is_default_gate_in_report(head: PageData, gate: str, least: float) -> bool:
    """Whether a gate is what a layer is held to unless the eval says otherwise."""
    written = head.get("eval") or {}
    if gate not in ("fact", "behavior", "judge") or gate in written.get("gates", {}):
        return False
    rubrics = written.get("rubrics") or ()
    own = (
        {float(read_kept_fraction(one["judge_gate"])) for one in rubrics if one.get("judge_gate")}
        if gate == "judge"
        else set()
    )
    return any(abs(least - known) < 1e-9 for known in own or {DEFAULT_GATE})


def build_report_judge_columns(judges: Sequence[PageData]) -> list[PageColumn]:
    """Calls, tokens, times and costs of the judges."""
    return _keep_telling_report_columns(
        judges,
        {
            "Cached": lambda one: format_report_count(one["cached"]),
            "Failed": lambda one: format_report_count(one["failed"]),
            "Retries": lambda one: format_report_count(one["retries"]),
            "Tokens in": lambda one: format_report_count(one["input_tokens"]),
            "Tokens out": lambda one: format_report_count(one["output_tokens"]),
            "Median": lambda one: format_report_duration((one["seconds"] or {}).get("median")),
            "95th percentile": lambda one: format_report_duration((one["seconds"] or {}).get("p95")),
            "Cost": lambda one: format_dollar_amount(one["cost"]),
        },
    )


def build_report_cost_columns(variants: Sequence[PageData]) -> list[PageColumn]:
    """Costs, tokens and latencies of the variants."""
    return _keep_telling_report_columns(
        variants,
        {
            "Outputs": lambda one: format_dollar_amount(one["cost"]["outputs"]),
            "Judges": lambda one: format_dollar_amount(one["cost"]["judges"]),
            "Tokens in": lambda one: format_report_count((one["tokens"] or {}).get("input")),
            "Tokens out": lambda one: format_report_count((one["tokens"] or {}).get("output")),
            "Median latency": lambda one: _format_report_latency(one, "median"),
            "95th percentile": lambda one: _format_report_latency(one, "p95"),
        },
    )


def _format_report_latency(one: PageData, which: str) -> str | None:
    return format_report_duration(one["latency_ms"][which] / 1000) if one["latency_ms"] else None


def build_report_grade_rows(head: PageData) -> list[tuple[PageData, list[int]]]:
    """Each grade that was given, as its rubric describes it, with how many outputs of each variant have it."""
    known = {one["grade"]: one for rubric in head["eval"]["rubrics"] for one in rubric.get("grades", ())}
    counts = {grade: [(one.get("grades") or {}).get(grade, 0) for one in head["variants"]] for grade in known}
    return [(known[grade], several) for grade, several in counts.items() if any(several)]


def build_report_statement_rows(head: PageData) -> list[dict[str, Any]]:
    """Each red flag and bonus that was found, with what it asks."""
    known = [one for rubric in head["eval"]["rubrics"] for one in rubric.get("statements", ())]
    asked = {(one["kind"], one["id"]): one["asks"] for one in known}
    return [
        {**one, "asks": asked.get((one["kind"], one["id"]), ""), "what": STATEMENT_KINDS[one["kind"]]}
        for one in head.get("statements", ())
    ]


NOTHING_TOLD = {"–", "0", "$0", "0 ms"}


def _keep_telling_report_columns(
    rows: Sequence[PageData], columns: Mapping[str, Callable[[PageData], str | None]]
) -> list[PageColumn]:
    """The columns in which some row has something."""
    made = [PageColumn(title=title, cells=[tell(one) or "–" for one in rows]) for title, tell in columns.items()]
    return [column for column in made if not set(column.cells) <= NOTHING_TOLD]


def describe_unknown_agreement_in_report(agreement: Sequence[PageData]) -> str:
    """Why no two judges could be compared, in a line; empty where some could, or where there is one judge."""
    if not agreement or any(one["pearson"] is not None for one in agreement):
        return ""
    reasons = dict.fromkeys(one["why_not"] for one in agreement if one["why_not"])
    return f"How far the judges agree is not known: {'; '.join(reasons) or 'nothing to compare'}."


def describe_judge_calls_in_report(judges: Sequence[PageData]) -> str:
    """The judges and how often they were asked, in a line."""
    kinds = ["; rules and word statistics, no model" if one["heuristic"] else "" for one in judges]
    calls = [pluralize_count(one["calls"], "call") for one in judges]
    return ", ".join(f"{one['name']} ({times}{kind})" for one, times, kind in zip(judges, calls, kinds, strict=True))


def are_report_sensitivity_charts_needless(found: PageData | None) -> bool:
    """Whether the same variant is first under all weights that were tried, so that charts of it show nothing."""
    rankings = [one for one in (found, (found or {}).get("layers")) if one]
    return bool(rankings) and all(
        shares.get(one["order"][0]) == 1
        for one in rankings
        for shares in (one["wins"], *([one["anywhere"]["wins"]] if one.get("anywhere") else []))
    )


def describe_history_in_report(consistency: Sequence[PageData]) -> list[tuple[str, str]]:
    """What earlier runs say of each variant; said once where it is the same of all."""
    said = {one["says"] for one in consistency}
    if len(consistency) > 1 and len(said) == 1:
        return [("History", said.pop())]
    return [(f"History of {one['variant']}", one["says"]) for one in consistency]


def list_cascade_table_cells(found: Mapping[str, Any] | None) -> SimpleNamespace | None:
    """A cascade's figures on the strong judge's scale as rows of texts; None where the run has no cascade."""
    if not found:
        return None
    columns = build_cascade_table_columns(found)
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    return SimpleNamespace(title=CASCADE_TITLE, names=list(columns), rows=rows, lines=describe_reported_cascade(found))


def list_people_scale_table_cells(found: Mapping[str, Any] | None) -> SimpleNamespace | None:
    """Scores on people's scale as rows of texts; None where nobody labelled the run."""
    if not found:
        return None
    columns = build_people_scale_table_columns(found)
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    return SimpleNamespace(
        title=PEOPLE_SCALE_TITLE, names=list(columns), rows=rows, lines=describe_reported_people_scale(found)
    )
