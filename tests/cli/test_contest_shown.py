"""What of a contest is masked: personal data in texts, never the names by which somebody is told from others and paid."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli.contest_tables import (
    format_printed_contest_status,
    mask_contest_to_print,
    mask_printed_data,
    print_contest,
)
from evenhand.cli.contest_view_tables import list_printed_score_lines
from tests.cli.contest_example import REPLAY, change, contest, copied, one_line, only

ANN = "heron@example.com"
JO = "jo.doe@example.com"
IBAN = "DE89 3704 0044 0532 0130 00"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """The example, in which kestrel is called by an address, challenged by another, and paid to an account."""
    folder = copied(tmp_path_factory.mktemp("named"))
    change(folder / "task.yaml", "invoice 2026-118", IBAN)
    change(folder / "challenges.jsonl", '"heron"', json.dumps(JO))
    for name in ("heron", "heron-2"):
        change(folder / "submissions" / f"{name}.md", "author: heron", f"author: {JO}")
    kestrel = folder / "submissions" / "kestrel.md"
    change(kestrel, "author: kestrel", f"author: {ANN}\nid: {ANN}")
    index = folder / "submissions.index.jsonl"
    change(index, '"author": "heron"', f'"author": "{JO}"')
    change(index, '"author": "kestrel"', f'"author": "{ANN}", "id": "{ANN}"')
    told = ("--challenges", "challenges.jsonl", *REPLAY, "--json")
    data: Json = json.loads(contest(folder, "run", "task.yaml", "submissions", *told).stdout)
    return data


def test_ids_authors_and_the_reward_are_never_masked(record: Json, capsys: pytest.CaptureFixture[str]) -> None:
    """Who cannot be read cannot be paid: submissions, events, effects and the sentences name them."""
    paid = next(one for one in record["effects"] if one["effect"] == "release_payment")

    print_contest(record)

    said = one_line(capsys.readouterr().out)
    assert (record["winner"], record["decision"]["winner"]) == (ANN, ANN)
    assert (paid["submission"], paid["author"], paid["reward"]) == (ANN, ANN, IBAN)
    assert record["events"][0]["task"]["reward"] == IBAN
    assert {ANN, JO} < {one["author"] for one in record["submissions"]}
    assert [one["by"] for one in record["events"] if one["event"] == "challenged"] == [JO]
    assert all(ANN in ids for one in record["events"] if one["event"] == "ranked" for ids in one["shown"].values())
    assert f"{ANN} won." in said
    assert f"why: {ANN} came first of 3 compared side by side" in said
    assert f"{JO} challenged it" in said
    assert f" to {ANN}: {IBAN}" in said


def test_the_same_address_in_a_text_is_masked(record: Json, capsys: pytest.CaptureFixture[str]) -> None:
    """A text may tell what its author's name does not: whose address it is."""
    changed = json.loads(json.dumps(record))
    mine = next(one for one in changed["submissions"] if one["id"] == ANN)
    for one in changed["events"]:
        if one["event"] == "submitted" and one["submission"]["id"] == ANN:
            one["submission"]["text"] += f" Write to {ANN}."
    magpie = next(one for one in changed["submissions"] if one["status"] == "policy_violation")
    magpie["why"] = f"it tells the judge what to answer: “I am {ANN}”"
    magpie["feedback"][0]["policy_violations"][0]["text"] = f"I am {ANN}"
    hint = next(one for one in changed["submissions"] if one["status"] == "gate_failed")["feedback"][0]
    hint["criteria_checks"][2]["revision_hint"] = f"Ask {ANN}"
    mine["feedback"][0]["dimension_scores"]["credibility"] |= {"evidence": f"x {ANN}", "feedback": f"y {ANN}"}

    data = json.dumps(mask_contest_to_print(changed))
    print_contest(changed)

    said = one_line(capsys.readouterr().out)
    for quoted in (f"Write to {ANN}", f"I am {ANN}", f"Ask {ANN}", f"x {ANN}", f"y {ANN}"):
        assert quoted not in data
        assert quoted not in said
    assert "“I am " in said


def test_what_was_refused_is_named(record: Json) -> None:
    """In the list and in the reason."""
    refused = {"id": ANN, "author": JO, "at": "2026-11-10T00:00:00Z", "why": f"{ANN} was there before {JO}."}

    data = mask_contest_to_print(
        {**record, "refused": [refused], "stopped": f"nobody could be asked about {ANN}: away"}
    )

    assert data["refused"] == [refused]
    assert data["stopped"] == f"nobody could be asked about {ANN}: away"


def test_a_name_inside_something_longer_is_masked_with_it() -> None:
    """Else an author called by a part of an address would uncover the whole."""
    sentence = f"jo{ANN} and {ANN}.au and x.{ANN} are others than {ANN}."

    data = mask_printed_data({"why": sentence}, texts=[], names=[ANN])

    assert data["why"].endswith(f" are others than {ANN}.")
    assert data["why"].count("@example.com") == 1


def test_personal_data_is_masked_wherever_it_is_shown(tmp_path: Path) -> None:
    """In the JSON, on the terminal and in the report; the judge has to read what was written."""
    folder = copied(tmp_path)
    only(folder, "magpie")
    change(folder / "submissions" / "magpie.md", "Note to the judge:", f"Note to the judge from {JO}:")

    done = contest(folder, "run", "task.yaml", "submissions", *REPLAY, "--json")
    shown = contest(folder, "show", "latest").stdout + contest(folder, "show", "latest", "--json").stdout
    checked = [contest(folder, "check", "task.yaml", "submissions/magpie.md", *more) for more in ((), ("--json",))]
    contest(folder, "report", "latest", "-o", "report.html")
    contest(folder, "report", "latest", "-o", "report.json")

    assert json.loads(done.stdout)["submissions"][0]["status"] == "policy_violation"
    written = [(folder / name).read_text("utf-8") for name in ("report.html", "report.json")]
    texts = (done.stdout, shown, *(one.stdout for one in checked), *written)
    assert [text for text in texts if JO in text] == []


def test_a_check_names_whom_it_is_about(tmp_path: Path) -> None:
    """On the terminal and for programs."""
    folder = copied(tmp_path)
    change(folder / "submissions" / "heron.md", "author: heron", f"author: {JO}\nid: {ANN}")

    said = contest(folder, "check", "task.yaml", "submissions/heron.md", *REPLAY)
    data = json.loads(contest(folder, "check", "task.yaml", "submissions/heron.md", *REPLAY, "--json").stdout)

    assert f"{ANN} by {JO}" in said.stdout
    assert (data["id"], data["author"]) == (ANN, JO)


@pytest.mark.parametrize(
    ("status", "state", "shown"),
    [("won", "challenge_period", "leading"), ("won", "closed", "won"), ("scored", "challenge_period", "scored")],
)
def test_nobody_has_won_before_the_contest_is_closed(status: str, state: str, shown: str) -> None:
    """The sentence above the table says that the challenge period is not over."""
    assert format_printed_contest_status(status, state) == shown


def test_an_author_sees_what_each_dimension_was_given() -> None:
    """Band, score, what was said, the evidence and the penalty: on the terminal too, not only as JSON."""
    scored = {"band": "D", "score": 40, "evidence": "one source", "feedback": "Name sources."}
    feedback = {
        "type": "individual_scoring",
        "dimension_scores": {"credibility": scored},
        "penalty": 0.6667,
        "penalty_reasons": ["credibility is under 60 (40)"],
    }

    lines = [text for text, _ in list_printed_score_lines([{"id": "s1", "feedback": [feedback]}])]

    assert lines == [
        "s1, alone: credibility D 40.00 · Name sources. · “one source”",
        "s1: penalty × 0.6667: credibility is under 60 (40)",
    ]
