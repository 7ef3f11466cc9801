"""Summarisers for tests: scripted ones that note what they were asked, and faulty ones of every kind."""

from __future__ import annotations

from typing import Any

import httpx2
import openai

from labkit.messages import assistant, tool_call
from labkit.streaming import Reply
from labkit.tokens import shared_counter

STATE = "- goal: as stated\n- state: in progress"


class Scripted:
    """Answers every request for a summary in the same way, and keeps the requests."""

    def __init__(self, text: str = STATE, finish_reason: str | None = "stop", **more: Any) -> None:
        self.message = {**assistant(text), **more}
        self.finish_reason = finish_reason
        self.asked: list[list[dict[str, Any]]] = []

    def __call__(self, messages: list[dict[str, Any]], max_tokens: int) -> Any:
        self.asked.append(messages)
        return Reply(dict(self.message), self.finish_reason)

    @property
    def prompts(self) -> list[str]:
        """What it was shown, all messages of a request as one text."""
        return ["\n".join(message["content"] for message in request) for request in self.asked]


class Raising(Scripted):
    """Raises this each time."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def __call__(self, messages: list[dict[str, Any]], max_tokens: int) -> Any:
        self.asked.append(messages)
        raise self.error


class Narrow(Scripted):
    """Has a small window: rejects any request of more than so many tokens, in a server's words."""

    def __init__(self, most: int, text: str = STATE) -> None:
        super().__init__(text)
        self.most = most

    def __call__(self, messages: list[dict[str, Any]], max_tokens: int) -> Any:
        reply = super().__call__(messages, max_tokens)
        tokens = shared_counter().history(messages)
        if tokens > self.most:
            raise too_long(self.most, tokens)
        return reply


class Rubbish(Scripted):
    """Gives back something that is no Reply."""

    def __init__(self, thing: Any) -> None:
        super().__init__()
        self.thing = thing

    def __call__(self, messages: list[dict[str, Any]], max_tokens: int) -> Any:
        self.asked.append(messages)
        return self.thing


class Vandal(Scripted):
    """Empties and rewrites whatever it is given, then answers as if nothing had happened."""

    def __call__(self, messages: list[dict[str, Any]], max_tokens: int) -> Any:
        reply = super().__call__([dict(message) for message in messages], max_tokens)
        for message in messages:
            message.clear()
        messages.clear()
        return reply


def response(status: int) -> httpx2.Response:
    return httpx2.Response(status, request=httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions"))


def rate_limit(text: str = "Rate limit reached for requests per minute") -> openai.RateLimitError:
    """The SDK's own error for 429."""
    body = {"message": text, "code": "rate_limit_exceeded"}
    return openai.RateLimitError(text, response=response(429), body=body)


def too_long(most: int, tokens: int) -> openai.BadRequestError:
    """The SDK's own error for a request that does not fit into the model's window."""
    text = (
        f"This model's maximum context length is {most} tokens. However, your messages resulted in {tokens}."
    )
    body = {"message": text, "code": "context_length_exceeded"}
    return openai.BadRequestError(text, response=response(400), body=body)


def from_case(script: dict[str, Any]) -> Scripted:
    """The summariser that a case describes."""
    match script:
        case {"raises": "rate_limit"}:
            return Raising(rate_limit())
        case {"rejects_over_tokens": most}:
            return Narrow(most)
        case {"returns_tool_call": [call_id, name, arguments]}:
            calls = [tool_call(call_id, name, arguments)]
            return Scripted("", "tool_calls", content=None, tool_calls=calls)
        case {"returns": text}:
            return Scripted(text, script.get("finish_reason", "stop"))
    raise AssertionError(f"no summariser is known for {script}")
