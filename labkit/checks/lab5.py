"""The checks of lab 5, two tiers: 5.1 here, 5.2 to 5.4 in modules of their own."""

from __future__ import annotations

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise, case
from labkit.checks.lab5_full import compact_all
from labkit.checks.lab5_snapshot import write_snapshot
from labkit.checks.lab5_when import tiers
from labkit.checks.show import count, message_line, show
from labkit.compaction.tool_stubs import STUB, unread_from
from labkit.messages import Message, assistant, system, text_of, tool_call, tool_result, user

stub_old_results = Exercise("5.1", "labkit.compaction.tool_stubs:stub_old_results")

TEXT = "The text of file {0}, which is long enough to be worth a stub. " * 3
LONG = 100


def read(name: str, content: str) -> list[Message]:
    """An exchange: the file is read, and this is what came."""
    call = tool_call(name, "read_file", {"path": f"{name}.md"})
    return [assistant(None, [call]), tool_result(name, content)]


def session(*contents: str) -> list[Message]:
    """A history in which these results came, one after the other, and all were read."""
    made = [system("You are a coding agent."), user("Read the files.")]
    for number, content in enumerate(contents):
        made += read(f"c{number}", content)
    return [*made, assistant("All read.")]


def files(many: int) -> list[str]:
    return [TEXT.format(number) for number in range(many)]


FIVE = session(*files(5))
MIXED = session(*files(3), "ok", *files(2), "done", "ok")
PARTS = [{"type": "text", "text": TEXT.format("in parts")}]


def stubs_in(t: Attempt, history: list[Message], **settings: int) -> list[Message]:
    """What the learner's function returns. Breaks when it is no list with a message for each message."""
    came: object = t.call(history, **settings)
    if not isinstance(came, list):
        t.fail("a list of messages", show(came), step="Return the new list.")
    if len(came) < len(history):
        t.fail(
            count(len(history), "message"),
            f"{count(len(came), 'message')}: {show(came)}",
            rule="A call without its result is refused by every service, however old it is.",
            step="Leave each message where it is, and change only its content.",
        )
    t.expect(len(came) == len(history), count(len(history), "message"), count(len(came), "message"))
    return came


def expect_contents(t: Attempt, history: list[Message], **settings: int) -> None:
    """The right results are stubs, and no others; the card marks the first message that is not right."""
    came = stubs_in(t, history, **settings)
    for index, (found, right) in enumerate(zip(came, t.answer(history, **settings), strict=True)):
        if found.get("content") != right.get("content"):
            t.fail(f"message {index}: {message_line(right)}", f"message {index}: {show(found)}", at=index)


@stub_old_results.idea(
    "old-become-stubs",
    "Old, long results say [compressed]; the 3 newest stay",
    rule="A result is precious when it is new. Some turns later it can be read again, if anybody wants it.",
    step="All but the last keep_recent long results: long[: len(long) - keep_recent].",
    cases=[FIVE, session(*files(4))],
)
def old_become_stubs(t: Attempt, history: list[Message]) -> None:
    expect_contents(t, history)


@stub_old_results.idea(
    "id",
    "A stub keeps its id: it is still the answer to its call",
    rule="The tool_call_id ties a result to its call. Without it nobody can tell which call it answers.",
    step='Copy the message and change one thing: {**message, "content": STUB}.',
    cases=[FIVE],
)
def id_is_kept(t: Attempt, history: list[Message]) -> None:
    for index, (found, old) in enumerate(zip(stubs_in(t, history), history, strict=True)):
        for key in ("role", "tool_call_id"):
            if found.get(key) != old.get(key):
                t.fail(f"message {index}: {key} {show(old.get(key))}", f"{show(found)}", at=index)


@stub_old_results.idea(
    "few",
    "With no more than keep_recent long results, nothing changes",
    rule="There is nothing old yet. A slice with a negative end counts from the back, and takes too much.",
    step="long[: max(0, len(long) - keep_recent)].",
    cases=[session(*files(1)), session(*files(2)), session(*files(3)), session(), []],
)
def few_stay(t: Attempt, history: list[Message]) -> None:
    expect_contents(t, history)


@stub_old_results.idea(
    "long",
    "Only results of more than 100 characters count, for stubbing and for sparing",
    rule="A short result costs nothing and often says what was done. It must not take a long one's place.",
    step="Collect the long results first, and take the keep_recent newest of those.",
    cases=[
        session("x" * 100, "y" * 101, *files(3)),
        MIXED,
        session(*files(3), "ok", "ok", "ok"),
    ],
)
def only_long_ones_count(t: Attempt, history: list[Message]) -> None:
    came = stubs_in(t, history)
    for index, (found, right) in enumerate(zip(came, t.answer(history), strict=True)):
        if found.get("content") == right.get("content"):
            continue
        words = f"message {index}: {message_line(right)}"
        characters = len(text_of(history[index].get("content")))
        if found.get("content") == STUB and characters > LONG:
            t.fail(
                words,
                f"message {index}: a stub, though fewer than 3 long results are newer",
                rule="The 3 newest of the long ones are kept. Here a short one took a long one's place.",
                at=index,
            )
        t.fail(words, f"message {index}: {show(found)} (it has {characters} characters)", at=index)


@stub_old_results.idea(
    "settings",
    "keep_recent and min_chars are settings",
    rule="What the caller asks for is used, not the default.",
    step="Use both arguments where the defaults 3 and 100 are meant.",
    cases=[case(FIVE, keep_recent=1), case(FIVE, keep_recent=0), case(FIVE, min_chars=1000),
           case(session("a" * 40, "b" * 40, "c" * 30), keep_recent=1, min_chars=30)],
)  # fmt: skip
def settings_are_used(t: Attempt, history: list[Message], **settings: int) -> None:
    expect_contents(t, history, **settings)


@stub_old_results.idea(
    "tools-only",
    "Only tool results become stubs, whatever else is long",
    rule="What you and the model said cannot be read again anywhere.",
    step="Go through results_of(messages), not through all messages.",
    cases=[case([system("s" * 200), user("u" * 200), assistant("a" * 200), *FIVE[2:]], keep_recent=1)],
)
def tools_only(t: Attempt, history: list[Message], **settings: int) -> None:
    expect_contents(t, history, **settings)


@stub_old_results.idea(
    "unread",
    "A result that the model has not read yet stays, whatever the settings",
    rule="The model asked for it a moment ago. Gone before it was read, it is only asked for again.",
    step="Leave out every index from unread_from(messages) on.",
    cases=[
        case(FIVE[:-1], keep_recent=0),
        case(
            [
                user("Read both."),
                assistant(None, [tool_call("a", "read_file", "{}"), tool_call("b", "read_file", "{}")]),
                tool_result("a", TEXT),
                tool_result("b", TEXT),
            ],
            keep_recent=1,
        ),
    ],
)
def unread_stay(t: Attempt, history: list[Message], **settings: int) -> None:
    came = stubs_in(t, history, **settings)
    for index in range(unread_from(history), len(history)):
        if came[index].get("content") != history[index].get("content"):
            t.fail(
                f"message {index} as it is: nothing was said since it came",
                f"message {index}: {show(came[index])}",
                at=index,
            )
    expect_contents(t, history, **settings)


@stub_old_results.idea(
    "never-longer",
    "Nothing grows: what is no longer than a stub stays",
    rule=f"{STUB} has {len(STUB)} characters. In place of 'ok' it would cost more, and say less.",
    step="Stub only what is longer than len(STUB).",
    cases=[case(session("ok", "x" * 12, "x" * 13, *files(2)), keep_recent=0, min_chars=0)],
)
def nothing_grows(t: Attempt, history: list[Message], **settings: int) -> None:
    expect_contents(t, history, **settings)


@stub_old_results.idea(
    "twice",
    "A stub is not stubbed again: a second run at once changes nothing",
    rule="It runs after each step of the agent. What is a stub must stay the same bytes for ever.",
    step="A stub is no longer than STUB, so the rule 'nothing grows' spares it. Do not add to it.",
    cases=[case(FIVE), case(FIVE, keep_recent=0, min_chars=5)],
    shrink=False,
)
def twice_is_once(t: Attempt, history: list[Message], **settings: int) -> None:
    once = stubs_in(t, history, **settings)
    t.equal(stubs_in(t, once, **settings), once)


@stub_old_results.idea(
    "parts",
    "Content may be a list of parts: its text counts",
    rule="Some tools answer with parts. Their length is the length of the text in them.",
    step="length(message) takes the text of all kinds of content.",
    cases=[case([*FIVE[:2], assistant(None, [tool_call("p", "read_file", "{}")]),
                 {"role": "tool", "tool_call_id": "p", "content": PARTS}, *FIVE[2:]], keep_recent=5)],
)  # fmt: skip
def parts_count(t: Attempt, history: list[Message], **settings: int) -> None:
    expect_contents(t, history, **settings)


@stub_old_results.idea(
    "nothing-else",
    "Nothing else changes, and the list is a new one",
    rule="The agent's history goes on from the result. What is neither old nor a result stays as it was.",
    step='stubbed = list(messages), and in it only {**message, "content": STUB} for the old ones.',
    cases=[FIVE, session("ok")],
)
def nothing_else(t: Attempt, history: list[Message]) -> None:
    t.equal(t.call(history), t.answer(history))
    given = list(history)
    t.expect(
        t.call_in_place(given) is not given,
        "a new list",
        "the very list that was handed in",
        rule="A caller who clears its own list and fills it from the result would empty both.",
    )


EXERCISES = [stub_old_results, write_snapshot, compact_all, tiers]
