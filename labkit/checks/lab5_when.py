"""The check of 5.4: which tier runs when, tried with two tiers that only note that they ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise, case
from labkit.checks.show import count, show
from labkit.compaction.base import Compaction, unchanged
from labkit.compaction.tool_stubs import STUB, unread_from
from labkit.messages import Message, assistant, system, tool_call, tool_result, user

tiers = Exercise("5.4", "labkit.compaction.two_tier:after_input,after_tools")

LINE = "The tide mill stands at the head of the creek. "  # 47 characters


def told(characters: int) -> list[Message]:
    """A finished history and a new request, with this many characters in all."""
    said = [system("Be brief."), user("Tell."), assistant(""), user("More.")]
    room = characters - sum(len(message["content"]) for message in said)
    return [*said[:2], assistant((LINE * (room // len(LINE) + 1))[:room]), said[3]]


def reading(many: int = 4) -> list[Message]:
    """In the middle of a turn: results have come, and the newest is not read yet."""
    history = [system("Be brief."), user("Read the files.")]
    for number in range(many):
        call = tool_call(f"c{number}", "read_file", {"path": f"{number}.md"})
        history += [assistant(None, [call]), tool_result(f"c{number}", LINE * 6)]
    return history


OPEN = [*reading(2)[2:-1], user("Stop. Do something else.")]


class Tiers:
    """Two compactors that note what they were given. Their results are recognised by their reasons."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.given: list[list[Message]] = []

    def make(self, name: str) -> Callable[[list[Message]], Compaction]:
        def run(messages: list[Message]) -> Compaction:
            self.ran.append(name)
            self.given.append(list(messages))
            return Compaction([*messages[:1], user(f"{name} was here")], True, name, 40_000, 100)

        run.__name__ = name.replace(" ", "_")
        return run


def after(t: Attempt, hook: str, history: list[Message], **settings: int) -> tuple[Compaction, Tiers]:
    """Run one of the two functions: what it returned, and which tiers ran."""
    both = Tiers()
    words = "".join(f", {key}={value}" for key, value in settings.items())
    t.trying(f"{hook}(history of {count(len(history), 'message')}, stubs, full{words})")
    came: Any = t.call_named(hook, history, both.make("tier 1"), both.make("tier 2"), **settings)
    if not isinstance(came, Compaction):
        t.fail(
            "a Compaction",
            f"{show(came)} ({type(came).__name__})",
            rule="The agent takes over what the hook returns, and asks it for .messages and .reason.",
            step="Return what the tier returns, or unchanged(messages, tokens, a reason).",
        )
    return came, both


def expect_ran(t: Attempt, both: Tiers, wanted: str, why: str) -> None:
    t.expect(both.ran == [wanted], f"{wanted} runs: {why}", f"{' and '.join(both.ran) or 'neither'} ran")


def expect_nobody(t: Attempt, history: list[Message], came: Compaction, both: Tiers, why: str) -> None:
    t.expect(not both.ran, f"neither tier runs: {why}", f"{' and '.join(both.ran)} ran")
    t.expect(
        not came.changed and came.messages == history,
        "changed=False, and the history as it was",
        f"changed={came.changed}, {count(len(came.messages), 'message')}",
    )
    t.expect(bool(came.reason), "a reason in words", "no reason", step="unchanged(messages, tokens, 'why').")


OTHER_WAY_ROUND = (
    "Tier 1 is cheap and works on what has just grown old; tier 2 waits for a moment when nothing is open."
)


@tiers.idea(
    "input-over",
    "After the user's input, above the limit: tier 2",
    rule="Between two turns nothing is open: the one moment at which everything may be replaced.",
    step="In after_input: return full(messages) when the estimate is above limit.",
    cases=[case(told(140_000)), case(told(4_400), limit=1000)],
    shrink=False,
)
def input_over(t: Attempt, history: list[Message], **settings: int) -> None:
    came, both = after(t, "after_input", history, **settings)
    if both.ran == ["tier 1"]:
        t.fail("tier 2 runs", "tier 1 ran: the other way round", rule=OTHER_WAY_ROUND)
    expect_ran(t, both, "tier 2", "the history is over the limit")
    t.expect(came.reason == "tier 2", "what tier 2 returned", f"another Compaction: reason {came.reason!r}")


@tiers.idea(
    "tools",
    "After a reply and its tools: tier 1, every time, and its result is handed back",
    rule="Results have just arrived, so others have just become old. It costs nothing to look.",
    step="after_tools is one line: return stubs(messages).",
    cases=[case(reading(1)), case(reading(5)), case(told(400))],
    shrink=False,
)
def tools_stub(t: Attempt, history: list[Message]) -> None:
    came, both = after(t, "after_tools", history)
    if both.ran == ["tier 2"]:
        t.fail("tier 1 runs", "tier 2 ran: the other way round", rule=OTHER_WAY_ROUND)
    expect_ran(t, both, "tier 1", "tools have run")
    t.expect(came.reason == "tier 1", "what tier 1 returned", f"another Compaction: reason {came.reason!r}")
    t.expect(
        both.given[0] == history,
        f"tier 1 gets the whole history: {count(len(history), 'message')}",
        count(len(both.given[0]), "message"),
        rule="Only in the whole history can it see which results are the newest, and which are unread.",
    )


@tiers.idea(
    "input-within",
    "After the user's input, within the limit: nobody",
    rule="A summary costs a request and loses detail. It is made only when it is needed.",
    step="if tokens <= limit: return unchanged(messages, tokens, a reason).",
    cases=[case(told(400)), case(told(100_000)), case(told(2_000), limit=1000)],
    shrink=False,
)
def input_within(t: Attempt, history: list[Message], **settings: int) -> None:
    came, both = after(t, "after_input", history, **settings)
    expect_nobody(t, history, came, both, "the history is within the limit")


@tiers.idea(
    "limit",
    "The limit is in tokens of 4 characters, and exactly at it nobody runs",
    rule="Above the limit means more than the limit; and both must be in the same measure.",
    step="tokens = quarter_of_characters(messages), and full only if tokens > limit.",
    cases=[case(told(4_000), False, limit=1000), case(told(4_004), True, limit=1000),
           case(told(120_000), False), case(told(120_004), True)],
    shrink=False,
)  # fmt: skip
def at_the_limit(t: Attempt, history: list[Message], over: bool, **settings: int) -> None:
    came, both = after(t, "after_input", history, **settings)
    if over:
        expect_ran(t, both, "tier 2", "one token above the limit")
    else:
        expect_nobody(t, history, came, both, "exactly at the limit")


@tiers.idea(
    "tools-only-stub",
    "After tools tier 2 does not run, however long the history is",
    rule="In the middle of a turn it would take from the agent what it is working with.",
    step="Leave full out of after_tools.",
    cases=[case([*told(140_000), *reading(3)[2:]])],
    shrink=False,
)
def tools_never_summarise(t: Attempt, history: list[Message]) -> None:
    _, both = after(t, "after_tools", history)
    expect_ran(t, both, "tier 1", "a turn is under way")


@tiers.idea(
    "open-call",
    "While a call waits for its result, tier 2 does not run",
    rule="The summary would swallow the call, and its result would come home to a history without it.",
    step="First: if any(exchange.open for exchange in exchanges(messages)): return unchanged(...).",
    cases=[case([*told(8_000), *reading(1)[2:3]], limit=1000),
           case([*told(8_000), *OPEN], limit=1000)],
    shrink=False,
)  # fmt: skip
def call_is_open(t: Attempt, history: list[Message], **settings: int) -> None:
    came, both = after(t, "after_input", history, **settings)
    expect_nobody(t, history, came, both, "a call is open")


@tiers.idea(
    "unread",
    "Results that the model has not read come through both untouched",
    rule="The model asked for them a moment ago. Gone before they were read, they are only asked for again.",
    step="Leave the stubbing to stubs(messages): it knows what is unread. Change nothing yourself.",
    cases=[case(reading(1)), case(reading(4))],
    shrink=False,
)
def unread_come_through(t: Attempt, history: list[Message]) -> None:
    def careful(messages: list[Message]) -> Compaction:
        return unchanged(messages, 0, "nothing old")

    t.trying(f"after_tools(history of {count(len(history), 'message')}, stubs, full)")
    came: Any = t.call_named("after_tools", history, careful, careful)
    for index in range(unread_from(history), len(history)):
        found = came.messages[index] if index < len(came.messages) else None
        t.expect(
            found == history[index],
            f"message {index} as it is: nobody has read it yet",
            f"message {index} says {STUB}" if found and found.get("content") == STUB else show(found),
            at=index,
        )
