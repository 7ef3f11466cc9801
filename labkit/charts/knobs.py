"""How good an estimate is, and what turning one knob does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from labkit.charts.chart import INK, Chart
from labkit.charts.fonts import plain_style, without_glyph_warnings
from labkit.charts.labels import Label, place_labels
from labkit.charts.parts import (
    legend,
    listed,
    new_figure,
    plural,
    token_axis,
    two_panels,
    wrap_title,
    write_title,
)
from labkit.palette import SERIES, STYLES
from labkit.rereads import count_re_reads
from labkit.strip.marking import clean, number
from labkit.tokens import shared_counter
from labkit.trace import Trace


def estimates(texts: Mapping[str, str], divisors: tuple[int, ...] = (2, 4)) -> Chart:
    """How far characters / 2 and characters / 4 are off the exact count, in per cent, for each named text."""
    table = [_estimate_row(name, text, divisors) for name, text in texts.items()]
    errors = [row[f"error of / {divisor}, %"] for row in table for divisor in divisors]
    title = "No texts to estimate"
    if errors:
        low, high = min(errors), max(errors)
        title = f"Estimates by characters miss the exact count by {low:+.0f} % to {high:+.0f} %"
    with plain_style(INK), without_glyph_warnings():
        figure, axes = new_figure(height=1.6 + 0.62 * max(1, len(table)))
        write_title(figure, title)
        thickness = 0.76 / len(divisors)
        for place, divisor in enumerate(divisors):
            colour, _, _ = SERIES[place % len(SERIES)]
            hatch = list(STYLES.values())[place % len(STYLES)].hatch if place else ""
            for line, row in enumerate(table):
                error = row[f"error of / {divisor}, %"]
                middle = line + (place - (len(divisors) - 1) / 2) * thickness
                name = f"≈ characters / {divisor}" if line == 0 else ""
                axes.barh(middle, error, 0.9 * thickness, label=name, facecolor=colour, hatch=hatch,
                          edgecolor="white", linewidth=0)  # fmt: skip
                axes.annotate(f"{error:+.0f} %", (error, middle), (4 if error >= 0 else -4, 0),
                              textcoords="offset points", va="center", fontsize=8.5, gid="label",
                              ha="left" if error >= 0 else "right")  # fmt: skip
        axes.axvline(0, color=INK, linewidth=1.2)
        axes.set_yticks(range(len(table)), [wrap_title(clean(row["text"]), 24) for row in table])
        axes.invert_yaxis()
        axes.set_xlabel("error against the exact count of tokens, in per cent")
        reach = max([10.0, *(abs(error) for error in errors)])
        axes.set_xlim(1.25 * min(-0.35 * reach, *errors, 0), 1.25 * max(0.35 * reach, *errors, 0))
        legend(axes)
    alt = f"Bars for {plural(len(table), 'text')}: {title}. " + " ".join(
        f"{row['text']}: {number(row['exact tokens'])} tokens, "
        + listed([f"characters / {d} {row[f'error of / {d}, %']:+.0f} %" for d in divisors])
        + "."
        for row in table
    )
    return Chart(figure, title, clean(alt), table)


def _estimate_row(name: str, text: str, divisors: tuple[int, ...]) -> dict[str, Any]:
    exact = shared_counter().text(text)
    row: dict[str, Any] = {"text": name, "characters": len(text), "exact tokens": exact}
    for divisor in divisors:
        estimate = -(-len(text) // divisor)
        row[f"≈ characters / {divisor}"] = estimate
        row[f"error of / {divisor}, %"] = 100 * (estimate - exact) / exact if exact else 0.0
    return row


def sweep(traces: Mapping[int, Trace], knob: str = "limit, in tokens") -> Chart:
    """What turning a knob does: tokens sent in all, and files read again, for each of its values.

    `traces` maps the knob's values to the trace of a run (or a replay) with it.
    """
    table = [
        {
            knob: value,
            "tokens sent": sum(request.tokens for request in trace.requests),
            "compactions": sum(1 for request in trace.requests if request.compaction),
            "files read again": count_re_reads(trace),
        }
        for value, trace in sorted(traces.items())
    ]
    title = "No runs yet"
    if table:
        title = _sweep_title(table, knob)
    with plain_style(INK), without_glyph_warnings():
        figure, upper, lower = two_panels()
        write_title(figure, title)
        _panel(upper, table, knob, "tokens sent", 0)
        _panel(lower, table, knob, "files read again", 1)
        for axes, what in ((upper, "tokens sent"), (lower, "files read again")):
            points = [(row[knob], row[what]) for row in table]
            place_labels(axes, [Label(x, y, number(y)) for x, y in points], [points])
    alt = f"Two line charts over {knob}. {title}."
    return Chart(figure, title, alt, table)


def _sweep_title(table: list[dict[str, Any]], knob: str) -> str:
    """From one end to the other; where the fewest tokens lie between the ends, what they are there."""
    name, (first, last) = knob.partition(",")[0], (table[0], table[-1])
    least = min(table, key=lambda row: row["tokens sent"])
    if least["tokens sent"] < min(first["tokens sent"], last["tokens sent"]):
        ends = " and ".join(f"{number(row['tokens sent'])} at {number(row[knob])}" for row in (first, last))
        sent = number(least["tokens sent"])
        return f"Fewest tokens sent at {name} {number(least[knob])}: {sent}, against {ends}"
    title = f"From {name} {number(first[knob])} to {number(last[knob])}: "
    title += f"{number(first['tokens sent'])} tokens sent become {number(last['tokens sent'])}, "
    title += f"{plural(first['files read again'], 're-read')} become {number(last['files read again'])}"
    return title


def _panel(axes: Axes, table: list[dict[str, Any]], knob: str, what: str, series: int) -> None:
    colour, marker, dashes = SERIES[series]
    xs, ys = [row[knob] for row in table], [row[what] for row in table]
    axes.plot(xs, ys, color=colour, marker=marker, linestyle=dashes)
    token_axis(axes, what)
    token_axis(axes, knob, along="x")
    axes.set_ylim(0, 1.25 * max([1, *ys]))
    axes.margins(x=0.08)
