"""Samples that got worse: the table shows what fell, in the numbers that the composite is made of."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli.notable_tables import print_changed_samples
from evenhand.cli.screen import Screen
from tests.cli.command import evenhand

JUDGE = """
import json, re

def grade(request):
    score = int(re.search("worth ([1-5])", request.about.texts["output"])[1])
    return json.dumps({"criteria": {id: {"evidence": [], "reason": "so it says", "score": score} for id in request.ids}})
"""
EVAL = """
samples: samples.jsonl
assertions: [{contains: page}, {starts_with: OK}]
rubric: {method: layered, criteria: [{id: judge, asks: How good is it?}]}
judges: ["python:judges:grade"]
"""


def run(folder: Path, outputs: Sequence[Sequence[str]], more: str = "") -> tuple[str, dict[str, Any]]:
    """What a run of these outputs, old and new, prints of what got worse, and its first such sample as data."""
    lines = [
        json.dumps({"id": f"s{place}", "input": "How?", "outputs": {"old": old, "new": new}})
        for place, (old, new) in enumerate(outputs)
    ]
    (folder / "samples.jsonl").write_text("\n".join(lines), "utf-8")
    (folder / "judges.py").write_text(JUDGE, "utf-8")
    (folder / "eval.yaml").write_text(EVAL + more, "utf-8")
    printed = evenhand("run", "eval.yaml", "--report-only", folder=folder).stdout
    head = json.loads(evenhand("report", "latest", "--json", folder=folder).stdout)
    return printed.partition("Got worse\n")[2], head["notable"]["worse"][0]


def test_the_layer_that_fell_is_shown_beside_the_one_that_rose(tmp_path: Path) -> None:
    """The rubric layer alone, which rose, explained no fall of the composite."""
    table, worst = run(tmp_path, [("OK page, worth 2", "a page, worth 5")] * 6)

    heads, first, *_ = table.splitlines()
    assert heads.split("  ")[0] == "sample"
    assert heads.split()[1:] == ["composite", "behavior", "rubric", "layer"]  # The fact layer is the same.
    assert first.split()[1:] == ["4.00", "→", "3.67", "5.00", "→", "1.00", "2.00", "→", "5.00"]
    assert worst["layers"]["fact"] == {"before": 5.0, "after": 5.0}


def test_the_rubric_layer_is_the_corrected_one_as_in_the_main_table(tmp_path: Path) -> None:
    """With debias: regress the scores as judges gave them are no part of the composite."""
    scores = [(3 + place % 2, 2 + place % 3) for place in range(12)]
    outputs = [
        tuple(f"OK page, worth {one}{' and on' * one * (place + 3)}" for one in scores[place]) for place in range(12)
    ]

    table, worst = run(tmp_path, outputs, "debias: regress\n")

    layers = {name: ends["after"] for name, ends in worst["layers"].items()}
    assert worst["after"] == pytest.approx(sum(layers.values()) / 3)
    assert worst["criteria"]["judge"]["after"] != layers["judge"]
    assert table.splitlines()[1].endswith(f" → {layers['judge']:.2f}")


def test_a_layer_and_a_criterion_of_one_name_are_told_apart(capsys: Any) -> None:
    """Only then the layer is said to be one."""
    moved = {"before": 4.0, "after": 2.0}
    sample = {"sample": "s1", "variant": "new", "before": 4.0, "after": 3.0, "change": -1.0}
    layers = {"fact": moved, "judge": moved}

    for criteria, expected in (({"fact": moved}, "fact layer  "), ({"tone": moved}, "  fact  ")):
        print_changed_samples(Screen(), "Got worse", [{**sample, "layers": layers, "criteria": criteria}])
        assert expected in capsys.readouterr().out
