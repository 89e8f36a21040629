"""The guards on labelled texts, and their speed: the table that the manual keeps."""

import time
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.guard_injection import measure_injection
from benchmarks.guard_nonsense import measure_installed_files, measure_nonsense
from benchmarks.guard_personal import measure_personal
from benchmarks.guard_rows import Row
from benchmarks.guard_safety import measure_safety
from evenhand.guards.output_guards import list_guard_findings

SHARED = Path(__file__).parent / ".." / ".." / "shared"
ORDINARY = (
    "Thank you for writing. The heating was checked on Tuesday, and the pump was found to run dry at night. We have "
    "ordered a new one; it should arrive within five working days. Until then the boiler keeps the water warm, but not "
    "hot. You can follow the order in your account under the number 20417. If anything is unclear, please reply here. "
)
ROUNDS = 7


def measure_guards() -> list[Figure]:
    """What is promised of the guards; without the shared data only their speed."""
    rows = [row for rows in by_guard().values() for row in rows] if SHARED.is_dir() else []
    rows += measure_installed_files()
    promised = [
        Figure(f"{row.data}: {row.what}", f"{row.found} of {row.of}", row.target, bool(row.holds))
        for row in rows
        if row.holds is not None
    ]
    return [*promised, *_speed()]


def by_guard() -> dict[str, list[Row]]:
    """All rows, by guard."""
    return {
        "injection": measure_injection(SHARED),
        "nonsense": measure_nonsense(),
        "safety": measure_safety(SHARED),
        "personal": measure_personal(SHARED),
    }


def table(rows: list[Row]) -> str:
    """Rows as a table in Markdown."""
    lines = ["| data | what | of | found | share | target |", "|---|---|---:|---:|---:|---|"]
    for row in rows:
        share = f"{row.found / row.of:.1%}" if row.of else "–"
        missed = " **missed**" if row.holds is False else ""
        lines.append(f"| {row.data} | {row.what} | {row.of} | {row.found} | {share} | {row.target}{missed} |")
    return "\n".join(lines) + "\n"


def _speed() -> list[Figure]:
    text = (ORDINARY * 7)[:2048]
    short, long = _seconds(text, 200), _seconds(text * 64, 4)
    return [
        Figure("all guards over 2 KB of ordinary text", f"{1000 * short:.2f} ms", "< 1 ms", short < 0.001),
        Figure("128 KB against 2 KB of it", f"{long / short:.0f} ×", "≤ 96 ×", long <= 96 * short),
    ]


def _seconds(text: str, times: int) -> float:
    """CPU seconds for one look, best of several rounds."""
    list_guard_findings(text)
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(times):
            list_guard_findings(text)
        best = min(best, (time.process_time() - began) / times)
    return best
