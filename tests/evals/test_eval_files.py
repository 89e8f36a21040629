"""Eval files: one file that a newcomer can read, refused with every fault and its line."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from evenhand import EvalError
from evenhand.evals.eval_definition import RESERVED_NAMES, Eval, check_eval_samples
from evenhand.evals.eval_file import load_eval
from evenhand.evals.eval_schema import eval_schema
from evenhand.evals.sample import EvalSample
from evenhand.files.methods import LIBRARY
from evenhand.store.queries import ASIDE_PREFIXES

SAMPLES = "samples: [{id: a, input: Hi, outputs: {old: Hello, new: Hello there}}]\n"
LEAST = f"{SAMPLES}assertions: [{{contains: Hello}}]\n"


def eval_of(folder: Path, text: str) -> Eval:
    (folder / "eval.yaml").write_text(text, "utf-8")
    return load_eval(folder / "eval.yaml", {})


def faults_of(folder: Path, text: str) -> list[str]:
    with pytest.raises(EvalError) as refused:
        eval_of(folder, text)
    return [str(fault).removeprefix(f"{folder}/") for fault in refused.value.faults]


def test_what_is_left_out_has_the_value_that_most_want(tmp_path: Path) -> None:
    """The least file: samples with outputs, and one thing to look at."""
    found = eval_of(tmp_path, LEAST)

    assert found.name == "eval"
    assert list(found.variants) == ["old", "new"]
    assert found.control == "old"
    assert found.judges == ("embedded",)
    assert found.guards == ("injection", "safety", "personal")
    assert (found.repeats, found.keep, found.limits.concurrency) == (1, "raw", 50)


def test_every_field_is_read(tmp_path: Path) -> None:
    """A file that says everything."""
    text = f"""
name: desk
about: for readers
{SAMPLES}
variants: {{old: {{}}, new: {{}}}}
control: new
rubric: {{criteria: [It is short]}}
rubrics: {{coding: code-review}}
assertions: [{{max_length: 10}}]
judges: {{python:a:b: 2, embedded: 1}}
how: {{language: zh, each: true, temperature: 0.5, max_tokens: 99, deadline: 7, timeout: 9, retries: 2}}
guards: {{injection: refuse, personal: "off"}}
repeats: 3
gates: {{fact: 4, pass_rate: 90%, rubric-1: 1/2}}
smallest_effect: 0.25
smallest_loss_share: {{points: 2, share: 0.05}}
budget: {{money: 2.50, tokens: 1000}}
concurrency: 7
keep: none
seed: 11
"""
    found = eval_of(tmp_path, text)

    assert (found.name, found.control, found.repeats, found.keep, found.how.seed) == ("desk", "new", 3, "none", 11)
    assert found.judges == ("python:a:b", "embedded")
    assert found.how.weights["python:a:b"] == 2
    assert (found.how.language, found.how.each, found.how.refuse, found.how.deadline) == ("zh", True, True, 7)
    assert (found.how.settings.temperature, found.how.settings.max_tokens) == (0.5, 99)
    assert (found.limits.concurrency, found.limits.attempt_seconds, found.limits.retries) == (7, 9, 2)
    assert found.guards == ("injection", "safety")
    assert {name: str(least) for name, least in found.gates.items()} == {
        "fact": "4",
        "pass_rate": "9/10",
        "rubric-1": "1/2",
    }
    assert found.budget is not None
    assert (str(found.budget.money), found.budget.tokens) == ("2.5", 1000)
    assert str(found.smallest_effect) == "1/4"
    assert found.composite.list_changes() == {"smallest_loss_share": "2 points, 0.05"}


def test_a_rubric_goes_by_the_tag_of_the_sample(tmp_path: Path) -> None:
    """Task-specific rubrics: the first tag that has one, else the one for all."""
    found = eval_of(tmp_path, f"{SAMPLES}rubric: {{name: all, criteria: [A]}}\nrubrics: {{coding: code-review}}\n")

    chosen = [found.rubric_for_sample(EvalSample(id="s", tags=tags)) for tags in ((), ("other",), ("other", "coding"))]

    assert [one.name if one else None for one in chosen] == ["all", "all", "code-review"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "eval.yaml: the file is empty"),
        ("samples: []\nassertions: [{contains: a}]\n", "there are no samples"),
        (f"{LEAST}asertions: []\n", "eval.yaml:3: unknown field 'asertions' (did you mean 'assertions'?)"),
        (f"{LEAST}control: odl\n", "eval.yaml:3: control 'odl' is not a variant (did you mean 'old'?)"),
        (f"{LEAST}gates: {{fcat: 3}}\n", "a gate on 'fcat', which nothing measures (did you mean 'fact'?)"),
        (f"{LEAST}gates: {{fact: high}}\n", "the gate on fact must be a number, got 'high'"),
        (f"{LEAST}repeats: 0\n", "eval.yaml:3: repeats must be 1 or more, got 0"),
        (f"{LEAST}repeats: 1000001\n", "eval.yaml:3: repeats must be at most 1,000,000"),
        (f"{LEAST}name: 'align:help'\n", "eval.yaml:3: no name begins as in 'align:help'"),
        (f"{LEAST}keep: all\n", "keep 'all' is not known"),
        (f"{LEAST}guards: [injections]\n", "no guard is called 'injections' (did you mean 'injection'?)"),
        (f"{LEAST}guards: {{safety: refuse}}\n", "safety cannot be 'refuse'"),
        (f"{LEAST}rubric: sumary\n", "no rubric is called 'sumary' (did you mean 'summary'?"),
        (f"{LEAST}rubric: {{criteria: [{{id: a, asks: b, wieght: 2}}]}}\n", "unknown field 'wieght'"),
        (f"{LEAST}how: {{samples: 0}}\n", "eval.yaml:3: samples must be 1 or more, got 0"),
        (f"{LEAST}budget: -1\n", "eval.yaml:3: a budget of money cannot be -1"),
        (f"{LEAST}judges: {{embedded: heavy}}\n", "the weight of embedded must be a number, got 'heavy'"),
        (f"{LEAST}judges: [[a]]\n", "a judge is a name, got a list"),
        (f"{LEAST}smallest_effect: 0\n", "smallest_effect must be above 0"),
        (f"{LEAST}smallest_loss_share: {{points: 5, share: 0.1}}\n", "needs points up to 4 and a share below 1"),
        (f"{LEAST}smallest_loss_share: {{points: 2}}\n", "smallest_loss_share needs points and share"),
        (f"{LEAST}gates: {{fact: 9}}\n", "the gate on fact must be from 1 to 5"),
        (f"{LEAST}gates: {{fact: 0.9}}\n", "the gate on fact must be from 1 to 5 (a share of 0.9 is 4.6)"),
        (
            f"{SAMPLES}rubric: layered\ngates: {{dimension: 3}}\n",
            "which nothing measures (known: behavior, composite, fact, judge, pass_rate, score)",
        ),
        (f"{LEAST}gates: {{rubric: 4}}\n", "a gate on 'rubric' means nothing here: there is no rubric"),
        (f"{LEAST}rubric: summary\ngates: {{judge: 4, rubric: 3}}\n", "twice (rubric and judge are one layer)"),
        (f"{LEAST}weights: {{rubric: 4, judge: 3, why: w}}\n", "twice (rubric and judge are one layer)"),
        (f"{LEAST}gates: {{judge: 4}}\n", "a gate on 'judge' means nothing here: there is no rubric"),
        (
            f"{LEAST}rubric: summary\nrubrics: {{a: {{criteria: [x]}}}}\ngates: {{score: 3}}\n",
            "a gate on 'score' means nothing here: its rubrics have different scales",
        ),
        (f"{SAMPLES}assertions: [{{custom: python:nowhere:f}}]\n", "python:nowhere:f cannot be loaded"),
        (f"{SAMPLES}assertions: [{{custom: {{command: [./nope]}}}}]\n", "no program is called './nope'"),
        ("assertions: [{contains: a}]\n", "an eval needs samples"),
        ("samples: nowhere.jsonl\nassertions: [{contains: a}]\n", "nowhere.jsonl"),
        (f"{SAMPLES}assertions: [{{contians: a}}]\n", "contians"),
    ],
)  # fmt: skip
def test_what_cannot_be_right_is_refused_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    """Where, what, and what would work, before anything is asked."""

    def read() -> None:
        check_eval_samples(eval_of(tmp_path, text))

    with pytest.raises(EvalError) as refused:
        read()

    assert told in str(refused.value)


def test_files_may_call_the_rubric_layer_as_screens_do(tmp_path: Path) -> None:
    """Both names are one setting; a criterion of that name keeps it."""
    rubric = "rubric: {name: own, criteria: [{id: ID, asks: Is it right?, scale: 1-5}]}\n"
    said = f"{SAMPLES}{rubric}gates: {{LAYER: 3}}\nweights: {{fact: 2, LAYER: 3, why: facts}}\n"
    spelled = {layer: eval_of(tmp_path, said.replace("LAYER", layer)) for layer in ("judge", "rubric")}
    criterion = eval_of(tmp_path, f"{SAMPLES}{rubric.replace('ID', 'rubric')}gates: {{rubric: 3}}\n")

    assert spelled["rubric"].gates == spelled["judge"].gates == {"judge": 3}
    assert spelled["rubric"].composite.weights == spelled["judge"].composite.weights == {"fact": 2, "judge": 3}
    assert criterion.gates == {"rubric": 3}


def test_all_faults_of_a_file_come_at_once_in_order(tmp_path: Path) -> None:
    """Whoever mends a file wants to mend it once."""
    told = faults_of(tmp_path, f"nmae: x\n{LEAST}control: odl\nrepeats: many\nkeep: all\n")

    assert [line.split(": ")[0] for line in told] == ["eval.yaml:1", "eval.yaml:4", "eval.yaml:5", "eval.yaml:6"]


def test_samples_are_checked_against_the_eval_before_anything_is_paid(tmp_path: Path) -> None:
    """An assertion of a sample, a tag without a rubric and a variant without outputs are all seen beforehand."""
    samples = [
        {"id": "a", "output": "x", "assertions": [{"contians": "y"}]},
        {"id": "b", "output": "x", "tags": ["poem"]},
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, samples)), "utf-8")
    found = eval_of(tmp_path, "samples: s.jsonl\nrubrics: {coding: code-review}\n")

    with pytest.raises(EvalError) as refused:
        check_eval_samples(found)

    lines = str(refused.value).splitlines()
    assert "s.jsonl:1" in lines[0]
    assert "did you mean 'contains'" in lines[0]
    assert "s.jsonl:2" in lines[1]
    assert "no rubric fits this sample" in lines[1]


def test_a_recorded_variant_that_no_sample_has_is_a_misspelling(tmp_path: Path) -> None:
    """Else every output of it would be counted as failed, and REGRESS would be the verdict."""
    found = eval_of(tmp_path, f"{LEAST}variants: {{old: {{}}, newer: {{}}}}\n")

    with pytest.raises(EvalError, match="no sample has an output of 'newer'"):
        check_eval_samples(found)


def test_the_schema_takes_what_the_reader_takes() -> None:
    """Editors check with the schema: the shipped eval and every form of a variant pass it."""
    schema = eval_schema()
    shipped = yaml.safe_load((LIBRARY / "starter" / "eval.yaml").read_text("utf-8"))
    variants = {
        "a": {},
        "b": {"outputs": "b.jsonl", "about": "old"},
        "c": {"command": ["./bot"], "seconds": 5},
        "d": {"http": {"url": "https://example.org", "headers": {"A": "${B}"}, "field": "x.y"}},
        "e": {"python": "m:f"},
        "f": {"model": "openai/x", "prompt": [{"role": "user", "text": "{input}"}], "temperature": 0},
    }

    jsonschema.Draft202012Validator.check_schema(schema)
    editor = jsonschema.Draft202012Validator(schema)

    assert [error.message for error in editor.iter_errors(shipped)] == []
    assert [error.message for error in editor.iter_errors({**shipped, "variants": variants})] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"smaples": []},
        {"variants": {"a": {"command": "x", "python": "m:f"}}},
        {"keep": "all"},
        {"repeats": 0},
        {"guards": {"safety": "refuse"}},
        {"assertions": [{"contians": "x"}]},
        {"how": {"sample": 3}},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(wrong: dict[str, object]) -> None:
    """A misspelt field is underlined while it is written."""
    whole = {"samples": "s.jsonl", "assertions": [{"contains": "a"}], **wrong}

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(whole, eval_schema())


def test_samples_with_different_layers_are_told_of_before_anything_is_paid(tmp_path: Path) -> None:
    """Their composites cannot be compared: whoever wants a verdict learns it in time, with two samples by name."""
    samples = [{"id": "a", "output": "x"}, {"id": "b", "output": "x", "assertions": [{"contains": "x"}]}]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, samples)), "utf-8")

    counted = check_eval_samples(eval_of(tmp_path, "samples: s.jsonl\nassertions: [{max_length: 5}]\n"))

    assert counted.mixed.startswith(
        "samples have different layers ('a' has the behavior layer; 'b' has the fact and behavior layers)"
    )


def test_an_author_of_a_variant_is_sent_to_its_outputs(tmp_path: Path) -> None:
    """Who wrote an output is said beside it: one variant may have several authors."""
    (told,) = faults_of(tmp_path, "variants: {opus: {author: openai/opus}}\nsamples: [{id: a, outputs: {opus: x}}]\n")

    assert "a variant has no author" in told
    assert "outputs: {opus: {text: …, author: openai/NAME}}" in told


def test_what_the_store_keeps_aside_is_no_name_of_an_eval() -> None:
    """Evals and store do not know each other, and must mean the same names."""
    assert RESERVED_NAMES == ASIDE_PREFIXES
