"""Labels that do not overlap: each is tried at several places around its point.

One that finds no place is left out. That loses nothing: all numbers stand in the chart's table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

Line = Sequence[tuple[float, float]]  # points in data coordinates
Box = tuple[float, float, float, float]  # left, bottom, right, top, in pixels

# Where a label may stand: points to the right and up of its point, and which side of it faces the point.
PLACES: tuple[tuple[float, float, str, str], ...] = (
    (0, 7, "center", "bottom"),
    (-6, 6, "right", "bottom"),
    (6, 6, "left", "bottom"),
    (8, 0, "left", "center"),
    (-8, 0, "right", "center"),
    (0, -8, "center", "top"),
    (6, -7, "left", "top"),
    (-6, -7, "right", "top"),
    (0, 20, "center", "bottom"),
    (-16, 16, "right", "bottom"),
    (16, 16, "left", "bottom"),
    (0, -20, "center", "top"),
)
PAD = 1.5
STEP = 3.0  # pixels between the points that stand for a line
MOST_COVERED = 3  # of those points


@dataclass(frozen=True)
class Label:
    """Text for the point (x, y), in data coordinates."""

    x: float
    y: float
    text: str


def place_labels(axes: Axes, labels: Sequence[Label], lines: Sequence[Line] = ()) -> list[str]:
    """Write `labels`, the most important first, where they meet neither each other nor, if it can be, a line.

    One that would cover much of a line is left out, but for the first.

    Call it last: the axes are laid out and then stand still. Returns the texts that were written.
    """
    figure = axes.figure
    assert isinstance(figure, Figure)  # not a subfigure: our charts have none
    canvas = FigureCanvasAgg(figure)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)  # lay out without drawing: half the time
        figure.set_layout_engine("none")
    scale = figure.dpi / 72
    frame = axes.get_window_extent()
    inside = (frame.x0, frame.y0, frame.x1 + 6 * scale, frame.y1)
    ink = np.vstack([np.empty((0, 2)), *(_pixels(axes, line) for line in lines if line)])
    taken: list[Box] = []
    written: list[str] = []
    for label in labels:
        text = axes.annotate(label.text, (label.x, label.y), (0, 0), textcoords="offset points", fontsize=8.5)
        size = text.get_window_extent(canvas.get_renderer())
        point = axes.transData.transform((label.x, label.y))
        best: tuple[float, int, Box] | None = None
        for rank, (dx, dy, across, along) in enumerate(PLACES):
            box = _box(point[0] + dx * scale, point[1] + dy * scale, size.width, size.height, across, along)
            if _within(box, inside) and not any(_meet(box, other) for other in taken):
                cost = _covered(ink, box)
                if best is None or cost < best[0]:
                    best = (cost, rank, box)
        if best is None or (written and best[0] > MOST_COVERED):
            text.remove()
            continue
        dx, dy, across, along = PLACES[best[1]]
        text.set_position((dx, dy))
        text.set(ha=across, va=along, gid="label")
        taken.append(best[2])
        written.append(label.text)
    return written


def _box(x: float, y: float, width: float, height: float, across: str, along: str) -> Box:
    left = x - {"left": 0.0, "center": width / 2, "right": width}[across]
    bottom = y - {"bottom": 0.0, "center": height / 2, "top": height}[along]
    return (left - PAD, bottom - PAD, left + width + PAD, bottom + height + PAD)


def _within(box: Box, frame: Box) -> bool:
    return box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _pixels(axes: Axes, line: Line) -> np.ndarray:
    """Points along a line, a few pixels apart."""
    corners = axes.transData.transform(np.asarray(line, dtype=float))
    points = [corners[-1:]]
    for start, end in pairwise(corners):
        count = max(1, int(np.hypot(*(end - start)) / STEP))
        points.append(start + (end - start) * np.linspace(0, 1, count, endpoint=False)[:, None])
    return np.vstack(points)


def _covered(points: np.ndarray, box: Box) -> float:
    across = (points[:, 0] >= box[0]) & (points[:, 0] <= box[2])
    along = (points[:, 1] >= box[1]) & (points[:, 1] <= box[3])
    return float(np.count_nonzero(across & along))
