"""A strip inside a matplotlib chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from labkit.palette import ROLE_ORDER, style_of
from labkit.strip.blocks import Row
from labkit.strip.layout import place
from labkit.strip.marking import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_axes(axes: Axes, rows: Sequence[Row], *, title: str, limit: int | None) -> None:
    """Rows as bars of blocks, one above the other; x is in tokens (tiny blocks are widened to be seen)."""
    full = max([row.tokens for row in rows] + [limit or 0, 1])
    shown: dict[str, None] = {}
    for line, placed in enumerate(place(rows, full, full / 250, limit)):
        for index, block in enumerate(placed.row.blocks):
            left, bottom = placed.edges[index], line - 0.35
            for kind, tokens in sorted(block.shares, key=lambda share: ROLE_ORDER.index(share[0])):
                style = style_of(kind)
                height = 0.7 * (tokens / block.tokens if block.tokens else 1 / len(block.shares))
                label = "" if kind in shown else style.name
                shown[kind] = None
                axes.bar(
                    left, height, placed.edges[index + 1] - left, bottom, align="edge", label=label,
                    color=style.colour, hatch=style.hatch, edgecolor="white", linewidth=0.4,
                )  # fmt: skip
                bottom += height
        for cut in placed.row.cuts:
            axes.plot([placed.edges[cut]] * 2, [line + 0.35, line + 0.45], color="0.45", linewidth=1.2)
    if limit:
        axes.axvline(limit, linestyle="--", color="0.45", label=f"limit {number(limit)}")
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("tokens")
    if title:
        axes.set_title(title)
