"""Build the labs' notebooks from labs/source, and prove them.

    python labs/build.py                 build all
    python labs/build.py --only 01       build one
    python labs/build.py --check         prove: built notebooks are fresh, both forms run as they should

Works from any folder. The same source gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [
    str(HERE),
    str(HERE.parent),
]  # the builder's own modules, and labkit where it is not installed

from lab_rules import problems_of
from lab_source import Cell, Problem, parse

from labkit.exercises import student_source
from labkit.lab_run import Job, faults, run_jobs
from labkit.notebooks import SOLUTION, STUDENT, RunResult, text_of_cell

Notebook = dict[str, Any]
HIDE_INPUT = "hide-input"  # the tag of a code cell that JupyterLab shows folded: questions with their answers
_LAB_PREFIX = re.compile(r"^Lab \d+[:.,]?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Built:
    """A lab as a fresh build gives it. With problems, there is no text."""

    source: Path
    target: Path
    text: str
    problems: list[Problem]
    warnings: list[Problem]


def main(arguments: list[str] | None = None, folder: Path = HERE) -> int:
    """Build or check; the exit status. `folder` holds the notebooks and their `source`."""
    options = _options(arguments)
    sources = _sources(folder, options.only)
    if not sources:
        print(f"No lab{' ' + options.only if options.only else ''} in {folder / 'source'}.", file=sys.stderr)
        return 1
    labs = [build(path, folder) for path in sources]
    problems = [problem for lab in labs for problem in lab.problems]
    for warning in (warning for lab in labs for warning in lab.warnings):
        print(f"warning: {warning}", file=sys.stderr)
    if options.check:
        problems += stale(labs, folder, every_lab=not options.only)
        _say(problems)
        runnable = [lab for lab in labs if lab.text and not lab.problems]
        failed = [] if options.no_run else prove(runnable)
        _say(failed)
        print(f"{len(labs)} labs checked, {len(problems) + len(failed)} problems.")
        return 1 if problems or failed else 0
    _say(problems)
    for lab in labs:
        if not lab.problems:
            _write(lab)
    return 1 if problems else 0


def build(path: Path, folder: Path) -> Built:
    """A lab's notebook, freshly cut from its source and from labkit."""
    cells, unreadable = parse(path)
    target = folder / f"{path.stem}.ipynb"
    wrong, warnings = ([], []) if unreadable else problems_of(path, cells)
    problems = sorted(unreadable + wrong, key=lambda problem: problem.line)
    text = "" if problems else _as_text(_notebook(path, cells))
    return Built(path, target, text, problems, warnings)


def stale(labs: list[Built], folder: Path, every_lab: bool = True) -> list[Problem]:
    """Notebooks that are not what their source gives: edited, run and saved, left over, never built."""
    found: list[Problem] = []
    for lab in labs:
        if lab.text and not lab.target.exists():
            found.append(Problem(lab.target, 0, "not built yet: run `python labs/build.py`"))
        elif lab.text and lab.target.read_bytes() != lab.text.encode("utf-8"):
            found.append(Problem(lab.target, 0, _drift(lab)))
    known = {lab.target for lab in labs}
    left = [path for path in sorted(folder.glob("*.ipynb")) if every_lab and path not in known]
    return found + [
        Problem(path, 0, f"there is no source/{path.stem}.py that it is built from") for path in left
    ]


def prove(labs: list[Built]) -> list[str]:
    """Run both forms of each lab: what is not as it should be, in sentences."""
    jobs = [Job(lab.target, form) for lab in labs if lab.target.exists() for form in (STUDENT, SOLUTION)]
    results = run_jobs(jobs)
    return [text for result in results for text in [*faults(result), *_noise(result)]]


def _noise(result: RunResult) -> list[str]:
    return [f"{result.name}, {result.form} form, writes to stderr in {said}" for said in result.stderr]


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="prove the built notebooks instead of building them"
    )
    parser.add_argument("--only", metavar="NN", default="", help="one lab: its number (01) or name")
    parser.add_argument("--no-run", action="store_true", help="with --check: look, but run nothing")
    return parser.parse_args(arguments)


def _sources(folder: Path, only: str) -> list[Path]:
    sources = sorted((folder / "source").glob("[0-9][0-9]_*.py"))
    wanted = only.zfill(2) if only.isdigit() else only
    return [path for path in sources if not only or path.stem == wanted or path.name[:2] == wanted]


def _say(problems: list[Any]) -> None:
    for problem in problems:
        print(problem, file=sys.stderr)


def _write(lab: Built) -> None:
    fresh = lab.target.exists() and lab.target.read_bytes() == lab.text.encode("utf-8")
    if not fresh:
        lab.target.write_text(lab.text, encoding="utf-8", newline="\n")
    print(f"{lab.target.name}: {'unchanged' if fresh else 'built'}")


# -- cells of the notebook


def _notebook(path: Path, cells: list[Cell]) -> Notebook:
    title = cells[0].source.split("\n")[0].removeprefix("# ")
    built = [_cell(cell) for cell in cells]
    checks = {cell.exercise: place for place, cell in enumerate(cells) if cell.exercise}
    for exercise, place in checks.items():
        after = next(number for number in range(place + 1, len(cells)) if cells[number].kind == "code")
        built[after]["id"] = f"check-{str(exercise).replace('.', '-')}"
        built[after]["metadata"]["labkit"] = {"check": exercise}
    _give_ids(path.stem, built)
    return {
        "cells": built,
        "metadata": {
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "labkit": {"lab": path.name[:2], "title": _LAB_PREFIX.sub("", title)},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(cell: Cell) -> Notebook:
    metadata: dict[str, Any] = {"tags": cell.attributes["tags"]} if "tags" in cell.attributes else {}
    if cell.kind == "markdown":
        return {"cell_type": "markdown", "metadata": metadata, "source": _lines(cell.source)}
    if HIDE_INPUT in metadata.get("tags", ()):
        metadata["jupyter"] = {"source_hidden": True}
    source = cell.source
    built: Notebook = {"cell_type": "code", "execution_count": None, "metadata": metadata, "outputs": []}
    if cell.exercise:
        built["id"] = f"exercise-{cell.exercise.replace('.', '-')}"
        metadata["labkit"] = {
            "exercise": cell.exercise,
            "function": cell.attributes["function"],
            "minutes": cell.attributes["minutes"],
            "difficulty": cell.attributes["difficulty"],
            "hints": cell.hints,
        }
        source = _exercise_source(cell)
    return {**built, "source": _lines(source)}


def _exercise_source(cell: Cell) -> str:
    about = cell.attributes
    minutes = f"about {about['minutes']} minute{'s' if about['minutes'] != 1 else ''}"
    head = f"# Exercise {cell.exercise} · {minutes} · difficulty {about['difficulty']} of 3"
    return f"{head}\n{student_source(str(cell.exercise), str(about['function']))}"


def _lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)


def _give_ids(lab: str, cells: list[Notebook]) -> None:
    """Ids that depend on the cell's own text only, so that an edit elsewhere changes no other cell."""
    seen: dict[str, int] = {}
    for cell in cells:
        if "id" in cell:
            continue
        text = f"{lab}\n{cell['cell_type']}\n{''.join(cell['source'])}"
        seen[text] = seen.get(text, 0) + 1
        cell["id"] = hashlib.sha256(f"{text}\n{seen[text]}".encode()).hexdigest()[:12]


def _as_text(notebook: Notebook) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _drift(lab: Built) -> str:
    """How a built notebook differs from a fresh build."""
    try:
        there = json.loads(lab.target.read_text(encoding="utf-8"))
        cells = there["cells"]
        saved = [number for number, cell in enumerate(cells, start=1) if cell.get("outputs")]
        if saved:
            return f"outputs are saved in cell {saved[0]}: build it again with `python labs/build.py`"
        if "widgets" in there["metadata"]:
            return "widget state is saved in it: build it again with `python labs/build.py`"
        fresh = json.loads(lab.text)["cells"]
        changed = [n for n, pair in enumerate(zip(cells, fresh, strict=False), start=1) if pair[0] != pair[1]]
        place = (
            f"in cell {changed[0]} ({_start(cells[changed[0] - 1])!r})"
            if changed
            else "in its number of cells or settings"
        )
    except (ValueError, KeyError, TypeError):
        return "it is no notebook any more: build it again with `python labs/build.py`"
    return (
        f"differs from its source {place}. Edit source/{lab.source.name} (or the function in labkit), "
        "never the notebook, and build again."
    )


def _start(cell: Notebook) -> str:
    return text_of_cell(cell).split("\n")[0][:60]


if __name__ == "__main__":
    raise SystemExit(main())
