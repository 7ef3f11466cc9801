"""A recorded history through any policy, request by request, without a model.

At each assistant message of the recording a request was made. `replay` says what that request would have sent
if the policy's compactors had been at work: how many tokens, how many of them cached, when compaction struck.
The recorded messages go on being added to what the compactors left. The hooks run where the agent runs them.

>>> from labkit.messages import assistant, user
>>> trace = replay([user("hi"), assistant("hello"), user("bye"), assistant("bye")])
>>> [request.tokens for request in trace.requests]
[8, 18]
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from labkit.compaction.base import Compaction
from labkit.messages import Message, calls_of, normalise, problems
from labkit.rereads import count_re_reads
from labkit.tokens import cached_tokens, common_prefix, shared_counter
from labkit.trace import RequestRecord, Trace

Hook = Callable[[list[Message]], Compaction]


class Counter(Protocol):
    """What counts tokens. A history counts as the empty history (with the tools) plus its messages."""

    def message(self, message: Message) -> int: ...

    def history(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] | None = None) -> int: ...


class Replay(Trace):
    """The trace of a replay. `notes` says what was odd; `messages` is the history as the policy left it."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[str] = []
        self.messages: list[Message] = []

    @property
    def re_reads(self) -> int:
        """How often the recorded session returned to a file whose text was no longer in what was sent.

        A live agent would have had to read the file again.
        """
        return count_re_reads(self)

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *self.notes])

    def _repr_html_(self) -> str:
        return super()._repr_html_() + "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)


def replay(
    history: Sequence[Message],
    before_request: Hook | None = None,
    after_tools: Hook | None = None,
    after_input: Hook | None = None,
    after_turn: Hook | None = None,
    counter: Counter | None = None,
    tools: Any = None,
) -> Replay:
    """What each request of a recorded session would have sent under a policy.

    The hooks are those of `Agent`; with none, the trace is what was really sent. `tools` is a Toolbox or a
    list of schemas, sent with each request. A recording that a provider would reject is normalised first, and
    `notes` says so. `history` itself is not touched. Time: linear in what the hooks leave to be sent.
    """
    schemas = list(getattr(tools, "schemas", tools) or [])
    walk = _Walk(counter or shared_counter(), schemas)
    found = problems(history)
    if found:
        history = normalise(history)
        many = "1 problem" if len(found) == 1 else f"{len(found)} problems, the first"
        walk.trace.notes.append(f"The recording was normalised first: {many}: {found[0].text}.")
    previous: Message = {}
    for message in history:
        role, was = message.get("role"), previous.get("role")
        if was == "tool" and role != "tool":
            walk.compact(after_tools)
        if role == "assistant":
            walk.compact(before_request)
            walk.request(message)
        walk.append(message)
        if role == "user":
            walk.compact(after_input)
        elif role == "assistant" and not calls_of(message):
            walk.compact(after_tools)
            walk.compact(after_turn)
        previous = message
    if previous.get("role") == "tool":
        walk.compact(after_tools)
    return walk.end()


def _same_pairs(old: Sequence[Message], new: Sequence[Message]) -> bool:
    """Whether a change left all calls and results in their places, as stubs do: then no new problem."""
    return len(old) == len(new) and all(
        one is other or all(one.get(key) == other.get(key) for key in ("role", "tool_call_id", "tool_calls"))
        for one, other in zip(old, new, strict=True)
    )


class _Walk:
    """The history under the policy so far, with running totals, so that nothing is counted twice."""

    def __init__(self, counter: Counter, schemas: list[dict[str, Any]]) -> None:
        self.trace = Replay()
        self.counter = counter
        self.messages: list[Message] = []
        self.base = counter.history([], schemas)  # tools and the start of the reply
        self.tool_tokens = self.base - counter.history([])
        self.sums = [0]  # sums[i]: tokens of the first i messages of what is sent
        self.by_role: dict[str, int] = {}
        self.sent: list[Message] = []  # what `sums` and `by_role` describe
        self.shared = 0  # how many messages of `sent` the last request had too
        self.sound = True  # what the policy left may be sent as it is
        self.known: dict[int, tuple[Message, int]] = {}  # id -> the message (kept alive) and its tokens
        self.compaction: Compaction | None = None
        self.failures: list[str] = []
        self.stuck: list[str] = []

    def append(self, message: Message) -> None:
        self.messages.append(message)

    def compact(self, hook: Hook | None) -> None:
        """Run a hook, take over what it changed, remember what went wrong."""
        if hook is None:
            return
        result = hook(list(self.messages))
        if result.failed:
            self.failures.append(result.reason)
        if result.over_limit > 0:
            self.stuck.append(result.reason)
        if not result.changed:
            return
        if not _same_pairs(self.messages, result.messages):
            self.sound = not problems(result.messages)
        self.messages = list(result.messages)
        self.compaction = result

    def request(self, reply: Message) -> None:
        """Record the request that `reply` answered."""
        self._look_again(self.messages if self.sound else normalise(self.messages))
        tokens = self.base + self.sums[-1]
        shared = self.tool_tokens + self.sums[self.shared] if self.trace.requests else 0
        roles = {"tools": self.tool_tokens} if self.tool_tokens else {}
        self.trace.requests.append(
            RequestRecord(
                index=len(self.trace.requests) + 1,
                tokens=tokens,
                cached_tokens=cached_tokens(shared),
                output_tokens=self._count(reply),
                by_role=roles | self.by_role,
                messages=list(self.sent),
                compaction=self.compaction,
            )
        )
        self.compaction = None

    def _look_again(self, sent: list[Message]) -> None:
        """Bring the totals up to date: only what differs from the last request is counted."""
        self.shared = common_prefix(self.sent, sent)
        for index in range(self.shared, len(self.sent)):
            self._tally(self.sent[index], self.sums[index] - self.sums[index + 1])
        del self.sums[self.shared + 1 :]
        for message in sent[self.shared :]:
            count = self._count(message)
            self.sums.append(self.sums[-1] + count)
            self._tally(message, count)
        self.sent = list(sent)

    def _tally(self, message: Message, tokens: int) -> None:
        role = str(message.get("role"))
        self.by_role[role] = self.by_role.get(role, 0) + tokens
        if not self.by_role[role]:
            del self.by_role[role]

    def _count(self, message: Message) -> int:
        found = self.known.get(id(message))
        if found is None:
            found = self.known[id(message)] = (message, self.counter.message(message))
        return found[1]

    def end(self) -> Replay:
        """The trace, with its notes."""
        self.trace.messages = self.messages
        for words, reasons in (
            ("compaction failed", self.failures),
            ("compaction could not get under the limit", self.stuck),
        ):
            if reasons:
                many = "once" if len(reasons) == 1 else f"{len(reasons)} times"
                self.trace.notes.append(f"{words.capitalize()} {many}: {reasons[0]}")
        return self.trace
