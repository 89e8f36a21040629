"""One sample, one repeat: outputs, guards, assertions, judges, score; each finished result is kept at once."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.assertions import AnyAssertion, Assertion, Checked, Facts, Measured, check, outside, run_custom
from evenhand.errors import BudgetError, OutputError
from evenhand.guards import look
from evenhand.judging import Judged, Model, judge_sample
from evenhand.judging.models._secrets import KEY_VARIABLES, Secrets
from evenhand.model import Finding, Made, Rubric, Sample
from evenhand.runs import _asked_of_models as questions
from evenhand.runs._book import Book
from evenhand.runs._memory import Memory, Remembered
from evenhand.runs._outputs import Outputs
from evenhand.runs._result import Result, result_row
from evenhand.runs._sample import RunSample
from evenhand.runs._sample_assertions import assertions_of
from evenhand.runs._setup import Setup
from evenhand.runs._work import Work
from evenhand.runs.store import Row
from evenhand.runs.variants import Endpoint, Variant

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

Kept = Literal["scored", "unscored", "abandoned"]  # Abandoned for want of money: there is no result.


@dataclass(frozen=True, slots=True)
class Looked:
    """An output with what rules found in it, before any judge is asked for a score."""

    made: Made
    findings: tuple[Finding, ...]
    checked: tuple[Checked, ...]


def _unheard(_row: Row) -> None:
    """Nobody wants to know."""


class Worker:
    """Carries out the pieces of a run; `tell` is told every result as it is kept."""

    def __init__(
        self,
        setup: Setup,
        book: Book,
        memory: Memory,
        outputs: Outputs,
        environ: Mapping[str, str],
        *,
        tell: Callable[[Row], None] = _unheard,
    ) -> None:
        self._setup = setup
        self._eval = setup.eval
        self._book = book
        self._memory = memory
        self._outputs = outputs
        self._tell = tell
        self._hide = _hiding(setup.eval.variants.values(), environ)

    async def work(self, sample: RunSample, position: int, repeat: int) -> list[Kept]:
        """Results for all variants, and what became of each.

        Where the budget has run out on the way, none is kept that lacks something: it is asked another time.
        """
        rubric = self._eval.rubric_for(sample.tags)
        works = [Work(position, repeat, name) for name in self._eval.variants]
        if rubric is not None and rubric.method.dialogue == "listwise" and len(works) > 1:
            return await self._side_by_side(rubric, sample, works)
        if len(works) == 1:  # One alone needs no task of its own.
            return [await self._alone(rubric, sample, works[0])]
        return await asyncio.gather(*(self._alone(rubric, sample, work) for work in works))

    async def _alone(self, rubric: Rubric | None, sample: RunSample, work: Work) -> Kept:
        looked = await self._looked(sample, work)
        judged = None
        if rubric is not None and isinstance(looked, Looked):
            judged = await self._judged(rubric, sample, {work.variant: looked}, work)
        return await self._keep(rubric, sample, work, looked, judged)

    async def _side_by_side(self, rubric: Rubric, sample: RunSample, works: Sequence[Work]) -> list[Kept]:
        """All variants in one question, as reviewers of a panel see them."""
        looked = await asyncio.gather(*(self._looked(sample, work) for work in works))
        by_name = {work.variant: one for work, one in zip(works, looked, strict=True) if isinstance(one, Looked)}
        shared = Work(works[0].position, works[0].repeat)
        judged = await self._judged(rubric, sample, by_name, shared)
        for work in works:
            work.keys += shared.keys
            work.unanswered += shared.unanswered
        each = zip(works, looked, strict=True)
        return await asyncio.gather(*(self._keep(rubric, sample, work, one, judged) for work, one in each))

    async def _looked(self, sample: RunSample, work: Work) -> Looked | str:
        """The output and what rules find in it, or why there is none."""
        live = self._eval.variants[work.variant].live
        try:
            made = await self._outputs.of(sample, work)
        except (OutputError, BudgetError) as error:
            work.unanswered += live  # A recorded output that is not there will not be there another time.
            self._memory.spent = error if isinstance(error, BudgetError) else self._memory.spent
            return str(error)
        facts = Facts(made=made, input=sample.input, reference=sample.reference, context=sample.context)
        assertions = (*self._eval.assertions, *assertions_of(sample, self._eval.folder))
        measured = await self._measured(assertions, facts, work)
        checked = tuple(check(one, facts, measured) for one in assertions)
        return Looked(made, look(made.text, self._eval.guards), checked)

    async def _measured(
        self, assertions: Sequence[AnyAssertion], facts: Facts, work: Work
    ) -> dict[Assertion, Measured]:
        leaves = outside(assertions)
        if not leaves:
            return {}
        values = await asyncio.gather(*(self._measure(leaf, facts, work) for leaf in leaves))
        return dict(zip(leaves, values, strict=True))

    async def _measure(self, leaf: Assertion, facts: Facts, work: Work) -> Measured:
        if leaf.kind == "custom":
            return await asyncio.to_thread(run_custom, leaf, facts, folder=self._eval.folder, hide=self._hide)
        if leaf.kind not in questions.QUESTIONS:
            return questions.nearness(leaf, facts)
        shown = questions.material(leaf, facts)
        if isinstance(shown, str):
            return Measured(why=shown)
        judged = await judge_sample(questions.question(leaf.kind), shown, self._judges(work), self._eval.how)
        return questions.answer(judged)

    async def _judged(
        self, rubric: Rubric, sample: RunSample, looked: Mapping[str, Looked], work: Work
    ) -> Judged | None:
        """What the judges say of those outputs in which there is something to judge."""
        shown = {name: one for name, one in looked.items() if one.made.text.strip()}
        if not shown:
            return None
        authors = {name: one.made.author for name, one in shown.items() if one.made.author}
        asked = Sample(
            id=sample.id,
            outputs={name: one.made.text for name, one in shown.items()},
            input=sample.input,
            reference=sample.reference,
            context=sample.context,
            authors=authors,
            findings={name: one.findings for name, one in shown.items() if one.findings},
        )
        return await judge_sample(rubric, asked, self._judges(work), self._eval.how)

    def _judges(self, work: Work) -> list[Model]:
        return [Remembered(model, self._memory, work) for model in self._setup.judges]

    async def _keep(
        self, rubric: Rubric | None, sample: RunSample, work: Work, looked: Looked | str, judged: Judged | None
    ) -> Kept:
        if self._memory.spent is not None and work.unanswered:
            return "abandoned"
        result = Result(
            work=work,
            key="" if work.unanswered else key_of(self._setup, sample, work),
            cluster=sample.cluster,
            rubric=rubric,
            made=looked.made if isinstance(looked, Looked) else None,
            why=looked if isinstance(looked, str) else "",
            findings=looked.findings if isinstance(looked, Looked) else (),
            checked=looked.checked if isinstance(looked, Looked) else (),
            judged=judged,
        )
        row = result_row(result, self._eval.name, self._book)
        await self._book.keep("results", row)
        self._tell(row)
        return "scored" if row["state"] == "scored" else "unscored"


def key_of(setup: Setup, sample: RunSample, work: Work) -> str:
    """A name for all that decides a result: a finished one of the same name is not worked out again."""
    text = f"{setup.digests[work.variant]} {sample.digest()} {work.repeat}"
    return hashlib.sha256(text.encode()).hexdigest()


def _hiding(variants: Iterable[Variant], environ: Mapping[str, str]) -> Callable[[str], str]:
    """What takes the keys of judges, and the variables that variants send, out of the words of a check."""
    templates = [text for one in variants if isinstance(one, Endpoint) for text in (one.url, *one.headers.values())]
    sent = [name for text in templates for name in _VARIABLE.findall(text)]
    return Secrets(environ.get(name, "") for name in (*KEY_VARIABLES, *sent)).removed
