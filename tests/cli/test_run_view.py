"""A run on a terminal: the verdict first, every number whole at any width, in short or in full, and no text obeyed."""

import io
import re
from typing import Any

import pytest
from rich.cells import cell_len

from evenhand.cli.run_tables import print_run
from evenhand.cli.screen import Screen
from evenhand.report.phrases import format_report_p_value
from tests.report.example import head, hostile_head


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """What is printed of a head at a width."""

    def show(whole: dict[str, Any], width: int = 80, *, full: bool = True) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        print_run(whole, full=full)
        return capsys.readouterr().out

    return show


@pytest.mark.parametrize("full", [True, False])
def test_the_verdict_comes_first_with_why_how_sure_and_what_next(shown: Any, full: bool) -> None:
    """What was asked is answered before the numbers behind it."""
    first = shown(head(), 160, full=full).split("\n\n")[0].splitlines()

    assert first[0].startswith("PROGRESS: new is better than old")
    assert [line.split(":")[0] for line in first[1:]] == ["  why", "  how sure", "  next"]


CHANGES = {
    "worse": [
        {"sample": "late", "variant": "new", "before": 4.5, "after": 2.0, "change": -2.5,
         "criteria": {"tone": {"before": 0.9, "after": 0.1}, "accuracy": {"before": 1.0, "after": 1.0}}},
        {"sample": "lost", "variant": "new", "before": 4.0, "after": 3.0, "change": -1.0,
         "criteria": {"tone": {"before": None, "after": 0.5}, "accuracy": {"before": 1.0, "after": 1.0}}},
    ],
    "better": [],
    "lowest": [{"sample": "late", "variant": "new", "composite": 2.0, "criteria": {"tone": 0.1, "accuracy": 1.0}}],
}  # fmt: skip


def test_in_short_there_is_one_table_and_what_got_worse(shown: Any) -> None:
    """With the criteria that changed as columns; the rest is a flag away."""
    text = shown(head(notable=CHANGES), full=False)

    assert re.search(r"^new − old .*\+0\.50 \[", text, re.MULTILINE)
    assert "Got worse\nsample    composite         tone\n" in text
    assert "late    4.50 → 2.00  0.90 → 0.10\n" in text
    assert "lost    4.00 → 3.00     – → 0.50\n" in text
    for only_in_full in ("Audit", "Gates", "criterion", "Lowest"):
        assert only_in_full not in text
    assert "--full also shows criteria, gates, 2 flags, judges, layers and the audit." in text
    assert len(text.splitlines()) <= 32


def test_where_nothing_got_worse_the_lowest_are_shown(shown: Any) -> None:
    """They are what there is to improve next."""
    text = shown(head(notable={**CHANGES, "worse": []}), full=False)

    assert (
        "Lowest (no sample got worse)\nsample  composite  tone  accuracy\nlate         2.00  0.10      1.00\n" in text
    )


def test_criteria_that_do_not_fit_beside_each_other_stand_below_each_other(shown: Any) -> None:
    """Seven changes of two samples are 14 numbers to compare: a table, turned round, and no run of words."""
    seven = {f"criterion-{n}": {"before": 2.0, "after": 1.0 + n} for n in range(7)}
    worse = [{**one, "criteria": seven} for one in CHANGES["worse"]]
    text = shown(head(notable={**CHANGES, "worse": worse}), full=False)

    assert max(map(cell_len, text.splitlines())) <= 80
    assert re.search(r"^criterion +late +lost\ncomposite +4\.50 → 2\.00 +4\.00 → 3\.00$", text, re.MULTILINE)
    assert re.search(r"^criterion-6 +2\.00 → 7\.00 +2\.00 → 7\.00$", text, re.MULTILINE)


def test_many_criteria_become_sentences_on_a_narrow_screen(shown: Any) -> None:
    """No column is cut in half."""
    wide = {f"criterion-{n}": {"before": 0.0, "after": 1.0} for n in range(12)}
    text = shown(head(notable={**CHANGES, "worse": [{**CHANGES["worse"][0], "criteria": wide}]}), full=False)

    assert max(map(cell_len, text.splitlines())) <= 80
    assert "late: composite 4.50 → 2.00 · criterion-0 0.00 → 1.00 · criterion-1" in text


def test_a_table_is_turned_before_the_names_of_criteria_are_broken(shown: Any) -> None:
    """Six criteria that do not fit as columns are rows, and each name is whole."""
    criteria = dict.fromkeys(("correctness", "resolution", "questions", "next steps", "empathy", "plainness"), 1.0)
    lowest = [{"sample": "invoice", "variant": "new", "composite": 2.0, "criteria": criteria}]
    text = shown(head(notable={"worse": [], "better": [], "lowest": lowest}), full=False)

    assert "…" not in text
    assert re.search(r"^criterion +invoice$", text, re.MULTILINE)
    assert re.search(r"^composite +2\.00$", text, re.MULTILINE)
    assert all(re.search(rf"^{name} +1\.00$", text, re.MULTILINE) for name in criteria)


def test_a_head_of_an_earlier_version_is_shown(shown: Any) -> None:
    """It has no tags and no notable samples, and no names of models without a price."""
    whole = head(cost={"outputs": None, "judges": None, "total": None, "unpriced": 8})

    for full in (True, False):
        assert "cost unknown: 8 calls have no known price" in shown(whole, full=full)


def test_scores_by_tag_stand_in_a_table(shown: Any) -> None:
    """One tag may fall while the whole rises."""
    mean = {"mean": 4.0, "low": 3.5, "high": 4.5, "level": 0.95, "n": 8, "scale": [1, 5]}
    tags = [{"tag": "billing", "samples": 8, "variants": {"old": mean, "new": None}}]

    assert re.search(r"^billing +8 +4\.00 \[3\.50, 4\.50\] +–$", shown(head(tags=tags)), re.MULTILINE)


@pytest.mark.parametrize("width", [40, 80, 160])
def test_no_line_is_wider_than_the_screen_and_no_number_is_cut(shown: Any, width: int) -> None:
    """What does not fit side by side stands in a table below."""
    text = shown(head(), width)

    assert max(map(cell_len, text.splitlines())) <= width
    for number in ("0.60 [0.57, 0.64]", "4.51 [4.35, 4.67]", "+0.17 [−0.20, 0.55]", "$0.0592", "980 ms", "56 of 69"):
        assert number in text


def test_counts_of_one_kind_stay_side_by_side(shown: Any) -> None:
    """A table is divided between scores, counts and costs, not in the middle of them."""
    lines = shown(head(), 80).splitlines()

    assert "variant        pass  borderline  fail  assertions    scored  incomplete  failed" in lines


def test_what_was_not_measured_has_no_column(shown: Any) -> None:
    """Assertions only: no score, no verdicts of scorecards, no criteria."""
    whole = head(judges=[], agreement=[])
    for variant in whole["variants"]:
        variant |= {"score": None, "criteria": {}, "verdicts": {"pass": 0, "borderline": 0, "fail": 0}}
        variant |= {"latency_ms": None, "cost": {"outputs": None, "judges": None}, "incomplete": 0}
    whole["eval"]["rubrics"] = []

    text = shown(whole, 160)

    header = next(line for line in text.splitlines() if line.startswith("variant"))
    assert header.split() == ["variant", "composite", "fact", "behavior", "rubric", "assertions", "scored", "failed"]
    assert "criterion" not in text
    assert "calls" not in text


def test_a_criterion_says_what_it_lacks_beyond_the_outputs_without_a_score(shown: Any) -> None:
    """A mean over fewer than the table says is marked."""
    whole = head()
    whole["variants"][0]["criteria"]["tone"]["missing"] = 7

    assert re.search(r"^tone +0\.60 \(7 missing\) +0\.72$", shown(whole), re.MULTILINE)


def test_few_gates_are_all_shown_and_of_many_only_those_that_failed(shown: Any) -> None:
    """Forty lines of passed gates hide the one that failed."""
    gates = [{"gate": f"g{n}", "min": 3.5, "mean": 4.0, "passed": True} for n in range(20)]
    gates += [{"gate": "bad", "min": 3.5, "mean": 3.0, "passed": False}]
    gates += [{"gate": "none", "min": 3.5, "mean": None, "passed": None}]

    few = shown(head())
    many = shown({**head(), "decision": {**head()["decision"], "gates": {"new": gates}}})

    assert "  new: fact 4.65 passes 3.50\n" in few
    assert "  new: bad 3.00 is below 3.50\n  new: none was not measured (gate 3.50)\n  20 of 22 passed\n" in many


def test_a_mean_that_nearly_reaches_its_gate_is_not_shown_at_it(shown: Any) -> None:
    """3.50 is below 3.50 would tell nobody why."""
    gates = [
        {"gate": "near", "min": 3.5, "mean": 3.49996, "passed": False},
        {"gate": "fine", "min": 0.8333, "mean": 0.831, "passed": False},
    ]

    text = shown({**head(), "decision": {**head()["decision"], "gates": {"new": gates}}})

    assert "  new: near 3.49996 is below 3.50\n  new: fine 0.83 is below 0.8333\n" in text


def test_a_run_that_stopped_says_so_in_its_heading(shown: Any) -> None:
    """Its numbers are not the last word."""
    assert "stopped before its end" in shown(head(run={**head()["run"], "state": "stopped"}))


@pytest.mark.parametrize(
    ("state", "said"),
    [("stopped", "stopped before its end"), ("killed", "killed before its end"), ("running", "still running")],
)
def test_a_run_without_its_end_says_how_far_it_came(shown: Any, state: str, said: str) -> None:
    """Beside the verdict, where the eye is, and again with the name of the run."""
    text = shown(head(run={**head()["run"], "state": state, "samples": 7, "planned": 30}), 160)

    told = next(line for line in text.splitlines() if line.startswith("delivery answers · 7 of 30 samples · 2 var"))
    assert told.endswith(f" · {said}")
    assert f"\n  run: {said}, 7 of 30 samples\n" in text


def test_a_badge_says_yes_or_no_and_what_would_help(shown: Any) -> None:
    """Its name alone reads like good news."""
    lines = shown(head(), 160).split("Audit\n")[1].split("\n\n")[0].splitlines()

    assert lines[1] == "  ✓ difference significant: yes, +0.50, p = 0.005"
    assert lines[2] == (
        "  ✗ saturated: no, the last samples narrowed the interval by 15%. Add samples until this is below 10%."
    )


def test_what_a_badge_says_of_all_treatments_is_said_once(shown: Any) -> None:
    """What differs is told apart by the treatments it is about."""
    whole = head()
    (one,) = whole["decision"]["comparisons"]
    other = {**one, "treatment": "newer", "badges": [*one["badges"][:1], {**one["badges"][1], "says": "+0.70"}]}
    other["badges"] += one["badges"][2:]
    whole["decision"]["comparisons"] = [one, other, {**other, "treatment": "newest"}]

    text = shown(whole, 160)

    assert text.count("saturated: no") == text.count("human-aligned: not known") == 1
    assert "difference significant: yes, +0.50, p = 0.005 (comparison of new)\n" in text
    assert "difference significant: yes, +0.70 (comparison of newer and newest)\n" in text


def test_every_treatment_says_its_verdict_its_rule_and_what_next(shown: Any) -> None:
    """The headline explains the worst only; one alone is explained by it."""
    whole = head()
    (one,) = whole["decision"]["comparisons"]
    worse = {"treatment": "newer", "verdict": "REGRESS", "rule": "4. lower", "next_step": "Do not ship.", "p": 0.0312}
    whole["decision"]["comparisons"] = [one, {**one, **worse}]

    text = shown(whole, 160)

    assert (
        "\nTreatments\n  new: PROGRESS (rule the whole interval lies above 0). Ship new.\n"
        "  newer: REGRESS (rule 4. lower). Do not ship.\n"
    ) in text
    assert "Treatments" not in shown(head(), 160)


def test_the_p_of_several_treatments_is_the_adjusted_one(shown: Any) -> None:
    """The one that decided; of one alone there is nothing to adjust."""
    whole = head()
    (one,) = whole["decision"]["comparisons"]
    whole["decision"]["comparisons"] = [one, {**one, "treatment": "newer", "p": 0.0312}]

    several, single = shown(whole, 160), shown(head(), 160)

    assert "p of the composite is adjusted for 2 treatments" in several
    assert "adjusted" not in single
    assert "0.031" in _row(several, "newer − old").split()


def test_the_full_view_has_the_test_of_each_layer(shown: Any) -> None:
    """Difference, p and verdict, as `compare` shows them."""
    whole = head()
    (one,) = whole["decision"]["comparisons"]
    name, found = next((name, found) for name, found in one["layers"].items() if found)
    one["layer_verdicts"] = {name: {"verdict": "CAUTIOUS", "rule": "", "reasons": [], "next_step": ""}}

    (told,) = re.findall(rf"^new − old +{name} +(.*)$", shown(whole, 160), re.MULTILINE)

    assert re.split(r" {2,}", told.strip())[1:] == [format_report_p_value(found), "CAUTIOUS"]


def test_means_beside_differences_over_fewer_samples_are_explained(shown: Any) -> None:
    """Where a judge failed, means and differences are over different samples, and do not subtract."""
    whole = head()
    whole["decision"]["comparisons"][0] |= {"pairs": 22, "samples": 24}

    for full in (True, False):
        text = " ".join(shown(whole, full=full).split())
        assert "differences over the 22 of 24 samples scored with both variants" in text
    assert "differences over" not in shown(head())


def _row(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(start))


def test_a_change_in_history_is_shown_and_its_absence_is_not(shown: Any) -> None:
    """Nobody wants to read that there is nothing to read."""
    told = [{"variant": "old", "says": "no history yet"}, {"variant": "new", "says": "0.8 below its last five runs"}]

    assert "History\n  new: 0.8 below its last five runs\n" in shown(head(consistency=told))
    assert "History" not in shown(head())


@pytest.mark.parametrize("width", [80, 160])
def test_hostile_texts_are_shown_and_not_obeyed(shown: Any, width: int) -> None:
    """In names of variants, criteria and columns too."""
    text = shown(hostile_head(), width)

    assert not set("\x00\x1b\x07\x9b\u202e\u2066\u200b") & set(text)
    assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("names", [["a" * 300, "a" * 299 + "b"], ["criterion", "variant"], ["版本" * 30, "x\ny"]])
def test_names_that_are_long_or_alike_keep_their_columns(shown: Any, names: list[str]) -> None:
    """Two names that begin alike, or one that is also the name of a column."""
    whole = head()
    for variant, name in zip(whole["variants"], names, strict=True):
        variant["name"] = name

    text = shown(whole)

    assert re.search(r"^accuracy +0\.63 +0\.74$", text, re.MULTILINE)
    assert max(map(cell_len, text.splitlines())) <= 80


def test_a_long_name_keeps_its_end(shown: Any) -> None:
    """Versions stand there."""
    whole = head()
    for n, variant in enumerate(whole["variants"]):
        variant["name"] = f"answers with the longer system prompt, v{n}"

    assert "criterion     answers wit…m prompt, v0  answers wit…m prompt, v1\n" in shown(whole)


def test_the_name_above_a_column_is_not_obeyed(shown: Any) -> None:
    """It is a variant's name, as untrusted as any."""
    whole = head()
    whole["variants"][0]["name"] = "a\x1b[2J\nb"

    assert "a\\x1b[2J\\nb   new\n" in shown(whole)


def test_many_variants_take_several_tables(shown: Any) -> None:
    """Twelve columns of criteria do not fit; each comes once."""
    whole = head()
    whole["variants"] = [{**whole["variants"][1], "name": f"prompt-{n:02d}"} for n in range(12)]

    text = shown(whole)

    assert max(map(cell_len, text.splitlines())) <= 80
    headers = " ".join(line for line in text.splitlines() if line.startswith("criterion"))
    assert re.findall(r"prompt-\d\d", headers) == [f"prompt-{n:02d}" for n in range(12)]


@pytest.mark.parametrize(
    ("verdict", "exit_code", "code"),
    [("PROGRESS", 0, 32), ("REGRESS", 1, 31), ("SOLO", 1, 31), ("PROGRESS", 1, 33), ("UNDECIDED", 1, 33)],
)
def test_the_verdict_has_its_colour_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, verdict: str, exit_code: int, code: int
) -> None:
    """Colours are never the only sign: the word stands there."""
    whole = {**head(), "decision": {**head()["decision"], "verdict": verdict, "exit_code": exit_code}}
    monkeypatch.delenv("NO_COLOR", raising=False)

    plain, coloured = _printed(monkeypatch, whole, terminal=False), _printed(monkeypatch, whole, terminal=True)

    assert "\x1b" not in plain
    assert f"\x1b[{code}m\x1b[1m{verdict}: " in coloured


def _printed(monkeypatch: pytest.MonkeyPatch, whole: dict[str, Any], *, terminal: bool) -> str:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr("sys.stdout", stream)
    print_run(whole, screen=Screen())
    return stream.getvalue()


def test_the_short_view_counts_verdicts_and_says_what_is_gated(shown: Any) -> None:
    """A run may pass by its mean while an output fails: that is seen without --full."""
    whole = head()
    for one in whole["variants"]:
        one["verdicts"] = {"borderline": 2, "fail": 1}

    told = " ".join(shown(whole, full=False).split())

    assert "new: 0 pass, 2 borderline, 1 fail" in told
    assert "The gate applies to the mean; `gates: {pass_rate: 1}` applies it to each output." in told


@pytest.mark.parametrize("width", [40, 50, 60, 80])
def test_every_part_of_a_divided_table_names_its_rows(shown: Any, width: int) -> None:
    """Of four layers, verdicts without what they are of say nothing."""
    whole = head()
    (one,) = whole["decision"]["comparisons"]
    said = {"verdict": "CAUTIOUS", "rule": "", "reasons": [], "next_step": ""}
    one["layer_verdicts"] = dict.fromkeys(one["layers"], said)

    titles = [line.split() for line in shown(whole, width).splitlines() if line.startswith("comparison  ")]

    differences = [title for title in titles if {"difference", "p", "verdict"} & {*title}]
    assert differences
    assert all(title[:2] == ["comparison", "of"] for title in differences)


@pytest.mark.parametrize("full", [False, True])
def test_with_several_treatments_samples_are_named_with_their_variant(shown: Any, full: bool) -> None:
    """All that got worse were of one of two treatments, and the table did not say of which."""
    whole = head()
    (one,) = whole["decision"]["comparisons"]
    whole["decision"]["comparisons"] = [one, {**one, "treatment": "newer"}]
    worse = {"sample": "s1", "variant": "newer", "position": 1, "before": 4.0, "after": 3.0, "criteria": {}}
    whole["notable"] = {"worse": [worse], "better": [], "lowest": []}

    assert re.search(r"^s1 +newer +4\.00 → 3\.00$", shown(whole, 160, full=full), re.MULTILINE)
