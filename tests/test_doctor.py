"""Each check of `labkit doctor` finds its trouble, and names one thing to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from labkit import doctor
from labkit.doctor import CHECKS, Finding, examine
from labkit.strays import Process, stray_processes


def test_every_check_answers_and_none_breaks_the_others():
    findings = list(examine())
    assert len(findings) == len(CHECKS)
    assert all("could not be checked" not in finding.text for finding in findings)


def test_a_finding_says_ok_or_the_one_fix():
    assert str(Finding("Python", "3.11.7")) == "[ok]  Python: 3.11.7"
    assert str(Finding("Python", "too old", "Get a newer one.")).splitlines() == [
        "[fix] Python: too old",
        "      -> Get a newer one.",
    ]


@pytest.mark.parametrize(("version", "ok"), [((3, 10, 13), False), ((3, 11, 0), True), ((3, 14, 1), True)])
def test_python_must_be_new_enough(version, ok):
    assert doctor.check_python(version).ok is ok


def test_labkit_wants_an_environment_of_its_own(monkeypatch):
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    assert doctor.check_environment("/home/me/.venv", "/usr").ok
    assert "-m venv" in doctor.check_environment("/usr", "/usr").fix


@pytest.mark.parametrize("need", ["click>=99", "no-such-package-anywhere>=1"])
def test_a_package_that_is_missing_or_too_old_is_named_with_the_command_that_mends_it(need):
    finding = doctor.check_packages(["rich", need])
    assert f'-m pip install "{need}"' in finding.fix


def test_a_requirement_for_another_system_does_not_count():
    assert doctor.check_packages(["no-such-package; sys_platform == 'none'", "other; extra == 'test'"]).ok


def test_a_kernel_from_elsewhere_is_found(tmp_path, monkeypatch):
    folder = tmp_path / "kernels" / "python3"
    folder.mkdir(parents=True)
    spec = {"argv": ["/somewhere/else/python"], "display_name": "Other", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    finding = doctor.check_kernel()
    assert "/somewhere/else/python" in finding.text
    assert str(folder) in finding.fix


def widgets_made_for(folder: Path, jupyterlab: str) -> list[str]:
    place = folder / "@jupyter-widgets" / "jupyterlab-manager"
    place.mkdir(parents=True)
    package = {"version": "5.0.0", "dependencies": {"@jupyterlab/application": jupyterlab}}
    (place / "package.json").write_text(json.dumps(package), encoding="utf-8")
    return [str(folder)]


def test_the_installed_widgets_fit_the_installed_jupyterlab():
    assert doctor.check_widgets().ok


def test_widgets_for_another_jupyterlab_are_found(tmp_path):
    assert "JupyterLab ^3.0.0" in doctor.check_widgets(widgets_made_for(tmp_path, "^3.0.0")).text


def test_missing_widgets_are_found(tmp_path):
    assert "jupyterlab_widgets" in doctor.check_widgets([str(tmp_path)]).fix


@pytest.mark.parametrize(("output", "files"), [("cp1252", "utf-8"), ("ascii", "utf-8"), ("utf-8", "ascii")])
def test_an_encoding_that_lacks_letters_is_found(output, files):
    assert "PYTHONUTF8=1" in doctor.check_encoding(output, files).fix
    assert doctor.check_encoding("utf-8", "utf-8").ok


def test_a_folder_that_cannot_be_written_is_found(tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    assert "labkit lab FOLDER" in doctor.check_write_access(tmp_path / "file" / "labs").fix


def test_write_access_is_checked_without_making_the_folder_or_leaving_anything(tmp_path):
    assert doctor.check_write_access(tmp_path / "labs").ok
    assert list(tmp_path.iterdir()) == []


def test_an_address_that_is_not_this_machines_is_no_free_port():
    assert doctor.check_free_port().ok
    assert "firewall" in doctor.check_free_port("203.0.113.1").fix


def test_left_over_processes_are_named_with_their_numbers():
    finding = doctor.check_stray_processes(
        lambda: [Process(41, "JupyterLab"), Process(42, "a notebook's kernel")]
    )
    assert "41" in finding.fix and "42" in finding.fix
    assert doctor.check_stray_processes(lambda: []).ok


def test_no_key_is_needed_and_a_key_alone_changes_nothing(monkeypatch):
    assert "understudy" in doctor.check_model().text
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-key")
    finding = doctor.check_model()
    assert finding.ok and "understudy" in finding.text
    assert "sk-not-a-key" not in str(finding)


def test_a_named_model_without_a_key_is_found(monkeypatch):
    monkeypatch.setenv("LABKIT_MODEL", "some-model")
    assert "OPENAI_API_KEY" in doctor.check_model().fix
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-key")
    assert doctor.check_model().ok


def test_a_misspelt_understudy_is_found(monkeypatch):
    monkeypatch.setenv("LABKIT_MODEL", "understudy-9k")
    assert "understudy-8k" in doctor.check_model().fix


@pytest.mark.skipif(os.name != "posix", reason="signal.pause is POSIX only")
def test_a_kernel_whose_parent_is_gone_is_a_stray_and_one_that_is_looked_after_is_not(workspace):
    waiting = [sys.executable, "-c", "import signal; signal.pause()", "ipykernel_launcher"]
    orphaning = (
        "import subprocess, sys\n"
        f"print(subprocess.Popen({waiting!r}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)"
    )
    environment = {**os.environ, "LABKIT_WORKSPACE": str(workspace)}
    looked_after = subprocess.Popen(waiting, env=environment)
    done = subprocess.run(
        [sys.executable, "-c", orphaning], env=environment, capture_output=True, text=True, check=True
    )
    orphan = psutil.Process(int(done.stdout))
    try:
        numbers = [stray.number for stray in stray_processes()]
        assert orphan.pid in numbers
        assert looked_after.pid not in numbers
    finally:
        orphan.kill()
        looked_after.kill()
        looked_after.wait()
