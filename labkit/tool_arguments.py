"""A call's arguments against the tool's schema: what is wrong with them, in words that a model can act on."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any

from labkit.tool_schema import JsonSchema

_WORDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}


def argument_problem(arguments: dict[str, Any], parameters: JsonSchema) -> str:
    """What is wrong with a call's arguments, as a sentence; "" when they fit the schema.

    >>> schema = {"properties": {"path": {"type": "string"}}, "required": ["path"]}
    >>> argument_problem({"pth": "notes.md"}, schema)
    "there is no argument 'pth' (did you mean path?)"
    """
    properties = parameters["properties"]
    for name in arguments:
        if name not in properties:
            hint = did_you_mean(name, properties) or f"; there are {', '.join(properties) or 'none'}"
            return f"there is no argument {name[:80]!r}{hint}"
    missing = [name for name in parameters["required"] if name not in arguments]
    if missing:
        return f"the argument {missing[0]!r} is missing"
    for name, value in arguments.items():
        problem = value_problem(value, properties[name])
        if problem:
            return f"the argument {name!r} {problem}"
    return ""


def value_problem(value: Any, schema: JsonSchema) -> str:
    """What is wrong with one value, or "". Strict as JSON is: true is not 1, and "3" is not 3.

    >>> value_problem("3", {"type": "integer"})
    'is "3", a string; it must be an integer (without quotes)'
    """
    if "anyOf" in schema:
        return _union_problem(value, schema["anyOf"])
    if "enum" in schema:
        fits = any(type(value) is type(choice) and value == choice for choice in schema["enum"])
        return "" if fits else _wrong(value, _expected(schema))
    kind = schema.get("type")
    if kind and kind != json_kind(value) and not (kind == "number" and json_kind(value) == "integer"):
        quoted = isinstance(value, str) and kind in ("integer", "number", "boolean")
        return _wrong(value, _expected(schema)) + (" (without quotes)" if quoted else "")
    if isinstance(value, list) and "items" in schema:
        return _first_problem(((f"[{i}]", item) for i, item in enumerate(value)), schema["items"])
    inner = schema.get("additionalProperties")
    if isinstance(value, dict) and isinstance(inner, dict):
        return _first_problem(((f"[{key!r}]", item) for key, item in value.items()), inner)
    return ""


def _union_problem(value: Any, options: list[JsonSchema]) -> str:
    found = [value_problem(value, option) for option in options]
    if "" in found:
        return ""
    for problem, option in zip(found, options, strict=True):
        if isinstance(value, list | dict) and option.get("type") == json_kind(value):
            return problem  # the right kind, so the trouble lies inside
    return _wrong(value, " or ".join(map(_expected, options)))


def _first_problem(items: Iterable[tuple[str, Any]], schema: JsonSchema) -> str:
    for where, item in items:
        problem = value_problem(item, schema)
        if problem:
            return f"at {where} {problem}"
    return ""


def _expected(schema: JsonSchema) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(choice, ensure_ascii=False) for choice in schema["enum"])
    return _WORDS.get(schema.get("type", ""), "any value") if "anyOf" not in schema else "another value"


def _wrong(value: Any, expected: str) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    named = "" if json_kind(value) in ("null", "boolean") else f", {kind_in_words(value)}"
    return f"is {shown}{named}; it must be {expected}"


def json_kind(value: Any) -> str:
    """JSON's word for a value's type. bool is asked for first: Python's True is an int, JSON's is not."""
    for python_type, kind in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, python_type):
            return kind
    return "null" if value is None else "array" if isinstance(value, list) else "object"


def kind_in_words(value: Any) -> str:
    """The kind of a JSON value, for a sentence: "a list", "true or false"."""
    return _WORDS[json_kind(value)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint such as ` (did you mean read_file?)` with the nearest known names, or "" when none is near."""
    by_folded = {other.casefold(): other for other in known}
    near = difflib.get_close_matches(name.casefold()[:200], by_folded, n=3, cutoff=0.55)
    return f" (did you mean {' or '.join(by_folded[match] for match in near)}?)" if near else ""
