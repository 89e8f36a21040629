"""The criterion that the method layered asks for: `judge` in files and JSON, the rubric layer wherever people read."""

import json
import re
from pathlib import Path

import pytest

from evenhand.workflows.report import open_report
from tests.cli.command import evenhand
from tests.report.browser import Reader

EVAL = """\
samples:
  - {id: s1, input: a, outputs: {old: one, new: two}}
  - {id: s2, input: b, outputs: {old: one, new: two}}
  - {id: s3, input: c, outputs: {old: one, new: two}}
  - {id: s4, input: d, outputs: {old: one, new: two}}
  - {id: s5, input: e, outputs: {old: one, new: two}}
  - {id: s6, input: f, outputs: {old: one, new: one}}
rubric: layered
assertions: [contains: o]
judges: ["python:lengths:ask"]
"""
JUDGE = """\
import json


def ask(request):
    return json.dumps({"criteria": {id: {"evidence": [], "reason": "so", "score": 4} for id in request.ids}})
"""
AS_A_CRITERION = re.compile(
    r"^judge$|^judge \(1|\bjudge {2,}\d|  judge$|\| judge \||judge -?\d|failed +judge", re.MULTILINE
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run whose rubric is the method layered itself."""
    folder = tmp_path_factory.mktemp("layered")
    (folder / "eval.yaml").write_text(EVAL)
    (folder / "lengths.py").write_text(JUDGE)
    assert evenhand("run", "eval.yaml", folder=folder).returncode < 2
    return folder


@pytest.mark.parametrize(
    "command",
    [("run", "eval.yaml", "--full"), ("compare", "latest"), ("report", "latest", "--markdown")],
    ids=lambda command: command[0],
)
def test_commands_call_the_criterion_of_the_method_layered_the_rubric_layer(
    ran: Path, command: tuple[str, ...]
) -> None:
    """Tables of criteria, of the lowest samples and of differences."""
    printed = evenhand(*command, folder=ran).stdout

    assert "rubric layer" in printed
    assert AS_A_CRITERION.findall(printed) == []


def test_scores_name_gates_and_gaps_of_the_rubric_layer(tmp_path: Path) -> None:
    """JSON keeps the id."""
    (tmp_path / "r.yaml").write_text("name: r\nmethod: layered\ngates: [{criterion: judge, min: 4}]\n")
    outputs = [{"id": "a", "scores": {"judge": 2}}, {"id": "b", "scores": {"judge": {"missing": "no reply"}}}]
    (tmp_path / "o.json").write_text(json.dumps(outputs))

    printed = evenhand("score", "--rubric", "r.yaml", "o.json", folder=tmp_path).stdout
    told = json.loads(evenhand("score", "--rubric", "r.yaml", "o.json", "--json", folder=tmp_path).stdout)

    assert "rubric layer missing (no reply)" in printed
    assert "gates failed" in printed
    assert AS_A_CRITERION.findall(printed) == []
    assert told["scorecards"][0]["gates_failed"] == ["judge"]


def test_pages_call_the_criterion_the_rubric_layer(ran: Path, reader: Reader) -> None:
    """In the first samples, the table of criteria and the panel of a sample."""
    evenhand("compare", "latest", "--html", "-o", "c.html", folder=ran)
    compared = re.sub(r"<[^>]*>", "\n", (ran / "c.html").read_text())
    with open_report(ran / ".evenhand", "latest") as (head, samples):
        seen = reader.open(head, list(samples))
    overview = seen.page.locator("body").inner_text()
    seen.sample("s1")
    panel = seen.page.locator("dialog[open] #detail-body").inner_text()

    for text in (compared, overview):
        assert AS_A_CRITERION.findall(text) == []
    assert "rubric layer" in panel
