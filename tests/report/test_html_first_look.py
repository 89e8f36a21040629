"""What somebody sees who looks at the page for ten seconds: the verdict, who judged, what to look at."""

import io
import re

import pytest

from evenhand.report.html.page_file import write_html
from evenhand.report.html.run_page import build_run_report_page
from evenhand.report.phrases import describe_samples_without_pair_in_report
from tests.report.example import head, samples
from tests.report.results import Data
from tests.report.shapes import five_variants


def written(whole: Data) -> str:
    stream = io.StringIO()
    write_html(whole, samples(2), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("heuristic", "said"),
    [
        ([True, True], "Judged by embedded and claude-sonnet, which go by words, not by understanding."),
        ([True, False], "Of the 2 judges, embedded goes by words, not by understanding."),
        ([True], "Judged by embedded, which goes by words, not by understanding."),
        ([False, False], ""),
        ([], ""),
    ],
)
def test_a_judge_that_goes_by_rules_is_named_beside_the_verdict(heuristic: list[bool], said: str) -> None:
    """PROGRESS by counting words is not PROGRESS by a reader, and nobody reads down to the table of judges."""
    judges = [one | {"heuristic": rules} for one, rules in zip(head()["judges"], heuristic, strict=False)]

    text = written(head(judges=judges))

    verdict_box = text.split('<div class="said">')[1].split("</figure>")[0]
    assert re.findall(r'<p class="heuristic">(.*?)</p>', verdict_box) == ([said] if said else [])


def test_verdicts_stand_in_one_order_in_every_bar() -> None:
    """Two bars can be compared at a glance only if the same colour stands in the same place."""
    whole = head()
    whole["variants"][0]["verdicts"] = {"fail": 12, "incomplete": 1, "borderline": 3, "pass": 2}
    whole["variants"][1]["verdicts"] = {"borderline": 4, "pass": 9}

    bars = re.findall(r'<svg class="share"[^>]* aria-label="([^"]*)"', written(whole))

    assert bars[:2] == ["2 pass, 3 borderline, 12 fail, 1 incomplete", "9 pass, 4 borderline"]


def test_per_cent_is_written_without_a_space() -> None:
    """As in every English text: 95%."""
    decision = head()["decision"] | {"comparisons": []}

    page = re.sub(r"<(style|script)[^>]*>.*?</\1>", "", written(head(decision=decision, sensitivity=None)), flags=re.S)

    assert "95% intervals" in page
    assert not re.search(r"\d %", page)


def test_the_first_number_is_of_what_the_verdict_is_about() -> None:
    """With several treatments it was that of the control, below a verdict about another variant."""
    whole, _ = five_variants()
    about = whole["decision"]["comparisons"][2]
    whole["decision"] |= {"verdict": about["verdict"], "headline": "It is worse.", "best": None}
    about["headline"] = f"{about['verdict']}: It is worse."

    first = build_run_report_page(whole)["facts_row"][0]
    pair = build_run_report_page(head())["facts_row"][0]

    assert (first.name, first.note) == ("Composite", f"{about['control']} → {about['treatment']}, on 1 to 5")
    assert (pair.value.count(" → "), pair.note) == (1, "old → new, on 1 to 5")


def test_the_first_number_is_of_the_best_treatment_that_the_headline_names() -> None:
    """The headline goes on behind the sentence of its comparison: “It is the best of 2 treatments.”"""
    whole, _ = five_variants()
    first, about = whole["decision"]["comparisons"][1:3]
    for one in whole["decision"]["comparisons"]:
        one |= {"verdict": "PROGRESS", "headline": f"PROGRESS: {one['treatment']} is better (+0.4 points)."}
    said = f"{about['treatment']} is better (+0.4 points). It is the best of 4 treatments."
    whole["decision"] |= {"verdict": "PROGRESS", "headline": said, "best": about["treatment"]}

    fact = build_run_report_page(whole)["facts_row"][0]

    assert first["treatment"] != about["treatment"]
    assert fact.note == f"{about['control']} → {about['treatment']}, on 1 to 5"


def test_a_criterion_says_over_how_many_outputs_its_mean_is() -> None:
    """An output without a score may have answers to some criteria, and they are in the means of those."""
    whole = head()
    variant = whole["variants"][0]
    id, mean = next((id, one) for id, one in variant["criteria"].items() if one["mean"] is not None)
    for one in whole["variants"]:
        for other in one["criteria"].values():
            other["n"] = one["scored"]
    even = written(whole)
    mean["n"] = variant["scored"] + 2
    text = written(whole)

    assert id
    assert "is in no mean." not in text
    assert 'class="quiet">n ' not in even
    assert f'<span class="quiet">n {mean["n"]}</span>' in text
    assert "also those without a score" in text


def test_samples_that_were_scored_for_neither_have_no_pair() -> None:
    """“none” stood beside “58 of 60 samples scored with both”."""
    one = head()["decision"]["comparisons"][0] | {"samples": 60, "pairs": 58}
    one |= {"treatment": "new", "control": "old"}
    lost = [
        describe_samples_without_pair_in_report(one | {"lost_by_treatment": own, "lost_by_control": other})
        for own, other in ((0, 0), (2, 0), (1, 0), (3, 1))
    ]

    assert lost == [
        "2 scored for neither",
        "2 not scored for new, 0 not scored for old",
        "1 not scored for new, 0 not scored for old, 1 scored for neither",
        "3 not scored for new, 1 not scored for old",
    ]
    assert (
        describe_samples_without_pair_in_report(one | {"samples": 58, "lost_by_treatment": 0, "lost_by_control": 0})
        == "none"
    )
