"""The card that a check shows: one content, as HTML in a notebook and as plain text anywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from labkit.checks.engine import BORROWED, NOT_STARTED, PASSED, Verdict
from labkit.checks.show import count, history_lines

# The words alone say the state; the sign before them is decoration, and the colour of the edge too.
_SIGNS = {PASSED: "✓", BORROWED: "✗", NOT_STARTED: "○"}
_EDGES = {
    PASSED: "var(--jp-success-color1, #2e7d32)",
    BORROWED: "var(--jp-warn-color1, #b26a00)",
    NOT_STARTED: "var(--jp-border-color1, #8a8a8a)",
}
_BOX = (
    "border:1px solid var(--jp-border-color1, #8a8a8a);border-left:5px solid {edge};border-radius:4px;"
    "padding:0.6em 0.9em;margin:0.3em 0;max-width:60em;color:var(--jp-ui-font-color1, inherit);"
    "background:var(--jp-layout-color1, transparent);font-family:var(--jp-ui-font-family, sans-serif);"
    "font-size:var(--jp-ui-font-size1, 14px);line-height:1.45"
)
_TERM = "text-align:left;vertical-align:top;padding:0.15em 0.9em 0.15em 0;white-space:nowrap;font-weight:600"
_CELL = "text-align:left;vertical-align:top;padding:0.15em 0;white-space:pre-wrap;overflow-wrap:anywhere"
_CODE = (
    "white-space:pre-wrap;overflow-wrap:anywhere;margin:0.3em 0;color:inherit;background:transparent;"
    "font-family:var(--jp-code-font-family, monospace)"
)


@dataclass(frozen=True)
class Card:
    """What a check has to say. `print(card)` and the notebook show the same content."""

    verdict: Verdict
    hints: Sequence[str] = ()
    hints_opened: int = 0
    note: str = ""

    # -- content, shared by both forms

    @property
    def title(self) -> str:
        """The state in words."""
        exercise, verdict = self.verdict.exercise, self.verdict
        words = {
            PASSED: "passed",
            NOT_STARTED: "not started, labkit's own function is borrowed",
            BORROWED: "not yet, labkit's own function is borrowed",
        }[verdict.state]
        if not verdict.own:
            words = "labkit's own function, borrowed"
        return f"{_SIGNS[verdict.state]} Exercise {exercise.id}: {words}"

    @property
    def lead(self) -> str:
        """The sentence below the title."""
        names = " and ".join(self.verdict.exercise.names)
        if self.verdict.state == PASSED:
            return f"From here on the notebook works with your {names}. What it holds to:"
        if not self.verdict.own:
            return f"To check what you wrote, run the cell with your {names} again, then this one."
        if self.verdict.state == NOT_STARTED:
            return f"Write {names} in the cell above and run both cells. Until then everything below works."
        if self.verdict.idea is None:
            return "It could not be tried yet."
        return f"Idea {self.verdict.place} of {len(self.verdict.exercise.ideas)}: {self.verdict.idea.text}"

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What was tried, expected, came; which rule that breaks; one next step."""
        broken = self.verdict.broken
        if broken is None:
            return []
        return [
            ("tried", broken.tried),
            ("expected", broken.expected),
            ("came", broken.came),
            ("rule", broken.rule),
            ("next step", broken.step),
        ]

    @property
    def way_on(self) -> str:
        """How to get help; nothing once passed."""
        if self.verdict.state == PASSED or not self.verdict.own:
            return ""
        exercise_id = self.verdict.exercise.id
        opened = f" ({self.hints_opened} of {len(self.hints)} opened)" if self.hints else ""
        return (
            f'Stuck? hint("{exercise_id}") gives the next hint{opened}; '
            f'solution("{exercise_id}") shows labkit\'s way.'
        )

    def _strip(self) -> Any:
        """The failing history as a strip, or None when there is no history (or no strip to draw it)."""
        broken = self.verdict.broken
        if broken is None or not broken.history:
            return None
        try:
            from labkit.strip import strip

            marks = {} if broken.marked is None else {broken.marked: "here"}
            return strip(broken.history, marks=marks)
        except Exception:  # the picture is an extra: odd histories (a wrong answer's) must not hide the card
            return None

    # -- plain text

    def __str__(self) -> str:
        lines = [self.title, f"  {self.lead}"]
        if self.verdict.state == PASSED:
            lines += [f"  - {idea.text}" for idea in self.verdict.exercise.ideas]
        lines += [_row_text(name, text) for name, text in self.rows]
        broken = self.verdict.broken
        if broken and broken.history:
            lines.append(f"  the history ({count(len(broken.history), 'message')}):")
            lines += [f"  {line}" for line in history_lines(broken.history, broken.marked)]
        if self.verdict.printed:
            lines.append("  your function printed:")
            lines += [f"    {line}" for line in self.verdict.printed.splitlines()[:5]]
        lines += [f"  {line}" for line in (self.way_on, self.note) if line]
        return "\n".join(lines)

    # -- HTML

    def _repr_html_(self) -> str:
        parts = [f"<div><strong>{escape(self.title)}</strong></div>", f"<div>{escape(self.lead)}</div>"]
        if self.verdict.state == PASSED:
            items = "".join(f"<li>{escape(idea.text)}</li>" for idea in self.verdict.exercise.ideas)
            parts.append(f'<ul style="margin:0.3em 0">{items}</ul>')
        parts += [
            _table(self.rows),
            self._history_html(),
            _folded("What your function printed", self.verdict.printed),
        ]
        parts += [f"<div>{escape(line)}</div>" for line in (self.way_on, self.note) if line]
        if self.way_on:
            parts.append(_hints_html(self.hints))
        style = _BOX.format(edge=_EDGES[self.verdict.state])
        return f'<div class="labkit-card" style="{style}">{"".join(parts)}</div>'

    def _history_html(self) -> str:
        broken = self.verdict.broken
        if broken is None or not broken.history:
            return ""
        strip = self._strip()
        picture = strip._repr_html_() if strip is not None else ""
        lines = "\n".join(history_lines(broken.history, broken.marked))
        size = count(len(broken.history), "message")
        return (
            f'<div style="margin-top:0.4em"><span style="font-weight:600">the history</span> ({size}):</div>'
            f'{picture}<pre style="{_CODE}">{escape(lines)}</pre>'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}


def _row_text(name: str, text: str) -> str:
    first, *rest = text.splitlines() or [""]
    return "\n".join([f"  {name:<10} {first}", *(f"{'':<13}{line}" for line in rest)])


def _table(rows: Sequence[tuple[str, str]]) -> str:
    if not rows:
        return ""
    body = "".join(
        f'<tr style="background:transparent"><th scope="row" style="{_TERM}">{escape(name)}</th>'
        f'<td style="{_CELL}">{escape(text)}</td></tr>'
        for name, text in rows
    )
    return f'<table style="border-collapse:collapse;margin:0.4em 0;color:inherit;font:inherit">{body}</table>'


def _folded(title: str, text: str) -> str:
    if not text:
        return ""
    return (
        f'<details><summary style="cursor:pointer">{escape(title)}</summary>'
        f'<pre style="{_CODE}">{escape(text)}</pre></details>'
    )


def _hints_html(hints: Sequence[str]) -> str:
    """Hints in steps: each lies folded inside the one before it."""
    inner = ""
    for number in range(len(hints), 0, -1):
        inner = (
            '<details style="margin-left:0.8em"><summary style="cursor:pointer">'
            f"Hint {number} of {len(hints)}</summary><div>{escape(hints[number - 1])}</div>{inner}</details>"
        )
    return inner
