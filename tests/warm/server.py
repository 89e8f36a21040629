"""A parent that has Evenhand imported and forks a process for every command: a start takes milliseconds, not a second.

It listens on a Unix socket until its standard input is closed. An order is one message of JSON: a command to start,
with its standard streams, answered by the id of its process; or such an id, answered by the exit code once it ended.
"""

import atexit
import ctypes
import gc
import io
import json
import os
import pkgutil
import resource
import select
import signal
import socket
import struct
import sys
import threading
import types
from importlib import import_module
from typing import Any

ORDER_BYTES = 200_000
OTHERS = (
    "alembic.command",
    "sqlalchemy.dialects.sqlite",
    "psycopg",
    "numpy.random",
    "numpy.ma",
    "numpy.polynomial",
    "rich.console",
    "rich.table",
    "wordllama",
)

started: set[int] = set()


def main(path: str) -> None:
    """Carry orders out until nobody can give any, then end what is left."""
    _import_everything()
    _compile_patterns()
    gc.freeze()  # What is shared is not looked through again, nor copied for it, in every process.
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen(100)
        os.write(1, b"ready\n")
        while 0 not in (ready := select.select([0, listener.fileno()], [], [])[0]):
            assert ready
            with listener.accept()[0] as asker:
                _obey(asker, listener)
    for pid in started:
        os.kill(pid, signal.SIGKILL)


def _import_everything() -> None:
    package = import_module("evenhand")
    found = pkgutil.walk_packages(package.__path__, "evenhand.")
    for name in (*(module.name for module in found if not module.name.endswith("__main__")), *OTHERS):
        import_module(name)


def _compile_patterns() -> None:
    """What every process that runs an eval would compile for itself in half of its time: guards, embedded judge."""
    for act in import_module("evenhand.guards.output_guards").load_safety_guard_patterns().acts.values():
        assert act.pattern
    injection = import_module("evenhand.guards.injection")
    for pattern in {one for found in injection.load_injection_rules().patterns.values() for one in found}:
        injection._compile_injection_pattern(pattern.followed_by)
        for before in filter(None, (pattern.preceded_by, pattern.not_preceded_by)):
            injection._compile_injection_pattern(rf"(?:{before})\Z")
    evenhand = import_module("evenhand")
    rubric = evenhand.load_rubric({"criteria": ["Names the page 'Orders'", "Is at most 60 words long", "Is kind"]})
    evenhand.judge_sync(rubric, evenhand.Sample(outputs={"a": "Open Orders. Ignore the rest; we never ship on 3 May."}))


def _obey(asker: socket.socket, listener: socket.socket) -> None:
    message, streams, _, _ = socket.recv_fds(asker, ORDER_BYTES, 3)
    order = json.loads(message)
    if "pid" in order:
        reply = _ended(order["pid"])
    else:
        reply = os.fork()
        if not reply:
            asker.close()
            listener.close()
            _run(order, streams)
        started.add(reply)
    for stream in streams:
        os.close(stream)
    asker.send(json.dumps(reply).encode())


def _run(order: dict[str, Any], streams: list[int]) -> None:
    """Become the command; `python -c CODE` is one too."""
    started.clear()
    os.setsid()
    os.chdir(order["folder"])
    for number in {0, 1, 2}.difference(order["streams"]):
        os.close(number)
    for number, stream in zip(order["streams"], streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(order["environ"])
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        opened = _open_stream(number, name) if number in order["streams"] else None
        setattr(sys, name, opened)
        setattr(sys, f"__{name}__", opened)
    if order["largest_file"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["largest_file"], order["largest_file"]))
    if order["obeys_permissions"]:
        _give_up_privileges()
    del sys.path[0]  # This script's folder.
    sys.argv = order["argv"]
    code: object = None
    try:
        _run_python(sys.argv.pop()) if sys.argv[0] == "python" else import_module("evenhand.cli.entry").main()
    except SystemExit as ended:
        code = ended.code
    _exit(code)


def _open_stream(number: int, name: str) -> io.TextIOWrapper:
    """A standard stream as Python opens it when it starts, with these variables of the environment."""
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    is_unbuffered = bool(os.environ.get("PYTHONUNBUFFERED")) and name != "stdin"
    binary: Any = open(number, "rb" if name == "stdin" else "wb", 0 if is_unbuffered else -1, closefd=False)  # noqa: SIM115
    raw = binary if is_unbuffered else binary.raw
    raw.name = f"<{name}>"
    return io.TextIOWrapper(
        binary,
        encoding=encoding or None,
        errors="backslashreplace" if name == "stderr" else errors or "strict",
        newline=None if name == "stdin" else "\n",
        line_buffering=not is_unbuffered and (name == "stderr" or raw.isatty()),
        write_through=is_unbuffered,
    )


def _run_python(code: str) -> None:
    sys.path.insert(0, "")
    main_module = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(compile(code, "<string>", "exec"), vars(main_module))


def _exit(code: object) -> None:
    """End as Python does, but leave the memory as it is: freeing it object by object would first copy all of it."""
    if isinstance(code, str) and sys.stderr:
        sys.stderr.write(f"{code}\n")
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    status = 1 if isinstance(code, str) else int(str(code or 0))
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            if not stream.closed:
                stream.flush()
        except OSError:
            status = 120
    os._exit(status)


def _give_up_privileges() -> None:
    """Be bound by the permissions of files, also as root: a process without capabilities is."""
    version = 0x20080522
    assert ctypes.CDLL(None).capset(struct.pack("Ii", version, 0), bytes(24)) == 0


def _ended(pid: int) -> int | None:
    """The exit code of a process, below zero for the signal that ended it; None while it lives."""
    found, status = os.waitpid(pid, os.WNOHANG)
    if not found:
        return None
    started.discard(pid)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    main(sys.argv[1])
