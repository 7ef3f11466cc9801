"""When a learner's function does not return: what happened, in words, and the line it came from."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from labkit.checks.broken import Broken
from labkit.checks.guard import Outcome
from labkit.checks.show import cut_short

_OWN_WORDS = {
    # These say nothing about the idea under test: the line itself must be mended first.
    NameError: "Run the set-up cell at the top, which makes the names, or look for a misspelling.",
    ImportError: "A module that is imported must be installed. Take the imports of the set-up cell.",
}


def mishap(
    outcome: Outcome,
    seconds: float,
    functions: Sequence[Callable[..., Any]],
    tried: str,
    expected: str,
    history: list[Any] | None,
) -> Broken:
    """The break that a function makes which raised, went on without end, or left."""
    error = outcome.error
    where = own_line(error, functions)

    def broken(kind: str, came: str, rule: str = "", step: str = "") -> Broken:
        came = f"{came}\n{where}" if where else came
        return Broken(kind, tried, expected, came, rule, step, history, error=error)

    if outcome.stopped == "time":
        return broken(
            "endless",
            f"no answer: your function was stopped after {seconds:g} seconds",
            "A loop needs something that changes at each round and ends it.",
            "Find the loop that does not end: what should be different at its next round?",
        )
    if outcome.stopped == "memory":
        return broken(
            "memory",
            "no answer: your function was stopped because it took more and more memory",
            "A loop that only appends never ends, and fills the memory.",
            "Do not append to the list that you are walking through: build a new one.",
        )
    if isinstance(error, RecursionError):
        return broken(
            "recursion",
            "no answer: your function called itself again and again",
            "A function that calls itself needs a case in which it does not.",
            "Check that the name you call is not the one you are just writing, or add the case that ends it.",
        )
    if isinstance(error, SystemExit):
        return broken(
            "exit",
            "your function tried to end Python (exit, quit or sys.exit)",
            "A function returns to whoever called it; a kernel that ends takes all variables along.",
            "Use return (or raise an exception) where you called exit.",
        )
    words = next((words for kind, words in _OWN_WORDS.items() if isinstance(error, kind)), "")
    came = f"{type(error).__name__}: {cut_short(str(error))}" if str(error) else type(error).__name__
    return broken("raised", came, "A function that raises gives no answer." if words else "", words)


def own_line(error: BaseException | None, functions: Sequence[Callable[..., Any]]) -> str:
    """The deepest line of the learner's own code that an exception went through: its number and its text."""
    files = {_file_of(function) for function in functions}
    own = (
        [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
        if error
        else []
    )
    if not own:
        return ""
    line = linecache.getline(own[-1].filename, own[-1].lineno or 0).strip()
    return f"line {own[-1].lineno} of your cell: {line}" if line else f"line {own[-1].lineno} of your cell"


def _file_of(function: Callable[..., Any]) -> str:
    while hasattr(function, "__wrapped__") or hasattr(function, "func"):  # decorated, or functools.partial
        function = getattr(function, "__wrapped__", None) or function.func  # type: ignore[attr-defined]  # partial
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return getattr(code, "co_filename", "")
