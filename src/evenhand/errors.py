"""Everything Evenhand raises on purpose: where it is, what is wrong, what would work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import islice
from typing import Self

FaultPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, with the way to it through the file."""

    what: str
    hint: str = ""
    path: FaultPath = ()
    where: str = ""

    def __str__(self) -> str:
        where = self.where or (format_error_path(self.path) if self.path else "")
        hint = f" ({self.hint})" if self.hint else ""
        text = f"{where}: {self.what}{hint}" if where else f"{self.what}{hint}"
        return text.replace("\n", "\\n")  # A line break in an id must not forge a line of its own.

    def within(self, *prefix: str | int) -> Fault:
        """The same fault, seen from further up the file."""
        return replace(self, path=(*prefix, *self.path))


class EvenhandError(Exception):
    """Whatever Evenhand raises on purpose."""

    imported_runs: tuple[str, ...] = ()  # That were looked up before: it may tell what their files say.


MOST_FAULTS_SHOWN = 50
FEW_FAULTS = 3  # Faults of one kind that are each told with their place.


class InputError(EvenhandError):
    """The input is wrong: all its faults at once, each with its place."""

    def __init__(self, *faults: Fault | str) -> None:
        self.faults = tuple(Fault(fault) if isinstance(fault, str) else fault for fault in faults)
        super().__init__(*self.faults)

    def __str__(self) -> str:
        more = len(self.faults) - MOST_FAULTS_SHOWN
        return "\n".join([*map(str, self.faults[:MOST_FAULTS_SHOWN]), *([f"and {more:,} more"] if more > 0 else [])])

    def within(self, *prefix: str | int) -> Self:
        """The same error, seen from further up the file."""
        return type(self)(*(fault.within(*prefix) for fault in self.faults))

    def with_locations(self, locate: Callable[[FaultPath], str]) -> Self:
        """The same error with a place in the file for every fault that has none yet."""
        return type(self)(*(f if f.where else replace(f, where=locate(f.path)) for f in self.faults))


class RubricError(InputError):
    """A rubric or a method that cannot be right."""


class AnswersError(InputError):
    """An answers file that cannot be read."""


class EvalError(InputError):
    """An eval file or samples that cannot be right."""


class ContestError(InputError):
    """A task, a submission or an event of a contest that cannot be right."""


class StoreError(InputError):
    """Runs that cannot be kept or read: the disk, the database, who holds it."""


class RunLostError(StoreError):
    """Another process has taken a run over: what this one writes of it is refused, but for replies that were paid."""


class ServiceError(InputError):
    """A request that a service refused: asked again it would refuse it again. `status` is that of HTTP, 0 without."""

    def __init__(self, *faults: Fault | str, status: int = 0) -> None:
        super().__init__(*faults)
        self.status = status


class ServiceBusyError(ServiceError):
    """A service that gave no answer to a request; a later try may help: it cannot be reached, or has no time."""


class JudgeError(InputError):
    """A judge that cannot be asked: its name, its key, its record."""


class OutputError(EvenhandError):
    """A variant gave no output for a sample; the message says why."""


class ModelError(EvenhandError):
    """A model gave no reply; the message says what to do."""

    attempts = 1  # Requests that were sent; 0 where nobody was asked.


class BusyError(ModelError):
    """A later try may help: the server is overloaded, was cut off or is too slow; `late` where time ran out."""

    def __init__(self, message: str, *, late: bool = False) -> None:
        super().__init__(message)
        self.late = late


class CircuitOpenError(BusyError):
    """A model that gave no answer several times in a row is asked no more; once it is up again, a new run asks it."""


class RefusedError(ModelError):
    """Trying again does not help: the server does not accept the request, the key or the model.

    `always` where what was asked is not the reason: the key, the model, the credit, or a fault in a function is.
    """

    def __init__(self, message: str, *, always: bool = False) -> None:
        super().__init__(message)
        self.always = always


class BudgetError(ModelError):
    """Nothing was asked: the budget is spent."""

    attempts = 0


_FOUND_IMPORTS: ContextVar[dict[str, None] | None] = ContextVar("found_imports", default=None)


def note_imported_run_for_errors(run: str) -> None:
    """That an imported run was looked up: an error after it may be about what its file says."""
    found = _FOUND_IMPORTS.get()
    if found is not None:
        found[run] = None


@contextmanager
def mark_errors_about_imports() -> Iterator[None]:
    """Within it, whatever is raised carries the imported runs that were looked up before, also in threads that wait."""
    found: dict[str, None] = {}
    before = _FOUND_IMPORTS.set(found)
    try:
        yield
    except Exception as error:
        for one in (error, error.__cause__):
            if one is not None:
                vars(one)["imported_runs"] = tuple(found)
        raise
    finally:
        _FOUND_IMPORTS.reset(before)


def find_unreadable_import_error(error: BaseException | None) -> InputError | None:
    """What is told of an error that nobody raised on purpose, where it came after imported runs were looked up.

    What a system says of a file or a line is no matter of the run.
    """
    runs: tuple[str, ...] = getattr(error, "imported_runs", ())
    if not runs or isinstance(error, EvenhandError | OSError):
        return None
    one = len(runs) == 1
    who = f"run {runs[0]} was imported, and its" if one else f"runs {', '.join(runs)} were imported, and one's"
    what = f"{who} file holds something that cannot be read ({type(error).__name__})"
    told = InputError(Fault(what, "evenhand runs delete ID removes it; have it exported again"))
    told.imported_runs = runs
    return told


def make_unwritable_file_error(where: str, problem: OSError) -> InputError:
    """That a file cannot be written, and why."""
    return InputError(Fault(f"cannot be written: {(problem.strerror or str(problem)).lower()}", where=where))


def format_error_path(path: FaultPath) -> str:
    """A path as people write it: criteria[2].weight."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def suggest_known_word_in_error(word: str, known: Iterable[str]) -> str:
    """A hint for a misspelt word: the nearest known one, or the list of them."""
    known = sorted(known)
    return suggest_close_word_in_error(word, known) or (f"known: {', '.join(known)}" if known else "")


def suggest_close_word_in_error(word: str, known: Iterable[str]) -> str:
    """A hint for a misspelt word, where there is one that is near."""
    spelt = {name.lower(): name for name in islice(known, 200)}  # Enough to help, few enough to be quick.
    close = get_close_matches(word.lower(), spelt, n=1, cutoff=0.65)
    return f"did you mean {spelt[close[0]]!r}?" if close else ""


def make_fault_note_of_ignored_id(id: str, what: str, known: Iterable[str]) -> str:
    """A note on an id that the rubric does not have."""
    hint = suggest_close_word_in_error(id, known)
    return f"{id!r} is not a {what} of this rubric: ignored" + (f" ({hint})" if hint else "")


@dataclass(slots=True)
class RepeatedErrorFaults:
    """Faults of which all samples, or many, have the same: kept once, where they were met first, and counted."""

    _faults: list[Fault]
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def locate_since(self, told: int, locate: Callable[[Fault], Fault]) -> None:
        """Give the faults from a place of the list on their location; of one kind only a few are kept."""
        new = self._faults[told:]
        del self._faults[told:]
        for fault in new:
            self._counts[fault.what, fault.hint] += 1
            if self._counts[fault.what, fault.hint] <= FEW_FAULTS:
                self._faults.append(locate(fault))

    def join_repeats(self, samples: int, things: str = "samples") -> None:
        """Tell those once that are many, or that each of so many samples has, or of other things."""
        self._faults[:] = list(join_repeated_faults(self._faults, self._counts, samples, things))
        self._counts = Counter()


def join_repeated_faults(
    faults: Sequence[Fault], counts: Mapping[tuple[str, str], int], samples: int, things: str = "samples"
) -> Iterator[Fault]:
    """The faults in their order; of those of one kind, where they are many or each sample has one, only the first."""
    told = set()
    for fault in faults:
        key = (fault.what, fault.hint)
        count = counts.get(key, 1)
        if count <= FEW_FAULTS and (count < samples or count == 1):
            yield fault
        elif key not in told:
            told.add(key)
            every = f"in both {things}" if count == 2 else f"in all {count:,} {things}"
            often = every if count == samples else f"in {count:,} {things}, first here"
            yield replace(fault, what=f"{fault.what}, {often}")
