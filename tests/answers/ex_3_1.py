"""Answers to exercise 3.1: right ones of different build, and wrong ones with the words meant for them."""

from labkit.messages import system_length


def counts_from_the_front(messages, keep_last=6):
    start = system_length(messages)
    cut = len(messages) - keep_last
    if cut < start:
        cut = start
    return messages[:start], messages[start:cut], messages[cut:]


def walks_through(messages, keep_last=6):
    system, old, recent = [], [], []
    for index, message in enumerate(messages):
        if index < system_length(messages):
            system.append(message)
        elif index < len(messages) - keep_last:
            old.append(message)
        else:
            recent.append(message)
    return system, old, recent


def takes_the_rest_apart(messages, keep_last=6):
    size = 0
    while size < len(messages) and messages[size]["role"] in ("system", "developer"):
        size += 1
    rest = list(messages[size:])
    recent = rest[-keep_last:] if keep_last else []
    return list(messages[:size]), rest[: len(rest) - len(recent)], recent


def keeps_all_for_zero(messages, keep_last=6):
    start = system_length(messages)
    rest = messages[start:]
    return messages[:start], rest[:-keep_last], rest[-keep_last:]


def loses_the_system_message(messages, keep_last=6):
    start = system_length(messages)
    cut = max(start, len(messages) - keep_last)
    return [], messages[start:cut], messages[cut:]


def system_is_old_too(messages, keep_last=6):
    start = system_length(messages)
    cut = max(start, len(messages) - keep_last)
    return messages[:start], messages[:cut], messages[cut:]


def needs_a_system_message(messages, keep_last=6):
    cut = max(1, len(messages) - keep_last)
    return [messages[0]], messages[1:cut], messages[cut:]


def crashes_without_one(messages, keep_last=6):
    system = next(message for message in messages if message["role"] == "system")
    cut = max(1, len(messages) - keep_last)
    return [system], messages[1:cut], messages[cut:]


def keeps_the_system_as_recent(messages, keep_last=6):
    start = system_length(messages)
    cut = max(0, len(messages) - keep_last)
    return messages[:start], messages[start:cut], messages[cut:]


def slices_below_zero(messages, keep_last=6):
    start = system_length(messages)
    cut = len(messages) - keep_last
    return messages[:start], messages[start:cut], messages[cut:]


def looks_for_roles(messages, keep_last=6):
    system = [message for message in messages if message["role"] in ("system", "developer")]
    rest = [message for message in messages if message["role"] not in ("system", "developer")]
    cut = max(0, len(rest) - keep_last)
    return system, rest[:cut], rest[cut:]


def only_one_system_message(messages, keep_last=6):
    start = 1 if messages and messages[0]["role"] == "system" else 0
    cut = max(start, len(messages) - keep_last)
    return messages[:start], messages[start:cut], messages[cut:]


def always_six(messages, keep_last=6):
    return counts_from_the_front(messages, 6)


def one_too_many(messages, keep_last=6):
    return counts_from_the_front(messages, keep_last + 1)


def first_ones(messages, keep_last=6):
    start = system_length(messages)
    cut = min(len(messages), start + keep_last)
    return messages[:start], messages[cut:], messages[start:cut]


def forgets_the_old(messages, keep_last=6):
    start = system_length(messages)
    cut = max(start, len(messages) - keep_last)
    return messages[:start], [], messages[cut:]


def two_parts(messages, keep_last=6):
    return messages[:-keep_last], messages[-keep_last:]


def cuts_the_callers_list(messages, keep_last=6):
    parts = walks_through(messages, keep_last)
    messages.clear()
    return parts


RIGHT = [counts_from_the_front, walks_through, takes_the_rest_apart]
WRONG = [
    (keeps_all_for_zero, "keep-none", "messages[-0:] is the whole list"),
    (loses_the_system_message, "system-apart", "neither summarised nor lost"),
    (system_is_old_too, "old-between", "the system message is in two parts"),
    (needs_a_system_message, "no-system", "Do not take messages[0] blindly"),
    (crashes_without_one, "no-system", "StopIteration"),
    (keeps_the_system_as_recent, "short", "recent: 1 message"),
    (slices_below_zero, "short", "max(start, len(messages) - keep_last)"),
    (looks_for_roles, "leading-system", "Later ones have their place"),
    (only_one_system_message, "leading-system", "counts the system and developer messages at the head"),
    (always_six, "recent", "keep_last=2"),
    (one_too_many, "recent", "recent: 2 messages"),
    (first_ones, "recent", "The newest details"),
    (forgets_the_old, "old-between", "What is in no part is forgotten"),
    (two_parts, "recent", "(system, old, recent)"),
    (cuts_the_callers_list, "changed-input", "the arguments stay as they were"),
]
