"""One verdict: the typed decision, its JSON, the stored head of the run and the exit code of the command agree."""

import asyncio
import json
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand import RunOptions, RunResult, run
from evenhand.compare.decision import CompareDecision, encode_compare_decision, read_compare_decision
from evenhand.store.store import Store
from evenhand.workflows.compare import CompareTerms, compare_runs
from tests.cli.command import evenhand
from tests.runs.stored import Row, Scores, keep_run, result

RUN, OTHER = "20261116-090000-aaaaaa", "20261116-100000-bbbbbb"
LOW = [2.0, 2.5, 2.0, 1.5] * 10
SOME = [4.0, 4.5, 3.5, 4.5] * 10
MORE = [4.5, 4.75, 4.0, 5.0] * 10
LOST: Scores = [None if place % 3 else 4.0 for place in range(40)]
ANY_SCORE = {"pass_rate": Fraction(0), "fact": Fraction(1)}
LOOKS = {"until_decided": {"looks": [20, 40, 80], "seed": 0}, "samples": 80}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A run, how it is compared, and what the verdicts of both must be."""

    scores: dict[str, Scores]
    verdict: str
    exit_code: int
    gates: dict[str, Fraction] = field(default_factory=lambda: ANY_SCORE)
    compared: tuple[str, int] | None = None  # Where it is not what the run decided itself.
    not_worse_by: float | None = None
    says: str = ""
    setup_changes: dict[str, Any] | None = None
    results: list[Row] | None = None


def missing(**gates: Fraction) -> dict[str, Fraction]:
    return {**ANY_SCORE, **gates}


def with_verdicts(word: str) -> list[Row]:
    """Outputs of which the new ones score more and have this verdict; both answer one criterion."""
    card: dict[str, Any] = {"verdict": word, "criteria": {}, "reviews": None}
    return [
        {**result(at, name, score, scorecard=card, criteria={"page": "1/2"}), "score": str(Fraction(score))}
        for name, row in (("old", LOW), ("new", SOME))
        for at, score in enumerate(row)
    ]


def of_other_layers() -> list[Row]:
    rows = [result(at, "old", score) for at, score in enumerate(LOW)]
    return rows + [result(at, "new", score, layers={"fact": "4", "judge": "4"}) for at, score in enumerate(SOME)]


TWO: dict[str, Scores] = {"old": LOW, "new": SOME}
JUDGED = with_verdicts("pass")
CASES = {
    "progress": Case(scores=TWO, verdict="PROGRESS", exit_code=0),
    "regress": Case(scores={"old": SOME, "new": LOW}, verdict="REGRESS", exit_code=1),
    "lost outputs": Case(scores={"old": SOME, "new": LOST}, verdict="REGRESS", exit_code=1),
    "cautious by a layer": Case(
        scores=TWO, verdict="CAUTIOUS", exit_code=1, gates=missing(fact=Fraction(9, 2)), says="below its gate"
    ),
    "noise": Case(scores={"old": SOME, "new": SOME}, verdict="NOISE", exit_code=1),
    "underpowered": Case(scores={"old": LOW[:3], "new": SOME[:3]}, verdict="UNDERPOWERED", exit_code=1),
    "pass rate missed": Case(
        scores=TWO, verdict="CAUTIOUS", exit_code=1, gates=missing(pass_rate=Fraction(9, 10)),
        results=with_verdicts("fail"), says="new misses its gate for the pass rate",
    ),
    "composite missed": Case(
        scores=TWO, verdict="CAUTIOUS", exit_code=1, gates=missing(composite=Fraction(49, 10)),
        says="new misses its gate composite",
    ),
    "score missed": Case(
        scores=TWO, verdict="CAUTIOUS", exit_code=1, gates=missing(score=Fraction(49, 10)), results=JUDGED,
        says="new misses its gate score",
    ),
    "criterion missed": Case(
        scores=TWO, verdict="CAUTIOUS", exit_code=1, gates=missing(page=Fraction(2, 3)), results=JUDGED,
        says="new misses its gate page",
    ),
    "gate not known": Case(
        scores=TWO, verdict="CAUTIOUS", exit_code=1, gates=missing(tone=Fraction(1)),
        says="new is not known to pass its gate tone",
    ),
    "worse, and a gate missed": Case(
        scores={"old": SOME, "new": LOW}, verdict="REGRESS", exit_code=1, gates=missing(composite=Fraction(4)),
        says="new is worse than old",
    ),
    "not worse": Case(
        scores={"old": SOME, "new": SOME}, verdict="NOISE", exit_code=1, compared=("NOISE", 0), not_worse_by=0.5
    ),
    "not worse, and a gate missed": Case(
        scores={"old": SOME, "new": SOME}, verdict="NOISE", exit_code=1, gates=missing(composite=Fraction(9, 2)),
        not_worse_by=0.5,
    ),
    "the best of several": Case(
        scores={"old": LOW, "new": SOME, "newer": MORE}, verdict="PROGRESS", exit_code=0,
        says="It is the best of 2 treatments.",
    ),
    "one of several misses a gate": Case(
        scores={"old": LOW, "new": SOME, "newer": MORE}, verdict="CAUTIOUS", exit_code=1,
        gates=missing(composite=Fraction(9, 2)), says="Best of 2 treatments: newer",
    ),
    "stopped early": Case(
        scores=TWO, verdict="PROGRESS", exit_code=0, setup_changes=LOOKS,
        says="Stopped after 40 of 80 samples: settled.",
    ),
    "stopped early, and a gate missed": Case(
        scores=TWO, verdict="CAUTIOUS", exit_code=1, setup_changes=LOOKS, gates=missing(composite=Fraction(49, 10)),
        says="Stopped after 40 of 80 samples: the difference is settled.",
    ),
    "solo": Case(scores={"new": SOME}, verdict="SOLO", exit_code=0),
    "solo, and a gate missed": Case(
        scores={"new": SOME}, verdict="SOLO", exit_code=1, gates=missing(composite=Fraction(49, 10)),
        says="new misses its gate composite.",
    ),
    "solo, and a layer low": Case(
        scores={"new": SOME}, verdict="SOLO", exit_code=1, gates=missing(fact=Fraction(49, 10)), says="Below the gate"
    ),
    "nothing scored": Case(
        scores={"old": [None] * 9, "new": [None] * 9}, verdict="UNDECIDED", exit_code=1,
        says="No output could be scored.", compared=("UNDERPOWERED", 1),
    ),
    "nothing comparable": Case(scores=TWO, verdict="UNDECIDED", exit_code=1, results=of_other_layers()),
}  # fmt: skip


def kept(folder: Path, case: Case, id: str = RUN) -> RunResult:
    with Store.open(folder / ".evenhand", {}) as store:
        keep_run(
            store, id, case.scores, gates=case.gates, results=case.results, setup_changes=case.setup_changes,
            seed=3,
        )  # fmt: skip
        return RunResult(id=id, state="finished", head=json.loads(store.find_run(id)["summary"] or ""))


def agree(typed: CompareDecision, told: dict[str, Any]) -> None:
    """All that a decision says, and the numbers behind it."""
    assert encode_compare_decision(typed) == told
    assert read_compare_decision(told).verdict == typed.verdict == told["verdict"]
    assert (typed.exit_code, typed.headline, typed.sure) == (told["exit_code"], told["headline"], told["sure"])
    assert (list(typed.reasons), typed.next_step, typed.best) == (told["reasons"], told["next_step"], told["best"])
    assert [(one.verdict, one.headline) for one in typed.comparisons] == [
        (one["verdict"], one["headline"]) for one in told["comparisons"]
    ]


@pytest.mark.parametrize("name", CASES)
def test_a_run_has_one_verdict(name: str, tmp_path: Path) -> None:
    """What it has kept is what the Python API gives and what the process exits with."""
    case = CASES[name]

    ran = kept(tmp_path, case)

    assert (ran.decision.verdict, ran.decision.exit_code) == (case.verdict, case.exit_code)
    assert ran.exit_code == case.exit_code
    assert case.says in ran.decision.headline
    agree(ran.decision, ran.head["decision"])


def test_a_run_that_cannot_be_decided_is_told_like_any_other(tmp_path: Path) -> None:
    """Its headline is a sentence, and its JSON has all keys: the control is known, though nothing was compared."""
    decided = kept(tmp_path, CASES["progress"]).head["decision"]
    undecided = kept(tmp_path, CASES["nothing comparable"], OTHER).head["decision"]

    assert undecided["headline"].startswith("Variant ")
    assert undecided["headline"].endswith(".")
    assert (list(undecided), undecided["control"]) == (list(decided), "old")


@pytest.mark.parametrize("name", [name for name in CASES if name != "nothing comparable"])
def test_a_comparison_has_one_verdict(name: str, tmp_path: Path) -> None:
    """The same for the variants of a stored run, by the Python API and by the command."""
    case = CASES[name]
    kept(tmp_path, case)
    asked = ["--not-worse-by", str(case.not_worse_by)] if case.not_worse_by else []

    with Store.open(tmp_path / ".evenhand", {}) as store:
        found = compare_runs(store, RUN, terms=CompareTerms(not_worse_by=case.not_worse_by))
    done = evenhand("compare", RUN, "--json", *asked, folder=tmp_path)

    verdict, exit_code = case.compared or (case.verdict, case.exit_code)
    assert (found.decision.verdict, found.decision.exit_code) == (verdict, exit_code)
    assert done.returncode == found.exit_code == exit_code
    assert json.loads(done.stdout) == found.to_json()
    agree(found.decision, found.to_json()["decision"])


def test_a_forced_comparison_has_one_verdict(tmp_path: Path) -> None:
    """It passes nothing, in whatever form it is told."""
    kept(tmp_path, CASES["progress"])
    kept(tmp_path, Case(scores={"old": LOW[:30], "new": SOME[:30]}, verdict="PROGRESS", exit_code=0), OTHER)

    with Store.open(tmp_path / ".evenhand", {}) as store:
        found = compare_runs(store, f"{RUN}:old", f"{OTHER}:new", terms=CompareTerms(force=True))
    done = evenhand("compare", f"{RUN}:old", f"{OTHER}:new", "--force", "--json", folder=tmp_path)

    assert (found.decision.verdict, found.exit_code, done.returncode) == ("PROGRESS", 1, 1)
    assert "(forced: samples are missing;" in found.decision.headline
    assert found.decision.next_step == "Ship nothing by this: run it on all samples."
    assert json.loads(done.stdout) == found.to_json()
    agree(found.decision, found.to_json()["decision"])


@pytest.mark.parametrize(
    ("gates", "verdict", "exit_code"),
    [
        ({}, "PROGRESS", 0),
        ({"pass_rate": {"min": 0.75, "borderline": True}}, "PROGRESS", 0),
        ({"pass_rate": 0.75}, "CAUTIOUS", 1),
        ({"pass_rate": 0.99}, "CAUTIOUS", 1),
        ({"composite": 4.99}, "CAUTIOUS", 1),
        ({"kind": 0.99}, "CAUTIOUS", 1),
    ],
)
def test_an_eval_has_one_verdict(gates: dict[str, object], verdict: str, exit_code: int, tmp_path: Path) -> None:
    """From the file to the exit code: the starter eval, held to one gate more."""
    evenhand("init", "desk", folder=tmp_path)
    path = tmp_path / "desk" / "eval.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), "gates": gates}))

    done = evenhand("run", "eval.yaml", "--json", folder=path.parent)
    ran = asyncio.run(run(path, options=RunOptions(resume=True, place=path.parent / ".evenhand")))

    told = json.loads(done.stdout)["decision"]
    assert (told["verdict"], done.returncode) == (verdict, exit_code)
    assert (ran.decision.verdict, ran.exit_code) == (verdict, exit_code)
    agree(ran.decision, told)
