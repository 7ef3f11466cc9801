"""The chat panel: type to the agent, see what it does, stop it, and watch its history against the limit.

The agent runs in a thread, so the kernel answers meanwhile and Stop works.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from labkit.chat.session import SYSTEM, model_in_words
from labkit.compaction import model_summariser
from labkit.connect import connect
from labkit.errors import LabkitError, TurnStopped
from labkit.loop import Agent, Event
from labkit.messages import Message
from labkit.playground import playground_folder, playground_tools
from labkit.policies import make_policy
from labkit.stopping import StopSign
from labkit.strip import Strip, escape
from labkit.tokens import TokenCounter
from labkit.understudy.models import is_understudy
from labkit.widgets.asking import Permission
from labkit.widgets.entry import Entry
from labkit.widgets.gauge import Gauge, measure
from labkit.widgets.opened import closed, opened
from labkit.widgets.painter import Painter
from labkit.widgets.parts import close_tree, html, mended, row
from labkit.widgets.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_TURNS = 40  # shown; what is older is still in the agent's history
JOIN = 10.0  # seconds that closing waits for a turn that was stopped


class ChatPanel:
    """A panel for one agent. Show it as the last line of a cell.

    `limit` is in tokens, for the bar, where the agent's policy has none of its own; `compactor` is the one
    whose limit counts, if it is not one of the agent's hooks itself. `name` is the panel's name in this
    kernel: opening it again closes the earlier one.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        limit: int | None = None,
        compactor: Any = None,
        permission: Permission | None = None,
        name: str = "chat",
    ) -> None:
        self.agent = agent
        self.turns: list[Turn] = []
        self._limit, self._compactor = limit, compactor
        self._permission = permission or Permission()
        self._counter = TokenCounter()
        self._before: list[Message] | None = None  # the history before the newest compaction of this turn
        self._sign = StopSign()
        self._thread: threading.Thread | None = None
        self._painter: Painter | None = None
        self._build()
        self._draw()
        opened("chat", name, self)

    # --- what is done ---------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether a turn is under way."""
        return self._thread is not None and self._thread.is_alive()

    def send(self, text: str) -> bool:
        """Begin a turn with this text, in a thread; False when there is no text, or a turn is under way."""
        if self.busy or not text.strip():
            return False
        self.entry.clear()
        self._sign, self._before = StopSign(), None
        turn = Turn(text.strip())
        self._begin(turn)
        self._thread = threading.Thread(target=self._run, args=(turn,), name="labkit chat turn", daemon=True)
        self._thread.start()
        return True

    def stop(self) -> None:
        """End the turn under way."""
        if self.busy:
            self._say("Stopping.")
            self._sign.ask()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the turn under way, at most so long; whether it has ended."""
        if self._thread is not None:
            self._thread.join(seconds)
        return not self.busy

    def close(self) -> None:
        """Stop the turn under way, end its threads, close all widgets. The agent and its history stay."""
        closed(self)
        self._sign.ask()
        self.wait(JOIN)
        self.entry.close()
        close_tree(self.widget)

    # --- a turn, in its thread ------------------------------------------------------------------------------

    def _run(self, turn: Turn) -> None:
        requests = len(self.agent.trace)
        self._painter = painter = Painter(self._draw)
        kept = self.agent.on_event, self.agent.stream
        self.agent.on_event, self.agent.stream = self._take, True
        try:
            self.agent.run(turn.asked, self._sign)
            made = len(self.agent.trace) - requests
            self._say(f"Done: {made} request{'' if made == 1 else 's'}.")
        except TurnStopped:
            turn.note("Stopped", "What was done so far is in the history.", "labkit-chat-stopped")
            self._say("Stopped.")
        except Exception as error:  # whatever a tool or a hook of the learner's raised: a line, no traceback
            words = str(error) if isinstance(error, LabkitError) else f"{type(error).__name__}: {error}"
            turn.note("Error", words, "labkit-chat-error")
            self._say("The turn ended with an error.")
        finally:
            self.agent.on_event, self.agent.stream = kept
            painter.close()
            self._set_busy(False)

    def _take(self, event: Event) -> None:
        self.turns[-1].take(event)
        if event.kind == "compaction" and event.compaction and event.compaction.changed:
            self._before = self._before or event.before
        if self._painter:
            self._painter.touch()

    # --- what is shown --------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.heading = html("labkit-chat-heading", f"<p style='margin:4px 0'>{escape(self._about())}</p>")
        self.log = widgets.VBox(layout=widgets.Layout(max_height="30em", overflow="auto", padding="0 6px"))
        self.log.add_class("labkit-chat-log")
        self.gauge = html("labkit-chat-gauge")
        self.strip = html("labkit-chat-strip")
        self.status = html("labkit-chat-status")
        self.entry = Entry(self.send)
        self.stop_button = widgets.Button(
            description="Stop", icon="stop", disabled=True, layout=widgets.Layout(width="auto")
        )
        self.stop_button.add_class("labkit-chat-stop")
        self.stop_button.on_click(lambda _: self.stop())
        self.widget = widgets.VBox(
            [
                self.heading,
                self.log,
                self._permission.widget,
                row(*self.entry.parts, self.stop_button),
                self.status,
                self.gauge,
                self.strip,
                mended("labkit-chat"),
            ]
        )
        self.widget.add_class("labkit-chat")

    def _about(self) -> str:
        return f"You talk to {model_in_words(self.agent.model)}."

    def _begin(self, turn: Turn) -> None:
        """A new turn at the end of the log; the oldest shown goes when there are many."""
        self.turns.append(turn)
        shown = [*self.log.children, html("labkit-chat-turn", turn.html())]
        for old in shown[:-MOST_TURNS]:
            close_tree(old)
        self.log.children = shown[-MOST_TURNS:]
        del self.turns[:-MOST_TURNS]
        self._set_busy(True)
        self._say("The agent is at work.")

    def _set_busy(self, busy: bool) -> None:
        self.stop_button.disabled = not busy
        self.entry.set_busy(busy)

    def _say(self, words: str) -> None:
        self.status.value = f"<span>{escape(words)}</span>"

    def _draw(self) -> None:
        if self.turns:
            self.log.children[-1].value = self.turns[-1].html()
        self.gauge.value = self._gauge().html()
        self.strip.value = f'<div style="line-height:1.4">{self._strip()._repr_html_()}</div>'

    def _gauge(self) -> Gauge:
        return measure(self.agent, self._compactor, self._limit, self._counter)

    def _strip(self) -> Strip:
        """The history with the tools; and what it was before this turn's compaction, if there was one."""
        limit = self._limit or getattr(self._compactor, "limit", None)
        title = "The history now" if self._before is None else "The history, before and after compaction"
        return Strip(
            list(self.agent.messages),
            limit,
            cuts=True,
            before=self._before,
            title=title,
            tools=self.agent.tools.schemas,
            counter=self._counter,
        )

    # --- where there are no widgets -------------------------------------------------------------------------

    def __str__(self) -> str:
        said = [turn.text() for turn in self.turns] or ["Nothing was said yet."]
        return "\n".join([self._about(), *said, self._gauge().words, "", self._strip().text()])

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The panel, and beside it what was said, the figures and the strip, for pages without widgets."""
        said = "".join(turn.html() for turn in self.turns) or "<p>Nothing was said yet.</p>"
        parts = [self.heading.value, said, self._gauge().html(), self._strip()._repr_html_()]
        static = f'<div class="labkit-chat-static">{"".join(parts)}</div>'
        return dict(self.widget._repr_mimebundle_() or {}) | {"text/html": static, "text/plain": str(self)}


def chat_panel(
    agent: Agent | None = None,
    *,
    policy: str = "safe-cut",
    limit: int | None = None,
    model: str | None = None,
    root: str | Path | None = None,
    name: str = "chat",
) -> ChatPanel:
    """A chat panel for an agent; without one, for an agent with the playground's tools and this `policy`.

    `limit` is the policy's (messages for "count", else tokens); with an agent of your own it is tokens, for
    the bar. `model` and `root` (the folder of the tools) are for the agent that is made here: the connected
    model and the learner's playground by default. A real model's commands run only after a click.
    """
    if agent is not None:
        return ChatPanel(agent, limit=limit, name=name)
    client, model = connect(model)
    folder = Path(root) if root is not None else playground_folder()
    made = make_policy(policy, limit, folder / ".memory", model_summariser(client, model))
    permission = Permission()
    ask: Callable[[str], bool] | None = None if is_understudy(model) else permission.ask
    tools = playground_tools(folder, ask)
    agent = Agent(client, model, tools=tools, system=SYSTEM, stream=True, **made.hooks)
    return ChatPanel(agent, compactor=made.compactor, permission=permission, name=name)
