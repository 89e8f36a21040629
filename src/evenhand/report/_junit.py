"""A run as JUnit XML: a suite for each variant, a test case for each of its results, and one suite for the decision."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import IO, TextIO

from evenhand.report._failing import failed_checks, is_unscored, unscored_because
from evenhand.report._figures import Data, figure

IN_MEMORY = 1_000_000  # Characters of a suite; beyond that it waits in a temporary file.
LONGEST = 2_000  # Characters of an output that failed, shown with why it failed.

# XML 1.0 has no other control characters, not even as references.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# As references they come back as they are and do nothing on the way; a bare carriage return would be lost.
_REFERRED = re.compile("[&<>\"'\r\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test case; it passed unless something failed or erred."""

    name: str
    group: str
    seconds: float = 0.0
    failure: tuple[str, str] | None = None  # Message and text.
    error: tuple[str, str] | None = None
    properties: Mapping[str, object] = field(default_factory=dict)


def write_junit(head: Data, samples: Iterable[Data], stream: TextIO) -> None:
    """Write the suites; results come by sample and leave by variant, so each suite waits in a file of its own."""
    with ExitStack() as open_files:
        decision = Suite("decision", open_files)
        for case in _decision_cases(head):
            decision.add(case)
        suites = {one["name"]: Suite(one["name"], open_files) for one in head["variants"]}
        for sample in samples:
            for result in sample["results"]:
                name = result["variant"]
                if name not in suites:
                    suites[name] = Suite(name, open_files)
                suites[name].add(_case(sample, result, repeated=head["run"]["repeats"] > 1))
        _write(head["run"], [decision, *suites.values()], stream)


class Suite:
    """Test cases on their way into a file, counted: the counts stand before them."""

    def __init__(self, name: str, open_files: ExitStack) -> None:
        self.name = name
        self.tests = self.failures = self.errors = 0
        self.seconds = 0.0
        spool = SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8", newline="")  # noqa: SIM115
        self._cases: IO[str] = open_files.enter_context(spool)

    def add(self, case: Case) -> None:
        """Count a case and keep its text."""
        self.tests += 1
        self.failures += case.failure is not None and case.error is None
        self.errors += case.error is not None
        self.seconds += case.seconds
        self._cases.writelines(_case_lines(case))

    def cases(self) -> Iterator[str]:
        """The text of the cases, piece by piece."""
        self._cases.seek(0)
        while piece := self._cases.read(65_536):
            yield piece


def _write(run: Data, suites: list[Suite], stream: TextIO) -> None:
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    stream.write(f"<testsuites {_attributes(name=run['name'], **_counts(suites))}>\n")
    for suite in suites:
        started = str(run["started"])[:19]  # Readers of the format know no time zone.
        stream.write(f"<testsuite {_attributes(name=suite.name, timestamp=started, **_counts([suite]))}>\n")
        stream.write("<properties>\n")
        for name in ("id", "fingerprint", "evenhand"):
            stream.write(_property(f"run.{name}", run[name]))
        stream.write("</properties>\n")
        stream.writelines(suite.cases())
        stream.write("</testsuite>\n")
    stream.write("</testsuites>\n")


def _counts(suites: list[Suite]) -> dict[str, object]:
    return {
        "tests": sum(one.tests for one in suites),
        "failures": sum(one.failures for one in suites),
        "errors": sum(one.errors for one in suites),
        "skipped": 0,
        "time": f"{sum(one.seconds for one in suites):.3f}",
    }


def _case_lines(case: Case) -> Iterator[str]:
    yield f"<testcase {_attributes(name=case.name, classname=case.group, time=f'{case.seconds:.3f}')}>\n"
    if case.properties:
        yield "<properties>\n"
        yield from (_property(name, value) for name, value in case.properties.items())
        yield "</properties>\n"
    if case.error or case.failure:
        kind = "error" if case.error else "failure"
        message, text = case.error or case.failure or ("", "")
        yield f"<{kind} {_attributes(message=message, type=kind)}>{escaped(text)}</{kind}>\n"
    yield "</testcase>\n"


def _property(name: str, value: object) -> str:
    return f"<property {_attributes(name=name, value=value)}/>\n"


def _attributes(**values: object) -> str:
    pairs = ((name, escaped(str(value)).replace("\n", "&#10;").replace("\t", "&#9;")) for name, value in values.items())
    return " ".join(f'{name}="{value}"' for name, value in pairs)


def escaped(text: str) -> str:
    """Text for XML 1.0: what it cannot hold is replaced, everything else comes back as it was."""
    return _REFERRED.sub(lambda found: f"&#{ord(found[0])};", _ILLEGAL.sub("\ufffd", text))


def _decision_cases(head: Data) -> Iterator[Case]:
    decision = head["decision"]
    text = "\n".join(filter(None, [*decision["reasons"], decision["sure"], f"Next: {decision['next_step']}"]))
    verdict = f"{decision['verdict']}: {decision['headline']}"
    failure = None if decision["exit_code"] == 0 else (verdict, text)
    yield Case(name="verdict", group="decision", failure=failure, properties={"verdict": decision["verdict"]})
    for variant, gates in decision["gates"].items():
        for gate in gates:
            yield _gate_case(variant, gate)


def _gate_case(variant: str, gate: Data) -> Case:
    demand = f"{gate['gate']} at least {figure(gate['min'])}"
    mean = f"{variant}: the mean is {figure(gate['mean'])}, the gate {figure(gate['min'])}"
    return Case(
        name=f"{variant}: {demand}",
        group="decision",
        failure=(mean, mean) if gate["passed"] is False else None,
        error=(f"{variant}: nothing was measured", demand) if gate["passed"] is None else None,
        properties={} if gate["mean"] is None else {"mean": gate["mean"]},
    )


def _case(sample: Data, result: Data, *, repeated: bool) -> Case:
    output = result["output"] or {}
    checks = failed_checks(result)
    shown = output.get("text") or ""
    cut = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"
    text = "\n".join([*checks, *(["", "output:", cut] if cut else [])])
    why = unscored_because(result)
    measured = {"score": result["score"], "composite": result["composite"], "verdict": result["verdict"]}
    return Case(
        name=f"{sample['id']} (repeat {result['repeat'] + 1})" if repeated else sample["id"],
        group=result["variant"],
        seconds=(output.get("latency_ms") or 0) / 1000,
        failure=(checks[0], text) if checks else None,
        error=(why, "\n".join([result["state"], why, text])) if is_unscored(result) else None,
        properties={name: value for name, value in measured.items() if value is not None},
    )
