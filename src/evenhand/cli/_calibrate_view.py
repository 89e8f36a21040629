"""A calibration on a terminal: whether the judges can be trusted comes first, what to do about it last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.cli._rows import show_rows
from evenhand.cli._screen import Screen

Data = Mapping[str, Any]

ANSWERS = {
    "green": ("Yes: {who} agrees with people", "green"),
    "amber": ("With care: {who} agrees with people only in part", "yellow"),
    "red": ("No: {who} does not agree with people", "red"),
    "grey": ("Not known", None),
}
FIGURES = {"α": "alpha", "κ": "kappa", "r": "pearson", "ρ": "spearman"}
KINDS = {"length": "per 100 chars", "position": "first seat", "self-preference": "own model"}
NONE = "–"


def show_calibration(data: Data, written: str | None = None) -> None:
    """Print it; `written` is the file that the panel went to."""
    screen = Screen()
    _show_answer(screen, data)
    _show_agreement(screen, data)
    _show_bias(screen, data["bias"])
    _show_confusion(screen, data)
    _show_maps(screen, data["maps"])
    _show_means(screen, data["means"])
    _show_panel(screen, data["recommendation"])
    screen.gap()
    screen.line(f"next: {_next(data, written)}")


def _show_answer(screen: Screen, data: Data) -> None:
    found = data["aligned"]
    words, colour = ANSWERS[found["colour"]]
    who = "the panel" if len(data["judges"]) > 1 else data["judges"][0]
    screen.line(f"{words.format(who=who)}: {found['says']}.", bold=True, fg=colour)
    raters = _times(len(data["raters"]), "person", "people")
    sizes = f"{_times(data['labels'], 'label')} by {raters} on {_times(data['samples'], 'sample')}"
    screen.line(f"{data['name']} · run {data['run']} · {sizes}", dim=True)


def _show_agreement(screen: Screen, data: Data) -> None:
    _section(screen, "Agreement with people [95 % interval]; a person: each against the others")
    names = ("question", "judge", "α", "κ", "r", "ρ", "n")
    show_rows(screen, names, list(_agreement_rows(data)), heads=2, once=True, right=names[2:])
    for line in _gaps(data["agreement"]):
        screen.line(f"{NONE} {line}", indent=2, dim=True)


def _gaps(agreement: Sequence[Data]) -> Iterator[str]:
    """Why there is no number, or no interval, each reason once."""
    if any(one["kappa"] is None for one in agreement):
        yield "κ is for single criteria with whole levels"
    missing: dict[str, dict[str, None]] = {}
    for one in agreement:
        for sign, figure in FIGURES.items():
            if one[figure] is not None and one[figure]["value"] is None:
                missing.setdefault(one[figure]["why"], {})[sign] = None
    yield from (f"{', '.join(signs)} not known: {why}" for why, signs in missing.items())
    bare = (one["alpha"] for one in agreement)
    whys = (one["why"] for one in bare if one["value"] is not None and one["low"] is None)
    yield from (f"α without an interval: {why}" for why in dict.fromkeys(whys))


def _agreement_rows(data: Data) -> Iterator[list[str]]:
    """Question by question: every judge, then how far a person agrees with the others."""
    for people in data["people"]:
        question = people["question"]
        for one in data["agreement"]:
            if one["question"] != question:
                continue
            kappa = one["kappa"]["value"] if one["kappa"] else None
            figures = [_number(value) for value in (kappa, one["pearson"]["value"], one["spearman"]["value"])]
            yield [question, one["judge"], _estimate(one["alpha"], "value"), *figures, f"{one['alpha']['n']:,}"]
        if len(data["raters"]) > 1:
            yield [question, "a person", _estimate(people["alpha"], "value"), "", "", "", f"{people['alpha']['n']:,}"]


def _show_bias(screen: Screen, biases: Sequence[Data]) -> None:
    """One row for each judge and question; what nothing is known of is said once."""
    _section(screen, "Bias: judge minus people, with 95 % intervals (* leaves 0 out)")
    found = {(one["question"], one["judge"], one["kind"]): one for one in biases}
    kinds = [kind for kind in KINDS if any(one["estimate"] is not None for one in biases if one["kind"] == kind)]
    rows = []
    for question, judge in dict.fromkeys((one["question"], one["judge"]) for one in biases):
        harsh = found[question, judge, "harshness"]
        more = [_marked(found.get((question, judge, kind)), digits=3) for kind in kinds]
        rows.append([question, judge, _word(harsh), f"{_marked(harsh)} {_ends(harsh)}".strip(), *more])
    names = ("question", "judge", "is", "by", *(KINDS[kind] for kind in kinds))
    show_rows(screen, names, rows, heads=2, once=True, right=names[3:])
    for why in dict.fromkeys(f"{one['kind']} not known: {one['why']}" for one in biases if one["why"]):
        screen.line(f"{NONE} {why}", indent=2, dim=True)


def _word(one: Data) -> str:
    if one["estimate"] is None:
        return NONE
    if one["low"] <= 0 <= one["high"]:
        return "level"
    return "harsh" if one["estimate"] < 0 else "generous"


def _show_confusion(screen: Screen, data: Data) -> None:
    """Those of the panel, or of the only judge; levels that nobody used are left out."""
    who = data["agreement"][-1]["judge"]
    for one in data["confusion"]:
        used = [place for place in range(len(one["levels"])) if _used(one["counts"], place)]
        if one["judge"] != who or len(used) < 2:
            continue
        _section(screen, f"{one['question']}: what {who} said (rows) where people's middle answer was (columns)")
        columns = {"": [one["levels"][row] for row in used]}
        columns |= {one["levels"][at]: [f"{one['counts'][row][at] or '·'}" for row in used] for at in used}
        screen.table(columns, right=tuple(columns))


def _used(counts: Sequence[Sequence[int]], place: int) -> bool:
    return any(counts[place]) or any(row[place] for row in counts)


def _show_maps(screen: Screen, maps: Sequence[Data]) -> None:
    shown = [one for one in maps if one["knots"]]
    if shown:
        _section(screen, "Maps: what people say where the judge is low / mid / high; errors on held-out samples")
        rows = [
            [
                one["question"],
                one["judge"],
                " / ".join(_number(y) for _, y in one["points"]),
                _number(one["error_before"]),
                _number(one["error_after"]),
                _helps(one),
            ]
            for one in shown
        ]
        names = ("question", "judge", "low / mid / high", "error", "mapped", "helps")
        show_rows(screen, names, rows, heads=2, once=True, right=("error", "mapped"))
    for why in dict.fromkeys(one["why"] for one in maps if one["why"]):
        screen.gap()
        screen.line(f"{NONE} no map: {why}", dim=True)


def _helps(one: Data) -> str:
    return "yes" if one["helps"] else "no" if one["gain"]["high"] < 0 else "not clearly"


def _show_means(screen: Screen, means: Sequence[Data]) -> None:
    known = [one for one in means if one["powered"]]
    if known:
        _section(screen, "Means on people's scale (labels on some, judges on all)")
        rows = [
            [
                one["variant"],
                one["question"],
                _number(one["judged"]),
                _estimate(one["powered"], "estimate"),
                f"{one['labelled']:,} of {one['powered']['judged']:,}",
            ]
            for one in known
        ]
        names = ("variant", "question", "judges say", "people would", "labelled")
        show_rows(screen, names, rows, heads=2, right=("judges say", "people would"))
    elif means:
        screen.gap()
    whose: dict[str, list[str]] = {}
    for one in means:
        if one["why"]:
            whose.setdefault(one["why"], []).append(f"{one['variant']} on {one['question']}")
    for why, of in whose.items():
        screen.line(f"{NONE} no mean on people's scale for {', '.join(of)}: {why}", dim=True)


def _show_panel(screen: Screen, one: Data) -> None:
    _section(screen, "Which judges to ask")
    if one["chosen"] is None:
        more = f"; label {_times(one['more_samples'], 'more sample')}" if one["more_samples"] else ""
        screen.line(f"No recommendation: {one['why']}{more}.", indent=2)
        return
    rows = [
        [
            f"{'→ ' if each['name'] == one['chosen']['name'] else ''}{each['name']}",
            f"{each['error']:.3f}",
            f"{each['answered'] * 100:.0f} %",
        ]
        for each in one["candidates"]
    ]
    show_rows(screen, ("panel", "error", "answered"), rows, heads=1, right=("error", "answered"))
    for line in _reasons(one):
        screen.line(line, indent=2)


def _reasons(one: Data) -> Iterator[str]:
    chosen = one["chosen"]
    if chosen["name"] == one["best"]:
        why = "it errs least, and none that is simpler comes within one standard error of it"
    else:
        why = f"the simplest within one standard error of the best, {one['best']}"
    yield f"Recommended: {_named(chosen)}: {why} (of {one['tried']:,} tried)."
    yield (
        f"How sure: chosen so in {one['same']} of {one['choices']} trials without a fifth of the samples. Panels "
        f"chosen this way err by {one['error']:.3f} of the scale on samples they were not chosen on; the one that ran: "
        f"{one['error_now']:.3f} ({_better(one['gain'])})."
    )
    if one["alpha"]["value"] is not None:
        yield f"Their α with people there: {_estimate(one['alpha'], 'value')}."
    yield from (f"Beware: {warning}" for warning in one["warnings"])


def _named(chosen: Data) -> str:
    if chosen["kind"] != "weights":
        return str(chosen["name"])
    return ", ".join(f"{judge} {weight:.2f}" for judge, weight in chosen["weights"].items())


def _better(gain: Data) -> str:
    return "clearly lower" if gain["low"] > 0 else "clearly higher" if gain["high"] < 0 else "no clear difference"


def _next(data: Data, written: str | None) -> str:
    one, colour = data["recommendation"], data["aligned"]["colour"]
    if written is not None:
        median = ", and panel: {aggregate: median} in the rubric" if one["chosen"]["kind"] == "median" else ""
        return f"name the panel in the eval file: judges: {written}{median}."
    if one["chosen"] is None and one["more_samples"]:
        return f"label {_times(one['more_samples'], 'more sample')}, then calibrate again."
    if one["chosen"] is not None and one["gain"]["low"] > 0:
        return f"ask the recommended panel: evenhand calibrate … {data['run']} --write panel.yaml"
    if colour in ("red", "amber"):
        return str(data["aligned"]["advice"])
    return "nothing: keep the judges as they are." if colour == "green" else str(data["aligned"]["advice"])


def _section(screen: Screen, title: str) -> None:
    screen.gap()
    screen.line(title, bold=True)


def _marked(one: Data | None, digits: int = 2) -> str:
    if one is None or one["estimate"] is None:
        return NONE
    clear = one["low"] is not None and not one["low"] <= 0 <= one["high"]
    return f"{_minus(one['estimate'], f'+.{digits}f')}{'*' if clear else ' '}"


def _number(value: float | None) -> str:
    return NONE if value is None else _minus(value)


def _estimate(one: Data, name: str) -> str:
    return f"{_number(one[name])} {_ends(one)}".strip()


def _ends(one: Data) -> str:
    return "" if one["low"] is None else f"[{_minus(one['low'])}, {_minus(one['high'])}]"


def _minus(value: float, form: str = "z.2f") -> str:
    """With the sign that is as wide as a plus."""
    return f"{value:{form}}".replace("-", "−")


def _times(count: int, one: str, several: str = "") -> str:
    return f"1 {one}" if count == 1 else f"{count:,} {several or one + 's'}"
