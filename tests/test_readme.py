"""README cannot lie: its commands run, its Python runs, its links lead somewhere.

The commands that install (marked `<!-- command: ... -->`) need a network: .ci/run tries those, as they stand.
"""

from __future__ import annotations

import os
import queue
import re
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest

from labkit.cli import cli
from labkit.workspace import copy_labs

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^(?:<!-- ([^>\n]+?) -->\n)?```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
PYTHON = [code for _, language, code in BLOCKS if language == "python"]


def lines_marked(mark: str) -> list[str]:
    """The commands in the blocks that bear a mark, without their comments."""
    lines = [line for found, _, code in BLOCKS if found == mark for line in code.splitlines()]
    return [command for line in lines if (command := line.partition("#")[0].strip())]


def environment() -> dict[str, str]:
    """As in the environment that README's first command makes: its programs come first."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_every_code_block_is_marked_so_that_something_runs_it():
    known = re.compile(r"run|server|command: (start|test)( with uv| on Windows)?")
    unknown = [code for mark, language, code in BLOCKS if language != "python" and not known.fullmatch(mark)]
    assert unknown == []


@pytest.mark.parametrize("code", PYTHON, ids=lambda code: code.strip().splitlines()[0])
def test_python_in_the_readme_runs(code, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr


# What CI runs as stages of its own; trying the builder here would run every lab once more.
STAGES = ("python labs/build.py", "ruff", "mypy")


@pytest.mark.parametrize("command", lines_marked("run"))
def test_a_command_in_the_readme_runs(command, workspace):
    if command.startswith(STAGES):
        assert command.split(" && ")[0].replace("python ", "") in (ROOT / ".ci" / "run").read_text(
            encoding="utf-8"
        )
        return
    copy_labs()
    done = subprocess.run(
        command, shell=True, cwd=ROOT, env=environment(), capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", lines_marked("server"))
def test_a_server_in_the_readme_answers_and_ends(command, workspace):
    free = re.sub(r"--port \d+", "--port 0", command)  # whatever runs on this computer, the test finds a port
    words = [sys.executable, "-u", "-m", *free.split()]
    server = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
    )
    try:
        address = first_address(server)
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert answer.status == 200
    finally:
        server.terminate()
        server.wait(timeout=20)


def first_address(server: subprocess.Popen[str]) -> str:
    """The first address that a server prints."""
    lines: queue.Queue[str] = queue.Queue()
    assert server.stdout is not None
    threading.Thread(target=lambda out=server.stdout: [lines.put(line) for line in out], daemon=True).start()
    while True:
        found = re.search(r"http://\S+", lines.get(timeout=30))
        if found:
            return found.group()


def test_every_command_the_readme_speaks_of_exists():
    code = "\n".join([*re.findall(r"`(.+?)`", README), *(code for _, _, code in BLOCKS)])
    spoken_of = set(re.findall(r"\blabkit ([a-z]+)", re.sub(r"from labkit.*", "", code)))
    assert spoken_of and spoken_of <= set(cli.commands)


def test_every_link_and_picture_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_every_picture_has_a_text_that_says_what_it_shows():
    assert all(len(text) > 20 for text in re.findall(r"!\[(.*?)\]", README))


@pytest.mark.parametrize("name", ["start", "test", "start with uv"])
def test_ci_runs_the_readmes_installs_as_they_stand(name):
    assert f"readme {name})" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("step", ["run: .ci/run", "readme-command test)", "readme-command test on Windows"])
def test_the_workflow_runs_the_readmes_test_command(step):
    assert step in (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


def test_the_commands_of_the_readme_differ_only_where_the_tools_differ():
    """With pip and with uv the same things are installed, and the same is done with them."""
    commands = {mark: code.strip() for mark, _, code in BLOCKS if mark.startswith("command: ")}
    for name in ("start", "test"):
        with_pip, with_uv = commands[f"command: {name}"], commands[f"command: {name} with uv"]
        assert with_pip.replace("python3 -m venv .venv && .venv/bin/pip", "uv venv && uv pip") == with_uv
