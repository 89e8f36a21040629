"""An eval as a program writes it: lists, functions, rubrics and judges, read into the values that a run takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast

from evenhand.assertions.assertion import AnyAssertion
from evenhand.assertions.reading import NamedChecks, read_plain_assertions
from evenhand.errors import Fault, FaultPath, InputError, RubricError, suggest_known_word_in_error
from evenhand.evals.json_lines import explain_unstorable_sample_value
from evenhand.evals.output_data import read_sample_output_value
from evenhand.evals.sample import SINGLE_VARIANT, EvalSample, read_sample_entry
from evenhand.evals.samples import InlineSamples, SampleSource, open_samples
from evenhand.evals.variants.makers import RecordedVariant, Variant
from evenhand.evals.variants.variant import FunctionVariant, VariantFunction
from evenhand.evals.variants.variant_file import explain_unusable_variant_name, read_variants
from evenhand.files.python_functions import hash_python_function, name_python_function
from evenhand.files.rubrics import load_rubric
from evenhand.files.tree import build_tree, read_node_number
from evenhand.guards.output_guards import GUARDS
from evenhand.model.rubric import Rubric
from evenhand.model.sample import DEFAULT_SAMPLE_ID, Sample
from evenhand.models.budget import Budget
from evenhand.models.function_model import name_function_model
from evenhand.models.requests import Request

GivenSample = EvalSample | Sample | Mapping[str, Any] | str  # A text is an input.
GivenSamples = SampleSource | Iterable[GivenSample] | str | Path
# A function, the outputs in the order of the samples, or what an eval file says, as in {"model": …, "prompt": …}.
GivenVariant = Variant | VariantFunction | Sequence[str | Mapping[str, Any] | None] | Mapping[str, Any] | None
GivenVariants = Mapping[str, GivenVariant] | VariantFunction
GivenRubric = Rubric | str | Path | Mapping[str, Any]
GivenNumber = int | float | Decimal | Fraction | str
GivenAssertions = Sequence[AnyAssertion | Mapping[str, Any]]
GivenChecks = Mapping[str, AnyAssertion | Mapping[str, Any]]


SAMPLES_HINT = 'as in samples=[{"input": "…", "reference": "…"}]'


class EvalJudgeObject(Protocol):
    """A judge of one's own: its `ask`, plain or async, returns the text of the reply or a Reply."""

    def ask(self, request: Request, /) -> Any:
        """The reply to a request."""


GivenJudge = str | EvalJudgeObject | Callable[[Request], object]
GivenJudges = GivenJudge | Sequence[GivenJudge]
GivenT_contra = TypeVar("GivenT_contra", contravariant=True)
ReadT_co = TypeVar("ReadT_co", covariant=True)


class ReadFrom(Generic[GivenT_contra, ReadT_co]):
    """For type checkers: a field whose constructor takes what users write, and that holds what it was read into."""

    def __get__(self, owner: object, kind: type) -> ReadT_co:
        raise NotImplementedError

    def __set__(self, owner: object, value: GivenT_contra) -> None:
        raise NotImplementedError


@dataclass(slots=True)
class PythonEvalReader:
    """Reads the parts of an eval one by one and collects what is wrong with them."""

    folder: Path
    faults: list[Fault]

    def read_samples(self, given: GivenSamples | None) -> SampleSource:
        """Samples from a list of mappings, samples or inputs; a name is that of a file."""
        if isinstance(given, (str, Path)):
            return open_samples(build_tree(str(given)), self.folder, self.faults, ("samples",))
        if given is None:
            self.faults.append(Fault("an eval needs samples", SAMPLES_HINT, ("samples",)))
            return InlineSamples((), "samples")
        if hasattr(given, "where"):
            return cast(SampleSource, given)
        if not isinstance(given, Iterable) or isinstance(given, Mapping) or hasattr(given, "to_dict"):
            hint = f'{SAMPLES_HINT}; of a data frame: df.to_dict("records")'
            self.faults.append(
                Fault(f"samples are a list or a file, got {_describe_python_eval_value(given)}", hint, ("samples",))
            )
            return InlineSamples((), "samples")
        read = [self._read_sample(entry, place) for place, entry in enumerate(given)]
        return InlineSamples(tuple(sample for sample in read if sample is not None), "samples")

    def _read_sample(self, given: object, place: int) -> EvalSample | None:
        if isinstance(given, EvalSample):
            return given
        entry = given
        if isinstance(given, Sample):
            texts = ("input", "reference", "context")
            entry = {name: getattr(given, name) for name in texts if getattr(given, name)}
            authors = given.authors
            entry["outputs"] = {
                name: {"text": text, "author": authors.get(name)} for name, text in given.outputs.items()
            }
            if given.id != DEFAULT_SAMPLE_ID:
                entry["id"] = given.id
        elif isinstance(given, str):
            entry = {"input": given}
        elif isinstance(given, Mapping):
            entry = {str(name): value for name, value in given.items()}
        found: list[Fault] = []
        why = explain_unstorable_sample_value(entry)
        sample = None if why else read_sample_entry(entry, place + 1, found)
        self.faults += [Fault(why, path=("samples", place))] if why else [one.within("samples", place) for one in found]
        return sample

    def read_variants(
        self, given: GivenVariants | None, samples: SampleSource
    ) -> tuple[dict[str, Variant], SampleSource]:
        """The variants by name, and the samples with the outputs that were given in a list."""
        if given is None:
            first = next(iter(samples), None) if isinstance(samples, InlineSamples) or not self.faults else None
            return {name: RecordedVariant() for name in (first.outputs if first else ()) or (SINGLE_VARIANT,)}, samples
        if callable(given):
            name = str(getattr(given, "__name__", None) or type(given).__name__)
            given = {"lambda" if name == "<lambda>" else name: given}
        if not isinstance(given, Mapping):
            what = f"variants map names to what makes the outputs, got {_describe_python_eval_value(given)}"
            self.faults.append(Fault(what, 'as in variants={"old": old_function, "new": new_function}', ("variants",)))
            return {}, samples
        variants: dict[str, Variant] = {}
        for name, one in given.items():
            if why := explain_unusable_variant_name(str(name)):
                self.faults.append(Fault(why, path=("variants", str(name))))
                continue
            variant, samples = self._read_variant(str(name), one, samples)
            if variant is not None:
                variants[str(name)] = variant
        return variants, samples

    def _read_variant(self, name: str, given: object, samples: SampleSource) -> tuple[Variant | None, SampleSource]:
        place = ("variants", name)
        if isinstance(given, Variant):
            return given, samples
        if isinstance(given, (list, tuple)):
            return RecordedVariant(), self._add_outputs(name, given, samples)
        if callable(given) and not isinstance(given, type):
            return FunctionVariant.from_function(given), samples
        if given is not None and not isinstance(given, Mapping):
            what = f"a variant is a function, a list of outputs or a mapping, got {_describe_python_eval_value(given)}"
            self.faults.append(Fault(what, 'a model is {"model": "openai/NAME", "prompt": "… {input}"}', place))
            return None, samples
        call = given.get("python") if given else None
        if call is not None and callable(call):  # Named for the reader of a file, which knows no functions.
            given = {**(given or {}), "python": name_python_function(call)}
        read = read_variants(build_tree({name: given}), self.folder, self.faults, ("variants",)).get(name)
        if isinstance(read, FunctionVariant) and callable(call):
            read = replace(read, call=call, version=hash_python_function(call))
        return read, samples

    def _add_outputs(self, name: str, given: Sequence[object], samples: SampleSource) -> SampleSource:
        """The samples, each with its output of a variant."""
        place: FaultPath = ("variants", name)
        every = tuple(samples)
        if len(every) != len(given):
            what = f"{len(given)} outputs for {len(every)} samples"
            self.faults.append(Fault(what, "a list has one output per sample, None where there is none", place))
            return samples
        filled = []
        for at, (sample, value) in enumerate(zip(every, given, strict=True)):
            made = read_sample_output_value(value, (*place, at), self.faults)
            outputs = sample.outputs if made is None else {**sample.outputs, name: made}
            filled.append(replace(sample, outputs=outputs))
        return InlineSamples(tuple(filled), samples.where)

    def read_rubrics(
        self, given: Mapping[str, GivenRubric] | Sequence[Any], all_samples: GivenRubric | None
    ) -> dict[str, Rubric]:
        """Rubrics by tag; the one for all samples is under the empty tag, and may be given as a list of criteria."""
        if not isinstance(given, Mapping):
            if all_samples is not None:
                self.faults.append(Fault("rubric and a list of rubrics are the same", "keep one of them", ("rubrics",)))
            given, all_samples = {}, {"rubrics": given}
        named: dict[str, tuple[FaultPath, GivenRubric]] = {tag: (("rubrics", tag), one) for tag, one in given.items()}
        if all_samples is not None:
            named[""] = (("rubric",), all_samples)
        rubrics = {}
        for tag, (place, one) in named.items():
            try:
                beside = self.folder / one if isinstance(one, (str, Path)) else Path()
                rubrics[tag] = one if isinstance(one, Rubric) else load_rubric(beside if beside.is_file() else one)
            except RubricError as error:
                self.faults += error.within(*place).faults
        return rubrics

    def read_judges(self, given: GivenJudges) -> tuple[tuple[str, ...], dict[str, object]]:
        """The names of the judges, and those that are objects or functions by name."""
        several = list(given) if isinstance(given, (list, tuple)) else [given]
        names: list[str] = []
        objects: dict[str, object] = {}
        for at, one in enumerate(several):
            name = one if isinstance(one, str) else name_function_model(one)
            if name is None:
                what = f"a judge is a name, a function or an object with an ask, got {_describe_python_eval_value(one)}"
                self.faults.append(Fault(what, 'as in judges=["openai/NAME"]', ("judges", at)))
            elif name in objects or (name in names and not isinstance(one, str)):
                self.faults.append(Fault(f"two judges are called {name!r}", "give one another `name`", ("judges", at)))
            else:
                names.append(name)
                objects |= {} if isinstance(one, str) else {name: one}
        if not names and not self.faults:
            self.faults.append(Fault("an eval needs a judge", "leave judges out for the embedded one", ("judges",)))
        return tuple(names), objects

    def read_checks(self, given: GivenChecks) -> dict[str, AnyAssertion]:
        """Named checks, read or as plain data."""
        checks: dict[str, AnyAssertion] = {}
        for name, one in given.items():
            if isinstance(one, Mapping):
                faults: list[Fault] = []
                for read in read_plain_assertions([one], self.folder, faults, ("checks",)):
                    checks[name] = read
                self.faults += [replace(fault, path=("checks", name, *fault.path[2:])) for fault in faults]
            else:
                checks[name] = one
        return checks

    def read_assertions(self, given: GivenAssertions, checks: NamedChecks) -> tuple[AnyAssertion, ...]:
        """Assertions, read or as plain data."""
        read: list[AnyAssertion] = []
        for at, one in enumerate(given):
            if isinstance(one, (Mapping, str)):
                faults: list[Fault] = []
                read += read_plain_assertions([one], self.folder, faults, ("assertions",), checks)
                # Each is read as a list of one, and its place is that in the list of all.
                self.faults += [replace(fault, path=("assertions", at, *fault.path[2:])) for fault in faults]
            else:
                read.append(one)
        return tuple(read)

    def require_type(self, name: str, value: object, kind: type) -> None:
        """A fault where a field holds something else than it must."""
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            article = "an" if kind.__name__[0] in "aeiou" else "a"
            self.faults.append(
                Fault(
                    f"{name} must be {article} {kind.__name__}, got {_describe_python_eval_value(value)}", "", (name,)
                )
            )

    def read_guards(self, given: Sequence[str]) -> tuple[str, ...]:
        """The names of guards; one alone is no list."""
        named = (given,) if isinstance(given, str) else tuple(given)
        for name in named:
            if name not in GUARDS:
                hint = suggest_known_word_in_error(str(name), GUARDS)
                self.faults.append(Fault(f"no guard is called {name!r}", hint, ("guards",)))
        return named

    def read_number(self, given: GivenNumber, *place: str) -> Fraction:
        """A number of any kind, exactly."""
        if isinstance(given, Fraction):
            return given
        value = read_node_number(build_tree(given if isinstance(given, (int, float, Decimal, str)) else repr(given)))
        if isinstance(value, str) or isinstance(given, bool):
            self.faults.append(Fault(f"{place[-1]} {value}", path=place))
            return Fraction(0)
        return value

    def read_budget(self, given: Budget | GivenNumber | None) -> Budget | None:
        """A budget, or one of so many dollars."""
        if given is None or isinstance(given, Budget):
            return given
        dollars = self.read_number(given, "budget")
        try:
            return Budget(money=Decimal(dollars.numerator) / Decimal(dollars.denominator))
        except InputError as error:
            self.faults += error.within("budget").faults
            return None


def _describe_python_eval_value(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
