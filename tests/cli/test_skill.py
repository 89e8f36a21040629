"""SKILL.md is followed word by word: its commands, in their order, in an empty folder, and nothing else."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from evenhand.files.methods import list_rubric_file_names
from evenhand.files.rubrics import load_rubric
from evenhand.mcp.tools import TOOL_NAMES
from evenhand.workflows.skill import read_skill_text
from tests.cli.command import evenhand
from tests.docs.pages import blocks
from tests.warm.processes import command_line

SKILL = read_skill_text()
SHELL = [block.text for block in blocks(SKILL) if block.language == "sh"]


def follow(folder: Path) -> list[str]:
    """What each block of commands prints; a command that fails ends it."""
    environ = {name: value for name, value in os.environ.items() if not re.match("EVENHAND|OPENAI|ANTHROPIC", name)}
    environ |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "80"}
    warm = f'evenhand() {{ {shlex.join(command_line("evenhand"))} "$@"; }}\n'  # Started at once, not imported anew.
    printed = []
    for script in SHELL:
        done = subprocess.run(
            ["bash", "-eu", "-c", warm + script], cwd=folder, env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        printed.append(done.stdout)
    return printed


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder that was empty, and what was printed."""
    folder = tmp_path_factory.mktemp("empty")
    return folder, follow(folder)


def test_every_command_works_from_an_empty_folder(followed: tuple[Path, list[str]]) -> None:
    """And the last ones list what the others stored."""
    _, printed = followed

    scored, judged, listed = (" ".join(text.split()) for text in printed[-3:])
    assert "retry-fix 7.95 B" in scored
    assert "weighted sum 8.20: correctness 9 × 0.15" in scored
    assert "took off 0.50: no-undo 0.5 (the migration in step 2 has no way back)" in scored
    assert "added 0.25: measured 0.25 (timeouts fell from 31 to 2 a day)" in scored
    assert "History of patch-skill no history yet" in scored
    assert "History of help-answer no history yet" in judged
    assert "answer.md 1 pass" in judged
    assert "patch-skill evaluation" in listed
    assert "help-answer evaluation" in listed


def test_the_rubrics_in_it_have_no_warnings(followed: tuple[Path, list[str]]) -> None:
    """What is copied must be good."""
    checked = [text for text in followed[1] if "a valid rubric" in text]

    assert len(checked) == 2
    assert all("no warnings" in text for text in checked)


def test_it_names_rubrics_that_keep_the_seven_and_rubrics_that_replace_them() -> None:
    """Both ways of a domain rubric are there to choose from, by name."""
    seven = [one.id for one in load_rubric("judge-skill").criteria]
    named = [name for name in list_rubric_file_names() if f"`{name}`" in SKILL]
    same = {name: [one.id for one in load_rubric(name).criteria] == seven for name in named}

    assert [name for name, keeps in same.items() if keeps] == ["judge-skill", "code-change", "runbook", "skill-review"]
    assert [name for name, keeps in same.items() if not keeps] == ["code-review", "summary", "technical-writing"]
    assert "extends: judge-skill" in SKILL


def test_it_names_tools_that_are_there() -> None:
    """Whoever has them need not run commands."""
    named = re.findall(r"`(\w+)`", SKILL.partition("evenhand mcp` (")[2].partition(")")[0])

    assert named
    assert set(named) <= set(TOOL_NAMES)


def test_what_it_tells_to_look_for_is_what_is_printed(followed: tuple[Path, list[str]], tmp_path: Path) -> None:
    """Each sign in the table of the last step comes up when it should."""
    shutil.copytree(followed[0], tmp_path, dirs_exist_ok=True)
    scores = (tmp_path / "scores.json").read_text()
    command = ("score", "--rubric", "patch-review.yaml", "--subject", "patch-skill", "scores.json")
    signs = {
        "too few to flag": ("retry-fix", "second"),
        "for review: ": ('"correctness": 9', '"correctness": 2'),
        "incomplete": ('"correctness": 9, ', ""),
    }

    evenhand(*command, folder=tmp_path)
    for sign, (old, new) in signs.items():
        (tmp_path / "scores.json").write_text(scores.replace("retry-fix", sign).replace(old, new))
        assert sign in SKILL
        assert sign in evenhand(*command, folder=tmp_path).stdout
    other = evenhand("score", "--rubric", "judge-skill", *command[3:], folder=tmp_path)
    assert "the fingerprint changed" in SKILL
    assert "the fingerprint changed" in other.stdout
    assert evenhand(*command, "--subject", "x", "--min-grade", "Z", folder=tmp_path).returncode == 2


def test_the_front_matter_is_what_assistants_read() -> None:
    """A name of lower-case letters, and a description of at most 1,024 characters that says when to use it."""
    _, front, text = SKILL.split("---\n", 2)

    fields = yaml.safe_load(front)

    assert fields.keys() == {"name", "description"}
    assert fields["name"] == "evenhand"
    assert len(fields["description"]) <= 1024
    assert "Use it after" in fields["description"]
    assert text.startswith("\n# ")
    assert len(SKILL.splitlines()) < 150


def test_it_is_installed_once_and_never_over_a_changed_file(tmp_path: Path) -> None:
    """What somebody has adapted is theirs."""
    file = tmp_path / "skills" / "evenhand" / "SKILL.md"

    first = evenhand("skill", "install", "skills", folder=tmp_path)
    again = evenhand("skill", "install", "skills", folder=tmp_path)
    file.write_text("ours")
    refused = evenhand("skill", "install", "skills", folder=tmp_path)
    kept = file.read_text()
    forced = evenhand("skill", "install", "skills", "--force", folder=tmp_path)

    assert (first.stdout, again.stdout) == (
        "written: skills/evenhand/SKILL.md\n",
        "unchanged: skills/evenhand/SKILL.md\n",
    )
    assert (refused.returncode, kept) == (2, "ours")
    assert refused.stderr == (
        "skills/evenhand/SKILL.md: it was changed, or is of another version (--force writes over it)\n"
    )
    assert forced.stdout == "replaced: skills/evenhand/SKILL.md\n"
    assert file.read_text() == SKILL == evenhand("skill").stdout


@pytest.mark.parametrize("name", ["evenhand", "evenhand/SKILL.md"])
def test_what_cannot_be_written_is_said(tmp_path: Path, name: str) -> None:
    """A file where the folder should be, or a folder where the file should be."""
    if name == "evenhand":
        (tmp_path / name).write_text("a file")
    else:
        (tmp_path / name).mkdir(parents=True)

    done = evenhand("skill", "install", ".", folder=tmp_path)

    assert done.returncode == 2
    assert "cannot be written" in done.stderr
