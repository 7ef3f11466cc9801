"""The questions at the end of a lab: each option unfolds to its reason. Not graded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Option:
    """One answer to choose: whether it is right, and why."""

    text: str
    is_right: bool
    reason: str


@dataclass(frozen=True)
class Question:
    """A question and its options, in the order shown."""

    text: str
    options: tuple[Option, ...]


def right(text: str, reason: str) -> Option:
    """An option that is right, and why."""
    return Option(text, True, reason)


def wrong(text: str, reason: str) -> Option:
    """An option that is wrong, and why."""
    return Option(text, False, reason)


def question(text: str, *options: Option) -> Question:
    """A question with at least two options, one of them right (ValueError otherwise)."""
    if len(options) < 2 or not any(option.is_right for option in options):
        raise ValueError(f"A question needs two options or more, and one that is right: {text!r}")
    return Question(text, options)


@dataclass(frozen=True)
class Quiz:
    """Questions to think about. As the last line of a cell it shows itself."""

    questions: tuple[Question, ...]

    def __str__(self) -> str:
        asked, answered = [], ["Answers"]
        for number, each in enumerate(self.questions, start=1):
            asked.append(f"{number}. {each.text}")
            for letter, option in _lettered(each):
                asked.append(f"   {letter}) {option.text}")
                answered.append(f"  {number}{letter}) {_verdict(option)} {option.reason}")
        return "\n".join([*asked, "", *answered])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = "".join(_question_html(number, each) for number, each in enumerate(self.questions, start=1))
        return f'<div class="labkit-quiz" style="max-width:60em">{shown}</div>'


def quiz(*questions: Question | Iterable[Question]) -> Quiz:
    """Questions with their answers folded away; takes them one by one or as a list.

    >>> options = wrong("The model", "It has no memory."), right("The list", "It is sent whole.")
    >>> print(quiz(question("Who remembers?", *options)))
    1. Who remembers?
       a) The model
       b) The list
    <BLANKLINE>
    Answers
      1a) Not quite. It has no memory.
      1b) Right. It is sent whole.
    """
    flat: list[Question] = []
    for each in questions:
        flat += [each] if isinstance(each, Question) else list(each)
    return Quiz(tuple(flat))


def _lettered(each: Question) -> list[tuple[str, Option]]:
    return [(chr(ord("a") + place), option) for place, option in enumerate(each.options)]


def _verdict(option: Option) -> str:
    return "Right." if option.is_right else "Not quite."


def _question_html(number: int, each: Question) -> str:
    options = "".join(
        '<details style="margin:0.15em 0 0.15em 1.2em"><summary style="cursor:pointer">'
        f"{letter}) {escape(option.text)}</summary>"
        '<div style="margin:0.1em 0 0.4em 1.2em">'
        f"<strong>{_verdict(option)}</strong> {escape(option.reason)}</div></details>"
        for letter, option in _lettered(each)
    )
    return f'<div style="margin:0.8em 0"><strong>{number}. {escape(each.text)}</strong>{options}</div>'
