"""The figures of the three source systems, made anew: `labkit figures`.

Each system runs with its own defaults on a copy of the playground, with real requests to the understudy.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from labkit.compaction import (
    Compaction,
    Compactor,
    CountCompactor,
    FullCompactor,
    SafeCutCompactor,
    Summariser,
    model_summariser,
)
from labkit.connect import connect
from labkit.errors import CompactionError
from labkit.loop import Agent
from labkit.messages import Message
from labkit.places import shipped_playground
from labkit.playground import playground_tools

if TYPE_CHECKING:
    from openai import OpenAI

SYSTEM = "You are a coding agent."
ARTICLE = "read `big-article.md` and give its main point in three sentences"
REVIEW = "also read `hello.txt` and `notes.md`, and write their contents with that summary into `review.txt`"
LOGBOOK = [f"read `logbook/day-{day:02}.md`" for day in range(1, 6)]


@dataclass(frozen=True)
class Figure:
    """What one source system made of a history: messages, and tokens in the system's own `measure`."""

    system: str
    measure: str
    before: list[Message]
    compaction: Compaction

    def __str__(self) -> str:
        done = self.compaction
        messages = f"{len(self.before)} messages became {len(done.messages)}"
        tokens = f"{done.tokens_before:,} tokens became {done.tokens_after:,} ({self.measure})"
        snapshot = f"; {done.snapshot.name} holds them all" if done.snapshot else ""
        return f"{self.system}: {messages}{snapshot}; {tokens}"


def figures() -> Iterator[Figure]:
    """The figures of A, B and C, each as soon as it is ready."""
    client, model = connect("understudy-128k")
    summarise = model_summariser(client, model)
    for run in (count_based, safe_cut, two_tier):
        with tempfile.TemporaryDirectory(prefix="labkit-figures-") as folder:
            root = Path(folder) / "playground"
            shutil.copytree(shipped_playground(), root)
            yield run(_agent(client, model, root), summarise, root)


def count_based(agent: Agent, summarise: Summariser, root: Path) -> Figure:
    """A (lab 3): the first turn that ends with more than 20 messages; the last 6 stay."""
    watched = _Watched(CountCompactor(summarise=summarise))
    agent.after_turn = watched
    return watched.figure("A, by count", "counted", agent, LOGBOOK)


def safe_cut(agent: Agent, summarise: Summariser, root: Path) -> Figure:
    """B (lab 4): over 6,000 tokens before a request; a long article, then a review, as the source has it."""
    watched = _Watched(SafeCutCompactor(summarise=summarise, keep_user_words=False))
    agent.before_request = watched
    return watched.figure("B, safe cut", "≈ characters / 2", agent, [ARTICLE, REVIEW])


def two_tier(agent: Agent, summarise: Summariser, root: Path) -> Figure:
    """C (lab 5): its second tier. The agent reads until there are over 30,000 tokens."""
    full = FullCompactor(folder=root / ".memory", summarise=summarise)
    while full.measure(agent.messages) <= full.limit:
        agent.run(ARTICLE)
    return Figure("C, two tiers", "≈ characters / 4", list(agent.messages), full(agent.messages))


class _Watched:
    """A compactor that remembers its first compaction, and the history before it."""

    def __init__(self, compactor: Compactor) -> None:
        self._compactor = compactor
        self._first: tuple[list[Message], Compaction] | None = None

    def __call__(self, messages: list[Message]) -> Compaction:
        result = self._compactor(messages)
        if result.changed and self._first is None:
            self._first = (messages, result)
        return result

    def figure(self, system: str, measure: str, agent: Agent, tasks: Sequence[str]) -> Figure:
        """Run the tasks until the compactor strikes."""
        for task in tasks:
            agent.run(task)
            if self._first:
                return Figure(system, measure, *self._first)
        raise CompactionError(f"{system}: the tasks ended before there was anything to compact.")


def _agent(client: OpenAI, model: str, root: Path) -> Agent:
    return Agent(client, model, tools=playground_tools(root), system=SYSTEM)
