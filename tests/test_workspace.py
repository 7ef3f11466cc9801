"""The learner's own copy of the labs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit import places
from labkit.errors import NotebookError, SetupError
from labkit.workspace import copy_labs, find_lab, reset


def cell(source: str, exercise: str = "") -> dict:
    metadata = {"labkit": {"exercise": exercise}} if exercise else {}
    return {"cell_type": "code", "id": "c", "metadata": metadata, "source": source, "outputs": []}


def write_lab(folder: Path, name: str, *cells: dict) -> Path:
    path = folder / name
    path.write_text(json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """Two small labs, as they would be shipped."""
    folder = tmp_path / "shipped labs é"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "strip.svg").write_text("<svg/>")
    write_lab(folder, "01_first.ipynb", cell("stub 1.1", "1.1"), cell("stub 1.2", "1.2"))
    write_lab(folder, "02_second.ipynb", cell("stub 2.1", "2.1"))
    return folder


def sources(path: Path) -> list[str]:
    return [each["source"] for each in json.loads(path.read_text(encoding="utf-8"))["cells"]]


def test_a_learner_gets_every_lab_and_its_pictures(shipped, workspace):
    report = copy_labs(shipped)
    assert report.folder == workspace
    assert report.added == ("01_first.ipynb", "02_second.ipynb")
    assert (workspace / "01_first.ipynb").read_bytes() == (shipped / "01_first.ipynb").read_bytes()
    assert (workspace / "images" / "strip.svg").exists()


def test_what_the_learner_wrote_is_never_touched(shipped, workspace):
    copy_labs(shipped)
    (workspace / "01_first.ipynb").write_text("mine")
    (workspace / "images" / "strip.svg").write_text("mine too")
    write_lab(shipped, "01_first.ipynb", cell("a newer lab"))
    report = copy_labs(shipped)
    assert (workspace / "01_first.ipynb").read_text() == "mine"
    assert (workspace / "images" / "strip.svg").read_text() == "mine too"
    assert report.added == ()


def test_a_lab_that_changed_since_the_copy_was_made_is_named(shipped, workspace):
    copy_labs(shipped)
    assert copy_labs(shipped).newer == ()
    write_lab(shipped, "02_second.ipynb", cell("a newer lab"))
    assert copy_labs(shipped).newer == ("02_second.ipynb",)
    reset("2", shipped)
    assert copy_labs(shipped).newer == ()


def test_a_lab_that_is_new_is_added_beside_the_others(shipped, workspace):
    copy_labs(shipped)
    write_lab(shipped, "03_third.ipynb", cell("third"))
    assert copy_labs(shipped).added == ("03_third.ipynb",)


@pytest.mark.parametrize("name", ["2", "02", "lab 2", "02_second", "02_second.ipynb", " 2 "])
def test_a_lab_is_found_by_any_of_its_names(shipped, name):
    assert find_lab(name, shipped).name == "02_second.ipynb"


@pytest.mark.parametrize("name", ["9", "second", "", "1.1.1"])
def test_a_lab_that_is_not_there_is_answered_with_those_that_are(shipped, name):
    with pytest.raises(NotebookError, match="01_first, 02_second"):
        find_lab(name, shipped)


def test_resetting_a_lab_keeps_the_old_copy(shipped, workspace):
    copy_labs(shipped)
    (workspace / "01_first.ipynb").write_text("mine")
    report = reset("01", shipped)
    assert report.backup is not None and report.backup.read_text() == "mine"
    assert sources(workspace / "01_first.ipynb") == ["stub 1.1", "stub 1.2"]
    assert report.exercises == ("1.1", "1.2")


def test_resetting_one_exercise_leaves_the_others(shipped, workspace):
    copy_labs(shipped)
    write_lab(workspace, "01_first.ipynb", cell("my 1.1", "1.1"), cell("note"), cell("my 1.2 ≈ 中文", "1.2"))
    report = reset("1.1", shipped)
    assert sources(workspace / "01_first.ipynb") == ["stub 1.1", "note", "my 1.2 ≈ 中文"]
    assert report.exercises == ("1.1",)
    assert report.backup is not None and "my 1.1" in report.backup.read_text(encoding="utf-8")


def test_two_resets_in_the_same_second_keep_two_backups(shipped, workspace):
    copy_labs(shipped)
    backups = {reset("1", shipped).backup for _ in range(3)}
    assert len(backups) == 3


def test_an_exercise_whose_cell_is_gone_is_not_guessed_at(shipped, workspace):
    copy_labs(shipped)
    before = write_lab(workspace, "01_first.ipynb", cell("my 1.2", "1.2")).read_bytes()
    with pytest.raises(NotebookError, match="labkit reset 01"):
        reset("1.1", shipped)
    assert (workspace / "01_first.ipynb").read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        "not json",
        "[]",
        '{"cells": 3}',
        '{"cells": [5]}',
        '{"cells": [{"cell_type": "code", "source": [], "metadata": 5}]}',
        '{"cells": [{"cell_type": "code", "source": 5, "metadata": {}}]}',
        "[" * 100_000,
        "\xff",
    ],
)
def test_a_broken_notebook_is_a_clear_error(shipped, workspace, content):
    copy_labs(shipped)
    (workspace / "01_first.ipynb").write_bytes(content.encode("latin-1"))
    with pytest.raises(NotebookError, match="not a notebook that can be read"):
        reset("1.1", shipped)


def test_an_exercise_that_does_not_exist_is_answered_with_those_that_do(shipped, workspace):
    copy_labs(shipped)
    with pytest.raises(NotebookError, match=r"It has: 1\.1, 1\.2"):
        reset("1.9", shipped)


def test_a_folder_without_labs_is_a_set_up_error_and_makes_nothing(tmp_path, workspace):
    with pytest.raises(SetupError, match="no labs"):
        copy_labs(tmp_path / "empty")
    assert not workspace.exists()


def test_a_workspace_that_cannot_be_made_is_a_set_up_error(shipped, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LABKIT_WORKSPACE", str(tmp_path / "file" / "labs"))
    with pytest.raises(SetupError, match="labkit lab FOLDER"):
        copy_labs(shipped)


def test_a_notebook_opened_by_any_editor_finds_the_folder_it_lies_in(shipped, workspace, monkeypatch):
    copy_labs(shipped)
    monkeypatch.delenv("LABKIT_WORKSPACE")
    (workspace / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(workspace / "deep" / "er")
    assert places.workspace() == workspace


def test_a_clone_keeps_the_learners_folder_inside_itself(tmp_path, monkeypatch):
    monkeypatch.delenv("LABKIT_WORKSPACE")
    monkeypatch.chdir(tmp_path)
    root = places.clone()
    assert places.find_workspace() == (root or tmp_path) / "my_labs"


def test_the_state_file_has_a_folder_to_stand_in(workspace):
    assert places.state_file().parent.is_dir()
    assert places.state_file().is_relative_to(workspace)
