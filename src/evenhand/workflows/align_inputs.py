"""What aligning starts from: the rubric that a run asked by, how its judges were asked, and its labelled outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from evenhand.calibrate.edit_proposals import JudgedCase
from evenhand.calibrate.labelled_outputs import PANEL_ANSWERER, Integers, LabelledOutputs
from evenhand.calibrate.labels import SCORE_QUESTION, HumanLabelQuestion
from evenhand.errors import EvenhandError, Fault, InputError
from evenhand.evals.eval_definition import DEFAULT_TAG
from evenhand.evals.sample import read_sample_output_json
from evenhand.files.parsing import parse_tree
from evenhand.files.rubric_writing import convert_node_to_data
from evenhand.files.rubrics import LocatedRubric, open_rubric_with_file_lines
from evenhand.files.tree import MappingNode, ScalarNode, SequenceNode
from evenhand.guards.output_guards import list_guard_findings
from evenhand.judging.prompts import load_prompts
from evenhand.judging.single_judge import Cascade, JudgeOptions
from evenhand.model.rubric import Rubric
from evenhand.model.sample import OutputTrace, Sample, VariantOutput
from evenhand.model.scale import to_exact_fraction
from evenhand.models.requests import ModelSettings
from evenhand.scoring.scores import to_scoring_fingerprint_data
from evenhand.store.rows import Row
from evenhand.store.store import Store

Json = dict[str, Any]
COMPARED_FIELDS = ("criteria", "red_flags", "bonuses", "gates", "method", "safety_gate")
_PLAIN_OPTIONS = (
    "language", "seed", "each", "samples", "logprobs", "deadline", "refuse", "paraphrase_check",
)  # fmt: skip
LONGEST_TASK = 400  # Characters of an input that are shown before the output of a case.


def open_run_rubric(row: Row, named: str | Json | None) -> LocatedRubric:
    """The rubric that a run asked by: the one that is given, or what the eval of the run names or writes out."""
    asked = json.loads(row["setup"])["rubrics"]
    if list(asked) != [DEFAULT_TAG]:
        what = "the run has no rubric" if not asked else "the samples of the run have different rubrics"
        raise InputError(Fault(f"{what}, and one rubric at a time is aligned", "run an eval with one rubric for all"))
    if asked[DEFAULT_TAG]["method"]["dialogue"] == "pairwise":
        raise InputError(Fault("the judges of this run compared pairs: there are no scores to align with labels"))
    try:
        opened = (
            open_rubric_with_file_lines(named)
            if named
            else _open_eval_rubric(row["source"], asked[DEFAULT_TAG]["name"])
        )
    except EvenhandError as error:
        if named:
            raise
        what = f"the rubric of run {row['id']} cannot be found from here: {error}"
        raise InputError(Fault(what, "name its file: --rubric FILE")) from None
    ours = json.loads(json.dumps(to_scoring_fingerprint_data(opened.rubric)))
    if any(ours[name] != asked[DEFAULT_TAG][name] for name in COMPARED_FIELDS):
        what = f"the rubric {opened.rubric.name!r} is not the one that run {row['id']} asked by"
        hint = "run the eval again, or name the rubric as it was: --rubric FILE"
        raise InputError(Fault(what, hint, where=opened.file))
    return opened


def _open_eval_rubric(source: str, name: str) -> LocatedRubric:
    tree = parse_tree(Path("eval.yaml"), source)
    given = tree.get("rubric") if isinstance(tree, MappingNode) else None
    if isinstance(given, ScalarNode):
        return open_rubric_with_file_lines(given.text)
    listed = tree.get("rubrics") if given is None and isinstance(tree, MappingNode) else None
    if isinstance(listed, SequenceNode):
        return open_rubric_with_file_lines({"name": name, "rubrics": convert_node_to_data(listed)})
    if not isinstance(given, MappingNode):
        raise InputError("its eval does not say which it is")
    return open_rubric_with_file_lines({"name": name, **convert_node_to_data(given)})


def read_run_judge_options(setup: Json) -> JudgeOptions:
    """How the judges of a run were asked."""
    how = dict(setup["how"])
    cascade, language = how["cascade"], how["language"]
    near: dict[str, Any] = {name: _read_fraction(one) for name, one in (cascade or {}).items() if name != "spend"}
    rules = setup["prompts"].get("rules")
    plain = [load_prompts(language, ignore_length=ignored).texts["rules"] for ignored in (False, True)]
    return JudgeOptions(
        **{name: how[name] for name in _PLAIN_OPTIONS if name in how},
        settings=ModelSettings(**how["settings"]),
        weights={name: Fraction(str(weight)) for name, weight in how["weights"].items()},
        cascade=Cascade(**{name: value for name, value in near.items() if value is not None}) if near else None,
        ignore_length=rules == plain[1] != plain[0],
    )


def _read_fraction(value: object) -> Fraction | None:
    return None if value is None else Fraction(str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSample:
    """A labelled sample as its judges saw it, with its place in the run and their reasons by output and criterion."""

    position: int
    sample: Sample
    reasons: Mapping[tuple[str, str], str]

    def show_output(self, variant: str) -> str:
        """An output with what was asked for, as a passage by itself."""
        task = self.sample.input.strip()
        if not task:
            return self.sample.outputs[variant]
        short = task if len(task) <= LONGEST_TASK else task[: LONGEST_TASK - 1] + "…"
        return f"Task: {short}\nOutput: {self.sample.outputs[variant]}"

    def list_texts(self) -> list[str]:
        """All that could be copied from it."""
        shown = [self.show_output(variant) for variant in self.sample.outputs]
        return [*self.sample.outputs.values(), *shown, self.sample.input, self.sample.reference]


def load_labelled_samples(store: Store, row: Row, labelled: LabelledOutputs) -> dict[str, LabelledSample]:
    """The labelled samples of a run by id; an InputError where the run kept no texts."""
    if row["keep"] != "raw":
        what = f"run {row['id']} kept no texts (keep: {row['keep']}), and other rubrics cannot be tried on them"
        raise InputError(Fault(what, "run the eval with keep: raw"))
    wanted, guards = set(labelled.ids), json.loads(row["setup"])["frame"]["guards"]
    contents = {one["position"]: json.loads(one["content"]) for one in store.samples(row["id"]) if one["id"] in wanted}
    results: dict[int, dict[str, Json]] = {}
    for one in store.results(row["id"]):
        if one["position"] in contents and one["repeat"] == 0:
            results.setdefault(one["position"], {})[one["variant"]] = json.loads(one["content"])
    return {
        content["id"]: _build_labelled_sample(position, content, results.get(position, {}), guards)
        for position, content in contents.items()
    }


def _build_labelled_sample(
    position: int, content: Json, results: Mapping[str, Json], guards: Sequence[str]
) -> LabelledSample:
    made = {name: read_sample_output_json(one["output"]) for name, one in results.items() if one["output"]}
    made = {name: one for name, one in made.items() if one.text.strip()}
    findings = {name: list_guard_findings(one.text, guards) for name, one in made.items()}
    sample = Sample(
        id=content["id"],
        input=content.get("input", ""),
        reference=content.get("reference", ""),
        context=content.get("context", ""),
        outputs={name: one.text for name, one in made.items()},
        authors={name: one.author for name, one in made.items() if one.author},
        traces={name: _read_trace(one) for name, one in made.items() if one.trace is not None},
        findings={name: found for name, found in findings.items() if found},
    )
    reasons = {
        (name, said["criterion"]): str(said.get("reason") or "")
        for name, one in results.items()
        for said in one["judgments"]
    }
    return LabelledSample(position=position, sample=sample, reasons=reasons)


def _read_trace(made: VariantOutput) -> OutputTrace:
    return OutputTrace(calls=made.trace or (), turns=made.turns)


def show_sample_part(one: LabelledSample, variants: Sequence[str]) -> Sample:
    """The sample with some of its outputs."""
    sample = one.sample
    kept = {name: sample.outputs[name] for name in sample.outputs if name in variants}
    rest: dict[str, Any] = {
        name: {id: value for id, value in getattr(sample, name).items() if id in kept}
        for name in ("authors", "traces", "findings")
    }
    return replace(sample, outputs=kept, **rest)


def list_aligned_questions(labelled: LabelledOutputs, rubric: Rubric) -> tuple[HumanLabelQuestion, ...]:
    """The labelled questions that a rubric answers; an InputError where there are none."""
    judged = {leaf.id for leaf in rubric.leaves.values() if leaf.judged} | {SCORE_QUESTION}
    found = tuple(one for one in labelled.questions if one.id in judged)
    if not found:
        raise InputError(Fault("no label is about a criterion that judges answer", "label criteria of the rubric"))
    return found


def list_drafting_cases(
    labelled: LabelledOutputs, samples: Mapping[str, LabelledSample], rubric: Rubric, places: Integers
) -> Iterator[JudgedCase]:
    """What people and the judges of the run said of outputs, criterion by criterion."""
    who = PANEL_ANSWERER if len(labelled.judges) > 1 else labelled.judges[0]
    for question in labelled.questions:
        if question.id not in rubric.leaves:
            continue
        people, said = labelled.mean(question), labelled.answers[who, question.id]
        for place in places:
            variant, sample = labelled.variants[labelled.variant[place]], samples.get(labelled.ids[place])
            if sample is None or variant not in sample.sample.outputs or people[place] != people[place]:
                continue
            judge = (
                None if said[place] != said[place] else to_exact_fraction(float(said[place])).limit_denominator(1000)
            )
            yield JudgedCase(
                criterion=question.id,
                passage=sample.show_output(variant),
                people=to_exact_fraction(float(people[place])).limit_denominator(1000),
                judge=judge,
                why=sample.reasons.get((variant, question.id), ""),
            )
