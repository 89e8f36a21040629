"""The labels of a run: from a file, as sent, or those that are kept with it; and taken in, to be kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from evenhand.calibrate.labels import Label, bind_labels_to_outputs, read_human_label_row, read_human_labels
from evenhand.errors import Fault, InputError
from evenhand.files.parsing import read_text_file
from evenhand.runs.columns import RunTable
from evenhand.store.store import Store

LARGEST_LABEL_FILE = 100_000_000
# A file, the text of one, the labels as plain data, or, None, those kept with the run.
LabelSource = Path | str | Sequence[Mapping[str, object]] | None


def load_run_labels(store: Store, table: RunTable, labels: LabelSource) -> tuple[Label, ...]:
    """The labels that are given, those that are void included, or those that are kept with a run, if any are."""
    if labels is None:
        return load_kept_labels(store, table)
    if isinstance(labels, Path):
        return load_labels_from_file(labels, table)
    # Infinite numbers, such as 1e999, stay what they are and are refused: null would be a label that is not given yet.
    text = labels if isinstance(labels, str) else "\n".join(map(json.dumps, labels))
    return read_human_labels(text, "labels", table)


def make_no_run_labels_error(run: str) -> InputError:
    """That no labels are given, and none are kept with a run."""
    return InputError(Fault(f"no labels are kept with run {run}", "name a file: --labels labels.jsonl"))


def load_labels_from_file(labels: Path, table: RunTable) -> tuple[Label, ...]:
    """The labels in a file, as they fit a run; those that are void included."""
    return read_human_labels(read_text_file(labels, LARGEST_LABEL_FILE, InputError), str(labels), table)


def load_kept_labels(store: Store, table: RunTable) -> tuple[Label, ...]:
    """The labels that are kept with a run and count."""
    return bind_labels_to_outputs(table, [read_human_label_row(row) for row in store.labels(table.run)]).labels


def keep_labels_with_run(store: Store, table: RunTable, labels: Sequence[Label]) -> tuple[int, int]:
    """Keep labels with a run in place of those before, but for void ones; how many are kept, and were before."""
    before = sum(1 for _ in store.labels(table.run))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    kept = bind_labels_to_outputs(table, labels).labels
    store.labelling.replace_labels(table.run, [label.to_stored_row(now) for label in kept])
    return len(kept), before
