"""What tests of fleets are handed: an empty PostgreSQL database, and a cluster of Ray on this machine."""

from tests.store.databases import postgresql_server

__all__ = ["postgresql_server"]
