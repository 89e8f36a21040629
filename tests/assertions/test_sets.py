"""Sets, `not`, weights and layers: three values, exact shares."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.assertions.assertion import (
    Assertion,
    AssertionSet,
    CheckedAssertion,
    assertion_to_definition,
    check_assertion,
    checked_assertion_to_json,
    list_outside_assertions,
    weigh_passed_assertions,
)
from evenhand.assertions.rule_inputs import AssertionMeasurement
from evenhand.errors import InputError
from evenhand.model.scale import Missing, Scored
from tests.assertions.builders import checked, facts, one

PART = {True: {"contains": "a"}, False: {"contains": "z"}, None: {"equals": {}}}
OUTCOMES = st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=5)


@given(OUTCOMES, st.booleans())
def test_any_and_all_over_three_values(outcomes: list[bool | None], negated: bool) -> None:
    """One that passes decides any, one that fails decides all; what is open stays open unless decided, also negated."""
    parts = [PART[outcome] for outcome in outcomes]

    any_ = checked({"assert_set": {"any": parts}, "not": negated}, "a").passed
    all_ = checked({"assert_set": {"all": parts}, "not": negated}, "a").passed

    expected_any = True if True in outcomes else None if None in outcomes else False
    expected_all = False if False in outcomes else None if None in outcomes else True
    assert any_ == (expected_any if expected_any is None else expected_any != negated)
    assert all_ == (expected_all if expected_all is None else expected_all != negated)


def test_a_set_shows_its_parts() -> None:
    """What decided it can be read, however deep it lies."""
    result = checked({"assert_set": {"any": [PART[False], {"assert_set": {"all": [PART[True], PART[None]]}}]}}, "a")

    assert str(result) == (
        "not answered: any of 2\n"
        "  looked for: any of: contains 'z'; all of 2\n"
        "  found: 0 of 2 passed\n"
        "  why not: all of 2 (equals (the sample has no reference))\n"
        "  failed: contains 'z'\n"
        "    looked for: the output contains 'z'\n"
        "    found: not there\n"
        "  not answered: all of 2\n"
        "    looked for: all of: contains 'a'; equals\n"
        "    found: 1 of 2 passed\n"
        "    why not: equals (the sample has no reference)\n"
        "    passed: contains 'a'\n"
        "      looked for: the output contains 'a'\n"
        "      found: 'a' at line 1, column 1\n"
        "    not answered: equals\n"
        "      looked for: the output is the sample's reference\n"
        "      why not: the sample has no reference"
    )
    assert [part["passed"] for part in _parts(result)] == [False, None]


def test_the_place_of_a_set_is_that_of_the_part_that_decided() -> None:
    """So that a report can show it in the output."""
    result = checked({"assert_set": {"any": [PART[False], {"contains": "b"}]}}, "ab")

    assert (result.start, result.end) == (1, 2)


@given(st.lists(st.tuples(st.fractions(min_value="1/9", max_value=9), st.booleans()), min_size=1, max_size=6))
def test_a_layer_is_passed_weight_over_total_weight(weighed: list[tuple[Fraction, bool]]) -> None:
    """Exactly."""
    results = [_result(weight, passed) for weight, passed in weighed]

    scores = weigh_passed_assertions(results)

    total = sum(weight for weight, _ in weighed)
    assert scores == {"fact": Scored(sum((w for w, passed in weighed if passed), Fraction(0)) / total)}


def test_a_layer_with_an_open_assertion_has_no_score() -> None:
    """Configured and failed: missing is not zero. The other layer stands; a layer without assertions is absent."""
    results = [checked(data, "a") for data in (PART[True], PART[None], {"min_length": 1}, {"max_length": 0})]

    assert weigh_passed_assertions(results) == {
        "fact": Missing("failed", "not answered: equals (the sample has no reference)"),
        "behavior": Scored(Fraction(1, 2)),
    }
    assert weigh_passed_assertions([]) == {}


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Assertion(kind="contians"), "unknown assertion 'contians' (did you mean 'contains'?)"),
        (lambda: Assertion(kind="contains"), "contains needs text: the text to look for"),
        (lambda: Assertion(kind="contains", arguments=(("txt", "a"),)), "txt: unknown field 'txt'"),
        (lambda: Assertion(kind="contains", arguments=(("text", 5),)), "text: text must be text, got 5"),
        (lambda: Assertion(kind="cost_max", arguments=(("max", -1),)), "max: max cannot be below 0, got -1"),
        (lambda: _contains(weight=Fraction(0)), "weight: weight must be above 0, got 0"),
        (lambda: AssertionSet(passes="any", parts=()), "any: a set needs at least one assertion"),
        (lambda: AssertionSet(passes="all", parts=(_contains(weight=Fraction(2)),)), "a weight inside a set counts"),
        (lambda: AssertionSet(passes="all", parts=(_contains(), _short())), "a set mixes layers"),
    ],
)
def test_nonsense_is_refused_at_birth(make: object, why: str) -> None:
    """Then nothing downstream checks again."""
    with pytest.raises(InputError) as refused:
        make()  # type: ignore[operator]

    assert why in str(refused.value)


def test_equal_checks_are_one() -> None:
    """Defaults that are written out change nothing; hashes agree."""
    short, long = one({"contains": "a"}), one({"contains": {"text": "a", "ignore_case": False}, "weight": 1})

    assert short == long
    assert len({short, long}) == 1


def test_a_definition_says_all_that_counts() -> None:
    """A name changes nothing; a weight, an argument or `not` does."""
    named, plain = one({"contains": "a", "name": "the letter"}), one({"contains": "a"})
    others = [{"contains": "b"}, {"contains": "a", "weight": 2}, {"contains": "a", "not": True}, {"not_contains": "a"}]

    assert assertion_to_definition(named) == assertion_to_definition(plain)
    assert all(assertion_to_definition(one(other)) != assertion_to_definition(plain) for other in others)
    assert assertion_to_definition(one({"assert_set": {"any": [{"bleu_min": 0.8}], "weight": "1/3"}})) == {
        "any": [{"kind": "bleu_min", "arguments": {"min": "4/5"}, "weight": "1", "not": False}],
        "weight": "1/3",
        "not": False,
    }


def test_what_needs_somebody_else_is_listed_once() -> None:
    """In order, out of sets too."""
    similar = {"semantic_similarity": 0.8}
    read = [one(data) for data in (similar, {"contains": "a"}, {"assert_set": {"any": [{"faithfulness": 1}, similar]}})]

    assert [leaf.kind for leaf in list_outside_assertions(read)] == ["semantic_similarity", "faithfulness"]


@pytest.mark.parametrize(
    ("measured", "passed", "found", "why"),
    [
        (AssertionMeasurement(value=Fraction(4, 5)), True, "0.8000", ""),
        (
            AssertionMeasurement(value=Fraction(79, 100), found="2 claims not borne out"),
            False,
            "0.7900; 2 claims not borne out",
            "",
        ),
        (AssertionMeasurement(why="no model"), None, "", "no model"),
        (AssertionMeasurement(passed=True), None, "", "it came without a value"),
        (None, None, "", "nobody measured it"),
    ],
)
def test_what_was_measured_outside_is_held_against_the_least(
    measured: AssertionMeasurement | None, passed: bool | None, found: str, why: str
) -> None:
    """Exactly; and what nobody measured is not answered."""
    leaf = one({"faithfulness": 0.8})
    assert isinstance(leaf, Assertion)

    result = check_assertion(leaf, facts("x", context="c"), {leaf: measured} if measured else {})

    assert (result.passed, result.found, result.why_not) == (passed, found, why)


@pytest.mark.parametrize(
    ("data", "lacks"),
    [
        ({"faithfulness": 1}, "context"),
        ({"answer_relevancy": 1}, "input"),
        ({"context_recall": 1}, "context"),
        ({"semantic_similarity": 1}, "reference"),
    ],
)
def test_what_a_sample_lacks_is_said_first(data: dict[str, object], lacks: str) -> None:
    """Whatever was measured."""
    leaf = one(data)
    assert isinstance(leaf, Assertion)

    result = check_assertion(leaf, facts("x"), {leaf: AssertionMeasurement(value=Fraction(1))})

    assert (result.passed, result.why_not) == (None, f"the sample has no {lacks}")


def test_a_text_of_its_own_stands_for_the_reference() -> None:
    """What the assertion brings with it the sample need not have."""
    leaf = one({"semantic_similarity": 0.5, "to": "text"})
    assert isinstance(leaf, Assertion)

    assert check_assertion(leaf, facts("x"), {leaf: AssertionMeasurement(value=Fraction(1, 2))}).passed is True


def test_many_open_assertions_are_counted() -> None:
    """Three are named."""
    results = [checked({"equals": {}, "name": name}, "a") for name in "abcde"]

    why = weigh_passed_assertions(results)["fact"]

    lacks = "(the sample has no reference)"
    assert why == Missing("failed", f"not answered: a {lacks}; b {lacks}; c {lacks} and 2 more")


def test_a_measurement_without_anything_is_refused() -> None:
    """Somebody must say why."""
    with pytest.raises(InputError, match="says why"):
        AssertionMeasurement()


def _parts(result: CheckedAssertion) -> list[dict[str, object]]:
    parts = checked_assertion_to_json(result)["parts"]
    assert isinstance(parts, list)
    return parts


def _result(weight: Fraction, passed: bool) -> CheckedAssertion:
    return CheckedAssertion(name="x", kind="contains", layer="fact", weight=weight, passed=passed, looked_for="x")


def _contains(weight: Fraction = Fraction(1)) -> Assertion:
    return Assertion(kind="contains", arguments=(("text", "a"),), weight=weight)


def _short() -> Assertion:
    return Assertion(kind="max_length", arguments=(("max", 5),))
