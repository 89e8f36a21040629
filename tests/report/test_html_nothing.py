"""What says nothing takes no room on the page: a line where a reader might miss it, and else nothing at all."""

import io
import re
from itertools import pairwise
from typing import Any

from evenhand.report.html.page_file import write_html
from tests.report.example import head, samples
from tests.report.results import JUDGES, Data
from tests.report.shapes import solo

RULES = {
    "name": "embedded", "calls": 48, "cached": 0, "failed": 0, "retries": 0, "input_tokens": 0, "output_tokens": 0,
    "cost": 0.0, "seconds": {"median": 0.0, "p95": 0.0}, "heuristic": True,
}  # fmt: skip


def test_a_judge_of_whom_only_calls_are_known_takes_a_line() -> None:
    """A table of zeros hides the one that matters."""
    judges = section(head(judges=[RULES], agreement=[], labels=None), "judges")

    assert "<table" not in judges
    assert "embedded (48 calls; rules and word statistics, no model)" in judges


def test_columns_without_a_number_are_left_out() -> None:
    """Of ten columns those stay in which some judge has something."""
    one = {**RULES, "retries": 2, "name": "house"}

    judges = section(head(judges=[RULES, one], agreement=[], labels=None), "judges")

    assert re.findall(r'<th scope="col"[^>]*>([^<]*)', judges) == ["Judge", "Calls", "Retries"]


def test_an_agreement_that_is_not_known_takes_a_line() -> None:
    """A hatched map and a table of dashes say the same as one sentence."""
    why = "0 ratings in common are too few: it takes 3"
    names = [*JUDGES, "third"]
    pairs = [{"judges": [one, other], "pearson": None, "why_not": why, "mean_gap": None, "n": 0}
             for one, other in pairwise(names)]  # fmt: skip

    judges = section(head(agreement=pairs, labels=None), "judges")

    assert judges.count(why) == 1
    assert f"<p>How far the judges agree is not known: {why}.</p>" in judges
    assert "Agreement" not in judges and "<svg" not in judges


def test_badges_without_an_answer_share_a_line() -> None:
    """Nothing is known of judges with one judge and no labels: that is one line, not a list."""
    whole = head()
    for badge in whole["decision"]["comparisons"][0]["badges"][:2]:
        badge |= {"state": "grey", "says": "fewer than two judges", "advice": ""}

    text = written(whole)
    first, comparison = text.split('<section id="samples"')[0], section(whole, "comparisons")

    assert first.count('class="badge ') == 2 and "fewer than two judges" not in first
    assert "<b>not known:</b> judges agree, difference significant, human-aligned</li>" in first
    assert comparison.count('class="badge ') == 2
    assert (
        "<b>not known:</b> judges agree (fewer than two judges), difference significant (fewer than two judges), "
        "human-aligned (no labels)"
    ) in comparison


def test_nothing_failed_and_nothing_found_is_one_sentence() -> None:
    """Two headings above two times nothing are a screen on a telephone."""
    failures = section(head(failures=[], flags=[]), "failures")

    assert "<p>Nothing failed, and the guards found nothing.</p>" in failures
    assert "<h3" not in failures and "<table" not in failures


def test_costs_that_nobody_knows_have_no_section() -> None:
    """The first screen says it already; the link goes with the section."""
    whole = head(cost={"outputs": None, "judges": 0.0, "total": 0.0, "unpriced": 0})
    nothing: Data = {"cost": {"outputs": None, "judges": 0.0}, "tokens": {"input": 0, "output": 0}, "latency_ms": None}
    whole["variants"] = [one | nothing for one in whole["variants"]]

    text = written(whole)
    unpriced = written(whole | {"cost": whole["cost"] | {"unpriced": 7}})

    assert 'id="cost"' not in text and 'href="#cost"' not in text
    assert "7 calls have no known price and are not in it" in unpriced


def test_weights_that_decide_nothing_are_a_sentence() -> None:
    """Bars at 100% and crosses that are nowhere need not be drawn open."""
    settled, open_one = head(), head()
    settled["sensitivity"] |= {"wins": {"new": 1.0, "old": 0.0}}
    settled["sensitivity"].pop("anywhere", None)

    texts = [section(one, "sensitivity") for one in (settled, open_one)]

    assert ["<details>" in text for text in texts] == [True, False]
    assert [open_one["sensitivity"]["next_step"] in text for text in texts] == [False, True]


def test_measures_that_no_variant_has_are_no_row() -> None:
    """A row of dashes is no finding."""
    whole = head()
    for variant in whole["variants"]:
        variant |= {"composite": None, "layers": {"fact": None, "judge": variant["layers"]["judge"]}}

    rows = re.findall(r'<th scope="row"><span class="name">([^<]*)', section(whole, "scores").split("</table>")[0])

    assert rows == ["rubric", "score", "scored", "verdicts"]


def test_the_same_history_is_said_once() -> None:
    """No history yet, of ten variants, is one fact."""
    assert section(head(), "method").count("no history yet") == 1


def test_scores_stand_beside_each_other_with_their_difference() -> None:
    """A column for each variant, so that a row can be read across; one variant has no difference."""
    both, alone = section(head(), "scores"), section(solo()[0], "scores")

    composite = re.sub(r"<[^>]*>|\s+", " ", both.split('class="name">composite')[1].split("</tr>")[0])
    assert re.findall(r"[+−]?\d\.\d\d", composite)[-3:] == ["+0.50", "0.22", "0.79"]
    assert "Difference" not in alone


def section(whole: dict[str, Any], id: str) -> str:
    """A section of the page as it is written."""
    return written(whole).split(f'<section id="{id}"')[1].split("</section>")[0]


def written(whole: dict[str, Any]) -> str:
    stream = io.StringIO()
    write_html(whole, samples(2), stream)
    return stream.getvalue()
