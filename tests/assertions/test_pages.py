"""Every kind has its section on the page of assertions, and its row in the table there."""

import re

import pytest
import yaml

from evenhand.assertions.kinds import ASSERTION_KINDS, SET_KIND
from evenhand.assertions.reading import read_plain_assertions
from evenhand.errors import Fault
from tests.docs.pages import ROOT, blocks

DOCS = ROOT / "docs"
PAGE = (DOCS / "assertions.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
KINDS = (*ASSERTION_KINDS, SET_KIND)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_section_with_an_example(kind: str) -> None:
    """What it looks for, why it exists, an example that is run, every parameter."""
    section = SECTIONS[kind]
    parameters = ASSERTION_KINDS[kind].parameters if kind in ASSERTION_KINDS else ()

    assert "\nWhy: " in section
    assert [block.language for block in blocks(section) if not block.file] == ["yaml", "python", "text"]
    assert [one.name for one in parameters if f"`{one.name}`" not in section] == []


def test_every_section_is_of_a_kind() -> None:
    """A section of a kind that is gone misleads; of a kind that is there twice, one of the two."""
    assert sorted(re.findall(r"^### `?(.*?)`?$", PAGE, re.MULTILINE)) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_lists_every_kind(kind: str) -> None:
    """With its layer and a link to its section."""
    layer = ASSERTION_KINDS[kind].layer if kind in ASSERTION_KINDS else "of its parts"

    assert f"| [`{kind}`](#{kind}) | {layer} |" in PAGE


@pytest.mark.parametrize("kind", ["overview", *KINDS])
def test_what_the_page_writes_is_read(kind: str) -> None:
    """Every YAML block is a list of assertions that the reader accepts, and those of a kind show that kind."""
    text = PAGE.split("\n### ")[0] if kind == "overview" else SECTIONS[kind]
    faults: list[Fault] = []

    written = [yaml.safe_load(block.text)["assertions"] for block in blocks(text) if block.language == "yaml"]
    read = [read_plain_assertions(assertions, DOCS, faults) for assertions in written]

    assert read
    assert all(read)
    assert faults == []
    assert kind == "overview" or kind in written[0][0]
