"""Number words, months, days and units: what the readers of values know."""

from __future__ import annotations

from fractions import Fraction


def _numbered(words: str, start: int = 0) -> dict[str, int]:
    """Each word with its place in the row; names of one thing are joined by a slash."""
    return {name: number for number, names in enumerate(words.split(), start) for name in names.split("/")}


ONES = _numbered(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
TENS = {
    word: 10 * number
    for word, number in _numbered("twenty thirty forty fifty sixty seventy eighty ninety", start=2).items()
}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "mn": 10**6, "bn": 10**9, "k": 1000}
# "First" and "second" are too often not about a place in a row.
ORDINALS = _numbered("third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", start=3)
MONTHS = _numbered(
    "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sept/sep october/oct "
    "november/nov december/dec",
    start=1,
)
DAYS = _numbered("monday tuesday wednesday thursday friday saturday sunday")

# A kind of value, the size of a unit in the base unit of that kind, and the unit's names. A month has 30 days here and
# a year twelve such months: values of time are compared with some play.
_UNITS = """
% | 1 | % percent pct
time | 1/1000 | ms millisecond milliseconds
time | 1 | second seconds sec secs s
time | 60 | minute minutes min mins
time | 3600 | hour hours hr hrs h
time | 86400 | day days
time | 604800 | week weeks
time | 1209600 | fortnight fortnights
time | 2592000 | month months
time | 31104000 | year years yr yrs
time | 311040000 | decade decades
length | 1 | m metre metres meter meters
length | 1/100 | cm centimetre centimetres centimeter centimeters
length | 1/1000 | mm millimetre millimetres millimeter millimeters
length | 1000 | km kilometre kilometres kilometer kilometers
length | 1609 | mile miles
length | 381/1250 | ft foot feet
length | 127/5000 | inch inches
mass | 1 | g gram grams gramme grammes
mass | 1000 | kg kilo kilos kilogram kilograms
mass | 1/1000 | mg milligram milligrams
mass | 1000000 | t tonne tonnes ton tons
mass | 4536/10 | lb lbs
mass | 2835/100 | oz ounce ounces
volume | 1 | l litre litres liter liters
volume | 1/1000 | ml millilitre millilitres milliliter milliliters
volume | 1/100 | cl
data | 1 | mb megabyte megabytes
data | 1000 | gb gigabyte gigabytes
data | 1/1000 | kb kilobyte kilobytes
data | 1000000 | tb
temperature | 1 | ° °c c degrees degree celsius °f fahrenheit
eur | 1 | € euro euros eur
usd | 1 | $ dollar dollars usd
gbp | 1 | £ pound pounds gbp
cent | 1 | cent cents pence p
""".strip().splitlines()
UNITS: dict[str, tuple[str, Fraction]] = {
    name: (kind, Fraction(size))
    for kind, size, names in (line.split(" | ") for line in _UNITS)
    for name in names.split()
}
