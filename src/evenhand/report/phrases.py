"""Phrases and tables that every report shares: scores, differences, badges, how far a run came, what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.wording import (
    MISSING_DASH,
    format_dollar_amount,
    format_figure,
    format_milliseconds,
    format_p_value_in_table,
    join_names,
    pluralize_count,
    word_criterion,
    word_gate,
    word_layer,
)

ReportData = Mapping[str, Any]  # A piece of a report: plain data, as `evenhand report --json` prints it.
IMPORTED_RUN = "imported: its replies are what its file says"  # What a reader must know of a run made elsewhere.


def format_reported_estimate(one: ReportData | None) -> str:
    """A mean, or a difference with its sign, and its interval where there is one: 0.83 [0.79, 0.87]."""
    if one is None:
        return MISSING_DASH
    scale = one["scale"] if "mean" in one else None
    middle = format_figure(one["mean"], scale) if "mean" in one else format_figure(one["estimate"], signed=True)
    if one.get("low") is None or one.get("high") is None:
        return middle
    return f"{middle} [{format_figure(one['low'], scale)}, {format_figure(one['high'], scale)}]"


def format_report_p_value(one: ReportData | None) -> str:
    """The p-value of a difference, never as a bare zero."""
    return MISSING_DASH if one is None else format_p_value_in_table(one["p"])


BADGE_ANSWERS = {"green": "yes", "amber": "in part", "red": "no", "grey": "not known"}


def describe_reported_badge(badge: ReportData) -> str:
    """The answer and the finding behind it: no, the interval still narrows."""
    return f"{describe_reported_badge_state(badge)}, {badge['says']}"


def describe_reported_badge_state(badge: ReportData) -> str:
    """The answer alone: yes, in part, no, not known."""
    return BADGE_ANSWERS[badge["state"]]


def describe_reported_badge_advice(badge: ReportData) -> str:
    """What would turn it green; empty where it is."""
    return "" if badge["state"] == "green" else str(badge.get("advice") or "")


def describe_reported_samples(run: ReportData) -> str:
    """The samples that were looked at: 24 samples, or 7 of 30 samples where more were planned."""
    planned = run.get("planned")
    if planned is None or run["samples"] >= planned:
        return pluralize_count(run["samples"], "sample")
    return f"{run['samples']:,} of {pluralize_count(planned, 'sample')}"


def describe_reported_selection(selection: ReportData | None) -> str:
    """Which samples a run was told to take, in the words of the command line; empty where it took all."""
    if not selection:
        return ""
    parts = [f"--limit {selection['limit']}"] if selection["limit"] is not None else []
    parts += [f"--only {id}" for id in selection["only"]] + [f"--tag {tag}" for tag in selection["tags"]]
    return " ".join(parts)


def describe_reported_maps(run: ReportData) -> str:
    """Whose scores were put on people's scale, and on what; empty where nobody's were."""
    told = "; ".join(f"{judge} on {', '.join(criteria)}" for judge, criteria in (run.get("maps") or {}).items())
    return f"Scores mapped to people's scale: {told}. What the judges said stands beside each." if told else ""


def format_reported_origin(imported: object) -> str:
    """Where a run was made, for lists; empty where it was made here."""
    return "imported" if imported else ""


def describe_reported_safety_gate(one: ReportData) -> str:
    """What the safety gate capped: weapon_making in 3 outputs, the first in s2: “…”."""
    passage = f": “{one['passage']}”" if one["passage"] else ""
    return f"{one['pattern']} in {pluralize_count(one['count'], 'output')}, the first in {one['first']}{passage}"


def list_reported_safety_gates(head: ReportData) -> list[ReportData]:
    """What the safety gate capped; nothing in a run that was kept before gates were counted."""
    return list((head.get("safety_gate") or {}).get("findings", ()))


def describe_unfinished_in_report(run: ReportData) -> str:
    """What kept a run from its end; empty where it was reached."""
    if run["state"] == "finished":
        return ""
    return "still running" if run["state"] == "running" else f"{run['state']} before its end"


def does_reported_verdict_stand(head: ReportData) -> bool:
    """Whether nothing speaks against the verdict: the run came to its end, and no gate or rule failed it."""
    return bool(head["decision"]["exit_code"] == 0 and head["run"]["state"] == "finished")


def describe_reported_heuristic_judges(judges: Sequence[ReportData]) -> str:
    """What judges that go by rules cannot do, and whether anybody else judged; empty where there are none."""
    rules = [one["name"] for one in judges if one["heuristic"]]
    if not rules:
        return ""
    verb = "goes" if len(rules) == 1 else "go"
    if len(rules) == len(judges):
        return f"Judged by {join_names(rules)}, which {verb} by words, not by understanding."
    return f"Of the {len(judges)} judges, {join_names(rules)} {verb} by words, not by understanding."


def describe_reported_gate(gate: ReportData) -> str:
    """A gate with what was reached: tone 0.90 passes 0.80, is below it, or is not known to pass."""
    name, open_outputs = word_gate(gate["gate"]), gate.get("unknown", 0)
    mean, least = (format_figure(gate[one], beside=gate["min"]) for one in ("mean", "min"))
    without = f"{pluralize_count(open_outputs, 'output')} without an answer" if open_outputs else ""
    if gate["mean"] is None:
        return f"{name} was not measured (gate {least})"
    if gate["passed"] is None:
        return f"{name} {mean} is not known to pass {least}: {without}"
    return f"{name} {mean} {'passes' if gate['passed'] else 'is below'} {least}{f' ({without})' if without else ''}"


def list_reported_failures(result: ReportData) -> list[str]:
    """Why a scored result does not pass: its verdict, its gates, its assertions; empty where it does."""
    card = result["scorecard"] or {}
    verdict = [f"verdict fail (score {format_figure(result['score'])})"] if result["verdict"] == "fail" else []
    gates = [f"gate failed: {word_gate(criterion)}" for criterion in card.get("gates_failed", ())]
    checks = []
    for one in (one for one in result["assertions"] if one["passed"] is False):
        looked = f": looked for {one['looked_for']}" if one["looked_for"] not in (None, "") else ""
        found = f", found {one['found']}" if one["found"] not in (None, "") else ""
        checks.append(f"assertion failed: {one['name']}{looked}{found}")
    return verdict + gates + checks


def explain_unscored_in_report(result: ReportData) -> str:
    """Why a result has no score."""
    return str(result["why"] or f"{result['state']}, and nothing says why")


def is_unscored_in_report(result: ReportData) -> bool:
    """Whether the output, a judge or an assertion failed, so that there is no score."""
    return result["state"] in ("failed", "incomplete")


def describe_reported_failure_count(failure: ReportData) -> str:
    """How often something failed in the same way: 1 output failed, 3 judgments failed, 2 abstentions."""
    if failure["kind"] == "abstention":
        return pluralize_count(failure["count"], "abstention")
    if failure["kind"] == "assertion":
        return f"{pluralize_count(failure['count'], 'assertion')} could not be answered"
    return f"{pluralize_count(failure['count'], 'judgment' if failure['kind'] == 'judge' else failure['kind'])} failed"


def describe_reported_composite(head: ReportData) -> str:
    """Which layers the composite was computed from, and how; empty for runs that did not keep it."""
    composed = head.get("composite")
    return f"{name_reported_composite(head)}: {composed['says']}" if composed and composed["layers"] else ""


def name_reported_composite(head: ReportData) -> str:
    """The composite over its column, with a star where samples were scored from different layers."""
    several = len((head.get("composite") or {}).get("samples_by_layers") or ()) > 1
    return "composite*" if several else "composite"


VERDICT_WORDS = ("pass", "borderline", "fail")

ReportColumn = tuple[str, list[str]]  # A name and the cells below it.


def describe_reported_verdict_counts(head: ReportData) -> list[str]:
    """How many outputs of each variant pass, where the rubric gives verdicts, and what the gate looks at instead."""
    variants = [one for one in head["variants"] if any(one["verdicts"].get(word) for word in VERDICT_WORDS)]
    counts = {
        one["name"]: ", ".join(f"{one['verdicts'].get(word, 0):,} {word}" for word in VERDICT_WORDS) for one in variants
    }
    lines = ["; ".join(f"{name}: {count}" for name, count in counts.items())] if counts else []
    failed = any(one["verdicts"].get("fail") for one in variants)
    gated = any(state["gate"] == "pass_rate" for states in head["decision"]["gates"].values() for state in states)
    if failed and not gated:
        lines.append("The gate applies to the mean; `gates: {pass_rate: 1}` applies it to each output.")
    return lines


def build_report_variant_columns(head: ReportData) -> list[list[ReportColumn]]:
    """A row for each variant: names, scores, counts, costs; columns in which nothing was measured are left out."""
    variants, assertions = head["variants"], [one["assertions"] for one in head["variants"]]
    roles = [" (control)" if one["role"] == "control" and len(variants) > 1 else "" for one in variants]
    names = [f"{one['name']}{role}" for one, role in zip(variants, roles, strict=True)]
    columns = {"score": "score", name_reported_composite(head): "composite"}
    scores = [(name, [format_reported_estimate(one[key]) for one in variants]) for name, key in columns.items()]
    for name in list_report_layers(head):
        means = [one["layers"].get(name) for one in variants]
        scores.append(
            (word_layer(name), [format_figure(one["mean"], one["scale"]) if one else MISSING_DASH for one in means])
        )
    decided = any(one["verdicts"].get(word) for one in variants for word in VERDICT_WORDS)
    passed = [(one["passed"], one["passed"] + one["failed"]) for one in assertions]
    counts = [
        *((word, [f"{one['verdicts'].get(word, 0):,}" for one in variants]) for word in VERDICT_WORDS if decided),
        ("assertions", [f"{some:,} of {total:,}" if total else MISSING_DASH for some, total in passed]),
        ("unanswered", _format_report_counts([one["unanswered"] for one in assertions])),
        ("scored", [f"{one['scored']:,} of {one['results']:,}" for one in variants]),
        ("incomplete", _format_report_counts([one["incomplete"] for one in variants])),
        ("failed", _format_report_counts([one["failed"] for one in variants])),
    ]
    costs = [
        (name, [_format_reported_variant_cost(one["cost"], whose) for one in variants])
        for name, whose in (("output cost", "outputs"), ("judge cost", "judges"))
        if any(one["cost"][whose] or one["cost"].get(f"{whose}_unpriced") for one in variants)
    ]
    if any(one["latency_ms"] for one in variants):
        costs.append(("latency", [format_milliseconds((one["latency_ms"] or {}).get("median")) for one in variants]))
    return _drop_unmeasured_report_columns([[("variant", names)], scores, counts, costs])


def build_report_summary_columns(head: ReportData) -> list[list[ReportColumn]]:
    """Names and scores of the variants alone, with the differences from the control in rows below."""
    (names,), *groups = build_report_variant_columns(head)[:2]
    compared = [one for one in head["decision"]["comparisons"] if one["composite"] or any(one["layers"].values())]
    rows = [f"{one['treatment']} − {one['control']}" for one in compared]
    shown = [{word_layer(name): found for name, found in one["layers"].items()} for one in compared]
    columns: list[ReportColumn] = []
    for name, cells in groups[0] if groups else ():
        found = [
            one["composite"] if name == "composite" else layers.get(name)
            for one, layers in zip(compared, shown, strict=True)
        ]
        signed = ["" if one is None else format_figure(one["estimate"], signed=True) for one in found]
        if name == "composite":
            signed = ["" if one is None else format_reported_estimate(one) for one in found]
        columns.append((name, [*cells, *signed]))
    return [[(names[0], [*names[1], *rows])], columns] if columns else []


def build_report_tag_columns(head: ReportData) -> list[ReportColumn]:
    """The tags, how many samples have each, and a column of mean composites for each variant; empty without tags."""
    tags = head.get("tags") or []  # Earlier versions did not keep them.
    if not tags:
        return []
    columns: list[ReportColumn] = [("tag", [one["tag"] for one in tags])]
    columns.append(("samples", [f"{one['samples']:,}" for one in tags]))
    for variant in head["variants"]:
        columns.append(
            (variant["name"], [format_reported_estimate(one["variants"].get(variant["name"])) for one in tags])
        )
    return columns


def _format_reported_variant_cost(cost: ReportData, whose: str) -> str:
    return "unknown" if cost.get(f"{whose}_unpriced") else format_dollar_amount(cost[whose])


def _drop_unmeasured_report_columns(groups: Sequence[Sequence[ReportColumn]]) -> list[list[ReportColumn]]:
    measured = [[(name, cells) for name, cells in group if set(cells) != {MISSING_DASH}] for group in groups]
    return [group for group in measured if group]


def build_report_criterion_columns(head: ReportData) -> list[ReportColumn]:
    """The criteria, and a column of means for each variant; empty where there are none."""
    ids = list_report_criteria(head)
    columns: list[ReportColumn] = [("criterion", [word_criterion(id) for id in ids])] if ids else []
    for variant in head["variants"] if ids else ():
        unscored, cells = variant["results"] - variant["scored"], []
        for one in map(variant["criteria"].get, ids):
            # What is missing is told where the number of scored results does not tell it already.
            told = one is None or one["missing"] in (0, unscored)
            mean = MISSING_DASH if one is None else format_figure(one["mean"], one["scale"])
            cells.append(mean if told else f"{mean} ({one['missing']:,} missing)")
        columns.append((variant["name"], cells))
    return columns


def list_reported_differences(one: ReportData) -> list[tuple[str, ReportData | None, str]]:
    """The composite and each layer of a comparison, with its difference and its verdict.

    Each has the p-value that decided: of several treatments it is adjusted for their number, and of layers for theirs.
    """
    composite = one["composite"] and {**one["composite"], "p": one["p"]}
    rows = [("composite", composite, one["verdict"])]
    for name, found in one["layers"].items():
        layer = (one.get("layer_verdicts") or {}).get(name, {})
        decided = found and {**found, "p": found["p"] if layer.get("p") is None else layer["p"]}
        rows.append((word_layer(name), decided, layer.get("verdict", "")))
    return rows


def explain_adjusted_layer_p_values(one: ReportData, treatments: int = 1) -> str:
    """What to say below a table of differences where the p-values of layers are adjusted; else nothing."""
    told = one.get("layer_verdicts") or {}
    given = [(found, told.get(name, {}).get("p")) for name, found in one["layers"].items() if found]
    if all(p is None or p == found["p"] for found, p in given):
        return ""
    number = "the number of layers" if treatments == 1 else "all layers of all treatments"
    return f"p of each layer is adjusted for {number}, as its verdict is; the intervals are not adjusted"


def build_report_difference_columns(head: ReportData) -> list[ReportColumn]:
    """A row for the composite and each layer of every comparison; empty where nothing was compared."""
    compared = head["decision"]["comparisons"]
    rows = [(one, *row) for one in compared for row in list_reported_differences(one)]
    columns = [
        ("comparison", [f"{one['treatment']} − {one['control']}" for one, *_ in rows]),
        ("of", [name for _, name, _, _ in rows]),
        ("difference", [format_reported_estimate(found) for _, _, found, _ in rows]),
        ("p", [format_report_p_value(found) for _, _, found, _ in rows]),
        ("verdict", [verdict for _, _, _, verdict in rows]),
    ]
    return columns if rows else []


def describe_reported_p_adjustment(comparisons: Sequence[ReportData]) -> str:
    """For what p-values in a table of differences are adjusted; empty where they are not."""
    tested = sum(one["p"] is not None for one in comparisons)
    told = [f"p of the composite is adjusted for {tested} treatments"] if tested > 1 else []
    layers = dict.fromkeys(explain_adjusted_layer_p_values(one, len(comparisons)) for one in comparisons)
    return "; ".join([*told, *filter(None, layers)])


def describe_unpaired_in_report(head: ReportData) -> str:
    """Why means do not subtract to the differences: some samples have no score of both; empty where all have."""
    compared = head["decision"]["comparisons"]
    pairs = {(one["pairs"], one.get("samples", 0)) for one in compared if one["pairs"] < one.get("samples", 0)}
    if not pairs:
        return ""
    counts = join_names(f"{few:,} of {pluralize_count(total, 'sample')}" for few, total in sorted(pairs))
    return f"means are over all outputs with that score, differences over the {counts} scored with both variants"


def describe_samples_without_pair_in_report(one: ReportData) -> str:
    """The samples of a comparison that were not scored for both, and for whom not."""
    without = max(0, one.get("samples", 0) - one["pairs"])
    lost = {one["treatment"]: one["lost_by_treatment"], one["control"]: one["lost_by_control"]}
    neither = without - sum(lost.values())  # Below 0 where a sample lost some repeats and not all.
    parts = [f"{count:,} not scored for {name}" for name, count in lost.items() if any(lost.values())]
    parts += [f"{neither:,} scored for neither"] if neither > 0 else []
    return ", ".join(parts) or "none"


def build_report_comparison_columns(head: ReportData) -> list[ReportColumn]:
    """A row for each comparison: its pairs, and which way they went; empty where nothing was compared."""
    compared = head["decision"]["comparisons"]
    pairs = {"pairs": "pairs", "better": "wins", "equal": "ties", "worse": "losses"}
    columns = [
        ("comparison", [f"{one['treatment']} − {one['control']}" for one in compared]),
        *((name, [f"{one[key]:,}" for one in compared]) for name, key in pairs.items()),
        ("lost by treatment", _format_report_counts([one["lost_by_treatment"] for one in compared])),
        ("lost by control", _format_report_counts([one["lost_by_control"] for one in compared])),
    ]
    return _drop_unmeasured_report_columns([columns])[0] if compared else []


def _format_report_counts(counts: Sequence[int]) -> list[str]:
    return [f"{count:,}" for count in counts] if any(counts) else [MISSING_DASH] * len(counts)


def list_report_layers(head: ReportData) -> list[str]:
    """The layers of any variant, in order."""
    return list(dict.fromkeys(layer for variant in head["variants"] for layer in variant["layers"]))


def list_report_criteria(head: ReportData) -> list[str]:
    """The criteria of any rubric and any variant, in order; not the layers of a rubric that assertions fill."""
    asked = [criterion["id"] for rubric in head["eval"]["rubrics"] for criterion in rubric["criteria"]]
    measured = dict.fromkeys(id for variant in head["variants"] for id in variant["criteria"])
    layers = set(list_report_layers(head)) - set(measured)
    return [id for id in dict.fromkeys([*asked, *measured]) if id not in layers]
