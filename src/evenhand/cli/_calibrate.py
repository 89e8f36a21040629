"""evenhand calibrate: judges against people, and which of them to ask."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli._text import clean, tell, tell_json, while_read
from evenhand.errors import Fault, InputError

if TYPE_CHECKING:
    from evenhand.calibrate import Calibration


@click.command("calibrate")
@click.argument("labels", metavar="LABELS")
@click.argument("run", metavar="RUN")
@click.option(
    "--write", "target", metavar="FILE", help="Write the recommended panel to this file, for an eval to name."
)
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def command(labels: str, run: str, target: str | None, as_data: bool) -> None:
    """Hold the judges of RUN against LABELS, what people said of its outputs: one JSON object per line.

    \b
    {"sample": "s1", "variant": "new", "criterion": "accuracy", "rater": "r1", "score": 4}

    The labels are kept with the run, in place of those before, once all that was asked for is done. RUN is an id, the
    beginning of one, "latest" or "latest:NAME".
    """
    from evenhand.calibrating import calibrated, keep_labels  # noqa: PLC0415
    from evenhand.cli._stored import stored  # noqa: PLC0415

    with stored() as store:
        one = calibrated(store, run, Path(labels))
        refused = None if target is None else _written(one.found, Path(target))
        before = 0 if refused else keep_labels(store, one)
    _show(one.found, None if refused else target, as_data)
    if refused is not None:
        raise refused
    if target is not None:
        tell(f"written: {clean(target)}", err=True)
    tell(_kept(len(one.labels), one.found.run, before), err=True)


def _written(found: Calibration, target: Path) -> InputError | None:
    """Write the recommended panel; the error, if it cannot be, is for after what was found."""
    from evenhand.calibrating import panel_text  # noqa: PLC0415

    try:
        _write(target, panel_text(found))
    except InputError as error:
        return error
    return None


def _show(found: Calibration, written: str | None, as_data: bool) -> None:
    from evenhand.calibrate import calibration_json  # noqa: PLC0415

    with while_read():
        if as_data:
            tell_json(calibration_json(found))
        else:
            from evenhand.cli._calibrate_view import show_calibration  # noqa: PLC0415

            show_calibration(calibration_json(found), written)


def _kept(count: int, run: str, before: int) -> str:
    labels = "1 label" if count == 1 else f"{count:,} labels"
    return f"kept: {labels} with run {run}" + (f" (in place of {before:,})" if before else "")


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")  # Whoever reads the file meanwhile sees the old one or the new one.
    try:
        part.write_text(text, "utf-8")
        part.replace(path)
    except OSError as problem:
        why = (problem.strerror or str(problem)).lower()
        raise InputError(Fault(f"cannot be written: {why}", where=str(path))) from None
    finally:
        part.unlink(missing_ok=True)
