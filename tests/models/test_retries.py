"""When a question is asked again, how long is waited, and what is said in the end."""

import asyncio
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import BusyError, RefusedError
from evenhand.models.connections import Connections
from evenhand.models.limits import Clock, Limits, compute_model_retry_wait, parse_provider_retry_after
from tests.models.server import (
    FAST,
    KEY,
    Behaviour,
    Server,
    Waits,
    answers,
    ask,
    fails,
    question,
    says,
)

NOW = 1_000_000.0


def busy(headers: dict[str, str]) -> Behaviour:
    return answers(429, {"error": {"message": "slow down"}}, headers)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": formatdate(NOW + 90, usegmt=True)}, 90.0),
        ({"retry-after": formatdate(NOW - 90, usegmt=True)}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "9" * 4000}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Mon, 99 Foo 2026"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_what_a_server_asks_is_read_in_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, decimals, milliseconds, a date; what cannot be is not heeded."""
    assert parse_provider_retry_after(headers, NOW) == seconds


@given(text=st.text(max_size=40))
def test_no_header_breaks_the_reader(text: str) -> None:
    """Servers write anything."""
    wait = parse_provider_retry_after({"retry-after": text, "retry-after-ms": text[::-1]}, NOW)

    assert wait is None or wait >= 0


@given(chance=st.floats(0, 1, exclude_max=True), retries=st.integers(0, 10_000))
def test_waits_grow_and_are_bounded(chance: float, retries: int) -> None:
    """Doubled each time up to half a minute, and spread over the upper half."""
    wait = compute_model_retry_wait(None, retries, Clock(chance=lambda: chance))

    full = min(30.0, 0.5 * 2.0 ** min(retries, 50))
    assert full / 2 <= wait <= full


def test_the_wait_that_was_asked_for_is_kept() -> None:
    """Then the next answer counts."""
    waits = Waits()

    reply, _ = ask(busy({"Retry-After": "7"}), busy({"Retry-After-Ms": "250"}), says(), waits=waits)

    assert waits.waits == [7.0, 0.25]
    assert (reply.text, reply.attempts) == ("4", 3)


def test_without_a_word_the_waits_double() -> None:
    """Half a second, one, two: here the lower halves of them."""
    waits = Waits()

    ask(fails(503), fails(503), fails(503), says(), waits=waits, limits=Limits(retries=3))

    assert waits.waits == [0.25, 0.5, 1.0]


@pytest.mark.parametrize("asked", ["86400", "61"])
def test_a_wait_beyond_all_time_is_not_begun(asked: str) -> None:
    """A day is not waited for; the message says who asked for it."""
    waits = Waits()

    with pytest.raises(BusyError, match=rf"asks to wait {int(asked):,} s: longer than the 60 s allowed"):
        ask(busy({"Retry-After": asked}), says(), waits=waits)
    assert waits.waits == []


def test_all_tries_together_have_a_limit() -> None:
    """Many short waits are a long one."""
    with pytest.raises(BusyError, match="longer than the 60 s allowed in all"):
        ask(busy({"Retry-After": "25"}), limits=Limits(retries=100, total_seconds=60.0, attempt_seconds=5.0))


def test_no_retries_means_one_attempt() -> None:
    """Whoever has retries of his own can switch these off."""
    with pytest.raises(BusyError, match="at the first attempt"):
        ask(fails(500), limits=Limits(retries=0))


@pytest.mark.parametrize(
    ("status", "environ", "says"),
    [
        (401, {"EVENHAND_API_KEY": KEY}, "the key in EVENHAND_API_KEY is not accepted"),
        (403, {}, "a key is asked for: EVENHAND_API_KEY"),
    ],
)
def test_a_refused_key_names_its_variable(status: int, environ: dict[str, str], says: str) -> None:
    """That is what the reader can change."""
    with pytest.raises(RefusedError, match=says):
        ask(fails(status, "who are you?"), environ=environ)


def missing(models: tuple[str, ...]) -> tuple[str, int]:
    async def run() -> tuple[str, int]:
        async with Server(fails(404, "no such model"), models=models) as server, Connections({}) as connections:
            for _ in range(3):
                with pytest.raises(RefusedError) as caught:
                    await connections.open(server.name).ask(question())
            return str(caught.value), server.listings

    return asyncio.run(run())


def test_a_missing_model_lists_what_there_is() -> None:
    """The nearest name first, and the list is fetched once however often it fails."""
    message, listings = missing(("huge", "tinny", "other"))

    assert "has no model 'tiny'; did you mean 'tinny'? it offers huge, tinny, other" in message
    assert listings == 1


def test_a_missing_path_says_so() -> None:
    """A URL without /v1 is the usual slip."""
    message, _ = missing(())

    assert "does the URL end in /v1" in message


def test_the_error_names_the_model() -> None:
    """In a panel of judges one must know which."""
    with pytest.raises(
        BusyError, match=r"^openai-compatible:http://127\.0\.0\.1:.*/v1/tiny: 500: no, after 3 attempts"
    ):
        ask(fails(500), limits=FAST)
