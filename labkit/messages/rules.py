"""What a provider would reject: `problems` names every broken rule of a history.

The rules are those of the Chat Completions API (https://platform.openai.com/docs/api-reference/chat) and
of the services that imitate it, some of which are stricter about a call's arguments.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from labkit.messages.pairing import Pairing, pair
from labkit.messages.shape import ROLES, Message, calls_of, function_of

# The content parts there are. Each holds its matter under its type's own name: the two of words a text.
PART_TYPES = ("text", "image_url", "input_audio", "file", "refusal")
PARTS_OF_WORDS = ("text", "refusal")


@dataclass(frozen=True)
class Problem:
    """One broken rule: the message's index (0 in an empty history), the rule's short name, a sentence."""

    index: int
    rule: str
    text: str

    def __str__(self) -> str:
        return self.text


def problems(messages: Sequence[Message]) -> list[Problem]:
    """What a provider would reject in this history, in order; an empty list when it would accept it.

    Rules: `empty-history`, `not-a-message`, `unknown-role`, `missing-content`, `bad-content`,
    `empty-tool-calls`, `misplaced-calls`, `not-a-call`, `call-without-id`, `call-without-type`,
    `call-without-name`, `bad-arguments`, `duplicate-id`, `missing-result`, `result-without-id`,
    `result-without-call`, `repeated-result`, `misplaced-result`.

    >>> problems([{"role": "tool", "tool_call_id": "a", "content": "ok"}])[0].text
    'message 0: tool result a answers no call before it'
    """
    if not messages:
        return [Problem(0, "empty-history", "the history is empty: a request needs at least one message")]
    readable = [message if isinstance(message, dict) else {} for message in messages]
    found = [
        Problem(index, rule, f"message {index}: {text}")
        for index, message in enumerate(messages)
        for rule, text in _message_problems(message)
    ]
    found += _pairing_problems(readable, pair(readable))
    return sorted(found, key=lambda problem: problem.index)


def _message_problems(message: Any) -> Iterator[tuple[str, str]]:
    """Rules that concern one message alone."""
    if not isinstance(message, dict):
        yield "not-a-message", f"is {_no_dict(message, 'with a role')}"
        return
    role = message.get("role")
    if role not in ROLES:
        yield "unknown-role", f"has the role {role!r}; roles are {', '.join(ROLES)}"
    if role == "tool" and not _is_id(message.get("tool_call_id")):
        yield "result-without-id", "tool result has no tool_call_id that is text"
    yield from _content_problems(message)
    if "tool_calls" in message:
        yield from _calls_problems(message)


def _no_dict(value: Any, what: str) -> str:
    way_out = " (normalise() makes one of it)" if hasattr(value, "model_dump") else ""
    return f"a {type(value).__name__}, not a dict {what}{way_out}"


def _is_id(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value)


def _content_problems(message: Message) -> Iterator[tuple[str, str]]:
    content = message.get("content")
    if content is None:
        if not may_lack_content(message):
            yield "missing-content", f"a {message.get('role')} message needs content; it is null or missing"
    elif isinstance(content, list):
        if not content:
            yield "bad-content", "has an empty list of content parts"
        for position, part in enumerate(content):
            if not part_is_sound(part):
                yield "bad-content", f"content part {position} has no known type, or not what belongs to it"
    elif not isinstance(content, str):
        yield "bad-content", f"content is a {type(content).__name__}: it must be text or a list of parts"


def may_lack_content(message: Message) -> bool:
    """Only an assistant message that says something in another way may do without content."""
    return message.get("role") == "assistant" and bool(message.get("tool_calls") or message.get("refusal"))


def part_is_sound(part: Any) -> bool:
    if not isinstance(part, dict) or part.get("type") not in PART_TYPES:
        return False
    held = part.get(part["type"])
    return isinstance(held, str) if part["type"] in PARTS_OF_WORDS else bool(held)


def _calls_problems(message: Message) -> Iterator[tuple[str, str]]:
    calls = message["tool_calls"]
    if not isinstance(calls, list) or not calls:
        yield "empty-tool-calls", "tool_calls is there but holds no call: leave the key out"
        return
    if message.get("role") != "assistant":
        yield "misplaced-calls", f"a {message.get('role')} message cannot make tool calls"
    seen: set[str] = set()
    for position, call in enumerate(calls):
        if not isinstance(call, dict):
            yield "not-a-call", f"tool call {position} is {_no_dict(call, 'with a function')}"
            continue
        call_id = call.get("id")
        if _is_id(call_id):
            if call_id in seen:
                yield "duplicate-id", f"two tool calls have the id {call_id}"
            seen.add(call_id)
        yield from _call_problems(call, f"tool call {position}")


def _call_problems(call: Message, name: str) -> Iterator[tuple[str, str]]:
    function = function_of(call)
    if not _is_id(call.get("id")):
        yield "call-without-id", f"{name} has no id"
    if call.get("type") != "function":
        yield "call-without-type", f"{name} does not have the type function"
    if not isinstance(function.get("name"), str) or not function["name"]:
        yield "call-without-name", f"{name} names no function"
    if not is_json_object(function.get("arguments")):
        yield "bad-arguments", f"the arguments of {name} are not a JSON object as text"


def is_json_object(text: Any) -> bool:
    """Whether `text` is a string that holds a JSON object. NaN and Infinity are not JSON.

    >>> is_json_object('{"path": "a.md"}'), is_json_object("12"), is_json_object(None)
    (True, False, False)
    """
    if not isinstance(text, str):
        return False
    try:
        return isinstance(_JSON.decode(text), dict)
    except (ValueError, RecursionError):  # the answer: no JSON, or nested too deep to be read
        return False


def _not_json(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_JSON = json.JSONDecoder(parse_constant=_not_json)


def _pairing_problems(messages: Sequence[Message], pairing: Pairing) -> Iterator[Problem]:
    """Rules that concern calls and results together."""
    owner_of = pairing.owners()
    block = -1  # the assistant message whose results may stand here
    for index, message in enumerate(messages):
        if message.get("role") != "tool":
            block = index
            continue
        name = f"message {index}: tool result {message.get('tool_call_id')}"
        if index in pairing.repeated:
            yield Problem(index, "repeated-result", f"{name} answers a call that has its result already")
        elif index in pairing.orphans:
            yield Problem(index, "result-without-call", f"{name} answers no call before it")
        elif owner_of[index] != block:
            text = f"{name} does not stand directly after its call in message {owner_of[index]}"
            yield Problem(index, "misplaced-result", text)
    for index, results in pairing.results.items():
        for call, result in zip(calls_of(messages[index]), results, strict=True):
            if result is None:
                text = f"message {index}: tool call {call.get('id')} has no result before the next message"
                yield Problem(index, "missing-result", text)
