"""No part of a verdict contradicts another: headline, reasons, next step, badges, power and exit code agree."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from evenhand.cli.compare import format_power_lines_for_terminal
from evenhand.compare.decide import decide_comparison
from evenhand.compare.decision import CompareDecision, Comparison, GateState, VariantColumn
from evenhand.stats.multiple_tests import looks_after, planned_looks
from evenhand.workflows.compare_sides import requested_power_json
from tests.compare.columns import column, compared, spread
from tests.soak import often

SMALLEST = (0.2, 0.5, 1.0)
SIZES = (4, 5, 8, 12, 19, 20, 24, 30, 56, 120)
MISSED = GateState(gate="composite", min=4.99, mean=4.5, passed=False)


def draw_comparison(seed: int) -> tuple[CompareDecision, dict[str, VariantColumn], float]:
    """One decision over drawn scores: any size, shift and scatter, one or two layers, gates, losses and looks."""
    rng = np.random.default_rng(seed)
    n, smallest = int(rng.choice(SIZES)), float(rng.choice(SMALLEST))
    tied, layers = bool(rng.integers(2)), ("judge", "fact")[: int(rng.integers(1, 3))]
    columns = {}
    for name in ("old", "new", "new2")[: int(rng.integers(2, 4))]:
        shift = 0.0 if name == "old" else float(rng.choice([-1.0, -0.3, 0.0, 0.0, 0.1, 0.3, 0.6, 1.2]))
        scatter = float(rng.choice([0.05, 0.3, 0.8, 1.5]))
        rows = {layer: np.clip(rng.normal(3.8 + shift, scatter, n), 1, 5) for layer in layers}
        rows = {layer: np.round(row) if tied else row for layer, row in rows.items()}
        lost = rng.random(n) < (0.1 if rng.integers(4) == 0 else 0.0)
        columns[name] = column(**{
            layer: [None if gone else float(one) for gone, one in zip(lost, row, strict=True)]
            for layer, row in rows.items()
        })  # fmt: skip
    more: dict[str, Any] = {}
    if n >= 20 and rng.integers(3) == 0:
        more |= {"looks": looks_after(n, planned_looks(2 * n)), "tell_looks": True}
    if rng.integers(4) == 0:
        more["other_gates"] = {"new": (MISSED,)}
    decision = decide_comparison(
        columns, control="old", clusters=range(n), seed=seed, smallest_effect=smallest,
        gates=dict.fromkeys(layers, float(rng.choice([1.0, 3.5]))), **more,
    )  # fmt: skip
    return decision, columns, smallest


@pytest.mark.parametrize("block", range(often(1, 4)))
def test_every_part_of_a_verdict_says_the_same(block: int) -> None:
    """Over many comparisons of all kinds; each verdict must come up, or nothing was shown."""
    seen: Counter[str] = Counter()
    for seed in range(1000 * block, 1000 * block + often(60, 1000)):
        decision, _, smallest = draw_comparison(seed)
        for one in decision.comparisons:
            seen[one.verdict] += 1
            power = _power_lines(one)
            try:
                _check_verdict_parts(one, smallest)
                _check_power_text(one, power)
                _check_badges(one)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {one.headline} {one.reasons} {one.next_step} {power}") from error
        _check_decision(decision)

    assert set(seen) == {"PROGRESS", "CAUTIOUS", "REGRESS", "NOISE", "UNDERPOWERED"}


def _power_lines(one: Comparison) -> list[str]:
    return [] if one.composite is None else format_power_lines_for_terminal(requested_power_json(one))


def _check_verdict_parts(one: Comparison, smallest: float) -> None:
    """The numbers are what the words say, and the next step is what the verdict asks for."""
    words = " ".join((one.headline, *one.reasons, one.rule))
    found = one.composite
    reaches = found is None or found.low <= -smallest or found.high >= smallest
    significant = one.p is not None and one.p < 0.05
    match one.verdict:
        case "UNDERPOWERED":
            assert one.pairs < 20 or reaches
            assert not significant or one.pairs < 5
            assert one.next_step.startswith("Score ")
            assert "rules out" not in words
        case "NOISE":
            assert one.pairs >= 20
            assert not reaches
            assert one.next_step.startswith("Keep the cheaper")
            assert "rules out" in words
            assert not _says_too_few(words)
        case "PROGRESS":
            assert significant
            assert one.pairs >= 20 or (found is not None and found.low >= smallest)
            assert one.next_step == f"Ship {one.treatment}."
            assert not _says_too_few(words)
        case "CAUTIOUS":
            assert not one.next_step.startswith(("Ship", "Keep"))
            assert ("the samples are few" in one.rule) <= one.next_step.startswith(
                f"Score {20 - one.pairs} more sample"
            )
        case "REGRESS":
            assert one.next_step.startswith(("Do not ship", "Find out why"))
    assert ("significantly higher." in words) <= significant
    assert ("does not differ significantly." in words) <= (not significant)


def _says_too_few(words: str) -> bool:
    return bool(re.search(r"\bfew\b|more sample|cannot yet|not ruled out|fewer than 20", words))


def _check_power_text(one: Comparison, lines: Sequence[str]) -> None:
    """It asks for more where the verdict does, for as many as the next step, and for none where all is decided."""
    text = " ".join(lines)
    assert "enough" not in text
    if not lines:
        return
    smallest = lines[1]
    assert " did" not in smallest  # They detected what was seen, which may be far more.
    if one.verdict in ("NOISE", "PROGRESS"):
        assert not re.search(r": [\d,]+ more", smallest)
        assert "leave it open" not in smallest
    if one.verdict == "NOISE":
        assert "rule it out" in smallest
    if one.verdict == "PROGRESS" or one.rule.startswith("4."):
        assert re.search(r"; these [\d,]+ did$", lines[0])
        assert not re.search(r": [\d,]+ more", text)
    if one.verdict == "UNDERPOWERED":
        assert not re.search(r"; these [\d,]+ did", text)
        assert "rule it out" not in text
        asked = re.match(r"Score (about )?([\d,]+) more", one.next_step)
        if asked and not asked[1]:
            assert f": {asked[2]} more" in smallest
        elif asked:
            assert "leave it open" in smallest


def _check_badges(one: Comparison) -> None:
    """Significant is what the rules call significant; a badge tells what it takes, and gives no order of its own."""
    badges = {badge.name: badge for badge in one.badges}
    assert (badges["difference significant"].colour == "green") == (one.p is not None and one.p < 0.05)
    assert badges["saturated"].colour != "green" or one.pairs >= 20
    assert (badges["saturated"].colour == "green") == (one.saturation is not None and one.saturation.saturated)
    for name in ("difference significant", "saturated"):
        assert not badges[name].advice.startswith(("Add", "Keep", "Ship")), badges[name].advice


def _check_decision(decision: CompareDecision) -> None:
    """The whole is the worst of its comparisons, says the same as it, and passes only where all may be shipped."""
    told = (decision.verdict, decision.sure, decision.next_step)
    steps = {one.treatment: one.next_step for one in decision.comparisons}
    for name, step in steps.items() if len(steps) > 1 else ():  # Of several, it says for which of them.
        steps[name] = step if name in step else f"For {name}: {step[0].lower()}{step[1:]}"
    lead = next(one for one in decision.comparisons if (one.verdict, one.sure, steps[one.treatment]) == told)
    if decision.verdict == "PROGRESS":
        assert lead.treatment == decision.best
    assert decision.exit_code == (0 if all(one.verdict == "PROGRESS" for one in decision.comparisons) else 1)
    assert lead.headline.split(": ", 1)[1].rstrip(".") in decision.headline
    assert decision.next_step in {
        steps[one.treatment] for one in decision.comparisons if one.verdict == decision.verdict
    }
    assert decision.headline.endswith(".")
    best = [one.treatment for one in decision.comparisons if one.verdict == "PROGRESS"]
    assert (decision.best in best) if best else decision.best is None
    if best and len(decision.comparisons) > 1:
        count = len(decision.comparisons)
        named = (
            rf"It is the best of {count}"
            if lead.treatment == decision.best
            else rf"of {count} treatments: {decision.best} "
        )
        assert re.search(named, decision.headline)
    for one in decision.comparisons:
        missed = [state.gate for state in decision.gates[one.treatment] if state.gate == "composite"]
        assert all(any(f": {gate} is " in reason for reason in one.reasons) for gate in missed)


def test_not_worse_is_said_where_it_passes_and_nowhere_else() -> None:
    """Headline, reasons, next step and exit code of what is asked to be not worse, with a gate missed and without."""
    seen: Counter[bool] = Counter()
    for seed in range(often(25, 1000)):
        rng = np.random.default_rng(seed)
        n, gates = int(rng.choice(SIZES[1:])), (MISSED,) if seed % 3 == 0 else ()
        old = np.clip(np.round(rng.normal(4, 0.8, n), 1), 1, 5)
        new = np.clip(np.round(old + rng.normal(0, float(rng.choice([0.05, 0.3, 1.0])), n), 1), 1, 5)
        decision = decide_comparison(
            {"old": column(old.tolist()), "new": column(new.tolist())}, control="old", clusters=range(n), seed=seed,
            gates={"judge": 1.0}, not_worse_by=0.3, other_gates={"new": gates},
        )  # fmt: skip
        (one,) = decision.comparisons
        holds = one.not_worse is not None and one.not_worse.holds
        seen[holds] += 1

        assert decision.exit_code == (0 if (holds or one.verdict == "PROGRESS") and not gates else 1), seed
        assert ("is not worse by more than 0.3" in decision.headline) == holds, seed
        assert one.next_step.startswith("Ship new if it is cheaper") == (holds and not gates), seed
        assert not (holds and any("may be worse by more" in reason for reason in one.reasons)), seed

    assert seen[True]
    assert seen[False]


def test_a_clear_gain_from_scattered_scores_is_progress() -> None:
    """+1.85 that is significant stays so, although 0.5 points would have taken more pairs to see."""
    new = [2.0 + 1.85 + (1.0 if place % 2 else -1.0) for place in range(30)]

    found = compared(column([2.0] * 30), column(new), gates={"judge": 1})

    assert (found.verdict, found.pairs) == ("PROGRESS", 30)
    assert found.power is not None
    assert found.power.needed > 30


def test_seven_pairs_far_apart_need_no_more() -> None:
    """Below 20 pairs a treatment is held back only while the interval reaches below what matters."""
    near = compared(column(spread(3, 7)), column([one + 0.1 + 0.1 * (at % 3) for at, one in enumerate(spread(3, 7))]),
                    gates={"judge": 1})  # fmt: skip
    far = compared(column(spread(3, 7)), column([one + 1.1 + 0.1 * (at % 3) for at, one in enumerate(spread(3, 7))]),
                   gates={"judge": 1})  # fmt: skip

    assert (near.verdict, near.next_step) == ("CAUTIOUS", "Score 13 more samples with both variants to confirm it.")
    assert (far.verdict, far.next_step) == ("PROGRESS", "Ship new.")


def test_a_late_change_is_a_red_badge_and_no_verdict() -> None:
    """The interval decides; whether it has settled is told beside it."""
    late = next(seed for seed in range(999) if np.random.default_rng(seed).permutation(48)[-1] == 47)

    found = compared(column([4.0] * 48), column([4.0] * 47 + [5.0]), seed=late)

    assert found.verdict == "NOISE"
    assert {badge.name: badge.colour for badge in found.badges}["saturated"] == "red"


def test_what_the_power_says_is_left_open_is_not_enough() -> None:
    """24 pairs are more than 0.5 points takes, and their interval still reaches 0.5: no words of enough."""
    rng = np.random.default_rng(0)
    rows = (np.round(rng.normal(0.3, 0.8, 24), 1) for _ in range(200))
    row = next(row for row in rows if 0.28 < row.mean() < 0.32 and 0.78 < row.std(ddof=1) < 0.85)
    columns = {"old": column([4.0] * 24), "new": column((4.0 + row).tolist())}

    found = compared(columns["old"], columns["new"])
    power = requested_power_json(found)

    assert found.verdict == "UNDERPOWERED"
    assert found.next_step.startswith("Score about ")
    assert "24 leave it open" in format_power_lines_for_terminal(power)[1]
