"""The tokens of each request, with the limit and the places where compaction struck."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from matplotlib.axes import Axes

from labkit.charts.chart import INK, Chart
from labkit.charts.fonts import plain_style, without_glyph_warnings
from labkit.charts.labels import Label, place_labels
from labkit.charts.parts import (
    legend,
    limit_line,
    new_figure,
    plural,
    request_axis,
    times,
    token_axis,
    write_title,
)
from labkit.messages import Message
from labkit.palette import style_of
from labkit.strip.marking import number
from labkit.trace import RequestRecord, Trace

Estimate = Callable[[list[Message]], float] | Sequence[float]

LABELLED_DROPS = 4  # of more compactions only the largest drops get a label
FIRST_UP_TO = 20  # requests; of a longer run the first one's label would stand among the others' marks
MARKERS_UP_TO = 60  # requests; beyond, markers would hide the line


def growth(trace: Trace, limit: int | None = None, estimate: Estimate | None = None) -> Chart:
    """What each request sent, in tokens: a line that climbs until something makes it smaller.

    `limit` (tokens) is drawn as a line. `estimate` is a second, dotted line, marked with ≈: a function of a
    request's messages such as `estimate_tokens`, or a number for each request.
    """
    requests = trace.requests
    estimated = _estimated(requests, estimate)
    title = growth_title(requests, limit)
    with plain_style(INK), without_glyph_warnings():
        figure, axes = new_figure()
        write_title(figure, title)
        _draw(axes, requests, estimated, limit)
    return Chart(figure, title, growth_alt(title, requests, limit), _table(requests, estimated, limit))


def growth_title(requests: Sequence[RequestRecord], limit: int | None) -> str:
    """The finding in a sentence, with the measured numbers."""
    if not requests:
        return "No requests yet"
    largest = max(requests, key=lambda request: request.tokens)
    struck = sum(1 for request in requests if request.compaction)
    title = f"Request {largest.index} sent {number(largest.tokens)} tokens"
    if struck:
        title = (
            f"Compaction struck {'once' if struck == 1 else plural(struck, 'time')}; the largest request, "
        )
        title += f"{largest.index} of {len(requests)}, sent {number(largest.tokens)} tokens"
    elif len(requests) > 1 and requests[0].tokens and largest.index > 1:
        title += f", {times(largest.tokens / requests[0].tokens)} times request 1"
    if limit:
        over = sum(1 for request in requests if request.tokens > limit)
        word = f"{number(over)} of {plural(len(requests), 'request')}" if over else "none"
        title += f"; {word} over the limit of {number(limit)}"
    return title


def _estimated(requests: Sequence[RequestRecord], estimate: Estimate | None) -> list[float]:
    if estimate is None:
        return []
    if callable(estimate):
        return [estimate(request.messages) for request in requests]
    if len(estimate) != len(requests):
        raise ValueError(f"{len(estimate)} estimates for {len(requests)} requests: give one for each")
    return list(estimate)


def _draw(axes: Axes, requests: Sequence[RequestRecord], estimated: list[float], limit: int | None) -> None:
    at = [request.index for request in requests]
    tokens = [request.tokens for request in requests]
    style, guess = style_of("user"), style_of("summary")
    marker = style.marker if len(requests) <= MARKERS_UP_TO else ""
    axes.plot(at, tokens, color=style.colour, marker=marker, label="tokens sent")
    if estimated:
        axes.plot(at, estimated, color=guess.colour, linestyle=":", marker="" if not marker else guess.marker,
                  label="≈ estimate")  # fmt: skip
    if limit:
        limit_line(axes, limit)
    struck = [request for request in requests if request.compaction]
    if struck:
        bottom = [request.tokens for request in struck]
        axes.plot([request.index for request in struck], bottom, linestyle="", marker="v", markersize=7,
                  color=style_of("tool").colour, label="compaction before this request")  # fmt: skip
    token_axis(axes, "tokens in the request")
    request_axis(axes, len(requests))
    axes.set_ylim(0, 1.18 * max([1, *tokens, *estimated, limit or 0]))
    legend(axes)
    lines = [list(zip(at, values, strict=True)) for values in (tokens, estimated) if values]
    lines += [[(0, limit), (len(at) + 1, limit)]] if limit else []
    place_labels(axes, _labels(requests), lines)


def _labels(requests: Sequence[RequestRecord]) -> list[Label]:
    """The peak, the last request, in a short run the first, then the largest drops."""
    if not requests:
        return []
    peak = max(requests, key=lambda request: request.tokens)
    named = [peak, requests[-1], *(requests[:1] if len(requests) <= FIRST_UP_TO else [])]
    labels = {
        request.index: Label(request.index, request.tokens, number(request.tokens)) for request in named
    }
    pairs = pairwise(requests)
    drops = [
        (old.tokens - new.tokens, old, new)
        for old, new in pairs
        if new.compaction and new.tokens < old.tokens
    ]
    for _, old, new in sorted(drops, key=lambda drop: -drop[0])[:LABELLED_DROPS]:
        text = f"{number(old.tokens)} → {number(new.tokens)}"
        labels[new.index] = Label(new.index, new.tokens, text)
    return list(labels.values())


def growth_alt(title: str, requests: Sequence[RequestRecord], limit: int | None) -> str:
    """The chart in words and figures, for those who cannot see it."""
    if not requests:
        return "An empty chart: no requests yet."
    first, last = requests[0], requests[-1]
    words = f"Line chart of the tokens in each of {plural(len(requests), 'request')}: {title}. "
    words += f"Request 1 sent {number(first.tokens)} tokens, request {last.index} sent {number(last.tokens)}."
    struck = [request.index for request in requests if request.compaction]
    if struck:
        shown = ", ".join(map(str, struck[:10])) + (" and others" if len(struck) > 10 else "")
        words += f" Compaction came before request {shown}."
    return words + (f" The limit is {number(limit)} tokens." if limit else "")


def _table(
    requests: Sequence[RequestRecord], estimated: list[float], limit: int | None
) -> list[dict[str, object]]:
    rows = []
    struck = any(request.compaction for request in requests)
    for place, request in enumerate(requests):
        row: dict[str, object] = {"request": request.index, "messages": len(request.messages)}
        row["tokens sent"] = request.tokens
        if estimated:
            row["≈ estimate"] = round(estimated[place])
        if limit:
            row["over the limit"] = max(0, request.tokens - limit)
        if struck:
            row["compaction"] = request.compaction.reason if request.compaction else ""
        rows.append(row)
    return rows
