"""Reading eval files: every fault at once, each with its line."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from evenhand.assertions.reading import read_assertions, read_named_assertions
from evenhand.errors import (
    EvalError,
    Fault,
    FaultPath,
    InputError,
    RubricError,
    suggest_close_word_in_error,
    suggest_known_word_in_error,
)
from evenhand.evals.eval_definition import DEFAULT_TAG, Eval
from evenhand.evals.eval_judges import JUDGE_FILE_ENDINGS, read_eval_judges
from evenhand.evals.eval_schema import (
    BUDGET_FIELDS,
    COMPOSITE_FIELDS,
    EVAL_DIALOGUES,
    EVAL_FIELDS,
    GATE_NAMES,
    GUARD_WORDS,
    HOW_FIELDS,
    KEEP_CHOICES,
    LAYERS,
    PASS_RATE,
    PASS_RATE_FIELDS,
    explain_wrong_eval_repeats,
)
from evenhand.evals.eval_scoring import (
    LOSS_FIELD,
    PLAIN_COMPOSITE,
    SAME_LAYER_HINT,
    explain_ungateable_eval_measure,
    read_eval_composite,
    set_pairwise_eval_rubric,
    to_eval_layer,
)
from evenhand.evals.sample import SINGLE_VARIANT
from evenhand.evals.samples import InlineSamples, SampleSource, open_samples, sample_fault_line
from evenhand.evals.variants.makers import RecordedVariant, Variant
from evenhand.evals.variants.variant_file import read_variants
from evenhand.files.allowed_files import explain_forbidden_path, is_allowed_file, is_allowed_folder
from evenhand.files.methods import override_rubric_file_fields
from evenhand.files.parsing import LARGEST_RUBRIC_FILE, parse_tree, read_text_file
from evenhand.files.rubrics import load_rubric, read_rubric_file
from evenhand.files.tree import (
    FieldReader,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    build_tree,
    describe_node,
    find_node_line,
    read_node_number,
    read_node_weight,
)
from evenhand.guards.output_guards import GUARDS
from evenhand.judging.prompts import LANGUAGES
from evenhand.judging.single_judge import Cascade, JudgeOptions
from evenhand.model.rubric import Rubric
from evenhand.models.budget import Budget
from evenhand.models.limits import Limits
from evenhand.models.requests import ModelSettings
from evenhand.wording import format_fraction

NO_FOLDER = Path(os.devnull, "none")  # Nothing is in it, whatever is there.
GATE_ENDS = {**dict.fromkeys((*LAYERS, "composite"), (1, 5)), PASS_RATE: (0, 1)}
OLD_CASCADE = (
    "how: {cascade: true} is now judges: {cascade: [CHEAP, STRONG]}: beside what is near a threshold, the strong judge "
    "sees a random part of the rest, by which means and differences are corrected; variants are passed on together"
)
PYTHON_FIELDS = ("samples", "variants", "rubric", "rubrics", "judges")  # A program gives them as values of its own.


def load_eval(path: str | Path, environ: Mapping[str, str] | None = None) -> Eval:
    """The eval in a YAML or JSON file. Settings in the environment, where it is given, override its rubrics."""
    path, environ = Path(path), environ or {}
    source = read_text_file(path, LARGEST_RUBRIC_FILE, EvalError)
    try:
        tree = parse_tree(path, source)
    except RubricError as error:
        hints = {"evenhand rubric init writes a starter": "evenhand init writes one"}
        raise EvalError(*(replace(fault, hint=hints.get(fault.hint, fault.hint)) for fault in error.faults)) from None
    faults: list[Fault] = []
    try:
        reader = _EvalReader(FieldReader(tree, EVAL_FIELDS, faults), faults, tree, path, path.parent, environ)
        found = replace(reader.read_eval(), source=source)
    except InputError as error:
        located = error.with_locations(lambda at: f"{path}:{find_node_line(tree, at)}")
        raise EvalError(*sorted(located.faults, key=sample_fault_line)) from None
    if isinstance(found.samples, InlineSamples):  # Faults that are found in them later have lines too.
        places = replace(found.samples, locate=lambda at: f"{path}:{find_node_line(tree, ('samples', *at))}")
        return replace(found, samples=places)
    return found


def read_eval_data(fields: Mapping[str, Any], environ: Mapping[str, str]) -> Eval:
    """The eval that plain data describes as a file would; no folder stands behind it in which files could be found."""
    faults: list[Fault] = []
    tree = build_tree(fields)
    reader = _EvalReader(FieldReader(tree, EVAL_FIELDS, faults), faults, tree, Path("eval"), NO_FOLDER, environ)
    return replace(reader.read_eval(), source=json.dumps(fields, ensure_ascii=False))


def read_eval_mapping(given: Mapping[str, Any], environ: Mapping[str, str]) -> Eval:
    """The eval that a mapping with the fields of an eval file describes; functions and objects stand for themselves."""
    parts: dict[str, Any] = {name: value for name, value in given.items() if name in PYTHON_FIELDS}
    judges = parts.get("judges")
    several = isinstance(judges, (list, tuple)) and all(isinstance(one, str) for one in judges)
    if several or isinstance(judges, (str, Mapping)):  # As in a file: a name, names, or names with weights.
        del parts["judges"]
    faults: list[Fault] = []
    tree = build_tree({name: value for name, value in given.items() if name not in parts})
    reader = _EvalReader(FieldReader(tree, EVAL_FIELDS, faults), faults, tree, Path("eval"), Path(), environ)
    try:
        eval = Eval(**parts)
    except InputError as error:
        raise EvalError(*faults, *error.faults) from None
    assertions = reader.read_eval_assertions()
    settings = reader.read_judge_settings() | reader.read_run_settings(eval.variants, eval.rubrics) | assertions
    settings["dialogue"] = reader.fields.choice("dialogue", EVAL_DIALOGUES)
    if faults:
        raise EvalError(*faults)
    return replace(eval, **{name: value for name, value in settings.items() if name not in parts})


@dataclass(slots=True)
class _EvalReader:
    """Reads one eval file and collects its faults."""

    fields: FieldReader
    faults: list[Fault]
    tree: TreeNode
    path: Path
    folder: Path
    environ: Mapping[str, str]

    def read_eval(self) -> Eval:
        """The eval, or an error with all that is wrong."""
        fields, folder = self.fields, self.folder
        node, named = fields.node("samples"), fields.node("variants")
        if node is None:
            fields.fault("an eval needs samples", "a list, or a file: samples: samples.jsonl")
        samples = None if node is None else open_samples(node, folder, self.faults, ("samples",))
        variants: Mapping[str, Variant]
        if named is None:
            variants = {name: RecordedVariant() for name in self._variants_of_first_sample(samples)}
        else:
            variants = read_variants(named, folder, self.faults, ("variants",))
        rubrics, dialogue = self._read_rubrics(), fields.choice("dialogue", EVAL_DIALOGUES)
        if dialogue is not None:
            rubrics = {tag: set_pairwise_eval_rubric(rubric) for tag, rubric in rubrics.items()}
        settings = self.read_eval_assertions() | self.read_judge_settings() | self.read_run_settings(variants, rubrics)
        if self.faults or samples is None:
            raise EvalError(*self.faults)
        settings |= {"dialogue": dialogue, "folder": folder}
        return Eval(samples=samples, variants=variants, rubrics=rubrics, **settings)

    def read_eval_assertions(self) -> dict[str, Any]:
        """What is checked by rule: the checks that samples may name, and the assertions on every output."""
        checks = read_named_assertions(self.fields, self.folder) if "checks" in self.fields else {}
        node, path = self.fields.node("assertions"), ("assertions",)
        assertions = () if node is None else read_assertions(node, self.folder, self.faults, path, checks)
        return {"assertions": assertions, "checks": checks}

    def _variants_of_first_sample(self, samples: SampleSource | None) -> Iterable[str]:
        """Where no variants are named, they are the outputs of the first sample."""
        if samples is None or self.faults:
            return (SINGLE_VARIANT,)
        with suppress(InputError):  # A bad file is told of when all of it is checked.
            first = next(iter(samples), None)
            return tuple(first.outputs) if first and first.outputs else (SINGLE_VARIANT,)
        return (SINGLE_VARIANT,)

    def _read_rubrics(self) -> dict[str, Rubric]:
        """The rubrics by tag: each by name, by file beside the eval, or written out in it."""
        rubrics: dict[str, Rubric] = {}
        node = self.fields.node("rubric")
        entries: list[tuple[str, TreeNode, FaultPath]] = [] if node is None else [(DEFAULT_TAG, node, ("rubric",))]
        listed = self.fields.node("rubrics")
        if isinstance(listed, SequenceNode):  # The criteria of one rubric, for all samples.
            whole = MappingNode(listed.line, [(ScalarNode("rubrics", listed.line), listed)])
            entries.append((DEFAULT_TAG, whole, ()))
            if node is not None:
                what = "rubric and a list of rubrics are both the rubric for all samples"
                self.fields.fault(what, "keep one of them; rubrics by tag are a mapping", "rubrics")
        elif listed is not None:
            entries += self.fields.pairs("rubrics")
        for tag, entry, path in entries:
            try:
                if isinstance(entry, MappingNode):
                    rubric = read_rubric_file(entry, tag or self.path.stem, self.folder)
                elif isinstance(entry, ScalarNode) and entry.text.strip():
                    rubric = self._load_named_rubric(entry.text)
                else:
                    what = f"a rubric is a name, a file or a mapping, got {describe_node(entry)}"
                    hint = "a list of criteria is {criteria: […]}" if isinstance(entry, SequenceNode) else ""
                    self.faults.append(Fault(what, hint, path))
                    continue
                rubric = replace(rubric, holistic=True) if self.fields.boolean("holistic") else rubric
                listens = rubric.method.environment  # Variables that change its rubrics.
                rubrics[tag] = override_rubric_file_fields(rubric, self.environ) if listens else rubric
            except RubricError as error:
                self.faults += error.within(*path).faults
        return rubrics

    def _load_named_rubric(self, name: str) -> Rubric:
        """A rubric in a file beside the eval or by name; that there is no such file is a fault of the eval's line."""
        beside = self.folder / name
        outside = explain_forbidden_path(beside)
        if outside is not None:  # Whether it is there is nobody's to know.
            raise RubricError(replace(outside, what=f"rubric {name!r}: it {outside.what}"))
        if is_allowed_file(beside):
            return load_rubric(beside)
        try:
            return load_rubric(name)
        except RubricError as error:
            if is_allowed_file(Path(name)) or not any(one.where for one in error.faults):
                raise
            there = beside.parent.iterdir() if is_allowed_folder(beside.parent) else ()
            files = [one.name for one in there if one.suffix in JUDGE_FILE_ENDINGS and one.name != self.path.name]
            hint = (
                suggest_close_word_in_error(beside.name, files)
                or "a file beside the eval, or the name of a shipped rubric"
            )
            raise RubricError(Fault(f"no rubric {name!r}: there is no such file", hint)) from None

    def read_judge_settings(self) -> dict[str, Any]:
        """Who judges, how they are asked, and within which limits, by the fields of an Eval."""
        given: dict[str, dict[str, Any]] = {"options": {}, "settings": {}, "limits": {}}
        node = self.fields.node("how")
        if node is not None:
            fields = FieldReader(node, HOW_FIELDS, self.faults, ("how",))
            for name, (part, read, _) in HOW_FIELDS.items():
                value = getattr(fields, read)(name)
                if value is not None:
                    given[part][name] = float(value) if isinstance(value, Fraction) else value
        options, bounds = given["options"], given["limits"]
        for target, name in ((options, "seed"), (bounds, "concurrency")):
            whole = self.fields.integer(name)
            if whole is not None:
                target[name] = whole
        language, timeout = options.get("language"), bounds.pop("timeout", None)
        if language and language not in LANGUAGES:
            options["language"] = self._place_prompt_texts(language)
        debias = self.fields.node("debias")
        options["ignore_length"] = isinstance(debias, ScalarNode) and debias.text == "instruct"
        cascades = bool(options.pop("cascade", False))
        if timeout is not None:
            bounds |= {"attempt_seconds": timeout, "total_seconds": max(timeout, Limits().total_seconds)}
        guards, refuse = self._read_guards() if "guards" in self.fields else (tuple(GUARDS), False)
        judges = read_eval_judges(self.fields, self.tree, self.path)
        settings: dict[str, Any] = {"judges": judges.names, "judge_places": judges.places, "guards": guards}
        settings["notes"] = (OLD_CASCADE,) if cascades and judges.cascade is None else ()
        options |= {"settings": ModelSettings(**given["settings"]), "weights": judges.weights, "refuse": refuse}
        # Earlier files name the judges in order and say `how: {cascade: true}`.
        options |= {"maps": judges.maps, "cascade": judges.cascade or (Cascade() if cascades else None)}
        try:
            settings["how"] = JudgeOptions(**options)
        except InputError as error:
            self.faults += error.within("how").faults
        try:
            settings["limits"] = Limits(**bounds)
        except InputError as error:
            self.faults += error.within("concurrency" if "concurrency" in self.fields else "how").faults
        return settings

    def _place_prompt_texts(self, language: str) -> str:
        """Prompt texts of one's own are beside the eval file; where they may not be read, they are refused there."""
        beside = self.folder / language
        return str(beside) if explain_forbidden_path(beside) is not None or is_allowed_folder(beside) else language

    def read_run_settings(self, variants: Collection[str], rubrics: Mapping[str, Rubric]) -> dict[str, Any]:
        """What the eval is called, and what decides how often and how far it is run, by the fields of an Eval."""
        fields = self.fields
        name = fields.text("name") or self.path.stem
        control = fields.text("control") or next(iter(variants), "")
        if variants and control not in variants:
            hint = suggest_known_word_in_error(control, variants)
            fields.fault(f"control {control!r} is not a variant", hint, "control")
        repeats = fields.integer("repeats")
        if repeats is not None and (why := explain_wrong_eval_repeats(repeats)):
            fields.fault(why, "", "repeats")
        gates, count_borderline = self._read_gates(rubrics) if "gates" in fields else ({}, False)
        effect = fields.number("smallest_effect")
        if effect is not None and effect <= 0:
            fields.fault("smallest_effect must be above 0", "points on the 1 to 5 scale", "smallest_effect")
        budget = self._read_budget() if "budget" in fields else None
        differs = any(name in fields for name in ("weights", "multivariate", LOSS_FIELD, *COMPOSITE_FIELDS))
        composite = read_eval_composite(fields) if differs else PLAIN_COMPOSITE
        prices = fields.text("prices")
        outside = explain_forbidden_path(self.folder / prices) if prices is not None else None
        if outside is not None:
            fields.fault(f"{prices} {outside.what}", outside.hint, "prices")
        elif prices is not None and not is_allowed_file(self.folder / prices):
            fields.fault(f"no prices {prices!r}: there is no such file", "a file beside the eval", "prices")
        return {
            "name": name,
            "control": control,
            "repeats": 1 if repeats is None else repeats,
            "gates": gates,
            "count_borderline": count_borderline,
            "composite": composite,
            "smallest_effect": Fraction(1, 2) if effect is None else effect,
            "budget": budget,
            "prices": None if prices is None else self.folder / prices,
            "sample_rubrics": fields.boolean("sample_rubrics") or False,
            "keep": fields.choice("keep", KEEP_CHOICES) or "raw",
        }

    def _read_guards(self) -> tuple[tuple[str, ...], bool]:
        """The guards that look, and whether an injected output is kept from the judges."""
        listed = not isinstance(self.fields.node("guards"), MappingNode)
        entries: Iterable[tuple[str | None, TreeNode, FaultPath]] = self.fields.pairs("guards")
        if listed:
            entries = ((None, node, path) for node, path in self.fields.items("guards"))
        chosen: dict[str, str] = {}
        for key, node, path in entries:
            word = node.text if isinstance(node, ScalarNode) else ""
            name = word if key is None else key
            if name not in GUARDS:
                hint = suggest_known_word_in_error(name, GUARDS)
                self.faults.append(Fault(f"no guard is called {name!r}", hint, path))
            elif key is not None and word not in GUARD_WORDS[name]:
                hint = suggest_known_word_in_error(word, GUARD_WORDS[name])
                self.faults.append(Fault(f"{name} cannot be {word!r}", hint, path))
            chosen[name] = word
        on = tuple(name for name in GUARDS if (name in chosen if listed else chosen.get(name) != "off"))
        return on, chosen.get("injection") == "refuse"

    def _read_gates(self, rubrics: Mapping[str, Rubric]) -> tuple[dict[str, Fraction], bool]:
        """The gates by name, and whether a borderline output counts for the one on the pass rate."""
        known = dict.fromkeys([*GATE_NAMES, *(id for rubric in rubrics.values() for id in rubric.leaves)])
        gates, count_borderline = {}, False
        for given, node, path in self.fields.pairs("gates"):
            name = to_eval_layer(given, known)
            least: TreeNode | None = node
            if name == PASS_RATE and isinstance(node, MappingNode):
                fields = FieldReader(node, PASS_RATE_FIELDS, self.faults, path)
                count_borderline, least = fields.boolean("borderline") or False, fields.node("min")
            if least is None:
                self.faults.append(
                    Fault("a pass rate needs a min", "as in pass_rate: {min: 0.8, borderline: true}", path)
                )
                continue
            value = read_node_weight(least) if name == PASS_RATE else read_node_number(least)
            if name not in known:
                hint = suggest_known_word_in_error(name, known)
                self.faults.append(Fault(f"a gate on {name!r}, which nothing measures", hint, path))
            elif isinstance(value, str):
                self.faults.append(Fault(f"the gate on {given} {value}", "", path))
            elif name in gates:
                self.faults.append(Fault(f"the gate on {name} is given twice", SAME_LAYER_HINT, path))
            elif (why := explain_ungateable_eval_measure(name, rubrics)) and (rubrics or not self._has_sample_rubric()):
                self.faults.append(Fault(f"a gate on {given!r} means nothing here: {why}", "", path))
            elif name in GATE_ENDS and not GATE_ENDS[name][0] <= value <= GATE_ENDS[name][1]:
                low, high = GATE_ENDS[name]
                as_layer = f"a share of {format_fraction(value)} is {format_fraction(1 + 4 * value)}"
                hint = as_layer if 0 < value < low else ""
                self.faults.append(Fault(f"the gate on {given} must be from {low} to {high}", hint, path))
            else:
                gates[name] = value
        return gates, count_borderline

    def _has_sample_rubric(self) -> bool:
        """Whether a sample brings a rubric, where the eval has none."""
        node = self.fields.node("samples")
        with suppress(InputError):
            samples = () if node is None else open_samples(node, self.folder, [], ("samples",))
            return any(one.rubric is not None or one.rubrics is not None for one in samples)
        return False

    def _read_budget(self) -> Budget | None:
        """Dollars, or a mapping of money and tokens."""
        node = self.fields.node("budget")
        if node is None or isinstance(node, ScalarNode):
            money, tokens = self.fields.number("budget"), None
        else:
            fields = FieldReader(node, BUDGET_FIELDS, self.faults, ("budget",))
            money, tokens = fields.number("money"), fields.integer("tokens")
        try:
            dollars = None if money is None else Decimal(money.numerator) / Decimal(money.denominator)
            return Budget(money=dollars, tokens=tokens)
        except InputError as error:
            self.faults += error.within("budget").faults
            return None
