"""A report written as HTML: the page around a stream of samples, of which only one is held at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TextIO

from evenhand.report.html._blocks import blocks, inert
from evenhand.report.html._page import page
from evenhand.report.html._shell import part, policy, template

HERE = "evenhand.report.html"
SCRIPTS = ("report.js", "search.js", "table.js", "outputs.js", "sample.js", "start.js")


def write_html(head: dict[str, Any], samples: Iterable[dict[str, Any]], stream: TextIO) -> None:
    """Write the whole report; the samples are asked for one after another as they are written."""
    style, script = part(HERE, "report.css"), _script()
    pieces = template(HERE, "page.html.j2").generate(
        **page(head),
        style=style,
        script=script,
        policy=policy(style, script),
        facts=inert(_facts(head)),
        blocks=blocks(samples),
    )
    stream.writelines(pieces)


def _script() -> str:
    """The scripts as one function, so that nothing of them is in reach of anything else."""
    return "(() => {\n'use strict';\n" + "\n".join(part(HERE, name) for name in SCRIPTS) + "})();\n"


def _facts(head: dict[str, Any]) -> dict[str, Any]:
    """What the script must know of the run."""
    return {
        "variants": [{"name": one["name"], "role": one["role"]} for one in head["variants"]],
        "answers": _answers(head["eval"]["rubrics"]),
    }


def _answers(rubrics: list[dict[str, Any]]) -> list[str]:
    """The criteria that are answered by yes or no, in every rubric that has them."""
    scales: dict[str, set[str]] = {}
    for one in (criterion for rubric in rubrics for criterion in rubric["criteria"]):
        scales.setdefault(one["id"], set()).add(str(one["scale"]))
    return [id for id, several in scales.items() if several == {"yes/no"}]
