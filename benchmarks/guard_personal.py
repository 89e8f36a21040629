"""Measures the guard for personal data: what it finds of the labelled values, and how much else it takes for them."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.guard_rows import Row
from evenhand.guards.personal_data import find_personal_data

KINDS = {"ssn": "US_SSN", "card": "CREDIT_CARD", "iban": "IBAN_CODE", "email": "EMAIL_ADDRESS", "phone": "PHONE_NUMBER"}
CHECKABLE = ("ssn", "card", "iban", "email")
TARGET = 0.95


def measure_personal(shared: Path) -> list[Row]:
    """Recall and precision by kind and of the checkable kinds together, and findings in texts that have none."""
    data = shared / "datasets" / "pii_presidio"
    samples = [sample for file in sorted(data.glob("*.jsonl")) for sample in _read(file)]
    labelled, met, found, right = _counted(samples)
    rows: list[Row] = []
    for rule in KINDS:
        rows.append(Row("pii_presidio", f"{rule}: labelled values found", met[rule], labelled[rule]))
        rows.append(Row("pii_presidio", f"{rule}: findings that are labelled", right[rule], found[rule]))
    rows += [
        _pooled("ssn, card, iban, email: labelled values found", met, labelled),
        _pooled("ssn, card, iban, email: findings that are labelled", right, found),
        _failing(samples),
        _on_texts_without(shared),
    ]
    return rows


def _read(file: Path) -> Iterator[Any]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _counted(samples: list[Any]) -> tuple[Counter[str], Counter[str], Counter[str], Counter[str]]:
    """By rule: labelled values, those of them that were met, findings, and those of them that are right."""
    labelled, met, found, right = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for sample in samples:
        findings = find_personal_data(sample["text"])
        for rule, kind in KINDS.items():
            labels = [(span["start"], span["end"]) for span in sample["spans"] if span["type"] == kind]
            places = [(finding.start, finding.end) for finding in findings if finding.rule == rule]
            labelled[rule] += len(labels)
            found[rule] += len(places)
            met[rule] += sum(_overlaps(label, places) for label in labels)
            right[rule] += sum(_overlaps(place, labels) for place in places)
    return labelled, met, found, right


def _overlaps(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def _pooled(what: str, hits: Counter[str], all_of: Counter[str]) -> Row:
    got, of = (sum(counts[rule] for rule in CHECKABLE) for counts in (hits, all_of))
    return Row("pii_presidio", what, got, of, target=f"≥ {TARGET:.0%}", holds=of > 0 and got / of >= TARGET)


def _failing(samples: list[Any]) -> Row:
    """Labelled cards and accounts that cannot be real: with wrong check digits, the guard is right to pass them."""
    checks = {"CREDIT_CARD": _is_card, "IBAN_CODE": _is_account}
    values = [(span["type"], span["value"]) for sample in samples for span in sample["spans"] if span["type"] in checks]
    failing = sum(not checks[kind](value) for kind, value in values)
    return Row("pii_presidio", "card, iban: labelled values with wrong check digits", failing, len(values))


def _is_card(value: str) -> bool:
    digits = [int(character) for character in value if character.isdigit()]
    return sum(sum(divmod(digit << at % 2, 10)) for at, digit in enumerate(reversed(digits))) % 10 == 0


def _is_account(value: str) -> bool:
    bare = "".join(filter(str.isalnum, value))
    return int("".join(str(int(character, 36)) for character in bare[4:] + bare[:4])) % 97 == 1


def _on_texts_without(shared: Path) -> Row:
    completions = [
        sample["completion"] for sample in _read(shared / "datasets" / "safety_xstest" / "completions.jsonl")
    ]
    return Row(
        "safety_xstest",
        "completions with a finding",
        sum(map(bool, map(find_personal_data, completions))),
        len(completions),
    )
