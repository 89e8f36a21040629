"""What is asked of a model and what comes back, as plain values, and what a request passes on its way to a model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from json.encoder import encode_basestring_ascii
from typing import Any, Literal, Protocol

from evenhand.model.quick_init import set_slots_directly
from evenhand.model.scale import Criterion

EMBEDDED = "embedded"  # The name of the judge that goes by rules.
Role = Literal["system", "user", "assistant"]
StopReason = Literal["end", "length", "refusal", "unknown"]


@set_slots_directly
@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `repeats` marks a text that many requests begin with, so that a server may keep it.

    Of a text that only begins so, `opening` is how many characters do.
    """

    role: Role
    text: str
    repeats: bool = False
    opening: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """How a model is to answer. A temperature of None is 0, or 1 where several replies to one question are wanted."""

    temperature: float | None = None
    max_tokens: int = 4096
    seed: int | None = None
    top_logprobs: int = 0  # How many likely tokens to report at each place; 0 reports none.


@set_slots_directly
@dataclass(frozen=True, slots=True)
class RequestSubject:
    """What a request is about, for a judge that reads texts and no prompts: it is all in the messages too."""

    asked: tuple[tuple[str, Criterion], ...]  # Each with the key of the reply under which its answer belongs.
    texts: Mapping[str, str]  # By tag: question, context, reference, output, submission, response-A, …


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionQuestion:
    """One question to a decision model, which answers with probabilities: of a yes, or of each of several options.

    A choice has options in no order, a score has levels from low to high; each is a label with what it means.
    """

    name: str  # Under which the answer comes back.
    kind: Literal["predicate", "choice", "score"]
    asks: str
    options: tuple[tuple[str, str], ...] = ()


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to a model, with all that decides the answer."""

    dialogue: str
    messages: tuple[Message, ...]
    ids: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()  # The letters under which several outputs are shown, where there are several.
    schema: Mapping[str, object] | None = None
    settings: ModelSettings = field(default_factory=ModelSettings)
    repeat: int = 0  # The same question asked again on purpose is another request.
    questions: tuple[DecisionQuestion, ...] = ()  # To a decision model: all else is what they are about.
    about: RequestSubject | None = field(default=None, compare=False, repr=False)

    def key(self, model: str, *, with_schema: bool = True) -> str:
        """A name for this request to this model: equal only where every part of both is equal."""
        settings, messages = self.settings, self.messages
        sampling = (settings.max_tokens, settings.seed, settings.temperature, settings.top_logprobs)
        # The JSON of one object with sorted keys, put together: to quote and to hash the long texts is most of the
        # work, and the first of them is the same in every request.
        is_shared = len(messages) > 1 and messages[0].repeats and messages[0].role == "system"
        repeated = messages[0].text if is_shared else None
        begun, rest = _begin_request_key(self.dialogue, model, self.repeat, *sampling, repeated)
        if self.questions or (with_schema and self.schema is not None):
            told = {**json.loads(rest), "schema": self.schema if with_schema else None}
            asked = [[one.name, one.kind, one.asks, one.options] for one in self.questions]
            rest = _encode_asked({**told, "questions": asked} if asked else told)
        turns = [f'["{one.role}", {encode_basestring_ascii(one.text)}]' for one in messages[is_shared:]]
        digest = begun.copy()
        digest.update(f"{', '.join(turns)}], {rest[1:]}".encode())
        return str(digest.hexdigest())


_encode_asked = json.JSONEncoder(sort_keys=True, check_circular=False).encode


@lru_cache(maxsize=64, typed=True)  # 0 and 0.0 are equal and are written differently.
def _begin_request_key(  # noqa: PLR0913, PLR0917 - all that tells one beginning from another.
    dialogue: str,
    model: str,
    repeat: int,
    max_tokens: int,
    seed: int | None,
    temperature: float | None,
    top_logprobs: int,
    repeated: str | None,
) -> tuple[Any, str]:
    """The hash of a key as far as many requests share it, with the words that they begin with; and what comes last."""
    begun = _encode_asked({"dialogue": dialogue, "max_tokens": max_tokens})[:-1] + ', "messages": ['
    if repeated is not None:
        begun += f'["system", {encode_basestring_ascii(repeated)}], '
    sampling = {"seed": seed, "temperature": temperature, "top_logprobs": top_logprobs}
    return hashlib.sha256(begun.encode()), _encode_asked({"model": model, "repeat": repeat, "schema": None, **sampling})


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens as the server counted them; None where it did not say."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None  # Of the input tokens: those the server had kept.
    stored: int | None = None  # Of the input tokens: those it keeps from now on, where that has a price.


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """One token of a reply, with the likely tokens at its place and their log probabilities."""

    token: str
    likely: tuple[tuple[str, float], ...]


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str
    stop: StopReason = "unknown"
    model: str = ""  # As the server names it.
    usage: TokenUsage = field(default_factory=TokenUsage)
    places: tuple[TokenLogprobs, ...] = ()
    request_id: str | None = None
    attempts: int = 1
    seconds: float = 0.0
    recorded: bool = False  # It came from a record and cost nothing.
    in_batch: bool = False  # It came in a batch: it cost what batches do, and was stored when the batch was read.


@dataclass(frozen=True, slots=True, kw_only=True)
class NoReply:
    """That a model gave no answer, and why."""

    why: str
    attempts: int = 1
    seconds: float = 0.0


class Model(Protocol):
    """Whoever answers requests. The one door: real servers, records and plain functions stand behind it."""

    @property
    def name(self) -> str:
        """The name it was asked for by, such as openai/gpt-4o."""

    async def ask(self, request: Request) -> Reply:
        """The reply, or a ModelError that says what to do."""


CallNext = Callable[[Request], Coroutine[Any, Any, Reply]]


class Middleware(Protocol):
    """A function that answers a request, by passing it on or without; its first arguments are bound."""

    def __call__(self, request: Request, call_next: CallNext) -> Coroutine[Any, Any, Reply]:
        """The reply, or a ModelError that says what to do."""


class ChainedModel:
    """A model behind a list of middleware, of which the first sees a request first and its reply last."""

    def __init__(self, model: Model, middleware: Sequence[Middleware]) -> None:
        # The one that answers in the end.
        self.model: Model = model.model if isinstance(model, ChainedModel) else model
        self.name = model.name
        self.origin: str = getattr(model, "origin", "")  # Where it is asked: a name may be served at several places.
        self.source: str = getattr(model, "source", "")  # A hash of its code, where it is a function in a file.
        self.ask: CallNext = model.ask
        for each in reversed(middleware):
            self.ask = partial(each, call_next=self.ask)


def read_model_version(model: Model) -> str:
    """What the answers of a model depend on beyond its name, where it tells; it enters the fingerprint.

    It may take a file to be read.
    """
    return str(getattr(model.model if isinstance(model, ChainedModel) else model, "version", ""))


def estimate_input_tokens(request: Request) -> int:
    """About how many tokens a request has: most scripts need one for three bytes, or fewer."""
    texts = [message.text for message in request.messages]
    for one in request.questions:
        texts += [one.asks, *(part for option in one.options for part in option)]
    return sum(len(text.encode("utf-8", "replace")) for text in texts) // 3 + 1


def join_repeated_prompt_beginning(request: Request) -> str:
    """What of a request many others begin with, too."""
    begins = ""
    for message in request.messages:
        begins += message.text if message.repeats else message.text[: message.opening]
        if not message.repeats:
            break
    return begins


_MOST_TOKENS = 10**12  # More than any server ever counted: a slip or an attack.


def read_provider_object(value: object) -> Mapping[str, object]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def read_token_count(value: object) -> int | None:
    """The value where it is a plausible number of tokens."""
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if whole and isinstance(value, int) else None


def read_provider_text(value: object) -> str:
    """The text of a string or of a list of text parts; what is no character is replaced, so that it can be stored."""
    if isinstance(value, list):
        parts = (part if isinstance(part, str) else read_provider_object(part).get("text") for part in value)
        value = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(value, str) or value.isascii():
        return value if isinstance(value, str) else ""
    # JSON can spell half a character ("\ud83d" alone), which no file and no terminal can hold.
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
