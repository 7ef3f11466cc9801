"""A typed function becomes a tool, and whatever a model sends becomes a tool message."""

from __future__ import annotations

import dataclasses
import datetime
import json
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageFunctionToolCall

from labkit.errors import ToolError, ToolSchemaError
from labkit.messages import problems, tool_call
from labkit.tools import Tool, Toolbox, run_tool_call, tool


def search(query: str, limit: int = 10, order: Literal["new", "old"] = "new") -> str:
    """Search the archive.

    It knows the last ten years.

    Args:
        query: What to look for,
            in plain words.
        limit (int): How many to find: at most 50.

    Returns:
        The titles.

    >>> "never shown to a model"
    """
    return f"{query}/{limit}/{order}"


def note(text: str, tags: list[str] | None = None) -> None:
    """Keep a note."""


def weigh(grams: float, exact: bool = False) -> str:
    """Weigh something."""
    return f"{grams}/{exact}"


def stay(where: Literal["here"] | Literal[1] | None) -> None:
    """Stay there."""


def explode() -> str:
    """Always fails."""
    raise RuntimeError("the boiler is cold")


BOX = Toolbox([search, note, weigh, explode, stay])


def parameters_of(function: Any) -> dict[str, Any]:
    return tool(function).schema["function"]["parameters"]


def ask(name: str, arguments: object, toolbox: Toolbox = BOX) -> str:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    message = run_tool_call(tool_call("call_1", name, text), toolbox)
    assert (message["role"], message["tool_call_id"]) == ("tool", "call_1")
    return message["content"]


# --- the schema -------------------------------------------------------------------------------------------


def test_the_schema_says_name_description_types_defaults_and_what_is_required():
    assert tool(search).schema == {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Search the archive.\n\nIt knows the last ten years.",
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What to look for, in plain words."},
                    "limit": {
                        "type": "integer",
                        "description": "How many to find: at most 50.",
                        "default": 10,
                    },
                    "order": {"type": "string", "enum": ["new", "old"], "default": "new"},
                },
                "required": ["query"],
                "additionalProperties": False,
            },
        },
    }


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array", "items": {}}),
        (list[list[int]], {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}),
        (dict, {"type": "object", "additionalProperties": True}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Optional[bool], {"anyOf": [{"type": "boolean"}, {"type": "null"}]}),  # noqa: UP045 - the old spelling
        (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
        (Literal["a", None], {"enum": ["a", None]}),
        (Annotated[str, "a town"], {"type": "string", "description": "a town"}),
    ],
)
def test_a_type_becomes_its_schema(hint, schema):
    def function(value):
        pass

    function.__annotations__["value"] = hint
    assert parameters_of(function)["properties"]["value"] == schema


def test_annotated_words_win_over_the_docstring():
    def weather(town: Annotated[str, "from the annotation"]) -> str:
        """Say the weather.

        Args:
            town: from the docstring
        """
        return town

    assert parameters_of(weather)["properties"]["town"]["description"] == "from the annotation"


def google(path: str, lines: int = 1) -> str:
    """Read a file.

    Args:
        path (str | tuple(str, int)): The file,
            told: from here.
    Keyword Args:
        lines: How many.

    Return:
        The text.
    """
    return path


def numpy(path: str, lines: int = 1) -> str:
    """Read a file.

    Parameters
    ----------
    path : str
        The file,
        told: from here.
    lines : int, optional
        How many.

    Returns
    -------
    str
        The text.
    """
    return path


def sphinx(path: str, lines: int = 1) -> str:
    """Read a file.

    :param path: The file,
        told: from here.
    :type path: str
    :param int lines: How many.
    :returns: The text.
    :raises OSError: Nothing there.
    """
    return path


@pytest.mark.parametrize("function", [google, numpy, sphinx])
def test_parameters_may_be_described_in_any_of_the_usual_styles(function):
    made = tool(function)
    shown = made.schema["function"]["parameters"]["properties"]
    assert made.description == "Read a file."
    assert shown["path"]["description"] == "The file, told: from here."
    assert shown["lines"]["description"] == "How many."


def test_a_function_without_a_docstring_is_described_by_its_name():
    def list_all_boats() -> str:
        return ""

    assert tool(list_all_boats).description == "list all boats"


def test_a_default_that_json_cannot_write_is_left_out_but_makes_the_argument_optional():
    def wait(seconds: float = float("inf")) -> str:
        return str(seconds)

    assert parameters_of(wait) == {
        "type": "object",
        "properties": {"seconds": {"type": "number"}},
        "required": [],
        "additionalProperties": False,
    }


def test_a_bound_method_becomes_a_tool_without_self():
    class Counter:
        def add(self, number: int) -> str:
            return str(number)

    assert list(parameters_of(Counter().add)["properties"]) == ["number"]


def star(*names: str) -> str: ...
def double_star(**names: str) -> str: ...
def positional(name: str, /) -> str: ...
def untyped(name) -> str: ...
def raw(name: bytes) -> str: ...
def pair(name: tuple[int, int]) -> str: ...
def keyed(name: dict[int, str]) -> str: ...
def half(name: Literal[b"x"]) -> str: ...
def nowhere(name: Nowhere) -> str: ...  # noqa: F821 - the missing name is the point
async def later(name: str) -> str: ...
def one_by_one(name: str):
    yield name


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (star, ["star", "'names'", "any number"]),
        (double_star, ["double_star", "'names'", "any number"]),
        (positional, ["positional", "'name'", "'/'"]),
        (untyped, ["untyped", "'name'", "no type", "list[...]"]),
        (raw, ["raw", "'name'", "bytes", "Use str"]),
        (pair, ["pair", "'name'", "tuple"]),
        (keyed, ["keyed", "'name'", "keys"]),
        (half, ["half", "'name'", "Literal"]),
        (nowhere, ["nowhere", "Nowhere"]),
        (later, ["later", "async", "asyncio.run"]),
        (one_by_one, ["one_by_one", "list"]),
        (lambda: None, ["<lambda>", "a-z"]),
        (dict, ["dict", "def"]),
        (42, ["42", "def"]),
    ],
)
def test_what_cannot_be_a_tool_is_refused_by_name_with_what_to_do(function, words):
    with pytest.raises(ToolSchemaError) as caught:
        tool(function)
    assert isinstance(caught.value, TypeError)
    assert [word for word in words if word not in str(caught.value)] == []
    assert caught.value.fix


def test_a_name_that_a_provider_would_refuse_is_refused():
    def großes_werk() -> str: ...

    with pytest.raises(ToolSchemaError, match="großes_werk"):
        tool(großes_werk)


# --- tools and toolboxes ----------------------------------------------------------------------------------


def test_a_decorated_function_can_still_be_called():
    @tool
    def add(a: int, b: int = 1) -> int:
        """Add."""
        return a + b

    assert isinstance(add, Tool)
    assert add(2) == add(a=1, b=2) == 3
    assert add.run({"a": 2}) == "3"


def test_a_tool_may_have_parameters_of_any_name():
    def awkward(self: str, name: str, arguments: str) -> str:
        """Odd names."""
        return self + name + arguments

    assert ask("awkward", {"self": "a", "name": "b", "arguments": "c"}, Toolbox([awkward])) == "abc"


def test_a_tool_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        tool(search).name = "other"


def test_a_toolbox_takes_tools_and_functions_and_keeps_their_order():
    box = Toolbox([tool(search), note]) + Toolbox([weigh])
    assert box.names == ["search", "note", "weigh"]
    assert [schema["function"]["name"] for schema in box.schemas] == box.names
    assert len(box) == 3 and "note" in box and "nope" not in box
    assert [each.name for each in box] == box.names and box["note"].name == "note"


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ToolSchemaError, match="search"):
        Toolbox([search]) + Toolbox([search])


def test_looking_up_an_unknown_tool_is_a_key_error_with_readable_words():
    with pytest.raises(KeyError) as caught:
        Toolbox([search])["serach"]
    assert str(caught.value) == "there is no tool 'serach' (did you mean search?). The tools are: search."


# --- calls ------------------------------------------------------------------------------------------------


def test_a_call_runs_the_function_and_returns_its_text():
    assert ask("search", {"query": "tide", "limit": 3}) == "tide/3/new"


def test_the_message_is_one_that_a_provider_takes():
    call = tool_call("call_9", "search", {"query": "tide"})
    history = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        run_tool_call(call, BOX),
    ]
    assert not problems(history)


@dataclasses.dataclass
class Boat:
    name: str
    built: datetime.date


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n", "as it is\n"),
        ("", ""),
        (None, "(no output)"),
        (3, "3"),
        (True, "true"),
        ([1, "zwei", None], '[1, "zwei", null]'),
        ({"水": 1.5}, '{"水": 1.5}'),
        (float("nan"), "NaN"),
        (Path("a/b"), '"a/b"'),
        ({"b", "a"}, '["a", "b"]'),
        ((1, 2), "[1, 2]"),
        (Boat("Perrin", datetime.date(1931, 3, 14)), '{"name": "Perrin", "built": "1931-03-14"}'),
        ("half a \ud83d pair", "half a ? pair"),
        ("Grüße\n".encode(), "Grüße\n"),
        (bytearray(b"\xff"), "\ufffd"),
    ],
)
def test_a_result_becomes_text(value, text):
    def give() -> Any:
        """Give."""
        return value

    assert ask("give", {}, Toolbox([give])) == text


def test_a_result_that_is_no_json_is_an_error_that_says_so():
    def circle() -> list[Any]:
        """Round."""
        ring: list[Any] = []
        ring.append(ring)
        return ring

    assert ask("circle", {}, Toolbox([circle])).startswith("Error: circle ran, but its result")


@pytest.mark.parametrize("give", [lambda: map(str, [1]), lambda: {"all": (n for n in [1])}])
def test_values_given_one_by_one_are_an_error_that_asks_for_a_list(give):
    def numbers() -> Any:
        """Count."""
        return give()

    text = ask("numbers", {}, Toolbox([numbers]))
    assert text.startswith("Error: numbers ran, but") and "return them as a list" in text


def test_a_function_that_returns_a_coroutine_is_an_error_and_no_warning(recwarn):
    async def inner() -> str:
        return ""

    def outer() -> Any:
        """Hide the async."""
        return inner()

    assert "await" in ask("outer", {}, Toolbox([outer]))
    assert not recwarn.list


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("serch", {}, ["no tool 'serch'", "did you mean search?", "search, note, weigh, explode"]),
        ("SEARCH", {}, ["did you mean search?"]),
        ("x" * 10_000, {}, ["no tool 'xxx"]),
        ("", {}, ["does not name a tool"]),
        ("search", '{"query": ', ["not JSON", "character", '{"query": "..."}']),
        ("search", "{'query': 'tide'}", ["not JSON", "double quotes"]),
        ("search", "__import__('os').getcwd()", ["not JSON"]),
        ("weigh", '{"grams": NaN}', ["not JSON", "NaN"]),
        ("weigh", '{"grams": -1e999}', ["not JSON", "-1e999"]),
        ("stay", {"where": "there"}, ['one of "here" or one of 1 or null']),
        ("search", "[" * 100_000, ["too large or too deep"]),
        ("search", '{"limit": ' + "9" * 10_000 + "}", ["too large or too deep"]),
        ("search", '["tide"]', ["a list, not an object"]),
        ("search", '"tide"', ["a string, not an object"]),
        ("search", "7", ["not an object"]),
        ("search", {}, ["'query' is missing", '{"query": "..."}']),
        ("search", {"qery": "tide"}, ["no argument 'qery'", "did you mean query?"]),
        ("search", {"query": "tide", "zzz": 1}, ["no argument 'zzz'", "query, limit, order"]),
        ("search", {"query": 3}, ["'query' is 3, an integer", "must be a string"]),
        ("search", {"query": None}, ["'query' is null", "must be a string"]),
        ("search", {"query": "tide", "limit": "3"}, ["'limit' is \"3\", a string", "without quotes"]),
        ("search", {"query": "tide", "limit": True}, ["'limit' is true", "must be an integer"]),
        ("search", {"query": "tide", "limit": 2.5}, ["'limit' is 2.5", "must be an integer"]),
        ("search", {"query": "tide", "order": "newest"}, ['one of "new", "old"']),
        ("search", {"query": ["x" * 5000]}, ["must be a string"]),
        ("note", {"text": "a", "tags": ["b", 3]}, ["'tags' at [1] is 3"]),
        ("note", {"text": "a", "tags": "b"}, ["'tags' is \"b\"", "a list or null"]),
        ("weigh", {"grams": 1, "exact": 0}, ["'exact' is 0", "true or false"]),
        ("explode", {}, ["explode raised RuntimeError: the boiler is cold", "another way"]),
    ],
)
def test_a_call_that_cannot_be_done_becomes_an_error_that_says_what_to_do(name, arguments, words):
    text = ask(name, arguments)
    assert text.startswith("Error: ")
    assert [word for word in words if word not in text] == []
    assert len(text) < 600


@pytest.mark.parametrize("arguments", [{"grams": 1}, {"grams": 1.5}, {"grams": -0.0}])
def test_a_number_may_be_whole_or_odd(arguments):
    assert not ask("weigh", arguments).startswith("Error")


@pytest.mark.parametrize("arguments", [None, "", "  \n", "null", "{}", {}])
def test_missing_arguments_mean_none(arguments):
    def hello() -> str:
        """Greet."""
        return "hello"

    call = {"id": "c", "type": "function", "function": {"name": "hello", "arguments": arguments}}
    assert run_tool_call(call, Toolbox([hello]))["content"] == "hello"


def test_arguments_that_are_an_object_already_are_taken_as_they_are():
    call = {"id": "c", "function": {"name": "search", "arguments": {"query": "tide"}}}
    assert run_tool_call(call, BOX)["content"] == "tide/10/new"


@pytest.mark.parametrize(
    "call",
    [
        *(None, [], "call", {}, {"id": None}),
        *({"id": "c", "function": None}, {"id": "c", "function": {"name": None}}),
    ],
)
def test_a_malformed_call_gets_a_tool_message_all_the_same(call):
    message = run_tool_call(call, BOX)
    assert message["role"] == "tool" and isinstance(message["tool_call_id"], str)
    assert message["content"].startswith("Error: the call does not name a tool.")


def test_a_tool_can_say_in_its_own_words_what_to_do():
    def lend(book: str) -> str:
        """Lend a book."""
        raise ToolError(f"{book} is out.", "Ask again on Monday.")

    assert ask("lend", {"book": "Emma"}, Toolbox([lend])) == "Error: Emma is out. Ask again on Monday."


def test_an_exception_that_cannot_even_be_printed_is_named_by_its_type():
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    def sulk() -> str:
        """Say nothing."""
        raise Mute

    assert "sulk raised Mute" in ask("sulk", {}, Toolbox([sulk]))


def test_a_tools_own_words_that_cannot_be_printed_do_not_get_out():
    class Mute(ToolError):
        def __str__(self) -> str:
            raise RuntimeError

    def speak() -> str:
        """Speak."""
        raise Mute("silence")

    assert ask("speak", {}, Toolbox([speak])).startswith("Error: speak raised Mute.")


def test_the_sdks_own_call_is_taken_as_it_comes():
    call = ChatCompletionMessageFunctionToolCall.model_validate(tool_call("c7", "search", {"query": "tide"}))
    assert run_tool_call(call, BOX) == run_tool_call(call.model_dump(), BOX)
    assert run_tool_call(call, BOX)["tool_call_id"] == "c7"


def test_a_tool_without_end_in_itself_becomes_an_error():
    def deeper() -> str:
        """Go down."""
        return deeper()

    assert "RecursionError" in ask("deeper", {}, Toolbox([deeper]))


def test_a_json_error_inside_a_tool_is_not_taken_for_bad_arguments():
    def parse() -> Any:
        """Read a broken file."""
        return json.loads("{")

    assert "parse raised JSONDecodeError" in ask("parse", {}, Toolbox([parse]))


@pytest.mark.parametrize("way_out", [KeyboardInterrupt, SystemExit])
def test_ctrl_c_and_the_end_of_the_program_get_out(way_out):
    def stop() -> str:
        """Stop."""
        raise way_out

    with pytest.raises(way_out):
        ask("stop", {}, Toolbox([stop]))


def test_the_toolbox_gives_the_same_text_as_run_tool_call():
    call = tool_call("c", "search", {"query": "tide"})
    assert BOX.run(call) == "tide/10/new"
    assert BOX.run({"nonsense": 1}).startswith("Error: ")


# --- whatever comes ---------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(BOX.names) | TEXT | JSON
ARGUMENTS = JSON | JSON.map(lambda value: json.dumps(value)) | TEXT
NEAR = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(["query", "limit", "order", "text", "tags", "grams", "exact"], JSON),
).map(lambda value: json.dumps(value))
CALLS = JSON | st.fixed_dictionaries(
    {},
    optional={
        "id": TEXT | JSON,
        "type": JSON,
        "function": JSON | st.fixed_dictionaries({}, optional={"name": NAMES, "arguments": ARGUMENTS | NEAR}),
    },
)


@given(CALLS)
def test_any_call_gets_a_tool_message_that_can_go_over_the_wire(call):
    message = run_tool_call(call, BOX)
    assert list(message) == ["role", "tool_call_id", "content"]
    assert message["role"] == "tool" and isinstance(message["tool_call_id"], str)
    assert message["content"].encode("utf-8") or message["content"] == ""
    if isinstance(call, dict) and isinstance(call.get("id"), str):
        assert message["tool_call_id"] == call["id"]


@given(st.sampled_from(BOX.names), NEAR)
def test_a_function_only_ever_gets_what_its_signature_says(name, arguments):
    seen: list[Any] = []

    def search(query: str, limit: int = 10, order: Literal["new", "old"] = "new") -> None:
        """Note what came."""
        seen.append((query, limit, order))

    run_tool_call(tool_call("c", "search", arguments), Toolbox([search]))
    for query, limit, order in seen:
        assert type(query) is str and type(limit) is int and order in ("new", "old")
