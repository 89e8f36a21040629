"""Checks of form: measured yes, measured no, and not a matter of form at all."""

import pytest

from evenhand.judging.embedded.decisions import judge_criterion_claim
from evenhand.judging.embedded.forms import judge_form_claim, parse_fenced_json_of_claim
from evenhand.judging.embedded.texts import JudgedText, detect_judged_language

BULLETS = "Bring these:\n- a coat\n- a hat\n- a map"
CODE = "Do this:\n\n```python\nprint(1)\n```"
STEPS = "1. Open it.\n2. Fill it.\n3. Close it."
TABLE = "| name | age |\n|---|---|\n| Ann | 30 |\n| Bob | 40 |"


@pytest.mark.parametrize(
    ("asks", "met", "unmet"),
    [
        ("Includes code examples", CODE, BULLETS),
        ("Is there a code example?", CODE, BULLETS),
        ("Contains no code", BULLETS, CODE),
        ("The reply is free of code", BULLETS, CODE),
        ("Includes code in Python", CODE, CODE.replace("python", "js")),
        ("The answer has at most five words.", "Come at nine, please.", "Come to us at nine, please."),
        ("It is under 5 words long.", "Come at nine.", "Come at nine, please, all."),
        ("It has more than two sentences.", "Yes. Do. Maybe.", "Yes. Do."),
        ("Contains exactly two sentences.", "Yes. Do.", "Yes. Do. Maybe."),
        ("Is it between two and four sentences?", "Yes. Do. Yes.", "Yes."),
        ("Three paragraphs or fewer", "One.\n\nTwo.", "One.\n\nTwo.\n\nThree.\n\nFour."),
        ("Two lines or more", "One\nTwo", "One"),
        ("No more than 10 characters", "Ten or so.", "More than ten."),
        ("Gives exactly three bullet points.", BULLETS, "- one\n- two"),
        ("A list of three items", BULLETS, "- one\n- two"),
        ("Has at least three numbered steps.", STEPS, "1. Open it.\n2. Close it."),
        ("Uses at least one heading.", "# Plan\nWe go.", "We go."),
        ("The table has two columns.", TABLE, "| a | b | c |\n| 1 | 2 | 3 |"),
        ("The table has two rows.", TABLE, "| name |\n|---|\n| Ann |"),
        ("It contains only one question.", "Shall we go?", "Shall we? Now?"),
        ("It has at most one exclamation mark.", "Go!", "Go! Now!"),
        ("Includes at least two links", "https://a.example www.b.example", "See [here](b.html)."),
        ("There is a code block.", "```\nx = 1\n```", "x = 1"),
        ("No emojis", "Well done.", "Well done 🎉"),
        ("The output has two keys.", '{"a": 1, "b": 2}', '{"a": 1}'),
        ('Begins with "Dear"', "Dear Ann, come.", "Hello Ann, come."),
        ("Ends with the words 'Kind regards'", "See you.\n\nKind regards.", "See you."),
        ("The reply ends with a question.", "Good. Shall we go?", "Shall we go? Good."),
        ("Opens with a quotation", "“Go,” he said.", "He said: go."),
        ("It begins with a heading.", "# Plan\nWe go.", "We go.\n# Plan"),
        ("It does not begin with a question.", "We go. Now?", "Now? We go."),
        ("Written in French", "Le chat est dans la maison et il dort.", "The cat is in the house and it sleeps."),
        ("The answer is in Chinese.", "我们周五开门，欢迎光临。", "We are open on Fridays, and you are welcome."),
        ("The output is valid JSON.", '```json\n{"a": [1, null]}\n```', '{"a": 1,}'),
        ("It parses as JSON.", "null", "None"),
        ("Uses the word 'gentle'", "A Gentle slope.", "A steep slope."),
        ("Uses the word 'gentle' or 'easy'", "An easy slope.", "A steep slope."),
        ("Uses the words 'gentle' and 'slope'", "A gentle slope.", "A gentle climb."),
        ("Uses the word 'don't'", "Please don't.", "Please do."),
        ("The phrase “as such” is absent", "It is so.", "It is, as such, so."),
        ("It has no placeholders.", "Dear Ann,", "Dear [Name],"),
        ("Includes a table", TABLE, "name, age"),
        ("Includes a bullet list", BULLETS, "a coat, a hat"),
        ("Uses a numbered list", STEPS, "Open it, then close it."),
        ("Contains bold text", "A **red** hat", "A red hat"),
        ("Gives an e-mail address", "Write to ann@shop.example.", "Write to us."),
        ("Gives a phone number", "Call +49 30 1234567.", "Call us."),
        ("Contains a date", "We open on 3 May.", "We open soon."),
        ("Contains no digits", "We open at nine.", "We open at 9."),
        ("Includes a direct quotation", "He said “come over”.", "He said to come."),
        ("Has a subject line", "Subject: Hello\n\nDear Ann", "The subject: hello"),
        ("Contains a question mark", "Now?", "Now."),
    ],
)  # fmt: skip
def test_forms_are_measured(asks: str, met: str, unmet: str) -> None:
    """Once where it holds, once where it does not, and always with what was measured."""
    yes, no = judge_form_claim(asks, JudgedText(met)), judge_form_claim(asks, JudgedText(unmet))

    assert yes is not None and yes.holds and yes.reason
    assert no is not None and not no.holds and no.reason


@pytest.mark.parametrize(
    "asks",
    [
        "Does it say that the shop opens at nine?",
        "Gives three reasons",  # They may stand in one sentence.
        "Gives three reasons why bread is dear",
        "Every paragraph has at most two sentences.",
        "Every section has a heading.",
        "Mentions two rows of vines",
        "Ends with a thank-you",
        "The table compares the ages of Ann and Bob.",
        "The poem is written in English hexameters.",
        "The JSON has the fields name and age.",
    ],
)
def test_what_is_more_than_form_is_not_measured(asks: str) -> None:
    """A form of something inside the output, or with something to be said in it."""
    assert judge_form_claim(asks, JudgedText(f"{TABLE}\n{BULLETS}\nThe shop opens at nine.")) is None


def test_what_is_not_there_cannot_be_the_right_one() -> None:
    """A list of tools has to be a list; whether a list is one of tools, rules do not know."""
    asks = "Gives the tools as a bullet list"

    assert judge_form_claim(asks, JudgedText("a hammer and a saw")) is not None
    assert judge_form_claim(asks, JudgedText(BULLETS)) is None


@pytest.mark.parametrize(
    ("asks", "text", "reason"),
    [
        ("It has at most three words.", "We go now, Ann.", "it has 4 words"),
        ("It has at least two sentences.", "Yes.", "it has 1 sentence"),
        ("Contains bold text", "red", "it has no bold text"),
        ("No emojis", "red", "it has no emoji"),
        ("Ends with a question", "Now\nthen?", "it ends with “Now then?”"),
        ("Written in French", "The cat is in the house.", "it reads as English"),
    ],
)
def test_the_reason_is_what_was_measured(asks: str, text: str, reason: str) -> None:
    """So that a reader can check it."""
    found = judge_form_claim(asks, JudgedText(text))

    assert found is not None and found.reason == reason


def test_form_that_cannot_be_measured_is_still_form() -> None:
    """Then words are not weighed for it."""
    decision = judge_criterion_claim("Every paragraph has a heading.", JudgedText("Every paragraph has a heading."))

    assert (decision.holds, decision.reason) == (None, "it asks for a form that rules cannot measure here")


def test_json_may_be_null_or_anything() -> None:
    """What is not JSON is told from JSON that means nothing."""
    assert parse_fenced_json_of_claim("null") == (None,)
    assert parse_fenced_json_of_claim("```\n[1]\n```") == ([1],)
    assert parse_fenced_json_of_claim("[" * 100_000) is None
    assert parse_fenced_json_of_claim("nil") is None


def test_a_text_without_common_words_has_no_language() -> None:
    """Nothing is guessed."""
    assert detect_judged_language("Zyx wvut srq pon mlkj") is None
    assert detect_judged_language("") is None


def test_what_has_a_form_is_quoted() -> None:
    """The line that shows it, not the first of the text."""
    assert judge_criterion_claim("Includes code examples", JudgedText(CODE)).quote == "print(1)"
    assert judge_criterion_claim("Contains a bullet list", JudgedText(BULLETS)).quote == "- a coat"


def test_the_sentence_with_the_word_is_quoted() -> None:
    """Not the first sentence, which has nothing to do with it; a word that is not there has none."""
    text = JudgedText("Thank you for waiting. We are sorry about the delay.")

    said = judge_criterion_claim("Contains the word 'sorry' or 'regret'", text)
    denied = judge_criterion_claim("Does not contain the word 'sorry'", text)
    absent = judge_criterion_claim("Contains the word 'regret'", text)

    assert (said.quote, denied.quote) == ("We are sorry about the delay.",) * 2
    assert (said.holds, denied.holds, absent.holds, absent.quote) == (True, False, False, "")


def test_a_name_in_backticks_may_be_the_code_that_is_meant() -> None:
    """Or it may not: that is left open."""
    assert judge_criterion_claim("Includes code examples", JudgedText("Call `print(1)` then.")).holds is None
