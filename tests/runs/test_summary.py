"""The numbers of a run: exact means, and nothing that failed is left out."""

import json
from fractions import Fraction
from typing import Any

import pytest

from evenhand.compare.decision import GateState
from evenhand.compare.run_decision import decide_between_run_variants
from evenhand.compare.variant_gates import hold_compared_variant_to_gates
from evenhand.runs.run_record import RunEvalRecord
from evenhand.runs.summary import RunSummary, summarise_results, summarise_run_composite, summarise_run_head


def row(position: int, variant: str, composite: str | None, **content: Any) -> dict[str, Any]:
    """A result of one assertion and one criterion, unless it says otherwise."""
    state = content.pop("state", "scored" if composite else "incomplete")
    card = content.pop("card", {"verdict": "pass", "criteria": {"page": True}, "reviews": None})
    full = {
        "why": "",
        "cluster": None,
        "layers": {"fact": composite},
        "output": {"text": "x", "latency_ms": 10.0 * (position + 1), "cost": "0.01"},
        "findings": [],
        "assertions": [{"name": "contains x", "layer": "fact", "passed": True, "why_not": ""}],
        "scorecard": card,
        "judgments": [{"judge": "j", "criterion": "page", "exact": "1", "why_not": None}],
        "decided_by": None,
        "rubric": "r",
        "criteria": {"page": "1"},
        **content,
    }
    return {
        "position": position,
        "variant": variant,
        "repeat": 0,
        "key": content.pop("key", "k"),
        "state": state,
        "score": composite,
        "composite": composite,
        "content": json.dumps(full),
    }


def call(**changes: Any) -> dict[str, Any]:
    plain = {"judge": "j", "variant": "new", "attempts": 1, "seconds": 0.5, "input_tokens": 10, "output_tokens": 5}
    return {**plain, "cost": "0.001", "failed": None, "cached_from": None, **changes}


def frame(**changes: Any) -> RunEvalRecord:
    plain: dict[str, Any] = {
        "name": "e",
        "control": "old",
        "variants": {"old": "", "new": ""},
        "judges": ("j",),
        "guards": (),
        "rubrics": (),
        "assertions": (),
        "gates": {},
        "smallest_effect": Fraction(1, 2),
        "repeats": 1,
        "seed": 0,
        "fingerprints": {},
    }
    return RunEvalRecord(**{**plain, **changes})


def test_means_are_exact_and_missing_ones_are_counted() -> None:
    """A third of 10 has no decimals that tell it; two scored and one missing are not three."""
    rows = [row(0, "new", "10/3"), row(1, "new", "10/3"), row(2, "new", None, layers={"fact": None})]

    tally = summarise_results(["new"], rows, []).tallies["new"]

    assert tally.composite.exact == Fraction(10, 3)
    assert (tally.composite.n, tally.composite.missing) == (2, 1)
    assert dict(tally.states) == {"scored": 2, "incomplete": 1}


def test_columns_keep_their_rows_when_a_layer_appears_late() -> None:
    """What a later sample has, the earlier ones lack: every column is as long as the results."""
    rows = [row(0, "new", "3", layers={"fact": "3"}), row(1, "new", "4", layers={"fact": "4", "judge": "5"})]

    tally = summarise_results(["new"], rows, []).tallies["new"]

    assert len(tally.layers["judge"].values) == len(tally.layers["fact"].values) == 2
    assert (tally.layers["judge"].n, tally.layers["judge"].missing) == (1, 1)


def test_failures_are_counted_by_reason_with_where_they_were_met_first() -> None:
    """An output, a judge, an assertion: each with how often, and in which sample it began."""
    withheld = [{"judge": "j", "criterion": "page", "exact": None, "why_not": "abstained: cannot tell"}]
    silent = [{"judge": "j", "criterion": "page", "exact": None, "why_not": "judge failed: too slow"}]
    unknown = [{"name": "bleu", "layer": "fact", "passed": None, "why_not": "no reference"}]
    rows = [
        row(0, "new", None, state="failed", why="exit code 1", output=None, card=None, judgments=[], assertions=[]),
        row(1, "new", None, judgments=withheld),
        row(2, "new", None, judgments=silent),
        row(3, "new", None, judgments=silent),
        row(4, "new", None, assertions=unknown),
    ]
    summary = summarise_results(["new"], rows, [])

    failures = summarise_run_head(
        frame(control="new", variants={"new": ""}), summary, {0: "a", 1: "b", 2: "c", 4: "e"}
    )["failures"]

    told = {(one["kind"], one["why"], one["count"], one["first"]) for one in failures}
    assert told == {
        ("judge", "j: judge failed: too slow", 2, "c"),
        ("abstention", "j on page: abstained: cannot tell", 1, "b"),
        ("output", "exit code 1", 1, "a"),
        ("assertion", "bleu: no reference", 1, "e"),
    }


def test_a_kept_answer_is_not_billed_and_a_failed_one_is_no_answer() -> None:
    """Four calls: one paid, one from before, one that failed, one tried three times."""
    calls = [call(), call(cached_from="r"), call(failed="busy", cost=None), call(attempts=3)]

    judge = summarise_run_head(frame(), summarise_results(["old", "new"], [], calls), {})["judges"][0]

    assert (judge["calls"], judge["cached"], judge["failed"], judge["retries"]) == (4, 1, 1, 2)
    assert judge["cost"] == 0.002
    assert judge["unpriced"] == 0


def test_an_unknown_price_leaves_the_sum_unknown() -> None:
    """Zero would be a lie."""
    head = summarise_run_head(frame(), summarise_results(["old", "new"], [], [call(), call(cost=None)]), {})

    assert head["judges"][0]["cost"] is None
    assert (head["cost"]["total"], head["cost"]["unpriced"]) == (None, 1)


def test_samples_of_one_cluster_count_as_one() -> None:
    """Ten variations of one prompt are no ten samples: the interval is wider than that of ten."""
    spread = ["2", "4"] * 5
    alone = summarise_results(["new"], [row(at, "new", value) for at, value in enumerate(spread)], [])
    joined = summarise_results(
        ["new"], [row(at, "new", value, cluster=f"c{at // 5}") for at, value in enumerate(spread)], []
    )

    widths = []
    for summary in (alone, joined):
        one = summarise_run_head(frame(control="new", variants={"new": ""}), summary, {})["variants"][0]["composite"]
        widths.append(one["high"] - one["low"])

    assert widths[1] > widths[0]


def test_the_pass_rate_counts_incomplete_and_failed_outputs_as_not_passing() -> None:
    """Four outputs, one pass, one borderline, one fail, one that never came: one passes, two where it is said so."""
    cards = ["pass", "borderline", "fail"]
    rows = [
        row(at, "new", "3", card={"verdict": word, "criteria": {}, "reviews": None}) for at, word in enumerate(cards)
    ]
    rows.append(row(3, "new", None, state="failed", card=None, output=None, criteria={"page": None}))
    tally = summarise_results(["new"], rows, []).tallies["new"]

    gates = {"pass_rate": Fraction(1, 2), "tone": Fraction(9, 10)}
    states = hold_compared_variant_to_gates(frame(gates=gates), tally)
    both = hold_compared_variant_to_gates(frame(gates=gates, count_borderline=True), tally)

    told = [[(one.gate, one.mean, one.passed) for one in several] for several in (states, both)]
    assert told[0] == [("pass_rate", 0.25, False), ("tone", None, None)]
    assert told[1] == [("pass_rate", 0.5, True), ("tone", None, None)]
    assert (tally.criteria["page"].n, tally.criteria["page"].missing) == (3, 1)


def test_an_output_without_a_verdict_passes_where_it_has_a_score() -> None:
    """An output that never came: its checks cannot fail, and still it does not pass."""
    rows = [row(0, "new", "5", card=None), row(1, "new", None, state="failed", card=None, output=None)]

    decision = decide_between_run_variants(
        frame(control="new", variants={"new": ""}), summarise_results(["new"], rows, [])
    )

    assert decision.exit_code == 1
    assert GateState(gate="scored", min=1.0, mean=0.5, passed=False, outputs=2) in decision.gates["new"]


def test_mean_interval_and_gate_count_the_same_units() -> None:
    """Nine samples of one cluster and one alone: the mean is over ten samples, its interval from two units."""
    rows = [row(at, "new", "1", cluster="acme") for at in range(9)] + [row(9, "new", "5")]
    summary = summarise_results(["new"], rows, [])

    one = summarise_run_head(frame(control="new", variants={"new": ""}), summary, {})["variants"][0]["composite"]
    gate = decide_between_run_variants(frame(control="new", variants={"new": ""}), summary).gates["new"][0]

    assert one["mean"] == 1.4
    assert one["low"] <= one["mean"] <= one["high"]
    assert gate.mean == 1.4


def test_repeats_of_a_sample_count_once() -> None:
    """A sample with three repeats weighs no more than one with a single score."""
    rows = [{**row(0, "new", value), "repeat": at} for at, value in enumerate(["1", "2", "3"])] + [row(1, "new", "5")]

    assert summarise_results(["new"], rows, []).tallies["new"].composite.exact == Fraction(7, 2)


def test_progress_with_a_failed_gate_is_cautious() -> None:
    """Better, and not good enough: nothing says ship."""
    fails: dict[str, Any] = {"verdict": "fail", "gates_failed": ["page"], "criteria": {}, "reviews": None}
    rows = [row(at, "old", "3") for at in range(30)] + [row(at, "new", "5", card=fails) for at in range(30)]

    decision = decide_between_run_variants(frame(), summarise_results(["old", "new"], rows, []))

    assert (decision.verdict, decision.exit_code, decision.best) == ("CAUTIOUS", 1, None)
    assert decision.next_step == "Find out why new misses its gate for required criteria, then run it again."


def test_a_pass_rate_that_nobody_wrote_is_no_gate() -> None:
    """Better on average, with some outputs that fail by their score and none that fails a gate: it may be shipped."""
    fails: dict[str, Any] = {"verdict": "fail", "gates_failed": [], "criteria": {}, "reviews": None}
    rows = [row(at, "old", "3") for at in range(30)]
    rows += [row(at, "new", "5", card=fails if at < 5 else None) for at in range(30)]

    decision = decide_between_run_variants(frame(), summarise_results(["old", "new"], rows, []))

    assert (decision.verdict, decision.exit_code) == ("PROGRESS", 0)
    assert [state.gate for state in decision.gates["new"]] == ["fact"]


@pytest.mark.parametrize("end", [".", "?"])
def test_nothing_judged_says_so_first_and_what_to_do(end: str) -> None:
    """No advice on samples and variants where a judge was not there; a reason that ends in a question ends there."""
    silent = [{"judge": "j", "criterion": "page", "exact": None, "why_not": f"judge failed: nobody answers{end}"}]
    rows = [row(at, "new", None, judgments=silent, layers={"judge": None}) for at in range(3)]

    decision = decide_between_run_variants(
        frame(control="new", variants={"new": ""}), summarise_results(["new"], rows, [])
    )

    assert decision.headline == f"No output could be judged: j: judge failed: nobody answers{end}"
    assert decision.next_step == "Fix what failed (see the failures), then run it again."
    assert (decision.verdict, decision.exit_code) == ("SOLO", 1)


def test_a_run_in_which_every_judge_abstained_is_not_underpowered() -> None:
    """More samples would not help; another judge would. A missing output here and there is not the reason."""
    silent = [{"judge": "j", "criterion": "page", "exact": None, "why_not": "j: abstained: a score is asked for"}]
    rows = [row(at, name, None, judgments=silent, layers={"judge": None}) for at in range(9) for name in ("old", "new")]
    rows += [row(9, name, None, state="failed") for name in ("old", "new")]

    decision = decide_between_run_variants(frame(), summarise_results(["old", "new"], rows, []))

    assert (decision.verdict, decision.exit_code) == ("UNDECIDED", 1)
    assert decision.headline == "No output could be judged: j on page: abstained: a score is asked for."
    assert decision.next_step.startswith("Name a judge that can answer these criteria")
    assert not any("pairs" in reason for reason in decision.reasons)


def test_a_gate_on_the_composite_and_on_a_layer_without_composites_is_held() -> None:
    """Facts were measured though no output has a composite: their gate is not forgotten."""
    rows = [row(at, "new", None, layers={"fact": "2", "judge": None}) for at in range(3)]
    gates = {"fact": Fraction(4), "composite": Fraction(4)}

    decision = decide_between_run_variants(
        frame(control="new", variants={"new": ""}, gates=gates), summarise_results(["new"], rows, [])
    )

    states = {gate.gate: (gate.mean, gate.passed) for gate in decision.gates["new"]}
    assert states["fact"] == (2.0, False)
    assert states["composite"] == (None, None)


def test_a_gate_that_is_not_known_has_not_passed() -> None:
    """Nothing was measured: that is no pass."""
    summary = summarise_results(["new"], [row(0, "new", "4"), row(1, "new", "4")], [])

    decision = decide_between_run_variants(
        frame(control="new", variants={"new": ""}, gates={"tone": Fraction(1)}), summary
    )

    assert decision.exit_code == 1
    assert "new: tone is not known (2 outputs without an answer), the gate is 1.00." in decision.reasons


def test_a_stopped_run_compares_only_what_both_variants_have() -> None:
    """A sample that one variant has not reached yet is not one that it lost."""
    rows = [row(at, name, "4" if name == "new" else "3") for at in range(6) for name in ("old", "new")]
    rows += [row(at, "old", "3") for at in range(6, 9)]

    comparison = decide_between_run_variants(frame(), summarise_results(["old", "new"], rows, [])).comparisons[0]

    assert comparison.pairs == 6
    assert comparison.lost_by_treatment == 0


def test_losing_outputs_is_never_progress() -> None:
    """A treatment that crashed on half of the samples and is better on the rest."""
    rows: list[dict[str, Any]] = []
    for at in range(40):
        rows.append(row(at, "old", "3"))
        lost = at % 2 == 0
        rows.append(row(at, "new", None if lost else "5", state="failed" if lost else "scored"))

    decision = decide_between_run_variants(frame(), summarise_results(["old", "new"], rows, []))

    assert decision.verdict == "REGRESS"
    assert decision.exit_code == 1


def test_different_sets_of_layers_are_not_compared() -> None:
    """A composite of facts and one of facts and judges are two things."""
    rows = [row(at, "old", "3", layers={"fact": "3"}) for at in range(6)]
    rows += [row(at, "new", "4", layers={"fact": "4", "judge": "4"}) for at in range(6)]

    decision = decide_between_run_variants(frame(), summarise_results(["old", "new"], rows, []))

    assert decision.verdict == "UNDECIDED"
    assert decision.exit_code == 1


def test_a_run_of_mixed_samples_says_which_have_which_layers() -> None:
    """The composite names no recipe that part of the samples does not follow, and samples are named, not rows."""
    layers = [{"judge": "3"}, {"judge": "3", "behavior": "4", "fact": "2"}]
    rows = [row(at, name, "3", layers=layers[at % 2]) for at in range(5) for name in ("old", "new")]
    summary = summarise_results(["old", "new"], rows, [])

    decision = decide_between_run_variants(frame(), summary, name_samples=lambda at: {one: f"s{one}" for one in at})
    composite = summarise_run_composite(frame(), summary, None)

    assert decision.headline == (
        "Samples were scored from different layers, which cannot be compared: rubric (3 samples, first s0); "
        "fact, behavior and rubric (2 samples, first s1)."
    )
    assert composite["says"] == (
        "of different layers, which cannot be compared: rubric alone (3 samples), "
        "mean of fact, behavior, rubric (2 samples)"
    )
    assert composite["samples_by_layers"][1] == {"layers": ["fact", "behavior", "judge"], "samples": 2}
    assert list(summarise_run_head(frame(), summary, {})["variants"][0]["layers"]) == ["fact", "behavior", "judge"]


def test_an_empty_run_has_a_head() -> None:
    """Nothing was scored: that is said, and nothing breaks."""
    empty = RunSummary(summarise_results(["old", "new"], [], []).tallies)

    head = summarise_run_head(frame(), empty, {})

    assert [one["composite"] for one in head["variants"]] == [None, None]
    assert head["failures"] == []
