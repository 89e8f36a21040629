"""evenhand rubric: list, show, check, schema, init."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from evenhand.cli._text import clean, complain, one_line, tell
from evenhand.errors import Fault, InputError
from evenhand.loading import (
    is_method_file,
    load_method,
    load_method_file,
    load_rubric,
    method_names,
    open_rubric,
    rubric_names,
    rubric_schema,
    rubric_source,
    starter_rubric,
    with_environment,
)
from evenhand.scoring import advise


@click.group("rubric")
def command() -> None:
    """List, show, check and start rubrics."""


@command.command("list")
def list_rubrics() -> None:
    """List the rubrics that ship."""
    from evenhand.cli._rubric_view import show_list  # noqa: PLC0415

    methods = [load_method(name) for name in method_names()]
    show_list([load_rubric(name) for name in rubric_names()], [m for m in methods if not m.criteria])


@command.command("show")
@click.argument("name", metavar="NAME|FILE")
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the file itself, to copy and change.")
def show(name: str, as_yaml: bool) -> None:
    """Show a rubric in full, or its file."""
    from evenhand.cli._rubric_view import show_method, show_rubric  # noqa: PLC0415

    bare = name in method_names() and not load_method(name).criteria
    if as_yaml:
        click.echo(clean(rubric_source(name)), nl=False)
    elif bare:
        show_method(load_method(name))
    else:
        show_rubric(with_environment(load_rubric(name), os.environ))


@command.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
def check(files: tuple[str, ...]) -> int:
    """Check rubric and method files.

    Faults (exit 2), and what a careful colleague would point out (exit 0).
    """
    faulty = 0
    for file in files:
        try:
            if os.path.isfile(file) and is_method_file(Path(file)):  # noqa: PTH113
                load_method_file(Path(file))
                tell(one_line(f"{file}: a valid method"))
                continue
            opened = open_rubric(file)
        except InputError as error:
            faulty += 1
            complain(str(error))
            continue
        advice = InputError(*(entry.as_fault() for entry in advise(opened.rubric))).located(opened.locate)
        for fault in advice.faults:
            tell(one_line(f"{fault.where or file}: warning: {fault.what}"))
        count = len(advice.faults)
        said = "no warnings" if not count else "1 warning" if count == 1 else f"{count} warnings"
        tell(one_line(f"{file}: a valid rubric for {opened.rubric.method.name}, {said}"))
    return 2 if faulty else 0


@command.command("schema")
def schema() -> None:
    """Print a JSON Schema for rubric files, for editors."""
    click.echo(json.dumps(rubric_schema(), indent=2, ensure_ascii=False))


@command.command("init")
@click.argument("file", default="rubric.yaml")
def init(file: str) -> None:
    """Write a commented starter rubric to FILE (default: rubric.yaml)."""
    path = Path(file)
    if path.suffix not in (".yaml", ".yml"):
        raise InputError(Fault("the starter is YAML", "name a file that ends in .yaml", where=file))
    try:
        with path.open("x", encoding="utf-8") as target:
            target.write(starter_rubric().replace("rubric.yaml", path.name))
    except FileExistsError:
        raise InputError(Fault("there is such a file already", "name another file", where=file)) from None
    except OSError as error:
        raise InputError(Fault(f"cannot be written: {(error.strerror or str(error)).lower()}", where=file)) from None
    tell(one_line(f"wrote {file}; next: evenhand rubric check {file}"))
