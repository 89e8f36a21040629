"""The fixture that scores an output inside a test, the hooks of pytest, and the session that gathers what was
scored.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

import pytest

from evenhand.errors import EvenhandError, Fault, InputError, suggest_known_word_in_error

if TYPE_CHECKING:
    import pytest

    from evenhand.model.sample import VariantOutput
    from evenhand.model.scale import Number
    from evenhand.workflows.judge import JudgesLike, RubricLike

_SCORED_STASH = pytest.StashKey[list[str]]()  # By test: what it scored since its last report.


@pytest.fixture(name="evenhand")
def evenhand_fixture(request: pytest.FixtureRequest) -> Evenhand:
    """Score an output: evenhand(output, rubric=…, assertions=[…], min_score=…); fails the test where it falls short."""
    item = request.node
    scored: list[str] = item.stash.setdefault(_SCORED_STASH, [])
    wanted = find_session_report_path(request.config) is not None
    demand = requirements_from_pytest_marks(item.iter_markers("evenhand"))
    return Evenhand(demand, item.nodeid, item.path.parent, scored, wanted)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the report of the session goes."""
    group = parser.getgroup("evenhand", "scoring the work of language models")
    what = "one report on all outputs that the tests score; .html, .md, .xml (JUnit), .json or .csv"
    group.addoption("--evenhand-report", metavar="FILE", help=f"Write {what}.")
    parser.addini("evenhand_report", f"A file for {what}; from the root folder.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, and gather where the session is: with xdist that is not where tests run."""
    names = ", ".join(f"{name}=…" for name in REQUIREMENT_NAMES)
    config.addinivalue_line("markers", f"evenhand({names}): what the fixture evenhand goes by in these tests.")
    path = find_session_report_path(config)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(ScoringSession(path, config.invocation_params.dir), "evenhand-session")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send what was scored along with the report of the test, which xdist carries to the session."""
    report = yield
    scored = item.stash.get(_SCORED_STASH, None)
    if scored:
        setattr(report, CARRIED_ATTRIBUTE, scored.copy())
        scored.clear()
    return report


@dataclass(eq=False, repr=False)
class Evenhand:
    """Scores the outputs of one test."""

    _demand: PytestRequirements
    _test: str
    _folder: Path
    _scored: list[str]  # What is to be told to the session.
    _with_rows: bool

    def __call__(  # noqa: PLR0913 - what a sample has, and what is asked of it.
        self,
        output: str | VariantOutput,
        *,
        rubric: RubricLike | None = None,
        input: str | None = None,
        reference: str | None = None,
        context: str | None = None,
        assertions: Sequence[Mapping[str, object]] | None = None,
        judges: JudgesLike | None = None,
        min_score: Number | None = None,
        min_grade: str | None = None,
        variant: str | None = None,
    ) -> ScoredOutput:
        """Score an output by a rubric, by assertions or by both; what is not said here is as the marks say.

        The test fails where there is no score, a gate or an assertion fails, the verdict is fail, or the score or the
        grade is below what is asked for.
        """
        __tracebackhide__ = True
        said = PytestRequirements(
            rubric=rubric,
            input=input,
            reference=reference,
            context=context,
            assertions=assertions,
            judges=judges,
            min_score=min_score,
            min_grade=min_grade,
            variant=variant,
        )
        caller = sys._getframe(1)  # Without a traceback, the message has to say which of several calls it was.
        place = f"{Path(caller.f_code.co_filename).name}:{caller.f_lineno}"
        # All that scoring needs.
        from evenhand.pytest_plugin.scoring import format_pytest_failure, score_pytest_output, serialize_pytest_entry

        try:
            scored, rows = score_pytest_output(output, said.with_defaults(self._demand), self._test, self._folder)
        except EvenhandError as error:
            raise error.with_traceback(None) from None  # The line of the test is what helps.
        self._scored.append(serialize_pytest_entry(scored, rows if self._with_rows else None))
        message = format_pytest_failure(scored, place)
        if message:
            pytest.fail(message, pytrace=False)
        return scored


ScoredEntry = dict[str, Any]
CARRIED_ATTRIBUTE = "evenhand_scored"  # The attribute of a test report that the texts travel in.
SESSION_REPORT_ENDINGS = (".html", ".md", ".xml", ".json", ".csv")
WORST_SHOWN = 3


def find_session_report_path(config: pytest.Config) -> Path | None:
    """The file that the report goes to, if one is asked for: the option counts from where pytest was started."""
    option: str | None = config.getoption("--evenhand-report")
    ini: str = config.getini("evenhand_report")
    if not option and not ini:
        return None
    path = config.invocation_params.dir / option if option else config.rootpath / ini
    if path.suffix.lower() not in SESSION_REPORT_ENDINGS:
        raise pytest.UsageError(
            f"the evenhand report {str(option or ini)!r} must end in one of {', '.join(SESSION_REPORT_ENDINGS)}"
        )
    return path


class ScoringSession:
    """Gathers what was scored, and tells of it at the end."""

    def __init__(self, path: Path | None, here: Path) -> None:
        self._path = path
        self._shown = path.relative_to(here) if path and path.is_relative_to(here) else path
        self._began = datetime.now(UTC)
        self._entries: list[ScoredEntry] = []
        self._said = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what came with a report: nobody else who keeps reports should keep outputs unmasked."""
        self._entries += map(json.loads, report.__dict__.pop(CARRIED_ATTRIBUTE, ()))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report. One that was asked for and cannot be written is a failure of the session."""
        if self._path is None:
            return
        if not self._entries:
            self._said = f"no output was scored: {self._shown} is not written"
            return
        from evenhand.workflows.score_in_test import write_user_test_report  # a database and templates.

        try:
            write_user_test_report(self._entries, self._path, self._began)
            self._said = f"report: {self._shown}"
        except (EvenhandError, OSError) as error:
            self._said = f"the report cannot be written: {error}"
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """What was scored, the lowest, and where the report is."""
        if self._entries or self._said:
            terminalreporter.write_sep("=", "evenhand")
            for line in (*(summarize_session(self._entries) if self._entries else ()), *filter(None, [self._said])):
                terminalreporter.write_line(line)


def summarize_session(entries: list[ScoredEntry]) -> list[str]:
    """How many outputs were scored, what they come to, and the lowest of them."""
    from evenhand.guards.personal_data import mask_personal_data  # loaded by the first output that is scored.
    from evenhand.report.untrusted_text import fold_to_report_line
    from evenhand.wording import format_figure, pluralize_count

    known = [one["composite"] for one in entries if one["composite"] is not None]
    tests = len({one["test"] for one in entries})
    passed = _count_with_unscored([one for one in entries if not one["problems"]], "passed")
    short = _count_with_unscored([one for one in entries if one["problems"]], "fell short")
    lines = [f"{pluralize_count(len(entries), 'output')} in {pluralize_count(tests, 'test')}: {passed}, {short}"]
    if known:
        lines.append(
            f"mean composite {format_figure(fmean(known))} of 1–5, over {pluralize_count(len(known), 'output')}"
        )
    # What has no score before all that has one.
    ordered = sorted(entries, key=lambda one: (one["composite"] is not None, one["composite"] or 0.0, one["test"]))
    for one in ordered[:WORST_SHOWN]:
        score = format_figure(one["composite"])
        why = f": {one['problems'][0]}" if one["problems"] else ""
        lines.append(f"  {score:>4}  {fold_to_report_line(mask_personal_data(one['test'] + why), 200)}")
    return lines


def _count_with_unscored(entries: list[ScoredEntry], what: str) -> str:
    """How many there are, and how many of them have no score."""
    without = sum(one["composite"] is None for one in entries)
    return f"{len(entries)} {what}" + (f" ({without} of them without a score)" if without else "")


ScoredData = Mapping[str, Any]
CARD_FIELDS = ("verdict", "grade", "criteria")  # What a scored output takes from its scorecard.


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredOutput:
    """One output with its scores. `data` is all that is known, in the form of a result in `evenhand report --json`."""

    test: str
    variant: str
    missed: tuple[str, ...]  # Thresholds of the test that it is below.
    problems: tuple[str, ...]  # Why it falls short; empty where it does not.
    scales: Mapping[str, tuple[float, float]]  # The ends of the scale of each criterion; of the score under "".
    data: ScoredData
    state: Literal["scored", "incomplete"] = field(init=False, repr=False)  # One that lacks an answer has no score.
    score: float | None = field(init=False, repr=False)  # Under the rubric, on its own scale.
    composite: float | None = field(init=False, repr=False)  # The mean of its layers, from 1 to 5.
    layers: Mapping[str, float | None] = field(init=False, repr=False)  # Fact, behavior, judge; each from 1 to 5.
    verdict: str | None = field(init=False, repr=False)  # Pass, borderline or fail, where the rubric has verdicts.
    grade: str | None = field(init=False, repr=False)  # Where the rubric has grades.
    criteria: Mapping[str, Any] = field(init=False, repr=False)  # The answer to each; None where there is none.
    judgments: Sequence[ScoredData] = field(init=False, repr=False)  # Of each judge, with reason and evidence.
    assertions: Sequence[ScoredData] = field(init=False, repr=False)  # What each looked for, what it found and where.
    findings: Sequence[ScoredData] = field(init=False, repr=False)  # What the guards found in the output.

    def __post_init__(self) -> None:
        card = self.data["scorecard"] or {"verdict": None, "grade": None, "criteria": {}}
        of_result = ("state", "score", "composite", "layers", "judgments", "assertions", "findings")
        parts = {name: self.data[name] for name in of_result} | {name: card[name] for name in CARD_FIELDS}
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    def explain(self) -> list[str]:
        """Each step that moved the score, in a sentence; then those of the composite, where there are assertions."""
        card = self.data["scorecard"]
        steps = [*(card["steps"] if card else ()), *(self.data["composite_steps"] if self.assertions else ())]
        return [step["why"] for step in steps]


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestRequirements:
    """What to score an output by, and what it must reach. What is None was not said."""

    rubric: RubricLike | None = None
    input: str | None = None
    reference: str | None = None
    context: str | None = None
    assertions: Sequence[Mapping[str, object]] | None = None
    judges: JudgesLike | None = None
    min_score: Number | None = None
    min_grade: str | None = None
    variant: str | None = None

    def with_defaults(self, further: PytestRequirements) -> PytestRequirements:
        """This demand, and what it leaves open as another has it."""
        said = {name: getattr(self, name) for name in REQUIREMENT_NAMES if getattr(self, name) is not None}
        return replace(further, **said)


REQUIREMENT_NAMES = tuple(one.name for one in fields(PytestRequirements))


def requirements_from_pytest_marks(marks: Iterable[pytest.Mark]) -> PytestRequirements:
    """What the marks of a test say together; they come nearest first."""
    demand = PytestRequirements()
    for mark in marks:
        if mark.args:
            raise InputError(Fault("it takes keywords only", "as in min_score=0.8", where="pytest.mark.evenhand"))
        unknown = [name for name in mark.kwargs if name not in REQUIREMENT_NAMES]
        if unknown:
            hint = suggest_known_word_in_error(unknown[0], REQUIREMENT_NAMES)
            raise InputError(Fault(f"unknown argument {unknown[0]!r}", hint, where="pytest.mark.evenhand"))
        demand = demand.with_defaults(PytestRequirements(**mark.kwargs))
    return demand


def resolve_beside_test(given: object, folder: Path) -> object:
    """A file that is named from the folder of the test, where it is there; anything else as it was given."""
    if isinstance(given, (str, Path)) and Path(given).suffix and (folder / given).is_file():
        return folder / given
    return given
