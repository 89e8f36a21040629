"""All that decides the scores of a run, prepared once: judges opened, prompts as they are, one digest over it all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest

from evenhand.assertions.assertion import assertion_to_definition, list_outside_assertions
from evenhand.errors import Fault, JudgeError
from evenhand.evals.eval_definition import Eval
from evenhand.evals.sample_assertions import JUDGE_QUESTIONS, sample_assertion_rubric
from evenhand.evals.variants.makers import Variant
from evenhand.evals.variants.variant import CommandVariant, FunctionVariant
from evenhand.files.python_functions import add_import_folder
from evenhand.judging.judge import collect_judge_prompt_fingerprint
from evenhand.judging.open_judge import resolve_judge_by_name
from evenhand.models.connections import Connections
from evenhand.models.requests import ChainedModel
from evenhand.runs.results import build_result_composite_rubric
from evenhand.runs.run_record import record_eval_of_run
from evenhand.scoring.scores import JudgingSetup, compute_fingerprint, to_fingerprint_data

Json = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """An eval with its judges opened."""

    eval: Eval
    judges: tuple[ChainedModel, ...]
    asked: Mapping[str, JudgingSetup]  # By tag of the rubric, and by kind of assertion.
    fingerprints: Mapping[str, str]
    digests: Mapping[str, str]  # By variant: of all settings that decide a score of it, but for the sample.

    def digest_with_samples(self, samples: str) -> str:
        """Of all that decides what a run says, samples included: a run is resumed where it is the same."""
        eval = self.eval
        gates = {name: str(least) for name, least in eval.gates.items()}
        programs = [variant_program_folder(variant) for variant in eval.variants.values()]
        judged = (gates, eval.repeats, eval.control, str(eval.smallest_effect))
        return digest_run_parts(self.digests, programs, samples, *judged)

    @property
    def fingerprint(self) -> str:
        """What must be equal for the scores of two runs to be comparable."""
        assertions = [assertion_to_definition(one) for one in self.eval.assertions]
        return digest_run_parts(sorted(self.fingerprints.items()), [assertions, self.eval.how.refuse])[:16]

    def describe_setup(self) -> Json:
        """What a run keeps of it, as it was."""
        eval = self.eval
        judges = next(iter(self.asked.values())).judges if self.asked else []
        return {
            "frame": record_eval_of_run(eval, self.fingerprints).to_json(),
            "variants": {name: variant.definition() for name, variant in eval.variants.items()},
            "rubrics": {tag: to_fingerprint_data(rubric) for tag, rubric in eval.rubrics.items()},
            "assertions": [assertion_to_definition(one) for one in eval.assertions],
            "judges": to_fingerprint_data(judges),
            "prompts": {name: text for asked in self.asked.values() for name, text in asked.prompts.items()},
            "how": to_fingerprint_data(eval.how),
        }


def build_run_setup(eval: Eval, connections: Connections, questions: Iterable[str] = ()) -> RunSetup:
    """Open the judges of an eval and work out what its scores will depend on.

    `questions` are the kinds of assertions in its samples that judges have to answer.
    """
    own = (leaf.kind for leaf in list_outside_assertions(eval.assertions) if leaf.kind in JUDGE_QUESTIONS)
    kinds = dict.fromkeys((*own, *questions))
    rubrics = {**eval.rubrics, **{f"assertion:{kind}": sample_assertion_rubric(kind) for kind in kinds}}
    judges = _open_judges_for_run(eval, connections) if rubrics else ()
    asked = {tag: collect_judge_prompt_fingerprint(rubric, judges, eval.how) for tag, rubric in rubrics.items()}
    marks = {}
    for tag, rubric in rubrics.items():
        marks[tag] = compute_fingerprint(rubric, prompts=asked[tag].prompts, judges=asked[tag].judges)
        if tag in eval.rubrics:
            marks[tag] += compute_fingerprint(build_result_composite_rubric(rubric))
    assertions = [assertion_to_definition(one) for one in eval.assertions]
    code = [judge.source for judge in judges]
    shared = (marks, assertions, list(eval.guards), to_fingerprint_data(eval.how), code)
    digests = {name: digest_run_parts(name, variant.definition(), *shared) for name, variant in eval.variants.items()}
    return RunSetup(eval=eval, judges=judges, asked=asked, fingerprints=marks, digests=digests)


def _open_judges_for_run(eval: Eval, connections: Connections) -> tuple[ChainedModel, ...]:
    """The judges, or an error with all that cannot be asked; functions are looked for from the eval's folder too."""
    if any(name.startswith("python:") for name in eval.judges):
        add_import_folder(eval.folder)
    judges: list[ChainedModel] = []
    faults: list[Fault] = []
    for name, place in zip_longest(eval.judges, eval.judge_places, fillvalue=""):
        try:
            judges.append(resolve_judge_by_name(connections, name))
        except JudgeError as error:
            faults += [replace(fault, where=": ".join(filter(None, (place, fault.where)))) for fault in error.faults]
    if faults:
        raise JudgeError(*faults)
    return tuple(judges)


def digest_run_parts(*parts: object) -> str:
    """A hash over plain data."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def variant_program_folder(variant: Variant) -> str:
    """Where the program behind a variant is: in another folder, one name may mean another program."""
    return str(variant.folder.resolve()) if isinstance(variant, CommandVariant | FunctionVariant) else ""
