"""A quotation that is cut inside personal data shows none of it."""

import re

import pytest

from evenhand.guards.personal_data import build_personal_text_mask
from evenhand.wording import quote_text, shorten_text_to_line

VALUES = {
    "email": "jane.q.canary@leakedname.org",
    "long email": "a.very.long.name.of.somebody.else@department.of.a.university.example.org",
    "card": "5500005555555559",
    "spaced card": "5500 0055 5555 5559",
    "iban": "GB82WEST12345698765432",
    "spaced iban": "GB82 WEST 1234 5698 7654 32",
    "ssn": "536-90-4399",
    "card with unseen letters": "5500\u200b0055\u200b5555\u200b5559",
}
MASK = re.compile(r"\[[^\]\[]*•[^\]\[]*\]")


def list_rests(value: str, shown: str) -> list[str]:
    """What can be read of a value, three characters or more, beside masks."""
    left = MASK.sub("|", shown)
    pieces = {value[at : at + 3] for at in range(len(value) - 2)}
    return [piece for piece in pieces if " " not in piece and piece in left]


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_nothing_of_a_value_is_left_at_a_cut(value: str) -> None:
    """Wherever the quotation begins and ends, and in every form in which texts are cut."""
    left = {}
    for pad in range(62):
        text = f"{'w' * pad} {value} zz zzz zz"
        hide = build_personal_text_mask([text])
        for first in range(0, len(text) - 10, 3):
            for quoted in (quote_text(text[first:], 30), quote_text(text[first:]), quote_text(text[first : pad + 9])):
                left[quoted] = list_rests(value, hide(f"{quoted} stands where 'zz' should"))
            left[text] = list_rests(value, hide(shorten_text_to_line(text, 40)))

    assert {quoted: rests for quoted, rests in left.items() if rests} == {}


def test_other_words_at_a_cut_stay_as_they_are() -> None:
    """Also beside apostrophes, and where a word begins or ends like a value."""
    hide = build_personal_text_mask(["Write to anna@mail.example.org or leo@example.com"])

    text = "It isn't 'an apple', Ann's or 'plain…' and \"organ\" {\"complete\": 1} 'galileo'"
    assert hide(text) == text


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("joe@gmail.com", "bob.smith@gmail.com"),
        ("support@example-company.com", "ann.miller@example-company.com"),
        ("536-22-1234", "536-22-9876"),
        ("+1 415 555 2671", "+1 415 555 2698"),
        ("4111 1111 1111 1111", "4111 1111 1111 1145"),
        ("joe@gmail.com", "billyjoe@gmail.com"),
    ],
)
def test_a_value_that_shares_a_part_with_a_known_one_is_masked_whole(known: str, said: str) -> None:
    """Only the part that both have was masked, and the name or the last digits of the other stayed."""
    hide = build_personal_text_mask([f"Write to {known} soon."])

    masked = hide(f"It should name {said} here.")

    assert masked == build_personal_text_mask([])(f"It should name {said} here.")
