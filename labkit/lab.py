"""`labkit lab`: JupyterLab, opened on the learner's copy of a lab, on this Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from labkit.kernel import kernel_environment
from labkit.places import STATE_FOLDER

_QUIET = {
    # JupyterLab would ask at its first start whether to fetch news; the labs need no network.
    "disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True},
}
_PREFERRED = {
    # Long lines are broken: in a narrow window nobody reads the end of a task by scrolling sideways. It is a
    # default; whoever has set this in JupyterLab keeps what they set.
    "@jupyterlab/notebook-extension:tracker": {"codeCellConfig": {"lineNumbers": False, "lineWrap": True}},
}


def lab_command(
    notebook: Path, *, browser: bool = True, port: int | None = None, extra: Sequence[str] = ()
) -> list[str]:
    """The command that opens a notebook in JupyterLab; `extra` goes to JupyterLab as it is."""
    return [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={notebook.parent}",
        f"--LabApp.default_url=/lab/tree/{quote(notebook.name)}",  # so that the printed address opens it too
        "--ServerApp.answer_yes=True",  # Ctrl-C ends it at once, without a question
        *(["--allow-root"] if _is_root() else []),
        *([] if browser else ["--no-browser"]),
        *([] if port is None else [f"--port={port}"]),
        *extra,
    ]


def _is_root() -> bool:
    """In a container one is often root, where JupyterLab asks for a word of its own before it starts."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def lab_environment(workspace: Path) -> dict[str, str]:
    """The environment for JupyterLab. The user's own Jupyter settings stay in force and as they are."""
    environment = kernel_environment(workspace)
    config = workspace / STATE_FOLDER / "jupyter" / "config"
    (config / "labconfig").mkdir(parents=True, exist_ok=True)
    for name, content in (("page_config", _QUIET), ("default_setting_overrides", _PREFERRED)):
        file = config / "labconfig" / f"{name}.json"
        file.write_text(json.dumps(content, indent=1), encoding="utf-8")
    rest = environment.get("JUPYTER_CONFIG_PATH", "")
    environment["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, [str(config), rest]))
    # What was open when the labs were last closed is theirs, not that of another course on this computer.
    environment.setdefault(
        "JUPYTERLAB_WORKSPACES_DIR", str(workspace / STATE_FOLDER / "jupyter" / "workspaces")
    )
    return environment


def run_lab(command: Sequence[str], environment: dict[str, str]) -> int:
    """Become JupyterLab; where the system cannot do that (Windows), wait for it. Returns its exit status."""
    if os.name == "posix":
        sys.stdout.flush()
        os.execve(command[0], list(command), environment)
    process = subprocess.Popen(command, env=environment)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # Ctrl-C reached JupyterLab too; it is closing its kernels
