"""Runs from a program: functions as variants, objects as judges, results that show themselves and are compared."""

import asyncio
import importlib
import io
import json
import sqlite3
import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import (
    Budget,
    CompareResult,
    Eval,
    EvalError,
    InputError,
    JudgeOptions,
    RunOptions,
    RunResult,
    Sample,
    StoreError,
    compare,
    judge_sync,
    prefer_sync,
    run,
    run_sync,
)
from evenhand.models.requests import Reply, TokenUsage
from evenhand.report.markdown_report import write_markdown
from evenhand.report.result_phrases import list_reported_cost_parts
from evenhand.testing import FakeServer, scripted_judge
from evenhand.workflows.plan import plan_run
from tests.warm.processes import command_line

SAMPLES = [{"id": f"s{at}", "input": f"Question {at}"} for at in range(24)]
CHECK = [{"contains": "refund"}]
HOSTILE = "<script>alert(1)</script>\x1b[31m"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def vague(sample: dict[str, Any]) -> str:
    return f"Thank you for asking: {sample['input']}"


async def clear(question: str) -> str:
    return f"You get a refund. {question}"


def desk(**variants: Any) -> Eval:
    return Eval(name="desk", samples=SAMPLES, variants=variants, assertions=CHECK)


class Closing:
    """A bot with a state and a method to call."""

    def __init__(self, word: str) -> None:
        self.word = word

    def __call__(self, sample: dict[str, Any]) -> dict[str, Any]:
        return {"text": f"{self.word}: {sample['id']}", "cost": 0.01}


class House:
    """A judge with nothing but an `ask`, which need not be async."""

    def ask(self, request: Any) -> str:
        good = "refund" in request.about.texts["output"]
        said = {"evidence": ["refund"], "reason": "It says so.", "answer": "yes" if good else "no"}
        return json.dumps({"criteria": dict.fromkeys(request.ids, said)})


class Counting(House):
    """One that costs."""

    def ask(self, request: Any) -> Any:
        return Reply(text=super().ask(request), usage=TokenUsage(input=100, output=100))


def test_functions_of_every_kind_are_variants() -> None:
    """Plain and async, a lambda, an object, a closure; each with the input or the sample."""
    word = "refund"
    ran = run_sync(
        desk(vague=vague, clear=clear, short=lambda sample: "refund", held=Closing("refund"), closed=lambda _: word)
    )

    outputs = {(row["variant"], row["output"]) for row in ran.to_rows() if row["id"] == "s1"}
    assert outputs == {
        ("vague", "Thank you for asking: Question 1"),
        ("clear", "You get a refund. Question 1"),
        ("short", "refund"),
        ("held", "refund: s1"),
        ("closed", "refund"),
    }


def test_a_model_with_a_prompt_is_a_variant() -> None:
    """As an eval file writes it, beside a function and outputs that were recorded."""
    with FakeServer(lambda body: f"A refund. {body['messages'][0]['content']}") as server:
        model = {"model": f"openai-compatible:{server.url}/tiny", "prompt": "Answer: {input}"}
        ran = run_sync(Eval(samples=SAMPLES[:2], variants={"model": model, "kept": ["A", None]}, assertions=CHECK))

    told = {(row["id"], row["variant"]): row["output"] for row in ran.to_rows()}
    assert told["s1", "model"] == "A refund. Answer: Question 1"
    assert (told["s0", "kept"], told["s1", "kept"]) == ("A", None)


def test_a_function_that_takes_text_and_gets_a_dict_is_told_how() -> None:
    """The first mistake that people make."""
    ran = run_sync(desk(shout=lambda text: text.upper()))

    assert "it gets the sample as a dict; a parameter annotated as str gets the input" in " ".join(str(ran).split())


def test_a_function_that_is_too_slow_ends_without_a_word() -> None:
    """Its thread goes on for a while; nobody wants to read about it."""
    script = (
        "import time\n"
        "from evenhand import Eval, run_sync\n"
        "from evenhand.evals.variants.variant import FunctionVariant\n"
        "def slow(sample): time.sleep(0.3)\n"
        "late = FunctionVariant(name='a:b', call=slow, seconds=0.05)\n"
        "run_sync(Eval(samples=['a'], variants={'late': late}, assertions=[{'contains': 'a'}]))\n"
        "time.sleep(0.5)"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stderr == ""


def test_an_object_with_an_ask_judges_a_run() -> None:
    """Under the name of its class; its code is part of what a reply is known by."""
    asked = Eval(samples=SAMPLES[:2], variants={"clear": clear}, rubric={"criteria": ["Promises it"]}, judges=[House()])

    ran = run_sync(asked)

    assert [one["name"] for one in ran.head["judges"]] == ["House"]
    assert {row["criterion:rubric-1"] for row in ran.to_rows()} == {1}


def test_another_judge_of_one_name_is_asked_anew() -> None:
    """A reply of the first one would be taken for its own."""
    base = Eval(samples=[Sample(input="a")], variants={"clear": clear}, rubric={"criteria": ["Promises it"]})

    scores = [
        run_sync(replace(base, judges=[scripted_judge({"rubric-1": value})])).to_rows()[0]["criterion:rubric-1"]
        for value in (1, 0)
    ]

    assert scores == [1, 0]


def test_runs_of_judges_with_other_stated_versions_are_not_compared() -> None:
    """Who changed the judge has said so."""
    runs = []
    for version in ("1", "2"):
        house = House()
        house.version = version  # type: ignore[attr-defined]
        base = Eval(samples=SAMPLES, variants={"clear": clear}, rubric={"criteria": ["Promises it"]}, judges=[house])
        runs.append(run_sync(base))

    with pytest.raises(InputError, match=r"the runs were not scored alike: .*House"):
        compare(*runs)


def test_an_unchanged_eval_is_resumed_and_a_changed_function_is_not() -> None:
    """Else the outputs of the old one would be sold as those of the new one."""

    def make(word: str) -> Callable[[dict[str, Any]], str]:
        return lambda _: word

    resume = RunOptions(resume=True)
    first = run_sync(desk(bot=make("old")))

    again, changed = run_sync(desk(bot=make("old")), options=resume), run_sync(desk(bot=make("new")), options=resume)

    assert again.id == first.id != changed.id
    assert {row["output"] for row in changed.to_rows()} == {"new"}


def test_a_file_with_a_changed_function_is_not_resumed(tmp_path: Path) -> None:
    """Its name is the same, its code is not."""
    (tmp_path / "eval.json").write_text(
        json.dumps(
            {"samples": SAMPLES[:1], "variants": {"bot": {"python": "changing_bot:answer"}}, "assertions": CHECK}
        )
    )
    bot = tmp_path / "changing_bot.py"
    script = (
        "import sys; sys.dont_write_bytecode = True\n"
        "from evenhand import *; print(run_sync('eval.json', options=RunOptions(resume=True)).to_rows()[0]['output'])"
    )

    told = []
    for word in ("old", "new"):
        bot.write_text(f"def answer(sample):\n    return {word!r}\n")
        command = command_line("python", script)
        told.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert told == ["old\n", "new\n"]


def test_a_mapping_is_run_and_what_is_none_is_refused() -> None:
    """With our error, not one of Python's."""
    assert run_sync({"samples": ["a"], "variants": {"clear": clear}, "assertions": CHECK}).exit_code == 0
    with pytest.raises(EvalError, match="samples: an eval needs samples"):
        run_sync({})
    with pytest.raises(EvalError, match="an eval is an Eval, a file or a mapping, got int"):
        run_sync(3)  # type: ignore[arg-type]


def test_an_eval_in_python_is_planned_as_a_file_is() -> None:
    """Before anything is paid for."""
    eval = Eval(samples=SAMPLES, variants={"clear": clear}, rubric={"criteria": ["Promises it"]}, judges=[House()])

    planned = asyncio.run(plan_run(eval))

    assert (planned["variants"][0]["to_make"], planned["judges"][0]["name"]) == (24, "House")


def test_sync_forms_work_where_a_loop_is_running() -> None:
    """As in a notebook; errors come through."""
    judge = scripted_judge({"rubric-1": 1})

    async def cell() -> tuple[RunResult, Any]:
        with pytest.raises(EvalError):
            run_sync({})
        return run_sync(desk(clear=clear)), judge_sync({"criteria": ["Is kind"]}, {"output": "Hi"}, judges=[judge])

    ran, judged = asyncio.run(cell())

    assert ran.state == "finished"
    assert judged.scores["output"].score == 1


def test_preferences_have_a_sync_form() -> None:
    """As everything that waits and takes no open connections."""
    reply = json.dumps({"winner": "A", "reason": "It is kinder.", "preference": "A"})

    found = prefer_sync(
        {"criteria": ["Is kind"]}, {"outputs": {"a": "Hi", "b": "Go"}}, judges=[scripted_judge(reply, reply)]
    )

    assert found.preferences


def test_a_result_prints_in_a_line_and_in_a_few() -> None:
    """The line is for a console, the lines say what was decided."""
    ran = run_sync(desk(vague=vague, clear=clear))

    assert repr(ran).startswith(f"<RunResult desk · 24 samples · 2 variants · run {ran.id}: PROGRESS: ")
    assert len(repr(ran)) < 250
    lines = str(ran).splitlines()
    assert lines[2].split() == ["variant", "composite", "fact", "assertions", "scored"]
    assert lines[4].startswith("clear ")
    assert any(line.startswith("PROGRESS: clear ") for line in lines)
    assert len(lines) < 20
    assert max(map(len, lines)) <= 80


def test_a_run_that_was_stopped_says_why() -> None:
    """A verdict of half the samples is none."""
    spent = Budget(tokens=1)
    rubric = {"criteria": ["Promises it"]}
    eval = Eval(samples=SAMPLES, variants={"clear": clear}, rubric=rubric, judges=[Counting()], budget=spent)

    ran = run_sync(eval)

    assert ran.state == "stopped"
    assert f"run: stopped before its end: {ran.why_stopped}" in " ".join(str(ran).split())


def test_print_writes_what_str_says(capsys: pytest.CaptureFixture[str]) -> None:
    """For those who look for a method."""
    ran = run_sync(desk(clear=clear))

    ran.print()

    assert capsys.readouterr().out == f"{ran}\n"


def test_what_others_wrote_does_nothing_in_a_notebook_or_a_terminal() -> None:
    """Names, reasons and errors hold text of models."""

    def fail(sample: dict[str, Any]) -> str:
        raise ValueError(HOSTILE)

    ran = run_sync(Eval(name=HOSTILE, samples=SAMPLES[:2], variants={HOSTILE[:25]: fail}, assertions=CHECK))

    page = ran._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\x1b" not in page + str(ran) + repr(ran)
    assert not any(word in page for word in ("http", "src=", "href", "<link", "<style"))
    assert len(page) < 5_000


def test_rows_become_a_data_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row for an output; pandas is loaded only then."""
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=list))
    ran = run_sync(desk(vague=vague, clear=clear))

    frame = ran.to_pandas()

    assert len(frame) == 48
    assert list(frame[0]) == [
        "id", "variant", "repeat", "state", "score", "composite", "verdict", "layer:fact", "input", "output", "why",
        "cost", "latency_ms",
    ]  # fmt: skip
    assert (frame[0]["id"], frame[0]["variant"], frame[0]["composite"]) == ("s0", "vague", 1.0)


def test_without_pandas_the_error_says_what_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no dependency."""
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(InputError, match=r"needs the package pandas \(pip install pandas; to_rows\(\) gives the same"):
        run_sync(desk(clear=clear)).to_pandas()


def test_results_and_ids_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is that of the results, wherever the program is by then."""
    before, after = run_sync(desk(bot=vague)), run_sync(desk(bot=clear))
    monkeypatch.chdir(Path("/"))

    found = compare(before, after)

    assert isinstance(found, CompareResult)
    assert (found.decision.verdict, found.exit_code) == ("PROGRESS", 0)
    assert compare(before.id, after).to_json() == found.to_json()
    assert compare(before.id, after.id, store=tmp_path / ".evenhand").to_json() == found.to_json()
    assert repr(found).startswith("<CompareResult desk · 24 samples · runs ")
    assert "PROGRESS" in str(found)
    assert "PROGRESS" in found._repr_html_()
    assert [row["of"] for row in found.to_rows()] == ["composite", "layer:fact"]
    assert found.to_rows()[0]["estimate"] == pytest.approx(4)


def test_variants_of_one_result_or_of_two_are_compared() -> None:
    """Where there are several, one is named."""
    both = run_sync(desk(old=vague, new=clear))
    later = run_sync(desk(old=vague, new=vague))

    assert compare(both).decision.verdict == "PROGRESS"
    assert compare(both, later, variant="new").decision.verdict == "REGRESS"
    with pytest.raises(InputError, match="has 2 variants"):
        compare(both, later)


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    """A value that is no run, and runs in two stores."""
    here = run_sync(desk(bot=vague))
    there = run_sync(desk(bot=clear), options=RunOptions(place=tmp_path / "other"))

    with pytest.raises(InputError, match="a run is a RunResult or its id, got int"):
        compare(here, 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the runs are in two stores"):
        compare(here, there)


def test_the_public_name_compare_is_the_function_whatever_was_imported() -> None:
    """A room of the package has the same name."""
    script = (
        "import evenhand.compare.decide\n"
        "from evenhand import compare\n"
        "from evenhand.compare.decide import decide_comparison\n"
        "import evenhand\n"
        "print(compare.__module__, evenhand.compare is compare, decide_comparison.__name__)"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "evenhand.workflows.compare True decide_comparison\n"
    assert evenhand.compare is compare


def test_a_folder_that_cannot_be_written_is_named_with_the_way_out(tmp_path: Path) -> None:
    """Before anything is asked."""
    (tmp_path / ".evenhand").write_text("a file in the way")

    told = r"\.evenhand.*cannot be opened.*EVENHAND_DATABASE_URL names another folder, in Python RunOptions\(place=…\)"
    with pytest.raises(StoreError, match=told):
        run_sync(desk(clear=clear))
    assert run_sync(desk(clear=clear), options=RunOptions(place=tmp_path / "elsewhere")).exit_code == 0


def test_a_run_that_is_awaited_gives_the_same() -> None:
    """For programs with a loop of their own."""
    assert asyncio.run(run(desk(clear=clear))).decision == run_sync(desk(clear=clear)).decision


REVIEWERS = """
import json
from collections import Counter

BROKEN, ANSWERED = set(), Counter()

def review(request, name):
    if name in BROKEN:
        raise RuntimeError("out of order")
    ANSWERED[name] += 1
    said = {"criteria": {id: {"score": 7, "reason": "so", "evidence": []} for id in request.ids}}
    return json.dumps({"responses": dict.fromkeys(request.labels, said)})

def x(request): return review(request, "x")
def y(request): return review(request, "y")
def z(request): return review(request, "z")
"""


@pytest.mark.parametrize("changed", [False, True])
def test_a_run_from_before_orders_were_balanced_asks_nothing_again(
    changed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its reviewers go on in the orders that they began with, also where a changed eval takes over what it has."""
    module = f"reviewers_{changed}".lower()
    Path(f"{module}.py").write_text(REVIEWERS)
    monkeypatch.syspath_prepend(str(Path.cwd()))

    def council(*samples: str, balanced: bool = True) -> Eval:
        return Eval(
            name="council",
            samples=[{"id": id, "input": f"When was {id}?"} for id in samples],
            variants={"old": vague, "new": clear},
            rubric="council",
            judges=[f"python:{module}:{name}" for name in "xyz"],
            how=JudgeOptions(balance_orders=balanced),
        )

    reviewers = importlib.import_module(module)
    reviewers.BROKEN.add("z")
    first = run_sync(council("a", "b", "c", "d", balanced=False))
    with sqlite3.connect(".evenhand/store.sqlite") as store:
        store.execute("UPDATE runs SET setup = json_remove(setup, '$.balanced_orders')")
    reviewers.BROKEN.clear()
    reviewers.ANSWERED.clear()

    again = run_sync(council("a", "b", "c", "d", *(["e"] if changed else [])), options=RunOptions(resume=True))

    assert (again.id == first.id) is not changed
    assert ({"x": 1, "y": 1, "z": 5} if changed else {"z": 4}) == reviewers.ANSWERED


def test_what_recorded_outputs_had_cost_is_not_what_the_run_cost() -> None:
    """Nothing was bought: the cost is told apart, on screen, on pages and as data."""
    outputs = {name: {"text": "You get a refund.", "cost": 0.002} for name in ("old", "new")}
    samples = [{"id": f"s{at}", "input": "?", "outputs": outputs} for at in range(6)]

    head = run_sync({"name": "r", "samples": samples, "variants": {"old": {}, "new": {}}, "assertions": CHECK}).head

    assert (head["cost"]["total"], head["cost"]["recorded"]) == (pytest.approx(0.024), pytest.approx(0.024))
    assert list_reported_cost_parts(head["cost"]) == ["cost $0", "recorded outputs had cost $0.0240 before"]
    page = io.StringIO()
    write_markdown(head, [], page)
    assert "cost &#36;0 · recorded outputs had cost &#36;0.0240 before" in page.getvalue()


def test_what_functions_say_that_outputs_cost_was_spent_by_the_run() -> None:
    """They were called, so nothing is recorded."""
    eval = Eval(name="r", samples=SAMPLES[:2], variants={"bot": lambda _: {"text": "x", "cost": 0.5}}, assertions=CHECK)

    head = run_sync(eval).head

    assert head["cost"]["recorded"] is None
    assert list_reported_cost_parts(head["cost"]) == ["cost $1.00", "outputs $1.00"]


@pytest.mark.parametrize("given", [dict, Eval], ids=["a mapping", "an Eval"])
def test_pairs_are_asked_for_in_a_program_too(given: Callable[..., Any]) -> None:
    """As an eval file asks for them; each output was judged alone, without a word."""
    asked: list[Any] = []

    def judge(request: Any) -> str:
        asked.append(request.dialogue)
        return '{"preferred": "A", "reason": "It says more."}'

    kept = {"old": ["a", "b"], "new": ["c", "d"]}
    eval = given(
        samples=SAMPLES[:2], variants=kept, rubric={"criteria": ["Helps"]}, judges=[judge], dialogue="pairwise"
    )

    run_sync(eval)

    assert set(asked) == {"pairwise"}


def test_a_dialogue_that_is_not_known_is_refused() -> None:
    """A slip would otherwise be no dialogue at all."""
    with pytest.raises(EvalError, match="dialogue 'pairwse' is not known"):
        Eval(samples=SAMPLES, variants={"clear": clear}, rubric={"criteria": ["Helps"]}, dialogue="pairwse")
