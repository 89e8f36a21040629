"""A forged run is refused when it is imported, or every command can read it."""

import json
import random
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from evenhand import StoreError, compare
from evenhand.cli.app import app
from evenhand.errors import EvenhandError
from evenhand.report.html.page_file import write_html
from evenhand.report.html.sample_page import build_sample_report_page
from evenhand.store.store import Store
from evenhand.workflows.audit import audit_run
from evenhand.workflows.report import open_report
from evenhand.workflows.run_samples import load_run_sample
from evenhand.workflows.runs import import_run, list_runs, load_run_head
from evenhand.workflows.sensitivity import measure_run_sensitivity
from evenhand.workflows.what_if import ask_what_if_of_run
from tests.workflows.mutations import mutate_json
from tests.workflows.test_guests import GUEST, Json, Rows, forged, packed, unpacked

MUTATIONS = 40


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _read_report() -> None:
    with open_report(None, GUEST) as (_, rows):
        list(rows)


def _write_page() -> None:
    with open_report(None, GUEST) as (head, rows):
        write_html(head, rows, StringIO())


def _show_sample() -> None:
    head, sample = load_run_sample(None, GUEST, 0)
    build_sample_report_page(head, sample)


COMMANDS: dict[str, Callable[[], object]] = {
    "runs list": lambda: list_runs(None),
    "runs show": lambda: load_run_head(None, GUEST),
    "report": _read_report,
    "audit": lambda: audit_run(None, GUEST),
    "sensitivity": lambda: measure_run_sensitivity(None, GUEST, draws=20, seed=0, spread=0.5),
    "what if": lambda: ask_what_if_of_run(None, GUEST),
    "compare": lambda: compare(GUEST),
    "sample": _show_sample,
    "report --html": _write_page,
}


def _forge_rubric(change: Callable[[Json], None]) -> Callable[[str, Json], None]:
    def forge(kind: str, row: Json) -> None:
        if kind == "runs":
            setup = json.loads(row["setup"])
            change(setup["rubrics"][""])
            row["setup"] = json.dumps(setup)

    return forge


def _forge_shown_rubric(change: Callable[[Json], None]) -> Callable[[str, Json], None]:
    def forge(kind: str, row: Json) -> None:
        if kind == "runs":
            setup = json.loads(row["setup"])
            change(setup["frame"]["rubrics"][0])
            row["setup"] = json.dumps(setup)

    return forge


def _forge_setup(change: Callable[[Json], object]) -> Callable[[str, Json], None]:
    def forge(kind: str, row: Json) -> None:
        if kind == "runs":
            setup = json.loads(row["setup"])
            change(setup)
            row["setup"] = json.dumps(setup)

    return forge


def _forge_judge(kind: str, row: Json) -> None:
    if kind == "results":
        content = json.loads(row["content"])
        content["judgments"][0]["judge"] = None
        row["content"] = json.dumps(content)


def _forge_content(kind: str, change: Callable[[Json], None]) -> Callable[[str, Json], None]:
    def forge(own: str, row: Json) -> None:
        if own == kind:
            content = json.loads(row["content"])
            change(content)
            row["content"] = json.dumps(content)

    return forge


def _forge_assertion(**changed: object) -> Callable[[str, Json], None]:
    whole = {"name": "short", "kind": "max_words", "layer": "fact", "weight": 1.0, "passed": True}
    whole |= {**dict.fromkeys(("looked_for", "found", "why_not"), ""), "start": None, "end": None, "parts": []}
    return _forge_content("results", lambda result: result.update(assertions=[{**whole, **changed}]))


PREFERENCE: Json = {"judge": "even", "first": "old", "second": "new", "winner": None, "votes": [None, None]}
PREFERENCE |= {"position_bias": False, "why_not": None, "reasons": [], "gate": None, "weight": 1.0}


@cache
def _make_whole_run() -> str:
    return json.dumps(unpacked(forged()[1]))


def _forge_run(change: Callable[[str, Json], None]) -> Path:
    """The file of one run, made once, and changed."""
    rows: Rows = [(kind, row) for kind, row in json.loads(_make_whole_run())]
    for kind, row in rows:
        change(kind, row)
    return packed(rows, Path("forged.evenhand"))


def _forge_id(kind: str, row: Json) -> None:
    if kind == "samples":
        row["id"] += "/1"


FORGED: dict[str, Callable[[str, Json], None]] = {
    "criteria": _forge_rubric(lambda rubric: rubric.update(criteria="x")),
    "a scale": _forge_rubric(lambda rubric: rubric["criteria"][0].update(scale="x")),
    "a scale without its end": _forge_rubric(lambda rubric: rubric["criteria"][0]["scale"].pop("min")),
    "a step": _forge_rubric(lambda rubric: rubric["method"].update(steps=["x"])),
    "a weight of a criterion": _forge_rubric(lambda rubric: rubric["criteria"][0].update(weight="abc")),
    "an end of a scale": _forge_rubric(lambda rubric: rubric["criteria"][0]["scale"].update(min="abc")),
    "a judge": _forge_judge,
    "an id": _forge_id,
    "a tag": _forge_content("samples", lambda sample: sample.update(tags=[1])),
    "a trace": _forge_content("results", lambda result: result["output"].update(trace="x")),
    "assertions": _forge_content("results", lambda result: result.update(assertions="x")),
    "a place in an output": _forge_assertion(start="x"),
    "a place that no column holds": _forge_assertion(end=10**400),
    "a weight that no column holds": _forge_assertion(weight=10**400),
    "a number of a judge that no column holds": _forge_content(
        "results", lambda result: result["judgments"][0].update(expected=10**400)
    ),
    "a call of a trace": _forge_content("results", lambda result: result["output"].update(trace=["x"])),
    "a weight": _forge_shown_rubric(lambda rubric: rubric["criteria"][0].update(weight="x")),
    "a scale that is shown": _forge_shown_rubric(lambda rubric: rubric["criteria"][0].update(scale=1)),
    "statements": _forge_shown_rubric(lambda rubric: rubric.update(statements=True)),
    "verdicts": _forge_shown_rubric(lambda rubric: rubric.update(verdicts=[{"verdict": "pass"}])),
    "a verdict's score": _forge_shown_rubric(lambda rubric: rubric.update(verdicts=[{"verdict": "pass", "from": "x"}])),
    "the settings of judges": _forge_setup(lambda setup: setup["how"].update(settings=None)),
    "a setting": _forge_setup(lambda setup: setup["how"]["settings"].update(max_tokens=[])),
    "a setting that judges do not have": _forge_setup(lambda setup: setup["how"]["settings"].update(more=1)),
    "the weights of judges": _forge_setup(lambda setup: setup["how"].update(weights=None)),
    "a cascade": _forge_setup(lambda setup: setup["how"].update(cascade="x")),
    "no language": _forge_setup(lambda setup: setup["how"].pop("language")),
    "prompts": _forge_setup(lambda setup: setup.update(prompts=None)),
    "fingerprints": _forge_setup(lambda setup: setup.update(fingerprints=None)),
    "the name of a judge": _forge_setup(lambda setup: setup["judges"][0].update(name=1)),
    "half a character": _forge_setup(lambda setup: setup["frame"].update(name="\ud800")),
    "a variant": _forge_setup(lambda setup: setup["variants"].update(old="x")),
    "what was selected": _forge_setup(lambda setup: setup.update(selection={"limit": 1})),
    "flags found": _forge_content("results", lambda result: result["scorecard"].update(statements=False)),
    "a step of a composite": _forge_content("results", lambda result: result["composite_steps"][0].update(before="5")),
    "no judgments": _forge_content("results", lambda result: result.pop("judgments")),
    "a pair": _forge_content("results", lambda result: result.update(preferences=[{**PREFERENCE, "judge": None}])),
    "a verdict's name": _forge_shown_rubric(lambda rubric: rubric.update(verdicts=[{"verdict": [], "from": 1}])),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_run_that_commands_would_stumble_over_is_refused(what: str, caplog: pytest.LogCaptureFixture) -> None:
    """It was imported, and then broke report, audit and sensitivity with a fault of our own; one sentence is said."""
    file = _forge_run(FORGED[what])

    with pytest.raises(StoreError, match=r"cannot be read|no run that Evenhand has written|belongs to nothing"):
        import_run(None, str(file))

    assert list_runs(None) == []
    assert caplog.messages == []


def test_an_assertion_that_fits_a_table_is_taken() -> None:
    """Those above are refused for what is changed in it."""
    file = _forge_run(_forge_assertion())

    assert import_run(None, str(file)) == GUEST


def test_what_cannot_be_read_is_named() -> None:
    """The type of an error of ours tells nobody what is wrong with the file."""
    file = _forge_run(_forge_content("results", lambda result: result.update(output="x")))

    with pytest.raises(StoreError, match=r"cannot be read: result.output has another type \(position 0, variant "):
        import_run(None, str(file))


def test_a_run_that_a_door_cannot_show_is_refused() -> None:
    """Commands print it in full before it is taken in."""

    def fail(_: Json) -> None:
        raise KeyError("nobody")

    file = _forge_run(lambda _kind, _row: None)
    with pytest.raises(StoreError, match=r"has rows that cannot be read \(KeyError\)"):
        import_run(None, str(file), show=fail)
    assert list_runs(None) == []


def test_a_review_by_somebody_who_was_not_asked_is_shown() -> None:
    """The names in a result are anybody's word: a command that looked them up among the judges failed."""
    review: Json = {"score": 3.0, "holistic": None, "criteria": {}, "steps": []}
    reviews = [{"judge": name, **review} for name in ("even", "odd")]
    file = _forge_run(_forge_content("results", lambda result: result["scorecard"].update(reviews=reviews)))

    taken = CliRunner().invoke(app, ["runs", "import", str(file)], catch_exceptions=False)
    shown = CliRunner().invoke(app, ["runs", "show", GUEST, "--full"], catch_exceptions=False)

    assert taken.output == f"run {GUEST} is here now: evenhand report {GUEST}\n"
    assert "even and odd: correlation not defined" in shown.output


def _forget_later_fields(rubric: Json) -> None:
    for name in ("holistic", "too_close"):
        rubric.pop(name, None)
    for criterion in rubric["criteria"]:
        criterion.pop("examples", None)


def test_a_run_of_an_older_version_is_no_forgery() -> None:
    """Its rubric lacks what rubrics could not say then: it is imported, and every command reads it."""
    file = _forge_run(_forge_rubric(_forget_later_fields))

    assert import_run(None, str(file)) == GUEST
    for command in COMMANDS.values():
        with suppress(EvenhandError):
            command()


def _mutate_run(rows: Rows, chance: random.Random) -> None:
    """Put something else into one place of one JSON column."""
    kind, column = chance.choice(
        [("runs", "setup"), ("results", "content"), ("samples", "content"), ("calls", "reply")]
    )
    row = chance.choice([row for name, row in rows if name == kind])
    row[column] = mutate_json(row[column], chance)


def test_whatever_is_changed_in_a_run_is_refused_or_read_by_every_command() -> None:
    """A message of ours is an answer too; any other error is not."""
    whole, chance, taken = _make_whole_run(), random.Random(11), 0
    for _ in range(MUTATIONS):
        rows = [(kind, row) for kind, row in json.loads(whole)]
        _mutate_run(rows, chance)
        try:
            import_run(None, str(packed(rows, Path("mutated.evenhand"))))
        except StoreError:
            continue
        taken += 1
        for command in COMMANDS.values():
            with suppress(EvenhandError):
                command()
        with Store.open(None, {}) as store:
            store.delete_run(GUEST)

    assert 0 < taken < MUTATIONS
