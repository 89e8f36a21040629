"""A report written as HTML: the page around a stream of samples, of which only one is held at a time."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, TextIO

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from evenhand.report.html._blocks import blocks, inert
from evenhand.report.html._figures import FORMATS
from evenhand.report.html._page import page
from evenhand.report.html._text import visible

SCRIPTS = ("report.js", "search.js", "table.js", "outputs.js", "sample.js", "start.js")


def write_html(head: dict[str, Any], samples: Iterable[dict[str, Any]], stream: TextIO) -> None:
    """Write the whole report; the samples are asked for one after another as they are written."""
    style, script = _part("report.css"), _script()
    pieces = _template().generate(
        **page(head),
        style=style,
        script=script,
        policy=_policy(style, script),
        facts=inert(_facts(head)),
        blocks=blocks(samples),
    )
    stream.writelines(pieces)


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True,
        finalize=_finished,
        loader=PackageLoader("evenhand.report.html"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= FORMATS
    return environment.get_template("page.html.j2")


def _finished(value: object) -> object:
    """What stands in the page for a value: a dash where nothing was measured, hiding marks written out."""
    if value is None:
        return "–"
    return value if hasattr(value, "__html__") or not isinstance(value, str) else visible(value)


@cache
def _part(name: str) -> str:
    return files("evenhand.report.html").joinpath(name).read_text("utf-8")


def _script() -> str:
    """The scripts as one function, so that nothing of them is in reach of anything else."""
    return "(() => {\n'use strict';\n" + "\n".join(map(_part, SCRIPTS)) + "})();\n"


def _policy(style: str, script: str) -> str:
    """Nothing is loaded, and nothing runs but the one script: even a hole in the escaping would be of no use."""
    return f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; " + (
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


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
