"""Beyond the sources: a compactor that keeps, by rule and not by a model's grace, what must not be lost.

The system message, the user's own words, and a ledger of files and commands taken from the tool calls
themselves. A model writes only the rest. Everything is counted exactly and fits into a budget.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from labkit.compaction.asking import LEAST_SUMMARY, NOTHING_NEW, ask_summary, fitted, room_for_summary
from labkit.compaction.base import Compaction, Summariser, commit, exact_tokens, unchanged, with_floor
from labkit.compaction.earlier import (
    SAFE_CUT_HEADING,
    Earlier,
    take_earlier,
    user_words,
    with_words,
)
from labkit.compaction.extractive import extractive_summary
from labkit.compaction.safe_cut import choose_cut
from labkit.compaction.settings import check_numbers
from labkit.compaction.summary import Instructions, sendable, summary_request
from labkit.compaction.transcript import clip, read_assignment, read_history
from labkit.messages import Message, system_length, user
from labkit.tokens import shared_counter

LEDGER_SECTIONS = Instructions(
    system=(
        "You keep the state of a coding agent's task when its history grows too long. The user's own words "
        "and a list of files and commands are kept elsewhere; you write down the rest, and nothing else."
    ),
    sections=(
        ("Facts", "what was found out, with names, numbers and dates"),
        ("Decisions", "what was decided, and why"),
        ("Progress and next step", "what is done, what is not, and the next step"),
    ),
    max_tokens=1000,
    length="as short as it can be, and never more than 400 words",
)
LEFT_OUT = re.compile(r"- \(left out: (\d+) older lines\)")
LEAST_WORDS = 400
"""Characters that the user's own words are given, however small the budget."""


@dataclass(frozen=True)
class LedgerCompactor:
    """Above `limit` tokens: system part, summary with ledger and the user's words, and the newest messages.

    `budget` is what all but the system part should have after a compaction (half the limit, if not given):
    the distance to the limit decides how often the prefix changes. All figures are exact. Call it before each
    request.
    """

    limit: int
    budget: int | None = None
    keep_recent: int = 2
    summarise: Summariser = extractive_summary
    strict: bool = True
    focus: str = ""

    def __post_init__(self) -> None:
        check_numbers(self, "limit", "keep_recent", optional=["budget"])

    def __call__(self, messages: list[Message]) -> Compaction:
        """The history as it is when it is small enough, else the compacted one."""
        tokens = exact_tokens(messages)
        if tokens <= self.limit:
            return unchanged(messages, tokens, f"{tokens:,} tokens: within the limit of {self.limit:,}")
        return self._fold(messages)

    def now(self, messages: list[Message], focus: str = "") -> Compaction:
        """Compact at once, however small the history is: the chat's `/compact [focus]`."""
        return replace(self, focus=focus or self.focus)._fold(messages)

    def measure(self, messages: Sequence[Message]) -> int:
        """This compactor's token figures: exact."""
        return exact_tokens(messages)

    def _fold(self, messages: list[Message]) -> Compaction:
        start = system_length(messages)
        cut = choose_cut(messages, self.keep_recent) or start
        system, old, recent = messages[:start], messages[start:cut], messages[cut:]
        earlier = take_earlier(old)
        budget = self.limit // 2 if self.budget is None else self.budget
        budget = min(budget, self.limit - exact_tokens(system))  # more would be over the limit
        room = max(0, budget - exact_tokens(recent))
        words = words_within(earlier, room // 2)
        ledger = ledger_of(earlier.ledger, earlier.messages, max(LEAST_WORDS, room // 2))

        def framed(summary: str) -> list[Message]:
            return [*system, user(f"{SAFE_CUT_HEADING} {with_words(summary, words, ledger)}"), *recent]

        tokens, least = exact_tokens(messages), exact_tokens(framed(""))
        most = room_for_summary(messages, framed, exact_tokens)
        if not earlier.messages or not most:
            reason = f"{NOTHING_NEW}: nothing can be gained before the {len(recent)} newest messages"
            return self._judged(unchanged(messages, tokens, reason))
        left = max(LEAST_SUMMARY, budget - (least - exact_tokens(system)))
        instructions = fitted(LEDGER_SECTIONS, self.focus, min(most, left))
        summary = ask_summary(old, self.summarise, instructions, words_stay=True)
        if summary.problem:
            return unchanged(messages, tokens, summary.problem, failed=True)
        result = commit(messages, framed(summary.text), before=tokens)
        return result if result.failed else self._judged(result)

    def _judged(self, result: Compaction) -> Compaction:
        return with_floor(result, self.limit, exact_tokens) if self.strict else result


def words_within(earlier: Earlier, tokens: int) -> str:
    """The user's own words in about so many tokens, whatever their script; never less than LEAST_WORDS."""
    words = user_words(earlier, max(LEAST_WORDS, 5 * tokens))  # English has about 5 characters a token
    count = shared_counter().text(words)
    if count <= tokens:
        return words
    return user_words(earlier, max(LEAST_WORDS, len(words) * tokens // count))


def ledger_of(earlier: str, messages: Sequence[Message], most: int) -> str:
    """The ledger carried on: a line for each file changed, file read and command run, the newest last.

    At most `most` characters: where it does not fit, the oldest lines go, and are counted.
    """
    rendered = summary_request(messages, LEDGER_SECTIONS)
    happened = read_history(read_assignment(rendered).history)
    carried, lines = earlier.splitlines(), dict[str, str]()
    for label, entries in (("changed", happened.changed), ("read", happened.read), ("ran", happened.ran)):
        for key, gist in entries.items():
            head = f"- {label} {clip(key, 120)}"
            lines.pop(head, None)
            lines[head] = f"{head}: {gist}" if gist and label != "read" else head
    kept = [line for line in carried if not lines.keys() & heads_of(line)]
    return newest_lines(sendable("\n".join([*kept, *lines.values()])).split("\n"), most)


def newest_lines(lines: list[str], most: int) -> str:
    """The lines in at most `most` characters: the newest, whole, below one that counts those left out.

    >>> newest_lines(["- (left out: 2 older lines)", "- read a.md", "- read b.md", "- read c.md"], 40)
    '- (left out: 4 older lines)\\n- read c.md'
    """
    before = LEFT_OUT.fullmatch(lines[0])
    gone, lines = (int(before[1]), lines[1:]) if before else (0, lines)
    if not gone and len("\n".join(lines)) <= most:
        return "\n".join(lines)
    room = most - len(f"- (left out: {gone + len(lines)} older lines)")
    sizes = accumulate(len(line) + 1 for line in reversed(lines))
    left_out = len(lines) - sum(size <= room for size in sizes)
    return "\n".join([f"- (left out: {gone + left_out} older lines)", *lines[left_out:]])


def heads_of(line: str) -> set[str]:
    """What a line of the ledger may be about: a command may hold ": ", and so may the gist after it.

    >>> sorted(heads_of("- ran echo a: b: ok"))
    ['- ran echo a', '- ran echo a: b', '- ran echo a: b: ok']
    """
    words = line.split(": ")
    return {": ".join(words[:end]) for end in range(1, len(words) + 1)}
