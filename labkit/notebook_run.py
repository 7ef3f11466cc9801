"""One notebook in one fresh kernel of this very Python, cell by cell, until one does not run as it should."""

from __future__ import annotations

import copy
import logging
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.kernel import kernel_environment, write_kernel
from labkit.places import STATE_FOLDER

_KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")
_EXCERPT = 6  # lines of a failing cell, and of its traceback, that are reported


@dataclass(frozen=True)
class CellError:
    """A cell that did not run as it should: its number among all cells (from 1), its start, what it said."""

    cell: int
    source: str
    message: str

    def __str__(self) -> str:
        return f"cell {self.cell}:\n{_indented(self.source)}\n  {'-' * 20}\n{_indented(self.message)}"


def text_of_cell(cell: dict[str, Any]) -> str:
    """A cell's source as one text: files keep it as a list of lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


class NotebookRun:
    """One notebook in one kernel."""

    def __init__(
        self, data: dict[str, Any], folder: Path, progress: Callable[[int, int], None] | None, seconds: float
    ) -> None:
        import nbformat

        self.node = nbformat.from_dict(_with_joined_sources(data))
        self.errors: list[CellError] = []
        self.seconds = 0.0
        self._folder = folder
        self._progress = progress
        self._cell_seconds = seconds
        self._current = 0

    def all_cells(self) -> None:
        """Run every cell. The first that raises, takes too long or ends the kernel ends the run."""
        from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

        began = time.monotonic()
        try:
            self._client().execute(
                env=self._environment(),
                cwd=str(self._folder),
                cleanup_kc=True,  # the manager is ours, but its kernel and files shall go with the run
                # What a kernel says outside of cells (a crash, a notice of its own) is no output of the lab.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except CellExecutionError as error:
            self._note(_traceback_end(self.node.cells[self._current], error))
        except CellTimeoutError:
            self._note(f"did not end within {self._cell_seconds:g} seconds")
        except DeadKernelError:
            self._note("the kernel ended (out of memory, or the cell ended Python)")
        except RuntimeError as error:
            self._note(f"the kernel did not start ({error}); `labkit doctor` looks into it")
        self.seconds = time.monotonic() - began
        for cell in self.node.cells:  # only now: a cell is "complete" before its last output has come
            if cell.get("outputs"):
                cell.outputs = _with_joined_streams(cell.outputs)

    def output(self) -> str:
        """The text that the cells gave, cell by cell."""
        shown = [
            _output_text(output)
            for cell in self.node.cells
            for output in cell.get("outputs", [])
            if output.get("name") != "stderr"
        ]
        return "\n".join(text for text in shown if text)

    def said_on_stderr(self) -> list[CellError]:
        """Cells that wrote to stderr: warnings, mostly."""
        return [
            CellError(number, _start_of(cell.source), str(output.text).strip())
            for number, cell in enumerate(self.node.cells, start=1)
            for output in cell.get("outputs", [])
            if output.get("name") == "stderr"
        ]

    def _client(self) -> Any:
        from jupyter_client.kernelspec import KernelSpecManager
        from jupyter_client.manager import AsyncKernelManager
        from nbclient import NotebookClient

        kernels = write_kernel(self._folder) / "kernels"
        manager = AsyncKernelManager(
            kernel_name="python3",
            log=_quiet_log(),
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(kernels)], ensure_native_kernel=False),
        )
        return NotebookClient(
            self.node,
            km=manager,
            timeout=self._cell_seconds,
            startup_timeout=120,
            extra_arguments=["--HistoryManager.enabled=False"],
            on_cell_start=self._started,
            on_cell_complete=self._completed,
        )

    def _environment(self) -> dict[str, str]:
        environment = kernel_environment(self._folder)
        for name in _KEYS:
            environment.pop(name, None)
        environment["LABKIT_MODEL"] = "understudy-128k"
        # A learner's own start-up files are no part of a lab; two kernels must not share a history.
        environment["IPYTHONDIR"] = str(self._folder / STATE_FOLDER / "ipython")
        environment["PYTHONUTF8"] = "1"
        return environment

    def _started(self, cell: Any, cell_index: int) -> None:
        self._current = cell_index

    def _completed(self, cell: Any, cell_index: int) -> None:
        if self._progress:
            self._progress(cell_index + 1, len(self.node.cells))

    def _note(self, message: str) -> None:
        source = _start_of(self.node.cells[self._current].source)
        self.errors.append(CellError(self._current + 1, source, message))


def _quiet_log() -> logging.Logger:
    """A log without the kernel manager's notices: in a thread it cannot tidy up all it would like to."""
    log = logging.getLogger("labkit.kernel")
    log.setLevel(logging.ERROR)
    return log


def _with_joined_sources(data: dict[str, Any]) -> dict[str, Any]:
    joined = copy.deepcopy(data)
    for cell in joined["cells"]:
        cell["source"] = text_of_cell(cell)
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return joined


def _with_joined_streams(outputs: list[Any]) -> list[Any]:
    """Neighbouring pieces of one stream as one output: how a kernel cuts a stream depends on the clock.

    A stream goes on in a new output after a picture or a display, where a reader sees it.
    """
    joined: list[Any] = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output["output_type"] == "stream" and output["name"] == last.get("name"):
            last["text"] += output["text"]
        else:
            joined.append(output)
    return joined


def _traceback_end(cell: Any, error: Exception) -> str:
    raised = next((each for each in cell.get("outputs", []) if each["output_type"] == "error"), None)
    if raised is None:
        return str(error)
    lines = _without_colours("\n".join(raised.traceback)).splitlines()
    return "\n".join(lines[-_EXCERPT:]) or f"{raised.ename}: {raised.evalue}"


def _without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _output_text(output: Any) -> str:
    if output["output_type"] == "stream":
        return str(output["text"]).rstrip("\n")
    return str(output.get("data", {}).get("text/plain", "")).rstrip("\n")


def _start_of(source: str) -> str:
    lines = source.strip().splitlines()
    return "\n".join(lines[:_EXCERPT] + (["..."] if len(lines) > _EXCERPT else []))


def _indented(text: str) -> str:
    return "\n".join(f"  | {line}" for line in text.splitlines())
