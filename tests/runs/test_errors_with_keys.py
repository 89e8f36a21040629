"""Errors of the user's own code repeat keys, and variables that a service is sent are keys everywhere in the run."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand import Eval, run_sync
from evenhand.errors import BudgetError, BusyError, CircuitOpenError, EvenhandError, ModelError, RefusedError
from evenhand.models.connections import Connections
from evenhand.models.hidden_keys import HIDDEN, collect_api_keys_to_hide
from evenhand.models.requests import Request
from tests.models.server import question
from tests.runs.test_hidden_keys import all_that_is_kept, echoing_server

KEY = "canary+Key/0123456789abcdef"
SENT = "svcauthvalue-12"  # Its variable is called like no secret.
SAMPLES = [{"id": "s", "input": "Where is it?", "outputs": {"recorded": "Here."}}]
RUBRIC = {"criteria": [{"id": "a", "asks": "Is it polite?"}]}


@pytest.fixture(autouse=True)
def _with_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENHAND_API_KEY", KEY)
    monkeypatch.setenv("SVC_AUTH", SENT)


ERRORS: list[Callable[[str], ModelError]] = [
    ModelError,
    BudgetError,
    CircuitOpenError,
    lambda said: BusyError(said, late=True),
    lambda said: RefusedError(said, always=True),
]


@pytest.mark.parametrize("make", ERRORS, ids=["model", "budget", "circuit", "busy", "refused"])
@pytest.mark.anyio
async def test_an_error_of_ours_that_a_judge_raises_has_no_key_and_stays_the_same(
    make: Callable[[str], ModelError],
) -> None:
    """They are public: a judge of one's own raises them with whatever its provider said."""

    def judge(_: Request) -> str:
        raise make(f"no: {KEY}")

    async with Connections(os.environ) as connections:
        with pytest.raises(ModelError) as caught:
            await connections.adopt(judge).ask(question("good?"))

    meant = make(f"no: {HIDDEN}")
    assert (type(caught.value), str(caught.value)) == (type(meant), str(meant))
    assert vars(caught.value) == vars(meant)


@pytest.mark.parametrize("where", ["judge", "variant", "check"])
def test_a_module_that_fails_while_it_is_imported_shows_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """What it was configured with stands in what it raises."""
    (tmp_path / f"boom_{where}.py").write_text("import os\nraise ValueError('bad ' + os.environ['SVC_AUTH'])\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = f"python:boom_{where}:f"
    service = {"http": {"url": "http://127.0.0.1:9/", "headers": {"X-Token": "${SVC_AUTH}"}}}
    variant = {"python": name.removeprefix("python:")} if where == "variant" else {}

    with pytest.raises(EvenhandError) as caught:
        run_sync(
            Eval(
                name="boom",
                samples=SAMPLES,
                variants={"recorded": variant, "service": service},
                rubric=RUBRIC,
                judges=[name] if where == "judge" else ["embedded"],
                assertions=[{"custom": name}] if where == "check" else (),
            )
        )

    assert f"cannot be loaded: ValueError: bad {HIDDEN}" in str(caught.value)


def test_what_a_service_is_sent_is_hidden_wherever_its_run_says_it(tmp_path: Path) -> None:
    """In replies and errors of judges, in outputs and errors of other variants, also where a message is cut."""

    def replying(_: Request) -> str:
        return json.dumps({"criteria": {"a": {"evidence": ["absent: x"], "reason": f"It is {SENT}", "answer": "no"}}})

    def raising(_: Request) -> str:
        raise ValueError(f"{'x' * 255} svc {SENT}")

    def failing(_: dict[str, object]) -> str:
        raise ValueError(f"{'y' * 245} svc {SENT}")

    code = f"import sys; sys.stderr.write('0' * 290 + ' {SENT} tail'); sys.exit(3)"
    with echoing_server() as url:
        done = run_sync(
            Eval(
                name="sent",
                samples=SAMPLES,
                variants={
                    "recorded": {},
                    "service": {"http": {"url": url, "headers": {"X-Token": "${SVC_AUTH}"}}},
                    "function": failing,
                    "program": {"command": [sys.executable, "-c", code]},
                },
                rubric=RUBRIC,
                judges=[replying, raising],
            )
        )

    kept = all_that_is_kept(tmp_path, done.id)
    assert {name for name, text in kept.items() if "svcauth" in text} == set()
    assert kept["report"].count(HIDDEN) > 2


def test_a_variable_of_another_run_is_no_key() -> None:
    """What no name says is a secret, and nobody sends, is a word like others."""
    assert collect_api_keys_to_hide(os.environ).remove_keys(SENT) == SENT
