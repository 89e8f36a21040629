"""evenhand judge: asks models to judge outputs, then scores, explains and counts the cost."""

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

from evenhand.cli.inputs import ScoreLimits, parse_option_number, read_named_output, read_named_outputs
from evenhand.cli.options import (
    POSITIVE_NUMBER,
    add_prompt_options,
    add_record_options,
    add_request_limit_options,
    build_judge_options,
    build_model_connections,
)
from evenhand.cli.output import escape_to_one_line, print_json, until_reader_leaves
from evenhand.cli.progress import watch_models
from evenhand.errors import Fault, InputError, suggest_close_word
from evenhand.files.methods import apply_rubric_environment
from evenhand.files.parsing import read_text_mapping
from evenhand.files.rubrics import load_rubric
from evenhand.guards.output_guards import guard_sample
from evenhand.guards.personal_data import TextMask, build_sample_mask, mask_data
from evenhand.judging.judge import judge_sample, prefer_sample
from evenhand.judging.open_judge import open_judge
from evenhand.judging.results import JudgedSample, Preferences, judged_sample_to_json, preferences_to_json
from evenhand.judging.single_judge import Cascade, JudgeOptions
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.models.budget import Spending
from evenhand.models.connections import Connections
from evenhand.models.model_names import choose_oracle_judge, is_oracle_judge_configured
from evenhand.models.requests import EMBEDDED
from evenhand.workflows.judge import price_model_replies

INPUT_PARTS = ("question", "reference", "context")


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
@add_record_options
@click.option("--each", is_flag=True, help="One request per criterion instead of one for all.")
@click.option("--samples", type=int, default=1, metavar="K", help="Ask K times; a criterion gets the mean.")
@click.option("--logprobs", is_flag=True, help="Use how likely each answer was, where the server tells.")
@click.option("--pairwise", is_flag=True, help="Which output is better: every pair, in both orders.")
@click.option("--cascade", is_flag=True, help="Ask the next judge only where the one before is unsure.")
@click.option("--weights", metavar="FILE", help="Weights of judges: a YAML file of NAME: NUMBER.")
@add_prompt_options("0 by default; 1 with --samples.")
@click.option(
    "--deadline", type=POSITIVE_NUMBER, metavar="SECONDS", help="What a judge has not said by then is missing."
)
@add_request_limit_options
@click.option(
    "--injected",
    type=click.Choice(["flag", "refuse"]),
    default="flag",
    help="What to do with an output that speaks to its judge: flag it, or show it to no judge.",
)
@click.option("--min-score", metavar="NUMBER", help="Fail (exit 1) when a score is below this.")
@click.option("--min-grade", metavar="GRADE", help="Fail (exit 1) when a grade is below this.")
@click.option("--strict", is_flag=True, help="Count a borderline verdict as a failure.")
def judge_command(**options: Any) -> int:
    """Judge each OUTPUT file (- for standard input) against a rubric.

    \b
    Models: embedded (where none is named), openai/NAME, anthropic/NAME,
    ollama/NAME, gguf:PATH, openai-compatible:URL/NAME,
    anthropic-compatible:URL/NAME, replay:FILE, python:MODULE:FUNCTION

    Exit code: 0 all well; 1 a verdict 'fail', a failed gate, an incomplete scorecard or a limit not reached;
    2 bad input; 3 a fault of Evenhand itself.
    """
    rubric = apply_rubric_environment(load_rubric(options["rubric"]), os.environ)
    floor = ScoreLimits(rubric, options["min_score"], options["min_grade"], options["strict"])
    _refuse_pairwise_limits(options)
    sample = _build_judge_sample(options)
    how = _complete_judge_options(options, floor)
    with redirect_stdout(sys.stderr):  # What a judge of your own prints must not get between our lines.
        result, spent = asyncio.run(_ask_judge_models(rubric, sample, how, options))
    with until_reader_leaves():
        if isinstance(result, Preferences):
            _print_preference_result(rubric, result, spent, options["as_data"], build_sample_mask(sample))
        else:
            _print_judge_result(result, spent, floor, options, build_sample_mask(sample))
    return _choose_judge_exit_code(result, floor)


async def _ask_judge_models(
    rubric: Rubric, sample: Sample, how: JudgeOptions, options: dict[str, Any]
) -> tuple[JudgedSample | Preferences, Spending]:
    async with build_model_connections(options) as connections:
        names = _choose_judge_names(options["models"], rubric, connections)
        models = [open_judge(connections, name) for name in names]
        async with watch_models(models, sys.stderr) as shown:
            if options["pairwise"]:
                return await prefer_sample(rubric, sample, shown, how), connections.spent
            judged = await judge_sample(rubric, sample, shown, how, price_model_replies(connections))
    return judged, connections.spent


def _print_judge_result(
    judged: JudgedSample, spent: Spending, floor: ScoreLimits, options: dict[str, Any], hide: TextMask
) -> None:
    if options["as_data"]:
        print_json(mask_data(judged_sample_to_json(judged, spent), hide))
    else:
        from evenhand.cli.judge_tables import print_judged_sample

        print_judged_sample(judged, spent, hide, explain=options["explain"])
    shortfalls = floor.shortfalls(judged.scores)
    if shortfalls:
        click.echo("\n" + "\n".join(map(escape_to_one_line, shortfalls)), err=options["as_data"])


def _print_preference_result(
    rubric: Rubric, preferred: Preferences, spent: Spending, as_data: bool, hide: TextMask
) -> None:
    if as_data:
        print_json(mask_data(preferences_to_json(preferred, spent), hide))
    else:
        from evenhand.cli.judge_tables import print_preferences

        print_preferences(rubric, preferred, spent, hide)


def _choose_judge_exit_code(result: JudgedSample | Preferences, floor: ScoreLimits) -> int:
    if isinstance(result, Preferences):
        return 1 if any(one.why_not for one in result.preferences) else 0
    return floor.exit_code(result.scores)


def _choose_judge_names(models: tuple[str, ...], rubric: Rubric, connections: Connections) -> tuple[str, ...]:
    """The judges named, or those of the record; else the judge set up for submissions, or the embedded one."""
    named = models or connections.recorded()
    if named:
        return named
    if rubric.method.dialogue == "individual" and is_oracle_judge_configured(os.environ):
        return (choose_oracle_judge(os.environ),)
    return (EMBEDDED,)


def _refuse_pairwise_limits(options: dict[str, Any]) -> None:
    """Options that would do nothing beside --pairwise are a misunderstanding."""
    given = [name for name in ("min_score", "min_grade", "strict") if options[name]] if options["pairwise"] else []
    if given:
        what = f"--{given[0].replace('_', '-')} means nothing beside --pairwise: pairs have no scores"
        raise InputError(Fault(what, "leave one of them out"))


def _build_judge_sample(options: dict[str, Any]) -> Sample:
    names: tuple[str, ...] = options["outputs"]
    if [*names, *(options[part] for part in INPUT_PARTS)].count("-") > 1:
        raise InputError(Fault("standard input can be read once", "give the other as a file"))
    texts = read_named_outputs(names)
    empty = next((name for name, text in texts.items() if not text.strip()), None)
    if empty is not None:
        raise InputError(Fault("there is nothing in it to judge", where=empty))
    given = {part: read_named_output(options[part]) for part in INPUT_PARTS if options[part]}
    sample = Sample(
        outputs=texts,
        input=given.get("question", ""),
        reference=given.get("reference", ""),
        context=given.get("context", ""),
        authors=dict(_parse_author_option(entry, names) for entry in options["authors"]),
    )
    return guard_sample(sample)


def _parse_author_option(entry: str, outputs: Sequence[str]) -> tuple[str, str]:
    output, equals, author = entry.partition("=")
    if not equals or output not in outputs or not author:
        what = f"{entry!r} does not name an output and its author"
        hint = suggest_close_word(output, outputs) or f"as in --author {outputs[0]}=openai/NAME"
        raise InputError(Fault(what, hint, where="--author"))
    return output, author


def _complete_judge_options(options: dict[str, Any], floor: ScoreLimits) -> JudgeOptions:
    weights = {}
    if options["weights"]:
        path = options["weights"]
        weights = {
            name: parse_option_number(text, f"{path}: {name}") for name, text in read_text_mapping(Path(path)).items()
        }
    return replace(
        build_judge_options(options),
        each=options["each"],
        samples=options["samples"],
        logprobs=options["logprobs"],
        deadline=options["deadline"],
        weights=weights,
        cascade=Cascade(least=floor.least) if options["cascade"] else None,
        refuse=options["injected"] == "refuse",
    )
