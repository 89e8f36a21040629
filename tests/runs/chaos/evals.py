"""Small evals whose outputs say whose they are, and what a store holds of their runs."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evenhand.store.rows import Row
from evenhand.store.store import Store
from tests.runs.chaos.judges import NAMES, Asked, Judges

REPEATS = 2
VARIANTS = ("old", "new")
LIVE = "live"  # Made by a function that writes down how often.
BOUGHT = "bought"  # Made by a model, at the price of a judge.
PRICE = {"input": 10_000, "output": 0}  # A million tokens; a call of 100 costs one dollar.
RUBRIC = {
    "name": "answers",
    "method": "judge-skill",
    "criteria": [
        {"id": "polite", "asks": "Is it polite?", "weight": 0.4},
        {"id": "useful", "asks": "Does it help?", "weight": 0.6},
    ],
}
PANEL = {
    "name": "answers",
    "method": "council",
    "criteria": [{"id": "accuracy", "weight": 0.6}, {"id": "clarity", "weight": 0.4}],
}
Unit = tuple[str, str, int]
BOT = """\
import os

def answer(sample):
    mark = f"{sample['id']}/live/{sample['repeat']}"
    with open(os.path.join(os.path.dirname(__file__), "makings"), "a") as log:
        log.write(f"{mark}\\n")
    return f"[{mark}] Please wait for the refund."
"""


def sample(number: int, variants: Iterable[str] = VARIANTS) -> dict[str, Any]:
    """One sample with an output of each variant."""
    outputs = {name: f"[s{number}/{name}] Please wait for the refund." for name in variants}
    return {"id": f"s{number}", "input": f"Where is parcel {number}?", "outputs": outputs}


def write_eval(folder: Path, judges: Judges, samples: int = 12, **changes: Any) -> dict[str, Any]:
    """An eval of two variants, two judges and two repeats in eval.yaml, its samples beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    write_samples(folder, [sample(number) for number in range(samples)])
    (folder / "bot.py").write_text(BOT, "utf-8")
    (folder / "prices.json").write_text(
        json.dumps({"as_of": "2026-01-01", "models": {judges.name(name): PRICE for name in (*NAMES, BOUGHT)}}), "utf-8"
    )
    whole: dict[str, Any] = {
        "name": "answers",
        "samples": "samples.jsonl",
        "variants": {name: {} for name in VARIANTS},
        "rubric": RUBRIC,
        "assertions": [{"contains": "refund"}, {"max_length": 45}],
        "judges": [judges.name(judge) for judge in NAMES],
        "repeats": REPEATS,
        "concurrency": 4,
        "how": {"max_tokens": 100},
        "prices": "prices.json",
        **changes,
    }
    (folder / "eval.yaml").write_text(json.dumps(whole), "utf-8")
    return whole


def write_samples(folder: Path, samples: Iterable[dict[str, Any]]) -> None:
    """The samples of an eval, one to a line."""
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in samples), "utf-8")


class Kept:
    """What a store holds, read while nobody writes."""

    def __init__(self, place: str | Path) -> None:
        with Store.open(place, {}, create=False) as store:
            self.runs: list[Row] = store.list_runs()
            ids = [run["id"] for run in self.runs]
            self._rows = {id: list(store.results(id)) for id in ids}
            self._samples = {id: {row["position"]: row["id"] for row in store.samples(id)} for id in ids}
            self.calls: list[Row] = [call for id in ids for call in store.calls(id)]
            self._made: list[Row] = [row for id in ids for row in store.list_outputs(id)]

    def finished(self) -> Counter[Asked]:
        """The calls that were answered and are kept, by judge and output; copies do not count."""
        own = (call for call in self.calls if call["failed"] is None and call["cached_from"] is None)
        return Counter((call["judge"].rpartition("/")[2], self._marks(call)) for call in own)

    def made(self) -> Counter[str]:
        """The outputs that a live variant made."""
        return Counter(self._marks(row) for row in self._made)

    def results(self, run: str | None = None) -> dict[Unit, Any]:
        """All that a run says of each output, without when and how fast; of the newest run where none is named."""
        id = run or self.runs[0]["id"]
        rows = self._rows[id]
        found = {(self._samples[id][row["position"]], row["variant"], row["repeat"]): _timeless(row) for row in rows}
        assert len(found) == len(rows)
        return found

    def _marks(self, row: Row) -> str:
        """The outputs that a row is about, as they call themselves."""
        id = self._samples[row["run"]][row["position"]]
        if row["variant"] == LIVE:
            return f"{id}/{LIVE}/{row['repeat']}"
        return " ".join(sorted(f"{id}/{name}" for name in ([row["variant"]] if row["variant"] else VARIANTS)))


def timeless_head(head: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a run without when, how fast, and how often something was tried."""
    judges = [{name: one[name] for name in one if name not in ("seconds", "retries")} for one in head["judges"]]
    variants = [{name: one[name] for name in one if name != "latency_ms"} for one in head["variants"]]
    kept = ("decision", "unfinished", "agreement", "failures", "flags", "cost")
    return {**{name: head[name] for name in kept}, "judges": judges, "variants": variants}


def _timeless(row: Row) -> dict[str, Any]:
    content = json.loads(row["content"])
    if content["output"]:
        content["output"]["latency_ms"] = None
    kept = {name: row[name] for name in ("key", "state", "score", "composite", "number", "subject")}
    return {**kept, **content}
