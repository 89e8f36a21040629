"""One entry of a sample file, or of a list in the eval file, to a sample: every fault is collected with its path,
none is raised.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from evenhand.errors import Fault, FaultPath
from evenhand.evals.json_lines import explain_unstorable_value
from evenhand.evals.output_data import (
    OUTPUT_FACTS,
    read_output_facts,
    read_output_value,
    read_sample_output_author,
    refuse_unknown_fields,
)
from evenhand.evals.sample import MESSAGE_ROLES, SINGLE_VARIANT, EvalSample, join_sample_messages
from evenhand.files.fields import is_null_node
from evenhand.files.tree import MappingNode, ScalarNode, SequenceNode, TreeNode
from evenhand.model.sample import VariantOutput
from evenhand.wording import word_json_type

SAMPLE_FIELDS = frozenset(
    (
        "id", "input", "messages", "output", "outputs", "reference", "context", "tags", "cluster", "metadata",
        "assertions", *OUTPUT_FACTS,
    )
)  # fmt: skip
LONGEST_NAME = 500

_SINGLE_OUTPUT_FACTS = frozenset(OUTPUT_FACTS) - {"author"}
_MESSAGE_FIELDS = frozenset(("role", "text", "content"))


def read_sample_entry(entry: object, ordinal: int, faults: list[Fault]) -> EvalSample | None:
    """The sample in an entry, the so-manieth of its file from 1; None where it has a fault."""
    before = len(faults)
    if not isinstance(entry, dict):
        faults.append(
            Fault(f"a sample is an object with fields, got {word_json_type(entry)}", 'as in {"input": …, "output": …}')
        )
        return None
    if not entry.keys() <= SAMPLE_FIELDS:
        refuse_unknown_fields(entry, SAMPLE_FIELDS, (), faults, "; fields of your own belong under metadata")
    get = entry.get
    id, cluster, tags, metadata = get("id"), get("cluster"), get("tags"), get("metadata")
    input, messages = _read_sample_input(get("input"), get("messages"), faults)
    outputs = _read_sample_outputs(entry, faults)
    id = f"sample-{ordinal}" if id is None else _read_sample_name(id, "id", faults)
    reference = _read_sample_text(get("reference"), "reference", faults)
    context = get("context")
    if isinstance(context, (list, tuple)) and all(isinstance(text, str) for text in context):
        context = "\n\n".join(context)
    context = _read_sample_text(context, "context", faults)
    tags = () if tags is None else _read_sample_tags(tags, faults)
    cluster = None if cluster is None else _read_sample_name(cluster, "cluster", faults)
    if metadata is not None and not isinstance(metadata, dict):
        faults.append(Fault(f"metadata must be an object, got {word_json_type(metadata)}", path=("metadata",)))
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
    )


def _read_sample_text(value: object, field: str, faults: list[Fault]) -> str:
    """A text; a whole number is the text it is written as."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    hint = "put it in quotes" if isinstance(value, (float, bool)) else ""
    faults.append(Fault(f"{field} must be text, got {word_json_type(value)}", hint, (field,)))
    return ""


def _read_sample_name(value: object, field: str, faults: list[Fault]) -> str:
    text = _read_sample_text(value, field, faults)
    if not text.strip() and isinstance(value, (str, int)):
        faults.append(Fault(f"{field} cannot be empty", "leave it out", (field,)))
    elif len(text) > LONGEST_NAME:
        faults.append(Fault(f"{field} is longer than {LONGEST_NAME} characters", path=(field,)))
    return text


def _read_sample_input(value: object, given: object, faults: list[Fault]) -> tuple[str, tuple[Mapping[str, str], ...]]:
    """The input as text, and the messages it was given as, under `input` or `messages`."""
    if given is None and not isinstance(value, (list, tuple)):
        return _read_sample_text(value, "input", faults), ()
    if given is None:
        messages = _read_messages(value, "input", faults)
        return join_sample_messages(messages), messages
    messages = _read_messages(given, "messages", faults)
    text = join_sample_messages(messages)
    if value not in (None, text) and messages:
        faults.append(Fault("input and messages are the same field", "keep one of them", ("messages",)))
    return text, messages


def _read_messages(value: object, field: str, faults: list[Fault]) -> tuple[Mapping[str, str], ...]:
    if not isinstance(value, (list, tuple)) or not value:
        faults.append(Fault(f"{field} must be a list with messages, got {word_json_type(value)}", path=(field,)))
        return ()
    messages = []
    for at, one in enumerate(value):
        if not isinstance(one, dict):
            faults.append(Fault(f"{field}[{at}] must be an object with role and text", path=(field, at)))
            continue
        refuse_unknown_fields(one, _MESSAGE_FIELDS, (field, at), faults)
        role, text = one.get("role"), one.get("text", one.get("content"))
        if role not in MESSAGE_ROLES:
            hint = f"known: {', '.join(MESSAGE_ROLES)}; calls of tools belong into the trace of an output"
            faults.append(Fault(f"{field}[{at}].role {str(role)[:40]!r} is not known", hint, (field, at)))
        if not isinstance(text, str):
            faults.append(Fault(f"{field}[{at}].text must be text, got {word_json_type(text)}", path=(field, at)))
        else:
            messages.append({"role": str(role), "text": text})
    return tuple(messages)


def _read_sample_outputs(entry: dict[str, object], faults: list[Fault]) -> dict[str, VariantOutput]:
    """The outputs by variant: those under `outputs`, or the one that the fields of the sample itself describe."""
    outputs, output = entry.get("outputs"), entry.get("output")
    author = read_sample_output_author(entry.get("author"), ("author",), faults)
    stray = (
        []
        if _SINGLE_OUTPUT_FACTS.isdisjoint(entry)
        else [fact for fact in OUTPUT_FACTS if fact in _SINGLE_OUTPUT_FACTS and entry.get(fact) is not None]
    )
    if output is not None:
        if outputs is not None:
            faults.append(Fault("output and outputs are the same field", "keep one of them", ("outputs",)))
        return _read_single_output(output, entry, stray, author, faults)
    for fact in stray:
        hint = f"write outputs: {{NAME: {{text: …, {fact}: …}}}}" if outputs else "give the output too"
        faults.append(Fault(f"{fact} belongs to an output", hint, (fact,)))
    if outputs is None:
        return {}
    if not isinstance(outputs, dict):
        hint = "as in outputs: {old: …, new: …}"
        faults.append(Fault(f"outputs must map variants to outputs, got {word_json_type(outputs)}", hint, ("outputs",)))
        return {}
    found = {}
    for name, value in outputs.items():
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME:
            faults.append(Fault("an output needs the name of its variant", path=("outputs",)))
            continue
        made = read_output_value(value, ("outputs", name), faults, author)
        if made is not None:
            found[name] = made
    return found


def _read_single_output(
    output: object, entry: dict[str, object], stray: list[str], author: str | None, faults: list[Fault]
) -> dict[str, VariantOutput]:
    if isinstance(output, dict):
        faults += [
            Fault(f"{fact} stands beside an output that is an object", "put it into it", (fact,)) for fact in stray
        ]
        made = read_output_value(output, ("output",), faults, author)
    elif stray and isinstance(output, str):
        made = read_output_facts({"text": output, **{fact: entry[fact] for fact in stray}}, (), faults, author)
    else:
        made = read_output_value(output, ("output",), faults, author)
    return {} if made is None else {SINGLE_VARIANT: made}


def _read_sample_tags(value: object, faults: list[Fault]) -> tuple[str, ...]:
    """Tags in their order, each once."""
    tags = value.split(",") if isinstance(value, str) else value
    if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, str) for tag in tags):
        faults.append(Fault("tags must be a list of texts, or one text with commas", path=("tags",)))
        return ()
    return tuple(dict.fromkeys([tag.strip() for tag in tags if tag.strip()]))


_WHOLE_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]{0,18})")
_DECIMAL_NUMBER = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_TEXT_FIELDS = ("id", "input", "output", "reference", "context", "tags", "cluster", "author", "text", "content", "role")


def read_inline_samples(node: SequenceNode, faults: list[Fault], path: FaultPath) -> tuple[EvalSample, ...]:
    """The samples of a list; faults have their paths, so that the door can name their lines."""
    samples: list[EvalSample] = []
    places: dict[str, int] = {}
    for at, item in enumerate(node.items):
        found: list[Fault] = []
        entry = _inline_sample_data(item)
        why = explain_unstorable_value(entry)
        sample = None if why else read_sample_entry(entry, at + 1, found)
        faults += [Fault(why, path=(*path, at))] if why else [fault.within(*path, at) for fault in found]
        if sample is None:
            continue
        first = places.setdefault(sample.id, at)
        if first != at:
            what = f"the id {sample.id!r} is used twice, first by the sample {first + 1} of the list"
            faults.append(Fault(what, "each id is unique", (*path, at, "id")))
        samples.append(sample)
    return tuple(samples)


def _inline_sample_data(node: TreeNode) -> object:
    """A sample as plain data. What is a text stays as it is written: a reference of 1.50 is no number."""
    if not isinstance(node, MappingNode):
        return sample_node_data(node)
    return {key.text: _inline_field_data(key.text, value) for key, value in node.items}


def _inline_field_data(name: str, node: TreeNode) -> object:
    if isinstance(node, ScalarNode):
        return node.text if name in _TEXT_FIELDS and not is_null_node(node) else sample_node_data(node)
    if name == "outputs" and isinstance(node, MappingNode):
        return {
            key.text: _inline_sample_data(value)
            if isinstance(value, MappingNode)
            else _inline_field_data("text", value)
            for key, value in node.items
        }
    if name in ("tags", "context") and isinstance(node, SequenceNode):
        return [_inline_field_data("text", item) for item in node.items]
    if name in ("input", "messages") and isinstance(node, SequenceNode):
        return [_inline_sample_data(item) for item in node.items]
    return _inline_sample_data(node) if name == "output" else sample_node_data(node)


def sample_node_data(node: TreeNode) -> object:
    """A node as the plain data that JSON would give."""
    if isinstance(node, MappingNode):
        return {key.text: sample_node_data(value) for key, value in node.items}
    if isinstance(node, SequenceNode):
        return [sample_node_data(item) for item in node.items]
    if node.quoted:
        return node.text
    if is_null_node(node):
        return None
    if node.text in ("true", "false"):
        return node.text == "true"
    if _WHOLE_NUMBER.fullmatch(node.text):
        return int(node.text)
    return float(node.text) if _DECIMAL_NUMBER.fullmatch(node.text) else node.text
