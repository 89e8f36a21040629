"""The weights of the injection guard: the data that they are fitted on, the fit, and its cross-validation."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenhand.guards.injection import read_guarded_text_views
from evenhand.guards.injection_scores import Feature, list_injection_features, list_injection_sentences

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / "data"
# Pages and examples that quote hijacks, or print what a judge is told: neither ordinary nor hijacks.
ABOUT = ("guard", "prompt", "hostile", "judging")
SHRINKAGE = 1.0
PLAIN = "plain"
FLAGGED = 0.008  # Share of ordinary texts above the threshold: below the 1 % promised, as others write otherwise.
LEAST = 4  # Texts that must have a feature before it gets a weight.
ROUNDS = 3  # Of choosing the sentence in a long text that is the hijack, and fitting again.
STEPS = 150
MEMORY = 8  # Steps that the solver remembers.
SMALL = 0.02  # A weight below this changes nothing and is left out of the file.
Vector = NDArray[np.float64]
Fitted = dict[Feature, float]


@dataclass(frozen=True)
class Labelled:
    """A text, who wrote it, whether it is a hijack, and the features of all that is weighed in it."""

    writer: str
    kind: str
    language: str
    hijack: bool
    units: list[set[Feature]]

    def weight(self, fitted: Fitted) -> float:
        """What its heaviest sentence weighs."""
        return max((_sum(fitted, unit) for unit in self.units), default=-np.inf)


def fitting_texts() -> list[Labelled]:
    """All that may be fitted on: our hijacks, our look-alikes, and ordinary texts."""
    rows = [(row, True) for row in _rows("hijacks")] + [(row, False) for row in _rows("harmless")]
    texts = [
        _labelled(row.get("writer", "first"), row.get("rule") or row["like"], row["language"], hijack, row["text"])
        for row, hijack in rows
    ]
    outputs = {row["output"] for file in sorted(DATA.glob("*_fit.jsonl")) for row in _rows(file.stem)}
    pages = [
        page.read_text("utf-8")
        for folder in ("docs", "examples")
        for page in sorted((ROOT / folder).rglob("*.*"))
        if page.suffix in (".md", ".txt", ".yaml") and not any(word in str(page.relative_to(ROOT)) for word in ABOUT)
    ]
    plain = [_labelled("output", PLAIN, "en", False, text) for text in sorted(outputs)]
    return [*texts, *plain, *(_labelled("page", "page", "en", False, text) for text in pages)]


def fit(texts: Sequence[Labelled], shrinkage: float = SHRINKAGE) -> Fitted:
    """Weights by logistic regression with a penalty; of a long hijack only the heaviest sentence is one."""
    common = Counter(feature for text in texts for feature in set().union(*text.units))
    names = sorted((name for name, count in common.items() if count >= LEAST), key=str)
    place = {name: number for number, name in enumerate(names)}
    harmless = [_coded(unit, place) for text in texts if not text.hijack for unit in text.units]
    hijacks = [[_coded(unit, place) for unit in text.units] for text in texts if text.hijack and text.units]
    chosen = [max(coded, key=len) for coded in hijacks if len(coded) <= 3]
    weights: Vector = np.zeros(len(names) + 1)
    for _ in range(ROUNDS):
        labels = np.concatenate([np.ones(len(chosen)), np.zeros(len(harmless))])
        weights = _solve([*chosen, *harmless], labels, weights, shrinkage)
        chosen = [max(coded, key=lambda unit: float(weights[unit].sum())) for coded in hijacks]
    found: Fitted = {name: float(value) for name, value in zip(names, weights, strict=False)}
    return {"always": float(weights[-1]), **found}


def crossed(texts: Sequence[Labelled]) -> list[float]:
    """What each text weighs with weights fitted on the other writers; ordinary texts are dealt out among them."""
    writers = sorted({text.writer for text in texts if text.hijack})
    dealt = random.Random(0)
    fold = [text.writer if text.writer in writers else dealt.choice(writers) for text in texts]
    fitted = {
        writer: fit([text for text, left in zip(texts, fold, strict=True) if left != writer]) for writer in writers
    }
    return [text.weight(fitted[left]) for text, left in zip(texts, fold, strict=True)]


def threshold(texts: Sequence[Labelled], weights: Sequence[float]) -> float:
    """The least weight that is enough: so that of ordinary texts hardly any is above it."""
    plain = sorted((weight for text, weight in zip(texts, weights, strict=True) if text.kind == PLAIN), reverse=True)
    return plain[int(FLAGGED * len(plain))]


def shares(texts: Sequence[Labelled], weights: Sequence[float], enough: float) -> dict[str, str]:
    """For each writer, the share of hijacks and of harmless texts above the threshold."""
    above: Counter[tuple[str, bool]] = Counter()
    every: Counter[tuple[str, bool]] = Counter()
    for text, weight in zip(texts, weights, strict=True):
        key = (text.writer, text.hijack)
        every[key] += 1
        above[key] += weight > enough
    names = {True: "hijacks", False: "harmless"}
    return {
        f"{writer}, {names[hijack]}": f"{above[writer, hijack]} of {of} ({above[writer, hijack] / of:.1%})"
        for (writer, hijack), of in sorted(every.items())
    }


def written(fitted: Fitted, threshold: float) -> dict[str, float]:
    """The weights as the package reads them: largest first, the threshold taken off what is always there."""
    named = {" > ".join(name) if isinstance(name, tuple) else name: value for name, value in fitted.items()}
    always = named.pop("always") - threshold
    kept = sorted((item for item in named.items() if abs(item[1]) >= SMALL), key=lambda item: (-abs(item[1]), item[0]))
    return {"always": round(always, 3), **{name: round(value, 3) for name, value in kept}}


def _rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def _labelled(writer: str, kind: str, language: str, hijack: bool, text: str) -> Labelled:
    sentences = [sentence for view in read_guarded_text_views(text) for sentence in list_injection_sentences(view)]
    return Labelled(writer, kind, language, hijack, [list_injection_features(sentence) for sentence in sentences])


def _sum(fitted: Fitted, unit: set[Feature]) -> float:
    return fitted["always"] + sum(fitted.get(feature, 0.0) for feature in unit)


def _coded(unit: set[Feature], place: dict[Feature, int]) -> NDArray[np.int64]:
    return np.array(sorted(place[feature] for feature in unit if feature in place), dtype=np.int64)


def _solve(rows: list[NDArray[np.int64]], labels: Vector, start: Vector, shrinkage: float) -> Vector:
    """The least penalised loss, by limited-memory BFGS (Nocedal and Wright, Numerical Optimization, 7.2)."""
    columns = np.concatenate(rows)
    of = np.repeat(np.arange(len(rows)), [len(row) for row in rows])

    def loss(weights: Vector) -> tuple[float, Vector]:
        sums = np.bincount(of, weights=weights[columns], minlength=len(rows)) + weights[-1]
        off = 1 / (1 + np.exp(-sums)) - labels
        slope = np.bincount(columns, weights=off[of], minlength=len(weights)) + shrinkage * weights
        slope[-1] = off.sum()
        penalty = shrinkage * float(weights[:-1] @ weights[:-1]) / 2
        return float((np.logaddexp(0, sums) - labels * sums).sum()) + penalty, slope

    weights = start.copy()
    value, slope = loss(weights)
    past: list[tuple[Vector, Vector]] = []
    for _ in range(STEPS):
        step = _downhill(slope, past)
        size, (after, sloping) = 1.0, loss(weights + step)
        while after > value + 1e-4 * size * float(slope @ step) and size > 1e-6:
            size /= 2
            after, sloping = loss(weights + size * step)
        moved = size * step
        if float((sloping - slope) @ moved) > 0:
            past = [*past, (moved, sloping - slope)][-MEMORY:]
        near = abs(value - after) < 1e-5 * abs(value)
        weights, value, slope = weights + moved, after, sloping
        if near:
            break
    return weights


def _downhill(slope: Vector, past: list[tuple[Vector, Vector]]) -> Vector:
    rest = slope.copy()
    shares = []
    for moved, turned in reversed(past):
        share = float(moved @ rest) / float(turned @ moved)
        shares.append(share)
        rest -= share * turned
    if past:
        moved, turned = past[-1]
        rest *= float(moved @ turned) / float(turned @ turned)
    else:
        rest /= max(1.0, float(np.abs(slope).max()))
    for (moved, turned), share in zip(past, reversed(shares), strict=True):
        rest += moved * (share - float(turned @ rest) / float(turned @ moved))
    return -rest
