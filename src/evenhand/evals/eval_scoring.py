"""By what an eval is scored: its judges, the rubrics that samples bring, and how layers become a composite."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from evenhand.errors import EvalError, Fault, RubricError, suggest_known_word_in_error
from evenhand.evals.eval_schema import COMPOSITE_FIELDS, GATE_NAMES, LAYERS, RUBRIC_LAYER
from evenhand.evals.sample import EvalSample
from evenhand.files.allowed_files import (
    allow_files_named_by_samples,
    explain_forbidden_path,
    is_allowed_file,
    refuse_path_outside_folder,
    resolve_changing_path,
)
from evenhand.files.methods import list_rubric_file_names, override_rubric_file_fields
from evenhand.files.parsing import LARGEST_RUBRIC_FILE, parse_tree, read_text_file
from evenhand.files.rubric_extension import EXTENDS, LONGEST_EXTENSION
from evenhand.files.rubrics import METHOD_FILE_ENDINGS, load_rubric, read_rubric_file
from evenhand.files.tree import (
    FieldReader,
    MappingNode,
    ScalarNode,
    TreeNode,
    build_tree,
    read_node_number,
    read_node_weight,
)
from evenhand.model.method import LayerMean
from evenhand.model.rubric import Rubric
from evenhand.scoring.scores import to_scoring_fingerprint_data
from evenhand.wording import format_fraction

PAIRWISE: Literal["pairwise"] = "pairwise"  # The dialogue in which judges compare two outputs.
SAMPLE_RUBRIC_PREFIX = "sample:"  # Of the keys of such rubrics, beside the tags that others go by.
MOST_RUBRICS_IN_TABLES = 100  # With more, the criteria of samples' own rubrics stay with their results.
LOSS_FIELD = "smallest_loss_share"
LOSS_HINT = "as in smallest_loss_share: {points: 2, share: 0.05}"
SAME_LAYER_HINT = f"{RUBRIC_LAYER} and judge are one layer"
WEIGHTS_HINT = "as in weights: {fact: 3, behavior: 1, rubric: 1, why: a wrong fact costs us most}"
_NEVER_SEEN = "its rubric was not there when the samples were checked: run it again"


@dataclass(slots=True)
class SampleRubrics:
    """The rubrics of samples by key, equal ones once. One that equals a rubric of the eval goes by the tag of that."""

    folder: Path = Path()
    environ: Mapping[str, str] = field(default_factory=dict)
    pairwise: bool = False  # Whether the eval says so for all of its rubrics.
    shared: Mapping[str, Rubric] = field(default_factory=dict)  # Those of the eval by tag.
    from_file: bool = False  # Whether the samples come from a file of data, which may be anybody's,
    trusted: bool = False  # and whether the eval lets such a file say what judges are asked.
    rubrics: dict[str, Rubric] = field(default_factory=dict)
    _keys: dict[str, str | None] = field(default_factory=dict)  # By what a sample says; None where it is wrong.
    _equal: dict[str, str] = field(default_factory=dict)  # By content.

    def add_sample_rubric(self, sample: EvalSample, faults: list[Fault]) -> bool:
        """Take the rubric that a sample has; False where it is wrong. Each fault is told once."""
        said = _digest_sample_rubric(sample)
        if said not in self._keys:
            rubric = self._read_sample_rubric(sample, faults)
            self._keys[said] = None if rubric is None else self._name_sample_rubric(rubric)
        return self._keys[said] is not None

    def find_rubric_key(self, sample: EvalSample) -> str | None:
        """The key of a sample's own rubric; None where it has none."""
        if sample.rubric is None and sample.rubrics is None:
            return None
        key = self._keys.get(_digest_sample_rubric(sample))
        if key is None:
            raise EvalError(Fault(_NEVER_SEEN, where=sample.id))
        return key

    def fits_tables(self, key: str) -> bool:
        """Whether the criteria of a rubric get columns of their own: thousands of columns can be read by nobody."""
        return key not in self.rubrics or len(self.rubrics) <= MOST_RUBRICS_IN_TABLES

    def _read_sample_rubric(self, sample: EvalSample, faults: list[Fault]) -> Rubric | None:
        given, place = (sample.rubric, ("rubric",)) if sample.rubrics is None else ({"rubrics": sample.rubrics}, ())
        try:
            with allow_files_named_by_samples(self.folder) if self.from_file else nullcontext():
                rubric = self._load_sample_rubric(sample.id, given)
            rubric = override_rubric_file_fields(rubric, self.environ)
            return set_pairwise_eval_rubric(rubric) if self.pairwise else rubric
        except RubricError as error:
            faults += error.within(*place).faults
            return None

    def _load_sample_rubric(self, id: str, given: object) -> Rubric:
        if self.from_file:
            self._refuse_data_rubric(given)
        if not isinstance(given, Mapping):
            return _load_eval_sample_rubric(str(given), self.folder, only_beside=self.from_file)
        tree = build_tree(given)
        assert isinstance(tree, MappingNode)
        return read_rubric_file(tree, id, self.folder)

    def _refuse_data_rubric(self, given: object) -> None:
        """A file of data names shipped rubrics and files below the eval; what judges are asked it says if it may.

        Criteria are instructions to judges: they stand outside the fence that holds all other data.
        """
        if not isinstance(given, Mapping):
            if given not in list_rubric_file_names():
                refuse_path_outside_folder(str(given), self.folder, RubricError)
                self._refuse_rubric_files_outside(self.folder / str(given), ())
            return
        if not self.trusted:
            what = "a file of samples contains criteria that would be put to judges as if you had written them"
            raise RubricError(Fault(what, "if you trust the file, write sample_rubrics: true into the eval"))
        self._refuse_named_files_outside(build_tree(given), self.folder, ())

    def _refuse_rubric_files_outside(self, file: Path, seen: tuple[Path, ...]) -> None:
        # Of a longer chain no more is read: the reader refuses it.
        found = resolve_changing_path(file)
        if len(seen) <= LONGEST_EXTENSION and is_allowed_file(file) and found not in seen:
            tree = parse_tree(file, read_text_file(file, LARGEST_RUBRIC_FILE, RubricError))
            self._refuse_named_files_outside(tree, file.parent, (*seen, found))

    def _refuse_named_files_outside(self, tree: TreeNode, folder: Path, seen: tuple[Path, ...]) -> None:
        """What a rubric names in turn, the one that it extends and its method, stands below the eval too."""
        for key in (EXTENDS, "method"):
            named = tree.get(key) if isinstance(tree, MappingNode) else None
            if not isinstance(named, ScalarNode):
                continue
            is_file = named.text.endswith(METHOD_FILE_ENDINGS) or key == EXTENDS
            if is_file and named.text not in list_rubric_file_names():
                refuse_path_outside_folder(named.text, self.folder, RubricError, beside=folder)
                self._refuse_rubric_files_outside(folder / named.text, seen)

    def _name_sample_rubric(self, rubric: Rubric) -> str:
        """The key of a rubric, new or known: its name, or that of the first sample that has it."""
        if not self._equal:
            self._equal = {_digest_sample_rubric_content(one): tag for tag, one in self.shared.items()}
        content = _digest_sample_rubric_content(rubric)
        if content not in self._equal:
            name, number = rubric.name, 1
            while f"{SAMPLE_RUBRIC_PREFIX}{name}" in self.rubrics:
                number += 1
                name = f"{rubric.name}-{number}"
            self._equal[content] = f"{SAMPLE_RUBRIC_PREFIX}{name}"
            self.rubrics[self._equal[content]] = replace(rubric, name=name)
        return self._equal[content]


def set_pairwise_eval_rubric(rubric: Rubric) -> Rubric:
    """The same rubric, by which judges compare two outputs at a time."""
    return replace(rubric, method=replace(rubric.method, dialogue=PAIRWISE))


def name_sample_rubric_criterion(key: str, criterion: str) -> str:
    """The name of a criterion in tables: ids of samples' own rubrics stand behind the rubric's name."""
    if not key.startswith(SAMPLE_RUBRIC_PREFIX):
        return criterion
    return f"{key.removeprefix(SAMPLE_RUBRIC_PREFIX)}.{criterion}"


def _load_eval_sample_rubric(name: str, folder: Path, *, only_beside: bool) -> Rubric:
    """A shipped rubric, or one in a file beside the eval file."""
    beside = folder / name
    outside = explain_forbidden_path(beside)
    if outside is not None:
        raise RubricError(replace(outside, what=f"rubric {name!r}: it {outside.what}"))
    is_beside = is_allowed_file(beside)
    if Path(name).suffix and not is_beside and (only_beside or not is_allowed_file(Path(name))):
        raise RubricError(Fault(f"there is no rubric file {name!r}", "its path is relative to the eval file"))
    return load_rubric(beside if is_beside else name)


def _digest_sample_rubric(sample: EvalSample) -> str:
    said = json.dumps([sample.rubric, sample.rubrics], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def _digest_sample_rubric_content(rubric: Rubric) -> str:
    """Equal for rubrics that differ in nothing but what they are called."""
    content = to_scoring_fingerprint_data(replace(rubric, name="", about="", tags=()))
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalLossShare:
    """A treatment does not ship while losses of so many points could still make up more than this share of samples."""

    points: Fraction
    share: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCompositeSettings:
    """What differs from the plain mean of the layers. All of it is asked for, and enters the fingerprint.

    `weights` go by layer, 1 where none is given, and `why` is the reason for them. `standardise` puts layers on a
    common scale over all outputs of the run; `debias` tells judges not to reward length, or removes what length does
    to their scores; with `multivariate`, all layers together are tested beside the composite. A mean counts every
    sample once or, `per` cluster, every cluster of samples.
    """

    weights: Mapping[str, Fraction] = field(default_factory=dict)
    why: str = ""
    standardise: Literal["off", "z", "rank"] = "off"
    debias: Literal["off", "instruct", "regress"] = "off"
    multivariate: bool = False
    per: Literal["sample", "cluster"] = "sample"
    smallest_loss_share: EvalLossShare | None = None

    def __post_init__(self) -> None:
        faults = [
            Fault(f"there is no layer {name!r}", suggest_known_word_in_error(name, LAYERS), ("weights", name))
            for name in self.weights
            if name not in LAYERS
        ]
        faults += [
            Fault(f"the weight of {name} must be above 0, got {format_fraction(weight)}", path=("weights", name))
            for name, weight in self.weights.items()
            if not weight > 0
        ]
        if self.weights and not self.why.strip():
            faults.append(Fault("weights of layers need a reason", WEIGHTS_HINT, ("weights",)))
        faults += [
            Fault(f"{name} {word!r} is not known", suggest_known_word_in_error(word, known), (name,))
            for name, known in COMPOSITE_FIELDS.items()
            if (word := getattr(self, name)) not in known
        ]
        loss = self.smallest_loss_share
        if loss is not None and not (0 < loss.points <= 4 and 0 < loss.share < 1):
            what = "smallest_loss_share needs points up to 4 and a share below 1"
            faults.append(Fault(what, LOSS_HINT, (LOSS_FIELD,)))
        if faults:
            raise EvalError(*faults)

    @property
    def needs_all_outputs(self) -> bool:
        """Whether composites can only be computed once all outputs have a score."""
        return self.standardise != "off" or self.debias == "regress"

    def list_changes(self) -> dict[str, str]:
        """What differs from the plain mean, for the fingerprint and for those who compare; the reason is no part."""
        weights = ", ".join(f"{name} {format_fraction(self.weights[name])}" for name in LAYERS if name in self.weights)
        found = {"weights": weights, "standardise": self.standardise, "debias": self.debias, "per": self.per}
        changes = {name: text for name, text in found.items() if text not in ("", "off", "sample")}
        if (loss := self.smallest_loss_share) is not None:
            changes["smallest_loss_share"] = f"{format_fraction(loss.points)} points, {format_fraction(loss.share)}"
        return changes | ({"multivariate": "yes"} if self.multivariate else {})


PLAIN_COMPOSITE = EvalCompositeSettings()


def to_eval_layer(name: str, others: Collection[str] = ()) -> str:
    """The layer that a file means by `name`: `rubric` is the one that judges fill, unless `others` has that name."""
    return "judge" if name == RUBRIC_LAYER and name not in others else name


def read_eval_composite(fields: FieldReader) -> EvalCompositeSettings:
    """How layers become a composite, where an eval file says anything about it."""
    weights, why = {}, ""
    for name, node, path in fields.pairs("weights"):
        if name == "why":
            why = node.text if isinstance(node, ScalarNode) else ""
            continue
        weight, layer = read_node_weight(node), to_eval_layer(name)
        if isinstance(weight, str):
            fields.faults.append(Fault(f"the weight of {name} {weight}", WEIGHTS_HINT, path))
        elif layer in weights:
            fields.faults.append(Fault(f"the weight of {layer} is given twice", SAME_LAYER_HINT, path))
        else:
            weights[layer] = weight
    if isinstance(fields.node("weights"), MappingNode) and not weights:
        fields.fault("weights without a layer", WEIGHTS_HINT, "weights")
    given: dict[str, Any] = {name: fields.choice(name, words) or words[0] for name, words in COMPOSITE_FIELDS.items()}
    given["multivariate"] = fields.boolean("multivariate") or False
    given[LOSS_FIELD] = _read_eval_loss_share(fields) if LOSS_FIELD in fields else None
    try:
        return EvalCompositeSettings(weights=weights, why=why, **given)
    except EvalError as error:
        fields.faults += error.faults
        return PLAIN_COMPOSITE


def _read_eval_loss_share(fields: FieldReader) -> EvalLossShare | None:
    """Points and share; None where they are not numbers, which is a fault."""
    found: dict[str, Fraction] = {}
    for name, node, path in fields.pairs(LOSS_FIELD):
        number = read_node_number(node)
        if name not in ("points", "share") or isinstance(number, str):
            what = f"{name} {number}" if isinstance(number, str) else f"{LOSS_FIELD} has no field {name!r}"
            fields.faults.append(Fault(what, LOSS_HINT, path))
        else:
            found[name] = number
    if len(found) < 2:
        if isinstance(fields.node(LOSS_FIELD), MappingNode):
            fields.fault(f"{LOSS_FIELD} needs points and share", LOSS_HINT, LOSS_FIELD)
        return None
    return EvalLossShare(**found)


def read_eval_layer_weights(rubric: Rubric | None) -> dict[str, Fraction]:
    """The weights that a rubric over layers gives them; empty where they weigh alike, or it has no layers."""
    if rubric is None or not isinstance(rubric.method.steps[0], LayerMean):
        return {}
    weights = {one.id: one.weight for one in rubric.criteria if one.id in LAYERS}
    return weights if len(set(weights.values())) > 1 else {}


def explain_ungateable_eval_measure(name: str, rubrics: Mapping[str, Rubric]) -> str:
    """Why there can be no mean to hold a gate against; empty where there can."""
    if name in ("judge", "score") and not rubrics:
        return "there is no rubric"
    if name == "score":
        scales = {f"{one.method.scale.min} {one.method.scale.max}" for one in rubrics.values()}
    else:
        own = (one.leaves for one in rubrics.values() if name not in GATE_NAMES)
        scales = {str(leaves[name].scale) for leaves in own if name in leaves}
    return "its rubrics have different scales" if len(scales) > 1 else ""
