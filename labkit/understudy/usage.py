"""What a request costs: tokens by the real tokenizer, and how many of them a prompt cache would have had.

The cache rule is the published one (https://platform.openai.com/docs/guides/prompt-caching): the longest
prefix shared with an earlier request, at least 1,024 tokens of it, counted in steps of 128. Tools come first
in the prefix, then the messages.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from labkit.messages import Message
from labkit.tokens import REPLY_OVERHEAD, TokenCounter, cached_tokens

REMEMBERED = 100_000
"""How many prefixes the ledger remembers; the one that went unused longest goes first."""


@dataclass(frozen=True)
class PromptUsage:
    """The tokens of one prompt. `cached` is the part an earlier request has paid for."""

    in_messages: int
    in_tools: int
    cached: int = 0

    @property
    def total(self) -> int:
        return self.in_messages + self.in_tools


@dataclass(frozen=True)
class Chain:
    """A prompt as links, and the tokens up to and with each of them."""

    in_tools: int
    links: list[bytes] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)


class PrefixLedger:
    """Remembers the prefixes of earlier requests as a chain of hashes, one link for each message.

    The counter remembers the texts it has counted, so a request that adds one message to the last costs one
    count; the hashing is as cheap as reading the request.
    """

    def __init__(self, counter: TokenCounter, remembered: int = REMEMBERED) -> None:
        self._counter = counter
        self._remembered = remembered
        self._links: OrderedDict[bytes, None] = OrderedDict()

    def chain(self, owner: str, messages: Sequence[Message], tools: Sequence[dict[str, Any]] | None) -> Chain:
        """The links of a prompt: `owner` (a key and a model) and the tools, then one for each message."""
        link = _digest(owner.encode("utf-8", "surrogatepass"), tools)
        total = in_tools = self._counter.tools(tools or [])
        chain = Chain(in_tools)
        for message in messages:
            link = _digest(link, message)
            total += self._counter.message(message)
            chain.links.append(link)
            chain.totals.append(total)
        return chain

    def measure(self, chain: Chain) -> PromptUsage:
        """The tokens of a prompt, and how many of them are cached by now."""
        shared = 0
        for link, total in zip(chain.links, chain.totals, strict=True):
            if link not in self._links:
                break
            shared = total
        total = chain.totals[-1] if chain.totals else chain.in_tools
        return PromptUsage(total - chain.in_tools + REPLY_OVERHEAD, chain.in_tools, cached_tokens(shared))

    def remember(self, chain: Chain) -> None:
        """Take a prompt into the memory: the service has read it."""
        for link in chain.links:
            self._links[link] = None
            self._links.move_to_end(link)
        while len(self._links) > self._remembered:
            self._links.popitem(last=False)


def _digest(before: bytes, value: Any) -> bytes:
    return hashlib.blake2b(
        before + json.dumps(value, sort_keys=True).encode("ascii"), digest_size=16
    ).digest()


def usage_object(prompt: PromptUsage, completion: int) -> dict[str, Any]:
    """The `usage` of a reply, as the API writes it."""
    return {
        "prompt_tokens": prompt.total,
        "completion_tokens": completion,
        "total_tokens": prompt.total + completion,
        "prompt_tokens_details": {"cached_tokens": prompt.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
