"""A run with a cascade: the strong judge sees what is near a threshold and a random part, and nothing twice."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runs.chaos.evals import Kept, write_eval
from tests.runs.chaos.judges import NAMES, Judges
from tests.warm.processes import run

SAMPLES = 60
CHEAP, STRONG = NAMES


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    with Judges() as running:
        yield running


def written(folder: Path, judges: Judges, pass_on: object = 0.6, **changes: Any) -> Path:
    """An eval of two variants with a cascade, and no threshold to be near to."""
    cascade = {"cascade": [judges.name(one) for one in NAMES], "pass_on": pass_on}
    whole = write_eval(folder, judges, SAMPLES, **{"repeats": 1, "assertions": [], **changes})
    (folder / "eval.yaml").write_text(json.dumps({**whole, "judges": cascade}), "utf-8")
    return folder


def asked(judges: Judges) -> dict[str, set[str]]:
    """The samples that each judge was asked about since the last time, each output once."""
    counted = judges.sitting()
    assert set(counted.values()) <= {1}
    return {name: {mark.partition("/")[0] for judge, mark in counted if judge == name} for name in NAMES}


def test_the_strong_judge_sees_a_random_part_and_both_variants_of_it(judges: Judges, tmp_path: Path) -> None:
    """A share of 60 is 36: differences are pairs of one judge, and the rest is marked as the cheap judge's."""
    head = run(written(tmp_path, judges), "run", "eval.yaml", "--json").head

    seen = asked(judges)
    assert (len(seen[CHEAP]), len(seen[STRONG])) == (SAMPLES, 36)
    cascade = head["cascade"]
    assert (cascade["near"], cascade["drawn"], cascade["left"]) == (0, 36, 24)
    results = Kept(tmp_path / ".evenhand").results()
    assert len(results) == 2 * SAMPLES
    for (id, _, _), content in results.items():
        assert content["cascade"]["passed_on"] == ("drawn" if id in seen[STRONG] else "")
        assert content["decided_by"] == judges.name(STRONG if id in seen[STRONG] else CHEAP)
    kinds = [(one["kind"], one["variant"]) for one in cascade["estimates"]]
    assert kinds == [
        ("score", "old"),
        ("composite", "old"),
        ("score", "new"),
        ("composite", "new"),
        ("difference", "new"),
    ]
    difference = head["decision"]["comparisons"][0]["composite"]
    assert difference["method"].startswith("cascade: ")
    assert difference["estimate"] == pytest.approx(cascade["estimates"][-1]["strong"]["estimate"])
    assert cascade["saved"]["calls_saved"] == 48
    assert cascade["saved"]["cost_saved"] == pytest.approx(48.0)
