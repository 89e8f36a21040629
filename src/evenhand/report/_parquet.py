"""A run as a Parquet file: one row for each result, typed, with what is nested left nested."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from evenhand.errors import Fault, InputError
from evenhand.report._columns import criteria_of, criterion_value, layers_of
from evenhand.report._figures import Data
from evenhand.report._inert import storable
from evenhand.report._json import dumped

GROUP = 1000  # Rows held in memory at a time: a few megabytes with outputs and replies of a few kilobytes.

# Every column and every field of what is nested, with its type; "json" is text that holds any plain data.
RESULT = {
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
                   "feedback": "string", "spread": {"n": "int32", "sd": "double", "how": "string"}}],
    "calls": [{"judge": "string", "reply": "string", "failed": "string", "input_tokens": "int64",
               "output_tokens": "int64", "attempts": "int32", "seconds": "double", "cached": "bool", "cost": "double"}],
    "scorecard": "json", "composite_steps": "json",
}  # fmt: skip


def write_parquet(head: Data, samples: Iterable[Data], path: Path) -> None:
    """Write the results in groups of rows; the file appears when it is whole."""
    arrow, parquet = _pyarrow()
    layers, criteria = layers_of(head), criteria_of(head)
    fields = {**RESULT, **dict.fromkeys(_measured_names(layers, criteria), "double")}
    about = {"evenhand": dumped(dict(head))}
    schema = arrow.schema([(name, _type(arrow, kind)) for name, kind in fields.items()], metadata=about)
    rows = (_row(sample, result, layers, criteria) for sample in samples for result in sample["results"])
    begun = path.with_name(f"{path.name}.part")
    try:
        with parquet.ParquetWriter(begun, schema, compression="zstd") as file:
            for group in _groups(rows):
                shaped = [{name: _shaped(row.get(name), kind) for name, kind in fields.items()} for row in group]
                file.write_table(arrow.Table.from_pylist(shaped, schema=schema), row_group_size=GROUP)
        begun.replace(path)
    finally:
        begun.unlink(missing_ok=True)


def _pyarrow() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow  # type: ignore[import-untyped]  # noqa: PLC0415
        import pyarrow.parquet  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError as missing:
        fault = Fault("a Parquet report needs the package pyarrow", "pip install 'evenhand[parquet]'")
        raise InputError(fault) from missing
    return pyarrow, pyarrow.parquet


def _measured_names(layers: list[str], criteria: list[str]) -> list[str]:
    return [*(storable(f"layer:{name}") for name in layers), *(storable(f"criterion:{id}") for id in criteria)]


def _type(arrow: ModuleType, kind: object) -> Any:
    if isinstance(kind, list):
        return arrow.list_(_type(arrow, kind[0]))
    if isinstance(kind, dict):
        return arrow.struct([(name, _type(arrow, one)) for name, one in kind.items()])
    names = {"json": "string", "double": "float64", "bool": "bool_"}
    return getattr(arrow, names.get(str(kind), str(kind)))()


def _row(sample: Data, result: Data, layers: list[str], criteria: list[str]) -> dict[str, object]:
    output = result["output"] or {}
    measured = [*(result["layers"].get(name) for name in layers), *(criterion_value(result, id) for id in criteria)]
    return {
        **sample,
        **result,
        **output,
        "output": output.get("text"),
        **dict(zip(_measured_names(layers, criteria), measured, strict=True)),
    }


def _groups(rows: Iterator[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    while group := list(islice(rows, GROUP)):
        yield group


def _shaped(value: Any, kind: object) -> object:
    """The value as its column holds it; None stays None, whatever the column."""
    if value is None:
        return None
    if isinstance(kind, list):
        return [_shaped(one, kind[0]) for one in value]
    if isinstance(kind, dict):
        return {name: _shaped(value.get(name), one) for name, one in kind.items()}
    if kind == "string":
        return storable(value) if isinstance(value, str) else dumped(value)
    return dumped(value) if kind == "json" else float(value) if kind == "double" else value
