"""How long is a history? Two answers: a quick estimate from characters, and the exact count in tokens.

The estimate needs no tokenizer and is good enough to decide when to compact. The counter is exact for text
and never counts a text twice, so that asking before every request costs no more than reading each text once.
"""

from __future__ import annotations

import copy
import functools
import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from labkit.messages import Message, calls_of, function_of, text_of
from labkit.token_ledger import HistoryLedger, TextLedger
from labkit.vocabulary import load_encoding

MESSAGE_OVERHEAD = 4
"""Tokens around each message: three that mark its bounds, and one for its role.

Source: https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken
"""
CALL_OVERHEAD = 3
"""Tokens around each tool call's name and arguments; providers do not publish theirs, this is ours."""
NAME_OVERHEAD = 1
"""Tokens beside the optional name of a message. Source: as for MESSAGE_OVERHEAD."""
REPLY_OVERHEAD = 3
"""Tokens that prime the reply, once a request. Source: as for MESSAGE_OVERHEAD."""
IMAGE_TOKENS = 765
"""Tokens of an image of 1024 x 1024 pixels, and here of any part that is not text.

Source: https://platform.openai.com/docs/guides/images-vision (85 tokens, and 170 for each of four tiles)
"""
LOW_DETAIL_IMAGE_TOKENS = 85
"""Tokens of an image sent with `"detail": "low"`. Source: as for IMAGE_TOKENS."""

CACHE_MINIMUM = 1024
CACHE_STEP = 128
"""A prefix is cached from 1,024 tokens on, in steps of 128.

Source: https://platform.openai.com/docs/guides/prompt-caching
"""


# --- the estimate -----------------------------------------------------------------------------------------


def estimate_tokens(messages: Sequence[Message], chars_per_token: float = 2) -> int:
    """About how many tokens a history has: its characters divided by `chars_per_token`, rounded up.

    Counted are the characters of every message's text (content may be a string, null, or a list of
    parts) and of every tool call's arguments, nothing else. Lab 4 measures how far off that is.

    >>> estimate_tokens([{"role": "user", "content": "hello"}])
    3
    """
    characters = 0
    for message in messages:
        characters += len(text_of(message.get("content")))
        for call in calls_of(message):
            characters += len(str(function_of(call).get("arguments") or ""))
    return math.ceil(characters / chars_per_token)


# --- the prefix cache -------------------------------------------------------------------------------------


def cached_tokens(shared: int) -> int:
    """How many of `shared` tokens (a prefix that an earlier request had too) the provider has cached.

    >>> cached_tokens(1023), cached_tokens(1024), cached_tokens(1300)
    (0, 1024, 1280)
    """
    return 0 if shared < CACHE_MINIMUM else shared - shared % CACHE_STEP


def common_prefix(before: Sequence[Message], after: Sequence[Message]) -> int:
    """How many messages two histories share from the start. Linear; quick where they share objects."""
    low, high = 0, min(len(before), len(after))
    old, new = list(before[:high]), list(after[:high])
    middle = high  # mostly all of it is shared; else halve: Python compares lists quicker than we could walk
    while low < high:
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
        middle = (low + high + 1) // 2
    return low


# --- the exact counter ------------------------------------------------------------------------------------


class TokenCounter:
    """Counts texts, messages and whole histories in tokens, exactly, and each text only once.

    A history's count is the sum over its messages, plus 3 for the reply, plus the tools' schemas as compact
    JSON. Text that looks like a special token (`<|endoftext|>`) counts as the ordinary text it is.

    >>> counter = TokenCounter()
    >>> counter.text("Hello, world"), counter.history([{"role": "user", "content": "Hello, world"}])
    (3, 10)
    """

    def __init__(self, encoding: str = "o200k_base") -> None:
        self._encoding = load_encoding(encoding)
        self._texts = TextLedger()
        self._history = HistoryLedger()
        self._tools: tuple[list[dict[str, Any]], int] = ([], 0)  # those asked for last, and their tokens

    def text(self, text: str) -> int:
        """Tokens of a text. A lone surrogate counts as the replacement character tiktoken makes of it."""
        return self._texts.count(text, self._encode)

    def message(self, message: Message) -> int:
        """Tokens of one message: its overhead, its text, its name, its tool calls, its images.

        Call ids cost nothing: they pair messages and are not shown to the model as text.
        """
        content = message.get("content")
        count = MESSAGE_OVERHEAD + (self.text(content) if isinstance(content, str) else self._parts(content))
        if message.get("refusal"):
            count += self.text(_string(message, "refusal"))
        if message.get("name"):
            count += NAME_OVERHEAD + self.text(_string(message, "name"))
        for call in calls_of(message) if message.get("tool_calls") else ():
            function = function_of(call)
            count += CALL_OVERHEAD + self.text(_string(function, "name"))
            count += self.text(_string(function, "arguments"))
        return count

    def history(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] | None = None) -> int:
        """Tokens of a request: all messages, the tools' schemas, and the start of the reply.

        Asked again for a history that has grown, it counts only what is new: amortised linear. Messages
        are known by identity and by value, so a list that was changed or replaced is counted afresh.
        """
        total = self._history.total(messages, self.message)
        return total + REPLY_OVERHEAD + self.tools(tools or [])

    def counts(self, messages: Sequence[Message]) -> list[int]:
        """Tokens of each message of a history, in order."""
        return self._history.counts(messages, self.message)

    def tools(self, schemas: Sequence[dict[str, Any]]) -> int:
        """Tokens of tool schemas, as compact JSON."""
        if not schemas:
            return 0
        known, count = self._tools
        schemas = list(schemas)
        if schemas != known:
            count = self.text(json.dumps(schemas, separators=(",", ":"), ensure_ascii=False))
            self._tools = copy.deepcopy(schemas), count
        return count

    def _encode(self, text: str) -> int:
        """Tokens of a text seen for the first time. Of a list, such as a summary, some lines may be known."""
        if SHORTEST_LIST <= len(text) <= LONGEST_LIST and text.find("\n- ", 0, LIST_START) >= 0:
            *items, last = _LIST_ITEM.split(text)
            return sum(self.text(f"{item}\n") for item in items) + self.text(last)
        if len(text) < LONGEST_BLANK:
            return len(self._encoding.encode_ordinary(text))
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in _pieces(text))

    def _parts(self, content: Any) -> int:
        if not isinstance(content, list):
            return 0
        return self.text(text_of(content)) + sum(_image_tokens(part) for part in content)


@functools.cache
def shared_counter() -> TokenCounter:
    """One counter for everybody who has no reason to keep an own one."""
    return TokenCounter()


def _string(fields: dict[str, Any], key: str) -> str:
    """A field as text; some services give a call's arguments as an object, which is sent as JSON."""
    value = fields.get(key)
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)


def _image_tokens(part: Any) -> int:
    if not isinstance(part, dict) or part.get("type") in ("text", "refusal"):
        return 0
    image = part.get("image_url")
    low = isinstance(image, dict) and image.get("detail") == "low"
    return LOW_DETAIL_IMAGE_TOKENS if low else IMAGE_TOKENS


SHORTEST_LIST, LONGEST_LIST, LIST_START = 500, 20_000, 200
_LIST_ITEM = re.compile(r"\n(?=- |## )")
"""The line break at which a list, such as a summary, is cut for counting: it grows by a line, and the others
are known.

No token reaches over a line break to a hyphen or a hash: the tokenizer's own pattern divides the text there.
So the sum over the pieces is exact.
"""
LONGEST_BLANK = 200_000
_LONG_BLANK = re.compile(rf"\s{{{LONGEST_BLANK},}}")


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that tiktoken survives: its regex gives up on about a million blanks in a row.

    Only such runs are cut, so every other text is counted in one piece, exactly.
    """
    start = 0
    for run in _LONG_BLANK.finditer(text):
        for end in range(run.start() + LONGEST_BLANK, run.end() + 1, LONGEST_BLANK):
            yield text[start:end]
            start = end
    yield text[start:]
