"""What a failure of a file or a database means to whoever runs an eval, and what would help."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

from evenhand.errors import Fault

# By SQLite's own name for it, and by a part of what PostgreSQL or the system says; the first that fits counts.
_KNOWN = (
    (("READONLY", "PERM", "read-only", "permission denied"), "cannot be written", "write access is needed"),
    (("CANTOPEN",), "cannot be opened", "is it a file in a folder that can be written?"),
    (("FULL", "no space left", "disk full"), "the disk is full", "make room; what was written before is kept"),
    (("IOERR",), "cannot be read or written", "is the disk full or failing? What was written before is kept"),
    (("BUSY", "LOCKED", "lock timeout"), "another process keeps it locked", "wait until it has finished"),
    (("NOTADB", "CORRUPT"), "is not a store of Evenhand, or damaged", "move the file away, or restore a copy"),
    (("password authentication", "no password"), "does not accept the user or the password", "check the address"),
    (("connection failed", "could not translate", "connection timeout", "server closed", "terminating connection",
      "connection is closed", "connection is lost"), "cannot be reached", "is the server running?"),
    (("CONSTRAINT", "unique constraint", "foreign key"), "does not fit what is there", "is the run still in it?"),
)  # fmt: skip


def fault_of(error: Exception, where: str, password: str = "") -> Fault:
    """One sentence for a failure: what it means, what would help, and the first line of what was said."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    said = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
    if password:
        said = said.replace(password, "***")
    code = getattr(cause, "sqlite_errorname", "").removeprefix("SQLITE_").partition("_")[0]
    text = str(cause).lower()
    for signs, what, hint in _KNOWN:
        if any(sign == code or (sign.islower() and sign in text) for sign in signs):
            return Fault(f"{what}: {said}", hint, where=where)
    return Fault(f"failed: {said}", where=where)
