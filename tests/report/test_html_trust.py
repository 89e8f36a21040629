"""The Trust section of the page: what it shows of gates held against people, and that others' texts stay texts."""

import io
import re

from evenhand.report.html.page_file import write_html
from evenhand.report.html.run_page import build_run_report_page
from evenhand.report.html.trust_section import build_trust_section
from evenhand.report.report_data import LONGEST_PASSAGE, add_passages_to_reported_disagreements
from tests.report.example import head, samples
from tests.report.measured import trust


def section(**changes: object) -> str:
    stream = io.StringIO()
    write_html(head(**changes), samples(1), stream)
    _, _, rest = stream.getvalue().partition('<section id="trust"')
    return rest.partition("</section>")[0]


def test_errors_of_judge_and_person_stand_on_one_axis_with_the_limit() -> None:
    """A person's errors are the ceiling: a judge cannot be asked to do better, so both are drawn on one scale."""
    found = build_trust_section(trust())

    assert found is not None and found.gates.mark is not None
    rows = found.gates.rows[:3]  # Nobody failed wrongly what two others pass, so a person has no third row.
    assert [row.name for row in rows] == ["wrongly passed", "a person", "wrongly failed"]
    assert [row.value for row in rows] == ["2 of 24", "1 of 20", "0 of 22"]
    assert rows[0].high is not None and rows[0].high > found.gates.mark.at > (rows[0].at or 0)
    assert found.gates.mark.label == "limit 20%"


def test_a_curve_marks_the_gate_where_there_is_one() -> None:
    """Whether judge and people agree matters most beside the gate."""
    first, second = (build_trust_section(trust()) or None).curves  # type: ignore[union-attr]

    assert [note.text for note in first.notes] == ["gate 3.4"] and len(first.rules) == 1
    assert not second.rules and not second.notes
    assert "5.00 by the judge: 4.80 by people, 4.10 to 5.00, 9 outputs" in first.says


def test_the_page_says_the_answer_and_quotes_what_was_judged() -> None:
    """The answer first, then numbers, then the passages with a link to their sample."""
    text = section()

    assert "May gate one way only (score at least 3.40)." in text
    assert '<mark class="evidence">Refunds take five days.</mark>' in text
    assert 'href="#sample=q-003"' in text and "The output is not kept." in text
    assert ("trust", "Trust") in build_run_report_page(head())["sections"]


def test_without_labels_there_is_no_section() -> None:
    """A heading over nothing would read like a result."""
    assert section(trust=None) == ""
    assert ("trust", "Trust") not in build_run_report_page(head(trust=None))["sections"]


def test_a_passage_cannot_act_on_the_page() -> None:
    """It is a text of others, in an attribute of nobody and an element of its own."""
    text = section(trust=trust(sample='"><img src=x>', passage="</mark><script>alert(1)</script>\u202e"))

    assert "<script>" not in text and "<img" not in text and "\u202e" not in text
    assert "&lt;/mark&gt;&lt;script&gt;" in text


def result(*judgments: dict[str, object], text: str = "All of the output.") -> dict[str, object]:
    return {"variant": "new", "repeat": 0, "output": {"text": text}, "judgments": list(judgments)}


def judgment(criterion: str, *quotes: str) -> dict[str, object]:
    return {"judge": "j", "criterion": criterion, "reason": "why", "evidence": [{"text": one} for one in quotes]}


def test_a_passage_is_what_the_judge_quoted_or_how_the_output_begins() -> None:
    """Judgments on other questions are not shown; criteria of samples' own rubrics go by the name of the rubric."""
    one = {"sample": "s", "variant": "new", "question": "tone"}
    sample = {"id": "s", "results": [result(judgment("tone", "a", "b"), judgment("other", "c"))]}

    (quoted,) = add_passages_to_reported_disagreements([one], [sample])
    (own,) = add_passages_to_reported_disagreements([{**one, "question": "mine.tone"}], [sample])
    (plain,) = add_passages_to_reported_disagreements([{**one, "question": "score"}], [sample])
    (gone,) = add_passages_to_reported_disagreements([{**one, "sample": "t"}], [sample])

    assert quoted["passages"] == [{"judge": "j", "quoted": True, "text": "a … b", "reason": "why"}]
    assert own["passages"] == quoted["passages"]
    assert plain["passages"] == [{"judge": None, "quoted": False, "text": "All of the output.", "reason": ""}]
    assert gone["passages"] == []


def test_a_long_passage_is_cut() -> None:
    """A page with eight books in it shows nothing."""
    sample = {"id": "s", "results": [result(text="word " * 5000)]}

    (found,) = add_passages_to_reported_disagreements([{"sample": "s", "variant": "new", "question": "tone"}], [sample])

    (passage,) = found["passages"]
    assert re.fullmatch(r"(word )+.*…", passage["text"]) and len(passage["text"]) <= LONGEST_PASSAGE
