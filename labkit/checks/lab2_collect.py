"""The checks of 2.2: a whole stream into one reply."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise, case
from labkit.checks.show import show
from labkit.errors import StreamInterrupted
from labkit.streaming import Reply
from labkit.streaming import collect as labkits_collect

collect = Exercise("2.2", "labkit.streaming:collect")

Chunk = dict[str, Any]
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> Chunk:
    """A chunk with one choice."""
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


def call_chunk(arguments: str, finish: str | None = None, **first: str) -> Chunk:
    """A chunk with one fragment of call 0; `id` and `name` in its first."""
    function = {"arguments": arguments, **({"name": first["name"]} if first else {})}
    fragment = {"index": 0, **({"id": first["id"]} if first else {}), "function": function}
    return chunk({"tool_calls": [fragment]}, finish)


OPENING = chunk({"role": "assistant", "content": ""})
USAGE_CHUNK: Chunk = {"choices": [], "usage": USAGE}
TEXT = [OPENING, chunk({"content": "Hel"}), chunk({"content": "lo"}), chunk(finish="stop")]
CALL = [OPENING, call_chunk('{"path": ', id="c1", name="read_file"), call_chunk('"a.md"}')]


class Line:
    """A stream as it comes over the line: it notes what was handed out, and breaks where it is told to."""

    def __init__(self, chunks: list[Any], breaks: str = "", log: list[str] | None = None) -> None:
        self.chunks, self.breaks, self.log = chunks, breaks, log if log is not None else []

    def __iter__(self) -> Iterator[Any]:
        for number, each in enumerate(self.chunks, start=1):
            self.log.append(f"chunk {number}")
            yield each
        if self.breaks:
            raise OSError(self.breaks)

    def __repr__(self) -> str:
        return f"{len(self.chunks)} chunks{', then the line breaks' if self.breaks else ''}"


def trying(t: Attempt, chunks: list[Any], more: str = "") -> None:
    lines = [json.dumps(each, ensure_ascii=False) for each in chunks if isinstance(each, dict)]
    t.trying("\n".join(["collect of these chunks:", *lines, *([more] if more else [])]))


def reply_of(t: Attempt, chunks: list[Any]) -> Reply:
    """What the learner's function returns; breaks when it is no Reply."""
    trying(t, chunks)
    came = t.call(chunks)
    if not isinstance(came, Reply):
        t.fail(
            f"a Reply with the whole message: {show(t.answer(chunks).message)}",
            f"{show(came)} ({type(came).__name__})",
            rule="The history needs the message, with role, text and calls. What was printed is not enough.",
            step="End with return Reply(finished_message(growing), finish_reason, usage).",
        )
    return came


def same_message(t: Attempt, chunks: list[Any]) -> Reply:
    """The learner's reply, whose message says the same as labkit's."""
    came, right = reply_of(t, chunks), t.answer(chunks)
    t.expect(came.message.get("role") == "assistant", "a message with role 'assistant'", came.message)
    t.equal(came.text, right.text)
    if right.tool_calls and not came.tool_calls:
        t.fail(
            f"a message with its calls: {show(right.tool_calls)}",
            f"a message without calls: {show(came.message)}",
            rule="What was printed is not what must be saved: calls are never printed.",
            step="Let finished_message(growing) make the message; do not build it from the text.",
        )
    for call in came.tool_calls:
        extra = sorted(set(call) - {"id", "type", "function"})
        if extra:
            t.fail(
                f"a call as a history holds it: {show(right.tool_calls)}",
                f"a call with {', '.join(extra)} in it: {show(came.tool_calls)}",
                rule="index says which fragments belong together: a part of the stream, not of the message.",
                step="finished_message(growing) makes the calls: id, type and function, and no more.",
            )
    t.equal(came.tool_calls, right.tool_calls)
    return came


def broke_off(t: Attempt, chunks: Any) -> StreamInterrupted:
    """The StreamInterrupted that the learner's function raises, with the text so far in its partial reply."""
    error = t.raises(StreamInterrupted, chunks)
    assert isinstance(error, StreamInterrupted)
    partial = error.partial
    t.expect(
        isinstance(partial, Reply) and partial.text == "Hel" and partial.finish_reason is None,
        "StreamInterrupted whose .partial is a Reply with the text so far, 'Hel', and finish_reason None",
        f"StreamInterrupted whose .partial is {show(partial)}",
        rule="What came before the break may be shown to the user. It is kept apart from the history.",
        step='raise interrupted(growing, usage, "what happened"): it puts the growing message into .partial.',
    )
    return error


# -- the ideas


@collect.idea(
    "whole",
    "The pieces of a stream become one message, in a Reply",
    rule="Streaming is for the person at the screen; the history gets one whole message.",
    step="Start with growing_message(), call merge_delta for each choice's delta, end with finished_message.",
    cases=[TEXT],
    shrink=False,
)
def whole_message(t: Attempt, chunks: list[Chunk]) -> None:
    same_message(t, chunks)


@collect.idea(
    "usage",
    "Usage comes in a chunk without choices, after the finish reason",
    rule="Not every chunk has a choice. The one with the usage has none: choices[0] raises IndexError.",
    step='Walk through the choices: for choice in chunk.get("choices") or [].',
    cases=[
        [*TEXT, USAGE_CHUNK],
        [{"choices": []}, *TEXT[:-1], chunk(finish="stop", usage=USAGE), {"choices": [], "usage": None}],
    ],
    shrink=False,
)
def usage_is_kept(t: Attempt, chunks: list[Chunk]) -> None:
    came = same_message(t, chunks)
    t.expect(
        came.usage == USAGE,
        f"usage {show(USAGE)}",
        f"usage {show(came.usage)}",
        rule="The finish reason is not the end of the stream: the usage may still come, or have come before.",
        step='Read on to the last chunk, and keep what you have: usage = chunk.get("usage") or usage.',
    )


@collect.idea(
    "calls",
    "A call in the message has an id, a type and a function, whole",
    rule="The history goes back to the provider: its calls must look as if they had never been in pieces.",
    step="finished_message(growing) joins the pieces and makes the calls.",
    cases=[[*CALL, chunk(finish="tool_calls")]],
    shrink=False,
)
def whole_calls(t: Attempt, chunks: list[Chunk]) -> None:
    same_message(t, chunks)


@collect.idea(
    "last-piece",
    "The chunk with the finish reason may bring the last piece too",
    rule="A chunk can hold a piece and a finish reason at once. Whoever stops at the reason loses the piece.",
    step="Merge the delta of every chunk first, then look at its finish reason; never break out of the loop.",
    cases=[
        [OPENING, chunk({"content": "Hel"}), chunk({"content": "lo"}, "stop")],
        [*CALL[:-1], call_chunk('"a.md"}', "tool_calls")],
    ],
    shrink=False,
)
def last_piece(t: Attempt, chunks: list[Chunk]) -> None:
    same_message(t, chunks)


@collect.idea(
    "reason",
    "The finish reason is kept as it came",
    rule="length means cut off in the middle: its calls must not run. A later chunk without a reason takes "
    "nothing away.",
    step="Hand the reason that came to Reply: finish_reason = settled(finish_reason, the new one).",
    cases=[
        TEXT,
        [*TEXT, chunk({"content": ""})],
        [*CALL, chunk(finish="tool_calls")],
        [*CALL[:-1], chunk(finish="length")],
    ],
    shrink=False,
)
def reason_is_kept(t: Attempt, chunks: list[Chunk]) -> None:
    came, right = same_message(t, chunks), t.answer(chunks)
    shown = "finish_reason {!r}, calls_may_run {}"
    t.expect(
        came.finish_reason == right.finish_reason,
        shown.format(right.finish_reason, right.calls_may_run),
        shown.format(came.finish_reason, came.calls_may_run),
    )


@collect.idea(
    "no-end",
    "A stream that just stops has broken off",
    rule="The end of the iterator is not success: a cut line looks just like it. Only a finish reason says "
    "that the reply is whole.",
    step="After the loop: if finish_reason is None, raise interrupted(growing, usage, ...).",
    cases=[TEXT[:2]],
    shrink=False,
)
def end_without_reason(t: Attempt, chunks: list[Chunk]) -> None:
    trying(t, chunks)
    broke_off(t, chunks)


@collect.idea(
    "line",
    "A line that breaks, or an error inside the stream, is the same interruption",
    rule="Whoever calls collect waits for one kind of error, whatever the client raises.",
    step="Put the loop over plain_chunks(chunks) into try; on ConnectionError, raise interrupted(...).",
    cases=[
        case(TEXT[:2], breaks="connection reset"),
        case([*TEXT[:2], {"error": {"message": "overloaded"}}, TEXT[-1]]),
    ],
    shrink=False,
)
def broken_line(t: Attempt, chunks: list[Chunk], breaks: str = "") -> None:
    trying(t, chunks, f"then the line breaks: OSError: {breaks}" if breaks else "")
    broke_off(t, Line(chunks, breaks))


@collect.idea(
    "on-text",
    "on_text gets each piece of text as it comes",
    rule="The person at the screen reads along: a piece shown after the end is shown too late.",
    step="Inside the loop, after merging: if on_text and there is text in the delta, call on_text(text).",
    cases=[TEXT, [chunk({"role": "assistant", "content": None}), *CALL[1:], chunk(finish="tool_calls")]],
    shrink=False,
)
def pieces_are_shown(t: Attempt, chunks: list[Chunk]) -> None:
    trying(t, chunks, "with on_text noting each piece, and the line each chunk")
    came, expected = _order(t.call_in_place, chunks), _order(labkits_collect, chunks)
    t.equal(came, expected)


def _order(run: Callable[..., Any], chunks: list[Chunk]) -> list[str]:
    """Chunks and pieces of text in the order in which they went by; an empty piece shows nothing."""
    log: list[str] = []
    line = Line(copy.deepcopy(chunks), log=log)
    run(line, on_text=_Note(log))
    return [entry for entry in log if entry != "text ''"]


class _Note:
    """Writes each piece of text into the log."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def __call__(self, piece: Any) -> None:
        self.log.append(f"text {piece!r}")

    def __repr__(self) -> str:
        return "on_text"


@collect.idea(
    "objects",
    "Chunks may be the client's objects as well as dicts",
    rule="The openai client hands out objects (chunk.choices), a recording holds dicts (chunk['choices']).",
    step="Walk through plain_chunks(chunks): it gives each chunk as a dict.",
    cases=[[*CALL, chunk(finish="tool_calls"), USAGE_CHUNK]],
    shrink=False,
)
def objects_too(t: Attempt, chunks: list[Chunk]) -> None:
    from openai.types.chat import ChatCompletionChunk

    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    objects = [ChatCompletionChunk.model_validate({**head, **each}) for each in chunks]
    t.trying("collect of a stream of ChatCompletionChunk objects, as the openai client gives them")
    came = t.call(objects)
    t.expect(isinstance(came, Reply), "a Reply", came)
    t.equal(came.tool_calls, t.answer(chunks).tool_calls)
