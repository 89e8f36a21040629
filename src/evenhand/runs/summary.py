"""A run in numbers: the head of its report per variant and judge, with everything that failed."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np

from evenhand.evals.eval_schema import LAYERS
from evenhand.files.parsing import decode_plain_json
from evenhand.model.method import LEAST_TO_NORMALISE
from evenhand.runs.adjusted_scores import AdjustedScores, summarise_run_length_bias
from evenhand.runs.columns import RunColumnsBuilder
from evenhand.runs.pairs import RunPairTally, summarise_run_pairs
from evenhand.runs.run_record import RunEvalRecord, name_layers_of_run_composite
from evenhand.runs.tally import COMPOSITE_BIN_EDGES, JudgeCallTally, RunTallyMean, RunVariantTally
from evenhand.stats.arrays import CountedPer
from evenhand.stats.correlation import pearson
from evenhand.stats.means import mean_interval
from evenhand.stats.ratings import Correlation
from evenhand.wording import format_fraction, format_signed, pluralize_count, shorten_text_to_line

Json = dict[str, Any]
GUARD_FLAG = ("guard", "rule", "says")
ASSERTION_ANSWERS = ("passed", "failed", "unanswered")
LONGEST_EXPLANATION = 200  # Characters of what a judge says of a red flag or bonus.


@dataclass(slots=True)
class RunSummary:
    """The tallies of all variants, in the order of the eval, and what asking the judges took."""

    tallies: dict[str, RunVariantTally]
    samples: int = 0
    calls: dict[str, JudgeCallTally] = field(default_factory=lambda: defaultdict(JudgeCallTally))  # By judge.
    # By variant; "" where several were shown at once.
    asked_about: dict[str, JudgeCallTally] = field(default_factory=lambda: defaultdict(JudgeCallTally))
    models: Mapping[str, str] = field(default_factory=dict)  # By variant: the model that makes its outputs.
    pairs: RunPairTally = field(default_factory=RunPairTally)


def summarise_results(
    variants: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    calls: Iterable[Mapping[str, Any]],
    columns: RunColumnsBuilder | None = None,
    models: Mapping[str, str] | None = None,
    per: CountedPer = "sample",
) -> RunSummary:
    """Count every result and every call, one at a time; `columns` take the same results on the way.

    `models` are those that make the outputs of variants. Means count every sample once, or, `per` cluster,
    every cluster.
    """
    summary = RunSummary({name: RunVariantTally(per=per) for name in variants}, models=models or {})
    named: dict[str, int] = {}
    last = -1
    for row in rows:
        if row["variant"] in summary.tallies:
            summary.samples += row["position"] != last
            last = row["position"]
            content = decode_plain_json(row["content"])
            own = content["cluster"]
            cluster = row["position"] if own is None else named.setdefault(own, -1 - len(named))
            summary.tallies[row["variant"]].add(row, content, cluster, priced=row["variant"] in summary.models)
            if "preferences" in content:
                summary.pairs.add(content, row["position"], cluster)
            if columns is not None:
                columns.add(row, content)
    for row in calls:
        summary.calls[row["judge"]].add(row)
        summary.asked_about[row["variant"]].add(row)
    return summary


def summarise_run_head(frame: RunEvalRecord, summary: RunSummary, ids: Mapping[int, str]) -> Json:
    """What a run keeps of its numbers; `ids` names the samples in which something was met first."""
    from evenhand.models.requests import EMBEDDED  # whoever reads what was kept asks no judge

    tallies, pairs = summary.tallies, summary.pairs
    unsafe = [  # Whose outputs the safety gate capped, by pattern, each with the first sample and its passage.
        {
            "variant": name,
            "pattern": what[1],
            "count": count,
            "first": ids.get(tally.first[what], ""),
            "passage": tally.unsafe_passages.get(what, ""),
        }
        for name, tally in tallies.items()
        for what, count in tally.unsafe.most_common()
    ]
    variants = [summarise_run_variant(name, summary, frame) for name in tallies]
    asked = (name for name in dict.fromkeys([*frame.judges, *summary.calls]) if name in summary.calls)  # As named.
    judges = [summarise_run_judge(name, summary.calls[name], name == EMBEDDED) for name in asked]
    reviewers = dict.fromkeys(judge for tally in tallies.values() for judge in tally.judges)
    return {
        "eval": {
            **{name: list(getattr(frame, name)) for name in ("judges", "guards", "rubrics", "assertions")},
            "gates": {name: float(least) for name, least in frame.gates.items()},
        },
        "unfinished": sum(tally.unfinished for tally in tallies.values()),
        "variants": variants,
        "judges": judges,
        "agreement": [_summarise_judge_pair_tallies(*two, tallies) for two in combinations(reviewers, 2)],
        "lengths": summarise_run_length_bias(tallies),
        "failures": [
            {"kind": kind, "variant": name, "why": why, "count": count, "first": ids.get(tally.first[(kind, why)], "")}
            for name, tally in tallies.items()
            for (kind, why), count in tally.failures.most_common()
        ],
        **({"preferences": summarise_run_pairs(frame, pairs)} if pairs.games or pairs.undecided else {}),
        "flags": [
            {**dict(zip(GUARD_FLAG, flag, strict=True)), "variant": name, "count": count}
            | {"first": ids.get(tally.first[flag], "")}
            for name, tally in tallies.items()
            for flag, count in tally.flags.most_common()
        ],
        "statements": _summarise_run_statements(summary, ids, masks="personal" in frame.guards)
        if any(tally.statements for tally in tallies.values())
        else [],
        "safety_gate": {"failed_models": list(dict.fromkeys(one["variant"] for one in unsafe)), "findings": unsafe},
        "cost": summarise_run_cost(summary),
    }


def summarise_run_cost(summary: RunSummary) -> Json:
    """What a run cost: exact where every price is known, else what it cost at least and whose prices are not."""
    unpriced: Counter[str] = Counter()
    for name, tally in summary.tallies.items():
        unpriced[summary.models.get(name, "")] += tally.unpriced
    makers_unpriced = unpriced.total()
    for judge, calls in summary.calls.items():
        unpriced[judge] += calls.unpriced
    made = float(sum((one.cost for one in summary.tallies.values()), Decimal(0)))
    judged = float(sum((one.cost for one in summary.calls.values()), Decimal(0)))
    costed = any(one.costed for one in summary.tallies.values())
    asked = bool(summary.calls or costed or unpriced.total())
    return {
        "outputs": made if costed and not makers_unpriced else None,
        "judges": judged if summary.calls and unpriced.total() == makers_unpriced else None,
        "total": made + judged if asked and not unpriced.total() else None,
        "at_least": made + judged if asked else None,
        "unpriced": unpriced.total(),
        "unpriced_calls": {name: count for name, count in sorted(unpriced.items()) if count},
    }


def summarise_run_composite(frame: RunEvalRecord, summary: RunSummary, adjusted: AdjustedScores | None) -> Json:
    """Which layers the composite was computed from, and how, as data and in one sentence."""
    samples = summarise_run_layer_sets(summary)
    layers = [name for name in LAYERS if any(name in own for own in samples)]
    settings, weights = frame.composite, frame.find_layer_weights()
    why = settings.why if settings.weights else next((one["why"] for one in frame.rubrics if one.get("why")), "")
    shares = {name: weights.get(name, Fraction(1)) for name in layers} if weights and len(layers) > 1 else {}
    parts = [name_layers_of_run_composite(own, shares) for own in samples or [()]]
    if len(samples) > 1:
        counts = (pluralize_count(count, "sample") for count in samples.values())
        each = ", ".join(f"{part} ({count})" for part, count in zip(parts, counts, strict=True))
        parts = [f"of different layers, which cannot be compared: {each}"]
    parts += [f"weighted so because: {why}"] if shares and why else []
    if not weights and any(one.get("layer_weights") for one in frame.rubrics):
        parts.append("weighted as the rubric of each sample says")
    notes, length = (adjusted.notes, adjusted.length) if adjusted else ((), None)
    if any(rubric.get("normalise") for rubric in frame.rubrics) and not _did_a_judge_score_enough_to_normalise(summary):
        few = f"no judge scored {LEAST_TO_NORMALISE} outputs of one sample"
        notes = (*notes, f"normalise: z did nothing, as {few}: every judge's scores count as they are")
    if settings.debias == "instruct":
        parts.append("judges were told not to reward length")
    if length is not None:
        slope = f"{format_signed(length.per_doubling)} per doubling, 95% interval {format_signed(length.low)} to"
        parts.append(f"the effect of length on judge scores was removed ({slope} {format_signed(length.high)})")
    if settings.standardise != "off":
        parts.append(f"layers standardised ({settings.standardise}) over all outputs of the run")
    return {
        "layers": layers,
        "samples_by_layers": [{"layers": list(own), "samples": count} for own, count in samples.items()],
        "weights": {name: float(share) for name, share in shares.items()} or None,
        "why": why if shares else "",
        "standardise": settings.standardise,
        "debias": settings.debias,
        "multivariate": settings.multivariate,
        "length": None if length is None else asdict(length),
        "notes": list(notes),
        "says": "; ".join([*parts, *notes]),
    }


def _did_a_judge_score_enough_to_normalise(summary: RunSummary) -> bool:
    scored: Counter[tuple[str, int]] = Counter()
    for tally in summary.tallies.values():
        for judge, mean in tally.judges.items():
            scored.update(
                (judge, place) for place, value in zip(tally.places, mean.values, strict=True) if not isnan(value)
            )
    return any(count >= LEAST_TO_NORMALISE for count in scored.values())


def summarise_run_layer_sets(summary: RunSummary) -> dict[tuple[str, ...], int]:
    """The sets of layers that composites are of, and how many samples have such a composite."""
    found: dict[tuple[str, ...], set[int]] = {}
    for tally in summary.tallies.values():
        for layers, positions in tally.composites_by_layers.items():
            found.setdefault(layers, set()).update(positions)
    return {layers: len(positions) for layers, positions in found.items()}


def summarise_run_variant(name: str, summary: RunSummary, frame: RunEvalRecord) -> Json:
    """One variant in numbers."""
    tally, calls = summary.tallies[name], summary.asked_about.get(name, JudgeCallTally())
    ends = {one["id"]: one["ends"] for rubric in frame.rubrics for one in rubric["criteria"]}
    even = bool(name == frame.control and (summary.pairs.games or summary.pairs.undecided))
    bins = [0] * (len(COMPOSITE_BIN_EDGES) - 1)
    for value in tally.composite.values:
        if not isnan(value):
            bins[min(len(bins) - 1, max(0, bisect_right(COMPOSITE_BIN_EDGES, value) - 1))] += 1
    return {
        "name": name,
        "digest": tally.seen.hexdigest()[:16],  # Equal where outputs, judgments and findings are.
        "results": sum(tally.states.values()),
        **{state: tally.states[state] for state in ("scored", "incomplete", "failed")},
        **_summarise_run_scores(tally, frame, even=even),
        "five_layers": _summarise_five_layers(tally),
        "criteria": {
            id: {
                "mean": None if mean.exact is None else float(format_fraction(mean.exact, 4)),
                "exact": str(mean.exact) if mean.n else None,
                "n": mean.n,
                "missing": mean.missing,
                "scale": ends.get(id),
            }
            for id, mean in tally.criteria.items()
        },
        "verdicts": dict(tally.verdicts),
        "grades": dict(tally.grades),
        "assertions": {word: sum(counts[word] for counts in tally.assertions.values()) for word in ASSERTION_ANSWERS},
        "assertion_rates": [
            {"name": one, "layer": tally.assertion_layers[one], **{word: counts[word] for word in ASSERTION_ANSWERS}}
            for one, counts in tally.assertions.items()
        ],
        "distribution": {"of": "composite", "edges": COMPOSITE_BIN_EDGES, "counts": bins},
        "cost": {
            "outputs": float(tally.cost) if tally.costed and not tally.unpriced else None,
            "outputs_unpriced": tally.unpriced,
            "judges": None if calls.unpriced or not calls.calls else float(calls.cost),
        },
        "tokens": {"input": calls.input + tally.input_tokens, "output": calls.output + tally.output_tokens},
        "tokens_of_outputs": {"input": tally.input_tokens, "output": tally.output_tokens},
        "latency_ms": _run_latency_quantiles(tally.latency),
        "role": "control" if name == frame.control else "treatment",
        "about": frame.variants[name],
    }


def _summarise_run_scores(tally: RunVariantTally, frame: RunEvalRecord, *, even: bool) -> Json:
    """The rubrics' own score, where they share a scale, the composite and the layers.

    The preference of the control is `even` by definition, and so is all that is made of it alone.
    """
    scales = {tuple(rubric["score_scale"]) for rubric in frame.rubrics}
    judged_alone = set(tally.composites_by_layers) == {("judge",)}
    return {
        "score": summarise_run_mean(tally.score, tally, scales.pop(), known=even) if len(scales) == 1 else None,
        "composite": summarise_run_mean(tally.composite, tally, (1, 5), known=even and judged_alone),
        "layers": {
            layer: summarise_run_mean(tally.layers[layer], tally, (1, 5), known=even and layer == "judge")
            for layer in LAYERS
            if layer in tally.layers
        },
    }


def summarise_run_mean(
    mean: RunTallyMean, tally: RunVariantTally, scale: Sequence[float], *, known: bool = False
) -> Json | None:
    """A mean with its interval; repeats of a sample count as one, and samples of a cluster are not independent.

    A mean that is `known` by definition has none.
    """
    if mean.exact is None:
        return None
    # Packed: a run may have a hundred thousand.
    columns = np.array(mean.values), np.array(tally.clusters), np.array(tally.samples)
    there = ~np.isnan(columns[0])
    values, clusters, samples = (one[there] for one in columns)
    several = not known and (clusters != clusters[0]).any()
    ends = (float(scale[0]), float(scale[1]))
    interval = mean_interval(values, clusters=clusters, samples=samples, per=tally.per, scale=ends) if several else None
    return {
        "mean": float(format_fraction(mean.exact, 4)),
        "exact": str(mean.exact),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": interval.level if interval else None,
        "n": mean.n,
        "min": float(values.min()),
        "max": float(values.max()),
        "scale": list(scale),
    }


def _summarise_five_layers(tally: RunVariantTally) -> Json:
    """The means of the five layers of the scoring pipeline; a criterion is a dimension."""
    return {
        "assertion": _round_run_tally_mean(tally.assertion_rate),
        "llm": _round_run_tally_mean(tally.raw_judge),
        "judge": _round_run_tally_mean(tally.layers.get("judge")),
        "dimension": {id: _round_run_tally_mean(mean) for id, mean in tally.criteria.items()},
        "composite": _round_run_tally_mean(tally.composite),
    }


def _round_run_tally_mean(mean: RunTallyMean | None) -> float | None:
    return None if mean is None or mean.exact is None else float(format_fraction(mean.exact, 4))


def summarise_run_judge(name: str, tally: JudgeCallTally, heuristic: bool) -> Json:
    """One judge in numbers."""
    return {
        "name": name,
        **{count: getattr(tally, count) for count in ("calls", "cached", "failed", "retries")},
        "input_tokens": tally.input,
        "output_tokens": tally.output,
        "cost": None if tally.unpriced or not tally.calls else float(tally.cost),
        "unpriced": tally.unpriced,
        "seconds": _run_latency_quantiles(tally.seconds),
        "heuristic": heuristic,
    }


def _summarise_judge_pair_tallies(one: str, other: str, tallies: Mapping[str, RunVariantTally]) -> Json:
    pairs = [
        (x, y)
        for tally in tallies.values()
        if one in tally.judges and other in tally.judges
        for x, y in zip(tally.judges[one].values, tally.judges[other].values, strict=False)
        if not isnan(x) and not isnan(y)
    ]
    first, second = [x for x, _ in pairs], [y for _, y in pairs]
    found = pearson(first, second)
    gap = sum(abs(x - y) for x, y in pairs) / len(pairs) if pairs else None
    return {
        "judges": [one, other],
        "pearson": found.value if isinstance(found, Correlation) else None,
        "why_not": "" if isinstance(found, Correlation) else found.why,
        "mean_gap": gap,
        "n": len(pairs),
    }


def _run_latency_quantiles(values: Sequence[float]) -> Json | None:
    if not values:
        return None
    ordered = sorted(values)
    return {"median": ordered[(len(ordered) - 1) // 2], "p95": ordered[int((len(ordered) - 1) * 0.95)]}


def _summarise_run_statements(summary: RunSummary, ids: Mapping[int, str], *, masks: bool) -> list[Json]:
    """Red flags and then bonuses by variant, the commonest first; explanations may quote what the outputs say."""
    from evenhand.guards.personal_data import mask_personal_data  # whoever has none to explain needs no patterns

    return [
        {
            "variant": name,
            "kind": kind,
            "id": id,
            "amount": one.amount,
            "count": one.outputs,
            "first": ids.get(one.first, ""),
            "why": shorten_text_to_line(mask_personal_data(one.why) if masks else one.why, LONGEST_EXPLANATION),
        }
        for name, tally in summary.tallies.items()
        for (kind, id), one in sorted(
            tally.statements.items(), key=lambda item: (item[0][0] == "bonus", -item[1].outputs)
        )
    ]
