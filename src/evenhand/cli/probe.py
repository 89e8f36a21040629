"""evenhand probe: is the judge still the one that was measured?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import add_record_options, add_request_limit_options, read_connection_command_options
from evenhand.cli.output import print_json, print_message, print_until_reader_leaves
from evenhand.wording import MISSING_DASH, format_dollar_amount, format_percent, format_percent_tenths, pluralize_count

if TYPE_CHECKING:
    from evenhand.calibrate.probes import LostAnswer
    from evenhand.cli.screen import Screen
    from evenhand.workflows.probe import CheckedProbe
    from evenhand.workflows.probe_verdicts import JudgedVerdicts

MOST_LOST, MOST_VERDICTS = 8, 12  # Rows of a table; --json has all.


@click.group("probe")
def probe_command() -> None:
    """Ask a judge sealed questions again and again, to see whether it still is the one that was measured."""


@probe_command.command("set")
@click.argument("name", metavar="NAME")
@click.argument("run", metavar="[RUN]", default="latest")
@click.option("--labels", metavar="FILE", help="People's labels, one JSON object per line; else those kept with RUN.")
@click.option("--judge", metavar="MODEL", help="The judge to probe, where the run has several or was imported.")
@click.option("--rubric", metavar="NAME|FILE", help="The rubric of the run, where its eval file does not say it.")
@click.option("--repeats", type=int, default=8, show_default=True, help="Answers to each output at the seal.")
@click.option("--daily", type=int, default=5, show_default=True, help="Outputs to ask again in a look.")
@click.option("--min-score", metavar="NUMBER", help="The gate on the score, instead of that of the run.")
@click.option("--force", is_flag=True, help="Seal a name again; its earlier looks are deleted.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@add_record_options
@add_request_limit_options
def set_probe_command(name: str, run: str, **options: Any) -> None:
    """Seal the labelled outputs of RUN under NAME, with the answers that its judge gives now."""
    from evenhand.workflows.inputs import parse_user_input_number
    from evenhand.workflows.probe import ProbeSettings, encode_probe, set_probe

    least = options["min_score"]
    settings = ProbeSettings(
        judge=options["judge"],
        rubric=options["rubric"],
        repeats=options["repeats"],
        daily=options["daily"],
        least=None if least is None else parse_user_input_number(least, "--min-score"),
        force=options["force"],
    )
    labels = None if options["labels"] is None else Path(options["labels"])
    connect = read_connection_command_options(options)
    found = set_probe(None, name, run, labels, settings=settings, connect=connect)
    with print_until_reader_leaves():
        print_json(encode_probe(found)) if options["as_data"] else _print_seal(found)


@probe_command.command("check")
@click.argument("name", metavar="NAME")
@click.option("--report-only", is_flag=True, help="Exit 0 also if drift was found.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@add_record_options
@add_request_limit_options
def check_probe_command(name: str, **options: Any) -> None:
    """Ask a few of the outputs of NAME again, at most once a day, and say whether the judge drifted.

    Exit code: 0 no drift; 1 drift was found; 2 bad input, or no answer came.
    """
    from evenhand.workflows.probe import check_probe, encode_probe

    found = check_probe(None, name, connect=read_connection_command_options(options))
    with print_until_reader_leaves():
        print_json(encode_probe(found)) if options["as_data"] else print_probe(found)
    if not options["report_only"]:
        raise SystemExit(found.exit_code)


@probe_command.command("list")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def list_probes_command(as_data: bool) -> None:
    """List the probes with their judges and what the looks say."""
    from evenhand.cli.screen import Screen
    from evenhand.report.phrases import format_reported_origin
    from evenhand.workflows.probe import encode_probe, list_probes

    found = list_probes(None)
    with print_until_reader_leaves():
        if as_data:
            print_json([encode_probe(one) for one in found])
        elif found:
            origins = [format_reported_origin(one.probe.imported) for one in found]
            Screen().table(
                {
                    "probe": [one.probe.name for one in found],
                    "judge": [one.probe.judge for one in found],
                    **({"run is": origins} if any(origins) else {}),
                    "state": [one.status.state for one in found],
                    "sealed": [one.probe.at[:16].replace("T", " ") for one in found],
                    "looks": [str(one.status.looks) for one in found],
                    "lost": [f"{len(one.status.lost)} of {one.status.asked}" for one in found],
                    "evidence": [f"{format_printed_evidence(one)} of {one.status.threshold:,.0f}" for one in found],
                },
                right=("looks", "lost", "evidence"),
            )
        else:
            print_message("no probe yet: evenhand probe set NAME --labels labels.jsonl RUN")


@probe_command.command("show")
@click.argument("name", metavar="NAME")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def show_probe_command(name: str, as_data: bool) -> None:
    """Show what the looks at NAME say; nothing is asked."""
    from evenhand.workflows.probe import encode_probe, show_probe

    found = show_probe(None, name)
    with print_until_reader_leaves():
        print_json(encode_probe(found)) if as_data else print_probe(found)


def _print_seal(found: CheckedProbe) -> None:
    from evenhand.cli.screen import Screen

    screen, probe = Screen(), found.probe
    screen.line(f"Sealed: {probe.name}, {pluralize_count(len(probe.items), 'output')} of run {probe.run}.", bold=True)
    _print_probe_facts(screen, found)
    for note in found.notes:
        screen.line(note, indent=2, dim=True)
    screen.line(f"next: evenhand probe check {probe.name}, once a day.", indent=2)


def print_probe(found: CheckedProbe) -> None:
    """Print it; the answer comes first."""
    from evenhand.cli.screen import Screen

    screen, probe, status = Screen(), found.probe, found.status
    if status.state == "drift":
        since = f", most likely since {status.since[:10]}" if status.since else ""
        screen.line(f"Drift: {probe.judge} no longer decides as it did when it was sealed{since}.", bold=True, fg="red")
    elif status.looks:
        screen.line(f"No drift: {probe.judge} decides as it did when it was sealed.", bold=True, fg="green")
    else:
        screen.line(f"Nothing is known of {probe.judge} yet: no look was taken.", bold=True)
    if found.look is not None:
        screen.line(_phrase_printed_look(found), indent=2)
    if found.why_no_look:
        screen.line(f"{found.why_no_look[0].upper()}{found.why_no_look[1:]}.", indent=2)
    screen.line(
        f"Lost {len(status.lost)} of {pluralize_count(status.asked, 'answer')} in "
        f"{pluralize_count(status.looks, 'look')}; the evidence for drift is {format_printed_evidence(found)}, "
        f"it takes {status.threshold:,.0f}.",
        indent=2,
    )
    _print_probe_facts(screen, found)
    if status.state == "drift":
        screen.line(f"next: measure it again: evenhand trust; then evenhand probe set {probe.name} --force.", indent=2)
    if status.lost:
        _print_lost_answers(screen, status.lost)
    if found.resting is not None:
        _print_resting_verdicts(screen, found.resting)


def format_printed_evidence(found: CheckedProbe) -> str:
    """The evidence for drift; digits behind the point only where it is small."""
    evidence = found.status.evidence
    return f"{evidence:.1f}" if evidence < 100 else f"{min(evidence, 1e12):,.0f}"


def _phrase_printed_look(found: CheckedProbe) -> str:
    assert found.look is not None
    asked = len(found.look.answers)
    lost = sum(now is not found.probe.items[place].people for place, now in found.look.answers)
    failed = f", {found.look.failed} without a reply" if found.look.failed else ""
    return f"Asked {pluralize_count(asked, 'output')} again{failed}: {lost} lost."


def _print_probe_facts(screen: Screen, found: CheckedProbe) -> None:
    from evenhand.cli.screen import print_import_mark

    probe = found.probe
    print_import_mark(screen, probe.imported, probe.run)
    screen.line(
        f"{probe.judge} decided as people do in {format_percent(probe.agreement)} of {probe.repeats} answers to each "
        f"of {pluralize_count(len(probe.items), 'output')} ({probe.gate}).",
        indent=2,
    )
    daily = min(probe.detector.daily, len(probe.firm))
    losses, alarms = (format_percent_tenths(one) for one in (probe.detector.losses, probe.detector.false_alarms))
    screen.line(
        f"{daily} a day of the {len(probe.firm)} on which it always did are asked again; without drift it loses about "
        f"{losses}, and a false alarm comes in about {alarms} of years.",
        indent=2,
    )


def _print_lost_answers(screen: Screen, lost: tuple[LostAnswer, ...]) -> None:
    words = {True: "passes", False: "fails", None: "cannot assess"}
    shown = lost[-MOST_LOST:][::-1]
    screen.line("Lost answers, the newest first", gap=True, bold=True)
    screen.table(
        {
            "sample": [one.sample for one in shown],
            "variant": [one.variant for one in shown],
            "people": [f"{words[one.people][:4]}" for one in shown],
            "judge now": [words[one.now] for one in shown],
            "on": [one.at[:10] for one in shown],
        }
    )


def _print_resting_verdicts(screen: Screen, resting: JudgedVerdicts) -> None:
    shown = resting.verdicts[:MOST_VERDICTS]
    after = sum(one.after for one in resting.verdicts)
    cost = "at no known price" if resting.cost is None else f"about {format_dollar_amount(resting.cost)}"
    screen.line(
        f"{pluralize_count(len(resting.verdicts), 'stored verdict')} rest on this judge, {after} of them since drift "
        f"began: judging those again takes {pluralize_count(resting.calls, 'call')}, {cost}.",
        gap=True,
        bold=True,
    )
    screen.table(
        {
            "kind": [one.kind for one in shown],
            "id": [one.id for one in shown],
            "of": [one.name for one in shown],
            "verdict": [one.verdict or MISSING_DASH for one in shown],
            "since drift": ["yes" if one.after else "no" for one in shown],
            "calls": [str(one.calls) for one in shown],
        },
        right=("calls",),
    )
