"""What a run keeps of texts, as its `keep` says: rows on their way into the store are masked, or left without texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b, sha256
from typing import Any

from evenhand.evals.eval_schema import KeepReplies
from evenhand.files.parsing import build_json_encoder
from evenhand.guards.personal_data import (
    TextMask,
    build_personal_text_mask,
    mask_data,
    mask_personal_data,
    mask_personal_in_every_text,
    mask_personal_result,
)
from evenhand.model.scale import Missing
from evenhand.store.rows import Row, to_stored_json

Json = dict[str, Any]
NOT_KEPT = "not kept"
OUTPUT_DIGEST_BYTES = 8
OWN_RUBRIC_PARTS = ("rubric", "rubrics")  # Few samples have them; without, a sample has the number it always had.
# Of a sample, what decides how its outputs are made and judged.
SAMPLE_PARTS = ("input", "messages", "reference", "context", "tags", "assertions", *OWN_RUBRIC_PARTS)
_SAMPLE_NAMES = ("id", "tags", "cluster")  # By which one is told from another.
# Of a result, names and exact numbers: there is no text of an output in them.
_EXACT_FIELDS = (
    *("cluster", "rubric", "own_rubric", "layers", "criteria", "gates_open", "five_layers", "seats", "calls"),
    "decided_by",
)
_KEPT_WORDS = frozenset(
    {"id", "output", "judge", "criterion", "guard", "rule", "says", "band", "exact", "weight", "kind", "layer", "name"}
    | {"grade", "label", "description", "verdict", "step", "author", "winner", "first", "second", "votes", "unsafe"}
    | {"gates_failed", "gates_open", "flags", "bonuses", "cost", "criteria"}
)
_STEPS_THAT_QUOTE = ("deduct", "add", "cap")  # Their sentences repeat what a judge wrote, or a passage.
_PLAIN_NUMBER = re.compile(r"-?[0-9]+(?:/[0-9]+)?")


def reduce_kept_row(kind: str, row: Mapping[str, Any], keep: KeepReplies, texts: Iterable[str] = ()) -> Row:
    """A row of samples, results, calls or made as the store may have it; `texts` are those that it may quote.

    Replies, and outputs that were made, stay as they came while a run may still need them: `reduce_unneeded_row` is
    for when it does not.
    """
    reduced = dict(row)
    if kind == "samples":
        reduced["content"] = to_stored_json(_reduce_sample_kept_by_run(json.loads(row["content"]), keep))
    elif kind == "results":
        reduced["content"] = to_stored_json(_reduce_result(json.loads(row["content"]), row, keep, texts))
    elif kind == "calls" and row.get("failed") is not None:
        reduced["failed"] = mask_data(row["failed"], mask_personal_data) if keep == "masked" else NOT_KEPT
    return reduced


def reduce_unneeded_row(kind: str, row: Mapping[str, Any], keep: KeepReplies) -> Row:
    """A row of a run that needs no reply and no output any more, as `keep` says; other rows are left as they are."""
    if keep == "raw":
        return dict(row)
    if kind == "calls" and row["kept"] == "raw" and row["reply"]:
        return {**row, "reply": reduce_kept_reply(row["reply"], keep), "kept": keep}
    if kind == "made" and is_output_of_run_kept_raw(row["content"]):
        return {**row, "content": reduce_output_kept_by_run(row["content"], keep)}
    return dict(row)


def reduce_kept_reply(reply: str, keep: KeepReplies) -> str | None:
    """A reply, as JSON, that is not needed any more; None where none is kept."""
    if keep == "none":
        return None
    data = json.loads(reply)
    masked = {name: mask_data(one, mask_personal_data) for name, one in data.items() if name != "places"}
    return to_stored_json({**masked, "places": []})


def reduce_output_kept_by_run(content: str, keep: KeepReplies) -> str:
    """An output that a live variant made, as JSON, that is not needed any more; it is not taken over by other runs."""
    return to_stored_json({**_reduce_output_text_kept_by_run(json.loads(content), keep), "kept": keep})


def is_output_of_run_kept_raw(content: str) -> bool:
    """Whether an output that was made can be taken over."""
    return bool(json.loads(content).get("kept", "raw") == "raw")


def mask_definition_kept_by_run(data: Json) -> Json:
    """What a run was told, with personal data masked; names, numbers and fingerprints stay what they are."""
    hide = build_personal_text_mask(list_texts_kept_by_run(data))  # Titles are cut from what stands whole elsewhere.

    def mask(text: str) -> str:
        return text if _PLAIN_NUMBER.fullmatch(text) else hide(text)

    return _mask_run_definition(data, mask)


def _mask_run_definition(data: Json, mask: TextMask) -> Json:
    exact = {name: data[name] for name in ("fingerprints", "selection") if name in data}
    masked = {name: _mask_run_definition(one, mask) for name, one in data.items() if isinstance(one, dict)}
    return {**mask_data(data, mask), **masked, **exact}  # type: ignore[dict-item]


def reduce_eval_source_kept_by_run(source: str, keep: KeepReplies, *, holds_samples: bool) -> str:
    """The text of an eval file; where samples stand in it, it holds their texts."""
    if keep == "none" and holds_samples:
        return f"# {NOT_KEPT}: samples stand in it, and the eval says keep: none\n"
    return mask_personal_data(source)


def count_characters_of_run_output(content: Mapping[str, Any]) -> int | None:
    """How long the output of a result was as it was made, whatever is kept of it; None where there is none."""
    if content["output"] is None:
        return None
    original = content.get("original")
    return len(content["output"]["text"]) if original is None else int(original["length"])


def has_run_output_text(content: Mapping[str, Any]) -> bool:
    """Whether the output of a result was there to be judged, whatever is kept of it."""
    if content["output"] is None:
        return False
    original = content.get("original")
    return bool(content["output"]["text"].strip()) if original is None else not original["blank"]


def number_run_output_text(content: Mapping[str, Any]) -> int:
    """The beginning of the SHA-256 of an output's text as it was made; 0 where that is not known."""
    if content["output"] is None:
        return 0
    original = content.get("original")
    if original is not None:
        return read_run_output_digest(original["text"]) if "text" in original else 0
    digest = sha256(content["output"]["text"].encode("utf-8", "backslashreplace")).digest()
    return int.from_bytes(digest[:OUTPUT_DIGEST_BYTES], "big", signed=True)


def read_run_output_digest(digest: str) -> int:
    """The number of a digest that `format_run_output_digest` wrote."""
    return int.from_bytes(bytes.fromhex(digest), "big", signed=True)


def format_run_output_digest(number: int) -> str:
    """As labels write it: 16 hexadecimal digits."""
    return number.to_bytes(OUTPUT_DIGEST_BYTES, "big", signed=True).hex()


def list_result_texts(row: Mapping[str, Any], content: Mapping[str, Any]) -> bytes:
    """An output and all that was said of it, or a digest of it as it was before anything was masked."""
    if "original" in content:
        return str(content["original"]["digest"]).encode()
    text = content["output"]["text"] if content["output"] else None
    said = (row["position"], row["repeat"], text, content["judgments"], content["assertions"])
    return _encode_said(said).encode()


_encode_said = build_json_encoder(json.JSONEncoder(sort_keys=True, check_circular=False))


def number_texts_of_run_sample(content: Mapping[str, Any]) -> int:
    """A number that is the same where outputs are asked for and judged by the same."""
    if "texts" in content:
        return int(content["texts"])
    parts = [name for name in SAMPLE_PARTS if name not in OWN_RUBRIC_PARTS or content.get(name)]
    told = _encode_said([content.get(name) or "" for name in parts])
    return int.from_bytes(blake2b(told.encode(), digest_size=8).digest(), "big", signed=True)


def list_texts_of_run_sample(content: Mapping[str, Any]) -> list[str]:
    """The texts of a sample that an answer about it may quote."""
    return [str(content.get(name) or "") for name in ("input", "reference", "context")]


def list_texts_kept_by_run(data: object) -> list[str]:
    """All texts and numbers in plain data, as they are written; names of fields too."""
    if isinstance(data, Mapping):
        return [text for pair in data.items() for one in pair for text in list_texts_kept_by_run(one)]
    if isinstance(data, (list, tuple)):
        return [text for one in data for text in list_texts_kept_by_run(one)]
    return [] if data is None or isinstance(data, bool) else [str(data)]


def _reduce_sample_kept_by_run(content: Json, keep: KeepReplies) -> Json:
    names = {name: content[name] for name in _SAMPLE_NAMES if name in content}
    if keep == "none":
        return {**names, "input": "", "texts": number_texts_of_run_sample(content)}
    mask = build_personal_text_mask(list_texts_of_run_sample(content))
    masked = mask_personal_in_every_text({name: one for name, one in content.items() if name not in names}, mask)
    assert isinstance(masked, dict)
    return {**masked, **names, "texts": number_texts_of_run_sample(content)}


def _reduce_result(content: Json, row: Mapping[str, Any], keep: KeepReplies, texts: Iterable[str]) -> Json:
    original = {
        "length": count_characters_of_run_output(content),
        "blank": not has_run_output_text(content),
        "digest": sha256(list_result_texts(row, content)).hexdigest(),
        **({"text": format_run_output_digest(number)} if (number := number_run_output_text(content)) else {}),
    }
    exact = {name: content[name] for name in _EXACT_FIELDS if name in content}
    rest = {name: one for name, one in content.items() if name not in exact}
    mask = build_personal_text_mask([*texts, *list_texts_kept_by_run(content["output"])])
    if keep == "masked":
        reduced = mask_personal_result(rest, mask)
    else:
        output = None if content["output"] is None else _reduce_output_text_kept_by_run(content["output"], keep)
        told: Json = mask_data(forget_texts_about_output({**rest, "output": None}), mask)  # type: ignore[assignment]
        reduced = {**told, "suggestions": [], "output": output}
    return {**reduced, **exact, "original": original}


def _reduce_output_text_kept_by_run(output: Json, keep: KeepReplies) -> Json:
    if keep == "masked":
        masked = mask_personal_in_every_text({"text": output["text"], "trace": output.get("trace")}, mask_personal_data)
        return {**output, **masked}  # type: ignore[dict-item]
    trace: Sequence[Json] | None = output.get("trace")
    called = None if trace is None else [{**call, "input": None, "output": None} for call in trace]
    return {**output, "text": "", "trace": mask_data(called, mask_personal_data)}


def forget_texts_about_output(data: Any, key: str = "") -> Any:
    """Data without what anybody wrote about an output: names, numbers and the sentences of our own arithmetic stay."""
    if isinstance(data, dict):
        told = {name: forget_texts_about_output(one, name) for name, one in data.items()}
        if "step" in data and data["step"] not in _STEPS_THAT_QUOTE:
            told["why"] = data["why"]
        return told
    if isinstance(data, list):
        return [forget_texts_about_output(one, key) for one in data]
    if not isinstance(data, str) or not data or key in _KEPT_WORDS:
        return data
    return _forget_reason_in_run_result(data) if key in ("why", "why_not") else ""


def _forget_reason_in_run_result(text: str) -> str:
    """Why there is no score, by its kind alone."""
    return Missing(Missing.from_text(text).kind, NOT_KEPT).text
