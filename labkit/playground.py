"""The agent's tools for files and commands, and the one folder in which they work.

The file tools cannot leave the playground (see `labkit.sandbox`); a command is a program of its own, so it is
asked for first when a real model is connected (see `labkit.command`).
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

from labkit.errors import SetupError
from labkit.file_tools import PlaygroundTools
from labkit.places import shipped_playground, workspace
from labkit.tools import Toolbox

__all__ = ["fresh_playground", "playground_folder", "playground_tools"]

PREVIOUS = ".previous"
_LEFT_BEHIND = shutil.ignore_patterns("__pycache__", ".DS_Store", ".git")


def playground_tools(
    root: str | os.PathLike[str] | None = None, ask: Callable[[str], bool] | None = None
) -> Toolbox:
    """The six tools that work in the playground: list_files, read_file, write_file, edit_file, search_text
    and run_command.

    `root` is the folder; None is the learner's own playground, copied from the shipped one at first use.
    `ask` is asked with each command before it runs, and says whether it may; None lets every command run.
    Raises SetupError when the folder is not there.

    >>> playground_tools(fresh_playground("example")).names[:2]
    ['list_files', 'read_file']
    """
    folder = playground_folder() if root is None else Path(root)
    if not folder.is_dir():
        raise SetupError(f"There is no folder {folder}.", "Make it first, or use fresh_playground(name).")
    tools = PlaygroundTools(folder, ask)
    return Toolbox(
        [
            tools.list_files,
            tools.read_file,
            tools.write_file,
            tools.edit_file,
            tools.search_text,
            tools.run_command,
        ]
    )


def playground_folder() -> Path:
    """The learner's own playground; copied from the shipped one when it is not there yet."""
    folder = workspace() / "playground"
    if not folder.is_dir():
        _copy_to(folder)
    return folder


def fresh_playground(name: str) -> Path:
    """A fresh copy of the shipped playground under this name, for an experiment that changes files.

    The copy that was there goes to `<name>.previous`, and the one before that is removed. Raises SetupError
    for a name that is not a plain word, and when the folders cannot be written.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}", name) or name.endswith((".", PREVIOUS)):
        fix = "Use letters, digits, - and _, such as lab3 or two-tasks."
        raise SetupError(f"{name!r} cannot be a playground's name.", fix)
    folder = workspace() / "playgrounds" / name
    try:
        if folder.exists():
            previous = folder.with_name(name + PREVIOUS)
            if previous.exists():
                shutil.rmtree(previous)
            folder.rename(previous)
    except OSError as error:
        fix = "Close what is open in it (an editor, a terminal), or use another name."
        raise SetupError(f"The old {folder} cannot be set aside ({error.strerror}).", fix) from error
    _copy_to(folder)
    return folder


def _copy_to(folder: Path) -> None:
    """Copy the shipped playground, so that a folder of this name is whole or not there."""
    draft = folder.with_name(f".{uuid.uuid4().hex}.draft")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(shipped_playground(), draft, ignore=_LEFT_BEHIND)
        draft.rename(folder)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        if folder.is_dir():  # two kernels at once: the other one was quicker, and its copy is as good
            return
        fix = "Run `labkit doctor`: it says what stands in the way."
        raise SetupError(f"The playground cannot be copied to {folder} ({error}).", fix) from error
