"""Whether a text says anything else: another answer than a certain one, in any language, or a remark beside the
material.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from evenhand.judging.reading.json_answers import EVIDENCE_KEYS, HOLDER_KEYS, REASON_KEYS, SCORE_KEYS, SUBJECT_KEYS
from evenhand.judging.reading.reply_text import LEAST_LETTERS, fold_quotation_in_reply, spell_out_entities_in_reply
from evenhand.judging.reading.score_mentions import NUMBER_WORDS, Answer

# Zero to ten. Left out is what is mostly another word: "one", "un", "to", "on", "sex", "due", "sei" …
_SPELT = """
zero - two three four five six seven eight nine ten
null eins zwei drei vier fünf sechs sieben acht neun zehn
zéro - deux trois quatre cinq six sept huit neuf dix
cero uno dos tres cuatro cinco seis siete ocho nueve diez
zero um dois três quatro cinco seis sete oito nove dez
zero - - - quattro cinque - sette otto nove dieci
nul een twee drie vier vijf zes zeven acht negen tien
noll ett två tre fyra fem - sju åtta nio tio
nul - - tre - fem seks syv otte ni ti
nolla yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen
zero jedynka dwójka trójka czwórka piątka szóstka siódemka ósemka dziewiątka dziesiątka
zero jedynkę dwójkę trójkę czwórkę piątkę szóstkę siódemkę ósemkę dziewiątkę dziesiątkę
zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć
nula jedna dva tři čtyři pět šest sedm osm devět deset
nulla egy kettő három négy öt hat hét nyolc kilenc tíz
sıfır bir iki üç dört beş altı yedi sekiz dokuz -
ноль один два три четыре пять шесть семь восемь девять десять
ноль единица двойка тройка четвёрка пятёрка шестёрка семёрка восьмёрка девятка десятка
нуля одного двух трёх четырёх пяти шести семи восьми девяти десяти
ноль единицу двойку тройку четвёрку пятёрку шестёрку семёрку восьмёрку девятку десятку
нуль один два три чотири пять шість сім вісім девять десять
μηδεν ενα δυο τρια τεσσερα πεντε εξι επτα οκτω εννεα δεκα
không một hai ba bốn năm sáu bảy tám chín mười
nol satu dua tiga empat lima enam tujuh delapan sembilan sepuluh
صفر واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة
صفر واحد اثنين ثلاث أربع خمس ست سبع ثماني تسع عشر
אפס אחת שתיים שלוש ארבע חמש שש שבע שמונה תשע עשר
शून्य एक दो तीन चार पांच छह सात आठ नौ दस
영 하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열
"""
_WORDS = {
    fold_quotation_in_reply(word): value
    for line in _SPELT.strip().splitlines()
    for value, word in enumerate(line.split())
    if word != "-"
}
_SIGNS = {sign: value for signs in ("〇一二三四五六七八九十", "零壹贰叁肆伍陆柒捌玖拾", "영일이삼사오육칠팔구십")
          for value, sign in enumerate(signs)} | {"两": 2, "兩": 2, "弐": 2, "参": 3}  # fmt: skip
# A sign that is also a part of words is a number before what it counts.
_COUNTED = re.compile(rf"([{''.join(_SIGNS)}])\s?(?=[分点點星점]|/|つ星|out of)(?!分之|点钟)")
# Signs of vowels are parts of words in the scripts of India.
_NUMBER = re.compile(
    r"(?<![a-z\d_.])(\d+(?:[.,]\d+)?)(?!\d)(?!\.\d)(?![a-z_])|(?<![^\W_])((?:[^\W\d_]|[\u0900-\u0dff])+)(?![^\W_])"
)
_UNIT = re.compile(r"\s?(?:%|/|out of\b|von\b|sur\b|из\b|分|点|點|점|point|punt|pont|балл|star\b|stars\b|stern)")
# Out of how many, after the number itself.
_OF_TOP = re.compile(
    r"(?:[\w)]\s{0,3}(?:/|\bout of(?: a)?(?: possible)?|\b(?:of|von|sur|de|su|из|van|av|af|na|z|dari))"
    r"|满分|滿分|満点)\s{0,3}(?:为|是|:)?\s{0,3}\Z"
)
# "3 errors", "24-hour", "86% of the land": what is counted there is named, and it is no point or star.
_NO_NOUN = (
    r"this\b|thus|always|perhaps|versus|unless|tops\b|yes\b|plus\b|minus\b|was\b|has\b|does\b|mais\b|puis\b|dans\b"
)
_POINTS = r"point|punt|pont|punk|estrel|star|stern|mark|not[ae]s|grade|score|ball"
_COUNTS = re.compile(
    r"\s?%\s(?:of|der|des)\b|-[a-z]{3,}"
    rf"|(?:\s(?:out )?of\s\d+)?\s(?!{_NO_NOUN}|{_POINTS})[a-z]{{3,}}(?<![su])s\b"
)
_SCALE = re.compile(
    r"\b[01]\s{0,3}(?:-|–|—|~|/|to|bis|à|a|до|至|到|から|through)\s{0,3}(?:5|7|10|20|100)(?![\w.])"
    r"|\b(?:zero|one) to (?:five|seven|ten)\b"
)
_ONE = re.compile(
    r"\b(?:a|give(?:s|n)?(?: it)?|is) one\b(?! of the| that| who| which)|: one\b|\bone (?:out of|/|star|point)"
)
_YES = "yes true ja oui sí si sim да так tak evet ναι hai 是 是的 はい 네 예 हाँ نعم כן ya có"
_NO = "no false nein non não нет ні nie nee nej ei hayır οχι nem 否 不是 不 いいえ 아니오 아니요 नहीं لا לא tidak không"
_YES_NO = {
    fold_quotation_in_reply(word): Fraction(value) for value, words in enumerate((_NO, _YES)) for word in words.split()
}
_FIRST_WORD = re.compile(r"(?:\A|[.!?:;。！？：\n(])[^\w\n]{0,8}(\w+)(?=\W*(?:\Z|[.!?,;:。！？，：\n)]|\s[-–—]))")
MOST_NUMBERS = 100  # More are no remark beside an answer.


def mentions_answer(text: str, value: Answer) -> bool:
    """Whether a text has that number, and not only as the top of a scale."""
    return isinstance(value, str) or any(
        number == value for number, _ in _list_numbers_in_reply(text, fold_quotation_in_reply(text))
    )


def mentions_another_answer(text: str, value: Answer, is_answer: Callable[[Fraction], bool]) -> bool:
    """Whether a text has a number other than that, in digits or words, that could be an answer; or a yes for a no."""
    if isinstance(value, str):
        return False
    folded = fold_quotation_in_reply(text)
    others = {number: is_counted for number, is_counted in _list_numbers_in_reply(text, folded) if number != value}
    if len(others) > MOST_NUMBERS or any(is_counted or is_answer(number) for number, is_counted in others.items()):
        return True
    first = (_YES_NO.get(found[1]) for found in _FIRST_WORD.finditer(folded))
    return value in (0, 1) and any(one not in (None, value) for one in first)


def _list_numbers_in_reply(text: str, folded: str) -> Iterator[tuple[Fraction, bool]]:
    """Every number in a text, and whether it says that it is a score; but for the top of a scale and its echo."""
    plain = _SCALE.sub(" ", folded)
    for found in _NUMBER.finditer(plain):
        number = Fraction(found[1].replace(",", ".")) if found[1] else _WORDS.get(found[2])
        if number is None or _COUNTS.match(plain, found.end()):
            continue
        if _OF_TOP.search(plain, max(0, found.start() - 24), found.start()):
            continue
        yield Fraction(number), found[1] is not None and _UNIT.match(plain, found.end()) is not None
    # As they are written: folding takes some of these signs apart.
    yield from (
        (Fraction(_SIGNS[found[1]]), True) for found in _COUNTED.finditer(spell_out_entities_in_reply(text.lower()))
    )
    yield from ((Fraction(1), False) for _ in _ONE.finditer(plain))


# Tags of thinking are taken out of a reply where they stand in the material.
_SPACE_AND_QUOTES = re.compile(r"(?:[\s\"'“”‘’„«»`]|</?(?:think|thinking|thought|reasoning|scratchpad)>)+")
_JOINTS = re.compile(r"(?<=\w)[\s_\-]+(?=\w)")
_CUT = re.compile(r"\[?(?:…|\.{3,})\]?")
# A number as forms have it; the same with words or marks around it is a remark.
_PLAIN_NUMBER = re.compile(
    r"[+]?([0-9]{1,9}(?:[.,][0-9]{1,6})?)(?:(?:/|outof|of)[0-9]{1,4})?(?:points?|stars?|分|点|점)?"
)
_PLAIN_WORDS = frozenset([*NUMBER_WORDS, "yes", "no", "true", "false", "是", "否"])
_KEYS_OF_TEXTS = frozenset([*EVIDENCE_KEYS, *REASON_KEYS])
_KEYS_OF_FORMS = frozenset([*_KEYS_OF_TEXTS, *HOLDER_KEYS, *SCORE_KEYS, *SUBJECT_KEYS])


def split_at_cuts(text: str) -> list[str]:
    """A text without the dots that stand for what is left out, in its pieces."""
    return _CUT.split(text)


def spell_whole(text: str) -> str:
    """A text with all its marks, but for spaces and quotation marks, which a quotation may change."""
    return _SPACE_AND_QUOTES.sub("", fold_quotation_in_reply(text))


@dataclass(frozen=True, slots=True)
class MaterialWords:
    """The keys and values that stand in the material, and all of its text."""

    keys: frozenset[str]
    values: frozenset[str]
    text: str

    @classmethod
    def collect(cls, values: Collection[object], texts: Collection[str]) -> MaterialWords:
        """Those of the values in it, and of its texts."""
        found = [one for value in values for one in _list_leaves(value)]
        keys = {_spell_key(key) for key, _ in found}
        said = {_spell_leaf(leaf) for _, leaf in found}
        return cls(frozenset(keys) | _KEYS_OF_FORMS, frozenset(said), "\0".join(map(spell_whole, texts)))

    def has_all_of(self, data: object) -> bool:
        """Whether every key of a value is one of a form or of the material, and every text stands in the material."""
        return all(
            (name := _spell_key(key)) in self.keys and self._has_leaf(name, leaf) for key, leaf in _list_leaves(data)
        )

    def _has_leaf(self, key: str, leaf: object) -> bool:
        spelt = _spell_leaf(leaf)
        if not isinstance(leaf, str):
            return True  # It is compared as an answer.
        is_answer = key not in _KEYS_OF_TEXTS and (spelt in _PLAIN_WORDS or _PLAIN_NUMBER.fullmatch(spelt) is not None)
        if is_answer or spelt in self.values:
            return True
        is_long = sum(map(str.isalpha, spelt)) >= LEAST_LETTERS
        return not spelt or (is_long and _CUT.search(leaf) is None and spelt in self.text)


def _list_leaves(data: object, key: str = "") -> Iterator[tuple[str, object]]:
    """All that a value holds, each with the key that it stands under; keys with nothing under them too."""
    if isinstance(data, dict):
        for name, below in data.items():
            yield str(name), None
            yield from _list_leaves(below, str(name))
    elif isinstance(data, list):
        for below in data:
            yield from _list_leaves(below, key)
    else:
        yield key, data


def _spell_key(key: str) -> str:
    return _JOINTS.sub("", _SPACE_AND_QUOTES.sub(" ", fold_quotation_in_reply(key)).strip())


def _spell_leaf(leaf: object) -> str:
    return "" if leaf is None else spell_number(str(leaf)) if not isinstance(leaf, str) else spell_whole(leaf)


def spell_number(text: str) -> str:
    """A number as it is compared: 10 for 10.0 and 1e1."""
    plain = text.lower()
    if "." not in plain and "e" not in plain:
        return plain
    try:
        number = Decimal(plain)
        is_short = number.is_finite() and abs(number.adjusted()) < 30
    except ArithmeticError:
        return plain
    return f"{number.normalize():f}" if is_short else plain
