"""An HTTP address as a variant: JSON out, JSON or text back; tried again where that helps, and keys stay unseen."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping

from evenhand.errors import EvalError, Fault, OutputError
from evenhand.judging.models._answer import Answer, Cut
from evenhand.judging.models._clock import Clock
from evenhand.judging.models._http import Http
from evenhand.judging.models._secrets import Secrets
from evenhand.judging.models._waiting import asked_wait, next_wait
from evenhand.model import Made
from evenhand.runs._sample import RunSample
from evenhand.runs._samples_json import value_in
from evenhand.runs.variants._made import made_from_text, storable
from evenhand.runs.variants._places import Places
from evenhand.runs.variants._template import Template
from evenhand.runs.variants._variant import Endpoint

LARGEST = 10_000_000
RETRIES = 4
LONGEST_WAIT = 60.0

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PASSING = frozenset({408, 425, 429})


class Address:
    """Sends the samples of a variant, so many at once."""

    def __init__(self, variant: Endpoint, environ: Mapping[str, str], http: Http, places: Places, clock: Clock) -> None:
        self._variant = variant
        self._http = http
        self._clock = clock
        self._places = places
        self._answered = False
        faults: list[Fault] = []
        self._url = _with_values(variant.url, environ, faults)
        values = {name: _with_values(value, environ, faults) for name, value in variant.headers.items()}
        self._headers = {"Content-Type": "application/json", **values}
        if faults:
            raise EvalError(*faults)
        templates = (variant.url, *variant.headers.values())
        self._secrets = Secrets(environ[name] for text in templates for name in _VARIABLE.findall(text))

    async def make(self, sample: RunSample, repeat: int) -> Made:
        """What the server answers, or an OutputError that says why there is nothing."""
        body = sample.sent(repeat) if self._variant.body is None else filled(self._variant.body, sample)
        sent = json.dumps(body).encode()
        async with self._places:
            for retries in range(RETRIES + 1):
                began = time.perf_counter()
                answer = await self._http.exchange(
                    self._variant.method, self._url, self._headers, sent, self._variant.seconds
                )
                self._answered = self._answered or isinstance(answer, Answer)
                took = (time.perf_counter() - began) * 1000
                if isinstance(answer, Answer) and 200 <= answer.status < 300:
                    return self._made(answer, took)
                await self._wait_before_retry(answer, retries)
        raise AssertionError("the last try ends in an output or an error")

    async def _wait_before_retry(self, answer: Answer | Cut, retries: int) -> None:
        """Wait as the server asks, or longer and longer; an OutputError where another try would not help."""
        why = answer.why if isinstance(answer, Cut) else self._words(answer)
        if not self._may_pass(answer):
            raise OutputError(why)
        if retries >= RETRIES:
            raise OutputError(f"{why}, after {RETRIES + 1} attempts")
        asked = asked_wait(answer.headers, self._clock.wall()) if isinstance(answer, Answer) else None
        if asked is not None and asked > LONGEST_WAIT:
            raise OutputError(f"{why}; the server asks to wait {asked:,.0f} s")
        await self._clock.sleep(next_wait(asked, retries, self._clock))

    def _may_pass(self, answer: Answer | Cut) -> bool:
        """Whether another try may help. A server that never answered is more likely not there than busy."""
        if isinstance(answer, Cut):
            return answer.kind == "cut" or (answer.kind == "unreached" and self._answered)
        return answer.status in _PASSING or answer.status >= 500

    def _words(self, answer: Answer) -> str:
        if 300 <= answer.status < 400:
            return f"status {answer.status}: redirects are not followed"
        said = self._secrets.hidden(answer.body[:2_000].decode("utf-8", "replace"))
        return f"status {answer.status}: {said}" if said else f"status {answer.status}"

    def _made(self, answer: Answer, took: float) -> Made:
        try:
            text = self._secrets.removed(answer.body.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise OutputError("the answer is not UTF-8 text") from None
        if not self._variant.field:
            return made_from_text(text, took)
        return Made(text=storable(_text_at(self._variant.field, text)), latency_ms=took)


def filled(body: object, sample: RunSample) -> object:
    """Plain data with every text in it filled for a sample."""
    if isinstance(body, str):
        return Template(body).filled(sample)
    if isinstance(body, Mapping):
        return {name: filled(value, sample) for name, value in body.items()}
    return [filled(value, sample) for value in body] if isinstance(body, (list, tuple)) else body


def _with_values(text: str, environ: Mapping[str, str], faults: list[Fault]) -> str:
    """The text with the values of the variables that it names."""
    for name in _VARIABLE.findall(text):
        value = environ.get(name, "").strip()
        if not value:
            faults.append(Fault(f"the environment variable {name} is not set", f"export {name}=…"))
        elif not value.isprintable():
            faults.append(Fault(f"the environment variable {name} holds what no header can"))
    return _VARIABLE.sub(lambda found: environ.get(found[1], "").strip(), text)


def _text_at(field: str, text: str) -> str:
    """The text at a place of a JSON answer."""
    value = value_in(text)
    if isinstance(value, Fault):
        raise OutputError(f"the answer cannot be read: {value}")
    for part in field.split("."):
        if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            raise OutputError(f"the answer has no {field}")
    if not isinstance(value, str):
        raise OutputError(f"{field} of the answer is not text")
    return value
