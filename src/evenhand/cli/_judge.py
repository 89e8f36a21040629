"""evenhand judge: outputs and a rubric to models, and what they say to scores, reasons and cost."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evenhand.asking import costs
from evenhand.cli._asking_options import ABOVE_0, connections_of, how_of, how_options, limit_options, record_options
from evenhand.cli._files import read_output, read_outputs
from evenhand.cli._limits import Limits as Floor
from evenhand.cli._limits import number
from evenhand.cli._progress import watched
from evenhand.cli._text import one_line, tell_json, while_read
from evenhand.errors import Fault, InputError, close_to
from evenhand.guards import Hide, guarded, hidden, hider_for
from evenhand.judging import (
    EMBEDDED,
    Cascade,
    How,
    Judged,
    Preferred,
    judge_sample,
    judged_json,
    prefer_sample,
    preferred_json,
)
from evenhand.judging.models import Connections, Spent, default_name, set_up_for_oracle
from evenhand.loading import load_rubric, read_words, with_environment
from evenhand.model import Rubric, Sample

PARTS = ("question", "reference", "context")


@click.command("judge")
@click.argument("outputs", metavar="OUTPUT...", nargs=-1, required=True)
@click.option("--rubric", "-r", required=True, metavar="NAME|FILE", help="A shipped rubric, or a YAML or JSON file.")
@click.option("--model", "-m", "models", multiple=True, metavar="NAME", help="A judge; several make a panel.")
@click.option("--question", metavar="FILE", help="What the outputs answer.")
@click.option("--reference", metavar="FILE", help="A reference answer for the judge to hold outputs against.")
@click.option("--context", metavar="FILE", help="What the author was given: sources, a diff.")
@click.option("--author", "authors", multiple=True, metavar="OUTPUT=NAME", help="Who wrote an output.")
@click.option("--explain", is_flag=True, help="Say each step, and every reason with its evidence.")
@click.option("--json", "as_data", is_flag=True, help="Print the stable JSON.")
@record_options
@click.option("--each", is_flag=True, help="One request per criterion instead of one for all.")
@click.option("--samples", type=int, default=1, metavar="K", help="Ask K times; a criterion gets the mean.")
@click.option("--logprobs", is_flag=True, help="Use how likely each answer was, where the server tells.")
@click.option("--pairwise", is_flag=True, help="Which output is better: every pair, in both orders.")
@click.option("--cascade", is_flag=True, help="Ask the next judge only where the one before is unsure.")
@click.option("--weights", metavar="FILE", help="Weights of judges: a YAML file of NAME: NUMBER.")
@how_options("0 by default; 1 with --samples.")
@click.option("--deadline", type=ABOVE_0, metavar="SECONDS", help="What a judge has not said by then is missing.")
@limit_options
@click.option(
    "--injected",
    type=click.Choice(["flag", "refuse"]),
    default="flag",
    help="What to do with an output that speaks to its judge: flag it, or show it to no judge.",
)
@click.option("--min-score", metavar="NUMBER", help="Fail (exit 1) when a score is below this.")
@click.option("--min-grade", metavar="GRADE", help="Fail (exit 1) when a grade is below this.")
@click.option("--strict", is_flag=True, help="Count a borderline verdict as a failure.")
def command(**options: Any) -> int:
    """Judge each OUTPUT file (- for standard input) against a rubric.

    \b
    Models: embedded (where none is named), openai/NAME, anthropic/NAME,
    ollama/NAME, gguf:PATH, openai-compatible:URL/NAME,
    anthropic-compatible:URL/NAME, replay:FILE, python:MODULE:FUNCTION

    Exit code: 0 all well; 1 a verdict 'fail', a failed gate, an incomplete scorecard or a limit not reached;
    2 bad input; 3 a fault of Evenhand itself.
    """
    rubric = with_environment(load_rubric(options["rubric"]), os.environ)
    floor = Floor(rubric, options["min_score"], options["min_grade"], options["strict"])
    _refuse_together(options)
    sample = _sample(options)
    how = _how(options, floor)
    with redirect_stdout(sys.stderr):  # What a judge of your own prints must not get between our lines.
        result, spent = asyncio.run(_ask(rubric, sample, how, options))
    with while_read():
        if isinstance(result, Preferred):
            _show_preferred(rubric, result, spent, options["as_data"], hider_for(sample))
        else:
            _show_judged(result, spent, floor, options, hider_for(sample))
    return _exit_code(result, floor)


async def _ask(rubric: Rubric, sample: Sample, how: How, options: dict[str, Any]) -> tuple[Judged | Preferred, Spent]:
    async with connections_of(options) as connections:
        models = [connections.open(name) for name in _names(options["models"], rubric, connections)]
        async with watched(models, sys.stderr) as shown:
            if options["pairwise"]:
                return await prefer_sample(rubric, sample, shown, how), connections.spent
            judged = await judge_sample(rubric, sample, shown, how, costs(connections))
    return judged, connections.spent


def _show_judged(judged: Judged, spent: Spent, floor: Floor, options: dict[str, Any], hide: Hide) -> None:
    if options["as_data"]:
        tell_json(hidden(judged_json(judged, spent), hide))
    else:
        from evenhand.cli._judged_view import show_judged  # noqa: PLC0415

        show_judged(judged, spent, hide, explain=options["explain"])
    shortfalls = floor.shortfalls(judged.scores)
    if shortfalls:
        click.echo("\n" + "\n".join(map(one_line, shortfalls)), err=options["as_data"])


def _show_preferred(rubric: Rubric, preferred: Preferred, spent: Spent, as_data: bool, hide: Hide) -> None:
    if as_data:
        tell_json(hidden(preferred_json(preferred, spent), hide))
    else:
        from evenhand.cli._judged_view import show_preferred  # noqa: PLC0415

        show_preferred(rubric, preferred, spent, hide)


def _exit_code(result: Judged | Preferred, floor: Floor) -> int:
    if isinstance(result, Preferred):
        return 1 if any(one.why_not for one in result.preferences) else 0
    return floor.exit_code(result.scores)


def _names(models: tuple[str, ...], rubric: Rubric, connections: Connections) -> tuple[str, ...]:
    """The judges named, or those of the record; else the judge set up for submissions, or the embedded one."""
    named = models or connections.recorded()
    if named:
        return named
    if rubric.method.dialogue == "individual" and set_up_for_oracle(os.environ):
        return (default_name(os.environ),)
    return (EMBEDDED,)


def _refuse_together(options: dict[str, Any]) -> None:
    """Options that would do nothing beside --pairwise are a misunderstanding."""
    given = [name for name in ("min_score", "min_grade", "strict") if options[name]] if options["pairwise"] else []
    if given:
        what = f"--{given[0].replace('_', '-')} means nothing beside --pairwise: pairs have no scores"
        raise InputError(Fault(what, "leave one of them out"))


def _sample(options: dict[str, Any]) -> Sample:
    names: tuple[str, ...] = options["outputs"]
    if [*names, *(options[part] for part in PARTS)].count("-") > 1:
        raise InputError(Fault("standard input can be read once", "give the other as a file"))
    texts = read_outputs(names)
    empty = next((name for name, text in texts.items() if not text.strip()), None)
    if empty is not None:
        raise InputError(Fault("there is nothing in it to judge", where=empty))
    given = {part: read_output(options[part]) for part in PARTS if options[part]}
    sample = Sample(
        outputs=texts,
        input=given.get("question", ""),
        reference=given.get("reference", ""),
        context=given.get("context", ""),
        authors=dict(_author(entry, names) for entry in options["authors"]),
    )
    return guarded(sample)


def _author(entry: str, outputs: Sequence[str]) -> tuple[str, str]:
    output, equals, author = entry.partition("=")
    if not equals or output not in outputs or not author:
        what = f"{entry!r} does not name an output and its author"
        hint = close_to(output, outputs) or f"as in --author {outputs[0]}=openai/NAME"
        raise InputError(Fault(what, hint, where="--author"))
    return output, author


def _how(options: dict[str, Any], floor: Floor) -> How:
    weights = {}
    if options["weights"]:
        path = options["weights"]
        weights = {name: number(text, f"{path}: {name}") for name, text in read_words(Path(path)).items()}
    return replace(
        how_of(options),
        each=options["each"],
        samples=options["samples"],
        logprobs=options["logprobs"],
        deadline=options["deadline"],
        weights=weights,
        cascade=Cascade(least=floor.least) if options["cascade"] else None,
        refuse=options["injected"] == "refuse",
    )
