"""A lab's source, labs/source/NN_name.py, as cells, each with the line where it stands."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from labkit.exercises import tree_of

_HEADER = re.compile(r"# %%(?P<rest>\s.*)?$")
_ATTRIBUTE = re.compile(r'\s*(?P<key>\w+)=(?P<value>"(?:[^"\\]|\\.)*"|\[[^\]]*\]|-?[\d.]+|true|false)')
_KNOWN = ("exercise", "function", "minutes", "difficulty", "tags")


@dataclass(frozen=True)
class Problem:
    """Something wrong in a file, at a line (0: the file as a whole)."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        place = f"{self.path.name}:{self.line}" if self.line else self.path.name
        return f"{place}: {self.text}"


@dataclass(frozen=True)
class Cell:
    """One cell: "markdown" or "code", the line of its header, its source, and the header's attributes."""

    kind: str
    line: int
    source: str
    attributes: dict[str, object] = field(default_factory=dict)

    @property
    def exercise(self) -> str | None:
        """The id of the exercise that is cut here, or None."""
        value = self.attributes.get("exercise")
        return None if value is None else str(value)

    @property
    def hints(self) -> list[str]:
        """The staged hints of an exercise cell; a comment line that starts no hint continues the last."""
        found: list[str] = []
        for line in self.source.splitlines():
            text = line.removeprefix("#").strip()
            if text.startswith("hint:"):
                found.append(text.removeprefix("hint:").strip())
            elif found and text:
                found[-1] += f" {text}"
        return found


def parse(path: Path) -> tuple[list[Cell], list[Problem]]:
    """The cells of a source, and what cannot be read in it."""
    cells: list[Cell] = []
    problems: list[Problem] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if _HEADER.match(line)]
    for number, line in enumerate(lines[: starts[0] if starts else len(lines)]):
        if line.strip() and not line.startswith("#"):
            problems.append(Problem(path, number + 1, "code before the first cell: start a cell with `# %%`"))
            break
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        kind, attributes, trouble = _header(lines[start])
        if trouble:
            problems.append(Problem(path, start + 1, trouble))
        body = _without_blank_edges(lines[start + 1 : end])
        if kind == "markdown":
            body, bad = _markdown(body)
            if bad is not None:
                problems.append(
                    Problem(path, start + 2 + bad, "a line of a markdown cell must start with `#`")
                )
        cells.append(Cell(kind, start + 1, "\n".join(body), attributes))
    problems += [problem for cell in cells if cell.kind == "code" for problem in _code_problems(path, cell)]
    return cells, problems


def _header(line: str) -> tuple[str, dict[str, object], str]:
    match = _HEADER.match(line)
    rest = (match["rest"] or "").strip() if match else ""
    kind = "code"
    if rest.startswith("[markdown]"):
        kind, rest = "markdown", rest.removeprefix("[markdown]")
    attributes: dict[str, object] = {}
    while found := _ATTRIBUTE.match(rest):
        attributes[found["key"]] = json.loads(found["value"])
        rest = rest[found.end() :]
    unknown = [key for key in attributes if key not in _KNOWN]
    if unknown:
        return kind, attributes, f"unknown attribute {unknown[0]!r}; known are {', '.join(_KNOWN)}"
    return kind, attributes, f"cannot read {rest.strip()!r} in the cell's header" if rest.strip() else ""


def _without_blank_edges(lines: list[str]) -> list[str]:
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return [line.rstrip() for line in lines]


def _markdown(lines: list[str]) -> tuple[list[str], int | None]:
    """The text behind the comment signs, and the place of the first line that has none."""
    bad = next((place for place, line in enumerate(lines) if line and not line.startswith("#")), None)
    return [
        line.removeprefix("# ") if line.startswith("# ") else line.removeprefix("#") for line in lines
    ], bad


def _code_problems(path: Path, cell: Cell) -> list[Problem]:
    try:
        tree_of(cell.source)
    except SyntaxError as error:
        # Blank lines at a cell's start are rare; the number is right but for those.
        return [Problem(path, cell.line + (error.lineno or 1), f"this is no Python: {error.msg}")]
    return []
