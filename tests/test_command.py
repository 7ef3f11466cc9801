"""Commands: a time limit, no keys, bounded output, and nothing left running."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from labkit.command import command_environment, run
from labkit.command.processes import SUPERVISED
from labkit.messages import tool_call
from labkit.playground import playground_tools
from labkit.tools import run_tool_call

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="the commands in these tests are written for a POSIX shell"),
    pytest.mark.timeout(60),
]

WAYS = [True, False] if SUPERVISED else [False]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "a folder with spaces and ü"
    place.mkdir()
    return place


def use(folder: Path, ask: Callable[[str], bool] | None = None, **arguments: object) -> str:
    call = tool_call("c", "run_command", json.dumps(arguments))
    return run_tool_call(call, playground_tools(folder, ask))["content"]


# --- what comes back --------------------------------------------------------------------------------------


def test_the_result_has_the_output_the_errors_and_the_exit_code(folder):
    text = use(folder, command="echo out; echo err >&2; exit 3")
    assert text == "out\nerr\n[exit code 3]"
    assert use(folder, command="true") == "(no output)\n[exit code 0]"


def test_a_command_runs_in_the_playground_and_sees_its_files(folder):
    (folder / "hello.txt").write_text("hello", encoding="utf-8")
    assert use(folder, command="cat hello.txt && pwd") == "hello.\n[exit code 0]"
    assert use(folder, command="ls ~ && echo 水") == "hello.txt\n水\n[exit code 0]"


@pytest.mark.parametrize("name", ["python", "python3"])
def test_python_is_the_interpreter_that_labkit_runs_on(folder, name):
    result = run(f"{name} -c 'import sys, psutil; print(sys.executable, sys.argv[1:])' 'a  b' '*'", folder)
    assert result.output == f"{sys.executable} ['a  b', '*']\n"


def test_a_command_killed_by_a_signal_says_so_as_a_shell_would(folder):
    assert run("kill -9 $$", folder).exit_code in (137, -9)


def test_standard_input_is_closed(folder):
    assert use(folder, command="cat; python -c 'input()'").count("EOFError") == 1


@pytest.mark.parametrize("timeout", [0, -1, 301])
def test_a_time_limit_out_of_range_is_refused(folder, timeout):
    assert "timeout must be 1 to 300" in use(folder, command="touch x", timeout=timeout)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("command", ["", "   ", "echo a\0b", "echo \ud800", "echo " + "x" * 5_000_000])
def test_a_command_that_cannot_be_started_is_an_error(folder, command):
    assert use(folder, command=command).startswith("Error: ")


# --- the question -----------------------------------------------------------------------------------------


def test_a_command_is_asked_for_and_only_runs_when_allowed(folder):
    asked = []

    def no(command: str) -> bool:
        asked.append(command)
        return False

    text = use(folder, no, command="touch made")
    assert asked == ["touch made"] and text.startswith("Error: the user did not allow")
    assert not list(folder.iterdir())
    use(folder, lambda command: True, command="touch made")
    assert [path.name for path in folder.iterdir()] == ["made"]


# --- keys -------------------------------------------------------------------------------------------------


def test_no_key_reaches_a_commands_environment(folder, monkeypatch):
    hidden = (
        "OPENAI_API_KEY",
        "LABKIT_MODEL",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "MY_PASSWORD",
        "HTTPS_PROXY",
    )
    for name in hidden:
        monkeypatch.setenv(name, f"value-of-{name}")
    seen = json.loads(run("python -c 'import os, json; print(json.dumps(dict(os.environ)))'", folder).output)
    assert not set(hidden) & set(seen)
    assert "value-of-" not in json.dumps(seen)
    assert not [name for name in seen if any(word in name for word in ("KEY", "TOKEN", "SECRET", "PASSWORD"))]
    assert seen["HOME"] == str(folder)


def test_the_environment_is_made_of_nothing_but_what_is_listed(folder, tmp_path):
    made = command_environment(
        folder, tmp_path / "scratch", source={"LANG": "de_DE.UTF-8", "X": "1", "PATH": "/bin"}
    )
    assert made["LANG"] == "de_DE.UTF-8" and made["PATH"].endswith(os.pathsep + "/bin") and "X" not in made


# --- output -----------------------------------------------------------------------------------------------


def test_long_output_keeps_head_and_tail_and_names_the_cut(folder):
    result = run("seq 1 100000", folder, max_bytes=1000)
    assert result.output.startswith("1\n2\n3\n") and result.output.endswith("\n100000\n")
    assert "[... 587,895 bytes left out here ...]" in result.output and len(result.output) < 1100


def test_endless_output_ends_at_the_time_limit_and_does_not_fill_memory(folder):
    before = psutil.Process().memory_info().rss
    text = use(folder, command="yes a line of endless output", timeout=1)
    assert text.endswith("[ended at the time limit of 1 seconds]") and len(text) < 21_000
    assert psutil.Process().memory_info().rss - before < 50_000_000


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_a_cut_leaves_no_halves_of_characters(folder, before):
    (folder / "long.txt").write_text(before + "水🌊" * 1000, encoding="utf-8")
    output = run("cat long.txt", folder, max_bytes=1000).output
    head, tail = re.split(r"\n\[.* bytes left out here \.\.\.\]\n", output)
    assert "\ufffd" not in output and head.startswith(before + "水🌊") and tail.endswith("水🌊")
    left_out = int(re.search(r"([\d,]+) bytes", output)[1].replace(",", ""))
    assert left_out + len((head + tail).encode()) == (folder / "long.txt").stat().st_size


def test_bytes_that_are_no_text_are_shown_as_such(folder):
    assert run("printf 'a\\377\\000b'", folder).output == "a\ufffd\0b"


# --- nothing is left running ------------------------------------------------------------------------------

BACKGROUND = {
    "in the background": "{sleep} &",
    "without hang-up": "nohup {sleep} >/dev/null 2>&1 &",
    "in a session of its own": "setsid {sleep} &",
    "born twice": "(setsid {sleep} >/dev/null 2>&1 &) &",
    "deaf to signals": "(trap '' TERM INT HUP; {sleep}) &",
    "holding the output": "{sleep} & disown 2>/dev/null; true",
    "many": "for i in 1 2 3 4 5 6 7 8; do {sleep} & done",
    "a daemon": 'python -c "{daemon}"',
}
DAEMON = (
    "import os; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); "
    "os.execvp('sleep', {words})"
)


def sleeping(seconds: str) -> list[psutil.Process]:
    return [each for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"] == ["sleep", seconds]]


def own_seconds() -> str:
    """A time to sleep that no other process has, so that it can be found."""
    return f"600.{uuid.uuid4().int % 10**12}"


@pytest.mark.parametrize("supervised", WAYS)
@pytest.mark.parametrize("kind", BACKGROUND)
def test_a_background_process_is_gone_after_its_command(folder, kind, supervised):
    seconds = own_seconds()
    daemon = DAEMON.format(words=["sleep", seconds])
    command = BACKGROUND[kind].format(sleep=f"sleep {seconds}", daemon=daemon)
    result = run(command + "\necho started", folder, supervised=supervised)
    assert result.output == "started\n" and result.exit_code == 0
    assert not sleeping(seconds)


@pytest.mark.parametrize("supervised", WAYS)
def test_at_the_time_limit_the_command_ends_with_all_it_started(folder, supervised):
    seconds = own_seconds()
    result = run(
        f"setsid sleep {seconds} & sleep {seconds} | cat; echo never", folder, 1, supervised=supervised
    )
    assert result.exit_code is None and "never" not in result.output
    assert not sleeping(seconds)


@pytest.mark.skipif(not SUPERVISED, reason="only the supervisor can hold on to a process that hides its mark")
def test_even_a_daemon_that_empties_its_environment_is_gone(folder):
    seconds = own_seconds()
    run(f"(env -i setsid nohup sleep {seconds} >/dev/null 2>&1 &) &", folder)
    assert not sleeping(seconds)


@pytest.mark.skipif(not SUPERVISED, reason="there is no supervisor to kill")
def test_a_command_that_kills_its_supervisor_is_ended_all_the_same(folder):
    seconds = own_seconds()
    run(f"setsid sleep {seconds} & kill -9 $PPID; sleep {seconds}", folder)
    assert not sleeping(seconds)


SCRIPT = """
    import sys
    from labkit.command import run
    print("ready", flush=True)
    try:
        run(sys.argv[1], sys.argv[2], 60)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def run_in_another_process(folder: Path, command: str) -> subprocess.Popen[str]:
    """labkit in a process of its own, once the command in it is really running."""
    code = [sys.executable, "-c", textwrap.dedent(SCRIPT), f"touch running; {command}", str(folder)]
    process = subprocess.Popen(code, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1])
    while not (folder / "running").exists():
        assert process.poll() is None
    return process


def test_ctrl_c_ends_the_command_and_goes_on_to_the_caller(folder):
    seconds = own_seconds()
    process = run_in_another_process(folder, f"setsid sleep {seconds} & sleep {seconds}")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert output.splitlines() == ["ready", "interrupted"]
    assert not sleeping(seconds)


@pytest.mark.skipif(not SUPERVISED, reason="only the supervisor outlives labkit to clean up after it")
def test_when_labkit_itself_is_killed_the_command_ends_too(folder):
    seconds = own_seconds()
    process = run_in_another_process(folder, f"setsid sleep {seconds} & sleep {seconds}")
    process.kill()
    process.communicate(timeout=30)
    psutil.wait_procs(sleeping(seconds), timeout=20)
    assert not sleeping(seconds)


def test_no_scratch_files_and_no_open_pipes_are_left(folder, tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    run("true", folder)
    before = psutil.Process().num_fds()
    for _ in range(3):
        run("echo $TMPDIR; touch $TMPDIR/x", folder)
    assert psutil.Process().num_fds() == before
    assert not list((tmp_path / "temporary").iterdir())
