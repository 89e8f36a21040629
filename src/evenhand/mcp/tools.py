"""The tools: each reads its arguments, calls a workflow, and answers briefly."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from evenhand.errors import Fault, InputError, RubricError
from evenhand.guards.personal_data import mask_data
from evenhand.judging.results import judge_panel_reviews_to_json
from evenhand.mcp.tool_results import (
    answer_tool,
    count_faults_in_tool_result,
    describe_rubric_in_tool_result,
    explain_scores_in_tool_result,
    list_next_outputs_in_tool_result,
    list_rubric_changes_in_tool_result,
    shorten_scores_in_tool_result,
    summarize_scores_in_tool_result,
)
from evenhand.model.rubric import Rubric
from evenhand.models.budget import Spending
from evenhand.models.connections import Connections
from evenhand.runs.execute import RunProgress
from evenhand.scoring.scores_json import scores_to_json
from evenhand.wording import format_dollar_amount
from evenhand.workflows.align import AlignOptions, encode_alignment
from evenhand.workflows.assistant import ConfinedUserProject, find_stored_evaluation, judge_project_work
from evenhand.workflows.compare import CompareTerms
from evenhand.workflows.compare import compare_runs as compare_stored_runs
from evenhand.workflows.inputs import parse_user_input_number
from evenhand.workflows.labels import DEFAULT_NEXT_OUTPUTS, choose_labels, next_labels_to_json
from evenhand.workflows.models import ConnectionOptions
from evenhand.workflows.plan import plan_run
from evenhand.workflows.rubric import list_rubrics as list_shipped_rubrics
from evenhand.workflows.run import RunOptions, run
from evenhand.workflows.score import score as score_answers
from evenhand.workflows.sent_inputs import align_run_for_service
from evenhand.workflows.subjects import SubjectEvaluation, store_subject_evaluation
from evenhand.workflows.trust import encode_run_trust, measure_trust

Json = dict[str, Any]
TOOL_NAMES = (
    "judge",
    "score",
    "explain_scorecard",
    "list_rubrics",
    "check_rubric",
    "compare_runs",
    "trust_run",
    "labels_next",
    "align_run",
    "run_eval",
)
CARDS_KEPT = 100
PROGRESS_SECONDS = 0.5
FOLDER_TOOLS = ("align_run", "run_eval")
NEXT_OUTPUT_FIELDS = ("sample", "variant", "chance", "output")

RubricName = Annotated[
    str | Json, Field(description="A rubric that ships (list_rubrics), a .yaml file in the project, or a mapping.")
]
SubjectName = Annotated[
    str,
    Field(
        description="What is evaluated again and again (a skill, a prompt); stores the evaluation. Empty: not stored."
    ),
]
JudgeNames = Annotated[list[str], Field(description="As in openai/NAME; empty: the default judge.")]


@dataclass(slots=True)
class AssistantTools:
    """The tools over one project; what was not stored is remembered as long as the server runs."""

    project: ConfinedUserProject
    connections: Connections
    cards: OrderedDict[str, tuple[Json, list[Json]]] = field(default_factory=OrderedDict)
    numbers: count[int] = field(default_factory=lambda: count(1))

    def list_functions(self) -> dict[str, Callable[..., Any]]:
        """The tools by name; where no folder is, there is no eval to run, and no rubric of one to align."""
        named = (
            self.judge_work,
            self.score_work,
            self.explain_scorecard,
            self.list_rubrics,
            self.check_rubric,
            self.compare_runs,
            self.trust_run,
            self.labels_next,
            self.align_run,
            self.run_eval,
        )
        found: dict[str, Callable[..., Any]] = dict(zip(TOOL_NAMES, named, strict=True))
        if self.project.folder is not None:
            return found
        return {name: one for name, one in found.items() if name not in FOLDER_TOOLS}

    async def judge_work(  # noqa: PLR0913, PLR0917 - each is an argument that an assistant fills in
        self,
        rubric: RubricName,
        output: Annotated[str, Field(description="The work to judge, as text.")] = "",
        file: Annotated[str, Field(description="Instead of output: a file in the project that holds the work.")] = "",
        outputs: Annotated[dict[str, str], Field(description="Instead: several, by name, to rank.")] = {},  # noqa: B006
        input: Annotated[str, Field(description="What was asked for.")] = "",
        reference: Annotated[str, Field(description="What a right answer says.")] = "",
        context: Annotated[str, Field(description="Sources that the work must agree with.")] = "",
        judges: JudgeNames = [],  # noqa: B006
        subject: SubjectName = "",
    ) -> CallToolResult:
        """Have judges score a piece of work against a rubric: score, grade, reasons, what is missing."""
        known = self.project.load_project_rubric(rubric)
        given = {"input": input, "reference": reference, "context": context}
        work = {**given, "outputs": self._choose_outputs(output, file, outputs)}
        found = await judge_project_work(
            self.project, known, work, judges=judges, connections=self.connections, subject=subject or None
        )
        data = mask_data(judge_panel_reviews_to_json(found.judged, self.connections.spent), found.mask)
        assert isinstance(data, dict)
        if found.judged.heuristic:
            data["notes"] = [*data["notes"], "the judge embedded goes by words, not by understanding"]
        return self._answer_scores(data, data["judgments"], found.evaluation)

    def score_work(
        self,
        rubric: RubricName,
        answers: Annotated[
            Json | list[Json],
            Field(description='As in {"id": "fix", "scores": {"correctness": 8}, "red_flags": {"id": "where"}}.'),
        ],
        subject: SubjectName = "",
    ) -> CallToolResult:
        """Turn scores that you gave per criterion into score, grade, deductions and comparison with history."""
        scores = score_answers(self.project.load_project_rubric(rubric), answers)
        evaluation = store_subject_evaluation(self.project.store, subject, scores) if subject else None
        return self._answer_scores(dict(scores_to_json(scores)), [], evaluation)

    def explain_scorecard(self, id: Annotated[str, Field(description="From judge or score.")]) -> CallToolResult:
        """Every step of a score in a sentence, and why each criterion got its own."""
        if id in self.cards:
            scores, judgments = self.cards[id]
            return answer_tool(
                explain_scores_in_tool_result(scores, judgments), {"scores": scores, "judgments": judgments}
            )
        if id.startswith("card-"):
            raise InputError(
                Fault(f"{id[:40]!r} is not remembered", "judge or score again, with a subject to store it", ("id",))
            )
        found = find_stored_evaluation(self.project, id)
        lines = [f"evaluation {found.id} of {found.subject}, {found.at}", *_tell_history_to_assistant(found)]
        return answer_tool([*lines, *explain_scores_in_tool_result({"scorecards": [found.scorecard]})], found.to_json())

    def list_rubrics(
        self, name: Annotated[str, Field(description="One of them, or a .yaml file: its questions and levels.")] = ""
    ) -> CallToolResult:
        """The rubrics that ship; with a name, what that one asks."""
        if name:
            return _show_rubric_to_assistant(self.project.load_project_rubric(name))
        library = list_shipped_rubrics()
        found = [{"name": one.name, "method": one.method.name, "criteria": [*one.leaves]} for one in library.rubrics]
        lines = [f"{one['name']} ({one['method']}): {', '.join(one['criteria'])}" for one in found]
        methods = [{"name": one.name, "about": one.about} for one in library.methods]
        lines += [f"method {one['name']}, for criteria of your own: {one['about']}" for one in methods]
        return answer_tool(lines, {"rubrics": found, "methods": methods}, "list_rubrics(name=…) shows the questions")

    def check_rubric(self, rubric: RubricName) -> CallToolResult:
        """Whether a rubric is valid: its faults with their lines, and what a careful colleague would point out."""
        try:
            checked = self.project.check_project_rubric(rubric)
        except RubricError as error:
            faults = [str(fault) for fault in error.faults]
            lines = [
                f"not valid: {count_faults_in_tool_result(len(faults))}",
                *faults,
                "next: correct what is named, check again",
            ]
            return answer_tool(lines, {"valid": False, "faults": faults, "warnings": []})
        warnings = [str(fault) for fault in checked.warnings]
        lines = [f"valid, for the method {checked.method}" if checked.method else "a valid method"]
        lines += [f"warning: {one}" for one in warnings] + ([f"note: {checked.note}"] if checked.note else [])
        return answer_tool(lines, {"valid": True, "faults": [], "warnings": warnings, "note": checked.note})

    def compare_runs(
        self,
        control: Annotated[str, Field(description="A run: an id, latest, or baseline:NAME; :VARIANT picks one.")],
        treatment: Annotated[str, Field(description="The other run; empty: the variants of the first.")] = "",
        not_worse_by: Annotated[float | None, Field(description="Points that the treatment may lose.")] = None,
    ) -> CallToolResult:
        """Decide between two stored runs, or the variants of one: which is better, and how sure that is."""
        named = [control, *([treatment] if treatment else [])]
        found = compare_stored_runs(self.project.store, *named, terms=CompareTerms(not_worse_by=not_worse_by))
        data = found.to_json()
        return answer_tool(
            str(found).splitlines(), {"exit_code": found.exit_code, **data}, f"evenhand compare {' '.join(named)}"
        )

    def trust_run(
        self,
        run: Annotated[str, Field(description="A run with labels by people: an id, or latest.")],
        labels: Annotated[str, Field(description="A .jsonl file in the project; empty: those kept with the run.")] = "",
        min_score: Annotated[str, Field(description="A gate on the score; empty: the gates of the run.")] = "",
        at_most: Annotated[float, Field(description="The share of wrong decisions to accept.")] = 0.2,
    ) -> CallToolResult:
        """Whether the judges of a run may gate a release: how often they decide otherwise than people."""
        given = self.project.read_project_work(labels) if labels else None
        least = parse_user_input_number(min_score, "min_score") if min_score else None
        data = encode_run_trust(measure_trust(self.project.store, run, given, least=least, most=at_most))
        lines = [data["says"], *data["reasons"], *(one["says"] for one in data["directions"])]
        return answer_tool([*lines, f"next: {data['next_step']}"], data, f"evenhand trust {run}")

    def labels_next(
        self,
        run: Annotated[str, Field(description="A run that judges answered: an id, or latest.")],
        n: Annotated[int, Field(ge=1, le=1000, description="About how many outputs to label.")] = DEFAULT_NEXT_OUTPUTS,
        labels: Annotated[str, Field(description="A .jsonl file in the project; empty: those kept with the run.")] = "",
    ) -> CallToolResult:
        """Which outputs people should label next. People label, not you: a label of yours says nothing about them."""
        given = self.project.read_project_work(labels) if labels else None
        data = next_labels_to_json(choose_labels(self.project.store, run, n, labels=given))
        # The texts are for people: the file that the command writes has them.
        outputs = [{name: one[name] for name in NEXT_OUTPUT_FIELDS} for one in data["outputs"]]
        more = f"evenhand labels next {run} -n {n}{' --labels ' + labels if labels else ''} -o FILE, to fill in"
        return answer_tool(list_next_outputs_in_tool_result(data), {**data, "outputs": outputs}, more)

    async def align_run(
        self,
        run: Annotated[str, Field(description="A finished run with labels by people: an id, or latest.")],
        labels: Annotated[str, Field(description="A .jsonl file in the project; empty: those kept with the run.")] = "",
        rubric: Annotated[str, Field(description="The file that the run asked by; empty: as its eval names it.")] = "",
        proposer: Annotated[str, Field(description="A model that proposes edits; empty: examples and a map.")] = "",
        judges: Annotated[list[str], Field(description="Asked instead of the run's; an imported run needs them.")] = [],  # noqa: B006
    ) -> CallToolResult:
        """Try edits of the rubric of a run, and keep one if its judges then answer more like people. May cost money."""
        given = self.project.read_project_work(labels) if labels else None
        named = str(self.project.find_project_file(rubric)) if rubric else None
        connect = ConnectionOptions(dollars=self.project.dollars)
        options = AlignOptions(rubric=named, proposer=proposer or None, judges=tuple(judges), connect=connect)
        with self.project.confine_eval_files():
            report = await align_run_for_service(
                self.project.store,
                run,
                given,
                options=options,
                find_judge_faults=self.project.find_foreign_judge_faults,
            )
        data = encode_alignment(report)
        return answer_tool(
            list_rubric_changes_in_tool_result(data), data, f"evenhand align {run} --labels FILE -o better.yaml"
        )

    async def run_eval(
        self,
        file: Annotated[str, Field(description="The eval file in the project, as in eval.yaml.")],
        ctx: Context[Any, Any],
        plan: Annotated[bool, Field(description="Only say what would be asked and what it would cost.")] = False,
        limit: Annotated[int | None, Field(ge=1, description="Only so many samples.")] = None,
        only: Annotated[list[str], Field(description="Only samples with these ids.")] = [],  # noqa: B006
        resume: Annotated[bool, Field(description="Go on with the last run of this eval.")] = False,
    ) -> CallToolResult:
        """Run an eval file: outputs, assertions, judges, scores, a verdict. It is stored, and may cost money."""
        eval = await asyncio.to_thread(self.project.load_project_eval, file)
        options = RunOptions(limit=limit, only=tuple(only), resume=resume, place=self.project.store)
        if plan:
            with self.project.confine_eval_files():
                planned = await plan_run(eval, options=options)
            return answer_tool(_tell_plan_to_assistant(planned), planned, f"evenhand run {file} --plan")
        with self.project.confine_eval_files():
            done = await run(eval, options=options, watch=_report_progress_to_assistant(ctx))
        data = {"run": done.id, "state": done.state, "exit_code": done.exit_code, "decision": done.head["decision"]}
        more = f"evenhand report {done.id} --html -o report.html; compare_runs(control={done.id!r})"
        return answer_tool(str(done).splitlines(), {**data, "why_stopped": done.why_stopped}, more)

    def _choose_outputs(self, output: str, file: str, outputs: dict[str, str]) -> dict[str, str]:
        if sum(map(bool, (output, file, outputs))) != 1:
            raise InputError(Fault("there must be one of output, file and outputs", "output: the text of the work"))
        return outputs or {file or "output": self.project.read_project_work(file) if file else output}

    def _answer_scores(
        self, scores: Json, judgments: list[Json], evaluation: SubjectEvaluation | None
    ) -> CallToolResult:
        id = evaluation.id if evaluation else f"card-{next(self.numbers)}"
        self.cards[id] = scores, judgments
        if len(self.cards) > CARDS_KEPT:
            self.cards.popitem(last=False)
        lines = summarize_scores_in_tool_result(scores, judgments)
        if any(card["score"] is None for card in scores["scorecards"]):
            lines.append("incomplete: answer what is missing or ask another judge; never fill in a middle value")
        if evaluation:
            lines += [
                *_tell_history_to_assistant(evaluation),
                f"stored as evaluation {id}; evenhand history {evaluation.subject}",
            ]
        data = {
            "id": id,
            **shorten_scores_in_tool_result(scores),
            **(evaluation.history_to_json() if evaluation else {}),
        }
        return answer_tool(lines, data, f"explain_scorecard(id={id!r})")


def _tell_history_to_assistant(evaluation: SubjectEvaluation) -> list[str]:
    strayed = [f"for review: {one}" for one in evaluation.consistency.strayed]
    lines = [f"history of {evaluation.subject}: {line}" for line in strayed or [str(evaluation.consistency)]]
    if evaluation.changed:
        lines.append("the fingerprint changed: do not compare with the scores before")
    return lines + ([f"the same as {evaluation.same_as}: both count once"] if evaluation.same_as else [])


def _show_rubric_to_assistant(rubric: Rubric) -> CallToolResult:
    criteria = [
        {"id": one.id, "asks": one.asks, "scale": str(one.scale), "weight": float(one.weight)}
        for one in rubric.leaves.values()
    ]
    statements = {
        name: [{"id": one.id, "asks": one.asks} for one in some]
        for name, some in (("red_flags", rubric.red_flags), ("bonuses", rubric.bonuses))
    }
    data = {"name": rubric.name, "method": rubric.method.name, "criteria": criteria, **statements}
    return answer_tool(describe_rubric_in_tool_result(rubric), data)


def _tell_plan_to_assistant(planned: Json) -> list[str]:
    lines = [f"{planned['samples']:,} samples"]
    for one in planned["judges"]:
        cost = "unknown" if one["cost"] is None else format_dollar_amount(one["cost"])
        lines.append(f"{one['name']}: {one['calls']:,} calls, cost about {cost}")
    return [*lines, "nothing was asked"]


def _report_progress_to_assistant(context: Context[Any, Any]) -> Any:
    """A watcher that tells whoever asked how far a run has come."""

    @asynccontextmanager
    async def watch(course: RunProgress, _spent: Callable[[], Spending]) -> AsyncIterator[None]:
        async def tell() -> None:
            while True:
                await context.report_progress(course.done + course.skipped, course.total, course.note or None)
                await asyncio.sleep(PROGRESS_SECONDS)

        telling = asyncio.create_task(tell())
        try:
            yield
            await context.report_progress(course.done + course.skipped, course.total)
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    return watch
