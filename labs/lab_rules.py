"""What a lab's source must hold to, so that both of its forms can be cut from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from lab_source import Cell, Problem

from labkit.checks import registry
from labkit.checks.ideas import Exercise
from labkit.errors import NotebookError
from labkit.exercises import bound_names, load, needed_names, tree_of

LONG, TOO_LONG = 15, 20  # lines that a learner types in one exercise
HINTS = 2
HELPERS = ("check", "hint", "solution")


def problems_of(path: Path, cells: list[Cell]) -> tuple[list[Problem], list[Problem]]:
    """What is wrong in a lab, and what is only to be thought over."""
    wrong = [*_title(path, cells), *_stray_attributes(path, cells), *_ids(path, cells)]
    warnings: list[Problem] = []
    for place, cell in enumerate(cells):
        if cell.exercise is not None:
            found, doubts = _exercise(path, cells, place)
            wrong += found
            warnings += doubts
    return wrong, warnings


def _title(path: Path, cells: list[Cell]) -> Iterator[Problem]:
    if not cells or cells[0].kind != "markdown" or not cells[0].source.startswith("# "):
        line = cells[0].line if cells else 1
        yield Problem(
            path, line, "the first cell must be markdown and start with the lab's title: `# # Lab ...`"
        )


def _stray_attributes(path: Path, cells: list[Cell]) -> Iterator[Problem]:
    for cell in cells:
        stray = [key for key in ("function", "minutes", "difficulty") if key in cell.attributes]
        if stray and cell.exercise is None:
            yield Problem(path, cell.line, f"{stray[0]} without exercise in the cell's header")


def _ids(path: Path, cells: list[Cell]) -> Iterator[Problem]:
    """Each exercise once, in order, and all that the lab's checks know."""
    found: dict[str, int] = {}
    for cell in cells:
        if cell.exercise is None:
            continue
        if cell.exercise in found:
            first = found[cell.exercise]
            yield Problem(path, cell.line, f"exercise {cell.exercise} is there already, in line {first}")
        found.setdefault(cell.exercise, cell.line)
    known = [exercise.id for exercise in registry.exercises(int(path.name[:2]))]
    for missing in [each for each in known if each not in found]:
        yield Problem(
            path, 0, f"exercise {missing} has checks in labkit/checks/lab{int(path.name[:2])}.py and no cell"
        )
    shared = [each for each in found if each in known]
    if shared != [each for each in known if each in found]:
        yield Problem(
            path, found[shared[0]], f"the exercises stand in another order than their checks: {known}"
        )


def _exercise(path: Path, cells: list[Cell], place: int) -> tuple[list[Problem], list[Problem]]:
    cell = cells[place]
    wrong = [Problem(path, cell.line, text) for text in _header_faults(cell)]
    try:
        exercise = registry.find(str(cell.exercise))
    except NotebookError as error:
        return [*wrong, Problem(path, cell.line, f"the checks do not know this exercise. {error}")], []
    function = cell.attributes.get("function")
    if not isinstance(function, str):
        return wrong, []
    if function.replace(" ", "") != exercise.function.replace(" ", ""):
        text = f"the checks of {exercise.id} are for {exercise.function}, not for {function}"
        return [*wrong, Problem(path, cell.line, text)], []
    if exercise.lab != path.name[:2]:
        wrong.append(Problem(path, cell.line, f"exercise {exercise.id} belongs to lab {exercise.lab}"))
    try:
        warnings = list(_lengths(path, cell, function, wrong))
        wrong += _names(path, cells, place, function)
    except NotebookError as error:
        return [*wrong, Problem(path, cell.line, str(error))], []
    wrong += _check_cell(path, cells, place, exercise)
    return wrong, warnings


def _header_faults(cell: Cell) -> Iterator[str]:
    for key, lowest, highest in (("minutes", 1, 60), ("difficulty", 1, 3)):
        value = cell.attributes.get(key)
        if value is None:
            yield f"exercise {cell.exercise} has no {key}: add {key}={lowest} to the header"
        elif type(value) is not int or not lowest <= value <= highest:
            yield f"{key} of exercise {cell.exercise} must be {lowest} to {highest}, not {value!r}"
    if not isinstance(cell.attributes.get("function"), str):
        yield f'exercise {cell.exercise} names no function: add function="labkit.module:name" to the header'
    hints = cell.hints
    if len(hints) < HINTS or not all(hints):
        yield f"exercise {cell.exercise} has {len(hints)} of at least {HINTS} hints: add `# hint: ...` lines"
    if any(line.strip() and not line.startswith("#") for line in cell.source.splitlines()):
        yield f"exercise {cell.exercise} holds code, but that is cut from labkit: keep `# hint:` lines only"


def _lengths(path: Path, cell: Cell, function: str, wrong: list[Problem]) -> Iterator[Problem]:
    for part in load(function):
        lines = part.body_lines()
        if lines > LONG:
            text = f"{part.name} has {lines} lines of body; a learner should type about {LONG} at most"
            problem = Problem(path, cell.line, text)
            if lines > TOO_LONG:
                wrong.append(problem)
            else:
                yield problem


def _names(path: Path, cells: list[Cell], place: int, function: str) -> Iterator[Problem]:
    """The names that the function's real source uses must be there when its cell runs."""
    earlier = [cell for cell in cells[:place] if cell.kind == "code" and cell.exercise is None]
    sources = [cell.source for cell in earlier if _readable(cell)]
    if any("import *" in source for source in sources):
        yield Problem(
            path, cells[place].line, "import names one by one before an exercise, not with `import *`"
        )
        return
    there = {name for source in sources for name in bound_names(source)}
    lazy = any("from __future__ import annotations" in source for source in sources)
    for name, line in needed_names(function, lazy).items():
        if name not in there:
            exercise = cells[place].exercise
            text = f"the function of exercise {exercise} uses {name}: put `{line}` into an earlier cell"
            yield Problem(path, cells[place].line, text)
    for name in HELPERS:
        if name not in there:
            line = f"from labkit.checks import {', '.join(HELPERS)}"
            text = f"cards speak of {name}(...): put `{line}` into an earlier cell"
            yield Problem(path, cells[place].line, text)
            return


def _check_cell(path: Path, cells: list[Cell], place: int, exercise: Exercise) -> Iterator[Problem]:
    """The next code cell must hand the learner's function to its check, and take back what it returns."""
    names = ", ".join(exercise.names)
    handed = names if len(exercise.names) == 1 else f"({names})"
    wanted = f'{names} = check("{exercise.id}", {handed})'
    follower = next((cell for cell in cells[place + 1 :] if cell.kind == "code"), None)
    if follower is None or not _readable(follower) or not _has(follower, wanted):
        line = follower.line if follower else cells[place].line
        yield Problem(path, line, f"the code cell after exercise {exercise.id} must hold the line `{wanted}`")


def _has(cell: Cell, line: str) -> bool:
    wanted = ast.dump(tree_of(line).body[0])
    return any(ast.dump(node) == wanted for node in tree_of(cell.source).body)


def _readable(cell: Cell) -> bool:
    try:
        tree_of(cell.source)
    except SyntaxError:
        return False  # reported where the cells are parsed
    return True
