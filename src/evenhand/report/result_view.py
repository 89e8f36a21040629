"""How a run or a comparison shows itself in a program: a short line, a few lines printed, HTML, rows, a data frame."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from textwrap import fill
from typing import TYPE_CHECKING, Any

from evenhand.errors import Fault, InputError
from evenhand.report.phrases import (
    ReportColumn,
    ReportData,
    build_report_variant_columns,
    describe_reported_failure_count,
    describe_reported_samples,
    describe_unfinished_in_report,
    format_report_p_value,
    format_reported_estimate,
    list_report_criteria,
    list_report_layers,
)
from evenhand.report.untrusted_text import escape_hiding_report_characters, fold_to_report_line
from evenhand.wording import pluralize_count

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]


LONGEST_CELL_TEXT = 60
LONGEST_LINE_PART = 100
LONGEST_SENTENCE_TEXT = 500
TEXT_WIDTH = 80  # Of what print() shows.
MOST_FAILURES_SHOWN = 3
# Too wide for a terminal beside the scores, and in every report.
_COLUMNS_LEFT_OUT = ("pass", "borderline", "fail", "output cost", "judge cost", "latency")
_CELL_STYLE = "padding:2px 10px;text-align:{side};border-bottom:1px solid #8884"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedResultView:
    """What is shown: the verdict, what it is of, one table, and sentences with their names."""

    verdict: str
    about: str
    columns: Sequence[ReportColumn]
    sentences: Sequence[tuple[str, str]]

    def to_line(self, kind: str) -> str:
        """One short line, as a console shows a value."""
        about, verdict = (_fold_report_part(text, LONGEST_LINE_PART) for text in (self.about, self.verdict))
        return f"<{kind} {about}: {verdict}>"

    def to_text(self) -> str:
        """A few lines of plain text; nothing in it acts on a terminal."""
        table = [
            [_fold_report_part(cell, LONGEST_CELL_TEXT) for cell in (name, *cells)] for name, cells in self.columns
        ]
        widths = [max(map(len, cells)) for cells in table]
        rows = []
        for row in zip(*table, strict=True):
            first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            rows.append("  ".join([row[0].ljust(len(first)), *rest]).rstrip())
        told = [f"  {name}: {_fold_report_part(text, LONGEST_SENTENCE_TEXT)}" for name, text in self.sentences]
        about, verdict = (
            _fold_report_part(self.about, LONGEST_SENTENCE_TEXT),
            _fold_report_part(self.verdict, LONGEST_SENTENCE_TEXT),
        )
        wrapped = [fill(one, TEXT_WIDTH, subsequent_indent="  ", break_long_words=False) for one in (verdict, *told)]
        return "\n".join([about, "", *rows, *([""] if rows else []), *wrapped])

    def to_html(self) -> str:
        """The same for a notebook: no script, no style sheet, no address, and every text escaped."""
        cells = [(name, _render_report_cell(name, "th", at), values) for at, (name, values) in enumerate(self.columns)]
        head = "".join(shown for _, shown, _ in cells)
        columns = [
            [_render_report_cell(value, "td", at) for value in values] for at, (_, _, values) in enumerate(cells)
        ]
        rows = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*columns, strict=True))
        table = f'<table style="border-collapse:collapse"><tr>{head}</tr>{rows}</table>' if cells else ""
        told = "".join(f"<div>{_render(name)}: {_render(text)}</div>" for name, text in self.sentences)
        return (
            f'<div><div style="opacity:.7">{_render(self.about)}</div>{table}'
            f"<div><strong>{_render(self.verdict)}</strong></div>{told}</div>"
        )


def _fold_report_part(text: object, most: int) -> str:
    return fold_to_report_line(str(text), most)


def _render(text: object, most: int = LONGEST_SENTENCE_TEXT) -> str:
    return escape(escape_hiding_report_characters(_fold_report_part(text, most)))


def _render_report_cell(text: object, tag: str, at: int) -> str:
    style = _CELL_STYLE.format(side="right" if at else "left")
    return f'<{tag} style="{style}">{_render(text, LONGEST_CELL_TEXT)}</{tag}>'


def view_reported_run(head: ReportData, why_stopped: str = "") -> ReportedResultView:
    """A run: its variants with their scores, the verdict and why; of one that was stopped, why that was."""
    run = head["run"]
    state = ": ".join(filter(None, (describe_unfinished_in_report(run), why_stopped)))
    about = [run["name"], describe_reported_samples(run), pluralize_count(len(head["variants"]), "variant")]
    columns = [one for one in chain(*build_report_variant_columns(head)) if one[0] not in _COLUMNS_LEFT_OUT]
    failures = [
        ("failed", f"{one['variant']}: {describe_reported_failure_count(one)}: {one['why']} (first in {one['first']})")
        for one in head["failures"]
    ]
    more = len(failures) - MOST_FAILURES_SHOWN
    sentences = [
        ("run", state),
        *failures[:MOST_FAILURES_SHOWN],
        ("failed", f"and {pluralize_count(more, 'more kind', 'more kinds')} of failure" if more > 0 else ""),
        *_list_reported_decision_sentences(head["decision"]),
    ]
    return _build_report_view(head["decision"], " · ".join([*about, f"run {run['id']}"]), columns, sentences)


def view_reported_comparison(found: ReportData) -> ReportedResultView:
    """A comparison of stored runs: a row for each treatment, the verdict and why."""
    compared, sides = found["decision"]["comparisons"], (found["control"], *found["treatments"])
    runs = list(dict.fromkeys(side["run"] for side in sides))
    of_runs = f"{'run' if len(runs) == 1 else 'runs'} {' and '.join(runs)}"
    columns = [
        ("comparison", [f"{one['treatment']} − {one['control']}" for one in compared]),
        ("verdict", [one["verdict"] for one in compared]),
        ("composite", [format_reported_estimate(one["composite"]) for one in compared]),
        ("p", [format_report_p_value(one if one["composite"] else None) for one in compared]),
        ("pairs", [f"{one['pairs']:,}" for one in compared]),
    ]
    sentences = [
        *(("note", note) for note in found["notes"]),
        ("forced", "; ".join(found["forced"])),
        *_list_reported_decision_sentences(found["decision"]),
    ]
    about = f"{found['control']['eval']} · {pluralize_count(found['samples']['both'], 'sample')} · {of_runs}"
    return _build_report_view(found["decision"], about, columns if compared else [], sentences)


def _list_reported_decision_sentences(decision: ReportData) -> list[tuple[str, str]]:
    why = " ".join(decision["reasons"])
    return [("why", why), ("how sure", decision["sure"]), ("next", decision["next_step"])]


def _build_report_view(
    decision: ReportData, about: str, columns: Sequence[ReportColumn], sentences: Iterable[tuple[str, str]]
) -> ReportedResultView:
    return ReportedResultView(
        verdict=f"{decision['verdict']}: {decision['headline']}",
        about=about,
        columns=columns,
        sentences=[(name, text) for name, text in sentences if text],
    )


def list_reported_result_rows(head: ReportData, samples: Iterable[ReportData]) -> Iterator[dict[str, Any]]:
    """A flat row for each output of a run: what it was scored, by layer and criterion, and its texts."""
    layers, criteria = list_report_layers(head), list_report_criteria(head)
    for sample in samples:
        for result in sample["results"]:
            output, counted = result["output"] or {}, (result["scorecard"] or {}).get("criteria") or {}
            yield {
                "id": sample["id"],
                **{name: result[name] for name in ("variant", "repeat", "state", "score", "composite", "verdict")},
                **{f"layer:{name}": result["layers"].get(name) for name in layers},
                **{f"criterion:{id}": counted.get(id) for id in criteria},
                "input": sample["input"],
                "output": output.get("text"),
                "why": result["why"],
                "cost": output.get("cost"),
                "latency_ms": output.get("latency_ms"),
            }


def list_reported_comparison_rows(found: ReportData) -> Iterator[dict[str, Any]]:
    """A flat row for each difference of a comparison: of the composite, of every layer and of every criterion."""
    for one in found["decision"]["comparisons"]:
        measured = [("composite", one["composite"])]
        measured += [(f"layer:{name}", part) for name, part in one["layers"].items()]
        measured += [(f"criterion:{id}", part) for id, part in one["criteria"].items()]
        for of, part in measured:
            known = part or {}
            yield {
                "treatment": one["treatment"],
                "control": one["control"],
                "of": of,
                **{name: known.get(name) for name in ("estimate", "low", "high", "p", "n")},
                "verdict": one["verdict"] if of == "composite" else None,
            }


def build_report_data_frame(rows: Iterable[dict[str, Any]]) -> DataFrame:
    """The rows as a pandas DataFrame; pandas is loaded only here, and is no dependency."""
    try:
        import pandas
    except ImportError as missing:
        hint = "pip install pandas; to_rows() gives the same as a list of dicts"
        raise InputError(Fault("to_pandas() needs the package pandas", hint)) from missing
    return pandas.DataFrame(list(rows))


class ReportedResult(ABC):
    """What results have in common for people who look at them."""

    __slots__ = ()

    @abstractmethod
    def build_view(self) -> ReportedResultView:
        """What is shown of it."""

    @abstractmethod
    def to_rows(self) -> list[dict[str, Any]]:
        """Its numbers as a list of flat dicts."""

    def to_pandas(self) -> DataFrame:
        """Its rows as a pandas DataFrame; an InputError where pandas is not installed."""

        return build_report_data_frame(self.to_rows())

    def print(self) -> None:
        """Print it in a few lines, as `print(result)` does."""
        sys.stdout.write(f"{self}\n")

    def __str__(self) -> str:
        return self.build_view().to_text()

    def __repr__(self) -> str:
        return self.build_view().to_line(type(self).__name__)

    def _repr_html_(self) -> str:
        return self.build_view().to_html()
