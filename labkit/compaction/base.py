"""What every compactor takes and gives back, and the step that all of them end with: validate, then commit.

A compactor is called with a history and answers with a `Compaction`. It never changes the list it was given
and never hands that same list back: the caller replaces its own history when `changed` is true. The messages
that were kept are the same dict objects as before, so a token counter need not count them again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from labkit.messages import Message, calls_of, function_of, system_length, text_of
from labkit.streaming import Reply
from labkit.token_ledger import HistoryLedger
from labkit.tokens import MESSAGE_OVERHEAD, REPLY_OVERHEAD, shared_counter

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
    """The exact count of a history, with what each message costs beside its text.

    A compactor asks for many short ones that it only tries. Those are added up; the counter's running total
    stays with the long history.
    """
    counter = shared_counter()
    if len(messages) < SHORT:
        return REPLY_OVERHEAD + sum(map(counter.message, messages))
    return counter.history(messages)


def tokens_or_more_than(enough: int, messages: Sequence[Message]) -> int:
    """The exact count; or, where the overhead of so many messages is more than `enough` already, only that.

    For comparisons: a history of 100,000 messages need not be counted to see that a summary is smaller.
    """
    overhead = MESSAGE_OVERHEAD * len(messages)
    return overhead if overhead > enough else exact_tokens(messages)


def half_of_characters(messages: Sequence[Message]) -> int:
    """Source system B's estimate: characters / 2, as `estimate_tokens` counts them."""
    return -(-_characters(messages) // 2)


def quarter_of_characters(messages: Sequence[Message]) -> int:
    """Source system C's estimate: characters / 4, as `estimate_tokens` counts them."""
    return -(-_characters(messages) // 4)


def _characters(messages: Sequence[Message]) -> int:
    """The characters of a history. They are asked for several times a request, so of a long one only those
    of new messages are counted; of a short one all, since remembering would cost more.
    """
    if len(messages) < SHORT:
        return sum(map(_characters_of, messages))
    return _CHARACTERS.total(messages, _characters_of)


def _characters_of(message: Message) -> int:
    content = message.get("content")
    characters = len(content) if isinstance(content, str) else len(text_of(content))
    if "tool_calls" in message:
        characters += sum(len(str(function_of(call).get("arguments") or "")) for call in calls_of(message))
    return characters


SHORT = 64  # messages
_CHARACTERS = HistoryLedger()


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
    before: int | None = None,
) -> Compaction:
    """The shorter history, if it really is shorter; else the old one, marked as failed.

    It must be smaller in the compactor's own measure and in the exact count, because an estimate by
    characters can be fooled (a Chinese summary of an English text has fewer characters and more tokens).
    `before` is the history's size in the compactor's measure, for who knows it already.
    """
    before, after = measure(messages) if before is None else before, measure(shorter)
    exactly = exact_tokens(shorter)
    if after >= before or exactly >= tokens_or_more_than(exactly, messages):
        reason = (
            f"the summary is no smaller than what it replaces ({before:,} tokens before, {after:,} after)"
        )
        return unchanged(messages, before, reason, failed=True, snapshot=snapshot)
    reason = f"{len(messages)} messages became {len(shorter)}, {before:,} tokens became {after:,}"
    return Compaction(shorter, True, reason, before, after, snapshot)


# --- the floor --------------------------------------------------------------------------------------------


def with_floor(result: Compaction, limit: int, measure: Measure) -> Compaction:
    """The same outcome; if it is still over the limit, with `over_limit` and a reason that names the floor.

    The floor is what no compaction removes: the system message, the summary, the messages that must be kept.
    """
    total = measure(result.messages)
    over = total - limit
    if over <= 0 or not result.messages:
        return result
    system = measure(result.messages[: system_length(result.messages)])
    sizes = [measure([message]) for message in result.messages]
    largest = max(range(len(sizes)), key=sizes.__getitem__)
    reason = (
        f"{result.reason}; the floor is {total:,} tokens ({system:,} of them the system part), {over:,} over "
        f"the limit of {limit:,}. The largest message is number {largest} "
        f"({result.messages[largest].get('role')}) with {sizes[largest]:,} tokens, "
        f"{min(over, sizes[largest]):,} too many"
    )
    return replace(result, reason=reason, over_limit=over)


# --- one after the other ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chain:
    """Compactors one after the other, round after round, until none changes anything. Made by `chain`."""

    compactors: tuple[Compactor, ...]

    def __call__(self, messages: list[Message]) -> Compaction:
        """All steps as one `Compaction`; a step that failed is the last."""
        steps: list[Compaction] = []
        current = list(messages)
        for _ in self.compactors:  # what one does can make work for those before it
            done = self._round(current)
            steps += done
            current = list(done[-1].messages)
            if done[-1].failed or not any(step.changed for step in done):
                break
        telling = [step for step in steps if step.changed or step.failed or step.over_limit] or steps
        return Compaction(
            messages=current,
            changed=any(step.changed for step in steps),
            reason="; then ".join(step.reason for step in telling) or "no compactor in the chain",
            tokens_before=self.measure(messages),
            tokens_after=self.measure(current),
            snapshot=next((step.snapshot for step in reversed(steps) if step.snapshot), None),
            failed=any(step.failed for step in steps),
            over_limit=max((self._still_over(step, current) for step in steps), default=0),
        )

    def _round(self, messages: list[Message]) -> list[Compaction]:
        """Each compactor once, on what the one before it left, up to one that fails."""
        steps: list[Compaction] = []
        for compactor in self.compactors:
            steps.append(compactor(list(steps[-1].messages if steps else messages)))
            if steps[-1].failed:
                break
        return steps

    def _still_over(self, step: Compaction, current: list[Message]) -> int:
        """What a step left above its limit, less what the steps after it saved."""
        return max(0, step.over_limit - (self.measure(step.messages) - self.measure(current)))

    def now(self, messages: list[Message], focus: str = "") -> Compaction:
        """Compact at once, with every compactor of the chain that knows how to: the chat's `/compact`."""
        ready = (getattr(compactor, "now", None) for compactor in self.compactors)
        at_once = [partial(now, focus=focus) for now in ready if now]
        return replace(self, compactors=tuple(at_once))(messages)

    def measure(self, messages: Sequence[Message]) -> int:
        """A chain's token figures: exact, because its compactors may estimate differently."""
        return exact_tokens(messages)


def chain(*compactors: Compactor) -> Chain:
    """Several compactors as one: each works on what the one before it left, and a failure ends it.

    Put the cheap ones first: with `chain(ToolStubs(), SafeCutCompactor())` a summary is only asked for when
    stubs were not enough. The token figures are exact.
    """
    return Chain(compactors)
