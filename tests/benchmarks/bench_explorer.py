"""A move of an explorer's knob at 1,000 messages: the whole of it, the replay alone, the drawing alone.

python tests/benchmarks/bench_explorer.py

Each round turns the knob to a value where it has not been, since a replay that was made before is remembered.
The aim: everything has followed within 0.15 s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, cycle

from sidebyside import Row, Work, side_by_side

from labkit.replay import replay
from labkit.sessions import recorded
from labkit.widgets import Explorer, explorer
from labkit.widgets.outcome import Session
from labkit.widgets.settings import DEFAULTS, KNOBS, ranges

ROUNDS = 9
AIM = 0.15  # seconds


def values(policy: str, knob: str, largest: int) -> Iterator[int]:
    """Values of a knob from all over its range, each step once, then all again."""
    turn = ranges(largest)[knob]
    steps = (turn.high - turn.low) // turn.step
    stride = next(by for by in (7, 5, 3, 1) if steps % by)  # meets every step before it meets one again
    start = getattr(DEFAULTS[policy], knob) // turn.step * turn.step
    return cycle(turn.low + (start + at * stride * turn.step) % (turn.high - turn.low) for at in range(steps))


def moves(policy: str, knob: str) -> list[Row]:
    """The parts of a move of one knob, side by side."""
    shown = explorer("large", policy, name=f"bench {policy} {knob}")
    largest = shown.view.plain.trace.peak
    session = Session("large", recorded("large"))
    fresh = {part: values(policy, knob, largest) for part in ("move", "replay")}

    def move() -> None:
        shown.knobs[knob].value = next(fresh["move"])

    def replay_alone() -> None:
        settings = replace(DEFAULTS[policy], **{knob: next(fresh["replay"])})
        _ = replay(session.history, **settings.hooks).re_reads

    ways: dict[str, Work] = {
        "a move, all of it": move,
        "the replay alone": replay_alone,
        "the drawing alone": shown.follow,
    }
    rows = side_by_side(f"policy {policy}, {knob} turned, {len(session.history):,} messages", ways, ROUNDS)
    shown.close()
    return rows


def requests() -> list[Row]:
    """Another request is looked at: nothing is replayed."""
    shown: Explorer = explorer("large", "two-tier", name="bench request")
    places = count(1)

    def choose() -> None:
        shown.request.value = 1 + (next(places) * 37) % shown.request.max

    rows = side_by_side("another request chosen", {"a move of the request slider": choose}, ROUNDS)
    shown.close()
    return rows


if __name__ == "__main__":
    figures = {(policy, knob): moves(policy, knob)[0].seconds for policy in KNOBS for knob in KNOBS[policy]}
    requests()
    slowest = max(figures, key=figures.__getitem__)
    print(f"The slowest: {slowest[1]} of {slowest[0]}, {figures[slowest]:.3f} s; the aim is {AIM} s.")
