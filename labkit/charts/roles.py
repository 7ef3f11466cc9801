"""What requests are made of, role by role; and how messages and tokens rise and fall together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from labkit.charts.chart import INK, Chart
from labkit.charts.fonts import plain_style, without_glyph_warnings
from labkit.charts.labels import Label, place_labels
from labkit.charts.parts import (
    legend,
    limit_line,
    look_of,
    new_figure,
    percent,
    plural,
    request_axis,
    token_axis,
    two_panels,
    write_title,
)
from labkit.palette import ROLE_ORDER, style_of
from labkit.strip.marking import number
from labkit.trace import RequestRecord, Trace

BARS_UP_TO = 40  # requests; beyond, bars are too thin for their patterns


def by_role(trace: Trace, limit: int | None = None) -> Chart:
    """Each request in layers, one for each role: what is it that fills the window?"""
    requests = trace.requests
    roles = [role for role in _order(requests) if any(request.by_role.get(role) for request in requests)]
    title = _role_title(requests)
    with plain_style(INK), without_glyph_warnings():
        figure, axes = new_figure(height=4)
        write_title(figure, title)
        _stack(axes, requests, roles)
        if limit:
            limit_line(axes, limit)
        token_axis(axes, "tokens in the request")
        request_axis(axes, len(requests))
        axes.set_ylim(0, 1.15 * max([1, limit or 0, *(request.tokens for request in requests)]))
        legend(axes)
    table: list[dict[str, Any]] = [
        {"request": request.index, **{_name(role): request.by_role.get(role, 0) for role in roles}}
        for request in requests
    ]
    alt = f"Stacked chart of the tokens by role in each of {plural(len(requests), 'request')}. {title}."
    return Chart(figure, title, alt, table)


def sawtooth(trace: Trace, threshold: int | None = None) -> Chart:
    """The messages of each request, and beneath them its tokens: what compaction by count does to both.

    `threshold` (messages) is drawn as a line.
    """
    requests = trace.requests
    counts = [len(request.messages) for request in requests]
    tokens = [request.tokens for request in requests]
    struck = [request for request in requests if request.compaction]
    title = f"Compaction struck {plural(len(struck), 'time')}; the most messages in a request: "
    title += f"{number(max(counts, default=0))}, the most tokens: {number(max(tokens, default=0))}"
    with plain_style(INK), without_glyph_warnings():
        figure, upper, lower = two_panels()
        write_title(figure, title)
        _saw(upper, requests, counts, "user", "messages")
        if threshold:
            limit_line(upper, threshold, "threshold")
            upper.set_ylim(0, 1.2 * max([threshold, *counts]))
        _saw(lower, requests, tokens, "tool", "tokens")
        upper.set_xlabel("")
        legend(upper)
        legend(lower)
        for axes, values in ((upper, counts), (lower, tokens)):
            _label_peak(axes, values)
    table: list[dict[str, Any]] = [
        {
            "request": request.index,
            "messages": len(request.messages),
            "tokens": request.tokens,
            "compaction": request.compaction.reason if request.compaction else "",
        }
        for request in requests
    ]
    alt = (
        f"Two line charts over {plural(len(requests), 'request')}, messages above and tokens below. {title}."
    )
    return Chart(figure, title, alt, table)


def _saw(axes: Axes, requests: Sequence[RequestRecord], values: list[int], kind: str, what: str) -> None:
    style = style_of(kind)
    at = [request.index for request in requests]
    marker = style.marker if len(at) <= BARS_UP_TO else ""
    axes.plot(at, values, color=style.colour, marker=marker, label=f"{what} in the request")
    struck = [(x, y) for x, y, request in zip(at, values, requests, strict=True) if request.compaction]
    if struck:
        xs, ys = [x for x, _ in struck], [y for _, y in struck]
        axes.plot(xs, ys, "v", color=style_of("summary").colour, label="compaction before this request")
    token_axis(axes, what)
    request_axis(axes, len(requests))
    axes.set_ylim(0, 1.2 * max([1, *values]))


def _label_peak(axes: Axes, values: list[int]) -> None:
    if values:
        peak = max(range(len(values)), key=lambda place: values[place])
        label = Label(peak + 1, values[peak], number(values[peak]))
        place_labels(axes, [label], [list(enumerate(values, start=1))])


def _order(requests: Sequence[RequestRecord]) -> list[str]:
    known = [*ROLE_ORDER, "developer"]
    found = {role for request in requests for role in request.by_role}
    return [*(role for role in known if role in found), *sorted(found - set(known))]


def _name(role: str) -> str:
    return "system" if role == "developer" else style_of(role).name


def _stack(axes: Axes, requests: Sequence[RequestRecord], roles: Sequence[str]) -> None:
    at = [request.index for request in requests]
    base = [0] * len(at)
    for role in roles:
        heights = [request.by_role.get(role, 0) for request in requests]
        tops = [low + height for low, height in zip(base, heights, strict=True)]
        if len(at) <= BARS_UP_TO:
            axes.bar(at, heights, 0.72, base, label=_name(role), **look_of(role))
        else:
            axes.fill_between(at, base, tops, label=_name(role), **look_of(role))
        base = tops


def _role_title(requests: Sequence[RequestRecord]) -> str:
    if not requests:
        return "No requests yet"
    largest = max(requests, key=lambda request: request.tokens)
    role, tokens = max(largest.by_role.items(), key=lambda share: share[1], default=("", 0))
    share = percent(tokens, largest.tokens)
    return (
        f"Of the {number(largest.tokens)} tokens in request {largest.index}, {number(tokens)} ({share}) "
        f"are of the kind “{_name(role)}”"
    )
