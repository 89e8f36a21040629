"""The wire format of decisions as JSON Schema, out of the types of the openai package; run where that is installed.

`python tests/models/in_openai.py > tests/models/decisions_contract.json` writes the contract anew.
"""

import importlib
import json
import sys
from typing import Any

from pydantic import TypeAdapter


def main() -> None:
    """Print the schemas of a request and of a reply."""
    types = importlib.import_module("openai.types")
    params = importlib.import_module("openai.types.decision_create_params")
    request = TypeAdapter(params.DecisionCreateParams).json_schema()
    reply = TypeAdapter(types.Decision).json_schema()
    sys.stdout.write(json.dumps({"request": _close(request), "reply": _bare(reply)}, indent=1, sort_keys=True) + "\n")


def _bare(schema: Any) -> Any:
    """The schema without words for readers."""
    if isinstance(schema, list):
        return [_bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    told = ("description", "title") if "type" in schema or "anyOf" in schema or "$ref" in schema else ()
    return {key: _bare(value) for key, value in schema.items() if key not in told or isinstance(value, dict)}


def _close(schema: Any) -> Any:
    """The same for what is sent: a field that the types do not name is a mistake."""
    bare = _bare(schema)
    for one in (bare, *bare.get("$defs", {}).values()):
        if "properties" in one:
            one["additionalProperties"] = False
    return bare


if __name__ == "__main__":
    main()
