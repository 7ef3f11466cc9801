"""Measure several ways of doing one thing in turn, in one run, and print ratios.

Machines differ and drift, so a single time says little; what was measured side by side can be compared. Times
are the processor's, not the clock's; each figure is the median over the rounds.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

Work = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One way, its median processor time in seconds, and how many times the first way's that is."""

    name: str
    seconds: float
    ratio: float


def measure(work: Work) -> float:
    """Processor seconds of one run, without the garbage collector, as `timeit` does it.

    A collection looks through all that was ever imported, and would fall on the way that happens to be next.
    """
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        gc.enable()


def side_by_side(title: str, ways: dict[str, Work], rounds: int = 3) -> list[Row]:
    """Run the ways in turn, round after round; print and return a row for each. The first is the measure."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=rounds * len(ways))
        for _ in range(rounds):
            for name, work in ways.items():
                seconds[name].append(measure(work))
                progress.advance(task)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    first = next(iter(medians.values()))
    rows = [Row(name, median, median / first if first else float("inf")) for name, median in medians.items()]
    _show(title, rows)
    return rows


def _show(title: str, rows: list[Row]) -> None:
    table = Table(title=title, title_justify="left")
    table.add_column("way")
    table.add_column("seconds (median)", justify="right")
    table.add_column(f"times '{rows[0].name}'", justify="right")
    for row in rows:
        table.add_row(row.name, f"{row.seconds:.4f}", f"{row.ratio:,.2f}")
    Console(width=110).print(table)
