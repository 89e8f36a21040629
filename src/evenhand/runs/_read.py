"""Reading eval files: every fault at once, each with its line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Mapping as AnyMapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from evenhand import errors
from evenhand.assertions import AnyAssertion, read_assertions
from evenhand.errors import EvalError, Fault, InputError, RubricError, nearest
from evenhand.guards import GUARDS
from evenhand.judging import LANGUAGES, Cascade, How, Settings
from evenhand.judging.models import Budget, Limits
from evenhand.loading import load_rubric, read_rubric, read_text, with_environment
from evenhand.loading._fields import Fields, described, number_in
from evenhand.loading._files import LARGEST_RUBRIC, parse_tree
from evenhand.loading._tree import Mapping, Node, Scalar, line_of
from evenhand.model import Rubric
from evenhand.runs._eval import DEFAULT_TAG, KEEPS, LAYERS, Eval
from evenhand.runs._read_judges import read_judges
from evenhand.runs._sample import SINGLE
from evenhand.runs._samples import SampleSource, open_samples
from evenhand.runs.variants import Recorded, Variant, read_variants

T = TypeVar("T")
EVAL_FIELDS = (
    "name", "about", "samples", "variants", "control", "rubric", "rubrics", "assertions", "judges", "how", "guards",
    "repeats", "gates", "smallest_effect", "budget", "concurrency", "prices", "keep", "seed",
)  # fmt: skip
HOW_FIELDS = (
    "language", "each", "samples", "logprobs", "cascade", "temperature", "max_tokens", "deadline", "timeout",
    "retries", "requests_per_minute", "tokens_per_minute",
)  # fmt: skip
ACTIONS = {"injection": ("flag", "refuse", "off"), "safety": ("flag", "off"), "personal": ("mask", "off")}
GATES = (*LAYERS, "composite", "score", "pass_rate")
ENDS = {**dict.fromkeys((*LAYERS, "composite"), (1, 5)), "pass_rate": (0, 1)}


def load_eval(path: Path, environ: AnyMapping[str, str]) -> Eval:
    """The eval in a YAML or JSON file. Settings in the environment override its rubrics."""
    source = read_text(path, LARGEST_RUBRIC, EvalError)
    try:
        tree = parse_tree(path, source)
    except RubricError as error:
        hints = {"evenhand rubric init writes a starter": "evenhand init writes one"}
        raise EvalError(*(replace(fault, hint=hints.get(fault.hint, fault.hint)) for fault in error.faults)) from None
    reader = _Reader(tree, path, environ)
    try:
        return replace(reader.eval(), source=source)
    except InputError as error:
        located = error.located(lambda at: f"{path}:{line_of(tree, at)}")
        raise EvalError(*sorted(located.faults, key=_line)) from None


def _line(fault: Fault) -> int:
    return int("0" + "".join(filter(str.isdigit, fault.where.rpartition(":")[2])))


class _Reader:
    """Reads one eval file and collects its faults."""

    def __init__(self, tree: Node, path: Path, environ: AnyMapping[str, str]) -> None:
        self.faults: list[Fault] = []
        self.tree = tree
        self.fields = Fields(tree, EVAL_FIELDS, self.faults)
        self.path = path
        self.folder = path.parent
        self.environ = environ

    def eval(self) -> Eval:
        """The eval, or an error with all that is wrong."""
        samples = self._samples()
        variants = self._variants(samples)
        rubrics = self._rubrics()
        assertions = self._assertions()
        how, bounds = self._how()
        guards, refuse = self._guards()
        judges = read_judges(self.fields, self.tree, self.path)
        how |= {"weights": judges.weights} if judges.weights else {}
        asked = self._made(lambda: How(**how, refuse=refuse), "how")
        limits = self._made(lambda: Limits(**bounds), "concurrency" if "concurrency" in self.fields else "how")
        parts: dict[str, Any] = {
            "name": self.fields.text("name") or self.path.stem,
            "control": self._control(variants),
            "judges": judges.names,
            "judge_places": judges.places,
            "repeats": self._repeats(),
            "gates": self._gates(rubrics),
            "smallest_effect": self._smallest_effect(),
            "budget": self._budget(),
            "prices": self._prices(),
            "keep": self.fields.choice("keep", KEEPS) or "raw",
        }
        if self.faults or samples is None or asked is None or limits is None:
            raise EvalError(*self.faults)
        return Eval(
            samples=samples,
            variants=variants,
            rubrics=rubrics,
            assertions=assertions,
            how=asked,
            limits=limits,
            guards=guards,
            folder=self.folder,
            **parts,
        )

    def _samples(self) -> SampleSource | None:
        node = self.fields.node("samples")
        if node is None:
            self.fields.fault("an eval needs samples", "a list, or a file: samples: samples.jsonl")
            return None
        return open_samples(node, self.folder, self.faults, ("samples",))

    def _variants(self, samples: SampleSource | None) -> AnyMapping[str, Variant]:
        node = self.fields.node("variants")
        if node is None:
            return {name: Recorded() for name in self._names_in(samples)}
        return read_variants(node, self.folder, self.faults, ("variants",))

    def _control(self, variants: AnyMapping[str, Variant]) -> str:
        name = self.fields.text("control") or next(iter(variants), "")
        if variants and name not in variants:
            self.fields.fault(f"control {name!r} is not a variant", nearest(name, variants), "control")
        return name

    def _names_in(self, samples: SampleSource | None) -> Iterable[str]:
        """Where no variants are named, they are the outputs of the first sample."""
        if samples is None or self.faults:
            return (SINGLE,)
        with suppress(InputError):  # A bad file is told of when all of it is checked.
            first = next(iter(samples), None)
            return tuple(first.outputs) if first and first.outputs else (SINGLE,)
        return (SINGLE,)

    def _rubrics(self) -> dict[str, Rubric]:
        rubrics = {}
        node = self.fields.node("rubric")
        if node is not None and (rubric := self._rubric(node, ("rubric",))):
            rubrics[DEFAULT_TAG] = rubric
        for tag, entry, path in self.fields.pairs("rubrics"):
            if rubric := self._rubric(entry, path):
                rubrics[tag] = rubric
        return rubrics

    def _rubric(self, node: Node, path: errors.Path) -> Rubric | None:
        """A rubric by name, by file beside the eval, or written out in it."""
        try:
            if isinstance(node, Mapping):
                rubric = read_rubric(node, self.path.stem, self.folder)
            elif isinstance(node, Scalar) and node.text.strip():
                beside = self.folder / node.text
                rubric = load_rubric(beside if beside.is_file() else node.text)
            else:
                self.faults.append(Fault(f"a rubric is a name, a file or a mapping, got {described(node)}", "", path))
                return None
            return with_environment(rubric, self.environ)
        except RubricError as error:
            self.faults += error.within(*path).faults
            return None

    def _assertions(self) -> tuple[AnyAssertion, ...]:
        node = self.fields.node("assertions")
        return () if node is None else read_assertions(node, self.folder, self.faults, ("assertions",))

    def _how(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """How judges are asked, and within which limits."""
        node = self.fields.node("how")
        fields = Fields(node if node is not None else Mapping(), HOW_FIELDS, self.faults, ("how",))
        temperature = fields.number("temperature")
        settings = {
            "temperature": None if temperature is None else float(temperature),
            "max_tokens": fields.integer("max_tokens"),
        }
        how = {
            "language": _beside(self.folder, fields.text("language")),
            "settings": Settings(**_given(settings)),
            "seed": self.fields.integer("seed"),
            "each": fields.boolean("each"),
            "samples": fields.integer("samples"),
            "logprobs": fields.boolean("logprobs"),
            "deadline": _float(fields.number("deadline")),
            "cascade": Cascade() if fields.boolean("cascade") else None,
        }
        timeout = _float(fields.number("timeout"))
        limits = {
            "concurrency": self.fields.integer("concurrency"),
            "attempt_seconds": timeout,
            "total_seconds": None if timeout is None else max(timeout, Limits().total_seconds),
            "retries": fields.integer("retries"),
            "requests_per_minute": _float(fields.number("requests_per_minute")),
            "tokens_per_minute": _float(fields.number("tokens_per_minute")),
        }
        return _given(how), _given(limits)

    def _guards(self) -> tuple[tuple[str, ...], bool]:
        """The guards that look, and whether an injected output is kept from the judges."""
        node = self.fields.node("guards")
        if node is None:
            return tuple(GUARDS), False
        if isinstance(node, Mapping):
            return self._guard_actions()
        names = [(entry.text if isinstance(entry, Scalar) else "", path) for entry, path in self.fields.items("guards")]
        for name, path in names:
            if name not in GUARDS:
                self.faults.append(Fault(f"no guard is called {name!r}", nearest(name, GUARDS), path))
        return tuple(name for name in GUARDS if name in dict(names)), False

    def _guard_actions(self) -> tuple[tuple[str, ...], bool]:
        chosen: dict[str, str] = {}
        for name, node, path in self.fields.pairs("guards"):
            word = node.text if isinstance(node, Scalar) else ""
            if name not in GUARDS:
                self.faults.append(Fault(f"no guard is called {name!r}", nearest(name, GUARDS), path))
            elif word not in ACTIONS[name]:
                self.faults.append(Fault(f"{name} cannot be {word!r}", nearest(word, ACTIONS[name]), path))
            chosen[name] = word
        on = tuple(name for name in GUARDS if chosen.get(name, "") != "off")
        return on, chosen.get("injection") == "refuse"

    def _repeats(self) -> int:
        repeats = self.fields.integer("repeats")
        if repeats is not None and repeats < 1:
            self.fields.fault(f"repeats must be 1 or more, got {repeats}", "", "repeats")
        return 1 if repeats is None else repeats

    def _gates(self, rubrics: AnyMapping[str, Rubric]) -> dict[str, Fraction]:
        known = [*GATES, *(id for rubric in rubrics.values() for id in rubric.leaves)]
        gates = {}
        for name, node, path in self.fields.pairs("gates"):
            value = number_in(node)
            if name not in known:
                self.faults.append(Fault(f"a gate on {name!r}, which nothing measures", nearest(name, known), path))
            elif isinstance(value, str):
                self.faults.append(Fault(f"the gate on {name} {value}", "", path))
            elif why := _no_mean(name, rubrics):
                self.faults.append(Fault(f"a gate on {name!r} means nothing here: {why}", "", path))
            elif name in ENDS and not ENDS[name][0] <= value <= ENDS[name][1]:
                low, high = ENDS[name]
                self.faults.append(Fault(f"the gate on {name} must be from {low} to {high}", "", path))
            else:
                gates[name] = value
        return gates

    def _smallest_effect(self) -> Fraction:
        value = self.fields.number("smallest_effect")
        if value is not None and value <= 0:
            self.fields.fault("smallest_effect must be above 0", "points on the 1 to 5 scale", "smallest_effect")
        return Fraction(1, 2) if value is None else value

    def _budget(self) -> Budget | None:
        """Dollars, or a mapping of money and tokens."""
        node = self.fields.node("budget")
        if node is None:
            return None
        if isinstance(node, Scalar):
            money, tokens = self.fields.number("budget"), None
        else:
            fields = Fields(node, ("money", "tokens"), self.faults, ("budget",))
            money, tokens = fields.number("money"), fields.integer("tokens")
        dollars = None if money is None else _decimal(money)
        return self._made(lambda: Budget(money=dollars, tokens=tokens), "budget")

    def _prices(self) -> Path | None:
        text = self.fields.text("prices")
        return None if text is None else self.folder / text

    def _made(self, make: Callable[[], T], name: str) -> T | None:
        """A value, or the fault that it was refused with, at its field."""
        try:
            return make()
        except InputError as error:
            self.faults += error.within(name).faults
            return None


def _no_mean(name: str, rubrics: AnyMapping[str, Rubric]) -> str:
    """Why there can be no mean to hold a gate against; empty where there can."""
    if name in ("judge", "score") and not rubrics:
        return "there is no rubric"
    if name == "score":
        scales = {f"{one.method.scale.min} {one.method.scale.max}" for one in rubrics.values()}
    else:
        scales = {str(one.leaves[name].scale) for one in rubrics.values() if name in one.leaves and name not in GATES}
    return "its rubrics have different scales" if len(scales) > 1 else ""


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _beside(folder: Path, language: str | None) -> str | None:
    """Prompt texts of one's own lie beside the eval file."""
    own = language and language not in LANGUAGES and (folder / language).is_dir()
    return str(folder / str(language)) if own else language


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
