"""Which exercises there are: the `EXERCISES` of labkit.checks.lab1, lab2, and so on."""

from __future__ import annotations

import difflib
import pkgutil
import re
from importlib import import_module

import labkit.checks
from labkit.checks.ideas import Exercise
from labkit.errors import NotebookError

_LAB_MODULE = re.compile(r"lab(\d+)$")


def lab_numbers() -> list[int]:
    """The numbers of the labs that have checks."""
    found = (_LAB_MODULE.match(module.name) for module in pkgutil.iter_modules(labkit.checks.__path__))
    return sorted(int(match[1]) for match in found if match)


def exercises(lab: int | None = None) -> list[Exercise]:
    """The exercises of one lab, or of all, in order."""
    numbers = lab_numbers() if lab is None else [lab] if lab in lab_numbers() else []
    return [each for number in numbers for each in import_module(f"labkit.checks.lab{number}").EXERCISES]


def find(exercise_id: str) -> Exercise:
    """The exercise with this id; NotebookError, with the nearest ids, when there is none."""
    number = str(exercise_id).split(".")[0]
    if number.isdigit():
        for exercise in exercises(int(number)):
            if exercise.id == exercise_id:
                return exercise
    known = [exercise.id for exercise in exercises()]
    near = difflib.get_close_matches(str(exercise_id), known, n=3, cutoff=0.5) or known
    raise NotebookError(
        f"There is no exercise {exercise_id!r}.",
        f"Did you mean {' or '.join(repr(each) for each in near)}?" if near else "No lab has checks yet.",
    )
