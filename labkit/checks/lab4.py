"""The checks of lab 4, compaction at a safe cut: 4.2 here, 4.1 in `lab4_cuts`, 4.3 in `lab4_compact`."""

from __future__ import annotations

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise, case
from labkit.checks.lab4_cuts import (
    ANSWER,
    ASK,
    CHAT,
    DEVELOPER,
    ONE_CALL,
    PARALLEL,
    SYSTEM,
    WAITING,
    calls,
    legal_cuts,
    results,
)
from labkit.checks.lab4_summary import compact
from labkit.checks.show import count, show
from labkit.messages import Message, user

choose_cut = Exercise("4.2", "labkit.compaction.safe_cut:choose_cut")

TALK = [SYSTEM, *CHAT]
TWO_EXCHANGES = [SYSTEM, ASK, calls("a"), *results("a"), calls("b", "c"), *results("b", "c"), ANSWER, ASK]
NEXT_TASK = [*ONE_CALL, user("Now write a review.")]


def same_cut(t: Attempt, history: list[Message], **settings: int) -> None:
    """The learner's cut is labkit's. The card marks the place where labkit would cut."""
    came, right = t.call(history, **settings), t.answer(history, **settings)
    keep, at = settings.get("keep_recent", 2), right if right is not None and right < len(history) else None
    if right is None and came is not None:
        t.fail("None: there is nothing to cut off", show(came))
    if came is None and right is not None:
        zero = (
            "0 is a number like any other: len(messages) - 0 is the end. From -0 a slice is the whole list."
        )
        t.fail(
            f"{right}",
            "None, which says that nothing can be cut off",
            rule=zero if not keep else f"{count(right, 'message')} could be cut off here.",
            step="Is the cut that you found returned, on every way through your function?",
            at=at,
        )
    wanted = len(history) - keep
    if isinstance(came, int) and right is not None and wanted < came <= len(history):
        t.fail(
            f"{right}, which keeps {count(len(history) - right, 'message')}",
            f"{came}, which keeps {count(len(history) - came, 'message')} although {keep} must stay",
            rule="keep_recent is a promise. Where the exact place is no legal cut, more is kept, never less.",
            step="Step back from len(messages) - keep_recent, towards the front, never forward.",
            at=at,
        )
    t.equal(came, right, at=at)


@choose_cut.idea(
    "keeps-recent",
    "The cut leaves keep_recent messages on its right",
    rule="Of all legal cuts it is the last one that keeps enough: what is older goes into the summary.",
    step="The place you want is len(messages) - keep_recent.",
    cases=[TALK, case(TALK, keep_recent=1), case(TALK, keep_recent=3), NEXT_TASK],
)
def keeps_recent(t: Attempt, history: list[Message], **settings: int) -> None:
    same_cut(t, history, **settings)


@choose_cut.idea(
    "steps-back",
    "Inside an exchange it steps back to where the exchange begins",
    rule="Only an index out of legal_cuts(messages) parts no call from its result.",
    step="Take the last index of legal_cuts(messages) that is not behind len(messages) - keep_recent.",
    cases=[case(NEXT_TASK, keep_recent=3), case(PARALLEL, keep_recent=2), case(TWO_EXCHANGES, keep_recent=3)],
)
def steps_back(t: Attempt, history: list[Message], **settings: int) -> None:
    same_cut(t, history, **settings)


@choose_cut.idea(
    "keep-none",
    "With keep_recent=0 the cut is the end, unless a call still waits there",
    rule="0 is a number like any other: len(messages) - 0 is the end.",
    step="Count from the front, and do not write `if keep_recent`.",
    cases=[case(TALK, keep_recent=0), case(WAITING, keep_recent=0)],
)
def keep_none(t: Attempt, history: list[Message], **settings: int) -> None:
    same_cut(t, history, **settings)


@choose_cut.idea(
    "too-short",
    "Nothing left to cut is a value, None, and no error",
    rule="Every conversation starts like that. What is expected is a value; errors are for surprises.",
    step="There may be no legal cut that far back: return None then, before you take the last of none.",
    cases=[case(TALK, keep_recent=99), case([SYSTEM]), case([])],
)
def too_short(t: Attempt, history: list[Message], **settings: int) -> None:
    same_cut(t, history, **settings)


@choose_cut.idea(
    "system-part",
    "Never an index inside the system part",
    rule="The system part is kept as it is. Half of it in a summary is no system part any more.",
    step="Take only cuts behind system_length(messages): there may be several system messages.",
    cases=[
        case([SYSTEM, DEVELOPER, *CHAT[:2]], keep_recent=3),
        case([SYSTEM, DEVELOPER, *PARALLEL[1:]], keep_recent=7),
    ],
)
def system_part(t: Attempt, history: list[Message], **settings: int) -> None:
    same_cut(t, history, **settings)


@choose_cut.idea(
    "keeps-all",
    "A cut directly after the system part would keep everything: None as well",
    rule="It cuts nothing off. A summary of nothing would cost a request and make the history longer.",
    step="Take only cuts with system_length(messages) < cut.",
    cases=[case(ONE_CALL, keep_recent=4), case(TALK, keep_recent=4), case(CHAT, keep_recent=4)],
)
def keeps_all(t: Attempt, history: list[Message], **settings: int) -> None:
    same_cut(t, history, **settings)


EXERCISES = [legal_cuts, choose_cut, compact]
