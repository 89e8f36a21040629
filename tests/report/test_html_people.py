"""Judges against people in the HTML report: what the axes count, and what the size of a dot says."""

import io
import random

import pytest

from evenhand.report.html.judge_page import draw_people_plots
from evenhand.report.html.page_file import write_html
from evenhand.report.html.run_page import build_run_report_page
from tests.report.example import head, samples
from tests.report.measured import labels


def test_a_dot_is_as_large_as_what_it_stands_for() -> None:
    """Four times the outputs, twice the radius: the eye compares areas."""
    judge = {"judge": "j", "points": [[1, 1, 25], [2, 1, 100]], "pearson": 0.5, "bias": -0.25, "n": 125, "map": []}

    (plot,) = draw_people_plots({"judges": [judge], "scale": [1, 5]}, [[1, 5]])

    assert [dot.r for dot in plot.dots] == [10.0, 5.0]
    assert plot.about == "correlation 0.50, 0.25 lower than people, 125 outputs"
    assert plot.says.endswith("Judge and people gave 2.00 and 1.00 100 times, 1.00 and 1.00 25 times")


def test_dots_of_one_size_stand_for_as_many_outputs_in_every_plot() -> None:
    """Judges are compared side by side: the largest dot of one must not be the smallest of the next."""
    few, many = ({"judge": name, "points": [[1, 1, times]], "pearson": None, "bias": 0.0, "n": times, "map": []}
                 for name, times in (("few", 25), ("many", 100)))  # fmt: skip

    plots = draw_people_plots({"judges": [few, many], "scale": [1, 5]}, [[1, 5]])

    assert [plot.dots[0].r for plot in plots] == [5.0, 10.0]


@pytest.mark.parametrize(
    ("scale", "scales", "unit", "bias"),
    [
        ([1, 5], [[1, 5], [0, 1]], "on 1 to 5", "0.25 higher"),
        ([0, 1], [[0, 1], [0, 1]], "on 0 to 1", "0.25 higher"),
        ([0, 1], [[1, 5], [0, 100]], "share of the scale", "0.25 of the scale higher"),
        ([0.0, 1.0], [[1, 5], [0, 1]], "share of the scale", "0.25 of the scale higher"),
    ],
)
def test_axes_against_people_say_what_they_count(
    scale: list[float], scales: list[list[float]], unit: str, bias: str
) -> None:
    """Criteria put together run from 0 to 1, where nobody gave a score between 0 and 1."""
    judge = {"judge": "j", "points": [[0.5, 1, 3]], "pearson": 0.5, "bias": 0.25, "n": 3, "map": []}

    (plot,) = draw_people_plots({"judges": [judge], "scale": scale}, scales)

    assert (plot.across, plot.up) == (f"score of the judge, {unit}", f"score of people, {unit}")
    assert plot.about == f"correlation 0.50, {bias} than people, 3 outputs"


def test_dots_do_not_depend_on_the_order_of_labels() -> None:
    """Of very many the same ones are drawn, whoever labelled first."""
    chance = random.Random(5)
    points = [[chance.random(), chance.random(), 1] for _ in range(700)]
    judge = {"judge": "j", "pearson": 0.5, "bias": 0.0, "n": 700, "map": []}

    plots = [
        draw_people_plots({"judges": [{**judge, "points": order}], "scale": [0, 1]}, [[0, 1]])
        for order in (points, points[::-1])
    ]

    assert plots[0] == plots[1]
    assert len(plots[0][0].dots) == 400


def test_without_labels_nothing_is_said_about_people() -> None:
    """A heading over nothing would read like a result."""
    assert draw_people_plots(None, [[1, 5]]) == []
    assert build_run_report_page(head(labels=None))["people"] == []


def test_the_page_draws_each_judge_that_was_labelled() -> None:
    """The example's criteria and its labels are on the same scale, and the axes name it."""
    stream = io.StringIO()

    write_html(head(labels=labels(["embedded"])), samples(1), stream)

    assert "embedded against people" in stream.getvalue()
    assert "score of the judge, on 1 to 5" in stream.getvalue()
