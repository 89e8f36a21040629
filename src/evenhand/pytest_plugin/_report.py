"""One report for a session: what its tests scored becomes a run, in a store that lasts as long as the writing."""

from __future__ import annotations

import json
import platform
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from evenhand import report
from evenhand._version import __version__
from evenhand.deciding import head_for, report_for
from evenhand.pytest_plugin._notes import moment
from evenhand.pytest_plugin._scoring import NAME
from evenhand.runs._setup import digest_of
from evenhand.runs.store import Batch, Row, Store, compact, this_process

Json = dict[str, Any]
Sample = tuple[str, Json, list[Json]]
WRITERS = {".html": "html", ".md": "markdown", ".xml": "junit", ".json": "json", ".csv": "csv"}
MOST = 20  # Reasons that are told one by one.


def write_report(entries: Sequence[Json], path: Path, began: datetime) -> None:
    """Write what was scored to a file, in the format of its ending; the order of the tests' ends does not matter."""
    in_order = sorted(entries, key=lambda entry: str(entry["test"]))
    writer: Callable[..., None] = getattr(report, f"write_{WRITERS[path.suffix.lower()]}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="evenhand-") as folder, Store.open(folder, {}) as store, _replaced(path) as stream:
        head, samples = report_for(store, _kept(store, in_order, began))
        writer(head, samples, stream)


@contextmanager
def _replaced(path: Path) -> Iterator[TextIO]:
    """A file that takes the place of the old one once it is whole."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _kept(store: Store, entries: Sequence[Json], began: datetime) -> str:
    """Keep the entries as a finished run, and say its id."""
    row = _run(entries, began)
    store.begin(row)
    samples = _samples(entries)
    for at, (id, content, own) in enumerate(samples):
        place = {"run": row["id"], "position": at}
        store.write(
            Batch(
                samples=[{**place, "id": id, "content": compact({**content, "id": id, "metadata": _told(own)})}],
                results=[_result(entry, place) for entry in own],
                calls=[_call(call, place, entry["variant"]) for entry in own for call in entry["rows"]["calls"]],
            )
        )
    ended = {**row, "state": "finished", "ended": moment(datetime.now(UTC))}
    head = {**head_for(store, ended), "decision": decision_of(entries)}
    store.release(row["id"], ended["state"], ended["ended"], compact(head))
    return str(row["id"])


def _run(entries: Sequence[Json], began: datetime) -> Row:
    frame = _frame([entry["rows"]["frame"] for entry in entries])
    return {
        "id": f"{began:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}",
        "name": NAME,
        "digest": digest_of([entry["rows"]["result"]["key"] for entry in entries]),
        "state": "running",
        "started": moment(began),
        "ended": None,
        "seed": frame["seed"],
        "fingerprint": digest_of(sorted(frame["fingerprints"].items()))[:16],
        "source": "",
        "setup": compact({"frame": frame, "evenhand": __version__, "python": platform.python_version()}),
        "summary": None,
        "taken_from": None,
        "holder": this_process(),
        "keep": "raw",
    }


def _frame(frames: Sequence[Json]) -> Json:
    """One frame for all: each judge, rubric and assertion once."""
    rubrics = _once(rubric for frame in frames for rubric in frame["rubrics"])
    marks = _once([_name(frame), mark] for frame in frames for mark in frame["fingerprints"].values())
    names = Counter(name for name, _ in marks)
    return {
        **frames[0],
        "variants": {name: about for frame in frames for name, about in frame["variants"].items()},
        "judges": _once(judge for frame in frames for judge in frame["judges"]),
        "rubrics": rubrics,
        "assertions": _once(one for frame in frames for one in frame["assertions"]),
        "fingerprints": {name if names[name] == 1 else f"{name} {mark[:4]}": mark for name, mark in marks},
    }


def _name(frame: Json) -> str:
    return str(frame["rubrics"][0]["name"]) if frame["rubrics"] else "assertions"


def _once(values: Iterable[Any]) -> list[Any]:
    return list({json.dumps(value, sort_keys=True): value for value in values}.values())


def _samples(entries: Sequence[Json]) -> list[Sample]:
    """Ids, contents and entries: variants of one test that were asked about the same share a sample."""
    samples: list[Sample] = []
    for test, own in groupby(entries, key=lambda entry: str(entry["test"])):
        of_test: list[Sample] = []
        for entry in own:
            content = {**entry["rows"]["sample"], "outputs": {}}
            shared = next((one for one in of_test if one[1] == content and not _has(one[2], entry["variant"])), None)
            if shared is not None:
                shared[2].append(entry)
            else:
                of_test.append((f"{test} #{len(of_test) + 1}" if of_test else test, content, [entry]))
        samples += of_test
    return samples


def _has(entries: Sequence[Json], variant: str) -> bool:
    return any(entry["variant"] == variant for entry in entries)


def _told(entries: Sequence[Json]) -> dict[str, str]:
    """What the test found, by variant."""
    return {f"in the test, {one['variant']}": "; ".join(one["problems"]) or "passed" for one in entries}


def _result(entry: Json, place: Mapping[str, object]) -> Row:
    row = entry["rows"]["result"]
    content = json.loads(row["content"])
    content["calls"] = [_key(key, place, entry["variant"]) for key in content["calls"]]
    if content["scorecard"] is not None:  # What a test asks for is a gate: it decides and moves no number.
        content["scorecard"]["gates_failed"] += entry["missed"]
    return {**row, **place, "content": compact(content)}


def _call(row: Row, place: Mapping[str, object], variant: str) -> Row:
    return {**row, **place, "key": _key(row["key"], place, variant)}


def _key(key: str, place: Mapping[str, object], variant: str) -> str:
    """Tests ask apart from each other: the same question to judges of one name may have had other answers."""
    return f"{key}-{place['position']}-{variant}"


def decision_of(entries: Sequence[Json]) -> Json:
    """Whether every output reached what its test asks for; variants are not compared here."""
    short = [entry for entry in entries if entry["problems"]]
    reached = f"{len(entries) - len(short)} of {len(entries)} outputs reach what their tests ask for."
    reasons = [f"{entry['test']}: {'; '.join(entry['problems'])}" for entry in short]
    more = [f"and {len(reasons) - MOST} more"] if len(reasons) > MOST else []
    return {
        "verdict": "SOLO",
        "headline": f"SOLO: {reached}",
        "sure": "Each output was scored once, by its own test; nothing was compared.",
        "next_step": "Look at the outputs that fall short." if short else "To compare two variants, use evenhand run.",
        "reasons": [*reasons[:MOST], *more],
        "exit_code": 1 if short else 0,
        "best": None,
        "gates": {name: [_gate(entries, name)] for name in dict.fromkeys(entry["variant"] for entry in entries)},
        "comparisons": [],
    }


def _gate(entries: Sequence[Json], variant: str) -> Json:
    own = [not entry["problems"] for entry in entries if entry["variant"] == variant]
    return {"gate": "outputs that pass", "min": 1.0, "mean": sum(own) / len(own), "passed": all(own)}
