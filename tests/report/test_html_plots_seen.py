"""The plots of the HTML report in a real Chromium: every label can be read, on a desk and on a telephone."""

from collections.abc import Callable, Iterator

import pytest

from tests.report.browser import Reader
from tests.report.example import head, samples
from tests.report.results import Data
from tests.report.shapes import all_equal, crowded, five_variants, one_sample, solo

Shape = Callable[[], tuple[Data, Iterator[Data]]]


def plain() -> tuple[Data, Iterator[Data]]:
    """The example run as it is."""
    return head(), samples()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("shape", [plain, crowded, one_sample, all_equal, five_variants, solo])
def test_no_label_lies_on_another_or_beyond_the_edge(reader: Reader, shape: Shape, width: int) -> None:
    """What overlaps or is cut off cannot be read."""
    seen = reader.open(*shape(), viewport={"width": width, "height": 844})

    assert seen.page.evaluate(CROWDED) == []
    assert (seen.troubles, seen.violations()) == ([], [])


# Two pixels of two boxes may meet: lines of text are taller than their letters.
CROWDED = """() => {
  const found = [];
  for (const chart of document.querySelectorAll('main svg.chart')) {
    const texts = [...chart.querySelectorAll('text')].map((one) => [one.textContent, one.getBoundingClientRect()])
      .filter(([, box]) => box.width);
    const name = chart.querySelector('title').textContent;
    for (const [text, box] of texts)
      if (box.left < 0 || box.right > innerWidth) found.push(`${name}: ${text} is cut off`);
    texts.forEach(([text, a], place) => texts.slice(place + 1).forEach(([other, b]) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 3) found.push(`${name}: ${text} lies on ${other}`);
    }));
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_stand_out_from_the_colour_of_their_cell(reader: Reader, scheme: str) -> None:
    """A contrast of 4.5 at least on the strongest of both colours, as everywhere on the page."""
    seen = reader.open(*crowded(), color_scheme=scheme)

    ratios = seen.page.evaluate(CELLS)

    assert len(ratios) == 34
    assert min(ratios) >= 4.5


# A cell is a colour of some weight over the page: what is seen is the mean of both.
CELLS = """() => {
  const parse = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (rgb) => rgb.map((one) => one / 255)
    .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, index) => sum + one * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = parse(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll('.cell:not(.unknown)')].map((cell) => {
    const [own, weight] = [parse(getComputedStyle(cell).fill), Number(cell.getAttribute('fill-opacity'))];
    const seen = light(own.map((one, index) => weight * one + (1 - weight) * ground[index]));
    const text = light(parse(getComputedStyle(cell.nextElementSibling).fill));
    return (Math.max(seen, text) + 0.05) / (Math.min(seen, text) + 0.05);
  });
}"""


def test_lines_reach_across_a_plot_of_any_width(reader: Reader) -> None:
    """They are stretched with it, and their strokes are not."""
    seen = reader.open(head(), samples(3))
    lines = seen.page.locator("#comparisons .plot .measured")

    widths = [lines.first.bounding_box()]
    seen.page.set_viewport_size({"width": 390, "height": 844})
    widths.append(lines.first.bounding_box())

    wide, narrow = (box["width"] if box else 0 for box in widths)
    assert wide > 290 > narrow > 180


@pytest.mark.parametrize("shape", [plain, crowded, five_variants])
def test_both_columns_of_a_comparison_are_filled(reader: Reader, shape: Shape) -> None:
    """A column that ends far above the other is empty beside it: nothing is so tall that it could not be moved."""
    seen = reader.open(*shape())

    columns = seen.page.locator(".comparison .flow").evaluate_all(COLUMNS)

    assert len(columns) == len(shape()[0]["decision"]["comparisons"])
    assert all(len(bottoms) == 2 for bottoms in columns)
    assert max(max(bottoms) - min(bottoms) for bottoms in columns) < 200


# How far down each column reaches.
COLUMNS = """(flows) => flows.map((flow) => {
  const bottoms = new Map();
  for (const one of flow.children) {
    const { left, bottom } = one.getBoundingClientRect();
    const column = left > innerWidth / 2;
    bottoms.set(column, Math.max(bottoms.get(column) ?? 0, bottom));
  }
  return [...bottoms.values()];
})"""
