"""Breaks the arithmetic on purpose, one operator at a time, and reports what no test noticed: `make mutants`."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCORING = ROOT / "src" / "evenhand" / "scoring"
FILES = [
    SCORING / name
    for name in (
        "_steps.py",
        "_fold.py",
        "_decide.py",
        "_ranking.py",
        "_panel.py",
        "_pool.py",
        "_moments.py",
        "_history.py",
        "_column.py",
        "_column_steps.py",
    )
] + [ROOT / "src" / "evenhand" / "model" / "_numbers.py"]
TESTS = ["tests/scoring", "tests/model", "tests/conformance", "tests/properties"]

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


def main() -> int:
    """Try every mutant; 1 when one survives."""
    survivors = []
    total = 0
    chosen = [file for file in FILES if not sys.argv[1:] or file.name in sys.argv[1:]]
    for file in chosen:
        original = file.read_text("utf-8")
        try:
            for line, what, text in _mutants(original):
                total += 1
                file.write_text(text, "utf-8")
                if _tests_pass():
                    survivors.append(f"{file.relative_to(ROOT)}:{line}: {what}")
                    sys.stdout.write(f"survived  {survivors[-1]}\n")
        finally:
            file.write_text(original, "utf-8")
    sys.stdout.write(f"{total - len(survivors)} of {total} mutants were noticed\n")
    return 1 if survivors else 0


def _mutants(source: str) -> Iterator[tuple[int, str, str]]:
    """Each change of one operator, comparison, min or max, or whole number, outside sentences and annotations."""
    tree = ast.parse(source)
    places = [node for node in ast.walk(tree) if not _in_sentence(tree, node)]
    for node in places:
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in SWAPS and not _is_union(node):
            yield from _changed(tree, node, "op", SWAPS[type(node.op)]())
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            new = [SWAPS[type(node.ops[0])](), *node.ops[1:]]
            yield from _changed(tree, node, "ops", new)
        elif isinstance(node, ast.Name) and node.id in NAMES:
            yield from _changed(tree, node, "id", NAMES[node.id])
        elif (
            isinstance(node, ast.Attribute)
            and node.attr in NAMES
            and isinstance(node.value, ast.Name)
            and node.value.id == "np"
        ):
            yield from _changed(tree, node, "attr", NAMES[node.attr])
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield from _changed(tree, node, "value", node.value + 1)


def _changed(tree: ast.AST, node: ast.expr | ast.stmt, field: str, new: object) -> Iterator[tuple[int, str, str]]:
    old = getattr(node, field)
    before = ast.unparse(node)
    setattr(node, field, new)
    yield node.lineno, f"{before}  →  {ast.unparse(node)}", ast.unparse(tree)
    setattr(node, field, old)


def _in_sentence(tree: ast.AST, node: ast.AST) -> bool:
    """What only words the explanation is not arithmetic."""
    for function in ast.walk(tree):
        told = isinstance(function, ast.FunctionDef) and (
            function.name.startswith(("_tell", "_told", "_shown")) or function.name in ("__str__", "written", "_notes")
        )
        if told and any(child is node for child in ast.walk(function)):
            return True
    return False


def _is_union(node: ast.BinOp | ast.AugAssign) -> bool:
    return isinstance(node.op, ast.BitOr)


def _tests_pass() -> bool:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1", *TESTS],
        cwd=ROOT, capture_output=True, check=False, timeout=300,
    )  # fmt: skip
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
