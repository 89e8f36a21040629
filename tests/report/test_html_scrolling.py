"""What is wider than a telephone says so: an edge beyond which there is more is shaded, and no other is."""

from base64 import b64encode

import pytest
from playwright.sync_api import Browser, Locator, Page

from tests.report.browser import Reader
from tests.report.shapes import five_variants

WIDE = [".top", "[aria-label='Scores per variant']", "[aria-label='Means per criterion']"]


@pytest.fixture(scope="module")
def canvas(browser: Browser) -> Page:
    """A page to look at images on: the report's policy lets none be read."""
    return browser.new_page()


@pytest.mark.parametrize(
    ("place", "scheme"), [(WIDE[0], "light"), (WIDE[0], "dark"), *((one, "dark") for one in WIDE[1:])]
)
def test_an_edge_with_more_beyond_it_is_shaded(reader: Reader, canvas: Page, place: str, scheme: str) -> None:
    """A number cut in two looks like another number, unless something tells that the table goes on."""
    seen = reader.open(*five_variants(), viewport={"width": 390, "height": 844}, color_scheme=scheme)
    part = seen.page.locator(place)

    at_first = shaded(canvas, part)
    part.evaluate("(one) => one.scrollTo(one.scrollWidth / 2 - one.clientWidth / 2, 0)")
    halfway = shaded(canvas, part)
    part.evaluate("(one) => one.scrollTo(one.scrollWidth, 0)")
    at_last = shaded(canvas, part)

    assert (at_first, halfway, at_last) == ([False, True], [True, True], [True, False])


@pytest.mark.parametrize("place", WIDE[:2])
def test_what_fits_has_no_shade(reader: Reader, canvas: Page, place: str) -> None:
    """A sign that is always there says nothing."""
    seen = reader.open(*five_variants(), viewport={"width": 2200, "height": 844})

    assert shaded(canvas, seen.page.locator(place)) == [False, False]


def shaded(canvas: Page, part: Locator) -> list[bool]:
    """Whether the left and the right edge, as they are seen, have hardly anywhere the colour of the page."""
    image = b64encode(part.screenshot()).decode()
    ground = part.evaluate("() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    found: list[bool] = canvas.evaluate(EDGES, [image, ground])
    return found


EDGES = """async ([image, ground]) => {
  const bytes = Uint8Array.from(atob(image), (one) => one.charCodeAt(0));
  const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
  canvas.drawImage(picture, 0, 0);
  return [1, picture.width - 2].map((x) => {
    const { data } = canvas.getImageData(x, 0, 1, picture.height);
    const plain = (row) => ground.every((one, part) => Math.abs(data[4 * row + part] - one) < 4);
    return Array.from({ length: picture.height }, (_, row) => row).filter(plain).length < picture.height / 20;
  });
}"""
