"""Faults on request: what goes wrong in real services, switched on for the next requests.

Two ways to switch one on. In one request, through the SDK's `extra_body`:

    client.chat.completions.create(..., extra_body={"understudy": {"fault": "429", "retry_after": 1}})

or for the next requests of the running server, whoever sends them:

    from labkit.connect import understudy
    understudy().faults.add("cut", times=2, after=3)

In a request, `times` counts the attempts of the SDK's own retries: with `times=1` the first retry succeeds.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from labkit.understudy.refusals import Refusal

KINDS = {
    "401": "the key is refused",
    "429": "too many requests: come back in `retry_after` seconds",
    "500": "the service fails",
    "slow": "`seconds` pass before each fragment of a stream (or before the whole reply)",
    "cut": "the connection drops after `after` fragments",
    "unfinished": "the stream ends after `after` fragments, politely, but without a finish reason",
    "error": "an error object comes in the stream after `after` fragments",
    "bad-arguments": "the arguments of the tool calls break off and are not JSON",
    "endless": "the reply is always one more tool call, whatever came back",
    "empty": "the reply has no text",
    "refusal": "the reply is a refusal",
}
"""Every fault's name, and what it does."""


@dataclass(frozen=True)
class Fault:
    """One fault and its settings. `after` counts fragments, `seconds` and `retry_after` are seconds."""

    kind: str
    times: int | None = None
    after: int = 3
    seconds: float = 0.05
    retry_after: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no fault is called {self.kind!r}; there are: {', '.join(KINDS)}")
        if self.seconds < 0 or self.retry_after < 0 or self.after < 0:
            raise ValueError("after, seconds and retry_after cannot be negative")

    def refuse(self, key: str) -> None:
        """Raise the HTTP error of this fault, when it is one of those."""
        if self.kind == "401":
            shown = key if len(key) < 9 else f"{key[:4]}****{key[-4:]}"
            text = f"Incorrect API key provided: {shown}. You can find your API key at https://platform.openai.com/account/api-keys."
            raise Refusal(401, text, code="invalid_api_key")
        if self.kind == "429":
            wait = f"{self.retry_after:g}"
            text = (
                "Rate limit reached for requests per min (RPM): Limit 3, Used 3, Requested 1. "
                f"Please try again in {wait}s."
            )
            headers = {"Retry-After": wait}
            raise Refusal(429, text, kind="requests", code="rate_limit_exceeded", headers=headers)
        if self.kind == "500":
            text = "The server had an error while processing your request. Sorry about that!"
            raise Refusal(500, text, kind="server_error")


class FaultSwitch:
    """The faults that wait for the server's next requests, first in, first out. For any thread."""

    def __init__(self) -> None:
        self._waiting: deque[Fault] = deque()
        self._lock = threading.Lock()

    def add(self, kind: str, times: int = 1, **settings: Any) -> None:
        """Let the next `times` requests meet the fault `kind`; see KINDS for the settings."""
        fault = Fault(str(kind), **settings)
        with self._lock:
            self._waiting.extend([fault] * times)

    def clear(self) -> None:
        """No more faults."""
        with self._lock:
            self._waiting.clear()

    def take(self) -> Fault | None:
        """The fault that the request just received meets, if one waits."""
        with self._lock:
            return self._waiting.popleft() if self._waiting else None


def asked_for(body: Any, attempt: int) -> Fault | None:
    """The fault that a request body asks for itself, at the SDK's `attempt` (0 is the first)."""
    wish = body.get("understudy") if isinstance(body, dict) else None
    if not isinstance(wish, Mapping) or "fault" not in wish:
        return None
    known = {"times", "after", "seconds", "retry_after"}
    try:
        fault = replace(Fault(str(wish["fault"])), **{key: wish[key] for key in known & wish.keys()})
    except (TypeError, ValueError) as error:
        raise Refusal(400, f"Invalid value for 'understudy': {error}.", param="understudy") from error
    return fault if fault.times is None or attempt < fault.times else None
