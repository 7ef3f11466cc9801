"""Ask a summariser, and make sure of what comes back.

A summariser that fails costs nothing but time: whatever it raises or returns becomes a `Summary` that says
why it cannot be used. Only when its own window is too small is it asked again, with a smaller request, and
never more than five times in all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from labkit.compaction.base import Measure, Summariser, exact_tokens, tokens_or_more_than
from labkit.compaction.earlier import cut_middle, take_earlier
from labkit.compaction.summary import (
    Instructions,
    name_and_arguments,
    readable,
    summary_request,
    summary_text,
    useful,
)
from labkit.messages import Message, calls_of, function_of, tool_call, user
from labkit.streaming import Reply, whole_reply
from labkit.tokens import shared_counter

NOTHING_NEW = "nothing new to summarise"


@dataclass(frozen=True)
class Summary:
    """A summary that may be used, or in `problem` why there is none. `asked`: whether one was asked for."""

    text: str = ""
    problem: str = ""
    asked: bool = True


def ask_summary(
    old: Sequence[Message], summarise: Summariser, instructions: Instructions, words_stay: bool = False
) -> Summary:
    """A summary of `old` (a history's part without its system message), or the reason why there is none.

    An earlier summary at the head of `old` is handed over to be updated; `words_stay` when the user's own
    words stay in the history beside it and need not be handed over. The summariser gets messages made for it
    alone, so it cannot change the history. Never raises for anything a summariser does, Ctrl-C apart.
    """
    earlier = take_earlier(old)
    if not earlier.messages:
        return Summary(problem=NOTHING_NEW, asked=False)
    problem = ""
    for request in requests(earlier.messages, instructions, earlier.to_hand_over(words_stay)):
        asked = request[-1]["content"]
        try:
            reply = summarise(request, instructions.max_tokens)
        except Exception as error:
            problem = f"the summariser failed: {in_words(error)}"
            if is_too_long(error):
                continue
            return Summary(problem=problem)
        problem = problem_of(reply, old) or echo_of(reply, asked)
        return Summary(problem=problem) if problem else Summary(summary_text(reply))
    return Summary(problem=f"{problem}; its window is too small even for a much shortened history")


def problem_of(reply: Any, old: Sequence[Message]) -> str:
    """`useful`, for replies of any kind: what a summariser returns may be nonsense through and through."""
    try:
        count = shared_counter().text
        return useful(reply, tokens_or_more_than(count(summary_text(reply)), old), count)
    except Exception as error:
        return f"the summariser's reply cannot be read: {in_words(error)}"


def echo_of(reply: Any, asked: str) -> str:
    """Why a reply that is the request itself is no summary; an empty text for any other."""
    return "the summariser gave back what it was asked" if summary_text(reply) == asked.strip() else ""


SHORTEST = "some words of summary"
MOST_ROOM = 10_000
"""Tokens: more than any summary here may have."""
MARGIN = 3
"""Tokens by an estimate for one that is really there: English at characters / 2 has 2.4 (lab 4 measures it),
and up to 3 where the words are long.
"""


def room_for_summary(
    messages: list[Message], framed: Callable[[str], list[Message]], measure: Measure
) -> int:
    """How many tokens a summary may have for the history to get smaller; 0 when nothing can be gained.

    `framed` makes the new history from a summary's text. The exact count and the compactor's own measure must
    both go down, so that a summariser that keeps to this number is not asked in vain.
    """
    bare, shortest = framed(""), framed(SHORTEST)
    least = exact_tokens(bare)
    exact = tokens_or_more_than(least + MOST_ROOM, messages)
    if exact <= exact_tokens(shortest):
        return 0
    room = exact - least - 1
    if measure is not exact_tokens:
        tokens = measure(messages)
        if tokens <= measure(shortest):
            return 0
        room = min(room, int((tokens - measure(bare)) / MARGIN))
    return max(1, room)


LEAST_SUMMARY = 64
"""Tokens: with less than that, a summary says nothing."""


def room_below(left: int, room: int) -> int:
    """No more than what is `left` below the limit; but where that is next to nothing the limit cannot be met
    anyhow, and the summary may be as long as ever.
    """
    return min(room, left) if left >= LEAST_SUMMARY else room


def in_words(error: Exception) -> str:
    """An exception as a phrase: its kind and what it said, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300] or 'no message'}"


# --- when the request for a summary would not fit ---------------------------------------------------------

TOO_LONG = re.compile(
    r"context.?(length|window|size|limit)|(prompt|input|request).{0,40}too (long|large)|too many tokens"
    r"|maximum.{0,20}(tokens|length)|reduce the length|exceeds?.{0,40}(tokens|context)",
    re.IGNORECASE | re.DOTALL,
)


def is_too_long(error: Exception) -> bool:
    """Whether a summariser said that its request was too long: by code, by words, or by ValueError."""
    if getattr(error, "status_code", None) == 429:
        return False  # "too many tokens per minute" is about the rate, not about the window
    if getattr(error, "code", None) == "context_length_exceeded" or isinstance(error, ValueError):
        return True
    return type(error).__name__ == "ContextLimitError" or bool(TOO_LONG.search(str(error)))


@dataclass(frozen=True)
class Squeeze:
    """How far one request is shortened, in characters: each result, each text, and everything together."""

    result: int
    text: int
    total: int


SQUEEZES = (
    Squeeze(result=500, text=8_000, total=400_000),
    Squeeze(result=150, text=1_000, total=60_000),
    Squeeze(result=100, text=400, total=12_000),
    Squeeze(result=60, text=200, total=4_000),
)
"""The last step is about 4,000 characters: a thousand tokens of English, and within 8,000 in any script."""


def requests(
    messages: Sequence[Message], instructions: Instructions, previous: str
) -> Iterator[list[Message]]:
    """The request for a summary, then the same one shortened step by step, for as long as somebody asks."""
    yield summary_request(messages, instructions, previous)
    for squeeze in SQUEEZES:
        fewer = within([shortened_message(message, squeeze) for message in messages], squeeze)
        earlier = cut_middle(previous, squeeze.total // 4, "\n[...]\n")
        yield summary_request(fewer, instructions, earlier, max_result_chars=squeeze.result)


def shortened_message(message: Message, squeeze: Squeeze) -> Message:
    """A copy of a message with its text and its calls' arguments cut in the middle."""
    most = squeeze.result if message.get("role") == "tool" else squeeze.text
    short: Message = {**message, "content": cut_middle(readable(message), most, " [...] ")}
    short.pop("refusal", None)
    if calls_of(message):
        short["tool_calls"] = [shortened_call(call, squeeze.result) for call in calls_of(message)]
    return short


def shortened_call(call: Message, most: int) -> Message:
    name, arguments = name_and_arguments(call)
    return tool_call(str(call.get("id")), name, cut_middle(arguments, most, " [...] "))


def within(messages: list[Message], squeeze: Squeeze) -> list[Message]:
    """The first user message and the newest messages that fit into the total; what is left out is named."""
    first = next((index for index, message in enumerate(messages) if message.get("role") == "user"), None)
    sizes = [rendered_size(message) for message in messages]
    left, start = squeeze.total, len(messages)
    if first is not None:
        left, sizes[first] = left - sizes[first], 0
    while start > 0 and left >= sizes[start - 1]:
        start -= 1
        left -= sizes[start]
    if start == 0:
        return messages
    head = [messages[first]] if first is not None and first < start else []
    note = f"[{start - len(head)} messages are left out here: they do not fit into the summariser's window]"
    return [*head, user(note), *messages[start:]]


def rendered_size(message: Message) -> int:
    """About the characters a message takes in the rendered history, its headings included."""
    arguments = sum(len(str(function_of(call).get("arguments") or "")) + 30 for call in calls_of(message))
    return len(readable(message)) + arguments + 30


# --- a summariser from a client ---------------------------------------------------------------------------


def model_summariser(client: Any, model: str) -> Summariser:
    """A summariser that asks a model, through any client of the OpenAI kind; it may be another, cheaper
    model.

    The request carries no tools. `max_tokens` goes under the name that the service accepts.
    """

    def ask(limit: dict[str, int], messages: list[Message]) -> Reply:
        return whole_reply(client.chat.completions.create(model=model, messages=messages, **limit))

    def summarise(messages: list[Message], max_tokens: int) -> Reply:
        try:
            return ask({"max_tokens": max_tokens}, messages)
        except Exception as error:
            if "max_completion_tokens" not in str(error):
                raise
            return ask({"max_completion_tokens": max_tokens}, messages)

    return summarise


def fitted(instructions: Instructions, focus: str, room: int) -> Instructions:
    """The same instructions with the focus, what the user wants kept above all, and with no more tokens."""
    return replace(instructions, focus=focus, max_tokens=min(instructions.max_tokens, room))
