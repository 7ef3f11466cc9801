"""The check of exercise 1.2: one tool call becomes one tool message, whatever it holds."""

from __future__ import annotations

import sys
from typing import Any

from labkit.checks.attempt import Attempt
from labkit.checks.broken import Broken
from labkit.checks.ideas import Exercise, case
from labkit.checks.show import show
from labkit.messages import Message, tool_call
from labkit.tools import Toolbox

run_tool_call = Exercise("1.2", "labkit.tools:run_tool_call")


# -- tools to call


def greet(name: str, loud: bool = False) -> str:
    """Greet somebody."""
    return f"HELLO {name.upper()}" if loud else f"Hello {name}"


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def print_page(page: int) -> str:
    """Print one page of the article."""
    raise RuntimeError(f"page {page} is jammed: open the lid")


def leave() -> str:
    """End the program."""
    sys.exit("bye")


TOOLS = Toolbox([greet, add, print_page, leave])


# -- what the ideas look at


def content_of(came: Any) -> Any:
    """The content of the answer; a string that was returned bare counts as its content here."""
    return came.get("content") if isinstance(came, dict) else came


def expect_error(t: Attempt, call: Message, *any_of: str, rule: str = "", step: str = "") -> None:
    """The answer must be a tool message whose text begins with "Error" and holds one of the words."""
    came = t.call(call, TOOLS)
    content = content_of(came)
    t.expect(
        isinstance(content, str) and content.startswith("Error"),
        'a tool message whose content starts with "Error: "',
        came,
    )
    words = " or ".join(map(repr, any_of))
    t.expect(
        not any_of or any(word.lower() in content.lower() for word in any_of),
        f"an error text that says {words}",
        came,
        rule=rule or "The model reads this text and nothing else. Without the reason it can only guess.",
        step=step
        or "Put the exception's own text behind the word: f'Error: {error}', or explain(error, name).",
    )


# -- the ideas, in order


@run_tool_call.idea(
    "message",
    "The result comes back as a tool message that names its call",
    rule="A result is a message of the history like any other: a dict with role, tool_call_id and content.",
    step='Return {"role": "tool", "tool_call_id": call_id, "content": content}.',
    cases=[
        case(tool_call("call_7", "greet", '{"name": "Ada"}')),
        case(tool_call("call_8", "greet", '{"name": "Lin"}')),
    ],
)
def is_a_message(t: Attempt, call: Message) -> None:
    came, expected = t.call(call, TOOLS), t.answer(call, TOOLS)
    if isinstance(came, str):
        t.fail(
            show(expected),
            f"{came!r}: a bare string",
            rule="A string cannot stand in a history. The message around it says which call it answers.",
            step='Wrap it: {"role": "tool", "tool_call_id": ..., "content": the string}.',
        )
    if isinstance(came, dict) and came.get("tool_call_id") != call["id"]:
        t.fail(
            f"tool_call_id: {call['id']!r}",
            f"tool_call_id: {came['tool_call_id']!r}"
            if "tool_call_id" in came
            else f"no tool_call_id: {show(came)}",
            rule="The id ties a result to its call. Without it nobody can tell which call was answered, "
            "and a provider rejects the history.",
            step="Take the id from the call you were given: call['id'].",
        )
    t.equal(came, expected)


@run_tool_call.idea(
    "text",
    "Content is text, whatever the tool returned",
    rule="Content goes over the wire as text. A provider does not take a number there.",
    step="Let the tool's own run make the text: toolbox[name].run(arguments). Or wrap the value in str(...).",
    cases=[case(tool_call("c1", "add", '{"a": 2, "b": 3}'))],
)
def is_text(t: Attempt, call: Message) -> None:
    t.equal(content_of(t.call(call, TOOLS)), "5")


@run_tool_call.idea(
    "json",
    "Arguments are JSON, and never run as Python",
    rule="Arguments are text from outside. JSON is only read; eval would run whatever a model "
    "(or a file that it has read) writes there.",
    step="Read them with json.loads, or with read_arguments(raw, found).",
    cases=[
        case(tool_call("c1", "greet", '{"name": "Ada", "loud": true}')),
        case(tool_call("c2", "greet", '{"name": "A" + "da"}')),
        case(tool_call("c3", "greet", "{'name': 'Ada'}")),
    ],
)
def is_json(t: Attempt, call: Message) -> None:
    text, expected = call["function"]["arguments"], t.answer(call, TOOLS)
    try:
        came = t.call(call, TOOLS)
    except Broken as broken:
        if isinstance(broken.error, NameError) and "'true'" in str(broken.error):
            t.fail(show(expected), f"{broken.came}\nJSON's true was read as a Python name")
        if broken.kind == "raised" and content_of(expected).startswith("Error"):
            return  # not taken for Python; that nothing may get out is an idea of its own, below
        raise
    if content_of(expected).startswith("Error"):
        t.expect(
            isinstance(content_of(came), str) and content_of(came).startswith("Error"),
            f'a content that starts with "Error: ", since {text} is not JSON',
            came,
        )
    else:
        t.equal(content_of(came), content_of(expected))


@run_tool_call.idea(
    "raises",
    "A tool that raises gives a result too",
    rule="An exception that gets out ends the turn, and leaves the call unanswered in the history. "
    "Made into a result, it is read by the model, which can try another way.",
    step="Run the tool inside try, and make the content in except Exception as error.",
    cases=[case(tool_call("c1", "print_page", '{"page": 3}'))],
)
def a_tool_that_raises(t: Attempt, call: Message) -> None:
    expect_error(t, call, "jammed")


@run_tool_call.idea(
    "unknown-tool",
    "A tool that does not exist is an error the model can mend",
    rule="Models make up tool names now and then. That must not end the turn.",
    step="Look the tool up inside the try: toolbox[name] raises, and the exception's text lists the tools.",
    cases=[case(tool_call("c1", "great", '{"name": "Ada"}'))],
)
def an_unknown_tool(t: Attempt, call: Message) -> None:
    expect_error(
        t,
        call,
        "greet",
        "print_page",
        rule="The model does better next time only if it is told which names there are.",
        step="The text of the exception that toolbox[name] raises has the list: use it.",
    )


@run_tool_call.idea(
    "bad-json",
    "Arguments that are not JSON are an error the model can mend",
    rule="A model writes its arguments letter by letter, and now and then a bracket is missing.",
    step="Read the arguments inside the try as well.",
    cases=[case(tool_call("c1", "greet", '{"name": "Ada"')), case(tool_call("c2", "greet", "Ada"))],
)
def arguments_not_json(t: Attempt, call: Message) -> None:
    expect_error(t, call)


@run_tool_call.idea(
    "not-an-object",
    "JSON that is no object, or has the wrong keys, is such an error too",
    rule='A tool is called by its parameters\' names, so its arguments are one JSON object: {"name": value}.',
    step="Do all this inside the try: toolbox[name].run(arguments) refuses what does not fit.",
    cases=[
        case(tool_call("c1", "greet", '["Ada"]')),
        case(tool_call("c2", "greet", '"Ada"')),
        case(tool_call("c3", "greet", "7")),
        case(tool_call("c4", "greet", '{"nmae": "Ada"}')),
        case(tool_call("c5", "add", '{"a": 2}')),
    ],
)
def arguments_not_an_object(t: Attempt, call: Message) -> None:
    expect_error(t, call)


@run_tool_call.idea(
    "lets-go",
    "Only exceptions become results: Ctrl-C and sys.exit still get out",
    rule="Ctrl-C belongs to the person at the keyboard, not to the model. It is no Exception, but a bare "
    "except (or except BaseException) swallows it all the same.",
    step="Write except Exception as error.",
    cases=[case(tool_call("c1", "leave", "{}"))],
)
def lets_the_program_end(t: Attempt, call: Message) -> None:
    t.raises(SystemExit, call, TOOLS)
