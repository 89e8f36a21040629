"""An imported run is a guest: its file may say anything, and nothing of ours rests on it unless we say so."""

import csv
import gzip
import io
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from evenhand import Eval, RunOptions, RunResult, StoreError, compare, run_sync
from evenhand.models.requests import Request
from evenhand.runs.run_record import list_run_record_chain
from evenhand.store.store import Store
from evenhand.workflows.baseline import list_baselines, set_baseline
from evenhand.workflows.history import list_eval_trends, list_histories, load_history
from evenhand.workflows.rescore import rescore_run
from evenhand.workflows.runs import export_run, import_run, list_runs, load_run_head
from tests.cli.command import evenhand

Json = dict[str, Any]
Rows = list[tuple[str, Json]]
GUEST = "29991231-235959-fffff1"  # A date after all of ours.
SAMPLES = [
    {"id": f"s{at}", "input": f"Question {at}", "outputs": {"old": f"a{at}", "new": f"b{at}"}} for at in range(8)
]
RUBRIC = {"criteria": [{"id": "clear", "asks": "Is it clear?"}]}
asked: list[str] = []


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked.clear()


def even(request: Request) -> str:
    """Finds all outputs alike."""
    asked.append(request.messages[-1].text)
    return json.dumps({"criteria": {"clear": {"evidence": [], "reason": "so so", "answer": "no"}}})


def desk() -> Eval:
    return Eval(name="desk", samples=SAMPLES, rubric=RUBRIC, judges=[even])


def unpacked(file: Path) -> Rows:
    lines = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()][1:-1]
    return [next(iter(line.items())) for line in lines]


def packed(rows: Rows, file: Path) -> Path:
    """A file whose counts and checksum are right, whatever its rows say."""
    names = ("samples", "results", "calls", "made")
    counts = {name: sum(kind == name for kind, _ in rows) for name in names}
    lines = [{"evenhand": "run", "format": 1, "counts": counts}, *({kind: row} for kind, row in rows)]
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    file.write_bytes(gzip.compress(text + json.dumps({"sha256": sha256(text).hexdigest()}).encode() + b"\n"))
    return file


def forged(change: Callable[[str, Json], None] = lambda _kind, _row: None, id: str = GUEST) -> tuple[RunResult, Path]:
    """A run that was made here and is gone, and its file with another id and whatever a forger makes of it."""
    made = run_sync(desk())
    export_run(None, made.id, "run.evenhand", io.BytesIO())
    rows = unpacked(Path("run.evenhand"))
    for kind, row in rows:
        if kind == "runs":
            row["id"] = id
        change(kind, row)
    with Store.open(None, {}) as store:
        store.delete_run(made.id)
    asked.clear()
    return made, packed(rows, Path("forged.evenhand"))


def praise(kind: str, row: Json) -> None:
    """Every reply about a new output is the best there is."""
    if kind == "calls" and row["variant"] == "new":
        row["reply"] = row["reply"].replace('"no', '"yes')
    if kind == "runs":
        row["summary"] = row["summary"].replace("UNDERPOWERED", "PROGRESS").replace("NO_EFFECT", "PROGRESS")


def test_the_replies_of_a_guest_are_used_for_no_other_run() -> None:
    """Each question of a new run is asked, whatever replies the guest brings for it."""
    first, file = forged(praise)
    import_run(None, str(file))

    second = run_sync(desk())

    assert len(asked) == 16
    assert second.decision.verdict == first.decision.verdict
    assert [one["cached"] for one in second.head["judges"]] == [0]


def test_replies_are_used_where_they_are_trusted() -> None:
    """As when a team moves its own runs from one store to another."""
    _, file = forged()
    import_run(None, str(file), trust_replies=True)

    run_sync(desk())

    assert asked == []


def test_a_guest_is_no_evaluation_of_an_eval() -> None:
    """It is counted apart, and neither the last verdict of the eval nor a point of its charts is a guest's."""
    _, file = forged(praise)
    import_run(None, str(file))
    (alone,), (listed,) = list_eval_trends(None).evals, list_histories(None)
    ours = run_sync(desk())
    (both,), (after,) = list_eval_trends(None).evals, list_histories(None)

    assert (alone.verdict, alone.points, [one.imported for one in alone.runs]) == (None, (), [True])
    assert (both.verdict, {one.run for one in both.points}) == (ours.decision.verdict, {ours.id})
    assert [one.imported for one in both.runs] == [True, False]
    assert (listed.evaluations, listed.imported, listed.latest) == (0, 1, "")
    assert (after.evaluations, after.imported, after.latest) == (1, 1, ours.head["run"]["ended"])
    assert listed.to_json()["imported"] == 1


def test_a_guest_is_not_resumed() -> None:
    """Not even one that says of itself that all was the same and is finished."""
    _, file = forged(praise)
    import_run(None, str(file), trust_replies=True)

    done = run_sync(desk(), options=RunOptions(resume=True))

    assert done.id != GUEST
    assert done.head["run"]["taken_from"] is None


def test_a_guest_that_takes_the_place_of_a_deleted_run_gives_no_outputs() -> None:
    """A run goes on from runs of ours only, though their ids are known to whoever has seen them."""
    made, file = forged(id="20260101-000000-abcdef")
    import_run(None, str(file))

    with Store.open(None, {}) as store:
        row = {"id": made.id, "name": "desk", "taken_from": "20260101-000000-abcdef"}
        assert list_run_record_chain(store, row) == [made.id]


def test_a_guest_is_never_the_latest() -> None:
    """Whatever its date; without any other there is no latest."""
    _, file = forged()
    import_run(None, str(file))
    with pytest.raises(StoreError, match=f"never the latest .name it by its id: {GUEST}"):
        load_run_head(None, "latest")

    with pytest.raises(StoreError, match=f"no run 'nope' .name what was imported by its id: {GUEST}"):
        load_run_head(None, "nope")

    ours = run_sync(desk())

    assert load_run_head(None, "latest")["run"]["id"] == ours.id
    with pytest.raises(StoreError, match=f"no run 'nope' .the latest is {ours.id}"):
        load_run_head(None, "nope")
    assert load_run_head(None, "latest:desk")["run"]["id"] == ours.id
    assert set_baseline(None, "main", "latest:desk")[0] == ours.id
    assert load_run_head(None, GUEST)["run"]["id"] == GUEST


def test_what_a_guest_says_of_itself_is_worked_out_anew() -> None:
    """Its summary is not believed: the verdict follows from its rows."""
    first, file = forged(lambda kind, row: praise(kind, row) if kind == "runs" else None)
    import_run(None, str(file))

    assert load_run_head(None, GUEST)["decision"]["verdict"] == first.head["decision"]["verdict"]
    assert list_runs(None)[0].verdict == first.head["decision"]["verdict"]


def test_a_guest_is_not_the_history_that_others_are_held_against() -> None:
    """Runs that stray are found by runs of ours."""
    _, file = forged(lambda _kind, _row: None, id="20200101-000000-abcdef")
    import_run(None, str(file))

    ours = run_sync(desk())

    assert ours.head["consistency"][0]["says"] == "no history yet"
    assert [line.evaluation.imported for line in load_history(None, "desk").runs] == [True, False] * 2


def test_a_guest_is_marked_in_every_list_and_report(tmp_path: Path) -> None:
    """Also what is made from it: a rescored guest, a baseline, a comparison."""
    _, file = forged()
    import_run(None, str(file), baseline="theirs")
    ours = run_sync(desk())
    rubric = tmp_path / "other.yaml"
    rubric.write_text("criteria: [{id: clear, asks: Is it clear?, weight: 2}]\n", "utf-8")
    rescored = rescore_run(None, GUEST, str(rubric))["run"]["id"]

    assert {one.id: one.imported for one in list_runs(None)} == {GUEST: True, rescored: True, ours.id: False}
    assert [one.imported for one in list_baselines(None)] == [True]
    compared = compare(f"{GUEST}:old", f"{ours.id}:new")
    assert f"run {GUEST} was imported" in " ".join(compared.notes)
    assert compared.to_json()["control"]["imported"]
    for command in (
        ("runs", "list"), ("runs", "show", GUEST), ("history", "desk"), ("baseline", "list"), ("report", GUEST),
        ("report", GUEST, "--markdown"), ("report", GUEST, "--html"), ("report", GUEST, "--junit"),
        ("report", GUEST, "--csv"), ("report", GUEST, "--json"), ("runs", "show", GUEST, "--full"),
        ("runs", "list", "--json"), ("runs", "list", "--sort", "composite"), ("history", "desk", "--json"),
        ("baseline", "list", "--json"), ("compare", f"{GUEST}:old", f"{ours.id}:new"), ("runs", "show", rescored),
    ):  # fmt: skip
        assert "imported" in evenhand(*command, folder=tmp_path).stdout, command
    assert "imported" not in evenhand("report", ours.id, "--csv", folder=tmp_path).stdout


@pytest.mark.parametrize(
    "change",
    [
        ("runs", "id", "main"), ("runs", "id", "latest"), ("runs", "taken_from", GUEST), ("runs", "taken_from", "../x"),
        ("runs", "setup", "[]"), ("runs", "setup", "{}"), ("runs", "setup", '{"frame": 1}'), ("runs", "summary", "7"),
        ("runs", "started", "2026-11-16T05:12:33"), ("runs", "name", "x" * 20_000), ("runs", "seed", 1e300),
        ("results", "score", "1/0"), ("results", "score", "9" * 5000), ("results", "composite", "NaN"),
        ("results", "position", -1), ("results", "position", 2**31), ("results", "repeat", 10**8),
        ("results", "content", "{}"), ("results", "content", '{"a": NaN}'), ("results", "key", "../../x"),
        ("results", "variant", "nobody"), ("calls", "reply", "{}"), ("calls", "reply", "[1]"),
        ("calls", "cost", "1e999999"), ("calls", "cost", "-5"), ("calls", "seconds", -1.0), ("calls", "attempts", -1),
        ("calls", "input_tokens", -7), ("calls", "cached_from", "\x1b[2J"), ("calls", "at", "9999"),
        ("samples", "content", '"text"'), ("samples", "content", '{"tags": 7}'), ("samples", "position", 10**7),
    ],
)  # fmt: skip
def test_a_row_that_no_run_has_is_refused_and_nothing_stays(change: tuple[str, str, object]) -> None:
    """Every column is looked at, also where the checksum is right; lists go on as before."""
    table, column, value = change

    def spoil(kind: str, row: Json) -> None:
        if kind == table:
            row[column] = value

    _, file = forged(spoil)

    with pytest.raises(StoreError):
        import_run(None, str(file))

    assert list_runs(None) == []


def test_runs_that_took_over_from_each_other_are_refused() -> None:
    """Whoever walks from one to the other would never come to an end."""

    def take(id: str) -> Callable[[str, Json], None]:
        return lambda kind, row: row.update(taken_from=id) if kind == "runs" else None

    _, file = forged(take("20300101-000000-000002"), id="20300101-000000-000001")
    import_run(None, str(file))
    rows = unpacked(file)
    rows[0][1].update(id="20300101-000000-000002", taken_from="20300101-000000-000001")

    with pytest.raises(StoreError, match="was taken over from itself"):
        import_run(None, str(packed(rows, Path("second.evenhand"))))


BOMBS: dict[str, Callable[[], str]] = {
    "many lists": lambda: f'{{"x":[{"[]," * 19_999_999}[]]}}',
    "one text": lambda: f'{{"x":"{"a" * 200_000_000}"}}',
    "many numbers": lambda: f'{{"x":[{"0," * 29_999_999}0]}}',
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_small_file_does_not_unpack_to_gigabytes(bomb: str) -> None:
    """Half a megabyte asks for no more than some hundred, and is refused."""

    def spoil(kind: str, row: Json) -> None:
        if kind == "runs":
            row["setup"] = BOMBS[bomb]()

    _, file = forged(spoil)
    code = f"from evenhand.workflows.runs import import_run\nimport_run(None, {str(file.absolute())!r})"

    def limit_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    done = subprocess.run(  # noqa: PLW1510 - it fails
        [sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=limit_memory
    )

    assert file.stat().st_size < 600_000
    assert "StoreError" in done.stderr.splitlines()[-1]


def test_one_bad_run_never_breaks_the_list() -> None:
    """It may have come here before imports were looked at."""
    ours = run_sync(desk())
    with Store.open(None, {}) as store:
        bad = store.find_run(ours.id)
        head = json.loads(bad["summary"])
        head["variants"][0]["composite"] = {"mean": "high"}
        mean = json.dumps(head)
        for number, summary in enumerate(('{"variants": 7}', "[7]", "7", '{"variants": [{}], "run": {}}', "{", mean)):
            store.begin_run({**bad, "id": f"20300101-000000-00000{number}", "summary": summary})
        store.begin_run({**bad, "id": "20300101-000000-00000a", "setup": "[]"})

    listed = list_runs(None)

    assert [one.state for one in listed] == ["unreadable"] * 7 + ["finished"]
    assert evenhand("runs", "list", folder=Path.cwd()).returncode == 0


def test_a_csv_of_a_guest_says_so_in_every_row() -> None:
    """A file goes further than the list that it was taken from."""
    _, file = forged()
    import_run(None, str(file))

    text = evenhand("report", GUEST, "--csv", folder=Path.cwd()).stdout

    assert {row["origin"] for row in csv.DictReader(io.StringIO(text))} == {"imported"}


def test_nothing_that_a_guest_names_is_executed(tmp_path: Path) -> None:
    """Judges, variants and checks in its setup and its samples are words: no command opens or runs them."""
    (tmp_path / "canary.py").write_text("from pathlib import Path\nPath('sung').touch()\nsing = print\n", "utf-8")
    (tmp_path / "other.yaml").write_text("criteria: [{id: clear, asks: Is it clear?, weight: 2}]\n", "utf-8")

    def name_canaries(kind: str, row: Json) -> None:
        if kind == "runs":
            setup = json.loads(row["setup"])
            setup["frame"]["judges"] = ["python:canary:sing"]
            setup["variants"] = {"old": {"python": "canary:sing"}, "new": {"command": ["touch", "sung"]}}
            row["setup"] = json.dumps(setup)
            row["source"] = "judges: [python:canary:sing]\n"
        if kind == "samples":
            content = {**json.loads(row["content"]), "assertions": [{"custom": {"command": ["touch", "sung"]}}]}
            row["content"] = json.dumps(content)
        if kind == "calls":
            row["judge"] = "python:canary:sing"

    _, file = forged(name_canaries)
    import_run(None, str(file))
    for command in (
        ("report", GUEST, "--json"), ("runs", "rescore", GUEST, "-r", "other.yaml"), ("audit", GUEST),
        ("compare", GUEST), ("sensitivity", GUEST), ("runs", "show", GUEST, "--setup"), ("history", "desk"),
    ):  # fmt: skip
        assert "Traceback" not in evenhand(*command, folder=tmp_path).stderr

    assert not (tmp_path / "sung").exists()


def lift(kind: str, row: Json) -> None:
    """A composite off the scale."""
    if kind == "results" and row["variant"] == "new" and row["composite"] is not None:
        row["composite"], row["number"] = "9/1", 9.0


def improve(kind: str, row: Json) -> None:
    """A composite that its layers do not give."""
    if kind == "results" and row["variant"] == "new" and row["composite"] is not None:
        row["composite"], row["number"] = "49/10", 4.9


@pytest.mark.parametrize("change", [lift, improve])
def test_a_score_that_does_not_follow_from_its_parts_is_refused(change: Callable[[str, Json], None]) -> None:
    """And nothing is left of the run."""
    _, file = forged(change)

    with pytest.raises(StoreError, match="composite is not the mean of its layers"):
        import_run(None, str(file))

    with Store.open(None, {}) as store:
        assert store.list_runs() == []


@pytest.mark.parametrize("kinds", [("results",), ("samples", "results")])
def test_a_run_whose_losses_were_taken_out_is_refused(kinds: tuple[str, ...]) -> None:
    """With their samples or without: the run says how many it had."""
    _, file = forged()
    rows = unpacked(file)
    packed([(kind, row) for kind, row in rows if kind not in kinds or row["position"] != 0], file)

    with pytest.raises(StoreError, match=r"has [0-9]+ (samples, and its run is said|results of a finished run)"):
        import_run(None, str(file))


def change_json(table: str, column: str, *path: str, to: object) -> Callable[[str, Json], None]:
    """Put a value into what a column holds as JSON; a name on the way that is not there is made."""

    def change(kind: str, row: Json) -> None:
        if kind != table:
            return
        whole = at = json.loads(row[column])
        for name in path[:-1]:
            at = at[int(name)] if isinstance(at, list) else at.setdefault(name, {})
        at[path[-1]] = to
        row[column] = json.dumps(whole)

    return change


@pytest.mark.parametrize(
    ("table", "column", "path"),
    [
        ("results", "content", ("layers", "judge")),
        ("runs", "setup", ("frame", "rubrics", "0", "judge_gate")),
        ("runs", "setup", ("frame", "rubrics", "0", "layer_weights", "judge")),
        ("runs", "setup", ("frame", "smallest_effect")),
        ("runs", "setup", ("frame", "gates", "judge")),
        ("results", "content", ("output", "cost")),
    ],
)
def test_a_number_with_an_exponent_is_refused_wherever_it_stands(
    table: str, column: str, path: tuple[str, ...]
) -> None:
    """1e999999999 would be worked out until the memory is full. A small one shows that none is even tried."""
    _, file = forged(change_json(table, column, *path, to="1e100" if path[-1] == "cost" else "1e0"))

    with pytest.raises(StoreError):
        import_run(None, str(file))

    assert list_runs(None) == []


def test_nobody_sees_a_run_that_was_not_checked_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that was stopped in its check left the run, with the verdict that its file claims."""
    _, file = forged()
    seen = []

    def stop(*_: object) -> None:
        seen.append(list_runs(None))
        raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.workflows.imported_runs.refuse_imported_run_contradictions", stop)

    with pytest.raises(KeyboardInterrupt):
        import_run(None, str(file))

    assert (seen, list_runs(None)) == ([[]], [])


@pytest.mark.parametrize("layers", [{"judge": "900/1"}, {"judge": "1/1"}])
def test_an_adjustment_that_the_eval_does_not_make_is_refused(layers: Json) -> None:
    """Beside made-up plain scores, any layers and composites were taken."""

    def forge(kind: str, row: Json) -> None:
        if kind == "results":
            content = json.loads(row["content"])
            content |= {"layers": layers, "unadjusted": {"layers": {"judge": "3/1"}, "composite": "3/1"}}
            row |= {"content": json.dumps(content), "composite": "5/1", "number": 5.0}

    _, file = forged(forge)

    with pytest.raises(StoreError, match="its eval adjusts none"):
        import_run(None, str(file))


@pytest.mark.parametrize("count", [8.0, "8", None, True])
def test_a_finished_run_says_how_many_samples_it_had(count: object) -> None:
    """A number of another kind was not compared, and losses could be taken out."""
    _, file = forged(change_json("runs", "setup", "samples", to=count))

    with pytest.raises(StoreError, match="does not say how many samples"):
        import_run(None, str(file))


@pytest.mark.parametrize("name", ["bad name!", "main"])
def test_an_import_whose_baseline_is_refused_leaves_nothing_behind(name: str) -> None:
    """The run stayed, was listed, and could not be imported again; "main" is refused, for the run was stopped."""

    def stop(kind: str, row: Json) -> None:
        if kind == "runs" and name == "main":
            row["state"] = "stopped"

    _, file = forged(stop)

    with pytest.raises(StoreError, match=r"a baseline cannot be called|is stopped, not finished"):
        import_run(None, str(file), baseline=name)

    assert list_runs(None) == []
    assert list_baselines(None) == []
