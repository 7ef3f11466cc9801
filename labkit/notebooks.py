"""Labs run headless: a notebook in its student or solution form, on this very Python, in a folder of its own.

What became of each exercise is read from what `check` recorded, never from what a cell printed.
"""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.errors import NotebookError
from labkit.exercises import solution_source
from labkit.notebook_run import CellError, NotebookRun, text_of_cell
from labkit.places import STATE_FOLDER

STUDENT, SOLUTION, AS_IT_IS = "student", "solution", "as it is"
CELL_SECONDS = 60
"""How long one cell may take. The slowest of ours needs a few seconds."""

NOT_STARTED, PASSED, BORROWED, FAILED = "not started", "passed", "borrowed", "failed"


@dataclass(frozen=True)
class RunResult:
    """What a run did.

    `exercises`: each id with "passed", "borrowed", "not started", or "failed" (its check was not reached).
    `output` is the text of all cells, `notebook` the notebook with its outputs.
    """

    name: str
    form: str
    exercises: dict[str, str]
    errors: tuple[CellError, ...]
    seconds: float
    output: str
    notebook: Any = field(repr=False, default=None)
    stderr: tuple[CellError, ...] = ()


def read_notebook(path: Path) -> dict[str, Any]:
    """A notebook file as plain data. Raises NotebookError when it is not there, or not a notebook."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotebookError(f"{path} cannot be read ({error.strerror}).", "Is the name right?") from error
    except (ValueError, RecursionError) as error:
        raise NotebookError(
            f"{path} is not a notebook: {error}.", "A backup may be in `backups` beside it."
        ) from error
    if not is_notebook(data):
        raise NotebookError(
            f"{path} is not a notebook: it has no cells, or broken ones.",
            "A backup may be in `backups` beside it.",
        )
    return data


def is_notebook(data: Any) -> bool:
    """Whether data read from a file has a notebook's form: cells, each with its kind, source and metadata."""
    cells = data.get("cells") if isinstance(data, dict) else None
    return isinstance(cells, list) and all(
        isinstance(cell, dict)
        and isinstance(cell.get("cell_type"), str)
        and isinstance(cell.get("metadata", {}), dict)
        and (isinstance(source := cell.get("source"), str) or _is_lines(source))
        for cell in cells
    )


def _is_lines(source: Any) -> bool:
    return isinstance(source, list) and all(isinstance(line, str) for line in source)


def exercise_of(cell: dict[str, Any]) -> dict[str, Any] | None:
    """What a cell's metadata says about the exercise it holds; None for every other cell."""
    about = cell.get("metadata", {}).get("labkit")
    return about if isinstance(about, dict) and "exercise" in about else None


def exercises_of(notebook: dict[str, Any]) -> list[str]:
    """The exercise ids of a notebook, in order."""
    found = (exercise_of(cell) for cell in notebook["cells"])
    return [about["exercise"] for about in found if about]


def solution_form(notebook: dict[str, Any]) -> dict[str, Any]:
    """The same notebook with labkit's own source in each exercise cell."""
    solved = copy.deepcopy(notebook)
    for cell in solved["cells"]:
        about = exercise_of(cell)
        if about:
            first_line = text_of_cell(cell).split("\n", 1)[0]
            comment = f"{first_line}\n" if first_line.startswith("#") else ""
            cell["source"] = comment + solution_source(about["function"])
    return solved


def execute(
    notebook: Path | dict[str, Any],
    form: str = STUDENT,
    workspace: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    seconds: float = CELL_SECONDS,
) -> RunResult:
    """Run all cells in a fresh kernel of this Python, until one raises.

    `form`: "student" and "as it is" run the cells as they stand, "solution" with labkit's source in the
    exercises. `workspace`: the learner's folder for this run, a temporary one by default, so that nobody's
    progress changes. `progress` is told cells done and cells in all. `seconds`: how long a cell may take.
    Always the understudy: a run never costs money.
    """
    name = notebook.stem if isinstance(notebook, Path) else "notebook"
    data = read_notebook(notebook) if isinstance(notebook, Path) else notebook
    shown = solution_form(data) if form == SOLUTION else data
    with _folder(workspace) as folder:
        run = NotebookRun(shown, folder, progress, seconds)
        run.all_cells()
        states = _recorded(folder)
    exercises = {each: states.get(each, FAILED) for each in exercises_of(data)}
    return RunResult(
        name,
        form,
        exercises,
        tuple(run.errors),
        run.seconds,
        run.output(),
        run.node,
        tuple(run.said_on_stderr()),
    )


@contextmanager
def _folder(workspace: Path | None) -> Iterator[Path]:
    if workspace is not None:
        (workspace / STATE_FOLDER).mkdir(parents=True, exist_ok=True)
        yield workspace.resolve()
        return
    # On Windows a process that has just ended may still hold a file; it is a temporary one.
    with tempfile.TemporaryDirectory(prefix="labkit-run-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        (folder / STATE_FOLDER).mkdir()
        yield folder


def _recorded(folder: Path) -> dict[str, str]:
    """The state of each exercise as `check` wrote it down in this run's folder."""
    path = folder / STATE_FOLDER / "progress.json"
    if not path.exists():
        return {}
    records = json.loads(path.read_text(encoding="utf-8"))["exercises"]
    return {exercise: record["state"] for exercise, record in records.items()}
