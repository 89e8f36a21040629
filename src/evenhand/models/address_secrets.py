"""The secrets in an address, in every way to read it: where a password ends depends on who reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from urllib.parse import unquote, unquote_plus, urlsplit

SHORTEST_NAMED_SECRET = 12
_SHORTEST_READING = 8  # A shorter one would be found in texts of others.
_MOST_READINGS = 64  # Of one value, from each side: no list of servers is longer.
# An address, one in a list of them, or one without a scheme; its user, who may have an @; a number before the path is a
# port, and a bracket begins an address of numbers. What stands before a `://` is a scheme, unless one does already.
_PASSWORD_START = re.compile(r"(?:\A|(//)|[,;\s\"'])(?!\[)[^:/?#,;\s\"']*:(?![0-9]+(?:[/?#]|\Z)|\Z)(?(1)|(?!//))")
_QUERY_FIELD = re.compile(r"(?<=[?&;#])([^=?&;#]+)=(?=([^&]*))")
_PASSWORD_FIELD = re.compile(r"(?:passw(?:or)?d|pwd|\Apass)\Z", re.IGNORECASE)
_SECRET_FIELD = re.compile(r"(?:token|secret|(?<!ssl)key|sig(?:nature)?)\Z", re.IGNORECASE)  # `sslkey` names a file.


def list_address_secrets(address: str) -> Iterator[str]:
    """The passwords of an address, and what names in its query say is one or a token: as spelled, and as decoded."""
    for spelt in {*_list_user_passwords(address), *_list_query_secrets(address)}:
        yield from (spelt, unquote(spelt), unquote_plus(spelt))  # And as the server knows it.


def is_long_secret(value: str) -> bool:
    """Whether a value is no word that is written elsewhere, too."""
    return len(value) >= SHORTEST_NAMED_SECRET and not value.isalpha()


def _list_user_passwords(address: str) -> Iterator[str]:
    with suppress(ValueError):
        yield urlsplit(address).password or ""
    ends = [found.start() for found in re.finditer("@", address)]
    for found in islice(_PASSWORD_START.finditer(address), _MOST_READINGS):
        start = found.end()
        later = [end for end in ends if end - start >= _SHORTEST_READING]
        yield from (address[start:end] for end in {*later[:_MOST_READINGS], *later[-1:]})


def _list_query_secrets(address: str) -> Iterator[str]:
    """A field ends at the next `&`; for some readers, at a `#` or a `;` before it, or where a list goes on."""
    for name, value in _QUERY_FIELD.findall(address):
        meant = unquote(name).rstrip("]")
        for reading in {value, *(re.split(ends, value, maxsplit=1)[0] for ends in ("#", ";", "[#;]", r"[#;,\s\"']"))}:
            if _PASSWORD_FIELD.search(meant) or (_SECRET_FIELD.search(meant) and is_long_secret(reading)):
                yield reading
