"""A process that compacts is killed at random moments, 200 times: nothing is lost, nothing is half there."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import snapshot_writer

from labkit.compaction import read_snapshot

KILLS = 200
SEED = 20310417


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL, which this system does not have")
def test_a_kill_at_any_moment_leaves_whole_snapshots_and_a_valid_history(tmp_path):
    whole = snapshot_writer.history()
    dice, seen = random.Random(SEED), {"snapshots": 0, "drafts": 0, "compacted": 0, "original": 0}
    writer = subprocess.Popen(
        [sys.executable, snapshot_writer.__file__, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with writer:
        assert writer.stdout.readline() == "ready\n"
        for _ in range(KILLS):
            writer.stdin.write("go\n")
            writer.stdin.flush()
            child = int(writer.stdout.readline())
            wait_until(time.perf_counter() + dice.uniform(0, 0.06))
            os.kill(child, signal.SIGKILL)
            assert writer.stdout.readline() == "gone\n"
            look_at(tmp_path, whole, seen)
        writer.stdin.close()
    # The kills did fall on all kinds of moments.
    assert seen["snapshots"] > KILLS / 10
    assert seen["original"] > 0
    assert seen["compacted"] > 0
    assert seen["drafts"] > 0


def wait_until(moment):
    """Spin: the moment of the kill is the point of the test, and a sleep would round it."""
    while time.perf_counter() < moment:
        pass


def look_at(folder: Path, whole, seen):
    """Everything that a killed process left; then it is cleared away for the next."""
    for path in (folder / ".memory").glob("*"):
        if path.name.startswith("memory_"):
            seen["snapshots"] += 1
            assert read_snapshot(path) == whole
            assert path.stat().st_mode & 0o777 == 0o600
        else:
            seen["drafts"] += 1
            assert path.name.startswith(".draft_")
    state = folder / "history.json"
    if state.exists():
        saved = json.loads(state.read_text(encoding="utf-8"))
        seen["original" if saved == whole else "compacted"] += 1
        if saved != whole:
            assert [message["role"] for message in saved] == ["system", "user", "assistant"]
            named = saved[1]["content"].partition("Memory: ")[2].partition("]")[0]
            assert read_snapshot(folder / named) == whole
    for path in [*(folder / ".memory").glob("*"), state, state.with_suffix(".draft")]:
        path.unlink(missing_ok=True)
