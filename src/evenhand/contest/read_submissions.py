"""Reading submissions and challenges from text, JSON and JSONL files."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from evenhand.contest.task import (
    Challenge,
    Submission,
    find_contest_author_fault,
    is_blank_submission,
    normalize_contest_author_name,
    parse_contest_moment,
)
from evenhand.errors import MOST_FAULTS_SHOWN, ContestError, Fault, FaultPath, RubricError, suggest_close_word_in_error
from evenhand.evals.json_lines import NOT_UTF8_FAULT, explain_unstorable_sample_value, parse_sample_json
from evenhand.evals.output_data import refuse_unknown_sample_fields
from evenhand.files.parsing import decode_text_file, parse_yaml_tree, read_file_content, read_text_file
from evenhand.files.tree import MappingNode, ScalarNode, find_node_line, is_null_node
from evenhand.wording import quote_whole_text, word_type_of_value


def load_submission(path: Path) -> Submission:
    """The one in a text file, handed in when the file was last changed, unless its front matter says otherwise."""
    if path.suffix.lower() not in SUBMISSION_TEXT_ENDINGS:
        hint = f"in a file that ends in {' or '.join(SUBMISSION_TEXT_ENDINGS)}"
        raise ContestError(Fault("one submission is a text", hint, where=str(path)))
    faults: list[Fault] = []
    found = _read_text_submission(path, faults)
    if faults:
        raise ContestError(*faults)
    return found[0][1]


def load_submission_text(path: Path) -> tuple[str, str | None]:
    """The text of a submission in a file, to be handed in now, and the author that its front matter names."""
    text = load_submission(path).text
    source = read_text_file(path, LARGEST_SUBMISSION_FILE, ContestError)
    said = read_submission_front_matter(split_submission_front_matter(source, FRONT_MATTER_FIELDS))
    author = said.get("author")
    return text, None if author is None else str(author)


def read_submission_text(content: bytes, path: Path, faults: list[Fault]) -> tuple[str, dict[str, object], str]:
    """The text of a file, what it claims of itself, and the digest of the whole."""
    if len(content) > LARGEST_SUBMISSION_FILE:
        raise ContestError(Fault(f"larger than the {LARGEST_SUBMISSION_FILE:,} bytes allowed", where=str(path)))
    whole = decode_text_file(content, str(path), ContestError)
    digest = sha256(whole.encode()).hexdigest()
    if path.suffix.lower() == ".json":
        given = parse_submission_object(whole, str(path), '{"text": "…"}', faults) or {"text": ""}
        refuse_unknown_sample_fields(given, SUBMISSION_FIELDS, (), faults)
        text = given.get("text")
        if not isinstance(text, str):
            raise ContestError(Fault("text is missing, or is not text", where=str(path)))
        return text, {name: given[name] for name in FRONT_MATTER_FIELDS if given.get(name) is not None}, digest
    parts = split_submission_front_matter(whole, FRONT_MATTER_FIELDS)
    faults += [replace(fault, where=f"{path}{fault.where}") for fault in parts.faults]
    return parts.text, read_submission_front_matter(parts), digest


FRONT_MATTER_FIELDS = ("id", "author", "at", "revises")
SUBMISSION_FIELDS = frozenset((*FRONT_MATTER_FIELDS, "text"))
SUBMISSION_EXAMPLE = '{"id": "a", "author": "heron", "at": "2026-12-01T18:00:00Z", "text": "…"}'
SUBMISSION_TEXT_ENDINGS = (".md", ".txt")
SUBMISSION_ENDINGS = (*SUBMISSION_TEXT_ENDINGS, ".json", ".jsonl")
LocatedSubmission = tuple[str, Submission]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _read_text_submission(file: Path, faults: list[Fault]) -> list[LocatedSubmission]:
    parts = split_submission_front_matter(
        read_text_file(file, LARGEST_SUBMISSION_FILE, ContestError), FRONT_MATTER_FIELDS
    )
    faults += [replace(fault, where=f"{file}{fault.where}") for fault in parts.faults]
    said = read_submission_front_matter(parts)
    id = said.get("id", file.stem)
    given = {"author": id, **said, "id": id, "text": parts.text}
    if why := explain_unstorable_sample_value(given):
        raise ContestError(Fault(f"it holds {why}", where=str(file)))
    if "at" not in given:
        try:
            changed = _EPOCH + timedelta(microseconds=file.stat().st_mtime_ns // 1000)
        except (OSError, OverflowError):
            what = "the time of its last change is not known"
            raise ContestError(Fault(what, "write at into its front matter", where=str(file))) from None
        given["at"] = changed.isoformat()
    tree = parts.tree
    return locate_parsed_submission(given, str(file), faults, lambda path: find_node_line(tree, path) if tree else 1)


def locate_parsed_submission(
    given: dict[str, object], where: str, faults: list[Fault], line: Callable[[FaultPath], int] | None = None
) -> list[LocatedSubmission]:
    """The submission in an object; faults get their place, and the line where that alone does not tell it."""
    told = len(faults)
    values = ContestSubmissionFields(given, SUBMISSION_FIELDS, faults)
    id, author, at = values.name("id"), values.name("author"), values.moment("at")
    text, revises = values.text("text"), None if given.get("revises") is None else values.name("revises")
    faults[told:] = [replace(one, where=f"{where}:{line(one.path)}" if line else where) for one in faults[told:]]
    if id is None or author is None or at is None or text is None:
        return []
    return [(where, Submission(id=id, author=author, at=at, text=text, revises=revises))]


CHALLENGE_FIELDS = frozenset(("by", "at", "reason"))
CHALLENGE_EXAMPLE = '{"by": "heron", "at": "2026-12-02T09:00:00Z", "reason": "…"}'


def read_ranking_challenges(path: Path) -> tuple[Challenge, ...]:
    """The challenges in a JSONL file, the earliest first; of those at one moment, as they stand in the file."""
    faults: list[Fault] = []
    found = []
    for where, given in read_submission_objects(path, CHALLENGE_EXAMPLE, faults):
        told = len(faults)
        values = ContestSubmissionFields(given, CHALLENGE_FIELDS, faults)
        by, at, reason = values.name("by"), values.moment("at"), values.text("reason")
        if reason is not None and is_blank_submission(reason):
            faults.append(Fault("reason cannot be empty", "say what is doubted", ("reason",)))
        faults[told:] = [replace(fault, where=where) for fault in faults[told:]]
        if by is not None and at is not None and reason is not None:
            found.append(Challenge(by=by, at=at, reason=reason))
    if faults:
        raise ContestError(*faults)
    return tuple(sorted(found, key=lambda challenge: challenge.at))


class ContestSubmissionFields:
    """One object of a file, read field by field. What is absent or wrong comes back as None."""

    def __init__(self, given: Mapping[str, object], known: frozenset[str], faults: list[Fault]) -> None:
        self.faults = faults
        self._given = given
        refuse_unknown_sample_fields(given, known, (), faults)

    def text(self, name: str) -> str | None:
        """A text that must be there; it may be empty."""
        value = self._given.get(name)
        if isinstance(value, str):
            return value
        if value is None:
            self.faults.append(Fault(f"{name} is missing", "", (name,)))
        else:
            hint = "put it in quotes" if isinstance(value, (int, float)) else ""
            self.faults.append(Fault(f"{name} must be text, got {word_type_of_value(value)}", hint, (name,)))
        return None

    def name(self, name: str) -> str | None:
        """A text that says who or what, as it is compared: without what cannot be seen at its ends."""
        text = self.text(name)
        if text is None:
            return None
        if why := find_contest_author_fault(text):
            self.faults.append(Fault(f"{name} {why}", "", (name,)))
            return None
        return normalize_contest_author_name(text)

    def moment(self, name: str) -> datetime | None:
        """A moment with its time zone."""
        text = self.text(name)
        return None if text is None else parse_contest_moment(text, name, self.faults)


LARGEST_SUBMISSION_FILE = 5_000_000


def read_submission_objects(path: Path, example: str, faults: list[Fault]) -> Iterator[tuple[str, dict[str, object]]]:
    """One object a line, with its place; empty lines are passed over, and so are those with a fault.

    A file in which so many of these come before the first object is something else, and refused as a whole.
    """
    is_something_else = True
    content = read_file_content(path, LARGEST_SUBMISSION_FILE, ContestError).removeprefix(BOM_UTF8)
    # Not splitlines: a string may hold other line breaks than the one that ends a line of JSONL.
    for number, line in enumerate(content.split(b"\n"), start=1):
        if is_something_else and len(faults) > MOST_FAULTS_SHOWN:
            raise ContestError(*faults)
        where = f"{path}:{number}"
        try:
            text = line.decode()
        except UnicodeDecodeError:
            faults.append(replace(NOT_UTF8_FAULT, where=where))
            continue
        if text.strip():
            found = parse_submission_object(text, where, example, faults)
            if found is not None:
                is_something_else = False
                yield where, found


def parse_submission_object(text: str, where: str, example: str, faults: list[Fault]) -> dict[str, object] | None:
    """The object in a JSON text; None where there is none."""
    value = parse_sample_json(text)
    if isinstance(value, dict):
        return value
    if isinstance(value, Fault):
        faults.append(replace(value, where=where))
    else:
        faults.append(Fault(f"expected an object, got {word_type_of_value(value)}", f"as in {example}", where=where))
    return None


LARGEST_FRONT_MATTER = 65_536  # Each call reads it anew: what is set aside has no receipt.
FRONT_MATTER_AS_TEXT = "an empty line before the block makes it part of the text"

_FRONT_MATTER_BLOCK = re.compile(r"---[ \t]*\r?\n(?P<block>.*?)^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)
# Where YAML cannot be read, what its author would still call the name of a field.
_FRONT_MATTER_KEY = re.compile(r"""["']?(?P<key>[^\s"':#\-\[{][^"':#]{0,40})["']?[ \t]*:(?:\s|$)""")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatterText:
    """A text without its front matter, the tree of that, where there is one, and what is wrong with it."""

    text: str
    tree: MappingNode | None = None
    faults: tuple[Fault, ...] = ()  # Their places are the lines, as in ":3".


def read_submission_front_matter(parts: FrontMatterText) -> dict[str, object]:
    """What front matter says; what is no text stands as an empty object or list, to be refused as such."""
    said: dict[str, object] = {}
    for key, node in parts.tree.items if parts.tree else ():
        if key.text in FRONT_MATTER_FIELDS and not is_null_node(node):
            said[key.text] = node.text if isinstance(node, ScalarNode) else {} if isinstance(node, MappingNode) else []
    return said


def split_submission_front_matter(text: str, known: Collection[str]) -> FrontMatterText:
    """The text and its front matter: a block with at least one key that is, or is meant to be, a known one."""
    found = _FRONT_MATTER_BLOCK.match(text)
    if found is None:
        return FrontMatterText(text=text)
    block = "\n" + found["block"]  # The lines of the file: its first one is the mark.
    if len(block) > LARGEST_FRONT_MATTER:
        return _refuse_long_front_matter(text, block[:LARGEST_FRONT_MATTER], known)
    faults: list[Fault] = []
    tree = None
    keys: list[tuple[str, int]] = []
    try:
        parsed = parse_yaml_tree(block)
        if isinstance(parsed, MappingNode):
            tree, keys = parsed, [(key.text, key.line) for key, _ in parsed.items]
    except RubricError as error:
        faults += [replace(fault, hint=fault.hint or FRONT_MATTER_AS_TEXT) for fault in error.faults]
        keys = _list_front_matter_keys(block)
    if not any(suggest_close_word_in_error(key[:40], known) for key, _ in keys):
        return FrontMatterText(text=text)
    sure = any(key.lower() in known for key, _ in keys)  # Else it may be text that only looks like front matter.
    for key, line in keys:
        if key not in known:
            near = suggest_close_word_in_error(key[:40], known)
            hint = near if near and sure else f"{near or 'known: ' + ', '.join(known)}; {FRONT_MATTER_AS_TEXT}"
            faults.append(Fault(f"unknown field {quote_whole_text(key)}", hint, where=f":{line}"))
    faults.sort(key=lambda fault: int(fault.where[1:]))
    return FrontMatterText(text=text[found.end() :], tree=tree, faults=tuple(faults))


def _refuse_long_front_matter(text: str, beginning: str, known: Collection[str]) -> FrontMatterText:
    """A block that is too long to be read: refused if its beginning looks like front matter, and text if not."""
    keys = {key[:40] for key, _ in _list_front_matter_keys(beginning)}
    if not any(suggest_close_word_in_error(key, known) for key in keys):
        return FrontMatterText(text=text)
    what = f"front matter is longer than the {LARGEST_FRONT_MATTER:,} characters allowed"
    return FrontMatterText(text="", faults=(Fault(what, FRONT_MATTER_AS_TEXT, where=":1"),))


def _list_front_matter_keys(block: str) -> list[tuple[str, int]]:
    """What looks like the name of a field, and its line."""
    lines = [(_FRONT_MATTER_KEY.match(line), number) for number, line in enumerate(block.split("\n"), start=1)]
    return [(key["key"].strip(), number) for key, number in lines if key]
