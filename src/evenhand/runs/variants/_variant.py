"""What a variant is: five ways to come by an output, as values that say what identifies them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from evenhand.errors import EvalError
from evenhand.judging import Message, Settings
from evenhand.model import Made
from evenhand.runs._sample import RunSample
from evenhand.runs._samples_lines import opened
from evenhand.runs.variants._template import Template

SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Outputs that exist: they come with the samples, or from a JSONL file that names the samples by id."""

    outputs: Path | None = None
    about: str = "recorded outputs"
    live: ClassVar[bool] = False

    def definition(self) -> dict[str, object]:
        """What identifies it: what the file holds."""
        if self.outputs is None:
            return {"recorded": "with the samples"}
        with opened(self.outputs) as file:
            return {"recorded": hashlib.file_digest(file, "sha256").hexdigest()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program that is started for every sample: the sample as JSON on its standard input, the output on stdout."""

    argv: tuple[str, ...]
    folder: Path = Path()
    seconds: float = SECONDS
    about: str = ""
    live: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0].strip() or any("\0" in word for word in self.argv):
            raise EvalError("a command needs a program")
        _check_seconds(self.seconds)

    def definition(self) -> dict[str, object]:
        """What identifies it: the words of the command."""
        return {"command": list(self.argv)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An HTTP address that is sent the sample as JSON; ${NAME} in `url` and `headers` is an environment variable."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"
    body: object = None  # Plain data with places for parts of a sample; None sends the sample itself.
    field: str = ""  # Where the text stands in the answer, as in choices.0.message.content.
    seconds: float = SECONDS
    about: str = ""
    live: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_seconds(self.seconds)

    def definition(self) -> dict[str, object]:
        """What identifies it: variables by their names, never by their values."""
        parts = {"url": self.url, "headers": dict(self.headers), "method": self.method}
        return {"http": {**parts, "body": self.body, "field": self.field}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A Python function that gets the sample as a dict and returns a text, a dict or a Made."""

    name: str  # MODULE:FUNCTION
    folder: Path = Path()
    seconds: float = SECONDS
    about: str = ""
    live: ClassVar[bool] = True

    def __post_init__(self) -> None:
        module, colon, function = self.name.partition(":")
        if not (colon and module.strip() and function.strip()):
            raise EvalError(f"{self.name!r} is not MODULE:FUNCTION")
        _check_seconds(self.seconds)

    def definition(self) -> dict[str, object]:
        """What identifies it: its name."""
        return {"python": self.name}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrompt:
    """A model that is asked with a prompt."""

    model: str
    prompt: tuple[tuple[str, Template], ...]  # Roles and texts.
    settings: Settings = field(default_factory=Settings)
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

    def messages(self, sample: RunSample) -> tuple[Message, ...]:
        """What the model is sent: a prompt that is just {input} gives way to the messages of the sample."""
        messages = []
        for role, template in self.prompt:
            if sample.messages and template.is_input and role == "user":
                messages += [Message(one["role"], one["text"]) for one in sample.messages]  # type: ignore[arg-type]
            else:
                messages.append(Message(role, template.filled(sample)))  # type: ignore[arg-type]
        return tuple(messages)


Variant = Recorded | Command | Endpoint | Function | ModelPrompt


class Maker(Protocol):
    """Whoever makes the outputs of a variant."""

    async def make(self, sample: RunSample, repeat: int) -> Made:
        """The output, or an OutputError that says why there is none; a BudgetError where the money is spent."""


def _check_seconds(seconds: float) -> None:
    if not 0 < seconds <= 86_400:  # Refuses NaN too.
        raise EvalError(f"seconds must be above 0 and at most a day, got {seconds:g}")
