"""Policies side by side: what each sent over the same session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.charts.chart import INK, Chart
from labkit.charts.fonts import plain_style, without_glyph_warnings
from labkit.charts.parts import legend, look_of, new_figure, percent, token_axis, wrap_title, write_title
from labkit.strip.marking import clean, number
from labkit.trace import Trace


def policies(traces: Mapping[str, Trace], limit: int | None = None) -> Chart:
    """One bar for each policy's trace: tokens sent in all, cached and fresh; the largest request beside.

    With `limit` (tokens): how many requests were over it.
    """
    table = [_row(name, trace, limit) for name, trace in traces.items()]
    title = _title(table)
    with plain_style(INK), without_glyph_warnings():
        figure, axes = new_figure(height=1.5 + 0.55 * max(1, len(table)))
        write_title(figure, title)
        widest = max([1, *(row["sent"] for row in table)])
        for place, row in enumerate(table):
            left = 0
            for kind in ("cached", "fresh"):
                name = kind if place == 0 else ""
                axes.barh(place, row[kind], 0.62, left, label=name, **look_of(kind))
                left += row[kind]
            words = f"{number(row['sent'])}; peak {number(row['peak'])}"
            words += f"; {number(row['over the limit'])} over the limit" if limit else ""
            axes.annotate(words, (left, place), (5, 0), textcoords="offset points", va="center", fontsize=8.5,
                          gid="label")  # fmt: skip
        axes.set_yticks(range(len(table)), [wrap_title(clean(row["policy"]), 24) for row in table])
        axes.invert_yaxis()
        token_axis(axes, "tokens sent in all requests together", along="x")
        axes.set_xlim(0, widest * (1.62 if limit else 1.42))
        legend(axes)
    alt = f"A bar for each of {len(table)} policies: {title}. " + " ".join(
        f"{row['policy']}: {number(row['sent'])} sent, {number(row['cached'])} of them cached, "
        f"peak {number(row['peak'])}, compactions {number(row['compactions'])}."
        for row in table
    )
    return Chart(figure, title, alt.strip(), table)


def _row(name: str, trace: Trace, limit: int | None) -> dict[str, Any]:
    sent = sum(request.tokens for request in trace.requests)
    cached = sum(request.cached_tokens for request in trace.requests)
    row: dict[str, Any] = {"policy": name, "sent": sent, "cached": cached, "fresh": sent - cached}
    row["peak"] = max((request.tokens for request in trace.requests), default=0)
    if limit:
        row["over the limit"] = sum(1 for request in trace.requests if request.tokens > limit)
    row["compactions"] = sum(1 for request in trace.requests if request.compaction)
    return row


def _title(table: list[dict[str, Any]]) -> str:
    if not table:
        return "No policies to compare"
    most = max(table, key=lambda row: row["sent"])
    least = min(table, key=lambda row: row["sent"])
    if most["sent"] == least["sent"]:
        return f"All policies sent {number(most['sent'])} tokens"
    saved = percent(most["sent"] - least["sent"], most["sent"])
    title = f"“{least['policy']}” sent {number(least['sent'])} tokens, {saved} less than “{most['policy']}”"
    freshest = min(table, key=lambda row: row["fresh"])
    if freshest is not least:
        title += f"; “{freshest['policy']}” sent the fewest fresh ones, {number(freshest['fresh'])}"
    return title
