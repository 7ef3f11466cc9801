"""What a check is made of: an exercise is a list of ideas, in order, and each idea is tried on a few cases.

exercise_3_1 = Exercise("3.1", "labkit.compaction.count:split_history")

@exercise_3_1.idea(
    "keep-none",
    "With keep_last=0 nothing is recent",
    cases=[case(short_chat(), keep_last=0)],
    rule="A slice from -0 is a slice from 0: the whole list.",
    step="Count from the front: the recent part starts at len(messages) - keep_last.",
)
def keep_none(t: Attempt, history: list[Message], keep_last: int) -> None:
    t.equal(t.call(history, keep_last=keep_last), t.answer(history, keep_last=keep_last))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, TypeVar

Body = TypeVar("Body", bound=Callable[..., None])


@dataclass(frozen=True)
class Case:
    """What an idea is tried on: the arguments that its function gets after `t`."""

    values: tuple[Any, ...]
    settings: dict[str, Any]


def case(*values: Any, **settings: Any) -> Case:
    """A case for an idea. A first value that is a list (a history, chunks) is shrunk when the idea breaks."""
    return Case(values, settings)


@dataclass(frozen=True)
class Idea:
    """One idea of an exercise, and the function that tries it.

    `text` says the idea in a line (a passed check lists them); `rule` says what a wrong answer breaks; `step`
    is the one next thing to do. `cases` are tried in order, each on fresh copies.
    """

    id: str
    text: str
    body: Callable[..., None]
    rule: str
    step: str
    cases: tuple[Case, ...]
    shrink: bool = True

    def built_cases(self) -> tuple[Case, ...]:
        """The cases; an idea without any is tried once, and makes its own input."""
        return self.cases or (Case((), {}),)


@dataclass
class Exercise:
    """An exercise: its id, the labkit function(s) that solve it, its ideas in order.

    `function`: "module:name", or "module:name,other" where several are written together.

    `changes_input`: the function is meant to change its arguments in place (by default that is a mistake, and
    is found without an idea of its own).
    """

    id: str
    function: str
    changes_input: bool = False
    ideas: list[Idea] = field(default_factory=list)

    def idea(
        self,
        idea_id: str,
        text: str,
        *,
        rule: str,
        step: str,
        cases: Sequence[Case | Any] = (),
        shrink: bool = True,
    ) -> Callable[[Body], Body]:
        """Add the decorated function as the next idea. A case that is not a `case(...)` is its only value."""

        def add(body: Body) -> Body:
            if any(idea.id == idea_id for idea in self.ideas):
                raise ValueError(f"exercise {self.id} has two ideas {idea_id!r}")
            built = tuple(each if isinstance(each, Case) else case(each) for each in cases)
            self.ideas.append(Idea(idea_id, text, body, rule, step, built, shrink))
            return body

        return add

    @property
    def lab(self) -> str:
        """The lab's number, two digits."""
        return self.id.split(".")[0].zfill(2)

    @property
    def names(self) -> list[str]:
        """The names of the function(s) to write."""
        return self.function.split(":")[1].replace(" ", "").split(",")

    @cached_property
    def answers(self) -> tuple[Callable[..., Any], ...]:
        """labkit's own function(s)."""
        module = import_module(self.function.split(":")[0])
        return tuple(getattr(module, name) for name in self.names)
