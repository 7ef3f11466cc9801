"""The check itself: the ideas of an exercise, in order, up to the first that does not hold.

`run` only judges. It records nothing and shows nothing, so a test can ask it what it likes.
"""

from __future__ import annotations

import copy
import inspect
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from labkit.checks.attempt import Attempt
from labkit.checks.broken import Broken
from labkit.checks.guard import SECONDS, run_guarded
from labkit.checks.ideas import Case, Exercise, Idea
from labkit.checks.show import count, show
from labkit.checks.shrink import shrink

PASSED, BORROWED, NOT_STARTED = "passed", "borrowed", "not started"
_SHRINK_SECONDS = 2.0  # a small case is nice to have; nobody should wait for it


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    `state` is "passed", "borrowed" (labkit's function is used instead) or "not started". When an idea broke,
    `idea` is its id, `place` its number (from 1), and `broken` says how. `own` is False when labkit's own
    function was handed in.
    """

    exercise: Exercise
    state: str
    idea: Idea | None = None
    place: int = 0
    broken: Broken | None = None
    printed: str = ""
    own: bool = True


def run(
    exercise: Exercise, functions: Callable[..., Any] | Sequence[Callable[..., Any]], seconds: float = SECONDS
) -> Verdict:
    """Judge a function, or a tuple of them; never raises for what a learner can write.

    `seconds` is how long each call may take.
    """
    handed = tuple(functions) if isinstance(functions, tuple | list) else (functions,)
    if len(handed) == len(exercise.names) and all(map(is_labkits, [exercise] * len(handed), handed)):
        return Verdict(exercise, BORROWED, own=False)
    broken = _unusable(exercise, handed)
    if broken:
        return Verdict(exercise, BORROWED, broken=broken)
    printed = ""
    for place, idea in enumerate(exercise.ideas, start=1):
        for number, case in enumerate(idea.built_cases()):
            broken, said = _try(exercise, handed, idea, case, seconds)
            printed = printed or said
            if broken is None:
                continue
            if place == 1 and number == 0 and _is_stub(exercise, broken):
                return Verdict(exercise, NOT_STARTED)
            small = _shrunk(exercise, handed, idea, case, broken, seconds)
            return Verdict(exercise, BORROWED, idea, place, _with_words(small, idea), printed)
    return Verdict(exercise, PASSED, printed=printed)


def is_labkits(exercise: Exercise, function: object) -> bool:
    """Whether a function is labkit's own: it passed nothing, it was borrowed."""
    return any(function is answer for answer in exercise.answers)


def _try(
    exercise: Exercise, functions: Sequence[Callable[..., Any]], idea: Idea, case: Case, seconds: float
) -> tuple[Broken | None, str]:
    """Try one idea on one case: how it broke (None when it held), and what the function printed."""
    t = Attempt(functions, exercise.answers, exercise.names, seconds, exercise.changes_input)
    values, settings = copy.deepcopy((case.values, case.settings))
    try:
        idea.body(t, *values, **settings)
        t.unchanged()
    except Broken as broken:
        return broken, t.printed
    except Exception as error:  # the idea could not even read what came (it asked None for its length, say)
        return t.unreadable(error), t.printed
    return None, t.printed


def _is_stub(exercise: Exercise, broken: Broken) -> bool:
    return isinstance(broken.error, NotImplementedError) and str(broken.error).startswith(f"{exercise.id}:")


def _with_words(broken: Broken, idea: Idea) -> Broken:
    return replace(broken, rule=broken.rule or idea.rule, step=broken.step or idea.step)


# -- what can be said before anything is called


def _unusable(exercise: Exercise, functions: Sequence[object]) -> Broken | None:
    if len(functions) != len(exercise.names):
        return Broken(
            "count",
            f'check("{exercise.id}", ...)',
            f"{count(len(exercise.names), 'function')}: {', '.join(exercise.names)}",
            count(len(functions), "value"),
            "This exercise is checked as a whole.",
            f"Hand them over together: check({exercise.id!r}, ({', '.join(exercise.names)})).",
        )
    for name, function, answer in zip(exercise.names, functions, exercise.answers, strict=True):
        broken = _not_callable(exercise, name, function) or _wrong_kind(exercise, function, answer)
        broken = broken or _wrong_signature(exercise, name, function, answer)
        if broken:
            return broken
    return None


def _not_callable(exercise: Exercise, name: str, function: object) -> Broken | None:
    if callable(function) and not isinstance(function, type):
        return None
    came = "None" if function is None else f"{show(function)} ({type(function).__name__})"
    if isinstance(function, type):
        came = f"the class {function.__name__}"
    return Broken(
        "callable",
        f'check("{exercise.id}", ...)',
        f"the function {name}, as it is: its name without brackets",
        came,
        "A check calls your function itself, many times; it needs the function, not one of its results.",
        f'Write check("{exercise.id}", {name}), and run the cell that defines {name} before it.',
    )


def _wrong_kind(exercise: Exercise, function: Any, answer: Any) -> Broken | None:
    """A function that yields or awaits returns at once, and has done nothing yet."""
    for is_kind, kind, word in (
        (inspect.isgeneratorfunction, "a generator", "yield"),
        (inspect.iscoroutinefunction, "a coroutine", "async"),
    ):
        if is_kind(function) and not is_kind(answer):
            return Broken(
                "kind",
                f'check("{exercise.id}", ...)',
                "a function that returns its result",
                f"a function whose call gives {kind}, because it is written with {word}",
                f"A function with {word} in it does nothing until somebody runs its result.",
                f"Use a plain def with return instead of {word}.",
            )
    return None


def _wrong_signature(exercise: Exercise, name: str, function: Any, answer: Any) -> Broken | None:
    """Whether it takes what labkit's takes: needed arguments by place, those with a default by name."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in callables do not tell
        return None
    parameters = inspect.signature(answer).parameters.values()
    by_place = [p for p in parameters if p.default is p.empty and p.kind is not p.KEYWORD_ONLY]
    by_name = {p.name: None for p in parameters if p not in by_place}
    try:
        signature.bind(*[None] * len(by_place), **by_name)
        signature.bind(*[None] * len(by_place))
    except TypeError as error:
        return Broken(
            "signature",
            f'check("{exercise.id}", ...)',
            f"{name}({_parameters(answer)})",
            f"{getattr(function, '__name__', name)}({_parameters(function)}): {error}",
            "The labs call the function with these arguments; other code relies on their names and order.",
            "Put the first line back as the exercise has it, and change only what is below it.",
        )
    return None


def _parameters(function: Any) -> str:
    shown = []
    for p in inspect.signature(function).parameters.values():
        star = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(p.kind.name, "")
        default = "" if p.default is p.empty else f"={show(p.default, 30)}"
        shown.append(f"{star}{p.name}{default}")
    return ", ".join(shown)


# -- the failing case, made small


def _shrunk(
    exercise: Exercise,
    functions: Sequence[Callable[..., Any]],
    idea: Idea,
    case: Case,
    broken: Broken,
    seconds: float,
) -> Broken:
    """The same break on a smaller case, where there is one."""
    if not idea.shrink or broken.kind not in ("different", "raised") or not case.values:
        return broken
    first = case.values[0]
    if not isinstance(first, list) or len(first) < 2:
        return broken
    smallest = broken
    deadline = time.monotonic() + _SHRINK_SECONDS

    def still_breaks(smaller: list[Any]) -> bool:
        nonlocal smallest
        if time.monotonic() > deadline:
            return False
        again = replace(case, values=(smaller, *case.values[1:]))
        # Guarded: a case that has become too small may break the check's own reading of it.
        outcome = run_guarded(lambda: _try(exercise, functions, idea, again, min(seconds, 0.5)))
        found = outcome.value[0] if outcome.value else None
        if found is None or not _same(found, broken):
            return False
        smallest = found
        return True

    shrink(first, still_breaks)
    return smallest


def _same(one: Broken, other: Broken) -> bool:
    """The same mistake: kind, rule, kind of exception; and a marked place that is still there."""
    if (one.marked is None) != (other.marked is None) or (one.marked or 0) >= max(1, len(one.history or [])):
        return False
    return (one.kind, one.rule, type(one.error)) == (other.kind, other.rule, type(other.error))
