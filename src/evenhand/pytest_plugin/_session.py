"""What all tests of a session have scored: gathered where tests report to, summed up, and written as one report."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from evenhand.errors import EvenhandError

Json = dict[str, Any]
CARRIED = "evenhand_scored"  # The attribute of a test report that the texts travel in.
ENDINGS = (".html", ".md", ".xml", ".json", ".csv")
WORST = 3


def report_path(config: pytest.Config) -> Path | None:
    """The file that the report goes to, if one is asked for: the option counts from where pytest was started."""
    option: str | None = config.getoption("--evenhand-report")
    ini: str = config.getini("evenhand_report")
    if not option and not ini:
        return None
    path = config.invocation_params.dir / option if option else config.rootpath / ini
    if path.suffix.lower() not in ENDINGS:
        raise pytest.UsageError(f"the evenhand report {str(option or ini)!r} must end in one of {', '.join(ENDINGS)}")
    return path


class Session:
    """Gathers what was scored, and tells of it at the end."""

    def __init__(self, path: Path | None, here: Path) -> None:
        self._path = path
        self._shown = path.relative_to(here) if path and path.is_relative_to(here) else path
        self._began = datetime.now(UTC)
        self._entries: list[Json] = []
        self._said = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what came with a report: nobody else who keeps reports should keep outputs unmasked."""
        self._entries += map(json.loads, report.__dict__.pop(CARRIED, ()))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report. One that was asked for and cannot be written is a failure of the session."""
        if self._path is None:
            return
        if not self._entries:
            self._said = f"no output was scored: {self._shown} is not written"
            return
        from evenhand.pytest_plugin._report import write_report  # noqa: PLC0415 - a database and templates.

        try:
            write_report(self._entries, self._path, self._began)
            self._said = f"report: {self._shown}"
        except (EvenhandError, OSError) as error:
            self._said = f"the report cannot be written: {error}"
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """What was scored, the lowest, and where the report is."""
        if self._entries or self._said:
            terminalreporter.write_sep("=", "evenhand")
            for line in (*(summary(self._entries) if self._entries else ()), *filter(None, [self._said])):
                terminalreporter.write_line(line)


def summary(entries: list[Json]) -> list[str]:
    """How many outputs were scored, what they come to, and the lowest of them."""
    from evenhand.guards import masked  # noqa: PLC0415 - loaded by the first output that is scored.
    from evenhand.report._inert import folded  # noqa: PLC0415

    known = [one["composite"] for one in entries if one["composite"] is not None]
    short = [one for one in entries if one["problems"]]
    lines = [
        f"{_outputs(len(entries))} in {_tests(entries)}: {len(entries) - len(short)} passed, {len(short)} fell short, "
        f"{len(entries) - len(known)} without a score"
    ]
    if known:
        lines.append(f"mean composite {fmean(known):.2f} of 1–5, over {_outputs(len(known))}")
    for one in sorted(entries, key=_lowest_first)[:WORST]:
        score = "–" if one["composite"] is None else f"{one['composite']:.2f}"
        why = f": {one['problems'][0]}" if one["problems"] else ""
        lines.append(f"  {score:>4}  {folded(masked(one['test'] + why), 200)}")
    return lines


def _outputs(count: int) -> str:
    return "1 output" if count == 1 else f"{count:,} outputs"


def _tests(entries: list[Json]) -> str:
    count = len({one["test"] for one in entries})
    return "1 test" if count == 1 else f"{count:,} tests"


def _lowest_first(entry: Json) -> tuple[bool, float, str]:
    """What has no score before all that has one."""
    return entry["composite"] is not None, entry["composite"] or 0.0, entry["test"]
