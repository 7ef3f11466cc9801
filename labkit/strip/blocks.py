"""What a strip shows, before anybody draws it: blocks, their states, ties, and groups when there are many.

Everything here is pure: a history (or a history before and after) becomes rows of blocks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from labkit.compaction.earlier import HEADING
from labkit.messages import Message, calls_of, exchanges, function_of, legal_cuts, text_of
from labkit.palette import ROLE_ORDER, style_of
from labkit.strip.comparing import compare
from labkit.strip.marking import number

# A strip has room for this many single messages; a longer history is drawn in groups.
MOST_SINGLE_BLOCKS = 160
GROUPS = 90


class Counts(Protocol):
    """What counts tokens: `labkit.tokens.TokenCounter`, or your own."""

    def message(self, message: Message) -> int: ...

    def history(self, messages: Sequence[Message], tools: Sequence[Any] | None = None) -> int: ...


@dataclass(frozen=True)
class Block:
    """One block: `messages[start:stop]`, one message or a group of neighbours with one state.

    `shares` holds (kind, tokens), one pair for a single message. `state` is "", "kept", "summarised",
    "dropped", "stubbed" or "new". The tools block has start = stop = -1.
    """

    start: int
    stop: int
    shares: tuple[tuple[str, int], ...]
    state: str
    text: str

    @property
    def tokens(self) -> int:
        return sum(tokens for _, tokens in self.shares)

    @property
    def single(self) -> bool:
        return self.stop - self.start <= 1


@dataclass(frozen=True)
class Row:
    """One history, ready to draw. `cuts` are edges between blocks: edge k stands before block k.

    `ties` pairs a call's block with the blocks of its results. `tokens` is the exact size of the history as
    a request, so it is a little more than the sum of the blocks (the reply's own overhead).
    """

    name: str
    blocks: tuple[Block, ...]
    tokens: int
    messages: int
    legal: int = 0
    cuts: tuple[int, ...] = ()
    ties: tuple[tuple[int, tuple[int, ...]], ...] = ()
    marks: Mapping[int, str] = field(default_factory=dict)

    @property
    def grouped(self) -> bool:
        return any(not block.single for block in self.blocks)

    def state_totals(self) -> dict[str, tuple[int, int]]:
        """State -> (messages, tokens), in order of appearance."""
        totals: dict[str, tuple[int, int]] = {}
        for block in self.blocks:
            if block.state:
                count, tokens = totals.get(block.state, (0, 0))
                totals[block.state] = (count + block.stop - block.start, tokens + block.tokens)
        return totals

    def kinds(self) -> dict[str, int]:
        """Kind -> tokens, in order of appearance."""
        totals: dict[str, int] = {}
        for block in self.blocks:
            for kind, tokens in block.shares:
                totals[kind] = totals.get(kind, 0) + tokens
        return totals


def legend_entries(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """(kind, words) of the kinds that occur; with their tokens when there is one row only."""
    shown = {kind: tokens for row in rows for kind, tokens in row.kinds().items()}
    figures = {kind: f" {number(tokens)}" if len(rows) == 1 else "" for kind, tokens in shown.items()}
    return [(kind, style_of(kind).name + figures[kind]) for kind in ROLE_ORDER if kind in shown]


def kind_of(message: Message) -> str:
    """The kind of a message: its role, or "call" (assistant with calls), "summary", "other".

    >>> kind_of({"role": "user", "content": "[Earlier in this task] We read two files."})
    'summary'
    """
    role = message.get("role")
    if role in ("system", "developer"):
        return "system"
    if role == "assistant":
        return "call" if calls_of(message) else "assistant"
    if role == "user" and HEADING.match(text_of(message.get("content"))):
        return "summary"
    return role if role in ("user", "tool") else "other"


def start_of_text(message: Message, limit: int = 90) -> str:
    """The first `limit` characters of what a message says, calls included, on one line."""
    said = text_of(message.get("content"))[: 4 * limit]
    parts = [said] if said.strip() else []
    for call in calls_of(message):
        function = function_of(call)
        parts.append(f"{function.get('name', '?')}({str(function.get('arguments', ''))[:limit]})")
    line = " ".join(" · ".join(parts).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def make_row(
    messages: Sequence[Message],
    *,
    counter: Counts,
    states: Sequence[str] = (),
    tools: Sequence[Any] | None = None,
    cuts: bool = False,
    marks: Mapping[int, str] | None = None,
    name: str = "",
    groups: int = 0,
    most: int = MOST_SINGLE_BLOCKS,
) -> Row:
    """A history as a row of blocks; in groups when it has more than `most` messages, or when asked for."""
    tokens = [counter.message(message) for message in messages]
    states = states or [""] * len(messages)
    groups = groups or (min(GROUPS, most // 2) if len(messages) > most else 0)
    legal = legal_cuts(messages) if cuts or groups else []
    edges = group_edges(tokens, states, set(legal), groups) if groups else list(range(len(messages) + 1))
    blocks = [_block(messages, tokens, states[a], a, b) for a, b in pairwise(edges)]
    total = counter.history(messages, tools) if messages or tools else 0
    first = 0  # the block of the first message
    if tools:
        overhead = total - counter.history(messages)
        blocks.insert(0, Block(-1, -1, (("tools", overhead),), "", f"{len(tools)} tool descriptions"))
        first = 1
    block_at = {start: first + place for place, start in enumerate(edges)}
    marked = {at: text for at, text in (marks or {}).items() if 0 <= at < len(messages)}
    return Row(
        name=name,
        blocks=tuple(blocks),
        tokens=total,
        messages=len(messages),
        legal=len(legal) if cuts else 0,
        cuts=tuple(block_at[cut] for cut in legal if cut in block_at) if cuts else (),
        ties=() if groups else tuple(_ties(messages, first)),
        marks={first + bisect_right(edges, at) - 1: text for at, text in marked.items()},
    )


def rows_of_both(
    before: Sequence[Message],
    after: Sequence[Message],
    marks: Mapping[int, str] | None = None,
    **settings: Any,
) -> list[Row]:
    """A history before and after a compaction as two rows. If one is in groups, so is the other: as fine."""
    old, new = compare(before, after)
    first = make_row(before, states=old, name="before", **settings)
    settings["cuts"] = False  # the cuts of the history that was cut are the ones to look at
    groups = max(8, round(len(first.blocks) * len(after) / max(1, len(before)))) if first.grouped else 0
    groups = groups if len(after) > groups else 0
    return [first, make_row(after, states=new, name="after", marks=marks, groups=groups, **settings)]


def _ties(messages: Sequence[Message], first: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    for exchange in exchanges(messages):
        results = tuple(first + result for result in exchange.results if result is not None)
        if results:
            yield first + exchange.index, results


def _block(messages: Sequence[Message], tokens: Sequence[int], state: str, start: int, stop: int) -> Block:
    shares: dict[str, int] = {}
    for index in range(start, stop):
        kind = kind_of(messages[index])
        shares[kind] = shares.get(kind, 0) + tokens[index]
    return Block(start, stop, tuple(shares.items()), state, start_of_text(messages[start]))


def group_edges(tokens: Sequence[int], states: Sequence[str], legal: set[int], groups: int) -> list[int]:
    """Where groups of neighbours begin and end: about `groups` of them, of like size in tokens.

    A group ends where the state changes, else at a legal cut if one is near. Linear.
    """
    fair_tokens = max(1, sum(tokens) // groups)
    fair_count = max(2, 2 * len(tokens) // groups)
    edges, size = [0], 0
    for index in range(1, len(tokens)):
        size += tokens[index - 1]
        count = index - edges[-1]
        full = size >= fair_tokens or count >= fair_count
        overfull = size >= 2 * fair_tokens or count >= 2 * fair_count
        if states[index] != states[index - 1] or overfull or (full and index in legal):
            edges.append(index)
            size = 0
    return [*edges, len(tokens)] if tokens else [0]
