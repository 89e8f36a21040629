"""The weights of the nonsense rule: the texts and suffixes that they are fitted on, and the fit."""

import json
import random
import re
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from evenhand.guards.injection import list_nonsense_features, split_injected_nonsense_units

SIZES, WIDEST = (16, 30), 30  # Units of the passages that are weighed.
LEAST = 40  # Times that a feature must occur before it gets a weight.
SHRINKAGE = 3.0
SMALL = 0.12  # A weight below this is left out, and the others are fitted again.
ENOUGH = {"near": -3.0, "closer": -2.0}  # Scores above which an ordinary passage is fitted on in the next round.
THRESHOLD = 0.6
MARKS = "!@#$%^&*()_+-=[]{}|;:'\",.<>/?\\`~"
Vector = NDArray[np.float64]
Coded = NDArray[np.int32]


@dataclass(frozen=True)
class TokenGroups:
    """The tokens of a model's vocabulary by what they are."""

    plain: list[str]
    words: list[str]
    parts: list[str]
    marks: list[str]
    shown: list[str]
    other: list[str]


def group_tokens(vocabulary: Sequence[str]) -> TokenGroups:
    """Tokens that can be printed: in ASCII, whole words, parts of words and marks; then those beyond it."""
    shown = [token for token in vocabulary if token.strip() and token.isprintable()]
    plain = [token for token in shown if token.isascii()]
    return TokenGroups(
        plain=plain,
        words=[token for token in plain if re.fullmatch(" [A-Za-z]{3,}", token)],
        parts=[token for token in plain if re.fullmatch("[A-Za-z]{2,}", token)],
        marks=[token for token in plain if not re.search("[A-Za-z0-9]", token)],
        shown=shown,
        other=[token for token in shown if not token.isascii()],
    )


def draw_suffix(draw: random.Random, tokens: TokenGroups, kind: str) -> str:
    """One suffix of tokens, as a search over them would leave it."""
    if kind == "random tokens":
        return "".join(draw.choices(tokens.plain, k=draw.randint(12, 30)))
    if kind == "tokens and marks":
        shares = draw.uniform(0.1, 0.35), draw.uniform(0.15, 0.4)
        kinds = [tokens.marks, tokens.parts, tokens.words]
        return "".join(map(draw.choice, draw.choices(kinds, [*shares, 1 - sum(shares)], k=draw.randint(14, 26))))
    if kind == "mixed alphabets":
        return "".join(map(draw.choice, draw.choices([tokens.other, tokens.shown], [2, 3], k=draw.randint(12, 25))))
    after = [["", "", " ", draw.choice(tokens.parts)] for _ in range(draw.randint(15, 30))]
    return "".join(draw.choice(MARKS) + draw.choice(one) for one in after)


def fit_nonsense_weights(suffixes: Sequence[str], ordinary: Sequence[str]) -> dict[str, float]:
    """Weights by logistic regression on passages; ordinary ones near the line are added in rounds."""
    read = [list_nonsense_features(split_injected_nonsense_units(text)[0]) for text in (*suffixes, *ordinary)]
    common = Counter(feature for features in read for both in features for feature in both)
    names = [name for name, count in common.items() if count >= LEAST]
    place = {name: number for number, name in enumerate(names)}
    coded = [
        np.array([[place.get(name, -1) for name in both] for both in features], np.int32)
        for features in read
        if features
    ]
    draw = random.Random(3)
    attacks = [_cut(one, draw.choice(SIZES), draw) for one in coded[: len(suffixes)]]
    texts = coded[len(suffixes) :]
    passages = [_cut(one, WIDEST, draw) for one in texts for _ in range(3)]
    weights: Vector = np.zeros(len(names) + 2)  # The last two: of each unit, and of the whole.
    used: Vector = np.ones(len(weights))
    for line in (ENOUGH["near"],) * 3:
        weights = _solve(attacks, passages, weights, used)
        passages += [passage for one in texts for score, passage in [_best(one, weights)] if score > line]
    weights = _solve(attacks, passages, weights, used)
    used[:-2] = np.abs(weights[:-2]) >= SMALL
    weights = weights * used
    for line in (ENOUGH["closer"],) * 2:
        weights = _solve(attacks, passages, weights, used)
        passages += [passage for one in texts for score, passage in [_best(one, weights)] if score > line]
    weights = _solve(attacks, passages, weights, used)
    fitted = {name: round(float(value), 2) for name, value in zip(names, weights, strict=False) if value}
    ends = {"always": round(float(weights[-1]) - THRESHOLD, 3), "each": round(float(weights[-2]) / WIDEST, 4)}
    return {**ends, **dict(sorted(fitted.items(), key=lambda item: (-abs(item[1]), item[0])))}


def _cut(coded: Coded, size: int, draw: random.Random) -> Coded:
    start = draw.randrange(max(1, len(coded) - size + 1))
    return coded[start : start + size]


def _best(coded: Coded, weights: Vector) -> tuple[float, Coded]:
    """The passage of a text that scores most."""
    given = np.append(weights[:-2], 0.0)  # What is unknown weighs nothing.
    sums = np.concatenate([[0.0], np.cumsum(given[coded].sum(1) + weights[-2] / WIDEST)])
    best = []
    for size in (min(size, len(coded)) for size in SIZES):
        scores = sums[size:] - sums[:-size]
        start = int(scores.argmax())
        best.append((float(scores[start] + weights[-1]), coded[start : start + size]))
    return max(best, key=lambda one: one[0])


def _solve(attacks: Sequence[Coded], passages: Sequence[Coded], start: Vector, used: Vector) -> Vector:
    every = [*attacks, *passages]
    sizes = np.array([len(one) for one in every]) / WIDEST
    known = [one[one >= 0] for one in every]
    ends = np.cumsum([0, *map(len, known)])
    table = csr_matrix((np.ones(ends[-1]), np.concatenate(known), ends), shape=(len(every), len(start) - 2))
    labels = np.concatenate([np.ones(len(attacks)), np.zeros(len(passages))])

    def loss(weights: Vector) -> tuple[float, Vector]:
        sums = table @ weights[:-2] + weights[-2] * sizes + weights[-1]
        off = 1 / (1 + np.exp(-sums)) - labels
        slope = np.concatenate([table.T @ off + SHRINKAGE * weights[:-2], [off @ sizes, off.sum()]]) * used
        penalty = SHRINKAGE / 2 * float(weights[:-2] @ weights[:-2])
        return float((np.logaddexp(0, sums) - labels * sums).sum()) + penalty, slope

    solved: Vector = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 80}).x
    return solved


def read_vocabulary(path: Path) -> list[str]:
    """The tokens in a model's GGUF file that are whole characters."""
    with path.open("rb") as file:
        _, entries = struct.unpack("<4xI8xQ", file.read(24))
        values = {}
        for _ in range(entries):
            name = _read_gguf_value(file, 8)
            values[name] = _read_gguf_value(file, struct.unpack("<I", file.read(4))[0])
    # Byte-level tokens: each byte stands as a letter that can be printed.
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    bytes_ = {chr(byte): byte for byte in shown} | {chr(256 + n): byte for n, byte in enumerate(hidden)}
    tokens = [
        bytes(bytes_.get(letter, 0xFF) for letter in token.decode()) for token in values[b"tokenizer.ggml.tokens"]
    ]
    return [text for text in (token.decode("utf-8", "ignore") for token in tokens) if text]


def _read_gguf_value(file: BinaryIO, kind: int) -> Any:
    if kind == 8:
        return file.read(struct.unpack("<Q", file.read(8))[0])
    if kind == 9:
        of, count = struct.unpack("<IQ", file.read(12))
        return [_read_gguf_value(file, of) for _ in range(count)]
    return file.read({0: 1, 1: 1, 2: 2, 3: 2, 7: 1, 10: 8, 11: 8, 12: 8}.get(kind, 4))


def read_folder(folder: Path, keep: Callable[[str], bool]) -> list[str]:
    """Pieces of the text files in a folder and below, for those whose path is kept."""
    draw = random.Random(7)
    pieces = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and keep(str(path))):
        text = file.read_bytes()[:400_000].decode("utf-8", "ignore")
        size = draw.choice([200, 400, 800, 1500, 3000])
        start = text.find("\n", draw.randrange(max(1, len(text) - size))) + 1
        pieces.append(text[start : start + size])
    return [piece for piece in pieces if len(piece) >= 60]


if __name__ == "__main__":  # python -m benchmarks.nonsense MODEL.gguf FOLDER...: three of four files are fitted on.
    tokens = group_tokens(read_vocabulary(Path(sys.argv[1])))
    chance = random.Random(3)
    drawn = [
        draw_suffix(chance, tokens, kind)
        for kind in ("random tokens", *["tokens and marks"] * 3, "mixed alphabets", "marks")
        for _ in range(1500)
    ]
    texts = [
        text
        for name in sys.argv[2:]
        for text in read_folder(Path(name), lambda path: zlib.crc32(path.encode()) % 4 > 0)
    ]
    print(json.dumps({"weights": fit_nonsense_weights(drawn, texts)}, ensure_ascii=False, indent=0))
