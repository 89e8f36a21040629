"""A process that goes on with a contest until it is killed, telling each event it has written: python -m … PLACE."""

import sys
from itertools import count

from evenhand.store.run_holds import name_lock_process
from evenhand.store.store import Store
from tests.store.rows import CONTEST, event_row

if __name__ == "__main__":
    with Store.open(sys.argv[1], {}) as store:
        store.contests.hold_contest(CONTEST, name_lock_process())
        for number in count(len([*store.contests.stream_events(CONTEST)])):
            store.contests.append_event(event_row(number, at="2026-12-01T18:00:00+00:00"))
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()
