"""A run for CI: JUnit XML with a case for each result, and annotations of GitHub Actions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import IO, TextIO

from evenhand.report.graded import NO_HISTORY, describe_reported_statement
from evenhand.report.phrases import (
    ReportData,
    describe_reported_failure_count,
    describe_reported_gate,
    explain_unscored_in_report,
    is_unscored_in_report,
    list_reported_failures,
)
from evenhand.report.untrusted_text import fold_to_report_line
from evenhand.wording import format_figure, word_gate

SUITE_CHARACTERS_IN_MEMORY = 1_000_000  # Characters of a suite; beyond that it waits in a temporary file.
LONGEST_FAILED_OUTPUT = 2_000  # Characters of an output that failed, shown with why it failed.

# XML 1.0 has no other control characters, not even as references.
_ILLEGAL_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# As references they come back as they are and do nothing on the way; a bare carriage return would be lost.
_REFERENCED_XML = re.compile("[&<>\"'\r\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitReportCase:
    """One test case; it passed unless something failed or erred."""

    name: str
    group: str
    seconds: float = 0.0
    failure: tuple[str, str] | None = None  # Message and text.
    error: tuple[str, str] | None = None
    properties: Mapping[str, object] = field(default_factory=dict)


def write_junit(head: ReportData, samples: Iterable[ReportData], stream: TextIO) -> None:
    """Write the suites; results come by sample and leave by variant, so each suite waits in a file of its own."""
    with ExitStack() as open_files:
        decision = JUnitReportSuite("decision", open_files)
        for case in _build_junit_decision_cases(head):
            decision.add(case)
        suites = {one["name"]: JUnitReportSuite(one["name"], open_files) for one in head["variants"]}
        for sample in samples:
            for result in sample["results"]:
                name = result["variant"]
                if name not in suites:
                    suites[name] = JUnitReportSuite(name, open_files)
                suites[name].add(_build_junit_result_case(sample, result, repeated=head["run"]["repeats"] > 1))
        _write_junit_suites(head["run"], [decision, *suites.values()], stream)


class JUnitReportSuite:
    """Test cases on their way into a file, counted: the counts stand before them."""

    def __init__(self, name: str, open_files: ExitStack) -> None:
        self.name = name
        self.tests = self.failures = self.errors = 0
        self.seconds = 0.0
        spool = SpooledTemporaryFile(SUITE_CHARACTERS_IN_MEMORY, "w+", encoding="utf-8", newline="")  # noqa: SIM115
        self.cases: IO[str] = open_files.enter_context(spool)

    def add(self, case: JUnitReportCase) -> None:
        """Count a case and keep its text."""
        self.tests += 1
        self.failures += case.failure is not None and case.error is None
        self.errors += case.error is not None
        self.seconds += case.seconds
        self.cases.writelines(_render_junit_case(case))


def _write_junit_suites(run: ReportData, suites: list[JUnitReportSuite], stream: TextIO) -> None:
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    stream.write(f"<testsuites {_render_junit_attributes(name=run['name'], **_count_junit_cases(suites))}>\n")
    for suite in suites:
        started = str(run["started"])[:19]  # Readers of the format know no time zone.
        counts = _count_junit_cases([suite])
        stream.write(f"<testsuite {_render_junit_attributes(name=suite.name, timestamp=started, **counts)}>\n")
        known = ("id", "fingerprint", "evenhand", *(("imported",) if run.get("imported") else ()))
        about = {f"run.{name}": run[name] for name in known}
        stream.write(_render_junit_properties(about))
        suite.cases.seek(0)
        copyfileobj(suite.cases, stream)
        stream.write("</testsuite>\n")
    stream.write("</testsuites>\n")


def _count_junit_cases(suites: list[JUnitReportSuite]) -> dict[str, object]:
    return {
        "tests": sum(one.tests for one in suites),
        "failures": sum(one.failures for one in suites),
        "errors": sum(one.errors for one in suites),
        "skipped": 0,
        "time": f"{sum(one.seconds for one in suites):.3f}",
    }


def _render_junit_case(case: JUnitReportCase) -> Iterator[str]:
    yield f"<testcase {_render_junit_attributes(name=case.name, classname=case.group, time=f'{case.seconds:.3f}')}>\n"
    if case.properties:
        yield _render_junit_properties(case.properties)
    if case.error or case.failure:
        kind = "error" if case.error else "failure"
        message, text = case.error or case.failure or ("", "")
        yield f"<{kind} {_render_junit_attributes(message=message, type=kind)}>{escape_report_xml(text)}</{kind}>\n"
    yield "</testcase>\n"


def _render_junit_properties(properties: Mapping[str, object]) -> str:
    each = (_render_junit_attributes(name=name, value=value) for name, value in properties.items())
    return "".join(("<properties>\n", *(f"<property {one}/>\n" for one in each), "</properties>\n"))


def _render_junit_attributes(**values: object) -> str:
    escaped = {name: escape_report_xml(str(value)) for name, value in values.items()}
    return " ".join(f'{name}="{value}"' for name, value in escaped.items()).replace("\n", "&#10;").replace("\t", "&#9;")


def escape_report_xml(text: str) -> str:
    """Text for XML 1.0: what it cannot hold is replaced, everything else comes back as it was."""
    return _REFERENCED_XML.sub(lambda found: f"&#{ord(found[0])};", _ILLEGAL_XML.sub("\ufffd", text))


def _build_junit_decision_cases(head: ReportData) -> Iterator[JUnitReportCase]:
    decision = head["decision"]
    text = "\n".join(filter(None, [*decision["reasons"], decision["sure"], f"Next: {decision['next_step']}"]))
    verdict = f"{decision['verdict']}: {decision['headline']}"
    failure = None if decision["exit_code"] == 0 else (verdict, text)
    yield JUnitReportCase(
        name="verdict", group="decision", failure=failure, properties={"verdict": decision["verdict"]}
    )
    for variant, gates in decision["gates"].items():
        for gate in gates:
            reached, least = (format_figure(gate[one], beside=gate["min"]) for one in ("mean", "min"))
            demand = f"{word_gate(gate['gate'])} at least {least}"
            mean = f"{variant}: the mean is {reached}, the gate {least}"
            yield JUnitReportCase(
                name=f"{variant}: {demand}",
                group="decision",
                failure=(mean, mean) if gate["passed"] is False else None,
                error=(f"{variant}: {_explain_open_gate_in_report(gate)}", demand) if gate["passed"] is None else None,
                properties={} if gate["mean"] is None else {"mean": gate["mean"]},
            )
    for one in head["consistency"]:
        if one["says"] != NO_HISTORY:  # What strays is for review; it fails nothing.
            told = {"review" if one.get("strayed") else "history": one["says"]}
            yield JUnitReportCase(name=f"{one['variant']}: history", group="decision", properties=told)


def _explain_open_gate_in_report(gate: ReportData) -> str:
    """Why it is not known whether a gate is passed."""
    return "nothing was measured" if gate["mean"] is None else describe_reported_gate(gate)


def _build_junit_result_case(sample: ReportData, result: ReportData, *, repeated: bool) -> JUnitReportCase:
    output = result["output"] or {}
    checks = list_reported_failures(result)
    shown = output.get("text") or ""
    cut = shown if len(shown) <= LONGEST_FAILED_OUTPUT else f"{shown[:LONGEST_FAILED_OUTPUT]}…"
    text = "\n".join([*checks, *(["", "output:", cut] if cut else [])])
    why = explain_unscored_in_report(result)
    card = result["scorecard"] or {}
    measured = {
        "score": result["score"],
        "composite": result["composite"],
        "verdict": result["verdict"],
        "grade": card.get("grade"),
        "red_flags": _join_junit_statements(card, "red_flag"),
        "bonuses": _join_junit_statements(card, "bonus"),
    }
    return JUnitReportCase(
        name=f"{sample['id']} (repeat {result['repeat'] + 1})" if repeated else sample["id"],
        group=result["variant"],
        seconds=(output.get("latency_ms") or 0) / 1000,
        failure=(checks[0], text) if checks else None,
        error=(why, "\n".join([result["state"], why, text])) if is_unscored_in_report(result) else None,
        properties={name: value for name, value in measured.items() if value is not None},
    )


def _join_junit_statements(card: ReportData, kind: str) -> str | None:
    found = [describe_reported_statement(one) for one in card.get("statements", ()) if one["kind"] == kind]
    return "; ".join(found) or None


MOST_ANNOTATIONS = 10  # GitHub shows ten of each level for a step and drops the rest.
LONGEST_ANNOTATION = 1000
LONGEST_TITLE = 150


def render_github_report_annotations(head: ReportData, samples: Iterable[ReportData]) -> Iterator[str]:
    """The verdict first, then failed gates, failures, and the samples whose checks failed: at most ten of a level."""
    told: Counter[str] = Counter()
    for level, title, message in (*_annotate_report_head(head), *_annotate_failed_samples_in_report(head, samples)):
        told[level] += 1
        if told[level] <= MOST_ANNOTATIONS:
            yield render_github_report_command(level, title, message)


def render_github_report_command(level: str, title: str, message: str) -> str:
    """One workflow command; nothing in the texts ends it, adds a property or starts another."""
    # Escaped by the rules of the runner: a property also ends at a comma or a colon.
    title = (
        _escape_github_report_annotation(fold_to_report_line(title, LONGEST_TITLE))
        .replace(":", "%3A")
        .replace(",", "%2C")
    )
    return (
        f"::{level} title={title}::{_escape_github_report_annotation(fold_to_report_line(message, LONGEST_ANNOTATION))}"
    )


def _escape_github_report_annotation(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _annotate_report_head(head: ReportData) -> Iterator[tuple[str, str, str]]:
    decision = head["decision"]
    sentences = [decision["headline"], *decision["reasons"], decision["sure"], f"Next: {decision['next_step']}"]
    failed = "error" if decision["verdict"] in ("REGRESS", "SOLO") else "warning"
    level = "notice" if decision["exit_code"] == 0 else failed
    yield level, f"Evenhand: {decision['verdict']}", " ".join(filter(None, sentences))
    for variant, gates in decision["gates"].items():
        for gate in gates:
            if not gate["passed"] and variant in _list_annotated_report_variants(head):
                reached, least = (format_figure(gate[one], beside=gate["min"]) for one in ("mean", "min"))
                mean = "nothing was measured" if gate["mean"] is None else f"the mean is {reached}"
                is_open = gate["passed"] is None and gate["mean"] is not None
                says = describe_reported_gate(gate) if is_open else f"{mean}, the gate is {least}"
                yield "error", f"{variant}: gate {word_gate(gate['gate'])}", says
    for one in head["failures"]:
        title = f"{one['variant']}: {describe_reported_failure_count(one)}"
        yield "error", title, f"{one['why']} (first in sample {one['first']})"


def _annotate_failed_samples_in_report(
    head: ReportData, samples: Iterable[ReportData]
) -> Iterator[tuple[str, str, str]]:
    watched = _list_annotated_report_variants(head)
    found = 0
    for sample in samples:
        for result in sample["results"]:
            checks = list_reported_failures(result) if result["variant"] in watched else []
            if checks:
                found += 1
                yield "warning", f"{result['variant']}: {sample['id']}", "; ".join(checks)
        if found >= MOST_ANNOTATIONS:
            return


def _list_annotated_report_variants(head: ReportData) -> set[str]:
    """The treatments, or the only variant: what the control always did is no news."""
    treatments = {variant["name"] for variant in head["variants"] if variant["role"] != "control"}
    return treatments or {variant["name"] for variant in head["variants"]}
