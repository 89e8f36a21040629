"""JSON, and JSON Schema without a way to hang."""

import json
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from evenhand.assertions import rule_inputs as _pattern
from evenhand.assertions import schema_validation as _schema_keywords
from evenhand.assertions.assertion import check_assertion
from evenhand.errors import InputError
from tests.assertions.builders import checked, facts, one


@pytest.mark.parametrize(
    ("output", "valid", "found"),
    [
        (' {"a": 1}\n', True, "JSON: an object"),
        ("[]", True, "JSON: a list"),
        ("1.50", True, "JSON: a number"),
        ("9" * 5000, True, "JSON: a number"),
        ("1e9999999999999999999999", True, "JSON: a number"),
        ("null", True, "JSON: null"),
        ("true", True, "JSON: a truth value"),
        ('"text"', True, "JSON: a text"),
        ("", False, "not JSON: the output is empty"),
        ("[NaN]", False, "not JSON: NaN is no JSON number"),
        ('{"a": 1', False, "not JSON: Expecting ',' delimiter at line 1, column 8"),
        ("```json\n{}\n```", False, "not JSON: Expecting value at line 1, column 1; it stands in a code fence"),
        ("{} and more", False, "not JSON: Extra data at line 1, column 4"),
    ],
)
def test_json_is_what_the_standard_says(output: str, valid: bool, found: str) -> None:
    """The whole output, and nothing that only Python reads; `json_valid: false` asks for the opposite."""
    result = checked({"json_valid": True}, output)

    assert (result.passed, result.found) == (valid, found)
    assert checked({"json_valid": False}, output).passed is not valid


@pytest.mark.parametrize(
    ("schema", "output", "found"),
    [
        ({"type": "object"}, "{}", None),
        ({"type": "object"}, "[]", "at $: [] is not of type 'object'"),
        ({"type": "object"}, "no", "not JSON: Expecting value at line 1, column 1"),
        ({"items": {"required": ["id"]}}, '[{"id": 1}, {}]', "at $[1]: 'id' is a required property"),
        (
            {"properties": {"a": {"properties": {"b": {"type": "integer"}}}}},
            '{"a": {"b": 1.5}}',
            "at $.a.b: 1.5 is not of type 'integer'",
        ),
        ({"type": "integer"}, "1.0", None),
        ({"type": "integer"}, "9" * 500, None),
        ({"multipleOf": 0.1}, "0.3", None),
        ({"multipleOf": 0.1}, "0.35", "at $: 0.35 is not a multiple of 0.1"),
        ({"uniqueItems": True}, "[1, true, 0, false]", None),
        ({"uniqueItems": True}, "[1, 1.0]", "at $: [1, 1.0] has non-unique elements"),
        ({"uniqueItems": True}, '[{"a": [1]}, {"a": [1]}]', "at $: [{'a': [1]}, {'a': [1]}] has non-unique elements"),
        ({"pattern": "^a+$"}, '"ab"', "at $: 'ab' does not match '^a+$'"),
        ({"propertyNames": {"pattern": "^a"}}, '{"b": 1}', "at $: 'b' does not match '^a'"),
        ({"additionalProperties": False, "patternProperties": {"^x": True}}, '{"xa": 1}', None),
        (
            {"additionalProperties": False, "patternProperties": {"^x": True}},
            '{"y": 1}',
            "at $: unexpected properties: 'y'",
        ),
        ({"patternProperties": {"^x": {"type": "null"}}}, '{"xa": 1}', "at $.xa: 1 is not of type 'null'"),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "null"}}}, "1", "at $: 1 is not of type 'null'"),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, '{"type": 1}', "at $.type: 1 is not valid"),
        ({"format": "date"}, '"tomorrow"', None),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "null"}]},
            "[1]",
            "at $[0]: 1 is not of type 'null'",
        ),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}, "1.0", "at $: 1.0 is not of type"),
        (
            {"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False},
            '{"a": 1, "b": 2}',
            "at $: unexpected properties: 'b'",
        ),
    ],
)
def test_a_schema_accepts_or_says_where_it_does_not(schema: dict[str, object], output: str, found: str | None) -> None:
    """With the JSON path, and numbers as they are written."""
    result = checked({"json_schema": schema}, output)

    assert result.passed is (found is None)
    assert result.found.startswith(found or "JSON that the schema accepts")


KEYS = st.sampled_from(["a", "b", "xa", "xb"])
VALUES = st.recursive(
    st.sampled_from([0, 1, 2, 3.0, True, False, None, "a", "xy"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def _schemas(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    keywords = {
        "type": st.sampled_from(["object", "array", "integer", "string"]),
        "properties": st.dictionaries(KEYS, inner, max_size=2),
        "patternProperties": st.dictionaries(st.sampled_from(["^x", "a$"]), inner, max_size=2),
        "additionalProperties": inner,
        "unevaluatedProperties": inner,
        "propertyNames": st.just({"pattern": "a"}),
        "dependentSchemas": st.dictionaries(KEYS, inner, max_size=1),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "oneOf": st.lists(inner, min_size=1, max_size=2),
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "items": inner,
        "uniqueItems": st.booleans(),
        "multipleOf": st.integers(1, 3),
        "pattern": st.sampled_from(["^x", "a$"]),
        "$ref": st.just("#/$defs/one"),
    }
    return st.fixed_dictionaries({}, optional=keywords)


SCHEMAS = st.recursive(st.booleans(), _schemas, max_leaves=5)


@given(_schemas(SCHEMAS), st.fixed_dictionaries({"one": _schemas(st.booleans())}), VALUES)
def test_bounds_change_no_verdict(
    schema: dict[str, object], definitions: dict[str, dict[str, object]], value: object
) -> None:
    """What the bounded keywords accept is what the library accepts."""
    definitions["one"].pop("$ref", None)
    schema = {**schema, "$defs": definitions}

    result = checked({"json_schema": schema}, json.dumps(value))

    assert result.passed is Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": "(a|a)*$"},
        {"propertyNames": {"pattern": "(a|a)*$"}},
        {"patternProperties": {"(a|a)*$": True}},
        {"patternProperties": {"(a|a)*$": True}, "additionalProperties": False},
        {"patternProperties": {"(a|a)*$": True}, "unevaluatedProperties": False},
        {"allOf": [{"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "(a|a)*$"}]},
    ],
)
def test_no_pattern_in_a_schema_hangs(monkeypatch: pytest.MonkeyPatch, schema: dict[str, object]) -> None:
    """Whichever keyword searches with it, also in a part that names a dialect of its own."""
    monkeypatch.setattr(_pattern, "LONGEST_PATTERN_SEARCH", 0.1)
    hard = "a" * 60 + "!"
    output = (
        hard if "pattern" in json.dumps(schema).replace("patternP", "") and "propertyNames" not in schema else {hard: 1}
    )

    result = checked({"json_schema": schema}, json.dumps(output))

    assert (result.passed, result.why_not) == (None, "the pattern '(a|a)*$' took longer than 0.1 s on this output")


def test_a_schema_that_unfolds_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty definitions, each twice in the next, are a million million checks."""
    links = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**links, "d40": True}}
    assertion = one({"json_schema": schema})  # The schema itself is checked too, with all the time that it needs.
    monkeypatch.setattr(_schema_keywords, "LONGEST_SCHEMA_CHECK", 0.2)

    result = check_assertion(assertion, facts("1"), {})

    assert (result.passed, result.why_not) == (None, "the schema took longer than 0.2 s on this output")


@pytest.mark.parametrize(
    ("schema", "output"),
    [({"$ref": "#"}, "1"), (True, "[" * 100_000), ({"items": {"$ref": "#"}}, "[" * 900 + "]" * 900)],
)
def test_what_is_nested_too_deep_is_not_answered(schema: object, output: str) -> None:
    """No output takes the run down."""
    result = checked({"json_schema": schema if isinstance(schema, dict) else {}}, output)

    assert (result.passed, result.why_not) == (None, "the output is nested too deep to be read")


def test_a_number_beyond_division_is_not_answered() -> None:
    """As a fraction it would fill the memory."""
    result = checked({"json_schema": {"multipleOf": 0.1}}, "1e999999999")

    assert (result.passed, result.why_not) == (None, "a number is too large to be divided by 0.1")


def test_many_different_objects_are_compared_at_once() -> None:
    """Each with each would take minutes."""
    output = json.dumps([{"n": n} for n in range(20_000)] + ["a"])

    assert checked({"json_schema": {"uniqueItems": True}}, output).passed is True


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "objekt"}, "schema is not a JSON Schema: 'objekt' is not valid"),
        ({"items": {"minLength": -1}}, "(at $.items.minLength)"),
        ({"properties": {"a": {"pattern": "("}}}, "schema has the pattern '(', which does not compile"),
        ({"patternProperties": {"[": True}}, "schema has the pattern '[', which does not compile"),
        ({"$ref": "#/$defs/nobody"}, "schema refers to '/$defs/nobody', which is not in it"),
        (
            {"items": {"$ref": "other.json"}},
            "schema refers to 'other.json', which is not in it, and nothing is fetched",
        ),
        ({"$schema": "https://example.org/mine"}, "schema names a dialect, 'https://example.org/mine'"),
        ({"$schema": 7}, "schema names a dialect, '7'"),
        (
            {"$schema": "http://json-schema.org/draft-03/schema#", "extends": {"type": "object"}},
            "schema holds a schema of an old dialect",
        ),
        ([5], "schema must be a JSON Schema, or the path of a file with one"),
        ("nowhere.json", "schema cannot be taken from nowhere.json: cannot be read: no such file or directory"),
    ],
)
def test_a_schema_that_is_none_is_refused(schema: object, why: str) -> None:
    """Before any output is made, with what is wrong."""
    with pytest.raises(InputError) as refused:
        one({"json_schema": schema})

    assert why in str(refused.value)


def test_nothing_is_ever_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reference that only an output leads to is a reason, not a request."""
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("something was fetched"))
    schema = {"$ref": "#/else/where", "else": {"where": {"$ref": "http://127.0.0.1:9/x.json"}}}

    result = checked({"json_schema": schema}, "1")

    assert result.passed is None
    assert "refers to 'http://127.0.0.1:9/x.json', which is not in it, and nothing is fetched" in result.why_not
