"""All variants of an eval with their makers, opened and closed together: recorded outputs, models with a prompt."""

from __future__ import annotations

import hashlib
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from evenhand.errors import (
    MOST_FAULTS_SHOWN,
    BudgetError,
    CircuitOpenError,
    EvalError,
    Fault,
    InputError,
    ModelError,
    OutputError,
)
from evenhand.evals.json_lines import (
    LINE_TOO_LONG,
    LONGEST_LINE,
    open_eval_sample_file,
    parse_sample_json,
    read_eval_sample_lines,
)
from evenhand.evals.output_data import clean_variant_text, read_sample_output_value
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants.programs import CommandVariantOutputs, FunctionVariantOutputs
from evenhand.evals.variants.variant import (
    CommandVariant,
    EndpointVariant,
    FunctionVariant,
    IsStopping,
    ModelVariant,
    OutputSlots,
    VariantOutputMaker,
)
from evenhand.model.sample import VariantOutput
from evenhand.models.connections import Connections
from evenhand.models.hidden_keys import ModelSecrets, collect_api_keys_to_hide
from evenhand.models.limits import Clock
from evenhand.models.requests import Request
from evenhand.wording import word_type_of_value


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVariant:
    """Outputs that exist: they come with the samples, or from a JSONL file that names the samples by id."""

    outputs: Path | None = None
    about: str = "recorded outputs"
    live: ClassVar[bool] = False

    def definition(self) -> dict[str, object]:
        """What identifies it: what the file holds."""
        if self.outputs is None:
            return {"recorded": "with the samples"}
        with open_eval_sample_file(self.outputs) as file:
            return {"recorded": hashlib.file_digest(file, "sha256").hexdigest()}


Variant = RecordedVariant | CommandVariant | EndpointVariant | FunctionVariant | ModelVariant


def list_sent_variables(variants: Mapping[str, Variant]) -> list[str]:
    """The variables of the environment that variants send to servers."""
    return [name for one in variants.values() if isinstance(one, EndpointVariant) for name in one.sent_variables]


@asynccontextmanager
async def open_variant_output_makers(
    variants: Mapping[str, Variant],
    connections: Connections,
    environ: Mapping[str, str],
    concurrency: int,
    clock: Clock | None = None,
    *,
    stopping: IsStopping = lambda: False,
) -> AsyncIterator[Mapping[str, VariantOutputMaker]]:
    """A maker for every variant; an InputError names all that cannot be opened, before anything is made."""
    makers: dict[str, VariantOutputMaker] = {}
    faults: list[Fault] = []
    secrets = collect_api_keys_to_hide(environ, list_sent_variables(variants))
    known = _MakerSurroundings(environ, secrets, clock or Clock())
    async with AsyncExitStack() as stack:
        for name, variant in variants.items():
            try:
                if isinstance(variant, RecordedVariant) and variant.outputs:
                    makers[name] = stack.enter_context(closing(RecordedVariantOutputsFile(variant.outputs)))
                elif isinstance(variant, RecordedVariant):
                    makers[name] = SampleVariantOutputs(name)
                elif isinstance(variant, ModelVariant):
                    makers[name] = ModelVariantOutputs(variant, connections)
                else:
                    slots = OutputSlots(concurrency, stopping)
                    makers[name] = _open_live_variant_maker(variant, slots, known, stack)
            except InputError as error:
                place = f"variant {name!r}"
                faults += [replace(one, where=f"{place}: {one.where}" if one.where else place) for one in error.faults]
        if faults:
            raise EvalError(*faults)
        yield makers


@dataclass(frozen=True, slots=True)
class _MakerSurroundings:
    environ: Mapping[str, str]
    secrets: ModelSecrets
    clock: Clock


def _open_live_variant_maker(
    variant: CommandVariant | FunctionVariant | EndpointVariant,
    slots: OutputSlots,
    known: _MakerSurroundings,
    stack: AsyncExitStack,
) -> VariantOutputMaker:
    """The maker for a program of the user's; the stack closes what has to be closed."""
    if isinstance(variant, CommandVariant):
        return CommandVariantOutputs(variant, known.environ, known.secrets, slots)
    if isinstance(variant, FunctionVariant):
        return FunctionVariantOutputs(variant, known.secrets, slots)
    from evenhand.evals.variants.endpoints import LARGEST_ENDPOINT_ANSWER, EndpointVariantOutputs
    from evenhand.models.http_client import ModelHttpClient  # Both for those who need them.

    http = ModelHttpClient(LARGEST_ENDPOINT_ANSWER)
    stack.push_async_callback(http.close)
    return EndpointVariantOutputs(variant, known.environ, known.secrets, http, slots, known.clock)


_UTF8_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SampleVariantOutputs:
    """The outputs that the samples bring with them under the name of the variant."""

    variant: str

    async def make(self, sample: EvalSample, repeat: int) -> VariantOutput:
        """The output, the same for every repeat, or an OutputError where there is none."""
        made = sample.outputs.get(self.variant)
        if made is None:
            raise OutputError(f"no output is recorded for {self.variant!r}")
        return made


class RecordedVariantOutputsFile:
    """A JSONL file of {id, text, …}: checked as a whole when it is opened, read line by line when asked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._marks, self._offsets = _index_variant_outputs_file(path)
        self._file = open_eval_sample_file(path)

    async def make(self, sample: EvalSample, repeat: int) -> VariantOutput:
        """The output, or an OutputError where there is none."""
        mark = hash(sample.id)
        for at in range(bisect_left(self._marks, mark), bisect_right(self._marks, mark)):
            self._file.seek(self._offsets[at])
            id, made = _read_variant_output_line(self._file.readline(LONGEST_LINE + 1), [])
            if id == sample.id and made is not None:
                return made
        raise OutputError(f"no output is recorded for the sample {sample.id[:60]!r} in {self._path.name}")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _index_variant_outputs_file(path: Path) -> tuple[array[int], array[int]]:
    """The hashes of all ids in order, and where each stands in the file; 16 bytes for an output."""
    faults: list[Fault] = []
    marks, offsets = array("q"), array("q")
    with open_eval_sample_file(path) as file:
        offset = len(_UTF8_BOM) if file.read(len(_UTF8_BOM)) == _UTF8_BOM else 0
    for number, line in read_eval_sample_lines(path):
        told = len(faults)
        if line is None:
            raise EvalError(*faults, Fault(LINE_TOO_LONG, where=f"{path}:{number}"))
        id = None if line.isspace() else _read_variant_output_line(line, faults)[0]
        if id is not None:
            marks.append(hash(id))
            offsets.append(offset)
        offset += len(line)
        faults[told:] = [Fault(one.what, one.hint, where=f"{path}:{number}") for one in faults[told:]]
        if len(faults) >= MOST_FAULTS_SHOWN:
            break
    order = sorted(range(len(marks)), key=marks.__getitem__)
    marks, offsets = array("q", (marks[at] for at in order)), array("q", (offsets[at] for at in order))
    faults += _find_duplicate_variant_outputs(path, marks)
    if faults:
        raise EvalError(*faults)
    return marks, offsets


def _read_variant_output_line(line: bytes, faults: list[Fault]) -> tuple[str | None, VariantOutput | None]:
    """The id of a line and its output, as far as they are there."""
    value = parse_sample_json(line)
    if isinstance(value, Fault):
        faults.append(value)
        return None, None
    if not isinstance(value, dict):
        faults.append(Fault(f"expected an object with id and text, got {word_type_of_value(value)}"))
        return None, None
    id = value.pop("id", None)
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    if not isinstance(id, str) or not id:
        faults.append(Fault("an output needs the id of its sample", 'as in {"id": "a", "text": "…"}'))
        return None, None
    return id, read_sample_output_value(value, (), faults)


def _find_duplicate_variant_outputs(path: Path, marks: array[int]) -> Iterator[Fault]:
    """A second pass, only where two hashes are equal."""
    equal = {mark for at, mark in enumerate(marks) if at and mark == marks[at - 1]}
    first: dict[str, int] = {}
    for number, line in read_eval_sample_lines(path) if equal else ():
        id = _read_variant_output_line(line or b"", [])[0]
        if id is not None and hash(id) in equal and first.setdefault(id, number) != number:
            what = f"a second output for the sample {id[:60]!r}, first in line {first[id]}"
            yield Fault(what, "keep one of them", where=f"{path}:{number}")


class ModelVariantOutputs:
    """Asks the model of a variant; how much at once is the business of the connections."""

    def __init__(self, variant: ModelVariant, connections: Connections) -> None:
        self._variant = variant
        self._model = connections.open(variant.model)
        self._price = connections.price(variant.model)

    async def make(self, sample: EvalSample, repeat: int) -> VariantOutput:
        """What the model answers, or an OutputError that says why it does not."""
        request = Request(
            dialogue="variant",
            messages=self._variant.build_messages(sample),
            settings=self._variant.settings,
            repeat=repeat,
        )
        began = time.perf_counter()
        try:
            reply = await self._model.ask(request)
        except (BudgetError, CircuitOpenError):
            raise  # Not this sample's failure: nothing more can be asked.
        except ModelError as error:
            raise OutputError(str(error)) from None
        seconds = reply.seconds or time.perf_counter() - began
        return VariantOutput(
            text=clean_variant_text(reply.text),
            cost=self._price.cost(reply.usage) if self._price else None,
            latency_ms=seconds * 1000,
            turns=1,
            author=self._variant.model,
            input_tokens=reply.usage.input,
            output_tokens=reply.usage.output,
        )
