"""The fence around untrusted text: tags with a marker that no text can forge, and what is inside made powerless."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from evenhand.files.lookalikes import fold_lookalike_letters, trace_lookalike_letters

# A label in words, the name of its tag, and the text.
MaterialPiece = tuple[str, str, str]


class SharedPiece(NamedTuple):
    """A piece that is the same in all requests of a rubric."""

    label: str
    tag: str
    text: str


# Invisible, and no reader stops at it: the text reads the same, but is no longer a tag or a turn to a machine.
JOINER = "\u2060"

# Control characters that some take for the end of a line, and others do not show at all: a word may have them inside.
_TEARS = r"\x1c-\x1e\x85"
_BREAKS = rf"\r\x0b\x0c{_TEARS}\u2028\u2029"


def _spell_role_words(words: str) -> str:
    """A pattern of the words. A capital `I`, a small `l` and `ǀ` are the same stroke; but `Al:` is a name."""
    letters = [
        [letter if len(word) < 4 or letter not in "il" else "[ilǀ]" for letter in word] for word in words.split()
    ]
    return "|".join(f"[{_TEARS}]*".join(word) for word in letters)


_ROLE_WORDS = _spell_role_words(
    "system user assistant human developer model tool function instruction prompt response input output ai bot gpt "
    "系统 用户 助手 助理 开发者 人类 指令"
)
_ROLE_NOUNS = _spell_role_words("prompt message turn input output instructions instruction note role override")
_ROLES = rf"(?:{_ROLE_WORDS})(?:[{_TEARS}]*s)?(?:[ _-](?:{_ROLE_NOUNS}))?"
_TAG_WORDS = _spell_role_words("system user assistant")
_BARS = "|¦│┃ǀ❘❙❚∣∥║‖⏐⎸⎹"
_LINE = rf"(?:^|(?<=[{_BREAKS}]))"
_MARK = r"(?:[^\w\n]|_)"
# Found in the folded text: `Ｓｙｓｔｅｍ：`, a Cyrillic `Sуstem:` and one with unseen characters read as the plain one.
_POWER = re.compile(
    rf"""
    (?P<tag> <(?=[{_TEARS}]*[a-z_/!?<{_BARS}]|[ \t]{{1,8}}/|[^\W\d]{{1,20}}[/{_BARS}]?>|0x[0-9a-f]{{2}}>)
      | ‹(?=[^\s<>‹›]{{1,40}}>|[{_BARS}])
      | &(?=(?:amp;){{0,3}}(?:lt|\#0{{0,12}}60|\#x0{{0,12}}3c);?[ \t]{{0,8}}/)
      | \[(?=[{_TEARS}]*/?[a-z][a-z_{_TEARS}]{{2,}}\]) | \[(?=/?(?:{_TAG_WORDS})\b)
      | \[(?=[{_BARS}][^\s\[\]{_BARS}]{{1,40}}[{_BARS}]\]) | \[(?=(?:[a-z_]{{3,40}}_|unused)[0-9]{{1,6}}\])
      | [\[\]](?=[a-z!]{{0,3}}~[a-z~!]{{0,4}}[\[\]]) )
    | {_LINE} (?:  # A turn, `System:`; a heading, `## System`; or one that is underlined.
        {_MARK}{{0,12}} (?:[0-9]{{1,2}}[.)])? {_MARK}{{0,4}} (?={_ROLES} {_MARK}{{0,8}}? :)
        | [ \t>]{{0,8}} (?:[#*_=~]|--) {_MARK}{{0,12}} (?={_ROLES} {_MARK}{{0,12}}? (?:[\n{_BREAKS}]|\Z))
        | [ \t]{{0,8}} (?={_ROLES} [ \t]{{0,8}} \r?\n [ \t]{{0,8}} (?:={{3}}|-{{3}}))
      ) .
    """,
    re.VERBOSE | re.MULTILINE,
)
_STYLED = {  # 𝟎 and 𝟏 in all their styles pass for letters; read as digits, they would be those of `Mode1:`.
    first + digit: "ol"[digit] for first in (0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1FBF0) for digit in (0, 1)
}
_OTHER_WORD = re.compile(r"[Вв]от\b")  # Russian for "here is"; in small letters it is no look-alike of `bot`.
_SURROGATES = re.compile("[\ud800-\udfff]")
# Without one of these or "--", no ASCII text has a tag, a turn, a heading or a character that nobody sees.
_MAY_HAVE_POWER = re.compile(r"[<&\[:#*_=~\x00-\x08\x0e-\x1b\x1f\x7f]")
# Tag characters, and control characters that break no line.
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\U000e0000-\U000e007f]")


def fence_shared_prompt_pieces(pieces: Sequence[MaterialPiece], beside: Sequence[MaterialPiece]) -> tuple[str, str]:
    """The same for pieces that many requests begin with: as long as no text `beside` has it, their marker stays."""
    marker, fenced = _fence_prompt_piece_once(tuple(pieces))
    if any(marker in text.lower() for _, _, text in beside):
        return fence_untrusted_prompt_pieces(pieces, _SHARED, beside)
    return marker, fenced


_SHARED = "shared"


@lru_cache(maxsize=64)
def _fence_prompt_piece_once(pieces: tuple[MaterialPiece, ...]) -> tuple[str, str]:
    return fence_untrusted_prompt_pieces(pieces, _SHARED)


def fence_untrusted_prompt_pieces(
    pieces: Sequence[MaterialPiece], salt: str, beside: Sequence[MaterialPiece] = ()
) -> tuple[str, str]:
    """A marker that occurs in none of the pieces, and the pieces made powerless, each between tags with the marker.

    Nor does it occur in the pieces `beside`, which stand in the same request.
    """
    texts = {text: neutralize_untrusted_prompt_text(text) for _, _, text in pieces}
    digest = hashlib.blake2b(salt.encode("utf-8", "replace"), digest_size=8)
    for text in texts.values():
        raw = text.encode("utf-8")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    marker, lowered = digest.hexdigest(), [text.lower() for text in texts.values()]
    lowered += [text.lower() for _, _, text in beside]
    while any(marker in text for text in lowered):
        digest.update(b"again")
        marker = digest.hexdigest()
    fenced = [f"{label}:\n<{tag}-{marker}>\n{texts[text]}\n</{tag}-{marker}>" for label, tag, text in pieces]
    return marker, "\n\n".join(fenced)


def neutralize_untrusted_prompt_text(text: str) -> str:
    """The text with tags, chat marks and role words made powerless; to a reader it stays the same."""
    if text.isascii():
        if "--" not in text and _MAY_HAVE_POWER.search(text) is None:
            return text
    else:
        text = _SURROGATES.sub("\ufffd", text)
    cuts = set(_find_powerful_prompt_words(text))
    if _UNSEEN.search(text):  # Such letters may say something themselves, or only keep others apart.
        kept = [place for place, letter in enumerate(text) if not _UNSEEN.match(letter)]
        cuts |= {kept[cut] for cut in _find_powerful_prompt_words("".join(text[place] for place in kept))}
    return JOINER.join(text[start:end] for start, end in pairwise([0, *(cut + 1 for cut in sorted(cuts)), len(text)]))


def _find_powerful_prompt_words(text: str) -> Iterator[int]:
    """The places of the first character of a tag, and of the first letter of a role."""
    folded = text.lower() if text.isascii() else fold_lookalike_letters(text.translate(_STYLED), at_a_glance=True)
    found = [one.start() if one["tag"] else one.end() - 1 for one in _POWER.finditer(folded)]
    if text.isascii() or not found:
        yield from found
        return
    places = trace_lookalike_letters(text, at_a_glance=True)
    yield from (places[cut] for cut in found if not _OTHER_WORD.match(text, places[cut]))
