"""A process that plays contests on a word from its parent, each the moment it is told: python -m … PLACE.

A line names the task; what came of it is told as JSON, the exit code first.
"""

import asyncio
import json
import sys
from pathlib import Path

from evenhand.errors import EvenhandError
from evenhand.judging.single_judge import JudgeOptions
from evenhand.workflows.contest_files import ContestFiles, play_contest_files
from evenhand.workflows.models import ConnectionOptions

if __name__ == "__main__":
    for line in sys.stdin:
        files = ContestFiles(task=Path(line.strip()), submissions=Path("submissions"), until="now")
        connect = ConnectionOptions(replay=Path("replies.jsonl"))
        told: list[object]
        try:
            played = asyncio.run(play_contest_files(files, how=JudgeOptions(), connect=connect, store=sys.argv[1]))
            told = [played.result.exit_code, played.result.record["payment"]]
        except EvenhandError as error:
            told = [2, str(error)]
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
