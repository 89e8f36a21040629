"""A store as a team has it: several runs of an eval, judges that differ, and texts that would break a page."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from evenhand import Eval, run_sync
from evenhand.models.requests import Reply, Request
from evenhand.store.store import Store
from evenhand.testing import scripted_judge
from evenhand.workflows.contest_listing import list_contests
from evenhand.workflows.run import RunOptions
from tests.cli.command import evenhand
from tests.docs.pages import ROOT

EXAMPLE_CONTEST = ROOT / "examples" / "contest"

QUESTIONS = {
    "parcel": "Where is my parcel? It should have been here on Monday.",
    "refund": "How long does a refund take, and where do I see it?",
    "address": "I moved. How do I change the address of an order?",
    "invoice": "I need an invoice with my company's name.",
    "password": "I forgot my password and no longer have the mail address.",
    "broken": "The lamp arrived broken. What now?",
    "gift": "Can you wrap it as a gift?",
    "bulk": "Is there a discount for 40 chairs?",
    "stock": "When will the blue kettle be back?",
    "cancel": "Cancel my order 4711, please.",
    "voucher": "My voucher is not accepted.",
    "return": "How do I send something back?",
}
OLD = "Thank you for contacting us. We are looking into it and will come back to you soon."
NEW = (
    "Sorry about that. Open Orders, choose the order and press “Report a problem”. "
    "You get a mail within a day that says what happens next about: {about}"
)
RUBRIC: dict[str, Any] = {
    "name": "help-desk-reply",
    "about": "For a reply to a customer.",
    "scale": {"min": 1, "max": 10},
    "criteria": [
        {
            "id": "resolution",
            "asks": "Is the customer's problem solved, or its next step taken?",
            "weight": 0.5,
            "anchors": {"9-10": "It is solved with this reply.", "5-6": "Part of it is solved.", "1-2": "Nothing."},
        },
        {"id": "steps", "asks": "Can this customer carry out what the reply asks of them?", "weight": 0.3},
        {"id": "tone", "asks": "Is the tone that of a person who cares?", "weight": 0.2},
    ],
}
HOSTILE = (
    '<script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'">"\'\u202eevil\u202c & more'
)
LONG_ID = HOSTILE + "x" * 200


@dataclass(frozen=True)
class SeenJudge:
    """A judge that goes by a checksum of what it reads: the same each time, and other judges differ a little."""

    name: str
    lean: int = 0

    async def ask(self, request: Request) -> Reply:
        """Scores for what is asked."""
        assert request.about is not None
        text = request.about.texts["output"]
        scores = {one.id: self._score(text, one.id) for _, one in request.about.asked}
        return await scripted_judge(scores, name=self.name).ask(request)

    def _score(self, text: str, criterion: str) -> int:
        base = 8 if "Orders" in text else 4
        return max(1, min(10, base + self.lean + crc32(f"{self.name}{criterion}{text}".encode()) % 4 - 1))


def build_help_desk(
    *, better: int = 12, lean: int = 0, name: str = "help-desk", rubric: Mapping[str, Any] = RUBRIC
) -> Eval:
    """An eval in which the new variant is better on so many of its samples."""
    samples = [
        {
            "id": id,
            "input": asked,
            "reference": "Names the page Orders.",
            "tags": ["orders" if number % 2 else "account"],
            "outputs": {"old": OLD, "new": NEW.format(about=asked) if number < better else OLD},
        }
        for number, (id, asked) in enumerate(QUESTIONS.items())
    ]
    return Eval(
        name=name,
        samples=samples,
        rubric=dict(rubric),
        judges=[SeenJudge("heron"), SeenJudge("kestrel", lean), SeenJudge("plover", -1)],
        assertions=[{"contains": "Orders"}],
    )


def build_hostile_eval() -> Eval:
    """An eval whose every text tries to act."""
    rubric = {
        "name": HOSTILE[:60],
        "criteria": [{"id": "resolution", "asks": f"Is it solved? {HOSTILE}", "weight": 1}],
        "scale": {"min": 1, "max": 10},
    }
    samples = [
        {
            "id": f"{HOSTILE}{'x' * 200}",
            "input": HOSTILE,
            "tags": [HOSTILE],
            "outputs": {"a": HOSTILE, "b": HOSTILE * 3},
        },
        {"id": "../../etc?x=1#y", "input": "\u202egnp.exe", "outputs": {"a": "plain", "b": "</textarea></script>"}},
    ]
    judges = [SeenJudge(f"judge {HOSTILE}")]
    return Eval(name=f"hostile {HOSTILE}", samples=samples, rubric=rubric, judges=judges, repeats=2)


@dataclass(frozen=True)
class StoredRuns:
    """Where they are: runs of one eval, the oldest first, one of an eval whose texts try to act, and a contest."""

    place: Path
    runs: tuple[str, ...]
    hostile: str
    contest: str


def fill_store(folder: Path, *, hostile: bool = True) -> StoredRuns:
    """Four runs of one eval, the last two with other questions, the hostile one, and a contest that is over."""
    place = folder / ".evenhand"
    options = RunOptions(place=place)
    reworded = {**RUBRIC, "criteria": [{**RUBRIC["criteria"][0], "asks": "Is it solved?"}, *RUBRIC["criteria"][1:]]}
    evals = [
        build_help_desk(better=2),
        build_help_desk(better=6),
        build_help_desk(better=8, rubric=reworded),
        build_help_desk(better=11, rubric=reworded),
    ]
    runs = tuple(run_sync(one, options=options).id for one in evals)
    foe = run_sync(build_hostile_eval(), options=options).id if hostile else ""
    shutil.copytree(EXAMPLE_CONTEST, folder, dirs_exist_ok=True)
    played = evenhand("contest", "run", "task.yaml", "submissions", folder=folder)
    assert played.returncode == 0, played.stderr
    with Store.open(place, {}) as store:
        contest = list_contests(store)[0].id
    return StoredRuns(place, runs, foe, contest)
