"""A run as data for programs: JSON, CSV and Parquet."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from evenhand.errors import Fault, InputError
from evenhand.files.private_files import create_private_file
from evenhand.report.graded import describe_reported_statement, find_reported_score_before_statements
from evenhand.report.phrases import ReportData, list_report_criteria, list_report_layers
from evenhand.report.untrusted_text import ACTING_CHARACTERS, escape_acting_report_characters, replace_report_surrogates


def write_json(head: ReportData, samples: Iterable[ReportData], stream: TextIO) -> None:
    """Write one object: the keys of the head, then the samples, streamed."""
    stream.write("{\n")
    for key, value in head.items():
        stream.write(f"{render_report_json_line(key)}: {render_report_json_line(value)},\n")
    stream.write('"samples": [')
    for place, sample in enumerate(samples):
        stream.write(f"{',' if place else ''}\n{render_report_json_line(sample)}")
    stream.write("\n]\n}\n")


def render_report_json_line(value: object) -> str:
    """A value as JSON on one line; what would act on a terminal is an escape, which means the same."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:  # Metadata may hold NaN, which JSON has not.
        text = json.dumps(_replace_report_nonfinite(value), ensure_ascii=False, allow_nan=False)
    return ACTING_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _replace_report_nonfinite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _replace_report_nonfinite(one) for key, one in value.items()}
    return [_replace_report_nonfinite(one) for one in value] if isinstance(value, list | tuple) else value


BYTE_ORDER_MARK = "\ufeff"  # Without it Excel takes UTF-8 for the alphabet of the country it was bought in.
LONGEST_CELL = 32_000  # A spreadsheet's cell holds 32,767 characters; the rest would spill into the next row.

# Spreadsheets calculate what begins so; the wide forms count in East Asian editions. A quote before it is doubled,
# so that taking one away gives back the text.
_FORMULA = re.compile(r"'*[\s\u200b-\u200d\u2060\ufeff]*[=+\-@＝＋－＠]|'*[\t\r\n]")


def write_csv(head: ReportData, samples: Iterable[ReportData], stream: TextIO) -> None:
    """Write a row for each result; the stream is one opened with newline=""."""
    layers, criteria = list_report_layers(head), list_report_criteria(head)
    stream.write(BYTE_ORDER_MARK)
    rows = csv.writer(stream)
    measured = [*(f"layer:{name}" for name in layers), *(f"criterion:{id}" for id in criteria)]
    first = ["id", "variant", "repeat", "state", "score", "composite"]
    adjusted = _list_report_adjustment_columns(head)
    rest = ["verdict", *adjusted, "assertions_passed", "assertions_failed", "cost", "latency_ms", "why", "output"]
    origin = ["imported"] if head["run"].get("imported") else []
    rest += ["origin"] if origin else []
    rows.writerow(_escape_report_csv_cells([*first, *measured, *rest]))
    for sample in samples:
        for result in sample["results"]:
            output, passed = result["output"] or {}, [one["passed"] for one in result["assertions"]]
            row = [
                sample["id"],
                *(result[name] for name in first[1:]),
                *_list_reported_measures(result, layers, criteria),
            ]
            row += [result["verdict"], *_list_reported_adjustments(result, adjusted)]
            row += [passed.count(True), passed.count(False), output.get("cost")]
            row += [output.get("latency_ms"), result["why"], output.get("text"), *origin]
            rows.writerow(_escape_report_csv_cells(row))


def _list_report_adjustment_columns(head: ReportData) -> list[str]:
    """Grade, red flags and bonuses, where a rubric of the run knows them."""
    rubrics = head["eval"]["rubrics"]
    moved = head.get("statements") or any(one.get("statements") for one in rubrics)
    return [
        *(["grade"] if any(one.get("grades") for one in rubrics) else []),
        *(["score_before", "red_flags", "bonuses"] if moved else []),
    ]


def _list_reported_adjustments(result: ReportData, columns: Sequence[str]) -> list[object]:
    """The grade, the score before deductions and bonuses, and each of these with its amount and explanation."""
    card = result["scorecard"] or {}
    said = card.get("statements") or ()
    cells = {
        "grade": card.get("grade"),
        "score_before": find_reported_score_before_statements(card),
        "red_flags": "; ".join(describe_reported_statement(one) for one in said if one["kind"] == "red_flag"),
        "bonuses": "; ".join(describe_reported_statement(one) for one in said if one["kind"] == "bonus"),
    }
    return [cells[name] for name in columns]


def _list_reported_measures(result: ReportData, layers: list[str], criteria: list[str]) -> list[object]:
    """What each layer scored, and what counted for each criterion."""
    counted = (result["scorecard"] or {}).get("criteria") or {}
    _, _, rubric = str(result.get("own_rubric", "")).partition("sample:")
    if rubric:  # Criteria of a rubric that its sample brings stand behind the name of the rubric.
        counted = {f"{rubric}.{id}": score for id, score in counted.items()}
    return [*(result["layers"].get(name) for name in layers), *(counted.get(id) for id in criteria)]


def _escape_report_csv_cells(row: Iterable[object]) -> list[object]:
    return [escape_report_csv_cell(value) if isinstance(value, str) else value for value in row]


def escape_report_csv_cell(text: str) -> str:
    """A text that a spreadsheet shows and does not calculate."""
    shown = escape_acting_report_characters(text[: LONGEST_CELL + 1])
    shown = shown if len(shown) <= LONGEST_CELL else shown[: LONGEST_CELL - 1] + "…"
    return f"'{shown}" if _FORMULA.match(shown) else shown


_WHOLE_NUMBER_BITS = {"int32": 32, "int64": 64}
ROW_GROUP_SIZE = 1000  # Rows held in memory at a time: a few megabytes with outputs and replies of a few kilobytes.

# Every column and every field of what is nested, with its type; "json" is text that holds any plain data.
PARQUET_COLUMNS = {
    "position": "int64", "id": "string", "input": "string", "messages": "json", "reference": "string",
    "context": "string", "tags": ["string"], "cluster": "string", "metadata": "json", "variant": "string",
    "repeat": "int32", "state": "string", "why": "string", "score": "double", "composite": "double",
    "verdict": "string", "output": "string", "author": "string", "cost": "double", "latency_ms": "double",
    "turns": "int32",
    "trace": [{"name": "string", "input": "json", "output": "json"}],
    "findings": [{"guard": "string", "rule": "string", "says": "string", "text": "string", "start": "int64",
                  "end": "int64"}],
    "assertions": [{"name": "string", "kind": "string", "layer": "string", "weight": "double", "passed": "bool",
                    "looked_for": "string", "found": "string", "why_not": "string", "start": "int64", "end": "int64",
                    "parts": "json"}],
    "judgments": [{"judge": "string", "criterion": "string", "score": "double", "band": "string", "why_not": "string",
                   "reason": "string", "evidence": [{"text": "string", "start": "int64", "end": "int64"}],
                   "absent": ["string"], "from_trace": ["string"], "feedback": "string",
                   "spread": {"n": "int32", "sd": "double", "how": "string"}, "expected": "double"}],
    "calls": [{"judge": "string", "reply": "string", "failed": "string", "input_tokens": "int64",
               "output_tokens": "int64", "attempts": "int32", "seconds": "double", "cached": "bool", "cost": "double"}],
    "scorecard": "json", "composite_steps": "json",
}  # fmt: skip


def write_parquet(head: ReportData, samples: Iterable[ReportData], path: Path) -> None:
    """Write the results in groups of rows; the file appears when it is whole."""
    arrow, parquet = _import_pyarrow_for_report()
    origin = {"origin": "imported"} if head["run"].get("imported") else {}
    fields = {**_find_report_table_columns(head), **dict.fromkeys(origin, "string")}
    about = {"evenhand": render_report_json_line(dict(head))}
    schema = arrow.schema([(name, _to_report_arrow_type(arrow, kind)) for name, kind in fields.items()], metadata=about)
    rows = ({**row, **origin} for row in _list_report_table_rows(head, samples))
    begun = path.with_name(f"{path.name}.part")
    try:
        create_private_file(begun)
        with parquet.ParquetWriter(begun, schema, compression="zstd") as file:
            while group := list(islice(rows, ROW_GROUP_SIZE)):
                shaped = [
                    {name: _shape_report_parquet_value(row.get(name), kind) for name, kind in fields.items()}
                    for row in group
                ]
                file.write_table(arrow.Table.from_pylist(shaped, schema=schema), row_group_size=ROW_GROUP_SIZE)
        begun.replace(path)
    finally:
        begun.unlink(missing_ok=True)


def _find_report_table_columns(head: ReportData) -> dict[str, Any]:
    """The columns of the table of a run, with their types."""
    names = _list_report_adjustment_columns(head)
    adjusted = {name: "double" if name == "score_before" else "string" for name in names}
    return {**PARQUET_COLUMNS, **adjusted, **dict.fromkeys(_list_report_table_measures(head), "double")}


def _list_report_table_measures(head: ReportData) -> list[str]:
    names = [f"layer:{name}" for name in list_report_layers(head)]
    names += [f"criterion:{id}" for id in list_report_criteria(head)]
    return [replace_report_surrogates(name) for name in names]


def _list_report_table_rows(head: ReportData, samples: Iterable[ReportData]) -> Iterator[dict[str, Any]]:
    """A row for each result, with its sample; as yet of any type."""
    layers, criteria, measures = list_report_layers(head), list_report_criteria(head), _list_report_table_measures(head)
    adjusted = _list_report_adjustment_columns(head)
    for sample in samples:
        for result in sample["results"]:
            output = result["output"] or {}
            yield {
                **sample, **result, **output, "output": output.get("text"),
                **dict(zip(adjusted, _list_reported_adjustments(result, adjusted), strict=True)),
                **dict(zip(measures, _list_reported_measures(result, layers, criteria), strict=True)),
            }  # fmt: skip


def list_unfit_report_values(head: ReportData, samples: Iterable[ReportData]) -> Iterator[str]:
    """What in a run the columns of its table cannot hold, and where: it was not made by us."""
    columns = _find_report_table_columns(head)
    for row in _list_report_table_rows(head, samples):
        for name, kind in columns.items():
            for place in _list_unfit_report_parts(row.get(name), kind, name):
                yield f"{place} of sample {row['id']!r}, variant {row['variant']!r}"


def _list_unfit_report_parts(value: Any, kind: object, place: str) -> Iterator[str]:
    if value is None:
        return
    if isinstance(kind, list) and isinstance(value, list | tuple):
        for at, one in enumerate(value):
            yield from _list_unfit_report_parts(one, kind[0], f"{place}[{at}]")
    elif isinstance(kind, dict) and isinstance(value, Mapping):
        for name, below in kind.items():
            yield from _list_unfit_report_parts(value.get(name), below, f"{place}.{name}")
    elif not isinstance(kind, str) or not _fits_report_column(value, kind):
        yield place


def _fits_report_column(value: Any, kind: str) -> bool:
    if kind in _WHOLE_NUMBER_BITS:
        most = 2 ** (_WHOLE_NUMBER_BITS[kind] - 1)
        return isinstance(value, int | float) and type(value) is not bool and -most <= value < most
    if kind == "bool":
        return type(value) is bool
    try:
        _shape_report_parquet_value(value, kind)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False
    return True


def _import_pyarrow_for_report() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError as missing:
        fault = Fault("a Parquet report needs the package pyarrow", "pip install '/path/to/evenhand[parquet]'")
        raise InputError(fault) from missing
    return pyarrow, pyarrow.parquet


def _to_report_arrow_type(arrow: ModuleType, kind: object) -> Any:
    if isinstance(kind, list):
        return arrow.list_(_to_report_arrow_type(arrow, kind[0]))
    if isinstance(kind, dict):
        return arrow.struct([(name, _to_report_arrow_type(arrow, one)) for name, one in kind.items()])
    names = {"json": "string", "double": "float64", "bool": "bool_"}
    return getattr(arrow, names.get(str(kind), str(kind)))()


def _shape_report_parquet_value(value: Any, kind: object) -> object:
    """The value as its column holds it; None stays None, whatever the column."""
    if value is None:
        return None
    if isinstance(kind, list):
        return [_shape_report_parquet_value(one, kind[0]) for one in value]
    if isinstance(kind, dict):
        return {name: _shape_report_parquet_value(value.get(name), one) for name, one in kind.items()}
    if kind == "string":
        return replace_report_surrogates(value) if isinstance(value, str) else render_report_json_line(value)
    return render_report_json_line(value) if kind == "json" else float(value) if kind == "double" else value
