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
    """The counts of the texts seen last, at most `characters` characters of them: memory stays bounded."""

    def __init__(self, characters: int = 4_000_000) -> None:
        self._room = characters
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()  # an agent in a widget counts in a thread of its own

    def count(self, text: str, count: Callable[[str], int]) -> int:
        """The count of this text, from memory or by `count`."""
        known = self._counts.get(text)
        if known is None:
            known = count(text)
            with self._lock:
                self._remember(text, known)
        return known

    def _remember(self, text: str, count: int) -> None:
        if text not in self._counts:
            self._room -= len(text)
        self._counts[text] = count
        while self._room < 0:
            oldest = next(iter(self._counts))
            self._room += len(oldest)
            del self._counts[oldest]


class HistoryLedger:
    """The running total of the history asked for last, so that only its new messages are counted.

    Which messages are new? Comparing all by value before each request would itself be quadratic. So the whole
    history is compared by identity (some nanoseconds a message), and by value wherever an edit in place is
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
            self._count(messages, count)
            return self._totals[-1]

    def counts(self, messages: Sequence[Message], count: Callable[[Message], int]) -> list[int]:
        """The `count` of each message."""
        with self._lock:
            self._count(messages, count)
            return [after - before for before, after in pairwise(self._totals)]

    def _count(self, messages: Sequence[Message], count: Callable[[Message], int]) -> None:
        messages = messages if isinstance(messages, list) else list(messages)
        known = self._unchanged(messages)
        del self._seen[known:], self._values[known:], self._totals[known + 1 :]
        seen, values, totals = self._seen, self._values, self._totals
        total = totals[-1]
        for message in messages[known:]:
            total += count(message)
            totals.append(total)
            values.append(_copy(message))
            seen.append(message)
        self._asked = len(messages)

    def _unchanged(self, messages: list[Message]) -> int:
        """How many messages from the start are as they were counted."""
        known = min(len(self._seen), len(messages))
        del self._seen[known:]
        if messages[:known] == self._seen:  # quick: Python compares objects by identity first
            start = 0 if self._due(known, len(messages)) else max(0, known - self.NEWEST)
            if messages[start:known] == self._values[start:known]:
                return known
        return next((i for i in range(known) if messages[i] != self._values[i]), known)

    def _due(self, known: int, asked: int) -> bool:
        due = known <= self.SHORT or asked <= self._asked or known >= self._compared * 9 / 8
        if due:
            self._compared = known
        return due


def _copy(value: Any) -> Any:
    """A copy of the containers; the texts in them are shared."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {key: part if isinstance(part, str) else _copy(part) for key, part in value.items()}
    return [_copy(part) for part in value] if isinstance(value, list) else value
