"""Answers to 1.1, estimate_tokens: right ones of different build, and wrong ones with what each is told."""

from __future__ import annotations

import math

from labkit.messages import text_of


def one_text(messages, chars_per_token=2):
    texts = [text_of(message.get("content")) for message in messages]
    texts += [
        call["function"]["arguments"] for message in messages for call in message.get("tool_calls") or []
    ]
    return -(-len("".join(texts)) // chars_per_token)


def by_hand(history, chars_per_token=2):
    total = 0
    for message in history:
        content = message.get("content") or ""
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        total += len(content)
        for call in message.get("tool_calls", []):
            total += len(call["function"]["arguments"])
    return math.ceil(total / chars_per_token)


def forgets_arguments(messages, chars_per_token=2):
    return math.ceil(sum(len(text_of(message.get("content"))) for message in messages) / chars_per_token)


def crashes_on_null(messages, chars_per_token=2):
    return math.ceil(sum(len(message["content"]) for message in messages) / chars_per_token)


def counts_the_dict(messages, chars_per_token=2):
    return math.ceil(sum(len(str(message)) for message in messages) / chars_per_token)


def rounds_down(messages, chars_per_token=2):
    return sum(len(text_of(message.get("content"))) for message in messages) // chars_per_token


def gives_a_fraction(messages, chars_per_token=2):
    return sum(len(text_of(message.get("content"))) for message in messages) / chars_per_token


def rounds_each_message(messages, chars_per_token=2):
    return sum(math.ceil(len(text_of(message.get("content"))) / chars_per_token) for message in messages)


def always_divides_by_two(messages, chars_per_token=2):
    return one_text(messages)


def counts_parts(messages, chars_per_token=2):
    total = 0
    for message in messages:
        total += len(message.get("content") or "")
        total += sum(len(call["function"]["arguments"]) for call in message.get("tool_calls") or [])
    return math.ceil(total / chars_per_token)


def returns_nothing(messages, chars_per_token=2):
    one_text(messages, chars_per_token)


def empties_the_list(messages, chars_per_token=2):
    answer = one_text(messages, chars_per_token)
    messages.clear()
    return answer


RIGHT = [one_text, by_hand]
WRONG = [
    (forgets_arguments, "arguments", "call['function']['arguments']"),
    (crashes_on_null, "null-content", "TypeError: object of type 'NoneType' has no len()"),
    (counts_the_dict, "text", "not str(message)"),
    (rounds_down, "rounds-up", "Round up once"),
    (gives_a_fraction, "rounds-up", "(float)"),
    (returns_nothing, "text", "Return the result"),
    (rounds_each_message, "rounds-up", "at the end"),
    (always_divides_by_two, "divisor", "chars_per_token=4"),
    (counts_parts, "parts", "text_of(content)"),
    (empties_the_list, "changed-input", "makes a new list"),
]
