"""Labs run headless: forms, what is recorded, what goes wrong, and that nobody's own progress is touched."""

from __future__ import annotations

import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil
import pytest

from labkit.checks import progress
from labkit.errors import NotebookError
from labkit.lab_run import faults, report, run_labs
from labkit.notebooks import execute, exercises_of, read_notebook, solution_form

STUB = '''# Exercise 1.1
def estimate_tokens(messages, chars_per_token=2):
    """Estimate."""
    raise NotImplementedError("1.1: Estimate.")'''


def cell(source: str, **about: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": f"cell-{abs(hash(source))}",
        "metadata": {"labkit": about} if about else {},
        "source": source.splitlines(keepends=True),
        "outputs": [],
        "execution_count": None,
    }


def notebook(*cells: dict[str, Any]) -> dict[str, Any]:
    kernel = {"name": "some-other-kernel", "display_name": "Other", "language": "python"}
    return {"cells": list(cells), "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


SETUP = cell(
    "from __future__ import annotations\nimport math\nfrom labkit.checks import check\n"
    "from labkit.messages import calls_of, function_of, text_of"
)
EXERCISE = cell(
    STUB, exercise="1.1", function="labkit.tokens:estimate_tokens", hints=[], minutes=1, difficulty=1
)
CHECK = cell('estimate_tokens = check("1.1", estimate_tokens)', check="1.1")
USE = cell("print(estimate_tokens([{'role': 'user', 'content': 'four'}]))")
LAB = notebook(SETUP, EXERCISE, CHECK, USE)


def saved(folder: Path, data: dict[str, Any], name: str = "mine.ipynb") -> Path:
    path = folder / name
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


# -- forms


def test_the_solution_form_has_labkits_source_and_the_rest_as_it_was() -> None:
    solved = solution_form(LAB)
    assert "characters" in solved["cells"][1]["source"]
    assert solved["cells"][1]["source"].startswith("# Exercise 1.1\ndef estimate_tokens(")
    assert [solved["cells"][i] for i in (0, 2, 3)] == [LAB["cells"][i] for i in (0, 2, 3)]
    assert "raise NotImplementedError" in "".join(LAB["cells"][1]["source"])


def test_in_the_student_form_nothing_is_started_and_borrowed_functions_work() -> None:
    result = execute(LAB)
    assert result.errors == ()
    assert result.exercises == {"1.1": "not started"}
    assert result.output.endswith("\n2")
    assert faults(result) == []


def test_a_run_leaves_no_file_and_no_process_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = psutil.Process().children(recursive=True)
    assert execute(LAB).errors == ()
    assert list(tmp_path.iterdir()) == []
    assert psutil.Process().children(recursive=True) == before


def test_in_the_solution_form_everything_is_passed() -> None:
    result = execute(LAB, "solution")
    assert (result.exercises, result.errors) == ({"1.1": "passed"}, ())


def test_a_run_leaves_the_learners_own_progress_alone(workspace: Path) -> None:
    execute(LAB, "solution")
    assert progress.read() == ({}, "")
    assert not workspace.exists()


def test_a_run_can_be_given_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "räume für läufe"
    result = execute(
        notebook(SETUP, EXERCISE, CHECK, cell("import os; print(os.getcwd())")), workspace=folder
    )
    assert result.output.endswith(str(folder.resolve()))
    monkeypatch.setenv("LABKIT_WORKSPACE", str(folder))
    assert progress.record_of("1.1").state == "not started"


def test_the_kernel_is_this_python_whatever_the_notebook_names() -> None:
    assert execute(notebook(cell("import sys; print(sys.executable)"))).output == sys.executable


def test_a_run_never_meets_a_key_and_always_the_understudy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("LABKIT_MODEL", "a-model-that-costs")
    source = "import os; print(os.environ.get('OPENAI_API_KEY'), os.environ['LABKIT_MODEL'])"
    assert execute(notebook(cell(source))).output == "None understudy-128k"


# -- what goes wrong


def test_a_cell_that_raises_is_reported_with_its_place_source_and_end_of_traceback() -> None:
    result = execute(notebook(cell("1"), cell("x = {}\nx['gone']"), cell("print('never')")))
    (error,) = result.errors
    assert error.cell == 2
    assert "x['gone']" in error.source
    assert error.message.endswith("KeyError: 'gone'")
    assert "\x1b" not in str(error)
    assert "never" not in result.output


def test_an_exercise_whose_check_was_not_reached_is_failed() -> None:
    result = execute(notebook(SETUP, EXERCISE, cell("1/0"), CHECK))
    assert result.exercises == {"1.1": "failed"}


def test_a_cell_that_takes_too_long_is_named() -> None:
    result = execute(notebook(cell("import threading; threading.Event().wait()")), seconds=1)
    assert "did not end within 1 seconds" in result.errors[0].message


def test_a_kernel_that_ends_is_named() -> None:
    assert "kernel ended" in execute(notebook(cell("import os; os._exit(3)"))).errors[0].message


def test_what_a_cell_says_on_stderr_is_noted() -> None:
    result = execute(notebook(cell("import warnings; warnings.warn('old')")))
    assert "old" in result.stderr[0].message
    assert result.output == ""


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_a_file_that_is_no_notebook_is_a_clear_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.ipynb"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NotebookError, match="not a notebook"):
        read_notebook(path)


# -- labkit run


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of shipped labs with one small lab in it."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    saved(folder, LAB, "01_small.ipynb")
    monkeypatch.setattr("labkit.workspace.labs_dir", lambda: folder)
    return folder


@pytest.mark.usefixtures("shipped")
def test_labkit_run_works_both_forms_through_with_the_same_text_each_time() -> None:
    first, second = io.StringIO(), io.StringIO()
    assert run_labs(["1"], out=first) == 0
    assert run_labs([], out=second) == 0
    assert first.getvalue() == second.getvalue()
    table = first.getvalue().splitlines()
    assert table[2].split() == ["01_small", "student", "1.1", "not", "started"]
    assert table[3].split() == ["01_small", "solution", "1.1", "passed"]
    assert table[-1] == "2 runs, everything as it should be."


def test_a_learners_own_notebook_is_run_as_it_is(tmp_path: Path) -> None:
    half_done = cell(
        STUB.replace('raise NotImplementedError("1.1: Estimate.")', "return 0"),
        **EXERCISE["metadata"]["labkit"],
    )
    out = io.StringIO()
    assert run_labs([str(saved(tmp_path, notebook(SETUP, half_done, CHECK, USE)))], out=out) == 0
    assert "borrowed" in out.getvalue()
    assert run_labs([str(saved(tmp_path, notebook(cell("1/0"))))], out=out) == 1
    assert "ZeroDivisionError" in out.getvalue()


@pytest.mark.usefixtures("shipped")
def test_an_unknown_lab_names_those_there_are() -> None:
    with pytest.raises(NotebookError, match="01_small"):
        run_labs(["7"])


def test_a_solution_that_fails_its_check_is_a_fault_with_its_card() -> None:
    wrong = cell(STUB.replace('raise NotImplementedError("1.1: Estimate.")', "return 0"))
    result = execute(notebook(SETUP, wrong, CHECK))
    as_solution = type(result)(
        "01_small", "solution", {"1.1": "borrowed"}, (), result.seconds, result.output, result.notebook
    )
    (fault,) = faults(as_solution)
    assert fault.startswith("01_small, solution form: exercise 1.1 is borrowed, not passed.")
    assert "Idea 1 of" in fault
    assert report([as_solution]).endswith("1 run, 1 not as it should be.")


def test_the_exercises_of_a_notebook_come_in_its_order() -> None:
    other = cell(STUB, exercise="1.3", function="x:y")
    assert exercises_of(notebook(other, SETUP, EXERCISE)) == ["1.3", "1.1"]
