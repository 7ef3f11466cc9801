"""Drawing from another thread: at most ten times a second, and the last state always."""

from __future__ import annotations

import threading
from collections.abc import Callable

SECONDS_BETWEEN_FRAMES = 0.1
"""A browser that gets a redraw for each piece of text falls behind."""


class Painter:
    """Calls `draw` after `touch()`, however often that is called at most once in `seconds`; ends with
    `close()`, which draws a last time.

    `draw` runs in a thread of the painter's own, one call at a time. An error in it ends the painting, not
    the turn: `close()` raises it.
    """

    def __init__(self, draw: Callable[[], None], seconds: float = SECONDS_BETWEEN_FRAMES) -> None:
        self._draw, self._seconds = draw, seconds
        self._touched, self._closing = threading.Event(), threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._paint, name="labkit chat painter", daemon=True)
        self._thread.start()

    def touch(self) -> None:
        """Something has changed. Returns at once."""
        self._touched.set()

    def close(self) -> None:
        """Draw a last time and end the thread."""
        self._closing.set()
        self._touched.set()
        self._thread.join()
        if self._error:
            raise self._error

    def _paint(self) -> None:
        try:
            while not self._closing.is_set():
                self._touched.wait()
                self._touched.clear()
                self._draw()
                self._closing.wait(self._seconds)
            self._draw()
        except Exception as error:  # handed over to the thread that closes
            self._error = error
