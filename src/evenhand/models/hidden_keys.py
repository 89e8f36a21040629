"""Known secrets, kept out of all that is shown or stored: as they are, encoded, reversed, or split over lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from urllib.parse import unquote, unquote_plus, urlsplit

from evenhand.models.key_spellings import remove_written_keys
from evenhand.models.requests import Reply

HIDDEN = "[key hidden]"
KEY_VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "EVENHAND_API_KEY")

_PIECE = 8  # So many characters in a row of a key give too much of it away.
_LONGEST = 2000  # Characters that a message is made of.
_LONGEST_READ = 100_000  # Characters in which keys are looked for first: one that is cut would not be known for one.
_LOOKS_LIKE_A_KEY = re.compile(
    r"""\b(?:sk|pk|rk|xai|gsk|hf|pplx|nvapi|ghp|gho|bearer|basic)[-_ ][^\s"',;<>)]{4,}
      | \b(?:AIza|AKIA)[\w-]{8,}
      | [^\s"',;:=<>(]*[*•]{3,}[^\s"',;<>)]*""",
    re.VERBOSE | re.IGNORECASE,
)
# Variables of others that hold a secret by their name; a plain word in one would be hidden wherever it is written.
_SECRET_VARIABLE = re.compile(r".*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)", re.IGNORECASE | re.DOTALL)
_SHORTEST_NAMED_SECRET = 12
_QUERY_FIELD = re.compile(r"(?<=[?&;])([^=?&;#]{1,80})=([^&#]*)")
_PASSWORD_FIELD = re.compile(r"passw(?:or)?d\Z|pwd\Z|\Apass\Z", re.IGNORECASE)
_SECRET_FIELD = re.compile(r".*(?:token|secret)|(?:.*[_-])?(?:api_?)?key|sig(?:nature)?", re.IGNORECASE)


def collect_keys_to_hide(environ: Mapping[str, str], sent: Iterable[str] = ()) -> ModelSecrets:
    """The secrets in an environment: our keys, the variables in `sent`, passwords in addresses, and what its name
    says is one.
    """
    known = [environ.get(name, "") for name in (*KEY_VARIABLES, *sent)]
    for name, value in environ.items():
        if _SECRET_VARIABLE.fullmatch(name) and len(value) >= _SHORTEST_NAMED_SECRET and not value.isalpha():
            known.append(value)
        elif name.upper().endswith("_URL"):
            for spelt in _list_address_secrets(value):
                known += spelt, unquote(spelt), unquote_plus(spelt)  # And as the server knows it.
    return ModelSecrets(known)


def _list_address_secrets(url: str) -> Iterator[str]:
    """The password of an address, and what names in its query say is one or a token."""
    with suppress(ValueError):
        yield urlsplit(url).password or ""
    for name, value in _QUERY_FIELD.findall(url):
        is_long = len(value) >= _SHORTEST_NAMED_SECRET and not value.isalpha()
        if _PASSWORD_FIELD.search(name) or (is_long and _SECRET_FIELD.fullmatch(name)):
            yield from {value, value.partition(";")[0]}  # Some end a field so.


@dataclass(frozen=True, slots=True)
class ModelSecrets:
    """The keys in use. It never shows them."""

    keys: Sequence[str] = field(default=(), repr=False)  # As they are set; an empty one is none.

    def hide_keys(self, text: str) -> str:
        """A server's words for a message: one short line without keys, parts of keys and what looks like one."""
        text = self.remove_keys(text[:_LONGEST_READ])[:_LONGEST]
        for key in self.list_keys():
            text = _hide_key_pieces(text.replace(key, HIDDEN), key)
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
        return remove_written_keys(text, tuple(key for key in self.list_keys() if len(key) >= _PIECE), HIDDEN)

    def remove_from_data(self, data: object) -> object:
        """Plain data without keys in any of its texts."""
        if not any(self.keys):
            return data
        if isinstance(data, str):
            return self.remove_keys(data)
        if isinstance(data, dict):
            return {self.remove_keys(str(name)): self.remove_from_data(value) for name, value in data.items()}
        return [self.remove_from_data(value) for value in data] if isinstance(data, (list, tuple)) else data


def hide_keys_in_reply(reply: Reply, secrets: ModelSecrets) -> Reply:
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


def _hide_key_pieces(text: str, key: str) -> str:
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
