"""YAML text to a tree: events only, so that nothing is ever constructed from a tag."""

from __future__ import annotations

from typing import Any

import yaml

from evenhand.errors import RubricError
from evenhand.loading._tree import Builder, Mapping, Node, Scalar, Sequence, at

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_StringLoader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def parse_yaml(text: str) -> Node | None:
    """The one document in a YAML text; None where it is empty."""
    builder = Builder()
    anchors: dict[str, Node | None] = {}
    opened: list[str | None] = []
    documents = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            line = event.start_mark.line + 1
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise RubricError(at(line, "a second document", "one file holds one rubric: remove '---'"))
            elif isinstance(event, yaml.AliasEvent):
                _add_alias(builder, anchors, event.anchor or "", line)
            elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                _refuse_tag(event.tag, line)
                anchors |= {event.anchor: None} if event.anchor else {}
                opened.append(event.anchor)
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                builder.open(Mapping(line) if is_mapping else Sequence(line))
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                node = builder.close()
                anchor = opened.pop()
                anchors |= {anchor: node} if anchor else {}
            elif isinstance(event, yaml.ScalarEvent):
                _refuse_tag(event.tag, line)
                scalar = Scalar(event.value, line, quoted=not event.implicit[0])
                anchors |= {event.anchor: scalar} if event.anchor else {}
                builder.add(scalar)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "cannot be read"
        raise RubricError(at(mark.line + 1 if mark else 1, f"not valid YAML: {problem}")) from None
    except yaml.YAMLError as error:
        raise RubricError(at(1, f"not valid YAML: {str(error).splitlines()[0]}")) from None
    return builder.root


def parse_yaml_strings(text: str) -> Any:
    """A YAML text of the package's own as mappings and lists of strings: no line numbers, "no" and 10 stay strings."""
    return yaml.load(text, Loader=_StringLoader)


def _add_alias(builder: Builder, anchors: dict[str, Node | None], name: str, line: int) -> None:
    if name not in anchors:
        raise RubricError(at(line, f"the alias *{name} names nothing above it"))
    target = anchors[name]
    if target is None:
        raise RubricError(at(line, f"the alias *{name} contains itself"))
    builder.alias(target, line)


def _refuse_tag(tag: str | None, line: int) -> None:
    if tag not in (None, "!"):
        raise RubricError(at(line, f"the tag {tag!r} is not understood", "write the plain value"))
