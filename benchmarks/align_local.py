"""What `evenhand align` does for a model in a GGUF file, on pairs of a question and a text whose answer is known:
`python -m benchmarks.align_local model.gguf [labels [folder]] [--propose]`. The same model judges and, if told to,
proposes. With a folder, its store keeps every reply: stopped, the same command goes on.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from random import Random
from time import perf_counter

from evenhand import Eval, Limits
from evenhand.workflows.align import AlignmentReport, AlignOptions, align_run
from evenhand.workflows.models import ConnectionOptions
from evenhand.workflows.run import RunOptions, run

DATA = Path(__file__).parent / "data" / "hard_held_out.jsonl"
LABELS = 40
RUBRIC = "criteria:\n  - {id: holds, asks: 'Is the answer to the question, about this output, yes?', required: false}\n"


def main(model: str, labels: int = LABELS, folder: Path | None = None, *, propose: bool = False) -> None:
    """Judge as many pairs with yes as with no, align with their known answers, and print both errors."""
    began = perf_counter()
    with tempfile.TemporaryDirectory() as aside:
        place = folder or Path(aside)
        place.mkdir(exist_ok=True)
        report = asyncio.run(_align(f"gguf:{model}", labels, propose, place))
    found = report.found.selection
    for name, error in (("before", found.before), ("after", found.after)):
        print(f"outer error {name}: {error.estimate:.1%} [{error.low:.1%}, {error.high:.1%}]")
    kept = ", ".join(type(edit).__name__ for edit in report.found.edits) or f"nothing: {report.found.why}"
    print(
        f"p = {found.chance:.3f}; kept: {kept}; tried {len(report.found.tried)} rubrics, {report.calls} calls "
        f"now, at most {report.plan.calls} said before"
    )
    print(f"errors of what was tried: {', '.join(f'{one:.1%}' for one in found.errors)} (the last is the map)")
    print(f"refused: {[one.why for one in report.found.refused]}; notes: {list(report.found.notes)}")
    print(f"{labels} labels, {found.samples} samples decided, {perf_counter() - began:.0f} s")


async def _align(judge: str, labels: int, propose: bool, folder: Path) -> AlignmentReport:
    rows = [json.loads(line) for line in DATA.read_text("utf-8").splitlines() if line.strip()]
    rng, chosen = Random(0), []
    for answer in ("yes", "no"):
        chosen += rng.sample([row for row in rows if row["answer"] == answer], labels // 2)
    samples = [
        {"id": row["id"], "input": row["asks"], "reference": row.get("reference") or "", "output": row["output"]}
        for row in chosen
    ]
    said = [
        {"sample": row["id"], "criterion": "holds", "rater": "known", "score": int(row["answer"] == "yes")}
        for row in chosen
    ]
    rubric, file = folder / "rubric.yaml", folder / "labels.jsonl"
    rubric.write_text(RUBRIC, "utf-8")
    file.write_text("".join(json.dumps(one) + "\n" for one in said), "utf-8")
    eval = Eval(name="pairs", samples=samples, rubric=str(rubric), judges=[judge], limits=Limits(concurrency=1))
    ran = await run(eval, options=RunOptions(place=folder))
    connect = ConnectionOptions(concurrency=1, seconds=1800)
    options = AlignOptions(rubric=str(rubric), proposer=judge if propose else None, connect=connect)
    return await align_run(folder, ran.id, file, options=options, announce=lambda plan: print(plan, flush=True))


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    labels, folder = int(words[1]) if words[1:] else LABELS, Path(words[2]) if words[2:] else None
    main(words[0], labels, folder, propose="--propose" in sys.argv)
