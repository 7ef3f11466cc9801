"""What every request sent: the trace of an agent's run, request by request.

The trace holds measured numbers only: the provider's own count where it sent one, else the exact counter's.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from labkit.compaction.base import Compaction
from labkit.messages import Message


@dataclass(frozen=True)
class RequestRecord:
    """One request: what was sent, in tokens, and the compaction that came just before it (or None).

    `by_role` splits the messages' tokens by role, with the tools' schemas under `tools`; together with the 3
    tokens that prime the reply they are what the exact counter counts.
    """

    index: int
    tokens: int
    cached_tokens: int
    output_tokens: int
    by_role: dict[str, int]
    messages: list[Message]
    compaction: Compaction | None = None

    @property
    def fresh_tokens(self) -> int:
        """Tokens that the provider had to read anew."""
        return self.tokens - self.cached_tokens


class Trace:
    """The requests of a run, in order, with totals; shows itself as a table.

    >>> trace = Trace()
    >>> trace.add([{"role": "user", "content": "hi"}], [5], tokens=8)
    >>> trace.sent, trace.table()[0]["tokens"]
    (8, 8)
    """

    def __init__(self) -> None:
        self.requests: list[RequestRecord] = []

    def add(
        self,
        messages: Sequence[Message],
        counts: Sequence[int],
        *,
        tokens: int,
        cached_tokens: int = 0,
        output_tokens: int = 0,
        tool_tokens: int = 0,
        compaction: Compaction | None = None,
    ) -> None:
        """Record one request. `counts` are the tokens of each message, `tokens` of all."""
        by_role: dict[str, int] = {"tools": tool_tokens} if tool_tokens else {}
        for message, count in zip(messages, counts, strict=True):
            role = str(message.get("role"))
            by_role[role] = by_role.get(role, 0) + count
        self.requests.append(
            RequestRecord(
                index=len(self.requests) + 1,
                tokens=tokens,
                cached_tokens=cached_tokens,
                output_tokens=output_tokens,
                by_role=by_role,
                messages=list(messages),
                compaction=compaction,
            )
        )

    @property
    def sent(self) -> int:
        """Tokens sent in all requests together."""
        return sum(request.tokens for request in self.requests)

    @property
    def cached(self) -> int:
        """Of these, tokens that the provider had in its prefix cache."""
        return sum(request.cached_tokens for request in self.requests)

    @property
    def peak(self) -> int:
        """Tokens of the largest request."""
        return max((request.tokens for request in self.requests), default=0)

    def table(self) -> list[dict[str, Any]]:
        """A row for each request: its number, messages, tokens (in all, cached, out), compaction in words."""
        return [
            {
                "request": request.index,
                "messages": len(request.messages),
                "tokens": request.tokens,
                "cached": request.cached_tokens,
                "output": request.output_tokens,
                "compaction": request.compaction.reason if request.compaction else "",
            }
            for request in self.requests
        ]

    def __len__(self) -> int:
        return len(self.requests)

    def __str__(self) -> str:
        if not self.requests:
            return "no requests yet"
        rows = [list(self.table()[0]), *(list(map(_shown, row.values())) for row in self.table())]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
        ]
        return "\n".join([*(line.rstrip() for line in lines), self.summary()])

    __repr__ = __str__  # a trace as the last line of a cell, where nothing shows HTML

    def _repr_html_(self) -> str:
        if not self.requests:
            return "<p>no requests yet</p>"
        table = self.table()
        head = "".join(f'<th scope="col">{name}</th>' for name in table[0])
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_shown(cell))}</td>" for cell in row.values()) + "</tr>"
            for row in table
        )
        caption = f"<caption>{html.escape(self.summary())}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def summary(self) -> str:
        """The totals in a line."""
        requests = "1 request" if len(self) == 1 else f"{len(self)} requests"
        sent = f"{self.sent:,} tokens sent, {self.cached:,} of them cached"
        return f"{requests}, {sent}, the largest {self.peak:,}"


def _shown(cell: Any) -> str:
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
