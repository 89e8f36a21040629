"""A run as Markdown for a pull request: the verdict, why and how sure, the tables, and the samples worth a look."""

from __future__ import annotations

import heapq
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from statistics import fmean
from typing import TextIO

from evenhand.report.graded import (
    MOST_ADJUSTED,
    AdjustedResult,
    format_report_grade_lines,
    format_report_history_lines,
    format_report_statement_lines,
    format_report_tie_lines,
    list_adjusted_results_for_report,
)
from evenhand.report.phrases import (
    IMPORTED_RUN,
    ReportColumn,
    ReportData,
    build_report_comparison_columns,
    build_report_criterion_columns,
    build_report_difference_columns,
    build_report_variant_columns,
    describe_reported_composite,
    describe_reported_failure_count,
    describe_reported_gate,
    describe_reported_maps,
    describe_reported_p_adjustment,
    describe_reported_safety_gate,
    describe_reported_samples,
    describe_reported_selection,
    describe_unfinished_in_report,
    describe_unpaired_in_report,
    does_reported_verdict_stand,
    explain_unscored_in_report,
    is_unscored_in_report,
    list_reported_failures,
    list_reported_safety_gates,
)
from evenhand.report.result_phrases import (
    CASCADE_TITLE,
    PEOPLE_SCALE_TITLE,
    build_cascade_table_columns,
    build_people_scale_table_columns,
    build_report_preference_tables,
    describe_reported_cascade,
    describe_reported_cost,
    describe_reported_people_scale,
    describe_reported_recorded_cost,
)
from evenhand.report.untrusted_text import fold_to_report_line
from evenhand.wording import format_figure, pluralize_count

LONGEST_COMMENT = 60_000  # GitHub takes 65,536 characters and refuses the whole comment beyond.
COMMENT_RESERVE = 4_000  # For the lines that close what a cut has left open, and for the last line.
LONGEST_SENTENCE = 600
LONGEST_REASON = 200
LONGEST_NAME = 60
VERDICT_MARKS = {"PROGRESS": "✅", "CAUTIOUS": "⚠️", "REGRESS": "❌", "NOISE": "➖"}
VERDICT_MARKS |= dict.fromkeys(("UNDERPOWERED", "UNDECIDED"), "❔")


def write_markdown(head: ReportData, samples: Iterable[ReportData], stream: TextIO) -> None:
    """Write one page of at most 60,000 characters; what does not fit is counted, not cut in the middle."""
    worst = find_notable_report_results(head, samples)
    compared = head["decision"]["comparisons"]
    tested = "; ".join(filter(None, ["Differences, with intervals", describe_reported_p_adjustment(compared)]))
    differences = _render_markdown_columns(build_report_difference_columns(head), ["comparison", "of", "verdict"])
    unpaired = describe_unpaired_in_report(head)
    sections = [
        _render_markdown_verdict(head),
        _render_markdown_columns(chain.from_iterable(build_report_variant_columns(head)), ["variant"]),
        [escape_markdown(composed, LONGEST_SENTENCE)] if (composed := describe_reported_composite(head)) else [],
        [unpaired] if unpaired else [],
        [escape_markdown(mapped, LONGEST_SENTENCE)] if (mapped := describe_reported_maps(head["run"])) else [],
        [f"{tested}:", "", *differences] if differences else [],
        _render_markdown_columns(build_report_comparison_columns(head), ["comparison"]),
        _render_markdown_columns(build_report_criterion_columns(head), ["criterion"]),
        *_render_markdown_preferences(head),
        _render_markdown_cascade(head.get("cascade")),
        _render_markdown_people_scale(head.get("people_scale")),
        _render_markdown_lines("Grades:", format_report_grade_lines(head)),
        _render_markdown_lines("Red flags and bonuses:", format_report_statement_lines(head)),
        _render_markdown_lines("Ties:", format_report_tie_lines(head)),
        _render_markdown_gates(head),
        *_render_markdown_findings(head),
        _render_markdown_safety_gate(head),
        _render_markdown_lines("History:", format_report_history_lines(head)),
        _render_adjusted_results_as_markdown(worst),
        *_render_notable_results_as_markdown(worst, head),
    ]
    page = _fit_markdown_sections([section for section in sections if section], LONGEST_COMMENT - COMMENT_RESERVE)
    stream.write(page + _render_markdown_origin(head))


def _fit_markdown_sections(sections: Sequence[list[str]], room: int) -> str:
    """The sections one after another, each with as many of its lines as there is room for."""
    page = ""
    for lines in sections:
        for place, line in enumerate(lines):
            if len(page) + len(line) + 1 > room:
                closing = "</details>\n" if place and lines[-1] == "</details>" else ""
                left = pluralize_count(len(lines) - place, "line")
                return f"{page}\n… {left} and what follows did not fit\n{closing}\n"
            page += f"{line}\n"
        page += "\n"
    return page


def _render_markdown_verdict(head: ReportData) -> list[str]:
    decision = head["decision"]
    mark = VERDICT_MARKS.get(decision["verdict"], "✅" if decision["exit_code"] == 0 else "❌")
    if mark == "✅" and not does_reported_verdict_stand(head):  # A good one only where nothing speaks against it.
        mark = "⚠️"
    state = describe_unfinished_in_report(head["run"])
    cut = f" ({escape_markdown(state, LONGEST_NAME)}, {describe_reported_samples(head['run'])})" if state else ""
    verdict, name = (escape_markdown(one, LONGEST_NAME) for one in (decision["verdict"], head["run"]["name"]))
    headline, sure, next_step = (
        escape_markdown(decision[key], LONGEST_SENTENCE) for key in ("headline", "sure", "next_step")
    )
    return [
        f"### {mark} {verdict}: {name}{cut}",
        "",
        f"**{headline}**",
        "",
        *(f"- {escape_markdown(one, LONGEST_SENTENCE)}" for one in decision["reasons"][:10]),
        *([f"- How sure: {sure}"] if decision["sure"] else []),
        *([f"- **Next:** {next_step}"] if decision["next_step"] else []),
    ]


def _render_markdown_columns(columns: Iterable[ReportColumn], left: Sequence[str]) -> list[str]:
    names = [(escape_markdown(name, LONGEST_NAME), cells) for name, cells in columns]
    shown = [(name, [escape_markdown(cell, LONGEST_NAME) for cell in cells]) for name, cells in names]
    return render_markdown_table(shown, left) if shown else []


def _render_markdown_lines(title: str, lines: Sequence[str]) -> list[str]:
    return [title, "", *(f"- {escape_markdown(line, LONGEST_SENTENCE)}" for line in lines)] if lines else []


def _render_markdown_people_scale(found: ReportData | None) -> list[str]:
    if not found:
        return []
    told = [f"- {escape_markdown(line, LONGEST_SENTENCE)}" for line in describe_reported_people_scale(found)]
    columns = build_people_scale_table_columns(found)
    return [f"{PEOPLE_SCALE_TITLE}:", "", *_render_markdown_columns(columns.items(), [""]), "", *told]


def _render_markdown_cascade(found: ReportData | None) -> list[str]:
    if not found:
        return []
    told = [f"- {escape_markdown(line, LONGEST_SENTENCE)}" for line in describe_reported_cascade(found)]
    return [
        f"{CASCADE_TITLE}:",
        "",
        *_render_markdown_columns(build_cascade_table_columns(found).items(), [""]),
        "",
        *told,
    ]


def _render_markdown_preferences(head: ReportData) -> Iterator[list[str]]:
    """Who is preferred to whom, where judges compared outputs in pairs."""
    for table in build_report_preference_tables(head):
        first = table.columns[0][0]
        yield [f"{table.title}. {table.note}", "", *_render_markdown_columns(table.columns, [first])]


def _render_markdown_gates(head: ReportData) -> list[str]:
    gates = [(variant, gate) for variant, several in head["decision"]["gates"].items() for gate in several]
    failed = [
        f"- {escape_markdown(variant, LONGEST_NAME)}: {escape_markdown(describe_reported_gate(gate), LONGEST_REASON)}"
        for variant, gate in gates
        if not gate["passed"]
    ]
    if not failed:
        return [f"Gates: {'passed' if len(gates) == 1 else f'all {len(gates)} passed'}."] if gates else []
    return [f"Gates: {len(failed)} of {len(gates)} not passed", "", *failed]


def _render_markdown_findings(head: ReportData) -> Iterator[list[str]]:
    """What failed, and what the guards flagged, each with the sample where it was seen first."""
    name = partial(escape_markdown, most=LONGEST_NAME)
    failures, flags = [], []
    for one in head["failures"]:
        what = f"{name(describe_reported_failure_count(one))}: {escape_markdown(one['why'], LONGEST_REASON)}"
        failures.append(f"- {name(one['variant'])}: {what} (first in {name(one['first'])})")
    for one in head["flags"]:
        what = f"{name(one['guard'])} guard, {name(one['rule'])}: {escape_markdown(one['says'], LONGEST_REASON)}"
        count = f"{pluralize_count(one['count'], 'output')} (first in {name(one['first'])})"
        flags.append(f"- {name(one['variant'])}: {what}, {count}")
    yield from (["Failures:", "", *failures] if failures else [], ["Flags:", "", *flags] if flags else [])


def _render_markdown_safety_gate(head: ReportData) -> list[str]:
    lines = [
        f"- {escape_markdown(one['variant'], LONGEST_NAME)}: "
        f"{escape_markdown(describe_reported_safety_gate(one), LONGEST_REASON)}"
        for one in list_reported_safety_gates(head)
    ]
    return ["Safety gate, capped:", "", *lines] if lines else []


def _render_adjusted_results_as_markdown(worst: NotableReportResults) -> list[str]:
    shown = worst.adjusted
    columns = [
        ("sample", [escape_markdown(one.sample, LONGEST_NAME) for one in shown]),
        ("variant", [escape_markdown(one.variant, LONGEST_NAME) for one in shown]),
        ("before", [format_figure(one.before) for one in shown]),
        ("why", [escape_markdown(one.statements, LONGEST_SENTENCE) for one in shown]),
        ("score", [format_figure(one.score) for one in shown]),
        ("grade", [escape_markdown(one.grade, LONGEST_NAME) for one in shown]),
    ]
    total = f"{len(shown)} of {worst.n_adjusted:,}" if worst.n_adjusted > len(shown) else str(worst.n_adjusted)
    return _render_markdown_details(f"With red flags or bonuses ({total})", columns)


def _render_notable_results_as_markdown(worst: NotableReportResults, head: ReportData) -> Iterator[list[str]]:
    """The largest drops, or the lowest composites where nothing was compared; then what has no score."""
    compared = bool(head["decision"]["comparisons"])
    shown = worst.drops if compared else worst.lowest
    values = [format_figure(one.value) for one in shown]
    checks = ("failed checks", [escape_markdown(one.why, LONGEST_REASON) for one in shown])
    if compared:
        before = ("control scored", [format_figure(one.before) for one in shown])
        columns = [
            *_name_notable_results_in_markdown(shown, "sample", "variant"),
            before,
            ("variant scored", values),
            checks,
        ]
        yield _render_markdown_details(f"Largest drops ({_render_markdown_count(shown, worst.n_dropped)})", columns)
    else:
        of = "composite" if any(one["composite"] for one in head["variants"]) else "score"
        columns = [*_name_notable_results_in_markdown(shown, "sample", "variant"), (of, values), checks]
        yield _render_markdown_details(f"Lowest {of}s", columns)
    whys = ("why", [escape_markdown(one.why, LONGEST_REASON) for one in worst.unscored])
    title = f"Without a score ({_render_markdown_count(worst.unscored, worst.n_unscored)})"
    yield _render_markdown_details(
        title, [*_name_notable_results_in_markdown(worst.unscored, "sample", "variant"), whys]
    )


def _name_notable_results_in_markdown(results: Sequence[NotableReportResult], *fields: str) -> list[ReportColumn]:
    return [(field, [escape_markdown(getattr(one, field), LONGEST_NAME) for one in results]) for field in fields]


def _render_markdown_count(shown: Sequence[NotableReportResult], total: int) -> str:
    return f"{len(shown)} of {total:,}" if total > len(shown) else str(total)


def _render_markdown_details(title: str, columns: Sequence[ReportColumn]) -> list[str]:
    """A table that opens on a click; nothing where it has no rows."""
    lines = render_markdown_table(columns, ["sample", "variant", "failed checks", "why", "grade"])
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"] if columns[0][1] else []


def _render_markdown_origin(head: ReportData) -> str:
    run, cost = head["run"], head["cost"]
    part = describe_reported_selection(run.get("selection"))
    parts = [
        f"run {escape_markdown(run['id'], LONGEST_NAME)}",
        describe_reported_samples(run),
        *([IMPORTED_RUN] if run.get("imported") else []),
        *([f"only {escape_markdown(part, LONGEST_REASON)}"] if part else []),
        f"cost {escape_markdown(describe_reported_cost(cost))}",
        *([escape_markdown(before)] if (before := describe_reported_recorded_cost(cost)) else []),
        f"fingerprint {escape_markdown(run['fingerprint'], LONGEST_NAME)}",
        f"Evenhand {escape_markdown(run['evenhand'], LONGEST_NAME)}",
    ]
    return f"<sub>{' · '.join(parts)}</sub>\n"


# Entities never count as markup. Pipes and backslashes are entities too, because renderers differ in how they
# count backslashes before a pipe; a dollar sign would begin a formula.
_MARKDOWN_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_MARKDOWN_ENTITIES |= {char: f"&#{ord(char)};" for char in "|\\`$"}
_MARKDOWN_SPECIAL = str.maketrans({**_MARKDOWN_ENTITIES, **{char: f"\\{char}" for char in "*_[]~#"}})
# Behind the mark of a list, these would begin another, or a rule.
_LIST_MARKER = re.compile(r"^([-+](?!\d)|\d+[.)](?=\s|$))")

# Mentions, issues, links, addresses and emoji are looked for in the text that was rendered, so escapes do not stop
# them: a character without width in the middle does.
_LINK_MARKER = re.compile(r"@|#(?=\w)|:(?=//)|:(?=[\w+-]+:)|(?<=\bmailto):|(?<=\bxmpp):|(?<=\bwww)\.|(?<=\bGH)-", re.I)
_ZERO_WIDTH_BREAK = "\u200b"


def escape_markdown(text: object, most: int = 120) -> str:
    """A text as one line of Markdown that shows it and does nothing else."""
    broken = _LINK_MARKER.sub(lambda found: found[0] + _ZERO_WIDTH_BREAK, fold_to_report_line(str(text), most))
    plain = _LIST_MARKER.sub(lambda found: f"{_ZERO_WIDTH_BREAK}{found[0]}", broken).translate(_MARKDOWN_SPECIAL)
    return plain.replace(_ZERO_WIDTH_BREAK, "&#8203;")


def render_markdown_table(columns: Sequence[tuple[str, Sequence[str]]], left: Container[str]) -> list[str]:
    """The lines of a table; names and cells are Markdown already, those not on the left are numbers."""
    names = [name for name, _ in columns]
    rule = ["---" if name in left else "---:" for name in names]
    rows = zip(*(cells for _, cells in columns), strict=True)
    return [f"| {' | '.join(row)} |" for row in (names, rule, *rows)]


MOST_NOTABLE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class NotableReportResult:
    """A result worth a look: whose, what it scored, and what is known of why."""

    sample: str
    variant: str
    value: float | None
    before: float | None = None  # What the control scored.
    why: str = ""


@dataclass(slots=True)
class NotableReportResults:
    """What one pass over the samples has found; never more than a few of each."""

    drops: list[NotableReportResult] = field(default_factory=list)
    lowest: list[NotableReportResult] = field(default_factory=list)
    unscored: list[NotableReportResult] = field(default_factory=list)
    adjusted: list[AdjustedResult] = field(default_factory=list)
    n_adjusted: int = 0
    n_dropped: int = 0
    n_unscored: int = 0


def find_notable_report_results(head: ReportData, samples: Iterable[ReportData]) -> NotableReportResults:
    """Look at every sample once."""
    control = next((one["name"] for one in head["variants"] if one["role"] == "control"), None)
    found = NotableReportResults()
    drops, lows = _LargestReportedResults(), _LargestReportedResults()
    for sample in samples:
        for one in list_adjusted_results_for_report(sample):
            found.n_adjusted += 1
            found.adjusted += [one] if len(found.adjusted) < MOST_ADJUSTED else []
        for result in filter(is_unscored_in_report, sample["results"]):
            found.n_unscored += 1
            if len(found.unscored) < MOST_NOTABLE:
                why, who = explain_unscored_in_report(result), result["variant"]
                found.unscored.append(NotableReportResult(sample=sample["id"], variant=who, value=None, why=why))
        means = _mean_reported_score_by_variant(sample)
        before = None if control is None else means.get(control)
        for variant, value in means.items():
            lows.offer(-value, sample, variant, value, before)
            if before is not None and value < before:
                found.n_dropped += 1
                drops.offer(before - value, sample, variant, value, before)
    found.drops, found.lowest = drops.in_order(), lows.in_order()
    return found


class _LargestReportedResults:
    """The few largest of many, and of equals the earlier."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, NotableReportResult]] = []
        self._offered = 0

    def offer(self, by: float, sample: ReportData, variant: str, value: float, before: float | None) -> None:
        """Keep it, if it is among them so far."""
        self._offered += 1
        if len(self._heap) == MOST_NOTABLE and by <= self._heap[0][0]:
            return
        own = [one for one in sample["results"] if one["variant"] == variant]
        why = "; ".join(dict.fromkeys(check for one in own for check in list_reported_failures(one)))
        seen = NotableReportResult(sample=sample["id"], variant=variant, value=value, before=before, why=why)
        keep = heapq.heappush if len(self._heap) < MOST_NOTABLE else heapq.heapreplace
        keep(self._heap, (by, -self._offered, seen))

    def in_order(self) -> list[NotableReportResult]:
        """The largest first."""
        return [seen for _, _, seen in sorted(self._heap, key=lambda one: one[:2], reverse=True)]


def _mean_reported_score_by_variant(sample: ReportData) -> dict[str, float]:
    """What each variant scored, over its repeats: composites, or scores where nobody has a composite."""
    results = [one for one in sample["results"] if not is_unscored_in_report(one)]
    of = "composite" if any(one["composite"] is not None for one in results) else "score"
    values: dict[str, list[float]] = {}
    for one in results:
        if one[of] is not None:
            values.setdefault(one["variant"], []).append(one[of])
    return {variant: fmean(several) for variant, several in values.items()}
