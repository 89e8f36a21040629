"""All guards over one text, or over every output of a sample."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from evenhand.guards.injection import find_injections
from evenhand.guards.personal_data import find_personal_data
from evenhand.guards.safety import find_unsafe_passages
from evenhand.model.sample import GuardFinding, Sample

GUARDS: Mapping[str, Callable[[str], tuple[GuardFinding, ...]]] = {
    "injection": find_injections,
    "safety": find_unsafe_passages,
    "personal": find_personal_data,
}
# What is done with a finding where nothing else is asked for: the output is judged all the same, inside the fence.
GUARD_ACTIONS: Mapping[str, str] = {"injection": "flag", "safety": "flag", "personal": "mask"}


def list_guard_findings(text: str, guards: Collection[str] = tuple(GUARDS)) -> tuple[GuardFinding, ...]:
    """What the guards find in a text, in order of place."""
    found = [finding for name in GUARDS if name in guards for finding in GUARDS[name](text)]
    return tuple(sorted(found, key=lambda finding: (finding.start, finding.end)))


def flag_outputs_by_guards(sample: Sample) -> Sample:
    """The sample with what the guards find in its outputs; outputs without a finding are not listed."""
    found = {name: list_guard_findings(text) for name, text in sample.outputs.items()}
    return replace(sample, findings={name: findings for name, findings in found.items() if findings})
