"""The words and marks by which a reply shows that it quotes: quotation marks, blocks, tags, "the output says"."""

from __future__ import annotations

import re
from collections.abc import Iterator

QUOTATION_SIGNS = " \t\r\n\"'“”‘’„«»‹›`>|*_([{#-–—•「」『』"
_GOES_ON = r":\s+(?!true|false|null)[A-Za-z]"  # A colon after a key is followed by a value.
_MARKED = re.compile(
    r"“(.{1,2000}?)”(?=[\s.,;!?)|，。；！？、]|\Z|(?<=[^A-Za-z_]”)[:：])"
    r"|„([^“”]{1,2000})[“”]|«([^»]{1,2000})»|‹([^›]{1,2000})›|「([^」]{1,2000})」|『([^』]{1,2000})』"
    r"|(?<![\w`])`((?:[^`\n]|\n(?!\n)){1,2000})`(?![\w`])"
    r"|(?<![\w\"\\{\[,])(?<!, )\"((?:[^\n]|\n(?!\n)){1,2000}?)\""
    rf"(?=[\s.,;!?)|]|\Z|(?<=[^A-Za-z_]\"):|{_GOES_ON})"
    r"|(?<![\w'\\{\[,])(?<!, )'(?=\S)((?:[^\n]|\n(?!\n)){1,2000}?)'"
    rf"(?=[\s.,;!?)|]|\Z|(?<=[^A-Za-z_]'):|{_GOES_ON})"
    r"|(?:^|(?<=[.:] ))[ \t]{0,3}>([^\n]*(?:\n[ \t]{0,3}>[^\n]*)*)"
    r"|<(quote|quoted|q|cite|blockquote|outputs?|response|submission|excerpt|original|text|"
    r"material)>(.{1,2000}?)</\11>|\[quote\](.{1,2000}?)\[/quote\]",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
# A cell with more than a number in it: in a table of answers the name stands in another.
_CELL = re.compile(r"(?<=\|)([^|\n]{0,2000}(?:[^\W\d_]|\[\[)[^|\n]{0,2000})(?=\|)")
WRITER = (
    r"(?:outputs?|response|answer|text|summary|submission|author|writer|candidate|essay|document|material|passage|"
    r"assistant|model|student|content|reply|story|article|report|user|question|context|reference|it|one of them|which)"
)
SAYS = (
    r"(?:contains?|containing|carr(?:y|ies|ying)|includes?|including|says?|saying|states?|stating|claims?|claiming|"
    r"reads?|writes?|wrote|asserts?|asserting|quotes?|lists?|embeds?|inserts?|instructs?|demands?|adds?|"
    r"declares?|announces?|insists?|requests?|(?:asks?|calls?) for|"
    r"(?:ends?|ending|begins?|starts?|opens?|closes?) (?:with|so|thus|as follows|like this)|"
    r"(?:rates?|scores?|grades?|awards?|gives?) itself)"
)
CARRIER = (
    r"(?:block|lines?|table|sentence|statement|instructions?|note|text|words?|phrase|passage|snippet|json|object|list|"
    r"claim|message|string|verdict|scores?|ratings?|grades?|evaluation|assessment|command|comment|injection|answer|"
    r"paragraph|header|footer|result)"
)
FILLING = r"(?: (?:that|the|this|these|a|an|its|own|following|one|such|false|fake|of|as|at|in|end|self-\w+|\w+ed))"
_IGNORED = r"(?:ignor\w+|disregard\w*|reject\w*|discard\w*|dismiss\w*|disagree with|(?:not|n't) (?:accept|agree with))"
_THING = rf"{FILLING}{{0,5}}(?: {CARRIER}){{0,2}}(?: (?:from|in|of|by) (?:the|its) {WRITER})?"
_INTRODUCTION = (
    rf"\b{WRITER}(?: [A-Z])?(?: \w+){{0,2}}? {SAYS}{_THING}"
    rf"(?:,? (?:which|that) (?:I|we)(?: \w+)? {_IGNORED})?\s?[:,]?"
    rf"|\b(?:(?<=[^\n]){_IGNORED}|{_IGNORED}(?!\s?[:：])|quot(?:e|es|ed|ing)|injected|planted|verbatim|self-\w+)"
    rf"{_THING}\s?:?"
    r"|\b(?:attempt|manipulation|injection|trick)(?: \w+){0,3}\s?:"
    rf"|\b(?:they|he|she|somebody|someone) (?:wrote|writes?|says?|said|claim(?:s|ed)?|put|added|planted|inserted)"
    rf"{_THING}\s?:?"
    r"|(?:输出|回答|文本|文中|原文|作者|内容|摘要)[^。！？\n]{0,12}(?:包含|写道|写着|声称|说|称|出现|含有|要求|植入|插入|伪造)[^。！？\n]{0,6}?"
    r"|\b(?:Text|Ausgabe|Antwort|Autor\w*|Verfasser\w*|Aufsatz|Modell|Eingabe)(?: \w+){0,2} "
    r"(?:behauptet|sagt|schreibt|enthält|lautet|nennt|fordert|verlangt|steht)(?: \w+){0,3}\s?[:,]?"
    r"|\b(?:texto|autora?|respuesta|salida|ensayo|modelo|resumen)(?: \w+){0,2} "
    r"(?:dice|afirma|escribe|contiene|declara|pretende|pide|incluye)(?: \w+){0,3}\s?[:,]?"
    r"|\b(?:texte|auteure?|réponse|sortie|essai|modèle|résumé)(?: \w+){0,2} "
    r"(?:dit|affirme|écrit|contient|prétend|déclare|demande)(?: \w+){0,3}\s?[:,]?"
)
_BEFORE = re.compile(rf"(?:{_INTRODUCTION})\Z", re.IGNORECASE)
# With a colon, or something that is no sentence: a judge also writes of what "the text includes".
_INTRODUCES = re.compile(
    rf"(?:{_INTRODUCTION})(?:(?<=[:：])|[:：]|(?=\s*[^\w\s,.;)]))\s*(?:```\w*\n|~~~\w*\n)?(?:[-•*+] )?", re.IGNORECASE
)
_STANDS = (
    r"(?:stands|appears|occurs|comes|(?:is|was) (?:quoted|copied|taken|found|written|part))(?: verbatim)? "
    rf"(?:in|from|inside|within|of|by) (?:the|its) {WRITER}"
)
# After a quotation mark or an object.
_AFTER_MARK = re.compile(
    r"[ ,;:)]{0,4}(?:but |and |yet )?(?:(?:which|this|that) )?"
    r"(?:(?:I|we)(?: \w+){0,2} (?:ignor|disregard|disagree|reject|discard|dismiss|(?:not|n't) (?:agree|accept))"
    r"|(?:is|was) (?:an? )?(?:\w+ )?(?:planted|injected|injection|false|untrue|wrong|nonsense|lie|unjustified|"
    r"unearned|unwarranted|not (?:true|mine|my)|attempt)|(?:says|claims|writes|states|reads) (?:the|its) "
    rf"|(?:is|was) (?:in|from) (?:the|its) {WRITER}|{_STANDS})",
    re.IGNORECASE,
)
# In a sentence of its own only what cannot be about the work.
_AFTER = re.compile(
    rf"[ ,.;:)|\n]{{0,4}}(?:(?:this|that|the above|which)(?: {CARRIER})? {_STANDS}"
    rf"|so (?:the|its) {WRITER} (?:says|claims|writes))",
    re.IGNORECASE,
)
_FENCE_BEFORE = re.compile(r"(?:```|~~~)[\w+\-]*\s*\Z")
_CLOSES = re.compile(r"\A[.!?,| ]{0,3}[\"'”’`」]")
_MINE = re.compile(r"\bmy\b", re.IGNORECASE)
_TAG_GROUP = 11


def find_marked_quotation(text: str, at: int) -> tuple[int, int, bool] | None:
    """The next stretch in quotation marks, in a block quotation or in a tag that says so; whether it is a block."""
    region = _MARKED.search(text, at)
    if region is None:
        return None
    group = next(at for at, inside in enumerate(region.groups(), 1) if inside is not None and at != _TAG_GROUP)
    is_block = region.group().lstrip().startswith(">")
    return *region.span(group), is_block


def find_introduced_quotations(text: str) -> Iterator[int]:
    """Where something begins after words such as "the output says:"."""
    for words in _INTRODUCES.finditer(text):
        if not is_quotation_mine(text, words.end()):
            yield words.end()


def find_quoting_cells(text: str) -> Iterator[tuple[int, int]]:
    """The cells of tables in which more than a number stands."""
    for cell in _CELL.finditer(text):
        yield cell.span(1)


def is_quotation_mine(text: str, start: int) -> bool:
    """Whether the words before say that it is the judge's own: my answer is …"""
    return _MINE.search(_find_words_before(text, start)) is not None


def is_quotation_attributed(text: str, start: int, end: int, is_value: bool) -> bool:
    """Whether the words right before or after it say that it is not the judge's."""
    sentence = _find_words_before(text, start)
    if _BEFORE.search(sentence) and not _MINE.search(sentence):
        return True
    rest = text[end : end + 120]
    after = _CLOSES.sub("", rest)
    marked = is_value or after != rest
    return _AFTER.match(after) is not None or (marked and _AFTER_MARK.match(after) is not None)


def is_quotation_left_open(text: str, start: int) -> bool:
    """Whether a value that breaks off follows a mark of quotation, which then nothing closes."""
    line = text[text.rfind("\n", 0, start) + 1 : start].strip()
    return line.startswith(">") or (line.endswith(tuple("\"'“„«「`")) and not line.endswith("```"))


def _find_words_before(text: str, start: int) -> str:
    before = _FENCE_BEFORE.sub("", text[max(0, start - 200) : start]).rstrip(QUOTATION_SIGNS)
    return re.split(r"[.!?。！？]\s|\n", before)[-1].rstrip(":：") + ":" * before.endswith((":", "："))
