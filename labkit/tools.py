"""A typed function becomes a tool, and a tool call becomes a tool message, whatever the model has sent.

An error is a result too: the model reads it as any other and can do better with its next request. So nothing
that a model can send raises into the loop; only Ctrl-C and a tool that ends the program get out.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Any

from labkit.errors import ToolError, ToolSchemaError
from labkit.messages import Message
from labkit.tool_arguments import argument_problem, did_you_mean, kind_in_words
from labkit.tool_schema import JsonSchema, function_schema

NO_OUTPUT = "(no output)"
"""What the model reads when a tool returned None: an empty result looks like a mistake."""

Function = Callable[..., Any]


class UnknownTool(ToolError, KeyError):
    """No tool of that name is in the toolbox."""

    page = "unknown-tool"

    def __str__(self) -> str:  # KeyError would show the text in quotes
        return f"{self.what} {self.fix}".strip()


@dataclasses.dataclass(frozen=True, eq=False)
class Tool:
    """A function that a model may ask for. `schema` is what the model is shown of it."""

    name: str
    description: str
    schema: JsonSchema
    function: Function = dataclasses.field(repr=False)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as if it had never become a tool."""
        return self.function(*args, **kwargs)

    def run(self, arguments: Any) -> str:
        """Run the function with a model's arguments (an object) and return its result as text.

        Raises ToolError for arguments that do not fit the signature, and lets the function's own exceptions
        out: `run_tool_call` makes a result of both.
        """
        parameters = self.schema["function"]["parameters"]
        if not isinstance(arguments, dict):
            what = f"the arguments of {self.name} are {kind_in_words(arguments)}, not an object."
            raise ToolError(what, f"Send a JSON object: {self.example()}.")
        problem = argument_problem(arguments, parameters)
        if problem:
            raise ToolError(f"{self.name}: {problem}.", f"Call it like this: {self.example()}.")
        return as_text(self.function(**arguments), self.name)

    def example(self) -> str:
        """Arguments in the right shape, as JSON text: what has to be there, with placeholders for values."""
        parameters = self.schema["function"]["parameters"]
        shown = {name: _placeholder(parameters["properties"][name]) for name in parameters["required"]}
        return json.dumps(shown, ensure_ascii=False)


def tool(function: Function | Tool) -> Tool:
    """Make a tool of a typed function: `@tool` above a def, or `tool(function)`.

    The schema comes from the signature (types, defaults), the docstring and its Args. `Annotated[str, "..."]`
    describes one parameter. Raises ToolSchemaError for a signature that cannot be shown to a model.

    >>> @tool
    ... def add(a: int, b: int = 1) -> int:
    ...     "Add two numbers."
    ...     return a + b
    >>> add.schema["function"]["parameters"]["required"]
    ['a']
    >>> add.run({"a": 2}), add(2, 2)
    ('3', 4)
    """
    if isinstance(function, Tool):
        return function
    schema = function_schema(function)
    return Tool(schema["function"]["name"], schema["function"]["description"], schema, function)


class Toolbox:
    """The tools that a model is offered, by name. Takes tools and plain typed functions.

    >>> def shout(text: str) -> str:
    ...     "Say it louder."
    ...     return text.upper()
    >>> box = Toolbox([shout])
    >>> box.names, box["shout"]("hello")
    (['shout'], 'HELLO')
    >>> box.run({"id": "c1", "function": {"name": "shuot", "arguments": "{}"}})
    "Error: there is no tool 'shuot' (did you mean shout?). The tools are: shout."
    """

    def __init__(self, tools: Iterable[Tool | Function] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for made in map(tool, tools):
            if made.name in self._tools:
                what = f"Two tools have the name {made.name!r}, and a model calls a tool by its name."
                raise ToolSchemaError(what, "Rename one of the two functions.")
            self._tools[made.name] = made

    @property
    def schemas(self) -> list[JsonSchema]:
        """The schemas, in the order of the tools: the `tools` of a request."""
        return [made.schema for made in self]

    @property
    def names(self) -> list[str]:
        """The tools' names, in their order."""
        return list(self._tools)

    def __getitem__(self, name: str) -> Tool:
        if isinstance(name, str) and name in self._tools:
            return self._tools[name]
        listed = f"The tools are: {', '.join(self.names[:30])}." if self._tools else "There are no tools."
        if not isinstance(name, str) or not name:
            raise UnknownTool("the call does not name a tool.", listed)
        shown = name if len(name) <= 80 else name[:77] + "..."
        raise UnknownTool(f"there is no tool {shown!r}{did_you_mean(name, self._tools)}.", listed)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __add__(self, other: Iterable[Tool | Function]) -> Toolbox:
        return Toolbox([*self, *other])

    def __repr__(self) -> str:
        return f"Toolbox({', '.join(self.names)})"

    def run(self, call: Any) -> str:
        """The text of a tool call's result. Never raises for anything that a model can send."""
        return str(run_tool_call(call, self)["content"])


def run_tool_call(call: dict[str, Any], toolbox: Toolbox) -> Message:
    """Run one tool call and return its tool message: always a message, whatever the call holds.

    In: a call as the model sent it, and the toolbox. Out: `{"role": "tool", "tool_call_id": ...,
    "content": ...}`, with the result as text. An unknown tool, arguments that are not JSON or do
    not fit, and an exception inside the tool each become text that starts with "Error: " and says
    what to do.

    >>> call = {"id": "c1", "type": "function", "function": {"name": "fly", "arguments": "{}"}}
    >>> run_tool_call(call, Toolbox())
    {'role': 'tool', 'tool_call_id': 'c1', 'content': "Error: there is no tool 'fly'. There are no tools."}
    """
    call_id, name, raw = call_parts(call)
    try:
        found = toolbox[name]  # an unknown name raises, and says which names are near
        arguments = read_arguments(raw, found)  # JSON, never Python: the text comes from outside
        content = found.run(arguments)  # checked against the signature, run, made into text
    except Exception as error:  # Ctrl-C is no Exception, so it still gets out
        content = f"Error: {explain(error, name)}"
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def call_parts(call: Any) -> tuple[str, str, Any]:
    """A call's id, the tool's name and the raw arguments. A part that is missing or misshapen comes as "".

    The call is a dict, or the SDK's own object.
    """
    call = call.model_dump() if hasattr(call, "model_dump") else call
    function = call.get("function") if isinstance(call, dict) else None
    call, function = (part if isinstance(part, dict) else {} for part in (call, function))
    call_id, name = call.get("id"), function.get("name")
    return (
        call_id if isinstance(call_id, str) else "",
        name if isinstance(name, str) else "",
        function.get("arguments"),
    )


def read_arguments(raw: Any, found: Tool) -> Any:
    """The arguments from their JSON text. None, "null" and blank text mean none; an object is taken as it is.

    (Some servers leave the text out for a call without arguments, and some send the object itself.)
    Raises ToolError for text that is not JSON.
    """
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}
    if not isinstance(raw, str):
        return raw
    fix = f"Send one JSON object, all in double quotes, for example {found.example()}."

    def number(text: str) -> float:  # Python reads NaN and Infinity, also out of 1e999; JSON knows neither
        if not math.isfinite(float(text)):
            raise ToolError(f"the arguments of {found.name} are not JSON: {text[:80]} is no JSON value.", fix)
        return float(text)

    try:
        parsed = json.loads(raw, parse_constant=number, parse_float=number)
    except json.JSONDecodeError as error:
        what = f"the arguments of {found.name} are not JSON: {error.msg} at character {error.pos + 1}."
        raise ToolError(what, fix) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, a thousand open brackets
        raise ToolError(f"the arguments of {found.name} are too large or too deep to read.", fix) from error
    return {} if parsed is None else parsed


def explain(error: Exception, name: str) -> str:
    """What a model is told about an exception: a ToolError's own words, else its type, text and advice."""
    try:
        said = str(error)
    except Exception:  # an exception whose own __str__ fails still has a type to name
        said = ""
    if isinstance(error, ToolError) and said:
        return clean(said)
    what = f"{name} raised {type(error).__name__}" + (f": {said[:2000]}" if said else "")
    return clean(f"{what.rstrip('.')}. Check the arguments; if the same call fails again, try another way.")


def as_text(value: Any, name: str = "the tool") -> str:
    """A tool's return value as the model reads it: text as it is, None as "(no output)", the rest as JSON.

    Bytes are read as UTF-8: what a command printed often comes that way.
    """
    if value is None:
        return NO_OUTPUT
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    if inspect.isawaitable(value):
        close = getattr(value, "close", None)
        if close:
            close()  # a coroutine that nobody awaits would warn later, far from here
        raise ToolError(f"{name} returned something to await, and the loop does not await its tools.")
    try:
        return clean(json.dumps(value, ensure_ascii=False, default=_plain))
    except (TypeError, ValueError) as error:
        raise ToolError(f"{name} ran, but its result cannot be written as JSON ({error}).") from error


def clean(text: str) -> str:
    """Text that can go over the wire: half a surrogate pair has no UTF-8 form and becomes "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, set | frozenset | tuple):
        return sorted(value, key=str)
    if isinstance(value, Iterator):
        raise TypeError(f"a {type(value).__name__} gives its values one by one: return them as a list")
    has_words = isinstance(value, PurePath) or hasattr(value, "isoformat")  # dates and times
    return str(value) if has_words else repr(value)


def _placeholder(schema: JsonSchema) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("anyOf", [schema])[0].get("type", "")
    examples = {"integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}, "null": None}
    return examples.get(kind, "...")
