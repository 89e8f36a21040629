"""A run of some samples: chosen by number, id or tag, told in its head, and never taken for a run of all."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.evals.sample import EvalSample
from evenhand.evals.samples import EvalSampleSelection, InlineSamples, select_samples
from tests.cli.command import evenhand

EVAL = """
name: greetings
samples: samples.jsonl
assertions: [{contains: Hello}]
"""
TAGS = {"plain": "short,polite", "late": "polite", "rude": "short", "long": ""}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "eval.yaml").write_text(EVAL, "utf-8")
    lines = [
        json.dumps({"id": id, "input": "Hi", "tags": tags, "outputs": {"old": f"Go {id}", "new": f"Hello {id}"}})
        for id, tags in TAGS.items()
    ]
    (tmp_path / "samples.jsonl").write_text("\n".join(lines), "utf-8")
    return tmp_path


def head_of(folder: Path, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(evenhand("run", "eval.yaml", "--json", *arguments, folder=folder).stdout)
    return found


def samples_of(folder: Path) -> list[str]:
    report = json.loads(evenhand("report", "latest", "--json", folder=folder).stdout)
    return [one["id"] for one in report["samples"]]


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (("--limit", "3"), ["plain", "late", "rude"]),
        (("--only", "long", "--only", "late"), ["late", "long"]),
        (("--tag", "short"), ["plain", "rude"]),
        (("--tag", "short", "--tag", "polite"), ["plain", "late", "rude"]),
        (("--tag", "polite", "--limit", "1"), ["plain"]),
        (("--tag", "polite", "--only", "late"), ["late"]),
        (("--limit", "99"), list(TAGS)),
    ],
)
def test_only_the_chosen_samples_are_run(folder: Path, arguments: tuple[str, ...], ids: list[str]) -> None:
    """Ids and tags choose, and a limit takes the first of what they chose."""
    plan = head_of(folder, "--plan", *arguments)
    head = head_of(folder, *arguments)

    assert samples_of(folder) == ids
    assert plan["samples"] == head["run"]["samples"] == len(ids)
    assert plan["selection"] == head["run"]["selection"]


@pytest.mark.parametrize(("chosen", "ids"), [({"limit": 2}, "ab"), ({"only": ("c",)}, "c"), ({"limit": 9}, "abcd")])
def test_whoever_goes_through_the_samples_sees_the_chosen_ones(chosen: dict[str, Any], ids: str) -> None:
    """A plan looks at them this way, before a run reads them with their lines."""
    every = InlineSamples(tuple(EvalSample(id=id) for id in "abcd"), "samples")

    assert [one.id for one in select_samples(every, EvalSampleSelection(**chosen))] == [*ids]


def test_a_part_is_told_as_one_wherever_a_run_is_shown(folder: Path) -> None:
    """Nobody takes three samples for the whole."""
    done = evenhand("run", "eval.yaml", "--limit", "3", folder=folder)
    shown = [done.stdout]
    shown += [
        evenhand(*words, folder=folder).stdout
        for words in (
            ("runs", "show", "latest"),
            ("report", "latest", "--markdown"),
            ("report", "latest", "--html"),
            ("history", "greetings"),
            ("run", "eval.yaml", "--limit", "3", "--plan"),
        )
    ]

    assert [one for one in shown if "--limit 3" not in one] == []
    assert "3 (part)" in evenhand("runs", "list", folder=folder).stdout
    assert "evenhand run eval.yaml --resume" in done.stderr


def test_the_trend_of_a_part_is_that_of_parts(folder: Path) -> None:
    """A whole run, a part, and both again: each moved by nothing since its own kind, and not since the other."""
    for arguments in ((), ("--limit", "1"), (), ("--limit", "1")):
        evenhand("run", "eval.yaml", *arguments, folder=folder)

    entries = json.loads(evenhand("history", "greetings/new", "--json", folder=folder).stdout)

    assert [one["trend"] for one in entries] == [None, None, 0.0, 0.0]


def test_a_part_is_not_compared_with_the_whole(folder: Path) -> None:
    """In either direction; two runs of the same part are."""
    evenhand("run", "eval.yaml", "--limit", "3", folder=folder)
    evenhand("baseline", "set", "latest", "--name", "part", folder=folder)
    head_of(folder, "--limit", "3", "--fresh")
    alike = evenhand("compare", "baseline:part:new", "latest:new", folder=folder)
    head_of(folder)
    told = [
        evenhand("compare", *two, folder=folder)
        for two in (("baseline:part:new", "latest:new"), ("latest:new", "baseline:part:new"))
    ]
    forced = evenhand("compare", "baseline:part:new", "latest:new", "--force", folder=folder)

    assert alike.returncode != 2, alike.stderr
    assert [one.returncode for one in told] == [2, 2]
    assert all("one run took a part of the samples" in " ".join(one.stderr.split()) for one in told)
    assert all("only --limit 3" in " ".join(one.stderr.split()) for one in told)
    assert "took all samples" in " ".join(forced.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--only", "plian"), "no sample has the id 'plian' (did you mean 'plain'?)"),
        (("--tag", "zebra"), "no sample has the tag 'zebra' (known: short, polite)"),
        (("--only", "long", "--tag", "short"), "no sample that --only names has a tag that --tag names"),
        (("--limit", "0"), "0 is not in the range"),
        (("--repeats", "0"), "0 is not in the range"),
    ],
)
def test_what_chooses_nothing_is_refused(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    """A misspelt id must not run nothing and pass."""
    done = evenhand("run", "eval.yaml", *arguments, folder=folder)

    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_a_fault_in_the_file_is_told_and_not_taken_for_a_missing_id(folder: Path) -> None:
    """The broken line may be the sample that is asked for."""
    with (folder / "samples.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"id": "new", "inptu": 1}')

    done = evenhand("run", "eval.yaml", "--only", "new", folder=folder)

    assert "unknown field 'inptu'" in done.stderr
    assert "samples.jsonl:5" in done.stderr


def test_a_whole_run_takes_over_what_a_part_has_asked(folder: Path) -> None:
    """The first look is not paid for twice."""
    (folder / "eval.yaml").write_text(
        EVAL + "rubric: {criteria: [{id: g, asks: \"Does it contain the word 'Hello'?\"}]}\n", "utf-8"
    )
    head_of(folder, "--limit", "3")

    assert head_of(folder, "--resume")["judges"][0]["cached"] == 6


def test_repeats_override_the_eval(folder: Path) -> None:
    """Samples asked again, to see how far outputs and judgments stray."""
    (folder / "eval.yaml").write_text(EVAL + "repeats: 2\n", "utf-8")

    assert head_of(folder, "--repeats", "3")["run"]["repeats"] == 3
    assert head_of(folder, "--plan", "--repeats", "5")["repeats"] == 5
    assert head_of(folder)["run"]["repeats"] == 2
    assert head_of(folder, "--repeats", "3")["variants"][0]["results"] == 12
