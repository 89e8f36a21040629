"""The rules of the house: each takes modules and names every place that breaks it."""

import ast
import sys
from collections.abc import Collection, Iterator, Sequence

from tests.architecture.source import DOORS, LEVEL_OF, Module

MOST_LINES = 400
SHORTEST_PURPOSE = 15

THIRD_PARTY = {
    "files": {"orjson", "yaml"},
    "scoring": {"numpy"},
    "stats": {"numpy"},
    "models": {"aiohappyeyeballs", "httptools", "yarl"},
    "assertions": {"jsonschema", "rapidfuzz", "referencing", "regex"},
    "evals": {"pyarrow"},
    "store": {"alembic", "psycopg", "sqlalchemy"},
    "runs": {"numpy"},
    "compare": {"numpy"},
    "calibrate": {"numpy"},
    "report": {"jinja2", "pandas", "pyarrow"},
    "workflows": {"aiohttp", "opentelemetry", "ray"},
    "mcp": {"mcp", "mcp_types", "pydantic"},
    "service": {"fastapi", "prometheus_client", "pydantic", "starlette", "uvicorn"},
    "web": {"fastapi", "jinja2"},
    "cli": {"click", "rich"},
    "pytest_plugin": {"pytest"},
}

# Where `async` and `await` may stand: with those who send requests, make outputs or execute runs, and their callers.
WAITING_ROOMS = ("models", "workflows", *DOORS)
WAITING_FILES = (
    "judging/second_judgments.py",
    "judging/judge.py",
    "judging/open_judge.py",
    "judging/single_judge.py",
    "evals/variants/",
    "runs/execute.py",
    "runs/batches.py",
    "runs/live_batches.py",
    "runs/reply_cache.py",
    "contest/play.py",
)

# What a door reaches through workflows only. A service keeps its store open from start to end, and hands it to them.
BEHIND_WORKFLOWS = {
    "cli": ("store", "files", "evals", "stats"),
    "pytest_plugin": ("store", "files", "evals", "stats"),
    "service": ("files", "evals", "stats"),
    "web": ("files", "evals", "stats"),
    "mcp": ("store", "files", "evals", "stats"),
}

# What a value is worth depends on these alone where nothing is handed in; durations (`monotonic`) are not among them.
SURROUNDINGS = {
    "os": ("environ", "environb", "getenv", "getcwd", "chdir"),
    "sys": ("path",),
    "Path": ("cwd", "home"),
    "datetime": ("now", "utcnow", "today"),
    "date": ("today",),
    "time": ("time", "time_ns", "localtime", "gmtime", "ctime"),
}


# Values that stand for them: callers may hand in another clock, and only what is asked for by name is imported.
SURROUNDINGS_AS_VALUES = (
    ("models/limits.py", "time.time"),
    ("store/database.py", "datetime.now"),
    ("files/python_functions.py", "sys.path"),
)


def find_upward_imports(modules: Sequence[Module]) -> list[str]:
    """A room imports from levels below its own only."""
    return [
        f"{module.path}:{one.line}: {module.room} imports {one.room}"
        for module in modules
        for one in module.imports
        if one.is_own and one.room != module.room and LEVEL_OF[one.room] >= LEVEL_OF[module.room]
    ]


def find_shortcuts(modules: Sequence[Module]) -> list[str]:
    """A command, the plugin or a route reads no file and opens no store: it calls a workflow and shows what comes."""
    return [
        f"{module.path}:{one.line}: {one.module}"
        for module in modules
        for one in module.imports
        if one.is_own and one.room in BEHIND_WORKFLOWS.get(module.room, ())
    ]


def find_foreign_packages(modules: Sequence[Module]) -> list[str]:
    """A third-party package is used in the rooms that are meant to."""
    return [
        f"{module.path}:{one.line}: {module.room} imports {package}"
        for module in modules
        for one in module.imports
        if (package := one.module.partition(".")[0]) not in sys.stdlib_module_names and not one.is_own
        if package not in THIRD_PARTY.get(module.room, ())
    ]


def find_private_imports(modules: Sequence[Module]) -> list[str]:
    """Nobody imports a private module of another room, nor a private name of another module."""
    return [
        f"{module.path}:{one.line}: {one.module} {one.name}"
        for module in modules
        for one in module.imports
        if one.is_own and (_is_private_module(one.module, module.room) or _is_private(one.name))
    ]


def _is_private_module(name: str, room: str) -> bool:
    _, *rooms = name.split(".")
    return bool(rooms) and rooms[0] != room and any(_is_private(part) for part in rooms[1:])


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name != "_version"


def find_missing_purposes(modules: Sequence[Module]) -> list[str]:
    """A module opens with a sentence: whoever reads only first lines learns the architecture."""
    firsts = {module.path: (ast.get_docstring(module.tree) or "").partition("\n")[0] for module in modules}
    return [f"{path}: {first!r}" for path, first in firsts.items() if len(first) <= SHORTEST_PURPOSE]


def find_long_files(modules: Sequence[Module]) -> list[str]:
    """A file is a chapter that is read at one sitting."""
    lengths = {module.path: len(module.text.splitlines()) for module in modules}
    return [f"{path}: {length} lines" for path, length in lengths.items() if length > MOST_LINES]


def find_repeated_classes(modules: Sequence[Module]) -> list[str]:
    """A public class name exists once, so that a search for it ends."""
    homes: dict[str, list[str]] = {}
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and not _is_private(node.name):
                homes.setdefault(node.name, []).append(module.path)
    return [f"{name}: {', '.join(paths)}" for name, paths in homes.items() if len(paths) > 1]


def find_unbounded_fractions(modules: Sequence[Module]) -> list[str]:
    """A fraction out of stored data is read by `read_kept_fraction`: `Fraction("1e999999999")` never ends."""
    return [
        f"{module.path}:{node.lineno}: {ast.unparse(node)}"
        for module in modules
        if LEVEL_OF[module.room] >= LEVEL_OF["store"]
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Fraction" and len(node.args) == 1
        if _is_taken_from_data(node.args[0])
    ]


def _is_taken_from_data(given: ast.expr) -> bool:
    """Whether a value comes out of a mapping or a list as it is; a float out of one has its bounds."""
    text = ast.unparse(given)
    return not text.startswith("float(") and ("[" in text or ".get(" in text)


def find_surroundings(modules: Sequence[Module]) -> list[str]:
    """Clock, environment, search path and working directory are read in workflows and doors, and handed down."""
    return [
        f"{module.path}:{line}: {name}"
        for module in modules
        if module.room not in ("workflows", *DOORS)
        for name, line in _list_surroundings(module)
        if (module.path, name) not in SURROUNDINGS_AS_VALUES
    ]


def _list_surroundings(module: Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(module.tree):
        base = node.value.id if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) else ""
        if isinstance(node, ast.Attribute) and node.attr in SURROUNDINGS.get(base, ()):
            yield f"{base}.{node.attr}", node.lineno
    for one in module.imports:
        if one.name in SURROUNDINGS.get(one.module, ()):
            yield f"{one.module}.{one.name}", one.line


def find_waiting(modules: Sequence[Module]) -> list[str]:
    """Asking is data, sending is elsewhere: prompts, readers and dialogues are tested without a loop."""
    waits = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
    return [
        f"{module.path}:{node.lineno}"
        for module in modules
        if module.room not in WAITING_ROOMS and not module.path.startswith(WAITING_FILES)
        for node in ast.walk(module.tree)
        if isinstance(node, waits)
    ]


def find_method_names(modules: Sequence[Module], names: Collection[str]) -> list[str]:
    """The arithmetic knows steps, never methods."""
    return [
        f"{module.path}:{node.lineno}: {node.value!r}"
        for module in modules
        if module.room in ("model", "scoring", "stats", "judging", "compare")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and node.value in names
    ]


def find_unused_allowances(modules: Sequence[Module]) -> list[str]:
    """What is allowed here and used nowhere is taken from the tables above."""
    used: dict[str, set[str]] = {}
    for module in modules:
        used.setdefault(module.room, set()).update(one.module.partition(".")[0] for one in module.imports)
    packages = [f"{room}: {package}" for room, some in THIRD_PARTY.items() for package in some - used.get(room, set())]
    seen = {(module.path, name) for module in modules for name, _ in _list_surroundings(module)}
    values = [f"{path}: {name}" for path, name in SURROUNDINGS_AS_VALUES if (path, name) not in seen]
    return packages + values + [start for start in WAITING_FILES if not _any_starts_with(modules, start)]


def _any_starts_with(modules: Sequence[Module], start: str) -> bool:
    return any(module.path.startswith(start) for module in modules)
