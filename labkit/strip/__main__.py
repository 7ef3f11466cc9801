"""A strip to look at: `python -m labkit.strip`."""

from __future__ import annotations

import sys

from labkit.strip import strip
from labkit.strip.example import example


def demo() -> None:
    """Two strips: a history with its legal cuts, and the same history before and after a compaction."""
    history, compacted = example()
    print(strip(history, limit=700, cuts=True, title="A history, its legal cuts, and a limit"))
    print()
    print(strip(compacted, limit=700, before=history, title="What compaction did"))


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a console without block characters still shows the rest
    demo()
