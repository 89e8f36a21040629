"""Who handed in what, and when, comes from the intake: a text may claim nothing, and one bad file stops nobody else."""

import errno
import json
import os
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from evenhand.contest.intake import SubmissionIntake, SubmissionReceipt, load_submission_intake
from evenhand.contest.received import set_changed_submissions_aside
from evenhand.contest.state import ContestEntry
from evenhand.contest.task import Submission
from evenhand.errors import ContestError
from evenhand.files.private_files import ForeignKind, list_files_of_foreign_folder

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
Known = dict[str, SubmissionReceipt]


def put(path: Path, text: str = "Gold.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def write_index(folder: Path, *rows: dict[str, str]) -> None:
    put(folder.with_name(f"{folder.name}.index.jsonl"), "".join(json.dumps(row) + "\n" for row in rows))


def reasons(intake: SubmissionIntake) -> dict[str, str]:
    return {one.file: one.why for one in intake.set_aside}


def known_from(intake: SubmissionIntake) -> Known:
    return {one.file: one for one in intake.receipts}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        ("author: heron", "claims author 'heron'; the intake says 'rival'"),
        ("id: heron", "claims id 'heron'; the intake says 'rival'"),
        ("revises: heron", "claims revises 'heron'; the intake says nothing of it"),
        ("at: 2020-01-01T00:00:00Z", "claims at '2020-01-01T00:00:00Z'; the intake says '2026-12-01T12:00:00+00:00'"),
        ("author: [heron]", "claims author a list; the intake says 'rival'"),
        ("authr: heron", "unknown field 'authr'"),
    ],
)
@pytest.mark.parametrize("kind", ["md", "json"])
def test_a_text_cannot_say_who_or_when(folder: Path, claim: str, says: str, kind: str) -> None:
    """A rival took another's place, an earlier date won, and a late file was in time: each is refused alone."""
    put(folder / "heron.md")
    name, _, value = claim.partition(": ")
    claimed = {"text": "Mine.", name: ["heron"] if value == "[heron]" else value}
    put(folder / f"rival.{kind}", json.dumps(claimed) if kind == "json" else f"---\n{claim}\n---\nMine.")
    at = NOON.isoformat()
    write_index(
        folder,
        {"file": "heron.md", "author": "heron", "at": at},
        {"file": f"rival.{kind}", "author": "rival", "at": at},
    )

    intake = load_submission_intake(folder)

    assert [(one.id, one.author, one.at) for one in intake.submissions] == [("heron", "heron", NOON)]
    why = reasons(intake)[f"rival.{kind}"]
    assert why.startswith(says)


def test_what_a_text_says_may_agree(folder: Path) -> None:
    """It describes; the index decides, also about revisions."""
    put(folder / "heron.md")
    put(folder / "second.md", "---\nauthor: heron\nat: 2026-12-01T13:00:00+01:00\nrevises: heron\n---\nMore gold.")
    write_index(
        folder,
        {"file": "second.md", "author": "heron", "at": NOON.isoformat(), "revises": "heron"},
        {"file": "heron.md", "author": "heron", "at": (NOON - timedelta(hours=1)).isoformat()},
    )

    intake = load_submission_intake(folder)

    assert [(one.id, one.author, one.revises, one.text) for one in intake.submissions] == [
        ("heron", "heron", None, "Gold."),
        ("second", "heron", "heron", "More gold."),
    ]
    assert intake.set_aside == ()


def test_a_folder_per_author_says_whose_a_file_is(folder: Path) -> None:
    """Each of an author's files revises the one before, as their receipts have it; loose files are nobody's."""
    put(folder / "heron" / "b.md")
    first = load_submission_intake(folder)
    put(folder / "heron" / "a.md")
    put(folder / "wren" / "a.md", "---\nauthor: heron\n---\nMine.")
    put(folder / "heron.md")

    second = load_submission_intake(folder, known=known_from(first))

    assert [(one.id, one.author, one.revises) for one in second.submissions] == [
        ("heron/b", "heron", None),
        ("heron/a", "heron", "heron/b"),
    ]
    assert reasons(second)["heron.md"].startswith("stands beside the folders of authors")
    assert reasons(second)["wren/a.md"].startswith("claims author 'heron'; the intake says 'wren'")


def test_the_time_of_a_file_is_not_the_one_that_its_owner_sets(folder: Path) -> None:
    """The time of change can be set to any; when the system saw it change cannot."""
    before = datetime.now(UTC) - timedelta(seconds=5)
    path = put(folder / "late.md")
    os.utime(path, (NOON.timestamp() - 10**7, NOON.timestamp() - 10**7))

    intake = load_submission_intake(folder)

    assert before < intake.submissions[0].at <= datetime.now(UTC)


def test_a_folder_that_is_moved_in_came_when_it_was_moved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files keep the times they had elsewhere; only the folder itself says when it came."""
    inside, moved = put(folder / "rival" / "a.md"), NOON + timedelta(hours=1)
    paths = {inside: NOON - timedelta(days=3), inside.parent: moved, folder: NOON + timedelta(days=9)}
    times = {path.stat().st_ino: int(at.timestamp()) * 10**9 for path, at in paths.items()}
    real = os.fstat

    def fstat(opened: int) -> object:
        found = real(opened)
        known = found.st_ino in times
        return SimpleNamespace(st_mode=found.st_mode, st_ctime_ns=times[found.st_ino]) if known else found

    monkeypatch.setattr("evenhand.files.private_files.os.fstat", fstat)

    assert [one.at for one in load_submission_intake(folder).submissions] == [moved]


def test_a_receipt_keeps_time_and_text(folder: Path) -> None:
    """What was seen once came then, whatever is done to the file after; what comes later is not put before it."""
    path = put(folder / "heron.md")
    first = load_submission_intake(folder)
    path.chmod(0o600)
    put(folder / "wren.md")

    same = load_submission_intake(folder, known=known_from(first), now=first.submissions[0].at - timedelta(days=1))
    path.write_text("Silver.", "utf-8")
    changed = load_submission_intake(folder, known=known_from(first))

    assert [one.at for one in same.submissions if one.id == "heron"] == [first.submissions[0].at]
    assert min(one.at for one in same.submissions if one.id == "wren") >= first.submissions[0].at
    assert [one.file for one in same.receipts] == ["wren.md"]
    assert [one.id for one in changed.submissions] == ["wren"]
    assert reasons(changed)["heron.md"].startswith("has changed since it was received on ")


def test_one_bad_file_is_set_aside_and_the_others_are_taken(folder: Path) -> None:
    """Whatever is wrong with it; each reason is told with whose it is."""
    put(folder / "good.md")
    put(folder / "a.pdf")
    put(folder / "b.jsonl", json.dumps({"id": "x", "author": "x", "at": NOON.isoformat(), "text": "x"}))
    put(folder / "c.json", '{"text": 3}')
    put(folder / "d.json", "{")
    (folder / "e.txt").write_bytes(b"Gold\n\xff")
    put(folder / "f.txt", "Gold\0")
    (folder / "g.md").symlink_to(folder / "good.md")
    os.mkfifo(folder / "h.md")
    put(folder / "i.md", "x" * 5_000_001)
    put(folder / "k.md", "---\nid: k\nid: k\n---\nGold.")
    put(folder / "\u200b.md")
    put(folder / ".hidden.md")

    intake = load_submission_intake(folder)

    assert [one.id for one in intake.submissions] == ["good"]
    assert {file: why.split(" (")[0] for file, why in reasons(intake).items()} == {
        "a.pdf": "its name does not say what it holds",
        "b.jsonl": "its name does not say what it holds",
        "c.json": "text is missing, or is not text",
        "d.json": "not valid JSON: it breaks off: Expecting property name enclosed in double quotes",
        "e.txt": "not UTF-8 text",
        "f.txt": "it holds a NUL character, which no database can hold",
        "g.md": "is a link",
        "h.md": "is not a regular file",
        "i.md": "larger than the 5,000,000 bytes allowed",
        "k.md": "the key 'id' is given twice",
        "\u200b.md": "the name of its author, '\\u200b', is not written plainly",
    }


def test_the_index_and_the_folder_are_held_together(folder: Path) -> None:
    """A file that the operator does not name is not taken, and one that is not there is told."""
    put(folder / "a.md")
    put(folder / "b.md")
    at = NOON.isoformat()
    write_index(folder, {"file": "a.md", "author": "ann", "at": at}, {"file": "c.md", "author": "cy", "at": at})

    intake = load_submission_intake(folder)

    assert [(one.id, one.author) for one in intake.submissions] == [("a", "ann")]
    assert {file: why.split(",")[0] for file, why in reasons(intake).items()} == {
        "b.md": "is not in the index",
        "c.md": "is named in the index",
    }


def test_a_mistake_of_the_operator_is_refused_as_a_whole(folder: Path) -> None:
    """The index decides about money: nobody is judged on half of it."""
    put(folder / "a.md")
    write_index(folder, {"file": "a.md", "author": "ann", "at": "today"}, {"fil": "b.md", "author": "b"})

    with pytest.raises(ContestError) as refused:
        load_submission_intake(folder)

    assert [fault.what.split(",")[0] for fault in refused.value.faults] == [
        "at must be a time in ISO 8601", "unknown field 'fil'", "file is missing", "at is missing",
    ]  # fmt: skip


def test_what_was_set_aside_can_be_mended(folder: Path) -> None:
    """It has no receipt until it is right: it comes then."""
    put(folder / "good.md")
    path = put(folder / "heron.md", "---\nauthor: wren\n---\nGold.")
    first = load_submission_intake(folder)
    path.write_text("Gold.", "utf-8")

    second = load_submission_intake(folder, known=known_from(first))

    assert [one.file for one in first.set_aside] == ["heron.md"]
    assert sorted(one.id for one in second.submissions) == ["good", "heron"]


UNSEEN = " \u00a0\u200b\ufeff\U0001d159\U00013442\U0001d173\U0001bca0\U00013440\U00016fe4\U000e0041"


@pytest.mark.parametrize("name", [" heron", "\ufeffheron", "jose\u0301", *(f"heron{unseen}" for unseen in UNSEEN)])
@pytest.mark.parametrize("came_first", [True, False])
def test_a_folder_that_is_not_named_plainly_is_nobodys(folder: Path, name: str, came_first: bool) -> None:
    """It would hand in for the author whose name it looks like, who then could not: also where it came first."""
    plain = unicodedata.normalize("NFC", name).strip(UNSEEN)
    (folder / plain).mkdir()
    put(folder / "wren" / "c.md")
    for one in (name, plain) if came_first else (plain, name):
        put(folder / one / "a.md", f"By {one}.")
        intake = load_submission_intake(folder, known={})

    assert {(one.id, one.author, one.text) for one in intake.submissions} == {
        ("wren/c", "wren", "Gold."),
        (f"{plain}/a", plain, f"By {plain}."),
    }
    assert list(reasons(intake)) == [f"{name}/a.md"]
    assert "is not written plainly" in reasons(intake)[f"{name}/a.md"]


def test_a_file_that_is_not_named_plainly_is_nobodys(folder: Path) -> None:
    """As with folders: `heron .md` would be the file of heron."""
    put(folder / "heron .md")
    put(folder / "wren.md")

    intake = load_submission_intake(folder, known={})

    assert [one.author for one in intake.submissions] == ["wren"]
    assert "rename it to 'heron'" in reasons(intake)["heron .md"]


@pytest.mark.parametrize("name", [" a", "a ", "e\u0301", "\u2800", "a\U0001d17a"])
def test_a_file_in_a_folder_is_named_plainly_too(folder: Path, name: str) -> None:
    """Its name is the id under which its author, a judge and the log speak of it."""
    put(folder / "heron" / f"{name}.md")
    put(folder / "heron" / "b.md")

    intake = load_submission_intake(folder, known={})

    assert [one.id for one in intake.submissions] == ["heron/b"]
    assert "the name of its file" in reasons(intake)[f"heron/{name}.md"]


def test_a_folder_beside_files_sets_nobody_else_aside(folder: Path) -> None:
    """The layout of a contest is the one it began with, not what a stranger makes of it."""
    put(folder / "heron.md")
    first = load_submission_intake(folder, known={})
    put(folder / "wren.md")
    put(folder / "rival" / "m.md")

    second = load_submission_intake(folder, known=known_from(first))

    assert sorted(one.author for one in second.submissions) == ["heron", "wren"]
    assert reasons(second)["rival/m.md"].startswith("is in a folder, and here each file is an author's own")


def test_where_files_lie_beside_folders_from_the_start_nobody_is_judged_before_the_operator_says(folder: Path) -> None:
    """Either reading would set somebody aside; an empty folder counts, as its author may be about to hand in."""
    put(folder / "heron.md")
    (folder / "wren").mkdir()
    with pytest.raises(ContestError, match="--layout folders"):
        load_submission_intake(folder, known={})
    put(folder / "wren" / "a.md")

    by = {layout: load_submission_intake(folder, known={}, layout=layout) for layout in ("files", "folders")}

    assert {layout: [one.author for one in intake.submissions] for layout, intake in by.items()} == {
        "files": ["heron"],
        "folders": ["wren"],
    }
    assert [one.author for one in load_submission_intake(folder).submissions] == ["wren"]


@pytest.mark.parametrize("what", ["link", "pipe", "folder", "gone"])
@pytest.mark.parametrize("swapped", ["zed/a.md", "zed"])
def test_what_is_swapped_after_the_look_at_it_is_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, what: str, swapped: str
) -> None:
    """An author renamed a link to a private file over a text: whoever opens by name a second time reads that file.

    A pipe would keep everybody waiting.
    """
    put(folder / "heron" / "a.md")
    put(folder / "zed" / "a.md")
    private = put(folder.parent / "private" / "a.md", "OF THE OPERATOR")
    real = list_files_of_foreign_folder

    def swap_after(top: Path, name: str = "") -> list[tuple[str, ForeignKind]]:
        listed = real(top, name)
        if name == "zed":
            target = folder / swapped
            target.rename(folder.parent / "old")
            if what == "link":
                target.symlink_to(private if swapped.endswith(".md") else private.parent)
            elif what == "pipe":
                os.mkfifo(target)
            elif what == "folder":
                target.mkdir()
        return listed

    monkeypatch.setattr("evenhand.contest.intake.list_files_of_foreign_folder", swap_after)

    intake = load_submission_intake(folder, layout="folders")

    assert [(one.id, one.text) for one in intake.submissions] == [("heron/a", "Gold.")]
    assert reasons(intake)["zed/a.md"].startswith("cannot be read: ")


@pytest.mark.parametrize("at", ["look", "list"])
def test_a_folder_that_its_author_has_closed_stops_nobody_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """chmod 000 on a folder of one's own ended the contest of all; so did a link in its place. Root may read all, so
    the refusal of the system is played.
    """
    put(folder / "heron" / "a.md")
    put(folder / "zed" / "a.md")
    real = os.open if at == "look" else os.scandir

    def refuse(path: object, *more: int, **named: int) -> object:
        closed = path == "zed" if at == "look" else Path(f"/proc/self/fd/{path}").readlink().name == "zed"
        if closed:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, *more, **named)  # type: ignore[arg-type,call-overload]

    monkeypatch.setattr(f"evenhand.files.private_files.os.{real.__name__}", refuse)

    intake = load_submission_intake(folder, layout="folders")

    assert [one.id for one in intake.submissions] == ["heron/a"]
    assert reasons(intake) == {"zed": "cannot be read: permission denied"}


def test_a_submission_with_half_a_million_names_is_refused_at_once(folder: Path) -> None:
    """Looking for the name that stands twice once took the square of their number."""
    put(folder / "heron.md")
    names = ",".join(f'"{at}":0' for at in range(300_000))
    put(folder / "zed.json", f'{{{names},"twice":0,"twice":1}}')

    assert reasons(load_submission_intake(folder)) == {"zed.json": "the field 'twice' is given twice"}


@pytest.mark.parametrize("called", [".", "../in", "below/.."])
def test_a_folder_has_its_index_beside_it_however_it_is_called(
    folder: Path, monkeypatch: pytest.MonkeyPatch, called: str
) -> None:
    """`.` and `..` have no name of their own."""
    put(folder / "a.md")
    (folder / "below").mkdir()
    write_index(folder, {"file": "a.md", "author": "heron", "at": NOON.isoformat()})
    monkeypatch.chdir(folder)

    intake = load_submission_intake(Path(called))

    assert [one.author for one in intake.submissions] == ["heron"]


@pytest.mark.parametrize("indexed", [False, True])
def test_what_was_removed_after_it_was_received_is_said_to_be(folder: Path, indexed: bool) -> None:
    """It is not there any more, which is another thing than changed; the others are taken as ever."""
    put(folder / "heron" / "one.md")
    put(folder / "rook" / "one.md")
    if indexed:
        rows = [{"file": f"{name}/one.md", "author": name, "at": NOON.isoformat()} for name in ("heron", "rook")]
        write_index(folder, *rows)
    known = known_from(load_submission_intake(folder, known={}, layout="folders"))
    (folder / "heron" / "one.md").unlink()

    intake = load_submission_intake(folder, known=known, layout="folders")

    assert [one.id for one in intake.submissions] == ["rook/one"]
    [told] = intake.set_aside
    assert (told.file, told.author) == ("heron/one.md", "heron")
    assert "was removed after it was received on " in told.why


def test_a_later_submission_has_not_changed_because_the_one_before_was_removed() -> None:
    """Its text and its time are those that were received: it revises what judges have seen."""
    first = Submission(id="heron/one", author="heron", at=NOON, text="Gold.")
    later = Submission(id="heron/two", author="heron", at=NOON, text="More.", revises="heron/one")
    entries = {one.id: ContestEntry(submission=one) for one in (first, later)}
    alone, exchanged = replace(later, revises=None), replace(later, text="Other.", revises=None)

    assert set_changed_submissions_aside(entries, [alone]) == ([later], [])
    assert [one.file for one in set_changed_submissions_aside(entries, [exchanged])[1]] == ["heron/two"]
    assert [one.file for one in set_changed_submissions_aside(entries, [first, alone])[1]] == ["heron/two"]
