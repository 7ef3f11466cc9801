"""Answers to exercise 5.1: right ones of different build, and wrong ones with the words meant for them."""

from labkit.compaction.tool_stubs import STUB, length, unread_from
from labkit.messages import text_of


def from_the_end(messages, keep_recent=3, min_chars=100):
    spared, result = 0, []
    unread = unread_from(messages)
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message["role"] == "tool" and length(message) > min_chars:
            spared += 1
            if spared > keep_recent and index < unread and length(message) > len(STUB):
                message = {**message, "content": STUB}
        result.append(message)
    return result[::-1]


def by_a_set(messages, keep_recent=3, min_chars=100):
    last_said = max((i for i, m in enumerate(messages) if m["role"] == "assistant"), default=-1)
    long = [i for i, m in enumerate(messages) if m["role"] == "tool" and length(m) > min_chars]
    old = set(long) - set(long[len(long) - min(keep_recent, len(long)) :])
    return [
        dict(m, content=STUB) if i in old and i < last_said and length(m) > len(STUB) else dict(m)
        for i, m in enumerate(messages)
    ]


def variant(
    messages,
    keep_recent,
    min_chars,
    *,
    is_long=lambda message, least: message["role"] == "tool" and length(message) > least,
    old=lambda long, keep: long[: max(0, len(long) - keep)],
    stub=lambda message: {**message, "content": STUB},
    may_go=lambda messages, index: index < unread_from(messages) and length(messages[index]) > len(STUB),
):
    """The right answer with one piece of it exchanged."""
    long = [index for index, message in enumerate(messages) if is_long(message, min_chars)]
    result = list(messages)
    for index in old(long, keep_recent):
        if may_go(messages, index):
            result[index] = stub(messages[index])
    return result


def deletes_the_message(messages, keep_recent=3, min_chars=100):
    stubbed = variant(messages, keep_recent, min_chars)
    return [message for message in stubbed if message.get("content") != STUB]


def loses_the_id(messages, keep_recent=3, min_chars=100):
    return variant(messages, keep_recent, min_chars, stub=lambda m: {"role": "tool", "content": STUB})


def becomes_the_users(messages, keep_recent=3, min_chars=100):
    return variant(messages, keep_recent, min_chars, stub=lambda m: {**m, "role": "user", "content": STUB})


def counts_short_ones(messages, keep_recent=3, min_chars=100):
    def may_go(messages, index):
        return index < unread_from(messages) and length(messages[index]) > max(min_chars, len(STUB))

    return variant(
        messages, keep_recent, min_chars, is_long=lambda m, least: m["role"] == "tool", may_go=may_go
    )


def stubs_short_ones(messages, keep_recent=3, min_chars=100):
    return variant(messages, keep_recent, min_chars, is_long=lambda m, least: m["role"] == "tool")


def one_character_too_early(messages, keep_recent=3, min_chars=100):
    def is_long(message, least):
        return message["role"] == "tool" and length(message) >= least

    return variant(messages, keep_recent, min_chars, is_long=is_long)


def changes_the_messages(messages, keep_recent=3, min_chars=100):
    def in_place(message):
        message["content"] = STUB
        return message

    return variant(messages, keep_recent, min_chars, stub=in_place)


def changes_the_list(messages, keep_recent=3, min_chars=100):
    messages[:] = variant(messages, keep_recent, min_chars)
    return messages


def hands_back_the_same_list(messages, keep_recent=3, min_chars=100):
    stubbed = variant(messages, keep_recent, min_chars)
    return messages if stubbed == messages else stubbed


def stubs_a_stub(messages, keep_recent=3, min_chars=100):
    def stub(message):
        return {**message, "content": STUB, "had": length(message)}

    return variant(messages, keep_recent, min_chars, stub=stub, may_go=lambda m, i: i < unread_from(m) and (
        length(m[i]) > len(STUB) or m[i]["content"] == STUB))  # fmt: skip


def adds_a_note(messages, keep_recent=3, min_chars=100):
    return variant(messages, keep_recent, min_chars, stub=lambda m: {**m, "content": STUB, "had": length(m)})


def grows_a_short_one(messages, keep_recent=3, min_chars=100):
    return variant(messages, keep_recent, min_chars, may_go=lambda m, index: index < unread_from(m))


def stubs_the_unread(messages, keep_recent=3, min_chars=100):
    return variant(messages, keep_recent, min_chars, may_go=lambda m, index: length(m[index]) > len(STUB))


def keeps_the_oldest(messages, keep_recent=3, min_chars=100):
    return variant(messages, keep_recent, min_chars, old=lambda long, keep: long[keep:])


def counts_from_the_back(messages, keep_recent=3, min_chars=100):
    return variant(messages, keep_recent, min_chars, old=lambda long, keep: long[: len(long) - keep])


def minus_none(messages, keep_recent=3, min_chars=100):
    return variant(messages, keep_recent, min_chars, old=lambda long, keep: long[:-keep])


def always_three(messages, keep_recent=3, min_chars=100):
    return variant(messages, 3, 100)


def stubs_all_roles(messages, keep_recent=3, min_chars=100):
    def is_long(message, least):
        return length(message) > least

    return variant(messages, keep_recent, min_chars, is_long=is_long)


def knows_no_parts(messages, keep_recent=3, min_chars=100):
    def is_long(message, least):
        return message["role"] == "tool" and isinstance(message["content"], str) and length(message) > least

    return variant(messages, keep_recent, min_chars, is_long=is_long)


def keeps_the_beginning(messages, keep_recent=3, min_chars=100):
    def shorter(message):
        return {**message, "content": text_of(message["content"])[:40] + "..."}

    return variant(messages, keep_recent, min_chars, stub=shorter)


RIGHT = [from_the_end, by_a_set]
WRONG = [
    (deletes_the_message, "old-become-stubs", "A call without its result is refused"),
    (loses_the_id, "id", "ties a result to its call"),
    (becomes_the_users, "id", "role 'tool'"),
    (counts_short_ones, "long", "a short one took a long one's place"),
    (stubs_short_ones, "long", "Only results of more than 100 characters"),
    (one_character_too_early, "long", "it has 100 characters"),
    (changes_the_messages, "changed-input", "the arguments stay as they were"),
    (changes_the_list, "changed-input", "Build a new list"),
    (hands_back_the_same_list, "nothing-else", "the very list that was handed in"),
    (stubs_a_stub, "twice", "must stay the same bytes for ever"),
    (adds_a_note, "nothing-else", "Nothing else changes"),
    (grows_a_short_one, "never-longer", "Nothing grows"),
    (stubs_the_unread, "unread", "only asked for again"),
    (keeps_the_oldest, "old-become-stubs", "precious when it is new"),
    (counts_from_the_back, "few", "counts from the back"),
    (minus_none, "settings", "keep_recent and min_chars are settings"),
    (always_three, "settings", "What the caller asks for is used"),
    (stubs_all_roles, "tools-only", "cannot be read again anywhere"),
    (knows_no_parts, "parts", "list of parts"),
    (keeps_the_beginning, "old-become-stubs", "say [compressed]"),
]
