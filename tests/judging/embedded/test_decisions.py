"""Decisions: yes and no where the words show it, with the sentence that does; an abstention where they do not."""

import pytest

from evenhand.judging.embedded import texts
from evenhand.judging.embedded.claims import extract_claim
from evenhand.judging.embedded.decisions import (
    EmbeddedDecision,
    EmbeddedFeatureWeights,
    judge_criterion_claim,
    judge_statement_claim,
)
from evenhand.judging.embedded.features import ClaimFeatures, measure_claim_features
from evenhand.judging.embedded.texts import JudgedText

REPLY = (
    "Thanks for writing. The museum opens at nine on Mondays. Dogs are not allowed inside.\n"
    "Tickets cost 12 euros, and children enter without paying. We cannot reimburse parking."
)
OPENS = "The museum opens at nine on Mondays."
DOGS = "Dogs are not allowed inside."
TICKETS = "Tickets cost 12 euros, and children enter without paying."
PARKING = "We cannot reimburse parking."


def decided(asks: str, text: str = REPLY, reference: str = "") -> EmbeddedDecision:
    return judge_criterion_claim(asks, JudgedText(text), JudgedText(reference) if reference else None)


@pytest.mark.parametrize(
    ("asks", "holds", "quote"),
    [
        ("Does the reply say that the museum opens at nine on Mondays?", True, OPENS),
        ("Does the reply say that dogs are not allowed inside?", True, DOGS),
        ("Does the reply say that tickets cost 12 euros?", True, TICKETS),
        ("Does the reply say that a ticket's price is 12 euros?", True, TICKETS),  # In other words.
        ("Does it say that parking is not refunded?", True, PARKING),
        ("Does the reply say that dogs are allowed inside?", False, DOGS),
        ("Does the reply say that tickets cost 15 euros?", False, TICKETS),
        ("Does the reply say that tickets cost 12 euros and that tours take 90 minutes?", False, None),
        ("Does the reply explain that Napoleon lost 30,000 horses in Russia?", False, None),
    ],
)  # fmt: skip
def test_what_the_words_show_is_decided(asks: str, holds: bool, quote: str | None) -> None:
    """With the sentence it rests on."""
    decision = decided(asks)

    assert decision.holds is holds
    assert quote is None or decision.quote == quote
    assert decision.quote in REPLY


@pytest.mark.parametrize(
    ("asks", "reason"),
    [
        ("Is the tone friendly?", "rules cannot weigh"),
        ("Every paragraph has a heading of its own.", "a form that rules cannot measure"),
        ("Is it so?", "it names nothing that could be looked for"),
        ("Does the opening hour agree with the reference?", "no reference was given"),
    ],
)
def test_what_the_words_do_not_show_is_left_open(asks: str, reason: str) -> None:
    """An abstention, and why."""
    decision = decided(asks)

    assert decision.holds is None
    assert reason in decision.reason


@pytest.mark.parametrize(
    ("asks", "told"),
    [
        ("Does the reply say that tickets cost 12 euros?", "the passage says it"),
        ("Does the reply say that tickets cost 15 euros?", "it says 12 euros, where 15 euros is asked for"),
        ("Does the reply say that dogs are allowed inside?", "the passage denies it"),
        ("Does the reply say that tickets cost 12 euros and that tours take 90 minutes?", "not found: "),
    ],
)
def test_the_reason_says_what_weighed_most(asks: str, told: str) -> None:
    """And how sure it is."""
    reason = decided(asks).reason

    assert reason.startswith(told)
    assert "(chance of yes " in reason


def test_none_of_several_alternatives_is_plain_to_see() -> None:
    """Without a word of any of them nothing needs weighing; with one it does."""
    asks = "The reply never asks for a password, a card number or a code."

    absent = decided(asks)
    present = decided(asks, "Please send us your password and your card number.")

    assert absent.holds is True
    assert absent.reason == "none of these occurs in it: password, card number, code"
    assert present.holds is not True


def test_absence_is_asked_for_and_found_wanting() -> None:
    """What should not be said is said."""
    asks = "The reply does not say that the sofa costs 300 euros."

    decision = decided(asks, "It is quiet. The sofa costs 300 euros.")

    assert decision.holds is False
    assert decision.quote == "The sofa costs 300 euros."


def test_a_reference_takes_the_place_of_the_criterion() -> None:
    """What it says on the matter is looked for in the output."""
    asks = "Does the price of the ticket agree with the reference?"
    reference = "Coffee is sold. The ticket for adults costs 9 euros. Dogs stay outside."

    same = decided(asks, "The ticket for adults costs 9 euros.", reference)
    other = decided(asks, "The ticket for adults costs 12 euros.", reference)
    silent = decided(asks, "The ticket for adults costs 9 euros.", "Coffee is sold.")

    assert (same.holds, other.holds, silent.holds) == (True, False, None)
    assert silent.reason == "the reference does not clearly speak of it"


@pytest.mark.parametrize(
    ("text", "holds"),
    [("Open Orders and choose  REPORT a problem.", True), ("Open Orders and report the problem.", False)],
)
def test_words_in_quotation_marks_are_these_very_words(text: str, holds: bool) -> None:
    """Whoever quotes wants no paraphrase."""
    decision = decided('Does it name the page "Report a problem"?', text)

    assert decision.holds is holds


def test_what_is_not_about_saying_needs_every_word() -> None:
    """ "Is the deposit 300 euros" is met by these words; that they are missing shows nothing."""
    asks = "Is the deposit 300 euros?"

    there = decided(asks, "The deposit is 300 euros.")
    missing = decided(asks, "Coffee is sold on the first floor.")

    assert there.holds is True
    assert missing.holds is None


@pytest.mark.parametrize(
    ("asks", "against"),
    [
        ("Does it say that the lift is in use?", 1.0),
        ("Does it explain why the lift is in use?", 0.0),  # A denial may be the very answer.
    ],
)
def test_a_denial_speaks_against_what_is_claimed_only(asks: str, against: float) -> None:
    """An open question claims nothing that could be denied."""
    assert seen(asks, "The lift is not in use.").features["against"] == against


def test_the_band_is_how_sure_it_must_be() -> None:
    """Weights with a wide band abstain, weights without one never do."""
    asks, text = "Does it say that tickets cost 15 euros?", JudgedText(REPLY)

    def weigh(band: float) -> EmbeddedFeatureWeights:
        return EmbeddedFeatureWeights(features={"bias": -0.2}, band=band, short_yes_band=band, short_no_band=band)

    wide = judge_criterion_claim(asks, text, weights=weigh(0.1))
    none = judge_criterion_claim(asks, text, weights=weigh(0.0))

    assert (wide.holds, wide.reason) == (None, "too close to call")
    assert none.holds is False


def test_a_statement_that_is_contradicted_is_marked() -> None:
    """To say otherwise is more than to leave out."""
    text = JudgedText(REPLY)

    assert judge_statement_claim("Tickets cost 15 euros.", text).against
    assert not judge_statement_claim("Tickets cost 12 euros.", text).against


def seen(asks: str, text: str) -> ClaimFeatures:
    found = measure_claim_features(extract_claim(asks), JudgedText(text))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("The fee was refunded.", ()),
        ("The charge was reimbursed.", ()),  # Of like meaning.
        ("The feedback was refunded.", ("fee",)),  # Too short to be the beginning of another word.
        ("It rained.", ("fee", "refunded")),
    ],
)
def test_words_are_found_as_they_are_or_as_their_kin(text: str, missing: tuple[str, ...]) -> None:
    """What is missing is named in the reason."""
    assert seen("Does it say that the fee was refunded?", text).missing == missing


@pytest.mark.parametrize(
    ("text", "conflicts"),
    [
        ("It opens at 9:00 and closes at 17:00.", ()),
        ("It opens at 9:00.", ()),  # What the claim names elsewhere does not stand in the place of 17:00.
        ("It opens at 9:00 and closes at 18:00.", (("17:00", "18:00"),)),
        ("It opens early. It closes at 18:00 on all days.", (("9:00", "18:00"), ("17:00", "18:00"))),
    ],
)
def test_a_conflict_is_another_value_in_the_same_place(text: str, conflicts: tuple[tuple[str, str], ...]) -> None:
    """Never one that the claim itself names."""
    assert seen("Does it say that it opens at 9:00 and closes at 17:00?", text).conflicts == conflicts


def test_what_every_sentence_has_says_little() -> None:
    """A word in all three sentences counts a third of one in a single sentence."""
    text = JudgedText("Bread is dear. Bread is good. Bread is old.")

    assert text.weigh_claim_stem("bread") == pytest.approx(0.35)
    assert text.weigh_claim_stem("dear") == text.weigh_claim_stem("elsewhere") == 1.0


def test_sentences_beyond_the_limit_are_not_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not found may stand where nobody looked, and the reason says so."""
    monkeypatch.setattr(texts, "MOST_SENTENCES", 2)
    text = JudgedText(REPLY)

    found = judge_criterion_claim("Does the reply say that the museum opens at nine on Mondays?", text)
    beyond = judge_criterion_claim("Does the reply say that the museum opens at nine on Fridays?", text)
    neither = judge_criterion_claim("The reply never asks for a password or a code.", text)

    assert found.holds is True
    assert (beyond.holds, neither.holds) == (None, None)
    assert neither.reason.startswith("only the first 2 of 5 sentences were looked at; there, none of these occurs")


@pytest.mark.parametrize("text", ["", " \n", "…", "12345"])
def test_a_text_without_words_is_no_reason_to_fail(text: str) -> None:
    """Nothing is found in it, or nothing can be told."""
    decision = judge_criterion_claim("Does the reply say that the museum opens at nine?", JudgedText(text))

    assert decision.holds is not True


@pytest.mark.parametrize(
    ("asks", "text", "holds"),
    [
        ("Does it name a price of at most 100 dollars?", "The price is 80 dollars.", True),
        ("Does it name a price of at most 100 dollars?", "The price is 130 dollars.", False),
        ("Does it say that more than 50 people came?", "80 people came.", True),
        ("Does it name at least 3 cities?", "Paris, Rome and Oslo.", None),
        ("Does it say that the refund takes five to seven days?", "The refund takes 5-7 days.", True),
        ("Does it ask for the order number?", "Could you send me your order number?", True),
        ("Does it recommend butter, oil, toothpaste or ice?", "Then lay an ice cube on the blister.", None),
        ("Does it say that nobody was hurt in the fire?", "Nobody was hurt in the fire.", True),
        ("Is the answer not in German?", "Das ist die Antwort und sie ist nicht lang.", False),
        ("The output is not valid JSON.", '{"a": 1}', False),
        ("It should not be longer than 5 words.", "one two three four five six", False),
        ("Is it at most 1,000 words long?", "Only a few words.", True),
        ("Does it contain the date 5 May 2021?", "It was on 6 June 2022.", False),
        ("Does it contain the word 'art'?", "We started early.", False),
        ("Does it begin with 'No'?", "Notice this.", False),
    ],
)
def test_limits_ranges_and_denied_forms_mean_what_they_say(asks: str, text: str, holds: bool | None) -> None:
    """Each was answered the wrong way round once."""
    assert decided(asks, text).holds is holds


def test_an_output_in_another_language_is_not_compared() -> None:
    """Its words cannot be those of the criterion, which shows nothing."""
    german = "Die Erstattung dauert fünf Tage. Sie erhalten das Geld auf das Konto, von dem die Zahlung kam."

    decision = decided("Does it say that the refund takes five days?", german)

    assert decision.holds is None
    assert "German" in decision.reason


def test_a_very_long_criterion_takes_no_longer() -> None:
    """A rubric file may hold anything."""
    decision = decided("Does it say " + "Jan 5 not no ' 05:30 " * 5000, "It was on 5 January.")

    assert decision.holds in (True, False, None)


@pytest.mark.parametrize(
    "asks", ["States time complexity correctly", "States the correct time complexity", "Is the complexity accurate?"]
)
def test_whether_something_is_correct_takes_a_reference(asks: str) -> None:
    """Without one nobody can tell; with one its own sentence decides."""
    reference = "Merge sort is a divide-and-conquer algorithm. Its time complexity is O(n log n)."
    wrong, right = "Its time complexity is O(n^3).", "Its time complexity is O(n log n)."

    assert decided(asks, wrong).holds is None
    assert "without a reference" in decided(asks, right).reason
    assert decided(asks, wrong, reference).holds is False
    assert decided(asks, right, reference).holds is True


def test_what_is_stated_in_full_can_be_found_correct_or_not() -> None:
    """Then the criterion itself says what is correct."""
    assert decided("Correctly says that the museum opens at nine", "The museum opens at nine.").holds is True
