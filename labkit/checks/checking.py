"""What a lab's cells call: `check`, and the way on when one is stuck, `hint` and `solution`."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from labkit.checks import catalogue, progress, registry
from labkit.checks.card import Card
from labkit.checks.engine import BORROWED, NOT_STARTED, PASSED, Verdict, run
from labkit.checks.ideas import Exercise


def check(exercise_id: str, function: Any) -> Any:
    """Check what the learner wrote, show a card, and return the function that the lab goes on with.

    That is the learner's own function if it passed, else labkit's: it is *borrowed*, and the lab goes on. An
    exercise of several functions takes and returns a tuple of them. Raises NotebookError for an unknown id.
    """
    exercise = registry.find(exercise_id)
    verdict = run(exercise, function)
    note = _record(exercise, verdict, function)
    if not verdict.own and progress.record_of(exercise_id).state == NOT_STARTED:
        verdict = replace(verdict, state=NOT_STARTED)
    opened = progress.record_of(exercise_id).hints
    show_to_learner(Card(verdict, catalogue.hints_of(exercise_id), opened, note))
    if verdict.state == PASSED:
        return function
    return exercise.answers if isinstance(function, tuple | list) else exercise.answers[0]


def is_borrowed(function: object) -> bool:
    """Whether a function is labkit's own answer to an exercise, and not the learner's."""
    return any(function is answer for exercise in registry.exercises() for answer in exercise.answers)


def hint(exercise_id: str) -> Help:
    """The next hint of an exercise, and those opened before; it is noted that it was opened."""
    exercise = registry.find(exercise_id)
    hints = catalogue.hints_of(exercise.id)
    note = progress.change(
        exercise.id, lambda record: replace(record, hints=min(len(hints), record.hints + 1))
    )
    opened = max(1, progress.record_of(exercise.id).hints) if hints else 0
    lines = [f"{number}. {text}" for number, text in enumerate(hints[:opened], start=1)]
    more = (
        "Run this again for the next one."
        if opened < len(hints)
        else (f'These are all. solution("{exercise.id}") shows how labkit does it.')
    )
    return Help(
        f"Exercise {exercise.id}: hint {opened} of {len(hints)}", tuple(lines), "", f"{more} {note}".strip()
    )


def solution(exercise_id: str) -> Help:
    """labkit's own source for an exercise; it is noted that it was opened."""
    exercise = registry.find(exercise_id)
    note = progress.change(exercise.id, lambda record: replace(record, solution=True))
    source = "\n\n".join(inspect.getsource(answer) for answer in exercise.answers)
    text = "This is one way. Read it, close it, and write yours: any that holds to the same ideas passes."
    return Help(f"Exercise {exercise.id}: how labkit does it", (text,), source, note)


@dataclass(frozen=True)
class Help:
    """A hint or a solution, to be shown."""

    title: str
    lines: tuple[str, ...]
    code: str = ""
    note: str = ""

    def __str__(self) -> str:
        code = [f"    {line}".rstrip() for line in self.code.splitlines()]
        return "\n".join(
            [
                self.title,
                *(f"  {line}" for line in self.lines),
                *code,
                *([f"  {self.note}"] * bool(self.note)),
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body = "".join(f"<div>{escape(line)}</div>" for line in self.lines)
        code = (
            f'<pre style="white-space:pre-wrap;color:inherit">{escape(self.code)}</pre>' if self.code else ""
        )
        return f"<div><strong>{escape(self.title)}</strong>{body}{code}<div>{escape(self.note)}</div></div>"


def show_to_learner(shown: Any) -> None:
    """Show a card: as HTML where there is a notebook, else as text."""
    if in_notebook():
        from IPython.display import display

        display(shown)
    else:
        print(shown)


def in_notebook() -> bool:
    """Whether IPython runs this; it is not imported to find out."""
    import sys

    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


def _record(exercise: Exercise, verdict: Verdict, function: Any) -> str:
    """Note the outcome on disk. labkit's own function (a second run of the cell) changes nothing."""
    if not verdict.own:
        return ""
    functions: Sequence[Callable[..., Any]] = function if isinstance(function, tuple | list) else [function]
    source = hashlib.sha256("\n".join(map(_source, functions)).encode("utf-8", "replace")).hexdigest()[:16]
    idea = verdict.idea.id if verdict.idea else ""
    return progress.change(
        exercise.id, lambda record: progress.after_check(record, verdict.state, idea, source)
    )


def _source(function: Any) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return repr(type(function))


__all__ = [
    "BORROWED",
    "NOT_STARTED",
    "PASSED",
    "Help",
    "check",
    "hint",
    "in_notebook",
    "is_borrowed",
    "solution",
]
