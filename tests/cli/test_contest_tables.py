"""Tables of contests where names are long: what can be spared gives way, ids are never broken."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from evenhand.cli.contest_tables import print_contest, print_contest_ranking, print_submission_check
from evenhand.cli.screen import Screen, shorten_distinct_names, shorten_terminal_name
from tests.cli.contest_example import REPLAY, change, contest, copied
from tests.contest.building import Contest, dimensions
from tests.report import contests

LONG = "a-name-with-thirty-characters-"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copied(tmp_path_factory.mktemp("long"))
    contest(folder, "run", "task.yaml", "submissions", *REPLAY)
    return folder


def table(folder: Path, capsys: pytest.CaptureFixture[str], **changed: str) -> list[str]:
    """The lines from the ranking on, with other words in the row of swift."""
    record: Json = json.loads(contest(folder, "show", "latest", "--json").stdout)
    next(one for one in record["submissions"] if one["id"] == "swift").update(changed)
    print_contest(record)
    lines = capsys.readouterr().out.splitlines()
    start = next(place for place, line in enumerate(lines) if "rank" in line.split() or line.startswith("  1,"))
    return lines[start : lines.index("", start)]


def test_the_author_is_left_out_first(
    played: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An author of 24 characters is too much for 80 columns, and one id is not."""
    monkeypatch.setenv("COLUMNS", "80")

    lines = table(played, capsys, author=LONG[:24])

    assert lines[0].split() == ["rank", "submission", "score", "alone", "status", "flags"]
    assert ["–", "swift", "21.44", "E", "21.44", "below_threshold", "substantiveness,"] in [
        one.split() for one in lines
    ]


def test_then_statuses_are_wrapped(
    played: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an id of 30 characters it is still a table."""
    monkeypatch.setenv("COLUMNS", "80")

    lines = table(played, capsys, id=LONG)

    assert lines[0].split() == ["rank", "submission", "score", "alone", "status", "flags"]
    assert ["–", LONG, "21.44", "E", "21.44", "below", "substantiveness"] in [line.split() for line in lines]
    assert ["threshold", "completeness"] in [line.split() for line in lines]
    assert max(map(len, lines)) <= 80


def test_at_last_it_is_a_sentence_for_each_with_its_author(
    played: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An id of 40 characters leaves no room for a table."""
    monkeypatch.setenv("COLUMNS", "80")

    lines = table(played, capsys, id=LONG + LONG[:10])

    assert lines[0] == "  1, kestrel, kestrel: score 89.85 · alone B 89.10 · status won"


@pytest.mark.parametrize(
    ("name", "columns", "shown"),
    [("returns-answer", "80", "returns-answer"), (LONG, "80", "a-name-wi…aracters-"), (LONG, "120", LONG)],
)
def test_in_the_list_the_task_gives_way_and_never_the_id(tmp_path: Path, name: str, columns: str, shown: str) -> None:
    """The id is what every other command wants."""
    folder = copied(tmp_path)
    change(folder / "task.yaml", "name: returns-answer", f"name: {name}")
    contest(folder, "run", "task.yaml", "submissions", *REPLAY)
    (kept,) = json.loads(contest(folder, "list", "--json").stdout)

    done = contest(folder, "list", COLUMNS=columns)

    head, row = (line.split() for line in done.stdout.splitlines())
    day, time = kept["started"][:16].split("T")
    assert head == ["contest", "task", "state", "winner", "started"]
    assert row == [kept["id"], shown, "finished", "kestrel", day, time]


def test_where_nothing_can_give_way_the_list_is_sentences(played: Path) -> None:
    """Its names are then whole."""
    done = contest(played, "list", COLUMNS="50")

    (kept,) = json.loads(contest(played, "list", "--json").stdout)
    assert " ".join(done.stdout.split()).startswith(f"{kept['id']}: task returns-answer · state finished")


@given(name=st.text(min_size=1), width=st.integers(min_value=3, max_value=40))
def test_a_shortened_name_fits_and_keeps_both_ends(name: str, width: int) -> None:
    """Wide characters count as two."""
    short = shorten_terminal_name(name, width)

    assert cell_len(short) <= max(width, 1)
    start, mark, end = short.partition("…")
    assert short == name or (mark and name.startswith(start) and name.endswith(end))


def test_shortened_names_that_would_look_alike_stay_whole() -> None:
    """Two judges that differ in the middle only must not become one."""
    first, second = "openai/" + "x" * 20 + "1" + "y" * 20, "openai/" + "x" * 20 + "2" + "y" * 20

    assert shorten_distinct_names([first, second, "embedded"]) == {
        first: first,
        second: second,
        "embedded": "embedded",
    }
    assert cell_len(shorten_distinct_names([first])[first]) == 28


def test_a_total_just_below_what_wins_is_not_shown_as_what_wins(capsys: pytest.CaptureFixture[str]) -> None:
    """0.25 · 60 + 0.2 · 55 + 0.25 · 63 + 0.3 · 79 = 65.45, times 55/60 is 59.9958."""
    terms = dimensions("0.25", "0.2", "0.25", "0.3")
    entered = Contest("fastest_first", dimensions=terms).enters("a", 1, (60, 55, 63, 79))
    more = {"criteria_checks": [], "guards": [], "dimensions": entered.record["dimensions"], "spent": None}

    print_submission_check(entered.state.required_task, {**entered.published("a"), **more})
    print_contest_ranking(Screen(), entered.record)

    text = capsys.readouterr().out
    assert "The acceptance criterion is met, but 59.9958 is below the 60 that win." in text
    assert "weighted sum 65.45 × penalty 0.9167 = 59.9958: credibility is under 60 (55)" in text
    assert text.splitlines()[-1].split() == ["–", "a", "59.9958", "C", "scored", "credibility"]
    assert "60.00" not in text


SPENT = {"requests": 15, "replayed": 0, "input_tokens": 18968, "output_tokens": 100, "cost": 0.5}
NOTHING_SPENT = {"requests": 0, "replayed": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0.0}
ALL_TOLD = "15 requests · 18,968 tokens in, 100 out · $0.5000"


@pytest.mark.parametrize(
    ("door", "lines"),
    [
        ({"spent": SPENT}, [f"in all: {ALL_TOLD}"]),
        ({"spent": SPENT, "spent_now": SPENT}, [ALL_TOLD]),
        ({"spent": SPENT, "spent_now": NOTHING_SPENT}, ["now: no model was asked", f"in all: {ALL_TOLD}"]),
        ({"spent": None}, []),
    ],
)
def test_what_was_spent_now_and_in_all_are_two_things(
    door: dict[str, Any], lines: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later call of a contest that is over asks nobody, and must not look like a bill."""
    monkeypatch.setenv("COLUMNS", "160")

    print_contest({**contests.quality(), "set_aside": [], **door})

    told = capsys.readouterr().out.splitlines()
    assert [line for line in told if "requests" in line or "no model" in line] == lines


def test_a_finished_contest_that_is_called_again_says_that_nobody_was_asked(played: Path) -> None:
    """As data too; what is shown of it later was told when it was spent."""
    again = json.loads(contest(played, "run", "task.yaml", "submissions", *REPLAY, "--json").stdout)
    shown = json.loads(contest(played, "show", "latest", "--json").stdout)

    assert again["spent"] == shown["spent"]
    assert again["spent"]["replayed"] > again["spent_now"]["replayed"] == 0
    assert "spent_now" not in shown
