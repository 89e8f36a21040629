"""Values: what means the same is the same however it is written, and what differs in kind is not compared."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.judging.embedded.texts import EmbeddedTextValue, find_values_of_claim


def only(text: str) -> EmbeddedTextValue:
    (value,) = find_values_of_claim(text)
    return value


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("five percent", "5%"),
        ("2 hours", "120 minutes"),
        ("twenty-one days", "three weeks"),
        ("three months", "12 weeks"),  # Near enough: people say one and mean the other.
        ("half an hour", "30 min"),
        ("a dozen", "12"),
        ("1.5 kg", "1,500 g"),
        ("1,5 kg", "1500 grams"),
        ("€20", "20 euros"),
        ("$3 million", "3,000,000 dollars"),
        ("$2m", "2 million dollars"),
        ("£40", "40 pounds"),
        ("5 working days", "five days"),
        ("3 May 2024", "2024-05-03"),
        ("May 3, 2024", "3rd of May 2024"),
        ("3/5/2024", "3 May 2024"),
        ("3 May", "2024-05-03"),  # A date without its year is the same as one with it.
        ("3:30 pm", "15:30"),
        ("12 am", "0:00"),
        ("12 pm", "12:00"),
        ("Fridays", "friday"),
        ("v2.3.1", "2.3.1"),
        ("the 3rd", "third"),
        ("3-1", "3–1"),
        ("40", "40%"),  # A bare number is the same as one with a unit.
        ("100 cm", "1 metre"),
        ("2 GB", "2000 megabytes"),
        ("5 mınutes", "300 ſeconds"),
    ],
)
def test_these_mean_the_same(first: str, second: str) -> None:
    """Either way round."""
    assert only(first).means_same(only(second))
    assert only(second).means_same(only(first))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("5%", "6%"),
        ("5%", "5 euros"),
        ("2 hours", "3 hours"),
        ("€20", "$20"),
        ("3 May", "4 May"),
        ("3 May 2024", "3 May 2025"),
        ("3 pm", "3:00"),
        ("2.3.1", "2.3.2"),
        ("Monday", "Tuesday"),
        ("3-1", "1-3"),
        ("1,500 g", "1.5 g"),
    ],
)
def test_these_do_not(first: str, second: str) -> None:
    """One digit, one unit, one day."""
    assert not only(first).means_same(only(second))


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("5%", "60%", True),
        ("2 hours", "3 days", True),
        ("3 May", "2024-12-01", True),
        ("1990", "2014", True),  # Two years.
        ("6 apples", "7 apples", True),
        ("6 apples", "7 pears", False),
        ("6", "7", False),
        ("5%", "5 kg", False),
        ("€20", "£20", False),
    ],
)
def test_what_could_stand_in_its_place(first: str, second: str, alike: bool) -> None:
    """Only such a value contradicts another."""
    assert only(first).is_comparable(only(second)) is alike


@pytest.mark.parametrize("text", ["one of them", "half a", "you may go", "we march on", "no number"])
def test_these_are_no_values(text: str) -> None:
    """ "One" is a pronoun, "may" and "march" are verbs."""
    assert find_values_of_claim(text) == []


def test_values_come_in_order_with_what_they_count() -> None:
    """The word after a bare number is what it counts."""
    values = find_values_of_claim("On 4 July, 3 guests paid 12 euros.")

    assert [(value.kind, value.raw, value.noun) for value in values] == [
        ("date", "4 July", ""),
        ("", "3", "guest"),
        ("eur", "12 euros", ""),
    ]


@pytest.mark.parametrize("text", ["7" * 6000, "7" * 6000 + "th", "1.2." + "7" * 6000, "0." + "7" * 6000 + " kg"])
def test_endless_digits_are_no_value(text: str) -> None:
    """Python refuses to read a number of more than 4,300 digits."""
    assert find_values_of_claim(text) == []


@given(st.integers(0, 99), st.sampled_from(["minutes", "kg", "euros", "percent", "miles"]))
def test_a_value_is_the_same_as_itself(number: int, unit: str) -> None:
    """In digits, with a space or a hyphen."""
    first, second = only(f"{number} {unit}"), only(f"{number}-{unit}")

    assert first.means_same(second) and first.is_comparable(second)
    assert isinstance(first.amount, Fraction)


@given(st.text(alphabet=st.sampled_from("0123456789.,/-: apmthkg€$%May")))
def test_values_stand_where_they_say(text: str) -> None:
    """No two of them share a character."""
    values = find_values_of_claim(text)

    assert all(text[one.start : one.end].strip() == one.raw for one in values)
    assert all(first.end <= second.start for first, second in pairwise(values))
