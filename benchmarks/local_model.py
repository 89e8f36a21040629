"""How well a model in a GGUF file answers yes/no criteria: `python -m benchmarks.local_model model.gguf [rows]`."""

import asyncio
import json
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from evenhand import Connections, Missing, Sample, Scored, load_rubric
from evenhand.judging.dialogues.token_odds import (
    ask_judge_by_odds,
    find_yes_no_reply_rule,
    load_known_judge_questions,
    read_yes_leaning_of_reply,
)
from evenhand.judging.prompts import JudgeSetup, load_prompts
from evenhand.judging.single_judge import DialogueDriver

DATA = Path(__file__).parent / "data"
SETS = ("hard_fit.jsonl", "everyday_held_out.jsonl", "hard_held_out.jsonl")  # Texts and thresholds: by the first alone.
ROWS = 120
Row = dict[str, Any]
Answer = tuple[bool, float | Missing, bool | None]  # What is right, the log-odds or why not, and what was said.


def main(path: str, rows: int = ROWS) -> None:
    """Ask about as many rows with yes as with no, of each set."""
    for name in SETS:
        if (DATA / name).exists():
            began = perf_counter()
            answers, threshold = asyncio.run(_asked(f"gguf:{path}", _balanced(DATA / name, rows)))
            _print(name, answers, threshold, perf_counter() - began)


def _balanced(path: Path, rows: int) -> list[Row]:
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    rng = Random(0)
    chosen = []
    for answer in ("yes", "no"):
        own = [row for row in found if row["answer"] == answer]
        chosen += rng.sample(own, min(rows // 2, len(own)))
    return sorted(chosen, key=_shown)


def _shown(row: Row) -> tuple[str, str]:
    return row["output"], row.get("reference") or ""


async def _asked(model: str, rows: list[Row]) -> tuple[list[Answer], float]:
    manner = JudgeSetup(judge=model, prompts=load_prompts("en"))
    known = load_known_judge_questions(manner.prompts)
    answers: list[Answer] = []
    async with Connections({}) as connections:
        driver = DialogueDriver(connections.open(model))
        for (output, reference), group in groupby(rows, _shown):
            own = {f"c{number}": row for number, row in enumerate(group)}
            rubric = load_rubric({"criteria": [{"id": id, "expected_outcome": row["asks"]} for id, row in own.items()]})
            sample = Sample(outputs={"a": output}, reference=reference)
            told = await driver.run(ask_judge_by_odds(rubric, sample, "a", manner))
            leanings = [read_yes_leaning_of_reply(call.reply) for call in driver.calls[-len(own) :]]
            for judgment, leaning in zip(told.judgments, leanings, strict=True):
                said = bool(judgment.score.value) if isinstance(judgment.score, Scored) else None
                answers.append((own[judgment.criterion]["answer"] == "yes", leaning, said))
        first = [read_yes_leaning_of_reply(call.reply) for call in driver.calls[: len(known)]]
        rule = find_yes_no_reply_rule([one.answer for one in known], first)
    return answers, float("nan") if isinstance(rule, str) else rule.threshold


def _print(name: str, answers: list[Answer], threshold: float, seconds: float) -> None:
    said = [(right, word) for right, _, word in answers if word is not None]
    read = _read(answers)
    print(f"{name}: {len(answers)} rows in {seconds:.0f} s, threshold {threshold:+.2f}")
    for label, share in {
        "right at threshold 0": _share(right == (leaning > 0) for right, leaning in read),
        "right at the calibrated threshold": _share(right == (leaning > threshold) for right, leaning in read),
        "abstained or unreadable": 1 - len(said) / len(answers),
        "right of what was decided": _share(right == word for right, word in said),
        "a yes leans further to yes than a no": _auc(answers),
    }.items():
        print(f"  {label:<40}{share:.1%}")


def _read(answers: list[Answer]) -> list[tuple[bool, float]]:
    return [(right, leaning) for right, leaning, _ in answers if not isinstance(leaning, Missing)]


def _share(right: Iterator[bool]) -> float:
    every = list(right)
    return sum(every) / len(every) if every else float("nan")


def _auc(answers: list[Answer]) -> float:
    yes, no = ([leaning for right, leaning in _read(answers) if right is wanted] for wanted in (True, False))
    return _share(one > other for one in yes for other in no)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
