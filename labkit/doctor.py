"""`labkit doctor`: is this computer set up for the labs, and if not, what is the one thing to do?

Each check is a small function that returns a `Finding`. What it looks at are its arguments, with this
computer's own values as defaults.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from labkit.errors import LabkitError
from labkit.kernel import find_kernel, same_environment
from labkit.places import STATE_FOLDER, find_workspace
from labkit.strays import Process, stray_processes

OLDEST_PYTHON = (3, 11)
DISTRIBUTION = "agent-loop-labs"


@dataclass(frozen=True)
class Finding:
    """What one check found. `fix` is the one thing to do; it is empty when all is well."""

    name: str
    text: str
    fix: str = ""

    @property
    def ok(self) -> bool:
        return not self.fix

    def __str__(self) -> str:
        line = f"{'[ok]' if self.ok else '[fix]':<6}{self.name}: {self.text}"
        return line if self.ok else f"{line}\n      -> {self.fix}"


def examine() -> Iterator[Finding]:
    """Every check in turn, the ground first: a later one may only be wrong because an earlier one is."""
    for check in CHECKS:
        try:
            yield check()
        except Exception as error:
            # A check that breaks is itself a finding; the others still run.
            name = check.__name__.removeprefix("check_").replace("_", " ").capitalize()
            yield Finding(
                name, f"could not be checked ({type(error).__name__}: {error})", "Install labkit again."
            )


def check_python(found: tuple[int, ...] = sys.version_info[:3]) -> Finding:
    """The interpreter's version."""
    text = ".".join(map(str, found))
    if found[:2] >= OLDEST_PYTHON:
        return Finding("Python", f"{text} at {sys.executable}")
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return Finding(
        "Python", f"{text} is too old", f"Install Python {oldest} or later, and make the environment with it."
    )


def check_environment(prefix: str = sys.prefix, base: str = sys.base_prefix) -> Finding:
    """Whether labkit has an environment of its own, so that nothing else changes its packages."""
    if prefix != base or os.environ.get("CONDA_PREFIX"):
        return Finding("Environment", prefix)
    return Finding(
        "Environment",
        f"labkit is installed into the computer's own Python ({prefix})",
        "Make one for the labs (python -m venv .venv) and install labkit there.",
    )


def check_packages(needed: list[str] | None = None) -> Finding:
    """Whether every package that labkit needs is there, in a version that fits."""
    from packaging.requirements import Requirement

    needed = [*(requires(DISTRIBUTION) or []), *(requires("ipywidgets") or [])] if needed is None else needed
    for line in needed:
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            found = version(requirement.name)
        except PackageNotFoundError:
            found = "nothing"
        if found == "nothing" or not requirement.specifier.contains(found, prereleases=True):
            text = f"labkit needs {requirement.name} {requirement.specifier}, and {found} is installed"
            return Finding("Packages", text, _install(f'"{requirement.name}{requirement.specifier}"'))
    return Finding("Packages", f"labkit {version(DISTRIBUTION)} has what it needs")


def _install(what: str, has_pip: bool = find_spec("pip") is not None) -> str:
    """The command that installs into this environment; one that uv made has no pip."""
    if has_pip:
        return f"{sys.executable} -m pip install {what}"
    return f"uv pip install --python {sys.executable} {what.replace('--force-reinstall', '--reinstall')}"


def check_kernel() -> Finding:
    """Whether notebooks run on this Python, also when something other than `labkit lab` opens them."""
    kernel = find_kernel()
    if same_environment(kernel.interpreter):
        return Finding("Kernel", f"notebooks run on {kernel.interpreter}")
    return Finding(
        "Kernel",
        f"outside `labkit lab`, notebooks would run on {kernel.interpreter}, not on {sys.executable}",
        f"Use `labkit lab`, which picks the right one; for other editors, remove {kernel.folder}",
    )


def check_vocabulary() -> Finding:
    """Whether the tokenizer loads from the shipped vocabulary, whose hash is checked on the way."""
    from labkit.vocabulary import load_encoding

    try:
        encoding = load_encoding()
    except LabkitError as error:
        return Finding("Vocabulary", error.what, error.fix or "Install labkit again.")
    return Finding("Vocabulary", f"{encoding.name}, {encoding.n_vocab:,} tokens, no network needed")


def check_widgets(folders: list[str] | None = None) -> Finding:
    """Whether JupyterLab can show ipywidgets: their extension is there, and made for its version."""
    from jupyter_core.paths import jupyter_path

    lab = version("jupyterlab")
    fix = _install("--force-reinstall jupyterlab_widgets")
    for folder in jupyter_path("labextensions") if folders is None else folders:
        file = Path(folder) / "@jupyter-widgets" / "jupyterlab-manager" / "package.json"
        if file.is_file():
            made_for = json.loads(file.read_text(encoding="utf-8"))["dependencies"]["@jupyterlab/application"]
            if lab.partition(".")[0] == made_for.lstrip("^~>=").partition(".")[0]:
                return Finding("Widgets", f"ipywidgets {version('ipywidgets')} in JupyterLab {lab}")
            return Finding(
                "Widgets", f"their extension ({file}) is for JupyterLab {made_for}, not {lab}", fix
            )
    return Finding("Widgets", f"JupyterLab {lab} has no extension to show them", fix)


def check_encoding(output: str | None = None, files: str | None = None) -> Finding:
    """Whether text in any script can be printed and can stand in a file's name."""
    output = output or getattr(sys.stdout, "encoding", None) or "ascii"
    files = files or sys.getfilesystemencoding()
    for what, encoding in (("file names", files), ("output", output)):
        try:
            "é 中文 ≈".encode(encoding)
        except (UnicodeEncodeError, LookupError):
            fix = "Set PYTHONUTF8=1 in your environment, and start again."
            return Finding(
                "Encoding", f"{what} in {encoding}, which lacks the letters of many languages", fix
            )
    return Finding("Encoding", f"file names {files}, output {output}")


def check_write_access(folder: Path | None = None) -> Finding:
    """Whether the learner's folder, or the folder it will be made in, can be written."""
    folder = folder or find_workspace()
    there = next(place for place in (folder, *folder.parents) if place.exists())
    mark = folder / STATE_FOLDER
    if mark.exists() and not mark.is_dir():
        return Finding(
            "Write access", f"{mark} is a file, and labkit keeps a folder there", "Rename that file."
        )
    probe = there / f".labkit-doctor-{os.getpid()}"
    try:
        probe.write_text("中文", encoding="utf-8")
        probe.unlink()
    except OSError as error:
        return Finding(
            "Write access", f"{there}: {error.strerror}", "Name a folder you can write to: labkit lab FOLDER"
        )
    return Finding("Write access", str(folder) if folder == there else f"{folder} (not made yet)")


def check_free_port(host: str = "127.0.0.1") -> Finding:
    """Whether this computer can talk to itself: the understudy and JupyterLab both need it."""
    try:
        with socket.create_server((host, 0)) as server:
            server.settimeout(5)
            port = server.getsockname()[1]
            with socket.create_connection((host, port), timeout=5):
                server.accept()[0].close()
    except OSError as error:
        fix = f"Let your firewall allow connections from this computer to itself ({host})."
        return Finding("Free port", f"no connection to {host}: {error}", fix)
    return Finding("Free port", f"{host}:{port} answers")


def check_stray_processes(find: Callable[[], list[Process]] = stray_processes) -> Finding:
    """Whether kernels or servers of the labs are left over from a session that is gone."""
    strays = find()
    if not strays:
        return Finding("Stray processes", "none")
    numbers = " ".join(str(stray.number) for stray in strays)
    fix = (
        f"kill {numbers}"
        if os.name == "posix"
        else f"taskkill /F {' '.join(f'/PID {s.number}' for s in strays)}"
    )
    return Finding("Stray processes", "; ".join(f"{stray.what} ({stray.number})" for stray in strays), fix)


def check_model() -> Finding:
    """Which model the labs would use. A key is optional; one that happens to be there changes nothing."""
    from labkit.connect import KEY, MODEL, OWN_KEY, connect, read_settings
    from labkit.understudy.models import MODELS

    settings = read_settings()
    key = "a key is set" if settings.get(KEY) or settings.get(OWN_KEY) else "no key is set"
    name = settings.get(MODEL)
    if not name:
        return Finding("Model", f"the understudy, offline and free ({key}; none is needed)")
    try:
        if (
            name not in MODELS
        ):  # connecting to an understudy would start a server; to a service, it sends nothing
            connect(name)
    except LabkitError as error:
        return Finding("Model", error.what, error.fix)
    return Finding("Model", f"{name} ({key})")


CHECKS: tuple[Callable[[], Finding], ...] = (
    check_python,
    check_environment,
    check_packages,
    check_kernel,
    check_vocabulary,
    check_widgets,
    check_encoding,
    check_write_access,
    check_free_port,
    check_stray_processes,
    check_model,
)
