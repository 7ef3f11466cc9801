"""The great operation as a rehearsal: what tier 2 would leave, with nothing written to disk.

For replays by the dozen: a knob that is turned must not fill a folder with snapshots, nor wait for a disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from labkit.compaction.asking import ask_summary
from labkit.compaction.base import Compaction, commit, quarter_of_characters, unchanged
from labkit.compaction.earlier import FULL_HEADING, summary_pair
from labkit.compaction.summary import Instructions
from labkit.compaction.two_tier import FullCompactor, split_unread
from labkit.messages import Message

NO_PATH = ".memory/memory_20260101_120000_000000.jsonl"
"""Stands where a snapshot's path would: as long as a real one, and the same each time."""


@dataclass(frozen=True)
class RehearsedFull(FullCompactor):
    """`FullCompactor` for a replay: the same figures, no snapshot."""

    folder: str | Path = ".memory"  # never made

    def _fold(self, messages: list[Message], instructions: Instructions) -> Compaction:
        system, old, unread = split_unread(messages)
        summary = ask_summary(old, self.summarise, instructions)
        if summary.problem:
            tokens = quarter_of_characters(messages)
            return unchanged(messages, tokens, summary.problem, failed=summary.asked)
        heading = FULL_HEADING.replace("{path}", NO_PATH)
        shorter = [*system, *summary_pair(heading, summary.text, unread), *unread]
        return commit(messages, shorter, quarter_of_characters)
