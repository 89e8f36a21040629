"""One entry of a sample file to a sample: every fault is collected with its path, none is raised."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.errors import Fault
from evenhand.model import Made
from evenhand.runs._sample import ROLES, SINGLE, RunSample, readable
from evenhand.runs._samples_made import FACTS, kind, made_of, read_author, read_made, refuse_unknown

FIELDS = frozenset(
    (
        "id", "input", "messages", "output", "outputs", "reference", "context", "tags", "cluster", "metadata",
        "assertions", *FACTS,
    )
)  # fmt: skip
LONGEST_NAME = 500

_OWN_FACTS = frozenset(FACTS) - {"author"}
_MESSAGE_FIELDS = frozenset(("role", "text", "content"))


def read_entry(entry: object, ordinal: int, faults: list[Fault]) -> RunSample | None:
    """The sample in an entry, the so-manieth of its file from 1; None where it has a fault."""
    before = len(faults)
    if not isinstance(entry, dict):
        faults.append(Fault(f"a sample is an object with fields, got {kind(entry)}", 'as in {"input": …, "output": …}'))
        return None
    if not entry.keys() <= FIELDS:
        refuse_unknown(entry, FIELDS, (), faults, "; fields of your own belong under metadata")
    get = entry.get
    id, cluster, tags, metadata = get("id"), get("cluster"), get("tags"), get("metadata")
    input, messages = _input(get("input"), get("messages"), faults)
    outputs = _outputs(entry, faults)
    id = f"sample-{ordinal}" if id is None else _name(id, "id", faults)
    reference = _text(get("reference"), "reference", faults)
    context = _context(get("context"), faults)
    tags = () if tags is None else _tags(tags, faults)
    cluster = None if cluster is None else _name(cluster, "cluster", faults)
    if metadata is not None and not isinstance(metadata, dict):
        faults.append(Fault(f"metadata must be an object, got {kind(metadata)}", path=("metadata",)))
    if len(faults) > before:
        return None
    return RunSample(
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


def _text(value: object, field: str, faults: list[Fault]) -> str:
    """A text; a whole number is the text it is written as."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    hint = "put it in quotes" if isinstance(value, (float, bool)) else ""
    faults.append(Fault(f"{field} must be text, got {kind(value)}", hint, (field,)))
    return ""


def _name(value: object, field: str, faults: list[Fault]) -> str:
    text = _text(value, field, faults)
    if not text.strip() and isinstance(value, (str, int)):
        faults.append(Fault(f"{field} cannot be empty", "leave it out", (field,)))
    elif len(text) > LONGEST_NAME:
        faults.append(Fault(f"{field} is longer than {LONGEST_NAME} characters", path=(field,)))
    return text


def _input(value: object, given: object, faults: list[Fault]) -> tuple[str, tuple[Mapping[str, str], ...]]:
    """The input as text, and the messages it was given as, under `input` or `messages`."""
    if given is None and not isinstance(value, (list, tuple)):
        return _text(value, "input", faults), ()
    if given is None:
        messages = _messages(value, "input", faults)
        return readable(messages), messages
    messages = _messages(given, "messages", faults)
    text = readable(messages)
    if value not in (None, text) and messages:
        faults.append(Fault("input and messages are the same field", "keep one of them", ("messages",)))
    return text, messages


def _messages(value: object, field: str, faults: list[Fault]) -> tuple[Mapping[str, str], ...]:
    if not isinstance(value, (list, tuple)) or not value:
        faults.append(Fault(f"{field} must be a list with messages, got {kind(value)}", path=(field,)))
        return ()
    messages = []
    for at, one in enumerate(value):
        if not isinstance(one, dict):
            faults.append(Fault(f"{field}[{at}] must be an object with role and text", path=(field, at)))
            continue
        refuse_unknown(one, _MESSAGE_FIELDS, (field, at), faults)
        role, text = one.get("role"), one.get("text", one.get("content"))
        if role not in ROLES:
            hint = f"known: {', '.join(ROLES)}; calls of tools belong into the trace of an output"
            faults.append(Fault(f"{field}[{at}].role {str(role)[:40]!r} is not known", hint, (field, at)))
        if not isinstance(text, str):
            faults.append(Fault(f"{field}[{at}].text must be text, got {kind(text)}", path=(field, at)))
        else:
            messages.append({"role": str(role), "text": text})
    return tuple(messages)


def _outputs(entry: dict[str, object], faults: list[Fault]) -> dict[str, Made]:
    """The outputs by variant: those under `outputs`, or the one that the fields of the sample itself describe."""
    outputs, output = entry.get("outputs"), entry.get("output")
    author = read_author(entry.get("author"), ("author",), faults)
    stray = (
        []
        if _OWN_FACTS.isdisjoint(entry)
        else [fact for fact in FACTS if fact in _OWN_FACTS and entry.get(fact) is not None]
    )
    if output is not None:
        if outputs is not None:
            faults.append(Fault("output and outputs are the same field", "keep one of them", ("outputs",)))
        return _single(output, entry, stray, author, faults)
    for fact in stray:
        hint = f"write outputs: {{NAME: {{text: …, {fact}: …}}}}" if outputs else "give the output too"
        faults.append(Fault(f"{fact} belongs to an output", hint, (fact,)))
    if outputs is None:
        return {}
    if not isinstance(outputs, dict):
        hint = "as in outputs: {old: …, new: …}"
        faults.append(Fault(f"outputs must map variants to outputs, got {kind(outputs)}", hint, ("outputs",)))
        return {}
    found = {}
    for name, value in outputs.items():
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME:
            faults.append(Fault("an output needs the name of its variant", path=("outputs",)))
            continue
        made = read_made(value, ("outputs", name), faults, author)
        if made is not None:
            found[name] = made
    return found


def _single(
    output: object, entry: dict[str, object], stray: list[str], author: str | None, faults: list[Fault]
) -> dict[str, Made]:
    if isinstance(output, dict):
        faults += [
            Fault(f"{fact} stands beside an output that is an object", "put it into it", (fact,)) for fact in stray
        ]
        made = read_made(output, ("output",), faults, author)
    elif stray and isinstance(output, str):
        made = made_of({"text": output, **{fact: entry[fact] for fact in stray}}, (), faults, author)
    else:
        made = read_made(output, ("output",), faults, author)
    return {} if made is None else {SINGLE: made}


def _context(value: object, faults: list[Fault]) -> str:
    if isinstance(value, (list, tuple)) and all(isinstance(text, str) for text in value):
        return "\n\n".join(value)
    return _text(value, "context", faults)


def _tags(value: object, faults: list[Fault]) -> tuple[str, ...]:
    """Tags in their order, each once."""
    tags = value.split(",") if isinstance(value, str) else value
    if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, str) for tag in tags):
        faults.append(Fault("tags must be a list of texts, or one text with commas", path=("tags",)))
        return ()
    return tuple(dict.fromkeys([tag.strip() for tag in tags if tag.strip()]))
