"""The pytest plugin: a fixture that scores an output inside a test, and one report for the session.

What scoring needs is loaded when the first output is scored; where nothing is, the plugin costs nothing.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from evenhand.pytest_plugin._demand import ARGUMENTS, demand_of
from evenhand.pytest_plugin._fixture import Evenhand
from evenhand.pytest_plugin._session import CARRIED, Session, report_path
from evenhand.pytest_plugin._verdict import ScoredOutput

__all__ = ["Evenhand", "ScoredOutput"]

_SCORED = pytest.StashKey[list[str]]()  # By test: what it scored since its last report.


@pytest.fixture(name="evenhand")
def evenhand_fixture(request: pytest.FixtureRequest) -> Evenhand:
    """Score an output: evenhand(output, rubric=…, assertions=[…], min_score=…); fails the test where it falls short."""
    item = request.node
    scored: list[str] = item.stash.setdefault(_SCORED, [])
    wanted = report_path(request.config) is not None
    return Evenhand(demand_of(item.iter_markers("evenhand")), item.nodeid, item.path.parent, scored, with_rows=wanted)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the report of the session goes."""
    group = parser.getgroup("evenhand", "scoring the work of language models")
    what = "one report on all outputs that the tests score; .html, .md, .xml (JUnit), .json or .csv"
    group.addoption("--evenhand-report", metavar="FILE", help=f"Write {what}.")
    parser.addini("evenhand_report", f"A file for {what}; from the root folder.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, and gather where the session is: with xdist that is not where tests run."""
    names = ", ".join(f"{name}=…" for name in ARGUMENTS)
    config.addinivalue_line("markers", f"evenhand({names}): what the fixture evenhand goes by in these tests.")
    path = report_path(config)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Session(path, config.invocation_params.dir), "evenhand-session")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send what was scored along with the report of the test, which xdist carries to the session."""
    report = yield
    scored = item.stash.get(_SCORED, None)
    if scored:
        setattr(report, CARRIED, scored.copy())
        scored.clear()
    return report
