"""How often a cascade's interval covers what the strong judge says of all samples, how wide it is, and how often the
strong judge is asked beside a plain random sample of equal width: the table of the manual.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.figure import Figure
from benchmarks.guards import SHARED
from benchmarks.labelled_data import read_data_rows
from evenhand.stats.cascades import CascadeRows, cascade_difference, cascade_mean
from evenhand.stats.means import powered_mean

Floats = NDArray[np.float64]
DRAWS = 1_000  # Of each figure.
DRAWN = 40  # Of the rest, passed on at random.
NEAR = 0.05  # Of the scale, as a cascade has it unless told.
PROMISED, CORRELATED, AT_MOST = 0.93, 0.75, 0.5
_PLAIN_DRAWS = 200


@dataclass(frozen=True, kw_only=True)
class JudgePair:
    """What two judges gave the same outputs, or pairs of outputs; `gate` is the threshold, where outputs have one."""

    data: str
    name: str
    cheap: Floats
    strong: Floats
    scale: tuple[float, float]
    gate: float | None = None

    @property
    def correlation(self) -> float:
        """Between the two judges."""
        return float(np.corrcoef(self.cheap, self.strong)[0, 1])

    @property
    def near(self) -> NDArray[np.bool_]:
        """What the cheap judge puts near the gate."""
        if self.gate is None:
            return np.zeros(len(self.cheap), dtype=np.bool_)
        return np.abs(self.cheap - self.gate) <= NEAR * (self.scale[1] - self.scale[0]) + 1e-9


@dataclass(frozen=True, kw_only=True)
class CascadeFigures:
    """What 1,000 draws showed; `plain` is how many a plain random sample asks for an interval of the same width."""

    pair: JudgePair
    covered: float
    width: float
    asked: int
    plain: int

    @property
    def ratio(self) -> float:
        """How often the cascade asks the strong judge beside the plain sample."""
        return self.asked / self.plain

    def to_row(self) -> str:
        """The row of the table."""
        one = self.pair
        cells = (one.data, one.name, f"{len(one.cheap):,}", f"{one.correlation:.2f}", f"{self.covered:.1%}",
                 f"{self.width:.2f}", str(self.asked), str(self.plain), f"{self.ratio:.2f} ×")  # fmt: skip
        return f"| {' | '.join(cells)} |"


@cache
def read_judge_pairs() -> tuple[JudgePair, ...]:
    """Every recorded pair of a weak and a strong judge."""
    return (*_council(), *_rewardbench(), *_wildbench(), *_llmbar(), *_summeval())


def _council() -> Iterator[JudgePair]:
    rows = read_data_rows("council_9judges/trec_rag_2024.jsonl")
    short = {name: name.split(" (")[0] for name in rows[0]["judges"]}
    for cheap, strong in product(("Gemma 4 26B", "GPT-4o", "Qwen 3.6 Plus"), ("Claude Opus 4.7", "GPT-5.5")):
        both = [{short[name]: given for name, given in row["judges"].items()} for row in rows]
        yield _pair("council", cheap, strong, [(one[cheap], one[strong]) for one in both], (0, 3))


def _rewardbench() -> Iterator[JudgePair]:
    """The first reply on the right answer, and its lead over the first wrong one."""
    rows = read_data_rows("rewardbench2_k8/base_prompt.jsonl")
    for cheap, strong in (("gpt-5.4-nano", "gpt-5.4"), ("gpt-5.4-mini", "gpt-5.4"),
                          ("claude-haiku-4.5", "claude-sonnet-4.6")):  # fmt: skip
        both = [row for row in rows if cheap in row and strong in row]
        first = [(row[cheap][0][0], row[strong][0][0]) for row in both]
        yield _pair("rewardbench2", cheap, strong, first, (1, 10), gate=6)
        leads = [
            tuple(None if None in (row[judge][0][0], row[judge][1][0]) else row[judge][0][0] - row[judge][1][0]
                  for judge in (cheap, strong)) for row in both
        ]  # fmt: skip
        yield _pair("rewardbench2, leads", cheap, strong, leads, (-9, 9))


def _wildbench() -> Iterator[JudgePair]:
    cheap, strong = "gpt-4o-2024-05-13", "gpt-4-turbo-2024-04-09"
    rows = [row["scores"] for row in read_data_rows("wildbench_scores/scores.jsonl")]
    systems = sorted({name for row in rows for name in row})

    def read(row: dict[str, dict[str, str]], system: str, judge: str) -> float | None:
        given = row.get(system, {}).get(judge)
        return float(given) if given else None

    for system in systems:
        both = [(read(row, system, cheap), read(row, system, strong)) for row in rows]
        yield _pair(f"wildbench, {system.split('-')[0]}", "gpt-4o", "gpt-4-turbo", both, (1, 10), gate=6)
    for one, other in combinations(systems, 2):
        sides = [[(read(row, one, judge), read(row, other, judge)) for judge in (cheap, strong)] for row in rows]
        leads = [tuple(None if None in side else side[0] - side[1] for side in row) for row in sides]  # type: ignore[operator]
        name = f"wildbench, {one.split('-')[0]} − {other.split('-')[0]}"
        yield _pair(name, "gpt-4o", "gpt-4-turbo", leads, (-9, 9))


def _llmbar() -> Iterator[JudgePair]:
    """Preferences, the mean of both orders."""
    said: dict[str, dict[tuple[str, int], list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in read_data_rows("llmbar_pairwise/replies_vanilla.jsonl"):
        if row["strategy"] == "Vanilla":
            said[row["judge"]][row["subset"], row["n"]].append({"1": 1.0, "2": -1.0}.get(row["authors_winner"], 0.0))
    keys = sorted(said["GPT-4"])
    for cheap in sorted(said.keys() - {"GPT-4"}):
        both = [tuple(float(np.mean(said[judge][key])) for judge in (cheap, "GPT-4")) for key in keys]
        yield _pair("llmbar", cheap, "GPT-4", both, (-1, 1))


def _summeval() -> Iterator[JudgePair]:
    """One model asked for a letter, and for reasons before its score."""
    said: list[dict[tuple[str, str, int], float]] = []
    for name in ("mcq", "rts"):
        rows = read_data_rows(f"summeval_judges/replies_gpt-3.5-turbo-0301_{name}.jsonl")
        said.append({(row["dim"], row["system"], row["doc"]): float(row["authors_score"]) for row in rows})
    for criterion in sorted({key[0] for key in said[0]}):
        both = [(said[0][key], said[1][key]) for key in sorted(said[0]) if key[0] == criterion and key in said[1]]
        yield _pair(f"summeval, {criterion}", "by letter", "with reasons", both, (1, 5), gate=4)


def _pair(
    data: str, cheap: str, strong: str, both: Sequence[tuple[float | None, ...]],
    scale: tuple[float, float], gate: float | None = None,
) -> JudgePair:  # fmt: skip
    there = np.array([pair for pair in both if None not in pair], dtype=np.float64)
    name = f"{cheap} → {strong}"
    return JudgePair(data=data, name=name, cheap=there[:, 0], strong=there[:, 1], scale=scale, gate=gate)


def draw_cascade(pair: JudgePair, drawn: int, rng: np.random.Generator, *, gated: bool) -> CascadeRows:
    """Pass on what is near the gate, where there is one, and so many of the rest."""
    near = pair.near if gated else np.zeros(len(pair.cheap), dtype=np.bool_)
    places = rng.permutation(np.flatnonzero(~near))[:drawn]
    strong = np.where(near, pair.strong, np.nan)
    strong[places] = pair.strong[places]
    return CascadeRows(cheap=pair.cheap, strong=strong, near=near)


def measure_cascade(pair: JudgePair, draws: int = DRAWS, *, gated: bool = False) -> CascadeFigures:
    """Draw again and again."""
    rng = np.random.default_rng(crc32(f"{pair.data} {pair.name} {gated}".encode()))
    truth, found = float(pair.strong.mean()), []
    for _ in range(draws):
        one = cascade_mean(draw_cascade(pair, DRAWN, rng, gated=gated), scale=pair.scale)
        found.append((one.low - 1e-9 <= truth <= one.high + 1e-9, one.high - one.low, one.near + one.drawn))
    covered, width, asked = np.mean(found, axis=0)
    plain = _count_plain_sample(pair, float(width), rng)
    return CascadeFigures(pair=pair, covered=float(covered), width=float(width), asked=round(asked), plain=plain)


def _count_plain_sample(pair: JudgePair, width: float, rng: np.random.Generator) -> int:
    """The least plain random sample whose interval is on average no wider."""
    low, high = 20, len(pair.strong)
    while low < high:
        middle = (low + high) // 2
        widths = []
        for _ in range(_PLAIN_DRAWS):
            known = [*rng.permutation(pair.strong)[:middle].tolist(), *[None] * (len(pair.strong) - middle)]
            one = powered_mean(np.zeros(len(pair.strong)), known, scale=pair.scale).labels_only
            widths.append(one.high - one.low)
        low, high = (low, middle) if np.mean(widths) <= width else (middle + 1, high)
    return low


def measure_false_alarms(samples: int, drawn: int, right: float, draws: int = 400) -> float:
    """How often two equal variants differ significantly: 1–5 scores full of ties at the ceiling, a cheap judge that is
    exactly `right` so often and else gives anything, and samples that are new each time.
    """
    rng = np.random.default_rng(crc32(f"{samples} {drawn} {right}".encode()))
    alarms = 0
    for _ in range(draws):
        strong = rng.choice([1, 2, 3, 4, 5], p=[0.02, 0.03, 0.05, 0.1, 0.8], size=(2, samples)).astype(np.float64)
        cheap = np.where(rng.random((2, samples)) < right, strong, rng.integers(1, 6, size=(2, samples)))
        known = np.full(samples, np.nan)
        places = rng.permutation(samples)[:drawn]
        known[places] = (strong[0] - strong[1])[places]
        rows = CascadeRows(cheap=cheap[0] - cheap[1], strong=known, near=np.zeros(samples, dtype=np.bool_))
        alarms += cascade_difference(rows, span=4.0, rng=rng).p < 0.05
    return alarms / draws


HEADS = (
    "data",
    "judges",
    "samples",
    "correlation",
    "covered",
    "mean width",
    "asked",
    "plain sample",
    "asked / plain",
)


def cascade_tables(draws: int = DRAWS) -> dict[str, str]:
    """The tables of the manual, by the names under which it keeps them."""
    head = [f"| {' | '.join(HEADS)} |", f"|---|---|{'---:|' * (len(HEADS) - 2)}"]
    every = sorted(read_judge_pairs(), key=lambda one: -one.correlation)
    gated = [one for one in every if one.gate is not None]
    return {
        "cascade-drawn": "\n".join([*head, *(measure_cascade(one, draws).to_row() for one in every), ""]),
        "cascade-near": "\n".join([*head, *(measure_cascade(one, draws, gated=True).to_row() for one in gated), ""]),
    }


FALSE_ALARM_CASES = ((35, 30, 0.8), (60, 30, 0.0), (60, 30, 1.0), (200, 40, 0.8))  # Samples, drawn, cheap judge right.


def measure_cascades() -> Iterator[Figure]:
    """What is promised: 93% at least, half of the calls where judges correlate, no more than 5% false alarms."""
    if not SHARED.is_dir():
        return
    for gated in (False, True):
        pairs = [one for one in read_judge_pairs() if not gated or one.gate is not None]
        found = [measure_cascade(one, gated=gated) for one in pairs]
        worst = min(found, key=lambda one: one.covered)
        name = f"cascade{', with a gate' if gated else ''}: worst coverage ({worst.pair.data}, {worst.pair.name})"
        yield Figure(name, f"{worst.covered:.1%}", f"≥ {PROMISED:.0%}", worst.covered >= PROMISED)
        if not gated:
            most = max((one for one in found if one.pair.correlation >= CORRELATED), key=lambda one: one.ratio)
            name = f"cascade: strong calls beside a plain sample ({most.pair.data}, {most.pair.name})"
            yield Figure(name, f"{most.ratio:.2f} ×", f"≤ {AT_MOST} ×", most.ratio <= AT_MOST)
    cases = {case: measure_false_alarms(*case) for case in FALSE_ALARM_CASES}
    case, most_alarms = max(cases.items(), key=lambda one: one[1])
    name = f"cascade: false alarms on equal variants, worst of {len(cases)} (samples, drawn, right: {case})"
    yield Figure(name, f"{most_alarms:.1%}", "≤ 5.5%", most_alarms <= 0.055)
