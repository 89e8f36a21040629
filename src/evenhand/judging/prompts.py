"""Prompt texts with a version, requests composed of them with all untrusted text inside the fence, and rounds of such
questions: an unreadable reply is asked for once more and then left unread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

from evenhand.errors import Fault, InputError, suggest_known_word_in_error
from evenhand.files.allowed_files import explain_forbidden_path, is_allowed_folder, is_optional_file_there
from evenhand.files.methods import LIBRARY
from evenhand.files.parsing import read_text_file, read_text_mapping_file
from evenhand.judging.fence import MaterialPiece, SharedPiece, fence_shared_prompt_pieces, fence_untrusted_prompt_pieces
from evenhand.judging.reading.answer_alone import (
    find_object_asked_for,
    find_strict_json_object,
    is_reply_answer_alone,
    may_repeat_planted_answers,
)
from evenhand.judging.reading.reply_reader import find_refusal_beside_reasons, read_reply_score
from evenhand.judging.reading.reply_text import find_judge_refusal
from evenhand.judging.reading.score_mentions import list_answer_values
from evenhand.judging.reading.tolerant_json import escape_tags_in_json_strings
from evenhand.model.quick_init import set_slots_directly
from evenhand.model.rubric import RubricIdentityCache
from evenhand.model.scale import Criterion, Missing
from evenhand.models.requests import Message, ModelSettings, NoReply, Reply, Request, RequestSubject

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


T = TypeVar("T")
R = TypeVar("R")
RequestRound = tuple[Request, ...]
RoundReplies = Sequence[Reply | NoReply]
# Yields a round of requests, all of which may be sent at once, is sent their replies in the same order, and returns.
Dialogue = Generator[RequestRound, RoundReplies, R]

MOST_FAULTS, LONGEST_FAULT = 20, 300
MAY_BE_PLANTED = Missing.unreadable(
    "its answer also stands in the text it judges, and it says more: the answer alone would count"
)


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReplyReading(Generic[T]):
    """What was read: items by id, faults by id, or one reason why there is nothing at all."""

    items: Mapping[str, T] = field(default_factory=dict)
    faults: Mapping[str, Missing] = field(default_factory=dict)
    unread: Missing | None = None
    data: object = None

    def explain_missing(self, id: str) -> Missing:
        """Why an item is missing."""
        return self.unread or self.faults.get(id) or Missing("unreadable", "no answer was given")


@set_slots_directly
@dataclass(frozen=True, slots=True)
class JudgeQuestion(Generic[T]):
    """A request and how to read the reply to it."""

    request: Request
    read: Callable[[str], JudgeReplyReading[T]]
    pieces: Sequence[MaterialPiece] = ()  # What of it a reply may quote, which is then not the judge's answer.


def ask_judge_questions(
    questions: Sequence[JudgeQuestion[T]], prompts: JudgePrompts
) -> Dialogue[list[JudgeReplyReading[T]]]:
    """Ask all questions at once; those whose reply has a fault are asked once more, the fault named."""
    replies = yield tuple(question.request for question in questions)
    readings = [_read_judge_reply(question, reply, prompts) for question, reply in zip(questions, replies, strict=True)]
    wrong = [place for place, reading in enumerate(readings) if reading.faults]
    if wrong:
        again = yield tuple(_build_reply_repair_prompt(questions[at].request, readings[at], prompts) for at in wrong)
        for at, reply in zip(wrong, again, strict=True):
            second = _read_judge_reply(questions[at], reply, prompts)
            stands_alone = _replaces_first_reply(questions[at], replies[at], reply)
            readings[at] = second if stands_alone else _merge_repaired_reply_reading(readings[at], second)
    return readings


def _read_judge_reply(
    question: JudgeQuestion[T], reply: Reply | NoReply, prompts: JudgePrompts
) -> JudgeReplyReading[T]:
    if isinstance(reply, NoReply):
        return JudgeReplyReading(unread=explain_silent_judge(reply))
    text = find_own_reply_text(question, reply.text)
    reading = question.read(reply.text if text is None else text)
    if not reading.items and (text is not None or reply.stop == "refusal"):
        refused = reply.text.strip() if reply.stop == "refusal" else find_refusal_beside_reasons(reply.text)
        if refused:
            return JudgeReplyReading(unread=Missing("abstained", _shorten_judge_reply_fault(refused)))
    if text is None and (reading.items or not reading.faults):
        ids = (*reading.items, *reading.faults) or question.request.ids
        reading = JudgeReplyReading(faults=dict.fromkeys(ids, MAY_BE_PLANTED))
    if reply.stop == "length" and (reading.faults or reading.data is None):
        # Prose that was cut off may have lost the second half of a number: none of it counts.
        items = reading.items if reading.data is not None else {}
        return replace(reading, items=items, faults={"": Missing.unreadable(prompts.say("cut_off")), **reading.faults})
    return reading


def find_own_reply_text(question: JudgeQuestion[T], reply: str) -> str | None:
    """What of a reply is the judge's own answer; None where its author may have planted an answer that it repeats."""
    text, request = escape_tags_in_json_strings(reply), question.request
    asked_for = find_object_asked_for(text, request.schema, _list_shown_names(request))
    if asked_for is not None or not question.pieces:
        return asked_for or text
    if is_reply_answer_alone(text, request.schema, request.ids, request.labels):
        return text

    # A heading of the judge's own may stand above a value that the text gives without one.
    asked = dict.fromkeys((one.id, one.scale) for _, one in request.about.asked) if request.about else {}

    def read_answers(part: str) -> tuple[object, ...]:
        reading = question.read(part)
        scores = tuple(read_reply_score(part, scale, id) for id, scale in asked) if len(asked) > 1 else ()
        refused = find_judge_refusal(part) is not None
        return set(list_answer_values(reading.items)), reading.faults, reading.unread, scores, refused

    pieces = [piece for _, _, piece in question.pieces]
    return None if may_repeat_planted_answers(text, request.schema, pieces, request.labels, read_answers) else text


def explain_silent_judge(reply: NoReply) -> Missing:
    """What stands for the answer of a judge that did not reply."""
    return Missing("failed", f"judge failed: {reply.why}")


def _build_reply_repair_prompt(request: Request, reading: JudgeReplyReading[T], prompts: JudgePrompts) -> Request:
    """The same request with the faults named at its end, in our own words: the reply itself is not shown again.

    It may quote the output, and what stands in an output reaches a judge inside the fence or not at all.
    """
    listed = []
    written = _list_shown_names(request)
    for id, fault in list(reading.faults.items())[:MOST_FAULTS]:
        # The item as the judge knows it: "A/red_flags.rude" is "A: rude".
        label, slash, name = id.rpartition("/")
        name = written.get(name) or name.removeprefix("red_flags.").removeprefix("bonuses.")
        named = f"{label}: {name}: " if slash else f"{name}: " if name else ""
        listed.append(f"- {named}{prompts.word_fault(fault)}")
    note, _ = prompts.fill("repair", faults="\n".join(listed))
    last = request.messages[-1]
    messages = (*request.messages[:-1], replace(last, text=f"{last.text}\n\n{note}"))
    settings = request.settings
    if "" in reading.faults:
        settings = replace(settings, max_tokens=2 * settings.max_tokens)
    return replace(request, messages=messages, settings=settings)


def _list_shown_names(request: Request) -> dict[str, str]:
    """What the form calls a criterion, by its id, where these differ."""
    return {one.id: one.shown_as for _, one in request.about.asked if one.shown_as} if request.about else {}


def _replaces_first_reply(question: JudgeQuestion[T], first: Reply | NoReply, second: Reply | NoReply) -> bool:
    """Whether a second reply is the object asked for, and the first no JSON: prose may have been misread in part."""
    if isinstance(first, NoReply) or isinstance(second, NoReply):
        return False
    request, texts = question.request, [escape_tags_in_json_strings(one.text) for one in (first, second)]
    asked_for = find_object_asked_for(texts[1], request.schema, _list_shown_names(request))
    return asked_for is not None and find_strict_json_object(texts[0]) is None


def _merge_repaired_reply_reading(first: JudgeReplyReading[T], second: JudgeReplyReading[T]) -> JudgeReplyReading[T]:
    """What was read at first stands; the second reply answers only for what was wrong with the first."""
    items = {**{id: item for id, item in second.items.items() if id not in first.items}, **first.items}
    if second.unread:
        return replace(first, faults={id: fault for id, fault in first.faults.items() if id})
    faults = {id: fault for id, fault in second.faults.items() if id and id not in items}
    return JudgeReplyReading(items=items, faults=faults, data=second.data if first.data is None else first.data)


def _shorten_judge_reply_fault(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_FAULT else line[: LONGEST_FAULT - 1] + "…"
