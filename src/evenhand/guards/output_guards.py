"""All guards over one text, or over every output of a sample."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from evenhand.guards import injection, personal_data, safety
from evenhand.model import Finding, Sample

GUARDS: Mapping[str, Callable[[str], tuple[Finding, ...]]] = {
    "injection": injection.find_injections,
    "safety": safety.find_unsafe_passages,
    "personal": personal_data.find_personal_data,
}
RULES: Mapping[str, Mapping[str, str]] = {
    "injection": injection.RULES,
    "safety": safety.RULES,
    "personal": personal_data.RULES,
}
# What is done with a finding where nothing else is asked for: the output is judged all the same, inside the fence.
DONE: Mapping[str, str] = {"injection": "flag", "safety": "flag", "personal": "mask"}


def guard_text(text: str, guards: Collection[str] = tuple(GUARDS)) -> tuple[Finding, ...]:
    """What the guards find in a text, in order of place."""
    found = [finding for name in GUARDS if name in guards for finding in GUARDS[name](text)]
    return tuple(sorted(found, key=lambda finding: (finding.start, finding.end)))


def guard_sample(sample: Sample) -> Sample:
    """The sample with what the guards find in its outputs; outputs without a finding are not listed."""
    found = {name: guard_text(text) for name, text in sample.outputs.items()}
    return replace(sample, findings={name: findings for name, findings in found.items() if findings})
