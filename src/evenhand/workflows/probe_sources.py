"""What a probe is sealed from: the labelled outputs that a run keeps, and the rubric by which its judges were asked."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evenhand.errors import EvenhandError, Fault, InputError
from evenhand.evals.sample import read_sample_output_json
from evenhand.files.methods import override_rubric_file_fields
from evenhand.files.parsing import parse_yaml_tree
from evenhand.files.rubrics import load_rubric, read_rubric_file
from evenhand.files.tree import MappingNode, ScalarNode
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.scoring.scores import to_scoring_fingerprint_data
from evenhand.store.store import Store
from evenhand.workflows.trust import LabelledGates


def load_probe_samples(store: Store, held: LabelledGates, people: Sequence[bool | None]) -> list[tuple[Sample, bool]]:
    """The outputs over which people decided, as judges see them, each with that decision; those of the first repeat."""
    run = store.find_run(held.table.run)
    if run["keep"] != "raw":
        what = f"run {run['id']} does not keep its texts (keep: {run['keep']}), so nobody can be asked about them again"
        raise InputError(Fault(what, "run the eval with keep: raw"))
    labelled = held.labelled
    decided = {
        (id, labelled.variants[variant]): one
        for id, variant, one in zip(labelled.ids, labelled.variant, people, strict=True)
        if one is not None
    }
    samples, results = store.load_named_samples(run["id"], {id for id, _ in decided})
    contents = {row["position"]: (row["id"], json.loads(row["content"])) for row in samples}
    found: dict[tuple[str, str], tuple[Sample, bool]] = {}
    for row in results:
        id, content = contents[row["position"]]
        made = json.loads(row["content"])["output"]
        if (id, row["variant"]) not in decided or (id, row["variant"]) in found or made is None:
            continue
        text = read_sample_output_json(made).text
        if text.strip():
            shown = {name: str(content.get(name) or "") for name in ("input", "reference", "context")}
            sample = Sample(id=id, outputs={row["variant"]: text}, **shown)
            found[id, row["variant"]] = sample, decided[id, row["variant"]]
    return [found[key] for key in sorted(found)]


def load_run_rubric(store: Store, held: LabelledGates, named: str | None) -> Rubric:
    """The rubric of a run: the one that is named, else the one of its eval file; refused where it is another now."""
    kept = held.setup["rubrics"]
    if set(kept) != {""}:
        raise InputError(
            Fault("the run has several rubrics", "a probe is made of a run with one rubric for all samples")
        )
    source = store.find_run(held.table.run)["source"]
    found = load_rubric(named) if named is not None else _read_rubric_in_source(source, kept[""]["name"])
    rubric = replace(override_rubric_file_fields(found, os.environ), holistic=kept[""]["holistic"])
    if json.loads(json.dumps(to_scoring_fingerprint_data(rubric))) != kept[""]:
        what = f"the rubric {rubric.name!r} is not the one by which the judges of this run were asked"
        raise InputError(Fault(what, "it was changed since: name the old one with --rubric FILE, or run the eval anew"))
    return rubric


def _read_rubric_in_source(source: str, name: str) -> Rubric:
    """The rubric that the text of an eval file writes out or names; `name` is that of one that is written out."""
    hint = "name it: --rubric FILE"
    try:
        tree = parse_yaml_tree(source)
        node = tree.get("rubric") if isinstance(tree, MappingNode) else None
        if isinstance(node, ScalarNode):
            return load_rubric(node.text)
        if node is not None:
            return read_rubric_file(node, name, Path())
    except EvenhandError as error:
        raise InputError(Fault(f"the rubric of the run cannot be read here: {error}", hint)) from None
    raise InputError(Fault("the run does not say where its rubric is", hint))
