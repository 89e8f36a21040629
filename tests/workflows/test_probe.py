"""Probes as a user has them: sealed from a labelled run, asked once a day, and drift found with what rests on it."""

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from evenhand.errors import InputError, StoreError
from evenhand.store.store import Store
from evenhand.workflows.models import ConnectionOptions
from evenhand.workflows.probe import ProbeSettings, check_probe, encode_probe, list_probes, set_probe, show_probe
from evenhand.workflows.run import run
from evenhand.workflows.starter import write_starter_eval
from evenhand.workflows.sync import wait_for_coroutine
from tests.conftest import ROOT

JUDGE = """
import json, pathlib, re

def changing(request):
    text = re.search(r"<output-\\w+>\\n(.*)\\n</output-", request.messages[-1].text, re.DOTALL)[1]
    with open("calls", "a") as calls:
        calls.write(".")
    good = ">" in text and not pathlib.Path("drifted").exists()
    each = {id: {"evidence": [text[:30]], "reason": "by rule", "score": "yes" if good else "no"} for id in request.ids}
    return json.dumps({"criteria": each})
"""


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a finished run of the starter by a judge that changes its mind when a file is there."""
    place = tmp_path_factory.mktemp("probe")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        sys.modules.pop("mind", None)  # Of another folder.
        (place / "mind.py").write_text(JUDGE, "utf-8")
        write_starter_eval(str(place))
        text = (place / "eval.yaml").read_text("utf-8")
        (place / "eval.yaml").write_text(text.replace("[embedded]", '["python:mind:changing"]'), "utf-8")
        shutil.copy(ROOT / "examples" / "labels.jsonl", place)
        ran = wait_for_coroutine(run("eval.yaml"))
        assert ran.head["failures"] == []
        yield place


@pytest.fixture
def folder(labelled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same for one test alone."""
    sys.modules.pop("mind", None)
    place = tmp_path / "own"
    shutil.copytree(labelled, place)
    monkeypatch.chdir(place)
    return place


def seal(**settings: object) -> None:
    chosen = ProbeSettings(repeats=2, daily=3, **settings)  # type: ignore[arg-type]
    set_probe(None, "desk", "latest", Path("labels.jsonl"), settings=chosen)


def day(number: int) -> str:
    return f"2027-01-{number:02}T05:00:00+00:00"


def test_a_stable_judge_stays_steady_and_is_asked_once_a_day(folder: Path) -> None:
    """A second look on the same day would be more looks a year than the promise is for; it asks nothing."""
    seal()
    asked = len((folder / "calls").read_text())

    first, again = (check_probe(None, "desk", today=day(1)) for _ in range(2))
    second = check_probe(None, "desk", today=day(2))

    assert (first.status.state, first.exit_code, len(first.look.answers if first.look else ())) == ("steady", 0, 3)
    assert again.look is None and "asked today already" in again.why_no_look
    assert second.status.looks == 2 and second.status.lost == ()
    # Six questions to the judge itself: what the run and the seal were told is not used again.
    assert len((folder / "calls").read_text()) == asked + 6


def test_drift_is_found_and_says_what_rests_on_the_judge(folder: Path) -> None:
    """From the day on which the judge fails everything, a few looks are enough; then nothing more is asked."""
    seal()
    check_probe(None, "desk", today=day(1))
    (folder / "drifted").touch()

    found = next(one for number in range(2, 20) if (one := check_probe(None, "desk", today=day(number))).exit_code)

    assert found.status.since is not None and found.status.since >= day(2)
    assert all(one.people and one.now is False for one in found.status.lost)
    assert found.resting is not None
    (verdict,) = found.resting.verdicts
    assert (verdict.kind, verdict.calls, verdict.after) == ("run", 48, False)
    later = check_probe(None, "desk", today=day(25))
    assert later.look is None and later.exit_code == 1 and later.status.looks == found.status.looks
    seal(force=True)
    assert show_probe(None, "desk").status.looks == 0


def test_a_look_is_a_row_and_no_two_processes_take_the_same(folder: Path) -> None:
    """Killed before the row is written, a look has not been; the next one asks the same outputs."""
    seal()
    with Store.open(None, {}) as store:
        before = encode_probe(show_probe(store, "desk"))
        row = {"probe": "desk", "number": 1, "at": day(1), "content": json.dumps(
            {"number": 1, "at": day(1), "answers": [], "failed": 0, "cost": None})}  # fmt: skip
        store.probes.add_look(row)
        with pytest.raises(StoreError, match="look 1 at probe 'desk' was taken meanwhile"):
            store.probes.add_look(row)

    assert before["looks"] == 0 and show_probe(None, "desk").status.looks == 1


def test_a_name_is_sealed_once(folder: Path) -> None:
    """What was measured must not change under a name without being told to; the error comes before any question."""
    seal()
    asked = (folder / "calls").read_text()

    with pytest.raises(InputError, match="there is a probe 'desk' already"):
        seal()

    assert (folder / "calls").read_text() == asked
    assert [one.probe.name for one in list_probes(None)] == ["desk"]


def test_what_cannot_be_sealed_is_refused(folder: Path) -> None:
    """Another rubric than the run's, an unknown probe, a name of two lines, one answer each, a gate off the scale."""
    rubric = folder / "other.yaml"
    rubric.write_text("criteria: [Is it good?]\nmethod: checklist\n", "utf-8")

    with pytest.raises(InputError, match="is not the one that run"):
        seal(rubric=str(rubric))
    with pytest.raises(StoreError, match="no probe 'desc'"):
        check_probe(None, "desc")
    with pytest.raises(InputError, match="cannot be called"):
        set_probe(None, "a\nb", "latest", Path("labels.jsonl"))
    with pytest.raises(InputError, match="each output cannot be asked about 1 time"):
        set_probe(None, "p", "latest", Path("labels.jsonl"), settings=ProbeSettings(repeats=1))
    for least in (Fraction(7), Fraction(-1, 10)):
        with pytest.raises(InputError, match=r"--min-score: \S+ is outside the scale of the run's scores \(0 to 1\)"):
            seal(least=least)


def test_a_recorded_probe_is_replayed_without_its_judge(folder: Path) -> None:
    """Seal and look say the same from the record, and nobody is asked."""
    chosen, record = ProbeSettings(repeats=2, daily=3), Path("record.jsonl")
    sealed, looked = (
        set_probe(
            None, "desk", "latest", Path("labels.jsonl"), settings=chosen, connect=ConnectionOptions(record=record)
        ),
        check_probe(None, "desk", connect=ConnectionOptions(record=Path("look.jsonl")), today=day(1)),
    )
    asked = (folder / "calls").read_text()

    again = set_probe(
        None, "desk", "latest", Path("labels.jsonl"), settings=replace(chosen, force=True),
        connect=ConnectionOptions(replay=record),
    )  # fmt: skip
    with Store.open(None, {}) as store:  # The outputs of a look go by the moment of the seal.
        row = store.probes.find_probe("desk")
        content = json.loads(row["content"]) | {"at": sealed.probe.at}
        store.probes.add_probe({**row, "content": json.dumps(content)}, replace=True)
    look = check_probe(None, "desk", connect=ConnectionOptions(replay=Path("look.jsonl")), today=day(1))

    assert again.probe.items == sealed.probe.items
    assert look.look is not None and looked.look is not None and look.look.answers == looked.look.answers
    assert (folder / "calls").read_text() == asked


def test_a_budget_stops_a_probe_and_no_output_is_counted_that_was_not_answered(folder: Path) -> None:
    """A seal that is cut off seals nothing; of a look the answers count that came, and the others are asked later."""
    seal()

    short = check_probe(None, "desk", connect=ConnectionOptions(tokens=1_500, concurrency=1), today=day(1))
    whole = check_probe(None, "desk", today=day(2))

    assert short.look is not None and len(short.look.answers) == 1 and short.look.failed == 2
    assert whole.status.asked == 4
    assert whole.look is not None and short.look.answers[0][0] not in dict(whole.look.answers)


def test_a_seal_that_was_cut_off_goes_on_and_one_made_anew_asks_anew(folder: Path) -> None:
    """Of 46 outputs, twice: what was paid for is not asked again, and no answer of the run or a seal is another."""
    few, chosen = ConnectionOptions(tokens=20_000, concurrency=1), ProbeSettings(repeats=2, daily=3)
    before = len((folder / "calls").read_text())

    with pytest.raises(InputError, match="nothing was sealed; what was answered is kept"):
        set_probe(None, "desk", "latest", Path("labels.jsonl"), settings=chosen, connect=few)
    cut = len((folder / "calls").read_text()) - before
    seal()
    whole = len((folder / "calls").read_text()) - before
    seal(force=True)

    assert 0 < cut < whole == 2 * 46
    assert len((folder / "calls").read_text()) - before == 2 * whole
    with Store.open(None, {}) as store:
        assert store.find_run("latest")["name"] == "help-desk"


def test_a_probe_that_was_sealed_with_another_detector_is_watched_by_this_one(folder: Path) -> None:
    """What is stored of a detector is how many are asked a day; its threshold is for what this version weighs."""
    seal()
    sealed = show_probe(None, "desk").probe
    with Store.open(None, {}) as store:
        row = store.probes.find_probe("desk")
        old = {"rise": 23, "threshold": 69, "losses": 0.005, "false_alarms": 0.024, "daily": 3}
        content = json.loads(row["content"]) | {"detector": old}
        store.probes.add_probe({**row, "content": json.dumps(content)}, replace=True)

    assert show_probe(None, "desk").probe == sealed


def test_a_judge_that_gives_no_answer_has_not_drifted(folder: Path) -> None:
    """A failed call is no answer: nothing is counted, and the outputs are asked another time."""
    seal()
    (folder / "mind.py").write_text("def changing(request):\n    raise ConnectionError('gone')\n", "utf-8")
    sys.modules.pop("mind", None)

    with pytest.raises(InputError, match="no answer came"):
        check_probe(None, "desk", today=day(1))

    assert show_probe(None, "desk").status.looks == 0
