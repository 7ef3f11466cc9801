"""A strip as SVG: one drawing that is right in a light and in a dark page, and says itself in words.

Text and lines have the colour of the text around them (`currentColor`); JupyterLab's own text colour comes
first. The same strip is the same bytes, also in another run: ids are made from the content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from labkit.palette import DARK_INK, LIGHT_INK, ROLE_ORDER, style_of
from labkit.strip.blocks import Block, Row
from labkit.strip.lanes import (
    BAR,
    SIDE,
    WIDTH,
    Pen,
    draw_cuts,
    draw_legend,
    draw_limit,
    draw_marks,
    draw_numbers,
    draw_shades,
    draw_states,
    draw_ties,
)
from labkit.strip.layout import Placed, place
from labkit.strip.marking import escape, number

MINIMUM = 3.0  # no block is narrower than this
FONT = "var(--jp-ui-font-family, system-ui), system-ui, sans-serif"


def draw_svg(
    rows: Sequence[Row], *, title: str, alt: str, limit: int | None, standalone: bool = False
) -> str:
    """The drawing as one `<svg>` element; `standalone` makes it right as a file of its own."""
    content = repr((rows, title, alt, limit)).encode("utf-8", "backslashreplace")
    pen = Pen(f"lk{sha256(content).hexdigest()[:10]}")
    if title:
        pen.text(SIDE, pen.y + 12, title, ' font-weight="bold" font-size="13"')
        pen.y += 22
    for placed in place(rows, WIDTH - 2 * SIDE, MINIMUM, limit):
        _draw_row(pen, placed, limit)
    draw_legend(pen, rows)
    return "".join(_wrapped(pen, rows, alt, standalone))


def _wrapped(pen: Pen, rows: Sequence[Row], alt: str, standalone: bool) -> Iterator[str]:
    head, _, rest = alt.partition(". ")
    yield f'<svg viewBox="0 0 {WIDTH:.0f} {pen.y:.0f}" role="img" aria-labelledby="{pen.key}-t {pen.key}-d"'
    if standalone:
        yield f' xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0f}" height="{pen.y:.0f}" font-size="12">'
        yield f"<style>svg{{color:{LIGHT_INK};font-family:{FONT}}}text{{fill:currentColor}}"
        yield f"@media(prefers-color-scheme:dark){{svg{{color:{DARK_INK}}}}}</style>"
    else:
        yield ' font-size="12" style="color:var(--jp-ui-font-color1, inherit);fill:currentColor;'
        yield "display:block;width:100%;"
        yield f'min-width:560px;max-width:{WIDTH + 120:.0f}px;height:auto;font-family:{FONT}">'
    yield f'<title id="{pen.key}-t">{escape(head)}</title>'
    yield f'<desc id="{pen.key}-d">{escape(rest or head)}</desc>'
    yield "<defs>"
    for kind in sorted({kind for row in rows for kind in row.kinds()}):
        style = style_of(kind)
        if style.pattern:
            yield f'<pattern id="{pen.key}-{kind}" width="8" height="8" patternUnits="userSpaceOnUse">'
            yield f'<rect width="8" height="8" fill="{style.colour}"/>'
            yield f'<g stroke="#fff" stroke-width="1.1" fill="none">{style.pattern}</g></pattern>'
    yield "</defs>"
    yield from pen.parts
    yield "</svg>"


def _draw_row(pen: Pen, placed: Placed, limit: int | None) -> None:
    row = placed.row
    heading = f"{row.name}: " if row.name else ""
    pen.text(SIDE, pen.y + 12, heading + row_words(row, limit))
    pen.y += 18
    draw_marks(pen, placed)
    pen.y += 13 if limit else 0
    top = pen.y + (9 if row.ties else 3)
    draw_shades(pen, placed, top)
    draw_ties(pen, placed, top)
    for index, block in enumerate(row.blocks):
        left, right = placed.edges[index], placed.edges[index + 1]
        _draw_block(pen, block, SIDE + left, right - left, top)
    draw_cuts(pen, placed, top)
    draw_limit(pen, placed, top, limit)
    pen.y = top + BAR
    draw_numbers(pen, placed)
    draw_states(pen, placed)
    pen.y += 8


def row_words(row: Row, limit: int | None) -> str:
    """The figures of a row in words: tokens, messages, how far from the limit."""
    words = f"{number(row.tokens)} tokens in {number(row.messages)} message{'' if row.messages == 1 else 's'}"
    if row.grouped:
        words += f", drawn in {len(row.blocks)} groups"
    if row.legal:
        words += f", {number(row.legal)} legal cut{'' if row.legal == 1 else 's'}"
    if limit:
        over = row.tokens - limit
        words += f"; {number(over)} over" if over > 0 else f"; {number(-over)} under"
        words += f" the limit of {number(limit)}"
    return words


def _draw_block(pen: Pen, block: Block, x: float, width: float, top: float) -> None:
    gap = 1.0 if width > 2.5 else 0.0
    pen.add(f'<g class="block"><title>{escape(block_words(block))}</title>')
    y = top
    for kind, tokens in sorted(block.shares, key=lambda share: ROLE_ORDER.index(share[0])):
        height = BAR * tokens / block.tokens if block.tokens else BAR / len(block.shares)
        pen.add(
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(0.4, width - gap):.2f}" height="{height:.2f}"'
            f' fill="{pen.fill(kind)}" data-kind="{kind}"/>'
        )
        y += height
    pen.add("</g>")


def block_words(block: Block) -> str:
    """What a block's tooltip says: place, role, tokens, what became of it, the start of its text."""
    if block.start < 0:
        return f"{block.text}, {number(block.tokens)} tokens, sent with each request"
    if block.single:
        words = f"[{block.start}] {style_of(block.shares[0][0]).name}, {number(block.tokens)} tokens"
    else:
        inside = ", ".join(f"{style_of(kind).name} {number(tokens)}" for kind, tokens in block.shares)
        words = f"[{block.start}] to [{block.stop - 1}], {number(block.tokens)} tokens: {inside}"
    words += f" ({block.state})" if block.state else ""
    return f"{words}\n{block.text}" if block.text else words
