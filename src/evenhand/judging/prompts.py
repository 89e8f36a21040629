"""Prompt texts with a version, and requests composed of them with all untrusted text inside the fence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from evenhand.errors import Fault, InputError, suggest_known_word_in_error
from evenhand.files.allowed_files import explain_forbidden_path, is_allowed_folder, is_optional_file_there
from evenhand.files.methods import LIBRARY
from evenhand.files.parsing import read_text_file, read_text_mapping_file
from evenhand.judging.fence import MaterialPiece, SharedPiece, fence_shared_prompt_pieces, fence_untrusted_prompt_pieces
from evenhand.model.quick_init import set_slots_directly
from evenhand.model.rubric import RubricIdentityCache
from evenhand.model.scale import Criterion, Missing
from evenhand.models.requests import Message, ModelSettings, Request, RequestSubject

NAMES = (
    "pointwise", "checklist", "individual", "listwise", "pairwise", "dimensions", "gate", "horizontal", "sampled",
    "odds", "odds-met", "odds-level", "odds-known", "rules", "evidence", "repair",
)  # fmt: skip
DECISIONS = ("decisions", "decisions-met", "decisions-level", "decisions-letter")  # English where a folder has none.
LENGTH = "length"  # A sentence against length, where it is asked for: at the end of the rules, and of what has none.
WITH_RULES = ("rules", "odds", "decisions")  # The texts that have rules of their own.
SHARED = ("rules", "evidence")  # Stand in several texts.
PARTS = {
    "odds": ("odds-met", "odds-level", "odds-known"),
    "decisions": (*DECISIONS[1:], "odds-met"),
}  # Stand in one text only.
LANGUAGES = ("en", "zh")
_SHIPPED = LIBRARY / "prompts"
_LARGEST = 200_000
_VERSION = re.compile(r"version: *(\S+)\n+")
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_TASK = "\n=== task\n"
_IDEOGRAPH = re.compile("[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePrompts:
    """One set of prompt texts. `texts` holds each file whole, so that any change is a change of the fingerprint."""

    language: str
    texts: Mapping[str, str]
    phrases: Mapping[str, str]
    translations: Mapping[str, str] = field(default_factory=dict)  # By pattern, for what is worded in English.

    def used(self, name: str) -> dict[str, str]:
        """All texts that a dialogue is made of, by name."""
        phrases = "\n".join(f"{key}: {text}" for key, text in sorted(self.phrases.items()))
        parts = (name, *PARTS.get(name, ()), *SHARED, "repair")
        translated = "\n".join(f"{pattern}: {text}" for pattern, text in self.translations.items())
        more = {"phrases": phrases, **({"translations": translated} if translated else {})}
        return {part: self.texts[part] for part in parts} | more

    def fill(self, name: str, **values: str) -> tuple[str, str]:
        """The two halves of a prompt, what stays the same and the task, with their places filled.

        The places of the material stay open until a request is composed.
        """
        bodies = {part: _VERSION.sub("", self.texts[part], count=1).strip() for part in (name, *SHARED)}
        values |= {part: bodies[part] for part in SHARED} | {"marker": MARKER, "material": MATERIAL}
        before, _, task = bodies[name].partition(_TASK)
        # In one pass: what is put in is never searched for places again.
        halves = [_PLACE.sub(lambda found: values[found[1]], half).strip() for half in (before, task)]
        return halves[0], halves[1]

    def say(self, phrase: str, **values: object) -> str:
        """A phrase with its places filled."""
        return self.phrases[phrase].format(**values)

    def translate(self, text: str) -> str:
        """A text of ours in the language of these prompts, as far as they translate it."""
        found = ((re.fullmatch(pattern, text), into) for pattern, into in self.translations.items())
        return next((match.expand(into) for match, into in found if match), text)

    def word_fault(self, fault: Missing) -> str:
        """What is wrong with a reply, for the judge: what it may be told, in its language, else in general words."""
        told = self.translate(fault.told)
        return told if told and not (self.translations and not _IDEOGRAPH.search(told)) else self.say("fault")


@cache
def load_prompts(language: str, *, ignore_length: bool = False) -> JudgePrompts:
    """A shipped set by its language, or one from a folder with the same files.

    With `ignore_length`, judges are also told that a longer output is not a better one.
    """
    if ignore_length:
        return _add_length_rule_to_prompts(load_prompts(language), language)
    folder = _SHIPPED / language if language in LANGUAGES else Path(language)
    outside = explain_forbidden_path(folder)
    if outside is not None:
        raise InputError(replace(outside, what=f"prompt texts {Path(language).name!r}: it {outside.what}"))
    if not is_allowed_folder(folder):
        hint = suggest_known_word_in_error(language, LANGUAGES) + ", or a folder of prompt texts"
        raise InputError(Fault(f"no prompt texts for {language!r}", hint))
    texts = {name: read_text_file(folder / f"{name}.md", _LARGEST, InputError) for name in NAMES}
    for name in DECISIONS:
        own = folder / f"{name}.md"
        chosen = own if is_optional_file_there(own, InputError) else _SHIPPED / LANGUAGES[0] / own.name
        texts[name] = read_text_file(chosen, _LARGEST, InputError)
    phrases = read_text_mapping_file(folder / "phrases.yaml")
    given = folder / "translations.yaml"
    translations = read_text_mapping_file(given) if is_optional_file_there(given, InputError) else {}
    if folder.parent != _SHIPPED:
        model = load_prompts(LANGUAGES[0])
        faults = [fault for name in texts for fault in _find_prompt_faults(name, texts[name], model.texts[name])]
        faults += [Fault(f"phrase {name!r} is missing") for name in model.phrases if name not in phrases]
        if faults:
            raise InputError(*(Fault(f.what, f.hint, where=f.where or str(folder / "phrases.yaml")) for f in faults))
    return JudgePrompts(language=folder.name, texts=texts, phrases=phrases, translations=translations)


def _add_length_rule_to_prompts(prompts: JudgePrompts, language: str) -> JudgePrompts:
    """The same set with one rule more."""
    folder = _SHIPPED / language if language in LANGUAGES else Path(language)
    rule = _VERSION.sub("", read_text_file(folder / f"{LENGTH}.md", _LARGEST, InputError), count=1).strip()
    texts = dict(prompts.texts)
    for name in WITH_RULES:
        before, cut, task = texts[name].partition(_TASK)
        texts[name] = f"{before.rstrip()}\n{rule}\n{cut}{task}"
    return replace(prompts, texts=texts)


def _find_prompt_faults(name: str, text: str, model: str) -> list[Fault]:
    """What a text of one's own must share with the shipped one: a version, the cut, the places.

    The form of the answer may be another: replies are read in many, and a second one beside it would contradict it.
    """
    own, known = set(_PLACE.findall(text)), set(_PLACE.findall(model))
    where = f"{name}.md"
    faults = [Fault(f"the place {{{{{place}}}}} is missing", where=where) for place in sorted(known - own - {"form"})]
    faults += [
        Fault(f"unknown place {{{{{place}}}}}", suggest_known_word_in_error(place, known), where=where)
        for place in sorted(own - known)
    ]
    if (_TASK in text) != (_TASK in model):
        faults.append(Fault("one line '=== task' parts what stays the same from the task", where=where))
    if not _VERSION.match(text):
        faults.append(Fault("it must begin with its version", "as in version: 1", where=where))
    return faults


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSetup:
    """How a judge is asked: under which name, in which words, with which settings, from which seed, in which order."""

    judge: str
    prompts: JudgePrompts
    settings: ModelSettings = field(default_factory=ModelSettings)
    seed: int = 0
    order: tuple[str, ...] = ()  # Of outputs side by side; without one, the seed and the judge decide.


def label_prompt_material(
    prompts: JudgePrompts, question: str = "", context: str = "", reference: str = ""
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
    """A request: what stays the same as the system's words, then the task with the material in its fence.

    Examples are the same in all requests of a rubric, so they come first, where a server can keep them.
    """
    system, task = outline.halves
    settings = settings or manner.settings
    if settings.temperature is None:
        given = settings
        settings = _COLD_SETTINGS.get((given,), lambda: replace(given, temperature=0.0))
    salt = "/".join((str(manner.seed), dialogue, str(repeat), *outline.ids, *outline.labels))
    shared = [piece for piece in pieces if piece.__class__ is SharedPiece]
    own = [piece for piece in pieces if not isinstance(piece, SharedPiece)] if shared else pieces
    opening = ""
    if shared:
        known, examples = fence_shared_prompt_pieces(shared, own)
        opening = load_example_phrases(manner.prompts.language)["examples"].format(marker=known) + f"\n\n{examples}\n\n"
    marker, material = fence_untrusted_prompt_pieces(own, salt, shared)
    return Request(
        dialogue=dialogue,
        # The material goes in last: nothing inside it is ever searched for places.
        messages=(
            Message("system", system, repeats=True),
            Message("user", opening + task.replace(MARKER, marker).replace(MATERIAL, material), opening=len(opening)),
        ),
        ids=outline.ids,
        labels=outline.labels,
        schema=outline.schema,
        settings=settings,
        repeat=repeat,
        about=RequestSubject(outline.asked, {tag: text for _, tag, text in pieces}),
    )


# Many requests share their settings, and to copy them takes longer than to look for the copy.
_COLD_SETTINGS: RubricIdentityCache[ModelSettings] = RubricIdentityCache()


@cache
def load_example_phrases(language: str) -> Mapping[str, str]:
    """The words around examples in the language of the prompts; a folder of one's own has the English ones."""
    folder = language if language in LANGUAGES else LANGUAGES[0]
    return read_text_mapping_file(_SHIPPED / folder / "examples.yaml")


# What the halves of a prompt are filled with until a request is composed.
MARKER = "{{marker}}"
MATERIAL = "{{material}}"
