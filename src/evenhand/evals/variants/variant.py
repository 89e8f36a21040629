"""Variants that make outputs anew: four ways to come by one, prompt templates, and how many are made at once."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Protocol, Self

from evenhand.errors import EvalError, Fault, OutputError, suggest_known_word_in_error
from evenhand.evals.sample import EvalSample
from evenhand.files.python_functions import hash_python_function, name_python_function
from evenhand.model.sample import VariantOutput
from evenhand.models.requests import Message, ModelSettings

DEFAULT_VARIANT_SECONDS = 120.0
SENT_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
VariantFunction = Callable[..., object]  # It gets the sample as a dict, or the input where its parameter is a `str`.


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandVariant:
    """A program that is started for every sample: the sample as JSON on its standard input, the output on stdout."""

    argv: tuple[str, ...]
    env: tuple[str, ...] = ()  # Names of variables that it gets beside PATH and the like.
    folder: Path = Path()
    seconds: float = DEFAULT_VARIANT_SECONDS
    about: str = ""
    live: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0].strip() or any("\0" in word for word in self.argv):
            raise EvalError("a command needs a program")
        _check_variant_seconds(self.seconds)

    def definition(self) -> dict[str, object]:
        """What identifies it: the words of the command, and the names of its variables."""
        return {"command": list(self.argv), **({"env": list(self.env)} if self.env else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointVariant:
    """An HTTP address that is sent the sample as JSON; ${NAME} in `url` and `headers` is an environment variable."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"
    body: object = None  # Plain data with places for parts of a sample; None sends the sample itself.
    field: str = ""  # Where the text stands in the answer, as in choices.0.message.content.
    seconds: float = DEFAULT_VARIANT_SECONDS
    about: str = ""
    live: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_variant_seconds(self.seconds)

    @property
    def sent_variables(self) -> list[str]:
        """The variables of the environment that it sends."""
        return [name for text in (self.url, *self.headers.values()) for name in SENT_VARIABLE.findall(text)]

    def definition(self) -> dict[str, object]:
        """What identifies it: variables by their names, never by their values."""
        parts = {"url": self.url, "headers": dict(self.headers), "method": self.method}
        return {"http": {**parts, "body": self.body, "field": self.field}}


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionVariant:
    """A Python function that gets the sample as a dict and returns a text, a dict or a VariantOutput."""

    name: str  # MODULE:FUNCTION
    folder: Path = Path()
    seconds: float = DEFAULT_VARIANT_SECONDS
    about: str = ""
    version: str = ""  # Of its code, as far as that is known: another one may make other outputs.
    call: VariantFunction | None = None  # The function itself, where it was handed over and not named.
    live: ClassVar[bool] = True

    def __post_init__(self) -> None:
        module, colon, function = self.name.partition(":")
        if not (colon and module.strip() and function.strip()):
            raise EvalError(f"{self.name!r} is not MODULE:FUNCTION")
        _check_variant_seconds(self.seconds)

    @classmethod
    def from_function(cls, call: VariantFunction) -> Self:
        """The variant of a function, a lambda, a method or an object that can be called."""
        name = name_python_function(call)
        return cls(name=name, about=f"python {name}", version=hash_python_function(call), call=call)

    def definition(self) -> dict[str, object]:
        """What identifies it: its name and its version."""
        return {"python": self.name, "version": self.version} if self.version else {"python": self.name}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVariant:
    """A model that is asked with a prompt."""

    model: str
    prompt: tuple[tuple[str, VariantPromptTemplate], ...]  # Roles and texts.
    settings: ModelSettings = field(default_factory=ModelSettings)
    about: str = ""
    live: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.prompt:
            raise EvalError("a prompt needs a message")

    def definition(self) -> dict[str, object]:
        """What identifies it: the model, the prompt and the settings."""
        prompt = [[role, template.text] for role, template in self.prompt]
        settings = {"temperature": self.settings.temperature, "max_tokens": self.settings.max_tokens}
        return {"model": self.model, "prompt": prompt, **settings}

    def build_messages(self, sample: EvalSample) -> tuple[Message, ...]:
        """What the model is sent: a prompt that is just {input} gives way to the messages of the sample."""
        messages = []
        for role, template in self.prompt:
            if sample.messages and template.is_input and role == "user":
                messages += [Message(one["role"], one["text"]) for one in sample.messages]  # type: ignore[arg-type]
            else:
                messages.append(Message(role, template.fill(sample)))  # type: ignore[arg-type]
        return tuple(messages)


def _check_variant_seconds(seconds: float) -> None:
    if not 0 < seconds <= 86_400:  # Refuses NaN too.
        raise EvalError(f"seconds must be above 0 and at most a day, got {seconds:g}")


TEMPLATE_FIELDS = ("input", "reference", "context", "id")

_TEMPLATE_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}\n]*)\}|[{}]")


@dataclass(frozen=True)
class VariantPromptTemplate:
    """A text with places; one that cannot be filled is refused at birth."""

    text: str

    def __post_init__(self) -> None:
        _ = self._parts

    def fill(self, sample: EvalSample) -> str:
        """The text for a sample; an OutputError where the sample lacks a part of its metadata."""
        literals, names = self._parts
        values = [_variant_template_field_value(name, sample) for name in names]
        return "".join(text + value for text, value in zip(literals, [*values, ""], strict=True))

    @property
    def is_input(self) -> bool:
        """Whether it is the input and nothing else."""
        return self.text.strip() == "{input}"

    @cached_property
    def _parts(self) -> tuple[list[str], list[str]]:
        """The texts around the places, one more than places, and the names of the places."""
        literals, names, end = [""], [], 0
        for token in _TEMPLATE_TOKEN.finditer(self.text):
            literals[-1] += self.text[end : token.start()]
            end = token.end()
            if token[0] in ("{{", "}}"):
                literals[-1] += token[0][0]
            else:
                _refuse_variant_template_field(token[0], token[1])
                names.append(token[1])
                literals.append("")
        literals[-1] += self.text[end:]
        return literals, names


def _refuse_variant_template_field(token: str, name: str | None) -> None:
    if name is None:
        raise EvalError(Fault(f"a single {token!r}", f"write {token * 2} for a brace that is none of ours"))
    if name not in TEMPLATE_FIELDS and not (name.startswith("metadata.") and len(name) > len("metadata.")):
        hint = suggest_known_word_in_error(name[:40], [*TEMPLATE_FIELDS, "metadata.NAME"])
        raise EvalError(Fault(f"unknown place {token[:60]}", f"{hint}; {{{{ and }}}} stand for braces"))


def _variant_template_field_value(name: str, sample: EvalSample) -> str:
    if name in TEMPLATE_FIELDS:
        return str(getattr(sample, name))
    key = name.removeprefix("metadata.")
    if key not in sample.metadata:
        raise OutputError(f"the sample has no metadata {key!r}, which the prompt asks for")
    value = sample.metadata[key]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class VariantOutputMaker(Protocol):
    """Whoever makes the outputs of a variant."""

    async def make(self, sample: EvalSample, repeat: int) -> VariantOutput:
        """The output, or an OutputError that says why there is none; a BudgetError where the money is spent."""


IsStopping = Callable[[], bool]


class OutputSlots:
    """Lets so many in at once; whoever still waits when it is stopped is let go, as if cancelled."""

    def __init__(self, most: int, stopping: IsStopping) -> None:
        self._slots = asyncio.Semaphore(most)
        self._stopping = stopping

    async def __aenter__(self) -> None:
        await self._slots.acquire()
        if self._stopping():
            self._slots.release()
            raise asyncio.CancelledError

    async def __aexit__(self, *_: object) -> None:
        self._slots.release()
