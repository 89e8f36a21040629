"""Reading the variants of an eval file: every fault is collected with its path, none is raised."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from evenhand.errors import EvalError, Fault, FaultPath, InputError
from evenhand.evals.eval_schema import (
    HTTP_FIELDS,
    HTTP_METHODS,
    MESSAGE_FIELDS,
    MESSAGE_ROLES,
    VARIANT_FIELDS,
    VARIANT_KINDS,
)
from evenhand.evals.json_lines import explain_unreadable_eval_data
from evenhand.evals.samples import sample_node_data
from evenhand.evals.variants.makers import RecordedVariant, Variant
from evenhand.evals.variants.variant import (
    DEFAULT_VARIANT_SECONDS,
    CommandVariant,
    EndpointVariant,
    FunctionVariant,
    ModelVariant,
    VariantPromptTemplate,
)
from evenhand.files.parsing import read_text_file
from evenhand.files.python_functions import VARIABLE_NAME, hash_python_module_file
from evenhand.files.tree import (
    FieldReader,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    describe_node,
    is_null_node,
)
from evenhand.models.requests import EMBEDDED, ModelSettings

LARGEST_PROMPT = 1_000_000

_MODEL_ONLY_FIELDS = ("prompt", "temperature", "max_tokens")
_TIMED_KINDS = ("command", "http", "python")
_LONGEST_VARIANT_NAME = 100
_SECRET_HEADER = re.compile(r"authorization|cookie|api-?key|token|secret|password", re.IGNORECASE)


def read_variants(node: TreeNode, folder: Path, faults: list[Fault], path: FaultPath) -> dict[str, Variant]:
    """The variants of a mapping of names; files are looked for from `folder`."""
    if not isinstance(node, MappingNode) or not node.items:
        hint = "as in variants: {old: {outputs: old.jsonl}, new: {command: ./bot}}"
        faults.append(Fault(f"variants map names to what makes the outputs, got {describe_node(node)}", hint, path))
        return {}
    variants: dict[str, Variant] = {}
    for key, value in node.items:
        if why := explain_unusable_variant_name(key.text):
            faults.append(Fault(why, path=(*path, key.text)))
            continue
        at, before = (*path, key.text), len(faults)
        known: Collection[str] = VARIANT_FIELDS
        if isinstance(value, MappingNode) and any(one.text == "author" for one, _ in value.items):
            hint = (
                f"give it with each output of a sample, as in outputs: {{{key.text}: {{text: …, author: openai/NAME}}}}"
            )
            faults.append(Fault("a variant has no author", hint, (*at, "author")))
            known = (*VARIANT_FIELDS, "author")
        fields = FieldReader(MappingNode(value.line) if is_null_node(value) else value, known, faults, at)
        variant = _VariantReader(fields, folder, faults, at, before).read_variant()
        if variant is not None:
            variants[key.text] = variant
    return variants


def explain_unusable_variant_name(name: str) -> str:
    """Why a variant cannot be called so; empty where it can."""
    usable = name.strip() and len(name) <= _LONGEST_VARIANT_NAME and name.isprintable()
    return "" if usable else f"a variant needs a name of at most {_LONGEST_VARIANT_NAME} printable characters"


@dataclass(slots=True)
class _VariantReader:
    """Reads one variant."""

    fields: FieldReader
    folder: Path
    faults: list[Fault]
    path: FaultPath
    before: int  # Faults that others have.

    def read_variant(self) -> Variant | None:
        """The variant, or None where something is wrong."""
        kinds = [kind for kind in VARIANT_KINDS if kind in self.fields]
        if len(kinds) > 1:
            self.fields.fault(f"a variant is of one kind, and this one is {' and '.join(kinds)}", "keep one of them")
            return None
        kind = kinds[0] if kinds else ""
        for name in _MODEL_ONLY_FIELDS:
            if name in self.fields and kind != "model":
                self.fields.fault(f"{name} is for a variant with a model", "add model: NAME", name)
        if "env" in self.fields and kind != "command":
            self.fields.fault("env is for a command", "a Python function has the whole environment", "env")
        if "seconds" in self.fields and kind not in _TIMED_KINDS:
            self.fields.fault("seconds are for a command, http or python", "", "seconds")
        if len(self.faults) > self.before:
            return None
        read: dict[str, Callable[[], Variant | None]] = {
            "": lambda: RecordedVariant(about=self.fields.text("about") or "recorded outputs"),
            "outputs": self._read_recorded_variant,
            "command": self._read_command_variant,
            "http": self._read_http_variant,
            "python": self._read_python_variant,
            "model": self._read_model_variant,
        }
        variant: Variant | None = None
        try:
            variant = read[kind]()
        except InputError as error:
            self.faults += [Fault(one.what, one.hint, (*self.path, kind, *one.path)) for one in error.faults]
        return variant if len(self.faults) == self.before else None

    def _read_recorded_variant(self) -> RecordedVariant | None:
        about, name = self.fields.text("about"), self.fields.text("outputs")
        if name is None:
            return None
        file = self.folder / name
        why = explain_unreadable_eval_data(file)
        if why is not None:
            self.fields.fault(f"{file}: {why.what}", why.hint, "outputs")
        return RecordedVariant(outputs=file, about=about or f"recorded outputs in {name}")

    def _read_command_variant(self) -> CommandVariant | None:
        node, words, wrong = self.fields.node("command"), [], ""
        if isinstance(node, SequenceNode):
            words = [item.text for item in node.items if isinstance(item, ScalarNode)]
            wrong = "a command is a list of words" if len(words) != len(node.items) else ""
        else:
            try:  # As a shell would split them; nothing else of a shell happens to the words.
                words = shlex.split(self.fields.text("command") or "")
            except ValueError as problem:
                wrong = f"the command cannot be split into words: {str(problem).lower()}"
        if wrong:
            self.fields.fault(wrong, "as in command: [./bot, --fast]", "command")
            return None
        about = self.fields.text("about") or f"command {shlex.join(words)}"[:200]
        env = tuple(node.text if isinstance(node, ScalarNode) else "" for node, _ in self.fields.items("env"))
        if wrong_name := next((name for name in env if not VARIABLE_NAME.fullmatch(name)), None):
            self.fields.fault(f"{wrong_name[:40]!r} names no variable", "as in env: [BOT_TOKEN]", "env")
        return CommandVariant(argv=tuple(words), env=env, folder=self.folder, seconds=self._read_seconds(), about=about)

    def _read_python_variant(self) -> FunctionVariant:
        name = (self.fields.text("python") or "").removeprefix("python:")
        about = self.fields.text("about") or f"python {name}"
        version = hash_python_module_file(name.partition(":")[0], self.folder)
        return FunctionVariant(
            name=name, folder=self.folder, seconds=self._read_seconds(), about=about, version=version
        )

    def _read_http_variant(self) -> EndpointVariant:
        node = self.fields.node("http")
        assert node is not None
        if isinstance(node, ScalarNode):
            node = MappingNode(node.line, [(ScalarNode("url", node.line), node)])
        fields = FieldReader(node, HTTP_FIELDS, self.faults, (*self.path, "http"))
        url = fields.text("url") or ""
        if why := _explain_unusable_variant_url(url):
            fields.fault(why, "as in url: https://example.org/answer", "url")
        elif "@" in urlsplit(url).netloc:
            fields.fault("a url must not hold a password", "send it as headers: {Authorization: '${NAME}'}", "url")
        body = fields.node("body")
        about = self.fields.text("about") or f"http {url}"
        seconds = self._read_seconds()
        data = None if body is None else sample_node_data(body)
        _check_variant_body_templates(data, fields)
        return EndpointVariant(
            url=url,
            headers=_read_variant_headers(fields),
            method=fields.choice("method", HTTP_METHODS) or "POST",
            body=data,
            field=fields.text("field") or "",
            seconds=seconds,
            about=about,
        )

    def _read_model_variant(self) -> ModelVariant | None:
        name = self.fields.text("model") or ""
        if name == EMBEDDED:
            self.fields.fault("embedded judges by rules and writes nothing", "name a model that writes", "model")
        temperature, most = self.fields.number("temperature"), self.fields.integer("max_tokens")
        if temperature is not None and not 0 <= temperature <= 2:
            self.fields.fault("temperature must be from 0 to 2", "", "temperature")
        if most is not None and not 0 < most <= 10**9:
            self.fields.fault("max_tokens must be above 0", "", "max_tokens")
        settings = ModelSettings(temperature=None if temperature is None else float(temperature))
        prompt = self._read_prompt()
        about = self.fields.text("about") or f"model {name}"
        if not prompt or not name:
            return None
        settings = settings if most is None else replace(settings, max_tokens=most)
        return ModelVariant(model=name, prompt=prompt, settings=settings, about=about)

    def _read_prompt(self) -> tuple[tuple[str, VariantPromptTemplate], ...]:
        """A text, a file with one, or messages; without any, the input alone."""
        node = self.fields.node("prompt")
        if node is None:
            return (("user", VariantPromptTemplate("{input}")),)
        if isinstance(node, MappingNode):
            return self._read_prompt_file(node)
        if not isinstance(node, SequenceNode):
            text = self.fields.text("prompt")
            template = None if text is None else self._read_template(text, ("prompt",))
            return () if template is None else (("user", template),)
        messages = []
        for item, path in self.fields.items("prompt"):
            fields = FieldReader(item, MESSAGE_FIELDS, self.faults, path)
            role = fields.choice("role", MESSAGE_ROLES)
            text = fields.text("text", "content")
            if role is None or text is None:
                if "role" not in fields or not ("text" in fields or "content" in fields):
                    fields.fault("a message needs a role and a text")
                continue
            template = self._read_template(text, path[len(self.path) :])
            messages += [(role, template)] if template else []
        if not messages and not node.items:
            self.fields.fault("a prompt needs a message", "", "prompt")
        return tuple(messages)

    def _read_prompt_file(self, node: MappingNode) -> tuple[tuple[str, VariantPromptTemplate], ...]:
        name = FieldReader(node, ("file",), self.faults, (*self.path, "prompt")).text("file")
        if name is None:
            self.fields.fault("a prompt is a text, a list of messages, or {file: prompt.md}", "", "prompt")
            return ()
        file = self.folder / name
        why = explain_unreadable_eval_data(file)
        if why is not None:
            self.fields.fault(f"{file}: {why.what}", why.hint, "prompt")
            return ()
        try:
            template = self._read_template(read_text_file(file, LARGEST_PROMPT, EvalError), ("prompt",), f"{file}: ")
        except InputError as error:
            self.faults += [Fault(str(one), path=(*self.path, "prompt")) for one in error.faults]
            return ()
        return () if template is None else (("user", template),)

    def _read_template(self, text: str, path: FaultPath, file: str = "") -> VariantPromptTemplate | None:
        try:
            return VariantPromptTemplate(text)
        except InputError as error:
            self.faults += [Fault(file + one.what, one.hint, (*self.path, *path)) for one in error.faults]
            return None

    def _read_seconds(self) -> float:
        seconds = self.fields.number("seconds")
        return DEFAULT_VARIANT_SECONDS if seconds is None else float(seconds)


def _explain_unusable_variant_url(url: str) -> str:
    try:
        parts = urlsplit(re.sub(r"\$\{\w+\}", "0", url))
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        return "the url cannot be used"
    if not url or not usable:
        return "an http variant needs a url that begins with http:// or https://"
    return ""


def _read_variant_headers(fields: FieldReader) -> dict[str, str]:
    """Headers as they are written; a secret must be named by its variable, for the file itself is kept with the run."""
    headers = {}
    for name, node, path in fields.pairs("headers"):
        value = node.text if isinstance(node, ScalarNode) and not is_null_node(node) else ""
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or not value or not value.isprintable():
            fields.faults.append(Fault(f"{name[:60]!r} is not a header with a value", "", path))
        elif _SECRET_HEADER.search(name) and not re.search(r"\$\{\w+\}", value):
            hint = f"export it and write {name}: '${{NAME}}'"
            fields.faults.append(Fault(f"the secret of the header {name} stands in the file", hint, path))
        headers[name] = value
    return headers


def _check_variant_body_templates(body: object, fields: FieldReader) -> None:
    if isinstance(body, str):
        try:
            VariantPromptTemplate(body)
        except InputError as error:
            fields.faults += [Fault(one.what, one.hint, (*fields.path, "body")) for one in error.faults]
    elif isinstance(body, (dict, list)):
        for value in body.values() if isinstance(body, dict) else body:
            _check_variant_body_templates(value, fields)
