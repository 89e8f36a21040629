"""Recorded judges beside people's labels of all outputs: populations from which labels can be drawn again and again."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.guards import SHARED

Floats = NDArray[np.float64]
_LAST_NUMBER = re.compile(r"\b[1-3](?:\.\d+)?\b")


@dataclass(frozen=True, kw_only=True)
class Population:
    """Outputs, or pairs of them, that a judge scored and people labelled; `apart` is how far judges disagree."""

    name: str
    judged: Floats
    people: Floats
    scale: tuple[float, float]
    gate: float
    apart: Floats | None = None

    @property
    def correlation(self) -> float:
        """Between judge and people; 0 where one of them never varies."""
        if not (self.judged.std() and self.people.std()):
            return 0.0
        return float(np.corrcoef(self.judged, self.people)[0, 1])


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A data set: outputs with a score, outputs that a gate decides over, and pairs."""

    name: str
    outputs: tuple[Population, ...]
    gated: tuple[Population, ...]
    pairs: tuple[Population, ...]


DATA: dict[str, Callable[[], Labelled]] = {}


def _data(name: str) -> Callable[[Callable[[], Labelled]], Callable[[], Labelled]]:
    def add(read: Callable[[], Labelled]) -> Callable[[], Labelled]:
        DATA[name] = cache(read)
        return DATA[name]

    return add


def read_data_rows(name: str, shared: Path = SHARED) -> list[dict[str, Any]]:
    """The rows of a recorded data set."""
    return [json.loads(line) for line in (shared / "datasets" / name).read_text("utf-8").splitlines()]


@_data("SummEval")
def _summeval() -> Labelled:
    people: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for row in read_data_rows("summeval_judges/items.jsonl"):
        for criterion, given in row["expert"].items():
            people[row["system"], criterion][row["doc"]] = float(np.mean(given))
    judges: list[dict[tuple[str, str], dict[int, float]]] = []
    for name in ("mcq", "rts"):
        said: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
        for row in read_data_rows(f"summeval_judges/replies_gpt-3.5-turbo-0301_{name}.jsonl"):
            said[row["system"], row["dim"]][row["doc"]] = float(row["authors_score"])
        judges.append(said)
    outputs = []
    for key in sorted(people):
        docs = sorted(people[key])
        one, other = (np.array([said[key][doc] for doc in docs]) for said in judges)
        given = np.array([people[key][doc] for doc in docs])
        outputs.append(_population(" ".join(key), one, given, (1, 5), 4, np.abs(one - other)))
    by_criterion = [
        [one for one in outputs if one.name.endswith(criterion)] for criterion in sorted({k[1] for k in people})
    ]
    gated = tuple(_pool(group) for group in by_criterion)
    pairs = [_subtract(one, other) for group in by_criterion for one, other in combinations(group, 2)]
    return Labelled(name="SummEval", outputs=tuple(outputs), gated=gated, pairs=tuple(pairs))


@_data("TopicalChat")
def _topical_chat() -> Labelled:
    outputs, pairs = [], []
    for dimension in ("coherence", "engagingness"):
        people: dict[tuple[str, str], float] = {}
        said: dict[str, dict[tuple[str, str], float]] = {}
        for mode in ("geval", "geval_no_auto_cot", "llm_eval_no_cot"):
            for row in read_data_rows(f"topicalchat_geval/{mode}.jsonl"):
                found = [_LAST_NUMBER.findall(reply) for reply in row["replies"]]
                read = [float(one[-1]) for one in found if one]
                if row["dim"] == dimension and read:
                    people[row["group"], row["system"]] = row["human"]
                    said.setdefault(mode, {})[row["group"], row["system"]] = float(np.mean(read))
        keys = sorted(key for key in people if all(key in one for one in said.values()))
        modes = np.array([[one[key] for key in keys] for one in said.values()])
        given = np.array([people[key] for key in keys])
        outputs += [
            _population(f"{dimension} {mode}", modes[place], given, (1, 3), 2, modes.std(axis=0))
            for place, mode in enumerate(said)
        ]
        for one, other in combinations(sorted({system for _, system in keys}), 2):
            groups = sorted({group for group, _ in keys if {(group, one), (group, other)} <= set(keys)})
            sides = [np.array([keys.index((group, system)) for group in groups]) for system in (one, other)]
            pairs += [
                _population(f"{one} − {other}", modes[0][sides[0]] - modes[0][sides[1]],
                            given[sides[0]] - given[sides[1]], (-2, 2), 0)
            ]  # fmt: skip
    return Labelled(name="TopicalChat", outputs=tuple(outputs), gated=tuple(outputs), pairs=tuple(pairs))


@_data("LLM-Rubric")
def _llm_rubric() -> Labelled:
    said: dict[str, dict[str, float]] = defaultdict(dict)
    for row in read_data_rows("llm_rubric_calibration/synth_llm_distributions.jsonl"):
        chances = np.array([float(row[f"answer{level}_prob"]) for level in range(1, 5)])
        said[row["criterion"]][row["text_id"]] = float(chances @ [1, 2, 3, 4] / chances.sum())
    people: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in read_data_rows("llm_rubric_calibration/synth_humans.jsonl"):
        for question in said:
            if row[question] and float(row[question]) > 0:  # 0 stands for no answer.
                people[question][row["text_id"]].append(float(row[question]))
    outputs, pairs = [], []
    for question in sorted(said):
        texts = sorted(text for text in said[question] if people[question][text])
        judged = {text: said[question][text] for text in texts}
        given = {text: float(np.mean(people[question][text])) for text in texts}
        outputs.append(_population(question, np.array([*judged.values()]), np.array([*given.values()]), (1, 4), 3))
        versions = sorted({text.split("_")[0] for text in texts})
        for one, other in combinations(versions, 2):
            topics = [text.split("_")[1] for text in texts if text.startswith(one)]
            both = [topic for topic in topics if f"{other}_{topic}" in judged]
            said_gap, felt_gap = (
                np.array([side[f"{one}_{topic}"] - side[f"{other}_{topic}"] for topic in both])
                for side in (judged, given)
            )
            pairs.append(_population(f"{question} {one} − {other}", said_gap, felt_gap, (-3, 3), 0))
    return Labelled(name="LLM-Rubric", outputs=tuple(outputs), gated=tuple(outputs), pairs=tuple(pairs))


@_data("council")
def _council() -> Labelled:
    rows = read_data_rows("council_9judges/trec_rag_2024.jsonl")
    human = np.array([float(row["human"]) for row in rows])
    said = np.array([[np.nan if one is None else one for one in row["judges"].values()] for row in rows]).T
    apart = np.nanstd(said, axis=0)
    judges = [("panel", np.nanmean(said, axis=0)), *zip(rows[0]["judges"], said, strict=True)]
    outputs = tuple(_population(name, one, human, (0, 3), 2, apart) for name, one in judges if np.isfinite(one).all())
    return Labelled(name="council", outputs=outputs, gated=outputs, pairs=())


@_data("LLMBar")
def _llmbar() -> Labelled:
    label = {
        (row["subset"], row["n"]): 1.0 if row["label"] == 1 else -1.0
        for row in read_data_rows("llmbar_pairwise/items.jsonl")
    }
    said: dict[tuple[str, str], dict[tuple[str, int], list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in read_data_rows("llmbar_pairwise/replies_vanilla.jsonl"):
        preference = {"1": 1.0, "2": -1.0}.get(row["authors_winner"], 0.0)
        said[row["judge"], row["strategy"]][row["subset"], row["n"]].append(preference)
    keys = sorted(label)
    judged = {" ".join(who): np.array([float(np.mean(one[key])) for key in keys]) for who, one in said.items()}
    apart = np.std([*judged.values()], axis=0)
    people = np.array([label[key] for key in keys])
    pairs = tuple(_population(who, one, people, (-1, 1), 0.5, apart) for who, one in judged.items())
    return Labelled(name="LLMBar", outputs=(), gated=pairs, pairs=pairs)


@_data("PandaLM")
def _pandalm() -> Labelled:
    signs = {0: 0.0, 1: 1.0, 2: -1.0}
    items = read_data_rows("pandalm_3annotators/items.jsonl")
    people = np.array([
        signs[Counter(row[f"annotator{number}"] for number in (1, 2, 3)).most_common(1)[0][0]] for row in items
    ])  # fmt: skip
    said = read_data_rows("pandalm_3annotators/judge_gpt-3.5-turbo.jsonl")
    judged = np.array([signs[{"1": 1, "2": 2}.get(row["gpt_result"], 0)] for row in said])
    keys = np.array([row["cmp_key"] for row in items])
    pairs = tuple(
        _population(key, judged[keys == key], people[keys == key], (-1, 1), 0.5) for key in sorted(set(keys.tolist()))
    )
    whole = _population("all", judged, people, (-1, 1), 0.5)
    return Labelled(name="PandaLM", outputs=(), gated=(whole,), pairs=pairs)


def read_labelled_data() -> Iterator[Labelled]:
    """All that is here."""
    yield from (read() for read in DATA.values())


def _population(
    name: str, judged: Floats, people: Floats, scale: tuple[float, float], gate: float, apart: Floats | None = None
) -> Population:
    return Population(name=name, judged=judged, people=people, scale=scale, gate=gate, apart=apart)


def _pool(group: list[Population]) -> Population:
    judged, people, apart = (
        np.concatenate([getattr(one, name) for one in group]) for name in ("judged", "people", "apart")
    )
    first = group[0]
    return _population(first.name.split()[1], judged, people, first.scale, first.gate, apart)


def _subtract(one: Population, other: Population) -> Population:
    span = one.scale[1] - one.scale[0]
    apart = None if one.apart is None or other.apart is None else np.maximum(one.apart, other.apart)
    name = f"{one.name} − {other.name}"
    return _population(name, one.judged - other.judged, one.people - other.people, (-span, span), 0, apart)
