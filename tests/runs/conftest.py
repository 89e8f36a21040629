"""What tests of runs are handed: an empty database of either kind."""

from tests.store.databases import database, postgresql_server

__all__ = ["database", "postgresql_server"]
