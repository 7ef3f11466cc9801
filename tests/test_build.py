"""The builder: the same bytes each time, and a clear error for each way in which a lab can be wrong."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from labkit import tokens
from labkit.checks import lab1, registry

LABS = Path(__file__).resolve().parent.parent / "labs"


def load_builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("labs_build", LABS / "build.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["labs_build"] = module
    spec.loader.exec_module(module)
    return module


builder = load_builder()

GOOD = """# %% [markdown]
# # Lab 1: the minimal loop
#
# A message is a dict. 中文 too.

# %%
from __future__ import annotations

import math

from labkit.checks import check, hint, solution
from labkit.messages import calls_of, function_of, text_of

# %% exercise="1.1" function="labkit.tokens:estimate_tokens" minutes=8 difficulty=1
# hint: Add up the characters.
# hint: Divide,
#   and round up.

# %%
estimate_tokens = check("1.1", estimate_tokens)

# %% tags=["chart"]
print(estimate_tokens([{"role": "user", "content": "four"}]))
"""


@pytest.fixture(autouse=True)
def one_exercise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lab 1 has its first exercise only: enough for every rule."""
    monkeypatch.setattr(lab1, "EXERCISES", [registry.find("1.1")])


Lab = Callable[..., Path]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Writes a source (GOOD, with replacements) and returns the labs' folder."""

    def write(*changes: tuple[str, str], name: str = "01_minimal_loop") -> Path:
        text = GOOD
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "source").mkdir(exist_ok=True)
        (tmp_path / "source" / f"{name}.py").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def built(folder: Path) -> dict:
    assert builder.main([], folder) == 0
    return json.loads((folder / "01_minimal_loop.ipynb").read_text(encoding="utf-8"))


def text(cell: dict) -> str:
    return "".join(cell["source"])


# -- a good lab


def test_the_student_cell_has_signature_docstring_and_a_line_that_raises(lab: Lab) -> None:
    cell = built(lab())["cells"][2]
    assert text(cell).startswith(
        "# Exercise 1.1 · about 8 minutes · difficulty 1 of 3\ndef estimate_tokens(messages"
    )
    assert '"""' in text(cell)
    assert text(cell).splitlines()[-1].startswith('    raise NotImplementedError("1.1: ')
    assert "math.ceil" not in text(cell)
    assert cell["metadata"]["labkit"] == {
        "exercise": "1.1",
        "function": "labkit.tokens:estimate_tokens",
        "minutes": 8,
        "difficulty": 1,
        "hints": ["Add up the characters.", "Divide, and round up."],
    }


def test_a_built_notebook_is_valid_and_has_no_outputs(lab: Lab) -> None:
    notebook = built(lab())
    nbformat.validate(nbformat.from_dict(notebook))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert notebook["metadata"]["labkit"] == {"lab": "01", "title": "the minimal loop"}
    assert all(not cell.get("outputs") for cell in notebook["cells"])
    assert notebook["cells"][-1]["metadata"] == {"tags": ["chart"]}
    assert text(notebook["cells"][0]) == "# Lab 1: the minimal loop\n\nA message is a dict. 中文 too."


def test_the_same_source_gives_the_same_bytes(lab: Lab, tmp_path: Path) -> None:
    folder = lab()
    built(folder)
    path = folder / "01_minimal_loop.ipynb"
    first = path.read_bytes()
    path.unlink()
    built(folder)
    assert path.read_bytes() == first
    assert first.endswith(b"}\n")
    assert b"\r" not in first


def test_an_edit_changes_the_id_of_no_other_cell(lab: Lab) -> None:
    before = [cell["id"] for cell in built(lab())["cells"]]
    after = [cell["id"] for cell in built(lab(("# # Lab 1: the", "# # Lab 1: a")))["cells"]]
    assert len(set(before)) == len(before)
    assert before[1:] == after[1:]
    assert before[2:4] == ["exercise-1-1", "check-1-1"]


def test_two_equal_cells_have_two_ids(lab: Lab) -> None:
    twice = ("# %% tags", '# %%\nprint("same")\n\n# %%\nprint("same")\n\n# %% tags')
    ids = [cell["id"] for cell in built(lab(twice))["cells"]]
    assert len(set(ids)) == len(ids)


def test_a_fresh_lab_passes_the_check_in_both_forms(lab: Lab, capfd: pytest.CaptureFixture[str]) -> None:
    folder = lab()
    built(folder)
    assert builder.main(["--check"], folder) == 0
    assert "1 labs checked, 0 problems." in capfd.readouterr().out


# -- broken sources: each its own clear error, with file and line

BROKEN = {
    "unknown function": (
        "labkit.tokens:estimate_tokens",
        "labkit.tokens:estimate",
        14,
        "not for labkit.tokens:estimate",
    ),
    "one hint": ("# hint: Add up the characters.\n", "", 14, "1 of at least 2 hints"),
    "empty hint": ("# hint: Add up the characters.", "# hint:", 14, "2 of at least 2 hints"),
    "no minutes": (" minutes=8", "", 14, "no minutes"),
    "odd minutes": ("minutes=8", "minutes=0", 14, "minutes of exercise 1.1 must be 1 to 60"),
    "no difficulty": (" difficulty=1", "", 14, "no difficulty"),
    "odd difficulty": ("difficulty=1", "difficulty=9", 14, "difficulty of exercise 1.1 must be 1 to 3"),
    "no function": (' function="labkit.tokens:estimate_tokens"', "", 14, "names no function"),
    "code in an exercise": ("#   and round up.", "x = 1", 14, "holds code"),
    "unknown exercise": ('exercise="1.1"', 'exercise="1.9"', 14, "There is no exercise '1.9'"),
    "no check": (
        'estimate_tokens = check("1.1", estimate_tokens)',
        "1",
        19,
        "must hold the line `estimate_tokens =",
    ),
    "check not taken back": ("estimate_tokens = check", "check", 19, "must hold the line"),
    "check of another": ('check("1.1"', 'check("1.2"', 19, "must hold the line"),
    "a name that is missing": ("import math\n", "", 13, "uses math: put `import math`"),
    "a helper that is missing": (", text_of", "", 14, "from labkit.messages import text_of"),
    "an import of everything": (
        "from labkit.checks import check, hint, solution",
        "from labkit.checks import *",
        14,
        "import *",
    ),
    "no hint function": ("check, hint, solution", "check, solution", 14, "cards speak of hint(...)"),
    "no title": ("# # Lab 1: the minimal loop", "# Lab 1", 1, "the lab's title"),
    "odd markdown": ("# A message is", "A message is", 4, "must start with `#`"),
    "unknown attribute": ("minutes=8", "minuts=8", 14, "unknown attribute 'minuts'"),
    "odd header": ("difficulty=1", "difficulty", 14, "cannot read 'difficulty'"),
    "no python": ("print(estimate", "print estimate", 23, "this is no Python"),
    "exercise without an exercise": ('exercise="1.1" ', "", 14, "function without exercise"),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_broken_source_is_told_with_file_and_line(
    lab: Lab, change: tuple[str, str, int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, line, words = change
    folder = lab((old, new))
    assert builder.main([], folder) == 1
    told = capsys.readouterr().err
    assert words in told
    assert any(told_line.startswith(f"01_minimal_loop.py:{line}: ") for told_line in told.splitlines()), told
    assert not (folder / "01_minimal_loop.ipynb").exists()


def test_an_exercise_that_is_there_twice_is_told(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    exercise = GOOD[GOOD.index("# %% exercise") : GOOD.index("# %% tags")]
    assert builder.main([], lab(("# %% tags", f"{exercise}# %% tags"))) == 1
    assert "01_minimal_loop.py:22: exercise 1.1 is there already, in line 14" in capsys.readouterr().err


def test_an_exercise_that_is_missing_is_told(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    exercise = GOOD[GOOD.index("# %% exercise") : GOOD.index("# %% tags")]
    assert builder.main([], lab((exercise, ""))) == 1
    assert "exercise 1.1 has checks in labkit/checks/lab1.py and no cell" in capsys.readouterr().err


def test_an_exercise_of_another_lab_is_told(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert builder.main([], lab(name="09_other")) == 1
    assert "exercise 1.1 belongs to lab 01" in capsys.readouterr().err


def long_function(lines: int) -> str:
    body = "\n".join(f"    x{number} = messages" for number in range(lines - 1))
    return f'def estimate_tokens(messages, chars_per_token=2):\n    """Long."""\n{body}\n    return 0\n'


@pytest.mark.parametrize(("lines", "status", "words"), [(16, 0, "warning: "), (21, 1, "21 lines of body")])
def test_a_function_too_long_to_type_is_told(
    lab: Lab,
    lines: int,
    status: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import labkit.exercises

    part = labkit.exercises.Part(tokens, "estimate_tokens", long_function(lines))
    monkeypatch.setattr(labkit.exercises, "_part", lambda module, name: part)
    assert builder.main([], lab()) == status
    assert words in capsys.readouterr().err


# -- notebooks that are not what their source gives


def spoil(folder: Path, how: Callable[[dict], None]) -> None:
    notebook = built(folder)
    how(notebook)
    (folder / "01_minimal_loop.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def edited(notebook: dict) -> None:
    notebook["cells"][1]["source"] = ["import os"]


def run_and_saved(notebook: dict) -> None:
    notebook["cells"][4]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "2\n"}]


def with_widgets(notebook: dict) -> None:
    notebook["metadata"]["widgets"] = {}


def cut_off(notebook: dict) -> None:
    del notebook["cells"]


STALE = {
    "edited": (edited, "differs from its source in cell 2 ('import os')"),
    "outputs": (run_and_saved, "outputs are saved in cell 5"),
    "widget state": (with_widgets, "widget state is saved"),
    "no notebook": (cut_off, "it is no notebook any more"),
}


@pytest.mark.parametrize(("how", "words"), STALE.values(), ids=STALE)
def test_a_notebook_that_drifted_is_told(
    lab: Lab, how: Callable[[dict], None], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = lab()
    spoil(folder, how)
    assert builder.main(["--check", "--no-run"], folder) == 1
    assert f"01_minimal_loop.ipynb: {words}" in capsys.readouterr().err


def test_a_lab_that_was_never_built_is_told(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert builder.main(["--check", "--no-run"], lab()) == 1
    assert "01_minimal_loop.ipynb: not built yet" in capsys.readouterr().err


def test_a_notebook_without_a_source_is_told(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    folder = lab()
    built(folder)
    (folder / "07_old.ipynb").write_text("{}", encoding="utf-8")
    assert builder.main(["--check", "--no-run"], folder) == 1
    assert "07_old.ipynb: there is no source/07_old.py" in capsys.readouterr().err
    assert builder.main(["--check", "--no-run", "--only", "1"], folder) == 0


# -- labs that do not run as they should


def test_a_stub_that_does_not_count_as_not_started_is_told(
    lab: Lab, capfd: pytest.CaptureFixture[str]
) -> None:
    passes = "progress.change('1.1', lambda record: progress.after_check(record, 'passed', '', ''))"
    sneaky = ("# %% tags", f"# %%\nfrom labkit.checks import progress\n{passes}\n\n# %% tags")
    folder = lab(sneaky)
    built(folder)
    assert builder.main(["--check"], folder) == 1
    assert "01_minimal_loop, student form: exercise 1.1 is passed, not not started." in capfd.readouterr().err


def test_a_solution_that_fails_its_check_is_told_with_its_card(
    lab: Lab, capfd: pytest.CaptureFixture[str]
) -> None:
    spoilt = ("import math\n", "import math as real\n\n\nclass math:\n    ceil = int\n")
    folder = lab(spoilt)
    built(folder)
    assert builder.main(["--check"], folder) == 1
    told = capfd.readouterr().err
    assert "01_minimal_loop, solution form: exercise 1.1 is borrowed, not passed." in told
    assert "A started token is a token" in told


def test_a_cell_that_raises_or_warns_is_told(lab: Lab, capfd: pytest.CaptureFixture[str]) -> None:
    folder = lab(("print(estimate_tokens", "import warnings\nwarnings.warn('careful')\nprint(estimate_token"))
    built(folder)
    assert builder.main(["--check"], folder) == 1
    told = capfd.readouterr().err
    assert "01_minimal_loop, student form, cell 5:" in told
    assert "NameError: name 'estimate_token' is not defined" in told
    assert "writes to stderr in cell 5" in told


def test_the_builder_runs_from_anywhere(tmp_path: Path) -> None:
    import subprocess

    done = subprocess.run(
        [sys.executable, str(LABS / "build.py"), "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--check" in done.stdout
