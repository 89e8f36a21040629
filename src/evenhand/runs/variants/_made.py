"""What a program, a server or a function gave back, as an output."""

from __future__ import annotations

from evenhand.errors import Fault, OutputError
from evenhand.model import Made
from evenhand.runs._samples_json import value_in
from evenhand.runs._samples_made import made_of
from evenhand.runs._samples_sound import unsound


def made_from_text(text: str, latency_ms: float) -> Made:
    """The output in a text: a JSON object with `text` or `output`, else the text itself without its last line break."""
    if text.lstrip().startswith("{"):
        value = value_in(text)
        if isinstance(value, dict) and isinstance(value.get("text", value.get("output")), str):
            return made_from_facts(value, latency_ms)
    return Made(text=storable(text.removesuffix("\n").removesuffix("\r")), latency_ms=latency_ms)


def made_from_facts(facts: dict[str, object], latency_ms: float) -> Made:
    """The output in an object; the time it took is measured where it does not say it."""
    cleaned = {name: storable(value) if isinstance(value, str) else value for name, value in facts.items()}
    faults: list[Fault] = []
    why = unsound({name: cleaned[name] for name in ("trace", "author") if name in cleaned})
    made = made_of({"latency_ms": latency_ms, **_given(cleaned)}, (), faults)
    if why or made is None:
        raise OutputError(f"it gave back what cannot be used: {why or faults[0]}")
    return made


def storable(text: str) -> str:
    """The text, what is no character in it replaced: half a character, NUL."""
    if "\0" in text:
        text = text.replace("\0", "�")
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _given(facts: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in facts.items() if value is not None}
