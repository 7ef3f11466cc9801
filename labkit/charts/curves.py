"""Several histories or policies as curves on the same axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, cycle
from typing import Any

from matplotlib.axes import Axes

from labkit.charts.chart import INK, Chart
from labkit.charts.fonts import plain_style, without_glyph_warnings
from labkit.charts.growth import MARKERS_UP_TO
from labkit.charts.labels import Label, place_labels
from labkit.charts.parts import (
    legend,
    limit_line,
    listed,
    new_figure,
    plural,
    request_axis,
    threshold_line,
    token_axis,
    write_title,
)
from labkit.messages import Message
from labkit.palette import SERIES
from labkit.strip.blocks import Counts
from labkit.strip.marking import clean, number
from labkit.trace import Trace

Points = Sequence[tuple[float, float]]


def curves(traces: Mapping[str, Trace], limit: int | None = None) -> Chart:
    """The tokens of each request, one curve for each policy's trace; `limit` (tokens) as a line."""
    lines = {
        name: [(float(request.index), float(request.tokens)) for request in trace.requests]
        for name, trace in traces.items()
    }
    longest = max((len(points) for points in lines.values()), default=0)
    peaks = {name: max((int(y) for _, y in points), default=0) for name, points in lines.items()}
    said = listed([f"“{name}” {number(peak)}" for name, peak in peaks.items()])
    title = f"The largest request: {said} tokens" if lines else "No requests yet"
    with plain_style(INK), without_glyph_warnings():
        figure, axes = new_figure(height=4)
        write_title(figure, title)
        _plot(axes, lines)
        if limit:
            limit_line(axes, limit)
        token_axis(axes, "tokens in the request")
        request_axis(axes, longest)
        axes.set_ylim(0, 1.15 * max([1, limit or 0, *peaks.values()]))
        legend(axes)
        _label_ends(axes, lines, [[(0, limit), (longest + 1, limit)]] if limit else [])
    table: list[dict[str, Any]] = []
    for place in range(longest):
        row: dict[str, Any] = {"request": place + 1}
        for name, trace in traces.items():
            row[name] = trace.requests[place].tokens if place < len(trace) else ""
        table.append(row)
    alt = f"{plural(len(lines), 'line')} of the tokens in each request. {title}."
    alt += f" The limit is {number(limit)} tokens." if limit else ""
    return Chart(figure, clean(title), clean(alt), table)


def count_against_tokens(
    histories: Mapping[str, Sequence[Message]],
    threshold: int | None = None,
    limit: int | None = None,
    counter: Counts | None = None,
) -> Chart:
    """How histories grow in messages (across) and in tokens (up): a count of messages sees only the one.

    `threshold` (messages) and `limit` (tokens) are drawn as lines.
    """
    lines = {name: _growing(history, counter) for name, history in histories.items()}
    sizes = {name: points[-1] for name, points in lines.items()}
    said = [f"“{name}”: {plural(int(x), 'message')}, {number(y)} tokens" for name, (x, y) in sizes.items()]
    title = "; ".join(said) or "No histories yet"
    with plain_style(INK), without_glyph_warnings():
        figure, axes = new_figure(height=4)
        write_title(figure, title)
        _plot(axes, lines)
        across = 1.08 * max([1, threshold or 0, *(x for x, _ in sizes.values())])
        top = 1.15 * max([1, limit or 0, *(y for _, y in sizes.values())])
        bounds: list[Points] = []
        if threshold:
            threshold_line(axes, threshold)
            bounds.append([(threshold, 0), (threshold, top)])
        if limit:
            limit_line(axes, limit)
            bounds.append([(0, limit), (across, limit)])
        token_axis(axes, "tokens in the history")
        token_axis(axes, "messages in the history", along="x")
        axes.set_xlim(0, across)
        axes.set_ylim(0, top)
        legend(axes)
        _label_ends(axes, lines, bounds)
    table = [{"history": name, "messages": x, "tokens": y} for name, (x, y) in sizes.items()]
    alt = f"{plural(len(lines), 'line')}, messages across and tokens up. {title}."
    return Chart(figure, clean(title), clean(alt), table)


def _growing(history: Sequence[Message], counter: Counts | None) -> Points:
    from labkit.tokens import shared_counter

    exact = counter or shared_counter()
    sums = accumulate((exact.message(message) for message in history), initial=0)
    return [(float(count), float(tokens)) for count, tokens in enumerate(sums)]


def _plot(axes: Axes, lines: Mapping[str, Points]) -> None:
    for (name, points), (colour, marker, dashes) in zip(lines.items(), cycle(SERIES), strict=False):
        shown = marker if len(points) <= MARKERS_UP_TO else ""
        xs, ys = [x for x, _ in points], [y for _, y in points]
        axes.plot(xs, ys, color=colour, marker=shown, linestyle=dashes, label=clean(name))


def _label_ends(axes: Axes, lines: Mapping[str, Points], bounds: Sequence[Points]) -> None:
    ends = [(*points[-1], clean(name)) for name, points in lines.items() if points]
    ends.sort(key=lambda end: -end[1])
    labels = [Label(x, y, f"{name} {number(y)}" if len(name) <= 16 else number(y)) for x, y, name in ends]
    place_labels(axes, labels, [*lines.values(), *bounds])
