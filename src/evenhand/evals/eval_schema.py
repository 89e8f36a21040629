"""The fields of an eval file, of its variants and samples, each with its JSON Schema: the readers know no others."""

from __future__ import annotations

from typing import Any, Literal

Json = dict[str, Any]
KeepReplies = Literal["raw", "masked", "none"]
KEEP_CHOICES: tuple[KeepReplies, ...] = ("raw", "masked", "none")
LAYERS = ("fact", "behavior", "judge")
RUBRIC_LAYER = "rubric"  # The layer `judge` as screens call it; files may call it so, too.
PASS_RATE = "pass_rate"
GATE_NAMES = (*LAYERS, "composite", "score", PASS_RATE)
STANDARDISE_WORDS = ("off", "z", "rank")
DEBIAS_WORDS = ("off", "instruct", "regress")
PER_WORDS = ("sample", "cluster")
COMPOSITE_FIELDS = {
    "standardise": STANDARDISE_WORDS,
    "debias": DEBIAS_WORDS,
    "per": PER_WORDS,
}  # Those that are one word.
GUARD_WORDS = {"injection": ("flag", "refuse", "off"), "safety": ("flag", "off"), "personal": ("mask", "off")}
EVAL_DIALOGUES = ("pairwise",)
MESSAGE_ROLES = ("system", "user", "assistant")
SAMPLE_FORMATS = ("csv", "json", "jsonl", "parquet")
VARIANT_KINDS = ("outputs", "command", "http", "python", "model")
HTTP_METHODS = ("POST", "PUT")


def eval_schema() -> Json:
    """The schema of a whole eval file, for editors; what it cannot say the readers check."""
    from evenhand.assertions.kinds import build_assertions_schema  # slow to load, and only editors ask for it.
    from evenhand.files.rubric_schema import build_rubric_file_schema

    rubric = build_rubric_file_schema()
    rubric_defs = rubric.pop("$defs")
    rubric.pop("$schema")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Evenhand eval",
        "type": "object",
        "required": ["samples"],
        "additionalProperties": False,
        "properties": EVAL_FIELDS,
        "$defs": {
            **rubric_defs,
            **build_assertions_schema()["$defs"],
            "rubric": {"anyOf": [_TEXT, rubric]},
            "rubric_list": rubric["properties"]["rubrics"],
            "samples": {
                "anyOf": [
                    _TEXT,
                    _eval_object_schema(SAMPLES_FILE_FIELDS, "file"),
                    {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/sample"}},
                ]
            },
            "sample": _eval_object_schema(SAMPLE_FIELDS),
            "made": {"anyOf": [_SCALAR, _eval_object_schema({"text": {}, **OUTPUT_FACTS}, "text")]},
        },
    }


def _eval_map_schema(values: Json) -> Json:
    return {"type": "object", "additionalProperties": values}


def _eval_object_schema(properties: Json, *required: str) -> Json:
    more = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


_TEXT: Json = {"type": "string", "minLength": 1}
_NAME: Json = {"type": ["string", "number"]}
_SCALAR: Json = {"type": ["string", "number", "boolean"]}
_WEIGHT: Json = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9]+/[0-9]+$|^[0-9]*\\.?[0-9]+ *%$"}]}
_NUMBER: Json = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9]+/[0-9]+$"}]}
_SHARE: Json = {"type": "number", "minimum": 0, "maximum": 1}
_ABOVE_0: Json = {"type": "number", "exclusiveMinimum": 0}
_TEMPERATURE: Json = {"type": "number", "minimum": 0, "maximum": 2}
_COUNT: Json = {"type": "integer", "minimum": 1}
MOST_REPEATS = 1_000_000  # The places of results are counted in whole numbers: a sample has room for so many.
_FROM_0: Json = {"type": "integer", "minimum": 0}
_FLAG: Json = {"type": "boolean"}
_TEXTS: Json = {"anyOf": [_SCALAR, {"type": "array"}]}
_RUBRIC: Json = {"$ref": "#/$defs/rubric"}
_RUBRIC_LIST: Json = {"$ref": "#/$defs/rubric_list"}

TOOL_CALL_FIELDS: Json = {"name": _TEXT, "input": {}, "output": {}}
OUTPUT_FACTS: Json = {
    "trace": {"type": ["array", "null"], "items": _eval_object_schema(TOOL_CALL_FIELDS, "name")},
    "cost": {"type": ["number", "string", "null"]},
    "latency_ms": {"type": ["number", "null"], "minimum": 0},
    "turns": {"type": ["integer", "null"], "minimum": 0},
    "author": {"type": ["string", "object", "null"]},
    "input_tokens": {"type": ["integer", "null"], "minimum": 0},
    "output_tokens": {"type": ["integer", "null"], "minimum": 0},
}
SAMPLE_FIELDS: Json = {
    "id": _NAME,
    "input": {"anyOf": [_NAME, {"type": "array"}]},
    "messages": {"type": "array"},
    "output": _SCALAR,
    "outputs": _eval_map_schema({"$ref": "#/$defs/made"}),
    "reference": _TEXTS,
    "context": _TEXTS,
    "tags": {"anyOf": [{"type": "string"}, {"type": "array", "items": _NAME}]},
    "cluster": _NAME,
    "metadata": {"type": "object"},
    "assertions": {"$ref": "#/$defs/assertions"},
    "rubric": {**_RUBRIC, "description": "Its own, in place of the eval's."},
    "rubrics": {**_RUBRIC_LIST, "description": "Its own, as a list of criteria."},
    **OUTPUT_FACTS,
}
SAMPLES_FILE_FIELDS: Json = {"file": _TEXT, "format": {"enum": list(SAMPLE_FORMATS)}, "fields": _eval_map_schema(_TEXT)}

MESSAGE_FIELDS: Json = {"role": {"enum": list(MESSAGE_ROLES)}, "text": _TEXT, "content": _TEXT}
_MESSAGES: Json = {"type": "array", "items": _eval_object_schema(MESSAGE_FIELDS, "role"), "minItems": 1}
HTTP_FIELDS: Json = {
    "url": _TEXT,
    "headers": _eval_map_schema(_TEXT),
    "method": {"enum": list(HTTP_METHODS)},
    "body": {},
    "field": _TEXT,
}
VARIANT_FIELDS: Json = {
    "outputs": {**_TEXT, "description": "A JSONL file of recorded outputs; without it they come with the samples."},
    "command": {"anyOf": [_TEXT, {"type": "array", "items": _NAME, "minItems": 1}]},
    "env": {"type": "array", "items": _TEXT, "description": "Environment variables that a command gets, by name."},
    "http": {"anyOf": [_TEXT, _eval_object_schema(HTTP_FIELDS, "url")]},
    "python": {**_TEXT, "description": "MODULE:FUNCTION"},
    "model": _TEXT,
    "prompt": {"anyOf": [_TEXT, _eval_object_schema({"file": _TEXT}, "file"), _MESSAGES]},
    "temperature": _TEMPERATURE,
    "max_tokens": _COUNT,
    "about": _TEXT,
    "seconds": _ABOVE_0,
}
_TWO_KINDS = [{"required": [a, b]} for a in VARIANT_KINDS for b in VARIANT_KINDS if a < b]
_VARIANT: Json = {"anyOf": [{"type": "null"}, {**_eval_object_schema(VARIANT_FIELDS), "not": {"anyOf": _TWO_KINDS}}]}

# The fields of `how`: which part of the settings each belongs to, the FieldReader's method for it, and its schema.
HOW_FIELDS: dict[str, tuple[Literal["options", "settings", "limits"], str, Json]] = {
    "language": ("options", "text", _TEXT),
    "each": ("options", "boolean", _FLAG),
    "samples": ("options", "integer", _COUNT),
    "logprobs": ("options", "boolean", _FLAG),
    "cascade": ("options", "boolean", _FLAG),
    "temperature": ("settings", "number", _TEMPERATURE),
    "max_tokens": ("settings", "integer", _COUNT),
    "deadline": ("options", "number", _ABOVE_0),
    "timeout": ("limits", "number", _ABOVE_0),
    "retries": ("limits", "integer", _FROM_0),
    "largest_reply": ("limits", "integer", _COUNT),
    "requests_per_minute": ("limits", "number", _ABOVE_0),
    "tokens_per_minute": ("limits", "number", _ABOVE_0),
}
PASS_ON_FIELDS: Json = {
    "near": {**_SHARE, "default": 0.05, "description": "Of the scale: what is this near a threshold is passed on."},
    "share": {**_SHARE, "default": 0.2, "description": "Of the rest: what is passed on at random."},
    "for_width": {**_ABOVE_0, "description": "As much of the rest as an interval of so many points takes."},
}
PASS_ON_BUDGET = "budget"  # As much of the rest as the budget pays for.
CASCADE_FIELDS: Json = {
    "cascade": {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2},
    "pass_on": {"anyOf": [_SHARE, {"const": PASS_ON_BUDGET}, _eval_object_schema(PASS_ON_FIELDS)]},
}
PASS_RATE_FIELDS: Json = {"min": _WEIGHT, "borderline": _FLAG}
BUDGET_FIELDS: Json = {"money": _NUMBER, "tokens": _FROM_0}
_GUARD_ACTIONS = _eval_object_schema({name: {"enum": list(words)} for name, words in GUARD_WORDS.items()})
EVAL_FIELDS: Json = {
    "name": {**_TEXT, "description": "What is evaluated: runs of one name have one history."},
    "about": _TEXT,
    "samples": {"$ref": "#/$defs/samples"},
    "variants": {"type": "object", "minProperties": 1, "additionalProperties": _VARIANT},
    "control": {**_TEXT, "description": "The variant that the others are compared with; else the first."},
    "rubric": {**_RUBRIC, "description": "For samples without a rubric of their tag."},
    "rubrics": {
        "anyOf": [_eval_map_schema(_RUBRIC), _RUBRIC_LIST],
        "description": "Rubrics by tag of the sample, or the criteria of the one rubric.",
    },
    "sample_rubrics": {
        **_FLAG,
        "default": False,
        "description": "A file of samples may say what judges are asked.",
    },
    "holistic": {"type": "boolean", "description": "Ask judges for a score for the whole beside the criteria."},
    "assertions": {"$ref": "#/$defs/assertions"},
    "checks": {
        **_eval_map_schema({"$ref": "#/$defs/assertion"}),
        "description": "Checks by name; an assertion of a sample names one: check: NAME.",
    },
    "judges": {
        "anyOf": [
            _TEXT,
            {"type": "array", "items": _TEXT},
            _eval_object_schema(CASCADE_FIELDS, "cascade"),
            _eval_map_schema(_WEIGHT),
        ],
    },
    "dialogue": {"enum": list(EVAL_DIALOGUES), "description": "Judges compare the outputs of two variants at a time."},
    "how": _eval_object_schema({name: schema for name, (_, _, schema) in HOW_FIELDS.items()}),
    "guards": {"anyOf": [{"type": "array", "items": {"enum": list(GUARD_WORDS)}}, _GUARD_ACTIONS]},
    "repeats": {**_COUNT, "maximum": MOST_REPEATS},
    "gates": {
        **_eval_object_schema({PASS_RATE: {"anyOf": [_WEIGHT, _eval_object_schema(PASS_RATE_FIELDS, "min")]}}),
        "additionalProperties": _NUMBER,
        "description": f"The least mean of {', '.join(GATE_NAMES)} or a criterion; {RUBRIC_LAYER} is {LAYERS[-1]}.",
    },
    "weights": {
        **_eval_object_schema({**dict.fromkeys((*LAYERS, RUBRIC_LAYER), _WEIGHT), "why": _TEXT}, "why"),
        "description": "What each layer counts in the composite, and why.",
    },
    "standardise": {"enum": list(STANDARDISE_WORDS), "default": "off", "description": "Layers, before the composite."},
    "debias": {"enum": list(DEBIAS_WORDS), "default": "off", "description": "What is done about length."},
    "per": {"enum": list(PER_WORDS), "default": "sample", "description": "What counts once in a mean."},
    "multivariate": {**_FLAG, "default": False, "description": "Also test all layers together."},
    "smallest_effect": {**_ABOVE_0, "default": 0.5},
    "smallest_loss_share": {
        **_eval_object_schema({"points": _ABOVE_0, "share": _ABOVE_0}, "points", "share"),
        "description": "No PROGRESS while losses of so many points could still make up this share of the samples.",
    },
    "budget": {"anyOf": [_NUMBER, _eval_object_schema(BUDGET_FIELDS)]},
    "concurrency": {**_COUNT, "default": 50},
    "prices": _TEXT,
    "keep": {
        "enum": list(KEEP_CHOICES),
        "default": "raw",
        "description": "What is kept of texts: all, masked, or none.",
    },
    "seed": {"type": "integer"},
}


def explain_wrong_eval_repeats(repeats: int) -> str:
    """Why an eval cannot be repeated so often; empty where it can."""
    if repeats < 1:
        return f"repeats must be 1 or more, got {repeats}"
    return f"repeats must be at most {MOST_REPEATS:,}" if repeats > MOST_REPEATS else ""
