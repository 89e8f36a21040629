"""Breaks the arithmetic on purpose, one operator at a time, and reports what no test noticed: `make mutants`."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "evenhand"
FILES: dict[str, tuple[str, ...]] = {  # What is broken in each; everything where nothing is named.
    "scoring/steps.py": (),
    "scoring/engine.py": ("prepare_step_inputs", "_fold_child_scores", "finish_scorecard", "apply_score_thresholds"),
    "scoring/scores.py": (
        "MOST_EQUIVALENTS_NAMED",
        "rank_scorecards",
        "_note_tied_scorecards",
        "list_equally_ranked_outputs",
        "_measure_rank_tie_break",
        "_name_scorecard_tie_breaks",
        "list_scorecard_tie_breaks",
        "HISTORY_WINDOW",
        "LEAST_HISTORY",
        "Consistency",
        "check_score_consistency",
        "ScoreHistory",
    ),
    "scoring/panel.py": (
        "score_panel",
        "_compute_review_scorecard",
        "_join_reviewer_scorecards",
        "_pool_gate_scores_by_majority",
        "_pool_answers_for_scorecard",
        "_average_criterion_scores",
        "_collect_criterion_scorecard_scores",
        "_list_criteria_missing_on_scorecards",
    ),
    "scoring/pooling.py": (),
    "scoring/exact_column.py": (),
    "scoring/columns.py": (
        "run_column_steps",
        "_apply_*_columns",
        "_sum_statement_step_columns",
        "COLUMN_STEP_FUNCTIONS",
    ),
    "model/scale.py": (
        "LARGEST_NUMBER",
        "MOST_FRACTION_DECIMALS",
        "to_exact_fraction",
    ),
    "wording.py": ("_round_ratio_half_away", "format_number_for_json"),
}
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
    for name, parts in FILES.items():
        file = PACKAGE / name
        if sys.argv[1:] and file.name not in sys.argv[1:]:
            continue
        original = file.read_text("utf-8")
        try:
            for line, what, text in list_mutants(original, parts):
                total += 1
                file.write_text(text, "utf-8")
                if _tests_pass():
                    survivors.append(f"{file.relative_to(ROOT)}:{line}: {what}")
                    sys.stdout.write(f"survived  {survivors[-1]}\n")
        finally:
            file.write_text(original, "utf-8")
    sys.stdout.write(f"{total - len(survivors)} of {total} mutants were noticed\n")
    return 1 if survivors else 0


def list_mutants(source: str, parts: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Each change of one operator, comparison, min or max, or whole number, outside sentences and annotations."""
    tree = ast.parse(source)
    told = {id(node) for node in _list_sentences(tree)}
    places = [node for part in _parts(tree, parts) for node in ast.walk(part) if id(node) not in told]
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


def _parts(tree: ast.Module, names: Sequence[str]) -> list[ast.stmt]:
    """The statements of a module that make these names, all without any; a name that nothing matches is an error."""
    made = [(name, node) for node in tree.body for name in _made_names(node)]
    for name in names:
        if not any(fnmatch(found, name) for found, _ in made):
            raise LookupError(f"nothing to break is called {name}")
    return [node for found, node in made if any(fnmatch(found, name) for name in names)] if names else tree.body


def _made_names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _changed(tree: ast.AST, node: ast.expr | ast.stmt, field: str, new: object) -> Iterator[tuple[int, str, str]]:
    old = getattr(node, field)
    before = ast.unparse(node)
    setattr(node, field, new)
    yield node.lineno, f"{before}  →  {ast.unparse(node)}", ast.unparse(tree)
    setattr(node, field, old)


def _list_sentences(tree: ast.AST) -> list[ast.AST]:
    """What only words the explanation is not arithmetic."""
    told = [
        function
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and (
            function.name.lstrip("_").startswith(("describe_", "format_"))
            or function.name.endswith("_notes")
            or function.name == "__str__"
        )
    ]
    return [node for function in told for node in ast.walk(function)]


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
