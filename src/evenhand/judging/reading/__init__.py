"""The reply reader: finds the answers in what judges really write, and never makes one up."""

from evenhand.judging.reading._blocks import clean_object, values_in, without_thinking
from evenhand.judging.reading._choice import read_choice
from evenhand.judging.reading._items import FIELD_NAMES
from evenhand.judging.reading._material import without_quoted
from evenhand.judging.reading._names import canonical
from evenhand.judging.reading._reader import read_answers, read_score
from evenhand.judging.reading._refusal import refusal_in
from evenhand.judging.reading._sections import sections_of
from evenhand.judging.reading._shapes import answers_from
from evenhand.judging.reading._values import Answer, Found, Value, Wanted

__all__ = [
    "FIELD_NAMES",
    "Answer",
    "Found",
    "Value",
    "Wanted",
    "answers_from",
    "canonical",
    "clean_object",
    "read_answers",
    "read_choice",
    "read_score",
    "refusal_in",
    "sections_of",
    "values_in",
    "without_quoted",
    "without_thinking",
]
