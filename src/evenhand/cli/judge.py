"""evenhand judge: asks models to judge outputs, then scores, explains and counts the cost."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import replace
from fractions import Fraction
from typing import Any

import click

from evenhand.cli.options import (
    add_prompt_options,
    add_record_options,
    add_request_limit_options,
    read_connection_command_options,
    read_judge_command_options,
    read_limit_command_options,
)
from evenhand.cli.output import (
    POSITIVE_NUMBER,
    FiniteNumber,
    escape_cli_line,
    open_command_stdin,
    print_json,
    print_message,
    print_until_reader_leaves,
)
from evenhand.cli.progress import show_model_progress
from evenhand.cli.score import print_shortfalls
from evenhand.cli.subject_tables import print_subject_evaluation
from evenhand.errors import Fault, InputError
from evenhand.judging.results import Preferences
from evenhand.judging.single_judge import Cascade
from evenhand.model.scale import to_exact_fraction
from evenhand.workflows.judge_files import JudgeFiles, judge_files
from evenhand.workflows.telemetry import open_user_telemetry

FILE_OPTIONS = (
    "rubric", "outputs", "question", "reference", "context", "authors", "traces", "weights", "maps", "pairwise",
    "subject",
)  # fmt: skip


@click.command("judge")
@click.argument("outputs", metavar="OUTPUT...", nargs=-1, required=True)
@click.option("--rubric", "-r", required=True, metavar="NAME|FILE", help="A shipped rubric, or a YAML or JSON file.")
@click.option("--model", "-m", "models", multiple=True, metavar="NAME", help="A judge; several make a panel.")
@click.option("--question", metavar="FILE", help="What the outputs answer.")
@click.option("--reference", metavar="FILE", help="A reference answer for the judge to hold outputs against.")
@click.option("--context", metavar="FILE", help="What the author was given: sources, a diff.")
@click.option("--author", "authors", multiple=True, metavar="OUTPUT=NAME", help="Who wrote an output.")
@click.option("--trace", "traces", multiple=True, metavar="[OUTPUT=]FILE", help="How an output came about: JSON.")
@click.option(
    "--subject", metavar="NAME", help="Store the evaluation of this subject, and compare it with its history."
)
@click.option("--explain", is_flag=True, help="Say each step, and every reason with its evidence.")
@click.option("--json", "as_data", is_flag=True, help="Print the stable JSON.")
@add_record_options
@click.option("--each", is_flag=True, help="One request per criterion instead of one for all.")
@click.option("--samples", type=int, default=1, metavar="K", help="Ask K times; a criterion gets the mean.")
@click.option("--logprobs", is_flag=True, help="Use how likely each answer was, where the server tells.")
@click.option("--pairwise", is_flag=True, help="Which output is better: every pair, in both orders.")
@click.option(
    "--cascade", is_flag=True, help="Two judges: the second sees what is near a threshold, and a random part."
)
@click.option(
    "--pass-on",
    type=FiniteNumber(0, 1),
    metavar="SHARE",
    help="With --cascade: of what is near no threshold, the share that is passed on at random; 0.2 by default.",
)
@click.option("--weights", metavar="FILE", help="Weights of judges: a YAML file of NAME: NUMBER.")
@click.option("--maps", metavar="FILE", help="Maps of judges' scores to people's scale, as calibrate writes them.")
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
@click.option(
    "--paraphrase-check",
    is_flag=True,
    help="Judge an output with a flagged passage once more without it; a jump of the score is a finding.",
)
@click.option("--min-score", metavar="NUMBER", help="Fail (exit 1) when a score is below this.")
@click.option("--min-grade", metavar="GRADE", help="Fail (exit 1) when a grade is below this.")
@click.option("--strict", is_flag=True, help="Count a borderline verdict as a failure.")
def judge_command(**options: Any) -> int:
    """Judge each OUTPUT file (- for standard input) against a rubric.

    \b
    Models: embedded (where none is named), openai/NAME, anthropic/NAME,
    ollama/NAME, gguf:PATH, openai-compatible:URL/NAME,
    anthropic-compatible:URL/NAME, openai-decisions/NAME,
    openai-decisions-compatible:URL/NAME, gguf-decisions:PATH, replay:FILE,
    python:MODULE:FUNCTION

    Exit code: 0 all well; 1 a verdict 'fail', a failed gate, an incomplete scorecard or a limit not reached;
    2 bad input; 3 a fault of Evenhand itself.
    """
    from evenhand.cli.judge_tables import print_judged_sample, print_preferences

    if options["pass_on"] is not None and not options["cascade"]:
        raise InputError(Fault("--pass-on says what a cascade passes on", "give --cascade too"))
    # Options that would do nothing beside --pairwise are a misunderstanding.
    pointless = ("min_score", "min_grade", "strict", "paraphrase_check")
    given = [name for name in pointless if options[name]] if options["pairwise"] else []
    if given:
        what = f"--{given[0].replace('_', '-')} means nothing beside --pairwise: pairs have no scores"
        raise InputError(Fault(what, "leave one of them out"))
    limits = read_limit_command_options(options["min_score"], options["min_grade"], options["strict"])
    files = JudgeFiles(**{name: options[name] for name in FILE_OPTIONS}, judges=options["models"], limits=limits)
    # What a judge of your own prints must not get between our lines.
    with open_user_telemetry("evenhand judge"), redirect_stdout(sys.stderr):
        judged = judge_files(
            files,
            how=replace(
                read_judge_command_options(options),
                each=options["each"],
                samples=options["samples"],
                logprobs=options["logprobs"],
                deadline=options["deadline"],
                cascade=_read_cascade_options(options, files.limits.least),
                refuse=options["injected"] == "refuse",
                paraphrase_check=options["paraphrase_check"],
            ),
            connect=read_connection_command_options(options),
            stdin=open_command_stdin(),
            watch=lambda models: show_model_progress(models, sys.stderr),
            warn=lambda text: print_message(escape_cli_line(f"note: {text}"), err=True),
        )
    with print_until_reader_leaves():
        if options["as_data"]:
            print_json(judged.to_json())
        elif isinstance(judged.result, Preferences):
            print_preferences(judged.rubric, judged.result, judged.spent, judged.hide)
        else:
            steps = judged.evaluation is not None
            print_judged_sample(judged.result, judged.spent, judged.hide, explain=options["explain"], steps=steps)
            print_subject_evaluation(judged.evaluation)
        print_shortfalls(judged.shortfalls, err=options["as_data"])
    return judged.exit_code


def _read_cascade_options(options: dict[str, Any], least: Fraction | None) -> Cascade | None:
    if not options["cascade"]:
        return None
    plain = Cascade(least=least)
    return plain if options["pass_on"] is None else replace(plain, share=to_exact_fraction(options["pass_on"]))
