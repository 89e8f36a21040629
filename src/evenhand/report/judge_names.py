"""Short names of judges that are named by an address, for pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.report.phrases import ReportData


def shorten_reported_judges(names: Iterable[str]) -> dict[str, str]:
    """A short name for each judge that is named by an address: its last part, and more of it where two are alike."""
    known = list(dict.fromkeys(names))
    long = {name: name.partition("://")[2].split("/") for name in known if "://" in name}
    short = {name: "/".join(parts[-1:]) for name, parts in long.items()}
    for several in range(2, max(map(len, long.values()), default=0) + 1):
        taken = Counter([*short.values(), *(name for name in known if name not in long)])
        short = {name: "/".join(long[name][-several:]) if taken[own] > 1 else own for name, own in short.items()}
    taken = Counter([*short.values(), *(name for name in known if name not in long)])
    return {name: own for name, own in short.items() if own and taken[own] == 1}


def name_reported_judges_briefly(data: Any, short: Mapping[str, str]) -> Any:
    """The same data with the short names of judges in all of its texts."""
    if not short:
        return data
    if isinstance(data, str):
        for name in sorted(short, key=len, reverse=True):
            data = data.replace(name, short[name])
        return data
    if isinstance(data, Mapping):
        return {
            name_reported_judges_briefly(key, short): name_reported_judges_briefly(value, short)
            for key, value in data.items()
        }
    if isinstance(data, list | tuple):
        return [name_reported_judges_briefly(one, short) for one in data]
    return data


# What a page says of judges beside the table that names each in full.
PARTS_ABOUT_JUDGES = (
    "agreement",
    "failures",
    "cost",
    "decision",
    "labels",
    "consistency",
    "trust",
    "cascade",
    "people_scale",
)


def name_judges_of_report_briefly(head: ReportData) -> dict[str, Any]:
    """The head of a report in which judges that are named by an address have short names, but in their own table."""
    short = shorten_reported_judges(one["name"] for one in head["judges"])
    parts = {name: name_reported_judges_briefly(head[name], short) for name in PARTS_ABOUT_JUDGES if head.get(name)}
    judges = [{**one, "name": short.get(one["name"], one["name"]), "full_name": one["name"]} for one in head["judges"]]
    return {**head, **parts, "judges": judges}
