"""The bill: what was sent in all, fresh and cached; and what was sent against what was said."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from labkit.charts.chart import INK, Chart
from labkit.charts.fonts import plain_style, without_glyph_warnings
from labkit.charts.labels import Label, place_labels
from labkit.charts.parts import (
    legend,
    look_of,
    new_figure,
    percent,
    plural,
    request_axis,
    times,
    token_axis,
    write_title,
)
from labkit.palette import style_of
from labkit.strip.blocks import Counts
from labkit.strip.marking import number
from labkit.trace import RequestRecord, Trace

BARS_UP_TO = 40  # requests; beyond, bars are too thin for their patterns


def bill(trace: Trace) -> Chart:
    """What all requests so far have sent, in tokens, cumulative: the cached part below, the fresh above.

    Providers bill cached tokens at a part of the price of fresh ones.
    """
    requests = trace.requests
    at = [request.index for request in requests]
    cached = list(accumulate(request.cached_tokens for request in requests))
    total = list(accumulate(request.tokens for request in requests))
    title = _bill_title(total, cached)
    with plain_style(INK), without_glyph_warnings():
        figure, axes = new_figure()
        write_title(figure, title)
        for kind, low, high in (("cached", [0] * len(at), cached), ("fresh", cached, total)):
            if len(at) <= BARS_UP_TO:
                heights = [top - bottom for top, bottom in zip(high, low, strict=True)]
                axes.bar(at, heights, 0.72, low, label=kind, **look_of(kind))
            else:
                axes.fill_between(at, low, high, label=kind, **look_of(kind))
        token_axis(axes, "tokens sent so far")
        request_axis(axes, len(at))
        axes.set_ylim(0, 1.15 * max([1, *total]))
        legend(axes)
        if at:
            end = Label(at[-1], total[-1], number(total[-1]))
            place_labels(axes, [end], [list(zip(at, total, strict=True))])
    table: list[dict[str, object]] = [
        {"request": request.index, "tokens sent": request.tokens, "cached": request.cached_tokens,
         "fresh": request.tokens - request.cached_tokens, "sent so far": total[place],
         "cached so far": cached[place]}
        for place, request in enumerate(requests)
    ]  # fmt: skip
    alt = f"Stacked chart of the tokens sent so far after each of {plural(len(at), 'request')}: {title}."
    return Chart(figure, title, alt, table)


def _bill_title(total: Sequence[int], cached: Sequence[int]) -> str:
    if not total:
        return "No requests yet"
    fresh = total[-1] - cached[-1]
    return (
        f"{plural(len(total), 'request')} sent {number(total[-1])} tokens in all: {number(fresh)} fresh, "
        f"{number(cached[-1])} cached ({percent(cached[-1], total[-1])})"
    )


def said_against_sent(trace: Trace, counter: Counts | None = None) -> Chart:
    """What was said so far (each message once) against what was sent so far (all, each time), in tokens.

    Without compaction the first grows in a straight line and the second with the square of the requests.
    """
    requests = trace.requests
    at = [request.index for request in requests]
    sent = list(accumulate(request.tokens for request in requests))
    said = said_so_far(requests, counter)
    title = "No requests yet"
    if requests:
        title = f"{number(said[-1])} tokens were said, {number(sent[-1])} were sent"
        title += f": {times(sent[-1] / said[-1])} times as many" if said[-1] else ""
    with plain_style(INK), without_glyph_warnings():
        figure, axes = new_figure()
        write_title(figure, title)
        lines = []
        for kind, values, name, dash in (
            ("tool", sent, "sent so far", "-"),
            ("user", said, "said so far", "--"),
        ):
            style = style_of(kind)
            marker = style.marker if len(at) <= BARS_UP_TO else ""
            axes.plot(at, values, color=style.colour, marker=marker, linestyle=dash, label=name)
            lines.append(list(zip(at, values, strict=True)))
        token_axis(axes, "tokens so far")
        request_axis(axes, len(at))
        axes.set_ylim(0, 1.15 * max([1, *sent]))
        legend(axes)
        if at:
            both = (("sent", sent[-1]), ("said", said[-1]))
            ends = [Label(at[-1], value, f"{word} {number(value)}") for word, value in both]
            place_labels(axes, ends, lines)
    table: list[dict[str, object]] = [
        {"request": index, "sent": request.tokens, "said so far": said[place], "sent so far": sent[place]}
        for place, (index, request) in enumerate(zip(at, requests, strict=True))
    ]
    alt = f"Two lines over {plural(len(at), 'request')}, both cumulative: {title}."
    return Chart(figure, title, alt, table)


def said_so_far(requests: Sequence[RequestRecord], counter: Counts | None = None) -> list[int]:
    """For each request: the tokens of all messages that were new up to it, each counted once.

    A message is new when the request before did not hold it; so is a summary or a stub, once.
    """
    from labkit.tokens import common_prefix, shared_counter

    counter = counter or shared_counter()
    said, total = [], 0
    before: list[dict[str, object]] = []
    for request in requests:
        start = common_prefix(before, request.messages)
        held = {id(message) for message in before[start:]}
        rest = before[start:]
        new = [m for m in request.messages[start:] if id(m) not in held and m not in rest]
        total += sum(counter.message(message) for message in new)
        said.append(total)
        before = request.messages
    return said
