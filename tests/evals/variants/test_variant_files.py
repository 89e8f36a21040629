"""Variants in an eval file: every kind, and what is refused with its place."""

import json
from pathlib import Path

import pytest

from evenhand.errors import Fault
from evenhand.evals.variants.makers import RecordedVariant
from evenhand.evals.variants.variant import (
    CommandVariant,
    EndpointVariant,
    FunctionVariant,
    ModelVariant,
    VariantPromptTemplate,
)
from evenhand.evals.variants.variant_file import read_variants
from evenhand.files.tree import build_tree
from evenhand.models.requests import ModelSettings
from tests.evals.variants.making import read, refused


@pytest.mark.parametrize("definition", [None, {}, {"about": "recorded outputs"}])
def test_without_a_kind_outputs_come_with_the_samples(definition: object) -> None:
    """The usual case needs no words."""
    assert read(definition) == RecordedVariant()


def test_every_kind_is_read(tmp_path: Path) -> None:
    """One word each says what makes the outputs."""
    (tmp_path / "old.jsonl").write_text("")
    (tmp_path / "prompt.md").write_text("Answer: {input}")
    command = {"command": "./bot --name 'a b'", "seconds": 5, "about": "the bot"}
    url = "https://example.org/${PLACE}"
    http = {"http": {"url": url, "headers": {"X": "1"}, "body": {"q": ["{input}"]}, "field": "a.0"}}
    model = {"model": "openai/x", "prompt": {"file": "prompt.md"}, "temperature": 0.5, "max_tokens": 9}

    assert read({"outputs": "old.jsonl"}, tmp_path) == RecordedVariant(
        outputs=tmp_path / "old.jsonl", about="recorded outputs in old.jsonl"
    )
    assert read(command, tmp_path) == CommandVariant(
        argv=("./bot", "--name", "a b"), folder=tmp_path, seconds=5.0, about="the bot"
    )
    assert read({"command": ["a", "b c", 3]}, tmp_path) == CommandVariant(
        argv=("a", "b c", "3"), folder=tmp_path, about="command a 'b c' 3"
    )
    assert read(http) == EndpointVariant(
        url=url, headers={"X": "1"}, body={"q": ["{input}"]}, field="a.0", about=f"http {url}"
    )
    assert read({"python": "python:bots:answer"}, tmp_path) == FunctionVariant(
        name="bots:answer", folder=tmp_path, about="python bots:answer"
    )
    assert read(model, tmp_path) == ModelVariant(
        model="openai/x",
        prompt=(("user", VariantPromptTemplate("Answer: {input}")),),
        settings=ModelSettings(temperature=0.5, max_tokens=9),
        about="model openai/x",
    )


def test_a_prompt_may_be_a_list_of_messages() -> None:
    """Roles as every server knows them."""
    variant = read(
        {"model": "m", "prompt": [{"role": "system", "text": "Be brief."}, {"role": "user", "content": "{id}"}]}
    )

    assert isinstance(variant, ModelVariant)
    assert variant.prompt == (("system", VariantPromptTemplate("Be brief.")), ("user", VariantPromptTemplate("{id}")))


@pytest.mark.parametrize(
    ("definition", "complaint"),
    [
        ({"command": "a", "model": "b"},
         "new: a variant is of one kind, and this one is command and model (keep one of them)"),
        ({"comand": "a"}, "new.comand: unknown field 'comand' (did you mean 'command'?)"),
        ("a.jsonl", "new: expected fields such as about, command, env, http, got the text 'a.jsonl'"),
        ({"outputs": "none.jsonl"}, "new.outputs: none.jsonl: cannot be read: no such file or directory"),
        ({"outputs": "/dev/null"},
         "new.outputs: /dev/null: is not a regular file (it is read more than once: save what it gives to a file)"),
        ({"command": "a 'b"},
         "new.command: the command cannot be split into words: no closing quotation (as in command: [./bot, --fast])"),
        ({"command": []}, "new.command: a command needs a program"),
        ({"command": [["a"]]}, "new.command: a command is a list of words (as in command: [./bot, --fast])"),
        ({"command": "a", "seconds": 0}, "new.command: seconds must be above 0 and at most a day, got 0"),
        ({"command": "a", "prompt": "x"}, "new.prompt: prompt is for a variant with a model (add model: NAME)"),
        ({"model": "m", "seconds": 3}, "new.seconds: seconds are for a command, http or python"),
        ({"python": "bots"}, "new.python: 'bots' is not MODULE:FUNCTION"),
        ({"http": {"url": "ftp://x"}},
         "new.http.url: an http variant needs a url that begins with http:// or https:// "
         "(as in url: https://example.org/answer)"),
        ({"http": {"url": "http://u:p@x"}},
         "new.http.url: a url must not hold a password (send it as headers: {Authorization: '${NAME}'})"),
        ({"http": {"url": "http://x", "headers": {"Authorization": "Bearer abc"}}},
         "new.http.headers.Authorization: the secret of the header Authorization stands in the file "
         "(export it and write Authorization: '${NAME}')"),
        ({"http": {"url": "http://x", "headers": {"a b": "c"}}},
         "new.http.headers.a b: 'a b' is not a header with a value"),
        ({"http": {"url": "http://x", "body": ["{inptu}"]}},
         "new.http.body: unknown place {inptu} (did you mean 'input'?; {{ and }} stand for braces)"),
        ({"http": {"url": "http://x", "method": "GET"}},
         "new.http.method: method 'GET' is not known (known: POST, PUT)"),
        ({"model": "embedded"}, "new.model: embedded judges by rules and writes nothing (name a model that writes)"),
        ({"model": "m", "prompt": "{inptu}"},
         "new.prompt: unknown place {inptu} (did you mean 'input'?; {{ and }} stand for braces)"),
        ({"model": "m", "prompt": "a { b"}, "new.prompt: a single '{' (write {{ for a brace that is none of ours)"),
        ({"model": "m", "prompt": []}, "new.prompt: a prompt needs a message"),
        ({"model": "m", "prompt": [{"role": "user"}]}, "new.prompt[0]: a message needs a role and a text"),
        ({"model": "m", "prompt": [{"role": "tool", "text": "x"}]},
         "new.prompt[0].role: role 'tool' is not known (known: assistant, system, user)"),
        ({"model": "m", "prompt": {"file": "none.md"}},
         "new.prompt: none.md: cannot be read: no such file or directory"),
        ({"model": "m", "temperature": 3}, "new.temperature: temperature must be from 0 to 2"),
        ({"model": "m", "max_tokens": 0}, "new.max_tokens: max_tokens must be above 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_variant_is_refused_with_its_place(definition: object, complaint: str) -> None:
    """Before anything is started, sent or paid for."""
    assert refused(definition) == [complaint]


@pytest.mark.parametrize("node", [[], {}, None, "x"])
def test_variants_are_a_mapping_of_names(node: object) -> None:
    """A list of variants would have no names to speak of."""
    faults: list[Fault] = []

    assert read_variants(build_tree(node), Path(), faults, ("variants",)) == {}
    assert "variants map names to what makes the outputs" in faults[0].what


def test_a_definition_says_what_identifies_a_variant(tmp_path: Path) -> None:
    """What changes the outputs changes it; what only describes or bounds a variant does not."""
    file = tmp_path / "old.jsonl"
    file.write_text("{}")
    before = read({"outputs": "old.jsonl"}, tmp_path).definition()
    file.write_text("{ }")

    assert read({"outputs": "old.jsonl"}, tmp_path).definition() != before
    assert read({"command": "a b", "seconds": 3}).definition() == read({"command": ["a", "b"]}).definition()
    assert read({"command": "a b"}).definition() != read({"command": "a c"}).definition()
    assert read({"model": "m", "prompt": "a"}).definition() != read({"model": "m", "prompt": "b"}).definition()
    assert read({"model": "m"}).definition() != read({"model": "m", "temperature": 1}).definition()


def test_only_recorded_outputs_are_not_made_anew() -> None:
    """What is live is kept when it is made, so that a resumed run has it."""
    kinds: list[dict[str, str]] = [{}, {"command": "a"}, {"http": "http://x"}, {"model": "m"}, {"python": "a:b"}]

    assert [read(one).live for one in kinds] == [False, True, True, True, True]


def test_a_definition_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stored with the run: variables by name only."""
    monkeypatch.setenv("TOKEN", "very-secret-value")

    variant = read({"http": {"url": "http://x", "headers": {"Authorization": "Bearer ${TOKEN}"}}})

    assert "very-secret" not in json.dumps(variant.definition()) + repr(variant)
    assert "${TOKEN}" in json.dumps(variant.definition())
