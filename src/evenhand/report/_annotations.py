"""A run's verdict and failures as annotations of GitHub Actions: one workflow command a line."""

from collections import Counter
from collections.abc import Iterable, Iterator

from evenhand.report._failing import failed_checks, failed_count
from evenhand.report._figures import Data, figure
from evenhand.report._inert import folded

MOST = 10  # GitHub shows ten of each level for a step and drops the rest.
LONGEST = 1000
LONGEST_TITLE = 150


def annotations(head: Data, samples: Iterable[Data]) -> Iterator[str]:
    """The verdict first, then failed gates, failures, and the samples whose checks failed: at most ten of a level."""
    told: Counter[str] = Counter()
    for level, title, message in (*_of_head(head), *_of_samples(head, samples)):
        told[level] += 1
        if told[level] <= MOST:
            yield command(level, title, message)


def command(level: str, title: str, message: str) -> str:
    """One workflow command; nothing in the texts ends it, adds a property or starts another."""
    # Escaped by the rules of the runner: a property also ends at a comma or a colon.
    title = _escaped(folded(title, LONGEST_TITLE)).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={title}::{_escaped(folded(message, LONGEST))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _of_head(head: Data) -> Iterator[tuple[str, str, str]]:
    decision = head["decision"]
    sentences = [decision["headline"], *decision["reasons"], decision["sure"], f"Next: {decision['next_step']}"]
    yield _level(decision), f"Evenhand: {decision['verdict']}", " ".join(filter(None, sentences))
    for variant, gates in decision["gates"].items():
        for gate in gates if variant in _watched(head) else ():
            if not gate["passed"]:
                mean = "nothing was measured" if gate["mean"] is None else f"the mean is {figure(gate['mean'])}"
                yield "error", f"{variant}: gate {gate['gate']}", f"{mean}, the gate is {figure(gate['min'])}"
    for one in head["failures"]:
        yield "error", f"{one['variant']}: {failed_count(one)}", f"{one['why']} (first in sample {one['first']})"


def _level(decision: Data) -> str:
    if decision["exit_code"] == 0:
        return "notice"
    return "error" if decision["verdict"] in ("REGRESS", "SOLO") else "warning"


def _of_samples(head: Data, samples: Iterable[Data]) -> Iterator[tuple[str, str, str]]:
    watched = _watched(head)
    found = 0
    for sample in samples:
        for result in sample["results"]:
            checks = failed_checks(result) if result["variant"] in watched else []
            if checks:
                found += 1
                yield "warning", f"{result['variant']}: {sample['id']}", "; ".join(checks)
        if found >= MOST:
            return


def _watched(head: Data) -> set[str]:
    """The treatments, or the only variant: what the control always did is no news."""
    treatments = {variant["name"] for variant in head["variants"] if variant["role"] != "control"}
    return treatments or {variant["name"] for variant in head["variants"]}
