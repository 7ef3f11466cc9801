"""The drop: a history before and after a compaction, by role; and one estimate beside another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from labkit.charts.chart import INK, Chart
from labkit.charts.fonts import plain_style, without_glyph_warnings
from labkit.charts.parts import look_of, new_figure, percent, plural, token_axis, write_title
from labkit.messages import Message
from labkit.palette import ROLE_ORDER, style_of
from labkit.strip.blocks import Counts, kind_of
from labkit.strip.marking import number

MARK = {True: "≈ ", False: ""}


def drop_off(
    before: Sequence[Message],
    after: Sequence[Message],
    estimate: Callable[[list[Message]], int] | None = None,
    counter: Counts | None = None,
) -> Chart:
    """A history before and after a compaction: two bars for each role, and the two totals.

    Tokens are exact; with `estimate` (such as `estimate_tokens`) they are that function's, marked with ≈.
    """
    kinds = [kind for kind in ROLE_ORDER if any(kind_of(message) == kind for message in [*before, *after])]
    size = _sizes(estimate, counter)
    old = [size([message for message in before if kind_of(message) == kind]) for kind in kinds]
    new = [size([message for message in after if kind_of(message) == kind]) for kind in kinds]
    totals = (size(list(before)), size(list(after)))
    mark = MARK[estimate is not None]
    title = _title(totals, (len(before), len(after)), mark)
    with plain_style(INK), without_glyph_warnings():
        figure, axes = new_figure(height=1.3 + 0.52 * (len(kinds) + 1))
        write_title(figure, title)
        names = ["all", *(style_of(kind).name for kind in kinds)]
        for place, (kind, first, second) in enumerate(
            zip(["all", *kinds], [totals[0], *old], [totals[1], *new], strict=True)
        ):
            look = look_of(kind) if kind != "all" else look_of("other") | {"hatch": ""}
            axes.barh(place - 0.2, first, 0.36, **look)
            axes.barh(place + 0.2, second, 0.36, **look)
            for offset, value, when in ((-0.2, first, "before"), (0.2, second, "after")):
                words = f"{when} {mark}{number(value)}"
                axes.annotate(words, (value, place + offset), (4, 0), textcoords="offset points", va="center",
                              fontsize=8.5, gid="label")  # fmt: skip
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        token_axis(axes, f"{mark}tokens", along="x")
        axes.set_xlim(0, 1.18 * max([1, *totals]))
    table: list[dict[str, Any]] = [
        {"role": name, f"{mark}before": first, f"{mark}after": second, f"{mark}saved": first - second}
        for name, first, second in zip(names, [totals[0], *old], [totals[1], *new], strict=True)
    ]
    alt = f"Bars for each role before and after: {title}. " + "; ".join(
        f"{name} {mark}{number(first)} to {mark}{number(second)}"
        for name, first, second in zip(names, [totals[0], *old], [totals[1], *new], strict=True)
    )
    return Chart(figure, title, alt + ".", table)


def _title(totals: tuple[int, int], counts: tuple[int, int], mark: str) -> str:
    before, after = totals
    title = f"From {mark}{number(before)} to {mark}{number(after)} tokens"
    if after < before:
        title += f", {percent(before - after, before)} less"
    elif after > before:
        title += f", {percent(after - before, before)} more" if before else ""
    else:
        title += ": nothing saved"
    return f"{title} ({plural(counts[0], 'message')} became {number(counts[1])})"


def _sizes(
    estimate: Callable[[list[Message]], int] | None, counter: Counts | None
) -> Callable[[list[Message]], int]:
    if estimate is not None:
        return estimate
    from labkit.tokens import shared_counter

    exact = counter or shared_counter()
    return lambda messages: sum(exact.message(message) for message in messages)
