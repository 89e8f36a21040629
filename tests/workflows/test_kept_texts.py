"""What `keep` promises: with masked no personal data, with none no text, in the store or in anything made from it."""

import gzip
import json
import re
import signal
import sqlite3
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
import yaml
from pyarrow import parquet  # type: ignore[import-untyped]

from evenhand.guards.personal_data import build_personal_text_mask, mask_personal_result
from evenhand.store.store import Store
from evenhand.testing import FakeServer, FakeServerJson
from tests.cli.command import evenhand
from tests.warm.processes import run, started, wait_until

PERSONAL = {
    "email": "ana.lopez@mail.example.org",
    "card": "4111 1111 1111 1111",
    "iban": "DE89 3704 0044 0532 0130 00",
    "ssn": "219-40-1234",
    "phone": "+49 30 901820 55",
}
ALL = ", ".join(PERSONAL.values())
# Words that stand in one kind of text alone, so that whatever is kept of it is found.
WORDS = {"output": "Quagmire", "made": "Zephyrine", "reason": "Obnubilate", "input": "Whiffletree"}
WORDS |= {"reference": "Tatterdemalion", "context": "Absquatulate", "flag": "Gongoozler", "error": "Xertz"}
WORDS["trace"] = "Borborygm"
JUDGE = f"""
import json
CALLS = open({{calls!r}}, "a")
def judge(request):
    CALLS.write("asked\\n"); CALLS.flush()
    text = dict(request.about.texts)["output"]
    score = 6 if "second" in text else 7
    one = {{{{"evidence": [text.split(". The")[0]], "reason": "{WORDS["reason"]} {ALL}", "score": score}}}}
    flag = {{{{"evidence": [text.split(". The")[0]], "reason": "{WORDS["flag"]} {ALL}", "score": "second" in text}}}}
    return json.dumps({{{{"criteria": {{{{"clear": one}}}}, "red_flags": {{{{"leak": flag}}}}}}}})
"""
PROGRAM = f"""
import json, sys
told = json.load(sys.stdin)
if told["id"] == "s3":
    sys.exit("{WORDS["error"]} {ALL}")
print("{WORDS["made"]} {ALL}. The second answer.")
"""


def write_eval(folder: Path, keep: str, *, samples_that_fail: int = 1) -> None:
    (folder / "theirs.py").write_text(JUDGE.format(calls=str(folder / "calls.txt")))
    (folder / "bot.py").write_text(PROGRAM)
    trace = [{"name": "look_up", "input": {"who": ALL}, "output": f"{WORDS['trace']} {PERSONAL['email']}"}]
    samples = [
        {
            "id": f"s{number}",
            "input": f"{WORDS['input']} {ALL}",
            "reference": f"{WORDS['reference']} {ALL}",
            "context": f"{WORDS['context']} {ALL}",
            "metadata": {"card": 4111111111111111, PERSONAL["email"]: "who"},
            "assertions": [{"contains": "nothing of the kind"}],
            "outputs": {"x": {"text": f"{WORDS['output']} {ALL}. The first answer.", "trace": trace}},
        }
        for number in range(1, 3 + samples_that_fail)
    ]
    (folder / "s.jsonl").write_text("\n".join(map(json.dumps, samples)))
    rubric = {
        "method": "judge-skill",
        "criteria": [{"id": "clear", "asks": "Is it clear?"}],
        "red_flags": [{"id": "leak", "asks": "Does it leak?"}],
    }
    whole = {
        "name": "kept",
        "keep": keep,
        "samples": "s.jsonl",
        "variants": {"x": {}, "y": {"command": [sys.executable, "bot.py"]}},
        "rubric": rubric,
        "judges": ["python:theirs:judge"],
        "guards": {"personal": "off"},
        "assertions": [{"not": True, "regex": "[A-Z]{2}[0-9]{2}( [0-9]{4})+"}],
    }
    (folder / "eval.yaml").write_text(yaml.safe_dump(whole))
    (folder / "other.yaml").write_text(yaml.safe_dump({**rubric, "red_flags": []}))
    labels = [
        {"sample": f"s{n}", "variant": "x", "criterion": "clear", "rater": "r", "score": 6 + n % 2} for n in (1, 2)
    ]
    (folder / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))


COMMANDS = {
    "run": ("run", "eval.yaml", "--full"),
    "resume": ("run", "eval.yaml", "--resume", "--json"),
    "calibrate": ("calibrate", "labels.jsonl", "latest"),
    "rescore": ("runs", "rescore", "latest", "-r", "other.yaml", "--full"),
    **{name: ("report", "latest", f"--{name}", "-o", f"report.{name}") for name in ("html", "markdown", "junit")},
    **{name: ("report", "latest", f"--{name}", "-o", f"report.{name}") for name in ("json", "csv", "parquet")},
    "show": ("runs", "show", "latest", "--json"),
    "compare": ("compare", "latest", "--json"),
    "audit": ("audit", "latest", "--json"),
    "export": ("runs", "export", "latest", "-o", "run.jsonl.gz"),
}
GIVEN = ("theirs.py", "bot.py", "s.jsonl", "eval.yaml", "other.yaml", "labels.jsonl", "calls.txt")


def read_all(folder: Path) -> str:
    """Everything that was written, packed or not."""
    texts = []
    for path in (one for one in folder.rglob("*") if one.is_file() and one.name not in GIVEN and one.suffix != ".pyc"):
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        texts.append(content.decode("utf-8", "replace"))
        if path.suffix == ".parquet":
            texts.append(json.dumps(parquet.read_table(path).to_pylist(), default=str, ensure_ascii=False))
    return "\n".join(texts)


def list_found(text: str, keep: str) -> list[str]:
    squeezed = "".join(text.split())
    personal = [kind for kind, value in PERSONAL.items() if "".join(value.split()) in squeezed]
    return personal + ([kind for kind, word in WORDS.items() if word in text] if keep == "none" else [])


@pytest.mark.parametrize("keep", ["masked", "none"])
def test_nothing_that_is_not_kept_is_found_after_any_command(tmp_path: Path, keep: str) -> None:
    """In the store, its log of writes, reports, exports and on the screen; what is left is enough to go on with."""
    home, away = tmp_path / "home", tmp_path / "away"
    home.mkdir()
    away.mkdir()
    write_eval(home, keep)

    found = {}
    for name, arguments in COMMANDS.items():
        done = evenhand(*arguments, folder=home)
        assert done.returncode in (0, 1), (name, done.stderr)
        found[name] = list_found(done.stdout + done.stderr + read_all(home), keep)
    imported = evenhand("runs", "import", str(home / "run.jsonl.gz"), folder=away)
    shown = evenhand("report", "latest:kept", "--json", folder=away)

    assert imported.returncode == 0, imported.stderr
    assert {name: one for name, one in found.items() if one} == {}
    assert list_found(imported.stdout + shown.stdout + read_all(away), keep) == []


@pytest.mark.parametrize("keep", ["masked", "none"])
def test_what_is_kept_still_explains_scores_and_is_not_asked_again(tmp_path: Path, keep: str) -> None:
    """The numbers are those of a run that keeps all; a resumed run asks nothing, and a rescored one needs no texts."""
    heads = {}
    for kept in ("raw", keep):
        folder = tmp_path / kept
        folder.mkdir()
        write_eval(folder, kept, samples_that_fail=0)
        evenhand("run", "eval.yaml", folder=folder)
        before = (folder / "calls.txt").read_text()
        evenhand("run", "eval.yaml", "--resume", folder=folder)
        assert (folder / "calls.txt").read_text() == before
        rescored = evenhand("runs", "rescore", "latest", "-r", "other.yaml", "--json", folder=folder)
        with Store.open(folder / ".evenhand", {}) as store:
            rows = list(store.results(store.list_runs()[-1]["id"]))
        contents = [json.loads(row["content"]) for row in rows]
        steps = [
            [(one["before"], one["after"]) for one in (one["scorecard"] or {"steps": []})["steps"]] for one in contents
        ]
        scores = [(row["state"], row["score"], row["composite"]) for row in rows]
        means = [one["score"] for one in json.loads(rescored.stdout)["variants"]]
        heads[kept] = (scores, steps, [one["criteria"] for one in contents], means)

    assert heads[keep] == heads["raw"]


def test_masked_quotations_stand_where_they_say(tmp_path: Path) -> None:
    """A place in the output is moved with the text."""
    write_eval(tmp_path, "masked")
    evenhand("run", "eval.yaml", folder=tmp_path)

    with Store.open(tmp_path / ".evenhand", {}) as store:
        contents = [json.loads(row["content"]) for row in store.results(store.find_run("latest")["id"])]

    quotes = [
        (one["output"]["text"][quote["start"] : quote["end"]], quote["text"])
        for one in contents
        for judgment in one["judgments"]
        for quote in judgment["evidence"]
    ]
    assert len(quotes) > 3
    assert [place for place, _ in quotes] == [text for _, text in quotes]


def test_names_that_hold_personal_data_are_masked_where_no_text_is_kept(tmp_path: Path) -> None:
    """Assertions are named after what they look for, and tools by whoever made the output."""
    canaries = [f"canary-{number}@leak.example.org" for number in range(8)]
    own = [{"contains": canaries[0]}, {"equals": canaries[1]}, {"starts_with": "x", "name": canaries[2]}]
    bot = {"text": "hello", "trace": [{"name": canaries[3], "input": canaries[4], "output": canaries[5]}]}
    sample = {"id": "s", "input": "q", "assertions": own, "outputs": {"x": {"text": "hi", "trace": bot["trace"]}}}
    (tmp_path / "s.jsonl").write_text(json.dumps(sample))
    (tmp_path / "bot.py").write_text(f"def answer(sample):\n    return {bot!r}\n")
    whole = {
        "name": "kept",
        "keep": "none",
        "samples": "s.jsonl",
        "variants": {"x": {}, "y": {"python": "bot:answer"}},
        "assertions": [{"contains": canaries[6]}, {"tool_called": canaries[7]}],
    }
    (tmp_path / "eval.yaml").write_text(yaml.safe_dump(whole))

    done = evenhand("run", "eval.yaml", "--full", folder=tmp_path)
    exported = evenhand("runs", "export", "latest", "-o", "run.jsonl.gz", folder=tmp_path)

    assert (done.returncode, exported.returncode) == (1, 0), done.stderr
    kept = read_all(tmp_path)
    assert [canary for canary in canaries if canary in kept] == []


CUT = {
    "email": "jane.q.canary@leakedname.org",
    "card": "5500005555555559",
    "spaced card": "5500 0055 5555 5559",
    "iban": "GB82WEST12345698765432",
    "ssn": "536-90-4399",
}


def test_nothing_personal_is_left_where_a_finding_is_cut(tmp_path: Path) -> None:
    """In what assertions found and looked for, and in their names; those of the eval and those of the sample."""
    texts = [f"{'w' * pad} {value} yy yyy yy yyy yy" for value in CUT.values() for pad in range(0, 62, 2)]
    samples = [
        {"id": f"s{n}", "input": "q", "output": text, "assertions": [{"equals": "zz"}, {"contains": f"z{text}"}]}
        | ({"reference": text[: n % 40] + "§"} if n % 40 else {})
        for n, text in enumerate(texts)
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, samples)))
    (tmp_path / "few.jsonl").write_text("\n".join(map(json.dumps, samples[:: len(samples) // len(CUT)])))
    checks = [{"contains": f"v{text}"} for text in texts]
    shown = ""
    for file, assertions in (("s.jsonl", checks[:1]), ("few.jsonl", checks)):
        whole = {"name": "cut", "keep": "masked", "samples": file, "variants": {"output": {}}, "assertions": assertions}
        (tmp_path / "eval.yaml").write_text(yaml.safe_dump(whole))

        done = evenhand("run", "eval.yaml", folder=tmp_path)

        assert done.returncode == 1, done.stderr
        with Store.open(tmp_path / ".evenhand", {}) as store:
            run = store.find_run("latest")
            rows = [row["content"] for row in store.results(run["id"])]
        shown += json.dumps([json.loads(one) for one in (run["setup"], run["summary"], *rows)], ensure_ascii=False)
    quoted = re.findall(r"'[^'\n]*'", re.sub(r"\[[^\[\]]*•[^\[\]]*\]", "|", shown))
    pieces = [value[at : at + 4] for value in CUT.values() for at in range(len(value) - 3)]
    assert len(quoted) > 100
    assert sorted({one for one in quoted if any(piece in one for piece in pieces)}) == []


@pytest.mark.parametrize("kind", CUT)
def test_nothing_personal_is_left_where_a_judge_cuts_a_quotation(kind: str) -> None:
    """Wherever it begins and ends: the quotation is what stands there in the masked output."""
    text = f"Write to {CUT[kind]} or call"
    left = []
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            quote = {"text": text[start:end], "start": start, "end": end}
            result = {"output": {"text": text}, "findings": [], "assertions": [], "judgments": [{"evidence": [quote]}]}
            masked = mask_personal_result(result, build_personal_text_mask([text]))
            kept = masked["judgments"][0]["evidence"][0]
            left += [text[start:end]] if kept["text"] not in masked["output"]["text"] else []

    assert left == []


def test_all_that_a_server_says_of_its_reply_is_masked(tmp_path: Path) -> None:
    """Its model and the id of the request are its own words too."""

    class Telling(FakeServer):
        def complete_request(self, body: FakeServerJson) -> tuple[int, FakeServerJson]:
            status, answer = super().complete_request(body)
            return status, {**answer, "id": "can-id@leak.example.org", "model": "can-model@leak.example.org"}

    sample = {"id": "s", "input": "q", "output": "hello"}
    (tmp_path / "s.jsonl").write_text(json.dumps(sample))
    with Telling(lambda _: json.dumps({"criteria": {"a": {"evidence": [], "reason": "r", "answer": "yes"}}})) as server:
        whole = {
            "name": "said",
            "keep": "masked",
            "samples": "s.jsonl",
            "variants": {"output": {}},
            "rubric": {"criteria": [{"id": "a", "asks": "Is it?"}]},
            "judges": [server.judge],
        }
        (tmp_path / "eval.yaml").write_text(yaml.safe_dump(whole))
        done = evenhand("run", "eval.yaml", folder=tmp_path)

    assert done.returncode in (0, 1), done.stderr
    kept = read_all(tmp_path)
    assert [name for name in ("can-id", "can-model") if name in kept] == []
    assert "•••@•••" in kept


HANGING = """
import asyncio, json, pathlib
async def judge(request):
    text = dict(request.about.texts)["output"]
    if "third" in text:
        await asyncio.Event().wait()
    return json.dumps({"criteria": {"a": {"evidence": [text[:8]], "reason": "Obnubilate", "answer": "yes"}}})
"""


@pytest.mark.parametrize(
    ("sent", "code", "then"),
    [
        ([signal.SIGTERM], 130, None),
        ([signal.SIGTERM] * 6, 130, None),
        ([signal.SIGINT] * 2 + [signal.SIGTERM] * 4, 130, None),
        ([signal.SIGHUP] * 2 + [signal.SIGINT], 130, None),
        ([signal.SIGKILL], -9, ("runs", "gc", "--days", "0")),
    ],
)
def test_a_run_that_was_ended_from_outside_keeps_no_text(
    tmp_path: Path, sent: list[int], code: int, then: tuple[str, ...] | None
) -> None:
    """Told to end, it replaces what it has as if by Ctrl-C; killed, it could not: then a command removes it."""
    (tmp_path / "hanging.py").write_text(HANGING)
    program = [sys.executable, "-c", "import json, sys; print('Zephyrine', json.load(sys.stdin)['input'])"]
    whole = {"name": "ended", "keep": "none", "samples": [{"id": one, "input": one} for one in ("first", "third")],
             "variants": {"y": {"command": program}}, "rubric": {"criteria": [{"id": "a", "asks": "Is it?"}]},
             "judges": "python:hanging:judge"}  # fmt: skip
    (tmp_path / "eval.yaml").write_text(yaml.safe_dump(whole))
    with started(tmp_path, "run", "eval.yaml", "--report-only") as process:
        wait_until(lambda: _count_results(tmp_path) == 1)
        before = _read_store(tmp_path)
        for number in sent:
            process.signal(number)
            time.sleep(0.01)  # As whoever ends it says so again and again.
        done = process.done()

    assert done.code == code
    assert ("Zephyrine first" in before, "Obnubilate" in before) == (True, True)
    if then is not None:
        assert "Zephyrine first" in _read_store(tmp_path)
        assert run(tmp_path, *then).out.startswith("1 unfinished run removed")
    left = _read_store(tmp_path)
    assert [word for word in ("Zephyrine first", "Obnubilate") if word in left] == []


# It never replies: a second is enough to wait for it, instead of up to ten, each time.
HALF_ANSWERED = """
import asyncio, json
from evenhand.runs.stop_signals import STOPPING_SIGNALS
STOPPING_SIGNALS.update(dict.fromkeys(STOPPING_SIGNALS, 1.0))
async def prompt_one(request):
    reason = "Obnubilate canary-1@leak.example.org"
    return json.dumps({"criteria": {"a": {"evidence": [], "reason": reason, "answer": "no"}}})
async def silent_one(request):
    await asyncio.Event().wait()
"""


@pytest.mark.parametrize(
    ("keep", "sent"),
    [("none", [signal.SIGINT]), ("none", [signal.SIGHUP] * 2), ("masked", [signal.SIGTERM])],
    ids=str,
)
def test_a_run_that_was_stopped_keeps_no_reply_of_a_sample_that_is_not_finished(
    tmp_path: Path, sent: list[int], keep: str
) -> None:
    """One judge has replied and the other has not: the reply and the output go all the same, and are asked again."""
    (tmp_path / "half.py").write_text(HALF_ANSWERED)
    program = [sys.executable, "-c", "import json, sys; print('Zephyrine', json.load(sys.stdin)['input'])"]
    whole = {"name": "half", "keep": keep, "samples": [{"id": "s", "input": "canary-2@leak.example.org"}],
             "variants": {"y": {"command": program}}, "rubric": {"criteria": [{"id": "a", "asks": "Is it?"}]},
             "judges": ["python:half:prompt_one", "python:half:silent_one"]}  # fmt: skip
    (tmp_path / "eval.yaml").write_text(yaml.safe_dump(whole))
    gone = ["canary-"] if keep == "masked" else ["canary-", "Obnubilate"]
    for more in ((), ("--resume",)):
        with started(tmp_path, "run", "eval.yaml", "--report-only", *more) as process:
            wait_until(lambda: _holds_all(tmp_path, "canary-1", "Zephyrine canary-2"))
            for number in sent:
                process.signal(number)
                time.sleep(0.01)
            assert process.done().code == 130
        left = _read_store(tmp_path)
        assert [word for word in gone if word in left] == []


def _holds_all(folder: Path, *words: str) -> bool:
    stored = _read_store(folder) if (folder / ".evenhand").exists() else ""
    return all(word in stored for word in words)


def _count_results(folder: Path) -> int:
    file = folder / ".evenhand" / "store.sqlite"
    if not file.exists():
        return 0
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as found, suppress(sqlite3.OperationalError):
        return int(found.execute("select count(*) from results").fetchone()[0])
    return 0


def _read_store(folder: Path) -> str:
    return "".join(one.read_bytes().decode("utf-8", "replace") for one in (folder / ".evenhand").iterdir())
