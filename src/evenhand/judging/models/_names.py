"""Names of models: who is meant, where it answers, and which key may go there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from evenhand.errors import Fault, JudgeError, nearest
from evenhand.judging._request import EMBEDDED

ANTHROPIC_BASE = "https://api.anthropic.com"
OPENAI_BASE = "https://api.openai.com/v1"
ORACLE_MODEL = "claude-sonnet-4-20250514"
PROVIDERS = ("anthropic", "openai", "ollama")
FORMS = (
    EMBEDDED, "anthropic/NAME", "openai/NAME", "ollama/NAME", "openai-compatible:URL/NAME",
    "anthropic-compatible:URL/NAME", "gguf:PATH", "replay:FILE", "python:MODULE:FUNCTION",
)  # fmt: skip

_VERSIONED = re.compile(r"(/v\d+[a-z0-9]*)/(?=.)")
_KEY = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A model behind a server, and the key that may go there. `variable` is where that key is looked for."""

    name: str
    wire: Literal["openai", "anthropic"]
    base: str
    model: str
    variable: str
    key: str | None = field(default=None, repr=False)

    @property
    def origin(self) -> str:
        """The server: scheme, host and port."""
        return origin_of(self.base)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A file of recorded replies."""

    path: Path


@dataclass(frozen=True, slots=True)
class Local:
    """A file with a model in it, to be run here."""

    path: Path


@dataclass(frozen=True, slots=True)
class Rules:
    """The embedded judge."""


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function that answers."""

    module: str
    function: str


def parse(name: str, environ: Mapping[str, str]) -> Address | Recorded | Local | Rules | Function:
    """Who is meant by a name; a JudgeError where nobody can be."""
    kind, colon, rest = name.partition(":")
    provider, slash, model = name.partition("/")
    if name == EMBEDDED:
        return Rules()
    if slash and provider in PROVIDERS:
        if not model.strip():
            raise _unknown(name, f"{provider}/ needs the name of a model")
        return _provided(name, provider, model.strip(), environ)
    if colon and kind in ("openai-compatible", "anthropic-compatible"):
        return _compatible(name, "openai" if kind.startswith("openai") else "anthropic", rest, environ)
    if colon and kind == "replay" and rest:
        return Recorded(Path(rest))
    if colon and kind == "gguf" and rest:
        return Local(Path(rest).expanduser())
    if colon and kind == "python":
        module, _, function = rest.partition(":")
        if module and function:
            return Function(module, function)
    if name in PROVIDERS:
        raise _unknown(name, f"{name}/ needs the name of a model")
    if kind in ("python", "replay", "gguf"):
        raise _unknown(name, f"{kind}: needs {'a module and a function' if kind == 'python' else 'a file'}")
    hint = nearest(provider if slash else kind, [form.split("/")[0].split(":")[0] for form in FORMS])
    raise _unknown(name, f"no model is named so; {hint}" if hint.startswith("did") else "no model is named so")


def set_up_for_oracle(environ: Mapping[str, str]) -> bool:
    """Whether the environment names a judge for oracle tasks, or has the key of the default one."""
    variables = ("ORACLE_LLM_PROVIDER", "ORACLE_LLM_MODEL", "ORACLE_LLM_BASE_URL", "ANTHROPIC_API_KEY")
    return any(_set(environ, variable) for variable in variables)


def default_name(environ: Mapping[str, str]) -> str:
    """The judge of oracle tasks that name none: ORACLE_LLM_PROVIDER, ORACLE_LLM_MODEL and ORACLE_LLM_BASE_URL."""
    provider = _set(environ, "ORACLE_LLM_PROVIDER").lower() or "anthropic"
    if provider not in ("anthropic", "openai"):
        where, hint = "environment variable ORACLE_LLM_PROVIDER", "it is anthropic or openai"
        raise JudgeError(Fault(f"{provider[:40]!r} is not known", hint, where=where))
    model = _set(environ, "ORACLE_LLM_MODEL") or (ORACLE_MODEL if provider == "anthropic" else "")
    if not model:
        where, hint = "environment variable ORACLE_LLM_MODEL", "as in ORACLE_LLM_MODEL=gpt-4.1-mini"
        raise JudgeError(Fault("must name a model where ORACLE_LLM_PROVIDER is openai", hint, where=where))
    base = _set(environ, "ORACLE_LLM_BASE_URL").rstrip("/")
    if not base:
        return f"{provider}/{model}"
    plain = _VERSIONED.search(f"{base}/{model}") or "/" not in model
    return f"{provider}-compatible:{base}{'/' if plain else '//'}{model}"


def listed(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The providers that are set up: those with a key, and an ollama that was given an address."""
    variables = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "ollama": "OLLAMA_HOST"}
    return tuple(provider for provider in PROVIDERS if _set(environ, variables[provider]))


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL, spelt one way."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{parts.hostname}:{port}"


def _provided(name: str, provider: str, model: str, environ: Mapping[str, str]) -> Address:
    if provider == "ollama":
        return Address(name=name, wire="openai", base=_ollama(name, environ), model=model, variable="OLLAMA_HOST")
    variable = f"{provider.upper()}_API_KEY"
    key = _key(environ, variable)
    if key is None:
        raise JudgeError(Fault(f"{variable} is not set", f"{provider} needs a key", where=name))
    if provider == "openai":
        base = _base(environ, "OPENAI_BASE_URL", OPENAI_BASE)
        return Address(name=name, wire="openai", base=base, model=model, variable=variable, key=key)
    base = _versioned(_base(environ, "ANTHROPIC_BASE_URL", ANTHROPIC_BASE))
    return Address(name=name, wire="anthropic", base=base, model=model, variable=variable, key=key)


def _compatible(name: str, wire: Literal["openai", "anthropic"], rest: str, environ: Mapping[str, str]) -> Address:
    """URL/NAME, cut at // after the host; else after the first part of the path like /v1; else at the last slash."""
    scheme, _, after = rest.partition("://")
    cut = re.search(r"(?<=.)(//)(?=.)", after) or _VERSIONED.search(after)
    url, model = (after[: cut.end(1)], after[cut.end() :]) if cut else after.rpartition("/")[::2]
    if not url or not model or _VERSIONED.fullmatch(f"/{model}/"):
        raise _unknown(name, "a URL and the name of a model belong here, as in http://127.0.0.1:8080/v1/NAME")
    base = _checked(f"{scheme}://{url.rstrip('/')}", f"{wire}-compatible")
    if "?" in model:
        raise JudgeError(Fault("a URL here ends with its path, without ? or #", where=f"{wire}-compatible"))
    meant = _base(environ, f"{wire.upper()}_BASE_URL", OPENAI_BASE if wire == "openai" else ANTHROPIC_BASE)
    key = _key(environ, "EVENHAND_API_KEY")
    if key is None and origin_of(base) == origin_of(meant):  # A key never goes to a host it was not meant for.
        key = _key(environ, f"{wire.upper()}_API_KEY")
    base = _versioned(base) if wire == "anthropic" else base
    return Address(name=name, wire=wire, base=base, model=model, variable="EVENHAND_API_KEY", key=key)


def _base(environ: Mapping[str, str], variable: str, default: str) -> str:
    return _checked(_set(environ, variable) or default, f"environment variable {variable}")


def _ollama(name: str, environ: Mapping[str, str]) -> str:
    """OLLAMA_HOST as ollama itself reads it: a port, a host, both, or a URL; 0.0.0.0 is this machine."""
    host = _set(environ, "OLLAMA_HOST") or "localhost"
    scheme, _, rest = host.rpartition("://")
    rest = rest.rstrip("/").removesuffix("/v1")
    place, slash, path = rest.partition("/")
    if place.startswith(":"):
        place = f"localhost{place}"
    if not re.search(r":\d+$", place) and not scheme:
        place += ":11434"
    place = re.sub(r"^0\.0\.0\.0(?=:|$)", "127.0.0.1", place)
    where = "environment variable OLLAMA_HOST" if _set(environ, "OLLAMA_HOST") else name
    return _checked(f"{scheme or 'http'}://{place}{slash}{path}/v1", where)


def _checked(url: str, where: str) -> str:
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


def _versioned(base: str) -> str:
    return base if re.search(r"/v\d+[a-z0-9]*$", base) else f"{base}/v1"


def _key(environ: Mapping[str, str], variable: str) -> str | None:
    key = _set(environ, variable)
    if key and not _KEY.fullmatch(key):
        raise JudgeError(Fault("it has characters that no key has", where=f"environment variable {variable}"))
    return key or None


def _set(environ: Mapping[str, str], variable: str) -> str:
    return environ.get(variable, "").strip()


def _unknown(name: str, what: str) -> JudgeError:
    shown = name if len(name) <= 80 else name[:79] + "…"
    return JudgeError(Fault(what, f"models are named {', '.join(FORMS)}", where=f"model {_without_password(shown)!r}"))


def _without_password(name: str) -> str:
    return re.sub(r"[?#].*", "?…", re.sub(r"//[^/@]*@", "//…@", name))
