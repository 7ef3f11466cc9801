"""The settings of a request beside its messages and tools: each of the right type and size, or refused.

The words and codes follow the real service's. A setting that the understudy has no use for (temperature)
is checked like the others, so that a mistake shows here and not first at a service that costs money. A name
that nobody knows is let through: other services have settings of their own.
"""

from __future__ import annotations

from typing import Any

from labkit.understudy.refusals import Refusal, named

WHOLE = {"n": (1, 128), "max_tokens": (1, None), "max_completion_tokens": (1, None), "seed": (None, None)}
DECIMAL = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
}
"""Least and greatest value of each number."""
OTHER = {
    "stream": (bool, "a boolean"),
    "parallel_tool_calls": (bool, "a boolean"),
    "stream_options": (dict, "an object"),
    "response_format": (dict, "an object"),
}
MOST_STOPS = 4


def check_settings(body: dict[str, Any]) -> None:
    """Raise the Refusal for the first setting of a request body that is not as it must be."""
    for name, (least, most) in WHOLE.items():
        _check_number(name, body.get(name), int, "an integer", least, most)
    for name, (least, most) in DECIMAL.items():
        _check_number(name, body.get(name), (int, float), "a decimal", least, most)
    for name, (kind, expected) in OTHER.items():
        if body.get(name) is not None and not isinstance(body[name], kind):
            raise _wrong_type(name, expected, body[name])
    _check_stop(body.get("stop"))
    if body.get("stream_options") is not None and not body.get("stream"):
        text = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise Refusal(400, text, param="stream_options")
    if body.get("tools"):
        _check_choice(body.get("tool_choice"), [tool["function"]["name"] for tool in body["tools"]])


def _check_number(name: str, value: Any, kind: Any, expected: str, least: Any, most: Any) -> None:
    if value is None:
        return
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _wrong_type(name, expected, value)
    word = expected.split()[-1]
    if least is not None and not value >= least:  # so that NaN is refused too
        text = f"{word} below minimum value. Expected a value >= {least}, but got {value} instead."
        raise Refusal(400, f"Invalid '{name}': {text}", param=name, code=f"{word}_below_min_value")
    if most is not None and value > most:
        text = f"{word} above maximum value. Expected a value <= {most}, but got {value} instead."
        raise Refusal(400, f"Invalid '{name}': {text}", param=name, code=f"{word}_above_max_value")


def _check_stop(stop: Any) -> None:
    if stop is None or isinstance(stop, str):
        return
    if not isinstance(stop, list):
        raise _wrong_type("stop", "a string or an array of strings", stop)
    if len(stop) > MOST_STOPS:
        text = (
            f"Invalid 'stop': array too long. Expected an array with maximum length {MOST_STOPS}, "
            f"but got an array with length {len(stop)} instead."
        )
        raise Refusal(400, text, param="stop", code="array_above_max_length")
    for place, mark in enumerate(stop):
        if not isinstance(mark, str):
            raise _wrong_type(f"stop[{place}]", "a string", mark)


def _check_choice(choice: Any, offered: list[str]) -> None:
    if choice in (None, "none", "auto", "required"):
        return
    if isinstance(choice, str):
        text = f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'."
        raise Refusal(400, text, param="tool_choice", code="invalid_value")
    if not isinstance(choice, dict):
        raise _wrong_type("tool_choice", "a string or an object", choice)
    if choice.get("type", "function") != "function":
        text = f"Invalid value: '{choice['type']}'. Supported values are: 'function'."
        raise Refusal(400, text, param="tool_choice.type", code="invalid_value")
    function = choice.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str):
        text = "Missing required parameter: 'tool_choice.function.name'."
        raise Refusal(400, text, param="tool_choice.function.name", code="missing_required_parameter")
    if name not in offered:
        raise Refusal(400, f"Tool choice '{name}' not found in 'tools' parameter.", param="tool_choice")


def _wrong_type(name: str, expected: str, value: Any) -> Refusal:
    text = f"Invalid type for '{name}': expected {expected}, but got {named(value)} instead."
    return Refusal(400, text, param=name, code="invalid_type")
