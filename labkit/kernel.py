"""Which Python a notebook runs on: labkit's own, whatever else is called `python3` on this computer.

A notebook names its kernel `python3`. Jupyter looks that name up along a path on which a user's own folder,
or one from another course, may come first, and then labkit cannot be imported. So labkit writes a kernel of
that name into the learner's folder and puts it first on that path, for the processes it starts and no other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from labkit.places import STATE_FOLDER, WORKSPACE_VARIABLE

KERNEL_NAME = "python3"


@dataclass(frozen=True)
class Kernel:
    """A kernel as Jupyter would find it: the command's first word, and the folder of its description."""

    interpreter: str
    folder: Path | None


def write_kernel(workspace: Path) -> Path:
    """Describe this Python as the kernel `python3` in the learner's folder; returns the folder to search."""
    data = workspace / STATE_FOLDER / "jupyter"
    folder = data / "kernels" / KERNEL_NAME
    folder.mkdir(parents=True, exist_ok=True)
    description = {
        "argv": [
            sys.executable,
            "-Xfrozen_modules=off",
            "-m",
            "ipykernel_launcher",
            "-f",
            "{connection_file}",
        ],
        "display_name": "Python 3 (labkit)",
        "language": "python",
        "metadata": {"debugger": True},
    }
    text = json.dumps(description, indent=1)
    file = folder / "kernel.json"
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
    return data


def kernel_environment(workspace: Path, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for Jupyter and for kernels: they run on this Python and know the learner's folder."""
    environment = dict(os.environ if base is None else base)
    environment[WORKSPACE_VARIABLE] = str(workspace)
    environment["JUPYTER_PATH"] = _first(write_kernel(workspace), environment.get("JUPYTER_PATH", ""))
    return environment


def find_kernel() -> Kernel:
    """The kernel that `python3` means to Jupyter when it is started without labkit, as by an editor."""
    from jupyter_client.kernelspec import KernelSpecManager

    spec = KernelSpecManager().get_kernel_spec(KERNEL_NAME)
    first = spec.argv[0]
    # Jupyter takes these words for the Python that it runs on itself.
    own = {"python", "python3", f"python3.{sys.version_info[1]}"}
    return Kernel(
        sys.executable if first in own else first, Path(spec.resource_dir) if spec.resource_dir else None
    )


def same_environment(interpreter: str) -> bool:
    """Whether a Python sees the packages that this one sees; False when it cannot be run."""
    command = [interpreter, "-c", "import sys; print(sys.prefix)"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return False  # gone, not a Python, or hanging: in any case not this one
    return os.path.normcase(done.stdout.strip()) == os.path.normcase(sys.prefix)


def _first(folder: Path, path: str) -> str:
    """A search path with a folder at its front, once."""
    rest = [part for part in path.split(os.pathsep) if part and part != str(folder)]
    return os.pathsep.join([str(folder), *rest])
