"""Rules on the words of an output."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenhand.assertions.output_rules import find_asserted_text
from tests.assertions.builders import checked, facts

OUTPUT = "\n  Dear Ms Groß,\nyour refund is on its way.\n"


@pytest.mark.parametrize(
    ("assertion", "passed", "found", "quoted"),
    [
        ({"contains": "refund"}, True, "'refund' at line 3, column 6", "refund"),
        ({"contains": "Refund"}, False, "not there; in other case 'refund' at line 3, column 6", None),
        ({"contains": "GROSS", "ignore_case": True}, True, "'Groß' at line 2, column 11", "Groß"),
        ({"contains": "money"}, False, "not there", None),
        ({"not_contains": "refund"}, False, "'refund' at line 3, column 6", "refund"),
        ({"not_contains": "money"}, True, "not there", None),
        ({"contains_all": ["refund", "Dear"]}, True, "all 2", "refund"),
        ({"contains_all": ["refund", "money", "cash"]}, False, "1 of 3; not there: 'money', 'cash'", None),
        ({"contains_any": ["money", "way"]}, True, "'way' at line 3, column 23", "way"),
        ({"contains_any": "money"}, False, "none of them", None),
        ({"starts_with": "Dear Ms"}, True, "'Dear Ms'", "Dear Ms"),
        ({"starts_with": "DEAR", "ignore_case": True}, True, "'Dear'", "Dear"),
        ({"starts_with": "your refund"}, False, "'Dear Ms Gro'", "Dear Ms Gro"),
        ({"ends_with": "its way."}, True, "'its way.'", "its way."),
        ({"ends_with": "ITS WAY.", "ignore_case": True}, True, "'its way.'", "its way."),
        ({"ends_with": "goodbye"}, False, "'ts way.'", "ts way."),
    ],
)
def test_a_finding_says_what_and_where(
    assertion: dict[str, object], passed: bool, found: str, quoted: str | None
) -> None:
    """Whoever reads a failure need not look for the place."""
    result = checked(assertion, OUTPUT)

    assert (result.passed, result.found) == (passed, found)
    assert (None if result.start is None else OUTPUT[result.start : result.end]) == quoted


def test_an_empty_output_is_said_to_be_empty() -> None:
    """Not that something in it was not found."""
    results = [checked({kind: "x"}, " ") for kind in ("contains", "starts_with", "ends_with")]

    assert [(one.passed, one.found) for one in results] == [(False, "the output is empty")] * 3


@pytest.mark.parametrize(
    ("output", "to", "passed", "found"),
    [
        ("Paris", "Paris", True, "the same"),
        (" Paris\n", "Paris ", True, "the same"),
        ("paris", "Paris", False, "'paris' stands where 'Paris' should, at line 1, column 1"),
        ("\nParis, France", "Paris", False, "', France' stands where the end should, at line 2, column 6"),
        ("Par", "Paris", False, "the output ends where 'is' should, at line 1, column 4"),
        ("", "", True, "the same"),
    ],
)
def test_equal_is_equal_but_for_white_space_at_the_ends(output: str, to: str, passed: bool, found: str) -> None:
    """A model that ends with a line break has still given the answer; not_equals is the other way round."""
    result = checked({"equals": to}, output)
    opposite = checked({"not_equals": to}, output)

    assert (result.passed, result.found) == (passed, found)
    assert opposite.passed is not passed


def test_a_difference_has_its_place() -> None:
    """From where the texts part to the end, white space before it counted."""
    result = checked({"equals": "Paris"}, "\n Parma \n")

    assert (result.start, result.end) == (5, 7)


def test_without_a_text_the_reference_is_meant() -> None:
    """One assertion for all samples, each with its own answer."""
    result = checked({"equals": {"ignore_case": True}}, facts("STRASSE", reference="Straße"))

    assert result.passed is True
    assert result.looked_for == "the output is the sample's reference, in any case"


@given(st.text(), st.text(min_size=1), st.text())
def test_what_is_there_is_found_in_any_case(before: str, text: str, after: str) -> None:
    """Folding may lengthen a text; the place is that of the text as it stands."""
    output = before + text.swapcase() + after

    span = find_asserted_text(output, text.swapcase().casefold(), ignore_case=True)

    assert span is not None
    assert text.swapcase().casefold() in output[span[0] : span[1]].casefold()


@given(st.text(alphabet="aAßẞsSİiﬁf"), st.text(alphabet="aAßẞsSİiﬁf", min_size=1))
@example("ßA", "SA")
@example("Aß", "AS")
def test_starts_and_ends_agree_with_folding(output: str, text: str) -> None:
    """The definition, written the short way."""
    starts = checked({"starts_with": text, "ignore_case": True}, output)
    ends = checked({"ends_with": text, "ignore_case": True}, output)

    assert starts.passed == output.casefold().startswith(text.casefold())
    assert ends.passed == output.casefold().endswith(text.casefold())


def test_nothing_in_a_finding_is_obeyed() -> None:
    """A terminal escape or a mark that turns the text round is shown, not sent."""
    result = checked({"not_contains": "\x1b[31m\u202e"}, "a\x1b[31m\u202eb")

    assert result.found == r"'\x1b[31m\u202e' at line 1, column 2"
    assert all(line.isprintable() for line in str(result).splitlines())
