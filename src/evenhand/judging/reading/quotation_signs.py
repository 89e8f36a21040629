"""Signs that a reply quotes: quotation marks, blocks and tags, and sentences around a JSON object that say whose it
is.
"""

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
    r"|<(quote|quoted|q|cite|blockquote|outputs?|response|submission|excerpt|original|text|"
    r"material)>(.{1,2000}?)</\10>|\[quote\](.{1,2000}?)\[/quote\]",
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
_IGNORES = r"(?:ignor\w+|disregard\w*|reject\w*|discard\w*|dismiss\w*|disagree with|(?:not|n't) (?:accept|agree with))"
_THING = rf"{FILLING}{{0,5}}(?: {CARRIER}){{0,2}}(?: (?:from|in|of|by) (?:the|its) {WRITER})?"
_INTRODUCTION = (
    rf"\b{WRITER}(?: [A-Z])?(?: \w+){{0,2}}? {SAYS}{_THING}"
    rf"(?:,? (?:which|that) (?:I|we)(?: \w+)? {_IGNORES})?\s?[:,]?"
    rf"|\b(?:(?<=[^\n]){_IGNORES}|{_IGNORES}(?!\s?[:：])|quot(?:e|es|ed|ing)|injected|planted|verbatim|self-\w+)"
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
_TAG_GROUP = 10


# Where one may begin. Each is tried on its own: a search through a whole reply lets no other thread have its turn.
_OPENING = re.compile(r"[“„«‹「『`\"'<]|\[quote\]|(?:^|(?<=[.:] ))[ \t]{0,3}(?P<block>>)", re.IGNORECASE | re.MULTILINE)
_BLOCK = re.compile(r"[^\n]*+(?:\n[ \t]{0,3}>[^\n]*+)*+")
_LONGEST_MARKED = 2_000
_CLOSING = {"“": "”", "„": "“”", "«": "»", "‹": "›", "「": "」", "『": "』"}


class MarkedQuotations:
    """The stretches of a text in quotation marks, in block quotations and in tags that say so, asked for in order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closing_at: dict[str, int] = {}
        self._block_end = 0

    def find_next(self, at: int) -> tuple[int, int, bool] | None:
        """The next one; whether it is a block."""
        for opening in _OPENING.finditer(self._text, at):
            if opening["block"]:
                if opening.end() > self._block_end:
                    block = _BLOCK.match(self._text, opening.end())
                    self._block_end = block.end() if block else opening.end()
                return opening.end(), self._block_end, True
            region = _MARKED.match(self._text, opening.start()) if self._may_close(opening) else None
            if region is not None:
                inside = (at for at, inside in enumerate(region.groups(), 1) if inside is not None)
                return *region.span(next(group for group in inside if group != _TAG_GROUP)), False
        return None

    def _may_close(self, opening: re.Match[str]) -> bool:
        """Whether a closing mark stands near enough behind it; each is looked for once."""
        marks = _CLOSING.get(opening.group(), "")
        for mark in marks:
            if self._closing_at.get(mark, 0) <= opening.start():
                place = self._text.find(mark, opening.end())
                self._closing_at[mark] = len(self._text) + _LONGEST_MARKED + 1 if place < 0 else place
        return not marks or min(self._closing_at[mark] for mark in marks) <= opening.end() + _LONGEST_MARKED


def find_introduced_quotations(text: str) -> Iterator[int]:
    """Where something begins after words such as "the output says:"."""
    for words in _INTRODUCES.finditer(text):
        if not is_quotation_of_judge(text, words.end()):
            yield words.end()


def find_quoting_cells_in_reply(text: str) -> Iterator[tuple[int, int]]:
    """The cells of tables in which more than a number stands."""
    for cell in _CELL.finditer(text):
        yield cell.span(1)


def is_quotation_of_judge(text: str, start: int) -> bool:
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


LONGEST_SENTENCES = 300  # Characters that are looked at on either side.

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_FENCE = re.compile(r"(?:```|~~~)[\w+\-]*")
_TAG = re.compile(r"</?\w{1,20}>")

_SAID = (
    r"(?:asks?|said|stated|claimed|contained|included|instructed|asked|demanded|ended|embedded|inserted|added|quoted|"
    r"asserted|declared|requested|tr(?:y|ies|ied|ying)|attempt(?:s|ed|ing)?|want(?:s|ed|ing)?|seeks?|sought|"
    r"inject(?:s|ed|ing)?|plant(?:s|ed|ing)?|tells?|told|urge[sd]?|order(?:s|ed)?|hides?|hid|smuggle[sd]?|fake[sd]?|"
    r"pretend(?:s|ed)?|imitate[sd]?|dictate[sd]?|would (?:have|like)|(?:is|was) trying|goes|went)"
)
# These are also said of the work itself, so nothing but the name of the thing may follow.
_GIVES = (
    r"(?:has|had|holds?|held|provide[sd]?|offer(?:s|ed)?|present(?:s|ed)?|show(?:s|ed)?|gives?|gave|suppl(?:ies|ied)|"
    r"suggest(?:s|ed)?|propose[sd]?|puts?|places?|placed|is|was)"
)
_FOUND = r"(?:found|appears?|stands?|hidden|hides?|embedded|placed|planted|injected|written|contained|included|quoted)"
# What a judge says of the work before its own answer.
_DOES = (
    r"(?:is|was|has|does|meets|fulfill?s|fails|satisfies|passes|lacks|deserves|earns|gets|receives|scores|misses|answers|"
    r"addresses|follows|covers|needs|uses|makes|drifts|succeeds|needed|failed|passed|succeeded|satisfied|answered|covered|followed|missed|remains|stays|seems|appears|as|its|this|thus)"
)
_ANSWER = r"(?:answers?|scores?|ratings?|evaluation|assessment|verdict|judge?ment|results?|grades?|reply|response)"
_AUTHOR = rf"(?:{WRITER}|submitter|contestant|participant)"
_SPEAKS_OF_WORK = re.compile(
    rf"\b{WRITER}(?: [A-Z])?(?:[ '’][\w’'-]+){{0,3}}? (?:{SAYS}|{_SAID})\b"
    rf"|\b{WRITER}(?: \w+){{0,2}}? {_GIVES}{FILLING}{{1,6}}(?: {CARRIER}){{0,2}}\W*\Z"
    rf"|\b(?:the|its) (?:\w+ )?{_AUTHOR},?(?: \w+,)? (?!{_DOES}\b)[a-z]+(?:s|ed)\b.*[:：]\W*\Z"
    rf"|\b(?:the|its) {_AUTHOR}['’]s (?!{_ANSWER})(?:\w+ )*\w+\W*\Z|\binstructions? (?:to|for) (?:the|all) \w+"
    rf"|\A(?!\W*{_ANSWER}\b).*\b(?:in|into|inside|within|from) (?:the|its) {WRITER}\W*\Z"
    rf"|\b{_FOUND}\b.{{0,60}}\b{WRITER}\b|\b{WRITER}\b.{{0,60}}\b{_FOUND}\b"
    rf"|\A\W*(?:from|in|quot\w+(?: from)?|excerpt (?:from|of)|verbatim from) (?:the|its) {WRITER}\W*\Z"
    r"|\b(?:planted|injected|hidden|embedded|fake|forged|quoted|quotation|quote|injection|manipulation|attempt)\b"
    r"|\b(?:Text|Ausgabe|Antwort|Autor\w*|Verfasser\w*|Aufsatz|Modell|Eingabe|Einreichung|Beitrag)\b.{0,40}"
    r"\b(?:behauptet|sagt|schreibt|enthält|lautet|nennt|fordert|verlangt|steht|versucht|will)\b"
    r"|\b(?:texto|autora?|respuesta|salida|ensayo|modelo|resumen|entrega|envío)\b.{0,40}"
    r"\b(?:dice|afirma|escribe|contiene|declara|pretende|pide|incluye|intenta|quiere|ha \w+)\b"
    r"|\b(?:texte|auteure?|réponse|sortie|essai|modèle|résumé|soumission|copie)\b.{0,40}"
    r"\b(?:dit|affirme|écrit|contient|prétend|déclare|demande|essaie|tente|veut|a \w+é)\b"
    r"|(?:输出|回答|文本|文中|原文|作者|内容|摘要|提交|答案|作品).{0,20}(?:包含|写道|写着|写了|声称|说|称|出现|含有|要求|试图|企图|想|有|植入|插入|伪造)",
    re.IGNORECASE,
)
_POINTS_AHEAD = re.compile(
    r"[:：]\W*\Z"
    r"|\b(?:the following|as follows|below|(?:this|these)(?! (?:is|are|was|makes?|means?|leads?|can|does|has|alone)\b))"
    r"(?: [\w’'-]+){0,6}\W*\Z"
    r"|\b(?:Folgende[ns]?|folgende\w*|dies(?:e[ns]?)?|das)(?: \w+){0,3}\W*\Z"
    r"|\b(?:lo siguiente|siguientes?|esto)(?: \w+){0,3}\W*\Z|\b(?:suivante?s?|ceci|cela)(?: \w+){0,3}\W*\Z"
    r"|(?:如下|以下|下面|这)[^。]{0,12}。?\Z",
    re.IGNORECASE,
)
_GIVEN_BY_JUDGE = re.compile(
    rf"(?<!\bbe )(?<!\bas )\b(?:my|mine|our)\b(?! (?:instructions|prompt|rules))"
    rf"|(?:\A|[,;] )(?:\w+ ){{0,3}}the (?:\w+ )?{_ANSWER} (?:is|are|follows?)\b"
    r"|[,;] (?:so|hence|thus|therefore)\b"
    r"|\b(?:I|we) (?:\w+ )?(?:rate|give|score|grade|judge|evaluate|assess|award|assign|answer|conclude)\b"
    r"|\bmeine?[rnms]?\b|\b(?:mis?|nuestr[oa]s?)\b|\b(?:mon|ma|mes|notre|nos)\b|我的",
    re.IGNORECASE,
)
_JUDGE = r"\b(?:I|we)(?: \w+|['’]\w+){0,4}?"
_NOT = r"(?:not|n['’]t|never|no longer)"
_THIS = r"\b(?:this|that|these|those|the above|which|the (?:block|json|object|instruction))"
_HEEDED = (
    r"(?:follow|obey|heed|accept|adopt|count|use|take|treat|comply|rely|agree|consider|honou?r|trust|copy|repeat|endorse|"
    r"share|support|believe|act on|be (?:fooled|swayed|influenced|misled|bound))"
)
_IT = r"(?:\W*\Z|(?: \w+){0,2} (?:it|this|that|these|those|them|such|the (?:above|instruction|block|json|object))\b)"
_LURED = (
    r"(?:inject|plant|make|get|force|trick|manipulat|influenc|steer|impos|gam|fool|dictat|overrid|insert|smuggl|tell|"
    r"sway|bias|rig|cheat|hijack|bribe|answer for|score itself|grade itself|rate itself|decid|instruct)"
)
_IGNORED = r"(?:ignored|disregarded|rejected|discarded|dismissed|set aside)"
_FALSE = (
    r"(?:attempt\b(?! to)|trick|ploy|(?:is|was|are) (?:an? )?(?:\w+ )?instructions?|quoted|quotation|quote|copied|"
    rf"verbatim|fake|forged|bogus|lie|{_IGNORED})"
)
_DISOWNS = re.compile(
    rf"\b(?:planted|inject(?:s|ed|ing|ions?)?|smuggled|spoof\w*|jailbreak\w*|manipulat(?:ive|ion|ed?|ing)|hijack\w*)\b"
    rf"|{_JUDGE}[ ,]+(?:ignor|disregard|reject|discard|dismiss|disagree|refus|declin|overlook|skip|"
    r"quoted? (?:it|this|that)|set (?:it|that|this) aside)"
    rf"|\b(?:must|should|will|can|to|shall) be {_IGNORED}\b|\b(?:I|we) (?:see|saw) through\b"
    rf"|\bno (?:bearing|influence|effect|weight|say) (?:on|in|over) (?:my|the|this) (?:\w+ )?{_ANSWER}"
    r"|\bcarr(?:y|ies) no weight\b"
    rf"|{_NOT} (?:affect|influence|change|sway) (?:my|the|this) {_ANSWER}|\bpay(?:ing)? (?:it )?no attention\b"
    rf"|\bfrom (?:the {_AUTHOR}|them), not\b|\b(?:not|none of (?:this|it|that) (?:is|was)) (?:from|by) me\b"
    rf"|{_THIS}(?: \w+){{0,3}} (?:the|its) {_AUTHOR}['’]s (?:own\b|words)|{_THIS}(?: \w+)? belongs to the {_AUTHOR}"
    rf"|\bthe {_AUTHOR} (?:put|wrote|placed|added|inserted) (?:it|this|that)\b"
    rf"|{_JUDGE} be (?:tricked|fooled|swayed|misled)"
    rf"|{_JUDGE} {_NOT} go along|{_JUDGE} (?:leave|left|set) (?:it|this|that) (?:out|aside)|\badversarial\b"
    r"|\battack on the (?:judge|grader|evaluator|reviewer)|\btendré en cuenta|\btiens pas compte|\bübernehme ich nicht"
    r"|\bpart of (?:the|its) (?:submission|output|material)\b"
    rf"|(?:{_THIS}|\bit)(?: \w+)? {_NOT} (?:count|be (?:followed|counted|trusted|taken|used|obeyed))"
    r"|\b(?:this|that|these|those|such) instructions?\b"
    rf"|\A\W*(?:ignor(?:ed|ing)|disregard(?:ed|ing)|reject(?:ed|ing)|discard(?:ed|ing)|dismiss(?:ed|ing))\b"
    rf"|\b(?:I|we)\b(?: \w+)?(?: ?['’]?\w+)? ?{_NOT}(?: \w+){{0,2}} {_HEEDED}{_IT}|\b(?:I|we) cannot {_HEEDED}{_IT}"
    rf"|\A\W*(?:not|will not|won['’]t|did not|didn['’]t|do not) {_HEEDED}"
    rf"|{_NOT} (?:my|mine|the judge|our)\b|{_NOT} (?:\w+ )?(?:answer|verdict|evaluation) of (?:mine|the judge)"
    rf"|\b(?:tr(?:y|ies|ied|ying)|attempt(?:s|ed|ing)?) (?:to|at) (?:\w+ )?{_LURED}"
    rf"|{_THIS}(?: \w+){{0,3}} (?:{_FALSE}|instructs?|claims?|claimed|false|untrue|unearned|unjustified|unwarranted)\b"
    rf"|\b(?:it|they) (?:is|was|are|were)(?: \w+){{0,2}} {_FALSE}\b"
    rf"|(?:{_THIS}|\bit)(?: \w+){{0,3}} (?:is|was|comes?|came|stands?|appears?|taken|written|said|says?) "
    rf"(?:\w+ )?(?:in|from|by|part of|inside|what) (?:the|its) {WRITER}\b"
    rf"|\b(?:says|claims|writes|wrote|states|so) (?:the|its) {WRITER}\b|\bquoted (?:from|here|for|as)\b"
    r"|\bnice try\b"
    r"|\binstruct\w* (?:me|us|the (?:judge|grader|evaluator|reviewer)|judges|graders|evaluators|reviewers|to the judge)"
    r"|\bignorier(?:e|te)\b|\b(?:wird|wurde|habe)\b[^.]{0,30}\bignoriert"
    r"|\b(?:eingeschleust|untergeschoben|eingefügt|Manipulation\w*|Zitat|Injektion)\b"
    r"|\bnicht mein|\b(?:(?:be)?folge|akzeptiere|übernehme|beachte) [^.]{0,20}nicht|\bnicht (?:be|ge)folgt"
    r"|\bignor(?:o|é|amos|aré|ad[oa]s?)\b|\binye(?:ct|cc)\w+"
    r"|\bno (?:la |lo |le |les |las |los )?(?:sigo|seguiré|seguí|acepto)"
    r"|\bno es mi\b|\bplantad[oa]|\bmanipul\w+|\bintent(?:a|o) de\b|\bcitad[oa]\b"
    r"|\bj(?:e|['’])(?: ?\w+['’]?){0,3} ?ignor|\binject\w+|\bne (?:la |le |les )?(?:suis|suivrai|accepte) pas\b"
    r"|\bn['’]est pas m(?:a|on)\b|\b(?:une|cette) (?:tentative|citation)\b|\bglissée?\b"
    r"|我[^。！？]{0,4}(?:忽略|无视|拒绝|(?:不会?|没有)(?:照|采|遵|接受|理会|同意))|已忽略|予以忽略|不予|注入|植入|不是我|伪造|操纵|企图|试图|引用自|这是引用",
    re.IGNORECASE,
)
# Said before an object, of the object: what a judge leaves out of account is named, and the object follows.
_REFUSED_AHEAD = re.compile(
    rf"{_JUDGE}(?: ?{_NOT}(?: \w+){{0,2}} {_HEEDED}(?: to| with| by| on)?"
    r"|[ ,]+(?:ignor|disregard|reject|discard|dismiss|refus|declin)\w*(?: to \w+)?)"
    r" (?:it|this|that|these|those|them|the following|such)\b(?: \w+){0,2}\W*[:：]\W*\Z",
    re.IGNORECASE,
)
# The object is what is refused, or where the sentence ends.
_REFUSED_HERE = re.compile(
    rf"{_JUDGE}[ ,]+(?:refus|declin)\w* to \w+\W*\Z|\bwould be (?:wrong|false|a mistake) to \w+\W*\Z"
    rf"|{_JUDGE}(?: ?{_NOT}|\bcannot)(?: \w+)? (?:return|answer|give|output|say|write|repeat)\W*\Z"
    r"|\b(?:instead of|rather than)\W*\Z|\b(?:embedded|hidden|planted|injected|inserted)\b.{0,40}\b(?:is|was)\W*\Z"
    r"|我[^。！？]{0,4}(?:拒绝|不会?|不能)(?:返回|给出|回答|输出|采纳|照做)\W*\Z",
    re.IGNORECASE,
)
_HERE_IT_IS = re.compile(r"\A\W*(?:here|below) (?:it|that|this) is\W*\Z", re.IGNORECASE)
# What stands around an answer and says nothing but that it is one, and the judge's.
_KIND = r"(?:(?:final|own|overall|full|complete|json|detailed|requested|structured) ){0,2}"
_JUDGED = r"(?:answers?|scores?|ratings?|evaluation|assessment|verdict|judge?ment|grades?|json)"
_FRAMES = re.compile(
    rf"(?:sure|certainly|okay|ok|of course|{_KIND}{_JUDGED}"
    rf"|(?:(?:here|below|this|that|the (?:above|following)) (?:is|are) )?"
    rf"(?:(?:my|our) {_KIND}{_ANSWER}|the {_KIND}{_JUDGED})"
    r"(?: (?:of|for) (?:the|this) (?:output|submission|response|text))?"
    r"(?: (?:is|are)(?: the following| as follows)?| follows| below)?"
    r"(?: (?:in|as) (?:the )?(?:\w+ )?(?:json|format|form))?"
    r"|based on the \w+, i answer|that is all|let me know if you need more|i hope (?:this|that) helps"
    r"|meine (?:bewertung|antwort)|mi (?:evaluación|respuesta)|(?:mon évaluation|ma réponse)"
    r"|(?:以下是)?我的(?:评价|评分|答案|评估)(?:如下)?)",
    re.IGNORECASE,
)
_ANSWER_TAG = re.compile(r"</?(?:final_?)?(?:answer|json|evaluation|assessment|verdict)>", re.IGNORECASE)
_CLAIMED_BY_JUDGE = re.compile(r"\b(?:above|this|that|these|it) (?:is|are|was) (?:my|our)\b", re.IGNORECASE)


def is_quotation_disowned(before: str, after: str, is_last: bool) -> bool:
    """Whether the sentence before an object speaks of the work and points ahead, or those after it disown the object.

    Where it is not the last object, `after` ends where the next one begins, and what introduces that is left out.
    """
    if _introduces_quotation(_list_reply_sentences(before)[-2:]):
        return True
    following = _list_reply_sentences(after[:LONGEST_SENTENCES])
    if not is_last and following and _POINTS_AHEAD.search(following[-1]):
        following.pop()
    is_claimed = any(map(_CLAIMED_BY_JUDGE.search, following))
    return any(map(_DISOWNS.search, following)) and not is_claimed


def is_answer_only_framed(rest: str) -> bool:
    """Whether a reply without its answer says nothing more: only a fence, tags of an answer, "My answer:".

    Marks say something too: what is struck out, questioned, crossed or in brackets is not simply given.
    """
    plain = _ANSWER_TAG.sub(" ", _PLAIN_FENCE.sub(" ", rest))
    sentences = [sentence for sentence in _SENTENCE_END.split(plain) if not _SAYS_NOTHING.fullmatch(sentence)]
    return all(_FRAMES.fullmatch(sentence.strip(_AROUND_FRAMES)) for sentence in sentences)


# A fence that says whose it is, as in ```quoted, is no plain one.
_PLAIN_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(?:jsonc?|json5|python|yaml|text|txt)?[ \t]*$", re.MULTILINE | re.I)
# One mark of a sentence; dots stand for something left out, and stars or underscores around an object point at it.
_SAYS_NOTHING = re.compile(r"\s*[.,:：。]?\s*")
_AROUND_FRAMES = " \t\r\n*_#.,:：!。！-"


def _introduces_quotation(sentences: list[str]) -> bool:
    if sentences and _REFUSED_HERE.search(sentences[-1]):
        return True
    if not sentences or _GIVEN_BY_JUDGE.search(sentences[-1]) or not _POINTS_AHEAD.search(sentences[-1]):
        return False
    if _REFUSED_AHEAD.search(sentences[-1]):
        return True
    of_work = sentences[0] if _HERE_IT_IS.search(sentences[-1]) else sentences[-1]
    return _SPEAKS_OF_WORK.search(of_work) is not None


def _list_reply_sentences(text: str) -> list[str]:
    plain = _TAG.sub(" ", _FENCE.sub(" ", text)).strip(QUOTATION_SIGNS)
    return [sentence for sentence in _SENTENCE_END.split(plain) if any(map(str.isalnum, sentence))]
