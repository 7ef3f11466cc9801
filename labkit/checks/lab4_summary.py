"""The checks of 4.3, second half: what the compressor is sent, and what comes of its answer."""

from __future__ import annotations

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import case
from labkit.checks.lab3_compact import USELESS
from labkit.checks.lab4_compact import (
    CHAT,
    LONGER,
    TASK_TWO,
    Compressor,
    compact,
    expect_unchanged,
    outcome,
    reading,
)
from labkit.checks.show import count, show
from labkit.compaction.earlier import SAFE_CUT_HEADING
from labkit.messages import Message, assistant, text_of, user
from labkit.streaming import Reply

__all__ = ["compact"]


@compact.idea(
    "own-messages",
    "The compressor gets messages of its own: its system message, and the history as text",
    rule="Sent as a conversation, the history invites it to go on with the talk instead of summing it up.",
    step="ask_summary(old, summarise, SAFE_CUT_SECTIONS) builds that request.",
    cases=[TASK_TWO, LONGER],
    shrink=False,
)
def own_messages(t: Attempt, history: list[Message]) -> None:
    compressor = Compressor()
    outcome(t, history, compressor)
    for request in compressor.requests:
        roles = [message.get("role") for message in request]
        t.expect(roles == ["system", "user"], "a request of two messages: system and user",
                 f"{count(len(roles), 'message')}: {', '.join(map(str, roles))}")  # fmt: skip
        t.expect(request[0] != history[0], "the compressor's own system message",
                 f"the agent's: {show(request[0])}")  # fmt: skip
        text = text_of(request[1].get("content"))
        t.expect("Give the main point of mill.md." in text, "the old messages in its text", show(request[1]))


@compact.idea(
    "no-tools",
    "Nothing but messages and max_tokens goes to the compressor: no tools",
    rule="Whoever is offered tools may call one, and a call is no summary.",
    step="Call summarise with two arguments, or let ask_summary do it.",
    cases=[TASK_TWO],
    shrink=False,
)
def no_tools(t: Attempt, history: list[Message]) -> None:
    compressor = Compressor()
    outcome(t, history, compressor)
    t.expect(
        not compressor.more, "summarise(messages, max_tokens)", f"more than that: {show(compressor.more)}"
    )


@compact.idea(
    "old-only",
    "Only what stands before the cut is summarised",
    rule="The recent messages stay word for word. Summarised as well, they would be told twice.",
    step="ask_summary(messages[start:cut], ...): not messages, and not the recent ones.",
    cases=[TASK_TWO, LONGER],
    shrink=False,
)
def old_only(t: Attempt, history: list[Message]) -> None:
    compressor = Compressor()
    kept = len(outcome(t, history, compressor).messages) - 2
    text = "\n".join(text_of(message.get("content")) for each in compressor.requests for message in each)
    for message in [history[0], *history[-kept:]]:
        words = text_of(message.get("content"))
        t.expect(words not in text, "a request without the system message and the recent ones",
                 f"this is in it: {words!r}", at=history.index(message))  # fmt: skip


# --- what may go wrong --------------------------------------------------------------------------------


@compact.idea(
    "failure",
    "A summariser that fails changes nothing, and the result says so",
    rule="Without a summary the old messages are all there is. Keep them, and tell why.",
    step="if summary.problem: return unchanged(messages, before, summary.problem, failed=summary.asked).",
    cases=[case(TASK_TWO, "the line is down"), case(LONGER, "the model is asleep")],
    shrink=False,
)
def a_failure(t: Attempt, history: list[Message], error: str) -> None:
    came = outcome(t, history, Compressor(error=error))
    expect_unchanged(t, history, came, None, f"the summariser raised {error!r}")
    t.expect(error in came.reason, f"a reason that says why: {error!r}", f"reason {came.reason!r}")
    t.expect(came.failed is True, "failed=True", f"failed={came.failed}")


@compact.idea(
    "useless",
    "A useless summary changes nothing: empty, cut off, a call, a refusal",
    rule="No summary is better than a placeholder: the placeholder would replace the history for ever.",
    step="ask_summary has judged it: summary.problem says what is wrong, and summary.text is ''.",
    cases=[case(TASK_TWO, kind) for kind in ("empty", "cut off", "a tool call", "a refusal")],
    shrink=False,
)
def useless_summaries(t: Attempt, history: list[Message], kind: str) -> None:
    came = outcome(t, history, Compressor(USELESS[kind]()))
    expect_unchanged(t, history, came, None, f"the summary is {kind}")


@compact.idea(
    "no-gain",
    "So does a new history that is no smaller than the old one",
    rule="The heading costs tokens, too. What counts is the whole history, measured before and after.",
    step="End with return commit(messages, shorter, estimate_tokens): it keeps the smaller of the two.",
    cases=[case(CHAT, limit=1)],
    shrink=False,
)
def no_gain(t: Attempt, history: list[Message], limit: int) -> None:
    came = outcome(t, history, Compressor(Reply(assistant("Hello, hello."), "stop")), limit=limit)
    expect_unchanged(t, history, came, None, "with this summary the new history is no smaller")


@compact.idea(
    "second-round",
    "The second compaction brings the first summary up to date: there is one summary, not two",
    rule="The first summary is old by now. It goes into the request, and a new one takes its place.",
    step="Treat it like any old message: ask_summary finds it at the head of old and hands it over.",
    cases=[TASK_TWO],
    shrink=False,
)
def second_round(t: Attempt, history: list[Message]) -> None:
    more = [*reading("notes.md"), assistant("Noted."), user("Go on.")]
    longer = [*outcome(t, history, Compressor()).messages, *more]
    compressor = Compressor(Reply(assistant("## Facts\n- still the mill"), "stop"))
    came = outcome(t, longer, compressor)
    text = "\n".join(text_of(message.get("content")) for each in compressor.requests for message in each)
    t.expect("the mill stored water" in text, "a request with the first summary in it", "it is not in it")
    summaries = [m for m in came.messages if text_of(m.get("content")).startswith(SAFE_CUT_HEADING)]
    t.expect(len(summaries) == 1 and len(came.messages) == 4, "4 messages, one of them a summary",
             f"{count(len(came.messages), 'message')}, {len(summaries)} of them summaries")  # fmt: skip
