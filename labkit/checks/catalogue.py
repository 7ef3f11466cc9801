"""The labs as they are shipped: what the built notebooks say about themselves and their exercises."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.places import labs_dir


@dataclass(frozen=True)
class ExerciseInfo:
    """What a lab says about one exercise. `function` is the name of what is written there."""

    id: str
    function: str
    minutes: int
    difficulty: int
    hints: tuple[str, ...]


@dataclass(frozen=True)
class LabInfo:
    """One shipped lab: its number in two digits, its file, its title, its exercises in order."""

    number: str
    path: Path
    title: str
    exercises: tuple[ExerciseInfo, ...]

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem


def labs() -> list[LabInfo]:
    """The shipped labs, in order."""
    return [_lab(path) for path in sorted(labs_dir().glob("[0-9][0-9]_*.ipynb"))]


def hints_of(exercise_id: str) -> tuple[str, ...]:
    """The staged hints of an exercise, as its lab has them; none when the lab is not built."""
    number = exercise_id.split(".")[0].zfill(2)
    for path in labs_dir().glob(f"{number}_*.ipynb"):
        for exercise in _lab(path).exercises:
            if exercise.id == exercise_id:
                return exercise.hints
    return ()


def _lab(path: Path) -> LabInfo:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    about = notebook["metadata"].get("labkit", {})
    found = (cell["metadata"].get("labkit", {}) for cell in notebook["cells"])
    return LabInfo(
        number=path.name[:2],
        path=path,
        title=about.get("title", path.stem),
        exercises=tuple(_exercise(each) for each in found if "exercise" in each),
    )


def _exercise(about: dict[str, Any]) -> ExerciseInfo:
    return ExerciseInfo(
        id=about["exercise"],
        function=about["function"].split(":")[-1],
        minutes=about["minutes"],
        difficulty=about["difficulty"],
        hints=tuple(about["hints"]),
    )
