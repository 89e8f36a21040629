"""The HTML report as it is written: texts of others stay texts, samples stream, charts say what they show."""

import gzip
import io
import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.html.chart_layout import ChartAxis
from evenhand.report.html.formats import format_report_duration, format_report_moment, link_report_to_sample
from evenhand.report.html.page_file import SAMPLES_PER_BLOCK, dump_inert_report_json, write_html
from evenhand.report.html.run_page import build_run_report_page
from evenhand.report.untrusted_text import escape_hiding_report_characters
from tests.report.example import head, hostile_head, hostile_samples, samples
from tests.report.results import Data
from tests.report.shapes import SHAPES, solo, undecided

ANYTHING = st.text(st.characters(codec=None, exclude_categories=()))
LEAVES = st.none() | st.booleans() | st.integers() | ANYTHING
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(ANYTHING, inner), max_leaves=8)


@given(JSON)
def test_no_data_can_end_its_script_element(data: object) -> None:
    """Without < nothing ends a script element or begins a comment in it; the data itself stays the same."""
    text = dump_inert_report_json(data)

    assert not set("<>&\n\u2028\u2029") & set(text)
    assert text.encode("utf-8")
    assert json.loads(text) == data


def test_a_number_that_json_does_not_have_is_written_as_a_word() -> None:
    """One NaN in the metadata of one sample must not make the whole block unreadable."""
    text = dump_inert_report_json({"metadata": {"ratio": float("nan"), "most": [float("inf")]}})

    assert json.loads(text) == {"metadata": {"ratio": "nan", "most": ["inf"]}}


@given(ANYTHING)
def test_nothing_hides_in_a_text(text: str) -> None:
    """Marks of direction, of no width, control characters and halves of characters are written out."""
    shown = escape_hiding_report_characters(text)

    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]", shown
    )
    assert escape_hiding_report_characters("plain\ttext\nand 👩‍🚀") == "plain\ttext\nand 👩‍🚀"


@given(ANYTHING)
def test_every_id_has_a_place(id: str) -> None:
    """An address holds letters and escapes only, so that no id can leave its attribute or name a scheme."""
    assert re.fullmatch(r"#sample=[A-Za-z0-9_.~%-]*", link_report_to_sample(id))


def test_samples_are_written_as_they_come() -> None:
    """A hundred thousand samples must not be held in memory: a block is in the stream before the next one is begun."""
    stream = io.StringIO()
    sizes = []

    def watched() -> Iterator[Data]:
        for sample in samples(3 * SAMPLES_PER_BLOCK + 1):
            sizes.append(stream.tell())
            yield sample

    write_html(head(), watched(), stream)

    starts = sizes[::SAMPLES_PER_BLOCK]
    assert len(starts) == 4
    assert all(earlier < later for earlier, later in pairwise(starts))


def test_the_texts_of_a_report_are_packed() -> None:
    """Texts are most of a report: unpacked, the page is too large to be sent by mail."""
    stream, written = io.StringIO(), list(samples(2 * SAMPLES_PER_BLOCK))

    write_html(head(), written, stream)

    blocks = re.findall('<script type="application/gzip" class="samples">([A-Za-z0-9+/=]*)</script>', stream.getvalue())
    lines = [gzip.decompress(b64decode(block)).decode().splitlines() for block in blocks]
    assert [json.loads(line) for block in lines for line in block] == json.loads(json.dumps(written))
    assert sum(map(len, blocks)) < sum(len(line) for block in lines for line in block) / 4


def test_hostile_texts_add_no_element() -> None:
    """The page has the same kinds of elements, with the same attributes, whatever the texts in its data are."""
    plain, hostile = io.StringIO(), io.StringIO()

    write_html(head(), samples(13), plain)
    write_html(hostile_head(), hostile_samples(), hostile)

    assert Elements(hostile.getvalue()).kinds <= Elements(plain.getvalue()).kinds


class Elements(HTMLParser):
    """The kinds of elements on a page, each with the names of its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.kinds: set[tuple[str, ...]] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.kinds.add((tag, *sorted(name for name, _ in attrs)))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(shape.__name__))
def test_a_run_of_any_shape_can_be_written(shape: Callable[[], tuple[Data, Iterator[Data]]]) -> None:
    """Nothing measured is shown as nothing, and never as a zero, None or nan."""
    stream = io.StringIO()

    write_html(*shape(), stream)

    visible_part = stream.getvalue().split('<script type="application/')[0].split("</style>")[1]
    assert not re.search(r"\b(None|nan|undefined)\b", visible_part)
    assert "</html>" in stream.getvalue()


def test_a_chart_says_in_words_what_it_draws() -> None:
    """Whoever cannot see a chart reads the same numbers."""
    stream = io.StringIO()

    write_html(head(), samples(1), stream)

    says = re.findall(r"<desc[^>]*>([^<]*)</desc>", stream.getvalue())
    assert says[0] == "composite +0.50 (0.22 to 0.79), fact +0.17 (−0.20 to 0.55), " + (
        "behavior +0.78 (0.35 to 1.20), rubric +0.55 (0.33 to 0.78)"
    )
    assert len(says) == len(re.findall(r'<svg class="chart', stream.getvalue())) == 20


@given(st.floats(-1e6, 1e6), st.floats(0.001, 1e6), st.integers(2, 12))
def test_ticks_are_few_and_inside(low: float, width: float, most: int) -> None:
    """An axis is labelled at one place at least, at no more than asked for, and in order."""
    axis = ChartAxis(low=low, high=low + width, left=10, right=90)

    places = [tick.at for tick in axis.ticks(most)]

    assert len(places) <= most
    assert places == sorted(places)
    assert all(10 <= place <= 90 for place in places)


@given(st.lists(st.floats(-1e6, 1e6)), st.floats(-2e6, 2e6))
def test_zero_stands_in_the_middle_of_a_difference(values: list[float], other: float) -> None:
    """The eye compares both sides of zero; what lies outside stands at the edge."""
    axis = ChartAxis.around_zero(*values, left=20, right=80)

    assert axis.at(0) == 50
    assert 20 <= axis.at(other) <= 80


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, None),
        (0.25, "250 ms"),
        (37.2, "37.2 s"),
        (0.0002, "under 1 ms"),
        (0.9996, "1.0 s"),
        (125, "2 min 5 s"),
        (7300, "2 h 1 min"),
    ],
)
def test_a_time_is_written_in_its_unit(seconds: float | None, text: str | None) -> None:
    """Nobody should have to divide by sixty."""
    assert format_report_duration(seconds) == text


def test_a_moment_that_cannot_be_read_is_shown_as_it_is() -> None:
    """The report must not fail for a date."""
    assert format_report_moment("2026-11-16T05:12:33+00:00") == "16 Nov 2026, 05:12 UTC"
    assert format_report_moment("last Tuesday") == "last Tuesday"


def written(whole: Data) -> str:
    stream = io.StringIO()
    write_html(whole, samples(1), stream)
    return stream.getvalue()


@pytest.mark.parametrize("shape", [solo, undecided])
def test_without_a_comparison_no_chart_comes_twice(shape: Callable[[], tuple[Data, Iterator[Data]]]) -> None:
    """The first screen takes the means then, and the scores below leave them out."""
    says = re.findall(r"<desc[^>]*>([^<]*)</desc>", written(shape()[0]))

    assert len(says) == len(set(says)) > 2


def test_what_was_not_decided_has_a_look_and_no_empty_block() -> None:
    """A heading above nothing is a question left open."""
    text = written(undecided()[0])

    assert '<p class="verdict warn"><span aria-hidden="true">◇</span> UNDECIDED</p>' in text
    assert "How sure" not in text
    assert 'id="why"' not in text


def test_a_run_cut_short_says_so_before_anything_else() -> None:
    """Beside the verdict, with how far it came, in the title and among the facts."""
    text = written(undecided()[0])

    assert "Stopped before its end: 7 of 30 samples." in text
    assert "<title>UNDECIDED (stopped) · " in text
    assert "<b>7 of 30</b> <span>× 2 variants</span>" in text


@pytest.mark.parametrize(
    ("verdict", "exit_code", "state", "tone"),
    [
        ("PROGRESS", 0, "finished", "good"),
        ("PROGRESS", 1, "finished", "warn"),
        ("PROGRESS", 0, "killed", "warn"),
        ("SOLO", 0, "finished", "plain"),
        ("SOLO", 1, "finished", "bad"),
        ("SOLO", 0, "stopped", "warn"),
        ("REGRESS", 1, "stopped", "bad"),
    ],
)
def test_a_good_colour_needs_a_whole_run_that_passed(verdict: str, exit_code: int, state: str, tone: str) -> None:
    """Green means that nothing speaks against it."""
    whole = head()
    whole["decision"] |= {"verdict": verdict, "exit_code": exit_code}
    whole["run"]["state"] = state

    assert build_run_report_page(whole)["look"][1] == tone


def test_a_badge_answers_and_advises() -> None:
    """A name alone, such as saturated, reads like good news beside any mark; green needs no advice."""
    text = written(head())

    assert "<b>saturated:</b> no, the last samples narrowed the interval by 15% " in text
    assert '<span class="note">Add samples until this is below 10%.</span>' in text
    assert "<b>difference significant:</b> yes, +0.50, p = 0.005</li>" in text


def test_a_fingerprint_says_what_it_is_of() -> None:
    """A rubric for all samples, one for a tag, and the question of an assertion."""
    names = re.findall(r"<dt>((?:rubric|assertion) [^<]*)</dt>", written(head()))

    assert names == ["rubric for all", "rubric for late", "assertion faithfulness"]
