"""Exchanges, and where a history may be cut.

An **exchange** is an assistant message with tool calls, together with all the results that answer them.
A provider takes a history only if every exchange is whole, so a history may only be cut between exchanges.
Everything here is pure and linear in the length of the history.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from labkit.messages.shape import Message, calls_of, system_length


@dataclass(frozen=True)
class Exchange:
    """An assistant message with tool calls, and where its results stand.

    `index` is the assistant message. `results[k]` is the index of the result of its k-th call, or None.
    `open` means that results may still arrive: no later assistant message has moved on.
    """

    index: int
    results: tuple[int | None, ...]
    open: bool

    @property
    def last(self) -> int:
        """The index of the last message that belongs to this exchange."""
        return max((found for found in self.results if found is not None), default=self.index)


@dataclass
class Pairing:
    """Calls and results of a history, paired. Built in one walk by `pair`."""

    results: dict[int, list[int | None]] = field(default_factory=dict)  # assistant index -> result indices
    orphans: set[int] = field(default_factory=set)  # tool messages that answer no open call
    repeated: set[int] = field(default_factory=set)  # those of them whose call was answered already

    def owners(self) -> dict[int, int]:
        """Result index -> index of the assistant message whose call it answers."""
        pairs = ((found, index) for index, results in self.results.items() for found in results)
        return {found: index for found, index in pairs if found is not None}


def pair(messages: Sequence[Message]) -> Pairing:
    """Pair each result with the nearest call before it that has its id and no result yet.

    Ids may repeat in later rounds (real logs do that), so there is no table of ids for the whole history:
    each id keeps a stack of its open calls.
    """
    pairing = Pairing()
    waiting: dict[str | None, list[tuple[int, int]]] = {}
    answered: set[str | None] = set()
    for index, message in enumerate(messages):
        calls = calls_of(message)
        if calls:
            pairing.results[index] = [None] * len(calls)
            # Reversed, so that of two calls with one id the first is answered first.
            for position in reversed(range(len(calls))):
                waiting.setdefault(_key(calls[position].get("id")), []).append((index, position))
        elif message.get("role") == "tool":
            call_id = _key(message.get("tool_call_id"))
            if waiting.get(call_id):
                owner, position = waiting[call_id].pop()
                pairing.results[owner][position] = index
                answered.add(call_id)
            else:
                pairing.orphans.add(index)
                if call_id in answered:
                    pairing.repeated.add(index)
    return pairing


def _key(call_id: Any) -> str | None:
    """What a call and its result are paired by. A number is taken as its text; None when there is no id."""
    return str(call_id) if isinstance(call_id, str | int) else None


def exchanges(messages: Sequence[Message]) -> list[Exchange]:
    """All exchanges of a history, in order. Linear in its length.

    >>> from labkit.messages import assistant, tool_call, tool_result, user
    >>> history = [user("go"), assistant(calls=[tool_call("a", "f", {})]), tool_result("a", "ok")]
    >>> exchanges(history)
    [Exchange(index=1, results=(2,), open=False)]
    """
    return list(_exchanges(messages, pair(messages)))


def _exchanges(messages: Sequence[Message], pairing: Pairing) -> Iterator[Exchange]:
    assistants = [index for index, message in enumerate(messages) if message.get("role") == "assistant"]
    newest = assistants[-1] if assistants else -1
    for index, results in pairing.results.items():
        yield Exchange(index, tuple(results), open=index == newest and None in results)


def legal_cuts(messages: Sequence[Message]) -> list[int]:
    """Every index `i` at which a history may be cut into `messages[:i]` and `messages[i:]`.

    Both sides hold whole exchanges: no call is parted from its result. The indices ascend from the
    end of the leading system part to `len(messages)`. An exchange that still waits for results has
    no cut after it; one that was interrupted long ago (an assistant message follows) blocks
    nothing.

    >>> from labkit.messages import assistant, system, tool_call, tool_result, user
    >>> calls = [tool_call("a", "f", {}), tool_call("b", "f", {})]
    >>> results = [tool_result("a", "1"), tool_result("b", "2")]
    >>> legal_cuts([system("s"), user("go"), assistant(calls=calls), *results])
    [1, 2, 5]
    """
    ends = {each.index: len(messages) if each.open else each.last for each in exchanges(messages)}
    start, busy_until = system_length(messages), -1  # index of the last message of an exchange that has begun
    cuts = []
    for index in range(len(messages) + 1):
        # A result without a call belongs to what stands before it: a tail never begins with a result.
        begins_with_result = index < len(messages) and messages[index].get("role") == "tool"
        if start <= index and busy_until < index and not begins_with_result:
            cuts.append(index)
        busy_until = max(busy_until, ends.get(index, -1))
    return cuts
