"""Personal data is found by form and check digits, in whatever disguise, and is never shown again."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.guards.personal_data import (
    PERSONAL_DATA_RULES,
    find_personal_data,
    mask_personal_data,
    mask_personal_value,
)
from tests.growth import is_within_times


def found_in(text: str) -> list[tuple[str, str]]:
    return [(finding.rule, text[finding.start : finding.end]) for finding in find_personal_data(text)]


@pytest.mark.parametrize(
    ("rule", "value", "text"),
    [
        ("ssn", "219-40-1234", "The applicant wrote 219-40-1234 on the form."),
        ("ssn", "219 40 1234", "Her number (219 40 1234) was on the form."),
        ("ssn", "219401234", "SSN: 219401234"),
        ("ssn", "219401234", "219401234 is my social security number."),
        ("ssn", "219.40.1234", "My social security number, 219.40.1234, is not public."),
        ("ssn", "219‑40‑1234", "written with hyphens that do not break: 219‑40‑1234"),
        ("card", "4111111111111111", "paid with 4111111111111111."),
        ("card", "4111-1111-1111-1111", "paid with 4111-1111-1111-1111, 12/29"),
        ("card", "4111 1111 1111 1111", "4111 1111 1111 1111 123 is all you need"),
        ("card", "3782 822463 10005", "Amex 3782 822463 10005"),
        ("card", "4111.1111.1111.1111", "paid with 4111.1111.1111.1111."),
        ("card", "6304000000000000", "Maestro 6304000000000000"),
        ("card", "8900000000000004", "the card 8900000000000004 of an issuer that no list knows"),
        ("card", "５５０００００００００００００４", "号码是５５０００００００００００００４。"),
        ("card", "5500\u200b0000\u200b0000\u200b0004", "5500\u200b0000\u200b0000\u200b0004"),
        ("card", "٤١١١١١١١١١١١١١١١", "٤١١١١١١١١١١١١١١١"),
        ("iban", "DE89 3704 0044 0532 0130 00", "Bitte auf DE89 3704 0044 0532 0130 00 zahlen"),
        ("iban", "gb82west12345698765432", "iban gb82west12345698765432"),
        ("iban", "NO93-8601-1117-947", "NO93-8601-1117-947, please"),
        ("email", "ana.lopez+news@mail.example.org", "Write to ana.lopez+news@mail.example.org."),
        ("email", "jürgen@müller-bäckerei.de", "(jürgen@müller-bäckerei.de)"),
        ("email", "li@example.cn", "请写信到li@example.cn谢谢"),
        ("email", "李雷@例子.中国", "地址：李雷@例子.中国"),
        ("email", "o'neil@example.ie", "'o'neil@example.ie'"),
        ("email", "ann@example.org", "well...ann@example.org"),
        ("email", "ben@example.com", "mailto:ben@example.com?subject=hi"),
        ("email", "ben＠example．com", "ben＠example．com"),
        ("phone", "+44 20 7946 0958", "London: +44 20 7946 0958"),
        ("phone", "+44 (0)20 7946 0958", "London: +44 (0)20 7946 0958."),
        ("phone", "(212) 555-0100", "Or (212) 555-0100?"),
        ("phone", "(212) 555-0100 x123", "Or (212) 555-0100 x123?"),
        ("phone", "212-555-0100 ext. 77", "at 212-555-0100 ext. 77"),
        ("phone", "212-555-0100", "**Contact:** **212-555-0100**"),
        ("phone", "555.010.0123", "at 555.010.0123, any time"),
        ("phone", "212-555-0100", "On 2024-01-15 212-555-0100 did not answer"),
        ("phone", "0044 20 7946 0958", "0044 20 7946 0958"),
        ("phone", "01 44 92 13 07", "Paris 01 44 92 13 07"),
        ("phone", "030/1234567", "Berlin 030/1234567"),
        ("phone", "555-0142", "Call 555-0142 after six."),
        ("phone", "13800138000", "手机：13800138000"),
        ("phone", "2125550100", "my mobile is 2125550100"),
        ("phone", "22 46 18 90", "22 46 18 90 (office)"),
        ("phone", "219 40 1234", "call 219 40 1234"),
        ("phone", "+44 20 7946 0958", "order from +44 20 7946 0958"),
        ("phone", "98765 43210", "98765 43210 is my mobile"),
        ("phone", "2\u200b12-555-0100", "2\u200b12-555-0100"),
    ],
)  # fmt: skip
def test_what_belongs_to_a_person_is_found(rule: str, value: str, text: str) -> None:
    """In every form that people write it, and no more than it."""
    assert found_in(text) == [(rule, value)]


@pytest.mark.parametrize(
    "text",
    [
        "SSN 000-12-3456, SSN 666-12-3456, SSN 912-12-3456, SSN 219-00-1234, SSN 219-40-0000",
        "219401234 visitors came",
        "1219-40-1234 and 219-40-12345 and 219-40-1234-5 and 7 219 40 1234 8",
        "4111 1111 1111 1112 is not a card",
        "the order 4111111111111111",
        "a hash a4111111111111111f and 0.4111111111111111 and 41111111111111111111",
        "1234567812345670 has the digit but no issuer",
        "a table: 4000 4000 4000 4008 1000 4000 4000 4000 4008 1000 4000 4000 4000",
        "GB82 WEST 1234 5698 7654 33 and GB82 WEST 1234 5698 7654 3",
        "XX82WEST12345698765432 and GB82WEST123456987654321",
        "part number 219-40-1234",
        "see a212-555-0100 and 212-555-0100b and https://example.org/?q=212-555-0100",
        "a call to 2125 5501 people",
        "@anna, user@host, a@b, @app.route, name@1.2.3, package@1.0.beta, icon@2x.png",
        "git@example.org:team/project.git and https://ann:secret@example.org/path",
        "a@b@c @@@ me@-x.com .@x.com",
        "2024-01-15, 15.01.2024, 01/15/2024, 2024-01-15 10:30:00, 1999-2004, call on 2024-01-15, call 1999-2004",
        "call 192.168.100.200 or version 10.12.2021 or v1.22.333.4444",
        "$1,234,567.89 or 1 000 000 or 12 345 678 euros, call it $5550100",
        "ISBN 978-3-16-148410-0, ISBN 0-306-40615-2, order number 212-555-0100, ticket #555-010-0123",
        "550e8400-e29b-41d4-a716-446655440000 and d41d8cd98f00b204e9800998ecf8427e",
        "40.712776, -74.005974 or 40.712776 74.005974",
        "the numbers drawn were 01 07 15 23 42",
        "https://example.org/items/212-555-0100/view",
        "x = (123) + 456 - 7890; y = +1000000; z[123][456] = 7890123456",
        "+20 000 000 people; 2125550100 bytes; 13800138000",
        "call it 479 001 600 000; the answer is 479001600; calls foo(2125550100); mobile users: 1 000 000 000",
        "the function ORD-212-555-0100 and the file notes/212-555-0100",
        "Smith, J. (2003) 123-145; pp. 1012-1024",
        "",
    ],
)  # fmt: skip
def test_other_numbers_are_left_alone(text: str) -> None:
    """Dates, versions, prices, orders, hashes and code are full of digits that belong to nobody."""
    assert found_in(text) == []


def test_findings_come_in_order_and_do_not_overlap() -> None:
    """Whatever the rule that found them."""
    text = "Call +1 212 555 0100, pay 4111111111111111 or GB82WEST12345698765432, ask ann@example.org, SSN 219401234."

    findings = find_personal_data(text)

    assert [finding.rule for finding in findings] == ["phone", "card", "iban", "email", "ssn"]
    assert all(one.end <= other.start for one, other in pairwise(findings))
    assert all(
        finding.guard == "personal" and finding.says == PERSONAL_DATA_RULES[finding.rule] for finding in findings
    )


@pytest.mark.parametrize(
    ("rule", "value", "shown"),
    [
        ("ssn", "219-40-1234", "[••••34]"),
        ("card", "4111 1111 1111 1234", "[••••1234]"),
        ("card", "４１１１１１１１１１１１１２３４", "[••••1234]"),
        ("iban", "gb82 WEST 1234 5698 7654 32", "[GB••••]"),
        ("email", "ann@example.org", "[•••@•••.org]"),
        ("phone", "+44 20 7946 0958", "[••••58]"),
        ("phone", "58", "[••••]"),
        ("email", "ann", "[•••]"),
    ],
)
def test_a_mask_is_enough_to_recognise_and_too_little_to_tell(rule: str, value: str, shown: str) -> None:
    """A finding is printed, stored and sent: it must not spread what it found."""
    assert mask_personal_value(rule, value) == shown


def test_numbers_side_by_side_are_all_found() -> None:
    """A list is where most of them leak at once."""
    text = "4111 1111 1111 1111 5500 0000 0000 0004, 4111111111111111,5500000000000004; 212-555-0100/212-555-0101"

    assert [rule for rule, _ in found_in(text)] == ["card"] * 4 + ["phone"] * 2


def test_a_masked_text_keeps_everything_else() -> None:
    """Word for word, around the masks."""
    text = "Ann (ann@example.org) paid 20 euros with 4111 1111 1111 1111 on 2024-01-15."

    assert mask_personal_data(text) == "Ann ([•••@•••.org]) paid 20 euros with [••••1111] on 2024-01-15."


def test_what_a_mask_lays_bare_is_masked_too() -> None:
    """With the number gone, what looked like a path on another machine is an address."""
    assert mask_personal_data("ann@example.org:4111111111111111/") == "[•••@•••.org]:[••••1111]/"


PIECES = st.sampled_from(
    ["4111111111111111", "212-555-0100", "219-40-1234", "219401234", "SSN ", "call ", "ann@example.org", "@b.co",
     "GB82WEST12345698765432", "+44 20 7946 0958", "555-0142", " ", "-", ".", "/", ":", "1", "12", "(", ")", "x",
     "\u200b", "１", "://", "中"]
)  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join), st.text("0123456789 -.()+@aGB", max_size=60))


@given(TEXTS)
def test_nothing_is_left_in_a_masked_text(text: str) -> None:
    """A mask must not turn what stood beside it into something new."""
    assert find_personal_data(mask_personal_data(text)) == ()


@given(TEXTS)
def test_places_are_those_of_the_text(text: str) -> None:
    """In order, apart, and cut so that the value alone is found again."""
    findings = find_personal_data(text)

    ends = [0, *(finding.end for finding in findings)]
    assert all(end <= finding.start < finding.end for end, finding in zip(ends, findings, strict=False))
    assert all(
        finding.text == mask_personal_value(finding.rule, text[finding.start : finding.end]) for finding in findings
    )


def luhn(digits: str) -> int:
    return sum(sum(divmod(int(digit) * (1 + at % 2), 10)) for at, digit in enumerate(reversed(digits))) % 10


PREFIXES = {
    "4": 16,
    "51": 16,
    "2221": 16,
    "2720": 16,
    "34": 15,
    "37": 15,
    "36": 14,
    "6011": 16,
    "3528": 16,
    "62": 19,
    "67": 12,
}


@st.composite
def cards(draw: st.DrawFn) -> str:
    first = draw(st.sampled_from(sorted(PREFIXES)))
    length = PREFIXES[first] - len(first) - 1
    body = first + draw(st.text("0123456789", min_size=length, max_size=length))
    return body + str(-luhn(body + "0") % 10)


@st.composite
def ibans(draw: st.DrawFn) -> str:
    country, length = draw(st.sampled_from([("DE", 22), ("GB", 22), ("NO", 15), ("FR", 27), ("MT", 31), ("LC", 32)]))
    body = draw(st.text("0123456789ABCXYZ", min_size=length - 4, max_size=length - 4))
    number = int("".join(str(int(character, 36)) for character in body + country + "00"))
    return f"{country}{98 - number % 97:02}{body}"


def grouped(data: st.DataObject, value: str) -> str:
    """The value with the same separator before any of its characters but the first."""
    separator = data.draw(st.sampled_from([" ", "-", "\u00a0", "\u200b", "–"]))
    cuts = data.draw(st.sets(st.integers(1, len(value) - 1)))
    return "".join(separator * (at in cuts) + character for at, character in enumerate(value))


@given(st.data(), cards())
def test_a_card_is_found_in_any_grouping(data: st.DataObject, card: str) -> None:
    """People and forms cut it as they like."""
    value = grouped(data, card)

    assert found_in(f"It is {value}, I think.") == [("card", value)]


@given(cards(), st.integers(0, 11), st.integers(1, 9))
def test_a_card_with_one_digit_changed_is_none(card: str, at: int, by: int) -> None:
    """The check digit is there for that."""
    wrong = card[:at] + str((int(card[at]) + by) % 10) + card[at + 1 :]

    assert "card" not in dict(found_in(f"It is {wrong}, I think."))


@given(st.data(), ibans())
def test_an_account_is_found_in_any_grouping(data: st.DataObject, iban: str) -> None:
    """With its country in front, and its check digits right."""
    first, rest = iban[:4], iban[4:]
    value = first + grouped(data, " " + rest if data.draw(st.booleans()) else rest)

    assert found_in(f"It is {value}, I think.") == [("iban", value)]


@given(st.data(), ibans())
def test_an_account_with_one_digit_changed_is_none(data: st.DataObject, iban: str) -> None:
    """The check digits notice every change of one digit."""
    at = data.draw(st.sampled_from([at for at, character in enumerate(iban) if character.isdigit()]))
    wrong = iban[:at] + str((int(iban[at]) + data.draw(st.integers(1, 9))) % 10) + iban[at + 1 :]

    assert "iban" not in dict(found_in(f"It is {wrong}, I think."))


@pytest.mark.parametrize(
    "unit",
    ["1", "@", "a@", "1 ", "1-", "4111 ", "GB82 ", "212-555-0100,", "219-40-1234 ", "+44", "(1", "1\u200b", "://a@b.",
     "a" * 63 + "@", "1" + " " * 400, "call 12345678 "],
)  # fmt: skip
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    """A text of a megabyte that is made to be slow must not be."""
    short, long = unit * (8_000 // len(unit)), unit * (32_000 // len(unit))

    assert is_within_times(find_personal_data, short, long, times=8, slack=0.005, readings=5)
