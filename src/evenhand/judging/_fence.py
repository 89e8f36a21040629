"""The fence: untrusted text between tags that it cannot forge, word for word and without power.

The name of each tag ends in a marker made from all the fenced texts of the request, so no text can contain the marker
of the request that carries it; that it does not is checked besides. The same request has the same marker, so that
recorded work can be repeated; any change to a text changes it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

# Invisible, and no reader stops at it: the text reads the same, but is no longer a tag or a turn to a machine.
JOINER = "\u2060"

_ROLES = (
    "system|user|assistant|human|developer|model|tool|function|instruction|prompt|response|input|output|ai|bot|gpt|"
    "系统|用户|助手|助理|开发者|人类|指令"
)
_LINE = r"(?:^|(?<=[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]))"
_POWER = re.compile(
    rf"""
    (?P<tag> <(?=[A-Za-z_/|!?｜<]) | \[(?=/?[A-Z][A-Z_]{{2,}}\]) | \[(?=/?(?:system|user|assistant)\b) )
    | (?P<role>
        {_LINE} (?:[^\w\n]|_){{0,12}} (?:[0-9]{{1,2}}[.)])? (?:[^\w\n]|_){{0,4}}
        (?=(?:{_ROLES})s? (?:[ _-](?:prompt|message|turn|input|output))? (?:[^\w\n]|_){{0,8}}? [:：]) .
      )
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_SURROGATES = re.compile("[\ud800-\udfff]")


class Fence:
    """The fence of one request: every text that goes inside it must be known when it is built."""

    def __init__(self, texts: Sequence[str], salt: str) -> None:
        self.texts = {text: neutral(text) for text in texts}
        self.marker = _marker(list(self.texts.values()), salt)

    def around(self, name: str, text: str) -> str:
        """The text between its two tags."""
        tag = f"{name}-{self.marker}"
        return f"<{tag}>\n{self.texts[text]}\n</{tag}>"


def neutral(text: str) -> str:
    """The text with tags, chat marks and role words made powerless; to a reader it stays the same."""
    text = _SURROGATES.sub("\ufffd", text)
    return _POWER.sub(_broken, text)


def _broken(found: re.Match[str]) -> str:
    whole = found[0]
    return whole[0] + JOINER + whole[1:] if found["tag"] else whole + JOINER


def _marker(texts: Sequence[str], salt: str) -> str:
    digest = hashlib.blake2b(salt.encode("utf-8", "replace"), digest_size=8)
    for text in texts:
        raw = text.encode("utf-8")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    marker = digest.hexdigest()
    while any(marker in text.lower() for text in texts):
        digest.update(b"again")
        marker = digest.hexdigest()
    return marker
