"""Look at files with the guards: what each finds, with the passages and the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from evenhand.guards.output_guards import GUARD_ACTIONS, GUARDS, list_guard_findings
from evenhand.guards.personal_data import build_personal_text_mask, mask_data
from evenhand.model.sample import GuardFinding
from evenhand.workflows.inputs import load_user_files


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedUserFile:
    """A file and what the guards found in it."""

    name: str
    text: str
    findings: tuple[GuardFinding, ...]

    def line_of(self, finding: GuardFinding) -> int:
        """The line that a finding begins in."""
        return self.text.count("\n", 0, finding.start) + 1


def guard_files(
    names: Sequence[str], guards: Sequence[str] = (), stdin: BinaryIO | None = None
) -> tuple[GuardedUserFile, ...]:
    """What some guards, or all, find in files; "-" is standard input."""
    texts = load_user_files(names, stdin)
    chosen = tuple(guards) or tuple(GUARDS)
    return tuple(
        GuardedUserFile(name=name, text=text, findings=list_guard_findings(text, chosen))
        for name, text in texts.items()
    )


def guarded_user_files_to_json(files: Sequence[GuardedUserFile]) -> object:
    """What `evenhand guard --json` prints, personal data masked."""
    told: list[dict[str, object]] = []
    for file in files:
        findings = [
            {"guard": one.guard, "rule": one.rule, "says": one.says, "done": GUARD_ACTIONS[one.guard]}
            | {"text": one.text, "start": one.start, "end": one.end, "line": file.line_of(one)}
            for one in file.findings
        ]
        told.append({"file": file.name, "findings": findings})
    return mask_data({"files": told}, build_personal_text_mask(file.text for file in files))
