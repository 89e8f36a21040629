"""What tests of the store are handed: an empty database of either kind."""

from tests.store.databases import database, empty_database, postgresql_server

__all__ = ["database", "empty_database", "postgresql_server"]
