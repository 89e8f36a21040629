"""How pages are laid out, measured in Chromium: nothing sticks together, and fields of a row are of one height."""

import pytest

from tests.web.browsing import Visitor
from tests.web.stored_runs import StoredRuns
from tests.web.test_workbench import list_pages

LEAST_GAP = 5  # Pixels.
STUCK = """(least) => [...document.querySelectorAll('main :is(h1, h2, h3, .wide, .route, details, table, form)')]
  .map((one) => {
    let before = one.previousElementSibling;
    while (before && !before.getClientRects().length) before = before.previousElementSibling;
    if (!before || !one.getClientRects().length || before.matches('details') && one.matches('details')) return null;
    const [above, own] = [before.getBoundingClientRect(), one.getBoundingClientRect()];
    const beside = own.left >= above.right || above.left >= own.right || own.top < above.top + 1;
    const stands = beside || own.top - above.bottom >= least;
    return stands ? null : [before, one].map((each) => each.outerHTML.slice(0, 60)).join(' | ');
  }).filter(Boolean)"""
UNEVEN = """() => [...document.querySelectorAll('main form.filters')].flatMap((form) => {
  const rows = {};
  for (const one of form.querySelectorAll('input:not([type=hidden], [type=checkbox]), select, button')) {
    const box = one.getBoundingClientRect();
    if (box.height) (rows[Math.round(box.bottom / 4)] ??= []).push(box.height);
  }
  return Object.values(rows).filter((row) => Math.max(...row) - Math.min(...row) > 1);
})"""


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_on_a_page_sticks_together(visitor: Visitor, stored: StoredRuns, width: int) -> None:
    """A table that stands on its heading, or a heading on the table before, reads as one thing."""
    seen = visitor.open("/", viewport={"width": width, "height": 900})
    for name, path in list_pages(stored).items():
        seen.page.goto(visitor.address + path)
        seen.page.wait_for_load_state("networkidle")

        assert (name, seen.page.evaluate(STUCK, LEAST_GAP), seen.page.evaluate(UNEVEN)) == (name, [], [])


def test_short_ids_stay_whole_and_buttons_beside_their_fields(visitor: Visitor, stored: StoredRuns) -> None:
    """ "passwor" and "d" below it is no id, and a button in a line of its own belongs to nothing."""
    narrow = {"width": 1200, "height": 780}
    listed = visitor.open(f"/runs/{stored.runs[-1]}", viewport=narrow).page.locator("#sample-list td.id a")
    lines = listed.evaluate_all("(all) => all.map((one) => [one.innerText, one.getClientRects().length])")
    compared = visitor.open(list_pages(stored)["compare"], viewport=narrow).page.locator("form.filters")
    ends = compared.locator("select, button").evaluate_all(
        "(all) => all.map((one) => Math.round(one.getBoundingClientRect().bottom))"
    )

    assert [id for id, count in lines if count > 1] == []
    assert len(set(ends)) == 1


@pytest.mark.parametrize(
    ("name", "chosen"), [("run", "#sample-list table"), ("sample", ".results"), ("runs", "table.listing")]
)
def test_a_large_screen_is_used_for_tables_and_outputs_and_not_for_lines(
    visitor: Visitor, stored: StoredRuns, name: str, chosen: str
) -> None:
    """At 2,560 pixels a page of 1,500 hides columns; a line of 2,300 is read by nobody."""
    page = visitor.open(list_pages(stored)[name], viewport={"width": 2560, "height": 1200}).page
    wide = page.locator(chosen).first.bounding_box()
    lines = page.locator("main p, main li").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().width)")

    assert wide is not None and wide["width"] > 2200
    assert lines and max(lines) <= 1500
