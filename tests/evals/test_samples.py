"""Samples: what is read of them, what names them, and what is never held in memory."""

import json
import tracemalloc
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import EvalError, Fault, InputError
from evenhand.evals.eval_definition import count_eval_samples
from evenhand.evals.sample import EvalSample, read_sample_entry
from evenhand.evals.samples import open_samples
from evenhand.files.parsing import parse_yaml_tree
from evenhand.files.tree import find_node_line
from evenhand.model.sample import ToolCall, VariantOutput
from tests.evals.samples import DATA, FULL, SAMPLE, TEXTS, source


def test_every_field_of_a_sample_is_read(tmp_path: Path) -> None:
    """The whole form, as people write it."""
    samples = list(source(tmp_path, "s.jsonl", json.dumps(FULL)))

    assert samples == [SAMPLE]


def test_the_short_form_describes_one_output(tmp_path: Path) -> None:
    """What stands in the sample itself belongs to the variant called output."""
    line = {"input": "q", "output": "a", "cost": 0.1, "turns": 3, "trace": [], "latency_ms": 5, "author": "m"}

    (sample,) = source(tmp_path, "s.jsonl", json.dumps(line))

    made = VariantOutput(text="a", cost=Decimal("0.1"), turns=3, trace=(), latency_ms=5.0, author="m")
    assert sample == EvalSample(id="sample-1", input="q", outputs={"output": made})


def test_one_author_may_stand_for_all_outputs(tmp_path: Path) -> None:
    """Where an output names its own, that counts."""
    line = {"author": "all", "outputs": {"old": "a", "new": {"text": "b", "author": "own"}, "none": None}}

    (sample,) = source(tmp_path, "s.jsonl", json.dumps(line))

    assert {name: made.author for name, made in sample.outputs.items()} == {"old": "all", "new": "own"}


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([{"role": "user", "content": "Hello?"}], "Hello?"),
        ([{"role": "system", "text": "Be brief."}, {"role": "user", "text": "Hi"}], "system: Be brief.\n\nuser: Hi"),
        ([{"role": "assistant", "text": "Yes?"}], "assistant: Yes?"),
    ],
)
@pytest.mark.parametrize("field", ["input", "messages"])
def test_messages_are_kept_and_read_as_text(tmp_path: Path, messages: object, text: str, field: str) -> None:
    """Judges read the text; a model is sent the messages."""
    (sample,) = source(tmp_path, "s.jsonl", json.dumps({field: messages}))

    assert sample.input == text
    assert [sorted(message) for message in sample.messages] == [["role", "text"]] * len(sample.messages)
    assert len(sample.messages) == len(messages)  # type: ignore[arg-type]


def test_a_sample_without_id_is_named_by_its_place(tmp_path: Path) -> None:
    """The same name at every reading; empty lines are no samples."""
    samples = source(tmp_path, "s.jsonl", '{"input": "a"}\n\n{"id": 7}\n{"input": "b"}\n')

    assert [[one.id for one in samples] for _ in range(2)] == [["sample-1", "7", "sample-3"]] * 2


def test_inline_samples_have_the_lines_of_their_file() -> None:
    """Texts stay as they are written; a wrong field is shown where it stands."""
    tree = parse_yaml_tree(
        "samples:\n- input: 1.50\n  output: yes\n  cost: 0.25\n  metadata: {n: 3, x: 1.5, on: true, t: '1', no: null}\n"
        "- id: b\n  inptu: 3\n- id: c\n- id: c\n"
        "- input: [{role: user, text: 12}]\n  tags: [1, b]\n  outputs: {a: 2.0}\n"
    )
    assert tree is not None
    faults: list[Fault] = []

    samples = list(open_samples(tree.get("samples"), Path(), faults, ("samples",)))  # type: ignore[union-attr, arg-type]

    assert [(find_node_line(tree, fault.path), fault.what) for fault in faults] == [
        (7, "unknown field 'inptu'"),
        (9, "the id 'c' is used twice, first by the sample 3 of the list"),
    ]
    assert samples[0] == EvalSample(
        id="sample-1",
        input="1.50",
        outputs={"output": VariantOutput(text="yes", cost=Decimal("0.25"))},
        metadata={"n": 3, "x": 1.5, "on": True, "t": "1", "no": None},
    )
    assert (samples[-1].input, samples[-1].tags, samples[-1].outputs["a"].text) == ("12", ("1", "b"), "2.0")


def test_a_check_counts_what_there_is(tmp_path: Path) -> None:
    """Tags decide rubrics, outputs decide variants."""
    content = '{"output": "a", "tags": "x,y"}\n{"outputs": {"old": "a", "new": null}, "tags": ["x"]}\n{}\n'

    counted = count_eval_samples(source(tmp_path, "s.jsonl", content))

    assert (counted.samples, counted.tags, counted.variants) == (3, {"x": 2, "y": 1}, {"output": 1, "old": 1})


def test_a_check_looks_for_what_it_is_told_to(tmp_path: Path) -> None:
    """Assertions of samples are read by another room, and their faults have the same places."""

    def also(sample: EvalSample, faults: list[Fault]) -> None:
        if sample.assertions:
            faults.append(Fault("unknown assertion", path=("assertions",)))

    with pytest.raises(InputError) as caught:
        count_eval_samples(source(tmp_path, "s.jsonl", '{}\n{"assertions": [1]}\n'), also)

    assert str(caught.value) == f"{tmp_path}/s.jsonl:2: unknown assertion"


@pytest.mark.parametrize(
    "change",
    [{"id": "b"}, {"input": "x"}, {"reference": "x"}, {"context": "x"}, {"tags": []}, {"metadata": {}},
     {"assertions": []}, {"outputs": {"old": "x"}}, {"outputs": {"old": "On its way.", "new": "Report it."}},
     {"input": [{"role": "user", "text": "Where is it?"}]}, {"cluster": "x"}],
)  # fmt: skip
def test_every_change_of_a_sample_changes_the_name_of_all(tmp_path: Path, change: dict[str, object]) -> None:
    """What was judged is judged again where it changed; a cluster only groups samples and changes no judgment."""
    before = source(tmp_path, "s.jsonl", json.dumps(FULL))
    after = source(tmp_path, "t.jsonl", json.dumps({**FULL, **change}))

    (one,), (other,) = before, after
    assert count_eval_samples(before).digest != count_eval_samples(after).digest
    assert (one.digest != other.digest) == ("cluster" not in change)


def test_the_reference_is_never_sent_out() -> None:
    """A system that is shown the answer is not being tested."""
    sent = SAMPLE.variant_input(2)

    assert sent == {
        "id": "a",
        "input": "Where is it?",
        "messages": None,
        "context": "Orders\n\nLate parcels",
        "metadata": {"topic": "delivery"},
        "repeat": 2,
    }


def test_memory_stays_flat_as_samples_grow(tmp_path: Path) -> None:
    """Neither samples nor their ids are held: eight times the samples, far from eight times the memory."""

    def peak(count: int) -> int:
        lines = (json.dumps({"id": f"{'i' * 300}{n}", "input": "x" * 1000}) for n in range(count))
        samples = source(tmp_path, "s.jsonl", "\n".join(lines))
        tracemalloc.start()
        count_eval_samples(samples)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    count_eval_samples(source(tmp_path, "s.jsonl", "{}"))

    assert peak(4000) - peak(500) < 3500 * 150


class Few:
    """Samples from somewhere else."""

    where = "few"

    def __iter__(self) -> Iterator[EvalSample]:
        yield EvalSample(id="a")
        yield EvalSample(id="a")


def test_samples_of_any_source_are_checked() -> None:
    """Whoever gives samples over and over is a source."""
    with pytest.raises(EvalError) as caught:
        count_eval_samples(Few())

    assert str(caught.value) == "few[1]: the id 'a' is used twice, first in few[0] (each id is unique)"


MADE = st.builds(
    VariantOutput,
    text=TEXTS,
    trace=st.none() | st.lists(st.builds(ToolCall, TEXTS.filter(bool), DATA, DATA), max_size=2).map(tuple),
    cost=st.none() | st.decimals(0, 1000, places=6),
    latency_ms=st.none() | st.floats(0, 1e9),
    turns=st.none() | st.integers(0, 1000),
    author=st.none() | TEXTS.filter(str.strip),
)
NAMES = TEXTS.filter(str.strip)
SAMPLES = st.builds(
    EvalSample,
    id=NAMES,
    input=TEXTS,
    outputs=st.dictionaries(NAMES, MADE, max_size=3),
    reference=TEXTS,
    context=TEXTS,
    tags=st.lists(st.from_regex(r"[a-z]+", fullmatch=True), unique=True, max_size=3).map(tuple),
    cluster=st.none() | NAMES,
    metadata=st.dictionaries(TEXTS, DATA, max_size=3),
    assertions=st.none() | DATA.filter(lambda value: value not in (None, "", [], {})),
)


@given(SAMPLES)
def test_the_content_of_a_sample_reads_back_as_the_sample(sample: EvalSample) -> None:
    """What the store keeps of a sample is the sample."""
    faults: list[Fault] = []

    back = read_sample_entry(json.loads(json.dumps(sample.to_json())), 1, faults)

    assert faults == []
    assert back == sample
    assert back.digest == sample.digest
