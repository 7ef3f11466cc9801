"""One command, from its text to its result."""

from __future__ import annotations

import os
import subprocess
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from labkit.command.environment import command_environment
from labkit.command.output import OutputKeeper
from labkit.command.processes import SUPERVISED, Running, end, start
from labkit.errors import ToolError

MAX_BYTES = 20_000
"""Of a command's output; the rest is read and dropped."""


@dataclass(frozen=True)
class CommandResult:
    """What a command printed (output and errors together), and its exit code: None at the time limit."""

    output: str
    exit_code: int | None
    timeout: float

    def __str__(self) -> str:
        text = self.output.rstrip("\n") or "(no output)"
        if self.exit_code is None:
            return f"{text}\n[ended at the time limit of {self.timeout:g} seconds]"
        return f"{text}\n[exit code {self.exit_code}]"


def run(
    command: str,
    folder: str | os.PathLike[str],
    timeout: float = 20.0,
    max_bytes: int = MAX_BYTES,
    source: Mapping[str, str] | None = None,
    supervised: bool = SUPERVISED,
) -> CommandResult:
    """Run a shell command in a folder, for `timeout` seconds at most; all its processes are ended after it.

    Whatever it leaves in the background ends as soon as the command itself has ended. `source`: see
    `command_environment`. Raises ToolError when it cannot be started. Ctrl-C ends the command, then goes on.
    """
    place = Path(folder).absolute()
    # Windows may keep a file of a process that was just ended for a moment: a leftover there is no error.
    with tempfile.TemporaryDirectory(prefix="labkit-", ignore_cleanup_errors=True) as scratch:
        environment = command_environment(place, Path(scratch), uuid.uuid4().hex, source)
        try:
            running = start(command, place, environment, supervised)
        except (OSError, ValueError) as error:
            fix = "Check the command; a shorter one, or a script in a file, may do."
            raise ToolError(f"the command cannot be started ({error}).", fix) from error
        return _watch(running, timeout, max_bytes)


def _watch(running: Running, timeout: float, max_bytes: int) -> CommandResult:
    kept = OutputKeeper(running.output, max_bytes)
    exit_code: int | None = None
    try:
        exit_code = running.process.wait(timeout)
    except subprocess.TimeoutExpired:
        pass  # an expected outcome: the exit code stays None, and the result says so
    finally:
        end(running)
        kept.wait(seconds=2.0)
    result = CommandResult(kept.text(), exit_code, timeout)
    kept.close()
    return result
