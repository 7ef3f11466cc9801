"""Answers to 2.2, collect: right ones of different build, and wrong ones with what each is told."""

from __future__ import annotations

from labkit.errors import StreamInterrupted
from labkit.messages import text_of
from labkit.streaming import (
    Reply,
    finished_message,
    growing_message,
    interrupted,
    merge_delta,
    plain_chunks,
    settled,
)

# -- right


def step_by_step(chunks, on_text=None):
    growing = growing_message()
    reason = usage = None
    try:
        for chunk in plain_chunks(chunks):
            if chunk.get("usage"):
                usage = chunk["usage"]
            if not chunk.get("choices"):
                continue
            choice = chunk["choices"][0]
            merge_delta(growing, choice.get("delta") or {})
            reason = reason or choice.get("finish_reason")
            text = text_of((choice.get("delta") or {}).get("content"))
            if on_text is not None and text:
                on_text(text)
    except ConnectionError as error:
        raise interrupted(growing, usage, f"The line broke: {error}.") from error
    if reason:
        return Reply(finished_message(growing), reason, usage)
    raise interrupted(growing, usage, "No finish reason.")


def two_passes_at_once(chunks, on_text=None):
    growing, reasons, usages = growing_message(), [], []
    broken = None
    stream = plain_chunks(chunks)
    while broken is None:
        try:
            chunk = next(stream)
        except StopIteration:
            break
        except ConnectionError as error:
            broken = error
            continue
        usages.append(chunk.get("usage"))
        for choice in chunk["choices"]:
            delta = choice["delta"]
            merge_delta(growing, delta)
            reasons.append(choice["finish_reason"])
            (on_text or str)(text_of(delta.get("content")))
    usage = next((each for each in reversed(usages) if each), None)
    reason = next(filter(None, reasons), None)
    message = finished_message(growing)
    if broken is not None or reason is None:
        raise StreamInterrupted("It broke off.", partial=Reply(message, None, usage))
    return Reply(message=message, finish_reason=reason, usage=usage)


# -- wrong


def collecting(
    choices=lambda chunk: chunk.get("choices") or [],
    stops_at_reason=None,
    message=finished_message,
    reason=settled,
    no_end_is_fine=False,
    catches=ConnectionError,
    shows="now",
    read=plain_chunks,
    partial=True,
    last_usage=False,
):
    """A collect that differs from a right one in what is asked for."""

    def collect(chunks, on_text=None):
        growing, finish, usage = growing_message(), None, None
        later = []
        try:
            for chunk in read(chunks):
                usage = chunk.get("usage") if last_usage else chunk.get("usage") or usage
                for choice in choices(chunk):
                    delta = choice.get("delta") or {}
                    if stops_at_reason == "before" and choice.get("finish_reason"):
                        finish = choice["finish_reason"]
                        continue
                    merge_delta(growing, delta)
                    finish = reason(finish, choice.get("finish_reason"))
                    if on_text and shows == "now" and text_of(delta.get("content")):
                        on_text(delta["content"])
                    if on_text and shows == "none":
                        on_text(delta.get("content"))
                    later.append(text_of(delta.get("content")))
                if stops_at_reason == "after" and finish:
                    break
        except catches as error:
            raise interrupted(growing if partial else growing_message(), usage, str(error)) from error
        if finish is None and not no_end_is_fine:
            raise interrupted(growing if partial else growing_message(), usage, "no end")
        if on_text and shows == "late":
            for piece in filter(None, later):
                on_text(piece)
        return Reply(message(growing), finish, usage)

    return collect


def with_index(growing):
    message = finished_message(growing)
    for index, call in enumerate(message.get("tool_calls", [])):
        call["index"] = index
    return message


def text_of_it_all(chunks, on_text=None):
    return collecting()(chunks, on_text).text


def from_the_printed_text(growing):
    return {"role": "assistant", "content": "".join(growing["content"])}


class Never(Exception):
    """An error that nothing raises."""


RIGHT = [step_by_step, two_passes_at_once]
WRONG = [
    (text_of_it_all, "whole", "What was printed is not enough"),
    (collecting(choices=lambda chunk: [chunk["choices"][0]]), "usage", "IndexError"),
    (collecting(stops_at_reason="after"), "usage", "Read on to the last chunk"),
    (collecting(last_usage=True), "usage", "Read on to the last chunk"),
    (collecting(stops_at_reason="before"), "last-piece", "loses the piece"),
    (collecting(message=from_the_printed_text), "calls", "What was printed is not what must be saved"),
    (collecting(message=with_index), "calls", "a part of the stream, not of the message"),
    (collecting(reason=lambda before, now: now), "reason", "takes nothing away"),
    (collecting(reason=lambda before, now: "stop" if now else before), "reason", "its calls must not run"),
    (collecting(no_end_is_fine=True), "no-end", "not success"),
    (collecting(partial=False), "no-end", "the text so far"),
    (collecting(catches=Never), "line", "waits for one kind of error"),
    (collecting(shows="late"), "on-text", "shown too late"),
    (collecting(shows="none"), "on-text", "None"),
    (collecting(shows="never"), "on-text", "Inside the loop"),
    (collecting(read=iter), "line", "plain_chunks"),
]
