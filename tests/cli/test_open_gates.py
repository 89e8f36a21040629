"""A required criterion that nobody answered has not passed its gate: every place that tells of it says so."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import evenhand

RUBRIC = """\
name: desk
criteria:
  - {id: page, asks: "Does it contain the word 'Orders'?", required: true}
  - {id: tone, asks: "Is the tone friendly?", required: true}
"""
# What the judge does when it is asked about an output that has its word: each kind of missing, and a plain no.
JUDGE = """
import json

def judge(request):
    text = request.messages[-1].text
    if "garbled" in text:
        return "no idea what you mean"
    if "broken" in text:
        raise OSError("the line is dead")
    def answer(id):
        if id == "tone" and "silent" in text:
            return {"evidence": [], "reason": "I cannot tell.", "score": "cannot assess"}
        return {"evidence": ["Orders"], "reason": "So it is.", "score": 0 if "rude" in text and id == "tone" else 1}
    return json.dumps({id: answer(id) for id in request.ids})

def bot(sample):
    if "mute" in sample["input"]:
        raise OSError("no answer")
    return f"Open Orders, {sample['input']}."
"""
KINDS = {"abstained": "silent", "unreadable": "garbled", "failed": "broken", "not asked": "mute"}


def folder_with(tmp_path: Path, *inputs: str, variants: str = "bot", gates: str = "") -> Path:
    (tmp_path / "rubric.yaml").write_text(RUBRIC, "utf-8")
    (tmp_path / "ours.py").write_text(JUDGE, "utf-8")
    samples = [json.dumps({"id": f"s{at}", "input": word}) for at, word in enumerate(inputs)]
    (tmp_path / "samples.jsonl").write_text("\n".join(samples), "utf-8")
    names = "\n".join(f"  {name}: {{python: 'ours:bot'}}" for name in variants.split())
    (tmp_path / "eval.yaml").write_text(
        f"name: desk\nsamples: samples.jsonl\nrubric: rubric.yaml\njudges: ['python:ours:judge']\n"
        f"variants:\n{names}\n{gates}",
        "utf-8",
    )
    return tmp_path


def run_head(folder: Path) -> dict[str, Any]:
    head: dict[str, Any] = json.loads(evenhand("run", "eval.yaml", "--json", folder=folder).stdout)
    return head


def required_gate(head: dict[str, Any], variant: str = "bot") -> dict[str, Any]:
    state: dict[str, Any] = next(one for one in head["decision"]["gates"][variant] if one["gate"] == "required")
    return state


def test_a_required_criterion_without_an_answer_leaves_the_gate_open(tmp_path: Path) -> None:
    """Whatever kept the judge from answering: one of five outputs is known to pass, and the gate is not."""
    head = run_head(folder_with(tmp_path, "fine", *KINDS.values()))

    state = required_gate(head)

    assert (state["passed"], state["mean"], state["unknown"]) == (None, 0.2, len(KINDS))
    assert state["short"]["samples"] == ["s1", "s2", "s3"]
    assert head["decision"]["exit_code"] == 1


def test_an_answer_that_fails_the_gate_is_known(tmp_path: Path) -> None:
    """Beside one that is open: a gate that is known to have failed has failed."""
    state = required_gate(run_head(folder_with(tmp_path, "fine", "silent", "rude")))

    assert (state["passed"], state["unknown"]) == (False, 1)
    assert state["short"] == {"samples": ["s2"], "count": 1, "criteria": ["tone"]}


def test_a_gate_that_is_open_is_not_shipped(tmp_path: Path) -> None:
    """Two variants, each without an answer on the same sample: nothing was lost by one alone, and still.

    Also where no text is kept: the criterion is named.
    """
    head = run_head(folder_with(tmp_path, *["fine"] * 5, "silent", variants="old new", gates="keep: none\n"))

    assert required_gate(head, "new")["passed"] is None
    said = "new: required is not known (1 output without an answer), the gate is 1.00; not known: s5 (criterion tone)."
    assert said in head["decision"]["reasons"]


def test_every_report_says_that_it_is_not_known(tmp_path: Path) -> None:
    """Terminal, Markdown, JUnit, CSV and the page; none of them says that it passed."""
    folder = folder_with(tmp_path, "fine", "silent")
    terminal = evenhand("run", "eval.yaml", "--full", folder=folder, GITHUB_ACTIONS="true").stdout
    formats = ("--markdown", "--junit", "--csv", "--html")
    markdown, junit, table, page = (evenhand("report", "latest", one, folder=folder).stdout for one in formats)

    said = "required 0.50 is not known to pass 1.00: 1 output without an answer"
    assert f"bot: {said}" in terminal
    assert f"bot: {said}" in markdown
    assert "passes 1.00" not in terminal + markdown
    assert f'<error message="bot: {said}"' in junit
    assert f"::error title=bot%3A gate required::{said}" in terminal
    (cells,) = [row for row in csv.DictReader(io.StringIO(table.lstrip("\ufeff"))) if row["id"] == "s1"]
    assert (cells["state"], cells["verdict"]) == ("incomplete", "incomplete")
    assert '0.50 <span class="mark none">' in " ".join(page.split())
    assert "1 output without an answer" in page


@pytest.mark.parametrize("command", ["judge", "score"])
def test_a_scorecard_names_the_gates_that_are_open(tmp_path: Path, command: str) -> None:
    """In its table, its steps and its JSON; what is not known has not failed either."""
    folder = folder_with(tmp_path)
    (folder / "silent.md").write_text("Open Orders, silent one.", "utf-8")
    answers = {"outputs": [{"id": "silent.md", "scores": {"page": True}}]}
    (folder / "answers.json").write_text(json.dumps(answers), "utf-8")
    asked = {"judge": ["silent.md", "--model", "python:ours:judge"], "score": ["answers.json"]}[command]

    shown = evenhand(command, "--rubric", "rubric.yaml", *asked, "--explain", folder=folder)
    told = evenhand(command, "--rubric", "rubric.yaml", *asked, "--json", folder=folder)
    (card,) = json.loads(told.stdout)["scorecards"]

    assert (card["verdict"], card["gates_failed"], card["gates_open"]) == ("incomplete", [], ["tone"])
    assert "gates not known" in shown.stdout
    assert "gate not known: tone has no answer" in shown.stdout
    assert shown.returncode == told.returncode == 1


def test_a_gate_on_a_criterion_counts_what_was_not_answered(tmp_path: Path) -> None:
    """One yes of two is no mean of 1: it passes only where even a no would leave it above the gate."""
    gates = "gates: {pass_rate: 0, tone: %s}\n"
    strict = run_head(folder_with(tmp_path, "fine", "silent", gates=gates % "0.6"))
    mild = run_head(folder_with(tmp_path, "fine", "silent", gates=gates % "0.5"))

    states = [next(one for one in head["decision"]["gates"]["bot"] if one["gate"] == "tone") for head in (strict, mild)]
    assert [(one["passed"], one["mean"], one["unknown"]) for one in states] == [(None, 1.0, 1), (True, 1.0, 1)]


def test_an_output_whose_checks_could_not_run_does_not_pass(tmp_path: Path) -> None:
    """Its rubric says pass, and a layer is missing: an incomplete scorecard never passes."""
    folder = folder_with(
        tmp_path, "fine", "silent", gates="gates: {pass_rate: 0.1}\nassertions: [custom: 'python:ours:gone']\n"
    )
    (folder / "ours.py").write_text(JUDGE + "\ndef gone(output):\n    raise OSError('gone')\n", "utf-8")

    head = run_head(folder)

    (state,) = [one for one in head["decision"]["gates"]["bot"] if one["gate"] == "pass_rate"]
    assert (state["mean"], state["passed"]) == (0.0, False)


def test_a_run_scored_anew_is_held_to_the_gates_of_its_new_rubric(tmp_path: Path) -> None:
    """What was not required and not answered is open once it is required; also of an output that was never made."""
    folder = folder_with(tmp_path, "fine", "silent", "mute")
    strict = (folder / "rubric.yaml").read_text("utf-8")
    (folder / "rubric.yaml").write_text(strict.replace("required: true", "required: false"), "utf-8")
    before = run_head(folder)
    (folder / "strict.yaml").write_text(strict, "utf-8")

    evenhand("runs", "rescore", "latest", "--rubric", "strict.yaml", folder=folder)
    after = json.loads(evenhand("report", "latest", "--json", folder=folder).stdout)

    assert [one["gate"] for one in before["decision"]["gates"]["bot"]] == ["judge", "scored"]
    state = required_gate(after)
    assert (state["passed"], state["unknown"], state["short"]["samples"]) == (None, 2, ["s1", "s2"])


def test_the_gate_of_a_layer_counts_what_was_not_answered(tmp_path: Path) -> None:
    """As that of a criterion: of 5 and nothing, even a 1 gives 3.00. A comparison of the run says the same."""
    gates = "gates: {pass_rate: 0, judge: %s}\n"
    strict = run_head(folder_with(tmp_path, "fine", "silent", variants="old new", gates=gates % "3.1"))
    mild = run_head(folder_with(tmp_path, "fine", "silent", variants="old new", gates=gates % "3"))
    evenhand("compare", "latest", "--html", "-o", "page.html", folder=tmp_path)
    again = json.loads(evenhand("compare", "latest", "--json", folder=tmp_path).stdout)

    held = [head["decision"]["gates"]["new"] for head in (strict, mild, again)]
    states = [next(one for one in gates if one["gate"] == "judge") for gates in held]
    assert [(one["passed"], one["mean"], one["unknown"]) for one in states] == [
        (None, 5.0, 1),
        (True, 5.0, 1),
        (True, 5.0, 1),
    ]
    assert "1 without an answer" in (tmp_path / "page.html").read_text("utf-8")


def test_the_lowest_answer_of_a_repeat_counts_within_its_sample(tmp_path: Path) -> None:
    """Yes and twice no answer, no and no and yes: (1/3 + 1/3) / 2 is below the gate, 4/9 over all six is not."""
    gates = "repeats: 3\ngates: {pass_rate: 0, tone: 0.4}\n"
    folder = folder_with(tmp_path, "first", "second", gates=gates)
    code = JUDGE.replace("return f\"Open Orders, {sample['input']}.\"", "return REPEATS[sample['input']].pop()")
    code += "\nREPEATS = {'first': ['Orders', 'Orders silent', 'Orders  silent'], 'second': "
    code += "['Orders!', 'Orders rude', 'Orders  rude']}\n"
    (folder / "ours.py").write_text(code, "utf-8")

    (state,) = [one for one in run_head(folder)["decision"]["gates"]["bot"] if one["gate"] == "tone"]

    assert (state["passed"], round(state["mean"], 6), state["unknown"]) == (None, 0.666667, 2)
