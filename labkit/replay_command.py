"""`labkit replay`: a recorded history under several policies, side by side."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from labkit.policies import POLICIES, policy_hooks

if TYPE_CHECKING:
    from labkit.charts import Chart
    from labkit.trace import Trace


def replay_policies(
    recording: Path, names: Sequence[str] = (), limit: int | None = None
) -> tuple[dict[str, Trace], Chart]:
    """The trace of each policy (all, if none is named), and the chart that compares them.

    `limit` is in tokens and leaves "count" as it is. Raises SnapshotError when the recording cannot be read,
    and SetupError for an unknown policy.
    """
    from labkit.charts import policies
    from labkit.compaction import read_snapshot
    from labkit.replay import replay

    history = read_snapshot(recording)
    traces: dict[str, Trace] = {}
    with tempfile.TemporaryDirectory(prefix="labkit-replay-") as folder:
        for name in names or POLICIES:
            hooks = policy_hooks(name, None if name == "count" else limit, folder)
            traces[name] = replay(history, **hooks)
    return traces, policies(traces, limit)
