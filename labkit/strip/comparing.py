"""What became of each message of a history: kept, summarised, dropped, stubbed or new."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from labkit.messages import Message


def compare(before: Sequence[Message], after: Sequence[Message]) -> tuple[list[str], list[str]]:
    """What became of each message: the states of `before`, and of `after`.

    A message that stands in both is "kept" (in order; equal messages are told apart by their place). A tool
    result whose text changed is "stubbed". What is only in `after` is "new"; what is only in `before` is
    "summarised", or "dropped" when nothing came in its place. Linear.
    """
    pairs = _alignment(before, after)
    old = ["summarised" if len(pairs) < len(after) else "dropped"] * len(before)
    new = ["new"] * len(after)
    for there, here in pairs.items():
        state = "kept" if before[there] == after[here] else "stubbed"
        old[there] = new[here] = state
    return old, new


def _alignment(before: Sequence[Message], after: Sequence[Message]) -> dict[int, int]:
    """Index in `before` -> index in `after`: equal start, equal end, then in order through the middle."""
    shorter = min(len(before), len(after))
    head = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    room = shorter - head
    tail = next((i for i in range(room) if before[-1 - i] != after[-1 - i]), room)
    pairs = {index: index for index in range(head)}
    pairs |= {len(before) - 1 - i: len(after) - 1 - i for i in range(tail)}
    places: dict[str, deque[int]] = {}
    for index in range(head, len(before) - tail):
        for key in _keys(before[index]):
            places.setdefault(key, deque()).append(index)
    reached = head - 1
    for index in range(head, len(after) - tail):
        for key in _keys(after[index]):
            waiting = places.get(key, deque())
            while waiting and waiting[0] <= reached:
                waiting.popleft()
            if waiting:
                reached = waiting.popleft()
                pairs[reached] = index
                break
    return pairs


def _keys(message: Message) -> list[str]:
    """What a message is known by: all of it; a tool result also by its call's id."""
    whole = repr(sorted(message.items(), key=lambda item: str(item[0])))
    return [whole, f"result {message.get('tool_call_id')}"] if message.get("role") == "tool" else [whole]
