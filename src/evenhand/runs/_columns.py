"""The columns of a run, gathered row by row, and as the bytes that the store keeps."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.runs._tally import exact

FORMAT = 1  # Columns of another format are worked out anew.
Name = tuple[str, ...]  # What a column holds, then of whom.
# Of a sample, what decides how its outputs are made and judged.
SAMPLE_PARTS = ("input", "messages", "reference", "context", "tags", "assertions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """All columns of a run by name: whole numbers in `places`, scores in `values`."""

    samples: tuple[str, ...]
    variants: tuple[str, ...]
    places: Mapping[str, NDArray[np.int64]]
    values: Mapping[Name, NDArray[np.float64]]


class Columns:
    """Takes results in the order of the store, each in a few bytes."""

    def __init__(self, variants: Sequence[str]) -> None:
        self._variants = {name: place for place, name in enumerate(variants)}
        self._clusters: dict[str, int] = {}
        self._places = {name: array("q") for name in ("position", "variant", "repeat", "cluster")}
        self._values: dict[Name, array[float]] = {(name,): array("d") for name in ("length", "score", "composite")}

    def add(self, row: Mapping[str, Any], content: Mapping[str, Any]) -> None:
        """Take one result; one of a variant that the eval does not name is none of it."""
        variant = self._variants.get(row["variant"])
        if variant is None:
            return
        own = content["cluster"]
        places = {
            "position": row["position"],
            "variant": variant,
            "repeat": row["repeat"],
            "cluster": 0 if own is None else self._clusters.setdefault(own, -1 - len(self._clusters)),
        }
        before = len(self._places["position"])
        for name, place in places.items():
            self._places[name].append(place)
        for key, value in _numbers(row, content).items():
            column = self._values.setdefault(key, array("d"))
            if value is not None:
                column.extend([nan] * (before - len(column)))
                column.append(value)

    def packed(self, samples: Iterable[Mapping[str, Any]]) -> bytes:
        """The columns over these samples, which come by position, as compressed bytes; it can be done once.

        One column after the other, each let go when it is written: a run of any size has to fit beside what counts it.
        """
        positions, ids, texts = array("q"), bytearray(), array("q")
        for sample in samples:
            positions.append(sample["position"])
            ids += (b"," if ids else b"") + json.dumps(sample["id"]).encode()
            texts.append(_mark(json.loads(sample["content"])))
        place = np.searchsorted(np.array(positions, dtype=np.int64), self._places.pop("position"))
        own = np.array(self._places.pop("cluster"), dtype=np.int64)
        written = {"sample": place, "cluster": np.where(own < 0, own, place), "texts": np.array(texts, dtype=np.int64)}
        names = json.dumps({"format": FORMAT, "variants": [*self._variants], "values": [*self._values]})
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("names", names)
            packed.writestr("samples", b"[" + ids + b"]")
            for name, column in written.items():
                _write(packed, name, column)
            for name in tuple(self._places):
                _write(packed, name, np.array(self._places.pop(name), dtype=np.int64))
            for number, key in enumerate(tuple(self._values)):
                _write(packed, f"v{number}", _filled(self._values.pop(key), len(place)))
        return stream.getvalue()


def unpacked(content: bytes | None) -> Packed | None:
    """The columns in some bytes; None where there are none, or none that this version reads."""
    if content is None:
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            names = json.loads(packed.read("names"))
            if names["format"] != FORMAT:
                return None
            places = ("sample", "variant", "repeat", "cluster", "texts")
            return Packed(
                samples=tuple(json.loads(packed.read("samples"))),
                variants=tuple(names["variants"]),
                places={name: _read(packed, name) for name in places},
                values={tuple(key): _read(packed, f"v{number}") for number, key in enumerate(names["values"])},
            )
    except (ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile):
        return None


def _write(packed: zipfile.ZipFile, name: str, column: NDArray[Any]) -> None:
    with packed.open(name, "w", force_zip64=True) as stream:
        np.lib.format.write_array(stream, column, allow_pickle=False)


def _read(packed: zipfile.ZipFile, name: str) -> Any:
    with packed.open(name) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _numbers(row: Mapping[str, Any], content: Mapping[str, Any]) -> dict[Name, float | None]:
    """Every number of a result by its name; None where there is none."""
    found: dict[Name, float | None] = {
        ("length",): len(content["output"]["text"]) if content["output"] else None,
        ("score",): _number(row["score"]),
        ("composite",): _number(row["composite"]),
    }
    for kind in ("layers", "criteria"):
        found |= {(kind, name): _number(text) for name, text in content[kind].items()}
    for one in (content["scorecard"]["reviews"] or ()) if content["scorecard"] else ():
        found["reviews", one["judge"]] = one["score"]
    for one in content["judgments"]:
        if one["criterion"] in content["criteria"]:  # Red flags and bonuses come after, some under the same ids.
            found.setdefault(("judgments", one["judge"], one["criterion"]), _number(one["exact"]))
    return found | {("seats", judge): seat for judge, seat in content.get("seats", {}).items()}


def _number(text: str | None) -> float | None:
    found = exact(text)
    return None if found is None else found.numerator / found.denominator


def _filled(column: array[float], rows: int) -> NDArray[np.float64]:
    filled = np.full(rows, nan)
    filled[: len(column)] = column
    return filled


def _mark(sample: Mapping[str, Any]) -> int:
    """A number that is the same where outputs are asked for and judged by the same."""
    told = json.dumps([sample.get(name) or "" for name in SAMPLE_PARTS], sort_keys=True)
    return int.from_bytes(blake2b(told.encode(), digest_size=8).digest(), "big", signed=True)
