"""The HTML report in a real Chromium: safe, complete without a network, usable by keyboard, readable for everybody."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from evenhand.report.untrusted_text import escape_hiding_report_characters
from tests.report.browser import Reader
from tests.report.example import HOSTILE, head, hostile_head, hostile_samples, samples
from tests.report.results import QUOTES, Data
from tests.report.shapes import SHAPES


def test_hostile_texts_are_shown_and_do_nothing(reader: Reader) -> None:
    """Outputs, replies, ids and reasons are written by models and by strangers."""
    seen = reader.open(hostile_head(), hostile_samples())

    shown = [seen.page.evaluate(OUTPUT, position) for position in range(len(HOSTILE))]

    assert shown == [escape_hiding_report_characters(text) for text in HOSTILE]
    assert seen.page.locator("img, iframe, object, embed, meta[http-equiv=refresh], body style").count() == 0
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert (seen.troubles, seen.violations()) == ([], [])


OUTPUT = """async (position) => {
  document.querySelectorAll('#table tbody a')[position].click();
  while (!document.querySelector('#detail-body > *')) await new Promise(requestAnimationFrame);
  for (const one of document.querySelectorAll('dialog details')) one.open = true;
  return [...document.querySelectorAll('dialog .output')].at(-1).textContent;
}"""


def test_the_policy_stops_what_gets_through_all_the_same(reader: Reader) -> None:
    """The second wall: no script, style or request that is not in the file as it was written."""
    seen = reader.open(head(), samples(1))

    seen.page.evaluate("""() => {
      const script = document.createElement('script');
      script.textContent = 'window.ran = true';
      const image = document.createElement('img');
      image.src = 'https://example.com/x.png';
      document.body.append(script, image);
      document.body.setAttribute('onclick', 'window.ran = true');
      document.body.click();
    }""")

    seen.page.wait_for_function("window.violations.length >= 3")
    assert seen.page.evaluate("window.ran") is None
    assert sorted(seen.violations()) == ["img-src", "script-src-attr", "script-src-elem"]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(shape.__name__))
def test_a_run_of_any_shape_fits_the_screen(reader: Reader, shape: Callable[[], tuple[Data, Iterator[Data]]]) -> None:
    """Wide tables scroll on their own; the page never does so sideways, on a desk or on a telephone."""
    seen = reader.open(*shape())
    wide = "Math.max(document.documentElement.scrollWidth, document.querySelector('dialog').scrollWidth)"

    widths = [seen.page.evaluate(wide)]
    seen.page.set_viewport_size({"width": 390, "height": 844})
    widths.append(seen.page.evaluate(wide))
    if seen.page.locator("#table tbody a").count():
        seen.page.locator("#table tbody a").first.click()
        widths.append(seen.page.evaluate(wide))

    assert widths == [1280, 390, 390][: len(widths)]
    assert (seen.troubles, seen.violations()) == ([], [])


def test_the_first_screen_answers_what_why_how_sure_and_what_next(reader: Reader) -> None:
    """Most readers see nothing else."""
    seen = reader.open(head(), samples(3))
    decision = head()["decision"]

    answers = [decision[key] for key in ("verdict", "headline", "sure", "next_step")] + decision["reasons"]
    boxes = [seen.page.locator(".first").get_by_text(text).bounding_box() for text in answers]
    facts = seen.page.locator(".facts").bounding_box()

    assert all(box and box["y"] + box["height"] <= 800 for box in [*boxes, facts])


def test_without_scripts_everything_but_the_samples_can_be_read(reader: Reader) -> None:
    """Viewers of attachments often run none; the page then says what is missing."""
    seen = reader.open(head(), samples(3), java_script_enabled=False)

    assert seen.page.locator("noscript p").is_visible()
    assert seen.page.get_by_role("heading", name="Judges").is_visible()
    assert seen.page.get_by_text(head()["decision"]["headline"]).is_visible()
    assert not seen.page.locator("#filters").is_visible()


def test_the_keyboard_reaches_a_sample_and_leaves_it(reader: Reader) -> None:
    """Tab to a row, Enter opens it, Escape closes it, and one stands where one stood."""
    page = reader.open(head(), samples(3)).page
    page.locator("#sort").focus()
    focused = "document.activeElement.textContent"
    for _ in range(9):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('#table a')"):
            break

    page.keyboard.press("Enter")
    open_title = page.locator("dialog[open] h2").text_content()
    page.keyboard.press("Escape")

    assert open_title == "q-001"
    assert page.locator("dialog[open]").count() == 0
    assert page.evaluate(focused) == "q-001"


def test_an_address_leads_to_a_sample(reader: Reader) -> None:
    """A link to one sample can be sent to a colleague; the panel goes on from there."""
    page = reader.open(head(), samples(150), place="#sample=q-120").page

    first = page.locator("dialog[open] h2").text_content()
    page.get_by_role("button", name="Next").last.click()

    assert first == "q-120"
    assert page.locator("dialog[open] h2").text_content() == "q-121"
    assert page.url.endswith("#sample=q-121")


def test_quotations_are_marked_where_they_stand(reader: Reader) -> None:
    """Places count characters, and an emoji before them must not move the mark."""
    seen = reader.open(head(), samples(6))

    seen.sample("q-005")

    marks = seen.page.locator(".result.treatment mark.evidence").all_text_contents()
    assert "".join(marks) == QUOTES["new"]
    assert seen.page.locator(".result.treatment mark.flag").all_text_contents() == ["help@e…"]
    assert seen.page.locator(".result.control mark.found").all_text_contents() == ["refund"]


TOLD = [
    "Where is it", "Say where the parcel is", "Refunds take three days", "holds an e-mail address", "looked for",
    "It says what comes next", "Advice: Name the day.", "weighted_mean", "layer_mean", '"accuracy":',
]  # fmt: skip


def test_a_sample_is_shown_in_full(reader: Reader) -> None:
    """Input, outputs, guards, assertions, judgments, steps and raw replies are all there."""
    seen = reader.open(head(), samples(11))

    seen.sample("q-005")
    seen.page.locator("dialog summary").first.click()
    text = seen.page.locator("dialog").inner_text()
    seen.page.keyboard.press("Escape")
    seen.sample("q-011")

    missing = [said for said in TOLD if said not in text]
    assert missing == []
    assert "connection reset by peer" in seen.page.locator(".result.control").inner_text()


def test_samples_are_paged_found_filtered_and_sorted(reader: Reader) -> None:
    """The way from a number to the samples behind it."""
    page = reader.open(head(), samples(300)).page
    rows, status = page.locator("#table tbody tr"), page.locator("#status")
    first = [rows.count(), status.inner_text()]

    page.get_by_role("button", name="Next").first.click()
    second = [rows.first.locator("a").inner_text(), status.inner_text()]
    page.get_by_label("Search").fill("I WOULD rather not")
    page.get_by_text("13 of 300 samples", exact=True).wait_for()
    found = rows.first.locator("a").inner_text()
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("State").select_option("failed")
    failed = status.inner_text()
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("Sort").select_option("drop")
    differences = [
        float(text.replace("−", "-")) for text in page.locator("#table tr td:nth-child(5) span").all_inner_texts()
    ]

    assert first == [25, "300 samples, 1 to 25 shown"]
    assert second == ["q-026", "300 samples, 26 to 50 shown"]
    assert found == "q-007"
    assert failed == "13 of 300 samples"
    assert differences == sorted(differences) and differences[0] < -0.5


def test_a_name_of_a_field_is_not_found_as_a_text(reader: Reader) -> None:
    """The samples lie in the page as JSON; a search is for what somebody wrote, not for how it is stored."""
    page = reader.open(head(), samples(3)).page

    page.get_by_label("Search").fill("input_tokens")

    page.get_by_text("0 of 3 samples", exact=True).wait_for()
    assert page.get_by_text("0 of 3 samples", exact=True).count() == 1


def test_headings_are_in_order_and_controls_have_names(reader: Reader) -> None:
    """A reader who hears the page can find the way."""
    seen = reader.open(head(), samples(5))
    seen.sample("q-005")

    orders = [seen.page.locator(part).evaluate(LEVELS) for part in ("main", "dialog")]
    nameless = seen.page.evaluate(NAMELESS)

    assert orders[0].count(1) == 1
    assert [order[0] for order in orders] == [1, 2]
    assert all(later <= earlier + 1 for order in orders for earlier, later in pairwise(order))
    assert nameless == []


LEVELS = "(part) => [...part.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((one) => Number(one.tagName[1]))"
NAMELESS = """[...document.querySelectorAll('input, select, button, a, [role=img], [role=group], [role=search]')]
  .filter((one) => !(one.labels?.[0]?.textContent || one.textContent || one.getAttribute('aria-label') || '').trim())
  .map((one) => one.outerHTML)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(reader: Reader, scheme: str) -> None:
    """A contrast of 4.5 at least, in both sets of colours, on the page and in the panel."""
    seen = reader.open(head(), samples(24), color_scheme=scheme)

    weak = seen.page.evaluate(CONTRAST)
    seen.sample("q-005")
    weak += seen.page.evaluate(CONTRAST)

    assert weak == []


# Relative luminance and contrast as WCAG 2 defines them, for each element with a text of its own.
CONTRAST = """() => {
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
    .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, index) => sum + one * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return parse(getComputedStyle(document.body).backgroundColor);
  };
  const weak = [];
  for (const element of document.querySelectorAll('body *:not(script, style, noscript, title, desc, option)')) {
    const own = [...element.childNodes].some((one) => one.nodeType === 3 && one.textContent.trim());
    if (!own || !element.getClientRects().length || element.disabled) continue;
    const style = getComputedStyle(element);
    const colour = element.namespaceURI.endsWith('svg') ? style.fill : style.color;
    const [a, b] = [light(parse(colour)), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) weak.push(`${ratio.toFixed(2)} ${element.outerHTML.slice(0, 80)}`);
  }
  return weak;
}"""
