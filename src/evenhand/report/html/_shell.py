"""What every page is made with: templates that escape, parts of the file, and a policy that lets nothing else run."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from evenhand.report.html._figures import FORMATS
from evenhand.report.html._text import visible


@cache
def template(package: str, name: str) -> Template:
    """A template of a package, which escapes all that it is given."""
    environment = Environment(
        autoescape=True,
        finalize=_finished,
        loader=PackageLoader(package),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= FORMATS
    return environment.get_template(name)


@cache
def part(package: str, name: str) -> str:
    """A style or script of a package, as it goes into the file."""
    return files(package).joinpath(name).read_text("utf-8")


def policy(style: str, script: str = "") -> str:
    """Nothing is loaded, and nothing runs but the one script: even a hole in the escaping would be of no use."""
    runs = f"script-src {_hash(script)}; " if script else ""
    return f"default-src 'none'; {runs}style-src {_hash(style)}; img-src data:; " + (
        "base-uri 'none'; form-action 'none'"
    )


def _finished(value: object) -> object:
    """What stands in the page for a value: a dash where nothing was measured, hiding marks written out."""
    if value is None:
        return "–"
    return value if hasattr(value, "__html__") or not isinstance(value, str) else visible(value)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
