"""The labs as pages to read: `labkit render`.

Each page is one file that needs nothing else: no network, no server, no script. They show the labs in their
solution form with what each cell gives, exercises as a learner meets them with hints and solution folded, a
map of the series, a glossary and a troubleshooting page. The same labs give the same pages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labkit.errors import NotebookError, SetupError
from labkit.lab_run import Job, faults, run_jobs
from labkit.notebooks import SOLUTION, RunResult, read_notebook
from labkit.site.lab_page import lab_page
from labkit.site.pages import INDEX, MARK, site_pages
from labkit.workspace import shipped_labs

Runner = Callable[[list[Job]], list[RunResult]]


def render_site(folder: str | Path, run: Runner = run_jobs) -> list[Path]:
    """Run all labs and write their pages into a folder; returns the pages' paths, the index first.

    `run` runs the labs (a test may have run them already). Pages of ours that are there are written anew;
    nothing else in the folder is touched. Raises SetupError when the folder cannot be made or holds somebody
    else's index, before any lab runs, and NotebookError when a lab does not run through, before any page is
    written.
    """
    folder = Path(folder)
    _prepare(folder)
    paths = shipped_labs()
    results = run([Job(path, SOLUTION) for path in paths])
    return write_pages(folder, make_pages(paths, results))


def make_pages(paths: Sequence[Path], results: Sequence[RunResult]) -> dict[str, str]:
    """The pages of labs that have run in their solution form: file name and HTML, the index first."""
    for result in results:
        wrong = faults(result)
        if wrong:
            raise NotebookError(
                f"The pages need labs that run, and {result.name} does not: {wrong[0]}",
                f"Try it alone: labkit run {result.name[:2]} --solutions",
            )
    notebooks: list[dict[str, Any]] = [read_notebook(path) for path in paths]
    return site_pages(
        [
            lab_page(path.stem, shipped, result.notebook)
            for path, shipped, result in zip(paths, notebooks, results, strict=True)
        ]
    )


def write_pages(folder: Path, pages: dict[str, str]) -> list[Path]:
    """Write pages into a folder that is there, each whole or not at all."""
    written = []
    with _explained(folder):
        for name, html in pages.items():
            draft = folder / f".{name}.{os.getpid()}.new"
            draft.write_bytes(html.encode("utf-8"))
            written.append(draft.replace(folder / name))
    return written


def _prepare(folder: Path) -> None:
    index = folder / INDEX
    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        ours = not index.exists() or MARK in index.read_text(encoding="utf-8", errors="replace")
    if not ours:
        raise SetupError(
            f"{folder} has an index.html that labkit did not make.",
            "Give the pages a folder of their own: labkit render FOLDER",
        )


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SetupError(
            f"The pages cannot be written into {folder} ({error.strerror}).",
            "Name a folder that you can write to: labkit render FOLDER",
        ) from error
