"""Labels held against the texts of a run: one whose output has changed since is void, and it is said which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenhand.calibrate.labels import Label
from evenhand.files.codec import Codec
from evenhand.files.json_shape import JsonShape
from evenhand.runs.columns import RunTable
from evenhand.runs.kept_texts import format_output_digest
from evenhand.wording import join_names, pluralize_count

MOST_VOID_NAMED = 5
UNEQUAL_CHANCES = "Outputs were drawn with unequal chances, and are weighed back: shares are not the counts alone."
VOID_LABEL_SHAPE = JsonShape(only=("sample", "variant", "criterion", "rater"))
VOID_LABEL_JSON = Codec(shapes={Label: VOID_LABEL_SHAPE})


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundLabels:
    """The labels that count, those that are void, and how many of the first are bound to no text."""

    labels: tuple[Label, ...]
    void: tuple[Label, ...]
    unbound: int


def bind_labels_to_outputs(table: RunTable, labels: Sequence[Label]) -> BoundLabels:
    """Sort labels by whether the output that they are about is the run's; any of its repeats will do."""
    texts = _list_output_digests(table) if any(one.output for one in labels) else {}
    void, kept, unbound = [], [], 0
    for label in labels:
        known = texts.get((label.sample, label.variant), set())
        if label.output is not None and known and label.output not in known:
            void.append(label)
            continue
        kept.append(label)
        unbound += label.output is None or not known
    return BoundLabels(labels=tuple(kept), void=tuple(void), unbound=unbound)


def _list_output_digests(table: RunTable) -> dict[tuple[str, str], set[str]]:
    """The digests of each output that has a text, by sample and variant."""
    found: dict[tuple[str, str], set[str]] = {}
    for sample, variant, number in zip(
        table.sample.tolist(), table.variant.tolist(), table.output.tolist(), strict=False
    ):
        if number:
            key = table.samples[sample], table.variants[variant]
            found.setdefault(key, set()).add(format_output_digest(number))
    return found


def describe_label_binding(void: Sequence[Label], unbound: int) -> Iterator[str]:
    """What has to be said of labels: which are void, and how many nothing binds to a text."""
    if void:
        outputs = list(dict.fromkeys(f"{one.sample}/{one.variant}" for one in void))
        more = len(outputs) - MOST_VOID_NAMED
        names = join_names([*outputs[:MOST_VOID_NAMED], *([f"{more:,} more"] if more > 0 else [])])
        count = pluralize_count(len(void), "label is", "labels are")
        yield f"{count} void, not counted: the output has changed since it was labelled ({names})."
    if unbound:
        count = pluralize_count(unbound, "label is", "labels are")
        yield f"{count} bound to no text: a changed output would not be noticed."
