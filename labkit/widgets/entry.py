"""The line where you type: Enter sends it, and so does the button beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

MOMENT = 0.15  # seconds


class Entry:
    """A line of text with a Send button. `send` gets the text.

    On Enter the browser says "submit" first and sends the changed text after it, or nothing when the text is
    what it sent before (on leaving the line). So a submit waits a moment for a change.
    """

    def __init__(self, send: Callable[[str], Any]) -> None:
        self._send = send
        self._waiting: asyncio.TimerHandle | None = None
        self._submitted = False
        layout = widgets.Layout(flex="1 1 20em", width="auto", min_width="12em")
        self.text = widgets.Text(
            description="message",
            placeholder="Type to the agent; Enter sends",
            continuous_update=False,
            layout=layout,
        )
        self.text.add_class("labkit-chat-input")
        self.button = widgets.Button(
            description="Send",
            icon="paper-plane",
            layout=widgets.Layout(width="auto"),
        )
        self.button.add_class("labkit-chat-send")
        self.button.on_click(lambda _: self._send(self.text.value))
        self.text.on_msg(self._message)
        self.text.observe(self._changed, "value")

    @property
    def parts(self) -> tuple[Any, Any]:
        """The line and the button."""
        return self.text, self.button

    def clear(self) -> None:
        """Empty the line."""
        self._forget_submit()
        self.text.value = ""

    def set_busy(self, busy: bool) -> None:
        """While a turn is under way one can type, but not send."""
        self.button.disabled = busy

    def close(self) -> None:
        """Send nothing any more."""
        self._forget_submit()
        self.text.unobserve_all()

    def _message(self, widget: Any, content: dict[str, Any], buffers: Any) -> None:
        if content.get("event") == "submit":
            self._submitted = True
            try:
                self._waiting = asyncio.get_running_loop().call_later(MOMENT, self._go)
            except RuntimeError:  # no event loop, so no browser either
                self._go()

    def _changed(self, change: Any) -> None:
        if self._submitted:
            self._go()

    def _go(self) -> None:
        self._forget_submit()
        self._send(self.text.value)

    def _forget_submit(self) -> None:
        self._submitted = False
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
