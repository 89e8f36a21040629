"""All that decides the scores of a run, prepared once: judges opened, prompts as they are, one digest over it all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import zip_longest

from evenhand.assertions.assertion import assertion_to_definition, list_outside_assertions
from evenhand.errors import Fault, JudgeError
from evenhand.evals.eval_definition import Eval
from evenhand.evals.eval_judges import JUDGE_QUESTIONS, eval_question_rubric
from evenhand.evals.eval_scoring import PAIRWISE, PLAIN_COMPOSITE
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants.variant import CommandVariant, FunctionVariant
from evenhand.files.python_functions import add_python_import_folder
from evenhand.judging.judge import collect_judge_prompt_fingerprint, fingerprint_judge
from evenhand.judging.open_judge import EmbeddedModel
from evenhand.judging.results import refuse_foreign_score_maps
from evenhand.models.connections import Connections
from evenhand.models.hidden_keys import ModelSecrets, collect_api_keys_to_hide
from evenhand.models.requests import EMBEDDED, ChainedModel
from evenhand.runs.pairs import EVEN_WITH_CONTROL, build_run_pair_rubric, refuse_unaskable_run_pairs
from evenhand.runs.results import build_result_composite_rubric
from evenhand.runs.run_record import RunEvalRecord, run_rubric_snapshot_json, write_run_eval_record
from evenhand.scoring.scores import JudgingSetup, compute_fingerprint, to_scoring_fingerprint_data

Json = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """An eval with its judges opened."""

    eval: Eval
    judges: tuple[ChainedModel, ...]
    asked: Mapping[str, JudgingSetup]  # By tag or key of the rubric, and by kind of assertion.
    fingerprints: Mapping[str, str]
    fingerprint: str  # What must be equal for the scores of two runs to be comparable.
    by_judge: Mapping[str, Mapping[str, str]]  # By rubric and judge: what a map of the judge's scores is made for.
    assertions: list[Json]  # Those on every output, then the checks that samples may name.
    options: Json  # How judges are asked, as plain data.
    programs: Mapping[str, str]  # By variant: the folder of its program; in another, a name may mean another program.
    digests: Mapping[str, str]  # By variant: of all settings that decide a score of it, but for the sample.

    def digest_with_samples(self, samples: str) -> str:
        """Of all that decides what a run says, samples included: a run is resumed where it is the same."""
        eval = self.eval
        gates = {name: str(least) for name, least in eval.gates.items()}
        judged: tuple[object, ...] = (gates, eval.repeats, eval.control, str(eval.smallest_effect))
        if eval.count_borderline:
            judged += ("borderlines pass",)
        own = {key: self.fingerprints[key] for key in eval.own_rubrics.rubrics}  # A file of a sample may change.
        return digest_run_parts(self.digests, list(self.programs.values()), samples, *judged, *([own] if own else []))

    def make_result_key(self, sample: EvalSample, variant: str, repeat: int) -> str:
        """A name for all that decides a result: a finished one of the same name is not worked out again."""
        key = self.eval.own_rubrics.find_rubric_key(sample)
        own = "" if key is None else f" {self.fingerprints[key]}"
        return hashlib.sha256(f"{self.digests[variant]} {sample.digest} {repeat}{own}".encode()).hexdigest()

    def make_output_key(self, sample: EvalSample, variant: str, repeat: int) -> str:
        """A name for all that decides what a live variant makes of a sample, as far as can be seen from outside."""
        definition = self.eval.variants[variant].definition()
        told = sample.variant_input(repeat)
        return digest_run_parts(variant, definition, self.programs[variant], told, sample.reference)

    def build_eval_record(self) -> RunEvalRecord:
        """The eval as the run keeps it."""
        eval = self.eval
        # Where outputs are compared in pairs, they have scores of preferences.
        pairs = {
            key: build_run_pair_rubric(rubric, eval.control)
            for key, rubric in eval.all_rubrics.items()
            if rubric.method.dialogue == PAIRWISE
        }
        return RunEvalRecord(
            name=eval.name,
            control=eval.control,
            variants={name: variant.about for name, variant in eval.variants.items()},
            judges=eval.judges if self.fingerprints else (),
            guards=eval.guards,
            rubrics=tuple(
                run_rubric_snapshot_json(
                    key,
                    pairs.get(key, rubric),
                    with_criteria=key in eval.rubrics or eval.own_rubrics.fits_tables(key),
                )
                for key, rubric in eval.all_rubrics.items()
            ),
            assertions=tuple(one.title for one in eval.assertions),
            # Of pairs, what is preferred less often does not ship.
            gates={"judge": EVEN_WITH_CONTROL, **eval.gates} if pairs else eval.gates,
            smallest_effect=eval.smallest_effect,
            repeats=eval.repeats,
            seed=eval.how.seed,
            fingerprints=self.fingerprints,
            count_borderline=eval.count_borderline,
            composite=eval.composite,
        )

    def describe_setup(self) -> Json:
        """What a run keeps of it, as it was."""
        eval = self.eval
        judges = next(iter(self.asked.values())).judges if self.asked else []
        return {
            "frame": write_run_eval_record(self.build_eval_record()),
            "variants": {name: variant.definition() for name, variant in eval.variants.items()},
            "rubrics": {key: to_scoring_fingerprint_data(rubric) for key, rubric in eval.all_rubrics.items()},
            "assertions": self.assertions,
            "judges": to_scoring_fingerprint_data(judges),
            "prompts": {name: text for asked in self.asked.values() for name, text in asked.prompts.items()},
            "how": self.options,
            **({"fingerprints": {tag: dict(one) for tag, one in self.by_judge.items()}} if self.by_judge else {}),
        }


def build_run_setup(eval: Eval, connections: Connections, questions: Iterable[str] = ()) -> RunSetup:
    """Open the judges of an eval and work out what its scores will depend on.

    `questions` are the kinds of assertions in its samples that judges have to answer.
    """
    asked_by_rule = (leaf.kind for leaf in list_outside_assertions(eval.assertions) if leaf.kind in JUDGE_QUESTIONS)
    kinds = dict.fromkeys((*asked_by_rule, *questions))
    rubrics = {**eval.all_rubrics, **{f"assertion:{kind}": eval_question_rubric(kind) for kind in kinds}}
    judges = open_run_judges(eval, connections) if rubrics else ()
    if any(rubric.method.dialogue == PAIRWISE for rubric in eval.all_rubrics.values()):
        refuse_unaskable_run_pairs(judges, eval.how, tuple(eval.variants))
    by_judge = {
        tag: {judge.name: fingerprint_judge(rubric, judge, eval.how) for judge in judges}
        for tag, rubric in eval.rubrics.items()
    }
    if maps := eval.how.maps:
        known = {judge.name: [one[judge.name] for one in by_judge.values()] for judge in judges}
        refuse_foreign_score_maps(maps, known)
    asked = {tag: collect_judge_prompt_fingerprint(rubric, judges, eval.how) for tag, rubric in rubrics.items()}
    marks = {}
    for tag, rubric in rubrics.items():
        marks[tag] = compute_fingerprint(rubric, prompts=asked[tag].prompts, judges=asked[tag].judges)
        if tag in eval.all_rubrics:
            scored = build_run_pair_rubric(rubric, eval.control) if rubric.method.dialogue == PAIRWISE else rubric
            marks[tag] += compute_fingerprint(build_result_composite_rubric(scored, eval.composite.weights))
    checks = [{"check": name, **assertion_to_definition(one)} for name, one in eval.checks.items()]
    assertions = [*(assertion_to_definition(one) for one in eval.assertions), *checks]
    # The rule about length is in the prompts; runs from before it was there can be resumed.
    # So can those from before orders were balanced: a run keeps its own rule beside what it was begun with.
    apart = {"ignore_length", "balance_orders"} | (set() if maps else {"maps"})
    names = [one.name for one in fields(eval.how) if one.name not in apart]
    options: Json = {name: to_scoring_fingerprint_data(getattr(eval.how, name)) for name in names}
    # A sample that brings a rubric changes no other: its rubric is part of the names of its own results.
    common = {tag: mark for tag, mark in marks.items() if tag not in eval.own_rubrics.rubrics}
    changes = [] if eval.composite == PLAIN_COMPOSITE else list(filter(None, [eval.composite.list_changes()]))
    shared = (common, assertions, list(eval.guards), options, [one.source for one in judges], *changes)
    return RunSetup(
        eval=eval,
        judges=judges,
        asked=asked,
        fingerprints=marks,
        fingerprint=digest_run_parts(sorted(marks.items()), [assertions, eval.how.refuse], *changes)[:16],
        by_judge=by_judge,
        assertions=assertions,
        options=options,
        programs={
            name: str(one.folder.resolve()) if isinstance(one, CommandVariant | FunctionVariant) else ""
            for name, one in eval.variants.items()
        },
        digests={name: digest_run_parts(name, one.definition(), *shared) for name, one in eval.variants.items()},
    )


def open_run_judges(eval: Eval, connections: Connections) -> tuple[ChainedModel, ...]:
    """The judges, or an error with all that cannot be asked, each with its place in the eval."""
    judges: list[ChainedModel] = []
    faults: list[Fault] = []
    for name, place in zip_longest(eval.judges, eval.judge_places, fillvalue=""):
        if name.startswith("python:"):
            add_python_import_folder(eval.folder)
        try:
            own, make = eval.judge_objects.get(name), EmbeddedModel if name == EMBEDDED else None
            judges.append(connections.open(name, make) if own is None else connections.adopt(own))
        except JudgeError as error:
            faults += [replace(fault, where=": ".join(filter(None, (place, fault.where)))) for fault in error.faults]
    if faults:
        raise JudgeError(*faults)
    return tuple(judges)


def digest_run_parts(*parts: object) -> str:
    """A hash over plain data."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def collect_run_keys_to_hide(eval: Eval, environ: Mapping[str, str]) -> ModelSecrets:
    """The secrets that a run may meet: those of the environment, and the variables that its variants send."""
    return collect_api_keys_to_hide(environ, eval.sent_variables)
