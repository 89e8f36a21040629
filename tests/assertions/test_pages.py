"""Every kind has its page, and the overview lists it."""

import pytest
import yaml

from evenhand.assertions.kinds import ASSERTION_KINDS, SET_KIND
from evenhand.assertions.reading import read_plain_assertions
from evenhand.errors import Fault
from tests.docs.pages import ROOT, blocks

DOCS = ROOT / "docs"
PAGES = (*ASSERTION_KINDS, SET_KIND)


@pytest.mark.parametrize("kind", PAGES)
def test_every_kind_has_its_page_with_an_example(kind: str) -> None:
    """What it looks for, why it exists, an example that is run, every parameter."""
    page = (DOCS / "assertions" / f"{kind}.md").read_text("utf-8")
    parameters = ASSERTION_KINDS[kind].parameters if kind in ASSERTION_KINDS else ()

    assert page.startswith(f"# `{kind}`")
    assert "## Why it exists" in page
    assert any(block.language == "python" for block in blocks(page))
    assert [one.name for one in parameters if f"`{one.name}`" not in page] == []


def test_no_page_is_left_over() -> None:
    """A page of a kind that is gone misleads."""
    assert {page.stem for page in (DOCS / "assertions").glob("*.md")} == set(PAGES)


@pytest.mark.parametrize("kind", PAGES)
def test_the_overview_lists_every_kind(kind: str) -> None:
    """With its layer and a link."""
    overview = (DOCS / "assertions.md").read_text("utf-8")
    layer = ASSERTION_KINDS[kind].layer if kind in ASSERTION_KINDS else "of its parts"

    assert f"| [`{kind}`](assertions/{kind}.md) | {layer} |" in overview


@pytest.mark.parametrize("kind", ["overview", *PAGES])
def test_what_a_page_writes_is_read(kind: str) -> None:
    """Every YAML block is a list of assertions that the reader accepts."""
    page = DOCS / "assertions.md" if kind == "overview" else DOCS / "assertions" / f"{kind}.md"
    faults: list[Fault] = []

    written = [block.text for block in blocks(page.read_text("utf-8")) if block.language == "yaml"]
    read = [read_plain_assertions(yaml.safe_load(text)["assertions"], DOCS, faults) for text in written]

    assert read
    assert all(read)
    assert faults == []
