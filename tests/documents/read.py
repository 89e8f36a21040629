"""The five documents as text, fenced blocks and tables: what the tests run is read out of them."""

from pathlib import Path


def read_document(shared: Path, number: str) -> str:
    """The document whose file name begins with this number."""
    (path,) = (shared / "seeds").glob(f"{number}_*.txt")
    return path.read_text("utf-8")


def list_blocks(document: str, language: str) -> list[str]:
    """Its fenced blocks in one language, in order; a block that is printed inside another belongs to that one."""
    found, inside, lines = [], [], []  # type: ignore[var-annotated]
    for line in document.splitlines(keepends=True):
        mark = line.strip()
        if mark.startswith("```") and (mark != "```" or not inside):
            inside.append(mark[3:])
        elif mark == "```":
            name = inside.pop()
            if not inside:
                found += ["".join(lines)] if name == language else []
                lines = []
                continue
        if inside and not (len(inside) == 1 and mark == f"```{inside[0]}"):
            lines.append(line)
    return found


def read_table(document: str, heading: str) -> list[dict[str, str]]:
    """The table whose first line has this text, a mapping per row; the words in it without marks."""
    lines = document.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("|") and heading in line)
    names = _split_cells(lines[first])
    rows = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(dict(zip(names, _split_cells(line), strict=True)))
    return rows


def _split_cells(line: str) -> list[str]:
    return [cell.strip().strip("*`") for cell in line.strip().strip("|").split("|")]
