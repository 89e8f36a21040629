"""What speaks against judges that are recommended: each bias of theirs that is clear, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evenhand.calibrate._bias import Bias, Kind
from evenhand.calibrate._questions import OVERALL
from evenhand.calibrate._recommend import NotRecommended, Recommended
from evenhand.calibrate._words import number, signed

_WORDS: dict[Kind, tuple[str, str, int]] = {
    "harshness": ("", "", 2),
    "length": ("has a length bias", " per 100 characters", 3),
    "position": ("has a position bias", " in the first seat", 2),
    "self-preference": ("has a bias about outputs of its own model", "", 2),
}


def warnings_of(recommended: Recommended | NotRecommended, biases: Sequence[Bias]) -> Iterator[str]:
    """By judge and kind: the overall figure where that is clear, else those of the criteria on which it is."""
    if isinstance(recommended, NotRecommended):
        return
    for judge in recommended.chosen.weights:
        for kind in _WORDS:
            clear = [one for one in biases if (one.who, one.kind) == (judge, kind) and one.clear]
            whole = [one for one in clear if one.question == OVERALL]
            if clear:
                yield f"{judge} {_bias(whole or clear)}."


def _bias(clear: Sequence[Bias]) -> str:
    words, unit, digits = _WORDS[clear[0].kind]
    return f"{words or _level(clear)}: {', '.join(_amount(one, digits, unit) for one in clear)}"


def _level(clear: Sequence[Bias]) -> str:
    """What the bias is called that has a word for each direction."""
    directions = {"is generous" if (one.estimate or 0.0) > 0 else "is harsh" for one in clear}
    return directions.pop() if len(directions) == 1 else "is harsh or generous"


def _amount(one: Bias, digits: int, unit: str) -> str:
    assert one.estimate is not None and one.low is not None and one.high is not None
    amount, ends = signed(one.estimate, digits), f"[{number(one.low, digits)}, {number(one.high, digits)}]"
    if one.question == OVERALL:
        return f"{amount} of the scale{unit} overall {ends}"
    return f"{amount}{unit} on {one.question} {ends}"
