"""Scales: a level only where anchors, a reference or the material can be checked; else an abstention."""

from fractions import Fraction

import pytest

from evenhand.judging.embedded.replies import LEAST_DECIDED, ScalePlacement, judge_scale_level
from evenhand.judging.embedded.texts import JudgedText
from evenhand.model.scale import Anchor, Criterion, Scale

FIVE = Scale(min=Fraction(1), max=Fraction(5), integers=True)
STATEMENTS = [
    "The hall closes on 3 May.",
    "The tickets cost 12 euros.",
    "The choir sings 14 songs.",
    "The parking garage holds 200 cars.",
]
REFERENCE = " ".join(STATEMENTS)


def level(
    asks: str, output: str, *, reference: str = "", context: str = "", anchors: tuple[Anchor, ...] = ()
) -> ScalePlacement:
    criterion = Criterion(id="level", asks=asks, scale=FIVE, anchors=anchors)
    return judge_scale_level(
        criterion, JudgedText(output), *(JudgedText(given) if given else None for given in (reference, context))
    )


def anchor(at: int, text: str) -> Anchor:
    return Anchor(min=Fraction(at), max=Fraction(at), text=text)


NUMBERED = (
    anchor(5, "It has at least three sentences."),
    anchor(3, "It has exactly two sentences."),
    anchor(1, "It has exactly one sentence."),
)


@pytest.mark.parametrize(("output", "value"), [("Go. Run. Walk.", 5), ("Go. Run.", 3), ("Go.", 1)])
def test_the_highest_anchor_that_holds_is_the_level(output: str, value: int) -> None:
    """Anchors that name what can be checked are criteria of their own."""
    placed = level("How long is it?", output, anchors=NUMBERED)

    assert placed.value == value
    assert "holds" in placed.reason
    assert placed.quote in output


def test_where_no_anchor_holds_there_is_no_level() -> None:
    """The lowest is not guessed."""
    placed = level("How long is it?", "Go. Run.", anchors=(NUMBERED[0], NUMBERED[2]))

    assert (placed.value, placed.reason) == (None, "none of its anchors holds")


def test_an_anchor_that_cannot_be_told_ends_the_search() -> None:
    """A lower one may hold as well, and would be too low."""
    unclear = anchor(5, "Napoleon is judged fairly and with 3 reasons.")

    placed = level("How long is it?", "Go.", anchors=(unclear, NUMBERED[2]))

    assert placed.value is None
    assert placed.reason.startswith("anchor “Napoleon is judged")


def test_an_anchor_that_names_nothing_ends_the_search() -> None:
    """Where the ones above it do not hold, nothing below can be told."""
    placed = level("How long is it?", "Go.", anchors=(NUMBERED[0], anchor(1, "All else.")))

    assert (placed.value, placed.reason) == (None, "anchor “All else.”: it names nothing that could be looked for")


def test_the_whole_gets_no_level_and_is_told_what_was_seen() -> None:
    """A judgment of all at once is not made of the share of a reference."""
    placed = level("How good is it overall?", REFERENCE, reference=REFERENCE)

    assert placed.value is None
    assert placed.reason.endswith("4 of 4 statements of the reference are in it")


def test_anchors_of_quality_are_not_guessed() -> None:
    """Neither is a criterion that no reference speaks to."""
    placed = level("Is it well written?", "Go.", anchors=(anchor(5, "Very well."), anchor(1, "Badly.")))

    assert placed.value is None
    assert placed.reason.startswith("it does not guess a level")


@pytest.mark.parametrize(
    ("output", "value", "told"),
    [
        (REFERENCE, 5, "4 of 4 statements of the reference are in it"),
        (" ".join(STATEMENTS[:2]), 3, "2 of 4 statements of the reference are in it; not found: “The choir"),
    ],
)
def test_completeness_is_the_share_of_the_reference(output: str, value: int, told: str) -> None:
    """All of it is the top of the scale, half of it the middle."""
    placed = level("Is it complete?", output, reference=REFERENCE)

    assert placed.value == value
    assert placed.reason.startswith(told)
    assert placed.quote in output


def test_accuracy_is_the_share_of_what_is_taken_up() -> None:
    """To say otherwise counts against it, to leave out does not; and who takes nothing up is not accurate."""
    asks = "Are the facts correct?"

    wrong = level(asks, REFERENCE.replace("12 euros", "15 euros"), reference=REFERENCE)
    right = level(asks, REFERENCE, reference=REFERENCE)
    besides = level(asks, "Bananas are yellow. Cats are soft.", reference=REFERENCE)

    assert wrong.value == 4
    assert "3 of 4 statements of the reference that it takes up are right; one is not: it says 15 euros" in wrong.reason
    assert right.value == 5
    assert right.reason == "4 of 4 statements of the reference that it takes up are right"
    assert besides.value is None


def test_faithfulness_is_the_share_of_the_output_in_the_material() -> None:
    """The sentences counted are the output's own, and so is the one quoted."""
    material = REFERENCE.replace("The hall", "The old hall")

    placed = level("Is it faithful to the sources?", REFERENCE, context=material)

    assert placed.value == 5
    assert placed.reason == "4 of 4 sentences of the output are in the material given"
    assert placed.quote == STATEMENTS[0]


def test_without_a_reference_there_is_nothing_to_check_against() -> None:
    """The reason says what is lacking."""
    placed = level("Is it complete?", REFERENCE)

    assert (placed.value, placed.reason) == (None, "it needs a reference to check against, and none was given")


def test_few_statements_are_too_few() -> None:
    """Three of three is no share to speak of."""
    placed = level("Is it complete?", REFERENCE, reference=" ".join(STATEMENTS[: LEAST_DECIDED - 1]))

    assert placed.value is None
    assert placed.reason.startswith("0 of 3 statements could not be decided")


def test_a_scale_without_whole_numbers_gets_tenths() -> None:
    """Three quarters of the way from 0 to 1, to one decimal."""
    criterion = Criterion(id="x", asks="Is it complete?", scale=Scale(min=Fraction(0), max=Fraction(1)))

    placed = judge_scale_level(criterion, JudgedText(" ".join(STATEMENTS[:3])), JudgedText(REFERENCE), None)

    assert placed.value == Fraction(8, 10)
