"""The check of exercise 1.3: the loop, tried with a model that follows a script."""

from __future__ import annotations

import copy
from typing import Any

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise, case
from labkit.checks.show import count, message_line, show
from labkit.messages import Message, assistant, calls_of, problems, tool_call, tool_result, user
from labkit.streaming import Reply

run_turn = Exercise("1.3", "labkit.loop:run_turn", changes_input=True)


def look(call_id: str, path: str = "notes.md") -> Message:
    return tool_call(call_id, "read_file", {"path": path})


ONE_CALL = (assistant(None, [look("a")]), assistant("Buy rope."))
TWO_CALLS = (assistant(None, [look("a"), look("b", "hello.txt")]), assistant("Both read."))
THREE_ROUNDS = (assistant(None, [look("a")]), assistant(None, [look("b"), look("c")]), assistant("Done."))
ENDLESS = (assistant(None, [look("a"), look("b")]),)


class Script:
    """A model that says what stands in the script, its last line again and again, and keeps what it saw."""

    def __init__(self, said: tuple[Message, ...], finish_reason: str = "") -> None:
        self.said = said
        self.finish_reason = finish_reason
        self.sent: list[list[Message]] = []
        self.ran: list[str] = []
        self.lists: list[list[Message]] = []  # the very lists that were handed to ask

    def ask(self, messages: list[Message]) -> Reply:
        self.sent.append(copy.deepcopy(messages))
        self.lists.append(messages)
        number = len(self.sent) if isinstance(messages, list) else 0
        message = self._line(number)
        finish = "tool_calls" if calls_of(message) else "stop"
        return Reply(message, self.finish_reason if self.finish_reason and number == 1 else finish)

    def run_call(self, call: Message) -> Message:
        self.ran.append(call["id"])
        return tool_result(call["id"], f"the text of {call['function']['arguments']}")

    def _line(self, number: int) -> Message:
        line = copy.deepcopy(self.said[min(number, len(self.said)) - 1])
        for call in calls_of(line) if number > len(self.said) else ():
            call["id"] += str(number)  # said again, it is a new call
        return line

    def story(self) -> str:
        """What the model does, in words: `2 calls, then an answer`."""
        told = [count(len(calls_of(line)), "call") if calls_of(line) else "an answer" for line in self.said]
        told[0] += " in a reply that was cut short" if self.finish_reason else ""
        return ", then ".join(told) + (", again and again" if calls_of(self.said[-1]) else "")

    def history(self) -> list[Message]:
        """The history that a turn by this script makes."""
        made = [user("What is in my notes?")]
        for message in self.said:
            made += [message, *(tool_result(call["id"], f"the text of {call['function']['arguments']}")
                                for call in calls_of(message))]  # fmt: skip
        return made


def turn(t: Attempt, script: Script, **settings: Any) -> tuple[Any, list[Message]]:
    """One turn with this script: what came, and the history after it (which the card shows)."""
    messages = [user("What is in my notes?")]

    def ask(messages: list[Message]) -> Reply:
        return script.ask(messages)

    ask.__name__ = f"ask ({script.story()})"  # so the card says what the model does
    came = t.call_in_place(messages, ask, script.run_call, **settings)
    t.draw(messages)
    if len(messages) == 1 and any(asked is not messages for asked in script.lists):
        t.fail(
            words(script.history()),
            f"{words(messages)} (a new list was made, and the one that was handed in is as before)",
            rule="The caller's list is the memory. A list made inside the function is gone when it returns.",
            step="Change the list you were given: messages.append(...), not messages = messages + [...].",
        )
    return came, messages


def expect_history(t: Attempt, script: Script, messages: list[Message]) -> None:
    """The history must be the script's, in its order. The card marks the first message that is not."""
    expected = script.history()
    for index, (wanted, found) in enumerate(zip(expected, messages, strict=False)):
        if wanted != found:
            t.fail(f"message {index}: {message_line(wanted)}", f"message {index}: {show(found)}", at=index)
    t.expect(len(messages) == len(expected), words(expected), words(messages))


def words(messages: list[Message]) -> str:
    return f"{count(len(messages), 'message')}: {', '.join(message['role'] for message in messages)}"


# -- the ideas, in order


@run_turn.idea(
    "answer",
    "A reply without calls is the answer: keep it in the history, and return its text",
    rule="The model remembers nothing. What is not appended to messages was never said.",
    step="messages.append(reply.message), and if not reply.tool_calls: return reply.text.",
    cases=[case((assistant("Nothing yet."),))],
    shrink=False,
)
def an_answer(t: Attempt, said: tuple[Message, ...]) -> None:
    script = Script(said)
    came, messages = turn(t, script)
    t.equal(came, said[-1]["content"])
    if len(script.sent) > 1:
        t.fail(
            "1 request", count(len(script.sent), "request"), step="Stop at once when a reply has no calls."
        )
    expect_history(t, script, messages)


@run_turn.idea(
    "call-and-result",
    "A call is run, its result stands after it, and the model is asked again",
    rule="The model has asked for something: it sees the result only if that is sent with the next request.",
    step="For each call: messages.append(run_call(call)). Then go round again: ask(messages).",
    cases=[case(ONE_CALL)],
    shrink=False,
)
def a_call_and_its_result(t: Attempt, said: tuple[Message, ...]) -> None:
    script = Script(said)
    came, messages = turn(t, script)
    roles = [message.get("role") for message in messages]
    if roles[1:3] == ["tool", "assistant"]:
        t.fail(
            "message 1: the assistant message with the call, then its result",
            "message 1: the result, before the message that asked for it",
            rule="A result answers a call that stands before it. A provider rejects it the other way round.",
            step="Append reply.message first, then run its calls.",
            at=1,
        )
    expect_history(t, script, messages)
    t.equal(came, said[-1]["content"])


@run_turn.idea(
    "every-call",
    "A reply may hold several calls: each is run, in order",
    rule="Every call needs a result before the next request. A model often asks for several things at once.",
    step="Walk through all of them: for call in reply.tool_calls.",
    cases=[case(TWO_CALLS), case(THREE_ROUNDS)],
    shrink=False,
)
def every_call(t: Attempt, said: tuple[Message, ...]) -> None:
    script = Script(said)
    came, messages = turn(t, script)
    asked = [call["id"] for message in said for call in calls_of(message)]
    t.expect(
        script.ran == asked,
        f"these calls are run: {', '.join(asked)}",
        f"run: {', '.join(script.ran) or 'none'}",
    )
    expect_history(t, script, messages)
    t.equal(came, said[-1]["content"])


@run_turn.idea(
    "text-with-call",
    "A reply may hold text and calls: both are kept, and it is not the answer yet",
    rule="Append the reply's message as it came. Whether the turn is over depends on calls, not on text.",
    step="Append reply.message itself, and stop only when reply.tool_calls is empty.",
    cases=[case((assistant("Let me look.", [look("a")]), assistant("Buy rope.")))],
    shrink=False,
)
def text_with_a_call(t: Attempt, said: tuple[Message, ...]) -> None:
    script = Script(said)
    came, messages = turn(t, script)
    if came == said[0]["content"]:
        t.fail(repr(said[-1]["content"]), f"{came!r}: the text that came with the call")
    expect_history(t, script, messages)
    t.equal(came, said[-1]["content"])


@run_turn.idea(
    "limit",
    "max_turns is the most requests of a turn, neither one more nor one less",
    rule="The limit is what you are ready to pay for a turn; its last request may still bring the answer.",
    step="for _ in range(max_turns): ask inside it, and nowhere else.",
    cases=[
        case(ENDLESS, 3, max_turns=3),
        case(ENDLESS, 1, max_turns=1),
        case(ENDLESS, 12),  # the default
        case(THREE_ROUNDS, 3, max_turns=3),  # the answer comes with the last request
    ],
    shrink=False,
)
def the_limit(t: Attempt, said: tuple[Message, ...], requests: int, **settings: int) -> None:
    script = Script(said)
    came, _ = turn(t, script, **settings)
    t.expect(len(script.sent) == requests, count(requests, "request"), count(len(script.sent), "request"))
    if said[-1].get("tool_calls") is None:
        t.equal(came, said[-1]["content"])


@run_turn.idea(
    "limit-leaves-results",
    "At the limit, too, every call has its result",
    rule="A call without a result makes the whole history unfit to send: the conversation could never go on.",
    step="Run the calls of the last reply as well, and stop after that.",
    cases=[case(ENDLESS, max_turns=1), case(ENDLESS, max_turns=3)],
    shrink=False,
)
def calls_answered_at_the_limit(t: Attempt, said: tuple[Message, ...], **settings: int) -> None:
    _, messages = turn(t, Script(said), **settings)
    found = problems(messages)
    if found:
        t.fail("a history that a provider accepts", found[0].text, at=found[0].index)


@run_turn.idea(
    "limit-says-so",
    "At the limit the turn ends with an assistant message that says so",
    rule="The user waits for an answer, and the next turn must find in the history why there was none.",
    step="After the loop: messages.append(assistant(...)) with a sentence, and return that sentence.",
    cases=[case(ENDLESS, max_turns=2)],
    shrink=False,
)
def the_limit_is_named(t: Attempt, said: tuple[Message, ...], **settings: int) -> None:
    came, messages = turn(t, Script(said), **settings)
    last = messages[-1]
    t.expect(
        last["role"] == "assistant" and bool(last.get("content")),
        "an assistant message with a sentence at the end",
        f"at the end: {message_line(last)}",
        at=len(messages) - 1,
    )
    t.expect(came == last["content"], f"the same sentence returned: {last['content']!r}", came)


@run_turn.idea(
    "cut-short",
    "The calls of a reply that was cut short are not run",
    rule="A reply that hit its length limit may hold half a call. Half a command, run, can do whole damage.",
    step="When reply.calls_may_run is False, append tool_result(call['id'], CUT_SHORT), without run_call.",
    cases=[
        case(
            (
                assistant(None, [tool_call("a", "write_file", '{"path": "no')]),
                assistant("Once more, shorter."),
            )
        )
    ],
    shrink=False,
)
def a_reply_cut_short(t: Attempt, said: tuple[Message, ...]) -> None:
    script = Script(said, finish_reason="length")
    came, messages = turn(t, script)
    t.expect(not script.ran, "the call is not run", f"run: {', '.join(script.ran)}", at=1)
    answers = [message for message in messages if message.get("tool_call_id") == "a"]
    t.expect(len(answers) == 1, "the call has a result all the same, which says why", words(messages))
    t.equal(came, said[-1]["content"])
