"""The store as commands open it: where the environment says, else in the working directory."""

from __future__ import annotations

import os

from evenhand.store.store import Store


def open_existing_store() -> Store:
    """What is there; an error that says how to begin where nothing is."""
    return Store.open(None, os.environ, create=False)


def open_or_create_store() -> Store:
    """The store, made where there is none."""
    return Store.open(None, os.environ)
