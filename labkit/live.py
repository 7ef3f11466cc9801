"""Showing what an agent does while it does it: streamed text as it comes, and a run step by step.

What is shown is for the person at the screen. What is saved is the whole message, which `collect` makes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from labkit.messages import calls_of

if TYPE_CHECKING:
    from labkit.loop import Event

SECONDS_BETWEEN_FRAMES = 0.1
"""At most about ten display updates a second: a notebook that redraws for every token falls behind."""


class LiveText:
    """Text that grows on the screen: call it with each piece, then `finish()`.

    In a notebook one output is redrawn, at most about ten times a second, and the last frame always. In a
    terminal or a pipe the pieces are written as they come.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, frame: Any = None) -> None:
        self._clock = clock
        self._frame = frame or _frame()
        self._pieces: list[str] = []
        self._drawn_at = float("-inf")
        self._waiting = False

    def __call__(self, piece: str) -> None:
        self._pieces.append(piece)
        self._waiting = True
        if self._frame.takes_pieces:
            self._frame.write(piece)
        elif self._clock() - self._drawn_at >= SECONDS_BETWEEN_FRAMES:
            self._draw()

    def finish(self) -> None:
        """Draw what has not been drawn yet, and end the line."""
        if self._frame.takes_pieces:
            self._frame.write("\n" if self._pieces else "")
        elif self._waiting:
            self._draw()

    def _draw(self) -> None:
        self._frame.write("".join(self._pieces))
        self._drawn_at, self._waiting = self._clock(), False


# Looks like printed text, but breaks lines between words.
_WRAPPED = (
    "white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;margin:0;padding:0 0 0 1ch;"
    "font-family:var(--jp-code-font-family, monospace);font-size:var(--jp-code-font-size, 13px);"
    "line-height:var(--jp-code-line-height, 1.3)"
)


class TerminalFrame:
    """Standard output: what is written stays, so it takes pieces."""

    takes_pieces = True

    def write(self, piece: str) -> None:
        sys.stdout.write(piece)
        sys.stdout.flush()


class NotebookFrame:
    """One output of a notebook cell, redrawn with the whole text."""

    takes_pieces = False

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, text: str) -> None:
        from IPython.display import display

        shown = {"text/plain": text, "text/html": f'<pre style="{_WRAPPED}">{escape(text)}</pre>'}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


def _frame() -> TerminalFrame | NotebookFrame:
    return NotebookFrame() if in_notebook() else TerminalFrame()


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


class Narrator:
    """Prints an agent's run step by step: `Agent(..., on_event=Narrator())`.

    Streamed text is shown as it comes, whole, below its request's number; the service counts the tokens at
    the end of a stream, so there they stand below the text. Other long texts are shown by their start,
    `width` characters of them.
    """

    def __init__(self, width: int = 68) -> None:
        self._width = width
        self._live: LiveText | None = None
        self._streamed = False
        self._request = 0

    def __call__(self, event: Event) -> None:
        if event.kind in ("request", "broken"):
            self._stop_live()
            self._streamed = False
            self._request = event.request_number
        elif event.kind == "text":
            self._show(event.text)
        elif event.kind == "recorded" and event.request:
            self._stop_live()
            head = "  " if self._streamed else f"request {event.request.index}: "
            print(f"{head}{event.request.tokens:,} tokens sent")
        elif event.kind == "reply" and event.message:
            self._reply(event)
        elif event.kind == "tool_result":
            print(f"  result: {self._start_of(event.text)}")
        elif event.kind == "compaction" and event.compaction:
            print(f"compaction: {event.compaction.reason}")

    def _show(self, piece: str) -> None:
        if self._live is None:
            print(f"request {self._request}, streamed:")
            self._live, self._streamed = LiveText(), True
        self._live(piece)

    def _stop_live(self) -> None:
        if self._live:
            self._live.finish()
            self._live = None

    def _reply(self, event: Event) -> None:
        calls = calls_of(event.message or {})
        if event.text and not self._streamed:
            print(f"  {'says' if calls else 'answers'}: {self._start_of(event.text)}")
        for call in calls:
            print(f"  calls: {call['function']['name']}({self._start_of(call['function']['arguments'])})")

    def _start_of(self, text: str) -> str:
        line = " ".join(text.split())
        if len(line) <= self._width:
            return line
        return f"{line[: self._width]}... ({len(text):,} characters)"
