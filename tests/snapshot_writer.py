"""A process to be killed: it forks a child at each line it reads, and the child compacts until it is killed.

Run by test_snapshot_kill.py as `python snapshot_writer.py FOLDER`. The fork saves starting Python 200 times.
"""

import json
import os
import sys
from pathlib import Path

from labkit.compaction import FullCompactor
from labkit.messages import assistant, system, tool_call, tool_result, user
from labkit.streaming import Reply

SUMMARY = "Accomplished: forty files read. Current state: in progress."


def history():
    """A history that takes a moment to write: about 300 kB in several scripts."""
    messages = [system("You are a coding agent."), user("Read everything; never edit tests/.")]
    for index in range(40):
        call = tool_call(f"c{index}", "read_file", {"path": f"src/m{index}.py"})
        messages += [assistant(calls=[call]), tool_result(f"c{index}", f"{index} value 读取 \ud83d " * 400)]
    return [*messages, assistant("All read.")]


def save(messages, path):
    """Replace the saved history in one step."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(messages), encoding="utf-8")
    draft.replace(path)


def work(folder):
    """Compact the same history over and over, saving what comes out each time."""
    messages, state = history(), folder / "history.json"
    full = FullCompactor(
        limit=1, folder=folder / ".memory", summarise=lambda request, most: Reply(assistant(SUMMARY), "stop")
    )
    while True:
        save(messages, state)
        result = full(messages)
        assert result.changed, result.reason
        save(result.messages, state)


if __name__ == "__main__":
    full_once = FullCompactor(
        limit=1, folder=Path(sys.argv[1]) / "warm"
    )  # loads the tokenizer before the forks
    full_once(history())
    print("ready", flush=True)
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            work(Path(sys.argv[1]))
        print(child, flush=True)
        os.waitpid(child, 0)
        print("gone", flush=True)
