"""The intake of submissions: who handed in what, and when, is said by the operator's files and by receipts, never by
the text itself; what cannot be taken is set aside alone, with its reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evenhand.contest.read_submissions import (
    LARGEST_SUBMISSION_FILE,
    SUBMISSION_ENDINGS,
    SUBMISSION_EXAMPLE,
    SUBMISSION_TEXT_ENDINGS,
    ContestSubmissionFields,
    locate_parsed_submission,
    read_submission_objects,
    read_submission_text,
)
from evenhand.contest.task import Submission, is_blank_submission, normalize_contest_author_name
from evenhand.errors import ContestError, Fault
from evenhand.evals.json_lines import explain_unstorable_sample_value
from evenhand.files.private_files import ForeignFile, ForeignKind, list_files_of_foreign_folder, read_foreign_file
from evenhand.wording import quote_whole_text, word_type_of_value

INDEX_ENDING = ".index.jsonl"
INDEX_FIELDS = frozenset(("file", "id", "author", "at", "revises"))
INDEX_EXAMPLE = '{"file": "heron-2.md", "author": "heron", "at": "2026-12-01T18:00:00Z", "revises": "heron"}'
BY_THE_INTAKE = "who and when is said by the index, or by a folder for each author and a receipt"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionReceipt:
    """That a file was seen: its content, and when it came."""

    file: str
    digest: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionSetAside:
    """What was not taken, whose it is, and why: nobody else waits for it."""

    file: str
    author: str | None
    faults: tuple[Fault, ...]

    @property
    def why(self) -> str:
        """The reasons, without the place, which is known."""
        return "; ".join(str(replace(one, where="", path=())) for one in self.faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionIntake:
    """What has come: submissions in order of arrival, what was set aside, and receipts that are not written yet."""

    submissions: tuple[Submission, ...] = ()
    set_aside: tuple[SubmissionSetAside, ...] = ()
    receipts: tuple[SubmissionReceipt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _IntakeEntry:
    """A file as the intake has it, before its text is read."""

    file: str  # Its path in the folder.
    path: Path
    author: str
    id: str
    at: datetime | None = None  # None where a receipt says it.
    revises: str | None = None
    layout: bool = False  # Whether the folder it is in says whose it is: each of an author's files revises the last.


@dataclass(slots=True)
class _SubmissionIntakeReader:
    """Reads file after file, and keeps what is wrong with one apart from the others."""

    folder: Path
    known: Mapping[str, SubmissionReceipt]
    now: datetime | None
    found: list[tuple[str, Submission]] = field(default_factory=list)
    set_aside: list[SubmissionSetAside] = field(default_factory=list)
    receipts: list[SubmissionReceipt] = field(default_factory=list)
    _layout: set[str] = field(default_factory=set)

    def refuse(self, file: str, author: str | None, *faults: Fault) -> None:
        """Set one aside."""
        self.set_aside.append(SubmissionSetAside(file=file, author=author, faults=faults))

    def read_entry(self, entry: _IntakeEntry) -> None:
        """Take one file, or set it aside."""
        faults: list[Fault] = []
        try:
            read = read_foreign_file(self.folder, entry.file, LARGEST_SUBMISSION_FILE + 1)
            text, claims, digest = read_submission_text(read.content, entry.path, faults)
            receipt = self._receive(entry, digest, read, faults)
        except ContestError as error:
            faults += error.faults
        except OSError as problem:
            faults.append(_explain_unreadable_submission(problem, entry.path))
        else:
            at = entry.at or receipt.at
            told = {"id": entry.id, "author": entry.author, "revises": entry.revises}
            faults += _find_false_submission_claims(claims, told, at, str(entry.path))
            given: dict[str, object] = {**told, "at": at.isoformat(), "text": text}
            if not faults and (why := explain_unstorable_sample_value(given)):
                faults.append(Fault(f"it holds {why}", where=str(entry.path)))
            located = [] if faults else locate_parsed_submission(given, str(entry.path), faults)
            self.found += located
            if located and entry.file not in self.known:  # What is set aside may be mended: it comes when it is right.
                self.receipts.append(receipt)
            self._layout |= {one.id for _, one in located if entry.layout}
        if faults:
            self.refuse(entry.file, entry.author, *faults)

    def _receive(self, entry: _IntakeEntry, digest: str, read: ForeignFile, faults: list[Fault]) -> SubmissionReceipt:
        """When a file came: as its receipt says, or, seen for the first time, when the system last saw it or the
        folder of its author change.

        A folder that is moved in brings files with the times that they had elsewhere; its own time is that of the
        move. Not before what was received earlier: that was judged without it. Not by the time that its owner can set.
        """
        receipt = self.known.get(entry.file)
        if receipt is None:
            floor = max((one.at for one in self.known.values()), default=_EPOCH)
            changed = _EPOCH + timedelta(microseconds=read.changed // 1000)
            changed = changed if self.now is None else min(changed, self.now)
            at = entry.at or max(floor, changed)
            return SubmissionReceipt(file=entry.file, digest=digest, at=at)
        if receipt.digest != digest:
            what = f"has changed since it was received on {receipt.at.isoformat(timespec='seconds')}"
            faults.append(Fault(what, "hand in another file as a revision", where=str(entry.path)))
        return receipt

    def tell_removed(self, listed: Collection[str], *, named: bool) -> None:
        """Tell of files that were received and are not there any more; `named` where their path says whose they are."""
        told = {one.file for one in self.set_aside}
        for file, receipt in self.known.items():
            folder = file.rpartition("/")[0]
            if file in listed or not told.isdisjoint((file, folder)):
                continue
            author = (folder or Path(file).stem) if named else None
            self.refuse(file, author, _explain_removed_submission(receipt, self.folder / file))

    def finish(self) -> SubmissionIntake:
        """All that was taken, in order of arrival; an id is used once, and in a folder each revises the one before."""
        taken: dict[str, Submission] = {}
        last: dict[str, str] = {}
        for where, one in sorted(self.found, key=lambda found: found[1].at):
            if one.id in taken:
                self.refuse(
                    where, one.author, Fault(f"the id {quote_whole_text(one.id)} is used twice", "each id is unique")
                )
                continue
            follows = one.id in self._layout
            taken[one.id] = replace(one, revises=last.get(one.author)) if follows else one
            if follows and not is_blank_submission(one.text):  # The contest refuses what is blank.
                last[one.author] = one.id
        return SubmissionIntake(
            submissions=tuple(taken.values()), set_aside=tuple(self.set_aside), receipts=tuple(self.receipts)
        )


def load_submission_intake(
    path: Path,
    *,
    index: Path | None = None,
    known: Mapping[str, SubmissionReceipt] | None = None,
    now: datetime | None = None,
    layout: str | None = None,
    may_be_empty: bool = False,
) -> SubmissionIntake:
    """What has come: a JSONL file of the operator, or a folder with its index, a folder per author, or receipts.

    Without `known` it is a look: a folder in which the layout cannot be told is refused once receipts are written.
    One in which nothing can be taken is refused as long as nothing ever was, unless it may be so: later on the last
    author with a file would decide whether the others are judged and paid.
    """
    reader = _SubmissionIntakeReader(folder=path, known=known or {}, now=now)
    try:
        if path.is_dir():
            index = index or _find_index_beside(path)
            listed = dict(_list_submission_intake_files(path, reader))
            if index is None:
                chosen = layout or _find_submission_layout(path, known)
                assign = _assign_submissions_by_layout(listed, chosen, reader)
            else:
                assign = _assign_submissions_by_index(index, listed, reader)
            for entry in assign:
                reader.read_entry(entry)
            reader.tell_removed(listed, named=index is None)
        else:
            _read_submission_intake_lines(path, reader)
    except OSError as problem:
        raise ContestError(_explain_unreadable_submission(problem, path)) from None
    intake = reader.finish()
    if not (intake.submissions or reader.known or may_be_empty):
        hint = f"files that end in {' '.join(SUBMISSION_ENDINGS)} hold them"
        faults = [fault for one in intake.set_aside for fault in one.faults]
        raise ContestError(*(faults or [Fault("there are no submissions in it", hint, where=str(path))]))
    return intake


def _find_index_beside(folder: Path) -> Path | None:
    """The index that stands beside a folder, where there is one; `.` and `..` are called by what they mean."""
    named = folder if folder.name not in ("", "..") else folder.resolve()
    beside = named.parent / f"{named.name}{INDEX_ENDING}"
    return beside if named.name and beside.exists() else None


def _explain_removed_submission(receipt: SubmissionReceipt, path: Path) -> Fault:
    what = f"was removed after it was received on {receipt.at.isoformat(timespec='seconds')}"
    return Fault(what, "what judges have seen of it counts", where=str(path))


def _read_submission_intake_lines(path: Path, reader: _SubmissionIntakeReader) -> None:
    """A JSONL file, which is the operator's: each line says whose it is and when it came."""
    if path.suffix.lower() != ".jsonl":
        if not path.exists():
            raise ContestError(Fault("cannot be read: no such file or directory", where=str(path)))
        raise ContestError(Fault("submissions are a folder or a JSONL file", "", where=str(path)))
    faults: list[Fault] = []
    for where, given in read_submission_objects(path, SUBMISSION_EXAMPLE, faults):
        wrong: list[Fault] = []
        reader.found += locate_parsed_submission(given, where, wrong)
        if wrong:
            author = given.get("author")
            reader.refuse(where, author if isinstance(author, str) else None, *wrong)
    for fault in faults:
        reader.refuse(fault.where, None, fault)


def _list_submission_intake_files(folder: Path, reader: _SubmissionIntakeReader) -> Iterator[tuple[str, Path]]:
    """The files of a folder and of the folders in it, by their path; nothing is left out without a word."""
    for name, kind in _list_visible_submission_names(folder):
        found, author = [(name, kind)], None
        if kind == "folder":
            author = name
            try:
                found = [(f"{name}/{one}", what) for one, what in _list_visible_submission_names(folder, name)]
            except OSError as problem:  # Its author can close it, or take it away while we look.
                reader.refuse(name, author, _explain_unreadable_submission(problem, folder / name))
                continue
        for file, what in found:
            if fault := _find_unusable_submission_file(file, what):
                reader.refuse(file, author, replace(fault, where=str(folder / file)))
            else:
                yield file, folder / file


def _list_visible_submission_names(folder: Path, name: str = "") -> list[tuple[str, ForeignKind]]:
    listed = [(one, kind) for one, kind in list_files_of_foreign_folder(folder, name) if not one.startswith(".")]
    return sorted(listed, key=lambda one: (Path(one[0]).stem, one[0]))


def _find_unusable_submission_file(file: str, kind: ForeignKind) -> Fault | None:
    if kind == "link":  # Who hands in a link could have any file of this machine read to judges and quoted back.
        return Fault("is a link", "put the file itself here")
    if kind == "folder":
        return Fault("is a folder", "an author has one, without others")
    if kind == "other":
        return Fault("is not a regular file")
    if Path(file).suffix.lower() not in (*SUBMISSION_TEXT_ENDINGS, ".json"):
        hint = f"end it in {' '.join((*SUBMISSION_TEXT_ENDINGS, '.json'))}"
        return Fault("its name does not say what it holds", hint)
    return None


def _explain_unreadable_submission(problem: OSError, path: Path) -> Fault:
    return Fault(f"cannot be read: {(problem.strerror or str(problem)).lower()}", where=str(path))


def _find_submission_layout(path: Path, known: Mapping[str, SubmissionReceipt] | None) -> str:
    """The layout of a contest: that of its first receipt, and before there is one, that of all that lies there.

    Where files and folders lie side by side from the start, whoever put the last one there would decide: it is asked.
    """
    if known:
        first = min(known.values(), key=lambda one: (one.at, one.file))
        return "folders" if "/" in first.file else "files"
    seen = [(name, kind) for name, kind in _list_visible_submission_names(path) if kind != "link"]
    folders = [name for name, kind in seen if kind == "folder"]
    if folders and len(folders) < len(seen) and known is not None:
        what = f"files lie beside folders ({quote_whole_text(folders[0])}), and it is not known whose they are"
        hint = "--layout folders: each folder is an author's; --layout files: each file is; or write an index"
        raise ContestError(Fault(what, hint, where=str(path)))
    return "folders" if folders else "files"


def _assign_submissions_by_layout(
    listed: Mapping[str, Path], layout: str, reader: _SubmissionIntakeReader
) -> Iterator[_IntakeEntry]:
    """In a layout of folders, a file is that of the folder's author; in one of files, each is an author's own.

    A name that is not written plainly belongs to nobody: it would be taken for that of another, here or to come.
    """
    for file, path in listed.items():
        folder, _, _ = file.rpartition("/")
        name = folder or path.stem
        if layout == "folders" and not folder:
            fault = Fault("stands beside the folders of authors", "put it into the folder of its author")
        elif layout == "files" and folder:
            fault = Fault("is in a folder, and here each file is an author's own", "put it beside the others")
        elif unplain := (
            _find_unplain_submission_name(name, "folder" if folder else "author")
            or _find_unplain_submission_name(path.stem, "file")
        ):
            fault = unplain
        else:
            id = f"{folder}/{path.stem}" if folder else path.stem
            yield _IntakeEntry(file=file, path=path, author=name, id=id, layout=bool(folder))
            continue
        reader.refuse(file, None, replace(fault, where=str(path)))


def _find_unplain_submission_name(name: str, whose: str) -> Fault | None:
    """What is wrong with a name that is not written as it is compared."""
    plain = normalize_contest_author_name(name)
    if name == plain:
        return None
    to = f"to {quote_whole_text(plain)}" if plain else "to a name that can be seen"
    hint = f"rename it {to}, composed (NFC) and without unseen characters at its ends"
    shown = ascii(name) if len(name) <= 60 else quote_whole_text(name)
    return Fault(f"the name of its {whose}, {shown}, is not written plainly", hint)


def _assign_submissions_by_index(
    index: Path, listed: Mapping[str, Path], reader: _SubmissionIntakeReader
) -> Iterator[_IntakeEntry]:
    """The operator's index decides; its own mistakes are refused as a whole, before anybody is judged."""
    faults: list[Fault] = []
    entries: dict[str, _IntakeEntry] = {}
    for where, given in read_submission_objects(index, INDEX_EXAMPLE, faults):
        told = len(faults)
        values = ContestSubmissionFields(given, INDEX_FIELDS, faults)
        file, author, at = values.name("file"), values.name("author"), values.moment("at")
        id = values.name("id") if given.get("id") is not None else None
        revises = values.name("revises") if given.get("revises") is not None else None
        if file is not None and file in entries:
            faults.append(Fault(f"{file!r} is named twice", "once for each file"))
        faults[told:] = [replace(one, where=where) for one in faults[told:]]
        if file is None or author is None or at is None:
            continue
        path = listed.get(file)
        if path is None:
            if not any(one.file == file for one in reader.set_aside):
                fault = Fault("is named in the index, but does not exist", where=where)
                if receipt := reader.known.get(file):
                    fault = _explain_removed_submission(receipt, reader.folder / file)
                reader.refuse(file, author, fault)
            continue
        stem = id or file.removesuffix(path.suffix)
        entries[file] = _IntakeEntry(file=file, path=path, author=author, id=stem, at=at, revises=revises)
    if faults:
        raise ContestError(*faults)
    for file, path in listed.items():
        if file not in entries:
            reader.refuse(file, None, Fault(f"is not in the index, {index}", "the operator adds it", where=str(path)))
    yield from (entries[file] for file in listed if file in entries)


def _find_false_submission_claims(
    claims: Mapping[str, object], told: Mapping[str, str | None], at: datetime, where: str
) -> Iterator[Fault]:
    """What a text says of itself that the intake does not."""
    hint = BY_THE_INTAKE
    for name, claim in claims.items():
        if name == "at":
            try:
                agrees = datetime.fromisoformat(str(claim).strip()) == at
            except ValueError:
                agrees = False
        else:
            agrees = isinstance(claim, str) and normalize_contest_author_name(claim) == told[name]
        if not agrees:
            says = at.isoformat() if name == "at" else told[name]
            shown = quote_whole_text(claim) if isinstance(claim, str) else word_type_of_value(claim)
            what = f"claims {name} {shown}; the intake says {'nothing of it' if says is None else repr(says)}"
            yield Fault(what, hint, where=where)
            hint = ""
