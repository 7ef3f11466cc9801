"""What the server refuses, with the words and codes of the real service.

`labkit.messages.problems` decides whether a history fits; this module says it as the OpenAI API says it (its
spelling of "preceeding" included), so that a learner who meets the error again elsewhere knows it.
The texts are those that users report from https://api.openai.com/v1/chat/completions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from labkit.messages import Message, Problem, calls_of, problems
from labkit.understudy.models import MODELS


class Refusal(Exception):
    """An HTTP error answer: status, the error object, and headers."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
        self.headers = headers or {}


NOT_JSON = (
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP "
    "library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)"
)
NO_CALL = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
    "with 'tool_calls'."
)
NO_RESULT = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: "
)
EMPTY = "empty array. Expected an array with minimum length 1, but got an empty array instead."
LONGEST_NAME = 64
ROLES = "Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."


def check_body(body: Any) -> None:
    """Raise the Refusal that the real service would answer to this request body, size apart."""
    if not isinstance(body, dict):
        raise Refusal(400, NOT_JSON)
    _check_model(body.get("model"))
    _check_tools(body)
    if "messages" not in body:
        raise _missing("messages")
    messages = body["messages"]
    if not isinstance(messages, list):
        text = (
            f"Invalid type for 'messages': expected an array of objects, but got {named(messages)} instead."
        )
        raise Refusal(400, text, param="messages", code="invalid_type")
    found = problems(messages)
    if found:
        raise history_refusal(messages, found[0])


def _check_model(model: Any) -> None:
    if not isinstance(model, str) or not model:
        raise Refusal(400, "you must provide a model parameter")
    if model not in MODELS:
        text = f"The model `{model}` does not exist or you do not have access to it."
        raise Refusal(404, text, code="model_not_found")


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools")
    if tools is None:
        if body.get("tool_choice") is not None:
            text = (
                "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
            )
            raise Refusal(400, text, param="tool_choice")
        return
    if not isinstance(tools, list):
        text = f"Invalid type for 'tools': expected an array of objects, but got {named(tools)} instead."
        raise Refusal(400, text, param="tools", code="invalid_type")
    if not tools:
        raise Refusal(400, f"Invalid 'tools': {EMPTY}", param="tools", code="empty_array")
    for index, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict):
            raise _missing(f"tools[{index}].function")
        name, where = function.get("name"), f"tools[{index}].function.name"
        if not isinstance(name, str) or not name:
            raise _missing(where)
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", name):
            text = (
                f"Invalid '{where}': string does not match pattern. "
                "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            )
            raise Refusal(400, text, param=where, code="invalid_value")
        if len(name) > LONGEST_NAME:
            text = (
                f"Invalid '{where}': string too long. Expected a string with maximum length {LONGEST_NAME}, "
                f"but got a string with length {len(name)} instead."
            )
            raise Refusal(400, text, param=where, code="string_above_max_length")
        parameters, where = function.get("parameters"), f"tools[{index}].function.parameters"
        if parameters is not None and not isinstance(parameters, dict):
            text = f"Invalid type for '{where}': expected an object, but got {named(parameters)} instead."
            raise Refusal(400, text, param=where, code="invalid_type")


def _missing(what: str) -> Refusal:
    return Refusal(
        400, f"Missing required parameter: '{what}'.", param=what, code="missing_required_parameter"
    )


def named(value: Any) -> str:
    """A JSON value by its type, with its article."""
    names = {
        str: "a string",
        dict: "an object",
        list: "an array",
        type(None): "null",
        bool: "a boolean",
        int: "an integer",
    }
    return names.get(type(value), "a decimal number")


def history_refusal(messages: Sequence[Message], problem: Problem) -> Refusal:
    """The service's own words for one problem of a history; the problem's text where it has none."""
    index = problem.index
    match problem.rule:
        case "empty-history":
            return Refusal(400, f"Invalid 'messages': {EMPTY}", param="messages", code="empty_array")
        case "result-without-call" | "repeated-result":
            return Refusal(400, NO_CALL, param=f"messages.[{index}].role")
        case "misplaced-result":
            return Refusal(
                400, NO_RESULT + str(messages[index].get("tool_call_id")), param=f"messages.[{index}].role"
            )
        case "missing-result":
            ids, after = _unanswered(messages, index)
            return Refusal(400, NO_RESULT + ", ".join(ids), param=f"messages.[{after}].role")
        case "missing-content":
            text = "Invalid value for 'content': expected a string, got null."
            return Refusal(400, text, param=f"messages.[{index}].content")
        case "empty-tool-calls":
            where = f"messages[{index}].tool_calls"
            return Refusal(400, f"Invalid '{where}': {EMPTY}", param=where, code="empty_array")
        case "unknown-role":
            text = f"Invalid value: '{messages[index].get('role')}'. {ROLES}"
            return Refusal(400, text, param=f"messages[{index}].role", code="invalid_value")
    return Refusal(400, f"Invalid value in 'messages': {problem.text}.", param=f"messages.[{index}]")


def _unanswered(messages: Sequence[Message], index: int) -> tuple[list[str], int]:
    """The ids of message `index` that no tool message directly after it answers, and where the next message
    stands.
    """
    after = index + 1
    answered = set()
    while after < len(messages) and messages[after].get("role") == "tool":
        answered.add(messages[after].get("tool_call_id"))
        after += 1
    return [
        str(call.get("id")) for call in calls_of(messages[index]) if call.get("id") not in answered
    ], after


def check_size(model: str, in_messages: int, in_tools: int, max_tokens: int | None) -> None:
    """Raise 400 `context_length_exceeded` when request and wished-for reply do not fit the window."""
    window, total = MODELS[model], in_messages + in_tools
    start = f"This model's maximum context length is {window} tokens. However, "
    if total > window:
        parts = f" ({in_messages} in the messages, {in_tools} in the functions)" if in_tools else ""
        what = "messages or functions" if in_tools else "messages"
        text = f"your messages resulted in {total} tokens{parts}. Please reduce the length of the {what}."
    elif max_tokens is not None and total + max_tokens > window:
        text = (
            f"you requested {total + max_tokens} tokens ({total} in the messages, {max_tokens} in the "
            "completion). Please reduce the length of the messages or completion."
        )
    else:
        return
    raise Refusal(400, start + text, param="messages", code="context_length_exceeded")
