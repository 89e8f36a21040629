"""Outputs of one variant, made for real, and what was said where there was none."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from evenhand.errors import Fault, OutputError
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants.makers import Variant, open_variant_output_makers
from evenhand.evals.variants.variant_file import read_variants
from evenhand.files.tree import build_tree
from evenhand.model.sample import VariantOutput
from evenhand.models.connections import Connections
from evenhand.models.limits import Clock

QUESTION = EvalSample(
    id="a", input="Where is it?", reference="secret answer", context="Orders", metadata={"topic": "late", "n": 3}
)


def read(definition: object, folder: Path = Path()) -> Variant:
    """A variant out of an eval file in which it is right."""
    faults: list[Fault] = []
    variants = read_variants(build_tree({"new": definition}), folder, faults, ("variants",))
    assert faults == []
    return variants["new"]


def refused(definition: object, folder: Path = Path()) -> list[str]:
    """What is wrong with a variant in an eval file."""
    faults: list[Fault] = []
    assert read_variants(build_tree({"new": definition}), folder, faults, ("variants",)) == {}
    return [str(fault).removeprefix("variants.") for fault in faults]


async def made(
    variant: Variant,
    *samples: EvalSample,
    environ: Mapping[str, str] = os.environ,
    concurrency: int = 4,
    clock: Clock | None = None,
    connections: Connections | None = None,
) -> list[VariantOutput | str]:
    """What a variant makes of each sample, all at once; the reason in place of an output that there is none of."""
    asked = samples or (QUESTION,)
    async with (
        Connections(environ) as own,
        open_variant_output_makers({"new": variant}, connections or own, environ, concurrency, clock) as makers,
    ):
        results = await asyncio.gather(*(makers["new"].make(one, 0) for one in asked), return_exceptions=True)
    return [_told(result) for result in results]


def make(variant: Variant, *samples: EvalSample, environ: Mapping[str, str] = os.environ) -> list[VariantOutput | str]:
    """The same, from outside a loop."""
    return asyncio.run(made(variant, *samples, environ=environ))


def texts(results: Sequence[VariantOutput | str]) -> list[str]:
    """The texts of outputs, or why there is none."""
    return [result.text if isinstance(result, VariantOutput) else f"no output: {result}" for result in results]


def _told(result: VariantOutput | BaseException) -> VariantOutput | str:
    if isinstance(result, OutputError):
        return str(result)
    if isinstance(result, BaseException):
        raise result
    return result
