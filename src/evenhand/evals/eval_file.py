"""Reading eval files: every fault at once, each with its line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from collections.abc import Mapping as AnyMapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from evenhand.assertions.reading import read_assertions
from evenhand.errors import EvalError, Fault, FaultPath, InputError, RubricError, suggest_known_word_in_fault
from evenhand.evals.eval_definition import DEFAULT_TAG, KEEP_CHOICES, LAYERS, Eval
from evenhand.evals.judge_list import read_judges
from evenhand.evals.sample import SINGLE_VARIANT
from evenhand.evals.samples import SampleSource, open_samples
from evenhand.evals.variants.variant import RecordedVariant, Variant
from evenhand.evals.variants.variant_file import read_variants
from evenhand.files.fields import FieldReader, describe_node, read_node_number
from evenhand.files.methods import apply_rubric_file_environment
from evenhand.files.parsing import LARGEST_RUBRIC_FILE, parse_tree, read_text_file
from evenhand.files.rubrics import load_rubric, read_rubric
from evenhand.files.tree import MappingNode, ScalarNode, TreeNode, find_node_line
from evenhand.guards.output_guards import GUARDS
from evenhand.judging.prompts import LANGUAGES
from evenhand.judging.single_judge import Cascade, JudgeOptions
from evenhand.model.rubric import Rubric
from evenhand.models.budget import Budget
from evenhand.models.limits import Limits
from evenhand.models.requests import ModelSettings

T = TypeVar("T")
EVAL_FIELDS = (
    "name", "about", "samples", "variants", "control", "rubric", "rubrics", "assertions", "judges", "how", "guards",
    "repeats", "gates", "smallest_effect", "budget", "concurrency", "prices", "keep", "seed",
)  # fmt: skip
HOW_FIELDS = (
    "language", "each", "samples", "logprobs", "cascade", "temperature", "max_tokens", "deadline", "timeout",
    "retries", "requests_per_minute", "tokens_per_minute",
)  # fmt: skip
GUARD_ACTIONS = {"injection": ("flag", "refuse", "off"), "safety": ("flag", "off"), "personal": ("mask", "off")}
GATE_NAMES = (*LAYERS, "composite", "score", "pass_rate")
GATE_ENDS = {**dict.fromkeys((*LAYERS, "composite"), (1, 5)), "pass_rate": (0, 1)}


def load_eval(path: Path, environ: AnyMapping[str, str]) -> Eval:
    """The eval in a YAML or JSON file. Settings in the environment override its rubrics."""
    source = read_text_file(path, LARGEST_RUBRIC_FILE, EvalError)
    try:
        tree = parse_tree(path, source)
    except RubricError as error:
        hints = {"evenhand rubric init writes a starter": "evenhand init writes one"}
        raise EvalError(*(replace(fault, hint=hints.get(fault.hint, fault.hint)) for fault in error.faults)) from None
    reader = _EvalReader(tree, path, environ)
    try:
        return replace(reader.read_eval(), source=source)
    except InputError as error:
        located = error.with_locations(lambda at: f"{path}:{find_node_line(tree, at)}")
        raise EvalError(*sorted(located.faults, key=_eval_fault_line)) from None


def _eval_fault_line(fault: Fault) -> int:
    return int("0" + "".join(filter(str.isdigit, fault.where.rpartition(":")[2])))


class _EvalReader:
    """Reads one eval file and collects its faults."""

    def __init__(self, tree: TreeNode, path: Path, environ: AnyMapping[str, str]) -> None:
        self.faults: list[Fault] = []
        self.tree = tree
        self.fields = FieldReader(tree, EVAL_FIELDS, self.faults)
        self.path = path
        self.folder = path.parent
        self.environ = environ

    def read_eval(self) -> Eval:
        """The eval, or an error with all that is wrong."""
        samples, variants = self._read_samples_and_variants()
        rubrics = self._read_rubrics()
        node = self.fields.node("assertions")
        assertions = () if node is None else read_assertions(node, self.folder, self.faults, ("assertions",))
        how, bounds = self._read_judge_options()
        guards, refuse = self._read_guards()
        judges = read_judges(self.fields, self.tree, self.path)
        how |= {"weights": judges.weights} if judges.weights else {}
        asked = self._build_or_note_fault(lambda: JudgeOptions(**how, refuse=refuse), "how")
        limits = self._build_or_note_fault(
            lambda: Limits(**bounds), "concurrency" if "concurrency" in self.fields else "how"
        )
        parts = self._read_run_settings(variants, rubrics)
        if self.faults or samples is None or asked is None or limits is None:
            raise EvalError(*self.faults)
        return Eval(
            samples=samples,
            variants=variants,
            rubrics=rubrics,
            assertions=assertions,
            judges=judges.names,
            judge_places=judges.places,
            how=asked,
            limits=limits,
            guards=guards,
            folder=self.folder,
            **parts,
        )

    def _read_samples_and_variants(self) -> tuple[SampleSource | None, AnyMapping[str, Variant]]:
        node = self.fields.node("samples")
        if node is None:
            self.fields.fault("an eval needs samples", "a list, or a file: samples: samples.jsonl")
        samples = None if node is None else open_samples(node, self.folder, self.faults, ("samples",))
        named = self.fields.node("variants")
        if named is None:
            return samples, {name: RecordedVariant() for name in self._variants_of_first_sample(samples)}
        return samples, read_variants(named, self.folder, self.faults, ("variants",))

    def _read_run_settings(self, variants: Collection[str], rubrics: AnyMapping[str, Rubric]) -> dict[str, Any]:
        """What the eval is called, and what decides how often and how far it is run, by the fields of an Eval."""
        fields = self.fields
        name = fields.text("name") or self.path.stem
        control = fields.text("control") or next(iter(variants), "")
        if variants and control not in variants:
            fields.fault(
                f"control {control!r} is not a variant", suggest_known_word_in_fault(control, variants), "control"
            )
        repeats = fields.integer("repeats")
        repeats = 1 if repeats is None else repeats
        if repeats < 1:
            fields.fault(f"repeats must be 1 or more, got {repeats}", "", "repeats")
        gates = self._read_gates(rubrics)
        effect = fields.number("smallest_effect")
        effect = Fraction(1, 2) if effect is None else effect
        if effect <= 0:
            fields.fault("smallest_effect must be above 0", "points on the 1 to 5 scale", "smallest_effect")
        budget, prices = self._read_budget(), fields.text("prices")
        return {
            "name": name,
            "control": control,
            "repeats": repeats,
            "gates": gates,
            "smallest_effect": effect,
            "budget": budget,
            "prices": None if prices is None else self.folder / prices,
            "keep": fields.choice("keep", KEEP_CHOICES) or "raw",
        }

    def _variants_of_first_sample(self, samples: SampleSource | None) -> Iterable[str]:
        """Where no variants are named, they are the outputs of the first sample."""
        if samples is None or self.faults:
            return (SINGLE_VARIANT,)
        with suppress(InputError):  # A bad file is told of when all of it is checked.
            first = next(iter(samples), None)
            return tuple(first.outputs) if first and first.outputs else (SINGLE_VARIANT,)
        return (SINGLE_VARIANT,)

    def _read_rubrics(self) -> dict[str, Rubric]:
        rubrics = {}
        node = self.fields.node("rubric")
        if node is not None and (rubric := self._read_eval_rubric(node, ("rubric",))):
            rubrics[DEFAULT_TAG] = rubric
        for tag, entry, path in self.fields.pairs("rubrics"):
            if rubric := self._read_eval_rubric(entry, path):
                rubrics[tag] = rubric
        return rubrics

    def _read_eval_rubric(self, node: TreeNode, path: FaultPath) -> Rubric | None:
        """A rubric by name, by file beside the eval, or written out in it."""
        try:
            if isinstance(node, MappingNode):
                rubric = read_rubric(node, self.path.stem, self.folder)
            elif isinstance(node, ScalarNode) and node.text.strip():
                beside = self.folder / node.text
                rubric = load_rubric(beside if beside.is_file() else node.text)
            else:
                self.faults.append(
                    Fault(f"a rubric is a name, a file or a mapping, got {describe_node(node)}", "", path)
                )
                return None
            return apply_rubric_file_environment(rubric, self.environ)
        except RubricError as error:
            self.faults += error.within(*path).faults
            return None

    def _read_judge_options(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """How judges are asked, and within which limits."""
        node = self.fields.node("how")
        fields = FieldReader(node if node is not None else MappingNode(), HOW_FIELDS, self.faults, ("how",))
        settings = {"temperature": fields.number("temperature"), "max_tokens": fields.integer("max_tokens")}
        language = fields.text("language")
        if language and language not in LANGUAGES and (self.folder / language).is_dir():
            language = str(self.folder / language)  # Prompt texts of one's own are beside the eval file.
        how = {
            "language": language,
            "settings": ModelSettings(**_drop_unset_options(settings)),
            "seed": self.fields.integer("seed"),
            "each": fields.boolean("each"),
            "samples": fields.integer("samples"),
            "logprobs": fields.boolean("logprobs"),
            "deadline": fields.number("deadline"),
            "cascade": Cascade() if fields.boolean("cascade") else None,
        }
        timeout = fields.number("timeout")
        limits = {
            "concurrency": self.fields.integer("concurrency"),
            "attempt_seconds": timeout,
            "total_seconds": None if timeout is None else max(float(timeout), Limits().total_seconds),
            "retries": fields.integer("retries"),
            "requests_per_minute": fields.number("requests_per_minute"),
            "tokens_per_minute": fields.number("tokens_per_minute"),
        }
        return _drop_unset_options(how), _drop_unset_options(limits)

    def _read_guards(self) -> tuple[tuple[str, ...], bool]:
        """The guards that look, and whether an injected output is kept from the judges."""
        node = self.fields.node("guards")
        if node is None:
            return tuple(GUARDS), False
        if isinstance(node, MappingNode):
            return self._read_guard_actions()
        names = [
            (entry.text if isinstance(entry, ScalarNode) else "", path) for entry, path in self.fields.items("guards")
        ]
        for name, path in names:
            if name not in GUARDS:
                self.faults.append(
                    Fault(f"no guard is called {name!r}", suggest_known_word_in_fault(name, GUARDS), path)
                )
        return tuple(name for name in GUARDS if name in dict(names)), False

    def _read_guard_actions(self) -> tuple[tuple[str, ...], bool]:
        chosen: dict[str, str] = {}
        for name, node, path in self.fields.pairs("guards"):
            word = node.text if isinstance(node, ScalarNode) else ""
            if name not in GUARDS:
                self.faults.append(
                    Fault(f"no guard is called {name!r}", suggest_known_word_in_fault(name, GUARDS), path)
                )
            elif word not in GUARD_ACTIONS[name]:
                self.faults.append(
                    Fault(f"{name} cannot be {word!r}", suggest_known_word_in_fault(word, GUARD_ACTIONS[name]), path)
                )
            chosen[name] = word
        on = tuple(name for name in GUARDS if chosen.get(name, "") != "off")
        return on, chosen.get("injection") == "refuse"

    def _read_gates(self, rubrics: AnyMapping[str, Rubric]) -> dict[str, Fraction]:
        known = [*GATE_NAMES, *(id for rubric in rubrics.values() for id in rubric.leaves)]
        gates = {}
        for name, node, path in self.fields.pairs("gates"):
            value = read_node_number(node)
            if name not in known:
                self.faults.append(
                    Fault(f"a gate on {name!r}, which nothing measures", suggest_known_word_in_fault(name, known), path)
                )
            elif isinstance(value, str):
                self.faults.append(Fault(f"the gate on {name} {value}", "", path))
            elif why := _explain_ungateable_eval(name, rubrics):
                self.faults.append(Fault(f"a gate on {name!r} means nothing here: {why}", "", path))
            elif name in GATE_ENDS and not GATE_ENDS[name][0] <= value <= GATE_ENDS[name][1]:
                low, high = GATE_ENDS[name]
                self.faults.append(Fault(f"the gate on {name} must be from {low} to {high}", "", path))
            else:
                gates[name] = value
        return gates

    def _read_budget(self) -> Budget | None:
        """Dollars, or a mapping of money and tokens."""
        node = self.fields.node("budget")
        if node is None:
            return None
        if isinstance(node, ScalarNode):
            money, tokens = self.fields.number("budget"), None
        else:
            fields = FieldReader(node, ("money", "tokens"), self.faults, ("budget",))
            money, tokens = fields.number("money"), fields.integer("tokens")
        dollars = None if money is None else Decimal(money.numerator) / Decimal(money.denominator)
        return self._build_or_note_fault(lambda: Budget(money=dollars, tokens=tokens), "budget")

    def _build_or_note_fault(self, make: Callable[[], T], name: str) -> T | None:
        """A value, or the fault that it was refused with, at its field."""
        try:
            return make()
        except InputError as error:
            self.faults += error.within(name).faults
            return None


def _explain_ungateable_eval(name: str, rubrics: AnyMapping[str, Rubric]) -> str:
    """Why there can be no mean to hold a gate against; empty where there can."""
    if name in ("judge", "score") and not rubrics:
        return "there is no rubric"
    if name == "score":
        scales = {f"{one.method.scale.min} {one.method.scale.max}" for one in rubrics.values()}
    else:
        scales = {
            str(one.leaves[name].scale) for one in rubrics.values() if name in one.leaves and name not in GATE_NAMES
        }
    return "its rubrics have different scales" if len(scales) > 1 else ""


def _drop_unset_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options that are given, exact numbers as floats."""
    given = {name: value for name, value in options.items() if value is not None}
    return {name: float(value) if isinstance(value, Fraction) else value for name, value in given.items()}
