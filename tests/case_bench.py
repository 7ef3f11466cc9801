"""The bench of faults: the cases, the compactors that their settings mean, and an agent to run them in."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from summarisers import Scripted, from_case

from labkit.compaction import (
    Compaction,
    CountCompactor,
    FullCompactor,
    LedgerCompactor,
    SafeCutCompactor,
    ToolStubs,
    chain,
)
from labkit.loop import Agent
from labkit.messages import normalise, problems
from labkit.tokens import shared_counter

FOLDER = Path(__file__).parent / "cases"
Message = dict[str, Any]


@dataclass
class Case:
    """One case with its files' settings; every property is made anew for each test."""

    data: dict[str, Any]
    folder: Path
    summariser: Scripted = field(init=False)

    def __post_init__(self) -> None:
        self.summariser = from_case(self.data["summariser"])

    @property
    def id(self) -> str:
        return self.data["id"]

    @property
    def settings(self) -> dict[str, Any]:
        return self.data["settings"]

    @property
    def limit(self) -> int:
        return self.settings["limit"]

    @cached_property
    def messages(self) -> list[Message]:
        return copy.deepcopy(self.data["messages"])

    def chosen(self, *names: str) -> dict[str, Any]:
        return {name: self.settings[name] for name in names if name in self.settings}

    def count(self) -> CountCompactor:
        return CountCompactor(**self.chosen("threshold", "keep_last"), summarise=self.summariser)

    def safe_cut(self, **changed: Any) -> SafeCutCompactor:
        settings = self.chosen("limit", "keep_recent", "keep_tokens") | changed
        return SafeCutCompactor(**settings, summarise=self.summariser)

    def stubs(self, **changed: Any) -> ToolStubs:
        names = ("keep_recent", "min_chars", "batch_tokens")
        settings = {name: self.settings[f"stub_{name}"] for name in names if f"stub_{name}" in self.settings}
        return ToolStubs(**settings | changed)

    def full(self, **changed: Any) -> FullCompactor:
        settings = self.chosen("limit") | changed
        return FullCompactor(**settings, folder=self.folder / ".memory", summarise=self.summariser)

    def ledger(self, **changed: Any) -> LedgerCompactor:
        settings = {"limit": 6000} | self.chosen("limit", "keep_recent") | changed
        return LedgerCompactor(**settings, summarise=self.summariser)

    def compactors(self) -> dict[str, Callable[[list[Message]], Compaction]]:
        """Every compactor with the case's settings, and each once more with a limit that forces it to act."""
        return {
            "count": self.count(),
            "safe_cut": self.safe_cut(),
            "safe_cut_at_once": self.safe_cut(limit=20, keep_tokens=None),
            "ledger": self.ledger(),
            "ledger_at_once": self.ledger(limit=20),
            "stubs": self.stubs(),
            "stubs_described": self.stubs(describe=True),
            "full": self.full(),
            "full_at_once": self.full(limit=20),
            "stubs_then_safe_cut": chain(self.stubs(), self.safe_cut()),
            "two_tiers": chain(self.stubs(), self.full()),
        }

    def staged(self) -> dict[str, Callable[[list[Message]], Compaction]]:
        """The compactors of the case's stage."""
        stage, every = self.data["stage"], self.compactors()
        names = {
            "count": ["count"],
            "safe_cut": ["safe_cut", "stubs_then_safe_cut"],
            "two_tier": ["stubs", "full", "two_tiers"],
            "all": list(every),
        }
        return {name: every[name] for name in names[stage]}


def load(name: str, folder: Path) -> Case:
    return Case(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")), folder)


def exact(messages: list[Message]) -> int:
    return shared_counter().history(messages)


def sound(messages: list[Message]) -> bool:
    """Whether what the agent would send of this history is acceptable to a provider."""
    return not messages or problems(normalise(messages)) == []


# --- an agent with a scripted model -----------------------------------------------------------------------


class Client:
    """Stands where an OpenAI client would; gives these replies in turn and keeps what was sent."""

    def __init__(self, *replies: Message) -> None:
        self.replies = list(replies)
        self.sent: list[list[Message]] = []
        self.chat = self.completions = self

    def create(self, *, messages: list[Message], **_: Any) -> dict[str, Any]:
        self.sent.append(copy.deepcopy(messages))
        message = self.replies.pop(0) if self.replies else {"role": "assistant", "content": "done"}
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def agent_with(history: list[Message], client: Client, **hooks: Any) -> Agent:
    """An agent that already has this history."""
    agent = Agent(client, "scripted", **hooks)
    agent.messages[:] = history
    return agent
