"""Prompt texts: frozen by version, complete in each language, or refused with what is missing."""

import hashlib
import shutil
from pathlib import Path

import pytest

from evenhand import InputError
from evenhand.files.methods import LIBRARY
from evenhand.judging.prompts import DECISIONS, LANGUAGES, LENGTH, NAMES, load_prompts

# A changed text is a new version and a new fingerprint: change the version in the file, then the line here.
FROZEN: dict[str, str] = {
    "en/pointwise 1": "4c5c24d9aa4f",
    "en/checklist 1": "7bd0b9f5e39d",
    "en/individual 2": "41449d4b9145",
    "en/listwise 2": "926bb0d6469a",
    "en/pairwise 1": "6207e453f5eb",
    "en/dimensions 1": "820d7230b16a",
    "en/gate 1": "92e12ba4cc4e",
    "en/horizontal 2": "cdb011577088",
    "en/sampled 1": "71bd877bb4b2",
    "en/odds 1": "97d08d14deec",
    "en/odds-met 1": "f9d504e482f2",
    "en/odds-level 1": "83632e1fef2f",
    "en/odds-known 1": "ede63201ba3b",
    "en/rules 1": "2e3aa45419aa",
    "en/evidence 2": "ec0867ab8360",
    "en/repair 2": "c705c86186b1",
    "en/decisions 1": "caac22a2f667",
    "en/decisions-met 1": "b6303c234232",
    "en/decisions-level 1": "092c583476f3",
    "en/decisions-letter 1": "45f1a9e3e03b",
    "en/phrases 2": "02cb8bba5de4",
    "zh/pointwise 2": "b31e3e9e7f74",
    "zh/checklist 2": "67bab0f95b5d",
    "zh/individual 2": "05a7de6f18f6",
    "zh/listwise 2": "387fef4dbce9",
    "zh/pairwise 2": "e9282c9c0364",
    "zh/dimensions 2": "d10be9aa6493",
    "zh/gate 2": "de59b1cbca20",
    "zh/horizontal 2": "b2e080d0d7b4",
    "zh/sampled 1": "460e66e9d1a9",
    "zh/odds 1": "57a023abc926",
    "zh/odds-met 1": "74c088ce93ea",
    "zh/odds-level 1": "0355d2607013",
    "zh/odds-known 1": "2ce4dc0155d4",
    "zh/rules 2": "360b7b7008ff",
    "zh/evidence 2": "c5bcd1ddbc1e",
    "zh/repair 2": "ce85d8e1f125",
    "zh/decisions 1": "4c4caae5b812",
    "zh/decisions-met 1": "72df7b75b88d",
    "zh/decisions-level 1": "3a32b29d6a2e",
    "zh/decisions-letter 1": "e97a0d6dfaac",
    "zh/phrases 2": "70c89e44e5ea",
}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _version(text: str) -> str:
    return text.partition("\n")[0].removeprefix("version: ")


def test_the_shipped_texts_are_frozen() -> None:
    """Whoever changes a text changes what scores mean, and says so with a version."""
    found: dict[str, str] = {}
    for language in LANGUAGES:
        prompts = load_prompts(language)
        found |= {
            f"{language}/{name} {_version(prompts.texts[name])}": _hash(prompts.texts[name])
            for name in (*NAMES, *DECISIONS)
        }
        found[f"{language}/phrases {prompts.phrases['version']}"] = _hash(str(sorted(prompts.phrases.items())))

    assert found == FROZEN


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_text_and_phrase(language: str) -> None:
    """Nothing falls back silently to another language."""
    folder, model = LIBRARY / "prompts" / language, load_prompts("en")

    assert {path.stem for path in folder.glob("*.md")} == {*NAMES, *DECISIONS, LENGTH}
    assert load_prompts(language).phrases.keys() == model.phrases.keys()


def _own(tmp_path: Path) -> Path:
    return Path(shutil.copytree(LIBRARY / "prompts" / "en", tmp_path / "own"))


def test_a_folder_of_ones_own_is_a_language(tmp_path: Path) -> None:
    """Other languages come by file."""
    folder = _own(tmp_path)
    text = (folder / "rules.md").read_text("utf-8")
    (folder / "rules.md").write_text(text.replace("version: 1", "version: house-2"), "utf-8")

    prompts = load_prompts(str(folder))

    assert _version(prompts.texts["rules"]) == "house-2"
    assert prompts.used("pointwise") != load_prompts("en").used("pointwise")


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("pointwise.md", "{{material}}", "", "pointwise.md: the place {{material}} is missing"),
        ("pointwise.md", "{{form}}", "{{from}}", "unknown place {{from}} (did you mean 'form'?)"),
        ("gate.md", "=== task", "", "=== task"),
        ("rules.md", "version: 1", "", "it must begin with its version"),
        ("phrases.yaml", "question: The question or task\n", "", "phrase 'question' is missing"),
    ],
)
def test_a_folder_that_cannot_work_is_refused(tmp_path: Path, file: str, old: str, new: str, message: str) -> None:
    """A prompt without its material would judge nothing."""
    folder = _own(tmp_path)
    (folder / file).write_text((folder / file).read_text("utf-8").replace(old, new, 1), "utf-8")

    with pytest.raises(InputError) as error:
        load_prompts(str(folder))

    assert message in str(error.value)


def test_a_folder_may_ask_for_a_form_of_its_own(tmp_path: Path) -> None:
    """Two forms in one prompt contradict each other; replies in another form are read."""
    folder = _own(tmp_path)
    asked = (folder / "listwise.md").read_text("utf-8").replace("{{form}}", 'End with {"evaluations": {…}}.')
    (folder / "listwise.md").write_text(asked, "utf-8")

    text = load_prompts(str(folder)).texts["listwise"]

    assert "{{form}}" not in text
    assert 'End with {"evaluations": {…}}.' in text


def test_an_unknown_language_names_those_there_are() -> None:
    """Or a folder."""
    with pytest.raises(InputError, match="known: en, zh, or a folder"):
        load_prompts("tlh")
