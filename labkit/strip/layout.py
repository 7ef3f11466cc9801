"""Where blocks stand on a line: widths in proportion to tokens, none too narrow to see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labkit.strip.blocks import Row

# A limit further away than this many times the history would squeeze the history to nothing: it is named at
# the right edge instead of drawn to scale.
FAR_LIMIT = 3.0


@dataclass(frozen=True)
class Placed:
    """A row with the edges of its blocks: block k runs from `edges[k]` to `edges[k + 1]`.

    `limit` is where the limit's line stands, None when there is none or it is too far away.
    """

    row: Row
    edges: tuple[float, ...]
    limit: float | None

    def middle(self, block: int) -> float:
        return (self.edges[block] + self.edges[block + 1]) / 2


def widths(tokens: Sequence[int], width: float, minimum: float) -> list[float]:
    """Widths in proportion to `tokens`, none below `minimum`, that add up to `width`.

    >>> widths([1, 99], width=100, minimum=5)
    [5.0, 95.0]
    """
    if not tokens:
        return []
    minimum = min(minimum, width / len(tokens))
    narrow: set[int] = set()
    while True:
        rest = width - minimum * len(narrow)
        weight = sum(count for index, count in enumerate(tokens) if index not in narrow)
        scale = rest / weight if weight else 0.0
        found = {i for i, count in enumerate(tokens) if i not in narrow and count * scale < minimum}
        if not found:
            break
        narrow |= found
    return [float(minimum) if index in narrow else count * scale for index, count in enumerate(tokens)]


def place(rows: Sequence[Row], width: float, minimum: float, limit: int | None = None) -> list[Placed]:
    """All rows on one scale, so that their lengths may be compared; and the limit on the same scale.

    Widening tiny blocks bends the scale a little: the limit is drawn where it falls in the longest row, and
    in another row that is also above it, where it falls there.
    """
    sums = [sum(block.tokens for block in row.blocks) for row in rows]
    largest = max(sums, default=0)
    drawn = limit if limit and limit <= FAR_LIMIT * max(1, largest) else None
    full = max(largest, drawn or 0, 1)
    edges = [_edges(row, width, minimum, full) for row in rows]
    longest = max(range(len(rows)), key=lambda index: sums[index], default=0)
    common = _position(drawn, rows[longest], edges[longest], width, full) if drawn and rows else None
    placed = []
    for row, at in zip(rows, edges, strict=True):
        over = drawn is not None and row.tokens > drawn
        placed.append(Placed(row, at, _position(drawn, row, at, width, full) if over and drawn else common))
    return placed


def _edges(row: Row, width: float, minimum: float, full: int) -> tuple[float, ...]:
    counts = [block.tokens for block in row.blocks]
    share = width * sum(counts) / full
    room = min(width, max(share, minimum * len(counts)))
    edges = [0.0]
    for size in widths(counts, room, minimum):
        edges.append(edges[-1] + size)
    return tuple(edges)


def _position(limit: int, row: Row, edges: Sequence[float], width: float, full: int) -> float:
    """Where `limit` tokens lie along a row, which is itself drawn between `edges`."""
    passed = 0
    for index, block in enumerate(row.blocks):
        if block.tokens and passed + block.tokens >= limit:
            share = (limit - passed) / block.tokens
            return edges[index] + share * (edges[index + 1] - edges[index])
        passed += block.tokens
    return edges[-1] + (width - edges[-1]) * (limit - passed) / max(1, full - passed)
