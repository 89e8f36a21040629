"""The embedded judge on labelled pairs: fitted by cross-validation, and how often it is right where it answers."""

import json
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import yaml
from numpy.typing import NDArray

from benchmarks.figure import Figure
from evenhand.judging.embedded.claims import extract_claim
from evenhand.judging.embedded.decisions import (
    EmbeddedFeatureWeights,
    judge_criterion_claim,
    load_embedded_judge_weights,
)
from evenhand.judging.embedded.features import measure_claim_features
from evenhand.judging.embedded.texts import JudgedText

DATA = Path(__file__).parent / "data"
OUTPUTS = Path(__file__).parent.parent / "tests" / "judging" / "embedded" / "everyday.yaml"
EXAMPLE = Path(__file__).parent.parent / "examples" / "rubrics" / "checklist"
SETS = {  # What was fitted on, and what was held out; "everyday" and "hard" are two ways of writing pairs.
    "everyday": ("everyday_fit", "everyday_held_out"),
    "hard": ("hard_fit", "hard_held_out"),
}
FURTHER = ("others_fit", "reworded_fit")  # Fitted on too: by somebody who had not seen the rules, and reworded by us.
STRANGERS = "newcomers"  # Looked at in totals only, and never while anything is tuned: write new ones after that.
WEIGHTS = {
    "hard_fit": 0.3,
    "others_fit": 1.5,
    "reworded_fit": 0.4,
}  # Hard pairs teach caution; at full weight, it would abstain on most of what people write.
OUTPUT_WEIGHT = 1.5  # Short criteria about whole outputs are what people write most.
FOLDS = 10
SHRINKAGE = 1.0
RIGHT, ANSWERED = 0.85, 0.60  # What is promised: right where it answers, and answered at all.
WORDS = 150  # Of the output whose criteria are timed.
TAKES = 5
Matrix = NDArray[np.float64]
Bands = tuple[float, float, float]  # For long claims, and for a yes and a no to short ones.


@dataclass(frozen=True)
class Pair:
    """A criterion, an output, and what a person says of them."""

    kind: str
    asks: str
    output: str
    answer: str
    reference: str
    weight: float = 1.0  # In fitting.


@dataclass(frozen=True)
class Share:
    """Of how many pairs how many were answered, and how many of those rightly."""

    of: int
    answered: int
    right: int

    @property
    def rightly(self) -> float:
        """The share that is right of those that were answered."""
        return self.right / self.answered if self.answered else 0.0

    def __str__(self) -> str:
        right = f"{self.rightly:.0%}" if self.answered else "–"
        return f"{right} of {self.answered} answered ({self.answered / self.of:.0%} of {self.of})"


def measure_embedded() -> list[Figure]:
    """How often it is right and how often it answers, on pairs that nothing was fitted on, and how long it takes."""
    crossed = shares(*_crossed_pairs())["all"]
    held_out = [
        figure
        for name, (_, held) in SETS.items()
        for figure in _share_figures(f"embedded, {name} pairs held out", shares(*_answered_pairs(held))["all"])
    ]
    strange = shares(*_answered_pairs(STRANGERS))["all"]
    held_out += _share_figures("embedded, pairs by somebody who had not seen the rules", strange, right=0.90)
    fitted, _ = _share_figures("embedded, fitted pairs crossed", crossed)  # How many it answers follows from the band.
    return [*held_out, fitted, *_time_figures()]


def table(*, crossed: bool = True) -> str:
    """Markdown: for every kind of pair, right of those answered, and in brackets how many are answered."""
    columns = _columns() if crossed else _held_out_columns()
    kinds = sorted({kind for _, column in columns for kind in column} - {"all", "unseeable"})
    heads = ["kind of pair", *(head for head, _ in columns)]
    rows = [[kind, *(_cell(column.get(kind)) for _, column in columns)] for kind in (*kinds, "all")]
    rows.append(["unseeable: abstains", *(_abstained(column.get("unseeable")) for _, column in columns)])
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---", *["---:"] * len(columns)], *rows)) + "\n"


def read_pairs(name: str) -> list[Pair]:
    """The labelled pairs of one file."""
    rows = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]
    weight = WEIGHTS.get(name, 1.0)
    return [
        Pair(row["kind"], row["asks"], row["output"], row["answer"], row.get("reference") or "", weight) for row in rows
    ]


def read_outputs(*, held_out: bool) -> list[Pair]:
    """Pairs of the outputs with short criteria: those that are fitted on, or those held out."""
    entries = [
        entry for entry in yaml.safe_load(OUTPUTS.read_text("utf-8")) if entry.get("held_out", False) == held_out
    ]
    return [
        Pair(entry["kind"], asks, entry["output"], answer, "", OUTPUT_WEIGHT)
        for entry in entries
        for answer in ("yes", "no", "cannot")
        for asks in entry.get(answer, ())
    ]


def read_fitted_pairs() -> list[Pair]:
    """All pairs that the weights are fitted on."""
    names = (*(fitted for fitted, _ in SETS.values()), *FURTHER)
    pairs = [pair for name in names for pair in read_pairs(name)]
    return [*pairs, *read_outputs(held_out=False)]


class Bench:
    """Labelled pairs made ready once."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.pairs = list(pairs)
        self._texts = [JudgedText(pair.output) for pair in pairs]
        self._references = [JudgedText(pair.reference) if pair.reference else None for pair in pairs]
        self._seen = [self._features(place) for place in range(len(self.pairs))]

    def answers(
        self, fitted: EmbeddedFeatureWeights | None = None, places: Sequence[int] | None = None
    ) -> list[bool | None]:
        """What the judge says of each pair, or of some; None where it abstains."""
        return [
            judge_criterion_claim(self.pairs[place].asks, self._texts[place], self._references[place], fitted).holds
            for place in (range(len(self.pairs)) if places is None else places)
        ]

    def fit(self, bands: Bands, places: Sequence[int] | None = None) -> EmbeddedFeatureWeights:
        """EmbeddedFeatureWeights by logistic regression, kept small by a penalty."""
        seen = [one for place in (range(len(self.pairs)) if places is None else places) if (one := self._seen[place])]
        names = sorted({name for features, _, _ in seen for name in features})
        rows = np.array([[features.get(name, 0.0) for name in names] for features, _, _ in seen])
        values = _solve(rows, np.array([met for _, met, _ in seen]), np.array([weight for _, _, weight in seen]))
        found = {name: round(float(value), 4) for name, value in zip(names, values, strict=True)}
        return EmbeddedFeatureWeights(features=found, band=bands[0], short_yes_band=bands[1], short_no_band=bands[2])

    def crossed(self, bands: Bands, seed: int = 0) -> list[bool | None]:
        """What the judge says of each pair with weights fitted on other folds; a fold holds whole groups of pairs."""
        fold = _folds(self.pairs, seed)
        given: list[bool | None] = [None] * len(self.pairs)
        for number in range(FOLDS):
            own = [place for place, of in enumerate(fold) if of == number]
            fitted = self.fit(bands, [place for place, of in enumerate(fold) if of != number])
            for place, holds in zip(own, self.answers(fitted, own), strict=True):
                given[place] = holds
        return given

    def _features(self, place: int) -> tuple[dict[str, float], float, float] | None:
        """What is weighed for a pair, whether it is met, and what the pair weighs; None where no words are weighed."""
        pair = self.pairs[place]
        if pair.answer == "cannot" or pair.kind == "format" or "reference" in pair.asks:
            return None
        claim = extract_claim(pair.asks)
        seen = measure_claim_features(claim, self._texts[place])
        met = float((pair.answer == "yes") != claim.is_inverted)
        return None if seen is None else (seen.features, met, pair.weight)


def shares(pairs: Sequence[Pair], given: Sequence[bool | None]) -> dict[str, Share]:
    """Right and answered for all pairs that have an answer, and by kind; what nobody could see is a kind of its own."""
    rows: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for pair, holds in zip(pairs, given, strict=True):
        result = (holds is not None, holds == (pair.answer == "yes") and pair.answer != "cannot")
        rows[pair.kind].append(result)
        if pair.answer != "cannot":
            rows["all"].append(result)
    return {
        kind: Share(len(results), sum(answered for answered, _ in results), sum(a and right for a, right in results))
        for kind, results in rows.items()
    }


def _solve(rows: Matrix, met: Matrix, each: Matrix) -> Matrix:
    """Newton's method on the penalised likelihood, in which each row has its weight."""
    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (each * (likely - met)) + SHRINKAGE * weights
        curve = (rows * (each * likely * (1 - likely))[:, None]).T @ rows + SHRINKAGE * np.eye(len(weights))
        step = np.linalg.solve(curve, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def _folds(pairs: Sequence[Pair], seed: int) -> list[int]:
    """Pairs that share a criterion or an output stay together: else a fold would be fitted on what it is tested on."""
    leader: dict[str, str] = {}

    def lead(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    for pair in pairs:
        leader[lead(f"asks {pair.asks}")] = lead(f"output {pair.output}")
    groups = sorted({lead(f"asks {pair.asks}") for pair in pairs})
    random.Random(seed).shuffle(groups)
    place = {group: number % FOLDS for number, group in enumerate(groups)}
    return [place[lead(f"asks {pair.asks}")] for pair in pairs]


def _share_figures(name: str, share: Share, right: float = RIGHT) -> list[Figure]:
    answered = share.answered / share.of
    return [
        Figure(f"{name}: right", f"{share.rightly:.1%}", f"≥ {right:.0%}", share.rightly >= right),
        Figure(f"{name}: answered", f"{answered:.1%}", f"≥ {ANSWERED:.0%}", answered >= ANSWERED),
    ]


def _time_figures() -> list[Figure]:
    each, cold = _milliseconds_each(), median(_cold_start() for _ in range(TAKES))
    return [
        Figure(f"embedded, one criterion on {WORDS} words", f"{each:.2f} ms", "< 5 ms", each < 5),
        Figure("evenhand judge --model embedded, cold", f"{cold:.2f} s", "< 3 s", cold < 3),
    ]


def _milliseconds_each() -> float:
    """The median time for a criterion, the output made ready anew for every twenty of them."""
    pairs = read_pairs("everyday_fit")
    output = " ".join(" ".join(pair.output for pair in pairs).split()[:WORDS])
    judge_criterion_claim(pairs[0].asks, JudgedText(output))
    takes = []
    for start in range(0, 200, 20):
        began = process_time()
        text = JudgedText(output)
        for pair in pairs[start : start + 20]:
            judge_criterion_claim(pair.asks, text)
        takes.append(1000 * (process_time() - began) / 20)
    return median(takes)


def _cold_start() -> float:
    files = ["--rubric", str(EXAMPLE / "rubric.yaml"), str(EXAMPLE / "output.md")]
    began = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", "judge", "--model", "embedded", "--json", *files],
        stdout=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode in (0, 1), "it did not judge"
    return perf_counter() - began


def _columns() -> list[tuple[str, dict[str, Share]]]:
    """Everyday fitted and held out, then hard: each a heading and its shares by kind."""
    columns = []
    for name, (fitted, held) in SETS.items():
        own = set(read_pairs(fitted))
        crossed = [(pair, holds) for pair, holds in zip(*_crossed_pairs(), strict=True) if pair in own]
        columns.append(
            (f"{name}, cross-validated", shares([one for one, _ in crossed], [holds for _, holds in crossed]))
        )
        columns.append((f"{name}, held out", shares(*_answered_pairs(held))))
    return columns


def _held_out_columns() -> list[tuple[str, dict[str, Share]]]:
    """Those that need no fitting."""
    return [(f"{name}, held out", shares(*_answered_pairs(held))) for name, (_, held) in SETS.items()]


@lru_cache(maxsize=1)
def _crossed_pairs() -> tuple[list[Pair], list[bool | None]]:
    """All fitted pairs, and what is said of each with weights that were fitted on others."""
    pairs, fitted = read_fitted_pairs(), load_embedded_judge_weights()
    return pairs, Bench(pairs).crossed((fitted.band, fitted.short_yes_band, fitted.short_no_band))


@lru_cache(maxsize=4)
def _answered_pairs(name: str) -> tuple[list[Pair], list[bool | None]]:
    """The pairs of one file, and what is said of each with the shipped weights."""
    pairs = read_pairs(name)
    return pairs, Bench(pairs).answers()


def _cell(share: Share | None) -> str:
    return "–" if share is None else f"{share.rightly:.0%} ({share.answered / share.of:.0%})".replace("%", " %")


def _abstained(share: Share | None) -> str:
    return "–" if share is None else f"{1 - share.answered / share.of:.0%}".replace("%", " %")
