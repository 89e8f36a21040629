"""The environment of programs that we start: what any program needs, and what was named for it; no keys."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

_PASSED_ON = re.compile(
    r"PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|COMSPEC|PATHEXT", re.IGNORECASE
)
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def build_program_environment(environ: Mapping[str, str], names: Iterable[str] = ()) -> dict[str, str]:
    """The variables that a program under test inherits; those of `names` that are set are added."""
    given = {name: value for name, value in environ.items() if _PASSED_ON.fullmatch(name)}
    named = {name: environ[name] for name in names if name in environ}
    return {"PATH": os.defpath, **given, **named}
