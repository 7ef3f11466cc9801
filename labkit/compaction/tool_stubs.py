"""Lab 5, tier 1 of source system C: old tool results become stubs.

A tool result is precious when it is new and worth little some rounds later: it can be read again. So the text
goes and the message stays, with its id, because a call without a result is no valid history.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from labkit.compaction.base import Compaction, quarter_of_characters, unchanged
from labkit.compaction.earlier import cut_middle
from labkit.compaction.settings import check_numbers
from labkit.compaction.summary import name_and_arguments, one_line, sendable
from labkit.messages import Message, calls_of, exchanges, text_of
from labkit.tokens import shared_counter

STUB = "[compressed]"
"""Source system C's text."""
STUB_LENGTH = 100
"""Characters: the most that a stub which names its call may have."""
WAY_BACK = "Call it again to see the result.]"
"""How such a stub ends."""
ROUNDS_APART = 4
"""With a batch size, the prefix is rewritten at most once in so many requests."""


def stub_old_results(
    messages: Sequence[Message], keep_recent: int = 3, min_chars: int = 100
) -> list[Message]:
    """Exercise 5.1: a new history in which old, long tool results say `[compressed]`.

    Long is more than `min_chars` characters of text. The `keep_recent` newest of the long ones
    stay, and so do all that the model has not read yet. Ids stay; nothing grows; a stub is not
    stubbed again.

    >>> from labkit.messages import assistant, tool_call, tool_result
    >>> call, result = assistant(calls=[tool_call("a", "f", {})]), tool_result("a", "x" * 200)
    >>> stub_old_results([call, result, assistant("read it")], keep_recent=0)[1]
    {'role': 'tool', 'tool_call_id': 'a', 'content': '[compressed]'}
    """
    long = [index for index in results_of(messages) if length(messages[index]) > min_chars]
    unread = unread_from(messages)
    stubbed = list(messages)
    for index in long[: max(0, len(long) - keep_recent)]:
        if index < unread and length(messages[index]) > len(STUB):
            stubbed[index] = {**messages[index], "content": STUB}
    return stubbed


def results_of(messages: Sequence[Message]) -> list[int]:
    """The indices of the tool results."""
    return [index for index, message in enumerate(messages) if message.get("role") == "tool"]


def length(message: Message) -> int:
    """Characters of a message's text."""
    return len(text_of(message.get("content")))


def unread_from(messages: Sequence[Message]) -> int:
    """The index after the last assistant message: from there on, the model has not answered yet."""
    said = (index for index in reversed(range(len(messages))) if messages[index].get("role") == "assistant")
    return next(said, -1) + 1


# --- beyond the source: stubs that name the call, and rare rewriting --------------------------------------


@dataclass(frozen=True)
class ToolStubs:
    """Tier 1: stubs in place of old tool results. Cheap, asks no model, and loses only what can be had again.

    As `stub_old_results`. With `batch_tokens` stubs come in batches that save at least so many tokens
    (characters / 4), at most one batch in four requests, so that the prefix (and the provider's cache of it)
    changes rarely. `describe`: a stub names its call and the way back. What is a stub stays the same bytes.
    """

    keep_recent: int = 3
    min_chars: int = 100
    batch_tokens: int = 0
    describe: bool = False

    def __post_init__(self) -> None:
        check_numbers(self, "keep_recent", "min_chars", "batch_tokens")

    def __call__(self, messages: list[Message]) -> Compaction:
        """The history with stubs where there is something to stub, else as it is."""
        stubs = self._stubs(messages)
        before = self.measure(messages)
        if not stubs:
            return unchanged(messages, before, "no old tool result is long enough to be stubbed")
        result = list(messages)
        for index, stub in stubs.items():
            result[index] = {**messages[index], "content": stub}
        after = self.measure(result)
        what = (
            "1 old tool result became a stub"
            if len(stubs) == 1
            else f"{len(stubs)} old tool results became stubs"
        )
        reason = f"{what}, ≈{before:,} tokens became ≈{after:,}"
        return Compaction(result, True, reason, before, after)

    def now(self, messages: list[Message], focus: str = "") -> Compaction:
        """The same as calling it: stubs have no limit to wait for, and nothing to focus on."""
        return self(messages)

    def measure(self, messages: Sequence[Message]) -> int:
        """This compactor's token figures: characters / 4."""
        return quarter_of_characters(messages)

    def _stubs(self, messages: Sequence[Message]) -> dict[int, str]:
        """Index -> stub, for each result that is to be stubbed now."""
        texts = self._texts(messages)
        stubbed = {index for index in texts if is_stub(messages[index])}
        long = [
            index
            for index, text in texts.items()
            if index in stubbed or length(messages[index]) > max(self.min_chars, len(text))
        ]
        if self.batch_tokens:
            old = set(batched(messages, long, stubbed, self.keep_recent, self.batch_tokens))
        else:
            old = set(long[: max(0, len(long) - self.keep_recent)])
        unread = unread_from(messages)
        return {
            index: texts[index]
            for index in old - stubbed
            if index < unread and is_smaller(texts[index], messages[index])
        }

    def _texts(self, messages: Sequence[Message]) -> dict[int, str]:
        """Index -> what its stub would say. It depends on the call alone, so it is the same for ever."""
        texts = dict.fromkeys(results_of(messages), STUB)
        for exchange in exchanges(messages) if self.describe else ():
            for call, index in zip(calls_of(messages[exchange.index]), exchange.results, strict=True):
                if index is not None and is_smaller(described(call), messages[index]):
                    texts[index] = described(call)
        return texts


def is_stub(message: Message) -> bool:
    """Whether a tool result is a stub already; not so a result that only begins like one."""
    content = message.get("content")
    if not isinstance(content, str) or len(content) > STUB_LENGTH:
        return False
    return content == STUB or (content.startswith("[compressed: ") and content.endswith(f"). {WAY_BACK}"))


def is_smaller(stub: str, result: Message) -> bool:
    """Whether a stub is shorter than the result, in characters and in tokens."""
    text, count = text_of(result.get("content")), shared_counter().text
    if len(text) > 200 * len(stub):
        return True  # even blanks, the cheapest of texts, have a token for 128 characters
    return len(stub) < len(text) and count(stub) < count(text)


def described(call: Message) -> str:
    """A stub that names the call and says how to get the content back, in at most 100 characters.

    >>> described({"function": {"name": "read_file", "arguments": '{"path": "a.py"}'}})
    '[compressed: read_file("a.py"). Call it again to see the result.]'
    """
    name, arguments = name_and_arguments(call)
    name, shown = name[:30], sendable(", ".join(argument_values(arguments)))
    room = STUB_LENGTH - len(f"[compressed: {name}(). {WAY_BACK}")
    return f"[compressed: {name}({cut_middle(shown, room, '…')}). {WAY_BACK}"


def argument_values(arguments: str) -> Iterable[str]:
    """The values of a call's arguments, as JSON; the text itself when it is none."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return [one_line(arguments)]
    shown = values.values() if isinstance(values, dict) else [values]
    return [json.dumps(value, ensure_ascii=False) for value in shown]


def batched(
    messages: Sequence[Message], long: list[int], stubbed: set[int], keep_recent: int, batch_tokens: int
) -> Iterator[int]:
    """Those of the `long` results that stand in a full batch, walking from the oldest to the newest.

    A batch is full when it saves `batch_tokens` and its results became old at least four requests apart. The
    walk looks at nothing but the history, so a longer history gives the same batches and perhaps one more,
    whether or not the earlier stubs were kept.
    """
    requests = requests_before(messages)
    batch: list[int] = []
    saved, first, flushed = 0, 0, -1
    settled = next((place for place, index in enumerate(long) if index not in stubbed), len(long))
    pairs = zip(long, long[keep_recent:], strict=False)
    for index, newer in islice(pairs, max(0, settled - 1), None):
        # It became old with the result `keep_recent` places on, and not before the model had read it.
        became_old = max(requests[index] + 1, requests[newer])
        if became_old > requests[-1]:
            return  # not read yet, and so are all after it
        if index in stubbed or became_old == flushed:
            flushed = became_old
            yield index
            continue
        first = first if batch else became_old
        batch.append(index)
        saved += length(messages[index]) - len(STUB)
        if saved >= 4 * batch_tokens and became_old - first >= ROUNDS_APART - 1:
            yield from batch
            batch, saved, flushed = [], 0, became_old


def requests_before(messages: Sequence[Message]) -> list[int]:
    """For each message, how many of the assistant's stand before it: the requests made until then.

    One number more is at the end: all requests.
    """
    return list(accumulate([message.get("role") == "assistant" for message in messages], initial=0))
