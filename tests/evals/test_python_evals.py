"""Evals as a program writes them: lists, functions, rubrics and judges as they are, and every mistake at once."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evenhand import Eval, EvalError, Sample, load_rubric
from evenhand.evals.eval_file import read_eval_mapping
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants.makers import RecordedVariant
from evenhand.evals.variants.variant import FunctionVariant, ModelVariant
from evenhand.models.requests import EMBEDDED

RUBRIC = {"criteria": ["Names the cause"]}


def answer(sample: dict[str, Any]) -> str:
    return f"About {sample['input']}"


def strict(request: object) -> str:
    return "{}"


class House:
    async def ask(self, request: object) -> str:
        return "{}"


def refused(**parts: Any) -> str:
    with pytest.raises(EvalError) as error:
        Eval(**{"samples": ["a"], "variants": {"new": answer}, "rubric": RUBRIC, **parts})
    return str(error.value)


def test_samples_are_mappings_samples_or_inputs() -> None:
    """Whatever a program has at hand."""
    given: list[Any] = [
        {"id": "first", "input": "a", "tags": ["x"]},
        Sample(input="b", reference="B"),
        Sample(id="third", input="c", outputs={"old": "C"}, authors={"old": "gpt"}),
        "d",
        EvalSample(id="fifth", input="e"),
    ]

    samples = list(Eval(samples=given, variants={"new": answer}, rubric=RUBRIC).samples)

    assert [(one.id, one.input) for one in samples] == [
        ("first", "a"), ("sample-2", "b"), ("third", "c"), ("sample-4", "d"), ("fifth", "e"),
    ]  # fmt: skip
    assert samples[1].reference == "B"
    assert samples[2].outputs["old"].author == "gpt"


def test_samples_may_be_a_file_or_any_iterable(tmp_path: Path) -> None:
    """A generator is read once and kept."""
    (tmp_path / "samples.jsonl").write_text('{"input": "a"}\n{"input": "b"}\n')

    from_file = Eval(samples=tmp_path / "samples.jsonl", variants={"new": answer}, rubric=RUBRIC)
    from_generator = Eval(samples=({"input": text} for text in "ab"), variants={"new": answer}, rubric=RUBRIC)

    assert [one.input for one in from_file.samples] == [one.input for one in from_generator.samples] == ["a", "b"]
    assert len(list(from_generator.samples)) == 2


def test_a_variant_is_a_function_outputs_or_what_a_file_says() -> None:
    """Each becomes the value that a file would have given."""
    eval = Eval(
        samples=[{"input": "a", "outputs": {"kept": "K"}}, {"input": "b", "outputs": {"kept": "L"}}],
        variants={
            "old": answer,
            "short": lambda sample: sample["input"],
            "listed": ["A", {"text": "B", "cost": 0.5}],
            "kept": None,
            "model": {"model": "openai/gpt-4o", "prompt": "Answer: {input}"},
        },
        rubric=RUBRIC,
    )

    assert eval.control == "old"
    kinds = [type(one) for one in eval.variants.values()]
    assert kinds == [FunctionVariant, FunctionVariant, RecordedVariant, RecordedVariant, ModelVariant]
    assert [one.outputs["listed"].text for one in eval.samples] == ["A", "B"]
    assert "<lambda> in test_python_evals.py, line" in eval.variants["short"].about


def test_a_function_may_stand_where_a_file_names_one() -> None:
    """With a time limit and words of its own."""
    given = {"python": answer, "seconds": 5, "about": "the bot in production"}

    bot = Eval(samples=["a"], variants={"bot": given}, rubric=RUBRIC).variants["bot"]

    assert isinstance(bot, FunctionVariant)
    assert (bot.call, bot.seconds, bot.about) == (answer, 5, "the bot in production")
    assert bot.definition() == FunctionVariant.from_function(answer).definition()


def test_one_function_needs_no_name_and_recorded_outputs_no_variants() -> None:
    """The shortest forms."""
    assert list(Eval(samples=["a"], variants=answer, rubric=RUBRIC).variants) == ["answer"]
    assert list(Eval(samples=[{"outputs": {"old": "A", "new": "B"}}], rubric=RUBRIC).variants) == ["old", "new"]


@pytest.mark.parametrize("given", ["council", load_rubric("council"), RUBRIC])
def test_a_rubric_is_a_name_a_value_or_a_mapping(given: Any) -> None:
    """As everywhere else; a path is one too."""
    eval = Eval(samples=["a"], variants=answer, rubric=given)

    assert eval.rubrics[""] == (given if not isinstance(given, (str, dict)) else load_rubric(given))


def test_a_list_of_rubrics_is_one_rubric() -> None:
    """As some write a checklist."""
    eval = Eval(samples=["a"], variants=answer, rubrics=["Is kind", {"id": "short", "asks": "Is short"}])

    assert list(eval.rubrics[""].leaves) == ["rubric-1", "short"]


def test_judges_are_names_functions_and_objects() -> None:
    """An object without a name has that of its class."""
    house = House()

    eval = Eval(samples=["a"], variants=answer, rubric=RUBRIC, judges=["openai/gpt-4o", house, strict])

    assert eval.judges == ("openai/gpt-4o", "House", "strict")
    assert eval.judge_objects == {"House": house, "strict": strict}
    assert Eval(samples=["a"], variants=answer, rubric=RUBRIC).judges == (EMBEDDED,)


def test_numbers_are_numbers_of_any_kind() -> None:
    """Exact where they are written so."""
    eval = Eval(samples=["a"], variants=answer, rubric=RUBRIC, gates={"judge": 3.4}, smallest_effect=0.2, budget=2.5)

    assert (eval.gates, eval.smallest_effect) == ({"judge": Fraction(17, 5)}, Fraction(1, 5))
    assert eval.budget is not None
    assert str(eval.budget.money) == "2.5"


def test_a_part_of_an_eval_can_be_replaced() -> None:
    """What was read stays as it is."""
    eval = Eval(
        samples=["a"], variants={"new": answer}, rubric=RUBRIC, judges=[House()], assertions=[{"contains": "a"}]
    )

    changed = replace(eval, repeats=2)

    assert (changed.repeats, changed.judges, list(changed.judge_objects)) == (2, ("House",), ["House"])
    assert (changed.variants, changed.rubrics, changed.assertions) == (eval.variants, eval.rubrics, eval.assertions)


def test_an_eval_prints_in_a_line() -> None:
    """Not with all its samples."""
    eval = Eval(name="desk", samples=["a"] * 50, variants={"old": answer, "new": answer}, rubric=RUBRIC)

    assert repr(eval) == "<Eval desk: variants old, new; judges embedded>"


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"samples": None}, "samples: an eval needs samples"),
        ({"samples": {"input": "a"}}, "samples: samples are a list or a file, got dict"),
        ({"samples": [1]}, r"samples[0]: a sample is an object with fields, got a number"),
        ({"samples": [{"inptu": "a"}]}, "samples[0].inptu: unknown field 'inptu' (did you mean 'input'?"),
        ({"samples": [{"metadata": {"when": object()}}]}, "a value of the type object, which JSON does not know"),
        ({"variants": {"new": "openai/gpt-4o"}}, "variants.new: a variant is a function, a list of outputs or a map"),
        ({"variants": {"new": House}}, "got the class House"),
        ({"variants": [answer]}, "variants: variants map names to what makes the outputs, got list"),
        ({"variants": {"new": ["A", "B"]}}, "variants.new: 2 outputs for 1 samples"),
        ({"variants": {}}, "variants: an eval needs a variant"),
        ({"control": "old"}, "control: control 'old' is not a variant (known: new)"),
        ({"rubric": "no-such"}, "rubric: no rubric is called 'no-such'"),
        ({"rubrics": {"x": {"criteria": []}}}, "rubrics.x"),
        ({"judges": [3]}, "judges[0]: a judge is a name, a function or an object with an ask, got int"),
        ({"judges": [House(), House()]}, "judges[1]: two judges are called 'House'"),
        ({"judges": []}, "judges: an eval needs a judge"),
        ({"assertions": [{"contains": "a"}, {"contians": "a"}]}, "assertions[1]"),
        ({"gates": {"judge": "high"}}, "gates.judge"),
        ({"name": 3}, "name: name must be a str, got int"),
        ({"repeats": "2"}, "repeats: repeats must be an int, got str"),
        ({"how": {"seed": 3}}, "how: how must be a JudgeOptions, got dict"),
        ({"limits": 4}, "limits: limits must be a Limits, got int"),
        ({"guards": ["safty"]}, "guards: no guard is called 'safty' (did you mean 'safety'?)"),
        ({"smallest_effect": 0}, "smallest_effect: smallest_effect must be above 0"),
        ({"variants": {"": answer}}, "a variant needs a name"),
        ({"rubrics": [{"requirement": "a"}]}, "rubrics: rubric and a list of rubrics are the same"),
        ({"budget": -1}, "budget: a budget of money cannot be -1"),
    ],
)
def test_a_mistake_is_told_with_its_place(parts: dict[str, Any], told: str) -> None:
    """At once, and not when half of the outputs are made."""
    assert told in refused(**parts)


def test_all_mistakes_are_told_at_once() -> None:
    """One run of the program finds them all."""
    assert len(refused(samples=[1, 2], variants={"a": 1}, rubric="no-such", judges=[3]).splitlines()) == 5


def test_a_mapping_may_hold_the_fields_of_a_file_and_values() -> None:
    """Settings are read as in a file; functions stand for themselves."""
    given = {
        "name": "desk",
        "samples": ["a"],
        "variants": {"new": answer},
        "rubric": RUBRIC,
        "seed": 7,
        "how": {"each": True},
    }

    eval = read_eval_mapping({**given, "judges": {"openai/gpt-4o": 2, "embedded": 1}, "gates": {"judge": 3}}, {})

    assert (eval.name, eval.how.seed, eval.how.each, eval.gates) == ("desk", 7, True, {"judge": Fraction(3)})
    assert (eval.judges, eval.how.weights) == (("openai/gpt-4o", "embedded"), {"openai/gpt-4o": 2, "embedded": 1})
    assert read_eval_mapping({**given, "judges": [House()]}, {}).judges == ("House",)
    with pytest.raises(EvalError, match=r"seeed: unknown field 'seeed' \(did you mean 'seed'\?\)"):
        read_eval_mapping({**given, "seeed": 7}, {})
