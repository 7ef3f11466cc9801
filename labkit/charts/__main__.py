"""Charts to look at: `python -m labkit.charts` prints them, `python -m labkit.charts FOLDER` saves them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from labkit.charts import Chart, bill, by_role, curves, growth, policies, said_against_sent, save
from labkit.policies import POLICIES, policy_hooks
from labkit.replay import replay
from labkit.sessions import recorded


def demo() -> dict[str, Chart]:
    """The shipped session of 100 messages, under each policy."""
    history = recorded("medium")
    with tempfile.TemporaryDirectory() as folder:
        traces = {name: replay(history, **policy_hooks(name, folder=folder)) for name in POLICIES}
    off = traces["off"]
    return {
        "growth": growth(traces["safe-cut"], limit=6000),
        "said_against_sent": said_against_sent(off),
        "bill": bill(off),
        "by_role": by_role(off),
        "curves": curves(traces, limit=6000),
        "policies": policies(traces, limit=6000),
    }


def main(folder: str | None) -> None:
    """Print the charts as text, or save them as SVG in `folder`."""
    for name, chart in demo().items():
        if folder:
            print(save(chart, Path(folder) / f"{name}.svg"))
        else:
            print(chart, end="\n\n")


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a console without these characters still shows the rest
    main(next(iter(sys.argv[1:]), None))
