"""Files that a session comes back to after compaction has taken their text away.

This is what a compaction costs in the end: a file that is read again, or worked on from memory. The count is
made from a trace alone, of a live run or of a replay.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from labkit.messages import Message, calls_of, exchanges, function_of, text_of
from labkit.tokens import common_prefix
from labkit.trace import Trace

READERS = ("read_file",)  # tools whose result is a file's text


@dataclass(frozen=True)
class ReRead:
    """The reply to request `request` (counted from 1) named `path`, whose text was no longer there."""

    request: int
    path: str


def count_re_reads(trace: Trace) -> int:
    """How many times a call named a file that had been read before and whose text was gone by then."""
    return len(re_reads(trace))


def re_reads(trace: Trace) -> list[ReRead]:
    """Each time a call named a file that had been read before and whose text was gone from the request.

    A second read of a file whose text is still there is not counted: compaction is not to blame for it.
    """
    found = []
    memory = _Memory()
    before: list[Message] = []
    for request in trace.requests:
        start = common_prefix(before, request.messages)
        for message in request.messages[start:]:
            for path in paths_of(message):
                if request.index > 1 and memory.lost(path) and message not in before[start:]:
                    found.append(ReRead(request.index - 1, path))
        memory.look(request.messages, start)
        before = request.messages
    return found


def paths_of(message: Message) -> Iterator[str]:
    """The files that the calls of a message name."""
    for call in calls_of(message):
        path = _path(call)
        if path:
            yield path


def _path(call: Message) -> str:
    arguments = function_of(call).get("arguments")
    return _path_in(arguments) if isinstance(arguments, str) else ""


@lru_cache(maxsize=256)  # where stubs come, a call is looked at in each of the next requests
def _path_in(text: str) -> str:
    try:
        arguments = json.loads(text)
    except ValueError:  # arguments that are no JSON read no file
        return ""
    path = arguments.get("path") if isinstance(arguments, dict) else None
    return path.removeprefix("./") if isinstance(path, str) else ""


@dataclass
class _Memory:
    """Which files were ever read, and whose text stands in the history that was sent last."""

    length: dict[tuple[str, str], int] = field(default_factory=dict)  # of (call id, path): its result
    present: Counter[str] = field(default_factory=Counter)  # path -> whole results of it there
    places: list[tuple[int, str]] = field(default_factory=list)  # (index, path) of those results, ascending
    ever: set[str] = field(default_factory=set)

    def lost(self, path: str) -> bool:
        return path in self.ever and not self.present[path]

    def look(self, now: Sequence[Message], start: int) -> None:
        """Take in a request that shares its first `start` messages with the last. Linear in the rest."""
        while start > 0 and start < len(now) and now[start].get("role") == "tool":
            start -= 1  # to the call whose result has changed
        while self.places and self.places[-1][0] >= start:
            self.present[self.places.pop()[1]] -= 1
        for index, path, key in _reads(now, start):
            size = len(text_of(now[index].get("content")))
            if size >= self.length.setdefault(key, size):  # a stub is shorter than what it stands for
                self.length[key] = size
                self.present[path] += 1
                self.places.append((index, path))
                self.ever.add(path)


def _reads(messages: Sequence[Message], start: int) -> Iterator[tuple[int, str, tuple[str, str]]]:
    """(index, path, key) of each read file's result, from index `start` on; requests hold whole exchanges."""
    part = messages[start:]
    for exchange in exchanges(part):
        calls = calls_of(part[exchange.index])
        for call, place in zip(calls, exchange.results, strict=True):
            if place is not None and function_of(call).get("name") in READERS and (path := _path(call)):
                yield start + place, path, (str(call.get("id")), path)
