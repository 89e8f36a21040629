"""What tests of fleets are handed: a PostgreSQL server. The long ones are for `make soak`."""

from tests.soak import SOAK
from tests.store.databases import postgresql_server

__all__ = ["postgresql_server"]

collect_ignore = [] if SOAK else ["test_fleet_chaos.py"]
