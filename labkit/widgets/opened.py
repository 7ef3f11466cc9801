"""What is open in this kernel, by name: opening a name again closes what had it before.

A cell that is run again makes its widget again. Without this, the old widget, its channel to the browser and
its threads would stay until the kernel ends.
"""

from __future__ import annotations

from typing import Protocol


class Closable(Protocol):
    """Something that holds widgets, channels or threads until it is closed."""

    def close(self) -> None: ...


_OPEN: dict[tuple[str, str], Closable] = {}  # for the life of the kernel: that is what it is about


def opened(kind: str, name: str, thing: Closable) -> None:
    """Note that `thing` is open under this name; the one that was, is closed."""
    before = _OPEN.pop((kind, name), None)
    if before is not None:
        before.close()
    _OPEN[(kind, name)] = thing


def closed(thing: Closable) -> None:
    """Note that `thing` is closed."""
    for key, value in list(_OPEN.items()):
        if value is thing:
            del _OPEN[key]


def close_all() -> None:
    """Close all that is open in this kernel."""
    for thing in list(_OPEN.values()):
        thing.close()
