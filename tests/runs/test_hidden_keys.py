"""Programs under test get no keys, and a key that anybody repeats is kept nowhere: real processes, real HTTP."""

import base64
import io
import json
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from evenhand import Eval, run_sync
from evenhand.contest.intake import load_submission_intake
from evenhand.errors import OutputError
from evenhand.evals.json_lines import parse_sample_json
from evenhand.evals.output_data import read_variant_output_facts
from evenhand.evals.variants.variant import CommandVariant
from evenhand.files.python_functions import build_program_environment
from evenhand.models.hidden_keys import HIDDEN, ModelSecrets, collect_api_keys_to_hide
from evenhand.testing import FakeServer
from evenhand.workflows.report import open_report
from evenhand.workflows.runs import export_run
from tests.evals.variants.making import make

KEY = "canary+Key/0123456789abcdef"
OTHERS = {"BOT_TOKEN": "other=Canary-55501234567", "DB_PASSWORD": "third-Canary-777-000111"}
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "in a sentence": lambda key: f"Authorization: Bearer {key}.",
    "reversed": lambda key: key[::-1],
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of a pair": lambda key: base64.b64encode(f"user:{key}".encode()).decode(),
    "base64 in a text": lambda key: base64.b64encode(f"xy{key}!".encode()).decode(),
    "base64 for addresses": lambda key: base64.urlsafe_b64encode(f">>{key}??".encode()).decode(),
    "base64 reversed": lambda key: base64.b64encode(key[::-1].encode()).decode(),
    "reversed base64": lambda key: base64.b64encode(f"user:{key}".encode()).decode()[::-1],
    "reversed hexadecimal": lambda key: key.encode().hex()[::-1],
    "hexadecimal": lambda key: key.encode().hex(),
    "percent": lambda key: quote(key, safe=""),
    "percent, every letter": lambda key: "".join(f"%{byte:02x}" for byte in key.encode()),
    "variation selectors": "\ufe0f".join,
    "tags": "\U000e0041".join,
    "fillers": "\u3164".join,
    "two lines": lambda key: f"{key[:9]}\n{key[9:]}",
    "a letter to a line": "\n".join,
    "spaced": " ".join,
    "indented": lambda key: "\r\n    ".join([key[:7], key[7:15], key[15:]]),
    "unseen letters": "\u200b".join,
    "base64 in lines": lambda key: "\n".join(
        base64.b64encode(key.encode()).decode()[at : at + 9] for at in range(0, 2 * len(key), 9)
    ),
    "hexadecimal, mixed case": lambda key: "".join(
        letter.upper() if at % 3 else letter for at, letter in enumerate(key.encode().hex())
    ),
    "hexadecimal, escapes, reversed": lambda key: "".join(f"\\x{one:02x}" for one in key.encode())[::-1],
    "hexadecimal, prefixes, reversed": lambda key: ", ".join(f"0x{one:02x}" for one in key.encode())[::-1],
    "hexadecimal, colons": lambda key: key.encode().hex(":"),
    "hexadecimal, hyphens": lambda key: key.encode().hex("-", 4).upper(),
    "hexadecimal, spaces": lambda key: key.encode().hex(" "),
    "hexadecimal, escaped": lambda key: "".join(f"\\x{byte:02x}" for byte in key.encode()),
    "hexadecimal, a list": lambda key: ", ".join(f"0x{byte:02X}" for byte in key.encode()),
    "hexadecimal, 0x": lambda key: "".join(f"0x{byte:02x}" for byte in key.encode()),
    "percent, one letter": lambda key: f"%{ord(key[0]):02x}{key[1:]}",
    "percent, some letters": lambda key: "".join(
        f"%{ord(letter):02X}" if at % 4 == 2 else letter for at, letter in enumerate(key)
    ),
    "percent, twice": lambda key: quote(quote(key[:1] + "\n" + key[1:], safe=""), safe="%"),
    "escaped slashes": lambda key: key.replace("/", "\\/"),
    "escaped slashes, twice": lambda key: json.dumps(key.replace("/", "\\/"))[1:-1],
    "escaped, one letter": lambda key: f"{json.dumps(key[:-1])[1:-1]}\\u{ord(key[-1]):04x}",
    "JSON in JSON": lambda key: json.dumps(json.dumps(key)),
    "hexadecimal, escaped line breaks": lambda key: json.dumps(key.encode().hex("\n")),
    "percent of escaped": lambda key: quote("".join(f"\\u{ord(letter):04x}" for letter in key), safe=""),
    "hieroglyph joiners": "\U00013440".join,
    "fillers of Khitan": "\U00016fe4".join,
    "escaped letters": lambda key: "".join(f"\\u{ord(letter):04X}" for letter in key),
    "escaped unseen letters": lambda key: json.dumps("\u202e".join(key))[1:-1],
    "right to left": "\u202e".join,
    "old format letters": "\u206a".join,
    "annotations": "\ufff9".join,
    "music": "\U0001d173".join,
    "NUL": "\0".join,
    "escape": "\x1b".join,
    "reversed in lines": lambda key: f"{key[::-1][:11]}\n{key[::-1][11:]}",
}


@pytest.fixture(autouse=True)
def _with_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENHAND_API_KEY", KEY)
    for name, value in OTHERS.items():
        monkeypatch.setenv(name, value)


def is_readable(key: str, text: str) -> bool:
    """Whether somebody who knows what was done to a key could get it back from a text."""
    squeezed = "".join(text.replace("\\n", "").replace("\\r", "").replace("\u200b", "").replace("\\u200b", "").split())
    plain = [key, key[::-1], key.encode().hex(), quote(key, safe=""), key[10:]]
    encoded = [base64.b64encode(word.encode()).decode()[2:-4] for word in (key, f"user:{key}", f"xy{key}!", key[::-1])]
    return any(form in squeezed for form in (*plain, *encoded))


@pytest.mark.parametrize("form", FORMS)
def test_a_key_is_known_in_every_form(form: str) -> None:
    """And only the key is taken out: what stands around it stays."""
    told = FORMS[form](KEY)

    hidden = ModelSecrets([KEY]).remove_keys(f"Dear customer,\n{told}\nyours")

    assert HIDDEN in hidden
    assert not is_readable(KEY, hidden)
    assert hidden.startswith("Dear customer,\n")
    assert hidden.endswith("\nyours")


SPACED_KEYS = {
    "PEM": "-----BEGIN PRIVATE KEY-----\nMIIZq8vR2pLw5Tn15aBcD\nxYz0123Zq8vR2pLw5Tn16\n-----END PRIVATE KEY-----\n",
    "phrase": "pass phrase-with 4 words 77",
    "two lines": "line1-Zq8vR2\r\nline2-Lw5Tn99",
}
SPACED_FORMS: dict[str, Callable[[str], str]] = {
    **{
        name: form
        for name, form in FORMS.items()
        if name.startswith(("plain", "reversed", "base64", "hexa", "percent"))
    },
    "lines ended otherwise": lambda key: base64.b64encode("\r\n".join(key.splitlines()).encode()).decode(),
    "as a form on the web sends it": quote_plus,
    "JSON": json.dumps,
}


@pytest.mark.parametrize("key", SPACED_KEYS)
def test_a_key_with_spaces_or_lines_is_known_in_every_form(key: str) -> None:
    """Encoded, its spaces and line breaks are bytes like others."""
    secrets = collect_api_keys_to_hide({"TLS_KEY": SPACED_KEYS[key]})

    kept = {name for name, form in SPACED_FORMS.items() if HIDDEN not in secrets.remove_keys(form(SPACED_KEYS[key]))}

    assert kept == set()


# What programs do to the lines of a key before they encode it.
REJOINED: dict[str, Callable[[str], str]] = {
    "tr -d '\\n'": lambda key: key.replace("\n", ""),
    "tr '\\n' ' '": lambda key: key.replace("\n", " "),
    "tr -d '\\r\\n'": lambda key: key.replace("\r", "").replace("\n", ""),
    "tr -d ' '": lambda key: key.replace(" ", ""),
    "joined by spaces": lambda key: " ".join(key.splitlines()),
    "joined by nothing": lambda key: "".join(key.splitlines()),
    "words": lambda key: " ".join(key.split()),
    "lines of Windows": lambda key: "\r\n".join(key.splitlines()),
    "lines of Windows without spaces": lambda key: "\r\n".join(key.splitlines()).replace(" ", ""),
    "lines of an old Mac": lambda key: "\r".join(key.splitlines()),
    "bare": lambda key: "".join(key.split()),
}
BLANK_LINE_KEY = "-----BEGIN KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIZq8vR2pLw5Tn15aBcD\n-----END KEY-----\n"


@pytest.mark.parametrize("key", [*SPACED_KEYS.values(), BLANK_LINE_KEY, BLANK_LINE_KEY.replace("\n", "\r\n")])
def test_a_key_is_known_however_its_lines_were_joined_before_it_was_encoded(key: str) -> None:
    """A file is encoded with its line breaks, without them, or with spaces in their place."""
    secrets = collect_api_keys_to_hide({"TLS_KEY": key})

    kept = {
        (joined, name)
        for joined, join in REJOINED.items()
        for name, form in SPACED_FORMS.items()
        if name != "lines ended otherwise" and HIDDEN not in secrets.remove_keys(form(join(key)))
    }

    assert kept == set()


@pytest.mark.parametrize("key", ["pa%41ssword-12x", 'p\\ss"w0rd12-zz', r"C:\new\table-01%5Cn"])
def test_a_key_that_looks_escaped_itself_is_known_in_every_form(key: str) -> None:
    """What stands in it like an escape is read like one, in the text and in the key alike."""
    secrets = collect_api_keys_to_hide({"A_PASSWORD": key})

    kept = {name for name, form in FORMS.items() if HIDDEN not in secrets.remove_keys(form(key))}

    assert kept == set()


MESSAGES: dict[str, Callable[[str], str]] = {
    "a fact of an output": lambda text: read_fault({"text": "x", "cost": text}),
    "a field of an output": lambda text: read_fault({"text": "x", "trace": [{"name": "n", text: 1}]}),
    "a name that stands twice": lambda text: str(parse_sample_json(f'{{"{text}": 1, "{text}": 2}}')),
    "a claim of a submission": lambda text: set_aside(f"---\nauthor: {text}\n---\nGold."),
    "a field of a submission": lambda text: set_aside(f"---\nauthor: a\n{text}: x\n---\nGold."),
    "the last line of a program": lambda text: fail(f"{text[:20]}\\n{text[20:]}"),
    "the last words of a program": lambda text: fail(" " * 1900 + base64.b64encode(text.encode()).decode()),
}


def read_fault(facts: dict[str, Any]) -> str:
    with pytest.raises(OutputError) as error:
        read_variant_output_facts(facts, 1.0)
    return str(error.value)


def set_aside(text: str) -> str:
    for author in ("a", "b"):
        Path("in", author).mkdir(parents=True, exist_ok=True)
    Path("in/a/a.md").write_text("Gold.")
    Path("in/b/b.md").write_text(text)
    return load_submission_intake(Path("in")).set_aside[0].why


def fail(said: str) -> str:
    code = f"import sys; sys.exit({said!r}.replace(r'\\n', chr(10)))"
    return str(make(CommandVariant(argv=(sys.executable, "-c", code)))[0])


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("length", [30, 70, 200])
def test_no_message_is_cut_before_keys_are_looked_for(
    message: str, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of a key is not known for one: a message has all of a text, or none of it."""
    key = "tok-" + "".join(chr(ord("A") + at * at % 26) + str(at % 10) for at in range(length))[: length - 4]
    monkeypatch.setenv("BOT_TOKEN", key)

    told = collect_api_keys_to_hide({"BOT_TOKEN": key}).remove_keys(MESSAGES[message](key))

    spelt = [key, base64.b64encode(key.encode()).decode()]
    assert [one[at : at + 8] for one in spelt for at in range(len(one) - 7) if one[at : at + 8] in told] == []


@pytest.mark.parametrize("category", ["Cc", "Cf"])
def test_no_invisible_letter_splits_a_key(category: str) -> None:
    """Whatever Unicode calls a control or a format character."""
    unseen = [letter for letter in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(letter) == category]

    text = "|".join(f"{KEY[:9]}{letter}{KEY[9:]}" for letter in unseen)

    assert ModelSecrets([KEY]).remove_keys(text) == "|".join([HIDDEN] * len(unseen))


@pytest.mark.parametrize("told", ["p%40ss%2Fw0rd%21Zx9Q", "p@ss/w0rd!Zx9Q", "p%40ss/w0rd!Zx9Q", "p%40ss%2fw0rd%21Zx9Q"])
def test_a_password_in_an_address_is_hidden_as_the_server_knows_it(told: str) -> None:
    """In an address its signs are percent-encoded; whoever repeats it may write it either way."""
    secrets = collect_api_keys_to_hide({"SHOP_DATABASE_URL": "postgres://u:p%40ss%2Fw0rd%21Zx9Q@h/db"})

    assert secrets.remove_keys(f"It is {told}, sir") == f"It is {HIDDEN}, sir"


@pytest.mark.parametrize("sign", "@/?#[")
def test_a_password_that_its_address_does_not_escape_is_hidden_all_the_same(sign: str) -> None:
    """Other programs take such addresses."""
    password = f"S3cret{sign}Pw-123"
    secrets = collect_api_keys_to_hide({"SHOP_DATABASE_URL": f"postgres://u:{password}@127.0.0.1:5432/db"})

    assert secrets.remove_keys(f"It is {password}, sir") == f"It is {HIDDEN}, sir"


@pytest.mark.parametrize(
    ("secret", "address"),
    [
        *((f"ab{sign}cd99xy", f"postgresql://u:ab{sign}cd99xy@127.0.0.1:1/x?options=a@b") for sign in "@/?#["),
        *((f"{sign}pw029xyz", f"postgresql://u:{sign}pw029xyz@127.0.0.1/db") for sign in ("/", "?", "#", "//")),
        ("/pw029xyz", "u:/pw029xyz@127.0.0.1:1"),
        ("ab/cd99xy", "https://u:ab/cd99xy@127.0.0.1:1/@scope/x"),
        ("pwd/one11", "postgresql://u@corp:pwd/one11@127.0.0.1:1/x"),
        ("pwdone11", "u:pwdone11@127.0.0.1:1"),
        *((one, f"amqp://u:pwdone11@h:1{joint}amqp://u:pwdtwo22@h:2")
          for joint in (";", ",", " ", "; ") for one in ("pwdone11", "pwdtwo22")),
        ("pwdtwo22", "u:pwdone11@h:1,u:pwdtwo22@h:2"),
        ("pwd#one11", "http://127.0.0.1:1/x?password=pwd#one11"),
        ("pwd#one11", "http://127.0.0.1:1/x?password=pwd#one11&y=1"),
        ("pwdone11", "http://127.0.0.1:1/x?a=1;password=pwdone11"),
        ("pwdone11", "http://127.0.0.1:1/x?pass%77ord=pwdone11#part"),
        ("pwdone11", "http://127.0.0.1:1/x?db[password]=pwdone11"),
        ("pwdone11", f"http://127.0.0.1:1/x?{'a' * 100}_password=pwdone11"),
        *(("tok-11-9922x", f"http://127.0.0.1:1/x?{name}=tok-11-9922x")
          for name in ("X-Amz-Signature", "X-Amz-Security-Token", "accessKey", "clientSecret", "sig")),
    ],
)  # fmt: skip
def test_every_reading_of_an_address_is_known(secret: str, address: str) -> None:
    """Signs that should have been encoded, lists of addresses, and names that are written in another way."""
    secrets = collect_api_keys_to_hide({"SHOP_URL": address})

    assert secrets.remove_keys(f"It is {secret}, sir") == f"It is {HIDDEN}, sir"


@pytest.mark.parametrize(
    "address",
    [
        "https://127.0.0.1:8080/people/@somebody", "https://[2001:db8::1]:8080/people/@somebody",
        "redis://first-host:6379,second-host:6379", "https://example.org/a-long-path/with-many-words?mail=some@body.org",
    ],
)  # fmt: skip
def test_an_address_without_a_password_has_none(address: str) -> None:
    """An @ elsewhere in it makes no word of it a secret."""
    assert collect_api_keys_to_hide({"PAGE_URL": address}).list_keys() == []


@pytest.mark.parametrize(
    "field", ["password", "sslpassword", "token", "access_token", "PWD", "api_key", "client_secret"]
)
def test_a_password_in_the_query_of_an_address_is_hidden(field: str) -> None:
    """Databases read it there too."""
    secrets = collect_api_keys_to_hide(
        {"SHOP_DATABASE_URL": f"postgresql://h/x?user=somebody-1&{field}=qry%2BZq8+vR2pLw5&x=1"}
    )

    for told in ("qry%2BZq8+vR2pLw5", "qry+Zq8+vR2pLw5", "qry+Zq8 vR2pLw5"):
        assert secrets.remove_keys(f"It is {told}, somebody-1") == f"It is {HIDDEN}, somebody-1"


def test_what_is_no_secret_in_the_query_of_an_address_is_not_hidden() -> None:
    """A word there is a word elsewhere."""
    environ = {"A_URL": "https://h/?key=production&sslkey=/etc/keys/client-1.pem&mode=verify-full-1"}

    assert collect_api_keys_to_hide(environ).list_keys() == []


def test_hiding_keys_takes_time_in_proportion_to_the_text() -> None:
    """Runs of signs that could begin a spelling end it at once: a quadratic pattern would take minutes."""
    runs = [
        sign * 300_000 for sign in ("\\", "%", "%4", "0x", "\\x", "\\u", "6", " ", "-", "\u202e", KEY[:8], "\\ud83d")
    ]

    assert [ModelSecrets([KEY]).remove_keys(run) == run for run in runs] == [True] * len(runs)


def test_texts_without_a_key_stay_as_they_are() -> None:
    """To the letter, also where much of a key is there."""
    signs = f"100%25 \\/ \\u0041 0x41:42-43 {KEY[:-1].encode().hex(':')} İ"
    text = f"{KEY[:-1]} {KEY[1:]} {signs}\n\n two  spaces \u200b {base64.b64encode(b'a sentence of its own').decode()}"

    assert ModelSecrets([KEY]).remove_keys(text) == text


def test_what_its_name_says_is_a_secret_is_one() -> None:
    """Short and plain words are not: they would be hidden wherever they are written."""
    environ = {
        "GITHUB_TOKEN": "ghs_0123456789", "AWS_SECRET_ACCESS_KEY": "abc/123+xyz-99", "MY_PASSWORD": "x" * 20,
        "PGPASSWORD": "pg-0123456789", "AUTHTOKEN": "auth-0123456789", "clientsecret": "cs-0123456789",
        "PRIVATEKEY": "pk.0123456789", "DBPASSWD": "db-0123456789",
        "TOKENIZER_PATH": "/usr/share/1234567", "DB_PASSWORD": "postgres", "MODE": "production-1234",
        "EVENHAND_DATABASE_URL": "postgresql://ann:s3cret-word@host/db",
    }  # fmt: skip

    assert set(collect_api_keys_to_hide(environ).list_keys()) == {
        "ghs_0123456789", "abc/123+xyz-99", "s3cret-word", "pg-0123456789", "auth-0123456789", "cs-0123456789",
        "pk.0123456789", "db-0123456789",
    }  # fmt: skip


def test_a_program_gets_no_key_that_is_not_named() -> None:
    """PATH, HOME and the language, and what `env` names."""
    code = "import os, json; print(json.dumps(dict(os.environ)))"
    alone, named = (make(CommandVariant(argv=(sys.executable, "-c", code), env=env))[0] for env in ((), ("BOT_TOKEN",)))

    seen = json.loads(alone.text)  # type: ignore[union-attr]
    assert "PATH" in seen
    assert not [name for name, value in seen.items() if KEY in value or value in OTHERS.values()]
    assert json.loads(named.text).keys() == {*seen, "BOT_TOKEN"}  # type: ignore[union-attr]


def test_a_program_gets_the_variables_of_the_locale_and_none_that_is_called_alike() -> None:
    """`LC_` alone does not make a name one of the language."""
    environ = {"LC_ALL": "C.UTF-8", "LC_TIME": "de_DE.UTF-8", "LC_PAPER": "C"}
    others = {"LC_TOKEN": "lc-0123456789", "LC_PASSWORD": "secret", "LC_ALLOW": "x", "lc_token": "lc-0123456789"}

    assert build_program_environment({**environ, **others}).keys() == {"PATH", *environ}


def tell(word: str) -> str:
    """A program that says a word and all that it finds in its environment."""
    return f"import os, sys; sys.stdin.read(); print({word!r}, *os.environ.values()); sys.exit(1)"


@contextmanager
def echoing_server() -> Iterator[str]:
    """A service that answers with the headers and the address that it was asked by, in every form."""

    class Echo(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            word = self.headers["X-Token"]
            answer = json.dumps({"text": "\n--\n".join([self.path, *(change(word) for change in FORMS.values())])})
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def all_that_is_kept(folder: Path, run: str) -> dict[str, str]:
    """Every file of the store, an export, and the report, as text."""
    export_run(None, run, "run.evenhand", io.BytesIO())
    kept = {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.suffix != ".py"}
    with open_report(None, run) as (head, samples):
        kept["report"] = json.dumps([head, *samples], default=str).encode()
    import gzip

    kept["export"] = gzip.decompress(Path("run.evenhand").read_bytes())
    return {name: content.decode("utf-8", "replace") for name, content in kept.items()}


def test_no_key_is_kept_whoever_repeats_it(tmp_path: Path) -> None:
    """A program, a function, a service, a check, a judge, and the eval itself: in the store, exports and reports."""

    def repeating(_: dict[str, Any]) -> dict[str, Any]:
        told = "\n--\n".join(change(KEY) for change in FORMS.values())
        return {"text": told, "trace": [{"name": "call", "input": {"header": KEY}, "output": [KEY[::-1]]}]}

    def judged(_: dict[str, Any]) -> str:
        return json.dumps({"criteria": {"a": {"evidence": [KEY], "reason": " ".join(KEY), "answer": "yes"}}})

    command = {"command": [sys.executable, "-c", tell(KEY)]}
    with echoing_server() as url, FakeServer(judged) as server:
        eval = Eval(
            name="leaks",
            samples=[{"id": "s", "input": "q", "outputs": {"recorded": f"{KEY} and {KEY[::-1]}"}}],
            variants={
                "recorded": {},
                "program": {"command": [sys.executable, "-c", tell(KEY)[:-12], KEY], "env": ["BOT_TOKEN"]},
                "failing": {"command": [sys.executable, "-c", f"import sys; sys.exit({KEY!r})"]},
                "function": repeating,
                "service": {"http": {"url": f"{url}/?key={KEY}", "headers": {"X-Token": "${EVENHAND_API_KEY}"},
                                     "body": {"key": KEY}}},
                "absent": {"http": {"url": f"http://127.0.0.1:9/{KEY}"}},
            },
            rubric={"criteria": [{"id": "a", "asks": "Is it?"}]},
            assertions=[{"custom": {**command, "env": ["DB_PASSWORD"]}}],
            judges=[server.judge],
            source=f"# {KEY}",
        )  # fmt: skip
        done = run_sync(eval)

    kept = all_that_is_kept(tmp_path, done.id)
    leaked = {name for name, text in kept.items() for key in (KEY, *OTHERS.values()) if is_readable(key, text)}
    assert leaked == set()
    assert kept["report"].count(HIDDEN) > 20


def test_no_judge_sees_a_key_that_stands_in_a_sample() -> None:
    """Neither in the question nor in the reference or the context; a check sees the same texts as judges do."""
    texts = {"input": f"q {KEY}", "reference": f"ref {KEY[::-1]}", "context": f"ctx {OTHERS['BOT_TOKEN']}"}

    def judged(_: dict[str, Any]) -> str:
        return json.dumps({"criteria": {"a": {"evidence": [], "reason": "r", "answer": "yes"}}})

    with FakeServer(judged) as server:
        eval = Eval(
            name="asked",
            samples=[{"id": "s", **texts, "outputs": {"o": f"ref {KEY[::-1]}"}}],
            rubric={"criteria": [{"id": "a", "asks": "Is it?"}]},
            assertions=[{"equals": {}}, {"context_recall": 0.5}],
            judges=[server.judge],
        )
        done = run_sync(eval)

    asked = json.dumps(server.asked)
    assert len(server.asked) >= 2
    assert [word for word in (KEY, KEY[::-1], OTHERS["BOT_TOKEN"]) if word in asked] == []
    assert all(f"{word} {HIDDEN}" in asked for word in ("q", "ref", "ctx"))
    with open_report(None, done.id) as (_, samples):
        [result] = next(iter(samples))["results"]
    assert [one["passed"] for one in result["assertions"] if one["kind"] == "equals"] == [True], result["assertions"]
