"""Dialogues: pure generators that yield requests, are sent replies, and return what a judge said."""

from evenhand.judging.dialogues._dimensions import dimensions
from evenhand.judging.dialogues._gate import gate
from evenhand.judging.dialogues._horizontal import Anchored, horizontal, shown_order
from evenhand.judging.dialogues._likely import likely
from evenhand.judging.dialogues._listwise import listwise
from evenhand.judging.dialogues._odds import odds
from evenhand.judging.dialogues._pairwise import pairwise
from evenhand.judging.dialogues._pointwise import pointwise
from evenhand.judging.dialogues._sampled import sampled

__all__ = [
    "Anchored",
    "dimensions",
    "gate",
    "horizontal",
    "likely",
    "listwise",
    "odds",
    "pairwise",
    "pointwise",
    "sampled",
    "shown_order",
]
