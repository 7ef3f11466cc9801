"""A reply before it goes on the wire: what the rules want to say, cut to what the request allows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from labkit.messages import Message, calls_of, tool_call


@dataclass(frozen=True)
class Call:
    """A tool call without its id: the tool's name and its arguments as JSON text."""

    name: str
    arguments: str


def call(name: str, **arguments: Any) -> Call:
    """A call with arguments as JSON text.

    >>> call("read_file", path="a.md").arguments
    '{"path": "a.md"}'
    """
    return Call(name, json.dumps(arguments, ensure_ascii=False))


@dataclass(frozen=True)
class Draft:
    """What the understudy says and which tools it calls. `finish` is None until the reply is measured."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    refusal: str | None = None
    finish: str | None = None

    @property
    def finish_reason(self) -> str:
        return self.finish or ("tool_calls" if self.calls else "stop")


def stop_at(draft: Draft, stop: str | Sequence[str] | None) -> Draft:
    """The draft with its text ended before the first of the stop sequences."""
    marks = [stop] if isinstance(stop, str) else list(stop or ())
    places = [draft.text.find(mark) for mark in marks if mark and mark in draft.text]
    return replace(draft, text=draft.text[: min(places)], calls=()) if places else draft


def fit(draft: Draft, max_tokens: int | None, count: Callable[[str], int]) -> Draft:
    """The draft within `max_tokens` tokens; cut where they end, also in the middle of a call's arguments."""
    if max_tokens is None or draft_tokens(draft, count) <= max_tokens:
        return draft
    text = cut_text(draft.text, max_tokens, count)
    left = max_tokens - count(text)
    kept: list[Call] = []
    for wanted in draft.calls if text == draft.text else ():
        left -= count(wanted.name)
        if left < 0:
            break
        arguments = cut_text(wanted.arguments, left, count)
        left -= count(arguments)
        kept.append(Call(wanted.name, arguments))
        if arguments != wanted.arguments:
            break
    return replace(draft, text=text, calls=tuple(kept), finish="length")


def draft_tokens(draft: Draft, count: Callable[[str], int]) -> int:
    """The tokens of a draft: text, tool names and arguments."""
    words = sum(count(each.name) + count(each.arguments) for each in draft.calls)
    return count(draft.text) + count(draft.refusal or "") + words


def cut_text(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """The longest start of `text` with at most `tokens` tokens (found by halving, so nearly the longest)."""
    if count(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle]) <= tokens else (low, middle - 1)
    return text[:low]


def with_ids(calls: Iterable[Call], messages: Sequence[Message]) -> list[Message]:
    """The calls in wire form, numbered on from the highest `call_0000` number that the request holds.

    >>> with_ids([Call("list_files", "{}")], [])
    [{'id': 'call_0001', 'type': 'function', 'function': {'name': 'list_files', 'arguments': '{}'}}]
    """
    numbers = [0]
    for message in messages:
        ids = [str(each.get("id")) for each in calls_of(message)]
        numbers += [int(found[1]) for found in map(re.compile(r"call_(\d{1,9})").fullmatch, ids) if found]
    first = max(numbers) + 1
    return [
        tool_call(f"call_{first + place:04d}", each.name, each.arguments) for place, each in enumerate(calls)
    ]


def tool_names(body: Mapping[str, Any]) -> list[str]:
    """The names of the tools that a request offers, unless its tool_choice forbids them all."""
    if body.get("tool_choice") == "none":
        return []
    return [tool["function"]["name"] for tool in body.get("tools") or []]
