"""Writes whose answer was lost: whether the server has them is looked for on a new connection."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from time import sleep

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from evenhand.errors import Fault, StoreError

PAUSES_AFTER_LOSS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 5.0, 5.0)  # Seconds before each look: half a minute in all.
LONGEST_WAIT_AFTER_LOSS = 10_000  # Milliseconds for whoever still writes.


def may_be_written(error: BaseException) -> bool:
    """Whether a failure leaves open if the server has what was being written: it was cut off under way.

    Who could not connect at all has written nothing.
    """
    cause = error.__cause__
    if isinstance(error, StoreError) and isinstance(cause, StoreError):
        return may_be_written(cause)
    return isinstance(cause, DBAPIError) and cause.connection_invalidated


def look_for_lost_write(
    write: Callable[[], AbstractContextManager[Connection]],
    look: Callable[[Connection], bool],
    lost: StoreError,
    unknown: Fault,
) -> bool:
    """Whether something was written although its writer was cut off; refused with why where nobody can be asked."""
    for pause in PAUSES_AFTER_LOSS:
        sleep(pause)
        with suppress(StoreError), write() as connection:
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {LONGEST_WAIT_AFTER_LOSS}")
            return look(connection)
    raise StoreError(unknown) from lost
