"""A command in a shell: has the warm parent start `evenhand` or `python -c` with these streams, and ends as it ends.

It is run without the packages of this environment, and imports no module that is written in Python and not there
already (json and socket are twice as much work as all the rest), so that it starts at once.
"""

import _socket
import os
import select
import sys
from _json import encode_basestring_ascii as quote


def main(address: str, argv: list[str]) -> int:
    """Start a command, wait for its end, and pass on its exit code."""
    streams = tuple(filter(_is_open, (0, 1, 2)))  # A shell may have closed some; whatever is opened here comes after.
    environ = ", ".join(f"{quote(name)}: {quote(value)}" for name, value in os.environ.items())
    order = (
        f'{{"argv": [{", ".join(map(quote, argv))}], "folder": {quote(os.getcwd())}, "environ": {{{environ}}}, '  # noqa: PTH109
        f'"largest_file": null, "obeys_permissions": false, "streams": {list(streams)}}}'
    )
    pid = _ask(address, order, streams)
    select.select([os.pidfd_open(pid)], [], [])
    code = _ask(address, f'{{"pid": {pid}}}')
    return code if code >= 0 else 128 - code  # As shells tell of a signal.


def _is_open(stream: int) -> bool:
    try:
        os.fstat(stream)
    except OSError:
        return False
    return True


def _ask(address: str, order: str, streams: tuple[int, ...] = ()) -> int:
    parent = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    parent.connect(address)
    passed = b"".join(stream.to_bytes(4, sys.byteorder) for stream in streams)
    beside = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)] if streams else []
    parent.sendmsg([order.encode()], beside)
    reply = int(parent.recv(100))
    parent.close()
    return reply


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
