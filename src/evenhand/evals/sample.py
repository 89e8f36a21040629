"""One sample of an eval: an input, what is known about it, and the outputs that were recorded for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from evenhand.errors import Fault, InputError, StoreError
from evenhand.files.codec import Codec
from evenhand.files.json_shape import written_as
from evenhand.model.sample import VariantOutput

SINGLE_VARIANT = "output"  # The variant of a sample that has one output and no name for it.
_EMPTY_FIELDS: tuple[object, ...] = (None, "", [], {})
MESSAGE_ROLES = ("system", "user", "assistant")

_encode_sample_json = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSample:
    """One input with its recorded outputs, by variant.

    Where the input was given as messages, each a mapping of `role` and `text`, `input` is what they read like.
    """

    id: str
    input: str = ""
    messages: tuple[Mapping[str, str], ...] = ()
    outputs: Mapping[str, VariantOutput] = field(default_factory=dict)
    reference: str = ""
    context: str = ""
    tags: tuple[str, ...] = ()
    cluster: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    assertions: object = None  # Plain data as it was given; read by the room of assertions.

    def __post_init__(self) -> None:
        if not self.id:
            raise InputError(Fault("a sample needs an id", path=("id",)))
        for message in self.messages:
            if message["role"] not in MESSAGE_ROLES:
                raise InputError(Fault(f"the role {message['role']!r} is not known", path=("messages",)))

    def to_json(self) -> dict[str, object]:
        """The sample as plain data in the form of a sample file; what is empty is left out."""
        content = _SAMPLE_JSON.to_json(self)
        return {name: value for name, value in content.items() if name in ("id", "input") or value not in _EMPTY_FIELDS}

    def digest(self) -> str:
        """A name for all that can change what is made of the sample and how it is judged; its cluster cannot."""
        messages = [(message["role"], message["text"]) for message in self.messages]
        outputs = [(name, _sample_output_identity(made)) for name, made in self.outputs.items()]
        known = (self.id, self.input, messages, self.reference, self.context, self.tags, self.assertions)
        return hashlib.sha256(_encode_sample_json((*known, dict(self.metadata), outputs)).encode()).hexdigest()

    def variant_input(self, repeat: int) -> dict[str, object]:
        """What the system under test is given: never the reference, the assertions, the tags or recorded outputs."""
        return {
            "id": self.id,
            "input": self.input,
            "messages": [dict(message) for message in self.messages] or None,
            "context": self.context,
            "metadata": self.metadata,
            "repeat": repeat,
        }


# An output as plain data, with null for what was not measured.
OUTPUT_JSON = Codec(error=StoreError, hint="the store is damaged, or of another version", lenient=True)
write_output_json = OUTPUT_JSON.writer(VariantOutput)


def read_output_json(data: object) -> VariantOutput:
    """An output out of plain data."""
    return OUTPUT_JSON.from_json(VariantOutput, data)


def sample_file_output_json(made: VariantOutput) -> dict[str, object]:
    """An output as plain data in the form of a sample file; what was not measured is left out."""
    return {name: value for name, value in write_output_json(made).items() if value is not None}


_SAMPLE_JSON = Codec(scalars={VariantOutput: written_as(sample_file_output_json)})


def _sample_output_identity(made: VariantOutput) -> object:
    content = sample_file_output_json(made)
    return content if len(content) > 1 else made.text


def join_sample_messages(messages: tuple[Mapping[str, str], ...]) -> str:
    """Messages as one text: blocks of "role: text"; a single message of the user is its text."""
    if len(messages) == 1 and messages[0]["role"] == "user":
        return messages[0]["text"]
    return "\n\n".join(f"{message['role']}: {message['text']}" for message in messages)
