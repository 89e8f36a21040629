"""Sessions: files of commands with all that they print, and the machine that plays them.

A line of a session begins with what it is:

    # words for readers
    @ files NAME       what is in inputs/NAME lies in the working folder
    @ server           models listen under openai/NAME and anthropic/NAME (see `server`)
    @ store            the stored runs of `store.sqlite.gz` lie in the working folder
    $ COMMAND          is played; what follows it is what came of it
    | TEXT             a line of standard output; the last one ends in ⏎̸ where the line break is missing
    ! TEXT             a line of standard error
    = CODE             the exit code

A command is `evenhand …`, with `NAME=VALUE` before it, `< FILE` and `> FILE` behind it, or one of:

    cat FILE, zcat FILE        its content, normalised
    digest FILE                how many lines it has, unpacked, and a hash of its normalised content
    write FILE TEXT            a file with this text; \\n is a line break
    edit FILE OLD NEW          OLD becomes NEW everywhere in it
    copy FILE FILE, remove PATH
    requests                   what the server was asked since it was last said
    calls                      how often Python judges were asked since it was last said (they write calls.txt)

What varies is put to the same: ids of runs and contests, times, durations, versions, ports, the working folder; numbers
have twelve digits at most.
"""

import gzip
import hashlib
import importlib
import io
import json
import os
import re
import shlex
import shutil
import socket
import sys
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from evenhand.cli.entry import main
from tests.decision_server import DecisionServer
from tests.golden.server import Json, ModelServer

HERE = Path(__file__).parent
SESSIONS = HERE / "sessions"
STORE = HERE / "store.sqlite.gz"
HOST = "models.test"  # The server's name enters the keys of kept replies: they must not depend on a port.
UNBROKEN = "⏎̸"
RETURN = "␍"  # As it is, Git and editors would take it away.

_VARYING = re.compile(
    r"(?=\d)(?:"  # As each of them begins: most places of a text need no further look.
    r"(?P<id>\b\d{8}-\d{6}-[0-9a-f]{6}\b)|"
    r"(?P<moment>\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
    r"(?:\+00:00|(?!\d|[:.]\d|Z|[+-]\d\d:\d\d)))|"
    r"(?P<told>\b\d{1,2} [A-Z][a-z]{2} 20\d\d, \d\d:\d\d UTC\b(?!\+))|"  # As pages write a moment of the clock.
    r"(?P<port>\b127\.0\.0\.1:\d+)|"
    r"(?P<seconds>(?:(?<=\"median\": )|(?<=\"p95\": ))(?:0\.\d{4,}|\d[\d.]*e-\d+)|"
    r"(?<=seconds\": )\d[\d.e-]*|(?<=seconds\":)\d[\d.e-]*|(?<=\" time=\")\d[\d.]*|"
    r"\d\.\d(?=  unknown\b))|"  # In the table of models, before the price.
    r"(?P<number>(?<![\w.])\d+\.\d{12,}(?:e-?\d+)?(?!\w)))"
)


@dataclass
class Step:
    """A command with all that came of it, or a line that is none."""

    line: str
    out: str = ""
    err: str = ""
    code: int = 0

    def written(self) -> str:
        if not self.line.startswith("$"):
            return self.line + "\n"
        return f"{self.line}\n{_marked('|', self.out)}{_marked('!', self.err)}= {self.code}\n"


# How far a run has come is told every few seconds: on a slow machine more often. The last line says how far it came.
_FAR_SO_FAR = re.compile(r"^\d+ of \d+ (?:samples|repeats)\b.*\n(?=\d+ of \d+ (?:samples|repeats)\b)", re.MULTILINE)


@dataclass
class Folder:
    """Where a session is played, and what it keeps in mind."""

    path: Path
    server: ModelServer | None = None
    environ: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    requests_told: int = 0
    calls_told: int = 0

    def normal(self, text: str) -> str:
        """The text with what varies put to the same."""
        text = text.replace(str(self.path), "FOLDER").replace(str(self.path.resolve()), "FOLDER")
        text = _FAR_SO_FAR.sub("", text)
        text = re.sub(r"(?<=evenhand[\": ] )\d+\.\d+\.\d+\S*(?=\")", "VERSION", text)
        return _VARYING.sub(self._same, text)

    def _same(self, found: re.Match[str]) -> str:
        text = found[0]
        if found["id"]:
            return self.ids.setdefault(text, f"20261116-090000-{len(self.ids) + 1:06x}")
        if found["moment"]:
            zone = "+00:00" if text.endswith("+00:00") else ""
            return "2026-11-16T09:00:00.000000"[: len(text) - len(zone)].replace("T", text[10]) + zone
        if found["told"]:
            return "16 Nov 2026, 09:00 UTC"
        if found["port"]:
            return "127.0.0.1:PORT"
        return "0.0" if found["seconds"] else f"{float(text):.12g}"


def play(session: str, folder: Path) -> list[Step]:
    """Play the commands of a session in a folder; what they print is what they print now."""
    place = Folder(folder)
    steps = []
    with ExitStack() as stack:
        for line in session.removesuffix("\n").split("\n"):
            if line.startswith("@"):
                _prepare(line[1:].split(), place, stack)
            if line.startswith("$"):
                steps.append(_played(line, place))
            elif not line.startswith(("|", "!", "=")):
                steps.append(Step(line))
    return steps


def _prepare(words: list[str], place: Folder, stack: ExitStack) -> None:
    match words:
        case ["files", *names]:
            for name in names:
                shutil.copytree(HERE / "inputs" / name, place.path, dirs_exist_ok=True)
            for file in place.path.rglob("*.py.txt"):  # So that no tool takes them for code of ours.
                file.rename(file.with_suffix(""))
        case ["store"]:
            (place.path / ".evenhand").mkdir()
            (place.path / ".evenhand" / "store.sqlite").write_bytes(gzip.decompress(STORE.read_bytes()))
        case ["server"]:
            place.server = stack.enter_context(DecisionServer())
            stack.enter_context(patch("socket.getaddrinfo", _names_with(place.server)))
            place.environ |= {"OPENAI_BASE_URL": f"http://{HOST}/v1", "OPENAI_API_KEY": "key-of-nobody"}
            place.environ |= {"ANTHROPIC_BASE_URL": f"http://{HOST}/v1", "ANTHROPIC_API_KEY": "key-of-nobody"}
        case _:
            raise ValueError(f"no such preparation: {words}")


def _names_with(server: ModelServer) -> Callable[..., list[Any]]:
    """Look names up as ever, with one more that stands for this server, whichever port it has."""
    look_up = socket.getaddrinfo

    def found(host: object, *rest: Any, **named: Any) -> list[Any]:
        if host != HOST:
            return look_up(host, *rest, **named)  # type: ignore[arg-type]
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", server.port))]

    return found


def _played(line: str, place: Folder) -> Step:
    words = shlex.split(line[1:])
    environ = dict(place.environ)
    while re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        environ[name] = value
    if words[0] != "evenhand":
        return Step(line, place.normal(_SMALL[words[0]](place, *words[1:])))
    into = _redirected(words, ">")
    given = _redirected(words, "<")
    stdin = (place.path / given).read_bytes() if given else b""
    out, err, code = evenhand(place.path, words[1:], environ, stdin)
    if into:
        (place.path / into).write_bytes(out)
        out = b""
    return Step(line, place.normal(out.decode("utf-8", "backslashreplace")), place.normal(err.decode()), code)


def _redirected(words: list[str], sign: str) -> str | None:
    if sign not in words:
        return None
    at = words.index(sign)
    _, file = words[at : at + 2]
    del words[at : at + 2]
    return file


def evenhand(
    folder: Path, arguments: list[str], environ: dict[str, str] | None = None, stdin: bytes = b""
) -> tuple[bytes, bytes, int]:
    """Run the command line in this process, as in a new one: at 80 columns, with no setting but those given."""
    out, err, given = (io.TextIOWrapper(io.BytesIO(data), "utf-8", write_through=True) for data in (b"", b"", stdin))
    settings = {"COLUMNS": "80", "PATH": os.environ.get("PATH", ""), **(environ or {})}
    code: object = 0
    with (
        _own_modules(folder),
        chdir(folder),
        patch.dict(os.environ, settings, clear=True),
        patch("sys.argv", ["evenhand", *arguments]),
        patch.object(sys.modules["__main__"], "__package__", None),  # Else usage would name the tool that runs this.
        patch("sys.stdin", given),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    said, complained = (stream.buffer.getvalue() for stream in (out, err))
    return said, complained, int(str(code or 0))


@contextmanager
def _own_modules(folder: Path) -> Iterator[None]:
    """Judges in Python files are loaded anew each time: another folder may have others of the same name."""
    # Modules of the same names that other tests of this process have loaded are put aside.
    others = {file.stem: sys.modules.pop(file.stem) for file in folder.glob("*.py") if file.stem in sys.modules}
    path, compiled, loaded = list(sys.path), sys.dont_write_bytecode, set(sys.modules)
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = path, compiled
        for name in set(sys.modules) - loaded:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(f"{folder}/"):
                del sys.modules[name]
        sys.modules.update(others)


def _cat(place: Folder, file: str) -> str:
    return (place.path / file).read_text("utf-8")


def _zcat(place: Folder, file: str) -> str:
    return gzip.decompress((place.path / file).read_bytes()).decode()


_PACKED_SAMPLES = re.compile(r'(?<=<script type="application/gzip" class="samples">)([A-Za-z0-9+/=]+)')


def _digest(place: Folder, file: str) -> str:
    packed = (place.path / file).read_bytes().startswith(b"\x1f\x8b")
    text = _zcat(place, file) if packed else _cat(place, file)
    text = place.normal(_PACKED_SAMPLES.sub(lambda found: gzip.decompress(b64decode(found[1])).decode(), text))
    return f"{len(text.splitlines())} lines, sha256 {hashlib.sha256(text.encode()).hexdigest()}\n"


def _write(place: Folder, file: str, text: str) -> str:
    (place.path / file).write_text(text.replace("\\n", "\n"), "utf-8")
    return ""


def _edit(place: Folder, file: str, old: str, new: str) -> str:
    text = _cat(place, file)
    if old not in text:
        raise ValueError(f"{file} does not contain {old!r}")
    (place.path / file).write_text(text.replace(old, new.replace("\\n", "\n")), "utf-8")
    return ""


def _copy(place: Folder, source: str, target: str) -> str:
    shutil.copy(place.path / source, place.path / target)
    return ""


def _remove(place: Folder, path: str) -> str:
    target = place.path / path
    shutil.rmtree(target) if target.is_dir() else target.unlink()
    return ""


def _calls(place: Folder) -> str:
    file = place.path / "calls.txt"
    count = len(file.read_text("utf-8").splitlines()) if file.exists() else 0
    told, place.calls_told = place.calls_told, count
    return f"{count - told} calls\n"


def _requests(place: Folder) -> str:
    """What was asked, in an order that does not depend on which request was faster; what is long is said once."""
    assert place.server is not None
    asked = place.server.asked[place.requests_told :]
    place.requests_told = len(place.server.asked)
    parts = Counter(_request_parts(*request) for request in asked)
    said: dict[tuple[str, str], int] = {}
    lines = []
    for number, (request, times) in enumerate(sorted(parts.items()), 1):
        lines.append(f"Request {number}{f', {times} times' if times > 1 else ''}")
        for name, text in request:
            first = said.setdefault((name, text), number)
            lines.append(name + text if first == number else f"{name} as in request {first}")
        lines.append("")
    return "".join(f"{line}\n" for line in lines) + f"{len(asked)} requests\n"


def _request_parts(path: str, headers: Json, body: Json) -> tuple[tuple[str, str], ...]:
    """A request to read: settings, headers, each turn as text, what is asked of the answer as JSON."""
    body = dict(body)
    turns = [("system", body.pop("system"))] if "system" in body else []
    turns += [(turn["role"], turn["content"]) for turn in body.pop("input" if "input" in body else "messages")]
    forms = {
        name: body.pop(name) for name in ("response_format", "output_config", "tools", "questions") if name in body
    }
    parts = [(f"POST {path}", f" {json.dumps(body, sort_keys=True)}")]
    parts.append(("[headers]", f" {json.dumps(headers, sort_keys=True)}"))
    for role, content in turns:
        for block in [{"text": content}] if isinstance(content, str) else content:
            marks = {name: value for name, value in block.items() if name != "text"}
            parts.append((f"[{role}]{' ' + json.dumps(marks) if marks else ''}", f"\n{block['text']}"))
    parts += [(f"[{name}]", f" {json.dumps(form, ensure_ascii=False)}") for name, form in forms.items()]
    return tuple(parts)


_SMALL: dict[str, Callable[..., str]] = {
    "cat": _cat,
    "zcat": _zcat,
    "digest": _digest,
    "write": _write,
    "edit": _edit,
    "copy": _copy,
    "remove": _remove,
    "calls": _calls,
    "requests": _requests,
}


def _marked(sign: str, text: str) -> str:
    if not text:
        return ""
    lines = text.replace("\r", RETURN).removesuffix("\n").split("\n")
    if not text.endswith("\n"):
        lines[-1] += UNBROKEN
    return "".join(f"{sign} {line}".rstrip(" ") + "\n" if not line else f"{sign} {line}\n" for line in lines)
