"""What has been counted already: single texts, and the history that was asked for last.

Both exist so that no text is counted twice. They hold numbers and references, never a copy of a text.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from labkit.messages import Message


class TextLedger:
    """The counts of the texts met last, of at most `characters` characters together: memory stays bounded.

    They are kept in two halves. When the new half is full, it becomes the old one, and what was old is
    forgotten, unless it has been met again since. No text is removed by itself, so threads need no lock here:
    at worst two count the same text.
    """

    def __init__(self, characters: int = 8_000_000) -> None:
        self._half = self._room = characters // 2
        self._new: dict[str, int] = {}
        self._old: dict[str, int] = {}

    def count(self, text: str, count: Callable[[str], int]) -> int:
        """The count of this text, from memory or by `count`."""
        known = self._new.get(text)
        if known is None:
            known = self._old.get(text)
            if known is None:
                known = count(text)
            if len(text) <= self._half:
                if len(text) > self._room:
                    self._old, self._new, self._room = self._new, {}, self._half
                self._new[text] = known
                self._room -= len(text)
        return known


class HistoryLedger:
    """The running total of the history asked for last, so that only its new messages are counted.

    Which messages are new? Comparing all by value before each request would itself be quadratic. So the whole
    history is compared by identity (a nanosecond a message), and by value wherever an edit in place is
    likely to stand: in a short history, in the newest messages, and everywhere when a history is asked for
    again or has grown by an eighth since it was last compared whole.
    """

    SHORT = 128
    NEWEST = 4

    def __init__(self) -> None:
        self._seen: list[Message] = []
        self._values: list[Message] = []  # what the seen messages held when they were counted
        self._totals: list[int] = [0]
        self._asked = 0  # the length of the history when last asked
        self._compared = 0  # its length when it was last compared whole
        self._lock = threading.Lock()

    def total(self, messages: Sequence[Message], count: Callable[[Message], int]) -> int:
        """The sum of `count` over the messages."""
        with self._lock:
            return self._up_to_date(messages, count)[-1]

    def counts(self, messages: Sequence[Message], count: Callable[[Message], int]) -> list[int]:
        """The `count` of each message."""
        with self._lock:
            return [after - before for before, after in pairwise(self._up_to_date(messages, count))]

    def _up_to_date(self, messages: Sequence[Message], count: Callable[[Message], int]) -> list[int]:
        """The totals before each message, and the total of all."""
        messages = messages if isinstance(messages, list) else list(messages)
        values, totals, known = self._values, self._totals, self._unchanged(messages)
        del values[known:], totals[known + 1 :]
        total = totals[-1]
        for message in messages[known:]:
            total += count(message)
            totals.append(total)
            values.append(_copy(message))
        self._asked = len(messages)
        return totals

    def _unchanged(self, messages: list[Message]) -> int:
        """How many messages from the start are as they were counted."""
        seen, values, asked = self._seen, self._values, len(messages)
        known = min(len(values), asked)
        seen[known:] = messages[known:]
        if seen == messages:  # quick: Python compares objects by identity first
            start = known - self.NEWEST
            if known <= self.SHORT or asked <= self._asked or known >= self._compared * 9 / 8:
                start, self._compared = 0, known
            if messages[start:known] == values[start:known]:
                return known
        seen[:] = messages
        return next((i for i in range(known) if messages[i] != values[i]), known)


def _copy(message: Message) -> Message:
    """A copy that an edit in place leaves as it is. The texts in it are shared."""
    flat = isinstance(message.get("content"), str) and "tool_calls" not in message
    return message.copy() if flat else _deep_copy(message)


def _deep_copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: part if isinstance(part, str) else _deep_copy(part) for key, part in value.items()}
    return [_deep_copy(part) for part in value] if isinstance(value, list) else value
