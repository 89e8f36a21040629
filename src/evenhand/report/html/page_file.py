"""A run written as one HTML file: escaping templates, a policy that lets nothing else run, samples as packed JSON."""

from __future__ import annotations

import json
import math
import re
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import chain, islice
from typing import Any, TextIO

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template

from evenhand.report.graded import describe_reported_statement, find_reported_score_before_statements
from evenhand.report.html.formats import TEMPLATE_FILTERS
from evenhand.report.html.run_page import build_run_report_page
from evenhand.report.phrases import list_report_layers
from evenhand.report.untrusted_text import escape_hiding_report_characters
from evenhand.wording import word_layer

HTML_PACKAGE = "evenhand.report.html"
PAGE_SCRIPTS = ("report.js", "search.js", "overview.js", "table.js", "outputs.js", "sample.js", "start.js")


def write_html(head: dict[str, Any], samples: Iterable[dict[str, Any]], stream: TextIO) -> None:
    """Write the whole report; the samples are asked for one after another as they are written."""
    style = load_report_template_part(HTML_PACKAGE, "report.css")
    # One function, so that nothing of the scripts is in reach of anything else.
    parts = "\n".join(load_report_template_part(HTML_PACKAGE, name) for name in PAGE_SCRIPTS)
    script = f"(() => {{\n'use strict';\n{parts}}})();\n"
    facts = {
        "variants": [{"name": one["name"], "role": one["role"]} for one in head["variants"]],
        "answers": list_report_yes_no_criteria(head["eval"]["rubrics"]),
        "layers": {name: word_layer(name) for name in list_report_layers(head)},
    }
    pieces = load_report_template(HTML_PACKAGE, "page.html.j2").generate(
        **build_run_report_page(head),
        style=style,
        script=script,
        policy=build_report_security_policy(style, script),
        facts=dump_inert_report_json(facts),
        blocks=render_report_sample_blocks(samples),
    )
    stream.writelines(pieces)


def list_report_yes_no_criteria(rubrics: list[dict[str, Any]]) -> list[str]:
    """What is answered by yes or no: red flags, bonuses, and criteria that are so in every rubric that has them."""
    statements = [one["id"] for rubric in rubrics for one in rubric.get("statements", ())]
    scales: dict[str, set[str]] = {}
    for one in (criterion for rubric in rubrics for criterion in rubric["criteria"]):
        scales.setdefault(one["id"], set()).add(str(one["scale"]))
    return [*statements, *(id for id, several in scales.items() if several == {"yes/no"})]


@cache
def load_report_template(package: str, name: str) -> Template:
    """A template of a package, which escapes all that it is given."""
    return build_report_template_environment(package).get_template(name)


def build_report_template_environment(*packages: str) -> Environment:
    """Templates of some packages, each looked for in the first that has it; all escape what they are given."""
    environment = Environment(
        autoescape=True,
        finalize=_render_report_value,
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= TEMPLATE_FILTERS
    return environment


@cache
def load_report_template_part(package: str, name: str) -> str:
    """A style or script of a package, as it goes into the file."""
    return files(package).joinpath(name).read_text("utf-8")


def build_report_security_policy(style: str, script: str = "") -> str:
    """Nothing is loaded, and nothing runs but the one script: even a hole in the escaping would be of no use."""
    runs = f"script-src {_hash_report_policy_source(script)}; " if script else ""
    rest = "img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; {runs}style-src {_hash_report_policy_source(style)}; {rest}"


def _render_report_value(value: object) -> object:
    """What stands in the page for a value: a dash where nothing was measured, hiding marks written out."""
    if value is None:
        return "–"
    return value if hasattr(value, "__html__") or not isinstance(value, str) else escape_hiding_report_characters(value)


def _hash_report_policy_source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


SAMPLES_PER_BLOCK = 100  # Few enough to unpack and search without a pause, enough to pack well.
SNIPPET_LENGTH = 140  # Characters of the input that the table shows.

_RISKY_IN_SCRIPT = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def render_report_sample_blocks(samples: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The samples of each block as gzip in base64, and its rows of the table; a sample is packed as soon as it comes.

    The page unpacks a block when somebody opens a sample of it or searches: the texts are most of a report.
    """
    rest = iter(samples)
    for sample in rest:
        rows, packer = [], zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
        packed = bytearray()
        for one in chain([sample], islice(rest, SAMPLES_PER_BLOCK - 1)):
            rows.append(_build_report_index_row(one))
            packed += packer.compress(dump_inert_report_json(one).encode() + b"\n")
        packed += packer.flush()
        yield f'<script type="application/gzip" class="samples">{b64encode(packed).decode()}</script>\n'
        yield f'<script type="application/json" class="index">{dump_inert_report_json(rows)}</script>\n'


def dump_inert_report_json(data: object) -> str:
    """JSON on one line in which no text can end a script element, nor begin a comment in it."""
    try:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return dump_inert_report_json(_name_report_nonfinite_numbers(data))
    return _RISKY_IN_SCRIPT.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _name_report_nonfinite_numbers(data: object) -> object:
    """The same with the words for what JSON has no number for: such values come in with the metadata of a sample."""
    if isinstance(data, dict):
        return {str(key): _name_report_nonfinite_numbers(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_name_report_nonfinite_numbers(value) for value in data]
    return str(data) if isinstance(data, float) and not math.isfinite(data) else data


def _build_report_index_row(sample: dict[str, Any]) -> list[object]:
    """What the table needs of a sample: id, beginning of the input, tags, results."""
    text = sample["input"]
    if not text and sample["messages"]:
        text = sample["messages"][-1]["text"]
    shown = text if isinstance(text, str) else "" if text is None else json.dumps(text, ensure_ascii=False)
    shown = shown if len(shown) <= SNIPPET_LENGTH else shown[: SNIPPET_LENGTH - 1] + "…"
    results: list[object] = []
    for one in sample["results"]:
        failed = [check["name"] for check in one["assertions"] if check["passed"] is False]
        value = one["score"] if one["composite"] is None else one["composite"]
        card = one["scorecard"] or {}
        criteria, grade = card.get("criteria") or {}, card.get("grade")
        row = [one["variant"], one["state"], one["verdict"], value, failed, len(one["findings"]), criteria, grade]
        results.append([*row, _build_report_adjusted_row(card)] if card.get("statements") else row)
    return [sample["id"], shown, sample["tags"], results]


def _build_report_adjusted_row(card: dict[str, Any]) -> list[object]:
    """What red flags and bonuses did to an output: the score before, each of them, and the score."""
    said = "; ".join(map(describe_reported_statement, card["statements"]))
    return [find_reported_score_before_statements(card), said, card["score"]]
