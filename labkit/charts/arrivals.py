"""How a streamed reply arrives: one mark for each piece, in the row of what it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes

from labkit.charts.chart import INK, Chart
from labkit.charts.fonts import plain_style, without_glyph_warnings
from labkit.charts.parts import listed, new_figure, plural, write_title
from labkit.messages import text_of
from labkit.palette import SERIES, style_of
from labkit.streaming import growing_message, merge_delta, plain_chunks
from labkit.strip.marking import clean, number

PIECES_SHOWN_UP_TO = 32  # chunks; beyond, the pieces would run into each other
JOINED_WIDTH = 60  # characters of a row's joined pieces in the table
ROWS = ("start", "text", "refusal", "reasoning", "call", "finish", "usage", "other")


@dataclass(frozen=True)
class Piece:
    """One thing that a chunk brought: the chunk's number (from 1), the row it belongs to, and its text."""

    chunk: int
    row: str
    text: str = ""


def arrivals(chunks: Iterable[Any], seconds: Sequence[float] | None = None) -> Chart:
    """The pieces of a streamed reply in the order they came: text, each tool call's fragments, finish, usage.

    `seconds` (one for each chunk, measured from when the request was sent) puts time on the axis instead of
    the chunk's number. The title and the table count chunks either way, so that two runs say the same.
    """
    read = list(plain_chunks(chunks))
    pieces = read_pieces(read)
    rows = sorted({piece.row for piece in pieces}, key=_row_order)
    at = [1000 * second for second in seconds] if seconds is not None else list(range(1, len(read) + 1))
    if len(at) != len(read):
        raise ValueError(f"{plural(len(at), 'time')} for {plural(len(read), 'chunk')}: give one for each")
    title, timed = _title(pieces, len(read)), seconds is not None
    with plain_style(INK), without_glyph_warnings():
        figure, axes = new_figure(height=1.5 + 0.44 * max(1, len(rows)))
        write_title(figure, title)
        _draw(axes, pieces, rows, at, timed)
    return Chart(figure, title, _alt(title, pieces, rows, at if timed else []), _table(pieces, rows))


# --- reading ----------------------------------------------------------------------------------------------


def read_pieces(chunks: Iterable[dict[str, Any]]) -> list[Piece]:
    """What each chunk brought, and where it belongs. A chunk that brings nothing gets a piece as well."""
    growing = growing_message()
    pieces: list[Piece] = []
    for place, chunk in enumerate(chunks, start=1):
        found = [Piece(place, row, text) for row, text in _brought(chunk, growing)]
        pieces += found or [Piece(place, "start" if place == 1 else "other")]
    names = {f"call {n}": call["name"] for n, call in enumerate(growing["calls"], start=1)}
    return [
        replace(piece, row=f"{piece.row}: {names[piece.row]}") if piece.row in names else piece
        for piece in pieces
    ]


def _brought(chunk: dict[str, Any], growing: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Rows and texts; merges the chunk into the growing message to see which calls it made longer."""
    for choice in chunk.get("choices") or []:
        delta = choice.get("delta") or {}
        for row, key in (("text", "content"), ("refusal", "refusal"), ("reasoning", "reasoning_content")):
            if text_of(delta.get(key)):
                yield row, text_of(delta[key])
        had = [len(call["arguments"]) for call in growing["calls"]]
        merge_delta(growing, delta)
        for n, call in enumerate(growing["calls"], start=1):
            for text in call["arguments"][had[n - 1] if n <= len(had) else 0 :]:
                yield f"call {n}", text
        if choice.get("finish_reason"):
            yield "finish", choice["finish_reason"]
    if chunk.get("usage"):
        yield "usage", ""


def _row_order(row: str) -> tuple[int, int]:
    if row.startswith("call "):
        return ROWS.index("call"), int(row[5 : row.index(":")])
    return ROWS.index(row), 0


# --- words ------------------------------------------------------------------------------------------------


def _title(pieces: Sequence[Piece], chunks: int) -> str:
    if not pieces:
        return "No chunks"
    found = [f"{plural(chunks, 'chunk')}"]
    text = [piece for piece in pieces if piece.row == "text"]
    if text:
        first, last = text[0].chunk, text[-1].chunk
        found.append(f"the first word came with chunk {number(first)}, the last with chunk {number(last)}")
    fragments = [piece.row for piece in pieces if piece.row.startswith("call ")]
    if fragments:
        names = sorted(set(fragments), key=_row_order)
        counts = listed([number(fragments.count(name)) for name in names])
        switches = sum(one != other for one, other in pairwise(fragments))
        woven = ", woven together" if switches >= len(names) > 1 else ""
        found.append(f"{plural(len(names), 'tool call')} in {counts} fragments{woven}")
    return ": ".join([found[0], "; ".join(found[1:])]) if found[1:] else found[0]


def _alt(title: str, pieces: Sequence[Piece], rows: Sequence[str], at: Sequence[float]) -> str:
    words = [f"Timeline of a streamed reply, a row for each thing it holds. {title}."]
    for row in rows:
        places = [piece.chunk for piece in pieces if piece.row == row]
        words.append(f"{row.capitalize()}: chunk {_runs(places)}.")
    text = [piece.chunk for piece in pieces if piece.row == "text"]
    if at and text:
        words.append(
            f"The first word came after {number(at[text[0] - 1])} ms, the end after {number(at[-1])} ms."
        )
    return clean(" ".join(words))


def _runs(places: Sequence[int]) -> str:
    """Numbers in words: `2 to 5, 7`.

    >>> _runs([2, 3, 4, 5, 7])
    '2 to 5, 7'
    """
    runs: list[list[int]] = []
    for place in places:
        if runs and place <= runs[-1][1] + 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    return ", ".join(str(low) if low == high else f"{low} to {high}" for low, high in runs)


def _table(pieces: Sequence[Piece], rows: Sequence[str]) -> list[dict[str, object]]:
    table: list[dict[str, object]] = []
    for row in rows:
        own = [piece for piece in pieces if piece.row == row]
        joined = clean("".join(piece.text for piece in own))
        shown = joined if len(joined) <= JOINED_WIDTH else f"{joined[:JOINED_WIDTH]}..."
        places = {"first chunk": own[0].chunk, "last chunk": own[-1].chunk}
        table.append({"goes to": clean(row), "pieces": len(own), **places, "joined": shown})
    return table


# --- drawing ----------------------------------------------------------------------------------------------


def _draw(axes: Axes, pieces: Sequence[Piece], rows: Sequence[str], at: Sequence[float], timed: bool) -> None:
    height = {row: place for place, row in enumerate(rows)}
    message = [piece for piece in pieces if piece.row == "text" or piece.row.startswith("call ")]
    axes.plot(
        [at[piece.chunk - 1] for piece in message], [height[piece.row] for piece in message],
        color=INK, alpha=0.25, linewidth=0.8, zorder=1,
    )  # fmt: skip
    for row in rows:
        colour, marker = _look(row, rows)
        own = [piece for piece in pieces if piece.row == row]
        axes.plot(
            [at[piece.chunk - 1] for piece in own], [height[row]] * len(own),
            linestyle="", marker=marker, markersize=6, color=colour, zorder=2,
        )  # fmt: skip
        if row.startswith("call ") and len(at) <= PIECES_SHOWN_UP_TO and not timed:
            _write_pieces(axes, own, height[row], at, above=row.startswith("call 1:"))
    if timed:
        _write_times(axes, pieces, height, at)
    axes.set_yticks(range(len(rows)), [clean(row) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.7)
    axes.set_xlim(0 if timed else 0.2, 1.03 * max([1, *at]) if timed else len(at) + 0.8)
    axes.set_xlabel("milliseconds since the request was sent" if timed else "chunk, in the order they came")
    axes.grid(axis="x", color=INK, alpha=0.12, linewidth=0.6)
    axes.set_axisbelow(True)


def _write_pieces(
    axes: Axes, pieces: Sequence[Piece], height: float, at: Sequence[float], above: bool
) -> None:
    """Each fragment's own text at its mark; on the side where the line to the other calls does not run."""
    for piece in pieces:
        if piece.text:
            axes.annotate(
                clean(piece.text), (at[piece.chunk - 1], height), (0, 6 if above else -13),
                textcoords="offset points", ha="center", fontsize=7, family="monospace", gid="label",
            )  # fmt: skip


def _write_times(axes: Axes, pieces: Sequence[Piece], height: dict[str, int], at: Sequence[float]) -> None:
    """When the first word came, and when the whole reply was there."""
    text = [piece for piece in pieces if piece.row == "text"]
    first, last = (text[:1], "first word", (0, 8), "left"), (pieces[-1:], "whole reply", (-9, 0), "right")
    for found, words, offset, side in (first, last):
        for piece in found:
            spot = (at[piece.chunk - 1], height[piece.row])
            axes.annotate(
                f"{words} after {number(spot[0])} ms", spot, offset, textcoords="offset points",
                ha=side, va="baseline" if side == "left" else "center", fontsize=8.5, gid="label",
            )  # fmt: skip


def _look(row: str, rows: Sequence[str]) -> tuple[str, str]:
    """Colour and marker: each call has its own, the rest is told apart by its row."""
    if row.startswith("call "):
        calls = [name for name in rows if name.startswith("call ")]
        colour, marker, _ = SERIES[(calls.index(row) + 1) % len(SERIES)]
        return colour, marker
    if row == "text":
        return SERIES[0][0], SERIES[0][1]
    return style_of("system").colour, "|" if row in ("start", "other") else "D"
