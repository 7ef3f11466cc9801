"""Processes that a lab left behind: kernels and servers whose parent is gone.

A process of the labs is known by LABKIT_WORKSPACE in its environment: `labkit lab` and `labkit run` set it.
It is a stray when nobody is left who would end it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import psutil

from labkit.places import WORKSPACE_VARIABLE

_KINDS = {"ipykernel_launcher": "a notebook's kernel", "jupyterlab": "JupyterLab", "labkit": "labkit"}
_ADOPTERS = {"systemd", "init", "launchd"}
"""Who takes in a process whose parent has ended."""


@dataclass(frozen=True)
class Process:
    """A process: its number, and what it is in words."""

    number: int
    what: str


def stray_processes() -> list[Process]:
    """The labs' processes of this user that nobody looks after any more, by number."""
    found = []
    for process in psutil.process_iter():
        try:
            kind = _kind(process)
            if kind and process.pid != os.getpid() and _is_left_over(process):
                found.append(Process(process.pid, kind))
        except psutil.Error:
            continue  # ended meanwhile, or another user's
    return sorted(found, key=lambda stray: stray.number)


def _kind(process: psutil.Process) -> str:
    """What a process of the labs is; empty for all others."""
    words = process.cmdline()
    if len(words) < 2 or "python" not in Path(words[0]).name.lower():
        return ""
    for word in words[1:]:
        for name, kind in _KINDS.items():
            if word == name or Path(word).name in (name, f"{name}.exe"):
                return kind if WORKSPACE_VARIABLE in process.environ() else ""
    return ""


def _is_left_over(process: psutil.Process) -> bool:
    parent = process.parent()
    if parent is None:
        return True
    if parent.name() in _ADOPTERS:
        return True
    # In a container the first process may be the very server that started this one.
    return parent.pid == 1 and not any("jupyter" in word or "labkit" in word for word in parent.cmdline())
