"""What a command may know of its surroundings: a short list of variables, and `python` as it runs here."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

# An allow-list: whatever else is in the environment (keys above all) does not reach a command.
_KEPT = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
_KEPT_ON_WINDOWS = ("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "NUMBER_OF_PROCESSORS")
_FIXED = {
    "PYTHONUTF8": "1",
    "PYTHONUNBUFFERED": "1",  # what was printed before a time limit struck is then there to read
    "PYTHONDONTWRITEBYTECODE": "1",  # no __pycache__ folders among the learner's files
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}

MARK = "LABKIT_COMMAND"
"""The variable that marks all processes of one command, so that stragglers can be found."""


def command_environment(
    folder: Path, scratch: Path, mark: str = "", source: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The whole environment of a command that runs in `folder`. `scratch` is for its temporary files.

    `source` is where the few kept variables come from (default: this process's environment). Writes the small
    programs `python` and `python3` to `scratch`, so that both mean the interpreter that labkit runs on.
    """
    source = os.environ if source is None else source
    names = _KEPT + (_KEPT_ON_WINDOWS if os.name == "nt" else ())
    kept = {name: source[name] for name in names if name in source}
    temporary = scratch / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join([str(_python_programs(scratch)), source.get("PATH", os.defpath)])
    places = {"PATH": path, "HOME": str(folder), "USERPROFILE": str(folder)}
    temporaries = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    return {"LANG": "C.UTF-8"} | kept | _FIXED | places | temporaries | {MARK: mark}


def _python_programs(scratch: Path) -> Path:
    folder = scratch / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("python", "python3"):
        if os.name == "nt":
            (folder / f"{name}.bat").write_text(f'@"{sys.executable}" %*\r\n', encoding="utf-8")
        else:
            # A script, not a link: a link to a virtual environment's python would not find its packages.
            program = folder / name
            program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
            program.chmod(stat.S_IRWXU)
    return folder
