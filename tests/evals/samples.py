"""Samples for tests: one with every field, any plain data, files opened, checked and what is said of them."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from evenhand.errors import EvalError, Fault
from evenhand.evals.eval_definition import count_eval_samples
from evenhand.evals.sample import EvalSample
from evenhand.evals.samples import SampleSource, open_samples
from evenhand.files.tree import build_tree
from evenhand.model.sample import ToolCall, VariantOutput

FULL = {
    "id": "a",
    "input": "Where is it?",
    "outputs": {
        "old": "On its way.",
        "new": {
            "text": "Report it.",
            "trace": [{"name": "search", "input": {"order": 4471}, "output": "late"}],
            "cost": 0.01,
            "latency_ms": 800,
            "turns": 2,
            "author": "openai/gpt-4o",
        },
    },
    "reference": "Report a problem",
    "context": ["Orders", "Late parcels"],
    "tags": ["late", "order"],
    "cluster": "customer 7",
    "metadata": {"topic": "delivery"},
    "assertions": [{"contains": "Report"}],
}
SAMPLE = EvalSample(
    id="a",
    input="Where is it?",
    outputs={
        "old": VariantOutput(text="On its way."),
        "new": VariantOutput(
            text="Report it.",
            trace=(ToolCall("search", {"order": 4471}, "late"),),
            cost=Decimal("0.01"),
            latency_ms=800.0,
            turns=2,
            author="openai/gpt-4o",
        ),
    },
    reference="Report a problem",
    context="Orders\n\nLate parcels",
    tags=("late", "order"),
    cluster="customer 7",
    metadata={"topic": "delivery"},
    assertions=[{"contains": "Report"}],
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def source(folder: Path, name: str, content: str | bytes, **options: Any) -> SampleSource:
    """The samples of a file, which can be opened."""
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    faults: list[Fault] = []
    opened = open_samples(build_tree({"file": name, **options}), folder, faults, ("samples",))
    assert faults == []
    return opened


def said(folder: Path, name: str, content: str | bytes, **options: Any) -> list[str]:
    """What the check of a file complains of."""
    with pytest.raises(EvalError) as caught:
        count_eval_samples(source(folder, name, content, **options))
    return str(caught.value).replace(f"{folder}/", "").splitlines()


def unopened(node: object, folder: Path = Path("/")) -> list[str]:
    """What is wrong before a file is even read."""
    faults: list[Fault] = []
    open_samples(build_tree(node), folder, faults, ("samples",))
    return [str(fault) for fault in faults]
