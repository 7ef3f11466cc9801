"""The process between labkit and a command, on Linux: no descendant of the command outlives it.

It makes itself the parent of every orphan below it (PR_SET_CHILD_SUBREAPER), so even a process that has put
itself into a new session and lost its parent becomes its child. When the command has ended, or labkit has
closed the control pipe (or died), it ends its children until there are none left.

Run as a file by an isolated interpreter, so it imports nothing but the standard library:
`python -I -S supervisor.py CONTROL_FD COMMAND...`
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
BREATH = 0.005  # seconds between two rounds of ending children


def main(control: int, command: list[str]) -> int:
    """Run the command, end everything it leaves, and return its exit code (128 + n for signal n)."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.set_inheritable(control, False)
    child_ended = _child_signal()
    process = subprocess.Popen(command, start_new_session=True)
    while process.poll() is None:
        ready, _, _ = select.select([control, child_ended], [], [])
        if control in ready:
            break
        os.read(child_ended, 4096)
    end_children()
    code = process.returncode
    if code is None:
        return 128 + signal.SIGKILL
    return code if code >= 0 else 128 - code


def _child_signal() -> int:
    """A descriptor that can be read whenever a child has ended."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # with the default handling nothing would be written
    return reader


def end_children() -> None:
    """Kill the children, and the orphans that become children by that, until there are none to kill."""
    while True:
        found = children()
        refused = [child for child in found if not _kill(child)]
        _reap()
        if len(refused) == len(found):
            return
        time.sleep(BREATH)


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:  # it was quicker
        return True
    except PermissionError:  # it has become another user's
        return False
    return True


def _reap() -> None:
    """Collect the dead children, so that they are not found again."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:  # no child is left
        return


def children() -> list[int]:
    """The processes whose parent is this one, from /proc."""
    me = os.getpid()
    numbered = (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [int(entry.name) for entry in numbered if _parent(entry) == me]


def _parent(entry: Path) -> int:
    try:
        # pid (name) state parent ...: the name may hold spaces and brackets, so read from the last bracket.
        found = (entry / "stat").read_text(encoding="utf-8", errors="replace")
        return int(found.rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0  # it has gone since it was listed


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
