"""Known secrets, kept out of all that is shown or stored: as they are, encoded, reversed, or split over lines."""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import Literal

from evenhand.files.escapes import CHARACTER_ESCAPED_ONCE, ESCAPED_CHARACTER, read_escaped_character
from evenhand.files.lookalikes import UNSEEN_CHARACTERS
from evenhand.models.address_secrets import is_long_secret, list_address_secrets
from evenhand.models.requests import Reply

HIDDEN = "[key hidden]"
KEY_VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "EVENHAND_API_KEY")

_PIECE = 8  # So many characters in a row of a key give too much of it away.
_LONGEST = 2000  # Characters that a message is made of.
_LONGEST_READ = 100_000  # Characters in which keys are looked for first: one that is cut would not be known for one.
CUT_MARGIN = 50_000  # Of a text that was cut before keys were looked for, so much beside the cut may be half a key.
_LOOKS_LIKE_A_KEY = re.compile(
    r"""\b(?:sk|pk|rk|xai|gsk|hf|pplx|nvapi|ghp|gho|bearer|basic)[-_ ][^\s"',;<>)]{4,}
      | \b(?:AIza|AKIA)[\w-]{8,}
      | [^\s"',;:=<>(]*[*•]{3,}[^\s"',;<>)]*""",
    re.VERBOSE | re.IGNORECASE,
)
# Variables of others that hold a secret by their name; a plain word in one would be hidden wherever it is written.
_SECRET_VARIABLE = re.compile(r".*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)", re.IGNORECASE | re.DOTALL)


def collect_api_keys_to_hide(environ: Mapping[str, str], sent: Iterable[str] = ()) -> ModelSecrets:
    """The secrets in an environment: our keys, the variables in `sent`, passwords in addresses, and what its name
    says is one.
    """
    known = [environ.get(name, "") for name in (*KEY_VARIABLES, *sent)]
    for name, value in environ.items():
        if _SECRET_VARIABLE.fullmatch(name) and is_long_secret(value):
            known.append(value)
        elif name.upper().endswith("_URL"):
            known += list_address_secrets(value)
    return ModelSecrets(known)


@dataclass(frozen=True, slots=True)
class ModelSecrets:
    """The keys in use. It never shows them."""

    keys: Sequence[str] = field(default=(), repr=False)  # As they are set; an empty one is none.

    def hide_keys(self, text: str) -> str:
        """A server's words for a message: one short line without keys, parts of keys and what looks like one."""
        text = self.remove_from_beginning(text)[:_LONGEST]
        for key in self.list_keys():
            text = _hide_api_key_pieces(text.replace(key, HIDDEN), key)
        text = _LOOKS_LIKE_A_KEY.sub(HIDDEN, text)
        line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
        return line if len(line) <= 300 else line[:299] + "…"

    def list_keys(self) -> list[str]:
        """All of them, the longest first: one key may be part of another."""
        return sorted({key.strip() for key in self.keys if key.strip()}, key=len, reverse=True)

    def remove_keys(self, text: str) -> str:
        """A text as it came, unless it repeats a whole key, in whatever form."""
        if not any(self.keys):
            return text
        return remove_written_api_keys(text, tuple(key for key in self.list_keys() if len(key) >= _PIECE), HIDDEN)

    def remove_from_beginning(self, text: str) -> str:
        """As `remove_keys`, of a text that may be too long to be read to its end: of such a one only the beginning."""
        read = self.remove_keys(text[:_LONGEST_READ])
        return read if len(text) <= _LONGEST_READ else read[:-CUT_MARGIN]

    def remove_from_data(self, data: object) -> object:
        """Plain data without keys in any of its texts."""
        if not any(self.keys):
            return data
        if isinstance(data, str):
            return self.remove_keys(data)
        if isinstance(data, dict):
            return {self.remove_keys(str(name)): self.remove_from_data(value) for name, value in data.items()}
        return [self.remove_from_data(value) for value in data] if isinstance(data, (list, tuple)) else data


def hide_api_keys_in_reply(reply: Reply, secrets: ModelSecrets) -> Reply:
    """The reply, unless whoever answered put a key into it: a reply is stored and shown."""
    tokens = "".join(place.token for place in reply.places)
    likely = [token for place in reply.places for token, _ in place.likely]
    texts = "\n".join((reply.text, reply.model, reply.request_id or "", tokens, *likely))
    if secrets.remove_keys(texts) == texts:
        return reply
    return replace(
        reply,
        text=secrets.remove_keys(reply.text),
        model=secrets.remove_keys(reply.model),
        request_id=secrets.remove_keys(reply.request_id) if reply.request_id else None,
        places=(),
    )


def _hide_api_key_pieces(text: str, key: str) -> str:
    """The text with every stretch that eight or more characters of the key cover hidden."""
    covered = bytearray(len(text))
    for start in range(len(key) - _PIECE + 1):
        piece = key[start : start + _PIECE]
        found = text.find(piece)
        while found >= 0:
            covered[found : found + _PIECE] = b"\1" * _PIECE
            found = text.find(piece, found + 1)
    if not any(covered):
        return text
    return "".join(
        letter if not covered[place] else "" if place and covered[place - 1] else HIDDEN
        for place, letter in enumerate(text)
    )


_SHORTEST = 8  # A shorter spelling would be found in texts of others.
_READ_AT_ONCE = 50_000  # Characters.
# What has no shape, and the rest of what Unicode calls format characters (Cf): signs of numbers and verses.
_UNSEEN = re.compile(rf"[{UNSEEN_CHARACTERS}\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]+")
_PERCENT = re.compile(  # The bytes of one character.
    r"%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3}",
    re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"\r\n?|\n")
_LINE_JOINTS = ("\n", "\r\n", "\r", "", " ", "\r ")  # The last is what is left of `\r\n` where `\n` became a space.
_BETWEEN_BYTES = re.compile(  # Reversed, the prefix stands behind.
    r"[-:,;._%]+|\\x?|0x(?=[0-9a-f]{2})|(?<=[0-9a-f]{2})x[\\0]", re.IGNORECASE
)


def remove_written_api_keys(text: str, keys: tuple[str, ...], hidden: str) -> str:
    """The text with every spelling of a key in it replaced; to the letter the same where there is none."""
    spans: list[tuple[int, int]] = []
    forms = _list_api_key_spellings(keys)
    plain = _read_api_key_without_unseen(text)
    for reading in _list_api_key_readings(plain):
        read = reading.read(plain)
        found = [form for form in getattr(forms, reading.finds) if form in read]
        if found:
            spans += _locate_api_key_spellings(text, reading, found)
    return _replace_api_key_places(text, sorted(spans), hidden)


@dataclass(frozen=True, slots=True)
class _ReadingStep:
    """What is written differently, and how it is read."""

    pattern: re.Pattern[str]
    write: Callable[[re.Match[str]], str] | str


@dataclass(frozen=True, slots=True)
class _KeySpellings:
    letters: tuple[str, ...]
    decoded: tuple[str, ...]  # And as they are read where escapes are: a key may have a % or a backslash itself.
    bytes: tuple[str, ...]  # In hexadecimal.


def _read_percent_encoded_api_key(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _ApiKeyReading:
    """A way to read a text from which unseen characters are gone, and which spellings are found in it."""

    finds: Literal["letters", "decoded", "bytes"]
    steps: tuple[_ReadingStep, ...] = ()

    def read(self, plain: str) -> str:
        for step in self.steps:
            plain = step.pattern.sub(step.write, plain)
        return _lower_api_key_bytes(plain) if self.finds == "bytes" else plain


_SKIP_UNSEEN = _ReadingStep(_UNSEEN, "")
_UNESCAPE = _ReadingStep(ESCAPED_CHARACTER, read_escaped_character)
_UNPERCENT = _ReadingStep(_PERCENT, _read_percent_encoded_api_key)
_DECODE_ONCE = (_ReadingStep(CHARACTER_ESCAPED_ONCE, read_escaped_character), _SKIP_UNSEEN, _UNPERCENT, _SKIP_UNSEEN)
# Until nothing changes any more, in all but made-up cases: what is encoded twice, or looks encoded in the key itself.
_DECODE = (*_DECODE_ONCE, *(_UNESCAPE, _UNPERCENT) * 3, _SKIP_UNSEEN)
_JOIN_BYTES = _ReadingStep(_BETWEEN_BYTES, "")
_AS_IS = _ApiKeyReading("letters")
_DECODED = _ApiKeyReading("decoded", _DECODE)
_AS_BYTES = _ApiKeyReading("bytes", (_JOIN_BYTES,))
_DECODED_BYTES = _ApiKeyReading("bytes", (*_DECODE, _JOIN_BYTES))
# Read once more, `\xc3` would be a letter: half of one of a key's.
_DECODED_ONCE_BYTES = _ApiKeyReading("bytes", (*_DECODE_ONCE, _JOIN_BYTES))


def _list_api_key_readings(plain: str) -> Iterator[_ApiKeyReading]:
    yield _AS_IS
    yield _AS_BYTES
    if "%" in plain or "\\" in plain:
        yield _DECODED
        yield _DECODED_BYTES
        yield _DECODED_ONCE_BYTES


def _read_api_key_without_unseen(text: str) -> str:
    parts = (text[at : at + _READ_AT_ONCE] for at in range(0, len(text), _READ_AT_ONCE))
    return "".join(_UNSEEN.sub("", part) for part in parts)  # In parts: between two of them others have their turn.


def _lower_api_key_bytes(text: str) -> str:
    return text.replace("\u0130", "i").lower()  # The one letter that would become two.


def _locate_api_key_spellings(text: str, reading: _ApiKeyReading, forms: list[str]) -> Iterator[tuple[int, int]]:
    """The places in the text of what a reading of it has."""
    starts, ends, read = list(range(len(text))), list(range(1, len(text) + 1)), text
    for step in (_SKIP_UNSEEN, *reading.steps):
        read, starts, ends = _read_api_key_with_places(read, starts, ends, step)
    read = _lower_api_key_bytes(read) if reading.finds == "bytes" else read
    for form in forms:
        at = read.find(form)
        while at >= 0:
            yield starts[at], ends[at + len(form) - 1]
            at = read.find(form, at + 1)


def _read_api_key_with_places(
    text: str, starts: list[int], ends: list[int], step: _ReadingStep
) -> tuple[str, list[int], list[int]]:
    parts: list[str] = []
    new_starts: list[int] = []
    new_ends: list[int] = []
    last = 0
    for found in step.pattern.finditer(text):
        start, end = found.span()
        written = step.write if isinstance(step.write, str) else step.write(found)
        parts += text[last:start], written
        new_starts += starts[last:start] + [starts[start]] * len(written)
        new_ends += ends[last:start] + [ends[end - 1]] * len(written)
        last = end
    return "".join((*parts, text[last:])), new_starts + starts[last:], new_ends + ends[last:]


def _replace_api_key_places(text: str, spans: list[tuple[int, int]], hidden: str) -> str:
    parts: list[str] = []
    last = 0
    for start, end in spans:
        if start >= last:
            parts += text[last:start], hidden
        last = max(last, end)
    return "".join((*parts, text[last:]))


@lru_cache(maxsize=16)
def _list_api_key_spellings(keys: tuple[str, ...]) -> _KeySpellings:
    written = [text for key in keys for text in _list_api_key_texts(key)]
    both = [text for key in written for text in (key, key[::-1])]
    spelt = {form for text in both for form in _iterate_api_key_spellings(text) if len(form) >= _SHORTEST}
    letters = spelt | {form[::-1] for form in spelt}  # Reversed after it was encoded.
    # Where its letters are apart, a backslash of the key itself is no escape of the next one.
    read = {_DECODED.read(one) for form in letters for one in (form, form.replace("\\", ""))}
    decoded = letters | {form for form in read if len(form) >= _SHORTEST}
    in_hex = {raw.hex() for text in both if len(text) >= _SHORTEST for raw in _list_api_key_bytes(text)}
    return _KeySpellings(tuple(letters), tuple(decoded), tuple(in_hex | {form[::-1] for form in in_hex}))


def _list_api_key_texts(key: str) -> set[str]:
    """A key as it is encoded: bare, and with what it has between its letters, its lines ended or joined in any way."""
    lines = _LINE_BREAK.split(key)
    joined = {joint.join(lines) for joint in _LINE_JOINTS}
    shown = _encode_api_key(key).decode("utf-8", "replace")  # By who reads it as UTF-8, and it is not.
    bare = {_UNSEEN.sub("", key), key, shown, " ".join(key.split())}
    return {*bare, *joined, *(text.replace(" ", "") for text in joined)}


def _list_api_key_bytes(text: str) -> tuple[bytes, bytes]:
    """As they are and reversed, which is not the reversed text where a letter has several bytes."""
    raw = _encode_api_key(text)
    return raw, raw[::-1]


def _encode_api_key(text: str) -> bytes:
    """As the environment has it, also where that is not UTF-8."""
    return text.encode("utf-8", sys.getfilesystemencodeerrors())


def _iterate_api_key_spellings(text: str) -> Iterator[str]:
    for letters in (text, text.replace(" ", "+")):  # A form on the web writes a space as a plus.
        bare = _UNSEEN.sub("", letters)  # As the text is read.
        yield bare
        yield json.dumps(bare)[1:-1]
    for raw, before in product(_list_api_key_bytes(text), range(3)):
        # What stands before it decides how its bits fall into letters.
        letters = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        whole = letters[(before * 8 + 5) // 6 : (before + len(raw)) * 8 // 6]
        yield whole
        yield whole.replace("+", "-").replace("/", "_")
