"""A run as Markdown for a pull request: the verdict, why and how sure, the tables, and the samples worth a look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TextIO

from evenhand.report._extent import counted, stands, unfinished
from evenhand.report._failing import failed_count
from evenhand.report._figures import Data, dollars, figure, times
from evenhand.report._markdown_text import inert, table
from evenhand.report._tables import Column, comparison_columns, criterion_columns, variant_columns
from evenhand.report._worst import Seen, Worst, worst_of

LONGEST = 60_000  # GitHub takes 65,536 characters and refuses the whole comment beyond.
RESERVE = 4_000  # For the lines that close what a cut has left open, and for the last line.
SENTENCE = 600
REASON = 200
NAME = 60
MARKS = {"PROGRESS": "✅", "CAUTIOUS": "⚠️", "REGRESS": "❌", "NOISE": "➖", "UNDERPOWERED": "❔", "UNDECIDED": "❔"}


def write_markdown(head: Data, samples: Iterable[Data], stream: TextIO) -> None:
    """Write one page of at most 60,000 characters; what does not fit is counted, not cut in the middle."""
    worst = worst_of(head, samples)
    sections = [
        _verdict(head),
        _variants(head),
        _comparisons(head),
        _criteria(head),
        _gates(head),
        _failures(head),
        _flags(head),
        _drops(worst) if head["decision"]["comparisons"] else _lowest(worst),
        _unscored(worst),
    ]
    page = _fitted([section for section in sections if section], LONGEST - RESERVE)
    stream.write(page + _origin(head))


def _fitted(sections: Sequence[list[str]], room: int) -> str:
    """The sections one after another, each with as many of its lines as there is room for."""
    page = ""
    for lines in sections:
        for place, line in enumerate(lines):
            if len(page) + len(line) + 1 > room:
                closing = "</details>\n" if place and lines[-1] == "</details>" else ""
                return f"{page}\n… {times(len(lines) - place, 'line')} and what follows did not fit\n{closing}\n"
            page += f"{line}\n"
        page += "\n"
    return page


def _verdict(head: Data) -> list[str]:
    decision = head["decision"]
    state = unfinished(head["run"])
    cut = f" ({inert(state, NAME)}, {counted(head['run'])})" if state else ""
    sentences = [inert(one, SENTENCE) for one in decision["reasons"][:10]]
    lines = [f"### {_mark(head)} {inert(decision['verdict'], NAME)}: {inert(head['run']['name'], NAME)}{cut}", ""]
    lines += [f"**{inert(decision['headline'], SENTENCE)}**", ""]
    lines += [f"- {one}" for one in sentences]
    lines += [f"- How sure: {inert(decision['sure'], SENTENCE)}"] if decision["sure"] else []
    lines += [f"- **Next:** {inert(decision['next_step'], SENTENCE)}"] if decision["next_step"] else []
    return lines


def _mark(head: Data) -> str:
    """The sign of the verdict; a good one only where nothing speaks against it."""
    decision = head["decision"]
    mark = MARKS.get(decision["verdict"], "✅" if decision["exit_code"] == 0 else "❌")
    return "⚠️" if mark == "✅" and not stands(head) else mark


def _variants(head: Data) -> list[str]:
    return _shown(chain.from_iterable(variant_columns(head)), ["variant"])


def _comparisons(head: Data) -> list[str]:
    columns = list(chain.from_iterable(comparison_columns(head)))
    return ["Differences, with intervals:", "", *_shown(columns, ["comparison", "verdict"])] if columns else []


def _criteria(head: Data) -> list[str]:
    return _shown(criterion_columns(head), ["criterion"])


def _shown(columns: Iterable[Column], left: Sequence[str]) -> list[str]:
    shown = [(inert(name, NAME), [inert(cell, NAME) for cell in cells]) for name, cells in columns]
    return table(shown, left) if shown else []


def _gates(head: Data) -> list[str]:
    gates = [(variant, gate) for variant, several in head["decision"]["gates"].items() for gate in several]
    failed = [_gate(variant, gate) for variant, gate in gates if not gate["passed"]]
    if not failed:
        return [f"Gates: {'the one passed' if len(gates) == 1 else f'all {len(gates)} passed'}."] if gates else []
    return [f"Gates: {len(failed)} of {len(gates)} not passed", "", *failed]


def _gate(variant: str, gate: Data) -> str:
    mean = "was not measured" if gate["mean"] is None else f"{figure(gate['mean'])} is below {figure(gate['min'])}"
    return f"- {inert(variant, NAME)}: {inert(gate['gate'], NAME)} {inert(mean)}"


def _failures(head: Data) -> list[str]:
    lines = [
        f"- {inert(one['variant'], NAME)}: {inert(failed_count(one), NAME)}: "
        f"{inert(one['why'], REASON)} (first in {inert(one['first'], NAME)})"
        for one in head["failures"]
    ]
    return ["Failures:", "", *lines] if lines else []


def _flags(head: Data) -> list[str]:
    lines = [
        f"- {inert(one['variant'], NAME)}: {inert(one['guard'], NAME)} guard, {inert(one['rule'], NAME)}: "
        f"{inert(one['says'], REASON)}, {times(one['count'], 'output')} (first in {inert(one['first'], NAME)})"
        for one in head["flags"]
    ]
    return ["Flags:", "", *lines] if lines else []


def _drops(worst: Worst) -> list[str]:
    columns = [
        ("sample", [inert(one.sample, NAME) for one in worst.drops]),
        ("variant", [inert(one.variant, NAME) for one in worst.drops]),
        ("control scored", [figure(one.before) for one in worst.drops]),
        ("variant scored", [figure(one.value) for one in worst.drops]),
        ("failed checks", [inert(one.why, REASON) for one in worst.drops]),
    ]
    title = f"Largest drops ({_of(worst.drops, worst.n_dropped)})"
    return _details(title, table(columns, ["sample", "variant", "failed checks"])) if worst.drops else []


def _lowest(worst: Worst) -> list[str]:
    columns = [
        ("sample", [inert(one.sample, NAME) for one in worst.lowest]),
        ("score", [figure(one.value) for one in worst.lowest]),
        ("failed checks", [inert(one.why, REASON) for one in worst.lowest]),
    ]
    return _details("Lowest scores", table(columns, ["sample", "failed checks"])) if worst.lowest else []


def _unscored(worst: Worst) -> list[str]:
    columns = [
        ("sample", [inert(one.sample, NAME) for one in worst.unscored]),
        ("variant", [inert(one.variant, NAME) for one in worst.unscored]),
        ("why", [inert(one.why, REASON) for one in worst.unscored]),
    ]
    title = f"Without a score ({_of(worst.unscored, worst.n_unscored)})"
    return _details(title, table(columns, ["sample", "variant", "why"])) if worst.unscored else []


def _of(shown: Sequence[Seen], total: int) -> str:
    return f"{len(shown)} of {total:,}" if total > len(shown) else str(total)


def _details(title: str, lines: list[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"]


def _origin(head: Data) -> str:
    run, cost = head["run"], head["cost"]
    unpriced = f" and {times(cost['unpriced'], 'call')} of unknown price" if cost["unpriced"] else ""
    parts = [
        f"run {inert(run['id'], NAME)}",
        counted(run),
        f"cost {inert(dollars(cost['total']))}{unpriced}",
        f"fingerprint {inert(run['fingerprint'], NAME)}",
        f"Evenhand {inert(run['evenhand'], NAME)}",
    ]
    return f"<sub>{' · '.join(parts)}</sub>\n"
