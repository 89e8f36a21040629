"""evenhand audit: whether the judges of a run are fit to decide, and what speaks against it."""

from __future__ import annotations

import click

from evenhand.cli._text import tell_json, while_read


@click.command("audit")
@click.argument("run", metavar="RUN")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def command(run: str, as_data: bool) -> None:
    """Audit the judges of RUN: its id, the beginning of one, "latest" or "latest:NAME". No labels are needed."""
    from evenhand.auditing import audit_run  # noqa: PLC0415
    from evenhand.cli._stored import stored  # noqa: PLC0415

    with stored() as store:
        found = audit_run(store, run)
    with while_read():
        if as_data:
            from evenhand.calibrate import audit_json  # noqa: PLC0415

            tell_json(audit_json(found))
        else:
            from evenhand.cli._audit_view import show_audit  # noqa: PLC0415

            show_audit(found)
