"""The report of a contest in a real Chromium: safe, without a network, readable on any screen, by anybody."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.report import contests
from tests.report.browser import Opened, Reader
from tests.report.contests import MARKUP, Json

SHAPES = [
    contests.quality, contests.ahead, contests.hidden, contests.stopped, contests.empty, contests.fastest,
    contests.panel, contests.many, contests.hostile,
]  # fmt: skip
OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true"
WIDTH = "document.documentElement.scrollWidth"


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(shape.__name__))
def test_a_contest_of_any_shape_fits_the_screen(reader: Reader, shape: Callable[[], Json]) -> None:
    """The page never scrolls sideways, on a desk or on a telephone, opened or not, and asks for nothing."""
    seen = reader.open_contest(shape())

    widths = [seen.page.evaluate(WIDTH)]
    seen.page.set_viewport_size({"width": 390, "height": 844})
    widths.append(seen.page.evaluate(WIDTH))
    seen.page.evaluate(OPEN_ALL)
    widths.append(seen.page.evaluate(WIDTH))

    assert widths == [1280, 390, 390]
    assert (seen.troubles, seen.violations()) == ([], [])


def test_hostile_texts_are_shown_and_do_nothing(reader: Reader) -> None:
    """Submissions, names and reasons are written by strangers, feedback by models that read them."""
    seen = reader.open_contest(contests.hostile())
    seen.page.evaluate(OPEN_ALL)

    assert seen.page.locator("script, img, iframe, object, embed, form, body style").count() == 0
    assert MARKUP in seen.page.locator("h1").inner_text()
    assert (seen.troubles, seen.violations()) == ([], [])


def test_nothing_on_the_page_lies_over_something_else(reader: Reader) -> None:
    """Numbers of a chart stay inside it, for every name and on a narrow screen."""
    seen = reader.open_contest(contests.hostile(), viewport={"width": 390, "height": 844})
    seen.page.evaluate(OPEN_ALL)

    outside = seen.page.evaluate(OUTSIDE)

    assert outside == []


OUTSIDE = """() => [...document.querySelectorAll('svg.chart .reading, svg.chart .remark, svg.chart .name')]
  .filter((one) => one.getBoundingClientRect().right > innerWidth || one.getBoundingClientRect().left < 0)
  .map((one) => one.textContent)"""


@pytest.mark.parametrize("shape", [contests.quality, contests.hidden, contests.hostile])
def test_the_ranking_fits_a_telephone_whole(reader: Reader, shape: Callable[[], Json]) -> None:
    """What became of a submission is seen without pushing the table aside."""
    seen = reader.open_contest(shape(), viewport={"width": 390, "height": 844})
    table = seen.page.locator(".ranking")

    statuses = table.locator(".status").evaluate_all("all => all.filter((one) => one.getClientRects().length).length")
    shown, whole = table.locator("..").evaluate("one => [one.clientWidth, one.scrollWidth]")

    assert statuses == len(shape()["submissions"])
    assert whole == shown


@pytest.mark.parametrize("width", [390, 660, 1280])
def test_no_name_of_a_dimension_is_broken(reader: Reader, width: int) -> None:
    """A word that is split in the middle is read as two."""
    seen = reader.open_contest(contests.quality(), viewport={"width": width, "height": 844})
    seen.page.evaluate(OPEN_ALL)

    lines = seen.page.evaluate(LINES_OF_NAMES)

    assert len(lines) > 8
    assert set(lines) == {1}


LINES_OF_NAMES = """() => [...document.querySelectorAll('#terms th .name, .said-table th .name, .dimension h3 bdi')]
  .map((one) => one.getClientRects().length)"""


def test_a_link_from_the_ranking_opens_the_submission(reader: Reader) -> None:
    """Without a script: a browser opens what hides the place that a link leads to."""
    seen = reader.open_contest(contests.quality())

    seen.page.locator(".ranking").get_by_role("link", name="dora", exact=True).click()

    assert seen.page.locator("#opened-5").is_visible()
    assert not seen.page.locator("#opened-1").is_visible()


def test_the_first_screen_answers_who_won_why_and_how_sure(reader: Reader) -> None:
    """Most readers see nothing else."""
    record = contests.quality()
    seen = reader.open_contest(record)

    answers = [*record["decision"]["why"], *record["decision"]["how_sure"], "Ana Ruiz"]
    boxes = [seen.page.locator(".first").get_by_text(text).first.bounding_box() for text in answers]
    facts = seen.page.locator(".facts").bounding_box()

    assert all(box and box["y"] + box["height"] <= 800 for box in [*boxes, facts])


def test_headings_follow_each_other_and_every_drawing_has_a_name(reader: Reader) -> None:
    """Who listens to a page walks from heading to heading."""
    seen = reader.open_contest(contests.quality())

    levels = seen.page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((one) => Number(one.tagName[1]))")
    unnamed = seen.page.evaluate(UNNAMED)

    assert levels[0] == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    assert unnamed == []


UNNAMED = """() => [
  ...[...document.querySelectorAll('svg[role=img]')].filter((one) => !one.querySelector('title')?.textContent),
  ...[...document.querySelectorAll('[tabindex="0"]')].filter((one) => !one.ariaLabel),
  ...[...document.querySelectorAll('[id]')].filter((one) => document.querySelector('#' + one.id) !== one),
].map((one) => one.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("shape", [contests.quality, contests.hostile])
def test_every_text_can_be_read(reader: Reader, scheme: str, shape: Callable[[], Json]) -> None:
    """A contrast of at least 4.5 between each text and what lies behind it."""
    seen = reader.open_contest(shape(), color_scheme=scheme)
    seen.page.evaluate(OPEN_ALL)

    assert faint(seen) == []


def faint(seen: Opened) -> list[str]:
    """The texts of too little contrast."""
    found: list[str] = seen.page.evaluate(FAINT)
    return found


FAINT = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
    .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
  };
  const found = new Set();
  for (const one of document.querySelectorAll('body *:not(svg *)')) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !one.getClientRects().length) continue;
    const [a, b] = [light(parts(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) found.add(`${one.className}: ${one.textContent.trim().slice(0, 30)}`);
  }
  return [...found];
}"""


def test_paper_has_all_that_can_be_opened(reader: Reader) -> None:
    """Paper cannot be opened: what is closed on the screen is printed."""
    seen = reader.open_contest(contests.quality())

    seen.page.emulate_media(media="print")

    assert seen.page.locator("#opened-3").is_visible()
    assert seen.page.locator(".all-events table").is_visible()
