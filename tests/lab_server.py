"""`labkit lab` for tests: the real command, in a newcomer's empty environment, ended with Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import nbformat
import psutil

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/lab\S*[?&]token=(\w+)")
JUPYTER_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
NOT_A_NEWCOMERS = (
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
    "JUPYTER_CONFIG_PATH",
    "JUPYTER_PATH",
    "LABKIT_MODEL",
    "OPENAI_API_KEY",
)


@dataclass(frozen=True)
class LabServer:
    """A running `labkit lab`, the learner's folder that it shows, and how to reach it."""

    folder: Path
    port: int
    token: str

    def address(self, notebook: str) -> str:
        """The page of one lab, without the tabs that another test left open."""
        return f"http://127.0.0.1:{self.port}/lab/tree/{quote(notebook)}?token={self.token}&reset"

    def write(self, name: str, *codes: str) -> str:
        """Put a notebook of code cells into the folder, beside the labs; returns its name."""
        cells = [nbformat.v4.new_code_cell(code) for code in codes]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), self.folder / name)
        return name


@contextmanager
def running_lab(home: Path) -> Iterator[LabServer]:
    """`labkit lab --no-browser` in a folder of its own; all that it started is gone at the end."""
    folder, port = home / "my_labs", _free_port()
    command = [sys.executable, "-m", "labkit", "lab", str(folder), "--no-browser", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--", "--LabApp.expose_app_in_browser=True"],
        cwd=home,
        env=_environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    assert process.stdout is not None
    lines: list[str] = []
    try:
        token = _token(process.stdout, lines)
        # A pipe that nobody empties would stop the server.
        threading.Thread(target=lines.extend, args=(process.stdout,), daemon=True).start()
        yield LabServer(folder, port, token)
    finally:
        _end(process)
        (home / "jupyterlab.log").write_text("".join(lines), encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _environment(home: Path) -> dict[str, str]:
    """Jupyter's own settings are empty, and no model is named."""
    own = {name: str(home / name.lower()) for name in JUPYTER_FOLDERS}
    rest = {key: value for key, value in os.environ.items() if key not in NOT_A_NEWCOMERS}
    return {**rest, **own, "PYTHONUNBUFFERED": "1"}


def _token(output: Iterable[str], lines: list[str]) -> str:
    for line in output:
        lines.append(line)
        found = ADDRESS.search(line)
        if found:
            return found[1]
    raise AssertionError("labkit lab ended without an address:\n" + "".join(lines))


def _end(process: subprocess.Popen[str]) -> None:
    """Ctrl-C, which ends the kernels too; whatever is left after a while is killed."""
    family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for left in psutil.wait_procs(family, timeout=5)[1]:
        left.kill()
