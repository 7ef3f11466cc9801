"""A strip as text for a terminal: each kind has a character of its own shape, so it reads without colour."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from labkit.palette import ROLE_ORDER, style_of
from labkit.strip.blocks import Block, Row, legend_entries
from labkit.strip.layout import Placed, place
from labkit.strip.marking import clean, columns, number
from labkit.strip.svg import row_words

STATE_GLYPHS = {"kept": "─", "summarised": "╌", "dropped": "×", "stubbed": "·", "new": "+"}


def draw_text(rows: Sequence[Row], *, title: str, limit: int | None, width: int = 72) -> str:
    """The drawing in lines of at most `width` columns: heading, ties, bar, cuts, states, legend."""
    lines = wrap(title, width) if title else []
    for placed in place(rows, width, 1.0, limit):
        lines += _row_lines(placed, limit, width)
    return "\n".join(line.rstrip() for line in [*lines, *_legend(rows, limit, width)])


def _row_lines(placed: Placed, limit: int | None, width: int) -> list[str]:
    row = placed.row
    heading = f"{row.name}: " if row.name else ""
    lines = wrap(heading + row_words(row, limit), width)
    cells = [round(edge) for edge in placed.edges]
    for index, label in sorted(row.marks.items()):
        lines.append(_mark_line(cells[index], label, width))
    if row.ties:
        lines.append(_ties_line(placed, cells, width))
    spans = list(zip(row.blocks, pairwise(cells), strict=True))
    lines.append("".join(_cells(block, b - a) for block, (a, b) in spans))
    if row.cuts or placed.limit is not None:
        below = [" "] * (width + 1)
        for cut in row.cuts:
            below[cells[cut]] = "'"
        if placed.limit is not None:
            below[min(width - 1, round(placed.limit))] = "|"
        lines.append("".join(below)[:width])
    if any(block.state for block in row.blocks):
        lines.append("".join(STATE_GLYPHS.get(block.state, " ") * (b - a) for block, (a, b) in spans))
        found = row.state_totals().items()
        said = [f"{STATE_GLYPHS[state]} {state} {number(n)} ({number(t)} tokens)" for state, (n, t) in found]
        lines += wrap("   ".join(said), width, gap="   ")
    return [*lines, ""]


def _cells(block: Block, count: int) -> str:
    """`count` columns, shared among the kinds of a group by their tokens, largest last to take the rest."""
    shares = sorted(block.shares, key=lambda share: (share[1], ROLE_ORDER.index(share[0])))
    text = ""
    for kind, tokens in shares[:-1]:
        text += style_of(kind).glyph * round(count * tokens / max(1, block.tokens))
    return (text + style_of(shares[-1][0]).glyph * count)[:count]


def _mark_line(cell: int, label: str, width: int) -> str:
    label = clean(label)
    if cell + 2 + columns(label) <= width:
        return " " * cell + "▼ " + label
    return (" " * max(0, cell - columns(label) - 1) + label + " ▼")[: max(width, columns(label) + 2)]


def _ties_line(placed: Placed, cells: Sequence[int], width: int) -> str:
    line = [" "] * (width + 1)
    for call, results in placed.row.ties:
        start, end = cells[call], cells[max(results)]
        for cell in range(start + 1, end):
            line[cell] = "─"
        line[start] = "╭"
        for result in results:
            line[cells[result]] = "┬"
        line[end] = "╮" if end > start else "│"
    return "".join(line)[:width]


def _legend(rows: Sequence[Row], limit: int | None, width: int) -> list[str]:
    entries = [f"{style_of(kind).glyph} {words}" for kind, words in legend_entries(rows)]
    entries += ["╭╮ call and its results"] if any(row.ties for row in rows) else []
    entries += ["' legal cut"] if any(row.cuts for row in rows) else []
    entries += [f"| limit {number(limit)}"] if limit else []
    return wrap("   ".join(entries), width, gap="   ")


def wrap(text: str, width: int, gap: str = " ") -> list[str]:
    """Lines of at most `width` columns, broken at `gap` (wide characters count two columns)."""
    lines: list[str] = []
    for piece in clean(text).split(gap):
        if lines and columns(lines[-1]) + len(gap) + columns(piece) <= width:
            lines[-1] += gap + piece
        else:
            lines.append(piece)
    return lines
