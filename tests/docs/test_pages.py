"""The docs cannot drift: what they show is run, and what exists has its page."""

import pkgutil
import re
import shutil
from pathlib import Path

import click
import pytest
import yaml

import evenhand
from evenhand import errors
from evenhand.cli.app import app
from evenhand.files.methods import list_method_yaml_names, list_rubric_file_names, load_shipped_method_file
from evenhand.model.method import STEPS
from tests.docs.pages import PAGES, ROOT, blocks, run_page

DOCS = ROOT / "docs"
APART = (ROOT / "README.md", DOCS / "python.md")  # What is tried first is run just as it will be tried.


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_is_what_comes_out(page: Path, tmp_path: Path) -> None:
    """Every command and every Python block is run in a folder with the shipped examples."""
    shutil.copytree(ROOT / "examples", tmp_path, dirs_exist_ok=True)

    for ran in run_page(page.read_text("utf-8"), tmp_path, apart=page in APART):
        assert ran.printed.strip() == ran.expected.strip(), ran.code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_yaml_block_is_yaml_to_other_tools_too(page: Path) -> None:
    """PyYAML without its C part is stricter, and so are editors."""
    for block in blocks(page.read_text("utf-8")):
        if block.language == "yaml" and block.file:
            assert yaml.load(block.text, Loader=yaml.SafeLoader), block.text


@pytest.mark.parametrize("step", STEPS)
def test_every_step_has_its_page_with_an_example(step: str) -> None:
    """One page per step: what it does, why, an example that is run."""
    page = (DOCS / "steps" / f"{step}.md").read_text("utf-8")

    assert page.startswith(f"# `{step}`")
    assert any(block.language in ("console", "python") for block in blocks(page))


@pytest.mark.parametrize("method", list_method_yaml_names())
def test_every_method_has_its_page_with_an_example(method: str) -> None:
    """One page per method, with an example that is run."""
    page = (DOCS / "methods" / f"{method}.md").read_text("utf-8")

    assert page.startswith(f"# `{method}`")
    assert any(block.language in ("console", "python") for block in blocks(page))


@pytest.mark.parametrize("document", ["judge-skill", "council", "checklist", "oracle", "layered"])
def test_every_document_has_its_page_and_is_found(document: str) -> None:
    """Who comes with a document sees on the first page where to go, what is run, and where we differ."""
    page = (DOCS / "documents" / f"{document}.md").read_text("utf-8")
    from_here = [DOCS / "README.md", DOCS / "reference.md", DOCS / "methods" / f"{document}.md"]

    assert any(block.language == "console" for block in blocks(page))
    assert "\n## Where Evenhand differs, and why\n" in page
    assert [place.name for place in from_here if f"documents/{document}.md" not in place.read_text("utf-8")] == []


def test_every_command_and_option_is_on_its_page() -> None:
    """A command without a page, or an option its page does not name, is not finished."""
    missing = []
    for name, command in _commands(app, ""):
        page = DOCS / "commands" / f"{name.replace(' ', '-')}.md"
        text = page.read_text("utf-8") if page.exists() else ""
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
        missing += [f"{name}: {what}" for what in (f"# `evenhand {name}`", *options) if what not in text]

    assert missing == []


def test_the_table_of_the_python_api_names_what_exists() -> None:
    """Every function that it names can be imported, and every public function of the package is in it."""
    page = (DOCS / "python.md").read_text("utf-8")
    named = re.findall(r"^\| `(?:await )?(evenhand[\w.]*)\(", page, re.MULTILINE)
    public = [name for name in evenhand.__all__ if name.islower() and not name.startswith(("_", "load_"))]

    # A colon before the last part asks for what `from … import …` gives, where a room has the name of a function.
    assert [name for name in named if not callable(pkgutil.resolve_name(":".join(name.rsplit(".", 1))))] == []
    assert [name for name in public if f"evenhand.{name}" not in named] == []


def test_every_ready_rubric_is_on_the_page_of_rubrics() -> None:
    """What ships is listed."""
    page = (DOCS / "rubrics.md").read_text("utf-8")

    assert [name for name in list_rubric_file_names() if f"`{name}`" not in page] == []


def test_every_error_is_on_the_page_of_errors() -> None:
    """What can be raised on purpose is listed."""
    page = (DOCS / "errors.md").read_text("utf-8")
    raised = [name for name, entry in vars(errors).items() if isinstance(entry, type) and issubclass(entry, Exception)]

    assert len(raised) == 17
    assert [name for name in raised if f"`{name}`" not in page] == []


def test_every_setting_is_on_the_page_of_the_environment() -> None:
    """A variable that nobody knows of is a variable that does nothing."""
    page = (DOCS / "environment.md").read_text("utf-8")
    settings = {
        variable for name in list_method_yaml_names() for variable in load_shipped_method_file(name).environment
    }

    assert len(settings) == 7
    assert [name for name in (*sorted(settings), *_read_from_the_environment()) if f"`{name}`" not in page] == []


def _read_from_the_environment() -> set[str]:
    """Every name in the code that looks like a variable of ours or of a provider."""
    name = re.compile(r'"((?:EVENHAND|OPENAI|ANTHROPIC|ORACLE|OLLAMA)_[A-Z_]*[A-Z])"')
    package = ROOT / "src" / "evenhand"
    found = {match for file in package.rglob("*.py") for match in name.findall(file.read_text("utf-8"))}
    assert len(found) >= 9
    return found


def _commands(group: click.Group, prefix: str) -> list[tuple[str, click.Command]]:
    context = click.Context(group)
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found += _commands(command, f"{prefix}{name} ")
        else:
            found.append((f"{prefix}{name}", command))
    return found
