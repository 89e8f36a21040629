"""Prompt texts with a version, and requests composed of them with all untrusted text inside a fence that it cannot
forge.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from evenhand.errors import Fault, InputError, suggest_known_word_in_fault
from evenhand.files.methods import LIBRARY
from evenhand.files.parsing import read_text_file, read_text_mapping
from evenhand.model.criterion import Criterion
from evenhand.models.requests import Message, ModelSettings, Request, RequestSubject

NAMES = (
    "pointwise", "checklist", "individual", "listwise", "pairwise", "dimensions", "gate", "horizontal", "sampled",
    "odds", "odds-met", "odds-level", "odds-known", "rules", "evidence", "repair",
)  # fmt: skip
SHARED = ("rules", "evidence")  # Stand in several texts.
PARTS = {"odds": ("odds-met", "odds-level", "odds-known")}  # Stand in one text only.
LANGUAGES = ("en", "zh")
_SHIPPED = LIBRARY / "prompts"
_LARGEST = 200_000
_VERSION = re.compile(r"version: *(\S+)\n+")
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_TASK = "\n=== task\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """One set of prompt texts. `texts` holds each file whole, so that any change is a change of the fingerprint."""

    language: str
    texts: Mapping[str, str]
    phrases: Mapping[str, str]

    def version(self, name: str) -> str:
        """The version that a text says it has."""
        found = _VERSION.match(self.texts[name])
        return found[1] if found else ""

    def used(self, name: str) -> dict[str, str]:
        """All texts that a dialogue is made of, by name."""
        phrases = "\n".join(f"{key}: {text}" for key, text in sorted(self.phrases.items()))
        parts = (name, *PARTS.get(name, ()), *SHARED, "repair")
        return {part: self.texts[part] for part in parts} | {"phrases": phrases}

    def fill(self, name: str, **values: str) -> tuple[str, str]:
        """The two halves of a prompt, what stays the same and the task, with their places filled."""
        before, _, task = self.body(name).partition(_TASK)
        values |= {part: self.body(part) for part in SHARED}
        # In one pass: what is put in is never searched for places again.
        halves = [_PLACE.sub(lambda found: values[found[1]], half).strip() for half in (before, task)]
        return halves[0], halves[1]

    def body(self, name: str) -> str:
        """A text without the line of its version."""
        return _VERSION.sub("", self.texts[name], count=1).strip()

    def say(self, phrase: str, **values: object) -> str:
        """A phrase with its places filled."""
        return self.phrases[phrase].format(**values)


def load_prompts(language: str) -> Prompts:
    """A shipped set by its language, or one from a folder with the same files."""
    if language in LANGUAGES:
        return _load_prompt_folder(_SHIPPED / language)
    folder = Path(language)
    if not folder.is_dir():
        hint = suggest_known_word_in_fault(language, LANGUAGES) + ", or a folder of prompt texts"
        raise InputError(Fault(f"no prompt texts for {language!r}", hint))
    return _load_prompt_folder(folder)


@cache
def _load_prompt_folder(folder: Path) -> Prompts:
    texts = {name: read_text_file(folder / f"{name}.md", _LARGEST, InputError) for name in NAMES}
    phrases = read_text_mapping(folder / "phrases.yaml")
    if folder.parent != _SHIPPED:
        model = _load_prompt_folder(_SHIPPED / LANGUAGES[0])
        faults = [fault for name in NAMES for fault in _find_prompt_faults(name, texts[name], model.texts[name])]
        faults += [Fault(f"phrase {name!r} is missing") for name in model.phrases if name not in phrases]
        if faults:
            raise InputError(*(Fault(f.what, f.hint, where=f.where or str(folder / "phrases.yaml")) for f in faults))
    return Prompts(language=folder.name, texts=texts, phrases=phrases)


def _find_prompt_faults(name: str, text: str, model: str) -> list[Fault]:
    """What a text of one's own must share with the shipped one: a version, the cut, the places."""
    own, known = set(_PLACE.findall(text)), set(_PLACE.findall(model))
    where = f"{name}.md"
    faults = [Fault(f"the place {{{{{place}}}}} is missing", where=where) for place in sorted(known - own)]
    faults += [
        Fault(f"unknown place {{{{{place}}}}}", suggest_known_word_in_fault(place, known), where=where)
        for place in sorted(own - known)
    ]
    if (_TASK in text) != (_TASK in model):
        faults.append(Fault("one line '=== task' parts what stays the same from the task", where=where))
    if not _VERSION.match(text):
        faults.append(Fault("it must begin with its version", "as in version: 1", where=where))
    return faults


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSetup:
    """How a judge is asked: under which name, in which words, with which settings, from which seed."""

    judge: str
    prompts: Prompts
    settings: ModelSettings = field(default_factory=ModelSettings)
    seed: int = 0


# A label in words, the name of its tag, and the text.
MaterialPiece = tuple[str, str, str]


def label_material_pieces(
    prompts: Prompts, question: str = "", context: str = "", reference: str = ""
) -> list[MaterialPiece]:
    """What a judge is shown beside outputs, as far as there is any."""
    given = {"question": question, "context": context, "reference": reference}
    return [(prompts.say(name), name, text) for name, text in given.items() if text.strip()]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOutline:
    """A prompt in its two halves, what it asks for, and the schema of the answer."""

    halves: tuple[str, str]
    ids: tuple[str, ...]
    schema: Mapping[str, object] | None = None
    labels: tuple[str, ...] = ()
    asked: tuple[tuple[str, Criterion], ...] = ()  # Each criterion with the key its answer belongs under.


def compose_judge_request(
    dialogue: str,
    outline: PromptOutline,
    pieces: Sequence[MaterialPiece],
    manner: JudgeSetup,
    *,
    settings: ModelSettings | None = None,
    repeat: int = 0,
) -> Request:
    """A request: what stays the same as the system's words, then the task with the material in its fence."""
    system, task = outline.halves
    settings = settings or manner.settings
    if settings.temperature is None:
        settings = replace(settings, temperature=0.0)
    salt = "/".join((str(manner.seed), dialogue, str(repeat), *outline.ids, *outline.labels))
    fence = Fence([text for _, _, text in pieces], salt)
    material = "\n\n".join(f"{label}:\n{fence.around(tag, text)}" for label, tag, text in pieces)
    return Request(
        dialogue=dialogue,
        # The material goes in last: nothing inside it is ever searched for places.
        messages=(
            Message("system", system, repeats=True),
            Message("user", task.replace(MARKER, fence.marker).replace(MATERIAL, material)),
        ),
        ids=outline.ids,
        labels=outline.labels,
        schema=outline.schema,
        settings=settings,
        repeat=repeat,
        about=RequestSubject(outline.asked, {tag: text for _, tag, text in pieces}),
    )


# What the halves of a prompt are filled with until a request is composed.
MARKER = "{{marker}}"
MATERIAL = "{{material}}"

# Invisible, and no reader stops at it: the text reads the same, but is no longer a tag or a turn to a machine.
JOINER = "\u2060"

_ROLES = (
    "system|user|assistant|human|developer|model|tool|function|instruction|prompt|response|input|output|ai|bot|gpt|"
    "系统|用户|助手|助理|开发者|人类|指令"
)
_LINE = r"(?:^|(?<=[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]))"
_POWER = re.compile(
    rf"""
    (?P<tag> <(?=[A-Za-z_/|!?｜<]) | \[(?=/?[A-Z][A-Z_]{{2,}}\]) | \[(?=/?(?:system|user|assistant)\b) )
    | (?P<role>
        {_LINE} (?:[^\w\n]|_){{0,12}} (?:[0-9]{{1,2}}[.)])? (?:[^\w\n]|_){{0,4}}
        (?=(?:{_ROLES})s? (?:[ _-](?:prompt|message|turn|input|output))? (?:[^\w\n]|_){{0,8}}? [:：]) .
      )
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_SURROGATES = re.compile("[\ud800-\udfff]")


class Fence:
    """The fence of one request: every text that goes inside it must be known when it is built."""

    def __init__(self, texts: Sequence[str], salt: str) -> None:
        self.texts = {text: neutralize_untrusted_text(text) for text in texts}
        digest = hashlib.blake2b(salt.encode("utf-8", "replace"), digest_size=8)
        for text in self.texts.values():
            raw = text.encode("utf-8")
            digest.update(len(raw).to_bytes(8, "big"))
            digest.update(raw)
        while any(digest.hexdigest() in text.lower() for text in self.texts.values()):
            digest.update(b"again")
        self.marker = digest.hexdigest()

    def around(self, name: str, text: str) -> str:
        """The text between its two tags."""
        tag = f"{name}-{self.marker}"
        return f"<{tag}>\n{self.texts[text]}\n</{tag}>"


def neutralize_untrusted_text(text: str) -> str:
    """The text with tags, chat marks and role words made powerless; to a reader it stays the same."""
    text = _SURROGATES.sub("\ufffd", text)
    return _POWER.sub(_break_prompt_markup, text)


def _break_prompt_markup(found: re.Match[str]) -> str:
    whole = found[0]
    return whole[0] + JOINER + whole[1:] if found["tag"] else whole + JOINER
