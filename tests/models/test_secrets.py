"""Keys never show: not whole, not in part, not masked, not the keys of others."""

import asyncio
import base64
import json
import logging
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenhand.errors import ModelError
from evenhand.models.connections import Connections
from evenhand.models.hidden_keys import HIDDEN, ModelSecrets, collect_api_keys_to_hide
from tests.models.server import FAST, KEY, Server, Waits, answers, ask, fails, question, says

KEYS = st.text("abcdefghijklmnopqrstuvwxyzABCDEF0123456789-_", min_size=12, max_size=60)


@given(key=KEYS, before=st.text(max_size=300), after=st.text(max_size=300), cut=st.integers(0, 60))
@example(key="aaaaaaaaaaaa", before="aaaa", after="aaaa", cut=0)
def test_no_eight_characters_of_a_key_are_left(key: str, before: str, after: str, cut: int) -> None:
    """Whole, or only its beginning, or only its end."""
    said = ModelSecrets([key]).hide_keys(f"{before}{key[cut:]}{after} {key[: -cut or None]}")

    pieces = {key[start : start + 8] for start in range(len(key) - 7)}
    assert [piece for piece in pieces if piece in said.replace(HIDDEN, "")] == []


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("API key provided: sk-ab***yz. You can find it", "API key provided: [key hidden] You can find it"),
        ("key sk-ant-api03-AbCdEfGh is wrong", "key [key hidden] is wrong"),
        ("Authorization: Bearer abcdef123456", "Authorization: [key hidden]"),
        ("AIzaSyA1234567890 expired", "[key hidden] expired"),
        ("key ****wxyz refused", "key [key hidden] refused"),
        ("model claude-sonnet-4-20250514 not found", "model claude-sonnet-4-20250514 not found"),
        ("the task-force disk-full", "the task-force disk-full"),
        ("line\n\nbreaks\x00and\x1b[31m colours", "line breaks and [31m colours"),
    ],
)  # fmt: skip
def test_what_looks_like_a_key_is_hidden(said: str, shown: str) -> None:
    """Also where it is nobody's we know; other words stay as they are, on one line."""
    assert ModelSecrets([]).hide_keys(said) == shown


@pytest.mark.parametrize("key", ["grüße-aus-köln-2026", "пароль-от-базы-9"])
def test_a_key_of_other_letters_is_found_reversed_by_letters_and_by_bytes(key: str) -> None:
    """A letter of several bytes comes out otherwise where its bytes are reversed."""
    raws = (key.encode()[::-1], key[::-1].encode())
    written = [form for raw in raws for form in (raw.hex(), base64.b64encode(raw).decode())]

    # The last letter of base64 may stay: it holds what follows the key, too.
    assert [HIDDEN in ModelSecrets([key]).remove_keys(f"It is {form}.") for form in written] == [True] * 4


def test_a_key_of_other_letters_is_found_where_the_signs_of_its_bytes_are_escaped() -> None:
    """Unescaped to the end, half of a letter of the key would be a letter."""
    written = "".join(f"\\u005cx{byte:02x}" for byte in "grüße-aus-köln-2026".encode())

    assert ModelSecrets(["grüße-aus-köln-2026"]).remove_keys(f"It is {written}.").endswith(f"{HIDDEN}.")


CODES: dict[str, Callable[[bytes], str]] = {
    "as it is": lambda raw: raw.decode(),
    "percent-encoded": lambda raw: "".join(f"%{byte:02X}" for byte in raw),
    "escaped": lambda raw: "".join(f"\\u{ord(letter):04x}" for letter in raw.decode()),
    "base64": lambda raw: base64.b64encode(raw).decode(),
    "hexadecimal": lambda raw: raw.hex(),
    "bytes with colons": lambda raw: raw.hex(":"),
    "bytes of a program": lambda raw: "".join(f"\\x{byte:02x}" for byte in raw),
    "numbers": lambda raw: " ".join(f"0x{byte:02x}" for byte in raw),
}
GAPS = ("", " ", "\n", "\r\n\t", "\u200b", "\x1b", "\N{TAG LATIN CAPITAL LETTER A}")


@pytest.mark.parametrize("code", CODES)
@given(
    key=st.text("abcXYZ019-_./+=:@!#$&*~äж漢", min_size=12, max_size=40).filter(lambda key: not key.isalpha()),
    turned=st.sampled_from(["not", "before", "after"]),
    gap=st.sampled_from(GAPS),
    apart=st.integers(1, 9),
    in_json=st.booleans(),
)
def test_a_key_is_found_in_every_form(code: str, key: str, turned: str, gap: str, apart: int, in_json: bool) -> None:
    """Encoded, reversed before or after, parted, and as JSON writes all of that."""
    written = CODES[code]((key[::-1] if turned == "before" else key).encode())
    if turned == "after" and code not in ("percent-encoded", "escaped"):
        written = written[::-1]
    written = gap.join(written[at : at + apart] for at in range(0, len(written), apart))
    written = json.dumps(written) if in_json else written

    assert HIDDEN in ModelSecrets([key]).remove_keys(f"It is {written}.")


def test_a_long_speech_is_cut_short() -> None:
    """A web page is no message."""
    assert len(ModelSecrets([]).hide_keys("x y" * 5000)) == 300


def test_a_key_that_is_not_utf_8_is_found() -> None:
    """The environment may hold any bytes; a program writes them out again, and others read them as they can."""
    raw = b"caf\xe9-secret-123"
    secrets = collect_api_keys_to_hide({"BAD_TOKEN": raw.decode("utf-8", "surrogateescape")})
    written = [raw.decode("utf-8", "surrogateescape"), raw.decode("utf-8", "replace"), base64.b64encode(raw).decode(),
               raw.hex(), raw[::-1].hex()]  # fmt: skip

    assert [HIDDEN in secrets.remove_keys(f"It is {form}.") for form in written] == [True] * len(written)


ENCODED = base64.b64encode(KEY.encode()).decode().rstrip("=")
HALF = ENCODED[: len(ENCODED) // 2]


@pytest.mark.parametrize("place", [2_000, 20_000, 50_000, 100_000, 150_000])
@pytest.mark.parametrize("before", ["x", KEY + "."], ids=["letters", "keys"])
def test_no_half_of_an_encoded_key_is_left_where_a_text_is_cut(place: int, before: str) -> None:
    """Keys before it are replaced by shorter words, which move what stood at the bound to the front."""
    fill = (before * place)[: place - len(HALF)]

    secrets = ModelSecrets([KEY])

    assert HALF not in secrets.hide_keys(fill + ENCODED) + secrets.remove_from_beginning(fill + ENCODED)


@pytest.mark.parametrize("place", [20_000, 100_000])
def test_no_half_of_a_key_is_left_in_the_title_of_an_error_page(place: int) -> None:
    """The title is taken out of its page, and so stands at its front wherever the page was cut."""
    head = "<html><title>"
    page = f"<{' ' * (place - len(head) - len(HALF) - 9)}{head}{ENCODED}</title></html>"

    with pytest.raises(ModelError) as caught:
        ask(answers(400, page.encode(), {"Content-Type": "text/html"}), models=(KEY, "other"))

    assert HALF not in str(caught.value)


def test_it_does_not_show_its_keys() -> None:
    """Not by printing it."""
    assert KEY not in repr(ModelSecrets([KEY]))


ECHOES = {
    "whole": KEY,
    "half": KEY[: len(KEY) // 2],
    "masked": KEY[:6] + "*" * 10 + KEY[-4:],
    "in a sentence": f"header was 'Authorization: Bearer {KEY}'",
    "cut off": "x" * 290 + KEY,
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 429, 500, 503])
def test_an_error_that_echoes_the_key_does_not_reach_anyone(
    status: int, echo: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the status, in the message, in the chain of exceptions and in the log."""
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError) as caught:
        ask(fails(status, echo), models=(KEY, "other"))

    error: BaseException | None = caught.value
    shown = caplog.text
    while error is not None:
        shown += f"{error} {error!r} {vars(error)!r}"
        error = error.__cause__ or error.__context__
    assert KEY[:8] not in shown
    assert KEY[-8:] not in shown


def test_a_redirect_does_not_carry_the_key_on() -> None:
    """Neither to the other host nor, as part of its name, into the message."""

    async def run() -> tuple[str, int]:
        async with Server(says()) as elsewhere:
            place = elsewhere.base.replace("127.0.0.1", "localhost")
            redirects = answers(307, b"", {"Location": f"{place}/chat/completions?key={KEY}"})
            async with Server(redirects) as server, Connections({"EVENHAND_API_KEY": KEY}) as connections:
                with pytest.raises(ModelError) as caught:
                    await connections.open(server.name).ask(question())
            return str(caught.value), elsewhere.connections

    message, visits = asyncio.run(run())

    assert "redirects to localhost, " in message
    assert KEY not in message
    assert visits == 0


def test_a_key_goes_to_its_own_server_only() -> None:
    """Two servers in one run: the one that was not given a key gets none, and no cookie of the other."""

    async def run() -> list[dict[str, str]]:
        cookie = answers(200, b'{"choices": [{"message": {"content": "4"}}]}', {"Set-Cookie": "a=b; Path=/"})
        async with Server(cookie) as ours, Server(cookie) as other:
            # Cookies of bare addresses are never kept: only a host with a name can tell.
            environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": ours.base.replace("127.0.0.1", "localhost")}
            async with Connections(environ, limits=FAST, clock=Waits().clock) as connections:
                for name in ("openai/m", other.name, other.name, "openai/m"):
                    await connections.open(name).ask(question())
            return [seen.headers for seen in [*ours.seen, *other.seen]]

    headers = asyncio.run(run())

    assert [header.get("authorization") for header in headers] == [f"Bearer {KEY}"] * 2 + [None] * 2
    assert not any("cookie" in header for header in headers)


def test_no_object_shows_the_key() -> None:
    """A traceback or a debugger prints them."""
    environ = {"OPENAI_API_KEY": KEY}

    async def run() -> str:
        async with Connections(environ) as connections:
            model = connections.open("openai/gpt-4o")
            return f"{connections!r} {model!r} {model.model!r} {model.model._address!r}"  # type: ignore[attr-defined]

    assert KEY not in asyncio.run(run())
