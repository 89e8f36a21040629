"""The tables of the page say what the report says."""

from evenhand.report.html.page_tables import build_report_score_rows
from tests.report.example import head


def test_every_layer_that_was_compared_shows_its_difference() -> None:
    """The rubric layer is called judge in the data: its difference is there all the same."""
    given = head()
    [compared] = given["decision"]["comparisons"]

    rows = {row.name: row.change for row in build_report_score_rows(given)}

    assert rows["composite"] == compared["composite"]
    assert rows["rubric"] == compared["layers"]["judge"] is not None
