"""The checks of 4.3: what becomes of a history. Tried with compressors that follow a script."""

from __future__ import annotations

import copy
from typing import Any

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise, case
from labkit.checks.lab3_compact import said
from labkit.checks.outcome import compaction_of
from labkit.checks.show import count, show
from labkit.compaction.base import Compaction, exact_tokens
from labkit.compaction.earlier import SAFE_CUT_HEADING
from labkit.messages import Message, assistant, system, tool_call, tool_result, user
from labkit.streaming import Reply
from labkit.tokens import estimate_tokens

compact = Exercise("4.3", "labkit.compaction.safe_cut:compact")

SUMMARY = "## Facts\n- asked: the main point of mill.md\n- answered: the mill stored water"
AGENT = system("You are a coding agent.")
ARTICLE = "The mill kept the water until there was work to do. " * 300


def reading(file: str, text: str = ARTICLE) -> list[Message]:
    """One exchange: a file is read."""
    return [assistant(calls=[tool_call(file, "read_file", {"path": file})]), tool_result(file, text)]


TASK_ONE = [AGENT, user("Give the main point of mill.md."), *reading("mill.md")]
TASK_TWO = [*TASK_ONE, assistant("The mill stored water."), user("Now write a review.")]
LONGER = [*TASK_TWO, *reading("notes.md", "Be brief."), assistant("Done."), user("Thanks.")]
CHAT = [AGENT, user("Hello."), assistant("Hello."), user("How are you?"), assistant("Well.")]


class Compressor:
    """A summariser that gives one reply, or raises, and keeps what it was asked and how."""

    def __init__(self, reply: Reply | None = None, error: str = "") -> None:
        self.reply = reply or Reply(assistant(SUMMARY), "stop")
        self.error = error
        self.requests: list[Any] = []
        self.more: list[Any] = []

    def summarise(self, messages: Any, *most: Any, **more: Any) -> Reply:
        self.requests.append(copy.deepcopy(messages))
        self.more += [*most[1:], *(f"{key}=..." for key in more if key != "max_tokens")]
        if self.error:
            raise ConnectionError(self.error)
        return self.reply


def outcome(t: Attempt, history: list[Message], compressor: Compressor, **settings: Any) -> Compaction:
    """What the learner's function returns, with this compressor."""
    return compaction_of(t, history, compressor.summarise, **settings)


def expect_unchanged(
    t: Attempt, history: list[Message], came: Compaction, compressor: Compressor | None, why: str
) -> None:
    """Nothing was done; with a `compressor`, it was not asked either."""
    right = f"{why}: changed=False, and the {count(len(history), 'message')} as they were"
    t.expect(not came.changed and came.messages == history, right, said(came))
    if compressor:
        asked = len(compressor.requests)
        t.expect(not asked, f"{why}: the summariser is not asked", f"asked {count(asked, 'time')}")


@compact.idea(
    "within",
    "Within the limit nothing happens, and nobody is asked",
    rule="A summary costs a request and loses detail. It is made only when it is needed.",
    step="if estimate_tokens(messages) <= limit: return unchanged(messages, before, a reason).",
    cases=[case(CHAT, limit=6000), case(TASK_TWO, limit=20_000)],
    shrink=False,
)
def within(t: Attempt, history: list[Message], **settings: int) -> None:
    compressor = Compressor()
    came = outcome(t, history, compressor, **settings)
    tokens = estimate_tokens(history)
    expect_unchanged(t, history, came, compressor, f"≈{tokens:,} tokens, limit {settings['limit']:,}")


@compact.idea(
    "copy",
    "Nothing to do: a copy, never the list that came in",
    rule="A caller may clear its own list and fill it from the result. If both are one list, all is gone.",
    step="unchanged(messages, ...) makes the copy: return what it gives you.",
    cases=[case(CHAT, limit=6000), case(TASK_ONE[:2], limit=1)],
    shrink=False,
)
def a_copy(t: Attempt, history: list[Message], **settings: int) -> None:
    length = len(history)
    came = outcome(t, history, Compressor(), **settings)
    history.clear()
    history.extend(came.messages)
    t.expect(
        len(history) == length,
        f"messages.clear(); messages.extend(result.messages) leaves {count(length, 'message')}",
        f"{count(len(history), 'message')}: .messages was the very list that was handed in",
    )


@compact.idea(
    "replaces",
    "Above the limit: system part, the summary, the recent messages, and nothing else",
    rule="The summary takes the place of all that stands before the cut.",
    step="Three slices: messages[:start], messages[start:cut], messages[cut:]. The middle one is replaced.",
    cases=[case(TASK_TWO, limit=2000), case(LONGER, limit=2000)],
    shrink=False,
)
def replaces(t: Attempt, history: list[Message], limit: int) -> None:
    compressor = Compressor()
    came = outcome(t, history, compressor, limit=limit)
    tokens = estimate_tokens(history)
    t.expect(bool(compressor.requests), f"≈{tokens:,} tokens, limit {limit:,}: the summariser is asked",
             f"it is not asked; {said(came)}")  # fmt: skip
    t.expect(came.changed, "changed=True", said(came))
    right = t.answer(history, Compressor().summarise, limit=limit).messages
    if len(came.messages) == len(right) + 1:
        t.fail(
            f"{count(len(right), 'message')}: one for the summary",
            f"{count(len(came.messages), 'message')}: {show(came.messages)}",
            rule="Lab 3 put an acknowledgement behind the summary. This system has the summary alone.",
            step="[*system, user(...), *recent], and nothing in between.",
        )
    kept = len(right) - 2
    t.expect(
        len(came.messages) == len(right) and came.messages[:1] == history[:1],
        f"{count(len(right), 'message')}: system, summary, the last {kept}",
        f"{count(len(came.messages), 'message')}: {show(came.messages)}",
    )
    t.expect(came.messages[-kept:] == history[-kept:], f"the last {kept} messages as they were",
             show(came.messages[-kept:]))  # fmt: skip


@compact.idea(
    "user-message",
    "The summary is one user message under its heading",
    rule="What came from outside the model may not stand in the model's name, and not in the system's.",
    step='user(f"{SAFE_CUT_HEADING} {summary.text}") is the message.',
    cases=[case(TASK_TWO, limit=2000)],
    shrink=False,
)
def a_user_message(t: Attempt, history: list[Message], limit: int) -> None:
    message = outcome(t, history, Compressor(), limit=limit).messages[1]
    role = message.get("role")
    if role == "assistant":
        t.fail(
            "role 'user'",
            "role 'assistant'",
            rule="The model would take it for something it said itself, and believe its own invention.",
            step="Build the message with user(...), not with assistant(...).",
        )
    t.expect(role == "user", "role 'user'", f"role {role!r}")
    t.equal(message.get("content"), f"{SAFE_CUT_HEADING} {SUMMARY}")


@compact.idea(
    "estimate",
    "The estimate decides, in tokens: neither the exact count nor the number of messages",
    rule="The limit is in tokens by characters / 2. Another measure strikes at another place.",
    step="Compare estimate_tokens(messages) with limit: above it compact, at it or below it do not.",
    cases=[
        case(TASK_TWO, limit=6000),
        case(TASK_TWO, limit=estimate_tokens(TASK_TWO)),
        case(TASK_TWO, limit=estimate_tokens(TASK_TWO) - 1),
        case(TASK_TWO, limit=exact_tokens(TASK_TWO) + 100),
    ],
    shrink=False,
)
def by_estimate(t: Attempt, history: list[Message], limit: int) -> None:
    came, tokens = outcome(t, history, Compressor(), limit=limit), estimate_tokens(history)
    right = f"≈{tokens:,} tokens, limit {limit:,}: changed={tokens > limit}"
    t.expect(came.changed == (tokens > limit), right, said(came))


@compact.idea(
    "figures",
    "The result's two figures are by the same estimate",
    rule="Figures of two kinds cannot be compared: the drop would look larger or smaller than it is.",
    step="commit(messages, shorter, estimate_tokens): the third argument says what it measures with.",
    cases=[case(TASK_TWO), case(TASK_TWO, limit=20_000)],
    shrink=False,
)
def figures(t: Attempt, history: list[Message], **settings: int) -> None:
    came = outcome(t, history, Compressor(), **settings)
    right = (estimate_tokens(history), estimate_tokens(came.messages))
    t.expect((came.tokens_before, came.tokens_after) == right,
             f"tokens_before={right[0]}, tokens_after={right[1]}",
             f"tokens_before={came.tokens_before}, tokens_after={came.tokens_after}")  # fmt: skip


@compact.idea(
    "keep-recent",
    "keep_recent is handed on, and the cut is a safe one",
    rule="choose_cut knows where a history may be cut. A slice of your own may part a call from its result.",
    step="cut = choose_cut(messages, keep_recent).",
    cases=[
        case(TASK_TWO, keep_recent=1),
        case(TASK_TWO, keep_recent=0),
        case(LONGER, keep_recent=3),
        case([*TASK_TWO[:5], *reading("a.md", "short")], keep_recent=1),
    ],
    shrink=False,
)
def keep_recent_is_used(t: Attempt, history: list[Message], keep_recent: int) -> None:
    came = outcome(t, history, Compressor(), keep_recent=keep_recent)
    right = t.answer(history, Compressor().summarise, keep_recent=keep_recent)
    kept = len(right.messages) - 2
    t.expect(came.messages[2:] == right.messages[2:],
             f"with keep_recent={keep_recent} the last {kept} messages stay", said(came))  # fmt: skip


@compact.idea(
    "nothing-to-cut",
    "Too large, but nothing can be cut off: unchanged, and nobody is asked",
    rule="It is no failure. The next messages will push the large one out of the tail.",
    step="if before <= limit or cut is None: return unchanged(messages, before, a reason).",
    cases=[case(TASK_ONE[:2], limit=1), case(TASK_ONE, keep_recent=3), case([AGENT], limit=1)],
    shrink=False,
)
def nothing_to_cut(t: Attempt, history: list[Message], **settings: int) -> None:
    compressor = Compressor()
    came = outcome(t, history, compressor, **settings)
    expect_unchanged(t, history, came, compressor, "no cut leaves anything before it")
    t.expect(not came.failed, "failed=False: nothing was tried", f"failed={came.failed}")
