"""The top of the page in a real Chromium: the samples to look at first with their criteria, and the scores by tag."""

from collections.abc import Iterator
from statistics import fmean

import pytest
from playwright.sync_api import Locator, Page

from tests.report.browser import Reader
from tests.report.example import head, samples
from tests.report.results import CRITERIA, Data
from tests.report.shapes import all_failed, five_variants, one_sample, solo


def test_samples_come_before_statistics(reader: Reader) -> None:
    """After what was decided, a reader wants to see an output, not an interval."""
    page = reader.open(head(), samples(6)).page

    sections = page.locator("main > section").evaluate_all("(all) => all.map((one) => one.id)")
    links = page.locator(".top li a").evaluate_all("(all) => all.map((one) => one.hash.slice(1))")

    assert sections[:2] == ["samples", "scores"]
    assert links == sections


def test_what_has_no_score_what_changed_most_and_what_is_lowest_stands_at_the_top(reader: Reader) -> None:
    """Nobody should have to sort a table to find the samples that a decision depends on; a control without a score
    leaves no pair either."""
    page = reader.open(head(), samples(96)).page
    pairs = {
        id: (old, new) for id, (old, new) in composites(samples(96)).items() if old is not None and new is not None
    }
    changes = {id: new - old for id, (old, new) in pairs.items()}
    lost = [id for id in composites(samples(96)) if id not in pairs]

    titles, shown = zip(*first_groups(page).items(), strict=True)

    fell = sorted((id for id in changes if changes[id] < 0), key=lambda id: changes[id])
    rose = sorted((id for id in changes if changes[id] > 0), key=lambda id: -changes[id])
    assert titles[:3] == (
        f"No score 3 of {len(lost)} shown",
        f"Lower than old 5 of {len(fell)} shown",
        f"Higher than old 3 of {len(rose)} shown",
    )
    assert titles[3].startswith("Lowest of the rest 3 of ")
    assert shown[:3] == (lost[:3], fell[:5], rose[:3])
    assert not set(shown[3]) & {*shown[1], *shown[2]}


def test_criteria_are_columns_that_say_what_moved(reader: Reader) -> None:
    """A sample fell; the next question is on which criterion."""
    page = reader.open(head(), samples(24)).page
    row = page.locator("#first-table tr", has=page.get_by_role("link", name="q-007", exact=True))

    heads = page.locator("#first-table thead th").all_inner_texts()
    scored = page.locator("#first-table tbody", has_text="Lower than old").locator("tr[data-position]").first
    lines = dict(zip(heads, scored.locator("td").all_inner_texts(), strict=True))

    old, new = criteria_of(lines["Sample"].split("\n")[0], samples(24))
    assert heads == ["Sample", "old", "new", "Difference", *CRITERIA]
    assert {id: lines[id] for id in CRITERIA} == {
        id: f"{old[id]:g} → {new[id]:g}" if old[id] != new[id] else f"{new[id]:g}" for id in CRITERIA
    }
    assert "incomplete" in row.inner_text()


def test_nothing_lower_is_said_and_other_empty_groups_are_not(reader: Reader) -> None:
    """That nothing fell is what somebody who ships wants to read."""
    page = reader.open(head(), rising(samples(3))).page

    assert list(first_groups(page)) == ["Lower than old none", "Higher than old 3"]


def test_one_variant_shows_its_lowest(reader: Reader) -> None:
    """Without a comparison there is no change to show, and passing samples need no look."""
    page = reader.open(*solo()).page

    groups = first_groups(page)

    assert [title.split(" ")[0] for title in groups] == ["No", "Lowest"]
    assert "pass" not in page.locator("#first-table").inner_text()
    assert page.locator("#variant").is_hidden()


def test_of_several_treatments_each_row_names_its_own(reader: Reader) -> None:
    """A difference alone does not say whose it is."""
    page = reader.open(*five_variants()).page

    heads = page.locator("#first-table thead th").all_inner_texts()

    assert heads[:5] == ["Sample", "Variant", "baseline", "Value", "Difference"]
    assert page.locator("#table .whose").first.inner_text() in [one["name"] for one in five_variants()[0]["variants"]]


def test_without_a_control_each_row_names_its_variant(reader: Reader) -> None:
    """Values of two variants under the name of one would be wrong."""
    whole = head()
    for variant in whole["variants"]:
        variant["role"] = "treatment"
    page = reader.open(whole, samples(24)).page

    assert page.locator("#first-table thead th").all_inner_texts()[:3] == ["Sample", "Variant", "Value"]
    assert set(page.locator("#first-table td.variant").all_inner_texts()) == {"old", "new"}


def test_repeats_that_differ_in_the_last_bit_are_equal(reader: Reader) -> None:
    """The mean of 0.1, 0.2 and 0.3 is not that of 0.3, 0.2 and 0.1 in binary; +0.00 is no gain."""
    page = reader.open(head(), repeated(samples(4))).page

    assert list(first_groups(page)) == ["Lower than old none", "Lowest of the rest 3 of 4 shown"]
    assert set(page.locator("#table td.n").all_inner_texts()) == {"0.00"}


def test_a_sample_opens_from_the_first_table_too(reader: Reader) -> None:
    """What is pointed out must be one press away; a title of a group is no sample."""
    seen = reader.open(head(), samples(24))
    name = seen.page.locator("#first-table .id a").nth(1).inner_text()

    seen.page.locator("#first-table .group").first.click()
    assert seen.page.locator("dialog[open]").count() == 0
    seen.page.locator("#first-table .below").nth(1).click()

    assert seen.page.locator("dialog[open] h2").inner_text() == name
    assert seen.troubles == []


def test_scores_are_shown_by_tag_and_a_tag_filters(reader: Reader) -> None:
    """Better in the mean may be worse for one kind of sample; differences are of samples scored with both."""
    page = reader.open(head(), samples(24)).page

    rows = [row.locator("th, td").all_inner_texts() for row in page.locator("#tag-table tbody tr").all()]
    page.get_by_role("button", name="late", exact=True).click()

    expected = [tag_row(tag) for tag in ("refund", "late", "damaged", "address")]
    assert rows == sorted(expected, key=lambda row: float(row[4].replace("−", "-")))
    assert page.locator("#status").inner_text() == "6 of 24 samples"


def test_one_tag_for_all_samples_is_no_table(reader: Reader) -> None:
    """It would repeat the mean."""
    page = reader.open(*one_sample()).page

    assert page.locator("#by-tag").is_hidden()


def test_where_nothing_was_scored_no_table_of_dashes_is_shown(reader: Reader) -> None:
    """What failed is listed; that nothing got worse would be a lie, and means by tag would be none."""
    page = reader.open(*all_failed()).page

    assert list(first_groups(page)) == ["No score 3 of 60 shown"]
    assert page.locator("#by-tag").is_hidden()


def test_a_sample_begins_with_all_variants_and_the_difference(reader: Reader) -> None:
    """On a telephone the second output is two screens below the first."""
    seen = reader.open(head(), samples(24), viewport={"width": 400, "height": 800})
    old, new = composites(samples(24))["q-001"]
    assert old is not None and new is not None

    seen.sample("q-001")

    line = seen.page.locator("dialog .compared")
    expected = f"old {old:.2f} B ✕ fail new {new:.2f} B ✓ pass {new - old:+.2f}"
    assert " ".join(line.inner_text().split()) == expected
    box = line.bounding_box()
    assert box and box["y"] + box["height"] < 200


@pytest.mark.parametrize("shown", [2, 3])
def test_a_telephone_shows_every_variant_and_the_difference(reader: Reader, shown: int) -> None:
    """Half a comparison is none: at 400 pixels nothing of it may need a scroll."""
    whole, every = head(), samples(24)
    if shown == 3:
        whole["variants"] = [*whole["variants"], whole["variants"][1] | {"name": "short"}]
        every = with_third(every)
    page = reader.open(whole, every, viewport={"width": 400, "height": 800}).page

    for table in ("#table", "#first-table"):
        head_cells = page.locator(f"{table} thead th").filter(has_text="Difference")
        cells = page.locator(f"{table} tr[data-position]").first.locator("td.value, td.n")
        assert cells.count() >= 3
        assert all(right_edge(cell) <= 400 for cell in [*cells.all(), head_cells])
    for table in (".means", ".criteria", ".gates"):
        cells = page.locator(f"{table} tbody tr").first.locator("th, td")
        assert cells.count() >= shown + 1 + (table != ".gates" and shown == 2)
        assert all(right_edge(cell) <= 400 for cell in cells.all())
    assert page.locator("#table .narrow").first.is_visible()


def first_groups(page: Page) -> dict[str, list[str]]:
    """The ids under each title of the first table."""
    bodies = page.locator("#first-table tbody").all()
    return {one.locator(".group").inner_text(): one.locator(".id a").all_inner_texts() for one in bodies}


def composites(every: Iterator[Data]) -> dict[str, tuple[float | None, float | None]]:
    return {one["id"]: (one["results"][0]["composite"], one["results"][1]["composite"]) for one in every}


def criteria_of(id: str, every: Iterator[Data]) -> tuple[Data, Data]:
    old, new = next(one["results"] for one in every if one["id"] == id)
    return old["scorecard"]["criteria"], new["scorecard"]["criteria"]


def tag_row(tag: str) -> list[str]:
    """What the table says of a tag."""
    values = [found for id, found in composites(one for one in samples(24) if one["tags"] == [tag]).items()]
    old, new = ([pair[place] for pair in values if pair[place] is not None] for place in (0, 1))
    change = fmean(pair[1] - pair[0] for pair in values if None not in pair)  # type: ignore[operator]
    return [tag, "6", f"{fmean(old):.2f}", f"{fmean(new):.2f}", f"{change:+.2f}".replace("-", "−")]  # type: ignore[arg-type]


def rising(every: Iterator[Data]) -> Iterator[Data]:
    for sample in every:
        old, new = sample["results"]
        yield sample | {"results": [old | {"composite": 2.0}, new | {"composite": 4.0}]}


def repeated(every: Iterator[Data]) -> Iterator[Data]:
    for sample in every:
        one = sample["results"][0] | {"verdict": None}
        values = {"old": (0.1, 0.2, 0.3), "new": (0.3, 0.2, 0.1)}
        pairs = [(name, place, value) for name, three in values.items() for place, value in enumerate(three)]
        results = [one | {"variant": name, "repeat": place, "composite": value} for name, place, value in pairs]
        yield sample | {"results": results}


def with_third(every: Iterator[Data]) -> Iterator[Data]:
    for sample in every:
        yield sample | {"results": [*sample["results"], sample["results"][1] | {"variant": "short"}]}


def right_edge(cell: Locator) -> float:
    box = cell.bounding_box()
    assert box
    return box["x"] + box["width"]
