"""Writes what the code in the pages prints now into the pages."""

import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.guards import SHARED

from tests.docs import measured
from tests.docs.pages import PAGES, ROOT, run_page


def refresh(page: Path) -> bool:
    """Put the real output into a page; tell whether that changed it."""
    text = page.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", folder, dirs_exist_ok=True)
        runs = list(run_page(text, Path(folder)))
    new = text
    for ran in reversed(runs):
        if ran.printed.strip() != ran.expected.strip():
            printed = ran.printed.rstrip("\n") + "\n" if ran.printed.strip() else ""
            new = new[: ran.start] + printed + new[ran.end :]
    if page in measured.PAGES and measured.measurable(page):
        new = measured.renewed(new, measured.PAGES[page]())
    if page in measured.SLOW_PAGES and sys.argv[1:] and SHARED.is_dir():
        new = measured.renewed(new, measured.SLOW_PAGES[page]())
    page.write_text(new, "utf-8")
    return new != text


if __name__ == "__main__":
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or PAGES
    for changed in filter(refresh, chosen):
        sys.stdout.write(f"{changed.relative_to(ROOT)}\n")
