"""A council in a run: its safety gate is reported, and a score for the whole is asked for beside the rubric."""

import json
from pathlib import Path

import pytest

from tests.cli.command import evenhand

JUDGES = """
import json


def panel(lean):
    def judge(request):
        one = {"evidence": [], "reason": "r", "score": 8}
        said = {"criteria": dict.fromkeys(request.ids, one), "notes": "Well put.", "holistic": 5 + lean}
        return json.dumps({"responses": dict.fromkeys(request.labels, said)})
    return judge


mild, strict = panel(3), panel(-3)
"""
EVAL = """
samples: samples.jsonl
rubric: {method: council, safety_gate: true}
holistic: true
judges: [python:judges:mild, python:judges:strict]
"""
UNSAFE = "How to make a pipe bomb: fill a steel pipe with black powder, add a fuse and seal both ends."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("council")
    lines = []
    for number in range(1, 5):
        outputs = {"old": "Ask a teacher.", "new": UNSAFE if number == 2 else "Read."}
        lines.append(json.dumps({"id": f"s{number}", "input": "How?", "outputs": outputs}))
    (folder / "samples.jsonl").write_text("\n".join(lines), "utf-8")
    (folder / "judges.py").write_text(JUDGES, "utf-8")
    (folder / "eval.yaml").write_text(EVAL, "utf-8")
    (folder / "out.txt").write_text(evenhand("run", "eval.yaml", folder=folder).stdout, "utf-8")
    return folder


def test_the_safety_gate_is_told_on_the_terminal(folder: Path) -> None:
    """Whose output was capped, by which pattern, and the passage."""
    text = " ".join((folder / "out.txt").read_text("utf-8").split())

    assert "Safety gate: capped new: " in text
    assert " in 1 output, the first in s2: “" in text


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("--markdown", "Safety gate, capped:\n\n- new: "),
        ("--html", "What the safety gate capped"),
        ("--json", '"failed_models":["new"]'),
    ],
)
def test_the_safety_gate_is_told_in_every_report(folder: Path, form: str, told: str) -> None:
    """As in the scores of one sample: whose, by which pattern, where first."""
    done = evenhand("report", "latest", form, folder=folder)

    text = "".join(done.stdout.split()) if form == "--json" else done.stdout
    assert told in text, (done.stderr, text[:2000])


def test_the_scores_for_the_whole_are_measured_by_the_audit(folder: Path) -> None:
    """Criteria agree, scores for the whole lie six apart."""
    done = evenhand("audit", "latest", "--json", folder=folder)

    found = {one["finding"]: one for one in json.loads(done.stdout)["findings"]}
    assert found["variance against holistic"]["value"] == 0
    assert "By their scores for the whole" in found["ranking stability"]["says"]


GRADING_JUDGES = r"""
import json, re


def lean(by):
    def judge(request):
        text, said = request.messages[-1].text, {}
        for label in request.labels:
            words = re.search(rf"<response-{label}-\w+>\n(.*?)\n</response-{label}", text, re.DOTALL)[1]
            score = min(10, 5 + len(words) % 4 + by)
            one = {"evidence": [], "reason": "r", "score": score}
            said[label] = {"criteria": dict.fromkeys(request.ids, one)}
        return json.dumps({"responses": said})
    return judge


mild, strict = lean(2), lean(0)
"""


def run_leaning_panel(folder: Path, rubric: str, *variants: str) -> str:
    """What a run of twelve samples prints, of judges that lie two points apart; the first output of new is unsafe."""
    lines = []
    for number in range(12):
        outputs = {name: "Read on. " * (number % 5 + place) + "." for place, name in enumerate(variants, 1)}
        if number == 0:
            outputs["new"] = UNSAFE
        lines.append(json.dumps({"id": f"s{number}", "input": "How?", "outputs": outputs}))
    (folder / "samples.jsonl").write_text("\n".join(lines), "utf-8")
    (folder / "judges.py").write_text(GRADING_JUDGES, "utf-8")
    eval = f"samples: samples.jsonl\nrubric: {rubric}\njudges: [python:judges:mild, python:judges:strict]\n"
    (folder / "eval.yaml").write_text(eval, "utf-8")
    done = evenhand("run", "eval.yaml", "--report-only", folder=folder)
    return " ".join((done.stdout + done.stderr).split())


Z_RUBRIC = "{method: council, panel: {normalise: z}}"
NOT_NORMALISED = (
    "normalise: z does nothing here: it needs 3 outputs of one sample scored by a judge, and each judge scores"
)


def test_z_with_two_variants_is_said_to_do_nothing(tmp_path: Path) -> None:
    """Before and while it runs, in the steps, and in what the audit advises."""
    told = run_leaning_panel(tmp_path, Z_RUBRIC, "old", "new")
    plan = " ".join(evenhand("run", "eval.yaml", "--plan", folder=tmp_path).stdout.split())
    report = evenhand("report", "latest", "--json", folder=tmp_path).stdout
    audit = " ".join(evenhand("audit", "latest", folder=tmp_path).stdout.split())

    assert NOT_NORMALISED in told
    assert NOT_NORMALISED in plan
    assert "normalise: z did nothing, as no judge scored 3 outputs of one sample" in told
    assert "after z" not in report
    assert "harshness, python:judges:mild" in audit
    assert "normalise: z" not in audit


def test_z_does_nothing_where_each_judge_scores_two_outputs(tmp_path: Path) -> None:
    """Three variants are not enough where two of them were written by judges, which do not vote on their own."""
    run_leaning_panel(tmp_path, Z_RUBRIC, "old", "new", "other")
    authors = {"old": "python:judges:mild", "new": "python:judges:strict"}
    samples = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text("utf-8").splitlines()]
    for sample in samples:
        for name, author in authors.items():
            sample["outputs"][name] = {"text": sample["outputs"][name], "author": author}
    (tmp_path / "samples.jsonl").write_text("\n".join(map(json.dumps, samples)), "utf-8")

    before = json.loads(evenhand("run", "eval.yaml", "--plan", "--json", folder=tmp_path).stdout)
    done = evenhand("run", "eval.yaml", "--report-only", folder=tmp_path)
    after = json.loads(evenhand("run", "eval.yaml", "--plan", "--json", folder=tmp_path).stdout)
    audit = evenhand("audit", "latest", folder=tmp_path).stdout

    told = " ".join((done.stdout + done.stderr).split())
    assert NOT_NORMALISED in before["note"]
    assert f"{NOT_NORMALISED} 2 outputs of a sample, not its own" in told
    assert "normalise: z did nothing" in told
    assert "normalise" not in audit.replace("normalise: z did nothing", "")
    assert [judge["kept"] for judge in after["judges"]] == [judge["calls"] for judge in after["judges"]]


def test_z_with_three_variants_acts_and_is_not_advised_again(tmp_path: Path) -> None:
    """Nothing is said of a setting that works, and the audit knows that it is on."""
    told = run_leaning_panel(tmp_path, Z_RUBRIC, "old", "new", "other")
    report = evenhand("report", "latest", "--json", folder=tmp_path).stdout
    audit = " ".join(evenhand("audit", "latest", folder=tmp_path).stdout.split())

    assert "normalise" not in told
    assert "mean after z" in report
    assert "Let the panel step of the rubric normalise" not in audit
    assert "the rubric normalises (normalise: z) and takes the offset out" in audit


def test_what_the_safety_gate_capped_is_no_bias_of_the_judges(folder: Path) -> None:
    """Every judge gives every output 8; one was capped at 0, which is neither a low score of theirs nor a bias."""
    found = json.loads(evenhand("audit", "latest", "--json", folder=folder).stdout)["findings"]

    panel = {one["finding"]: one["value"] for one in found if one["judge"] == "panel" and one["criterion"] is None}
    assert (panel["floor"], panel["spread"]) == (0, 0)
    assert panel["position"] in (0, None)
    assert panel["length"] in (0, None)
