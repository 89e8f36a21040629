"""Markdown for a pull request: what was decided, inert, and never too long to post."""

import io
import re
from itertools import pairwise
from typing import Any

import pytest
from markdown_it import MarkdownIt

from evenhand.report.markdown_report import _fit_markdown_sections, escape_markdown, write_markdown
from evenhand.report.untrusted_text import fold_to_report_line
from tests.report.example import head, hostile_head, hostile_samples, samples
from tests.report.texts import hostile, with_text

OURS = re.compile(r"</?(?:details|summary|sub)>")
NO_WIDTH = "\u200b"


def page(whole: dict[str, Any], some: Any) -> str:
    stream = io.StringIO()
    write_markdown(whole, some, stream)
    return stream.getvalue()


def test_the_first_line_is_the_verdict_and_the_numbers_follow() -> None:
    """A reviewer who reads three lines knows what was decided and what to do."""
    lines = page(head(), samples()).splitlines()

    assert lines[0] == "### ✅ PROGRESS: delivery answers"
    assert lines[2].startswith("**new is better than old")
    assert "- **Next:** Ship new, and keep q-007 in view: it could not be scored." in lines
    assert any(line.startswith("| variant | score | composite | fact | behavior | rubric | pass |") for line in lines)
    assert any(line.startswith("| old (control) | 0.60 \\[0.57, 0.64\\] | 4.01 \\[3.76, 4.25\\] |") for line in lines)
    assert "| accuracy | 0.63 | 0.74 |" in lines
    assert "- old: rubric layer 3.41 is below 3.50" in lines
    assert any("connection reset by peer (first in q-011)" in line for line in lines)


def test_the_worst_samples_come_largest_drop_first() -> None:
    """Where to look first; both that fell are there, with what failed."""
    text = page(head(), samples())

    rows = re.findall(r"^\| (q-\d+) \| new \| (\d\.\d+) \| (\d\.\d+) \|", text, re.MULTILINE)
    falls = [float(before) - float(after) for _, before, after in rows]

    assert len(rows) == 2
    assert falls == sorted(falls, reverse=True)
    assert "<summary>Without a score (2)</summary>" in text


def test_a_run_without_a_comparison_shows_its_lowest_scores() -> None:
    """With one variant nothing can drop."""
    whole = head()
    decision = {**whole["decision"], "verdict": "SOLO", "exit_code": 1, "comparisons": []}

    text = page({**whole, "decision": decision, "variants": whole["variants"][:1]}, samples())

    assert text.startswith("### ❌ SOLO")
    assert "Lowest composites" in text
    assert "| sample | variant | composite | failed checks |" in text
    assert "Largest drops" not in text


@pytest.mark.parametrize(
    ("verdict", "exit_code", "state", "mark"),
    [
        ("PROGRESS", 1, "finished", "⚠️"),
        ("PROGRESS", 0, "stopped", "⚠️"),
        ("SOLO", 0, "finished", "✅"),
        ("SOLO", 0, "killed", "⚠️"),
        ("UNDECIDED", 1, "finished", "❔"),
        ("REGRESS", 1, "stopped", "❌"),
    ],
)
def test_a_tick_needs_a_whole_run_that_passed(verdict: str, exit_code: int, state: str, mark: str) -> None:
    """Whoever merges by the mark must not merge by half a run, nor past a gate."""
    whole = head()
    whole["decision"] |= {"verdict": verdict, "exit_code": exit_code}
    whole["run"]["state"] = state

    assert page(whole, samples()).startswith(f"### {mark} {verdict}: ")


@pytest.mark.parametrize(("planned", "count"), [(None, "7 samples"), (7, "7 samples"), (30, "7 of 30 samples")])
def test_a_stopped_run_says_how_far_it_came(planned: int | None, count: str) -> None:
    """In the first line, and in the last."""
    whole = head()
    whole["run"] |= {"state": "stopped", "samples": 7, "planned": planned}

    lines = page(whole, samples()).splitlines()

    assert lines[0].endswith(f": delivery answers (stopped before its end, {count})")
    assert f" · {count} · " in lines[-1]


def test_a_mean_that_nearly_reaches_its_gate_has_the_digits_that_decide() -> None:
    """As everywhere."""
    whole = head()
    whole["decision"]["gates"] = {"new": [{"gate": "fact", "min": 3.5, "mean": 3.49996, "passed": False}]}

    assert "- new: fact 3.49996 is below 3.50\n" in page(whole, samples())


def test_a_fall_has_a_proper_minus() -> None:
    """As everywhere else."""
    text = page(head(), samples())

    assert "| +0.17 \\[−0.20, 0.55\\] |" in text


def test_repeats_of_a_sample_are_one_sample() -> None:
    """The drop is that of the means, not of a single bad repeat."""
    one = next(iter(samples(1)))
    old, new = one["results"]
    repeats = [{**old, "composite": 4.0}, {**new, "composite": 2.0}, {**new, "repeat": 1, "composite": 5.0}]

    text = page(head(), [{**one, "results": repeats}])

    assert "| q-001 | new | 4.00 | 3.50 |" in text


@hostile
def test_any_text_reads_as_itself_and_is_no_markup(text: str) -> None:
    """Rendered, it is one paragraph of plain text with the same characters."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(f"- {escape_markdown(text, 500)}")
    pieces = [child for token in tokens for child in token.children or ()]
    kinds = [token.type for token in tokens if token.type != "inline"]

    assert {piece.type for piece in pieces} <= {"text"}
    assert kinds.count("list_item_open") == 1
    assert set(kinds) <= {
        f"{kind}_{end}" for kind in ("bullet_list", "list_item", "paragraph") for end in ("open", "close")
    }
    shown = "".join(piece.content for piece in pieces)
    assert shown.replace(NO_WIDTH, "").strip() == fold_to_report_line(text, 500).replace(NO_WIDTH, "").strip()


@pytest.mark.parametrize(
    "text",
    ["@octocat", "cc @org/team", "a@example.com", "#12", "org/repo#12", "GH-12", "gh-12", "https://example.com",
     "ftp://example.com", "www.example.com", "WWW.example.com", "mailto:a@example.com", ":tada:", ":+1:"],
)  # fmt: skip
def test_nobody_is_called_and_nothing_is_linked(text: str) -> None:
    """These are looked for in the rendered text, where escapes are gone."""
    linked = re.compile(r"@\w|#\d|gh-\d|://|www\.\w|mailto:\w|:[\w+-]+:", re.IGNORECASE)
    rendered = (
        MarkdownIt("commonmark").parse(escape_markdown(text))[1].content.replace("&#8203;", NO_WIDTH).replace("\\", "")
    )

    assert linked.search(text)
    assert not linked.search(rendered)


@hostile
def test_no_text_breaks_out_of_its_cell(text: str) -> None:
    """No raw < but ours, and every row of a table has as many pipes as its head."""
    whole, few = with_text(text)

    lines = page(whole, few).splitlines()

    assert "<" not in OURS.sub("", "\n".join(lines))
    for above, below in pairwise(lines):
        if above.startswith("|") and below.startswith("|"):
            assert above.count("|") == below.count("|")


@pytest.mark.parametrize("variants", [1, 5, 60])
@pytest.mark.parametrize("character", ["@", "#", "<", "|", "\x1b", "\u202e", "W"])
def test_a_page_is_never_too_long_to_post(character: str, variants: int) -> None:
    """GitHub refuses a comment beyond 65,536 characters as a whole."""
    whole, few = with_text(f"x{character}" * 1000)
    many = {**whole, "variants": whole["variants"] * variants, "failures": whole["failures"] * 200}

    text = page(many, few * 5)

    assert len(text) < 60_000
    assert text.count("<details>") == text.count("</details>")
    assert text.rstrip().endswith("</sub>")


def test_what_does_not_fit_is_counted_and_what_was_opened_is_closed() -> None:
    """Also where the cut falls before the first line of a section."""
    section = ["<details>", "", "| a |", "| - |", "| 1 |", "", "</details>"]

    assert _fit_markdown_sections([["first"], section], 25) == (
        "first\n\n<details>\n\n| a |\n\n… 4 lines and what follows did not fit\n</details>\n\n"
    )
    assert _fit_markdown_sections([["first"], section], 10) == "first\n\n\n… 7 lines and what follows did not fit\n\n"


def test_hostile_samples_do_nothing() -> None:
    """The texts that are also tried in a browser."""
    text = page(hostile_head(), hostile_samples())

    assert "<" not in OURS.sub("", text)
    assert not set("\x00\x1b\x07\u202e\u2066\u2028") & set(text)


STRAYED = {"variant": "new", "says": "accuracy 0.20 differs from the 0.80 that each of the last 2 evaluations scored"}
FLAGGED = [{"variant": "old", "says": "no history yet", "strayed": []}, {**STRAYED, "strayed": ["accuracy"]}]


def test_what_the_history_flags_is_there_for_review() -> None:
    """As on the terminal; a variant without a history needs no line."""
    text = page(head(consistency=FLAGGED), samples())

    assert "History:\n\n- new: for review: accuracy 0.20 differs from the 0.80" in text
    assert "no history yet" not in text
