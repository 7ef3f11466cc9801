"""The learner's own copy of the labs: made once, never overwritten, reset on request after a backup."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from labkit.errors import NotebookError, SetupError
from labkit.notebooks import is_notebook
from labkit.places import STATE_FOLDER, labs_dir, workspace

BACKUPS = "backups"
Notebook = dict[str, Any]


@dataclass(frozen=True)
class CopyReport:
    """What making the learner's copy did, by file name."""

    folder: Path
    added: tuple[str, ...]
    kept: tuple[str, ...]
    newer: tuple[str, ...]
    """Kept as they are, though the shipped lab has changed since they were copied."""


@dataclass(frozen=True)
class ResetReport:
    """What a reset put back (a file, or an exercise in it), and where the backup of the old copy lies."""

    what: str
    file: Path
    backup: Path | None
    exercises: tuple[str, ...]


def shipped_labs(shipped: Path | None = None) -> list[Path]:
    """The shipped notebooks, in their order. Raises SetupError when there is none."""
    folder = shipped or labs_dir()
    labs = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    if not labs:
        raise SetupError(
            f"There are no labs in {folder}.", "Build them with `python labs/build.py`, or install again."
        )
    return labs


def copy_labs(shipped: Path | None = None) -> CopyReport:
    """Bring the learner's folder up to date: missing labs are added, whatever is there stays as it is.

    Raises SetupError when the folder cannot be written.
    """
    labs = shipped_labs(shipped)
    try:
        return _copy_labs(labs, workspace())
    except OSError as error:
        raise SetupError(
            f"The labs could not be copied: {error}.",
            "Name a folder that you can write to: `labkit lab FOLDER`.",
        ) from error


def find_lab(name: str, shipped: Path | None = None) -> Path:
    """The shipped notebook meant by `3`, `03`, `lab 3`, `03_count_compaction` or the file's name."""
    labs = shipped_labs(shipped)
    wanted = Path(name.strip()).name.removesuffix(".ipynb")
    number = re.fullmatch(r"(?:lab\s*)?0*(\d+)", wanted, re.IGNORECASE)
    for lab in labs:
        if lab.stem == wanted or (number and int(lab.stem[:2]) == int(number[1])):
            return lab
    known = ", ".join(lab.stem for lab in labs)
    raise NotebookError(f"There is no lab {name!r}.", f"The labs are: {known}.")


def reset(target: str, shipped: Path | None = None) -> ResetReport:
    """Put a lab (`03`) or an exercise (`3.1`) of the learner's copy back to its start, after a backup.

    Raises NotebookError when there is no such lab or exercise, or its cell is gone from the copy.
    """
    match = re.fullmatch(r"\s*(\d+)\.(\d+)\s*", target)
    if not match:
        return _reset_lab(find_lab(target, shipped))
    return _reset_exercise(find_lab(match[1], shipped), f"{int(match[1])}.{int(match[2])}")


def _copy_labs(labs: list[Path], folder: Path) -> CopyReport:
    copied_from = _read_record(folder)
    added, kept, newer = [], [], []
    for lab in labs:
        digest = _digest(lab)
        if not (folder / lab.name).exists():
            shutil.copyfile(lab, folder / lab.name)
            copied_from[lab.name] = digest
            added.append(lab.name)
            continue
        kept.append(lab.name)
        if copied_from.get(lab.name, digest) != digest:
            newer.append(lab.name)
    _write_record(folder, copied_from)
    _copy_images(labs[0].parent, folder)
    return CopyReport(folder, tuple(added), tuple(kept), tuple(newer))


def _copy_images(shipped: Path, folder: Path) -> None:
    """Pictures that the labs' text refers to, where they are missing."""
    for image in sorted((shipped / "images").glob("*")):
        target = folder / "images" / image.name
        if image.is_file() and not target.exists():
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(image, target)


def _reset_lab(shipped: Path) -> ResetReport:
    copy = workspace() / shipped.name
    backup = _back_up(copy)
    _replace(copy, shipped.read_bytes())
    _copy_images(shipped.parent, copy.parent)
    _write_record(copy.parent, _read_record(copy.parent) | {shipped.name: _digest(shipped)})
    return ResetReport(shipped.name, copy, backup, tuple(_exercise_cells(_load(shipped))))


def _reset_exercise(shipped: Path, exercise: str) -> ResetReport:
    fresh = _exercise_cells(_load(shipped)).get(exercise)
    if not fresh:
        known = ", ".join(_exercise_cells(_load(shipped)))
        raise NotebookError(
            f"There is no exercise {exercise} in {shipped.name}.", f"It has: {known or 'none'}."
        )
    copy = workspace() / shipped.name
    if not copy.exists():
        raise NotebookError(f"You have no copy of {shipped.name} yet.", "Make one with `labkit lab`.")
    notebook = _load(copy)
    cells = _exercise_cells(notebook).get(exercise, [])
    if len(cells) != len(fresh):
        raise NotebookError(
            f"The cell of exercise {exercise} is no longer in your copy of {shipped.name}.",
            f"Reset the whole lab with `labkit reset {shipped.name[:2]}`; your copy is backed up first.",
        )
    backup = _back_up(copy)
    for cell, original in zip(cells, fresh, strict=True):
        cell["source"] = original["source"]
        cell["outputs"], cell["execution_count"] = [], None
    _replace(
        copy, (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "surrogatepass")
    )
    return ResetReport(f"exercise {exercise}", copy, backup, (exercise,))


def _exercise_cells(notebook: Notebook) -> dict[str, list[dict[str, Any]]]:
    """The exercise cells of a notebook by exercise, in their order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for cell in notebook["cells"]:
        about = cell.get("metadata", {}).get("labkit")
        exercise = about.get("exercise") if isinstance(about, dict) else None
        if exercise and cell.get("cell_type") == "code":
            found.setdefault(str(exercise), []).append(cell)
    return found


def _load(path: Path) -> Notebook:
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if is_notebook(notebook):
            return notebook
    except (ValueError, RecursionError):
        pass  # not JSON, or not UTF-8: the same answer as for JSON that is no notebook
    raise NotebookError(
        f"{path} is not a notebook that can be read.",
        f"Reset the whole lab with `labkit reset {path.name[:2]}`.",
    )


def _back_up(copy: Path) -> Path | None:
    """A copy of the learner's notebook under a new name; None when there is nothing to keep."""
    if not copy.exists():
        return None
    folder = copy.parent / BACKUPS
    folder.mkdir(exist_ok=True)
    stamp = datetime.now().strftime("%Y-%m-%d_%H%M%S")
    for number in range(1, 1000):
        backup = folder / f"{copy.stem}.{stamp}{f'-{number}' if number > 1 else ''}.ipynb"
        try:
            with backup.open("xb") as file:
                file.write(copy.read_bytes())
        except FileExistsError:  # a backup of the same second; it stays
            continue
        return backup
    raise NotebookError(f"No free name for a backup in {folder}.", "Move the old backups away.")


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole beside its place, then move it there: never half a notebook."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    beside.write_bytes(content)
    beside.replace(path)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read_record(folder: Path) -> dict[str, str]:
    """Which shipped bytes each copy was made from; empty when that is not known."""
    try:
        record = json.loads((folder / STATE_FOLDER / "copies.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # never written, or damaged: then no lab is called newer, which harms nobody
    return {str(name): str(digest) for name, digest in record.items()} if isinstance(record, dict) else {}


def _write_record(folder: Path, record: dict[str, str]) -> None:
    _replace(folder / STATE_FOLDER / "copies.json", json.dumps(record, indent=1, sort_keys=True).encode())
