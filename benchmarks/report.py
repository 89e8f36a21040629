"""How long a reader waits for the HTML report of a large run, in a real Chromium."""

import tempfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import median
from string import ascii_lowercase
from time import perf_counter, process_time
from typing import Any

from tests.report.example import head, samples

from benchmarks.figure import Figure
from evenhand.report.html.page_file import write_html

SAMPLES, TAKES, LIMIT, LARGEST = 5000, 5, 1.5, 12  # Seconds until it stands, and megabytes.
CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def measure_report() -> Iterator[Figure]:
    """Writing and opening 5,000 samples with two outputs of a kilobyte each, eight judgments and two replies."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        start = process_time()
        with file.open("w", encoding="utf-8") as stream:
            write_html(head(run={**head()["run"], "samples": SAMPLES}), _long(), stream)
        rate = SAMPLES / (process_time() - start)
        size = file.stat().st_size / 1e6
        name = f"HTML report of {SAMPLES:,} samples"
        yield Figure(f"{name}, written", f"{rate:,.0f} per s", "≥ 500 per s of CPU", rate >= 500)
        yield Figure(f"{name}, its size", f"{size:.1f} MB", f"≤ {LARGEST} MB", size <= LARGEST)
        yield from _opening(file)


def _long() -> Iterator[dict[str, Any]]:
    """Every text another one, of words as common and as rare as in a language: the same would pack into nothing."""
    chance = Random(1)
    words = ["".join(chance.choices(ascii_lowercase, k=chance.randint(2, 10))) for _ in range(5000)]
    common = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    for sample in samples(SAMPLES):
        for result in sample["results"]:
            if result["output"]:
                result["output"]["text"] += " " + " ".join(chance.choices(words, cum_weights=common, k=140))
        yield sample


def _opening(file: Path) -> Iterator[Figure]:
    from playwright.sync_api import sync_playwright

    if not CHROMIUM.exists():
        print(f"{CHROMIUM} is not here: opening the report is not measured")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        takes = [_open(browser, file) for _ in range(TAKES)]
        browser.close()
    opened, frame, searched = (median(column) for column in zip(*takes, strict=True))
    yield Figure("opened until the table of samples stands", f"{opened:.2f} s", f"< {LIMIT} s", opened < LIMIT)
    yield Figure("slowest frame while scrolling through the page", f"{frame:.0f} ms", "≤ 50 ms", frame <= 50)
    yield Figure("search through every text of it", f"{searched:.2f} s", "< 3 s", searched < 3)


def _open(browser: Any, file: Path) -> tuple[float, float, float]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    start = perf_counter()
    page.goto(file.as_uri())
    page.locator("#table tbody tr").nth(24).wait_for()
    opened = perf_counter() - start
    frame = page.evaluate(SCROLL)
    start = perf_counter()
    page.fill("#search", "no text says this")
    page.get_by_text(f"0 of {SAMPLES:,} samples", exact=True).wait_for()
    searched = perf_counter() - start
    context.close()
    return opened, frame, searched


SCROLL = """() => new Promise((done) => {
  let last = performance.now(), slowest = 0, steps = 0;
  const step = (now) => {
    if (steps > 1) slowest = Math.max(slowest, now - last);
    last = now;
    scrollBy(0, 120);
    if (++steps < 60) requestAnimationFrame(step); else done(slowest);
  };
  requestAnimationFrame(step);
})"""
