"""Answers in bands: the letter first, then the number inside it; one without the other is unreadable."""

from __future__ import annotations

import re
from decimal import Decimal

from evenhand.judging.reading._names import canonical
from evenhand.judging.reading._plain import plain
from evenhand.judging.reading._prose import read_prose
from evenhand.model import CriterionScore, Scale, Scored, Unscored


def read_bands(band: object, score: object, scale: Scale) -> CriterionScore:
    """A band and a number as the scale reads them, with the band written in any case."""
    spelt = re.sub(r"\Aband\s*", "", str(band).strip(), flags=re.IGNORECASE)
    id = next((one.id for one in scale.bands if canonical(one.id) == canonical(spelt)), band)
    if isinstance(score, str):
        read = read_prose(plain(score), _numbers_only(scale), {})
        score = read.value if isinstance(read, Scored) else score
    return scale.read({"band": id, "score": score})


def band_in(text: str, scale: Scale, score: CriterionScore) -> CriterionScore:
    """A number that was read in prose, with the only band that the prose names."""
    if not scale.bands or isinstance(score, Unscored):
        return score
    ids = "|".join(sorted((re.escape(band.id) for band in scale.bands), key=len, reverse=True))
    named = {
        found.lower() for found in re.findall(rf"\bband\s?(?::|=|is|-)?\s?[\"'(\[]?({ids})(?!\w)", text, re.IGNORECASE)
    }
    beside = set(re.findall(rf"(?<!\w)({ids})\s?[(\[:,\-–—]\s?[0-9]", text))
    bands = named or {found.lower() for found in beside}
    if len(bands) != 1:
        return Unscored("unreadable: it names no band" if not bands else "unreadable: it names several bands")
    return read_bands(bands.pop(), Decimal(score.value.numerator) / score.value.denominator, scale)


def _numbers_only(scale: Scale) -> Scale:
    return Scale(min=scale.min, max=scale.max, integers=scale.integers)
