"""The progress board: all labs, what is passed, what is next, and how many minutes are left."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from labkit.checks import catalogue, progress
from labkit.checks.catalogue import ExerciseInfo, LabInfo
from labkit.checks.progress import Record
from labkit.checks.show import count

_SIGNS = {"passed": "✓", "borrowed": "✗", "not started": "○"}
# The least width of each column, in letters' heights: so that the columns of all labs stand below each other.
_COLUMN_WIDTHS = {"exercise": 15, "state": 8, "attempts": 5, "hints": 5, "minutes": 5}


@dataclass(frozen=True)
class Board:
    """The state of every exercise of every shipped lab, as HTML and as text."""

    labs: tuple[LabInfo, ...]
    records: dict[str, Record]
    note: str = ""

    def record(self, exercise: ExerciseInfo) -> Record:
        """The record of an exercise; a fresh one when nothing was done yet."""
        return self.records.get(exercise.id, Record())

    @property
    def open(self) -> list[tuple[LabInfo, ExerciseInfo]]:
        """The exercises that are not passed yet, in order, each with its lab."""
        return [(lab, each) for lab in self.labs for each in lab.exercises if not self.record(each).passed]

    @property
    def summary(self) -> str:
        """How far it is, what comes next, and how long the rest takes."""
        total = sum(len(lab.exercises) for lab in self.labs)
        if not total:
            return "There are no labs with exercises here."
        done = f"{total - len(self.open)} of {count(total, 'exercise')} passed."
        if not self.open:
            return f"{done} Nothing is left: now use it on your own task."
        lab, first = self.open[0]
        minutes = sum(each.minutes for _, each in self.open)
        left = f"About {count(minutes, 'minute')} of exercises left."
        return f"{done} Next: {first.id} {first.function} in {lab.name}. {left}"

    def __str__(self) -> str:
        lines = [self.summary, *([self.note] if self.note else [])]
        for lab in self.labs:
            lines += ["", f"{lab.number} {lab.title}"]
            lines += [f"  {_SIGNS[row[1]]} " + _columns(row) for row in self._rows(lab)]
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__

    def _rows(self, lab: LabInfo) -> list[tuple[str, ...]]:
        return [_row(each, self.record(each)) for each in lab.exercises]

    def _repr_html_(self) -> str:
        note = f"<div>{escape(self.note)}</div>" if self.note else ""
        tables = "".join(self._lab_html(lab) for lab in self.labs)
        head = f"<div><strong>{escape(self.summary)}</strong></div>"
        return f'<div class="labkit-board">{head}{note}{tables}</div>'

    def _lab_html(self, lab: LabInfo) -> str:
        cell = "text-align:left;padding:0.15em 1em 0.15em 0"
        head = "".join(
            f'<th scope="col" style="{cell};min-width:{width}em">{name}</th>'
            for name, width in _COLUMN_WIDTHS.items()
        )
        body = "".join(
            '<tr style="background:transparent">'
            + "".join(
                f'<td style="{cell}">{escape(each)}</td>' for each in (row[0], _signed(row[1]), *row[2:])
            )
            + "</tr>"
            for row in self._rows(lab)
        )
        title = escape(f"{lab.number} {lab.title}")
        caption = f'<caption style="text-align:left;font-weight:600;color:inherit">{title}</caption>'
        return (
            f'<table style="border-collapse:collapse;margin:0.8em 0;color:inherit;font:inherit">{caption}'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def progress_board() -> Board:
    """The board of this learner: the shipped labs, and what the progress file says."""
    records, note = progress.read()
    return Board(tuple(catalogue.labs()), records, note)


def _row(exercise: ExerciseInfo, record: Record) -> tuple[str, ...]:
    hints = f"{record.hints} of {len(exercise.hints)}" + (", solution seen" if record.solution else "")
    return (
        f"{exercise.id} {exercise.function}",
        record.shown,
        str(record.attempts),
        hints,
        str(exercise.minutes),
    )


def _columns(row: tuple[str, ...]) -> str:
    name, state, attempts, hints, minutes = row
    return (
        f"{name:<28} {state:<12} {count(int(attempts), 'attempt'):<12} "
        f"{count(int(minutes), 'minute'):<11} hints opened: {hints}"
    )


def _signed(state: str) -> str:
    return f"{_SIGNS[state]} {state}"
