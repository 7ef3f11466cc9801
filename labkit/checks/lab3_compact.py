"""The checks of 3.4: compaction when it is needed, tried with summarisers that follow a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise, case
from labkit.checks.outcome import compaction_of
from labkit.checks.show import count, show
from labkit.compaction.base import Compaction
from labkit.compaction.earlier import COUNT_HEADING
from labkit.compaction.summary import Instructions
from labkit.messages import Message, assistant, system, text_of, tool_call, user
from labkit.streaming import Reply

compact_if_needed = Exercise("3.4", "labkit.compaction.count:compact_if_needed")

SUMMARY = "## Goal\n- a leaflet about the tide mill, due on 2 May"
REMARK = "remark number {} is about the leaflet, the tide mill and the harbour in the early morning"
OWN = Instructions("You write summaries.", (("Weather", "rain and wind"),), 500, "short")


def chat(length: int) -> list[Message]:
    """A history of this many messages: system, then user and assistant in turn."""
    said = [(user if number % 2 else assistant)(f"{REMARK.format(number)}.") for number in range(1, length)]
    return [system("You are a coding agent."), *said]


class Scripted:
    """A summariser that gives one reply, or raises, and keeps what it was asked."""

    def __init__(self, reply: Any = None, error: str = "") -> None:
        self.reply = Reply(assistant(SUMMARY), "stop") if reply is None else reply
        self.error = error
        self.asked: list[str] = []

    def summarise(self, messages: list[Message], max_tokens: int) -> Reply:
        self.asked.append("\n".join(text_of(message.get("content")) for message in messages))
        if self.error:
            raise ConnectionError(self.error)
        reply: Reply = self.reply
        return reply


def outcome(t: Attempt, history: list[Message], script: Scripted, **settings: Any) -> Compaction:
    """What the learner's function returns. Breaks also when it hands back the caller's own list."""
    came = compaction_of(t, history, script.summarise, **settings)
    if came.messages is history:
        t.fail(
            "a new list in .messages",
            "the very list that was handed in",
            rule="A caller who clears its own list and fills it from the result would empty both.",
            step="unchanged(messages, ...) and rebuild(...) make new lists.",
        )
    return came


def expect_unchanged(t: Attempt, history: list[Message], came: Compaction, why: str) -> None:
    right = f"{why}: changed=False, and the {count(len(history), 'message')} as they were"
    t.expect(not came.changed and came.messages == history, right, said(came))


def said(came: Compaction) -> str:
    return f"changed={came.changed}, {count(len(came.messages), 'message')}, reason {came.reason!r}"


@compact_if_needed.idea(
    "short",
    "A history that is short enough stays as it is, and nobody is asked",
    rule="A summary costs a request and loses detail. It is made only when it is needed.",
    step="if len(messages) <= threshold: return unchanged(messages, before, a reason).",
    cases=[case(chat(7)), case(chat(15))],
)
def short_stays(t: Attempt, history: list[Message]) -> None:
    script = Scripted()
    expect_unchanged(t, history, outcome(t, history, script), f"{len(history)} messages are not more than 20")
    t.expect(not script.asked, "the summariser is not asked", f"asked {count(len(script.asked), 'time')}")


@compact_if_needed.idea(
    "becomes-nine",
    "21 messages become 9: system, the pair, the last 6",
    rule="Split, ask, rebuild: what is old is replaced by its summary.",
    step="Split with split_history, ask with ask_summary, and return commit(messages, rebuild(...)).",
    cases=[case(chat(21)), case(chat(25))],
    shrink=False,
)
def becomes_nine(t: Attempt, history: list[Message]) -> None:
    script = Scripted()
    came = outcome(t, history, script)
    t.expect(bool(script.asked), "the summariser is asked", "it is not asked")
    t.expect(came.changed, "changed=True", said(came))
    if len(came.messages) > len(history):
        t.fail(
            "9 messages",
            count(len(came.messages), "message"),
            rule="The summary takes the place of the old messages. Pushed onto them, it adds to them.",
            step="The new history is rebuild(system, summary.text, recent), without old.",
        )
    t.expect(
        len(came.messages) == 9 and came.messages[-6:] == history[-6:] and came.messages[:1] == history[:1],
        "9 messages: system, the pair, the last 6",
        f"{count(len(came.messages), 'message')}: {show(came.messages)}",
    )
    summary = came.messages[1]
    t.expect(SUMMARY in text_of(summary["content"]), "the summary in message 1", show(summary))


@compact_if_needed.idea(
    "threshold",
    "Above the threshold, and only then: 20 messages stay",
    rule="More than threshold means more: exactly threshold is not too many.",
    step="Compare with <= before you leave, or with > before you compact.",
    cases=[case(chat(20)), case(chat(10), threshold=10)],
    shrink=False,
)
def only_above(t: Attempt, history: list[Message], **settings: int) -> None:
    came = outcome(t, history, Scripted(), **settings)
    most = settings.get("threshold", 20)
    expect_unchanged(t, history, came, f"{len(history)} messages are not more than {most}")


@compact_if_needed.idea(
    "settings",
    "threshold and keep_last are settings",
    rule="What the caller asks for is used, not the default.",
    step="Compare with threshold, and hand keep_last on: split_history(messages, keep_last).",
    cases=[
        case(chat(13), threshold=12),
        case(chat(21), keep_last=2),
        case(chat(15), threshold=10, keep_last=4),
    ],
    shrink=False,
)
def settings_are_used(t: Attempt, history: list[Message], **settings: int) -> None:
    came = outcome(t, history, Scripted(), **settings)
    right = t.answer(history, Scripted().summarise, **settings)
    t.expect(came.changed and len(came.messages) == len(right.messages),
             f"changed=True, {count(len(right.messages), 'message')}", said(came))  # fmt: skip


@compact_if_needed.idea(
    "old-only",
    "Only the old messages are summarised",
    rule="The recent ones stay word for word. Summarised as well, they would be told twice.",
    step="ask_summary(old, ...): not messages, and not recent.",
    cases=[case(chat(21))],
    shrink=False,
)
def old_only(t: Attempt, history: list[Message]) -> None:
    script = Scripted()
    outcome(t, history, script)
    asked = "\n".join(script.asked)
    for message in history[1:]:
        text, kept = message["content"], message in history[-6:]
        if (text in asked) is kept:
            words = "a recent message is in it" if kept else "an old message is not in it"
            t.fail("a request with all old messages in it, and no other", f"{words}: {text!r}",
                   at=history.index(message))  # fmt: skip


@compact_if_needed.idea(
    "instructions",
    "The instructions are handed on",
    rule="What a summary must hold is a setting, too: lab 3 leaves a section out to see what is lost.",
    step="ask_summary(old, summarise, instructions).",
    cases=[case(chat(21))],
    shrink=False,
)
def instructions_are_used(t: Attempt, history: list[Message]) -> None:
    script = Scripted()
    outcome(t, history, script, instructions=OWN)
    asked = "\n".join(script.asked)
    t.expect(
        "Weather" in asked, "a request that asks for the section 'Weather'", "it asks for other sections"
    )


@compact_if_needed.idea(
    "failure",
    "A summariser that fails changes nothing, and the result says so",
    rule="Without a summary the old messages are all there is. Keep them, and tell why.",
    step="if summary.problem: return unchanged(messages, before, summary.problem, failed=summary.asked).",
    cases=[case(chat(21), "the line is down"), case(chat(23), "the model is asleep")],
    shrink=False,
)
def a_failure(t: Attempt, history: list[Message], error: str) -> None:
    came = outcome(t, history, Scripted(error=error))
    expect_unchanged(t, history, came, f"the summariser raised {error!r}")
    t.expect(
        error in came.reason,
        f"a reason that says why: {error!r}",
        f"reason {came.reason!r}",
        rule="An error that nobody sees is found weeks later, in the bill.",
        step="Give summary.problem to unchanged as the reason.",
    )
    t.expect(
        came.failed is True,
        "failed=True",
        f"failed={came.failed}",
        rule="'Nothing to do' and 'could not' are different things. The agent counts failures, and stops.",
        step="unchanged(..., failed=summary.asked).",
    )


USELESS: dict[str, Callable[[], Reply]] = {
    "empty": lambda: Reply(assistant(""), "stop"),
    "cut off": lambda: Reply(assistant(SUMMARY), "length"),
    "a tool call": lambda: Reply(assistant(None, [tool_call("c1", "read_file", "{}")]), "tool_calls"),
    "a refusal": lambda: Reply(assistant("I'm sorry, but I can't help with that."), "stop"),
    "longer than the messages": lambda: Reply(assistant("word " * 2000), "stop"),
}


@compact_if_needed.idea(
    "useless",
    "A useless summary changes nothing: empty, cut off, a call, a refusal, too long",
    rule="No summary is better than a placeholder: the placeholder would replace the history for ever.",
    step="ask_summary has judged it: summary.problem says what is wrong, and summary.text is ''.",
    cases=[case(chat(21), kind) for kind in USELESS],
    shrink=False,
)
def useless_summaries(t: Attempt, history: list[Message], kind: str) -> None:
    came = outcome(t, history, Scripted(USELESS[kind]()))
    expect_unchanged(t, history, came, f"the summary is {kind}")


@compact_if_needed.idea(
    "no-gain",
    "So does a new history that is no smaller than the old one",
    rule="The heading and the acknowledgement cost tokens, too. What counts is the whole history, measured.",
    step="End with return commit(messages, rebuild(...)): it compares, and keeps the smaller one.",
    cases=[case("Yes. " * 29)],
    shrink=False,
)
def no_gain(t: Attempt, summary: str) -> None:
    history = [system("Be brief."), *[user("Yes?"), assistant("Yes.")] * 10]
    came = outcome(t, history, Scripted(Reply(assistant(summary), "stop")))
    expect_unchanged(t, history, came, "with this summary the new history is no smaller than the old one")


@compact_if_needed.idea(
    "not-again",
    "After a compaction there is room again: the next one comes when the threshold is passed again",
    rule="Whether to compact depends on the length alone, not on what has happened before.",
    step="Look at len(messages) and nothing else.",
    cases=[case(chat(21), 0), case(chat(21), 2), case(chat(21), 11)],
    shrink=False,
)
def not_again(t: Attempt, history: list[Message], more: int) -> None:
    shorter = [*outcome(t, history, Scripted()).messages, *chat(12)[1 : 1 + more]]
    script = Scripted()
    came = outcome(t, shorter, script)
    expect_unchanged(t, shorter, came, f"9 messages and {more} more are not more than 20")
    t.expect(not script.asked, "the summariser is not asked", f"asked {count(len(script.asked), 'time')}")


@compact_if_needed.idea(
    "second-round",
    "The second compaction brings the first summary up to date: one summary, and 9 messages again",
    rule="The first summary is old by now. It goes into the request, and a new one takes its place.",
    step="Treat it like any old message: ask_summary finds it at the head of old and hands it over.",
    cases=[case(chat(21))],
    shrink=False,
)
def second_round(t: Attempt, history: list[Message]) -> None:
    longer = [*outcome(t, history, Scripted()).messages, *chat(13)[1:]]
    script = Scripted(Reply(assistant("## Goal\n- still the leaflet"), "stop"))
    came = outcome(t, longer, script)
    t.expect(SUMMARY in "\n".join(script.asked), "a request with the first summary in it", "it is not in it")
    summaries = [m for m in came.messages if text_of(m.get("content")).startswith(COUNT_HEADING)]
    t.expect(
        len(came.messages) == 9 and len(summaries) == 1,
        "9 messages, one of them a summary",
        f"{count(len(came.messages), 'message')}, {len(summaries)} of them summaries",
    )
