"""Answers to exercise 3.3: right ones of different build, and wrong ones with the words meant for them."""

from labkit.compaction.earlier import ACKNOWLEDGEMENT, COUNT_HEADING
from labkit.messages import assistant, user


def by_appending(system, summary, recent):
    history = list(system)
    history.append({"role": "user", "content": COUNT_HEADING + "\n" + summary})
    if not (recent and recent[0]["role"] == "assistant"):
        history.append({"role": "assistant", "content": "Noted. I go on."})
    history.extend(recent)
    return history


def in_two_branches(system, summary, recent):
    told = user(f"{COUNT_HEADING}\n\n{summary}")
    if recent and recent[0]["role"] == "assistant":
        return [*system, told, *recent]
    return [*system, told, assistant(ACKNOWLEDGEMENT), *recent]


def pair(summary):
    return [user(f"{COUNT_HEADING}\n\n{summary}"), assistant(ACKNOWLEDGEMENT)]


def grows_the_system_part(system, summary, recent):
    system += pair(summary) + recent
    return system


def inserts_into_recent(system, summary, recent):
    recent[:0] = [*system, *pair(summary)]
    return recent


def pushes_the_summary(system, summary, recent):
    return [*system, *recent, *pair(summary)]


def as_a_system_message(system, summary, recent):
    told = {"role": "system", "content": f"{COUNT_HEADING}\n\n{summary}"}
    return [*system, told, assistant(ACKNOWLEDGEMENT), *recent]


def in_the_assistants_name(system, summary, recent):
    return [*system, user("What happened so far?"), assistant(f"{COUNT_HEADING}\n\n{summary}"), *recent]


def into_the_system_message(system, summary, recent):
    content = "\n\n".join([system[0]["content"] if system else "", COUNT_HEADING, summary])
    return [{"role": "system", "content": content}, *recent]


def without_acknowledgement(system, summary, recent):
    return [*system, user(f"{COUNT_HEADING}\n\n{summary}"), *recent]


def always_acknowledges(system, summary, recent):
    return [*system, *pair(summary), *recent]


def needs_a_recent_message(system, summary, recent):
    acknowledged = [] if recent[0]["role"] == "assistant" else [assistant(ACKNOWLEDGEMENT)]
    return [*system, user(f"{COUNT_HEADING}\n\n{summary}"), *acknowledged, *recent]


def without_heading(system, summary, recent):
    told = user(summary)
    return [
        *system,
        told,
        *([] if recent[:1] and recent[0]["role"] == "assistant" else pair("")[1:]),
        *recent,
    ]


def forgets_the_system_part(system, summary, recent):
    return in_two_branches([], summary, recent)


def forgets_the_recent_ones(system, summary, recent):
    return [*system, *pair(summary)]


def forgets_the_summary(system, summary, recent):
    return [*system, *recent]


def nests_the_lists(system, summary, recent):
    return [system, pair(summary), recent]


def adds_a_reminder(system, summary, recent):
    return [*in_two_branches(system, summary, [])[:-1], assistant(ACKNOWLEDGEMENT), user("Go on."), *recent]


def another_reminder(system, summary, recent):
    return (
        [
            *system,
            *(pair(summary)[:1] if recent[:1] and recent[0]["role"] == "assistant" else pair(summary)),
            *recent[:2],
            *recent,
        ]
        if len(recent) > 3
        else in_two_branches(system, summary, recent)
    )


RIGHT = [by_appending, in_two_branches]
WRONG = [
    (grows_the_system_part, "changed-input", "the arguments stay as they were"),
    (inserts_into_recent, "changed-input", "Build a new list"),
    (pushes_the_summary, "order", "pushed behind them"),
    (as_a_system_message, "user-message", "A system message is an order of yours"),
    (in_the_assistants_name, "order", "it is message 2"),
    (into_the_system_message, "order", "unchanged"),
    (without_acknowledgement, "acknowledged", "instead of going on with the task"),
    (always_acknowledges, "take-turns", "Two assistant messages in a row"),
    (needs_a_recent_message, "acknowledged", "IndexError"),
    (without_heading, "heading", "this is a summary and no request"),
    (forgets_the_system_part, "order", "first the system message"),
    (forgets_the_recent_ones, "order", "at the end the recent messages"),
    (forgets_the_summary, "order", "a message with the summary in it"),
    (nests_the_lists, "order", "a plain list of messages"),
    (adds_a_reminder, "take-turns", "after the summary"),
    (another_reminder, "nothing-more", "11 messages"),
]
