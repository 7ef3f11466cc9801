"""What `import labkit` costs, and what it offers."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import labkit

HEAVY = {
    "matplotlib",
    "openai",
    "tiktoken",
    "starlette",
    "uvicorn",
    "jupyterlab",
    "jupyter_core",
    "IPython",
    "ipywidgets",
}


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_labkit_loads_nothing_heavy():
    assert loaded_by("import labkit") & HEAVY == set()


def test_reading_a_history_loads_nothing_heavy():
    assert loaded_by("from labkit import problems, legal_cuts, normalise") & HEAVY == set()


def test_the_agent_itself_loads_neither_server_nor_charts():
    assert (
        loaded_by("from labkit import Agent") & {"matplotlib", "starlette", "uvicorn", "jupyterlab"} == set()
    )


@pytest.mark.parametrize("name", labkit.__all__)
def test_every_public_name_is_there_and_listed(name):
    assert getattr(labkit, name) is not None
    assert name in dir(labkit)


def test_a_public_name_is_never_also_a_module():
    """Otherwise `labkit.name` would change its meaning with what was imported before."""
    from importlib.util import find_spec

    assert [name for name in labkit.__all__ if find_spec(f"labkit.{name}")] == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_thing"):
        labkit.no_such_thing  # noqa: B018 - looking the name up is the test


def test_the_version_is_the_installed_one():
    assert labkit.__version__ == version("agent-loop-labs")
