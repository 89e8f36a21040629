"""Few samples are read once and kept; whether their file is still what it was is said all the same."""

import json
import os
from pathlib import Path

import pytest

from evenhand.evals import samples as samples_module
from evenhand.evals.eval_definition import RecheckedSamples, count_eval_samples
from evenhand.evals.json_lines import EvalSampleJsonLines
from evenhand.evals.samples import FileSamples


def write(path: Path, *texts: str) -> None:
    path.write_text("".join(json.dumps({"id": text, "output": text}) + "\n" for text in texts))


def counted(path: Path) -> RecheckedSamples:
    source = FileSamples(str(path), EvalSampleJsonLines(path))
    return RecheckedSamples(source, count_eval_samples(source))


def test_samples_that_are_kept_are_what_was_read(tmp_path: Path) -> None:
    """Also where the file is another by now, which is said at the end."""
    file = tmp_path / "samples.jsonl"
    write(file, "a", "b")
    samples = counted(file)
    write(file, "a", "c")

    assert [one.id for one in samples] == ["a", "b"]
    assert samples.changed


@pytest.mark.parametrize("gone", [False, True])
def test_a_file_that_is_written_to_or_gone_is_looked_at_again(tmp_path: Path, gone: bool) -> None:
    """The same samples, written once more, are the same samples."""
    file = tmp_path / "samples.jsonl"
    write(file, "a", "b")
    samples = counted(file)
    write(file, "a", "b")
    os.utime(file, ns=(1, 1))
    if gone:
        file.unlink()

    assert [one.id for one in samples] == ["a", "b"]
    assert samples.changed == gone


def test_kept_samples_are_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is what they are kept for."""
    file = tmp_path / "samples.jsonl"
    write(file, "a", "b")
    samples = counted(file)
    monkeypatch.setattr(EvalSampleJsonLines, "__iter__", lambda _: pytest.fail("read again"))

    assert [one.id for one in samples] == ["a", "b"]
    assert not samples.changed


@pytest.mark.parametrize("limit", ["MOST_KEPT", "LARGEST_KEPT_FILE"])
def test_many_samples_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """Memory stays as it is, however many there are."""
    file = tmp_path / "samples.jsonl"
    write(file, "a", "b", "c")
    monkeypatch.setattr(samples_module, limit, 2)
    samples = counted(file)

    assert samples.counted.kept is None
    assert [one.id for one in samples] == ["a", "b", "c"]
    assert not samples.changed
