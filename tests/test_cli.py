"""The command `labkit`: what a person types, and what comes back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labkit.cli import cli
from labkit.errors import SetupError
from labkit.lab import lab_command, lab_environment


def labkit(*words: str) -> Result:
    return CliRunner().invoke(cli, words, prog_name="labkit")


def labkit_process(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "labkit", *words],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="backslashreplace",
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_every_command_explains_itself(command):
    answer = labkit(command, "--help")
    assert answer.exit_code == 0
    assert cli.commands[command].get_short_help_str()


def test_a_mistyped_command_is_answered_with_the_nearest():
    answer = labkit("docter")
    assert answer.exit_code == 2
    assert "Did you mean 'doctor'?" in answer.output


def test_a_mistyped_option_is_answered_with_the_nearest():
    assert "Did you mean '--no-browser'?" in labkit("lab", "--no-brwser").output


def test_an_error_of_labkits_own_is_a_short_paragraph_without_a_traceback():
    answer = labkit("reset", "77")
    assert answer.exit_code == 1
    assert "There is no lab '77'." in answer.output
    assert "Traceback" not in answer.output
    assert len(answer.output.strip().splitlines()) == 3


def test_any_labkit_error_from_any_command_is_shown_that_way():
    @cli.command("broken-on-purpose")
    def broken() -> None:
        raise SetupError("The disk is full.", "Make room.")

    try:
        answer = labkit("broken-on-purpose")
    finally:
        del cli.commands["broken-on-purpose"]
    more = "More: troubleshooting.html#setup (`labkit render` makes the pages).\n"
    assert (answer.exit_code, answer.output) == (1, f"The disk is full.\nMake room.\n{more}")


def test_what_the_system_refuses_is_a_short_paragraph_too(workspace):
    (workspace / "01_minimal_loop.ipynb").mkdir(parents=True)
    answer = labkit("reset", "01")
    assert answer.exit_code == 1
    assert answer.output.startswith("The system does not allow that (")
    assert "01_minimal_loop.ipynb" in answer.output and "labkit doctor" in answer.output


def test_a_file_in_place_of_the_state_folder_is_named_by_every_command(workspace):
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / ".labkit").write_text("mine", encoding="utf-8")
    assert "[fix] Write access" in labkit("doctor").output
    assert ".labkit" in labkit("chat", "--task", "hello").output


@pytest.mark.parametrize("notebook", ['{"cells": [5]}', "{", '{"cells": [{"cell_type": "code"}]}'])
def test_running_a_broken_notebook_says_so(tmp_path, notebook):
    (tmp_path / "mine.ipynb").write_text(notebook, encoding="utf-8")
    answer = labkit("run", str(tmp_path / "mine.ipynb"))
    assert answer.exit_code == 1
    assert "is not a notebook" in answer.output


@pytest.mark.parametrize("fault", ["429:x", "429:0", "429:-2"])
def test_a_fault_that_never_comes_is_refused(fault):
    answer = labkit("serve", "--fault", fault)
    assert answer.exit_code == 2
    assert "write for example 429:2" in answer.output


def test_doctor_exits_with_1_when_there_is_something_to_fix(monkeypatch):
    monkeypatch.setenv("LABKIT_MODEL", "some-model")
    answer = labkit("doctor")
    assert answer.exit_code == 1
    assert "[fix] Model" in answer.output


def test_a_terminal_without_letters_for_it_gets_question_marks_not_a_traceback(tmp_path):
    folder = tmp_path / "中文 labs"
    answer = labkit_process(
        "doctor", cwd=tmp_path, PYTHONIOENCODING="latin-1", PYTHONUTF8="0", LABKIT_WORKSPACE=str(folder)
    )
    assert "UnicodeEncodeError" not in answer.stderr
    assert "?? labs" in answer.stdout
    assert "[fix] Encoding" in answer.stdout


def test_resetting_a_lab_says_where_the_backup_is_and_forgets_its_progress(workspace):
    from labkit.checks import progress

    labkit("reset", "01")
    progress.change("1.1", lambda record: progress.Record(state="passed", passed=True))
    answer = labkit("reset", "01")
    assert "Backup: " in answer.output
    assert not progress.record_of("1.1").passed


def test_progress_lists_every_exercise(workspace):
    answer = labkit("progress")
    assert answer.exit_code == 0
    assert "1.1" in answer.output


def test_jupyterlab_is_started_by_this_python_on_the_learners_copy(tmp_path):
    command = lab_command(tmp_path / "01_x.ipynb", browser=False, port=9001, extra=["--debug"])
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert {"--no-browser", "--port=9001", "--debug"} <= set(command)
    assert f"--ServerApp.root_dir={tmp_path}" in command


def test_the_users_own_jupyter_settings_stay_in_force(workspace, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/my/own")
    environment = lab_environment(workspace)
    assert environment["JUPYTER_CONFIG_PATH"].split(os.pathsep)[1:] == ["/my/own"]
    assert (
        "JUPYTER_CONFIG_DIR" not in environment
        or environment["JUPYTER_CONFIG_DIR"] == os.environ["JUPYTER_CONFIG_DIR"]
    )
