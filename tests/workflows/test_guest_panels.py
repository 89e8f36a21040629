"""Files that are written from an imported run name no judge that its author chose where to run."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from evenhand import InputError
from evenhand.cli.app import app
from evenhand.workflows.calibrate import calibrate_run
from evenhand.workflows.runs import import_run
from tests.conftest import ROOT
from tests.workflows import test_guest_judges
from tests.workflows.test_guest_judges import rename_judge
from tests.workflows.test_guest_marks import exported

__all__ = ["exported"]
LABELS = ROOT / "examples" / "labels.jsonl"
SECOND = "python:second:generous"
FOREIGN = (
    "python:planted:judge",
    "openai-compatible:http://127.0.0.1:9/v1/m",
    "openai-decisions-compatible:http://127.0.0.1:9/v1/m",
    "anthropic-compatible:http://127.0.0.1:9/m",
    "replay:/etc/passwd",
    "gguf:/tmp/planted.gguf",
)
KNOWN = ("openai/gpt-9", "anthropic/claude-9", "ollama/small", "openai-decisions/gpt-9")


@pytest.fixture
def guest(
    request: pytest.FixtureRequest, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str]:
    """A run that was imported, and the second judge that it names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(test_guest_judges, "MAKER", SECOND)
    shutil.copy(LABELS, "labels.jsonl")
    Path("run.gz").write_bytes(rename_judge((exported / "run.evenhand").read_bytes(), request.param))
    return import_run(None, "run.gz"), request.param


def calibrate(id: str, *more: str) -> Result:
    return CliRunner().invoke(app, ["calibrate", "labels.jsonl", id, *more], env={"COLUMNS": "200"})


@pytest.mark.parametrize("guest", FOREIGN, indirect=True)
def test_no_panel_is_written_that_would_run_what_a_guest_names(guest: tuple[str, str]) -> None:
    """An eval that names the file would open that judge; what would work is said, and all else is shown."""
    id, name = guest

    done = calibrate(id, "--write", "panel.yaml")
    found = calibrate_run(None, id, Path("labels.jsonl"), Path("other.yaml"))

    assert name in json.loads(calibrate(id, "--json").stdout)["recommendation"]["chosen"]["weights"]
    assert isinstance(done.exception, InputError) and done.stdout.startswith("Yes: the panel agrees with people")
    for words in (f"run {id} was imported", name, "name judges that you know under judges in the eval file"):
        assert words in str(done.exception)
    assert "--write" not in done.stdout and "panel.yaml" not in done.stdout
    assert found.panel_refused is not None
    assert not Path("panel.yaml").exists() and not Path("other.yaml").exists()


@pytest.mark.parametrize("guest", KNOWN, indirect=True)
def test_a_panel_of_a_guest_says_whose_it_is(guest: tuple[str, str]) -> None:
    """Judges that the environment leads to may be written; a comment says where the numbers come from."""
    id, name = guest

    done = calibrate(id, "--write", "panel.yaml")

    text = Path("panel.yaml").read_text("utf-8")
    assert done.exception is None, done.output
    assert set(yaml.safe_load(text)["judges"]) == {"embedded", name}
    assert f"# Run {id} was imported: its judges and their answers are what its file says." in text.splitlines()


def test_a_panel_of_our_own_run_names_whatever_judged(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also code: whoever wrote the eval named it there."""
    shutil.copytree(exported, tmp_path, dirs_exist_ok=True)
    shutil.copy(LABELS, tmp_path)
    monkeypatch.chdir(tmp_path)

    done = calibrate("latest", "--write", "panel.yaml")

    text = Path("panel.yaml").read_text("utf-8")
    assert done.exception is None, done.output
    assert SECOND in yaml.safe_load(text)["judges"] and "imported" not in text
