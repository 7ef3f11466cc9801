"""The built wheel is all a learner needs: no clone, and any folder will do."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*words: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution, as an index would get it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel in a fresh environment, in an awkward folder; what it needs comes from this environment."""
    folder = tmp_path_factory.mktemp("a learner's läbs 实验")
    environment = folder / "my env"
    venv.create(environment, with_pip=False, symlinks=os.name == "posix")
    layout = {"base": str(environment), "platbase": str(environment)}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=layout))
    scripts = Path(sysconfig.get_path("scripts", "venv", vars=layout))
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    ours = sysconfig.get_path("purelib")
    # A path in a .pth file is only added: the .pth files in it, an editable install's too, are not read.
    (packages / "borrowed.pth").write_text(ours, encoding="utf-8")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    return python


@pytest.mark.slow
def test_the_wheel_carries_labs_playground_and_vocabulary_and_nothing_that_builds_them(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("labkit/_labs/01_") for name in names)
    assert "labkit/_playground/hello.txt" in names
    assert any(name.startswith("labkit/vocab/") for name in names)
    assert [
        name for name in names if name.startswith(("labs/", "playground/", "tests/", "labkit/_labs/source"))
    ] == []
    assert [name for name in names if name.endswith(("/build.py", ".pyc", ".env"))] == []
    assert any(name.endswith("licenses/labkit/LICENSE") for name in names)


@pytest.mark.slow
def test_a_plain_install_works_without_a_clone_in_a_folder_of_any_name(installed, tmp_path):
    python = installed
    here = tmp_path / "some where 在"
    here.mkdir()
    env = {
        name: value for name, value in os.environ.items() if name not in ("LABKIT_WORKSPACE", "PYTHONPATH")
    }
    places = run(
        python,
        "-c",
        "from labkit import places; print(places.clone()); print(places.workspace())",
        cwd=here,
        env=env,
    )
    assert places.splitlines() == ["None", str(here / "my_labs")]
    run(
        python,
        "-c",
        "from labkit import TokenCounter; assert TokenCounter().text('hello') == 1",
        cwd=here,
        env=env,
    )
    assert "everything as it should be" in run(
        python, "-m", "labkit", "run", "01", "--student", cwd=here, env=env
    )
    assert "is back at its start" in run(python, "-m", "labkit", "reset", "01", cwd=here, env=env)
    assert list((here / "my_labs").glob("01_*.ipynb"))
