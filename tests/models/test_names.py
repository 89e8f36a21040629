"""Names of models: who is meant, where it answers, and to whom a key may go."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import JudgeError
from evenhand.models.model_names import (
    FunctionPath,
    ModelAddress,
    ReplayFile,
    list_configured_providers,
    parse_model_name,
    parse_oracle_model_name,
)

OPENAI, ANTHROPIC, OWN = "sk-openai-11111111", "sk-ant-22222222", "own-33333333"
KEYS = {"OPENAI_API_KEY": OPENAI, "ANTHROPIC_API_KEY": ANTHROPIC}


def address(name: str, **environ: str) -> ModelAddress:
    found = parse_model_name(name, {**KEYS, **environ})
    assert isinstance(found, ModelAddress)
    return found


@pytest.mark.parametrize(
    ("name", "environ", "base", "model"),
    [
        ("openai/gpt-4o", {}, "https://api.openai.com/v1", "gpt-4o"),
        ("openai/ft:gpt/x", {}, "https://api.openai.com/v1", "ft:gpt/x"),
        ("openai/m", {"OPENAI_BASE_URL": "http://proxy:9/openai/"}, "http://proxy:9/openai", "m"),
        ("anthropic/claude", {}, "https://api.anthropic.com/v1", "claude"),
        ("anthropic/claude", {"ANTHROPIC_BASE_URL": "http://proxy"}, "http://proxy/v1", "claude"),
        ("anthropic/claude", {"ANTHROPIC_BASE_URL": "http://proxy/v1/"}, "http://proxy/v1", "claude"),
        ("ollama/llama3:8b", {}, "http://localhost:11434/v1", "llama3:8b"),
        ("ollama/m", {"OLLAMA_HOST": "0.0.0.0"}, "http://127.0.0.1:11434/v1", "m"),
        ("ollama/m", {"OLLAMA_HOST": ":9000"}, "http://localhost:9000/v1", "m"),
        ("ollama/m", {"OLLAMA_HOST": "box:9000"}, "http://box:9000/v1", "m"),
        ("ollama/m", {"OLLAMA_HOST": "https://box.example/"}, "https://box.example/v1", "m"),
        ("openai-compatible:http://127.0.0.1:8080/v1/tiny", {}, "http://127.0.0.1:8080/v1", "tiny"),
        ("openai-compatible:http://h/v1/org/model", {}, "http://h/v1", "org/model"),
        ("openai-compatible:http://h/api/v1beta/org/model/v2/x", {}, "http://h/api/v1beta", "org/model/v2/x"),
        ("openai-compatible:http://h:1/model", {}, "http://h:1", "model"),
        ("openai-compatible:http://h/inference/model", {}, "http://h/inference", "model"),
        ("openai-compatible:http://h/inference//org/model", {}, "http://h/inference", "org/model"),
        ("anthropic-compatible:http://h/claude", {}, "http://h/v1", "claude"),
    ],
)
def test_a_name_says_where_to_ask(name: str, environ: dict[str, str], base: str, model: str) -> None:
    """The name of a model may have slashes of its own."""
    found = address(name, **environ)

    assert (found.base, found.model) == (base, model)


def test_other_names_are_files_and_functions() -> None:
    """They need no key."""
    assert parse_model_name("replay:runs/a.jsonl", {}) == ReplayFile(Path("runs/a.jsonl"))
    assert parse_model_name("python:my.judges:strict", {}) == FunctionPath("my.judges", "strict")


@pytest.mark.parametrize(
    ("name", "environ", "key"),
    [
        ("openai/m", {}, OPENAI),
        ("anthropic/m", {}, ANTHROPIC),
        ("ollama/m", {"EVENHAND_API_KEY": OWN}, None),
        ("openai-compatible:http://other.example/v1/m", {}, None),
        ("openai-compatible:http://other.example/v1/m", {"EVENHAND_API_KEY": OWN}, OWN),
        ("openai-compatible:https://api.openai.com/v1/m", {}, OPENAI),
        ("openai-compatible:http://api.openai.com/v1/m", {}, None),
        ("openai-compatible:https://api.openai.com:8443/v1/m", {}, None),
        ("openai-compatible:https://api.openai.com.evil.example/v1/m", {}, None),
        ("openai-compatible:https://api.openai.com/v1/m", {"OPENAI_BASE_URL": "http://proxy/v1"}, None),
        ("openai-compatible:http://proxy/v2/m", {"OPENAI_BASE_URL": "http://PROXY:80/v1"}, OPENAI),
        ("anthropic-compatible:http://other.example/m", {}, None),
        ("anthropic-compatible:https://api.anthropic.com/m", {}, ANTHROPIC),
        ("openai-compatible:https://api.anthropic.com/v1/m", {}, None),
    ],
)
def test_a_key_goes_only_where_it_was_meant_to(name: str, environ: dict[str, str], key: str | None) -> None:
    """Same scheme, same host, same port; a key for one provider is none for another."""
    assert address(name, **environ).key == key


@pytest.mark.parametrize(
    ("name", "environ", "says"),
    [
        ("openai/m", {}, "OPENAI_API_KEY is not set"),
        ("anthropic/m", {"ANTHROPIC_API_KEY": "  "}, "ANTHROPIC_API_KEY is not set"),
        ("openai/m", {"OPENAI_API_KEY": "sk-a\nX-Evil: 1"}, "environment variable OPENAI_API_KEY: it has characters"),
        ("openai/", KEYS, "needs the name of a model"),
        ("opanai/m", {}, "did you mean 'openai'"),
        ("my-model", {}, "models are named embedded, anthropic/NAME, openai/NAME"),
        ("", {}, "models are named"),
        ("python:judges", {}, "python:MODULE:FUNCTION"),
        ("replay:", {}, "replay:FILE"),
        ("openai-compatible:", {}, "a URL and the name of a model"),
        ("openai-compatible:http://host", {}, "a URL and the name of a model"),
        ("openai-compatible:host:80/v1/m", {}, "a URL and the name of a model"),
        ("openai-compatible:ftp://host/v1/m", {}, "not the URL of a server"),
        ("openai-compatible:http://host:99999/v1/m", {}, "not the URL of a server"),
        ("openai-compatible:http://ho st/v1/m", {}, "not the URL of a server"),
        ("openai-compatible:http://me:secretword@host/v1/m", {}, "cannot hold a password"),
        ("openai-compatible:http://host/api?key=secretword/m", {}, "without ? or #"),
        ("openai-compatible:http://host?key=secretword", {}, "a URL and the name of a model"),
        ("openai-compatible:http://host/v1/m?key=secretword", {}, "without ? or #"),
        ("openai-compatible:http://me:secretword@host", {}, "a URL and the name of a model"),
        ("ollama/m", {"OLLAMA_HOST": "http://a b"}, "environment variable OLLAMA_HOST"),
        ("openai/m", {**KEYS, "OPENAI_BASE_URL": "nowhere"}, "environment variable OPENAI_BASE_URL"),
    ],
)
def test_a_name_that_cannot_be_asked_is_refused_at_once(name: str, environ: dict[str, str], says: str) -> None:
    """Before anything is sent, with what would work, and without what may be secret."""
    with pytest.raises(JudgeError) as caught:
        parse_model_name(name, environ)

    assert says in str(caught.value)
    assert "secretword" not in str(caught.value)


def test_a_key_is_not_shown() -> None:
    """Not by printing the address either."""
    assert OPENAI not in repr(address("openai/m"))


@given(name=st.text(max_size=60) | st.builds("openai-compatible:http{}".format, st.text(max_size=40)))
def test_any_name_is_understood_or_refused(name: str) -> None:
    """No other exception, whatever is typed."""
    try:
        found = parse_model_name(name, KEYS)
    except JudgeError:
        return

    assert found


@pytest.mark.parametrize(
    ("environ", "name", "model"),
    [
        ({}, "anthropic/claude-sonnet-4-20250514", "claude-sonnet-4-20250514"),
        ({"ORACLE_LLM_MODEL": "claude-x"}, "anthropic/claude-x", "claude-x"),
        ({"ORACLE_LLM_PROVIDER": "OpenAI", "ORACLE_LLM_MODEL": "gpt-4o"}, "openai/gpt-4o", "gpt-4o"),
        (
            {"ORACLE_LLM_PROVIDER": "openai", "ORACLE_LLM_MODEL": "org/m", "ORACLE_LLM_BASE_URL": "http://h/v1/"},
            "openai-compatible:http://h/v1/org/m",
            "org/m",
        ),
        (
            {"ORACLE_LLM_PROVIDER": "openai", "ORACLE_LLM_MODEL": "org/m", "ORACLE_LLM_BASE_URL": "http://h/api"},
            "openai-compatible:http://h/api//org/m",
            "org/m",
        ),
        ({"ORACLE_LLM_BASE_URL": "http://h", "ORACLE_LLM_MODEL": "c"}, "anthropic-compatible:http://h/c", "c"),
    ],
)
def test_oracle_tasks_have_a_judge_without_naming_one(environ: dict[str, str], name: str, model: str) -> None:
    """From the environment, and as a name that can be opened."""
    assert parse_oracle_model_name(environ) == name
    assert address(name).model == model


HOST = {"ORACLE_LLM_PROVIDER": "openai", "ORACLE_LLM_MODEL": "m", "ORACLE_LLM_BASE_URL": "http://h:8080/v1"}


@pytest.mark.parametrize(
    ("environ", "name", "key"),
    [
        (HOST, "openai-compatible:http://h:8080/v1/m", "OPENAI_API_KEY"),
        (HOST, "openai-compatible:http://h:8080/other/m", "OPENAI_API_KEY"),
        (HOST, "openai-compatible:http://other:8080/v1/m", "EVENHAND_API_KEY"),
        (HOST, "openai-compatible:http://h:8081/v1/m", "EVENHAND_API_KEY"),
        (HOST, "openai-compatible:https://h:8080/v1/m", "EVENHAND_API_KEY"),
        (HOST, "anthropic-compatible:http://h:8080/v1/m", "EVENHAND_API_KEY"),
        ({"ORACLE_LLM_BASE_URL": "http://h"}, "anthropic-compatible:http://h/c", "ANTHROPIC_API_KEY"),
        ({**HOST, "OPENAI_API_KEY": ""}, "openai-compatible:http://h:8080/v1/m", "EVENHAND_API_KEY"),
        ({}, "openai-compatible:http://h:8080/v1/m", "EVENHAND_API_KEY"),
    ],
)
def test_the_key_of_the_provider_goes_to_the_host_that_the_operator_named(
    environ: dict[str, str], name: str, key: str
) -> None:
    """To that scheme, host and port, and to no other."""
    given = {"OPENAI_API_KEY": "sk-o", "ANTHROPIC_API_KEY": "sk-a", "EVENHAND_API_KEY": "sk-e", **environ}

    found = parse_model_name(name, given)

    assert isinstance(found, ModelAddress)
    assert found.key == given[key]


def test_without_a_named_host_the_key_of_the_provider_stays_here() -> None:
    """An address that a file gives is not one that the operator gave."""
    found = parse_model_name("openai-compatible:http://h/v1/m", {"OPENAI_API_KEY": "sk-o"})

    assert isinstance(found, ModelAddress)
    assert found.key is None


@pytest.mark.parametrize("environ", [{"ORACLE_LLM_PROVIDER": "gemini"}, {"ORACLE_LLM_PROVIDER": "openai"}])
def test_an_oracle_without_a_judge_says_which_variable(environ: dict[str, str]) -> None:
    """Another provider, or one without a model."""
    with pytest.raises(JudgeError, match="environment variable ORACLE_LLM_"):
        parse_oracle_model_name(environ)


def test_providers_that_are_set_up_are_listed() -> None:
    """Those with a key, and an ollama with an address."""
    assert list_configured_providers({}) == ()
    assert list_configured_providers({**KEYS, "OLLAMA_HOST": "box"}) == ("anthropic", "openai", "ollama")
    assert list_configured_providers({"OPENAI_API_KEY": "k"}) == ("openai",)
