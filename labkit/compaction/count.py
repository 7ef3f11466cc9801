"""Lab 3, source system A: compaction by count.

More than `threshold` messages: the system message and the last `keep_last` stay, a summary takes the place of
all between. 21 messages become 9. `CountCompactor` is the sound form of it: its cut never falls between a
call and its result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from labkit.compaction.asking import NOTHING_NEW, ask_summary, fitted, room_for_summary
from labkit.compaction.base import Compaction, Summariser, commit, exact_tokens, unchanged
from labkit.compaction.earlier import ACKNOWLEDGEMENT, COUNT_HEADING, take_earlier
from labkit.compaction.extractive import extractive_summary
from labkit.compaction.settings import check_numbers
from labkit.compaction.summary import COUNT_SECTIONS, Instructions
from labkit.messages import Message, assistant, legal_cuts, system_length, user


def split_history(
    messages: Sequence[Message], keep_last: int = 6
) -> tuple[list[Message], list[Message], list[Message]]:
    """Exercise 3.1: a history in three parts, as (system, old, recent).

    `system` is the leading system message (or messages, or none), `recent` the last `keep_last` of
    the others, `old` all between. Every message is in exactly one part; a short history has no old
    part.

    >>> from labkit.messages import assistant, system, user
    >>> split_history([system("s"), user("1"), assistant("2"), user("3")], keep_last=1)[1]
    [{'role': 'user', 'content': '1'}, {'role': 'assistant', 'content': '2'}]
    """
    start = system_length(messages)
    cut = max(start, len(messages) - keep_last)  # not [-keep_last:], which keeps everything when it is 0
    return list(messages[:start]), list(messages[start:cut]), list(messages[cut:])


def rebuild(system: Sequence[Message], summary: str, recent: Sequence[Message]) -> list[Message]:
    """Exercise 3.3: the new history: system, the summary with its answer, the recent messages.

    It is a new list. The summary is a user message headed
    `[Context summary - earlier conversation]`, and an assistant message acknowledges it, unless the
    recent messages begin with one of the assistant's: user and assistant take turns.
    """
    pair = [user(f"{COUNT_HEADING}\n\n{summary}")]
    if not recent or recent[0].get("role") != "assistant":
        pair.append(assistant(ACKNOWLEDGEMENT))
    return [*system, *pair, *recent]


def compact_if_needed(
    messages: list[Message],
    summarise: Summariser,
    threshold: int = 20,
    keep_last: int = 6,
    instructions: Instructions = COUNT_SECTIONS,
) -> Compaction:
    """Exercise 3.4: summarise the old part of a history of more than `threshold` messages.

    System messages count, too. A summary that failed or is of no use leaves all as it was; the
    reason says why. The slice is the lab's plain one: it may fall between a call and its result
    (`CountCompactor` chooses `keep_last` so that it does not).
    """
    before = exact_tokens(messages)
    if len(messages) <= threshold:
        return unchanged(messages, before, f"{len(messages)} messages: not more than {threshold}")
    system, old, recent = split_history(messages, keep_last)
    summary = ask_summary(old, summarise, instructions)
    if summary.problem:
        return unchanged(messages, before, summary.problem, failed=summary.asked)
    return commit(messages, rebuild(system, summary.text, recent), before=before)


@dataclass(frozen=True)
class CountCompactor:
    """Source system A, made sound: above `threshold` messages, keep the last `keep_last` and summarise the
    rest.

    It keeps a few more than `keep_last` where a cut there would part a call from its result. Run it after the
    turn. Token figures are exact. `focus` is what the summary must keep above all.
    """

    threshold: int = 20
    keep_last: int = 6
    summarise: Summariser = extractive_summary
    focus: str = ""

    def __post_init__(self) -> None:
        check_numbers(self, "threshold", "keep_last")

    def __call__(self, messages: list[Message]) -> Compaction:
        """The history as it is when it is short enough, else system part, summary, newest messages."""
        if len(messages) <= self.threshold:
            reason = f"{len(messages)} messages: not more than {self.threshold}"
            return unchanged(messages, exact_tokens(messages), reason)
        keep_last = len(messages) - self._cut(messages)
        system, old, recent = split_history(messages, keep_last)
        room = room_for_summary(messages, lambda summary: rebuild(system, summary, recent), exact_tokens)
        if not take_earlier(old).messages or not room:
            reason = f"{NOTHING_NEW}: only {len(old)} messages stand before the {len(recent)} newest"
            return unchanged(messages, exact_tokens(messages), reason)
        sections = fitted(COUNT_SECTIONS, self.focus, room)
        return compact_if_needed(messages, self.summarise, self.threshold, keep_last, sections)

    def now(self, messages: list[Message], focus: str = "") -> Compaction:
        """Compact at once, however short the history is: the chat's `/compact [focus]`."""
        return replace(self, threshold=0, focus=focus or self.focus)(messages)

    def measure(self, messages: Sequence[Message]) -> int:
        """This compactor's token figures: exact."""
        return exact_tokens(messages)

    def _cut(self, messages: Sequence[Message]) -> int:
        """The last legal cut that keeps at least `keep_last` messages; the start when there is none."""
        start = system_length(messages)
        wanted = max(start, len(messages) - self.keep_last)
        return max((cut for cut in legal_cuts(messages) if cut <= wanted), default=start)
