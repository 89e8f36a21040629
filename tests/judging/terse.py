"""The shipped prompts without their prose: a small model on a small machine reads nothing that its reply does not need.

What is left are the places that are filled, the headings, and the first sentence; of the rules, which are the same in
all of them, nothing. `make soak` asks in full.
"""

import re
import shutil
from pathlib import Path

import pytest

from evenhand.judging.prompts import DECISIONS, NAMES
from tests.conftest import ROOT
from tests.soak import SOAK

SHIPPED = ROOT / "src" / "evenhand" / "library" / "prompts" / "en"
_NEEDED = re.compile(r"version:|# |=== task|.*\{\{\w+\}\}")

COMMON = ("rules", "evidence")
RULES = "version: 1\n\n-\n"


@pytest.fixture(scope="session")
def language(tmp_path_factory: pytest.TempPathFactory) -> str:
    """How a real model is asked: reading takes it longer than anything else, so in as few words as will do."""
    return "en" if SOAK else str(_write_terse_prompts(tmp_path_factory.mktemp("terse")))


def _write_terse_prompts(folder: Path) -> Path:
    """A folder of prompts, to be named where a language is."""
    for name in (*NAMES, *DECISIONS):
        text = (SHIPPED / f"{name}.md").read_text("utf-8")
        (folder / f"{name}.md").write_text(RULES if name in COMMON else _shorten(text), "utf-8")
    shutil.copy(SHIPPED / "phrases.yaml", folder)
    return folder


def _shorten(text: str) -> str:
    version, _, first, *rest = text.split("\n")
    kept = [line for line in rest if not line or _NEEDED.match(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join([version, "", first, *kept]))
