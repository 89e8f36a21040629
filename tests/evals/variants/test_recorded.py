"""Recorded outputs: with the samples, or from a file that is matched by id."""

import asyncio
import json
from decimal import Decimal
from pathlib import Path

import pytest

from evenhand.errors import EvalError
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants import makers as _recorded
from evenhand.evals.variants.makers import RecordedVariant, RecordedVariantOutputsFile
from evenhand.model.sample import VariantOutput
from tests.evals.variants.making import made, make


def in_file(tmp_path: Path, content: str, *ids: str) -> list[VariantOutput | str]:
    (tmp_path / "o.jsonl").write_text(content, "utf-8")
    return make(RecordedVariant(outputs=tmp_path / "o.jsonl"), *(EvalSample(id=id) for id in ids))


def complaints(tmp_path: Path, content: str) -> list[str]:
    with pytest.raises(EvalError) as caught:
        in_file(tmp_path, content)
    return str(caught.value).replace(f"variant 'new': {tmp_path}/", "").splitlines()


def test_an_output_that_came_with_the_sample_is_given() -> None:
    """And where there is none, only that sample fails; an empty output is an output."""
    samples = [EvalSample(id=str(n), outputs=outputs) for n, outputs in enumerate(
        [{"new": VariantOutput(text="a", turns=2)}, {"old": VariantOutput(text="b")}, {"new": VariantOutput(text="")}]
    )]  # fmt: skip

    results = make(RecordedVariant(), *samples)

    assert results == [VariantOutput(text="a", turns=2), "no output is recorded for 'new'", VariantOutput(text="")]


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_outputs_of_a_file_are_found_by_id(tmp_path: Path, start: str) -> None:
    """In any order, with empty lines and letters of several bytes between them."""
    content = start + '{"id": "ä", "output": "ü"}\n\n{"id": 2, "text": "two", "cost": 0.5, "author": "m"}\n'

    results = in_file(tmp_path, content, "2", "none", "ä")

    assert results == [
        VariantOutput(text="two", cost=Decimal("0.5"), author="m"),
        "no output is recorded for the sample 'none' in o.jsonl",
        VariantOutput(text="ü"),
    ]


def test_a_wrong_file_is_refused_as_a_whole(tmp_path: Path) -> None:
    """All its faults at once, before anything is made."""
    content = '{"id": "a", "txt": "x"}\n{"text": "x"}\n[]\nx\n{"id": "b", "text": "1"}\n{"id": "b", "text": "2"}\n'

    assert complaints(tmp_path, content) == [
        "o.jsonl:1: unknown field 'txt' (did you mean 'text'?)",
        "o.jsonl:1: the output has no text (leave the output out where there is none)",
        "o.jsonl:2: an output needs the id of its sample (as in {\"id\": \"a\", \"text\": \"…\"})",
        "o.jsonl:3: expected an object with id and text, got a list",
        "o.jsonl:4: not valid JSON: Expecting value (column 1)",
        "o.jsonl:6: a second output for the sample 'b', first in line 5 (keep one of them)",
    ]  # fmt: skip


def test_ids_that_look_alike_to_the_index_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index holds hashes, and two ids may have the same."""
    monkeypatch.setattr(_recorded, "hash", len, raising=False)

    results = in_file(tmp_path, '{"id": "a", "text": "1"}\n{"id": "b", "text": "2"}\n', "b", "a", "c")

    assert results == [
        VariantOutput(text="2"),
        VariantOutput(text="1"),
        "no output is recorded for the sample 'c' in o.jsonl",
    ]


def test_a_file_that_is_changed_meanwhile_gives_no_wrong_output(tmp_path: Path) -> None:
    """What is found must be for that sample."""
    file = tmp_path / "o.jsonl"
    file.write_text(json.dumps({"id": "a", "text": "1"}))

    async def changed() -> list[VariantOutput | str]:
        variant = RecordedVariant(outputs=file)
        maker = RecordedVariantOutputsFile(file)
        file.write_text(json.dumps({"id": "b", "text": "1"}))
        try:
            with pytest.raises(Exception, match="no output is recorded"):
                await maker.make(EvalSample(id="a"), 0)
        finally:
            maker.close()
        return await made(variant, EvalSample(id="b"))

    assert asyncio.run(changed()) == [VariantOutput(text="1")]
