"""evenhand calibrate: judges against the labels of people, and which judges to ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from evenhand.cli.output import escape_terminal_text, print_json, print_message, print_until_reader_leaves
from evenhand.cli.screen import Screen, print_import_mark, print_table_or_sentences
from evenhand.wording import format_percent, format_rounded, pluralize_count, word_criterion


@click.command("calibrate")
@click.argument("labels", metavar="LABELS")
@click.argument("run", metavar="RUN")
@click.option(
    "--write", "target", metavar="FILE", help="Write the recommended panel to this file, for an eval to name."
)
@click.option("--maps", is_flag=True, help="With --write: also the maps to people's scale that help.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def calibrate_command(labels: str, run: str, target: str | None, maps: bool, as_data: bool) -> None:
    """Hold the judges of RUN against LABELS, what people said of its outputs: one JSON object per line.

    \b
    {"sample": "s1", "variant": "new", "criterion": "accuracy", "rater": "r1", "score": 4}

    The labels are kept with the run, in place of those before, once all that was asked for is done. RUN is an id, the
    beginning of one, "latest" or "latest:NAME".
    """
    from evenhand.calibrate.calibration import encode_judges_against_people
    from evenhand.calibrate.labels import describe_label_binding
    from evenhand.workflows.calibrate import calibrate_run

    if maps and target is None:
        raise click.UsageError("--maps says what to write: give --write FILE too")
    one = calibrate_run(None, run, Path(labels), None if target is None else Path(target), maps=maps)
    data = encode_judges_against_people(one.found)
    binding = describe_label_binding(one.found.labelled.void, one.found.labelled.unbound)
    with print_until_reader_leaves():
        print_json(data) if as_data else print_calibration(data, binding, None if one.panel_refused else target)
    if one.panel_refused is not None:
        raise one.panel_refused
    if target is not None:
        print_message(f"written: {escape_terminal_text(target)}", err=True)
    before = f" (in place of {one.replaced:,})" if one.replaced else ""
    print_message(f"kept: {pluralize_count(one.labels, 'label')} with run {one.found.run}{before}", err=True)


CalibrationData = Mapping[str, Any]

ALIGNMENT_ANSWERS = {
    "green": ("Yes: {who} agrees with people", "green"),
    "amber": ("With care: {who} agrees with people only in part", "yellow"),
    "red": ("No: {who} does not agree with people", "red"),
    "grey": ("Not known", None),
}
AGREEMENT_FIGURES = {"α": "alpha", "κ": "kappa", "r": "pearson", "ρ": "spearman"}
BIAS_KINDS = {"length": "per 100 chars", "position": "first seat", "self-preference": "own model"}
NO_VALUE = "–"


def print_calibration(data: CalibrationData, binding: Iterable[str] = (), written: str | None = None) -> None:
    """Print it; `binding` says which labels do not count, `written` is the file that the panel went to."""
    screen = Screen()
    words, colour = ALIGNMENT_ANSWERS[data["aligned"]["colour"]]
    asked = "the panel" if len(data["judges"]) > 1 else data["judges"][0]
    screen.line(f"{words.format(who=asked)}: {data['aligned']['says']}.", bold=True, fg=colour)
    print_import_mark(screen, data.get("imported"), data["run"])
    raters = pluralize_count(len(data["raters"]), "person", "people")
    sizes = f"{pluralize_count(data['labels'], 'label')} by {raters} on {pluralize_count(data['samples'], 'sample')}"
    screen.line(f"{data['name']} · run {data['run']} · {sizes}", dim=True)
    for line in binding:
        screen.line(line, dim=True)
    _print_agreement_table(screen, data)
    _print_bias_table(screen, data["bias"])
    # Those of the panel, or of the only judge; levels that nobody used are left out.
    who = data["agreement"][-1]["judge"]
    for one in data["confusion"]:
        both = [(*row, *column) for row, column in zip(one["counts"], zip(*one["counts"], strict=True), strict=True)]
        used = [place for place, counts in enumerate(both) if any(counts)]
        if one["judge"] != who or len(used) < 2:
            continue
        said = f"{word_criterion(one['question'])}: what {who} said (rows)"
        screen.line(f"{said} where people's middle answer was (columns)", gap=True, bold=True)
        columns = {"": [one["levels"][row] for row in used]}
        columns |= {one["levels"][at]: [f"{one['counts'][row][at] or '·'}" for row in used] for at in used}
        screen.table(columns, right=tuple(columns))
    _print_calibration_maps(screen, data["maps"])
    _print_people_scale_means(screen, data["means"])
    _print_panel_recommendation(screen, data["recommendation"])
    _print_suggested_weights(screen, data["weights"])
    screen.line(f"next: {_format_next_step_terminal_line(data, written)}", gap=True)


def _print_agreement_table(screen: Screen, data: CalibrationData) -> None:
    screen.line("Agreement with people [95% interval]; a person: each against the others", gap=True, bold=True)
    names = ("question", "judge", "α", "κ", "r", "ρ", "n")
    rows = list(_build_agreement_terminal_rows(data))
    print_table_or_sentences(screen, names, rows, heads=2, once=True, right=names[2:])
    # Why there is no number, or no interval, each reason once.
    agreement = data["agreement"]
    lines = ["κ is for single criteria with whole levels"] if any(one["kappa"] is None for one in agreement) else []
    missing: dict[str, dict[str, None]] = {}
    for one in agreement:
        for sign, figure in AGREEMENT_FIGURES.items():
            if one[figure] is not None and one[figure]["value"] is None:
                missing.setdefault(one[figure]["why"], {})[sign] = None
    lines += [f"{', '.join(signs)} not known: {why}" for why, signs in missing.items()]
    bare = (one["alpha"] for one in agreement)
    whys = (one["why"] for one in bare if one["value"] is not None and one["low"] is None)
    for line in (*lines, *(f"α without an interval: {why}" for why in dict.fromkeys(whys))):
        screen.line(f"{NO_VALUE} {line}", indent=2, dim=True)


def _build_agreement_terminal_rows(data: CalibrationData) -> Iterator[list[str]]:
    """Question by question: every judge, then how far a person agrees with the others."""
    for people in data["people"]:
        question = people["question"]
        for one in data["agreement"]:
            if one["question"] != question:
                continue
            kappa = one["kappa"]["value"] if one["kappa"] else None
            figures = map(_format_cli_number, (kappa, one["pearson"]["value"], one["spearman"]["value"]))
            alpha = _format_cli_agreement(one["alpha"], "value")
            yield [word_criterion(question), one["judge"], alpha, *figures, f"{one['alpha']['n']:,}"]
        if len(data["raters"]) > 1:
            alpha = _format_cli_agreement(people["alpha"], "value")
            yield [word_criterion(question), "a person", alpha, "", "", "", f"{people['alpha']['n']:,}"]


def _print_bias_table(screen: Screen, biases: Sequence[CalibrationData]) -> None:
    """One row for each judge and question; what nothing is known of is said once."""
    screen.line("Bias: judge minus people, with 95% intervals (* leaves 0 out)", gap=True, bold=True)
    found = {(one["question"], one["judge"], one["kind"]): one for one in biases}
    kinds = [kind for kind in BIAS_KINDS if any(one["estimate"] is not None for one in biases if one["kind"] == kind)]
    rows = []
    for question, judge in dict.fromkeys((one["question"], one["judge"]) for one in biases):
        harsh = found[question, judge, "harshness"]
        more = [_format_cli_bias(found.get((question, judge, kind)), digits=3) for kind in kinds]
        by = f"{_format_cli_bias(harsh)} {_format_cli_interval(harsh)}".strip()
        tone = NO_VALUE
        if harsh["estimate"] is not None:
            level = harsh["low"] <= 0 <= harsh["high"]
            tone = "level" if level else "harsh" if harsh["estimate"] < 0 else "generous"
        rows.append([word_criterion(question), judge, tone, by, *more])
    names = ("question", "judge", "is", "by", *(BIAS_KINDS[kind] for kind in kinds))
    print_table_or_sentences(screen, names, rows, heads=2, once=True, right=names[3:])
    for why in dict.fromkeys(f"{one['kind']} not known: {one['why']}" for one in biases if one["why"]):
        screen.line(f"{NO_VALUE} {why}", indent=2, dim=True)


def _print_calibration_maps(screen: Screen, maps: Sequence[CalibrationData]) -> None:
    shown = [one for one in maps if one["knots"]]
    if shown:
        title = "Maps: what people say where the judge is low / mid / high; errors on held-out samples"
        screen.line(title, gap=True, bold=True)
        rows = []
        for one in shown:
            points = " / ".join(_format_cli_number(y) for _, y in one["points"])
            errors = map(_format_cli_number, (one["error_before"], one["error_after"]))
            helps = "yes" if one["helps"] else "no" if one["gain"]["high"] < 0 else "not clearly"
            rows.append([word_criterion(one["question"]), one["judge"], points, *errors, helps])
        names = ("question", "judge", "low / mid / high", "error", "mapped", "helps")
        print_table_or_sentences(screen, names, rows, heads=2, once=True, right=("error", "mapped"))
    for why in dict.fromkeys(one["why"] for one in maps if one["why"]):
        screen.line(f"{NO_VALUE} no map: {why}", dim=True, gap=True)


def _print_people_scale_means(screen: Screen, means: Sequence[CalibrationData]) -> None:
    known = [one for one in means if one["powered"]]
    if known:
        screen.line("Means on people's scale (labels on some, judges on all)", gap=True, bold=True)
        rows = []
        for one in known:
            people = _format_cli_agreement(one["powered"], "estimate")
            if one["powered"]["low"] == one["powered"]["high"]:  # Every output has a label.
                people = _format_cli_number(one["powered"]["estimate"])
            labelled = f"{one['labelled']:,} of {one['powered']['judged']:,}"
            rows.append(
                [one["variant"], word_criterion(one["question"]), _format_cli_number(one["judged"]), people, labelled]
            )
        names = ("variant", "question", "judges say", "people would", "labelled")
        print_table_or_sentences(screen, names, rows, heads=2, right=("judges say", "people would"))
    elif means:
        screen.line()
    whose: dict[str, list[str]] = {}
    for one in (one for one in means if one["why"]):
        whose.setdefault(one["why"], []).append(f"{one['variant']} on {word_criterion(one['question'])}")
    for why, of in whose.items():
        screen.line(f"{NO_VALUE} no mean on people's scale for {', '.join(of)}: {why}", dim=True)


def _print_panel_recommendation(screen: Screen, one: CalibrationData) -> None:
    screen.line("Which judges to ask", gap=True, bold=True)
    if one["chosen"] is None:
        more = f"; label {pluralize_count(one['more_samples'], 'more sample')}" if one["more_samples"] else ""
        screen.line(f"No recommendation: {one['why']}{more}.", indent=2)
        return
    rows = []
    for each in one["candidates"]:
        mark = "→ " if each["name"] == one["chosen"]["name"] else ""
        rows.append([f"{mark}{each['name']}", format_rounded(each["error"], 3), format_percent(each["answered"])])
    print_table_or_sentences(screen, ("panel", "error", "answered"), rows, heads=1, right=("error", "answered"))
    chosen, gain = one["chosen"], one["gain"]
    why = f"the simplest within one standard error of the best, {one['best']}"
    if chosen["name"] == one["best"]:
        why = "it errs least, and none that is simpler comes within one standard error of it"
    name = chosen["name"]
    if chosen["kind"] == "weights":
        name = ", ".join(f"{judge} {format_rounded(weight, 2)}" for judge, weight in chosen["weights"].items())
    lower = "clearly lower" if gain["low"] > 0 else "clearly higher" if gain["high"] < 0 else "no clear difference"
    lines = [
        f"Recommended: {name}: {why} (of {one['tried']:,} tried).",
        f"How sure: chosen so in {one['same']} of {one['choices']} trials without a fifth of the samples. Panels "
        f"chosen this way err by {format_rounded(one['error'], 3)} of the scale on samples they were not chosen on; "
        f"the one that ran: {format_rounded(one['error_now'], 3)} ({lower}).",
    ]
    if one["alpha"]["value"] is not None:
        lines.append(f"Their α with people there: {_format_cli_agreement(one['alpha'], 'value')}.")
    for line in (*lines, *(f"Beware: {warning}" for warning in one["warnings"])):
        screen.line(line, indent=2)


def _print_suggested_weights(screen: Screen, one: CalibrationData) -> None:
    screen.line("Criterion weights", gap=True, bold=True)
    if one["suggested"] is None:
        more = f"; label {pluralize_count(one['more_samples'], 'more sample')}" if one["more_samples"] else ""
        screen.line(f"No suggestion: {one['why']}{more}.", indent=2)
        return
    rows = [[id, _format_cli_number(now), _format_cli_number(one["suggested"][id])] for id, now in one["now"].items()]
    print_table_or_sentences(screen, ("criterion", "now", "fitted"), rows, heads=1, right=("now", "fitted"))
    gain = one["gain"]
    clear = "clearly less" if one["helps"] else "clearly more" if gain["high"] < 0 else "no clear difference"
    low, high = (_format_cli_minus(gain[end], "z.4f") for end in ("low", "high"))
    error, now = (_format_cli_minus(one[name], "z.3f") for name in ("error", "error_now"))
    screen.line(
        f"Fitted weights err by {error} of the scale on samples they were not fitted on; the rubric's: {now} ({clear}: "
        f"the squared error falls by {low} to {high}; {pluralize_count(one['samples'], 'sample')}).",
        indent=2,
    )
    advice = "write them into the rubric if they make sense to you" if one["helps"] else "keep those of the rubric"
    screen.line(f"Nothing was changed: {advice}.", indent=2)


def _format_next_step_terminal_line(data: CalibrationData, written: str | None) -> str:
    one, colour = data["recommendation"], data["aligned"]["colour"]
    if written is not None:
        kind = one["chosen"]["kind"] if one["chosen"] is not None else ""
        median = ", and panel: {aggregate: median} in the rubric" if kind == "median" else ""
        return f"name the panel in the eval file: judges: {written}{median}."
    if one["chosen"] is None and one["more_samples"]:
        return f"label {pluralize_count(one['more_samples'], 'more sample')}, then calibrate again."
    if one["chosen"] is not None and one["gain"]["low"] > 0 and data.get("imported"):
        return "name the judges of the recommended panel that you know in the eval file."
    if one["chosen"] is not None and one["gain"]["low"] > 0:
        return f"ask the recommended panel: evenhand calibrate … {data['run']} --write panel.yaml"
    return "nothing: keep the judges as they are." if colour == "green" else str(data["aligned"]["advice"])


def _format_cli_bias(one: CalibrationData | None, digits: int = 2) -> str:
    if one is None or one["estimate"] is None:
        return NO_VALUE
    clear = one["low"] is not None and not one["low"] <= 0 <= one["high"]
    return f"{_format_cli_minus(one['estimate'], f'+.{digits}f')}{'*' if clear else ' '}"


def _format_cli_number(value: float | None) -> str:
    return NO_VALUE if value is None else _format_cli_minus(value)


def _format_cli_agreement(one: CalibrationData, name: str) -> str:
    return f"{_format_cli_number(one[name])} {_format_cli_interval(one)}".strip()


def _format_cli_interval(one: CalibrationData) -> str:
    low, high = (_format_cli_number(one[end]) for end in ("low", "high"))
    return "" if one["low"] is None else f"[{low}, {high}]"


def _format_cli_minus(value: float, form: str = "z.2f") -> str:
    """With the sign that is as wide as a plus."""
    return f"{value:{form}}".replace("-", "−")
