"""Write `store.sqlite.gz`, on purpose only: `python -m tests.golden.make_store`.

The store that is committed was written by the Evenhand of its day and stays as it is: sessions show that later ones
read it, and find every reply under the key it was kept under. A new kind of content gets a store of its own.
"""

import contextlib
import gzip
import sqlite3
import sys
import tempfile
from pathlib import Path

from tests.golden.session import STORE, play

COMMANDS = """
@ files desk
@ server
$ evenhand run help-desk.yaml --report-only
$ evenhand baseline set latest --name main
$ evenhand calibrate labels.jsonl latest
$ evenhand runs rescore latest -r strict.yaml
$ evenhand run panel.yaml --report-only
$ evenhand run early.yaml --report-only
$ evenhand run early.yaml --report-only --fresh
$ edit early.yaml "at most 50 words" "at most 30 words"
$ evenhand run early.yaml --report-only
$ evenhand run early.yaml --report-only --fresh --until-decided
$ evenhand baseline set latest:early --name release/2
$ evenhand run served.yaml --report-only
$ evenhand run silent.yaml --report-only
$ evenhand run stopped.yaml --report-only
$ evenhand contest run returns.yaml entries --challenges challenges.jsonl
$ evenhand contest run waiting.yaml entries --until 2024-11-06T00:00:00+01:00
$ evenhand contest run quick.yaml entries
$ evenhand contest run cut.yaml entries --budget-tokens 9000
"""


def main() -> None:
    """Play the commands in a new folder, and pack what they left."""
    with tempfile.TemporaryDirectory() as folder:
        for step in play(COMMANDS, Path(folder)):
            sys.stdout.write(step.written())
        file = Path(folder) / ".evenhand" / "store.sqlite"
        with contextlib.closing(sqlite3.connect(file)) as database:
            database.execute("PRAGMA journal_mode = DELETE")
            database.execute("VACUUM")
        STORE.write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))


if __name__ == "__main__":
    main()
