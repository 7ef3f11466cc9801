"""What several charts need: an empty figure, axes in tokens, wrapped titles, a limit's line."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from labkit.charts.chart import INK
from labkit.palette import style_of
from labkit.strip.marking import clean, columns, number

TITLE_COLUMNS = 92
LEGEND_COLUMNS = 112


def new_figure(height: float = 3.6) -> tuple[Figure, Axes]:
    """A figure that pyplot knows nothing of, with one pair of axes."""
    figure = Figure(figsize=(8, height), layout="constrained")
    return figure, figure.subplots()


def two_panels(height: float = 5) -> tuple[Figure, Axes, Axes]:
    """A figure with two pairs of axes, one above the other."""
    figure = Figure(figsize=(8, height), layout="constrained")
    upper, lower = figure.subplots(2)
    return figure, upper, lower


def look_of(kind: str) -> dict[str, Any]:
    """matplotlib's settings for a bar or an area of a role or kind: its colour and its hatch, in white."""
    style = style_of(kind)
    return {"facecolor": style.colour, "hatch": style.hatch, "edgecolor": "white", "linewidth": 0}


def write_title(figure: Figure, title: str) -> None:
    """The finding, at the left over everything, in as many lines as it takes."""
    text = wrap_title(clean(title))
    figure.suptitle(text, x=0.01, ha="left", fontsize=10.5, fontweight="bold", linespacing=1.3)


def wrap_title(title: str, width: int = TITLE_COLUMNS) -> str:
    """A title in lines of at most `width` columns, broken at spaces, or between Chinese characters.

    >>> wrap_title("one two three", width=7)
    'one two\\nthree'
    """
    lines = [""]
    for piece in _pieces(title):
        if lines[-1] and columns(lines[-1]) + columns(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return "\n".join(line.rstrip() for line in lines)


def _pieces(text: str) -> list[str]:
    pieces: list[str] = [""]
    for character in text:
        pieces[-1] += character
        if character == " " or unicodedata.east_asian_width(character) in "WF":
            pieces.append("")
    return [piece for piece in pieces if piece]


def token_axis(axes: Axes, label: str = "tokens", along: str = "y") -> None:
    """An axis of whole numbers written like 7,412, from zero."""
    axis = axes.yaxis if along == "y" else axes.xaxis
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    (axes.set_ylabel if along == "y" else axes.set_xlabel)(label)
    axes.grid(axis="y" if along == "y" else "x", color=INK, alpha=0.12, linewidth=0.6)
    axes.set_axisbelow(True)


def request_axis(axes: Axes, count: int) -> None:
    """The axis of requests, 1 to `count`."""
    axes.xaxis.set_major_locator(MaxNLocator(nbins=min(12, max(1, count)), integer=True))
    axes.set_xlabel("request")
    axes.set_xlim(0.5, max(1, count) + 0.5)


def legend(axes: Axes) -> None:
    """The legend above the axes, where it covers nothing, in as few lines as it takes."""
    handles, names = axes.get_legend_handles_labels()
    if handles:
        room = sum(columns(name) + 9 for name in names)
        lines = max(1, -(-room // LEGEND_COLUMNS))
        axes.legend(
            handles,
            names,
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=-(-len(names) // lines),
            borderaxespad=0.2,
            handlelength=2.4,
            columnspacing=1.4,
        )


def limit_line(axes: Axes, limit: int, name: str = "limit") -> None:
    """The limit: a broken line through the axes."""
    axes.axhline(limit, color=INK, linestyle=(0, (5, 2)), linewidth=1.4, label=f"{name} {number(limit)}")


def threshold_line(axes: Axes, threshold: int) -> None:
    """A threshold in messages: a dotted line upright in the axes."""
    axes.axvline(threshold, color=INK, linestyle=":", linewidth=1.6, label=f"threshold {number(threshold)}")


def plural(count: int, word: str) -> str:
    """A number with its word.

    >>> plural(1, "request"), plural(1200, "request")
    ('1 request', '1,200 requests')
    """
    return f"{number(count)} {word}{'' if count == 1 else 's'}"


def percent(part: float, whole: float) -> str:
    """A share in whole per cent; "under 1 %" for a small one.

    >>> percent(1, 3), percent(1, 1000), percent(0, 0)
    ('33 %', 'under 1 %', '0 %')
    """
    share = 100 * part / whole if whole else 0.0
    return "under 1 %" if 0 < share < 1 else f"{share:.0f} %"


def times(value: float) -> str:
    """How many times as large: one decimal while it says something."""
    return f"{value:.1f}" if value < 20 else number(value)


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
