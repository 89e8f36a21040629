"""evenhand judge: asks models to judge outputs, then prints scores, reasons, evidence, disagreement and cost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from fractions import Fraction
from typing import Any

import click

from evenhand.cli.history import print_subject_evaluation
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
    FiniteNumberOption,
    escape_cli_line,
    open_command_stdin,
    print_json,
    print_message,
    print_until_reader_leaves,
)
from evenhand.cli.progress import show_model_progress
from evenhand.cli.score import order_printed_scorecards, print_scores, print_shortfalls
from evenhand.cli.screen import Screen, print_section, shorten_distinct_names
from evenhand.errors import Fault, InputError
from evenhand.judging.results import JudgeCall, JudgedSample, Preferences
from evenhand.judging.single_judge import Cascade
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding
from evenhand.model.scale import Scored, to_exact_fraction
from evenhand.model.scorecard import Judgment, PanelDisagreement, Scorecard, Scores
from evenhand.models.budget import Spending
from evenhand.models.requests import EMBEDDED, NoReply
from evenhand.scoring.panel import measure_scorecard_disagreement
from evenhand.wording import format_dollar_amount, format_figure, format_fraction, format_rounded, pluralize_count
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
    type=FiniteNumberOption(0, 1),
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


PASSED_ON_WORDS = {
    "near": "passed on: unsure, or near a threshold",
    "drawn": "passed on at random, as a part of what is near no threshold is",
    "": "not passed on: near no threshold, and not drawn",
}


def print_judged_sample(
    judged: JudgedSample, spent: Spending, hide: Callable[[str], str], *, explain: bool, steps: bool = False
) -> None:
    """Print the scores, why each criterion got its own, how the judges differ, and what it cost.

    With `explain`, every step and every reason of every judge; with `steps`, the steps alone.
    """
    screen = Screen(hide)
    print_scores(judged.scores, explain=explain or steps, screen=screen)
    _print_guard_findings(screen, judged.findings)
    for card in order_printed_scorecards(judged.scores):
        own = [one for one in judged.judgments if one.output == card.id]
        if judged.decided_by.get(card.id):
            own = [one for one in own if one.judge == judged.decided_by[card.id]]
        _print_judgment_reasons(screen, judged.scores, card, own, explain=explain)
        for place, advice in enumerate(judged.suggestions.get(card.id, ())):
            if place == 0:
                screen.line("Suggestions for a revision", gap=True)
            screen.line(f"{advice.severity}: {advice.problem} → {advice.suggestion}", indent=2)
    view = measure_scorecard_disagreement(judged.scores)
    if view is not None and len(view.harshness) + len(view.silent) > 1:
        _print_panel_disagreement(screen, view, judged.scores)
    if judged.saved is not None:
        screen.line()
        for output, judge in judged.decided_by.items():
            screen.line(f"{output}: decided by {judge}")
        cost = f", about {format_dollar_amount(float(judged.saved.cost))}" if judged.saved.cost else ""
        if judged.cascade is not None:
            screen.line(PASSED_ON_WORDS[judged.cascade.passed_on])
        screen.line(
            f"the strong judge did not have to see {judged.saved.outputs} of "
            f"{pluralize_count(judged.saved.of, 'output')}{cost}"
        )
    for judge in judged.heuristic:
        rest = " For the rest name a --model." if any(card.missing for card in judged.scores.scorecards) else ""
        screen.line(f"{judge} is heuristic: it goes by words, not by understanding.{rest}", gap=True)
    _print_judging_cost(screen, spent, judged.calls)


def print_preferences(rubric: Rubric, preferred: Preferences, spent: Spending, hide: Callable[[str], str]) -> None:
    """Print how each output stands, every pair, and who follows the place."""
    screen = Screen(hide)
    pairs = pluralize_count(len({(one.first, one.second) for one in preferred.preferences}), "pair")
    screen.line(f"{rubric.name} · pairwise, both orders · {pairs} · seed {preferred.seed}", dim=True)
    screen.line()
    standings = sorted(preferred.standings, key=lambda one: -(one.rate if one.rate is not None else -1))
    columns = {
        "output": [one.output for one in standings],
        "won": [str(one.won) for one in standings],
        "tied": [str(one.tied) for one in standings],
        "lost": [str(one.lost) for one in standings],
        "undecided": [str(one.undecided or "") for one in standings],
        "rate": [format_figure(one.rate) for one in standings],
    }
    screen.table({name: cells for name, cells in columns.items() if any(cells)}, right=tuple(columns)[1:])
    screen.line()
    for pair, why in {
        (one.first, one.second, one.winner): one.gate for one in preferred.preferences if one.gate
    }.items():
        first, second, winner = pair
        screen.line(f"safety gate: {first} or {second}: {winner or 'a tie'}, because {why}")
    for one in (one for one in preferred.preferences if not one.gate):
        found = f"no answer ({one.why_not})" if one.why_not else one.winner or "a tie"
        if one.position_bias and not one.why_not:
            found = "a tie, because it chose by position"
        screen.line(f"{one.judge}: {one.first} or {one.second}: {found}")
        for reason in dict.fromkeys(filter(None, one.reasons)):
            screen.line(reason, indent=2, dim=True)
    _print_guard_findings(screen, preferred.findings)
    screen.line()
    for judge in dict.fromkeys(one.judge for one in preferred.preferences):
        biased, answered = preferred.position_bias(judge)
        if answered:
            screen.line(f"{judge} followed the position in {biased} of {answered} pairs")
    _print_judging_cost(screen, spent, preferred.calls)


def _print_guard_findings(screen: Screen, findings: Mapping[str, Sequence[GuardFinding]]) -> None:
    if findings:
        screen.line()
    for output, several in findings.items():
        for found in several:
            screen.line(f"{output}: {found.guard} guard, {found.rule}: {found.says}: “{found.text}”")


def _print_judgment_reasons(
    screen: Screen, scores: Scores, card: Scorecard, judgments: Sequence[Judgment], *, explain: bool
) -> None:
    """A line for each criterion; with `explain` one for each judge, and its evidence."""
    shown = list(judgments) if explain else _pick_judgments_to_print(card, judgments)
    statements = {one.id for one in (*scores.rubric.red_flags, *scores.rubric.bonuses)} - scores.rubric.leaves.keys()
    # What is missing is told above, with why; of statements those that were found are told.
    scored = [(one, one.score.value) for one in shown if isinstance(one.score, Scored)]
    told = [one for one, value in scored if one.criterion not in statements or value > 0]
    places = {id: place for place, id in enumerate(dict.fromkeys(one.criterion for one in told))}
    told.sort(key=lambda one: places[one.criterion])
    if not told:
        return
    screen.line(card.id, bold=True, gap=True)
    names = shorten_distinct_names(one.judge for one in judgments)
    several = len(names) > 1
    counted = told
    if several and not explain:  # The score that counts for the panel stands in place of the judge's own.
        counted = [replace(one, score=card.criteria.get(one.criterion, one.score), spread=None) for one in told]
    shown_evidence = [
        [f"“{quote.text}” (character {quote.start})" for quote in one.evidence]
        + [f"“{quote}” (trace)" for quote in one.from_trace]
        + [f"stated absent: {absent}" for absent in one.absent]
        for one in told
    ]
    columns = {
        "criterion": [one.criterion for one in told],
        "score": [_format_cli_judgment_score(scores.rubric, one) for one in counted],
        "judge" if explain else "reason by": [names[one.judge] for one in told] if several else [],
        "reason": [one.reason for one in told],
        "evidence": [" · ".join(own) for own in shown_evidence] if explain else [],
    }
    screen.table({name: cells for name, cells in columns.items() if any(cells)}, right=("score",))


def _pick_judgments_to_print(card: Scorecard, judgments: Sequence[Judgment]) -> list[Judgment]:
    """For each criterion the judgment that lies nearest to the score that counts; of those as near, one per score."""
    chosen: list[Judgment] = []
    for criterion in dict.fromkeys(one.criterion for one in judgments):
        own = [one for one in judgments if one.criterion == criterion]
        counted = card.criteria.get(criterion)
        scored = [(one, one.score.value) for one in own if isinstance(one.score, Scored)]
        if scored and isinstance(counted, Scored):
            middle = counted.value
            nearest = min(abs(value - middle) for _, value in scored)
            tied = {value: one for one, value in reversed(scored) if abs(value - middle) == nearest}
            # Two that disagree by as much have a reason each, unless it is the same.
            chosen += reversed({one.reason: one for one in tied.values()}.values())
        else:
            chosen.append(scored[0][0] if scored else own[0])
    return chosen


def _format_cli_judgment_score(rubric: Rubric, one: Judgment) -> str:
    if not isinstance(one.score, Scored):
        return "–"
    criterion = rubric.criterion(one.criterion)
    if (criterion is None or criterion.scale.yes_no) and one.score.value in (0, 1):
        return "yes" if one.score.value else "no"
    spread = f" ± {format_rounded(one.spread.sd, 2)}" if one.spread else ""
    value = one.score.value
    raw = "" if one.raw is None else f" (people's scale; the judge said {format_fraction(one.raw)})"
    spread += "" if one.expected is None else f", expected {format_fraction(one.expected, 2)}"
    shown = format_fraction(value, None if value.denominator == 1 else 2)
    return f"{one.score.band or ''} {shown}{raw}{spread}".strip()


def _print_panel_disagreement(screen: Screen, view: PanelDisagreement, scores: Scores) -> None:
    """Where the reviewers lie apart, one line each; agreement needs no line."""
    decimals = scores.rubric.method.scale.decimals
    apart = [judge for one in view.differing for _, judge in (one.low, one.high)]
    others = [*(one.judge for one in view.harshness), *(one.judge for one in view.dissent)]
    names = shorten_distinct_names([*apart, *others, *(judge for judge, _ in view.silent)])
    lines = [
        f"{one.criterion}: {format_fraction(one.mean_gap, 2)} apart on average, most on {one.output} "
        f"({names[one.low[1]]} {format_fraction(one.low[0])}, {names[one.high[1]]} {format_fraction(one.high[0])})"
        for one in view.differing
        if one.mean_gap
    ]
    for one in (one for one in view.harshness if one.by):
        by = f"{format_fraction(abs(one.by), decimals or 2)} {'below' if one.by < 0 else 'above'}"
        lines.append(f"{names[one.judge]} scores {by} the others")
    lines += [f"{names[one.judge]} would put {', '.join(one.first)} first" for one in view.dissent]
    noted = [note for card in scores.scorecards for note in card.notes]
    for judge, why in view.silent:
        again = any(why in note for note in noted)
        lines.append(f"{names[judge]} gave no score{', as noted above' if again else f': {why}'}")
    same = "none: every reviewer gave the same scores"
    print_section(screen, "Disagreement", [(line, None) for line in lines or [same]])


def _print_judging_cost(screen: Screen, spent: Spending, calls: Sequence[JudgeCall]) -> None:
    sent = [one.reply for one in calls if one.judge != EMBEDDED and one.reply.attempts]
    tried = [one.attempts for one in sent if isinstance(one, NoReply) or not one.recorded]
    again = f" ({sum(tried)} attempts)" if sum(tried) > len(tried) else ""
    parts = [f"{pluralize_count(len(tried), 'request')}{again}" if tried else "no model was asked"]
    failed = sum(isinstance(call.reply, NoReply) for call in calls)
    if failed:
        parts.append(f"{failed} without a reply")
    if spent.replayed:
        parts.append("1 reply from a record" if spent.replayed == 1 else f"{spent.replayed} replies from a record")
    if spent.input or spent.output:
        kept = f" ({spent.cached:,} of them cached by the server)" if spent.cached else ""
        parts.append(f"{spent.input:,} tokens in{kept}, {spent.output:,} out")
    if spent.requests and spent.cost is not None:
        parts.append(format_dollar_amount(float(spent.cost)) if spent.cost else "no cost")
    elif spent.requests:
        some = f"{format_dollar_amount(float(spent.priced))} and {spent.unpriced} of unknown price"
        parts.append(some if spent.priced else "price unknown")
    screen.line(" · ".join(parts), dim=True, gap=True)
