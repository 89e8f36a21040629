"""A command in a shell: has the warm parent start `evenhand` or `python -c` with these streams, and ends as it ends.

It is run without the packages of this environment, so that it starts at once.
"""

import json
import os
import select
import socket
import sys


def main(address: str, argv: list[str]) -> int:
    """Start a command, wait for its end, and pass on its exit code."""
    order = {"argv": argv, "folder": os.getcwd(), "environ": dict(os.environ), "largest_file": None}  # noqa: PTH109
    pid = _ask(address, {**order, "obeys_permissions": False}, (0, 1, 2))
    select.select([os.pidfd_open(pid)], [], [])
    code = _ask(address, {"pid": pid})
    return code if code >= 0 else 128 - code  # As shells tell of a signal.


def _ask(address: str, order: dict[str, object], streams: tuple[int, ...] = ()) -> int:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as parent:
        parent.connect(address)
        socket.send_fds(parent, [json.dumps(order).encode()], streams)
        return int(parent.recv(100))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
