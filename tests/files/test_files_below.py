"""What an assistant may read: files below its folder, whoever exchanges them for links while they are read."""

import os
import threading
from pathlib import Path

import pytest

from evenhand.errors import EvalError, InputError
from evenhand.evals import json_lines
from evenhand.evals.json_lines import open_eval_sample_file
from evenhand.files.allowed_files import allow_files_below
from evenhand.files.parsing import read_text_file
from evenhand.files.private_files import open_file_below

pytestmark = pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="folders cannot be opened one by one here")


def test_no_link_on_the_way_is_followed(tmp_path: Path) -> None:
    """Neither the last part nor a folder before it; a file that is there is read."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    (inside / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (inside / "sub" / "plain").write_text("plain")
    (inside / "sub" / "link").symlink_to(outside / "secret")
    (inside / "folder").symlink_to(outside)

    with open_file_below(inside, inside / "sub" / "plain") as file:
        assert file.read() == b"plain"
    for wrong in (inside / "sub" / "link", inside / "folder" / "secret"):
        with pytest.raises(OSError):
            open_file_below(inside, wrong)


def test_a_file_that_is_exchanged_for_a_link_is_never_read(tmp_path: Path) -> None:
    """The check and the reading were two looks at one name: a link that came between them was followed."""
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "secret").write_text("secret")
    over, read = threading.Event(), set()

    def exchange() -> None:
        while not over.is_set():
            (inside / "next").symlink_to(tmp_path / "secret")
            (inside / "next").replace(inside / "file")
            (inside / "next").write_text("plain")
            (inside / "next").replace(inside / "file")

    (inside / "file").write_text("plain")
    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        with allow_files_below(inside, "only there"):
            for _ in range(3_000):
                try:
                    read.add(read_text_file(inside / "file", 100, InputError))
                except InputError:
                    continue
    finally:
        over.set()
        thread.join()

    assert read <= {"plain", ""}


def test_a_file_of_samples_that_leads_elsewhere_behind_the_check_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is found then is not a path below the folder: no answer tells where it leads."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.write_text("secret")
    (inside / "s.jsonl").symlink_to(outside)
    monkeypatch.setattr(json_lines, "explain_unreadable_eval_data", lambda _: None)

    with (
        allow_files_below(inside, "only there"),
        pytest.raises(EvalError, match=r"s\.jsonl: cannot be read: it is outside the folder$") as refused,
    ):
        open_eval_sample_file(inside / "s.jsonl")
    assert str(outside) not in str(refused.value)


def test_folders_within_each_other_allow_what_is_below_both(tmp_path: Path) -> None:
    """What a file of samples names stands below the eval, and below the folder of an assistant."""
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    for folder in (inner, inner.parent, tmp_path):
        (folder / "f").write_text(folder.name)

    for first, second in ((inner, inner.parent), (inner.parent, inner)):
        with allow_files_below(first, "a"), allow_files_below(second, "b"):
            assert read_text_file(inner / "f", 100, InputError) == "inner"
            for wrong in (inner.parent / "f", tmp_path / "f"):
                with pytest.raises(InputError, match="is outside the folder"):
                    read_text_file(wrong, 100, InputError)


def test_no_pipe_below_the_folder_is_waited_for(tmp_path: Path) -> None:
    """One that is put in the place of a file would keep the reader for ever."""
    os.mkfifo(tmp_path / "file")

    with pytest.raises(OSError, match="not a regular file"):
        open_file_below(tmp_path, tmp_path / "file")
