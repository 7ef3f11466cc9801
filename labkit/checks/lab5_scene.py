"""The stage for the check of 5.3: histories, a folder, and a summariser that follows a script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from labkit.checks.attempt import Attempt
from labkit.checks.outcome import compaction_of
from labkit.checks.show import count
from labkit.compaction.base import Compaction
from labkit.compaction.summary import Instructions
from labkit.messages import Message, assistant, system, text_of, tool_call, tool_result, user
from labkit.streaming import Reply

SUMMARY = "## Accomplished\n- read notes.md\n## Current state\n- the leaflet is due on 2 May"
OWN = Instructions("You write summaries.", (("Weather", "rain and wind"),), 500, "short")
NOTES = "Notes on the leaflet about the tide mill, its wheel, its pond and its keeper. " * 12


def exchange(call_id: str) -> list[Message]:
    return [assistant(None, [tool_call(call_id, "read_file", {"path": "notes.md"})]),
            tool_result(call_id, NOTES)]  # fmt: skip


FINISHED = [
    system("You are a coding agent."),
    user("Read notes.md."),
    *exchange("c1"),
    assistant("The leaflet is due on 2 May."),
]
ASKED = [*FINISHED, user("Now write the first page.")]
WORKING = [*ASKED, *exchange("c2")]


@dataclass
class Scene:
    """A folder, and a summariser that gives one reply (or raises) and looks around when it is asked."""

    root: Path
    reply: Any = field(default_factory=lambda: Reply(assistant(SUMMARY), "stop"))
    error: str = ""
    asked: list[str] = field(default_factory=list)
    most: list[int] = field(default_factory=list)
    saved_before: list[int] = field(default_factory=list)  # snapshots that were there when it was asked

    @property
    def folder(self) -> Path:
        return self.root / ".memory"

    @property
    def snapshots(self) -> list[Path]:
        return sorted(self.folder.glob("memory_*.jsonl")) if self.folder.is_dir() else []

    def summarise(self, messages: list[Message], max_tokens: int) -> Reply:
        self.asked.append("\n".join(text_of(message.get("content")) for message in messages))
        self.most.append(max_tokens)
        self.saved_before.append(len(self.snapshots))
        if self.error:
            raise ConnectionError(self.error)
        reply: Reply = self.reply
        return reply


def staged(body: Callable[..., None]) -> Callable[..., None]:
    """The idea, with a folder of its own that is removed afterwards."""

    def on_stage(t: Attempt, *values: Any, **settings: Any) -> None:
        with TemporaryDirectory() as parent:
            t.trying(f"compact_all(history of {count(len(values[0]), 'message')}, summarise, folder)")
            body(t, Path(parent), *values, **settings)

    return on_stage


def outcome(t: Attempt, history: list[Message], scene: Scene, **settings: Any) -> Compaction:
    """What the learner's function returns in this scene."""
    return compaction_of(t, history, scene.summarise, scene.folder, **settings)


def roles(messages: list[Message]) -> str:
    return f"{count(len(messages), 'message')}: {', '.join(str(m.get('role')) for m in messages)}"
