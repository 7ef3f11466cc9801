"""May the model run this command? Two buttons, and a turn that waits for one of them."""

from __future__ import annotations

import threading
from typing import Any

import ipywidgets as widgets

from labkit.stopping import StopSign, current_sign
from labkit.strip import escape
from labkit.widgets.parts import html, row


class Permission:
    """A question that is there only while the agent's thread waits for its answer."""

    def __init__(self) -> None:
        self._answered = threading.Event()
        self._allowed = False
        self.words = html("labkit-chat-command")
        self.yes = widgets.Button(description="Run it", layout=widgets.Layout(width="auto"))
        self.no = widgets.Button(description="Do not run it", layout=widgets.Layout(width="auto"))
        self.yes.on_click(lambda _: self._answer(True))
        self.no.on_click(lambda _: self._answer(False))
        self.widget: Any = row(self.words, self.yes, self.no)
        self.widget.add_class("labkit-chat-ask")
        self.widget.layout.display = "none"

    def ask(self, command: str) -> bool:
        """Show the command and wait for an answer; no when the turn is stopped."""
        self._answered.clear()
        self._allowed = False
        self.words.value = f"The model wants to run: <code>{escape(command)}</code>"
        self.widget.layout.display = "flex"
        try:
            with (current_sign() or StopSign()).waking(self._answered.set):
                self._answered.wait()
        finally:
            self.widget.layout.display = "none"
        return self._allowed

    def _answer(self, allowed: bool) -> None:
        self._allowed = allowed
        self._answered.set()
