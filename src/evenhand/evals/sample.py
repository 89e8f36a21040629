"""One sample of an eval: an input, what is known about it, and the outputs recorded for it; read from an entry of a
file with every fault collected, none raised.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from evenhand.errors import Fault, InputError, StoreError, suggest_close_word_in_error
from evenhand.evals.eval_schema import MESSAGE_FIELDS, MESSAGE_ROLES, OUTPUT_FACTS, SAMPLE_FIELDS
from evenhand.evals.output_data import (
    read_sample_output_author,
    read_sample_output_facts,
    read_sample_output_value,
    refuse_unknown_sample_fields,
)
from evenhand.files.codec import Codec
from evenhand.files.json_shape import json_write_only_scalar
from evenhand.files.parsing import build_json_encoder
from evenhand.model.sample import VariantOutput
from evenhand.wording import word_type_of_value

SINGLE_VARIANT = "output"  # The variant of a sample that has one output and no name for it.
_EMPTY_FIELDS: tuple[object, ...] = (None, "", [], {})
LONGEST_NAME = 500
_SINGLE_OUTPUT_FACTS = [fact for fact in OUTPUT_FACTS if fact != "author"]

_encode_sample_json = build_json_encoder(
    json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"))
)


@dataclass(frozen=True, kw_only=True)
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
    rubric: object = None  # Its own: a name, a file or a mapping, as it was given.
    rubrics: object = None  # Its own as a list of criteria, as it was given.

    def __post_init__(self) -> None:
        if not self.id:
            raise InputError(Fault("a sample needs an id", path=("id",)))
        for message in self.messages:
            if message["role"] not in MESSAGE_ROLES:
                raise InputError(Fault(f"the role {message['role']!r} is not known", path=("messages",)))

    def to_json(self) -> dict[str, object]:
        """The sample as plain data in the form of a sample file; what is empty is left out."""
        content = _write_sample_json(self)
        return {name: value for name, value in content.items() if name in ("id", "input") or value not in _EMPTY_FIELDS}

    @cached_property
    def digest(self) -> str:
        """A name for all that can change what is made of the sample and how it is judged; its cluster cannot."""
        messages = [(message["role"], message["text"]) for message in self.messages]
        outputs = [
            (name, made.text if made.is_only_text else write_sample_output_entry(made))
            for name, made in self.outputs.items()
        ]
        known = (self.id, self.input, messages, self.reference, self.context, self.tags, self.assertions)
        own = [one for one in (self.rubric, self.rubrics) if one is not None]
        told = (*known, dict(self.metadata), outputs, *own)
        return hashlib.sha256(_encode_sample_json(told).encode()).hexdigest()

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


def read_sample_output_json(data: object) -> VariantOutput:
    """An output out of plain data."""
    return OUTPUT_JSON.from_json(VariantOutput, data)


def write_sample_output_entry(made: VariantOutput) -> dict[str, object]:
    """An output as plain data in the form of a sample file; what was not measured is left out."""
    return {name: value for name, value in write_output_json(made).items() if value is not None}


_write_sample_json = Codec(scalars={VariantOutput: json_write_only_scalar(write_sample_output_entry)}).writer(
    EvalSample
)


def read_sample_entry(entry: object, ordinal: int, faults: list[Fault], *, in_file: bool = False) -> EvalSample | None:
    """The sample in an entry, the so-manieth of its list or file from 1; None where it has a fault."""
    before = len(faults)
    if not isinstance(entry, dict):
        hint = 'as in {"input": …, "output": …}'
        faults.append(Fault(f"a sample is an object with fields, got {word_type_of_value(entry)}", hint))
        return None
    if not entry.keys() <= SAMPLE_FIELDS.keys():
        for name in [name for name in entry if name not in SAMPLE_FIELDS][:10]:
            shown = str(name)
            hint = suggest_sample_field(shown, "fields of your own belong under metadata", in_file=in_file, given=entry)
            faults.append(Fault(f"unknown field {shown[:60]!r}", hint, (shown,)))
    get = entry.get
    id, input, given, tags, metadata = get("id"), get("input"), get("messages"), get("tags"), get("metadata")
    messages: tuple[Mapping[str, str], ...] = ()
    if given is not None or isinstance(input, (list, tuple)):
        input, messages = _read_sample_messages(input, given, faults)
    input = _read_sample_text(input, "input", faults)
    outputs = _read_sample_outputs(entry, faults)
    id = f"sample-{ordinal}" if id is None else _read_sample_text(id, "id", faults, LONGEST_NAME)
    reference = _read_sample_text(get("reference"), "reference", faults)
    context = get("context")
    if isinstance(context, (list, tuple)) and all(isinstance(text, str) for text in context):
        context = "\n\n".join(context)
    context = _read_sample_text(context, "context", faults)
    tags = () if tags is None else _read_sample_tags(tags, faults)
    cluster = None if get("cluster") is None else _read_sample_text(get("cluster"), "cluster", faults, LONGEST_NAME)
    if metadata is not None and not isinstance(metadata, dict):
        faults.append(Fault(f"metadata must be an object, got {word_type_of_value(metadata)}", path=("metadata",)))
    if "rubric" in entry or "rubrics" in entry:
        _check_sample_rubric_fields(get("rubric"), get("rubrics"), faults)
    if len(faults) > before:
        return None
    return EvalSample(
        id=id,
        input=input,
        messages=messages,
        outputs=outputs,
        reference=reference,
        context=context,
        tags=tags,
        cluster=cluster,
        metadata=metadata or {},
        assertions=get("assertions"),
        rubric=get("rubric"),
        rubrics=get("rubrics"),
    )


def _read_sample_text(value: object, name: str, faults: list[Fault], longest: int | None = None) -> str:
    """A text; a whole number is the text it is written as. With `longest` it is a name, which cannot be empty."""
    if value is None:
        return ""
    is_text = isinstance(value, (str, int)) and not isinstance(value, bool)
    text = str(value) if is_text else ""
    if not is_text:
        hint = "put it in quotes" if isinstance(value, (float, bool)) else ""
        faults.append(Fault(f"{name} must be text, got {word_type_of_value(value)}", hint, (name,)))
    if longest and not text.strip() and isinstance(value, (str, int)):
        faults.append(Fault(f"{name} cannot be empty", "leave it out", (name,)))
    elif longest and len(text) > longest:
        faults.append(Fault(f"{name} is longer than {longest} characters", path=(name,)))
    return text


def _check_sample_rubric_fields(rubric: object, rubrics: object, faults: list[Fault]) -> None:
    """What is in a sample's own rubric is read with the eval; here is seen whether there can be one."""
    if rubric is not None and rubrics is not None:
        faults.append(Fault("rubric and rubrics are the same field", "keep one of them", ("rubrics",)))
    if isinstance(rubric, list):
        faults.append(Fault("rubric is a name, a file or a mapping, got a list", "call it rubrics", ("rubric",)))
    elif rubric is not None and not (isinstance(rubric, (str, dict)) and rubric):
        what = f"rubric is a name, a file or a mapping, got {word_type_of_value(rubric) if rubric else 'nothing'}"
        faults.append(Fault(what, "as in rubric: summary", ("rubric",)))
    if rubrics is not None and not (isinstance(rubrics, list) and rubrics):
        what = (
            f"rubrics of a sample are a list of criteria, got {word_type_of_value(rubrics) if rubrics else 'nothing'}"
        )
        faults.append(Fault(what, "one rubric by name, file or mapping is called rubric", ("rubrics",)))


def _read_sample_messages(
    value: object, given: object, faults: list[Fault]
) -> tuple[object, tuple[Mapping[str, str], ...]]:
    """The input as text, and the messages it was given as, under `input` or `messages`."""
    if given is None:
        messages = _read_sample_message_list(value, "input", faults)
        return join_sample_messages(messages), messages
    messages = _read_sample_message_list(given, "messages", faults)
    text = join_sample_messages(messages)
    if value not in (None, text) and messages:
        faults.append(Fault("input and messages are the same field", "keep one of them", ("messages",)))
    return text, messages


def _read_sample_message_list(value: object, field: str, faults: list[Fault]) -> tuple[Mapping[str, str], ...]:
    if not isinstance(value, (list, tuple)) or not value:
        faults.append(Fault(f"{field} must be a list with messages, got {word_type_of_value(value)}", path=(field,)))
        return ()
    messages = []
    for at, one in enumerate(value):
        if not isinstance(one, dict):
            faults.append(Fault(f"{field}[{at}] must be an object with role and text", path=(field, at)))
            continue
        refuse_unknown_sample_fields(one, MESSAGE_FIELDS, (field, at), faults)
        role, text = one.get("role"), one.get("text", one.get("content"))
        if role not in MESSAGE_ROLES:
            hint = f"known: {', '.join(MESSAGE_ROLES)}; calls of tools belong into the trace of an output"
            faults.append(Fault(f"{field}[{at}].role {str(role)[:40]!r} is not known", hint, (field, at)))
        if not isinstance(text, str):
            faults.append(Fault(f"{field}[{at}].text must be text, got {word_type_of_value(text)}", path=(field, at)))
        else:
            messages.append({"role": str(role), "text": text})
    return tuple(messages)


# What the fields of a sample are called elsewhere.
OTHER_FIELD_NAMES = {
    "input": ("question", "prompt", "query", "instruction", "request", "task", "text", "user"),
    "output": ("answer", "response", "completion", "prediction", "generated", "reply", "result", "model_output"),
    "reference": ("expected", "expected_output", "ground_truth", "target", "gold", "ideal", "solution", "label"),
    "context": ("documents", "contexts", "passages", "sources", "retrieved"),
    "tags": ("category", "categories", "topic", "labels", "tag", "type"),
    "id": ("name", "key", "uuid", "index", "sample_id"),
}


def suggest_sample_field(name: str, own: str, *, in_file: bool, given: Collection[object] = ()) -> str:
    """What to do about a field that samples do not have; `own` says where fields go that are nobody's business.

    What is `given` already is no field to read it as.
    """
    word = name.strip().lower().replace(" ", "_").replace("-", "_")
    ours = next((field for field, others in OTHER_FIELD_NAMES.items() if word in others and field not in given), None)
    free = [field for field in SAMPLE_FIELDS if field not in given]
    near = "" if ours else suggest_close_word_in_error(name[:40], free)
    if near:
        return f"{near}; {own}"
    if not in_file:
        known = f"known: {', '.join(sorted(SAMPLE_FIELDS))}"
        return f"{f'call it {ours}' if ours else known}; {own}"
    field = ours or "input"
    if field in given:
        return f"to keep it, write samples: {{file: …, fields: {{metadata.{name[:40]}: {name[:40]}}}}}; {own}"
    return f"to read it as {field}, write samples: {{file: …, fields: {{{field}: {name[:40]}}}}}; {own}"


def _read_sample_outputs(entry: dict[str, object], faults: list[Fault]) -> dict[str, VariantOutput]:
    """The outputs by variant: those under `outputs`, or the one that the fields of the sample itself describe."""
    outputs, output = entry.get("outputs"), entry.get("output")
    author = None
    if entry.get("author") is not None:
        author = read_sample_output_author(entry["author"], ("author",), faults)
    stray = [fact for fact in _SINGLE_OUTPUT_FACTS if entry.get(fact) is not None]
    if output is not None:
        if outputs is not None:
            faults.append(Fault("output and outputs are the same field", "keep one of them", ("outputs",)))
        return _read_single_sample_output(output, entry, stray, author, faults)
    for fact in stray:
        hint = f"write outputs: {{NAME: {{text: …, {fact}: …}}}}" if outputs else "give the output too"
        faults.append(Fault(f"{fact} belongs to an output", hint, (fact,)))
    if outputs is None:
        return {}
    if not isinstance(outputs, dict):
        hint = "as in outputs: {old: …, new: …}"
        faults.append(
            Fault(f"outputs must map variants to outputs, got {word_type_of_value(outputs)}", hint, ("outputs",))
        )
        return {}
    found = {}
    for name, value in outputs.items():
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME:
            faults.append(Fault("an output needs the name of its variant", path=("outputs",)))
            continue
        if isinstance(value, str):
            found[name] = VariantOutput(text=value, author=author)
        elif (made := read_sample_output_value(value, ("outputs", name), faults, author)) is not None:
            found[name] = made
    return found


def _read_single_sample_output(
    output: object, entry: dict[str, object], stray: list[str], author: str | None, faults: list[Fault]
) -> dict[str, VariantOutput]:
    if stray and isinstance(output, str):
        made = read_sample_output_facts({"text": output, **{fact: entry[fact] for fact in stray}}, (), faults, author)
    else:
        beside = stray if isinstance(output, dict) else ()
        what = "stands beside an output that is an object"
        faults += [Fault(f"{fact} {what}", "put it into it", (fact,)) for fact in beside]
        made = read_sample_output_value(output, ("output",), faults, author)
    return {} if made is None else {SINGLE_VARIANT: made}


def _read_sample_tags(value: object, faults: list[Fault]) -> tuple[str, ...]:
    """Tags in their order, each once."""
    tags = value.split(",") if isinstance(value, str) else value
    if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, str) for tag in tags):
        faults.append(Fault("tags must be a list of texts, or one text with commas", path=("tags",)))
        return ()
    return tuple(dict.fromkeys([tag.strip() for tag in tags if tag.strip()]))


def join_sample_messages(messages: tuple[Mapping[str, str], ...]) -> str:
    """Messages as one text: blocks of "role: text"; a single message of the user is its text."""
    if len(messages) == 1 and messages[0]["role"] == "user":
        return messages[0]["text"]
    return "\n\n".join(f"{message['role']}: {message['text']}" for message in messages)
