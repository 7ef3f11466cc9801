"""One turn of a chat as it happens: the agent's events in, HTML and text out.

Filled by the thread that runs the agent, and read by the one that draws.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field

from labkit.compaction import Compaction
from labkit.loop import Event
from labkit.messages import Message, calls_of, function_of
from labkit.strip import escape, number

SHOWN = 4_000  # characters of one result or of its arguments; the whole of it is in the history
LINE = 88  # characters of a call's arguments in the line that unfolds it
TEXT = "white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;line-height:1.45;margin:2px 0"
CODE = (
    "white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;line-height:1.35;"
    "margin:2px 0 6px 1.2em;padding:4px 8px;"
    "max-height:16em;overflow:auto;border-left:3px solid var(--jp-border-color1, #8a8a8a);"
    "color:var(--jp-ui-font-color1, inherit);background:transparent;"
    "font-family:var(--jp-code-font-family, monospace)"
)
NOTE = f"{TEXT};border-left:3px solid var(--jp-border-color1, #8a8a8a);padding-left:8px"


@dataclass
class Call:
    """A tool call, and its result once it is there."""

    call_id: str
    name: str
    arguments: str
    result: str | None = None

    @property
    def line(self) -> str:
        """The call in a line, and what came of it."""
        state = "under way" if self.result is None else f"{number(len(self.result))} characters"
        return f"{self.name}({_start(_plain(self.arguments), LINE)}): {state}"

    def html(self) -> str:
        parts = [f'<pre style="{CODE}">{escape(_start(self.arguments, SHOWN))}</pre>']
        if self.result is not None:
            parts.append(f'<pre style="{CODE}" tabindex="0">{escape(_start(self.result, SHOWN))}</pre>')
        summary = f"<summary>Tool call {escape(self.line)}</summary>"
        return (
            f'<details class="labkit-chat-call" style="line-height:1.45">{summary}{"".join(parts)}</details>'
        )


@dataclass
class Said:
    """Something said: by you, by the agent, or by the panel itself. `live` while it still grows."""

    who: str
    text: str
    css: str
    live: bool = False

    @property
    def line(self) -> str:
        return f"{self.who}: {self.text}"

    def html(self) -> str:
        style = TEXT if self.who in ("You", "Agent") else NOTE
        role = ' role="alert"' if self.css == "labkit-chat-error" else ""
        more = " …" if self.live else ""
        words = f"<strong>{escape(self.who)}:</strong> {escape(self.text)}{more}"
        return f'<div class="{self.css}" style="{style}"{role}>{words}</div>'


@dataclass
class Turn:
    """One turn: what you asked, and all that happened then."""

    asked: str
    parts: list[Said | Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._pieces: list[str] = []
        self._live: Said | None = None
        self.parts.append(Said("You", self.asked, "labkit-chat-user"))

    def take(self, event: Event) -> None:
        """Take in an event of the agent."""
        with self._lock:
            if event.kind == "text":
                self._grow(event.text)
            elif event.kind == "reply" and event.message:
                self._reply(event.message, event.text)
            elif event.kind == "tool_result" and event.message:
                self._result(event.message)
            elif event.kind == "compaction" and event.compaction:
                self.parts.append(Said("Compaction", _in_words(event.compaction), "labkit-chat-compaction"))

    def note(self, who: str, text: str, css: str) -> None:
        """Add a line of the panel's own: an error, or that the turn was stopped."""
        with self._lock:
            self._settle()
            self.parts.append(Said(who, text, css))

    def _grow(self, piece: str) -> None:
        if self._live is None:
            self._live = Said("Agent", "", "labkit-chat-agent", live=True)
            self.parts.append(self._live)
        self._pieces.append(piece)

    def _settle(self) -> None:
        """What was streamed last is whole, or will never be."""
        if self._live is not None:
            self._live.text, self._live.live = "".join(self._pieces), False
        self._live = None
        self._pieces.clear()

    def _reply(self, message: Message, text: str) -> None:
        streamed = self._live is not None
        self._settle()
        if text and not streamed:
            self.parts.append(Said("Agent", text, "labkit-chat-agent"))
        for call in calls_of(message):
            function = function_of(call)
            name, arguments = str(function.get("name")), str(function.get("arguments") or "")
            self.parts.append(Call(str(call.get("id")), name, arguments))

    def _result(self, message: Message) -> None:
        for part in self.parts:
            if isinstance(part, Call) and part.call_id == message["tool_call_id"] and part.result is None:
                part.result = str(message["content"])
                return

    def html(self) -> str:
        """The turn, its tool calls folded."""
        with self._lock:
            if self._live is not None:
                self._live.text = "".join(self._pieces)
            return "".join(part.html() for part in self.parts)

    def text(self) -> str:
        """The turn in lines."""
        with self._lock:
            return "\n".join(part.line for part in self.parts)


def _in_words(compaction: Compaction) -> str:
    """What a compaction did or why it did nothing, and where the whole history is."""
    did = compaction.reason if compaction.changed else f"nothing changed; {compaction.reason}"
    where = f". The whole history is in {compaction.snapshot}" if compaction.snapshot else ""
    return f"{did}{where}."


def _plain(arguments: str) -> str:
    """The arguments of a call for one line: name=value, or the text as it is."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return " ".join(arguments.split())
    if not isinstance(values, dict):
        return " ".join(arguments.split())
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in values.items())


def _start(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} … ({number(len(text))} characters)"
