"""The understudy as a compressor: the same rules as labkit's own summariser, reached over the wire."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from labkit.compaction.extractive import extractive_summary
from labkit.compaction.summary import COUNT_SECTIONS, summary_request
from labkit.compaction.transcript import FENCE
from labkit.messages import Message, text_of
from labkit.understudy.draft import Draft
from labkit.understudy.hands import Hands
from labkit.understudy.marks import hide
from labkit.understudy.verbs import is_chinese

ABOUT_THE_TALK = re.compile(
    r"\bsummar\w+\b.*\b(conversation|history|discussion|chat|transcript|messages|everything above|so far)\b"
    r"|(概括|总结|摘要).{0,12}(对话|历史|聊天|以上|上面|上述|至今)|(对话|历史|聊天).{0,12}(概括|总结|摘要)",
    re.I | re.S,
)
USUAL_LENGTH = 1000
"""Tokens of a summary when the request sets no limit."""


def compress(body: Mapping[str, Any]) -> Draft | None:
    """The summary that a request asks for; None for a request that asks for something else.

    A compressor that is offered tools takes them for an invitation: it goes on with the task it should only
    have summarised. (Many models do; that is why a request for a summary carries no tools.)
    """
    messages = body["messages"]
    last = text_of(messages[-1].get("content")) if messages[-1].get("role") == "user" else ""
    if FENCE.search(last):
        return tempted(last, Hands.of(body)) or summary_of(messages, body)
    if ABOUT_THE_TALK.search(last) and len(last) < 2000:
        return summary_of(summary_request(messages[:-1], COUNT_SECTIONS), body)
    return None


def summary_of(request: Sequence[Message], body: Mapping[str, Any]) -> Draft:
    most = body.get("max_completion_tokens") or body.get("max_tokens") or USUAL_LENGTH
    return Draft(extractive_summary(list(request), most).text)


def tempted(text: str, hands: Hands) -> Draft | None:
    """The call that a compressor makes instead of a summary when it is offered tools."""
    paths = [mark.text for mark in hide(text)[1] if mark.is_path]
    if hands.can("read") and paths:
        call = hands.call("read", path=paths[0])
    elif hands.can("list"):
        call = hands.call("list", path=".")
    else:
        return None
    return Draft("我接着做这个任务。" if is_chinese(text) else "I go on with the task.", (call,))
