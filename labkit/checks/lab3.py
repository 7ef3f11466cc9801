"""The checks of lab 3, compaction by count: 3.1 here, 3.2 to 3.4 in modules of their own."""

from __future__ import annotations

from typing import Any

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise, case
from labkit.checks.lab3_compact import compact_if_needed
from labkit.checks.lab3_rebuild import rebuild
from labkit.checks.lab3_render import render_history
from labkit.checks.show import count, show
from labkit.messages import Message, assistant, system, user

split_history = Exercise("3.1", "labkit.compaction.count:split_history")

Parts = tuple[list[Message], list[Message], list[Message]]
SYSTEM = system("You are a coding agent.")
TALK = [
    message
    for number in range(1, 5)
    for message in (user(f"Remark {number}."), assistant(f"Noted, {number}."))
]
CHAT = [SYSTEM, *TALK]
DEVELOPER: Message = {"role": "developer", "content": "Answer in English."}


def parts_of(t: Attempt, history: list[Message], **settings: int) -> Parts:
    """The learner's three parts as lists; breaks when there are not three."""
    came: Any = t.call(history, **settings)
    if not isinstance(came, tuple | list) or [type(part) for part in came] != [list] * 3:
        t.fail(
            "three lists: (system, old, recent)",
            show(came),
            rule="Whoever calls it writes: system, old, recent = split_history(messages).",
            step="End with return list_of_system, list_of_old, list_of_recent.",
        )
    system_part, old, recent = came
    return system_part, old, recent


def words(part: list[Message]) -> str:
    return f"{count(len(part), 'message')}: {show(part)}"


@split_history.idea(
    "recent",
    "The last keep_last messages are kept as they are: that is the recent part",
    rule="The newest details decide the next step, so they stay word for word, in their order.",
    step="recent is a slice that begins at len(messages) - keep_last.",
    cases=[case(CHAT, keep_last=2), case(CHAT, keep_last=3), CHAT],
)
def recent_is_last(t: Attempt, history: list[Message], **settings: int) -> None:
    recent, expected = parts_of(t, history, **settings)[2], t.answer(history, **settings)[2]
    t.expect(recent == expected, f"recent: {words(expected)}", f"recent: {words(recent)}")


@split_history.idea(
    "system-apart",
    "The system message is a part of its own",
    rule="It says what the agent is. It is neither summarised nor lost, however old it is.",
    step="system is the slice messages[:start], where start is system_length(messages).",
    cases=[case(CHAT, keep_last=2)],
)
def system_is_apart(t: Attempt, history: list[Message], **settings: int) -> None:
    found, expected = parts_of(t, history, **settings)[0], t.answer(history, **settings)[0]
    t.expect(found == expected, f"system: {words(expected)}", f"system: {words(found)}", at=0)


@split_history.idea(
    "old-between",
    "All between is old: each message is in exactly one part",
    rule="What is in no part is forgotten without a word. What is in two parts is sent twice.",
    step="old is the slice from where system ends to where recent begins.",
    cases=[case(CHAT, keep_last=2), case(CHAT, keep_last=5)],
)
def old_is_between(t: Attempt, history: list[Message], **settings: int) -> None:
    old = parts_of(t, history, **settings)[1]
    system_part, expected, _ = t.answer(history, **settings)
    if system_part and old == [*system_part, *expected]:
        t.fail(
            f"old: {words(expected)}",
            f"old: {words(old)}; the system message is in two parts",
            rule="It is kept as it is. In the old part, too, it would also be summarised: said twice.",
            step="old begins at start, not at 0.",
            at=0,
        )
    t.expect(old == expected, f"old: {words(expected)}", f"old: {words(old)}")


def same_parts(t: Attempt, history: list[Message], **settings: int) -> None:
    """All three parts are labkit's; the card names the first that is not."""
    came, right = parts_of(t, history, **settings), t.answer(history, **settings)
    for name, found, expected in zip(("system", "old", "recent"), came, right, strict=True):
        t.expect(found == expected, f"{name}: {words(expected)}", f"{name}: {words(found)}")


@split_history.idea(
    "keep-none",
    "With keep_last=0 nothing is recent",
    rule="A slice from -0 is a slice from 0: messages[-0:] is the whole list.",
    step="Count from the front: recent begins at len(messages) - keep_last, which is the end for 0.",
    cases=[case(CHAT, keep_last=0)],
)
def keep_none(t: Attempt, history: list[Message], **settings: int) -> None:
    same_parts(t, history, **settings)


@split_history.idea(
    "no-system",
    "A history without a system message has an empty system part",
    rule="Nobody has to write a system message. The first message may be the user's.",
    step="Do not take messages[0] blindly: system_length(messages) is 0 here.",
    cases=[case(TALK, keep_last=2), case([], keep_last=2)],
)
def without_system(t: Attempt, history: list[Message], **settings: int) -> None:
    same_parts(t, history, **settings)


@split_history.idea(
    "short",
    "A short history has no old part, and its system message is still apart",
    rule="There may be fewer messages than keep_last. A negative start counts from the end of the list.",
    step="recent begins at max(start, len(messages) - keep_last).",
    cases=[case(CHAT[:4]), case(CHAT[:4], keep_last=4), case(CHAT[:2], keep_last=50), case([SYSTEM])],
)
def short_history(t: Attempt, history: list[Message], **settings: int) -> None:
    same_parts(t, history, **settings)


@split_history.idea(
    "leading-system",
    "All leading system messages are the system part, and a later one is not",
    rule="system_length counts the system and developer messages at the head. Later ones have their place.",
    step="Use system_length(messages); do not look for roles in the whole list.",
    cases=[
        case([SYSTEM, DEVELOPER, *TALK], keep_last=2),
        case([*CHAT[:3], system("From now on, be brief."), *CHAT[3:]], keep_last=2),
    ],
)
def leading_system(t: Attempt, history: list[Message], **settings: int) -> None:
    same_parts(t, history, **settings)


EXERCISES = [split_history, render_history, rebuild, compact_if_needed]
