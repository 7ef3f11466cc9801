"""A learner's progress outlives the kernel, a damaged file and two notebooks at once."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from labkit.checks import catalogue, progress, progress_board
from labkit.checks.progress import Record, after_check
from labkit.places import state_file


def passed(record: Record) -> Record:
    return after_check(record, "passed", "", "source")


def test_progress_is_read_back_from_disk() -> None:
    assert progress.change("1.1", passed) == ""
    records, note = progress.read()
    assert (records["1.1"].passed, records["1.1"].attempts, note) == (True, 1, "")


def test_the_same_answer_checked_again_is_no_new_attempt() -> None:
    record = after_check(Record(), "borrowed", "text", "a")
    assert after_check(record, "borrowed", "text", "a").attempts == 1
    assert after_check(record, "borrowed", "text", "b").attempts == 2


def test_a_stub_is_no_attempt() -> None:
    assert after_check(Record(), "not started", "", "stub").attempts == 0


def test_once_passed_is_passed() -> None:
    later = after_check(passed(Record()), "borrowed", "text", "worse")
    assert (later.state, later.shown) == ("borrowed", "passed")


def test_progress_survives_the_kernel_that_wrote_it() -> None:
    code = "from labkit.checks import check; check('1.1', lambda messages, chars_per_token=2: 0)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert progress.record_of("1.1").state == "borrowed"
    assert progress.record_of("1.1").idea == "text"


def test_kernels_that_write_at_once_lose_nothing() -> None:
    code = (
        "import sys; from dataclasses import replace; from labkit.checks import progress\n"
        "def more(record): return replace(record, hints=record.hints + 1)\n"
        "for _ in range(20): assert not progress.change(sys.argv[1], more)\n"
        "for _ in range(20): assert not progress.change('9.9', more)"
    )
    kernels = [subprocess.Popen([sys.executable, "-c", code, f"1.{number}"]) for number in (1, 2, 3)]
    assert [kernel.wait() for kernel in kernels] == [0, 0, 0]
    records, _ = progress.read()
    assert [records[each].hints for each in ("1.1", "1.2", "1.3", "9.9")] == [20, 20, 20, 60]


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"exercises": {"1.1": 7}}', '{"exercises": {"1.1": {"hints": ""}}}']
)
def test_a_damaged_file_is_kept_aside_and_said_so(damage: str) -> None:
    state_file().write_text(damage, encoding="utf-8")
    assert "cannot be read" in progress.read()[1]
    note = progress.change("1.1", passed)
    aside = state_file().with_name("progress.damaged.json")
    assert aside.name in note
    assert aside.read_text(encoding="utf-8") == damage
    assert progress.record_of("1.1").passed


def test_two_damaged_files_are_both_kept() -> None:
    for damage in ("{", "["):
        state_file().write_text(damage, encoding="utf-8")
        progress.change("1.1", passed)
    kept = sorted(path.name for path in state_file().parent.glob("progress.damaged*"))
    assert kept == ["progress.damaged-2.json", "progress.damaged.json"]


def test_a_lock_that_a_killed_kernel_left_is_taken_over() -> None:
    import os

    lock = state_file().with_suffix(".lock")
    lock.touch()
    os.utime(lock, (0, 0))
    assert progress.change("1.1", passed) == ""
    assert not lock.exists()


def test_progress_that_cannot_be_saved_does_not_stop_a_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("", encoding="utf-8")
    monkeypatch.setenv("LABKIT_WORKSPACE", str(in_the_way / "my_labs"))
    assert "could not be saved" in progress.change("1.1", passed)


def test_nothing_but_the_file_is_left_in_the_folder() -> None:
    progress.change("1.1", passed)
    assert [path.name for path in state_file().parent.iterdir()] == ["progress.json"]


def test_a_file_of_a_later_version_with_more_in_it_is_read() -> None:
    progress.change("1.1", passed)
    data = json.loads(state_file().read_text(encoding="utf-8"))
    data["exercises"]["1.1"]["mood"] = "good"
    state_file().write_text(json.dumps(data), encoding="utf-8")
    assert progress.record_of("1.1").passed


def test_what_a_later_version_wrote_stays_in_the_file() -> None:
    progress.change("1.1", passed)
    data = json.loads(state_file().read_text(encoding="utf-8"))
    data |= {"version": 2, "streak": [1, 2]}
    data["exercises"]["1.1"]["mood"] = "good"
    state_file().write_text(json.dumps(data), encoding="utf-8")
    progress.change("1.1", lambda record: replace(record, hints=1))
    progress.change("1.2", passed)
    progress.forget(["1.2"])
    data["exercises"]["1.1"]["hints"] = 1
    assert json.loads(state_file().read_text(encoding="utf-8")) == data


def test_forgetting_leaves_the_others() -> None:
    progress.change("1.1", passed)
    progress.change("1.2", passed)
    progress.forget(["1.1"])
    assert list(progress.read()[0]) == ["1.2"]


# -- the board


@pytest.fixture
def two_labs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def lab(number: str, *minutes: int) -> catalogue.LabInfo:
        exercises = tuple(
            catalogue.ExerciseInfo(f"{int(number)}.{place}", f"step_{place}", each, 1, ("a", "b"))
            for place, each in enumerate(minutes, start=1)
        )
        return catalogue.LabInfo(number, tmp_path / f"{number}_lab.ipynb", f"Title <{number}>", exercises)

    monkeypatch.setattr(catalogue, "labs", lambda: [lab("01", 5, 7), lab("02", 11)])


@pytest.mark.usefixtures("two_labs")
def test_the_board_says_what_is_next_and_the_minutes_left() -> None:
    progress.change("1.1", passed)
    board = str(progress_board())
    assert "1 of 3 exercises passed. Next: 1.2 step_2 in 01_lab. About 18 minutes of exercises left." in board
    assert "✓ 1.1 step_1" in board
    assert "not started" in board


@pytest.mark.usefixtures("two_labs")
def test_the_board_says_when_all_is_done() -> None:
    for exercise in ("1.1", "1.2", "2.1"):
        progress.change(exercise, passed)
    assert "Nothing is left" in str(progress_board())


@pytest.mark.usefixtures("two_labs")
def test_the_board_as_html_has_words_and_headings() -> None:
    progress.change("1.1", lambda record: replace(record, hints=1, solution=True))
    html = progress_board()._repr_html_()
    assert html.count('scope="col"') == 10
    assert "1 of 2, solution seen" in html
    assert "&lt;01&gt;" in html
    assert "○ not started" in html


@pytest.mark.usefixtures("two_labs")
def test_the_board_speaks_of_a_damaged_file() -> None:
    state_file().write_text("{", encoding="utf-8")
    assert "cannot be read" in str(progress_board())
