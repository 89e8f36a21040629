"""evenhand compare: two runs over the same samples, or the variants of one; the exit code says what was decided."""

from __future__ import annotations

import click

from evenhand.cli._text import tell_json, while_read
from evenhand.errors import Fault, InputError


@click.command("compare")
@click.argument("runs", metavar="[CONTROL] RUN", nargs=-1, required=True)
@click.option("--baseline", metavar="NAME", help="The control: the run that `evenhand baseline set` pinned.")
@click.option("--control", metavar="VARIANT", help="The control among the variants of one run.")
@click.option("--not-worse-by", type=float, metavar="POINTS", help="Pass what is surely not worse by more than this.")
@click.option("--power", is_flag=True, help="Also say how many samples would settle it.")
@click.option("--force", is_flag=True, help="Compare what was not scored alike, and mark the result.")
@click.option("--report-only", is_flag=True, help="Exit with 0 whatever was decided.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def command(  # noqa: PLR0913 - the options of the command
    *,
    runs: tuple[str, ...],
    baseline: str | None,
    control: str | None,
    not_worse_by: float | None,
    power: bool,
    force: bool,
    report_only: bool,
    as_data: bool,
) -> int:
    """Hold RUN against CONTROL, sample by sample; with RUN alone, its variants against each other.

    A run is an id, the beginning of one, "latest", "latest:EVAL" or "baseline:NAME"; RUN:VARIANT chooses a variant.
    """
    from evenhand.cli._stored import stored  # noqa: PLC0415
    from evenhand.comparing import Terms, compare_runs  # noqa: PLC0415

    chosen = _chosen(runs, baseline)
    terms = Terms(control=control, not_worse_by=not_worse_by, force=force, power=power)
    with stored() as store:
        found = compare_runs(store, *chosen, terms=terms)
    with while_read():
        if as_data:
            tell_json(found)
        else:
            from evenhand.cli._compare_view import show_comparison  # noqa: PLC0415

            show_comparison(found)
    return 0 if report_only else int(found["decision"]["exit_code"])


def _chosen(runs: tuple[str, ...], baseline: str | None) -> tuple[str, ...]:
    if baseline is not None:
        runs = (f"baseline:{baseline}", *runs)
    if len(runs) > 2:
        what = f"{len(runs)} runs were named" + (", the baseline counted" if baseline is not None else "")
        raise InputError(Fault(what, "two are compared, or the variants of one"))
    return runs
