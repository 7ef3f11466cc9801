"""Notebooks run on labkit's own Python, whatever else this computer calls `python3`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.kernel import find_kernel, kernel_environment, same_environment, write_kernel


def plant_kernel(folder: Path, interpreter: str) -> Path:
    """A kernel `python3` of somebody else's."""
    (folder / "kernels" / "python3").mkdir(parents=True)
    spec = {"argv": [interpreter, "-m", "other"], "display_name": "Other", "language": "python"}
    (folder / "kernels" / "python3" / "kernel.json").write_text(json.dumps(spec))
    return folder


def kernel_seen_with(environment: dict[str, str]) -> str:
    code = "from labkit.kernel import find_kernel; print(find_kernel().interpreter)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_kernel_of_the_same_name_elsewhere_is_passed_over(workspace, tmp_path):
    other = plant_kernel(tmp_path / "other", "/somewhere/else/python3.9")
    base = {**os.environ, "JUPYTER_PATH": str(other)}
    assert kernel_seen_with(base) == "/somewhere/else/python3.9"
    assert kernel_seen_with(kernel_environment(workspace, base)) == sys.executable


def test_the_search_path_does_not_grow_when_labkit_starts_from_labkit(workspace):
    once = kernel_environment(workspace)
    assert kernel_environment(workspace, once) == once


def test_the_environment_names_the_learners_folder(workspace):
    assert kernel_environment(workspace)["LABKIT_WORKSPACE"] == str(workspace)


def test_writing_the_kernel_again_leaves_the_file_alone(workspace):
    file = write_kernel(workspace) / "kernels" / "python3" / "kernel.json"
    os.utime(file, (1, 1))
    write_kernel(workspace)
    assert file.stat().st_mtime == 1


def test_a_planted_kernel_is_found_as_an_editor_would_find_it(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(plant_kernel(tmp_path, "/somewhere/else/python3.9")))
    kernel = find_kernel()
    assert kernel.interpreter == "/somewhere/else/python3.9"
    assert kernel.folder == tmp_path / "kernels" / "python3"


def test_a_kernel_that_says_only_python_means_the_python_jupyter_runs_on(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(plant_kernel(tmp_path, "python")))
    assert find_kernel().interpreter == sys.executable


def test_this_python_is_in_its_own_environment():
    assert same_environment(sys.executable)


@pytest.mark.parametrize("interpreter", ["/no/such/python", os.devnull])
def test_a_python_that_cannot_run_is_not_in_this_environment(interpreter):
    assert not same_environment(interpreter)
