"""The checks of lab 1, the minimal loop: 1.1 here, 1.2 in `lab1_call`, 1.3 in `lab1_turn`."""

from __future__ import annotations

import math

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise, case
from labkit.checks.lab1_call import run_tool_call
from labkit.checks.lab1_turn import run_turn
from labkit.messages import Message, assistant, system, tool_call, tool_result, user

estimate_tokens = Exercise("1.1", "labkit.tokens:estimate_tokens")

CHAT = [system("Be very brief."), user("How many bridges are here?"), assistant("Seven.")]
LOOK = tool_call("c1", "read_file", '{"path": "notes.md"}')


@estimate_tokens.idea(
    "text",
    "The text of every message counts",
    rule="The whole history is sent at each request, so every message in it counts, whatever its role.",
    step="Add up len(message['content']) over all messages, then divide.",
    cases=[CHAT, [user("Four")], []],  # even lengths: how to round is the next idea
)
def text_counts(t: Attempt, history: list[Message]) -> None:
    came = t.call(history)
    if history and came == math.ceil(sum(len(str(message)) for message in history) / 2):
        t.fail(  # a well-known mistake gets its own words
            str(t.answer(history)),
            f"{came}: half as many tokens as its str() has characters",
            rule="The model reads the text of a message, not Python's way of writing a dict.",
            step="Count the text of message['content'], not str(message).",
        )
    t.expect(came == t.answer(history), str(t.answer(history)), came)


@estimate_tokens.idea(
    "rounds-up",
    "A started token is a token: the estimate is rounded up",
    rule="No text costs nothing: an estimate that rounds down promises room that is not there.",
    step="Round up once, at the end: math.ceil, or -(-a // b).",
    cases=[[user("?")], [user("Hello")], [user("abc"), user("abc")]],
    shrink=False,
)
def rounds_up(t: Attempt, history: list[Message]) -> None:
    t.equal(t.call(history), t.answer(history))


@estimate_tokens.idea(
    "null-content",
    "A message that only calls tools has content None, which is no characters",
    rule="content may be None (null on the wire): an assistant message that calls tools has nothing to say.",
    step="Take the text with text_of(message.get('content')): it gives \"\" for None.",
    cases=[[user("Read my notes."), assistant(None, [tool_call("c1", "look", "")])]],
)
def null_content(t: Attempt, history: list[Message]) -> None:
    t.equal(t.call(history), t.answer(history))


@estimate_tokens.idea(
    "arguments",
    "The arguments of tool calls are sent too, so they count",
    rule="The arguments of a call are text that the model wrote; they go out again with every later request.",
    step="Add len(call['function']['arguments']) for each call in message.get('tool_calls') or [].",
    cases=[
        [user("Read my notes."), assistant(None, [LOOK]), tool_result("c1", "Buy rope.")],
        [assistant("Both:", [LOOK, tool_call("c2", "read_file", '{"path": "hello.txt"}')])],
    ],
)
def arguments_count(t: Attempt, history: list[Message]) -> None:
    t.equal(t.call(history), t.answer(history))


@estimate_tokens.idea(
    "parts",
    "Content may be a list of parts: the text in them counts",
    rule="Providers take content as a list of parts; only the text of the text parts is characters.",
    step="text_of(content) handles all three forms: text, None, and a list of parts.",
    cases=[
        [
            {
                "role": "user",
                "content": [{"type": "text", "text": "What is "}, {"type": "text", "text": "this?"}],
            }
        ]
    ],
)
def parts_count(t: Attempt, history: list[Message]) -> None:
    t.equal(t.call(history), t.answer(history))


@estimate_tokens.idea(
    "divisor",
    "chars_per_token is a setting",
    rule="Lab 5 divides by 4: what the caller asks for is used, not the default.",
    step="Divide by the argument chars_per_token.",
    cases=[case(CHAT, chars_per_token=4), case(CHAT, chars_per_token=1)],
)
def divisor_is_used(t: Attempt, history: list[Message], chars_per_token: int) -> None:
    t.equal(
        t.call(history, chars_per_token=chars_per_token), t.answer(history, chars_per_token=chars_per_token)
    )


EXERCISES = [estimate_tokens, run_tool_call, run_turn]
