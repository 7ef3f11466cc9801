"""What all checks of compactors begin with: call it, and see that it answers as a compactor must."""

from __future__ import annotations

import copy
from typing import Any

from labkit.checks.attempt import Attempt
from labkit.checks.show import count, show
from labkit.compaction import Compaction
from labkit.messages import Message


def compaction_of(t: Attempt, history: list[Message], *arguments: Any, **settings: Any) -> Compaction:
    """What the learner's function returns. Breaks when it is no Compaction or the history has changed."""
    given = copy.deepcopy(history)
    came = t.call_in_place(history, *arguments, **settings)
    t.draw(given)
    if not isinstance(came, Compaction):
        t.fail(
            "a Compaction",
            f"{show(came)} ({type(came).__name__})",
            rule="A compactor always answers with a Compaction: it says what was done, and why or why not.",
            step="Return what unchanged(...) or commit(...) gives you.",
        )
    t.expect(
        history == given,
        f"the history that was handed in as it was: {count(len(given), 'message')}",
        count(len(history), "message"),
        rule="The caller decides what to do with the result. Until then the old history is all there is.",
        step="Build a new list; never change messages itself.",
    )
    return came
