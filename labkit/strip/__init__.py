"""The strip: one history as a row of blocks. The picture that runs through all labs.

Each message is a block. Its width is its tokens (counted exactly), its colour and its pattern are its role.
A bracket ties a tool call to its results, small lines show where the history may be cut, a broken line is the
limit. With the history before a compaction beside it, the strip shows what was kept, summarised and stubbed.

In a notebook a strip is SVG with a table to unfold, printed it is text, and `draw` puts it into a chart.
`python -m labkit.strip` shows one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labkit.messages import Message
from labkit.palette import style_of
from labkit.strip.blocks import MOST_SINGLE_BLOCKS, Counts, Row, make_row, rows_of_both, start_of_text
from labkit.strip.marking import clean, columns, escape, number, text_width
from labkit.strip.svg import block_words, draw_svg, row_words
from labkit.strip.text import draw_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Strip", "clean", "columns", "escape", "number", "start_of_text", "strip", "text_width"]


class Strip:
    """A drawing of `messages`: HTML in a notebook, text when printed, matplotlib with `draw`.

    `limit` is in tokens. `cuts=True` shows the legal cuts. `before` is the history before a compaction: it is
    drawn above, with what became of each message. `marks` names places: {index: label}. `tools` (schemas)
    puts what the tool descriptions cost in front. `counter` is a TokenCounter; the shared one by default.

    >>> print(Strip([{"role": "user", "content": "hello"}]).text(width=40))
    8 tokens in 1 message
    ████████████████████████████████████████
    <BLANKLINE>
    █ user 5
    """

    def __init__(
        self,
        messages: Sequence[Message],
        limit: int | None = None,
        cuts: bool = False,
        before: Sequence[Message] | None = None,
        *,
        title: str = "",
        marks: Mapping[int, str] | None = None,
        tools: Sequence[Any] | None = None,
        counter: Counts | None = None,
    ) -> None:
        self.limit = limit
        self.title = title
        self._messages = list(messages)
        self._before = None if before is None else list(before)
        self._settings: dict[str, Any] = {
            "counter": counter or _shared_counter(),
            "tools": tools,
            "cuts": cuts,
        }
        self._marks = dict(marks or {})
        self.rows = self._rows(MOST_SINGLE_BLOCKS)

    def _rows(self, most: int) -> list[Row]:
        """The rows, in groups when a history has more than `most` messages."""
        if self._before is None:
            return [make_row(self._messages, marks=self._marks, most=most, **self._settings)]
        return rows_of_both(self._before, self._messages, self._marks, most=most, **self._settings)

    @property
    def alt(self) -> str:
        """The picture in words, made from the data."""
        said = [f"{self.title or 'Strip of a history'}.", *map(_row_alt, self.rows)]
        said += [f"The limit is {number(self.limit)} tokens."] if self.limit else []
        return " ".join(said)

    def svg(self, standalone: bool = True) -> str:
        """The drawing as SVG; as it is, right for a file of its own (light and dark)."""
        return draw_svg(self.rows, title=self.title, alt=self.alt, limit=self.limit, standalone=standalone)

    def text(self, width: int = 72) -> str:
        """The drawing as text, at most `width` columns wide (40 or more)."""
        rows = self._rows(min(width, MOST_SINGLE_BLOCKS))
        return draw_text(rows, title=self.title, limit=self.limit, width=width)

    def draw(self, axes: Axes) -> None:
        """Draw the strip into matplotlib axes, in tokens along x."""
        from labkit.strip.axes import draw_axes

        draw_axes(axes, self.rows, title=self.title, limit=self.limit)

    def _repr_html_(self) -> str:
        name = escape(self.title or "Strip of a history")
        frame = f'<div style="overflow-x:auto" tabindex="0" role="group" aria-label="{name}">'
        return f'<div class="labkit-strip">{frame}{self.svg(False)}</div>{self._table()}</div>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": self.text()}

    def __str__(self) -> str:
        return self.text()

    def _table(self) -> str:
        """The blocks as a table, folded: what the tooltips say, for those who do not point."""
        rows = "".join(
            f"<tr><td>{escape(row.name)}</td><td style='text-align:left;white-space:pre-line'>"
            f"{escape(block_words(block))}</td></tr>"
            for row in self.rows
            for block in row.blocks
        )
        count = sum(len(row.blocks) for row in self.rows)
        summary = f"<summary>The {count} block{'' if count == 1 else 's'} in words</summary>"
        return f"<details>{summary}<table><tbody>{rows}</tbody></table></details>"


def strip(
    messages: Sequence[Message], limit: int | None = None, cuts: bool = False, **settings: Any
) -> Strip:
    """The strip of a history; the settings are those of `Strip`."""
    return Strip(messages, limit, cuts, **settings)


def _row_alt(row: Row) -> str:
    """A row in words: its size, its largest kinds, and what became of it."""
    largest = sorted(row.kinds().items(), key=lambda total: -total[1])
    words = ", ".join(f"{style_of(kind).name} {number(tokens)}" for kind, tokens in largest)
    found = row.state_totals().items()
    states = ", ".join(f"{state} {number(count)} ({number(size)} tokens)" for state, (count, size) in found)
    name = f"{row.name.capitalize()}: " if row.name else ""
    return f"{name}{row_words(row, None)}: {words or 'empty'}." + (f" Messages: {states}." if states else "")


def _shared_counter() -> Counts:
    from labkit.tokens import shared_counter

    return shared_counter()
