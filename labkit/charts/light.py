"""The growth chart drawn by hand as SVG, in a few thousandths of a second: for pictures that move.

It says what `growth` says, with the same title, words and colours. matplotlib draws the better still picture,
but takes a tenth of a second for it, and a knob that is turned asks for ten a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from math import log10

from labkit.charts.growth import growth_alt, growth_title
from labkit.palette import style_of
from labkit.strip.lanes import Pen
from labkit.strip.marking import escape, number, text_width
from labkit.trace import RequestRecord

WIDTH, HEIGHT = 760.0, 236.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 12.0, 40.0, 196.0  # the axes' frame
MARKERS_UP_TO = 60  # requests; beyond, markers would hide the line
FONT = "var(--jp-ui-font-family, system-ui), system-ui, sans-serif"
TRIANGLE = "l-4 -7h8z"  # points down at where it starts


def light_growth(requests: Sequence[RequestRecord], limit: int | None = None, chosen: int = 0) -> str:
    """The tokens of each request as one `<svg>` element, with the limit and the compactions.

    `chosen` is the number of a request (from 1) to point out. The same input gives the same bytes.
    """
    title = growth_title(requests, limit)
    alt = growth_alt(title, requests, limit) + _chosen_alt(requests, chosen)
    key = "lg" + sha256(repr((alt, [each.tokens for each in requests], chosen)).encode()).hexdigest()[:10]
    pen = Pen(key)
    frame = Frame(max(1, len(requests)), _top([each.tokens for each in requests], limit))
    _axes(pen, frame)
    _limit(pen, frame, limit)
    _line(pen, frame, requests)
    _compactions(pen, frame, requests)
    _chosen(pen, frame, requests, limit, chosen)
    _legend(pen, requests, limit)
    look = "display:block;width:100%;min-width:520px;max-width:820px;height:auto"
    return (
        f'<svg viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img" aria-labelledby="{key}-t {key}-d"'
        f' font-size="12" style="color:var(--jp-ui-font-color1, inherit);fill:currentColor;{look};'
        f'font-family:{FONT}"><title id="{key}-t">{escape(title)}</title>'
        f'<desc id="{key}-d">{escape(alt)}</desc>{"".join(pen.parts)}</svg>'
    )


@dataclass(frozen=True)
class Frame:
    """Where things stand: requests 1 to `count` from left to right, 0 to `top` tokens from bottom to top."""

    count: int
    top: float

    def x(self, index: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (index - 0.5) / self.count

    def y(self, tokens: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * tokens / self.top


def steps(top: float, most: int) -> list[int]:
    """Round numbers from 0 up to `top`, at most `most` of them beside 0.

    >>> steps(4700, 5)
    [0, 1000, 2000, 3000, 4000]
    """
    size = 10 ** int(log10(max(1.0, top / most)))
    step = next(size * by for by in (1, 2, 5, 10, 20) if size * by * most >= top)
    return list(range(0, int(top) + 1, step))


def _top(tokens: Sequence[int], limit: int | None) -> float:
    """The top of the axis. A limit far above everything is not drawn: it would press the line flat."""
    largest = max([1, *tokens])
    return 1.08 * (max(largest, limit) if limit and limit <= 3 * largest else largest)


def _axes(pen: Pen, frame: Frame) -> None:
    for value in steps(frame.top, 5):
        y = frame.y(value)
        pen.add(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="currentColor" opacity="0.15"/>')
        pen.text(LEFT - 6, y + 4, number(value), ' text-anchor="end" font-size="11"')
    pen.line(f"M{LEFT} {TOP - 4}V{BOTTOM}H{WIDTH - RIGHT}", 1)
    for value in [1, *(at for at in steps(frame.count, 8) if 1 < at <= frame.count)]:
        pen.text(frame.x(value), BOTTOM + 15, number(value), ' text-anchor="middle" font-size="11"')
    pen.text((LEFT + WIDTH - RIGHT) / 2, BOTTOM + 32, "request", ' text-anchor="middle"')


def _limit(pen: Pen, frame: Frame, limit: int | None) -> None:
    if limit and limit <= frame.top:
        path = f"M{LEFT} {frame.y(limit):.1f}H{WIDTH - RIGHT}"
        pen.line(path, 1.6, ' stroke-dasharray="6 3" class="limit"')


def _line(pen: Pen, frame: Frame, requests: Sequence[RequestRecord]) -> None:
    style = style_of("user")
    points = [f"{frame.x(each.index):.1f} {frame.y(each.tokens):.1f}" for each in requests]
    if points:
        look = (
            f'fill="none" stroke="{style.colour}" stroke-width="1.8" stroke-linejoin="round" class="growth"'
        )
        pen.add(f'<path d="M{"L".join(points)}" {look}/>')
    for point in points if len(points) <= MARKERS_UP_TO else ():
        x, y = point.split()
        pen.add(f'<circle cx="{x}" cy="{y}" r="2.6" fill="{style.colour}"/>')


def _compactions(pen: Pen, frame: Frame, requests: Sequence[RequestRecord]) -> None:
    """A triangle before each request that a compaction made smaller, in a lane of its own above the axes."""
    places = [f"M{frame.x(each.index):.1f} {TOP - 5:.1f}{TRIANGLE}" for each in requests if each.compaction]
    if places:
        pen.add(f'<path d="{"".join(places)}" fill="{style_of("tool").colour}" class="compactions"/>')


def _chosen(
    pen: Pen, frame: Frame, requests: Sequence[RequestRecord], limit: int | None, chosen: int
) -> None:
    if not 1 <= chosen <= len(requests):
        return
    x, y = frame.x(chosen), frame.y(requests[chosen - 1].tokens)
    pen.line(f"M{x:.1f} {TOP - 4}V{BOTTOM}", 1, ' stroke-dasharray="2 2" class="chosen"')
    pen.add(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="none" stroke="currentColor" stroke-width="2"/>')
    words = f"request {chosen}: {number(requests[chosen - 1].tokens)}"
    width = 1.1 * text_width(words, 12)  # they are bold
    left = x + 9 + width > WIDTH - RIGHT
    side = (x - 9, ' text-anchor="end"') if left else (x + 9, "")
    start = x - 9 - width if left else x + 9
    height = _clear_height(_heights_between(frame, requests, start, start + width), frame, limit)
    # A halo in the page's own ground keeps the words legible on top of the line.
    halo = (
        ' stroke="var(--jp-layout-color0, Canvas)" stroke-width="3" paint-order="stroke" font-weight="bold"'
    )
    pen.text(side[0], height, words, halo + side[1])


def _heights_between(
    frame: Frame, requests: Sequence[RequestRecord], left: float, right: float
) -> list[float]:
    """Where the line runs between two places, in steps that are small beside a letter."""
    points = [(frame.x(each.index), frame.y(each.tokens)) for each in requests]
    return [
        y + (next_y - y) * part / 8
        for (x, y), (next_x, next_y) in pairwise(points)
        if next_x >= left and x <= right
        for part in range(9)
        if left <= x + (next_x - x) * part / 8 <= right
    ]


def _clear_height(line: Sequence[float], frame: Frame, limit: int | None) -> float:
    """The height at which words keep farthest from the line and the limit; the lowest of several."""
    taken = [*line, *([frame.y(limit)] if limit and limit <= frame.top else [])]
    heights = [BOTTOM - 7 - 12 * step for step in range(int((BOTTOM - TOP - 14) / 12))]
    return max(heights, key=lambda y: min((min(40, abs(y - 4 - other)) for other in taken), default=40))


def _chosen_alt(requests: Sequence[RequestRecord], chosen: int) -> str:
    if not 1 <= chosen <= len(requests):
        return ""
    return f" Pointed out: request {chosen} with {number(requests[chosen - 1].tokens)} tokens."


def _legend(pen: Pen, requests: Sequence[RequestRecord], limit: int | None) -> None:
    colour = style_of("user").colour
    x, y = LEFT, 12.0
    pen.add(f'<path d="M{x} {y - 4}h22" stroke="{colour}" stroke-width="2"/>')
    pen.text(x + 28, y, "tokens in the request", ' font-size="11"')
    x += 44 + text_width("tokens in the request", 11)
    if limit:
        far = "" if limit <= _top([each.tokens for each in requests], limit) else ", above the chart"
        words = f"limit {number(limit)}{far}"
        pen.line(f"M{x:.1f} {y - 4}h22", 1.6, ' stroke-dasharray="6 3"')
        pen.text(x + 28, y, words, ' font-size="11"')
        x += 44 + text_width(words, 11)
    if any(each.compaction for each in requests):
        pen.add(f'<path d="M{x + 4:.1f} {y:.1f}{TRIANGLE}" fill="{style_of("tool").colour}"/>')
        pen.text(x + 14, y, "compaction before this request", ' font-size="11"')
