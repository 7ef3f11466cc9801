"""What every compactor takes and gives back, and the step that all of them end with: validate, then commit.

A compactor is called with a history and answers with a `Compaction`. It never changes the list it was given
and never hands that same list back: the caller replaces its own history when `changed` is true. The messages
that were kept are the same dict objects as before, so a token counter need not count them again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from labkit.messages import Message
from labkit.streaming import Reply
from labkit.tokens import shared_counter

Summariser = Callable[[list[Message], int], Reply]
"""Called with a request's messages and the most tokens the answer may have; any callable will do."""
Measure = Callable[[Sequence[Message]], int]
"""The tokens of a list of messages, exact or estimated."""


@dataclass(frozen=True)
class Compaction:
    """What a compactor did, or why it did nothing.

    `tokens_before` and `tokens_after` are in the compactor's own measure (characters / 2 for
    SafeCutCompactor, characters / 4 for the two tiers, exact for the others). `failed`: a summary was tried
    and not accepted, so `messages` equals the history. `over_limit`: tokens by which the result is still
    above the limit although nothing more can be folded; `reason` then names this floor.
    """

    messages: list[Message]
    changed: bool
    reason: str
    tokens_before: int
    tokens_after: int
    snapshot: Path | None = None
    failed: bool = False
    over_limit: int = 0


Compactor = Callable[[list[Message]], Compaction]


def exact_tokens(messages: Sequence[Message]) -> int:
    """The exact count of a history, with what each message costs beside its text."""
    return shared_counter().history(messages)


def unchanged(
    messages: Sequence[Message],
    tokens: int,
    reason: str,
    *,
    failed: bool = False,
    over_limit: int = 0,
    snapshot: Path | None = None,
) -> Compaction:
    """The history as it was, in a new list, with the reason."""
    return Compaction(list(messages), False, reason, tokens, tokens, snapshot, failed, over_limit)


def commit(
    messages: Sequence[Message],
    shorter: list[Message],
    measure: Measure = exact_tokens,
    snapshot: Path | None = None,
) -> Compaction:
    """The shorter history, if it really is shorter; else the old one, marked as failed.

    It must be smaller in the compactor's own measure and in the exact count, because an estimate by
    characters can be fooled (a Chinese summary of an English text has fewer characters and more tokens).
    """
    before, after = measure(messages), measure(shorter)
    if after >= before or exact_tokens(shorter) >= exact_tokens(messages):
        reason = f"the summary is no smaller than what it replaces ({before} tokens before, {after} after)"
        return unchanged(messages, before, reason, failed=True, snapshot=snapshot)
    reason = f"{len(messages)} messages became {len(shorter)}, {before} tokens became {after}"
    return Compaction(shorter, True, reason, before, after, snapshot)
