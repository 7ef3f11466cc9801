"""What came of a policy: the replay with its totals, and where the explorer gets it from.

Pure but for a memory of the latest replays, so that going back to a setting costs nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property

from labkit.messages import Message, normalise, problems
from labkit.replay import Replay, replay
from labkit.strip import Strip
from labkit.tokens import shared_counter
from labkit.trace import RequestRecord
from labkit.widgets.settings import Settings

KEPT = 12  # replays that a session remembers


class Outcome:
    """A session under a policy. `requests` are the replay's; `strip` draws what one of them sent."""

    def __init__(self, history: Sequence[Message], trace: Replay) -> None:
        self._history = history
        self.trace = trace

    @property
    def requests(self) -> list[RequestRecord]:
        """What each request sent."""
        return self.trace.requests

    @cached_property
    def re_reads(self) -> int:
        """How often the session came back to a file whose text was gone."""
        return self.trace.re_reads

    @cached_property
    def compactions(self) -> list[int]:
        """The numbers of the requests that a compaction came before."""
        return [request.index for request in self.requests if request.compaction]

    def over(self, limit: int) -> int:
        """How many requests sent more than `limit` tokens."""
        return sum(1 for request in self.requests if request.tokens > limit)

    def strip(self, number: int, limit: int | None) -> Strip:
        """What request `number` (from 1) sent; with what it would have sent, if compaction came before it."""
        request = self.requests[number - 1]
        if not request.compaction:
            return Strip(request.messages, limit, cuts=True, title=f"Request {number}")
        title = f"Request {number}: {request.compaction.reason}{_said_since(request)}"
        return Strip(request.messages, limit, cuts=True, before=self._before(number), title=title)

    def _before(self, number: int) -> list[Message]:
        """What the last request sent, with what was said since: the history that was compacted."""
        replies = [index for index, message in enumerate(self._history) if message["role"] == "assistant"]
        start = replies[number - 2] if number > 1 else 0
        earlier = self.requests[number - 2].messages if number > 1 else []
        return [*earlier, *self._history[start : replies[number - 1]]]

    def totals(self, limit: int) -> dict[str, int]:
        """The figures that matter, by what they are called."""
        return {
            "tokens sent (billed)": self.trace.sent,
            "of these cached, billed at a part of the price": self.trace.cached,
            "of these fresh, billed in full": self.trace.sent - self.trace.cached,
            "largest request, in tokens": self.trace.peak,
            f"requests over {limit:,} tokens": self.over(limit),
            "requests with a compaction just before": len(self.compactions),
            "files come back to when their text was gone": self.re_reads,
        }


def _said_since(request: RequestRecord) -> str:
    """What was said between the compaction and the request, in words: both rows of the strip hold it too."""
    shorter = request.compaction.messages if request.compaction else request.messages
    since = request.messages[len(shorter) :]
    if not since:
        return ""
    if [message["role"] for message in since] == ["user"]:
        return "; then the user's message came"
    return f"; then came {len(since)} more" if len(since) > 1 else "; then came 1 more message"


class Session:
    """A history and what came of it under the settings asked for last."""

    def __init__(self, name: str, history: Sequence[Message]) -> None:
        self.name = name
        # A replay normalises a history that a provider would reject; here it is done once.
        self.history = normalise(history) if problems(history) else list(history)
        self._kept: OrderedDict[Settings, Outcome] = OrderedDict()
        self.plain = Outcome(self.history, replay(self.history))

    def outcome(self, settings: Settings) -> Outcome:
        """The session under these settings: replayed, or remembered."""
        if settings.policy == "off":
            return self.plain
        key = settings.essential
        if key not in self._kept:
            trace = replay(self.history, **settings.hooks, counter=shared_counter())
            self._kept[key] = Outcome(self.history, trace)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def forget(self) -> None:
        """Let go of the remembered replays."""
        self._kept.clear()
