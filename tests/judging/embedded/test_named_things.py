"""What a criterion names is looked up: a term, a value, a quotation, an identifier; an example demands nothing."""

import pytest
from benchmarks.embedded import Bench, read_pairs

from evenhand.judging.embedded.decisions import judge_criterion_claim
from evenhand.judging.embedded.named_things import split_claim_examples
from evenhand.judging.embedded.texts import JudgedText, contains_claim_words, find_values_of_claim

SORTING = (
    "Merge sort is a divide-and-conquer algorithm: it halves the list and merges the halves. It runs in O(n log n)."
)


def holds(asks: str, output: str) -> bool | None:
    return judge_criterion_claim(asks, JudgedText(output)).holds


def test_plain_criteria_are_answered_and_never_wrongly() -> None:
    """Nearly nine of ten are answered; on the rest it abstains."""
    pairs = read_pairs("plain")

    given = Bench(pairs).answers()

    answers = [{True: "yes", False: "no", None: "cannot"}[one] for one in given]
    wrong = [pair.asks for pair, one in zip(pairs, answers, strict=True) if one not in (pair.answer, "cannot")]
    right = sum(pair.answer == one for pair, one in zip(pairs, answers, strict=True))
    assert wrong == []
    assert right >= 0.88 * len(pairs) >= 80


@pytest.mark.parametrize(
    "asks",
    [
        "Mentions the divide-and-conquer approach",
        "Mentions divide and conquer",
        "States that the time complexity is O(n log n)",
        "States that the time complexity is O(n*log(n))",
        "Says that it runs in linearithmic time",
        "Uses the term “Divide and Conquer”",
    ],
)
def test_a_named_term_or_value_that_stands_in_the_text_is_a_yes(asks: str) -> None:
    """However it is spelled."""
    assert holds(asks, SORTING) is True


def test_another_value_in_its_place_is_a_no() -> None:
    """With the sentence that has the other."""
    decision = judge_criterion_claim("States that the time complexity is O(n^2)", JudgedText(SORTING))

    assert decision.holds is False
    assert decision.quote == "It runs in O(n log n)."


@pytest.mark.parametrize(
    "spelled", ["O(n log n)", "O(N log N)", "O(n*log(n))", "O(n·log n)", "O(n lg n)", "Θ(n log₂ n)"]
)
def test_one_growth_has_many_spellings(spelled: str) -> None:
    """They are one value."""
    (value,), (other,) = find_values_of_claim(f"It takes {spelled} here."), find_values_of_claim("O(n log n)")

    assert value.kind == "order"
    assert value.means_same(other)


@pytest.mark.parametrize("spelled", ["O(n²)", "O(n^2)", "O(n**2)", "O(n*n)", "quadratic time"])
def test_quadratic_growth_too(spelled: str) -> None:
    """In digits, superscripts and words."""
    assert find_values_of_claim(spelled)[0].means_same(find_values_of_claim("O(n^2)")[0])


@pytest.mark.parametrize(
    ("asks", "without", "examples"),
    [
        ("Names a page to open, such as 'Billing > Details'", "Names a page to open", ("'Billing > Details'",)),
        ("Gives a limit (e.g. 14 days) and says why.", "Gives a limit and says why.", ("14 days",)),
        ("Names a city, for instance Rome, and says why", "Names a city, and says why", ("Rome",)),
        ("Names a tool like `jq` or `yq`, and a date", "Names a tool, and a date", ("`jq` or `yq`",)),
        ("Says that guests would like tea", "Says that guests would like tea", ()),
        ("Says that it looks like Rome", "Says that it looks like Rome", ()),
    ],
)
def test_examples_are_taken_out_of_a_criterion(asks: str, without: str, examples: tuple[str, ...]) -> None:
    """What comes after them stays."""
    assert split_claim_examples(asks) == (without, examples)


def test_an_example_is_not_a_demand() -> None:
    """Another one of its kind will do, and where rules cannot tell that, they do not say no."""
    path = "a page to open, such as 'Billing > Details'"

    assert holds(f"Names {path}", "Open Orders > Returns and print the label.") is True
    assert holds("Names a metal, such as 'iron'", "Copper conducts well.") is None
    assert holds("Names a metal, such as 'iron'", "Iron rusts.") is True


def test_what_is_absent_is_not_quoted() -> None:
    """No sentence shows that something is nowhere."""
    text = JudgedText("Open Orders and print the label. It is free.")

    for asks in ("Names the page “Billing”", "Names the endpoint /auth/login", "Contains a table"):
        decision = judge_criterion_claim(asks, text)
        assert (decision.holds, decision.quote) == (False, ""), asks


@pytest.mark.parametrize(
    ("asks", "output"),
    [
        ("Mentions gate B2", "Your flight leaves from gate B22."),
        ("Mentions vitamin C", "Vitamin D deficiency is common."),
        ("Says that the desk holds up to 80 kg", "The desk holds up to 50 kg. The box weighs 20 kg."),
        (
            "Says that the bank raised its key rate to 4.5 percent",
            "The bank left its key rate unchanged on Thursday. Economists had expected an increase to 4.5 percent.",
        ),
        ("Says that gift cards are offered", "We do not offer gift cards."),
    ],
)
def test_what_only_looks_alike_is_no_yes(asks: str, output: str) -> None:
    """A longer code, another letter, a number that merely keeps the limit, a denial."""
    assert holds(asks, output) is not True


def test_hyphens_and_spaces_between_words_are_one() -> None:
    """But two words are not one without a hyphen: "no table" is not "notable"."""
    assert contains_claim_words("We fine-tuned it.", "finetuned")
    assert contains_claim_words("The carry on bag.", "carry-on bag")
    assert contains_claim_words("Flight LH 1234 is late.", "LH1234")
    assert contains_claim_words("We fine-tuned it.", "finetuning", inflected=True)
    assert not contains_claim_words("A notable case.", "no table")


SEARCHING = "Binary search halves a sorted array. Its time complexity is O(log n).\n\n```python\nfind(items, 3)\n```\n"
RETRIES = "Retry a 503 after a short wait. A 400 will not get better, so fix the request instead."


@pytest.mark.parametrize(
    ("asks", "output", "expected"),
    [
        ("Mentions the time complexity", SEARCHING, True),
        ('Names the page "Report a problem"', 'Open "Report a problem" and choose "Not arrived".', True),
        ("States the time complexity O(log n)", SEARCHING, True),
        ("States the time complexity O(n^2)", SEARCHING, False),
        ("Does it mention Docker?", SEARCHING, False),
        ("Mentions a hash table", SEARCHING, False),
        ("Avoids mentioning Docker", SEARCHING, True),
        ("Recommends Kubernetes", SEARCHING, False),
        ("Offers the customer a discount", "Your parcel arrives on Monday.", False),
        ("Mentions the price", "Your parcel arrives on Monday.", False),
        ("Mentions the price", "The parcel is 12 euros.", None),  # What is meant is there under another word.
        ("Mentions the advantages", SEARCHING, None),
        ("Mentions the refund", "Das Geld ist in fünf Tagen auf dem Konto, und das ist sicher.", None),
    ],
)
def test_a_named_thing_is_there_or_it_is_not(asks: str, output: str, expected: bool | None) -> None:
    """Absence of a thing is a no; of what an umbrella word stands for it shows nothing."""
    assert holds(asks, output) is expected


@pytest.mark.parametrize(
    ("asks", "output"),
    [
        ("Recommends to retry on a 400", RETRIES),
        ("Says that a charger is included", "The lamp folds flat. A charger is not included."),
        ("Does it say that parking fees will rise?", "The proposal to let parking fees rise was rejected."),
        ("Says that a 401 means too many requests", "A 401 says who you are, a 429 that you send too many requests."),
        ("Says that the capital is Sydney", "Canberra is the capital. It lies south-west of Sydney."),
        ("Suggests visiting in August", "In August it is hot, so come in May."),
    ],
)
def test_a_denial_or_another_name_near_the_claim_is_no_yes(asks: str, output: str) -> None:
    """The words are all there, and say something else."""
    assert holds(asks, output) is not True


@pytest.mark.parametrize(
    ("asks", "output"),
    [
        ("Offers a replacement if the parcel is late", "If it has not come by Monday, we send a replacement parcel."),
        ("Asks for a test of the empty file", "There are no tests for the empty file. Please add one."),
        ("Says that the charger is not included", "A charger is not included."),
        ("Does it say that nobody was hurt in the fire?", "A fire broke out at the mill. Nobody was hurt in the fire."),
    ],
)
def test_what_is_no_denial_of_the_claim_is_no_no(asks: str, output: str) -> None:
    """A condition, a lack that is the reason for a request, a denial that is asked for."""
    assert holds(asks, output) is not False
