"""What an idea's function works with: `t.call` runs the learner's function, `t.equal` and others judge it."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from labkit.checks.broken import Broken
from labkit.checks.guard import Outcome, run_guarded
from labkit.checks.mishaps import mishap
from labkit.checks.show import count, difference, is_history, is_message, show

_NOTHING_CAME = (
    "A function that ends without return gives None.",
    "Return the result: is there a return on every way through your function?",
)
MAX_ARGUMENT = 70  # characters of an argument in "what was tried"


class Attempt:
    """One try of one idea on one case."""

    def __init__(
        self,
        functions: Sequence[Callable[..., Any]],
        answers: Sequence[Callable[..., Any]],
        names: Sequence[str],
        seconds: float,
        changes_input: bool = False,
    ) -> None:
        self.printed = ""
        self._functions = dict(zip(names, functions, strict=True))
        self._answers = dict(zip(names, answers, strict=True))
        self._first = names[0]
        self._seconds = seconds
        self._changes_input = changes_input
        self._tried = ""
        self._words = ""
        self._history: list[Any] | None = None
        self._marked: int | None = None
        self._last: tuple[Any, ...] = ()  # the last call: name, arguments, settings
        self._came: Any = None
        self._changed: tuple[str, str] | None = None

    # -- running

    def call(self, *values: Any, **settings: Any) -> Any:
        """What the learner's function returns for copies of these arguments. What it raises is a break."""
        return self.call_named(self._first, *values, **settings)

    def call_named(self, name: str, *values: Any, **settings: Any) -> Any:
        """`call` for an exercise of several functions: the one of this name."""
        outcome = self._run(name, values, settings)
        if outcome.error is not None or outcome.stopped:
            self._break_for(outcome, self._expected_words(name, values, settings))
        return outcome.value

    def call_in_place(self, *values: Any, **settings: Any) -> Any:
        """`call` on the given objects themselves: for a function that changes its arguments."""
        outcome = self._run(self._first, values, settings, fresh=False)
        if outcome.error is not None or outcome.stopped:
            self._break_for(outcome, "it returns")
        return outcome.value

    def raises(self, error: type[BaseException], *values: Any, **settings: Any) -> BaseException:
        """The exception of this type that the learner's function must raise."""
        outcome = self._run(self._first, values, settings)
        if isinstance(outcome.error, error) and not outcome.stopped:
            return outcome.error
        if outcome.error is not None or outcome.stopped:
            self._break_for(outcome, f"{error.__name__} is raised")
        self.fail(f"{error.__name__} is raised", f"it returned {show(outcome.value)}")

    def answer(self, *values: Any, **settings: Any) -> Any:
        """What labkit's own function returns for these arguments."""
        return self.answer_named(self._first, *values, **settings)

    def answer_named(self, name: str, *values: Any, **settings: Any) -> Any:
        """`answer` for an exercise of several functions."""
        return self._answers[name](*copy.deepcopy(values), **copy.deepcopy(settings))

    # -- judging

    def equal(
        self, came: Any, expected: Any, *, rule: str = "", step: str = "", at: int | None = None
    ) -> None:
        """Break unless both are equal and of one type. `at`: the index of the message that matters."""
        if came != expected or type(came) is not type(expected):
            wanted, got = difference(expected, came)
            self.fail(wanted, got, rule=rule, step=step, at=at)

    def expect(
        self,
        holds: bool,
        expected: str,
        came: Any = "",
        *,
        rule: str = "",
        step: str = "",
        at: int | None = None,
    ) -> None:
        """Break unless `holds`. Both `expected` and `came` are words (or `came` is a value to show)."""
        if not holds:
            self.fail(expected, came if isinstance(came, str) else show(came), rule=rule, step=step, at=at)

    def fail(
        self, expected: str, came: str, *, rule: str = "", step: str = "", at: int | None = None
    ) -> NoReturn:
        """Break with these words; `rule` and `step` replace the idea's own for a well-known mistake."""
        marked = self._marked if at is None else at
        if self._returned_nothing() and not rule:  # a rule given here says what None means in this exercise
            rule, step = _NOTHING_CAME
        raise Broken("different", self._tried, expected, came, rule, step, self._history, marked)

    def trying(self, words: str) -> None:
        """Say "tried" in these words from the next call on, where the call's own line would not show it."""
        self._words = words

    def draw(self, history: list[Any], at: int | None = None) -> None:
        """Draw this history on the card, instead of the one that the function was called with."""
        self._history, self._marked = copy.deepcopy(history), at

    def unreadable(self, error: Exception) -> Broken:
        """The break of an answer that is so different from what was expected that it cannot be judged."""
        expected = self._expected_words(*self._last) if self._last else "an answer"
        rule, step = _NOTHING_CAME if self._returned_nothing() else ("", "")
        return Broken(
            "different", self._tried, expected, show(self._came), rule, step, self._history, error=error
        )

    def unchanged(self) -> None:
        """Break when the last call changed its arguments. The engine asks this by itself after each idea."""
        if self._changed is not None:
            before, after = self._changed
            raise Broken(
                "changed-input",
                self._tried,
                f"the arguments stay as they were: {before}",
                f"after the call: {after}",
                "A function from histories to histories makes a new list: "
                "whoever called it still needs the old one.",
                "Build a new list (or a copy of the message you change), and leave the arguments alone.",
                self._history,
            )

    # -- inside

    def _run(
        self, name: str, values: tuple[Any, ...], settings: dict[str, Any], fresh: bool = True
    ) -> Outcome:
        self._tried = self._words or tried_words(name, values, settings)
        self._history = next((copy.deepcopy(value) for value in values if is_history(value)), None)
        self._marked = None
        given = (values, settings)
        handed = copy.deepcopy(given) if fresh else given
        function = self._functions[name]
        outcome = run_guarded(lambda: function(*handed[0], **handed[1]), self._seconds)
        self.printed += outcome.printed
        self._last, self._came = (name, values, settings), outcome.value
        if fresh and not self._changes_input and not outcome.stopped:
            self._note_change(given, handed)
        return outcome

    def _note_change(self, given: tuple[Any, Any], handed: tuple[Any, Any]) -> None:
        pairs = zip([*given[0], *given[1].values()], [*handed[0], *handed[1].values()], strict=True)
        for before, after in pairs:
            if isinstance(before, list | dict) and before != after:
                self._changed = difference(before, after)
                return

    def _returned_nothing(self) -> bool:
        """Whether the last call gave None where labkit's function gives something: no return was reached."""
        return bool(self._last) and self._came is None and self._expected_words(*self._last) != "None"

    def _expected_words(self, name: str, values: tuple[Any, ...], settings: dict[str, Any]) -> str:
        try:
            return show(self.answer_named(name, *values, **settings))
        except Exception as error:  # labkit's function may refuse too: then that is what was expected
            return f"{type(error).__name__} is raised"

    def _break_for(self, outcome: Outcome, expected: str) -> NoReturn:
        raise mishap(
            outcome, self._seconds, list(self._functions.values()), self._tried, expected, self._history
        )


def tried_words(name: str, values: tuple[Any, ...], settings: dict[str, Any]) -> str:
    """The call as one line of code, histories as their length.

    >>> tried_words("split_history", ([{"role": "user", "content": "Hi"}],), {"keep_last": 0})
    'split_history(history of 1 message, keep_last=0)'
    """
    shown = [_argument(value) for value in values]
    shown += [f"{key}={_argument(value)}" for key, value in settings.items()]
    return f"{name}({', '.join(shown)})"


def _argument(value: Any) -> str:
    if is_history(value):
        return f"history of {count(len(value), 'message')}"
    if is_message(value):
        return "{" + show(value, MAX_ARGUMENT) + "}"
    if inspect.isroutine(value):
        return getattr(value, "__name__", "a function")
    return show(value, MAX_ARGUMENT)
