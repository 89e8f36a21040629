"""One report for a session: what its tests scored becomes a run, in a store that lasts as long as the writing."""

from __future__ import annotations

import json
import platform
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evenhand._version import __version__
from evenhand.files.private_files import make_private_folder, open_private_text_file
from evenhand.report import find_report_writer
from evenhand.runs.setup import digest_run_parts
from evenhand.store.queries import process_holder_name
from evenhand.store.rows import Row, RowBatch, to_stored_json
from evenhand.store.store import Store
from evenhand.workflows.report import load_run_report, load_user_report_head
from evenhand.workflows.score_in_test import PYTEST_RUN_NAME

SessionJson = dict[str, Any]
SessionSample = tuple[str, SessionJson, list[SessionJson]]
WRITER_NAMES = {".html": "html", ".md": "markdown", ".xml": "junit", ".json": "json", ".csv": "csv"}
MOST_REASONS = 20  # Reasons that are told one by one.


def write_user_test_report(entries: Sequence[SessionJson], path: Path, began: datetime) -> None:
    """Write what was scored to a file, in the format of its ending; the order of the tests' ends does not matter."""
    in_order = sorted(entries, key=lambda entry: str(entry["test"]))
    writer = find_report_writer(WRITER_NAMES[path.suffix.lower()])
    make_private_folder(path.parent)
    part = path.with_name(f".{path.name}.part")  # It takes the place of the old one once it is whole.
    try:
        with (
            TemporaryDirectory(prefix="evenhand-") as folder,
            Store.open(folder, {}) as store,
            open_private_text_file(part, path) as stream,
        ):
            head, samples = load_run_report(store, _store_user_tests_as_run(store, in_order, began))
            writer(head, samples, stream)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _store_user_tests_as_run(store: Store, entries: Sequence[SessionJson], began: datetime) -> str:
    """Keep the entries as a finished run, and say its id."""
    row = _build_user_test_run_row(entries, began)
    store.begin_run(row)
    for at, (id, content, own) in enumerate(_group_user_test_samples(entries)):
        place = {"run": row["id"], "position": at}
        found = {f"in the test, {one['variant']}": "; ".join(one["problems"]) or "passed" for one in own}
        sample = to_stored_json({**content, "id": id, "metadata": found})
        store.write_rows(
            RowBatch(
                samples=[{**place, "id": id, "content": sample}],
                results=[_build_user_test_result_row(entry, place) for entry in own],
                calls=[
                    # Tests ask apart from each other: one question to judges of one name may have had other answers.
                    {**call, **place, "key": f"{call['key']}-{at}-{entry['variant']}"}
                    for entry in own
                    for call in entry["rows"]["calls"]
                ],
            )
        )
    ended = {**row, "state": "finished", "ended": datetime.now(UTC).isoformat(timespec="milliseconds")}
    head = {**load_user_report_head(store, ended), "decision": decide_user_test_report(entries)}
    store.release_run(row["id"], ended["state"], ended["ended"], to_stored_json(head))
    return str(row["id"])


def _build_user_test_run_row(entries: Sequence[SessionJson], began: datetime) -> Row:
    frames = [entry["rows"]["frame"] for entry in entries]
    # One frame for all: each judge, rubric and assertion once.
    rubrics = _list_distinct_user_test_json(rubric for frame in frames for rubric in frame["rubrics"])
    marks = _list_distinct_user_test_json(
        [frame["rubrics"][0]["name"] if frame["rubrics"] else "assertions", mark]
        for frame in frames
        for mark in frame["fingerprints"].values()
    )
    names = Counter(name for name, _ in marks)
    frame = {
        **frames[0],
        "variants": {name: about for frame in frames for name, about in frame["variants"].items()},
        "judges": _list_distinct_user_test_json(judge for frame in frames for judge in frame["judges"]),
        "rubrics": rubrics,
        "assertions": _list_distinct_user_test_json(one for frame in frames for one in frame["assertions"]),
        "fingerprints": {name if names[name] == 1 else f"{name} {mark[:4]}": mark for name, mark in marks},
    }
    return {
        "id": f"{began:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}",
        "name": PYTEST_RUN_NAME,
        "digest": digest_run_parts([entry["rows"]["result"]["key"] for entry in entries]),
        "state": "running",
        "started": began.isoformat(timespec="milliseconds"),
        "ended": None,
        "seed": frame["seed"],
        "fingerprint": digest_run_parts(sorted(frame["fingerprints"].items()))[:16],
        "source": "",
        "setup": to_stored_json({"frame": frame, "evenhand": __version__, "python": platform.python_version()}),
        "summary": None,
        "taken_from": None,
        "imported": None,
        "holder": process_holder_name(),
        "keep": "raw",
    }


def _list_distinct_user_test_json(values: Iterable[Any]) -> list[Any]:
    return list({json.dumps(value, sort_keys=True): value for value in values}.values())


def _group_user_test_samples(entries: Sequence[SessionJson]) -> list[SessionSample]:
    """Ids, contents and entries: variants of one test that were asked about the same share a sample."""
    samples: list[SessionSample] = []
    for test, own in groupby(entries, key=lambda entry: str(entry["test"])):
        of_test: list[SessionSample] = []
        for entry in own:
            content = {**entry["rows"]["sample"], "outputs": {}}
            alike = (others for _, other, others in of_test if other == content)
            shared = next(
                (others for others in alike if entry["variant"] not in {one["variant"] for one in others}), None
            )
            if shared is not None:
                shared.append(entry)
            else:
                of_test.append((f"{test} #{len(of_test) + 1}" if of_test else test, content, [entry]))
        samples += of_test
    return samples


def _build_user_test_result_row(entry: SessionJson, place: Mapping[str, object]) -> Row:
    row = entry["rows"]["result"]
    content = json.loads(row["content"])
    content["calls"] = [f"{key}-{place['position']}-{entry['variant']}" for key in content["calls"]]
    if content["scorecard"] is not None:  # What a test asks for is a gate: it decides and moves no number.
        content["scorecard"]["gates_failed"] += entry["missed"]
    return {**row, **place, "content": to_stored_json(content)}


def decide_user_test_report(entries: Sequence[SessionJson]) -> SessionJson:
    """Whether every output reached what its test asks for; variants are not compared here."""
    short = [entry for entry in entries if entry["problems"]]
    reached = f"{len(entries) - len(short)} of {len(entries)} outputs reach what their tests ask for."
    reasons = [f"{entry['test']}: {'; '.join(entry['problems'])}" for entry in short]
    passed: dict[str, list[bool]] = {}
    for entry in entries:
        passed.setdefault(entry["variant"], []).append(not entry["problems"])
    gates = {
        name: [{"gate": "outputs that pass", "min": 1.0, "mean": sum(own) / len(own), "passed": all(own)}]
        for name, own in passed.items()
    }
    more = [f"and {len(reasons) - MOST_REASONS} more"] if len(reasons) > MOST_REASONS else []
    return {
        "verdict": "SOLO",
        "headline": reached,
        "sure": "Each output was scored once, by its own test; nothing was compared.",
        "next_step": "Look at the outputs that fall short." if short else "To compare two variants, use evenhand run.",
        "reasons": [*reasons[:MOST_REASONS], *more],
        "exit_code": 1 if short else 0,
        "best": None,
        "gates": gates,
        "comparisons": [],
    }
