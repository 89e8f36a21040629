"""All that decides the scores of a run, made ready once: judges opened, prompts as they are, one digest over it all."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest

from evenhand.assertions import definition, outside
from evenhand.errors import Fault, JudgeError
from evenhand.judging import Model, asked_of
from evenhand.judging.models import Connections
from evenhand.model import Rubric
from evenhand.runs._asked_of_models import QUESTIONS, question
from evenhand.runs._eval import Eval
from evenhand.runs._frame import frame_of
from evenhand.runs._layers import composite_rubric
from evenhand.runs.variants import Command, Function, Variant
from evenhand.scoring import Asked, fingerprint, plain

Json = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """An eval with its judges opened."""

    eval: Eval
    judges: tuple[Model, ...]
    asked: Mapping[str, Asked]  # By tag of the rubric, and by kind of assertion.
    fingerprints: Mapping[str, str]
    digests: Mapping[str, str]  # By variant: of all settings that decide a score of it, but for the sample.

    def whole_digest(self, samples: str) -> str:
        """Of all that decides what a run says, samples included: a run is resumed where it is the same."""
        eval = self.eval
        gates = {name: str(least) for name, least in eval.gates.items()}
        programs = [program_folder(variant) for variant in eval.variants.values()]
        judged = (gates, eval.repeats, eval.control, str(eval.smallest_effect))
        return digest_of(self.digests, programs, samples, *judged)

    @property
    def fingerprint(self) -> str:
        """What must be equal for the scores of two runs to be comparable."""
        return digest_of(sorted(self.fingerprints.items()), self._by_rules())[:16]

    def described(self) -> Json:
        """What a run keeps of it, as it was."""
        eval = self.eval
        return {
            "frame": frame_of(eval, self.fingerprints).data(),
            "variants": {name: variant.definition() for name, variant in eval.variants.items()},
            "rubrics": {tag: plain(rubric) for tag, rubric in eval.rubrics.items()},
            "assertions": [definition(one) for one in eval.assertions],
            "judges": list(self.asked_judges()),
            "prompts": self.prompts(),
            "how": plain(eval.how),
        }

    def asked_judges(self) -> tuple[object, ...]:
        """Who is asked, with settings."""
        return tuple(plain(next(iter(self.asked.values())).judges)) if self.asked else ()  # type: ignore[arg-type]

    def prompts(self) -> dict[str, str]:
        """The prompt texts as they were."""
        return {name: text for asked in self.asked.values() for name, text in asked.prompts.items()}

    def _by_rules(self) -> list[object]:
        eval = self.eval
        return [[definition(one) for one in eval.assertions], eval.how.refuse]


def prepare(eval: Eval, connections: Connections, questions: Iterable[str] = ()) -> Setup:
    """Open the judges of an eval and work out what its scores will depend on.

    `questions` are the kinds of assertions in its samples that judges have to answer.
    """
    rubrics = _asked_rubrics(eval, questions)
    judges = _opened(eval, connections) if rubrics else ()
    asked = {tag: asked_of(rubric, judges, eval.how) for tag, rubric in rubrics.items()}
    marks = {tag: _fingerprint(eval.rubrics.get(tag), rubrics[tag], asked[tag]) for tag in rubrics}
    assertions = [definition(one) for one in eval.assertions]
    code = [getattr(judge, "source", "") for judge in judges]
    shared = (marks, assertions, list(eval.guards), plain(eval.how), code)
    digests = {name: digest_of(name, variant.definition(), *shared) for name, variant in eval.variants.items()}
    return Setup(eval=eval, judges=judges, asked=asked, fingerprints=marks, digests=digests)


def _opened(eval: Eval, connections: Connections) -> tuple[Model, ...]:
    """The judges, or an error with all that cannot be asked; functions are looked for from the eval's folder too."""
    folder = str(eval.folder.absolute())
    if folder not in sys.path and any(name.startswith("python:") for name in eval.judges):
        sys.path.insert(0, folder)
    judges: list[Model] = []
    faults: list[Fault] = []
    for name, place in zip_longest(eval.judges, eval.judge_places, fillvalue=""):
        try:
            judges.append(connections.open(name))
        except JudgeError as error:
            faults += [replace(fault, where=": ".join(filter(None, (place, fault.where)))) for fault in error.faults]
    if faults:
        raise JudgeError(*faults)
    return tuple(judges)


def digest_of(*parts: object) -> str:
    """A hash over plain data."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def program_folder(variant: Variant) -> str:
    """Where the program behind a variant is: in another folder, one name may mean another program."""
    return str(variant.folder.resolve()) if isinstance(variant, Command | Function) else ""


def _asked_rubrics(eval: Eval, questions: Iterable[str]) -> dict[str, Rubric]:
    own = (leaf.kind for leaf in outside(eval.assertions) if leaf.kind in QUESTIONS)
    kinds = dict.fromkeys((*own, *questions))
    return {**eval.rubrics, **{f"assertion:{kind}": question(kind) for kind in kinds}}


def _fingerprint(own: Rubric | None, rubric: Rubric, asked: Asked) -> str:
    mark = fingerprint(rubric, prompts=asked.prompts, judges=asked.judges)
    return mark if own is None else f"{mark}{fingerprint(composite_rubric(own))}"
