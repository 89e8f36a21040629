"""Numbers, plurals and lists in words."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache

from evenhand.errors import Fault, StoreError


def format_exact_dollars(money: Decimal) -> str:
    """Money to its last digit."""
    return f"${money.normalize():f}"


def word_type_of_value(value: object) -> str:
    """A value for a message."""
    names = {dict: "an object", list: "a list", tuple: "a list", bool: "true or false", type(None): "null"}
    if isinstance(value, str):
        return "an empty text" if not value.strip() else "a text"
    return names.get(type(value), "a number" if isinstance(value, (int, float, Decimal)) else type(value).__name__)


def spell_exact_fraction(value: Fraction | None) -> str | None:
    """A fraction as it is kept: numerator and denominator."""
    if value is None:
        return None
    above, below = value.as_integer_ratio()
    return f"{above}/{below}"


DAMAGED_STORE = "the store is damaged, or a run was imported that nobody made"
_KEPT_FRACTION = re.compile(r"-?[0-9]{1,4000}(?:(?:\.[0-9]{1,40})?(?:e-[0-9]{1,3})?|/[1-9][0-9]{0,3999})")


def read_kept_fraction(kept: str | float) -> Fraction:
    """The number that is kept as a fraction; a StoreError for what nobody here has written.

    `Fraction` alone would work on the eleven letters of 1e999999999 until the memory is full.
    """
    if isinstance(kept, str) and not _KEPT_FRACTION.fullmatch(kept):
        raise StoreError(Fault(f"{quote_whole_text(kept, 40)} is not a fraction as in 2/3", DAMAGED_STORE))
    return Fraction(kept)


_KEPT_AMOUNT = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?")


def read_kept_amount(kept: str | float) -> Decimal:
    """An amount of money that is kept; a StoreError for one that nobody paid, and that would fill a page."""
    if not _KEPT_AMOUNT.fullmatch(str(kept)):
        raise StoreError(Fault(f"{quote_whole_text(str(kept), 40)} is not an amount as in 0.25", DAMAGED_STORE))
    return Decimal(str(kept))


MISSING_DASH = "–"
WIDE_SCALE = 20  # On scales wider than this one decimal tells enough.


def format_figure(
    value: float | None, scale: Sequence[float] | None = None, *, signed: bool = False, beside: float | None = None
) -> str:
    """A number with the decimals that its scale calls for, and a proper minus; `beside` a limit it never looks past."""
    if value is None:
        return MISSING_DASH
    places = 1 if scale and scale[1] - scale[0] > WIDE_SCALE else 2
    if beside is not None:
        exact = beside if math.isclose(value, beside, rel_tol=0, abs_tol=1e-9) else value  # On it, but for noise.
        return str(round_number_beside_limits(Fraction(repr(exact)), [Fraction(repr(beside))], places)).replace(
            "-", "−"
        )
    rounded = round_float_half_away(value, places)
    return f"{rounded:{'+' if signed and rounded else ''}.{places}f}".replace("-", "−")


def round_float_half_away(value: float, places: int) -> float:
    """A number rounded as every number here, half away from zero: by its first 12 decimals, the rest is noise."""
    if not math.isfinite(value) or abs(value) >= 1e15:
        return float(value)
    exact = Decimal(repr(round(float(value), 12)))
    return float(exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)) or 0.0


def format_rounded(value: float, places: int) -> str:
    """A number with so many decimals, rounded half away from zero."""
    return f"{round_float_half_away(value, places):,.{places}f}"


def format_kept_figure(value: float | None) -> str:
    """A number that was rounded when it was kept: with every digit it has, and two decimals at least."""
    if value is None:
        return MISSING_DASH
    return max(format_figure(value), repr(float(value)).replace("-", "−"), key=len)


def format_dollar_amount(amount: float | None) -> str:
    """An amount of money: cents from a dollar on, finer below."""
    if amount is None:
        return MISSING_DASH
    if amount == 0:
        return "$0"
    return "under $0.0001" if 0 < amount < 0.0001 else f"${format_rounded(amount, 2 if amount >= 1 else 4)}"


def format_milliseconds(milliseconds: float | None) -> str:
    """A time as people say it, in three digits at most: 980 ms, 1.2 s, 140 s."""
    if milliseconds is None:
        return MISSING_DASH
    if 0 < milliseconds < 1:
        return "under 1 ms"
    if round_float_half_away(milliseconds, 0) < 1000:
        return f"{format_rounded(milliseconds, 0)} ms"
    seconds = milliseconds / 1000
    return f"{format_rounded(seconds, 1 if round_float_half_away(seconds, 1) < 100 else 0)} s"


def pluralize_count(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun: 1 sample, 24 samples."""
    return f"1 {one}" if count == 1 else f"{count:,} {many or one + 's'}"


def format_whole_duration(seconds: float) -> str:
    """A length of time in whole days, hours or minutes, as people set it."""
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length and seconds % length == 0:
            number = round(seconds / length)
            return f"{number} {unit}" if number == 1 else f"{number:,} {unit}s"
    return f"{seconds:g} seconds" if seconds else "none"


def format_score(value: float | None, *, beside: float | None = None) -> str:
    """A score as it is shown; `beside` a limit it never looks past."""
    if value is None:
        return "no score"
    return f"{round_float_half_away(value, 2):.2f}" if beside is None else format_figure(value, beside=beside)


def format_signed(value: float, digits: int = 2) -> str:
    """A difference as it is shown; what rounds to nothing has no sign."""
    rounded = round_float_half_away(value, digits)
    return f"{rounded:{'+' if rounded else ''}.{digits}f}".replace("-", "−")


def format_signed_beside(value: float, limit: float) -> str:
    """A number with as many digits as show on which side of a limit it lies."""
    fitting = (digits for digits in range(2, 9) if (round_float_half_away(value, digits) > limit) == (value > limit))
    fitting = (digits for digits in fitting if (round_float_half_away(value, digits) < limit) == (value < limit))
    return format_signed(value, next(fitting, 2))


def format_plural(count: int, thing: str) -> str:
    """So many things."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def join_names(names: Iterable[str]) -> str:
    """Names in a sentence."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


LEAST_SHOWN_P = 0.0001  # Below it, sentences and tables give the limit instead.


def format_p_value(p: float, *, at_most: bool = False) -> str:
    """A p-value as it is shown; with `at_most` it is an upper bound, which is rounded up."""
    if at_most:
        return f"p ≤ {math.ceil(round(p * 10_000, 6)) / 10_000:.4f}"
    if p < LEAST_SHOWN_P:
        return f"p < {LEAST_SHOWN_P}"
    return f"p = {format_rounded(p, _choose_p_value_digits(p) if p < 0.0995 else 2)}"


def format_p_value_in_table(p: float) -> str:
    """A p-value in a column of them, with the digits of a sentence but three at least."""
    return f"under {LEAST_SHOWN_P}" if p < LEAST_SHOWN_P else format_rounded(p, _choose_p_value_digits(p))


def _choose_p_value_digits(p: float) -> int:
    """As many as show on which side of a limit it lies: 0.04996 is below 0.05, and is shown so."""
    limit, fewest = (0.001, 4) if p < 0.001 else (0.05, 3)
    fitting = (digits for digits in range(fewest, 8) if (round_float_half_away(p, digits) < limit) == (p < limit))
    return next(fitting, fewest)


def word_p_value(p: float, *, at_most: bool = False) -> str:
    """A p-value as a count that people can picture; with `at_most` it is an upper bound."""
    if at_most:
        return f"at most {word_p_value(p)}"
    if p < LEAST_SHOWN_P:
        return "fewer than 1 of 10,000 comparisons"
    if p < 0.095:
        # Two digits: more would claim a precision that no one needs.
        step = math.pow(10, max(0, math.floor(math.log10(1 / p)) - 1))
        return f"1 of {round(round(1 / p / step) * step):,} comparisons"
    return "nearly every comparison" if p > 0.95 else f"{format_rounded(p * 100, 0)} of 100 comparisons"


def format_number(value: float, digits: int = 2) -> str:
    """A number as it is shown."""
    return f"{round_float_half_away(value, digits):.{digits}f}".replace("-", "−")


def format_percent(share: float) -> str:
    """A share as it is shown; never 0 or 100 % while it is neither."""
    if 0 < share < 0.005:
        return "under 1%"
    return "over 99%" if 0.995 <= share < 1 else f"{format_rounded(share * 100, 0)}%"


def word_layer(layer: str) -> str:
    """A layer as it is called on screen: a judge is who judges, so what judges fill is the rubric layer."""
    return "rubric" if layer == "judge" else layer


def word_layers(layers: Iterable[str]) -> str:
    """The names of several layers, joined."""
    return join_names([word_layer(layer) for layer in layers])


def word_layers_in_sentence(layers: Collection[str]) -> str:
    """Several layers, said to be layers: "raise the rubric layer" is not about the file of the rubric."""
    return f"the {word_layers(layers)} {'layer' if len(layers) == 1 else 'layers'}"


def word_tie_break(told: str) -> str:
    """What separated equal scores, for people: a criterion keeps its id."""
    return "fewer red flags" if told == "fewer red_flags" else told


def word_gate(gate: str) -> str:
    """What a gate is on: a layer, said to be one where its name alone could be something else, or another measure."""
    return "rubric layer" if gate == "judge" else gate


word_criterion = word_gate  # On screen, the criterion `judge` of the method layered is the whole rubric layer too.


def word_gate_in_sentence(gate: str) -> str:
    """A gate behind "its gate": what is no name of a layer or a criterion in plain words."""
    measures = {
        "pass_rate": "the pass rate", "required": "required criteria", "scored": "outputs with a score",
    }  # fmt: skip
    return f"for {measures[gate]}" if gate in measures else word_gate(gate)


def format_too_few(count: int, thing: str, needed: int, *, more: str = "", to: str = "") -> str:
    """That so many things are too few; `more` tells which ones, `to` for what."""
    which, what = (f" {one}" if one else "" for one in (more, to))
    return f"{format_plural(count, thing)}{which} {'is' if count == 1 else 'are'} too few{what}: it takes {needed}"


def format_percent_tenths(share: float) -> str:
    """A share in percent with one decimal."""
    return f"{format_rounded(share * 100, 1)}%"


def format_percent_below_whole(share: float) -> str:
    """A share in words; never 100 % while a single weighting says otherwise."""
    if 0.995 <= share < 1:
        return f"{format_rounded(min(share, 0.9999) * 100, 2)}%"
    return f"{format_rounded(share * 100, 0)}%"


def round_number_for_json(value: float | None) -> float | None:
    """Six decimals: more are noise of the arithmetic."""
    return None if value is None or not math.isfinite(value) else round(value, 6) + 0.0


def round_number_half_away(value: Fraction, decimals: int) -> Decimal:
    """The value with so many decimals, halves away from zero."""
    return _round_ratio_half_away(value.numerator, value.denominator, decimals)


@lru_cache(4096)  # Most numbers of a run are the same few; two integers are found far sooner than a fraction.
def _round_ratio_half_away(numerator: int, denominator: int, decimals: int) -> Decimal:
    doubled = 2 * abs(numerator) * 10**decimals
    whole = (doubled + denominator) // (2 * denominator)
    return Decimal(whole if numerator >= 0 else -whole).scaleb(-decimals)


MOST_DECIMALS = 12


def round_number_beside_limits(value: Fraction, limits: Iterable[Fraction], decimals: int) -> Decimal:
    """The value with so many decimals, and with more where it would look as if it had reached a limit or missed one.

    59.9958 beside 60 is not 60.00: a number that decides never contradicts the decision that it is shown with.
    """
    reached = [(limit, value >= limit) for limit in limits]
    if not reached:
        return round_number_half_away(value, decimals)
    for digits in (decimals, *range(max(4, decimals + 1), MOST_DECIMALS + 1)):
        rounded = round_number_half_away(value, digits)
        if all((rounded >= limit) == above for limit, above in reached):
            spare = digits - max(decimals, -int(rounded.normalize().as_tuple().exponent))
            return round_number_half_away(value, digits - max(spare, 0))
    return round_number_half_away(value, decimals)


def format_fraction(value: Fraction, decimals: int | None = None, *, beside: Iterable[Fraction] = ()) -> str:
    """A number for a sentence: with fixed decimals, or as short as it can be written; `beside` limits it never looks
    past.
    """
    if decimals is not None:
        rounded = round_number_beside_limits(value, beside, decimals) if beside else None
        return str(round_number_half_away(value, decimals) if rounded is None else rounded)
    if value.denominator == 1:
        return str(value.numerator)
    return _shorten_decimal(str(round_number_beside_limits(value, beside, 4)), value.numerator, value.denominator)


@lru_cache(4096)
def _shorten_decimal(text: str, numerator: int, denominator: int) -> str:
    """A number as it was rounded, without zeros at its end where it is exact."""
    return text.rstrip("0").rstrip(".") if Fraction(text) == Fraction(numerator, denominator) else text


def format_number_for_json(
    value: Fraction, decimals: int | None = None, *, beside: Iterable[Fraction] = ()
) -> int | float:
    """A JSON number: with the method's decimals, or the nearest float of the exact value."""
    if decimals is None:
        return float(value)
    return float(
        round_number_beside_limits(value, beside, decimals) if beside else round_number_half_away(value, decimals)
    )


def word_score_for_json(
    value: Fraction, decimals: int | None = None, *, beside: Iterable[Fraction] = ()
) -> int | float:
    """An answer as a JSON number: whole where it is whole, as it was given."""
    above, below = value.as_integer_ratio()
    return above if below == 1 else format_number_for_json(value, decimals, beside=beside)


def quote_whole_text(text: str, most: int = 60) -> str:
    """A text for a message, whole or only its length: in half of a key or of an address nobody would find it."""
    return repr(text) if len(text) <= most else f"'…' ({len(text):,} characters)"


MOST_QUOTED = 10


def quote_text(text: str, most: int = 60) -> str:
    """A text in quotation marks, cut where it is long; a backslash stays one, so that a pattern reads as written."""
    short = text if len(text) <= most else text[: most - 1] + "…"
    mark = '"' if "'" in short and '"' not in short else "'"
    plain = (letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in short)
    return f"{mark}{''.join(plain)}{mark}"


def format_quoted_texts(texts: Iterable[str]) -> str:
    """Several texts, those beyond ten only counted."""
    quoted = [quote_text(text, 40) for text in texts]
    more = len(quoted) - MOST_QUOTED
    return ", ".join(quoted[:MOST_QUOTED]) + (f" and {more} more" if more > 0 else "")


def shorten_text_to_line(text: str, most: int = 300) -> str:
    """A text of somebody else's on one line, cut where it is long."""
    line = " ".join(text[: 4 * most].split())
    line = "".join(letter if letter.isprintable() else "�" for letter in line)
    return line if len(line) <= most else line[: most - 1] + "…"
