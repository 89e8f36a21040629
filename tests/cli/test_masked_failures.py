"""Personal data in what failed: masked in all that a run prints, as in its report."""

import json
from pathlib import Path

from tests.cli.command import evenhand

MAIL = "jo@example.org"
WHOLE = {
    "name": "mails",
    "samples": [{"id": "a", "input": "hi", "assertions": [{"regex": "nobody"}]}],
    "variants": {"bot": {"python": "bot:answer"}, "fine": {"python": "bot:fine"}},
    "rubric": {"name": "short", "criteria": [{"id": "c1", "asks": "Is it at most 5 words long?"}]},
}
BOT = f"def answer(sample):\n    raise RuntimeError('no account {MAIL}')\ndef fine(sample):\n    return 'Hello.'\n"


def test_what_failed_is_printed_with_personal_data_masked(tmp_path: Path) -> None:
    """A report masked it; the terminal, and the log of a build, showed it."""
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "eval.yaml").write_text(json.dumps(WHOLE))
    (tmp_path / "short.yaml").write_text(json.dumps(WHOLE["rubric"]))

    printed = [
        evenhand("run", "eval.yaml", folder=tmp_path),
        evenhand("run", "eval.yaml", "--json", folder=tmp_path),
        evenhand("runs", "rescore", "latest", "-r", "short.yaml", folder=tmp_path),
    ]

    assert ["no account" in f"{one.stdout}{one.stderr}" for one in printed] == [True, True, True]
    assert [MAIL in f"{one.stdout}{one.stderr}" for one in printed] == [False, False, False]
