"""Lab 4, source system B: compaction by tokens, at a safe cut.

Before each request: above `limit` estimated tokens (characters / 2), start `keep_recent` messages from the
end, step back to the next legal cut, and put one user message `[Earlier in this task] ...` in place of all
before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from labkit.compaction.asking import (
    LEAST_SUMMARY,
    NOTHING_NEW,
    ask_summary,
    fitted,
    room_below,
    room_for_summary,
)
from labkit.compaction.base import (
    Compaction,
    Measure,
    Summariser,
    commit,
    exact_tokens,
    half_of_characters,
    unchanged,
    with_floor,
)
from labkit.compaction.earlier import SAFE_CUT_HEADING, Earlier, take_earlier, user_words, with_words
from labkit.compaction.extractive import extractive_summary
from labkit.compaction.settings import check_numbers
from labkit.compaction.summary import SAFE_CUT_SECTIONS
from labkit.messages import Message, legal_cuts, system_length, user
from labkit.tokens import estimate_tokens, shared_counter

LEAST_WORDS, MOST_WORDS = 400, 4000
"""Characters that the user's own words may take beside a summary: half the limit, but within these two."""


def choose_cut(messages: Sequence[Message], keep_recent: int = 2) -> int | None:
    """Exercise 4.2: where to cut, or None when there is nothing to cut off.

    From the end, `keep_recent` messages back, then further back to a legal cut. The system part is
    never cut off, and a cut directly after it would keep everything, so that is None too.

    >>> from labkit.messages import assistant, system, tool_call, tool_result, user
    >>> call = assistant(calls=[tool_call("a", "f", {})])
    >>> history = [system("s"), user("go"), call, tool_result("a", "ok"), assistant("done")]
    >>> choose_cut(history, keep_recent=2)
    2
    """
    start, wanted = system_length(messages), len(messages) - keep_recent
    possible = [cut for cut in legal_cuts(messages) if start < cut <= wanted]
    return possible[-1] if possible else None


def compact(
    messages: list[Message], summarise: Summariser, limit: int = 6000, keep_recent: int = 2
) -> Compaction:
    """Exercise 4.3: above `limit` estimated tokens, summarise what stands before the cut.

    The summary comes from a request of its own, with the compressor's messages and no tools.
    Nothing to do, or no usable summary: a copy of the history, never the list that came in.
    """
    before, cut = estimate_tokens(messages), choose_cut(messages, keep_recent)
    if before <= limit or cut is None:
        reason = f"within the limit of {limit:,}" if before <= limit else "nothing can be cut off"
        return unchanged(messages, before, f"≈{before:,} tokens: {reason}")
    start = system_length(messages)
    system, old, recent = messages[:start], messages[start:cut], messages[cut:]
    summary = ask_summary(old, summarise, SAFE_CUT_SECTIONS)
    if summary.problem:
        return unchanged(messages, before, summary.problem, failed=summary.asked)
    shorter = [*system, user(f"{SAFE_CUT_HEADING} {summary.text}"), *recent]
    return commit(messages, shorter, estimate_tokens, before=before)


@dataclass(frozen=True)
class SafeCutCompactor:
    """Source system B, with what holds up beyond its lab. Call it before each request.

    `limit` and `keep_tokens` are tokens by `count`. Without a `count` the estimate (characters / 2) decides
    when to compact, and the exact counter has the last word: it also catches text on which the estimate falls
    short, and only by it is a history called too large. `keep_recent` messages stay at least; with
    `keep_tokens` as many more as fit into that. `keep_user_words`: the user's own words stay, word for word,
    below the summary, long ones shortened (False: as the source has it). `strict`: say in `over_limit` when
    the floor is above the limit, so that the agent stops (False: the limit only says when to compact, as the
    source has it).
    """

    limit: int = 6000
    keep_recent: int = 2
    keep_tokens: int | None = None
    count: Measure | None = None
    summarise: Summariser = extractive_summary
    keep_user_words: bool = True
    strict: bool = True
    focus: str = ""

    def __post_init__(self) -> None:
        check_numbers(self, "limit", "keep_recent", optional=["keep_tokens"])

    def __call__(self, messages: list[Message]) -> Compaction:
        """The history as it is when it is small enough, else the system part, one summary, what is recent."""
        tokens = self.measure(messages)
        if tokens <= self.limit and self._truth(messages) <= self.limit:
            return unchanged(messages, tokens, f"≈{tokens:,} tokens: within the limit of {self.limit:,}")
        system, old, recent = self._parts(messages)
        if self.measure([*system, *recent]) > self.limit >= self._truth(messages):
            # No compaction gets below the estimate's limit, so the estimate cannot say when: the count does.
            reason = f"≈{tokens:,} tokens by estimate, but counted exactly within the limit of {self.limit:,}"
            return unchanged(messages, tokens, reason)
        result = self._fold(messages, system, old, recent)
        longer = self.keep_tokens is not None and len(old) + len(system) != choose_cut(
            messages, self.keep_recent
        )
        if result.over_limit and longer:
            return replace(self, keep_tokens=None)(messages)  # the longer tail is what does not fit
        return result

    def now(self, messages: list[Message], focus: str = "") -> Compaction:
        """Compact at once, however small the history is: the chat's `/compact [focus]`."""
        return replace(self, focus=focus or self.focus)._fold(messages, *self._parts(messages))

    def measure(self, messages: Sequence[Message]) -> int:
        """This compactor's token figures: `count`, else characters / 2."""
        return (self.count or half_of_characters)(messages)

    def _truth(self, messages: Sequence[Message]) -> int:
        return (self.count or exact_tokens)(messages)

    def _fold(
        self, messages: list[Message], system: list[Message], old: list[Message], recent: list[Message]
    ) -> Compaction:
        tokens, earlier = self.measure(messages), take_earlier(old)
        words = self._words(earlier, self._truth([*system, *recent]))

        def framed(summary: str) -> list[Message]:
            text = with_words(summary, words, earlier.ledger)
            return [*system, user(f"{SAFE_CUT_HEADING} {text}"), *recent]

        room = room_for_summary(messages, framed, self.measure)
        if not earlier.messages or not room:
            reason = f"{NOTHING_NEW}: nothing can be gained before the {len(recent)} newest messages"
            return self._judged(unchanged(messages, tokens, reason))
        room = room_below(self.limit - self._truth(framed("")), room)
        instructions = fitted(SAFE_CUT_SECTIONS, self.focus, room)
        summary = ask_summary(old, self.summarise, instructions, words_stay=True)
        if summary.problem:
            return unchanged(messages, tokens, summary.problem, failed=True)
        result = commit(messages, framed(summary.text), self.measure, before=tokens)
        return result if result.failed else self._judged(result)

    def _words(self, earlier: Earlier, kept_tokens: int) -> str:
        """The user's own words that stay; fewer where the kept messages and a summary leave little room."""
        if not self.keep_user_words:
            return earlier.words
        left = self.limit - kept_tokens - SAFE_CUT_SECTIONS.max_tokens  # a character is a token at most
        return user_words(earlier, max(LEAST_WORDS, min(MOST_WORDS, self.limit // 2, left)))

    def _judged(self, result: Compaction) -> Compaction:
        return with_floor(result, self.limit, self._truth) if self.strict else result

    def _parts(self, messages: list[Message]) -> tuple[list[Message], list[Message], list[Message]]:
        """System part, old messages, recent ones; no old ones when there is nothing to cut off."""
        start = system_length(messages)
        cut = choose_cut(messages, self.keep_recent)
        if cut is not None and self.keep_tokens is not None:
            cut = self._longer_tail(messages, start, cut, self.keep_tokens)
        cut = start if cut is None else cut
        return messages[:start], messages[start:cut], messages[cut:]

    def _longer_tail(self, messages: list[Message], start: int, cut: int, keep_tokens: int) -> int:
        """The earliest legal cut whose tail fits into `keep_tokens` and, with system part and summary, under
        the limit.
        """
        legal = {index for index in legal_cuts(messages) if start < index < cut}
        reserved = max(self.limit // 4, LEAST_WORDS + LEAST_SUMMARY)
        most = min(keep_tokens, self.limit - reserved - self.measure(messages[:start]))
        best, tail = cut, sum(map(self._size, messages[cut:]))
        for index in range(cut - 1, start, -1):
            tail += self._size(messages[index])
            if tail > most:
                break
            best = index if index in legal else best
        return best

    def _size(self, message: Message) -> int:
        """A message's tokens; the estimate or the exact count, whichever is larger, where both have a say."""
        tokens = self.measure([message])
        return tokens if self.count else max(tokens, shared_counter().message(message))
