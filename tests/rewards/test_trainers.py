"""TRL and verifiers themselves take the rewards, each in an environment of its own, built once by `make soak`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from benchmarks.peers import build_peer_environment, name_peer_folder

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MINUTES = 10
TORCH = ("torch==2.13.0",)


def run_inside(name: str, before: tuple[str, ...] = ()) -> dict[str, Any]:
    """What a script of this folder prints where a trainer is installed."""
    requirements = ROOT / "requirements" / f"trainers-{name}.txt"
    python = build_peer_environment(name_peer_folder(requirements), requirements, before)
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    script = HERE / f"in_{name}.py"
    done = subprocess.run(
        [str(python), str(script)], env=environ, capture_output=True, text=True, timeout=60 * MINUTES, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_grpo_trains_with_the_reward_and_leaves_out_what_has_none() -> None:
    """Its log has the mean of the rewards that there are, and a completion without one has no advantage."""
    seen = run_inside("trl", TORCH)

    for kind in ("plain", "async"):
        kept, last = seen[kind]["kept"], seen[kind]["kept"][-8:]
        means = [_mean(kept[:8]), _mean(kept[8:])]
        assert len(kept) == 16
        assert None in last
        assert seen[kind]["logged"] == pytest.approx(means, abs=1e-6)
        lost = [one for own, one in zip(last, seen[kind]["advantages"], strict=True) if own is None]
        assert lost == [0.0] * len(lost)
        assert "rubric_tiny/missing" in seen[kind]["names"]
        assert "rewards/rubric_tiny/mean" in seen[kind]["names"]


def _mean(rewards: list[float | None]) -> float:
    known = [one for one in rewards if one is not None]
    return sum(known) / len(known)


def test_a_task_of_verifiers_takes_the_reward_and_records_what_has_none() -> None:
    """As an attribute with a weight, and by configuration; without a reward the trace has an error and no number."""
    seen = run_inside("verifiers")

    assert seen["good"] == {"rewards": {"rubric_tiny": 2.0}, "error": ""}
    assert seen["missing"]["rewards"] == {"rubric_tiny": None}
    assert seen["missing"]["error"].startswith("TaskError: ")
    assert "there is no reward: good: " in seen["missing"]["error"]
    assert seen["plugged"] == {"rewards": {"quality": 1.0}, "error": ""}
    assert seen["kept"][:2] == [1.0, None]
