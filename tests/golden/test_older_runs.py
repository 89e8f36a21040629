"""Runs that older versions have stored: every page shows them, and they can be handed on."""

import gzip
from io import BytesIO, StringIO
from pathlib import Path

import pytest

from evenhand.report.html.page_file import write_html
from evenhand.report.html.sample_page import build_sample_report_page
from evenhand.workflows.report import open_report
from evenhand.workflows.run_samples import load_run_sample
from evenhand.workflows.runs import export_run, import_run, list_runs
from tests.golden.session import STORE


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "store.sqlite").write_bytes(gzip.decompress(STORE.read_bytes()))
    return tmp_path / "kept"


def test_every_run_has_its_report_and_the_page_of_each_sample(store: Path) -> None:
    """They lack what runs keep now: thresholds, scales of criteria, gates that nobody could tell."""
    runs = [one.id for one in list_runs(store)]
    assert len(runs) > 5
    for id in runs:
        page = StringIO()
        with open_report(store, id) as (head, rows):
            samples = list(rows)
            write_html(head, samples, page)
        assert "</html>" in page.getvalue()
        for one in samples:
            assert build_sample_report_page(*load_run_sample(store, id, one["position"]))["sample"]


def test_every_run_can_be_handed_on(store: Path, tmp_path: Path) -> None:
    """An import builds what it will show: what a version of ours has stored is never refused."""
    for one in list_runs(store):
        export_run(store, one.id, str(tmp_path / "run.evenhand"), BytesIO())

        assert import_run(tmp_path / one.id, str(tmp_path / "run.evenhand")) == one.id
