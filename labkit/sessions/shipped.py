"""The recorded sessions that ship with the labs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from labkit.errors import SetupError
from labkit.messages import Message

RECORDED = {"small": 10, "medium": 100, "large": 1000}
"""The shipped sessions, and how many messages each has."""

FOLDER = Path(__file__).parent / "recorded"


def recorded(name: str) -> list[Message]:
    """A shipped session, "small", "medium" or "large" (10, 100, 1,000 messages), as a new list.

    Raises SetupError for another name.

    >>> len(recorded("small"))
    10
    """
    data = recorded_path(name).read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def recorded_path(name: str) -> Path:
    """Where a shipped session lies: one message a line, as JSON; the large one compressed with gzip.

    Raises SetupError for a name that is not in RECORDED.
    """
    if name not in RECORDED:
        raise SetupError(f"There is no recorded session {name!r}.", f"There are: {', '.join(RECORDED)}.")
    found = [FOLDER / f"{name}.jsonl", FOLDER / f"{name}.jsonl.gz"]
    return next((path for path in found if path.is_file()), found[0])
