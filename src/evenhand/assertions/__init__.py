"""Evidence without a model: checks by rule on what an output says and on how it came about."""

from evenhand.assertions._assertion import AnyAssertion, Assertion, AssertionSet, definition, outside
from evenhand.assertions._check import Checked, check, checked_json, lacking, layer_scores
from evenhand.assertions._custom import run_custom, unknown_custom
from evenhand.assertions._facts import Facts, Measured
from evenhand.assertions._file_schema import assertions_schema
from evenhand.assertions._kinds import ALIASES, KINDS, SET, Kind, Layer, Parameter
from evenhand.assertions._read import check_output, read_assertions, read_plain

__all__ = [
    "ALIASES",
    "KINDS",
    "SET",
    "AnyAssertion",
    "Assertion",
    "AssertionSet",
    "Checked",
    "Facts",
    "Kind",
    "Layer",
    "Measured",
    "Parameter",
    "assertions_schema",
    "check",
    "check_output",
    "checked_json",
    "definition",
    "lacking",
    "layer_scores",
    "outside",
    "read_assertions",
    "read_plain",
    "run_custom",
    "unknown_custom",
]
