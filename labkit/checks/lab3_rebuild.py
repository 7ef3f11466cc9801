"""The checks of 3.3: the new history."""

from __future__ import annotations

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise, case
from labkit.checks.show import count, is_history, message_line, show
from labkit.compaction.earlier import COUNT_HEADING
from labkit.messages import Message, assistant, system, text_of, user

rebuild = Exercise("3.3", "labkit.compaction.count:rebuild")

SYSTEM = [system("You are a coding agent.")]
SUMMARY = "## Goal\n- a leaflet about the tide mill"
RECENT = [user("The title is in capitals."), assistant("Noted.")]
ANSWER_FIRST = [assistant("The tests pass."), user("Thank you."), assistant("You are welcome.")]


def new_history(t: Attempt, recent: list[Message], system_part: list[Message]) -> tuple[list[Message], int]:
    """What came, and the place of the message with the summary in it."""
    came = t.call(system_part, SUMMARY, recent)
    if not is_history(came):
        t.fail(
            show(t.answer(system_part, SUMMARY, recent)),
            f"{show(came)} ({type(came).__name__})",
            rule="The new history is a plain list of messages like any other.",
            step="return [*system, ..., *recent].",
        )
    t.draw(came)
    places = [index for index, message in enumerate(came) if SUMMARY in text_of(message.get("content"))]
    if not places:
        t.fail(
            "a message with the summary in it",
            show(came),
            rule="The summary is all that is left of the old messages.",
            step='user(f"{COUNT_HEADING}\\n\\n{summary}") is the message.',
        )
    return came, places[0]


@rebuild.idea(
    "order",
    "System first, then the summary, then the recent messages as they are",
    rule="The summary stands for what came before the recent messages, so it stands before them.",
    step="return [*system, *pair, *recent].",
    cases=[case(RECENT, SYSTEM)],
)
def in_order(t: Attempt, recent: list[Message], system_part: list[Message]) -> None:
    came, place = new_history(t, recent, system_part)
    size = len(system_part)
    t.expect(
        came[:size] == system_part,
        f"first the system message as it was: {show(system_part)}",
        show(came[:size]),
        rule="The system message outlives every compaction, unchanged.",
        at=0,
    )
    if place > size:
        t.fail(
            f"the summary is message {size}, before the recent ones",
            f"it is message {place}, pushed behind them",
            rule="Behind the recent messages it would be the newest thing said: the model would answer it.",
            at=place,
        )
    kept = came[len(came) - len(recent) :]
    t.expect(kept == recent, f"at the end the recent messages: {show(recent)}", show(kept), at=len(came) - 1)


@rebuild.idea(
    "user-message",
    "The summary is a user message",
    rule="It is news to the model, like all that a user tells it.",
    step="Build it with user(...).",
    cases=[case(RECENT, SYSTEM)],
)
def a_user_message(t: Attempt, recent: list[Message], system_part: list[Message]) -> None:
    came, place = new_history(t, recent, system_part)
    role = came[place]["role"]
    why = {
        "system": "A system message is an order of yours. A summary holds what files and users said: in a "
        "system message, any of it would be an order, too.",
        "assistant": "In the assistant's name the model takes it for something that it said itself.",
    }
    found = message_line(came[place])
    t.expect(role == "user", "a message with the role user", found, rule=why.get(role, ""), at=place)


@rebuild.idea(
    "heading",
    "It begins with the heading that says what it is",
    rule="By the heading the model, and the next compaction, know that this is a summary and no request.",
    step='The content is f"{COUNT_HEADING}\\n\\n{summary}".',
    cases=[case(RECENT, SYSTEM)],
)
def the_heading(t: Attempt, recent: list[Message], system_part: list[Message]) -> None:
    came, place = new_history(t, recent, system_part)
    content = text_of(came[place].get("content"))
    t.expect(
        content.startswith(COUNT_HEADING), f"a text that begins {COUNT_HEADING!r}", repr(content), at=place
    )


@rebuild.idea(
    "acknowledged",
    "The assistant acknowledges it",
    rule="Without an answer the model may answer the summary instead of going on with the task, and two user "
    "messages in a row are refused by some services.",
    step="Put assistant(ACKNOWLEDGEMENT) behind the summary.",
    cases=[case(RECENT, SYSTEM), case([], SYSTEM)],
)
def acknowledged(t: Attempt, recent: list[Message], system_part: list[Message]) -> None:
    came, place = new_history(t, recent, system_part)
    after = came[place + 1] if place + 1 < len(came) else None
    t.expect(
        after is not None and after["role"] == "assistant" and bool(text_of(after.get("content"))),
        "an assistant message just after the summary",
        message_line(after) if after else "nothing comes after it",
        at=place,
    )


@rebuild.idea(
    "take-turns",
    "Unless the recent messages begin with the assistant's own",
    rule="User and assistant take turns. Two assistant messages in a row are refused by some services.",
    step='Add the acknowledgement only if not recent or recent[0]["role"] != "assistant".',
    cases=[case(ANSWER_FIRST, SYSTEM)],
    shrink=False,
)
def take_turns(t: Attempt, recent: list[Message], system_part: list[Message]) -> None:
    came, place = new_history(t, recent, system_part)
    t.expect(
        len(came) == len(system_part) + 1 + len(recent),
        "the recent messages directly after the summary",
        f"after the summary: {show(came[place + 1 :])}",
        at=place + 1,
    )


@rebuild.idea(
    "nothing-more",
    "Nothing else is in it: 1 system message, the pair, and 6 recent ones are 9",
    rule="Each message that is added here is sent with every request from now on.",
    step="return [*system, *pair, *recent], and no more.",
    cases=[case(RECENT * 3, SYSTEM), case(RECENT, [])],
    shrink=False,
)
def nothing_more(t: Attempt, recent: list[Message], system_part: list[Message]) -> None:
    came, _ = new_history(t, recent, system_part)
    right = t.answer(system_part, SUMMARY, recent)
    t.expect(
        len(came) == len(right), count(len(right), "message"), f"{count(len(came), 'message')}: {show(came)}"
    )
