"""From a function's signature and docstring to the JSON schema that a model is shown."""

from __future__ import annotations

import inspect
import json
import re
import types
from collections.abc import Callable
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from labkit.errors import ToolSchemaError

JsonSchema = dict[str, Any]

# https://platform.openai.com/docs/api-reference/chat/create: a function's name, 64 characters at most.
NAME_PATTERN = re.compile(r"[a-zA-Z0-9_-]{1,64}")

_NULL = type(None)
_SIMPLE: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", _NULL: "null"}
_EXPRESSIBLE = "str, int, float, bool, list[...], dict[str, ...], Literal[...], or one of these with '| None'"
_OF_ARGUMENTS = ("Args", "Arguments", "Parameters", "Params", "Keyword Args", "Keyword Arguments")
_SECTION = re.compile(rf"^({'|'.join(_OF_ARGUMENTS)}|Returns?|Raises|Yields?|Examples?|Notes?|See Also):\s*$")
_ARGUMENT = re.compile(r"^\*{0,2}(\w+)\s*(?:\(.*?\))?:\s*(.*)$")


def function_schema(function: Callable[..., Any]) -> JsonSchema:
    """The full `{"type": "function", "function": {...}}` schema of a typed function.

    Raises ToolSchemaError for what cannot be expressed, naming the function, the parameter and what to do.
    """
    name = _checked_name(function)
    description, about = _read_docstring(inspect.getdoc(function) or "")
    hints = _type_hints(function, name)
    properties: dict[str, JsonSchema] = {}
    required: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        properties[parameter.name] = _parameter_schema(name, parameter, hints, about)
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    parameters = {"type": "object", "properties": properties, "required": required}
    shown = {
        "name": name,
        "description": description or name.replace("_", " "),
        "parameters": parameters | {"additionalProperties": False},
    }
    return {"type": "function", "function": shown}


def _checked_name(function: Callable[..., Any]) -> str:
    if not inspect.isroutine(function):
        what = f"{function!r} is not a function, so it has no signature to show a model."
        raise ToolSchemaError(what, "Wrap it in a function of its own: def name(...): ...")
    name = function.__name__
    if not NAME_PATTERN.fullmatch(name):
        what = f"{name!r} cannot be a tool's name: only a-z, A-Z, 0-9, _ and - are allowed, 64 at most."
        raise ToolSchemaError(what, "Write it as a function with such a name: def name(...): ...")
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        fix = "Write it with def; inside, asyncio.run(...) can run what is async."
        raise ToolSchemaError(f"{name} is an async function, and the loop does not await its tools.", fix)
    if inspect.isgeneratorfunction(function):
        raise ToolSchemaError(f"{name} yields its values one by one.", "Return them as one list instead.")
    return name


def _type_hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except Exception as error:  # whatever evaluating somebody's annotation raises, it means the same here
        what = f"The type hints of {name} cannot be read ({error})."
        raise ToolSchemaError(what, "Import the types they name, at the top of the module.") from error


def _parameter_schema(
    name: str, parameter: inspect.Parameter, hints: dict[str, Any], about: dict[str, str]
) -> JsonSchema:
    where = f"{name}: the parameter {parameter.name!r}"
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        what = f"{where} takes any number of arguments, and a model has to be told each one."
        raise ToolSchemaError(what, "Name the parameters, or take one list or one dict.")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        what = f"{where} is positional only, and a model gives its arguments by name."
        raise ToolSchemaError(what, "Remove the '/' from the signature.")
    if parameter.name not in hints:
        raise ToolSchemaError(f"{where} has no type.", f"Give it one: {_EXPRESSIBLE}.")
    try:
        schema = type_schema(hints[parameter.name])
    except TypeError as error:
        what = f"{where} cannot be shown to a model: {error}."
        raise ToolSchemaError(what, f"Use {_EXPRESSIBLE}.") from error
    if parameter.name in about:
        schema.setdefault("description", about[parameter.name])
    if parameter.default is not parameter.empty and _is_json(parameter.default):
        schema["default"] = parameter.default
    return schema


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):  # the answer: JSON cannot hold it
        return False
    return value is not None


def type_schema(hint: Any) -> JsonSchema:
    """The JSON schema of one type. Raises TypeError with the reason for a type that JSON has no word for.

    >>> type_schema(list[int])
    {'type': 'array', 'items': {'type': 'integer'}}
    >>> type_schema(str | None)
    {'anyOf': [{'type': 'string'}, {'type': 'null'}]}
    """
    if hint is Any or hint is object:
        return {}
    if hint is None or hint in (str, int, float, bool, _NULL):
        return {"type": _SIMPLE[_NULL if hint is None else hint]}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        words = [extra for extra in arguments[1:] if isinstance(extra, str)]
        return type_schema(arguments[0]) | ({"description": words[0]} if words else {})
    if origin is Literal:
        return _literal_schema(arguments)
    if origin in (Union, types.UnionType):
        return {"anyOf": [type_schema(option) for option in arguments]}
    if list in (hint, origin):
        return {"type": "array", "items": type_schema(arguments[0]) if arguments else {}}
    if dict in (hint, origin):
        if arguments and arguments[0] is not str:
            raise TypeError("the keys of a JSON object are strings")
        return {"type": "object", "additionalProperties": type_schema(arguments[1]) if arguments else True}
    raise TypeError(f"JSON has no word for {getattr(hint, '__name__', hint)}")


def _literal_schema(choices: tuple[Any, ...]) -> JsonSchema:
    kinds = {_SIMPLE.get(type(choice)) for choice in choices}
    if None in kinds:
        raise TypeError(f"a Literal's choices must be strings, numbers, bools or None, not {choices!r}")
    return {"enum": list(choices)} | ({"type": kinds.pop()} if len(kinds) == 1 else {})


def _read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """A docstring's own words (up to its first section or doctest), and what its Args say, by parameter."""
    described: list[str] = []
    about: dict[str, str] = {}
    section, current, indent = "", "", None
    for line in _as_google_writes(text).splitlines():
        heading = _SECTION.match(line)
        if heading or line.lstrip().startswith(">>>"):
            section = heading[1] if heading else "Example"
        elif not section:
            described.append(line)
        elif section in _OF_ARGUMENTS and line.strip():
            depth = len(line) - len(line.lstrip())
            indent = depth if indent is None else indent  # the first parameter's; deeper lines go on with it
            entry = _ARGUMENT.match(line.strip())
            if entry and depth <= indent:
                current = entry[1]
                about[current] = entry[2]
            elif current:
                about[current] = f"{about[current]} {line.strip()}".strip()
    return "\n".join(described).strip(), {name: words for name, words in about.items() if words}


def _as_google_writes(text: str) -> str:
    """A docstring in numpy's style (underlined sections) or Sphinx's (`:param n: ...`), as Google writes it.

    https://numpydoc.readthedocs.io/en/latest/format.html, https://www.sphinx-doc.org (info field lists)
    """
    text, underlined = re.subn(r"^(\w[\w ]*)\n-{3,}[ \t]*$", r"\1:", text, flags=re.MULTILINE)
    if underlined:
        text = re.sub(r"^(\w+) : .*$", r"\1:", text, flags=re.MULTILINE)  # `path : str`, the text below it
    text = re.sub(r"^:param\s+(?:[^:\n]*\s)?(\w+):", r"Args:\n \1:", text, flags=re.MULTILINE)
    return re.sub(r"^:(?:type|returns?|rtype|raises?)\b[^:\n]*:.*$", "Returns:", text, flags=re.MULTILINE)
