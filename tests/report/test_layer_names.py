"""Layers on screen: a judge is who judges, so the layer that judges fill is the rubric layer wherever people read."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from evenhand.compare.sensitivity_result import conclude_from_weight_sensitivity
from evenhand.report.html.run_page import draw_sensitivity_charts
from evenhand.report.result_phrases import build_cascade_table_columns
from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.store.store import Store
from evenhand.web.workbench import add_workbench
from evenhand.workflows.report import open_report
from tests.cli.command import evenhand
from tests.report.browser import Reader
from tests.runs.test_composites import write_eval

AS_A_LAYER = re.compile(r"^judge$|judge layer|\bjudge -?\d|(?:, |\+ |; |\()judge\b(?! )", re.MULTILINE)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of three layers, with every step that a composite can have."""
    folder = tmp_path_factory.mktemp("layers")
    write_eval(folder, standardise="rank", debias="regress", weights={"fact": 3, "why": "a wrong fact costs most"})
    assert evenhand("run", "eval.yaml", folder=folder).returncode < 2
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ("run", "eval.yaml", "--full"),
        ("report", "latest", "--markdown"),
        ("sensitivity", "latest"),
        ("compare", "latest"),
        ("score", "--rubric", "layered", "layers.json", "--explain"),
    ],
    ids=lambda command: command[0],
)
def test_what_commands_print_calls_no_layer_judge(ran: Path, command: tuple[str, ...]) -> None:
    """Also where the scores of a file have that name: the line is about layers."""
    scores = '{"id": "a", "scores": {"fact": 0.5, "judge": 4}}, {"id": "b", "scores": {"fact": 1, "judge": 2}}'
    (ran / "layers.json").write_text(f'{{"outputs": [{scores}, {{"id": "c", "scores": {{"judge": 2}}}}]}}')

    printed = evenhand(*command, folder=ran).stdout

    assert re.search(r"\brubric\b", printed)
    assert AS_A_LAYER.findall(printed) == []


def test_pages_call_no_layer_judge(ran: Path) -> None:
    """The steps of a score, the tables of a run, its charts."""
    with Store.open(ran / ".evenhand", {}) as store:
        run = store.find_run("latest")["id"]
    app = build_service(ServiceSettings(store=ran / ".evenhand"))
    add_workbench(app)
    with TestClient(app, base_url="http://127.0.0.1:8321") as client:
        for path in ("/", f"/runs/{run}", f"/runs/{run}/samples/0", f"/compare?run={run}", f"/judges?run={run}"):
            texts = re.sub(r"<[^>]*>", "\n", client.get(path).text)

            assert AS_A_LAYER.findall(re.sub(r"\s*\n\s*", "\n", texts)) == [], path


def test_the_panel_of_a_sample_calls_no_layer_judge(ran: Path, reader: Reader) -> None:
    """The numbers beside an output, and the steps of its composite."""
    with open_report(ran / ".evenhand", "latest") as (head, samples):
        seen = reader.open(head, list(samples))
    seen.sample("s0")
    text = seen.page.locator("dialog[open] #detail-body").inner_text()

    assert "rubric 4.94" in text
    assert AS_A_LAYER.findall(text) == []


def test_charts_of_weights_and_figures_of_a_cascade_name_the_rubric_layer() -> None:
    """Both are filled from data, in which the layer keeps its name."""
    part = {"criterion": "judge", "weight": 0.5, "lead": 1, "contribution": 0.5, "flip_at": None}
    ranking = {"of": "layers", "order": ["new", "old"], "wins": {"new": 1}, "by_weight": [part], "draws": 100}
    estimate = SimpleNamespace(variant="new", control=None, kind="judge layer", strong=None)

    drawn = str(draw_sensitivity_charts({**ranking, "layers": None})[0].charts[1])
    (named,) = build_cascade_table_columns({"estimates": [vars(estimate)]})[""]

    assert "rubric" in drawn
    assert "judge" not in drawn
    assert named == "new: rubric layer"


def test_the_next_step_of_a_ranking_by_layers_names_the_rubric_layer() -> None:
    """ "The weight of judge" would be that of a judge in a panel."""
    part = SimpleNamespace(name="judge", contribution=0.5)
    gap = SimpleNamespace(p=0.001)
    ranking: Any = SimpleNamespace(
        of="layers", order=("new", "old"), parts=(part,), tied=False, gap=gap, near=SimpleNamespace(same_winner=0.6)
    )

    _, step = conclude_from_weight_sensitivity([ranking], {})

    assert step == "Agree on the weight of the rubric layer, which gives new most of its lead, before deciding."
