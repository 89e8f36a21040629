"""What an assistant may ask for: work in one folder, by judges that its user allowed, kept in one store."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from evenhand.assertions.assertion import list_outside_assertions
from evenhand.assertions.kinds import EXECUTED_KIND
from evenhand.errors import EvalError, Fault, FaultPath, InputError, suggest_known_word_in_error
from evenhand.evals.eval_definition import Eval
from evenhand.evals.eval_file import load_eval
from evenhand.evals.variants.variant import CommandVariant, EndpointVariant, FunctionVariant, ModelVariant
from evenhand.files.allowed_files import allow_files_below
from evenhand.files.methods import list_method_yaml_names, list_rubric_file_names, override_rubric_file_fields
from evenhand.files.parsing import read_text_file
from evenhand.files.rubrics import load_rubric
from evenhand.guards.personal_data import TextMask, build_personal_data_mask
from evenhand.judging.results import JudgedSample
from evenhand.model.rubric import Rubric
from evenhand.models.budget import Budget
from evenhand.models.connections import Connections
from evenhand.models.model_names import choose_default_model_names
from evenhand.store.database import NO_HISTORY
from evenhand.workflows.judge import judge, resolve_user_sample
from evenhand.workflows.rubric import CheckedRubric, check_rubric_file
from evenhand.workflows.sent_inputs import load_rubric_for_service
from evenhand.workflows.stores import open_user_store
from evenhand.workflows.subjects import (
    SubjectEvaluation,
    check_subject_name,
    load_subject_evaluations,
    refuse_several_outputs_of_subject,
    store_subject_evaluation,
)

Json = dict[str, Any]
LARGEST_WORK = 1_000_000  # Bytes of a file that is judged.
TRUSTING_EVALS = "the user allows it with evenhand mcp --trust-evals"
ADDRESSED_JUDGES = ("openai", "anthropic", "ollama")  # Kinds whose server the environment names, not the caller.


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfinedUserProject:
    """The folder that an assistant works in, and what its user allows there. Without a folder no file is read."""

    folder: Path | None
    store: Any = None  # A store, its folder or its address.
    judges: tuple[str, ...] = ()  # Asked where none is named; they may be named whatever their kind.
    trust_evals: bool = False  # Whether evals may start programs, import Python and call addresses.
    dollars: Fraction | None = None  # For all judging, and for each run.

    def find_project_file(self, name: str) -> Path:
        """A file in the folder; a name that leads out of it is refused, also by way of a link."""
        if self.folder is None:
            raise InputError(Fault("no file is read here", "send its content instead of its name", where=name[:200]))
        try:
            root = self.folder.resolve()
            path = (root / name).resolve()
            inside = path.is_relative_to(root)
        except ValueError:  # No file has such a name.
            path, inside = root, True
        except (OSError, RuntimeError):
            inside = False
        if not inside:
            raise InputError(Fault("it is outside the project folder", "name a file below it", where=name[:200]))
        if not os.path.isfile(path):  # noqa: PTH113  Unlike Path.is_file, it bears any name.
            raise InputError(
                Fault("there is no such file", f"paths start in {self.folder.name or '/'}/", where=name[:200])
            )
        return path

    def read_project_work(self, name: str) -> str:
        """The text of a file in the folder."""
        with self._confine_files():
            text = read_text_file(self.find_project_file(name), LARGEST_WORK, InputError)
        if not text.strip():
            raise InputError(Fault("there is nothing in it to judge", where=name))
        return text

    def load_project_rubric(self, rubric: str | Mapping[str, object]) -> Rubric:
        """A rubric that ships, one in a file of the folder, or one that is sent; the environment overrides it."""
        with self._confine_files():
            return override_rubric_file_fields(self._load_rubric(rubric), os.environ)

    def check_project_rubric(self, rubric: str | Mapping[str, object]) -> CheckedRubric:
        """What is wrong or doubtful in a rubric; an InputError where it is not valid."""
        if isinstance(rubric, str) and rubric not in list_rubric_file_names():
            with self._confine_files():
                return check_rubric_file(str(self.find_project_file(rubric)), self.judges)
        if isinstance(rubric, str):
            return check_rubric_file(rubric, self.judges)
        return CheckedRubric(method=load_rubric_for_service(rubric).method.name)

    def _load_rubric(self, rubric: str | Mapping[str, object]) -> Rubric:
        if not isinstance(rubric, str) or rubric in list_rubric_file_names():
            return load_rubric_for_service(rubric)
        if rubric in list_method_yaml_names():
            hint = f"a rubric that ships, or a file with method: {rubric} and criteria"
            raise InputError(Fault(f"{rubric!r} is a method without criteria of its own", hint, ("rubric",)))
        if not Path(rubric).suffix:
            hint = f"{suggest_known_word_in_error(rubric[:40], list_rubric_file_names())}; or a .yaml file"
            raise InputError(Fault(f"no rubric {rubric[:80]!r} ships", hint, ("rubric",)))
        return load_rubric(self.find_project_file(rubric))

    def choose_project_judges(self, names: Sequence[str], rubric: Rubric) -> list[str]:
        """The judges that are named, as far as they are allowed, or those that are asked by default."""
        for name in names:
            self._refuse_foreign_judge(name, ("judges",))
        return list(names or self.judges or choose_default_model_names(rubric.method.dialogue, os.environ))

    def find_foreign_judge_faults(self, names: Sequence[str], path: FaultPath = ("judges",)) -> list[Fault]:
        """What is said of judges that the user has not allowed."""
        hint = "the user allows it with evenhand mcp --judge, or aligns: evenhand align"
        foreign = filter(self._is_foreign_judge, names)
        return [Fault(f"an assistant cannot ask {name[:80]!r}", hint, path) for name in foreign]

    def _refuse_foreign_judge(self, name: str, path: tuple[str, ...]) -> None:
        """A judge that is code, a file, or a server that keys would be sent to, is named by the user alone."""
        kind = name.partition("/")[0] if "/" in name else name
        if name in self.judges or name == "embedded" or kind in ADDRESSED_JUDGES:
            return
        hint = "openai/NAME, anthropic/NAME, ollama/NAME or embedded; the user allows others with evenhand mcp --judge"
        raise InputError(Fault(f"an assistant cannot name the judge {name[:80]!r}", hint, path))

    def load_project_eval(self, name: str) -> Eval:
        """The eval in a file of the folder, within what the user allows; what it would execute is refused unread."""
        with self.confine_eval_files():
            eval = load_eval(self.find_project_file(name), os.environ)
        if not self.trust_evals:
            faults = [
                Fault(what, f"{TRUSTING_EVALS}, or runs it: evenhand run", where=name)
                for what in self._list_untrusted_parts(eval)
            ]
            if faults:
                raise EvalError(*faults)
        return eval if self.dollars is None else replace(eval, budget=self._limit_budget(eval.budget))

    def confine_eval_files(self) -> AbstractContextManager[None]:
        """Within it an eval that is not trusted reads files below the folder only, whatever names them."""
        return nullcontext() if self.trust_evals else self._confine_files(f", or {TRUSTING_EVALS}")

    def _confine_files(self, more: str = "") -> AbstractContextManager[None]:
        hint = f"copy it into the folder{more}"
        return nullcontext() if self.folder is None else allow_files_below(self.folder, hint)

    def _list_untrusted_parts(self, eval: Eval) -> list[str]:
        """What of an eval would run code or call an address."""
        found = []
        for name, variant in eval.variants.items():
            if isinstance(variant, CommandVariant | FunctionVariant | EndpointVariant):
                kind = {CommandVariant: "starts a program", FunctionVariant: "imports Python"}.get(type(variant))
                found.append(f"variant {name!r} {kind or 'calls an address'}")
            asked = [variant.model] if isinstance(variant, ModelVariant) else []
            found += [f"variant {name!r} asks {model!r}" for model in asked if self._is_foreign_judge(model)]
        checks = list_outside_assertions([*eval.assertions, *eval.checks.values()])
        found += [f"an assertion is {one.kind!r}, which runs code" for one in checks if one.kind == EXECUTED_KIND]
        return found + [f"the judge {judge!r} is not allowed" for judge in eval.judges if self._is_foreign_judge(judge)]

    def _is_foreign_judge(self, name: str) -> bool:
        try:
            self._refuse_foreign_judge(name, ())
        except InputError:
            return True
        return False

    def _limit_budget(self, own: Budget | None) -> Budget:
        assert self.dollars is not None
        most = Decimal(self.dollars.numerator) / Decimal(self.dollars.denominator)
        money = most if own is None or own.money is None else min(most, own.money)
        return Budget(money=money, tokens=None if own is None else own.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantJudgment:
    """What judges said of work, and what was stored of it."""

    judged: JudgedSample
    mask: TextMask
    evaluation: SubjectEvaluation | None


async def judge_project_work(
    project: ConfinedUserProject,
    rubric: Rubric,
    work: Mapping[str, object],
    *,
    judges: Sequence[str],
    connections: Connections,
    subject: str | None = None,
) -> AssistantJudgment:
    """Ask judges about work (the fields of a sample); with a subject its evaluation is stored and compared."""
    names = project.choose_project_judges(judges, rubric)
    sample = resolve_user_sample(work)
    if subject is not None:  # Said before any judge is asked.
        check_subject_name(subject)
        refuse_several_outputs_of_subject(list(sample.outputs))
    judged = await judge(rubric, sample, judges=names, connections=connections)
    mask, evaluation = build_personal_data_mask(sample), None
    if subject is not None:
        (output,) = sample.outputs.values()
        evaluation = store_subject_evaluation(
            project.store, subject, judged.scores, output=output, judgments=judged.judgments, mask=mask
        )
    return AssistantJudgment(judged=judged, mask=mask, evaluation=evaluation)


def find_stored_evaluation(project: ConfinedUserProject, id: str) -> SubjectEvaluation:
    """The stored evaluation with this id, or the only one that begins with it."""
    with open_user_store(project.store, empty=NO_HISTORY) as store:
        rows = [row for row in store.evaluations.list_evaluations() if id and row["id"].startswith(id)]
        if len(rows) != 1:
            what = f"{id[:80]!r} begins {'more than one evaluation' if rows else 'no evaluation'}"
            raise InputError(Fault(what, "an id that judge or score gave, or that evenhand history lists", ("id",)))
        return next(one for one in load_subject_evaluations(store, rows[0]["subject"]) if one.id == rows[0]["id"])
