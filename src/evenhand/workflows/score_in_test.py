"""Score outputs inside tests as a run does it, in memory, and write one report for the session."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import secrets
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from evenhand._version import __version__
from evenhand.assertions.assertion import AnyAssertion
from evenhand.assertions.reading import read_plain_assertions
from evenhand.errors import Fault, InputError
from evenhand.evals.eval_definition import DEFAULT_TAG, Eval
from evenhand.evals.sample import SINGLE_VARIANT, EvalSample
from evenhand.evals.samples import InlineSamples
from evenhand.evals.variants.makers import RecordedVariant, open_variant_output_makers
from evenhand.files.private_files import make_private_folder, open_private_text_file
from evenhand.files.rubrics import load_rubric
from evenhand.model.rubric import Rubric
from evenhand.model.sample import VariantOutput
from evenhand.models.connections import Connections
from evenhand.models.prices import Prices
from evenhand.models.requests import EMBEDDED
from evenhand.report import find_report_writer
from evenhand.runs.execute import RunWorker
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.run_record import RunRecorder
from evenhand.runs.setup import build_run_setup, collect_run_keys_to_hide, digest_run_parts
from evenhand.store.rows import Row, RowBatch, to_stored_json
from evenhand.store.run_holds import RunHold, name_lock_process
from evenhand.store.store import Store
from evenhand.workflows.judge import JudgesLike
from evenhand.workflows.report import load_run_report, load_user_report_head

__all__ = ["SINGLE_VARIANT", "OutputRows", "judge_and_score_user_output", "load_rubric", "resolve_user_assertions"]

Json = dict[str, Any]
PYTEST_RUN_NAME = "pytest"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRows:
    """What a run would keep of one output."""

    sample: Json
    result: Row
    calls: list[Row]
    frame: Json


async def judge_and_score_user_output(
    test: str,
    outputs: Mapping[str, VariantOutput],
    texts: Mapping[str, str],
    *,
    rubric: Rubric | None,
    assertions: tuple[AnyAssertion, ...],
    judges: JudgesLike | None,
) -> OutputRows:
    """Score the output of one variant; `texts` are the input, the reference and the context of its sample."""
    sample = EvalSample(id=test, outputs=outputs, **cast("Json", texts))
    (variant,) = outputs
    async with NamedJudgeConnections(judges or EMBEDDED) as connections:
        eval = Eval(
            name=PYTEST_RUN_NAME,
            samples=InlineSamples((sample,), sample.id),
            variants={variant: RecordedVariant(about="scored in tests")},
            control=variant,
            rubrics={DEFAULT_TAG: rubric} if rubric else {},
            assertions=assertions,
            judges=connections.names,
        )
        setup = build_run_setup(eval, connections)
        notes = WorkflowMemoryRecorder()
        book = cast("RunRecorder", notes)
        async with open_variant_output_makers(eval.variants, connections, os.environ, 1) as makers:
            memory = ReplyCache(book, connections.price, fresh=True)
            secrets = collect_run_keys_to_hide(eval, os.environ)
            await RunWorker(setup, book, memory, makers, os.environ, secrets).score_sample(sample, 0, 0)
    # Hidden here, as a run hides them: the variables that a test sets are gone when the session writes its report.
    frame = cast("Json", secrets.remove_from_data(setup.describe_setup()["frame"]))
    kept = cast("Json", secrets.remove_from_data(sample.to_json()))
    return OutputRows(sample=kept, result=notes.rows["results"][0], calls=notes.rows["calls"], frame=frame)


def resolve_user_assertions(given: object, folder: Path) -> tuple[AnyAssertion, ...]:
    """Assertions from plain data; files that they name are looked for in a folder."""
    faults: list[Fault] = []
    read = read_plain_assertions(given, folder, faults, ("assertions",)) if given is not None else ()
    if faults:
        raise InputError(*faults)
    return read


class NamedJudgeConnections(Connections):
    """Connections that find judges which are objects or functions by their names too."""

    def __init__(self, judges: JudgesLike) -> None:
        super().__init__(os.environ, prices=Prices.shipped())
        several = list(judges) if isinstance(judges, (list, tuple)) else [judges]
        opened = [one if isinstance(one, str) else self.adopt(one) for one in several]
        self.names = tuple(one if isinstance(one, str) else one.name for one in opened)
        self._models |= {one.name: one for one in opened if not isinstance(one, str)}


class WorkflowMemoryRecorder:
    """A book, and the store behind it, as far as scoring one output needs them.

    No two outputs share one: a reply is never taken from another test, which may have scripted its judge otherwise.
    """

    hold = RunHold(run=PYTEST_RUN_NAME, token=0)
    has_other_workers = False

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {"calls": [], "results": []}
        self.store = self

    def now(self) -> str:
        """This moment, written so that it sorts."""
        return datetime.now(UTC).isoformat(timespec="milliseconds")

    def put_row(self, kind: str, row: Row, _texts: Iterable[str] = ()) -> Awaitable[None]:
        """Note a row."""
        self.leave_row(kind, row)
        done = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    def leave_row(self, kind: str, row: Row) -> None:
        """Note a row that nobody waits for."""
        self.rows[kind].append(row)

    def find_cached_replies(self, keys: Sequence[str], *, run: str | None = None) -> dict[str, Row]:
        """The replies to calls that were made about this output already."""
        return {row["key"]: row for row in self.rows["calls"] if row["key"] in keys and row["reply"] is not None}


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
        "holder": name_lock_process(),
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
