"""The shape of a history: a plain list of Chat Completions messages, with small builders and readers.

There is no message class. A message is the dict that goes over the wire, so any history from anywhere works.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]

ROLES = ("system", "developer", "user", "assistant", "tool")
LEADING_ROLES = ("system", "developer")


# --- builders ---------------------------------------------------------------------------------------------


def system(text: str) -> Message:
    """A system message."""
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    """A user message."""
    return {"role": "user", "content": text}


def assistant(text: str | None = None, calls: Sequence[Message] = ()) -> Message:
    """An assistant message: text, tool calls, or both.

    >>> assistant("Done.")
    {'role': 'assistant', 'content': 'Done.'}
    """
    message: Message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = list(calls)
    return message


def tool_call(call_id: str, name: str, arguments: str | dict[str, Any]) -> Message:
    """One tool call. Arguments are JSON text, as the provider sends them; a dict is written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def tool_result(call_id: str, text: str) -> Message:
    """The result of one tool call."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}


# --- reading ----------------------------------------------------------------------------------------------


def text_of(content: Any) -> str:
    """The text of a message's content: a string, None, or a list of parts. Images have no text.

    >>> text_of([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "..."}}])
    'a'
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_part_text(part) for part in content)
    return ""


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        text = part.get("text") or part.get("refusal")
        return text if isinstance(text, str) else ""
    return ""


def calls_of(message: Message) -> list[Message]:
    """The tool calls of a message; an empty list when it has none.

    >>> calls_of({"role": "assistant", "content": "hi", "tool_calls": None})
    []
    """
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or message.get("role") != "assistant":
        return []
    return [call for call in calls if isinstance(call, dict)]


def function_of(call: Message) -> dict[str, Any]:
    """The function part of a call (name and arguments); an empty dict when it is missing or malformed."""
    function = call.get("function")
    return function if isinstance(function, dict) else {}


def system_length(messages: Sequence[Message]) -> int:
    """How many messages at the start are system (or developer) messages."""
    for index, message in enumerate(messages):
        if message.get("role") not in LEADING_ROLES:
            return index
    return len(messages)
