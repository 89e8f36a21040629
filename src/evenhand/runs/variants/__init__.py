"""Variants: what makes the outputs of an eval, and how each of them is asked for one."""

from evenhand.runs.variants._makers import open_makers
from evenhand.runs.variants._read import KINDS, read_variants
from evenhand.runs.variants._variant import Command, Endpoint, Function, Maker, ModelPrompt, Recorded, Variant

__all__ = [
    "KINDS",
    "Command",
    "Endpoint",
    "Function",
    "Maker",
    "ModelPrompt",
    "Recorded",
    "Variant",
    "open_makers",
    "read_variants",
]
