"""`labkit run`: labs worked through headless, with a bar while it lasts and a table of what came of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from labkit.notebooks import AS_IT_IS, NOT_STARTED, PASSED, SOLUTION, STUDENT, RunResult, execute
from labkit.workspace import find_lab, shipped_labs

FORMS = {"student": (STUDENT,), "solution": (SOLUTION,), "both": (STUDENT, SOLUTION)}
_SHOULD_BE = {STUDENT: NOT_STARTED, SOLUTION: PASSED}
WORKERS = 2  # kernels at a time: a kernel needs a core and some hundred megabytes


@dataclass(frozen=True)
class Job:
    """A notebook to run, and in which form."""

    path: Path
    form: str


def run_labs(labs: Sequence[str] = (), form: str = "both", out: TextIO | None = None) -> int:
    """Run labs (all by default) and print a table; the exit status is 0 when all is as it should be.

    A name like "1", "01" or "01_minimal_loop" is a shipped lab, run in `form` ("student", "solution" or
    "both"). A path to a notebook is the learner's own, run as it is; there only cells that fail count. The
    text on `out` is the same at each run; bar and times go to stderr. NotebookError for an unknown lab.
    """
    jobs = _jobs(labs, form)
    results = run_jobs(jobs)
    print(report(results), file=out or sys.stdout)
    print(f"{sum(result.seconds for result in results):.0f} s of running cells", file=sys.stderr)
    return 1 if any(faults(result) for result in results) else 0


def _jobs(labs: Sequence[str], form: str) -> list[Job]:
    jobs: list[Job] = []
    for name in labs or [path.stem for path in shipped_labs()]:
        own = Path(name)
        if own.suffix == ".ipynb" and own.is_file():
            jobs.append(Job(own, AS_IT_IS))
        else:
            jobs += [Job(find_lab(name), each) for each in FORMS[form]]
    return jobs


def run_jobs(jobs: Iterable[Job], workers: int = WORKERS) -> list[RunResult]:
    """Run notebooks, a few at a time, with a progress bar on stderr where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = Console(file=sys.stderr)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar,
        ThreadPoolExecutor(workers) as pool,
    ):

        def run(job: Job) -> RunResult:
            task = bar.add_task(f"{job.path.stem}, {job.form}")
            return execute(
                job.path, job.form, progress=lambda done, total: bar.update(task, completed=done, total=total)
            )

        try:
            return list(pool.map(run, jobs))
        except BaseException:  # Ctrl-C: what runs now is ended in order, nothing new begins
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def faults(result: RunResult) -> list[str]:
    """What is not as it should be in a run, in sentences."""
    found = [f"{result.name}, {result.form} form, {error}" for error in result.errors]
    wanted = _SHOULD_BE.get(result.form)
    for exercise, state in result.exercises.items():
        if wanted and state != wanted and not result.errors:
            card = card_text(result, exercise)
            found.append(
                f"{result.name}, {result.form} form: exercise {exercise} is {state}, not {wanted}.{card}"
            )
    return found


def card_text(result: RunResult, exercise: str) -> str:
    """The card that the run showed for an exercise, on lines of its own; "" when there was none."""
    shown = (
        str(output.get("data", {}).get("text/plain", ""))
        for cell in result.notebook.cells
        for output in cell.get("outputs", [])
    )
    cards = [text for text in shown if f"Exercise {exercise}:" in text.split("\n", 1)[0]]
    return "\n" + cards[-1] if cards else ""


def report(results: Sequence[RunResult]) -> str:
    """The table, exercise by exercise, then whatever is wrong, then one line that sums it up."""
    rows = [("lab", "form", "exercise", "result")]
    for result in results:
        states = result.exercises or {"-": "no exercises"}
        rows += [(result.name, result.form, exercise, state) for exercise, state in states.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    wrong = [fault for result in results for fault in faults(result)]
    ran = f"{len(results)} {'run' if len(results) == 1 else 'runs'}"
    verdict = (
        f"{ran}, everything as it should be." if not wrong else f"{ran}, {len(wrong)} not as it should be."
    )
    return "\n".join([*lines, "", *(f"{fault}\n" for fault in wrong), verdict])
