"""Replaying 2,000 messages under four policies, beside counting afresh; drawing a strip of 1,000 messages.

python tests/benchmarks/bench_replay.py
"""

from __future__ import annotations

import tempfile
from functools import partial

from sidebyside import Work, side_by_side

from labkit.messages import Message
from labkit.policies import POLICIES, policy_hooks
from labkit.replay import Replay, replay
from labkit.sessions import recorded
from labkit.strip import strip
from labkit.tokens import shared_counter


def long_history(length: int = 2000) -> list[Message]:
    """The large session, its turns a second time, up to `length` messages."""
    history = recorded("large")
    return [*history, *history[1:]][:length]


def replaying() -> None:
    """One full count of the history is the measure; its texts are known to the counter, as after one look."""
    history = long_history()
    counter = shared_counter()
    counter.history(history)
    with tempfile.TemporaryDirectory() as folder:

        def run(name: str) -> Replay:
            return replay(history, **policy_hooks(name, folder=folder))

        two_tier = run("two-tier")
        ways: dict[str, Work] = {f"replay: {name}": partial(run, name) for name in POLICIES}
        ways["all four"] = lambda: [run(name) for name in POLICIES]
        ways["files read again, of two tiers"] = lambda: two_tier.re_reads
        ways["no replay: each request counted afresh"] = lambda: [
            sum(map(counter.message, history[:place]))
            for place, message in enumerate(history)
            if message["role"] == "assistant"
        ]
        side_by_side(f"{len(history):,} messages, request by request", ways)


def drawing() -> None:
    """A strip as a notebook shows it."""
    history = recorded("large")
    ways = {
        "10 messages": lambda: strip(history[:10], limit=6000, cuts=True)._repr_html_(),
        "100 messages": lambda: strip(history[:100], limit=6000, cuts=True)._repr_html_(),
        "1,000 messages": lambda: strip(history, limit=6000, cuts=True)._repr_html_(),
        "1,000 messages, before and after": lambda: strip(
            history[:1] + history[900:], before=history
        )._repr_html_(),
    }
    side_by_side("drawing a strip", ways, rounds=5)


if __name__ == "__main__":
    replaying()
    drawing()
