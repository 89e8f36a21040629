"""Judges asked in batches: what comes late, in part, out of order or not at all, and what it costs."""

import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evenhand.store.store import Store
from tests.runs.batch_server import (
    CANCELLED,
    EXPIRES,
    JUDGES,
    BatchServer,
    is_repair,
    list_results,
    run_in_peace,
    write_batch_eval,
)
from tests.soak import SOAK
from tests.warm.processes import Done, run, started, wait_until

OUTPUTS = 4  # Two samples of two variants.


def run_batch(folder: Path, server: BatchServer, *more: str, **changes: Any) -> Done:
    """Write an eval and run it in batches."""
    write_batch_eval(folder, **changes)
    return run(folder, "run", "eval.yaml", "--batch", *more, environ=server.environ)


def results(folder: Path) -> Any:
    """What the newest run of a folder says of each output."""
    return list_results(folder / ".evenhand")


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a plain run comes to."""
    folder = tmp_path_factory.mktemp("calm")
    with BatchServer() as server:
        run_in_peace(folder, server)
    return results(folder)


def batch_states(folder: Path) -> list[str]:
    """What became of the batches of a folder."""
    with closing(sqlite3.connect(folder / ".evenhand" / "store.sqlite")) as store:
        return [state for (state,) in store.execute("SELECT state FROM batches ORDER BY at")]


def test_replies_of_batches_serve_plain_runs_and_theirs_serve_batches(tmp_path: Path) -> None:
    """They are kept by the content of the question, however that was asked."""
    with BatchServer() as server:
        run_batch(tmp_path / "one", server)
        run(tmp_path / "one", "run", "eval.yaml", environ=server.environ)
        assert server.direct == 0

        write_batch_eval(tmp_path / "two")
        run(tmp_path / "two", "run", "eval.yaml", environ=server.environ)
        paid, created = server.paid.copy(), len(server.batches)
        run(tmp_path / "two", "run", "eval.yaml", "--batch", environ=server.environ)
        assert (server.paid, len(server.batches)) == (paid, created)


@pytest.mark.parametrize("fate", [EXPIRES, "missing", *(("500", "429") if SOAK else ())])
def test_what_a_batch_leaves_out_is_asked_in_the_next(tmp_path: Path, calm: Any, fate: str) -> None:
    """Half of the lines come to nothing in the first batch of each judge."""
    seen: set[str] = set()

    def fail_once(body: Any, _batch: int) -> str:
        text = json.dumps(body)
        first = "s0/" in text and text not in seen
        seen.add(text)
        return fate if first else ""

    with BatchServer(fate=fail_once) as server:
        run_batch(tmp_path / "batch", server)

        assert results(tmp_path / "batch") == calm
        assert server.twice() == {}
        assert sorted(len(one.lines) for one in server.batches.values()) == [2, 2, OUTPUTS, OUTPUTS]


def test_what_never_comes_is_missing_after_three_batches_and_is_asked_again_on_resume(
    tmp_path: Path, calm: Any
) -> None:
    """Nothing is tried without end, and nothing is guessed."""
    fates = {"s0/": EXPIRES}
    with BatchServer(
        fate=lambda body, _: next((one for mark, one in fates.items() if mark in json.dumps(body)), "")
    ) as server:
        done = run_batch(tmp_path / "batch", server, "--json")
        failures = json.dumps(done.head["failures"])
        assert "the batch expired before it was answered, in 3 batches" in failures
        assert len(server.batches) == 2 * 3

        fates.clear()
        run(tmp_path / "batch", "run", "eval.yaml", "--resume", environ=server.environ)
        assert results(tmp_path / "batch") == calm
        assert server.twice() == {}


def test_what_batches_leave_out_can_be_asked_directly(tmp_path: Path, calm: Any) -> None:
    """--no-batch on a run that was begun in batches asks the rest at the full price."""
    with BatchServer(fate=lambda body, _: EXPIRES if "s0/" in json.dumps(body) else "") as server:
        run_batch(tmp_path / "batch", server)
        run(tmp_path / "batch", "run", "eval.yaml", "--resume", "--no-batch", environ=server.environ)

        assert results(tmp_path / "batch") == calm
        assert server.direct == OUTPUTS  # Of the two outputs of one sample, by two judges.
        assert server.twice() == {}


@pytest.mark.parametrize(("fate", "why"), [("400", "failed with 400"), (CANCELLED, "the batch was cancelled")])
def test_a_line_that_is_refused_is_missing_with_why_and_not_sent_again(tmp_path: Path, fate: str, why: str) -> None:
    """As a direct call is: trying again would not help, or somebody did not want it."""
    with BatchServer(fate=lambda body, _: fate if "s0/new" in json.dumps(body) else "") as server:
        done = run_batch(tmp_path, server, "--json")

        assert why in json.dumps(done.head["failures"])
        assert len(server.batches) == 2


def test_a_parameter_that_a_line_is_refused_for_is_left_out_of_the_next_batch(tmp_path: Path) -> None:
    """Newer models take no temperature: a direct call finds out in the same way."""
    with BatchServer(fate=lambda body, _: "unaccepted" if "temperature" in body else "") as server:
        done = run_batch(tmp_path, server, "--json", how={"max_tokens": 100, "temperature": 0}, judges=["openai/first"])

        assert done.head["failures"] == []
        assert [len(one.lines) for one in server.batches.values()] == [OUTPUTS, OUTPUTS]


def test_a_second_question_of_a_dialogue_is_a_round_of_its_own(tmp_path: Path) -> None:
    """A reply that cannot be read is repaired once: all such questions go into one more batch for each judge."""
    with BatchServer(
        reply=lambda body: "Well." if "s0/" in json.dumps(body) and not is_repair(body) else None
    ) as server:
        run_in_peace(tmp_path / "plain", server)
        run_batch(tmp_path / "batch", server)

        assert results(tmp_path / "batch") == results(tmp_path / "plain")
        assert sorted(len(one.lines) for one in server.batches.values()) == [2, 2, OUTPUTS, OUTPUTS]


def test_a_batch_that_is_refused_as_a_whole_for_its_size_is_sent_again(tmp_path: Path) -> None:
    """Providers take so many tokens at once: the batch waits for the others, and loses nothing."""
    error = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}
    with BatchServer(whole=lambda number: error if number == 1 else None) as server:
        done = run_batch(tmp_path, server, "--json", judges=["openai/first"])

        assert done.head["failures"] == []
        assert [len(one.lines) for one in server.batches.values()] == [OUTPUTS, OUTPUTS]


def test_a_key_that_a_provider_repeats_in_its_refusal_is_kept_nowhere(tmp_path: Path) -> None:
    """Neither in the store nor in the report, whatever the run keeps."""
    with BatchServer() as server:
        key = server.environ["OPENAI_API_KEY"]
        server.whole = lambda number: {"code": "invalid", "message": f"no such key: {key}"}
        done = run_batch(tmp_path, server, "--json", "--report-only", judges=["openai/first"])

    assert "the batch was refused: no such key: [key hidden]" in done.out
    assert key not in done.out + done.err
    assert key.encode() not in b"".join(file.read_bytes() for file in (tmp_path / ".evenhand").iterdir())


@pytest.mark.parametrize("judge", JUDGES.values())
@pytest.mark.parametrize("trouble", ["500", "drop after", *(("429", "drop") if SOAK else ())])
def test_trouble_with_creating_a_batch_never_makes_two(tmp_path: Path, judge: str, trouble: str) -> None:
    """An answer that got lost may be that of a batch that is there: it is looked for before another is created."""
    troubled: list[int] = []

    def trouble_once(number: int, name: str) -> str:
        hit = name.startswith("POST") and name.endswith("batches") and not troubled
        troubled.extend([number] if hit else [])
        return trouble if hit else ""

    with BatchServer(trouble=trouble_once, looks=3) as server:
        done = run_batch(tmp_path, server, "--json", judges=[judge])

        assert done.head["failures"] == []
        assert len(server.batches) == 1
        assert server.twice() == {}


def test_polls_and_files_that_fail_are_asked_for_again(tmp_path: Path, calm: Any) -> None:
    """Every second request about a batch comes to nothing."""
    kinds = ("429", "500", "drop", "503")

    def trouble(number: int, name: str) -> str:
        return kinds[number % 4] if number % 2 and number > 2 and not name.endswith("batches") else ""

    with BatchServer(trouble=trouble, looks=3) as server:
        run_batch(tmp_path / "batch", server)

        assert results(tmp_path / "batch") == calm
        assert server.twice() == {}


def test_it_can_be_left_with_ctrl_c_and_picked_up(tmp_path: Path, calm: Any) -> None:
    """The providers go on; what is said names both commands."""
    with BatchServer(looks=10_000) as server:
        write_batch_eval(tmp_path / "batch")
        with started(tmp_path / "batch", "run", "eval.yaml", "--batch", environ=server.environ) as process:
            wait_until(lambda: sum("GET" in one and "batch_" in one for one in server.requests) > 4)
            process.signal(signal.SIGINT)
            done = process.done()
        assert done.code == 130
        assert "The run was stopped before any output was scored." in done.out
        assert "to continue: evenhand run eval.yaml --resume" in done.err
        assert "2 batches under way: 0 of 8 questions answered" in done.err
        assert "evenhand runs watch " in done.err

        listed, told = (run(tmp_path / "batch", "runs", "list", *more) for more in ((), ("--json",)))
        assert "batches" in listed.out
        assert [one["batches"] for one in told.head] == [2]
        shown = run(tmp_path / "batch", "runs", "show", "latest", environ=server.environ)
        assert "2 batches under way: 0 of 8 questions answered; evenhand runs watch" in shown.out
        for batch in server.batches.values():
            batch.looks = 3
        watched = run(tmp_path / "batch", "runs", "watch", "latest", "--every", "0.1", environ=server.environ)
        assert (watched.code, "to continue: evenhand run EVAL --resume" in watched.out) == (1, True)
        assert "8 of 8 questions answered" in watched.err

        again = run(tmp_path / "batch", "run", "eval.yaml", "--resume", environ=server.environ)
        assert (again.code, results(tmp_path / "batch")) == (1, calm)
        assert batch_states(tmp_path / "batch") == ["read", "read"]
        assert run(tmp_path / "batch", "runs", "watch", "latest", environ=server.environ).code == 0
        assert server.twice() == {}


@pytest.mark.parametrize("options", [["--no-batch"], ["--batch", "--no-batch"]])
def test_no_batch_is_for_a_run_that_goes_on(tmp_path: Path, options: list[str]) -> None:
    """A new run has no batches to leave: whoever says so means another thing."""
    write_batch_eval(tmp_path / "batch")

    done = run(tmp_path / "batch", "run", "eval.yaml", *options)

    assert (done.code, "give --resume too" in done.err) == (2, True)


def test_a_plain_run_waits_for_what_another_has_in_a_batch(tmp_path: Path, calm: Any) -> None:
    """The same question is not paid for twice, whoever asks it: the batch becomes that of the run that needs it."""
    with BatchServer(looks=10_000) as server:
        write_batch_eval(tmp_path / "batch")
        _kill_while_waiting(tmp_path / "batch", server)
        for batch in server.batches.values():
            batch.looks = 3
        run(tmp_path / "batch", "run", "eval.yaml", environ=server.environ)

        assert results(tmp_path / "batch") == calm
        assert (server.direct, server.twice()) == (0, {})


def test_a_budget_counts_what_is_under_way_at_the_price_of_batches(tmp_path: Path) -> None:
    """A question is expected to cost some $5 in a batch, and costs 50 cents: a few go first, and then all others."""
    with BatchServer() as server:
        done = run_batch(tmp_path, server, "--json", samples=4, judges=["openai/first"], budget={"money": 20})

        sizes = [len(one.lines) for one in server.batches.values()]
        assert (sum(sizes), 1 <= sizes[0] < 8) == (8, True)
        assert done.head["cost"]["total"] == 4.0
        assert (done.head["unfinished"], server.twice()) == (0, {})


def test_a_budget_counts_a_batch_that_an_earlier_sitting_left(tmp_path: Path) -> None:
    """Killed with all that the budget allows under way, a run asks nothing else until that is known."""
    with BatchServer(looks=10_000) as server:
        write_batch_eval(tmp_path, samples=4, judges=["openai/first"], budget={"money": 20})
        _kill_while_waiting(tmp_path, server)
        with Store.open(tmp_path / ".evenhand", {}) as store:
            (row,) = store.batches.list_live()
        first = row["lines"]
        with started(tmp_path, "run", "eval.yaml", "--resume", environ=server.environ) as process:
            looks = len(server.requests)
            wait_until(lambda: len(server.requests) > looks + 9)  # Long after a round would have been sent.
            process.signal(signal.SIGKILL)
            process.done()

        assert 5 < float(row["money"]) <= 20
        assert [len(one.lines) for one in server.batches.values()] == [first]


def _kill_while_waiting(folder: Path, server: BatchServer) -> None:
    """Begin a run in batches, and kill it while it waits for them."""
    with started(folder, "run", "eval.yaml", "--batch", environ=server.environ) as process:
        wait_until(lambda: sum(one.startswith("GET") and "batch_" in one for one in server.requests) > 2)
        process.signal(signal.SIGKILL)
        process.done()


def test_a_batch_that_its_provider_denies_is_not_asked_again(tmp_path: Path) -> None:
    """It is paid for, and perhaps only the key is that of another project: the run stops and says so."""
    with BatchServer(looks=10_000) as server:
        write_batch_eval(tmp_path)
        _kill_while_waiting(tmp_path, server)
        server.trouble = lambda _, name: "404" if "batch_" in name else ""
        done = run(tmp_path, "run", "eval.yaml", "--resume", environ=server.environ)

        assert done.code == 1
        assert "a batch is under way, and its server tells nothing of it: 404" in done.err
        assert "2 batches under way" in done.err
        assert (len(server.batches), server.direct) == (2, 0)


def test_a_plan_shows_the_price_of_batches(tmp_path: Path) -> None:
    """Half of that without, for providers that say so."""
    with BatchServer() as server:
        write_batch_eval(tmp_path)
        plain, batch = (
            run(tmp_path, "run", "eval.yaml", "--plan", "--json", *more, environ=server.environ).head
            for more in ((), ("--batch",))
        )
        assert batch["total"]["total"] == plain["total"]["total"] / 2
        assert server.requests == []


def test_who_has_no_batches_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    """All of them at once, with what would work."""
    (tmp_path / "replies.jsonl").write_text(
        '{"key": "k", "model": "m", "reply": {"text": "4", "stop": "end"}}\n', "utf-8"
    )
    (tmp_path / "model.gguf").write_text("GGUF", "utf-8")
    local = ["embedded", "gguf:model.gguf", "python:bot:answer", "replay:replies.jsonl"]
    with BatchServer() as server:
        done = run_batch(tmp_path, server, judges=["openai/first", *local])

        works = "--batch asks openai/NAME and anthropic/NAME, or a server that has batches as they do"
        assert done.err.splitlines() == [f"{judge}: it has no batches ({works})" for judge in local]
        assert (done.code, server.requests) == (2, [])


def test_a_compatible_server_is_asked_whether_it_has_batches(tmp_path: Path) -> None:
    """One that has is asked in batches, also if it drops the metadata; one that has none is refused."""
    with BatchServer(keeps_metadata=False) as server:
        judge = f"openai-compatible:{server.environ['OPENAI_BASE_URL']}/first"
        assert run_batch(tmp_path / "has", server, "--json", judges=[judge]).head["failures"] == []
        assert len(server.batches) == 1
    with BatchServer(has_batches=False) as server:
        judge = f"openai-compatible:{server.environ['OPENAI_BASE_URL']}/first"
        done = run_batch(tmp_path / "not", server, judges=[judge])
        assert (done.code, server.paid.total()) == (2, 0)
        assert "its server has no batch endpoint (leave out --batch" in done.err
