"""What a request still shows: the task, what was done for it, what files say, what summaries tell.

Nothing else is known. A result that compaction has replaced by a stub is `lost`; a message that is gone was
never there. A summary counts as one only in a user message under one of compaction's headings: in the
assistant's name it is taken for something the understudy said itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from labkit.messages import INTERRUPTED, Message, calls_of, exchanges, function_of, text_of
from labkit.understudy.hands import Hands, argument, skill_of, tidy
from labkit.understudy.memory import Memory, is_summary
from labkit.understudy.verbs import is_chinese

GO_ON = re.compile(r"^\W*(please )?(go on|continue|carry on|proceed|继续|接着做?|请继续)\W*$", re.I)
STUB = re.compile(r"^\[(compressed|cleared|removed|old tool result|tool result)\b", re.I)


@dataclass(frozen=True)
class Done:
    """One tool call that the request shows, with its result (None when it has none)."""

    index: int
    name: str
    arguments: Mapping[str, Any]
    result: str | None

    @property
    def skill(self) -> str:
        return skill_of(self.name)

    @property
    def path(self) -> str:
        return tidy(argument(self.arguments, "path"))

    @property
    def lost(self) -> bool:
        """Whether the result is only a stub now."""
        return self.result is not None and STUB.match(self.result) is not None

    @property
    def failed(self) -> bool:
        return self.result is None or self.result.startswith("Error") or self.result == INTERRUPTED

    @property
    def useful(self) -> bool:
        return not self.lost and not self.failed


@dataclass
class View:
    """One request, read. `task` is what the user asked last, `start` the index of the message that did."""

    messages: Sequence[Message]
    hands: Hands
    task: str = ""
    start: int = -1
    from_summary: bool = False
    memory: Memory = field(default_factory=Memory)

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> View:
        messages = body["messages"]
        view = cls(messages, Hands.of(body), memory=Memory.of(messages))
        view.task, view.start, view.from_summary = find_task(messages, view.memory)
        return view

    @cached_property
    def chinese(self) -> bool:
        return is_chinese(self.task)

    @cached_property
    def all_calls(self) -> list[Done]:
        """Every call that the request shows, oldest first."""
        found = []
        for exchange in exchanges(self.messages):
            calls = calls_of(self.messages[exchange.index])
            for call, place in zip(calls, exchange.results, strict=True):
                result = None if place is None else text_of(self.messages[place].get("content"))
                name = str(function_of(call).get("name"))
                found.append(Done(exchange.index, name, _arguments(call), result))
        return found

    @cached_property
    def calls(self) -> list[Done]:
        """The calls made for the task."""
        return [done for done in self.all_calls if done.index > self.start]

    def made(self, skill: str, path: str | None = None, after: int = -1, **arguments: str) -> list[Done]:
        """The task's calls with this skill (on this path, with these arguments), behind message `after`.

        A call that was interrupted before its tool ran does not count: it is made again.
        """
        return [
            done
            for done in self.calls
            if done.skill == skill
            and done.result not in (None, INTERRUPTED)
            and done.index > after
            and (path is None or done.path == tidy(path))
            and all(argument(done.arguments, key) == value for key, value in arguments.items())
        ]

    def says(self, english: str, chinese: str) -> str:
        """The sentence in the user's language."""
        return chinese if self.chinese else english

    def spoken(self, role: str) -> list[str]:
        """What the user or the assistant said, summaries apart, oldest first; without the task itself."""
        return [
            text_of(message.get("content"))
            for index, message in enumerate(self.messages)
            if message.get("role") == role and not is_summary(message) and index < max(self.start, 0)
        ]

    @cached_property
    def answers(self) -> list[str]:
        """The assistant's earlier answers (texts without calls), newest first, acknowledgements apart."""
        before = range((self.start if self.start >= 0 else len(self.messages)) - 1, -1, -1)
        found = [self.messages[index] for index in before]
        texts = [text_of(m.get("content")) for m in found if m.get("role") == "assistant" and not calls_of(m)]
        return [text for text in texts if text and not text.startswith(("Understood.", "[Stopped after"))]


def _arguments(call: Message) -> dict[str, Any]:
    try:
        value = json.loads(function_of(call).get("arguments") or "")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def find_task(messages: Sequence[Message], memory: Memory) -> tuple[str, int, bool]:
    """The user's latest request, the index of its message, and whether it is only known from a summary."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.get("role") != "user":
            continue
        if is_summary(message):
            return memory.task, index, True
        text = text_of(message.get("content"))
        if not GO_ON.match(text):
            return text, index, False
    return (memory.task, -1, True) if memory.task else ("", -1, False)
