"""What an assistant may read: files below its folder, whoever exchanges them for links while they are read."""

import os
import threading
from pathlib import Path

import pytest

from evenhand.errors import InputError
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
