"""Lab 5, source system C whole: stubs all the time, and seldom the great operation.

Tier 1 (`ToolStubs`) runs after each reply and tool run. Tier 2 (`FullCompactor`) runs after the user's input,
if the history is over its limit: the whole history goes to disk, and three messages take its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

from labkit.compaction.asking import (
    MARGIN,
    NOTHING_NEW,
    ask_summary,
    fitted,
    room_below,
    room_for_summary,
)
from labkit.compaction.base import (
    Compaction,
    Compactor,
    Summariser,
    commit,
    exact_tokens,
    quarter_of_characters,
    unchanged,
    with_floor,
)
from labkit.compaction.earlier import FULL_HEADING, summary_pair, take_earlier
from labkit.compaction.extractive import extractive_summary
from labkit.compaction.settings import check_numbers
from labkit.compaction.snapshot import write_snapshot
from labkit.compaction.summary import FULL_SECTIONS, Instructions
from labkit.compaction.tool_stubs import ToolStubs, unread_from
from labkit.errors import SnapshotError
from labkit.messages import Message, exchanges, legal_cuts, system_length

A_NAME = "memory_20260101_120000_000000.jsonl"
"""A snapshot's name, as long as any: what a summary's message will take, before there is a snapshot."""


def compact_all(
    messages: list[Message],
    summarise: Summariser,
    folder: str | Path,
    root: str | Path | None = None,
    instructions: Instructions = FULL_SECTIONS,
) -> Compaction:
    """Exercise 5.3: the whole history to disk, then three messages in its place.

    System, `[Context has been compressed. Memory: <path>]` with the summary, and an answer to it.
    What the model has not read yet stays behind them, word for word. The path is relative to `root`
    (the folder around `folder`, if none is given), so that the agent's own file tool can open it.
    Raises SnapshotError.
    """
    path = write_snapshot(messages, folder)  # first: nothing changes before the whole of it is safe
    system, old, unread = split_unread(messages)
    summary = ask_summary(old, summarise, instructions)
    if summary.problem:
        tokens = quarter_of_characters(messages)
        return unchanged(messages, tokens, summary.problem, failed=summary.asked, snapshot=path)
    heading = FULL_HEADING.replace("{path}", path_for_agent(path, root))
    shorter = [*system, *summary_pair(heading, summary.text, unread), *unread]
    return commit(messages, shorter, quarter_of_characters, snapshot=path)


def after_input(messages: list[Message], stubs: Compactor, full: Compactor, limit: int = 30000) -> Compaction:
    """Exercise 5.4: who runs after the user's input? Tier 2, if the history is over the limit.

    The limit is in tokens, estimated as characters / 4. Never while a call still waits for its
    result.
    """
    tokens = quarter_of_characters(messages)
    if tokens <= limit:
        return unchanged(messages, tokens, f"≈{tokens:,} tokens: within the limit of {limit:,}")
    if any(exchange.open for exchange in exchanges(messages)):
        return unchanged(messages, tokens, "a call still waits for its result")
    return full(messages)


def after_tools(messages: list[Message], stubs: Compactor, full: Compactor) -> Compaction:
    """Exercise 5.4: who runs after each reply and each tool run? Tier 1, every time."""
    return stubs(messages)


def split_unread(messages: Sequence[Message]) -> tuple[list[Message], list[Message], list[Message]]:
    """System part, what can be summarised, and what the model has yet to answer.

    The last is a user message without an answer, or the newest exchange while the model has not read all its
    results; it is empty when the assistant spoke last.
    """
    start, unread = system_length(messages), unread_from(messages)
    cut = max((cut for cut in legal_cuts(messages) if cut <= max(start, unread)), default=start)
    return list(messages[:start]), list(messages[start:cut]), list(messages[cut:])


def path_for_agent(path: Path, root: str | Path | None = None) -> str:
    """A snapshot's path as the agent's file tool takes it: relative to `root`, with forward slashes."""
    root = Path(root) if root is not None else path.parent.parent
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:  # the snapshots lie elsewhere: then only the whole path names one
        return path.resolve().as_posix()


@dataclass(frozen=True)
class FullCompactor:
    """Tier 2: above `limit` estimated tokens (characters / 4), snapshot, summary, and three messages.

    `folder` takes the snapshots: `.memory` inside the agent's playground, so that it can read them. `root` is
    the folder that the agent's file tool calls `.`; without it, the one around `folder`. No access to the
    folder, or a full disk: the history stays as it is, with `failed` and the reason.
    """

    limit: int = 30000
    _: KW_ONLY
    folder: str | Path
    root: str | Path | None = None
    summarise: Summariser = extractive_summary
    focus: str = ""

    def __post_init__(self) -> None:
        check_numbers(self, "limit")

    def __call__(self, messages: list[Message]) -> Compaction:
        """The history as it is when it is small enough, else three messages and what is still unread."""
        tokens = self.measure(messages)
        if tokens <= self.limit and self._larger(messages) <= self.limit:
            return unchanged(messages, tokens, f"≈{tokens:,} tokens: within the limit of {self.limit:,}")
        return self._compacted(messages)

    def now(self, messages: list[Message], focus: str = "") -> Compaction:
        """Compact at once, however small the history is: the chat's `/compact [focus]`."""
        return replace(self, focus=focus or self.focus)._compacted(messages)

    def measure(self, messages: Sequence[Message]) -> int:
        """This compactor's token figures: characters / 4."""
        return quarter_of_characters(messages)

    def _larger(self, messages: Sequence[Message]) -> int:
        """The estimate or the exact count, whichever is larger: the estimate falls short on Chinese."""
        return max(self.measure(messages), exact_tokens(messages))

    def _compacted(self, messages: list[Message]) -> Compaction:
        system, old, unread = split_unread(messages)

        heading = FULL_HEADING.replace("{path}", path_for_agent(Path(self.folder) / A_NAME, self.root))

        def framed(summary: str) -> list[Message]:
            return [*system, *summary_pair(heading, summary, unread), *unread]

        room = room_for_summary(messages, framed, self.measure)
        if not take_earlier(old).messages or not room:
            reason = f"{NOTHING_NEW}: nothing can be gained before the {len(unread)} newest messages"
            result = unchanged(messages, self.measure(messages), reason)
            return with_floor(result, self.limit, self._larger)
        bare = framed("")
        by_estimate = int(
            (self.limit - self.measure(bare)) / (MARGIN / 2)
        )  # half as coarse as characters / 2
        room = room_below(min(self.limit - exact_tokens(bare), by_estimate), room)
        instructions = fitted(FULL_SECTIONS, self.focus, room)
        try:
            result = self._fold(messages, instructions)
        except SnapshotError as error:
            return unchanged(messages, self.measure(messages), str(error), failed=True)
        return result if result.failed else with_floor(result, self.limit, self._larger)

    def _fold(self, messages: list[Message], instructions: Instructions) -> Compaction:
        return compact_all(messages, self.summarise, self.folder, self.root, instructions)


def two_tiers(stubs: ToolStubs, full: FullCompactor) -> dict[str, Compactor]:
    """Both tiers as hooks of an agent: `Agent(..., **two_tiers(ToolStubs(), FullCompactor(folder=...)))`."""

    def input_hook(messages: list[Message]) -> Compaction:
        return after_input(messages, stubs, full, full.limit)

    def tools_hook(messages: list[Message]) -> Compaction:
        return after_tools(messages, stubs, full)

    return {"after_input": input_hook, "after_tools": tools_hook}
