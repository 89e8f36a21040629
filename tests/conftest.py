"""Where the shared data lies, and what a skip means where skips are forbidden."""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.report.browser import Chromium

# The same examples every time, so that what passed once passes again; `make soak` looks for new ones.
settings.register_profile(
    "default", deadline=None, max_examples=20, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", deadline=None, max_examples=5000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")

# Where Python is told to keep no bytecode, as in many containers, every command a test runs would compile all of
# Evenhand anew, a third of its time, and every process of tests all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell that starts them in the background has Ctrl-C ignored, nohup a closed terminal, and so would be all that they
# start.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)

# A disk would be waited for after every change of a store, and nothing here must survive the machine.
MEMORY = Path("/dev/shm")
MEMORY_NEEDED = 2 << 30  # Containers often have 64 MB.


def is_memory_a_place() -> bool:
    """Whether there is enough of it for what tests write, and a script that they write can be run there."""
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        return False
    return shutil.disk_usage(MEMORY).free > MEMORY_NEEDED


if is_memory_a_place():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

ROOT = Path(__file__).parent.parent
SHARED = ROOT / ".." / "shared"
WAITING = tuple(f"tests/{room}/" for room in ("fleet", "service", "web", "runs/chaos"))  # For others to answer.


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of conformance cases and data sets; without it the tests that read it are skipped."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared is not here: conformance cases and data sets are not checked")
    return SHARED


@pytest.fixture(scope="session")
def chromium() -> "Iterator[Chromium]":
    """A browser for all tests of this process: a start takes longer than most of them, whichever room they are in."""
    from tests.report.browser import CHROMIUM, open_chromium  # Most tests need none of it.

    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not here: nothing is opened in a browser")
    with open_chromium() as opened:
        yield opened


@contextmanager
def signals_given_back() -> Iterator[None]:
    """A contest that pays ignores signals until its process ends: whatever these tests start later would, too."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Generator[None, object, object]:
    """A contest may be played by a fixture."""
    with signals_given_back():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Or by a test."""
    with signals_given_back():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage: modules and tests stay, and a look through them takes most of a second."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(100_000)  # To look after every 700 objects is a tenth of all that tests compute.
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what waits: the first process gets it, the others compute meanwhile, and the end is left no wait."""
    items.sort(key=lambda item: not item.nodeid.startswith(WAITING))


def session_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of these tests share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where skips are forbidden, a skipped test is a failed one."""
    report = yield
    if report.skipped and os.environ.get("EVENHAND_FORBID_SKIPS"):
        report.outcome = "failed"
        report.longrepr = f"skipped where skips are forbidden: {report.longrepr}"
    return report
