"""Contests that take submissions at any time, from the command line: against a service that runs, and in a store."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand import InputError
from evenhand.client import EvenhandClient
from evenhand.contest.read_task import load_task
from evenhand.errors import ServiceError
from evenhand.models.connections import Connections
from evenhand.store.store import Store
from evenhand.testing import FakeServer
from evenhand.workflows.contest_receiving import submit_to_contest
from evenhand.workflows.live_contest import create_live_contest
from evenhand.workflows.tokens import TokenRole, create_service_token
from tests.cli.contest_example import Done, contest, one_line
from tests.contest.answering import server
from tests.store.databases import free_port
from tests.warm.processes import started, wait_until

Json = dict[str, Any]
SECRET = {"EVENHAND_WEBHOOK_SECRET": "a long random text"}
PUBLIC = "https://9.9.9.9/hook"  # An address that is looked up nowhere; nothing is sent to it.
PEOPLE: dict[str, TokenRole] = {"ops": "operator", "ann": "submitter", "quillfeather": "submitter", "board": "reader"}
TEXTS = {"ann": "Secret of Ann, worth 75.", "quillfeather": "Heronsong, worth 81."}


@dataclass
class Place:
    """A service that runs over a store, tokens for whoever calls it, and files to hand in."""

    folder: Path
    address: str
    tokens: dict[str, str]
    ranked: str  # A contest whose deadline is over.

    def call(self, who: str, *arguments: str) -> Done:
        """A contest command against the service, with the token of somebody."""
        return contest(self.folder, *arguments, EVENHAND_SERVER=self.address, EVENHAND_TOKEN=self.tokens[who])

    def keep(self, *arguments: str, **environ: str) -> Done:
        """A contest command on the store of the same service."""
        return contest(self.folder, *arguments, "--store", "kept", **environ)

    def client(self, who: str) -> EvenhandClient:
        return EvenhandClient(self.address, self.tokens[who])

    def wait_for(self, id: str, who: str, *statuses: str) -> None:
        """Until the submissions of somebody stand so."""
        see = self.client(who)
        wait_until(lambda: [one["status"] for one in see.load_contest(id)["submissions"]] == [*statuses])


def write_task(file: Path, judge: FakeServer, **more: Any) -> None:
    ids = ("substantiveness", "credibility", "completeness", "sources")
    dimensions = [{"id": id, "asks": f"Is it good in {id}?", "weight": "25%", "fixed": id != "sources"} for id in ids]
    fields = {"description": "Write an essay.", "acceptance": ["It is useful."], "mode": "quality_first"}
    times = {"deadline": (datetime.now(UTC) + timedelta(days=9)).isoformat(), "challenge_period": "90 min"}
    task = {**fields, **times, "reward": "100 EUR", "judges": {judge.judge: 1}, "dimensions": dimensions, **more}
    file.write_text(yaml.safe_dump({name: value for name, value in task.items() if value is not None}), "utf-8")


def prepare_ranked(folder: Path, judge: FakeServer, other: FakeServer) -> str:
    """A contest that took two submissions hours ago; its deadline is over, and the service will find it."""
    deadline, began = (datetime.now(UTC) - timedelta(hours=hours) for hours in (1, 3))
    write_task(folder / "ranked.yaml", judge, deadline=deadline.isoformat(), challenge_judges=[other.judge])
    task, source = load_task(folder / "ranked.yaml", {})

    async def begin() -> str:
        async with Connections({}) as connections:
            return await create_live_contest(store, task, connections=connections, source=source)

    with Store.open(folder / "kept", {}, clock=lambda: began) as store:
        id = asyncio.run(begin())
        for author, text in TEXTS.items():
            submit_to_contest(store, id, author=author, text=text)
    return id


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder, port = tmp_path_factory.mktemp("live"), free_port()
    with server() as judge, server(more=1) as other:
        write_task(folder / "task.yaml", judge)
        write_task(folder / "first.yaml", judge, mode="fastest_first", deadline=None, challenge_period=None)
        for author, text in TEXTS.items():
            (folder / f"{author}.md").write_text(text, "utf-8")
        ranked = prepare_ranked(folder, judge, other)
        made = {name: create_service_token(folder / "kept", role=role, name=name) for name, role in PEOPLE.items()}
        with started(folder, "serve", "--store", "kept", "--port", str(port)) as process:
            address = f"http://127.0.0.1:{port}"
            found = Place(folder, address, {name: one.secret for name, one in made.items()}, ranked)
            wait_until(lambda: process.over() or _answers(found))
            assert not process.over(), process.said
            yield found


def _answers(place: Place) -> bool:
    try:
        place.client("board").list_rubrics()
    except ServiceError:
        return False
    return True


@pytest.fixture(scope="module")
def opened(place: Place) -> str:
    """A contest that was created and submitted to over the service, and is not ranked yet."""
    id = place.call("ops", "create", "task.yaml", "--again", "opened").stdout.strip()
    for author in TEXTS:
        assert place.call(author, "submit", id, f"{author}.md").returncode == 0
        place.wait_for(id, author, "gate_passed")
    return id


def test_a_submission_is_answered_by_its_receipt(place: Place) -> None:
    """Under the name that the token stands for; the id and the time are those that the contest has."""
    id = place.call("ops", "create", "task.yaml", "--again", "receipts").stdout.strip()
    receipt = json.loads(place.call("ann", "submit", id, "ann.md", "--json").stdout)
    said = place.keep("submit", id, "ann.md", "--author", "ann").stdout
    own = place.client("ann").load_contest(id)["submissions"]

    assert receipt == {"contest": id, "kind": "submission", "id": "ann", "author": "ann", "at": receipt["at"]}
    assert datetime.fromisoformat(receipt["at"]) <= datetime.now(UTC)
    assert re.fullmatch(r"received: submission ann-2 of ann, \d{4}-\d\d-\d\dT\S+\+00:00\n", said)
    assert [(one["id"], one["at"]) for one in own] == [("ann", receipt["at"]), ("ann-2", said.split()[-1])]


LOOKS = [
    ("ann", "show"), ("ann", "show", "--json"), ("ann", "show", "--for", "ann"), ("board", "show", "--json"),
    ("ann", "show", "--public", "--json"), ("ops", "show", "--for", "ann", "--json"), ("ops", "show", "--public"),
    ("ann", "list"), ("ann", "list", "--json"),
]  # fmt: skip


@pytest.mark.parametrize("look", LOOKS, ids=" ".join)
def test_nobody_sees_what_is_not_theirs_over_a_service(look: tuple[str, ...], place: Place, opened: str) -> None:
    """Before the ranking: no name, text or score of another, nor one's own score."""
    who, command, *options = look
    done = place.call(who, command, *([] if command == "list" else [opened]), *options)

    assert done.returncode == 0, done.stderr
    assert_nothing_of_others(done.stdout)
    assert ("gate_passed" in done.stdout) == (command == "show" and who != "board" and "--public" not in options)


@pytest.mark.parametrize(
    "options", [("--for", "ann"), ("--for", "ann", "--json"), ("--public",), ("--public", "--json")]
)
def test_nobody_sees_what_is_not_theirs_in_a_store(options: tuple[str, ...], place: Place, opened: str) -> None:
    """The same function answers: what is published from a store is what a service would have shown."""
    done = place.keep("show", opened, *options)
    served = place.call("ops", "show", opened, *options)

    assert_nothing_of_others(done.stdout)
    assert done.stdout == served.stdout


def assert_nothing_of_others(text: str) -> None:
    """Neither who and what, nor a score; ids and times may have the same digits."""
    told = re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.+]+|\d{8}-\d{6}-\w{6}", "", text).replace(TEXTS["ann"], "")
    assert [secret for secret in ("quillfeather", "Heronsong", "81", "75") if secret in told] == []


def test_an_operator_sees_their_own_store_whole(place: Place, opened: str) -> None:
    """Over the service too; that is not for others."""
    for done in (place.keep("show", opened, "--json"), place.call("ops", "show", opened, "--json")):
        assert {one["author"] for one in json.loads(done.stdout)["submissions"]} == set(TEXTS)


@pytest.mark.parametrize(
    ("who", "arguments", "said"),
    [
        ("ann", ["show", "ID", "--for", "quillfeather"], "a submitter sees nothing of other authors (leave out author)"),
        ("ann", ["submit", "ID", "ann.md", "--author", "ben"], "under their own name (leave out author, or say ann)"),
        ("board", ["submit", "ID", "ann.md"], "a reader may not do this (for operator or submitter)"),
        ("ann", ["create", "task.yaml"], "a submitter may not do this (for operator)"),
        ("ops", ["submit", "ID", "ann.md"], "whose is it? (an operator names the author, as in --author heron)"),
        ("ops", ["show", "nope"], "no contest 'nope'"),
        ("ops", ["create", "task.yaml", "--again", "opened"], "has begun: ID (--again NAME, over HTTP again, begins another one"),
        ("ops", ["create", "task.yaml", "--payment-hook", PUBLIC], "there is no secret (set EVENHAND_WEBHOOK_SECRET"),
        ("ops", ["create", "task.yaml", "--payment-hook", "http://a"], "'http://a' is not encrypted (use https)"),
        ("ops", ["create", "task.yaml", "--allow-private-hooks"], "(evenhand serve --allow-private-hooks)"),
        ("ann", ["submit", "ID", "ann.md", "--notify", PUBLIC], "there is no secret (set EVENHAND_WEBHOOK_SECRET"),
        ("ann", ["challenge", "ID", "--reason", "mine is better"], "there is no ranking to challenge: the contest is open"),
        ("ann", ["challenge", "ID"], "a challenge has one reason (--reason TEXT or --reason-file FILE)"),
        ("ann", ["watch", "ID", "--for", "ann", "--public"], "whose eyes? (leave out --for or --public)"),
        ("ann", ["show", "ID", "--store", "kept", "--server", "http://a"], "(leave out --store or --server)"),
        ("ann", ["show", "ID", "--server", "here"], "'here': is not the address of a service (as in http://127.0.0.1:8321)"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_would_work(who: str, arguments: list[str], said: str, place: Place, opened: str) -> None:
    """In the words of the service, on one line, with the exit code of bad input."""
    done = place.call(who, *(opened if one == "ID" else one for one in arguments))

    assert (done.returncode, done.stdout) == (2, "")
    assert said.replace("ID", opened) in done.stderr and len(done.stderr.splitlines()) == 1


def test_without_a_good_token_one_is_asked_for(place: Place) -> None:
    """The variable is named; a wrong token is not shown."""
    none = contest(place.folder, "list", "--server", place.address)
    wrong = contest(place.folder, "list", "--server", place.address, EVENHAND_TOKEN="evh_0_wrong")

    assert none.stderr == f"{place.address}: a token is needed (set EVENHAND_TOKEN to one of this service)\n"
    assert "is not known here, has expired, or was revoked (ask the operator" in wrong.stderr
    assert "wrong" not in wrong.stderr


def test_the_client_judges_and_scores(place: Place) -> None:
    """Every route of the service that the command line does not need."""
    client = place.client("ops")
    scored = client.score_answers("council", [{"id": "a", "scores": {"accuracy": 3}}])
    judged = client.judge_outputs({"criteria": ["Is it at most 20 words long?"]}, {"a": "Short."}, judges=["embedded"])

    assert "council" in [one["name"] for one in client.list_rubrics()["rubrics"]]
    assert scored["scorecards"][0]["score"] is None
    assert judged["scorecards"][0]["verdict"] == "pass"
    assert [one["id"] for one in client.list_contests()].count(place.ranked) == 1
    with pytest.raises(ServiceError, match=r"rubric: no rubric 'coucil' ships \(did you mean 'council'"):
        client.score_answers("coucil", [])


def test_a_watch_ends_with_its_contest(place: Place) -> None:
    """It follows a contest that is played elsewhere, line by line, and a submitter's sees only what is theirs."""
    id = place.call("ops", "create", "first.yaml").stdout.strip()
    environ = {"EVENHAND_SERVER": place.address, "COLUMNS": "80"}
    whose = [{**environ, "EVENHAND_TOKEN": place.tokens[who]} for who in ("ops", "ann")]
    told = ("contest", "watch", id, "--every", "0.2")
    with (
        started(place.folder, *told, environ=whose[0]) as operator,
        started(place.folder, *told, "--json", environ=whose[1]) as author,
    ):
        wait_until(lambda: "created" in operator.printed and "open" in author.printed)
        place.call("ann", "submit", id, "ann.md")
        whole, own = operator.done(), author.done()
    kinds = [line.split()[2] for line in whole.out.splitlines()]
    seen = [json.loads(line) for line in own.out.splitlines()]

    assert (whole.code, own.code) == (0, 0)
    assert kinds == ["created", "state", "submitted", "gate_checked", "scored", "released", "state"]
    assert whole.out.splitlines()[-1].endswith("state             closed · ann won")
    assert {tuple(one) for one in seen} == {("at", "event", "submission", "author", "status", "state", "winner")}
    assert (seen[0]["event"], seen[-1]["state"], seen[-1]["winner"]) == ("state", "closed", "ann")
    assert [one["status"] for one in seen if one["event"] == "submission"][-1] == "won"
    assert max(map(len, whole.out.splitlines())) <= 80


def test_a_watch_is_stopped_by_ctrl_c(place: Place, opened: str) -> None:
    """With the exit code of every command that is."""
    with started(place.folder, "contest", "watch", opened, "--store", "kept", "--public") as watch:
        wait_until(lambda: "open" in watch.printed)
        watch.signal(signal.SIGINT)
        done = watch.done()

    assert done.code == 130
    assert_nothing_of_others(done.out)


def test_a_ranking_is_challenged(place: Place) -> None:
    """Once, by an author, with the reason in a file; then judges who did not judge before have looked at it."""
    (place.folder / "why.txt").write_text("Mine names its sources.", "utf-8")
    wait_until(lambda: place.client("ann").load_contest(place.ranked)["ranking"])
    shown = place.call("ann", "show", place.ranked)
    done = place.call("ann", "challenge", place.ranked, "--reason-file", "why.txt")
    again = place.call("quillfeather", "challenge", place.ranked, "--reason", "no")
    log = place.client("ops").load_contest_log
    wait_until(lambda: "resolved" in [one["event"] for one in log(place.ranked)["events"]])
    late = place.call("quillfeather", "challenge", place.ranked, "--reason", "no")
    reviewed = place.call("quillfeather", "show", place.ranked)
    public = place.client("quillfeather").load_contest(place.ranked)["events"]

    assert re.search(r"1  quillfeather  quillfeather  +81.00  \w+\n +2  ann  +ann  +75.00  scored\n", shown.stdout)
    assert "Heronsong" not in shown.stdout and "can be challenged until 20" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert re.fullmatch(r"received: challenge of ann, \S+\n", done.stdout)
    assert "reviewed, and final; the challenge period ends at 20" in reviewed.stdout
    assert "can be challenged" not in reviewed.stdout
    assert [(one["kind"], one["by"]) for one in public][-2:] == [("challenged", "ann"), ("resolved", None)]
    assert "sources" not in str(public)
    for refused in (again, late):
        assert "the ranking was challenged by ann before (one review of a ranking is final)" in refused.stderr


def test_a_store_that_nobody_serves_says_so(tmp_path: Path) -> None:
    """Created, submitted, shown and watched: each names the command that would play the contest."""
    with server() as judge:
        write_task(tmp_path / "task.yaml", judge)
    (tmp_path / "a.md").write_text("---\nauthor: ann\n---\nworth 75", "utf-8")
    created = contest(tmp_path, "create", "task.yaml", "--store", "here")
    submitted = contest(tmp_path, "submit", "latest", "a.md", "--store", "here")
    with Store.open(tmp_path / "here", {}) as store:
        store.contests.settle_wake(created.stdout.strip(), datetime.now(UTC) - timedelta(minutes=1), seen=1)
    shown = contest(tmp_path, "show", "latest", "--store", "here", "--for", "ann")
    nobody = contest(tmp_path, "submit", "latest", "a.md")

    for done in (created, submitted):
        assert "evenhand serve --store here plays the contests of this store" in done.stderr
    assert "ann         received" in shown.stdout and "worth" not in shown.stdout
    assert "no process is running this contest: start evenhand serve --store here" in shown.stderr
    assert "no contests yet" in nobody.stderr


def test_in_a_store_the_author_is_named(place: Place, opened: str) -> None:
    """Whoever writes a store is its operator, and may hand in for anybody."""
    done = place.keep("submit", opened, "ann.md", EVENHAND_SERVER="http://127.0.0.1:1")  # The option counts.
    listed = place.keep("list", "--name", "task")

    assert (done.returncode, done.stderr) == (2, "whose is it? (--author NAME; a service knows it from the token)\n")
    assert opened in listed.stdout and "task (again: opened)" in listed.stdout


@pytest.fixture
def told(tmp_path: Path) -> Path:
    """A folder with a contest whose operator is to be told of everything, and one message that was given up."""
    with server() as judge:
        write_task(tmp_path / "task.yaml", judge)
        for name in ("one", "two"):
            done = contest(tmp_path, "create", "task.yaml", "--operator-hook", PUBLIC, "--again", name, **SECRET)
            assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / ".evenhand", {}) as store:
        store.outbox.bury_message(f"{done.stdout.strip()}-0-0", "answered 500")
    return tmp_path


def test_messages_that_were_given_up_are_listed_and_sent_again(told: Path) -> None:
    """With why they were not heard; all of those that are named, or none."""
    listed = contest(told, "messages", "--state", "dead")
    [dead] = json.loads(contest(told, "messages", "latest", "--json").stdout)
    every = json.loads(contest(told, "messages", "--json").stdout)
    unknown = contest(told, "messages", "--replay", dead["id"], "nope")
    still = json.loads(contest(told, "messages", "--state", "dead", "--json").stdout)
    replayed = contest(told, "messages", "--replay", dead["id"])
    [after] = json.loads(contest(told, "messages", "latest", "--json").stdout)

    assert one_line(listed.stdout) == f"{dead['id']} state given up, 1 try to {PUBLIC} last try: answered 500"
    assert (dead["state"], dead["body"]["event"], len(every)) == ("dead", "created", 2)
    assert "no message 'nope' in the outbox (evenhand contest messages lists them)" in unknown.stderr
    assert [one["id"] for one in still] == [dead["id"]]
    assert replayed.stdout == f"message {dead['id']} is sent again\n"
    assert (after["state"], after["attempts"]) == ("pending", 0)
    assert contest(told, "messages", "--replay").returncode == 2


def test_a_damaged_message_is_listed_as_damaged_and_can_be_sent_again(told: Path) -> None:
    """Sent again it is due now, so that a time that is none stops it no longer."""
    [dead] = json.loads(contest(told, "messages", "--state", "dead", "--json").stdout)
    with closing(sqlite3.connect(told / ".evenhand" / "store.sqlite")) as database:
        database.execute("UPDATE outbox SET state = 'pending', due = 'zzzz' WHERE id = ?", (dead["id"],))
        database.commit()

    listed = contest(told, "messages", "latest")
    [marked] = json.loads(contest(told, "messages", "latest", "--json").stdout)
    contest(told, "messages", "--replay", dead["id"])
    [after] = json.loads(contest(told, "messages", "latest", "--json").stdout)

    why = "what is kept of the message was changed: due is not what it was"
    assert one_line(listed.stdout) == f"{dead['id']} state damaged (pending) {why} last try: answered 500"
    assert (marked["damaged"], marked["body"]) == (why, dead["body"])
    assert (after["state"], "damaged" in after) == ("pending", False)


def test_nobody_is_promised_a_message_that_cannot_be_signed(told: Path) -> None:
    """It is refused before anything is kept, and the secret of an address is derived for whoever receives there."""
    with pytest.raises(InputError, match="EVENHAND_WEBHOOK_SECRET"):
        asyncio.run(_create_with_hook(told))
    refused = contest(told, "create", "task.yaml", "--payment-hook", PUBLIC)
    secret = contest(told, "hook-secret", PUBLIC, **SECRET)
    (told / "fresh").mkdir()
    contest(told / "fresh", "create", "../task.yaml", "--payment-hook", PUBLIC)
    none = contest(told, "hook-secret", PUBLIC)
    wrong = contest(told, "hook-secret", "nowhere", **SECRET)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == none.stderr
    assert list((told / "fresh").iterdir()) == []
    assert re.fullmatch(r"whsec_[\w+/]{43}=\n", secret.stdout)
    assert "is no address to tell anything (as in https://example.org/hook)" in wrong.stderr
    assert len(json.loads(contest(told, "list", "--json").stdout)) == 2


async def _create_with_hook(folder: Path) -> str:
    from evenhand.workflows.contest_files import NewContestFile, create_contest_from_file

    new = NewContestFile(task=folder / "task.yaml", payment_hook=PUBLIC, again="three")
    return await create_contest_from_file(new, store=folder / ".evenhand")
