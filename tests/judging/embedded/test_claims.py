"""Claims: a criterion is taken apart into what must be found and what must not."""

import time

import pytest

from evenhand.judging.embedded.claims import extract_claim, find_denied_claim_stems
from evenhand.judging.embedded.lexicon import find_embedded_words


def raw(asks: str) -> list[str]:
    return [word.raw for word in extract_claim(asks).words]


@pytest.mark.parametrize(
    ("asks", "words"),
    [
        ("Does the reply say that the refund arrives late?", ["refund", "arrives", "late"]),
        ("The summary mentions the bridge and its age.", ["bridge", "age"]),
        ("Must the answer clearly state that parking is free?", ["parking", "free"]),
        ("Tells the customer that the lamp was sold.", ["lamp", "sold"]),
        ("The lamp was sold.", ["lamp", "sold"]),
        ("Mentions bridges", ["bridges"]),
    ],
)
def test_what_comes_before_the_matter_is_left_out(asks: str, words: list[str]) -> None:
    """An output about a refund does not say that it says so."""
    assert raw(asks) == words


@pytest.mark.parametrize(
    "asks",
    [
        "The reply does not mention the lawsuit.",
        "Doesn't promise a date",
        "It never openly recommends a brand.",
        "Avoids naming the patient.",
        "Answers without blaming the driver",
        "The letter contains no threats.",
        "No prices are given.",
        "Refrains from guessing the cause",
        "Leaves out the names of minors.",
        "Is the text free of slang?",
    ],
)
def test_a_criterion_may_ask_for_absence(asks: str) -> None:
    """It is met where the rest is not found, and the rest denies nothing."""
    claim = extract_claim(asks)

    assert claim.is_inverted
    assert not claim.denied
    assert claim.is_statement


@pytest.mark.parametrize(
    ("asks", "words"),
    [
        ("Does it say that dogs are not allowed?", {"dog", "allow"}),
        ("Does it say that dogs are allowed?", set()),
        ("Warns against swimming there", {"swim"}),
        ("Does it say that no more than six people fit in?", set()),
        ("Does it say that Canberra, not Sydney, is the capital?", {"sydnei"}),
        ("Says that nobody was hurt while the paint factory burned", {"hurt"}),
        ("Says that it isn't true that nobody came", {"tru", "nobodi"}),  # That they came is denied twice.
    ],
)
def test_a_criterion_may_ask_for_a_denial(asks: str, words: set[str]) -> None:
    """Then the output has to deny the same words too."""
    claim = extract_claim(asks)

    assert not claim.is_inverted
    assert {word.stem for word in claim.words if word.stem in claim.denied} == words


def test_several_things_are_several_parts() -> None:
    """Each has to be found, wherever it stands."""
    claim = extract_claim("Does it name the price, the colour and the maker?")

    assert claim.parts == (frozenset({"pric"}), frozenset({"colour"}), frozenset({"maker"}))
    assert extract_claim("Does it name the price?").parts == ()


def test_of_alternatives_one_is_enough() -> None:
    """Each by its own words, without what comes before all of them."""
    claim = extract_claim("The message never asks for a password, a card number or a code.")

    assert [[word.raw for word in part] for part in claim.alternatives] == [["password"], ["card", "number"], ["code"]]
    assert extract_claim("The message asks for a password.").alternatives == ()


def test_values_quotations_and_names_are_kept_apart() -> None:
    """The words of a value are no words to be looked for beside it."""
    claim = extract_claim('Does it say that Maria paid 30 euros for "Blue Moon" on Friday?')

    assert [value.raw for value in claim.values] == ["30 euros", "Friday"]
    assert claim.quoted == ("Blue Moon",)
    assert claim.names == frozenset({"maria", "blu", "moon"})
    assert "euros" not in raw('Does it say that Maria paid 30 euros for "Blue Moon" on Friday?')


@pytest.mark.parametrize(
    ("asks", "wanted"),
    [
        ("Does it say how much the ticket costs?", {"money"}),
        ("Does it say how many guests came?", {"count"}),
        ("Does it say when the shop opens?", {"time"}),
        ("Does it say who wrote the play?", {"name"}),
        ("Does it explain why the train was late?", {"reason"}),
        ("Does it say that the shop opens?", set()),
    ],
)
def test_what_is_asked_for_without_being_said(asks: str, wanted: set[str]) -> None:
    """A question for a price is met by any amount of money."""
    assert extract_claim(asks).wanted == wanted


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("The shop is not open.", {"the", "shop", "be", "open"}),
        ("It isn’t open.", {"it", "open"}),
        ("Nobody came, and the shop is open.", {"com"}),
        ("They refused to pay.", {"to", "pai"}),
        ("It costs no more than 5 euros.", set()),
        ("We send it at no extra cost.", set()),
        ("It is not only open but warm.", set()),
        ("It is open.", set()),
        ("我们不开门", {"我", "们", "开", "门"}),
    ],
)
def test_what_a_text_denies(text: str, stems: set[str]) -> None:
    """The words around a denial in its clause; what only looks like a denial is none."""
    assert find_denied_claim_stems(text, find_embedded_words(text)) == stems


def test_what_is_denied_twice_is_not_denied() -> None:
    """And what is said once without a denial is not denied either."""
    twice, once = "It is not without charm.", "It is not red, it is red."

    assert "charm" not in find_denied_claim_stems(twice, find_embedded_words(twice))
    assert "red" not in find_denied_claim_stems(once, find_embedded_words(once))


@pytest.mark.parametrize(
    "asks",
    [
        "Lists " + ", ".join(["red  apples"] * 200) + " and nothing else",
        "Lists " + ", ".join(["red  apples"] * 40) + " or to",
        "a" * 20_000,
        "'" * 5_000,
        "It says " + "a, " * 500 + "or " * 100,
    ],
)
def test_no_criterion_takes_long(asks: str) -> None:
    """These once took longer with every comma and every letter than one could wait for."""
    began = time.process_time()

    extract_claim(asks)

    assert time.process_time() - began < 5  # The worst took years; now it is a few hundredths of a second.
