"""The environment with the peers: built once, from hashes alone, and skipped with a reason where it cannot be."""

import re
import sys
from pathlib import Path

import pytest

from benchmarks import peers

REQUIREMENTS = Path(__file__).parents[2] / "requirements"


def test_what_pip_cannot_install_is_said_and_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bench goes on without the peers; half an environment is not taken for a whole one."""
    wanted = tmp_path / "peers.txt"
    wanted.write_text("rubric\n")  # Without a version and a hash pip refuses it, and asks no index.
    monkeypatch.setattr(peers, "REQUIREMENTS", wanted)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    found = peers.find_peer_python.__wrapped__()

    assert found is None
    said = capsys.readouterr().out
    assert "the environment with the peers cannot be built, they are not measured: " in said
    assert "--require-hashes mode" in said
    assert not list((tmp_path / "cache").rglob(peers._BUILT))


def test_an_environment_that_was_built_is_not_built_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second bench starts at once, and says nothing of it."""
    (tmp_path / peers._BUILT).touch()

    found = peers.build_peer_environment(tmp_path, tmp_path / "no such file")

    assert found.is_relative_to(tmp_path)
    assert capsys.readouterr().out == ""


def test_other_requirements_and_another_python_are_another_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing stale is measured."""
    wanted = tmp_path / "peers.txt"
    prints = []
    for text, tag in (("a==1", "cpython-311"), ("a==2", "cpython-311"), ("a==2", "cpython-312")):
        wanted.write_text(text)
        monkeypatch.setattr(sys.implementation, "cache_tag", tag)
        prints.append(peers._fingerprint(wanted))

    assert len(set(prints)) == 3


@pytest.mark.parametrize("name", ["dev", "model", "peers"])
def test_requirements_are_pinned_by_hash_and_name_no_address(name: str) -> None:
    """Whichever index the machine is set up for serves them."""
    text = "\n".join(line for line in (REQUIREMENTS / f"{name}.txt").read_text().splitlines() if line[:1] != "#")

    assert "://" not in text
    assert not re.search(r"^\s*-(?!-hash=sha256:)", text, re.MULTILINE)
    blocks = re.split(r"\n(?=\S)", text.strip())
    assert all(re.match(r"[\w.\-\[\]]+==\S+", one) and "--hash=sha256:" in one for one in blocks)
