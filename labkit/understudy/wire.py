"""Replies in the wire's form: one JSON object, or a stream of small fragments (server-sent events)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from labkit.messages import Message
from labkit.understudy.draft import Draft
from labkit.understudy.models import CREATED, FINGERPRINT

DONE = "data: [DONE]\n\n"
MOST_PIECES = 200
"""A text becomes at most about this many fragments, so that a long file does not become ten thousand events.
"""


@dataclass(frozen=True)
class Answer:
    """A measured reply: the draft, its calls with ids, and the usage object."""

    draft: Draft
    calls: list[Message]
    usage: dict[str, Any]
    model: str
    completion_id: str
    choices: int = 1

    @property
    def message(self) -> Message:
        """The assistant message, as it is saved in a history."""
        message: Message = {"role": "assistant", "content": self.draft.text or (None if self.calls else "")}
        message["refusal"] = self.draft.refusal
        if self.draft.refusal:
            message["content"] = None
        if self.calls:
            message["tool_calls"] = self.calls
        return message


def completion_id(body: Mapping[str, Any]) -> str:
    """The id of a reply: the same request gets the same id, in every run."""
    asked = json.dumps([body.get("model"), body.get("messages"), body.get("tools")], sort_keys=True)
    return "chatcmpl-understudy-" + hashlib.sha256(asked.encode("ascii")).hexdigest()[:12]


def completion(answer: Answer) -> dict[str, Any]:
    """The body of a reply that is not streamed."""
    reason = answer.draft.finish_reason
    choices = [
        {"index": index, "message": answer.message, "logprobs": None, "finish_reason": reason}
        for index in range(answer.choices)
    ]
    return {**_head(answer, "chat.completion"), "choices": choices, "usage": answer.usage}


def _head(answer: Answer, kind: str) -> dict[str, Any]:
    return {
        "id": answer.completion_id,
        "object": kind,
        "created": CREATED,
        "model": answer.model,
        "system_fingerprint": FINGERPRINT,
    }


def event(body: Mapping[str, Any]) -> str:
    """One server-sent event."""
    return f"data: {json.dumps(body)}\n\n"


def chunks(answer: Answer, include_usage: bool) -> Iterator[dict[str, Any]]:
    """The fragments of a streamed reply, in the order in which they are sent."""
    extra = {"usage": None} if include_usage else {}
    head = _head(answer, "chat.completion.chunk")
    for index in range(answer.choices):
        for delta in deltas(answer):
            choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": None}
            yield {**head, "choices": [choice], **extra}
        choice = {"index": index, "delta": {}, "logprobs": None, "finish_reason": answer.draft.finish_reason}
        yield {**head, "choices": [choice], **extra}
    if include_usage:
        yield {**head, "choices": [], "usage": answer.usage}


def deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    """Role first, then the text word by word, then the calls; the arguments of parallel calls come woven
    together.
    """
    yield {
        "role": "assistant",
        "content": None if answer.calls and not answer.draft.text else "",
        "refusal": None,
    }
    for piece in words(answer.draft.text):
        yield {"content": piece}
    for piece in words(answer.draft.refusal or ""):
        yield {"refusal": piece}
    for index, made in enumerate(answer.calls):
        function = {"name": made["function"]["name"], "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": made["id"], "type": "function", "function": function}]}
    pieces = [shreds(made["function"]["arguments"]) for made in answer.calls]
    for row in zip_longest(*pieces):
        for index, shred in enumerate(row):
            if shred is not None:
                yield {"tool_calls": [{"index": index, "function": {"arguments": shred}}]}


def words(text: str) -> list[str]:
    """A text in fragments: words with the space after them, or two Chinese characters.

    >>> words("Two words. 中文字")
    ['Two ', 'words. ', '中文', '字']
    """
    pieces = re.findall(r"[\u3000-\u9fff\uff00-\uffef]{1,2}|[^\s\u3000-\u9fff\uff00-\uffef]+\s*|\s+", text)
    return list(_joined(pieces, 1 + len(pieces) // MOST_PIECES))


def shreds(arguments: str) -> list[str]:
    """Arguments in fragments of a few characters, never at a place that means anything."""
    size = max(7, len(arguments) // MOST_PIECES)
    return [arguments[start : start + size] for start in range(0, len(arguments), size)]


def _joined(pieces: list[str], size: int) -> Iterable[str]:
    return ("".join(pieces[start : start + size]) for start in range(0, len(pieces), size))
