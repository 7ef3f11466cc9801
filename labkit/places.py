"""Where things lie: the shipped labs and playground, and the learner's own folder.

The same code runs from a clone (the labs stand beside labkit) and from a plain install (the wheel carries
them inside labkit). Nothing here depends on the current folder, except the learner's own folder in a plain
install, which has no clone to stand in.
"""

from __future__ import annotations

import os
from pathlib import Path

WORKSPACE_VARIABLE = "LABKIT_WORKSPACE"
WORKSPACE_NAME = "my_labs"
STATE_FOLDER = ".labkit"
"""The hidden folder that marks a folder as a learner's own, and holds what labkit remembers about it."""

_PACKAGE = Path(__file__).resolve().parent


def clone() -> Path | None:
    """The clone that labkit runs from, or None in a plain install."""
    root = _PACKAGE.parent
    return root if (root / "pyproject.toml").is_file() and (root / "labs").is_dir() else None


def labs_dir() -> Path:
    """The folder of the shipped, built notebooks."""
    root = clone()
    return root / "labs" if root else _PACKAGE / "_labs"


def shipped_playground() -> Path:
    """The playground as it is shipped; the agent's tools work on a copy of it."""
    root = clone()
    return root / "playground" if root else _PACKAGE / "_playground"


def find_workspace() -> Path:
    """The learner's own folder, whether or not it exists yet.

    In this order: the folder that LABKIT_WORKSPACE names; the folder around the current one that is marked
    as a learner's own (so a notebook opened in any editor finds its own); `my_labs` in the clone; `my_labs`
    here.
    """
    named = os.environ.get(WORKSPACE_VARIABLE, "").strip()
    if named:
        return Path(named).expanduser().absolute()
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / STATE_FOLDER).is_dir():
            return folder
    return (clone() or here) / WORKSPACE_NAME


def workspace() -> Path:
    """The learner's own folder; made, with its mark, when it is not there yet.

    Raises OSError when it cannot be made: `labkit doctor` says why.
    """
    folder = find_workspace()
    (folder / STATE_FOLDER).mkdir(parents=True, exist_ok=True)
    return folder


def state_file() -> Path:
    """The file that holds the learner's progress; its folder exists, the file may not."""
    return workspace() / STATE_FOLDER / "progress.json"
