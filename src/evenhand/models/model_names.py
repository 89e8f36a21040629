"""Names of models: which one is meant, where it answers, and which API key may go there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from evenhand.errors import Fault, JudgeError, suggest_known_word_in_error
from evenhand.models.requests import EMBEDDED

ANTHROPIC_BASE = "https://api.anthropic.com"
OPENAI_BASE = "https://api.openai.com/v1"
ORACLE_MODEL = "claude-sonnet-4-20250514"
PROVIDERS = ("anthropic", "openai", "ollama")
# Models that answer questions of a rubric with probabilities, and write nothing.
DECISION_MODELS = ("openai-decisions/", "openai-decisions-compatible:", "gguf-decisions:")
FORMS = (
    EMBEDDED, "anthropic/NAME", "openai/NAME", "ollama/NAME", "openai-compatible:URL/NAME",
    "anthropic-compatible:URL/NAME", "openai-decisions/NAME", "openai-decisions-compatible:URL/NAME", "gguf:PATH",
    "gguf-decisions:PATH", "replay:FILE", "python:MODULE:FUNCTION",
)  # fmt: skip

_VERSIONED = re.compile(r"(/v\d+[a-z0-9]*)/(?=.)")
_KEY = re.compile(r"[!-~]+")


WireFormat = Literal["openai", "anthropic", "decisions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAddress:
    """A model behind a server, and the key that may go there. `variable` is where that key is looked for."""

    name: str
    wire: WireFormat
    base: str
    model: str
    variable: str
    key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ReplayFile:
    """A file of recorded replies."""

    path: Path


@dataclass(frozen=True, slots=True)
class GgufFile:
    """A file with a model in it, to be run here."""

    path: Path


@dataclass(frozen=True, slots=True)
class EmbeddedRules:
    """The embedded judge."""


@dataclass(frozen=True, slots=True)
class FunctionPath:
    """A Python function that answers."""

    module: str
    function: str


# How the names of a provider's models begin.
MODEL_FAMILIES = {
    "openai": ("gpt-", "o1", "o3", "o4", "chatgpt"),
    "anthropic": ("claude",),
    "ollama": ("llama", "mistral", "mixtral", "qwen", "gemma", "phi", "deepseek"),
}


def parse_model_name(
    name: str, environ: Mapping[str, str]
) -> ModelAddress | ReplayFile | GgufFile | EmbeddedRules | FunctionPath:
    """Who is meant by a name; a JudgeError where nobody can be."""
    kind, colon, rest = name.partition(":")
    provider, slash, model = name.partition("/")
    if name == EMBEDDED:
        return EmbeddedRules()
    served = None  # At a provider, or behind a server of one's own.
    if provider in (*PROVIDERS, "openai-decisions"):
        if not slash or not model.strip():
            raise _make_unknown_model_error(name, f"{provider}/ needs the name of a model")
        served = _resolve_provider_model(name, provider.removesuffix("-decisions"), model.strip(), environ)
    elif colon and kind in ("openai-compatible", "anthropic-compatible", "openai-decisions-compatible"):
        served = _resolve_compatible_model(name, "openai" if kind.startswith("openai") else "anthropic", rest, environ)
    if served is not None:
        return replace(served, wire="decisions") if is_decision_model_name(name) else served
    if colon and kind == "replay" and rest:
        return ReplayFile(Path(rest))
    if colon and kind in ("gguf", "gguf-decisions") and rest:
        return GgufFile(Path(rest).expanduser())
    if colon and kind == "python":
        module, _, function = rest.partition(":")
        if module and function:
            return FunctionPath(module, function)
    if kind in ("python", "replay", "gguf", "gguf-decisions"):
        needed = "a module and a function" if kind == "python" else "a file"
        raise _make_unknown_model_error(name, f"{kind}: needs {needed}")
    kinds = [form.split("/")[0].split(":")[0] for form in FORMS]
    hint = suggest_known_word_in_error(provider if slash else kind, kinds)
    what = "there is no model of this name"
    family = next((one for one, names in MODEL_FAMILIES.items() if name.lower().startswith(names)), None)
    if family and not slash:
        raise JudgeError(Fault(what, f"did you mean {family}/{name[:60]}?", where=f"model {name[:80]!r}"))
    raise _make_unknown_model_error(name, f"{what}; {hint}" if hint.startswith("did") else what)


def is_decision_model_name(name: str) -> bool:
    """Whether a name is of a model that answers with probabilities and writes nothing."""
    return name.startswith(DECISION_MODELS)


def is_local_model_file(name: str) -> bool:
    """Whether a name is of a model in a file, which runs here."""
    return name.startswith(("gguf:", "gguf-decisions:"))


def is_oracle_model_configured(environ: Mapping[str, str]) -> bool:
    """Whether the environment names a judge for oracle tasks, or has the key of the default one."""
    variables = ("ORACLE_LLM_PROVIDER", "ORACLE_LLM_MODEL", "ORACLE_LLM_BASE_URL", "ANTHROPIC_API_KEY")
    return any(environ.get(variable, "").strip() for variable in variables)


def choose_default_model_names(dialogue: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Who judges where nobody is named: the judge set up for submissions, for those; else the embedded one."""
    oracle = dialogue == "individual" and is_oracle_model_configured(environ)
    return (parse_oracle_model_name(environ) if oracle else EMBEDDED,)


def parse_oracle_model_name(environ: Mapping[str, str]) -> str:
    """The judge of oracle tasks that name none: ORACLE_LLM_PROVIDER, ORACLE_LLM_MODEL and ORACLE_LLM_BASE_URL."""
    provider = _parse_oracle_model_provider(environ)
    if provider not in ("anthropic", "openai"):
        where, hint = "environment variable ORACLE_LLM_PROVIDER", "it is anthropic or openai"
        raise JudgeError(Fault(f"{provider[:40]!r} is not known", hint, where=where))
    model = environ.get("ORACLE_LLM_MODEL", "").strip() or (ORACLE_MODEL if provider == "anthropic" else "")
    if not model:
        where, hint = "environment variable ORACLE_LLM_MODEL", "as in ORACLE_LLM_MODEL=gpt-4.1-mini"
        raise JudgeError(Fault("must name a model where ORACLE_LLM_PROVIDER is openai", hint, where=where))
    base = environ.get("ORACLE_LLM_BASE_URL", "").strip().rstrip("/")
    if not base:
        return f"{provider}/{model}"
    _check_server_base_url(base, "environment variable ORACLE_LLM_BASE_URL")
    plain = _VERSIONED.search(f"{base}/{model}") or "/" not in model
    return f"{provider}-compatible:{base}{'/' if plain else '//'}{model}"


def _parse_oracle_model_provider(environ: Mapping[str, str]) -> str:
    return environ.get("ORACLE_LLM_PROVIDER", "").strip().lower() or "anthropic"


def list_configured_providers(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The providers that are set up: those with a key, and an ollama that was given an address."""
    variables = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "ollama": "OLLAMA_HOST"}
    return tuple(provider for provider in PROVIDERS if environ.get(variables[provider], "").strip())


def parse_server_url_origin(url: str) -> str:
    """Scheme, host and port of a URL, spelt one way."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{parts.hostname}:{port}"


def _resolve_provider_model(name: str, provider: str, model: str, environ: Mapping[str, str]) -> ModelAddress:
    if provider == "ollama":
        base = _read_ollama_server_url(name, environ)
        return ModelAddress(name=name, wire="openai", base=base, model=model, variable="OLLAMA_HOST")
    variable = f"{provider.upper()}_API_KEY"
    key = _read_api_key(environ, variable)
    if key is None:
        raise JudgeError(Fault(f"{variable} is not set", f"{provider} needs a key", where=name))
    base = _read_server_base_url(environ, provider)
    if provider == "openai":
        return ModelAddress(name=name, wire="openai", base=base, model=model, variable=variable, key=key)
    base = _add_server_api_version(base)
    return ModelAddress(name=name, wire="anthropic", base=base, model=model, variable=variable, key=key)


def _resolve_compatible_model(
    name: str, wire: Literal["openai", "anthropic"], rest: str, environ: Mapping[str, str]
) -> ModelAddress:
    """URL/NAME, cut at // after the host; else after the first part of the path like /v1; else at the last slash."""
    scheme, _, after = rest.partition("://")
    cut = re.search(r"(?<=.)(//)(?=.)", after) or _VERSIONED.search(after)
    url, model = (after[: cut.end(1)], after[cut.end() :]) if cut else after.rpartition("/")[::2]
    if not url or not model or _VERSIONED.fullmatch(f"/{model}/"):
        what = "a URL and the name of a model belong here, as in http://127.0.0.1:8080/v1/NAME"
        raise _make_unknown_model_error(name, what)
    base = _check_server_base_url(f"{scheme}://{url.rstrip('/')}", name.partition(":")[0])
    if "?" in model:
        raise JudgeError(Fault("a URL here ends with its path, without ? or #", where=name.partition(":")[0]))
    variable, key = _choose_compatible_key(base, wire, environ)
    base = _add_server_api_version(base) if wire == "anthropic" else base
    return ModelAddress(name=name, wire=wire, base=base, model=model, variable=variable, key=key)


def _choose_compatible_key(base: str, wire: str, environ: Mapping[str, str]) -> tuple[str, str | None]:
    """Where the key for a server is looked for, and the key: one never goes to a host it was not meant for.

    Whoever sets ORACLE_LLM_BASE_URL has named the host that the provider's key is for.
    """
    provider, own = f"{wire.upper()}_API_KEY", "EVENHAND_API_KEY"
    oracle = environ.get("ORACLE_LLM_BASE_URL", "").strip()
    if oracle and _parse_oracle_model_provider(environ) == wire:
        named = _check_server_base_url(oracle, "environment variable ORACLE_LLM_BASE_URL")
        key = (
            _read_api_key(environ, provider)
            if parse_server_url_origin(named) == parse_server_url_origin(base)
            else None
        )
        if key is not None:
            return provider, key
    is_meant = False
    if environ.get(provider) or environ.get(f"{wire.upper()}_BASE_URL"):
        is_meant = parse_server_url_origin(base) == parse_server_url_origin(_read_server_base_url(environ, wire))
    key = _read_api_key(environ, own) if environ.get(own) else None
    if key is None and is_meant:
        key = _read_api_key(environ, provider)
    return own, key


def _read_server_base_url(environ: Mapping[str, str], provider: str) -> str:
    """Where the models of a provider answer."""
    variable = f"{provider.upper()}_BASE_URL"
    default = OPENAI_BASE if provider == "openai" else ANTHROPIC_BASE
    return _check_server_base_url(environ.get(variable, "").strip() or default, f"environment variable {variable}")


def _read_ollama_server_url(name: str, environ: Mapping[str, str]) -> str:
    """OLLAMA_HOST as ollama itself reads it: a port, a host, both, or a URL; 0.0.0.0 is this machine."""
    host = environ.get("OLLAMA_HOST", "").strip() or "localhost"
    scheme, _, rest = host.rpartition("://")
    rest = rest.rstrip("/").removesuffix("/v1")
    place, slash, path = rest.partition("/")
    if place.startswith(":"):
        place = f"localhost{place}"
    if not re.search(r":\d+$", place) and not scheme:
        place += ":11434"
    place = re.sub(r"^0\.0\.0\.0(?=:|$)", "127.0.0.1", place)
    where = "environment variable OLLAMA_HOST" if environ.get("OLLAMA_HOST", "").strip() else name
    return _check_server_base_url(f"{scheme or 'http'}://{place}{slash}{path}/v1", where)


def _check_server_base_url(url: str, where: str) -> str:
    """A base URL that can be used; what is wrong with it is said without repeating what may be a password."""
    hint = "as in http://127.0.0.1:8080/v1"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        usable = False
        parts = urlsplit("")
    if not usable or re.search(r"[\s\x00-\x1f\\]", url):
        raise JudgeError(Fault("this is not the URL of a server", hint, where=where))
    if parts.username is not None or parts.password is not None:
        raise JudgeError(Fault("a URL here cannot hold a password", "put the key in EVENHAND_API_KEY", where=where))
    if parts.query or parts.fragment:
        raise JudgeError(Fault("a URL here ends with its path, without ? or #", hint, where=where))
    return url.rstrip("/")


def _add_server_api_version(base: str) -> str:
    return base if re.search(r"/v\d+[a-z0-9]*$", base) else f"{base}/v1"


def _read_api_key(environ: Mapping[str, str], variable: str) -> str | None:
    key = environ.get(variable, "").strip()
    if key and not _KEY.fullmatch(key):
        raise JudgeError(Fault("it has characters that no key has", where=f"environment variable {variable}"))
    return key or None


def _make_unknown_model_error(name: str, what: str) -> JudgeError:
    shown = name if len(name) <= 80 else name[:79] + "…"
    shown = re.sub(r"[?#].*", "?…", re.sub(r"//[^/@]*@", "//…@", shown))  # There may be a password in its URL.
    return JudgeError(Fault(what, f"models are named {', '.join(FORMS)}", where=f"model {shown!r}"))
