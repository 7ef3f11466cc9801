"""Values in words: short, on one line, and the difference of two of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from labkit.messages import text_of

WIDTH = 100  # characters of a value shown on one line
_ITEMS = 40  # items of a list that are looked at: more would not fit on the line anyway
_HISTORY_LINES = 12  # messages of a history that are listed before the rest is counted


def is_message(value: object) -> bool:
    """Whether a value looks like a message of a history."""
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def is_history(value: object) -> bool:
    """Whether a value looks like a history: a list of messages, and not an empty one."""
    return isinstance(value, list) and bool(value) and all(is_message(item) for item in value)


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "message"), count(3, "message")
    ('1 message', '3 messages')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def cut_short(text: str, width: int = WIDTH) -> str:
    """A text on one line, its middle replaced by dots when it is long."""
    line = " ".join(text.split("\n"))
    if len(line) <= width:
        return line
    head = width * 2 // 3
    return f"{line[:head]} … {line[-(width - head - 3) :]}"


def show(value: Any, width: int = WIDTH) -> str:
    """One line for any value; never raises, however odd the value.

    >>> show([{"role": "user", "content": "Hello"}])
    "[user 'Hello']"
    """
    try:
        return cut_short(_shown(value), width)
    except Exception:  # a learner's object may raise in its own __repr__
        return f"a {type(value).__name__} that cannot be shown"


def _shown(value: Any) -> str:
    if is_message(value):
        return message_line(value)
    if isinstance(value, dict) and {"id", "function"} <= value.keys():
        return f"call {_call_line(value)}"
    if isinstance(value, list):
        dots = ", ..." if len(value) > _ITEMS else ""
        return "[" + ", ".join(_shown(item) for item in value[:_ITEMS]) + dots + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(_shown(item) for item in value) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, float | int | str | bytes | bool | Mapping) or value is None:
        return repr(value)
    return _plain(value)


def _plain(value: Any) -> str:
    """An object's repr without its address, which would differ at each run."""
    name = getattr(value, "__qualname__", None) or getattr(value, "name", None)
    shown = repr(value)
    return f"{type(value).__name__} {name}" if " at 0x" in shown and name else shown.split(" at 0x")[0]


def message_line(message: Mapping[str, Any], width: int = 60) -> str:
    """A message on one line: role, text, calls, and anything else it carries.

    >>> message_line({"role": "tool", "tool_call_id": "c1", "content": "12 files"})
    "tool '12 files' tool_call_id='c1'"
    """
    parts = [str(message.get("role"))]
    if "content" in message:
        content = message["content"]
        parts.append(repr(cut_short(content, width) if isinstance(content, str) else _text(content)))
    parts += [_call_line(call) for call in message.get("tool_calls") or []]
    rest = {key: value for key, value in message.items() if key not in ("role", "content", "tool_calls")}
    parts += [f"{key}={cut_short(repr(value), width)}" for key, value in rest.items()]
    return " ".join(parts)


def _text(content: Any) -> Any:
    return content if content is None else text_of(content) or content


def _call_line(call: Any) -> str:
    try:
        function = call["function"]
        return f"{function['name']}({cut_short(str(function['arguments']), 40)}) id={call.get('id')!r}"
    except (KeyError, TypeError, AttributeError):
        return cut_short(repr(call), 60)


def history_lines(history: Sequence[Mapping[str, Any]], marked: int | None = None) -> list[str]:
    """A history, one message a line, numbered from 0; an arrow stands at the marked message."""
    lines = [
        f"{'->' if index == marked else '  '} {index:>2} {message_line(message)}"
        for index, message in enumerate(history[:_HISTORY_LINES])
    ]
    rest = len(history) - _HISTORY_LINES
    return [*lines, f"      and {count(rest, 'message')} more"] if rest > 0 else lines


def difference(expected: Any, came: Any) -> tuple[str, str]:
    """What was expected and what came, in words that point at the first difference.

    >>> difference([1, 2], [1, 3])
    ('at [1]: 2', 'at [1]: 3')
    >>> difference(2, 2.0)
    ('2 (int)', '2.0 (float)')
    """
    if type(expected) is not type(came):
        return f"{show(expected)} ({_kind(expected)})", f"{show(came)} ({_kind(came)})"
    if isinstance(expected, list | tuple):
        return _list_difference(expected, came)
    if isinstance(expected, dict):
        return _dict_difference(expected, came)
    if isinstance(expected, str):
        return _text_difference(expected, came)
    return show(expected), show(came)


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _list_difference(expected: Sequence[Any], came: Sequence[Any]) -> tuple[str, str]:
    noun = "message" if is_history(expected) or is_history(came) else "item"
    if len(expected) != len(came):
        return f"{count(len(expected), noun)}: {show(expected)}", f"{count(len(came), noun)}: {show(came)}"
    for index, (one, other) in enumerate(zip(expected, came, strict=True)):
        if one != other:
            return f"at [{index}]: {show(one)}", f"at [{index}]: {show(other)}"
    return show(expected), show(came)


def _dict_difference(expected: dict[Any, Any], came: dict[Any, Any]) -> tuple[str, str]:
    keys = [key for key in {**expected, **came} if expected.get(key, KeyError) != came.get(key, KeyError)]
    one, other = ({key: value[key] for key in keys if key in value} for value in (expected, came))
    return _fields(one, keys), _fields(other, keys)


def _fields(part: dict[Any, Any], keys: list[Any]) -> str:
    return ", ".join(f"{key}: {show(part[key])}" if key in part else f"no {key}" for key in keys) or "{}"


def _text_difference(expected: str, came: str) -> tuple[str, str]:
    if max(len(expected), len(came)) <= WIDTH:
        return repr(expected), repr(came)
    start = next((i for i, (a, b) in enumerate(zip(expected, came, strict=False)) if a != b), -1)
    start = min(len(expected), len(came)) if start < 0 else start
    near = slice(max(0, start - 20), start + 50)
    return tuple(  # type: ignore[return-value]  # two texts in, two texts out
        f"{len(text):,} characters, from {near.start:,}: {json.dumps(text[near], ensure_ascii=False)}"
        for text in (expected, came)
    )
