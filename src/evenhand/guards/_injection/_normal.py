"""Text as a rule reads it: small letters, nothing unseen, look-alikes as the letters they imitate, places kept."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cached_property

Trace = tuple[Sequence[int], Sequence[int]]  # Where each character begins and ends in the text as it was given.


class View:
    """A text to search, and the way back from each of its characters to the text as it was given."""

    def __init__(self, text: str, trace: Callable[[], Trace], disguise: str = "") -> None:
        self.text = text
        self.disguise = disguise  # How the text was hidden, in a few words; empty where it was not.
        self._trace = trace

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the given text of a passage of this one."""
        starts, ends = self.trace
        return min(starts[start], starts[end - 1]), max(ends[start], ends[end - 1])

    @cached_property
    def spaced(self) -> str:
        """The text with a space for all that is no letter or digit, and one more at each end."""
        return f" {self.text.encode('ascii', 'replace').translate(_BARE).decode('ascii')} "

    @cached_property
    def words(self) -> list[str]:
        """The words in Latin letters."""
        return self.spaced.split()

    @cached_property
    def known(self) -> frozenset[str]:
        """The different words."""
        return frozenset(self.words)

    @cached_property
    def trace(self) -> Trace:
        """Worked out on demand: most texts have no finding."""
        return self._trace()

    def behind(self, inner: View, disguise: str) -> View:
        """A view of this view's text, led back to the text as it was given."""
        return View(inner.text, lambda: _joined(self.trace, inner.trace), disguise)


def normal(text: str) -> View:
    """The text as rules read it."""
    if text.isascii():
        return View(text.lower(), lambda: same(len(text)))
    folded = _FOREIGN.sub(lambda run: run[0].translate(_FOLDED), text).lower()
    return View(folded, lambda: _walked(text))


def same(length: int) -> Trace:
    """The trace of a text that stands as it was given."""
    return range(length), range(1, length + 1)


def _joined(outer: Trace, inner: Trace) -> Trace:
    return [outer[0][start] for start in inner[0]], [outer[1][end - 1] for end in inner[1]]


def _walked(text: str) -> Trace:
    starts: list[int] = []
    for place, character in enumerate(text):
        starts += [place] * (1 if character.isascii() else len(_FOLDED[ord(character)]))
    return starts, [place + 1 for place in starts]


_BARE = bytes(code if chr(code) in "abcdefghijklmnopqrstuvwxyz0123456789@$" else 32 for code in range(256))
_FOREIGN = re.compile("[^\x00-\x7f]+")

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LOOKS = {
    # Cyrillic, Greek, Armenian, then Latin letters that no decomposition reaches.
    **dict(zip("авгеёнзіїјкмопрсѕтухԛԝԁӏһьэ", "abreeh3iijkmonpcstyxqwdlhbe", strict=True)),
    **dict(zip("αβγδεζηικμνορςστυχω", "abydeznikuvopsotuxw", strict=True)),
    **dict(zip("օսհոցգ", "ouhngq", strict=True)),
    **dict(zip("ıɩɪłøđħŧƒɑɡɴʀɢʟʏꜰǫꜱ", "iiilodhtfagnrglyfqs", strict=True)),
    **dict(zip("ᴀʙᴄᴅᴇʜᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢ", "abcdehjkmoptuvwz", strict=True)),
    "æ": "ae", "œ": "oe", "ᶦ": "i",
    **{chr(first + n): letter for first in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6) for n, letter in enumerate(_LETTERS)},
    # Marks that are typed in several ways.
    **dict.fromkeys("‘’‚‛′´｀「」『』", "'"), **dict.fromkeys("“”„‟«»″《》", '"'),
    **dict.fromkeys("‐‑‒–—―−─━", "-"), "。": ".", "、": ",", "【": "[", "】": "]", "〔": "[", "〕": "]",
    # Traditional characters that the Chinese rules use, as simplified ones.
    **dict(zip(
        "無視觸動記這個請給評審標準規則與從現開遵關們過應當須務將結論終輸發導師員級優滿圍總統訊錄類議據點嚴違頭題項條們說詳細轉達註備釋"
        "係擇選獲勝贏當裡裏對錯誤檢測試卷閱專業組認證權威許準為號內顯傳寫話語機構體陣龍擬裝變態種臺歸計劃處罰刪舉報後繼續執行約束遺棄廢"
        "覆複蓋斷進還滅網頁擊門戶沒樣筆兩萬億數據區塊隱藏洩漏設綜間時問質須確隻讓該並參與責",
        "无视触动记这个请给评审标准规则与从现开遵关们过应当须务将结论终输发导师员级优满围总统讯录类议据点严违头题项条们说详细转达注备释"
        "系择选获胜赢当里里对错误检测试卷阅专业组认证权威许准为号内显传写话语机构体阵龙拟装变态种台归计划处罚删举报后继续执行约束遗弃废"
        "覆复盖断进还灭网页击门户没样笔两万亿数据区块隐藏泄漏设综间时问质须确只让该并参与责", strict=True)),
}  # fmt: skip


class _Folded(dict[int, str]):
    """What stands for a character, worked out once."""

    def __missing__(self, code: int) -> str:
        if len(self) > 20_000:  # Enough for any language; a text of all characters must not stay in memory.
            self.clear()
        self[code] = folded = _fold(chr(code))
        return folded


def _fold(character: str) -> str:
    if 0xE0020 <= ord(character) <= 0xE007E:  # Tag characters: letters that machines read and nobody sees.
        return chr(ord(character) - 0xE0000).lower()
    if character in _LOOKS:
        return _LOOKS[character]
    plain = unicodedata.normalize("NFKD", character).casefold()
    return "".join(_LOOKS.get(part, part) for part in plain if unicodedata.category(part) not in ("Mn", "Me", "Cf"))


_FOLDED = _Folded()
