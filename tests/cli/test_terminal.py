"""The terminal and the streams: nothing is obeyed, nothing is cut, and whatever closes is survived."""

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.cli.screen import Screen, break_terminal_name, print_unbroken_table
from tests.builders import COUNCIL, SKILL
from tests.cli.command import evenhand
from tests.cli.test_score import CHECK, EXAMPLES, answers
from tests.warm.processes import command_line

# Python's own start and end have a part in what becomes of streams: they are there where a command is started anew.
ANEW = f"{sys.executable} -m evenhand"


def forked() -> str:
    """The command for a shell, in a process that is forked with the streams that Python would have."""
    return shlex.join(command_line("evenhand"))


def test_terminal_codes_in_an_id_are_shown_and_not_obeyed() -> None:
    """Untrusted text cannot recolour, move the cursor or reverse the reading order."""
    evil = "a\x1b[2J\x1b]0;owned\x07\u202ecod"

    done = evenhand("score", "-r", "council", "-", "--explain", stdin=answers({"id": evil, "scores": COUNCIL}))

    assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout)
    assert "a\\x1b[2J" in done.stdout


@pytest.mark.parametrize("number", ["nan", "inf"])
@pytest.mark.parametrize(
    "command",
    [
        "run eval.yaml --budget",
        "run eval.yaml --plan --for-width",
        "runs watch latest --every",
        "judge text.txt -r general --cascade --pass-on",
        "models --timeout",
        "serve --rpm",
    ],
)
def test_options_take_finite_numbers_only(command: str, number: str) -> None:
    """Neither compares with a limit as a number does: a budget of nan is none, and a pause of inf has no end."""
    done = evenhand(*command.split(), number)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f": {number} is not a finite number, such as 7.5.\n")


@pytest.mark.parametrize("columns", ["40", "80", "160"])
def test_no_line_is_wider_than_the_terminal(columns: str) -> None:
    """And none ends in spaces."""
    done = evenhand("score", "-r", "council", str(EXAMPLES / "reviews.json"), "--explain", COLUMNS=columns)

    assert max(map(len, done.stdout.splitlines())) <= int(columns)
    assert [line for line in done.stdout.splitlines() if line != line.rstrip()] == []


def test_colours_are_for_terminals_only(tmp_path: Path) -> None:
    """A file gets plain text."""
    (tmp_path / "r.json").write_text(CHECK)

    done = evenhand(
        "score", "-r", str(tmp_path / "r.json"), "-", stdin=answers({"id": "x", "scores": {"a": True, "b": True}})
    )

    assert "\x1b" not in done.stdout
    assert "pass" in done.stdout


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    """`evenhand … | head -1`."""
    many = answers(*({"id": f"o{n}", "scores": COUNCIL} for n in range(3000)))
    command = f"{ANEW} score -r council - --json | head -1"

    done = subprocess.run(["bash", "-c", command], input=many, capture_output=True, text=True, check=False)

    assert done.stdout == "{\n"
    assert done.stderr == ""


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_leaves_does_not_change_the_verdict(options: list[str]) -> None:
    """Under pipefail, `evenhand … | head -1` of a passing file must not fail a build."""
    many = answers(*({"id": f"o{n}", "scores": COUNCIL} for n in range(3000)))
    command = f"{forked()} score -r council - {' '.join(options)} | head -1; echo ${{PIPESTATUS[0]}}"

    done = subprocess.run(["bash", "-c", command], input=many, capture_output=True, text=True, check=False)

    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


@pytest.mark.parametrize("columns", ["0", "1", "²", "1000000000", "x"])
def test_any_width_is_survived(columns: str) -> None:
    """What stands in COLUMNS is not ours to trust."""
    done = evenhand("score", "-r", "council", str(EXAMPLES / "reviews.json"), COLUMNS=columns)

    assert done.returncode == 0
    assert "8.10" in done.stdout


@pytest.mark.parametrize(
    ("redirect", "code", "said"),
    [
        (">&-", 0, ""),
        ("> /dev/full", 2, "the output cannot be written: no space left on device"),
        ("--json > /dev/full", 2, "the output cannot be written: no space left on device"),
    ],
)
def test_streams_that_cannot_be_written(redirect: str, code: int, said: str) -> None:
    """A sentence and an exit code, never a traceback."""
    start = ANEW if "--json" in redirect else forked()
    command = f"{start} score -r council {EXAMPLES / 'reviews.json'} {redirect}"

    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr.strip()) == (code, said)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("rubric check {bad}", 2),
        ("rubric check {good} {bad}", 2),
        ("score -r nope x.json", 2),
        ("nonsense", 2),
        ("rubric list", 0),
        ("--version", 0),
    ],
)
@pytest.mark.parametrize("to", ["2>&1 | true", "2>/dev/full"])
def test_the_exit_code_does_not_depend_on_the_reader(arguments: str, code: int, to: str, tmp_path: Path) -> None:
    """Bad input is bad input, whether or not somebody reads about it."""
    (tmp_path / "good.yaml").write_text("criteria: [Cites a source]\n")
    (tmp_path / "bad.yaml").write_text("critera: []\n")
    given = arguments.format(good=tmp_path / "good.yaml", bad=tmp_path / "bad.yaml")
    start = ANEW if arguments in ("rubric check {bad}", "--version") else forked()

    done = subprocess.run(
        ["bash", "-c", f"(sleep 0.1; exec {start} {given}) {to}; echo ${{PIPESTATUS[0]}}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.stdout.splitlines()[-1] == str(code)


def test_a_line_break_in_a_rubrics_name_forges_no_line(tmp_path: Path) -> None:
    """Nor in an id."""
    file = tmp_path / "n\nfake.yaml"
    file.write_text("criteria: [Cites a source]\n")

    done = evenhand("rubric", "check", str(file))

    assert len(done.stdout.splitlines()) == 1


def test_an_unknown_gate_of_a_panel_is_named(tmp_path: Path) -> None:
    """Not only in the JSON."""
    (tmp_path / "r.yaml").write_text("method: council\ngates: [{criterion: clarity, min: 5}]\n")
    given = json.dumps({"reviews": [{"judge": name, "outputs": [{"id": "a", "holistic": 9}]} for name in "jk"]})

    done = evenhand("score", "-r", str(tmp_path / "r.yaml"), "-", stdin=given)

    assert "a: clarity missing (not asked)" in done.stdout


def test_a_closed_input_is_bad_input() -> None:
    """`evenhand score … - <&-`."""
    command = f"{forked()} score -r council - <&-"

    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == "standard input: it is closed (name a file, or pipe one in)\n"


def test_json_is_json_in_every_encoding() -> None:
    """And holds no character that a terminal obeys."""
    given = answers({"id": "😀\x9b\u202e", "scores": COUNCIL})

    plain = evenhand("score", "-r", "council", "-", "--json", stdin=given)
    latin = evenhand("score", "-r", "council", "-", "--json", stdin=given, PYTHONIOENCODING="latin-1")

    assert [json.loads(done.stdout)["scorecards"][0]["id"] for done in (plain, latin)] == ["😀\x9b\u202e"] * 2
    assert not {"\x9b", "\u202e"} & set(plain.stdout)


def test_a_line_break_in_a_name_forges_no_line() -> None:
    """Errors are one line each."""
    done = evenhand("score", "-r", "council", "a\nfake.json:1: all is well")

    assert done.stderr == "a\\nfake.json:1: all is well: cannot be read: no such file or directory\n"


def test_tables_break_between_words(tmp_path: Path) -> None:
    """At 90 columns with every column there is."""
    (tmp_path / "r.yaml").write_text(
        "method: judge-skill\ngates: [{criterion: safety, min: 5}]\n"
        "red_flags: [breaks-the-build, leaks-a-secret]\nbonuses: [adds-a-test]\n"
    )
    found = {"red_flags": ["breaks-the-build", "leaks-a-secret"], "bonuses": ["adds-a-test"]}
    given = answers({"id": "a", "scores": SKILL, **found}, {"id": "b", "scores": {**SKILL, "safety": 2}, **found})

    done = evenhand("score", "-r", str(tmp_path / "r.yaml"), "-", stdin=given, COLUMNS="90")

    words = done.stdout.split()
    assert {"verdict", "Satisfactory", "breaks-the-build,", "leaks-a-secret", "adds-a-test", "safety"} <= set(words)


def test_a_fault_of_ours_is_a_sentence_too(tmp_path: Path) -> None:
    """Exit 3, with the way to see more."""
    script = tmp_path / "broken.py"
    script.write_text(
        "import sys\nsys.argv[1:] = ['rubric', 'list']\nimport evenhand.cli.rubric as r\n"
        "r.list_rubrics = lambda: 1 / 0\nfrom evenhand.cli.entry import main\nmain()\n"
    )

    started = command_line("python", f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')")

    done = subprocess.run(started, capture_output=True, text=True, check=False)

    assert done.returncode == 3
    assert done.stderr == (
        "a fault of Evenhand itself, please report it: ZeroDivisionError: division by zero "
        "(EVENHAND_TRACEBACK=1 shows more)\n"
    )


@pytest.mark.parametrize("place", ["evenhand.cli.app.app", "evenhand.cli.app"])
def test_ctrl_c_while_a_class_is_built_is_ctrl_c(place: str) -> None:
    """Python 3.11 wraps it in a RuntimeError there; also while the command line itself is being imported."""
    program = f"""
import sys
from evenhand.cli import entry

class Interrupts:
    def __set_name__(self, owner, name):
        raise KeyboardInterrupt

def build(*_, **__):
    try:
        type("Built", (), {{"field": Interrupts()}})
    except KeyboardInterrupt as stopped:  # As newer versions do.
        raise RuntimeError("Error calling __set_name__") from stopped

class Finder:
    def find_spec(self, name, *_):
        if name == {place!r}:
            build()

sys.argv = ["evenhand", "rubric", "list"]
sys.meta_path.insert(0, Finder())
if {place!r} == "evenhand.cli.app.app":
    import evenhand.cli.app
    evenhand.cli.app.app = build
entry.main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.returncode in (130, -signal.SIGINT)
    assert "RuntimeError" not in done.stderr


def test_version_and_help() -> None:
    """Both ways in."""
    script = Path(sys.executable).parent / "evenhand"
    version = subprocess.run([str(script), "--version"], capture_output=True, text=True, check=True)

    assert version.stdout == evenhand("--version").stdout == "evenhand 0.1.0\n"
    assert "List, show, check, start and draft rubrics." in evenhand("--help").stdout


def test_an_error_is_broken_between_words_on_a_terminal_and_stays_one_line_in_a_file(tmp_path: Path) -> None:
    """A path is never cut; whoever searches a log finds the place and what is wrong in one line."""
    long = "a-folder-whose-name-alone-takes-more-room-than-there-is-on-a-line/of-eighty-columns/no.yaml"
    command = command_line("evenhand", "rubric", "check", long)
    written = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path).stderr
    master, terminal = pty.openpty()

    done = subprocess.run(
        command, stdout=terminal, stderr=terminal, check=False, cwd=tmp_path, env={**os.environ, "COLUMNS": "60"}
    )

    shown = os.read(master, 10_000).decode().replace("\r\n", "\n")
    assert done.returncode == 2
    assert written.count("\n") == 1
    assert shown.split() == written.split()
    assert [line for line in shown.splitlines() if len(line) > 60] == [f"{long}:"]


def test_the_name_of_a_column_is_broken_and_never_cut(capsys: pytest.CaptureFixture[str]) -> None:
    """Seven criteria beside each other at 80 columns: whoever joins the pieces has the names."""
    columns = {"sample": ["s1"], "composite": ["3.07"], **{id: ["9.00"] for id in SKILL}}

    Screen(width=80).table(columns, right=["composite", *SKILL])
    first, second, numbers = capsys.readouterr().out.splitlines()

    assert max(map(len, (first, second, numbers))) <= 80
    assert "…" not in first + second
    rests = second.split()
    whole = [f"{part[:-1]}{rests.pop(0)}" if part.endswith("-") else part for part in first.split()]
    assert whole == list(columns)


@pytest.mark.parametrize(
    ("name", "width", "lines"),
    [
        ("earlier mean", 7, ["earlier", "mean"]),
        ("tool-use-of-agents", 9, ["tool-use-", "of-agents"]),
        ("completeness", 8, ["complet-", "eness"]),
        ("完整性和正确性", 6, ["完整-", "性和-", "正确性"]),
        ("safety", 8, ["safety"]),
    ],
)
def test_where_a_name_is_broken(name: str, width: int, lines: list[str]) -> None:
    """Between words, behind a mark that joins them, else with a hyphen."""
    assert break_terminal_name(name, width) == lines


@pytest.mark.parametrize(("width", "is_table"), [(80, True), (50, False)])
def test_an_unbroken_table_becomes_sentences_before_a_word_is_broken(
    width: int, is_table: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """An id or the name of a column in two pieces can be neither searched nor copied."""
    id, print_ = "20261116-090000-000001", "0f4ab72d"
    columns = {"run": [id], "evaluations": ["4"], "fingerprint": [print_], "verdict": [""], "trend": ["+0.25"]}

    print_unbroken_table(Screen(width=width), columns, right=("evaluations", "trend"))
    shown = capsys.readouterr().out

    words = [*(name for name in columns if name != "run" or is_table), id, print_]
    assert max(map(len, shown.splitlines())) <= width
    assert [word for word in words if word != "verdict" and word not in shown] == []
    assert shown.startswith("run " if is_table else f"  {id}: evaluations 4")
