"""Short criteria as people write them: what they name is looked for, general words are left alone."""

import pytest

from evenhand.judging.embedded.claims import extract_claim
from evenhand.judging.embedded.decisions import judge_criterion_claim
from evenhand.judging.embedded.texts import JudgedText

LETTER = """Dear Ms Lind,

I am sorry that your kettle arrived broken. Please send us a photo of it. The new one weighs 900 g and leaves on Monday.
Do not plug in the old one. The lid is no longer sold.

Kind regards,
Tom"""
NOTE = "The harbour opens in May. Ferries leave from pier four."


def holds(asks: str, text: str) -> bool | None:
    return judge_criterion_claim(asks, JudgedText(text)).holds


@pytest.mark.parametrize(
    "asks",
    [
        "Mentions parking",
        "Recommends taking a taxi",
        "Tells the visitor to buy an umbrella",
        "Cites a study",
        "Warns about pickpockets",
        "Includes a screenshot",
    ],
)
def test_a_thing_of_which_no_word_occurs_is_a_no(asks: str) -> None:
    """Also as a gerund or after "to"."""
    assert holds(asks, NOTE) is False


@pytest.mark.parametrize(
    "asks", ["Explains the motivation", "Uses an analogy", "Names the country", "Lists the available options"]
)
def test_a_general_word_that_does_not_occur_shows_nothing(asks: str) -> None:
    """What it stands for may be there under any other word."""
    assert holds(asks, NOTE) is None


@pytest.mark.parametrize(
    ("asks", "letter", "note"),
    [
        ("Apologises", True, False),
        ("Greets the customer by name", True, False),
        ("Ends with a sign-off", True, False),
        ("Asks the reader a question", False, False),
        ("Is written in the first person", True, False),
        ("Gives a phone number for questions", False, False),
    ],
)
def test_what_a_letter_does_is_seen_by_its_marks(asks: str, letter: bool, note: bool) -> None:
    """Greetings, thanks, apologies, questions, and the person it is written in."""
    assert (holds(asks, LETTER), holds(asks, NOTE)) == (letter, note)


def test_a_measure_that_no_sentence_gives_is_a_no() -> None:
    """A price without money, a weight without a mass; what a fee covers is no measure."""
    assert holds("Mentions the price", LETTER) is False
    assert holds("States the oven temperature", LETTER) is False
    assert holds("States the weight of the kettle", LETTER) is not False
    assert holds("States what the fee covers", NOTE) is None


@pytest.mark.parametrize(
    "asks",
    [
        "Recommends plugging in the old one",  # It is forbidden.
        "Says that the lid is sold",  # No longer.
        "Praises the kettle",
        "Names the shop",
    ],
)
def test_words_that_are_there_are_not_always_a_yes(asks: str) -> None:
    """Where something is forbidden, no longer so, or a matter of stance."""
    assert holds(asks, LETTER) is not True


def test_what_is_asked_for_must_be_asked() -> None:
    """An order number that is given is not asked for."""
    assert holds("Asks for the order number", "Your order number is 88213.") is not True
    assert holds("Asks for a photo", LETTER) is True


@pytest.mark.parametrize(
    "asks",
    [
        "Shows respect for the customer",
        "Uses a friendly tone throughout",
        "Explains it clearly enough for a child",
        "Tells the story in a gripping way",
    ],
)
def test_how_something_is_said_is_left_alone(asks: str) -> None:
    """That the word for it does not occur is no sign."""
    assert holds(asks, LETTER) is None


@pytest.mark.parametrize(
    ("asks", "way"),
    [
        ("Says when the shop opens", "open"),
        ("Recommends a lid", "advice"),
        ("Mentions the lid", "mention"),
        ("Says that the lid is red", "statement"),
        ("Lists the options", "general"),
        ("The lid is red.", "plain"),
    ],
)
def test_a_criterion_has_a_way(asks: str, way: str) -> None:
    """Each has weights of its own."""
    assert extract_claim(asks).way == way


def test_one_clause_says_it_or_none_does() -> None:
    """ "More" said of one thing is not said of the other."""
    text = "Brown rice has more fibre because the bran is left on; white rice is easier to digest."

    assert holds("States that white rice has more fibre", text) is not True
    assert holds("States that brown rice has more fibre", text) is True


def test_a_patient_is_somebody() -> None:
    """Not a quality, where it is a noun."""
    assert "patient" not in judge_criterion_claim("Says that the patient smokes", JudgedText(NOTE)).reason
