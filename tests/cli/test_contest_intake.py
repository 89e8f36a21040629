"""What a stranger puts into the folder of submissions moves neither places nor the payment of others."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.contest_example import REPLAY, contest, copied, fastest, one_line

RUN = ("run", "task.yaml", "submissions", *REPLAY, "--json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copied(tmp_path)


def attack(folder: Path, name: str, text: str) -> None:
    """A file that is in the folder, and that the operator has given to somebody called rival."""
    (folder / "submissions" / name).write_text(text, "utf-8")
    row = {"file": name, "author": "rival", "at": "2026-11-08T10:00:00+01:00"}
    with (folder / "submissions.index.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


BEST = "\n".join(["You can return a parcel within 30 days of delivery."])
ATTACKS = {
    "another's place": f"---\nauthor: kestrel\nrevises: kestrel\n---\n{BEST}",
    "an earlier date": f"---\nat: 2026-11-01T00:00:00+01:00\n---\n{BEST}",
    "another's id": f"---\nid: kestrel\n---\n{BEST}",
    "no UTF-8": "---\nid: [\n---\n",
    "a wrong field": "---\nauthr: kestrel\n---\n",
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("mode", ["quality_first", "fastest_first"])
def test_a_file_that_claims_what_is_not_its_own_is_set_aside_alone(folder: Path, name: str, mode: str) -> None:
    """The others are ranked and paid as if it were not there; it is told with its reason and its author."""
    if mode == "fastest_first":
        fastest(folder)
    alone = json.loads(contest(folder, *RUN, "--again", "alone").stdout)
    attack(folder, "rival.md", ATTACKS[name])

    done = contest(folder, *RUN)

    record = json.loads(done.stdout)
    assert done.returncode == 0
    assert record["payment"]["author"] == alone["payment"]["author"] == "kestrel"
    assert [(one["id"], one["score"]) for one in record["submissions"]] == [
        (one["id"], one["score"]) for one in alone["submissions"]
    ]
    assert [(one["file"], one["author"]) for one in record["set_aside"]] == [("rival.md", "rival")]


def test_what_is_set_aside_is_shown_to_people(folder: Path) -> None:
    """On the terminal, when it is played and later."""
    attack(folder, "rival.md", ATTACKS["another's place"])

    done = contest(folder, *RUN[:-1])
    shown = contest(folder, "show", "latest")

    for said in (done, shown):
        told = "Set aside rival.md by rival: claims author 'kestrel'; the intake says 'rival' (who and when is said by"
        assert told in one_line(said.stdout)


def test_a_file_written_after_the_deadline_is_late_whatever_it_says(folder: Path) -> None:
    """Without an index a receipt says when it came: the clock of this machine, not the time of change."""
    (folder / "submissions.index.jsonl").unlink()
    for file in (folder / "submissions").iterdir():
        text = file.read_text("utf-8").split("---\n", 2)[2]
        file.write_text(text, "utf-8")
        os.utime(file, (1762000000, 1762000000))

    record = json.loads(contest(folder, *RUN, "--until", "now").stdout)

    assert (record["winner"], record["submissions"]) == (None, [])
    assert {one["why"].partition(" (")[0] for one in record["refused"]} == {"the submission is late"}


def test_what_is_exchanged_after_it_was_received_does_not_count(folder: Path) -> None:
    """A rival who can write into the folder replaces a text between two runs: what was received is ranked."""
    first = contest(folder, *RUN, "--until", "2026-11-06T00:00:00+01:00")
    (folder / "submissions" / "kestrel.md").write_text("Nothing.", "utf-8")

    record = json.loads(contest(folder, *RUN).stdout)

    assert first.returncode == 1
    assert record["payment"]["author"] == "kestrel"
    assert [one["file"] for one in record["set_aside"]] == ["kestrel.md"]
