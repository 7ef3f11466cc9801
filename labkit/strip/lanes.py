"""What is drawn above and below a strip's bar, lane by lane, and the pen that draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from labkit.palette import style_of
from labkit.strip.blocks import Row, legend_entries
from labkit.strip.layout import Placed
from labkit.strip.marking import escape, number, text_width

WIDTH = 760.0  # of the drawing, in its own units
SIDE = 6.0  # free at the left and the right
BAR = 34.0  # height of the blocks
GONE = ("summarised", "dropped", "stubbed")

# The dashes of the line under what was kept, and so on. "new" is two thin lines.
STATE_DASHES = {"kept": "", "stubbed": "1.5 2.5", "summarised": "7 3", "dropped": "3 7"}


@dataclass
class Pen:
    """Collects SVG elements; `y` is how far down the page we are, `key` starts each id."""

    key: str
    y: float = 4.0
    parts: list[str] = field(default_factory=list)

    def add(self, element: str) -> None:
        self.parts.append(element)

    def text(self, x: float, y: float, words: str, extra: str = "") -> None:
        self.add(f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{escape(words)}</text>')

    def line(self, path: str, width: float, extra: str = "") -> None:
        self.add(f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="{width}"{extra}/>')

    def fill(self, kind: str) -> str:
        style = style_of(kind)
        return f"url(#{self.key}-{kind})" if style.pattern else style.colour


# --- above the bar ----------------------------------------------------------------------------------------


def draw_marks(pen: Pen, placed: Placed) -> None:
    """Marked places: a triangle over the block with its label, on a higher line if the labels would meet.

    From right to left, so that the stem of a higher label passes on the free side of those below it.
    """
    starts: list[float] = []  # per line: where its leftmost label begins
    spots = []
    for block, label in sorted(placed.row.marks.items(), reverse=True):
        x = SIDE + placed.middle(block)
        width = text_width(label, 12) + 10
        right_of = x + 8 + width <= WIDTH
        left, right = (x - 6, x + 8 + width) if right_of else (x - 8 - width, x + 6)
        line = next((k for k, start in enumerate(starts) if right <= start), len(starts))
        starts[line : line + 1] = [left]
        spots.append((x, line, label, right_of))
    bottom = pen.y + 15 * len(starts)
    for x, line, label, right_of in spots:
        base = bottom - 15 * line
        pen.add(f'<path d="M{x - 5:.1f} {base - 9:.1f}h10l-5 8z" fill="currentColor" class="mark"/>')
        anchor = "" if right_of else ' text-anchor="end"'
        pen.text(x + 9 if right_of else x - 9, base - 1, label, f' font-weight="bold"{anchor}')
        if line:
            pen.line(f"M{x:.1f} {base:.1f}V{bottom:.1f}", 1)
    pen.y = bottom + (4 if starts else 0)


def draw_limit(pen: Pen, placed: Placed, top: float, limit: int | None) -> None:
    """The limit as a broken line with its label; an arrow at the right edge when it is far away."""
    if not limit:
        return
    label, y = f"limit {number(limit)}", top - (12 if placed.row.ties else 6)
    if placed.limit is None:
        pen.text(WIDTH - SIDE, y, f"{label} →", ' font-size="11" text-anchor="end" class="limit-label"')
        return
    x = SIDE + placed.limit
    pen.line(f"M{x:.1f} {y - 9:.1f}V{top + BAR + 7:.1f}", 2.2, ' stroke-dasharray="5 2" class="limit"')
    left = x + 6 + text_width(label, 11) > WIDTH
    side = (x - 5, ' text-anchor="end"') if left else (x + 5, "")
    pen.text(side[0], y, label, f' font-size="11" class="limit-label"{side[1]}')


def draw_ties(pen: Pen, placed: Placed, top: float) -> None:
    """A bracket from each call to its results."""
    for call, results in placed.row.ties:
        start, ends = SIDE + placed.middle(call), [SIDE + placed.middle(result) for result in results]
        path = f"M{start:.1f} {top - 2:.1f}V{top - 6:.1f}H{max(ends):.1f}"
        path += "".join(f"M{end:.1f} {top - 6:.1f}V{top - 2:.1f}" for end in ends)
        pen.line(path, 1.2, ' class="tie"')


# --- on it and below it -----------------------------------------------------------------------------------


def draw_cuts(pen: Pen, placed: Placed, top: float) -> None:
    """A tick at each legal cut, from the lower half of the bar to below it."""
    for cut in placed.row.cuts:
        x = SIDE + placed.edges[cut] - 0.5
        pen.line(f"M{x:.1f} {top + BAR - 7:.1f}V{top + BAR + 7:.1f}", 1.6, ' class="cut"')


def draw_numbers(pen: Pen, placed: Placed) -> None:
    """The index of each message (or of a group's first) under its block, where there is room."""
    free = 0.0
    for index, block in enumerate(placed.row.blocks):
        half = text_width(str(block.start), 10) / 2 + (1.5 if block.single else 14)
        x = SIDE + placed.middle(index)
        if block.start >= 0 and x - half >= free - (10 if block.start == 0 else 0):
            look = ' font-size="10" text-anchor="middle" class="index"'
            pen.text(max(x, SIDE + 2), pen.y + 16, str(block.start), look)
            free = x + half
    pen.y += 20


def _runs(placed: Placed) -> list[tuple[str, float, float]]:
    """Neighbours of one state: (state, from, to)."""
    states = [block.state for block in placed.row.blocks]
    runs = []
    for state, places in groupby(range(len(states)), key=lambda index: states[index]):
        taken = list(places)
        if state:
            runs.append((state, SIDE + placed.edges[taken[0]], SIDE + placed.edges[taken[-1] + 1]))
    return runs


def draw_shades(pen: Pen, placed: Placed, top: float) -> None:
    """A shade behind what is no longer sent as it was."""
    for state, left, right in _runs(placed):
        if state in GONE:
            where = f'x="{left - 1:.1f}" y="{top - 8:.1f}"'
            size = f'width="{right - left + 1:.1f}" height="{BAR + 32:.1f}"'
            pen.add(f'<rect {where} {size} fill="currentColor" opacity="0.16" class="shade"/>')


def draw_states(pen: Pen, placed: Placed) -> None:
    """A line under each run, of a kind for each state; below it what the kinds mean, with totals."""
    runs = _runs(placed)
    if not runs:
        return
    for state, left, right in runs:
        _state_line(pen, state, left, max(left + 1.5, right - 1), pen.y + 3)
    x, y = SIDE, pen.y + 18
    for state, (count, tokens) in placed.row.state_totals().items():
        _state_line(pen, state, x, x + 24, y - 4)
        label = f"{state}: {number(count)} message{'' if count == 1 else 's'}, {number(tokens)} tokens"
        pen.text(x + 30, y, label, ' font-size="11" class="state"')
        x += 30 + text_width(label, 11) + 18
    pen.y += 24


def _state_line(pen: Pen, state: str, left: float, right: float, y: float) -> None:
    if state == "new":
        pen.line(f"M{left:.1f} {y - 1.5:.1f}H{right:.1f}M{left:.1f} {y + 1.5:.1f}H{right:.1f}", 1)
        return
    dashes = STATE_DASHES[state]
    pen.line(f"M{left:.1f} {y:.1f}H{right:.1f}", 3, f' stroke-dasharray="{dashes}"' if dashes else "")


# --- the legend -------------------------------------------------------------------------------------------


def draw_legend(pen: Pen, rows: Sequence[Row]) -> None:
    """What colours, patterns and lines mean: only those that occur, on as many lines as it takes."""
    entries = legend_entries(rows)
    entries += [("tie", "call and its results")] if any(row.ties for row in rows) else []
    entries += [("cut", "legal cut")] if any(row.cuts for row in rows) else []
    x, y = SIDE, pen.y
    for what, words in entries:
        width = 20 + text_width(words, 11)
        if x + width > WIDTH - SIDE and x > SIDE:
            x, y = SIDE, y + 17
        _draw_swatch(pen, what, x, y)
        pen.text(x + 20, y + 11, words, ' font-size="11" class="legend"')
        x += width + 14
    pen.y = y + 18 if entries else y


def _draw_swatch(pen: Pen, what: str, x: float, y: float) -> None:
    if what == "tie":
        pen.line(f"M{x + 1:.1f} {y + 11:.1f}V{y + 4:.1f}H{x + 14:.1f}V{y + 11:.1f}", 1.2)
    elif what == "cut":
        pen.line(f"M{x + 9:.1f} {y:.1f}V{y + 13:.1f}", 1.6)
    else:
        pen.add(f'<rect x="{x:.1f}" y="{y + 2:.1f}" width="15" height="10" fill="{pen.fill(what)}"/>')
