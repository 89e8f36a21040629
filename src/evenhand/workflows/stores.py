"""The store that a workflow reads or writes: one that is given, or the one that the environment names."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from evenhand.errors import Fault, InputError, note_imported_run_for_errors
from evenhand.store.database import NO_RUNS, StoreLocation, locate_store_database
from evenhand.store.queries import ASIDE_PREFIXES
from evenhand.store.rows import Row
from evenhand.store.store import Store

StoreLike = Store | str | Path | None  # A store, its folder or address; None is the one that the environment names.
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


@dataclass(slots=True, eq=False, repr=False)
class UserStore(Store):
    """A store that notes which imported runs are looked up in it, so that an error about them can be marked."""

    def find_run(self, id: str) -> Row:
        """The run that is meant."""
        row = Store.find_run(self, id)
        if row["imported"] is not None:
            note_imported_run_for_errors(row["id"])
        return row


@contextmanager
def open_user_store(store: StoreLike, *, create: bool = False, empty: str = NO_RUNS) -> Iterator[Store]:
    """The store, closed afterwards unless it was given open; where there is none to read, the error says `empty`."""
    if isinstance(store, Store):
        yield store
        return
    opened = UserStore.open(store, os.environ, create=create, empty=empty)
    with opened:
        yield opened


def refuse_run_kept_aside(row: Row) -> None:
    """Refuse what is no run of an eval, but holds what was asked about one; it is in no list."""
    if row["name"].startswith(ASIDE_PREFIXES):
        hint = f"name the run that it is about: {json.loads(row['setup'])['aligned_from']}"
        raise InputError(Fault(f"run {row['id']} holds what evenhand align or probe set asked", hint))


def is_user_store_there(store: StoreLike) -> bool:
    """Whether something may be kept already: a file is there, or a server is named."""
    file = _locate_user_store(store).file
    return file is None or file.exists()


def name_user_store_place(store: StoreLike) -> str:
    """Where a store is, the same from any folder; of an address without its password."""
    at = _locate_user_store(store)
    return at.shown if at.file is None else str(at.file.resolve())


def _locate_user_store(store: StoreLike) -> StoreLocation:
    return locate_store_database(store.address if isinstance(store, Store) else store, os.environ)


def digest_user_store_place(store: StoreLike) -> str:
    """By what two processes find out whether they mean the same store, without saying where it is."""
    return sha256(name_user_store_place(store).encode("utf-8", "surrogateescape")).hexdigest()[:24]


def with_opened_user_store(
    function: Callable[Concatenate[Store, Parameters], Result],
) -> Callable[Concatenate[StoreLike, Parameters], Result]:
    """The same function for callers that may have no store open."""

    @wraps(function)
    def call_with_store(store: StoreLike, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with open_user_store(store) as opened:
            return function(opened, *args, **kwargs)

    return call_with_store
