"""The loop: ask, append, run what was asked, ask again, until there is an answer.

`run_turn` is the whole of it. `Agent` puts a model, tools, hooks and a trace around it. The loop does not
know that compaction happens: a hook may replace the history between two requests, and the loop goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from labkit.compaction.base import Compaction
from labkit.errors import CompactionError, ContextLimitError
from labkit.errors_model import explain_model_error
from labkit.messages import (
    INTERRUPTED,
    Message,
    as_written,
    assistant,
    calls_of,
    exchanges,
    normalise,
    sound_message,
    system,
    tool_result,
    user,
)
from labkit.stopping import StopSign
from labkit.streaming import Reply, collect, whole_reply
from labkit.tokens import TokenCounter
from labkit.tools import Tool, Toolbox, clean, run_tool_call
from labkit.trace import RequestRecord, Trace

if TYPE_CHECKING:
    from openai import OpenAI

Ask = Callable[[list[Message]], Reply]
RunCall = Callable[[Message], Message]
Hook = Callable[[list[Message]], Compaction]

CUT_SHORT = "Error: this call was not run, because the reply that made it was cut short. Make a shorter call."
STOPPED = "[Stopped after {requests} requests without a final answer. Say 'go on' to continue.]"
MOST_FAILURES = 3


def run_turn(messages: list[Message], ask: Ask, run_call: RunCall, max_turns: int = 12) -> str:
    """Run one turn: ask the model, run the tools it calls, ask again, until it answers.

    In: a history that ends with the user's message; `ask`, which takes a history and returns a
    `Reply`; `run_call`, which takes a tool call and returns its tool message; and the most requests
    a turn may make. Out: the answer's text. Every reply and every result is appended to `messages`,
    which a provider accepts whenever this returns. A reply that was cut short is not run: its calls
    get CUT_SHORT as their result. At the limit the turn ends with an assistant message that says
    so.
    """
    for _ in range(max_turns):
        reply = ask(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
        for call in reply.tool_calls:
            messages.append(run_call(call) if reply.calls_may_run else tool_result(call["id"], CUT_SHORT))
    messages.append(assistant(STOPPED.format(requests=max_turns)))
    return STOPPED.format(requests=max_turns)


@dataclass(frozen=True)
class Event:
    """Something that happened in a run, for whoever shows it.

    `kind` is one of: `request` (about to be sent; `request_number`), `text` (a piece of streamed text),
    `reply` (a whole assistant message), `broken` (no reply will follow: an error, or Ctrl-C), `tool_result`,
    `compaction` (`before` is the history before it), `recorded` (the request's numbers).
    """

    kind: Literal["request", "text", "reply", "broken", "tool_result", "compaction", "recorded"]
    text: str = ""
    message: Message | None = None
    compaction: Compaction | None = None
    request: RequestRecord | None = None
    request_number: int = 0
    before: list[Message] | None = None


class Agent:
    """A model with tools, a history and hooks.

    `client` is an OpenAI client and `model` its model's name (see `labkit.connect.connect`). The hooks are
    compactors: `before_request`, `after_tools` (after each reply and its tool runs), `after_input` (after the
    user's message was added) and `after_turn`. `max_turns` is the most requests one turn may make. `on_event`
    is called with each `Event`. `.messages` is the history, a plain list; `.trace` says what was sent.

    What is sent is `normalise(messages)`; the history itself changes by what happens and by the hooks alone.
    """

    def __init__(
        self,
        client: OpenAI,
        model: str,
        tools: Toolbox | list[Tool | Callable[..., Any]] | None = None,
        system: str | None = None,
        before_request: Hook | None = None,
        after_tools: Hook | None = None,
        after_input: Hook | None = None,
        after_turn: Hook | None = None,
        max_turns: int = 12,
        stream: bool = False,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        if max_turns < 1:
            raise ValueError(f"max_turns is {max_turns}: a turn makes at least 1 request")
        self.client = client
        self.model = model
        self.tools = tools if isinstance(tools, Toolbox) else Toolbox(tools or [])
        self.before_request, self.after_tools = before_request, after_tools
        self.after_input, self.after_turn = after_input, after_turn
        self.max_turns = max_turns
        self.stream = stream
        self.on_event = on_event or (lambda event: None)
        self.messages: list[Message] = [_system(system)] if system else []
        self.trace = Trace()
        self._counter = TokenCounter()
        self._failures: dict[int, int] = {}
        self._last_compaction: Compaction | None = None
        self._stop = StopSign()

    def run(self, text: str, stop: StopSign | None = None) -> str:
        """Run one turn for the user's `text` and return the final answer. `stop` is a sign to end it with.

        Raises ModelError when the service refuses, StreamInterrupted when a streamed reply breaks off,
        ContextLimitError when what must be sent cannot be made small enough, CompactionError when compaction
        failed three times in a row, TurnStopped when another thread asked for the end. After any of them, and
        after Ctrl-C, the history is still a sound one.
        """
        self._stop = stop or StopSign()
        self.messages.append(user(text))
        try:
            with self._stop:
                self._stop.raise_if_asked()
                self.compact(self.after_input)
                answer = run_turn(self.messages, self._ask, self._run_call, self.max_turns)
                self.compact(self.after_tools)
                self.compact(self.after_turn)
            return answer
        finally:
            close_open_calls(self.messages)

    def stop(self) -> None:
        """End the turn under way, from another thread: its `run` raises TurnStopped. Without one, nothing.

        A stream is hung up, a running command is ended; a tool of another kind is waited for.
        """
        self._stop.ask()

    def compact(self, compactor: Hook | None) -> Compaction | None:
        """Run a compactor on the history and take over its result; None when there is no compactor."""
        if compactor is None:
            return None
        before = list(self.messages)
        result = compactor(list(before))
        if result.failed:
            self._stop.raise_if_asked()  # then that is why
        if result.changed:
            self.messages[:] = result.messages
            self._last_compaction = result
        if result.changed or result.failed:
            self.on_event(Event("compaction", compaction=result, before=before))
        self._raise_when_stuck(result, id(compactor))
        return result

    def _raise_when_stuck(self, result: Compaction, compactor: int) -> None:
        if result.over_limit > 0:
            fix = "Raise the limit, keep fewer recent messages, or have large files read in parts."
            raise ContextLimitError(f"{result.reason[:1].upper()}{result.reason[1:]}.", fix)
        # Each compactor's own failures in a row: stubs that succeed must not hide summaries that never do.
        if result.failed:
            self._failures[compactor] = self._failures.get(compactor, 0) + 1
        elif result.changed:
            self._failures.pop(compactor, None)
        if self._failures.get(compactor, 0) >= MOST_FAILURES:
            self._failures.clear()  # so that the next turn tries again: the cause may be gone by then
            what = (
                f"Compaction failed {MOST_FAILURES} times in a row; the history is unchanged. {result.reason}"
            )
            raise CompactionError(what, "Look at the summariser, or go on without compaction.")

    def _ask(self, messages: list[Message]) -> Reply:
        if messages[-1]["role"] == "tool":
            self.compact(self.after_tools)
        self.compact(self.before_request)
        self._stop.raise_if_asked()
        sent = in_utf8(normalise(messages))
        self.on_event(Event("request", request_number=len(self.trace) + 1))
        try:
            reply = self._request(sent)
        except BaseException as error:
            self.on_event(Event("broken"))
            if not isinstance(error, Exception):  # Ctrl-C
                raise
            self._stop.raise_if_asked()  # then that is why the stream broke off
            if not type(error).__module__.startswith("openai"):
                raise
            raise explain_model_error(error) from error
        self._stop.raise_if_asked()
        self._record(sent, reply)
        reply = replace(reply, message=sound_message(reply.message))
        self.on_event(Event("reply", message=reply.message, text=reply.text))
        return reply

    def _request(self, sent: list[Message]) -> Reply:
        request: dict[str, Any] = {"model": self.model, "messages": sent}
        if len(self.tools):
            request["tools"] = self.tools.schemas
        create = self.client.chat.completions.create
        if not self.stream:
            return whole_reply(create(**request))
        stream = create(**request, stream=True, stream_options={"include_usage": True})
        # The SDK's stream is closed after use; a stand-in may give any iterable.
        with stream if hasattr(stream, "__exit__") else nullcontext(stream) as chunks:
            return collect(chunks, on_text=self._show_text)

    def _show_text(self, piece: str) -> None:
        self._stop.raise_if_asked()
        self.on_event(Event("text", text=piece))

    def _run_call(self, call: Message) -> Message:
        self._stop.raise_if_asked()
        result = run_tool_call(as_written(call), self.tools)
        self.on_event(Event("tool_result", message=result, text=result["content"]))
        return result

    def _record(self, sent: list[Message], reply: Reply) -> None:
        """The provider's numbers where it sent some, else the counter's."""
        usage = reply.usage or {}
        counted = self._counter.history(sent, self.tools.schemas)
        self.trace.add(
            sent,
            self._counter.counts(sent),
            tokens=usage.get("prompt_tokens") or counted,
            cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
            output_tokens=usage.get("completion_tokens") or 0,
            tool_tokens=self._counter.tools(self.tools.schemas),
            compaction=self._last_compaction,
        )
        self._last_compaction = None
        self.on_event(Event("recorded", request=self.trace.requests[-1]))


_system = system  # the name is a parameter of Agent


def in_utf8(messages: list[Message]) -> list[Message]:
    """The messages as a client can send them: half a surrogate pair, which has no UTF-8 form, becomes "?".

    >>> in_utf8([user("half: \\ud83d")])
    [{'role': 'user', 'content': 'half: ?'}]
    """
    text = json.dumps(messages, ensure_ascii=False, default=str)
    return messages if clean(text) == text else list(json.loads(clean(text)))


def close_open_calls(messages: list[Message]) -> None:
    """Give the calls that were waiting when a turn broke off a result that says so. Appends in place."""
    for exchange in exchanges(messages)[-1:]:
        if exchange.open:
            calls = calls_of(messages[exchange.index])
            waiting = [call for call, found in zip(calls, exchange.results, strict=True) if found is None]
            messages += [tool_result(call["id"], INTERRUPTED) for call in waiting]
