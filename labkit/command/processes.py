"""Start a command as a tree of processes of its own, and end the whole tree.

Three nets, each for what slips through the one before: the process group; the descendants (on Linux the
supervisor keeps them together, elsewhere they are looked up); and the mark in the environment, which finds a
process that has left both.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from labkit.command.environment import MARK

SUPERVISED = sys.platform == "linux"
SUPERVISOR = Path(__file__).with_name("supervisor.py")
GRACE = 5.0  # seconds for the supervisor to end what the command has left
_ROUNDS = 10  # of looking for stragglers: one could start another while it is being ended


@dataclass(frozen=True)
class Running:
    """A command at work. `control` is the supervisor's pipe; None when there is no supervisor."""

    process: subprocess.Popen[bytes]
    mark: str
    control: int | None = None

    @property
    def output(self) -> IO[bytes]:
        """The pipe with the command's output and errors, in the order they came."""
        assert self.process.stdout is not None  # start() always asks for a pipe
        return self.process.stdout


def start(
    command: str, folder: Path, environment: Mapping[str, str], supervised: bool = SUPERVISED
) -> Running:
    """Start a shell command: its own group, closed standard input, output and errors in one pipe.

    Raises OSError or ValueError when it cannot be started at all.
    """
    mark = environment[MARK]
    if os.name == "nt":
        return Running(_popen(command, folder, environment, shell=True), mark)
    shell = ["/bin/sh", "-c", command]
    if not supervised:
        return Running(_popen(shell, folder, environment), mark)
    reader, writer = os.pipe()
    try:
        supervisor = [sys.executable, "-I", "-S", str(SUPERVISOR), str(reader)]
        return Running(_popen(supervisor + shell, folder, environment, pass_fds=[reader]), mark, writer)
    except BaseException:
        os.close(writer)
        raise
    finally:
        os.close(reader)


def _popen(
    command: str | list[str],
    folder: Path,
    environment: Mapping[str, str],
    shell: bool = False,
    pass_fds: list[int] | None = None,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        shell=shell,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=pass_fds or [],
        start_new_session=os.name != "nt",
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )


def end(running: Running) -> None:
    """End the command and everything it has started. Safe to call when all of it has ended already."""
    process = running.process
    if running.control is not None:
        os.close(running.control)  # the supervisor now ends its children, and then itself
        with suppress(subprocess.TimeoutExpired):  # then it is killed below
            process.wait(GRACE)
    below = _descendants(process) if process.poll() is None else []
    _end_group(process)
    for each in below:
        with suppress(psutil.Error):  # it has ended by itself
            each.kill()
    _end_stragglers(running.mark, quiet_rounds=3 if running.control is None else 1)
    with suppress(subprocess.TimeoutExpired):  # killed, and held by the system: there is no more to do
        process.wait(GRACE)


def _end_stragglers(mark: str, quiet_rounds: int) -> None:
    """Kill what bears the mark until several looks in a row find none: one that forks just then is missed."""
    quiet = 0
    for _ in range(_ROUNDS):
        quiet = 0 if _end_marked(mark) else quiet + 1
        if quiet == quiet_rounds:
            break


def _descendants(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    try:
        return list(psutil.Process(process.pid).children(recursive=True))
    except psutil.Error:  # it has ended meanwhile, so it has none
        return []


def _end_group(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):  # macOS says so of a group of the dead
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        process.kill()


def _end_marked(mark: str) -> int:
    """Kill every process that bears the mark; how many there were."""
    ended = 0
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):  # another user's, or gone since it was listed
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                process.kill()
                ended += 1
                _wait_until_dead(process)
    return ended


def _wait_until_dead(process: psutil.Process) -> None:
    """Until it has gone, or only waits to be collected by its parent (which is not us); a second at most."""
    with suppress(psutil.Error):  # gone, which is what is waited for
        for _ in range(200):
            if process.status() == psutil.STATUS_ZOMBIE:
                return
            time.sleep(0.005)
