"""The checks of 4.1: where a history may be cut. Work is counted, not timed."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, SupportsIndex

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise
from labkit.checks.show import show
from labkit.messages import Message, assistant, system, system_length, tool_call, tool_result, user

legal_cuts = Exercise("4.1", "labkit.messages.pairing:legal_cuts")

SYSTEM = system("You are a coding agent.")
DEVELOPER: Message = {"role": "developer", "content": "Answer in English."}
ASK, ANSWER = user("Read the files."), assistant("Here is what they say.")
CHAT = [ASK, ANSWER, user("Thanks."), assistant("You are welcome.")]


def calls(*ids: str) -> Message:
    """An assistant message with a call for each id."""
    return assistant(calls=[tool_call(each, "read_file", {"path": f"{each}.md"}) for each in ids])


def results(*ids: str) -> list[Message]:
    return [tool_result(each, f"text of {each}.md") for each in ids]


ONE_CALL = [SYSTEM, ASK, calls("a"), *results("a"), ANSWER]
PARALLEL = [SYSTEM, ASK, calls("a", "b", "c"), *results("a", "b", "c"), ANSWER]
ROUNDS = [SYSTEM, ASK, calls("a"), *results("a"), calls("b"), *results("b"), ANSWER]
SAME_ID = [SYSTEM, ASK, calls("c1"), *results("c1"), user("Again."), calls("c1"), *results("c1"), ANSWER]
STEERED = [SYSTEM, ASK, calls("a", "b"), *results("a"), user("Hurry up."), *results("b"), ANSWER]
WAITING = [SYSTEM, ASK, calls("a", "b"), *results("a")]
INTERRUPTED = [SYSTEM, ASK, calls("a", "b"), *results("a"), user("Stop."), ANSWER, user("Go on.")]
ORPHAN = [SYSTEM, ASK, *results("a"), ANSWER]


def same_cuts(t: Attempt, history: list[Message]) -> None:
    """The learner's cuts are labkit's. The card shows the first index on which they differ."""
    came, right = t.call(history), t.answer(history)
    if not isinstance(came, list) or came == right:
        t.equal(came, right)
        return
    if set(came) == set(right):
        t.fail(f"{right}", show(came), rule="The indices ascend, and each is there once.",
               step="Walk through the indices from the front and append each legal one once.")  # fmt: skip
    places = [each for each in came if isinstance(each, int)]
    first = min(set(places) ^ set(right), default=0)
    at = first if first < len(history) else None
    t.fail(f"{right}: {first} is {'in it' if first in right else 'not in it'}", show(came), at=at)


@legal_cuts.idea(
    "chat",
    "Plain chat may be cut anywhere: before every message, and at the end",
    rule="A cut needs whole exchanges on both sides, and chat has no exchanges at all.",
    step="Begin with every index from system_length(messages) to len(messages), and take out illegal ones.",
    cases=[CHAT, CHAT[:1], CHAT[:3]],
)
def plain_chat(t: Attempt, history: list[Message]) -> None:
    came, right = t.call(history), t.answer(history)
    users = [index for index, message in enumerate(history) if message.get("role") == "user"]
    if len(history) > 1 and came in (users, [*users, len(history)]):
        t.fail(
            f"{right}",
            f"{came}: only places before a user message",
            rule="One user message may be followed by fifty rounds of tools. A turn must be cuttable, too.",
            step="Do not ask who speaks next. Ask whether an exchange lies across the index.",
        )
    if came == right[:-1]:
        t.fail(
            f"{right}",
            f"{came}: the end is missing",
            rule="Cut at the end, everything is on the left and nothing on the right: no call is parted.",
            step="The last index is len(messages), so walk through range(len(messages) + 1).",
        )
    same_cuts(t, history)


@legal_cuts.idea(
    "system",
    "Never inside the system part; the first legal index is where it ends",
    rule="What the agent is stays in one piece, in front. There may be more than one such message, or none.",
    step="Start the walk at system_length(messages).",
    cases=[[SYSTEM, *CHAT], [SYSTEM, DEVELOPER, *CHAT], [SYSTEM]],
)
def system_part(t: Attempt, history: list[Message]) -> None:
    came, start = t.call(history), system_length(history)
    if isinstance(came, list) and start not in came and came == t.answer(history)[1:]:
        t.fail(
            f"{start} is in it: the place directly after the system part",
            show(came),
            rule="There both sides are whole. That such a cut would keep everything is for 4.2 to mind.",
            step="The walk begins at system_length(messages), not one after it.",
            at=start if start < len(history) else None,
        )
    same_cuts(t, history)


@legal_cuts.idea(
    "one-call",
    "Not between a call and its result",
    rule="A result whose call is gone, or a call whose result is gone, and the server answers 400.",
    step="An index i is illegal when some exchange has index < i <= last.",
    cases=[ONE_CALL, ROUNDS],
)
def one_call(t: Attempt, history: list[Message]) -> None:
    same_cuts(t, history)


@legal_cuts.idea(
    "parallel",
    "Not between the results of parallel calls",
    rule="One assistant message may hold several calls. Their exchange ends with the last of the results.",
    step="Forbid every index up to the exchange's last result, not only the one after the call.",
    cases=[PARALLEL],
)
def parallel_calls(t: Attempt, history: list[Message]) -> None:
    same_cuts(t, history)


@legal_cuts.idea(
    "same-id",
    "An id may come again later: a result answers the nearest open call before it",
    rule="Real logs repeat ids in later rounds. One table of ids for the whole history pairs them wrongly.",
    step="exchanges(messages) pairs calls and results as it walks. Use what it gives you.",
    cases=[SAME_ID],
)
def same_id(t: Attempt, history: list[Message]) -> None:
    same_cuts(t, history)


@legal_cuts.idea(
    "steering",
    "Not inside an exchange, even where the next message is no tool message",
    rule="A user may speak while the tools run. What counts is the exchange around it, not the role there.",
    step="Forbid all from exchange.index + 1 to exchange.last, whatever stands there.",
    cases=[STEERED],
)
def steering(t: Attempt, history: list[Message]) -> None:
    same_cuts(t, history)


@legal_cuts.idea(
    "waiting",
    "Not after a call that still waits for its result",
    rule="The result will be appended at the end. A cut before it would part the two after all.",
    step="For an exchange with open=True, everything after its index is forbidden, the end included.",
    cases=[WAITING, WAITING[:3]],
)
def waiting(t: Attempt, history: list[Message]) -> None:
    same_cuts(t, history)


@legal_cuts.idea(
    "interrupted",
    "A call that was never answered, and never will be, blocks nothing",
    rule="An assistant message has come since: no result will follow. Else one lost result blocks for ever.",
    step="Look at exchange.open, not for missing results: it says whether results may still arrive.",
    cases=[INTERRUPTED],
)
def interrupted(t: Attempt, history: list[Message]) -> None:
    same_cuts(t, history)


@legal_cuts.idea(
    "orphan",
    "Not before a result that has no call",
    rule="A tail that begins with a tool message is refused, whether its call was cut off or never there.",
    step="Also leave out each index whose message has the role 'tool'.",
    cases=[ORPHAN],
)
def orphan(t: Attempt, history: list[Message]) -> None:
    same_cuts(t, history)


# --- work ---------------------------------------------------------------------------------------------------


class Read(list[Any]):
    """A history that counts how often its messages are read, one by one or in slices."""

    reads = 0

    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        found = super().__getitem__(place)
        self.reads += len(found) if isinstance(place, slice) else 1
        return found

    def __iter__(self) -> Iterator[Any]:
        for message in super().__iter__():
            self.reads += 1
            yield message


NOT_THE_LEARNERS = ("copy", "labkit.")
"""Modules whose lines are no work of the learner's; what labkit's helpers read is counted all the same."""


def steps_of(run: Callable[[], Any], most: int) -> int:
    """How many lines of the learner's run in `run`; counts up to `most`."""
    steps, before = 0, sys.gettrace()

    def counting(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal steps
        if str(frame.f_globals.get("__name__")).startswith(NOT_THE_LEARNERS):
            return None
        steps += event == "line"
        if steps > most:
            sys.settrace(None)
            return None
        return counting

    sys.settrace(counting)
    try:
        run()
    finally:
        sys.settrace(before)
    return steps


def work(t: Attempt, rounds: int, most: int = 10**9) -> int:
    """What the learner's function does on a history of so many rounds: messages read, and lines run."""
    rows = [message for _ in range(rounds) for message in copy.deepcopy(ONE_CALL[2:4])]
    history = Read([SYSTEM, ASK, *rows, ANSWER])
    steps = steps_of(lambda: t.call_in_place(history), most)
    return history.reads + steps


@legal_cuts.idea(
    "linear",
    "Twice as long a history is twice the work, not four times",
    rule="A compactor asks before every request. In a long session, work that grows with the square is felt.",
    step="Walk once, and remember how far the last exchange reaches; do not search anew at each index.",
    shrink=False,
)
def linear(t: Attempt) -> None:
    t.trying("legal_cuts on a history of 43 messages, and on one of 163")
    small = work(t, 20)
    times = work(t, 80, most=40 * small) / max(1, small)
    t.draw([])  # a strip of 163 messages would say nothing more
    t.expect(
        times < 6,
        "about 4 times the work for 4 times the messages",
        f"{min(times, 40):.0f} times the work",
    )
