"""Answers to exercise 5.4: right ones of different build, and wrong ones with the words meant for them."""

from dataclasses import replace

from labkit.compaction.base import half_of_characters, quarter_of_characters, unchanged
from labkit.compaction.tool_stubs import STUB
from labkit.messages import exchanges, text_of


def in_one_condition(messages, stubs, full, limit=30000):
    tokens = quarter_of_characters(messages)
    waits = [exchange for exchange in exchanges(messages) if exchange.open]
    if tokens > limit and not waits:
        return full(messages)
    return unchanged(messages, tokens, "not now")


def over_ten_lines(messages, stubs, full, limit=30000):
    reason = ""
    if exchanges(messages) and exchanges(messages)[-1].open:
        reason = "a call is open"
    elif not quarter_of_characters(messages) > limit:
        reason = "short enough"
    return unchanged(messages, quarter_of_characters(messages), reason) if reason else full(messages)


def stub_them(messages, stubs, full):
    return stubs(messages)


def stub_a_copy(messages, stubs, full):
    result = stubs([*messages])
    return result


def variant(messages, full, limit, *, count=quarter_of_characters, over=int.__gt__, looks=True):
    """The right answer with one piece of it exchanged."""
    tokens = count(messages)
    if looks and any(exchange.open for exchange in exchanges(messages)):
        return unchanged(messages, tokens, "a call is open")
    return full(messages) if over(tokens, limit) else unchanged(messages, tokens, "within the limit")


def stubs_after_input(messages, stubs, full, limit=30000):
    return variant(messages, stubs, limit)


def always_full(messages, stubs, full, limit=30000):
    return full(messages)


def at_the_limit(messages, stubs, full, limit=30000):
    return variant(messages, full, limit, over=int.__ge__)


def in_half_characters(messages, stubs, full, limit=30000):
    return variant(messages, full, limit, count=half_of_characters)


def fixed_limit(messages, stubs, full, limit=30000):
    return variant(messages, full, 30000)


def while_a_call_is_open(messages, stubs, full, limit=30000):
    return variant(messages, full, limit, looks=False)


def stubs_when_within(messages, stubs, full, limit=30000):
    return full(messages) if quarter_of_characters(messages) > limit else stubs(messages)


def the_same_list(messages, stubs, full, limit=30000):
    return messages if quarter_of_characters(messages) <= limit else full(messages)


def full_after_tools(messages, stubs, full):
    return full(messages)


def both_after_tools(messages, stubs, full):
    result = stubs(messages)
    return full(result.messages) if quarter_of_characters(messages) > 30000 else result


def never_stubs(messages, stubs, full):
    return unchanged(messages, 0, "nothing")


def only_the_newest(messages, stubs, full):
    return stubs(messages[-4:])


def stubs_the_rest_too(messages, stubs, full):
    result = stubs(messages)
    stubbed = [
        {**message, "content": STUB}
        if message["role"] == "tool" and len(text_of(message["content"])) > 100
        else message
        for message in result.messages
    ]
    return replace(result, messages=stubbed)


def drops_its_result(messages, stubs, full):
    stubs(messages)
    return unchanged(messages, quarter_of_characters(messages), "stubbed")


RIGHT = [(in_one_condition, stub_them), (over_ten_lines, stub_a_copy)]
WRONG = [
    ((stubs_after_input, full_after_tools), "input-over", "the other way round"),
    ((in_one_condition, full_after_tools), "tools", "the other way round"),
    ((always_full, stub_them), "input-within", "made only when it is needed"),
    ((stubs_when_within, stub_them), "input-within", "neither tier runs"),
    ((the_same_list, stub_them), "input-within", "a Compaction"),
    ((at_the_limit, stub_them), "limit", "exactly at the limit"),
    ((in_half_characters, stub_them), "input-within", "within the limit"),
    ((fixed_limit, stub_them), "input-over", "neither ran"),
    ((while_a_call_is_open, stub_them), "open-call", "would swallow the call"),
    ((in_one_condition, both_after_tools), "tools-only-stub", "what it is working with"),
    ((in_one_condition, never_stubs), "tools", "neither ran"),
    ((in_one_condition, only_the_newest), "tools", "Only in the whole history"),
    ((in_one_condition, stubs_the_rest_too), "unread", "they are only asked for again"),
    ((in_one_condition, drops_its_result), "tools", "what tier 1 returned"),
]
