"""The plots of the HTML report: what they are drawn from, what they say in words, and what they do with little data."""

import io
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.html.comparison_charts import (
    _split_chart_spread_bar,
    draw_difference_charts,
    draw_saturation_plots,
    draw_spread_plot,
)
from evenhand.report.html.judge_page import draw_agreement_heat_map
from evenhand.report.html.page_file import write_html
from evenhand.report.html.run_page import draw_sensitivity_charts
from evenhand.report.html.score_charts import draw_length_plots
from tests.report.example import head, interval, samples
from tests.report.measured import lengths, saturation, sensitivity, spread
from tests.report.results import Data


def compared(**changes: Any) -> Data:
    """The one comparison of the example run."""
    one: Data = head()["decision"]["comparisons"][0]
    return {**one, **changes}


def test_criteria_of_one_scale_share_an_axis_and_others_do_not() -> None:
    """Half a point of 100 is not half a point of 5: lengths on one axis would say that it is."""
    criteria = {"tone": interval(0.2, 0.1, 0.3), "facts": interval(9, 4, 14), "layout": interval(4, -4, 12)}
    ends = {"tone": [1, 5], "facts": [0, 100], "layout": [0, 100]}

    first, second = draw_difference_charts(compared(criteria=criteria), ends)

    assert [row.name for row in first.rows] == ["composite", "fact", "behavior", "rubric", "tone"]
    assert [row.name for row in second.rows] == ["facts", "layout"]
    assert [row.kind for row in second.rows] == ["up", "open"]
    assert second.title == "Criteria on 0 to 100: new minus old, with 95% intervals; grey where 0 is inside"
    assert second.across == "difference, in points on the scale 0 to 100"


@pytest.mark.parametrize(
    ("low", "high", "kind", "bounds"),
    [
        (0.1, 0.4, "up", "0.10 to 0.40"),
        (0.1, None, "up", "above 0.10"),
        (None, 0.4, "open", "below 0.40"),
        (None, -0.1, "down", "below −0.10"),
        (None, None, "open", "no bounds"),
    ],
)
def test_an_end_without_a_bound_is_an_arrow(low: float | None, high: float | None, kind: str, bounds: str) -> None:
    """With too few samples an interval is open; drawn as a short line it would look the surest of all."""
    comparison = compared(criteria={"tone": interval(-0.2 if high == -0.1 else 0.2, low, high)})

    row = draw_difference_charts(comparison, {"tone": [0, 1]})[1].rows[0]

    assert (row.open_low, row.open_high, row.kind, row.bounds) == (low is None, high is None, kind, bounds)
    assert (row.low == 27) == (low is None)
    assert (row.high == 67) == (high is None)


STEPS = st.lists(st.integers(-8, 8).map(lambda step: step / 4), min_size=1, max_size=40)


@given(STEPS, st.integers(1, 24))
def test_the_colours_of_the_bars_count_what_was_better_and_worse(differences: list[float], bins: int) -> None:
    """A bar that begins or ends at zero has its equal ones apart; one that lies on both sides counts for neither."""
    sides = {"losses": sum(one < 0 for one in differences), "ties": differences.count(0),
             "wins": sum(one > 0 for one in differences)}  # fmt: skip
    found = spread(differences, bins)
    pairs = zip(found["edges"], found["edges"][1:], found["counts"], strict=False)
    bars = [(low, high, number) for low, high, number in pairs if number]

    parts = [_split_chart_spread_bar(bar, bars, sides) for bar in bars]

    totals = {kind: sum(one.get(kind, 0) for one in parts) for kind in ("down", "open", "up")}
    straddling = [part for (low, high, _), part in zip(bars, parts, strict=True) if low < 0 < high]
    assert [sum(one.values()) for one in parts] == [number for *_, number in bars]
    assert all(part.keys() == {"open"} for part in straddling)
    assert straddling or list(totals.values()) == list(sides.values())


def test_a_bar_on_both_sides_of_zero_is_grey() -> None:
    """Differences in steps have a bar about zero; in two colours, half of each would stand on the wrong side."""
    found = {"edges": [-0.75, -0.25, 0.25, 0.75], "counts": [2, 5, 3], "mean": 0.1}

    plot = draw_spread_plot(compared(distribution=found, wins=5, ties=2, losses=3))

    assert plot is not None
    assert [block.kind for block in plot.blocks] == ["down", "open", "up"]
    assert [note.text for note in plot.notes] == ["3 worse", "5 better, 2 equal", "mean +0.10"]


def test_the_spread_says_its_sides_its_mean_and_its_bars() -> None:
    """Worked by hand: two of four are better, one is equal, one is worse; the mean is 0.25."""
    found = {"edges": [-1, -0.5, 0, 0.5, 1], "counts": [1, 0, 1, 2], "mean": 0.25}

    plot = draw_spread_plot(compared(distribution=found, wins=2, ties=1, losses=1))

    assert plot is not None
    assert plot.says == "1 worse, 1 equal, 2 better; mean +0.25; −1 to −0.5: 1, 0 to 0.5: 1, 0.5 to 1: 2"
    assert [block.kind for block in plot.blocks] == ["down", "open", "up"]
    assert [note.text for note in plot.notes] == ["1 worse", "2 better, 1 equal", "mean +0.25"]
    assert plot.blocks[2].height == 2 * plot.blocks[0].height


def test_the_last_bar_holds_what_is_on_its_upper_edge() -> None:
    """Where nothing is better the bars end at zero, and what is equal lies in the last of them."""
    found = {"edges": [-1, -0.5, 0], "counts": [1, 2], "mean": -0.5}

    plot = draw_spread_plot(compared(distribution=found, wins=0, ties=1, losses=2))

    assert plot is not None
    assert [block.kind for block in plot.blocks] == ["down", "down", "open"]


@pytest.mark.parametrize("found", [None, {"edges": [0, 1], "counts": [0], "mean": None}])
def test_without_differences_there_is_no_spread(found: Data | None) -> None:
    """An empty frame is a question left open."""
    assert draw_spread_plot(compared(distribution=found)) is None


def test_the_curve_begins_where_the_interval_has_a_bound() -> None:
    """Half of something without a bound is no number; the reference meets the curve at its end."""
    width, estimate = draw_saturation_plots({"saturation": saturation(n=22)})

    assert width.says.startswith("5 samples: ")
    assert width.says.endswith("22 samples: 0.28")
    assert estimate.says.endswith("22 samples: +0.50 ± 0.28")
    ends = [shape.path.rpartition("L")[2] for shape in width.shapes]
    assert ends[0] == ends[1]


def test_the_reference_falls_with_the_square_root() -> None:
    """Four times the samples, half the width: of 0.2 at 100 samples, 0.4 at 25."""
    curve = [{"n": 25, "half_width": 0.4}, {"n": 100, "half_width": 0.2}]

    (width,) = draw_saturation_plots({"saturation": {"curve": curve}})

    reference, measured = (shape.path for shape in width.shapes)
    assert reference.split("L")[0] == measured.split("L")[0]
    assert reference.rpartition("L")[2] == measured.rpartition("L")[2]


@pytest.mark.parametrize(
    "found",
    [
        None,
        {"curve": []},
        {"curve": [{"n": 5, "half_width": 0.2}]},
        {"curve": [{"n": 2, "half_width": None}, {"n": 3, "half_width": None}]},
        {"curve": [{"n": 2, "half_width": 0.5}, {"n": 2, "half_width": 0.5}]},
    ],
)
def test_a_single_place_is_no_curve(found: Data | None) -> None:
    """Nothing can be read off one point."""
    assert draw_saturation_plots({"saturation": found}) == []


def test_every_pair_of_judges_has_a_cell_or_a_reason() -> None:
    """Below 0.4 a verdict does not rest on them; without a number the cell says why."""
    pairs = [("a", "b", 0.82), ("a", "c", 0.39), ("b", "c", None)]
    agreement = [
        {"judges": [one, other], "pearson": value, "mean_gap": 0.4, "n": 9,
         "why_not": "" if value else "the second gave the same rating throughout"}
        for one, other, value in pairs
    ]  # fmt: skip

    heat = draw_agreement_heat_map(agreement)

    assert heat is not None
    assert [(cell.text, cell.kind) for cell in heat.cells] == [("0.82", "agree"), ("0.39", "differ"), ("–", "unknown")]
    assert heat.whys == ("2 and 3: the second gave the same rating throughout",)
    assert heat.says == (
        "a and b: 0.82, mean gap 0.40, 9 judgments; a and c: 0.39, mean gap 0.40, 9 judgments; "
        "b and c: the second gave the same rating throughout"
    )


@pytest.mark.parametrize("judges", [0, 1, 11])
def test_no_map_of_one_judge_or_of_very_many(judges: int) -> None:
    """The table beside it holds any number of pairs; the cells of a map must hold their figures on a telephone."""
    names = [f"judge {number}" for number in range(judges)]
    pairs = [[one, other] for one in names for other in names if one < other]

    assert (
        draw_agreement_heat_map(
            [{"judges": pair, "pearson": 0.5, "why_not": "", "mean_gap": 1, "n": 4} for pair in pairs]
        )
        is None
    )


def test_a_ranking_tells_how_often_it_holds_and_where_it_turns() -> None:
    """What is not all is never written as all."""
    found = sensitivity(["new", "old"], {"facts": 0.25, "tone": 0.75})
    found["wins"] = {"new": 0.9996, "old": 0.0004}

    (one,) = draw_sensitivity_charts(found)

    wins, turns = one.charts
    assert [row.value for row in wins.rows] == ["99%", "71%", "1%", "29%"]
    assert [(row.name, row.value) for row in turns.rows] == [("tone", "75% → 68%"), ("facts", "25%, never")]
    assert turns.title == "Weight of each criterion now (point), and where new is no longer first (cross)"


def test_layers_are_weighed_beside_criteria() -> None:
    """Both rankings, where there are both; what a chart has no room for is counted."""
    found = sensitivity(["a", "b"], {"facts": 1.0})
    several = {f"layer {place}": 0.04 for place in range(25)}
    found["layers"] = sensitivity([f"v{place}" for place in range(9)], several) | {
        "of": "layers",
        "note": "Close.",
        "not_listed": 3,
    }

    names = [(one.name, one.note) for one in draw_sensitivity_charts(found)]

    assert names == [
        ("By criteria", ""),
        ("By layers", "Close. 1 more variants are not drawn. 8 more layers are not drawn."),
    ]


def test_all_variants_are_drawn_on_the_same_length_axis() -> None:
    """Two clouds can be compared only where a place means the same in both."""
    short, long = draw_length_plots(
        [lengths("old", [(100, 2.0)]), lengths("new", [(400, 2.0), (300, 4.0), (200, 3.0)])]
    )

    assert short.across_ticks == long.across_ticks
    assert short.about == "no line: all outputs have the same length; 1 output"
    assert long.about.startswith("−0.50 points per 100 characters (95% interval −0.65 to −0.35), correlation −0.50")


def test_a_cloud_of_points_is_small() -> None:
    """Four hundred outputs of five variants must not weigh more than the samples themselves."""
    several = [lengths(f"v{place}", [(place * 7 + at, 1 + at % 17 / 4) for at in range(400)]) for place in range(5)]

    larger = len(written(head(lengths=several))) - len(written(head(lengths=[])))

    assert larger < 5 * 9_000


def test_plots_that_a_run_does_not_have_leave_no_trace() -> None:
    """Runs that were kept before there was anything to plot are shown as they were."""
    whole = head()
    for name in ("labels", "lengths", "sensitivity", "trust"):
        del whole[name]
    for name in ("criteria", "distribution", "saturation"):
        del whole["decision"]["comparisons"][0][name]

    text = written(whole)

    assert len(re.findall('<svg class="chart', text)) == 7
    assert 'id="sensitivity"' not in text
    assert 'href="#lengths"' not in text


def written(whole: Data) -> str:
    stream = io.StringIO()
    write_html(whole, samples(1), stream)
    return stream.getvalue().split("</style>")[1]
