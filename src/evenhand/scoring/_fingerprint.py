"""Fingerprints: a hash of all that must be equal for two scores to be comparable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction

from evenhand.model import Rubric


def fingerprint(
    rubric: Rubric,
    *,
    prompts: Mapping[str, str] | None = None,
    judges: Sequence[Mapping[str, object]] = (),
    layers: Sequence[str] = (),
) -> str:
    """Sixteen hexadecimal digits over method, criteria, scales, steps, prompts, judges and layers.

    Names, tags and descriptions for readers are left out: renaming a rubric changes no score.
    """
    method = rubric.method
    what = {
        "criteria": rubric.criteria,
        "red_flags": rubric.red_flags,
        "bonuses": rubric.bonuses,
        "gates": sorted(rubric.gates, key=lambda gate: (gate.criterion, gate.min)),
        "scale": method.scale,
        "steps": [[step.kind(), step] for step in method.steps],
        "grades": method.grades,
        "verdicts": method.verdicts,
        "ties": method.ties,
        "holistic": method.holistic,
        "prompts": dict(prompts or {}),
        "judges": list(judges),
        "layers": sorted(layers),
        **({"safety_gate": True} if rubric.safety_gate else {}),
    }
    text = json.dumps(plain(what), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plain(value: object) -> object:
    """A value as plain data: exact numbers as fractions, values by their fields."""
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if is_dataclass(value):
        return {entry.name: plain(getattr(value, entry.name)) for entry in fields(value) if entry.compare}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return value
