"""Answers to exercise 4.1: right ones of different build, and wrong ones with the words meant for them."""

from itertools import accumulate

from labkit.messages import calls_of, exchanges, problems, system_length


def with_a_set(messages):
    forbidden = set()
    for exchange in exchanges(messages):
        end = len(messages) if exchange.open else exchange.last
        forbidden |= set(range(exchange.index + 1, end + 1))
    forbidden |= {index for index, message in enumerate(messages) if message["role"] == "tool"}
    return [index for index in range(system_length(messages), len(messages) + 1) if index not in forbidden]


def with_depths(messages):
    change = [0] * (len(messages) + 2)
    for exchange in exchanges(messages):
        change[exchange.index + 1] += 1
        change[(len(messages) if exchange.open else exchange.last) + 1] -= 1
    cuts = []
    for index, depth in enumerate(accumulate(change[:-1])):
        orphan = index < len(messages) and messages[index].get("role") == "tool"
        if index >= system_length(messages[:3]) and not depth and not orphan:
            cuts.append(index)
    return cuts


def by_waiting_calls(messages):
    """Without `exchanges`: pairs by itself, with what still waits at each place."""
    newest = max((i for i, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    end_of, waiting = {}, {}
    for index, message in enumerate(messages):
        for call in calls_of(message):
            waiting.setdefault(call["id"], []).append(index)
            end_of.setdefault(index, index)
        if message["role"] == "tool" and waiting.get(message["tool_call_id"]):
            end_of[waiting[message["tool_call_id"]].pop()] = index
    for owners in waiting.values():
        for owner in owners:
            end_of[owner] = len(messages) if owner == newest else end_of[owner]
    reach, cuts = -1, []
    for index in range(len(messages) + 1):
        if index > reach and (index == len(messages) or messages[index]["role"] != "tool"):
            cuts.append(index)
        reach = max(reach, end_of.get(index, -1))
    return [index for index in cuts if index >= system_length(messages)]


def users_only(messages):
    return [index for index, message in enumerate(messages) if message["role"] == "user"]


def everywhere(messages):
    return list(range(system_length(messages), len(messages) + 1))


def from_zero(messages):
    return [0, *[cut for cut in with_a_set(messages) if cut]]


def one_system_message(messages):
    has_one = bool(messages) and messages[0]["role"] == "system"
    return [index for index in range(has_one, len(messages) + 1) if index in {1, *with_a_set(messages)}]


def without_the_end(messages):
    return [cut for cut in with_a_set(messages) if cut < len(messages)]


def without_the_start(messages):
    start = system_length(messages)
    return [cut for cut in with_a_set(messages) if cut > start or not start]


def not_before_a_tool_message(messages):
    ends = range(system_length(messages), len(messages) + 1)
    return [i for i in ends if i == len(messages) or messages[i]["role"] != "tool"]


def not_after_a_call(messages):
    return [
        i for i in range(system_length(messages), len(messages) + 1) if not i or not calls_of(messages[i - 1])
    ]


def table_of_ids(messages):
    """One table of ids for the whole history: of two results with one id, the last."""
    result = {m["tool_call_id"]: index for index, m in enumerate(messages) if m["role"] == "tool"}
    forbidden = set()
    for index, message in enumerate(messages):
        for call in calls_of(message):
            forbidden |= set(range(index + 1, result.get(call["id"], index) + 1))
    return [i for i in range(system_length(messages), len(messages) + 1) if i not in forbidden]


def first_in_the_table(messages):
    result = {}
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            result.setdefault(message["tool_call_id"], index)
    forbidden = set()
    for index, message in enumerate(messages):
        for call in calls_of(message):
            forbidden |= set(range(index + 1, result.get(call["id"], index) + 1))
    return [i for i in range(system_length(messages), len(messages) + 1) if i not in forbidden]


def does_not_wait(messages):
    forbidden = {i for each in exchanges(messages) for i in range(each.index + 1, each.last + 1)}
    forbidden |= {index for index, message in enumerate(messages) if message["role"] == "tool"}
    return [i for i in range(system_length(messages), len(messages) + 1) if i not in forbidden]


def blocked_for_ever(messages):
    forbidden = {index for index, message in enumerate(messages) if message["role"] == "tool"}
    for each in exchanges(messages):
        end = len(messages) if None in each.results else each.last
        forbidden |= set(range(each.index + 1, end + 1))
    return [i for i in range(system_length(messages), len(messages) + 1) if i not in forbidden]


def before_an_orphan(messages):
    forbidden = set()
    for each in exchanges(messages):
        end = len(messages) if each.open else each.last
        forbidden |= set(range(each.index + 1, end + 1))
    return [i for i in range(system_length(messages), len(messages) + 1) if i not in forbidden]


def searches_each_time(messages):
    found = exchanges(messages)

    def inside(index):
        return any(each.index < index and (each.open or index <= each.last) for each in found)

    tool = [message["role"] == "tool" for message in messages] + [False]
    return [i for i in range(system_length(messages), len(messages) + 1) if not inside(i) and not tool[i]]


def looks_at_every_tail(messages):
    legal = set(with_a_set(messages))
    ends = range(system_length(messages), len(messages) + 1)
    return [i for i in ends if i in legal and messages[:i] + messages[i:] == messages]


def tries_every_cut(messages):
    cuts = []
    for index in range(system_length(messages), len(messages) + 1):
        if not problems(messages[:index]) and not problems(messages[index:]):
            cuts.append(index)
    return cuts


def not_ascending(messages):
    return with_a_set(messages)[::-1]


def a_set(messages):
    return set(with_a_set(messages))


RIGHT = [with_a_set, with_depths, by_waiting_calls]
WRONG = [
    (users_only, "chat", "only places before a user message"),
    (without_the_end, "chat", "the end is missing"),
    (from_zero, "system", "Never inside the system part"),
    (one_system_message, "system", "There may be more than one such message"),
    (without_the_start, "system", "directly after the system part"),
    (everywhere, "one-call", "the server answers 400"),
    (not_after_a_call, "parallel", "Their exchange ends with the last of the results"),
    (table_of_ids, "same-id", "One table of ids for the whole history"),
    (first_in_the_table, "same-id", "a result answers the nearest open call before it"),
    (not_before_a_tool_message, "steering", "not the role there"),
    (does_not_wait, "waiting", "A cut before it would part the two after all"),
    (blocked_for_ever, "interrupted", "one lost result blocks for ever"),
    (before_an_orphan, "orphan", "refused, whether its call was cut off or never there"),
    (searches_each_time, "linear", "do not search anew at each index"),
    (looks_at_every_tail, "linear", "times the work"),
    (not_ascending, "chat", "The indices ascend"),
    (a_set, "chat", "(list)"),
]
