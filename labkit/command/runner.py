"""One command, from its text to its result."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from labkit.command.environment import command_environment
from labkit.command.output import OutputKeeper
from labkit.command.processes import SUPERVISED, Running, end, start
from labkit.errors import ToolError
from labkit.stopping import StopSign, current_sign

MAX_BYTES = 20_000
"""Of a command's output; the rest is read and dropped."""


@dataclass(frozen=True)
class CommandResult:
    """What a command printed (output and errors together), and its exit code: None when it was ended early,
    at the time limit or because the turn was `stopped`.
    """

    output: str
    exit_code: int | None
    timeout: float
    stopped: bool = False

    def __str__(self) -> str:
        text = self.output.rstrip("\n") or "(no output)"
        if self.stopped:
            return f"{text}\n[ended because the user stopped the turn]"
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
    exit_code, sign = None, current_sign()
    try:
        exit_code = _exit_code(running, timeout, sign)
    finally:
        end(running)
        kept.wait(seconds=2.0)
    result = CommandResult(kept.text(), exit_code, timeout, exit_code is None and bool(sign and sign.asked))
    kept.close()
    return result


def _exit_code(running: Running, timeout: float, sign: StopSign | None) -> int | None:
    """Wait for the command; None when its time is up, or when the turn that it runs in is to end."""
    deadline = time.monotonic() + timeout
    while sign is None or not sign.asked:
        left = deadline - time.monotonic()
        try:
            # Python itself looks at a process every 0.05 s while it waits, so this loop costs nothing.
            return running.process.wait(max(0.0, left if sign is None else min(left, 0.05)))
        except subprocess.TimeoutExpired:
            if left <= 0:
                return None
    return None
