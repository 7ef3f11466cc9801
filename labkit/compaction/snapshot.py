"""Lab 5: the whole history on disk, before a compaction replaces it.

One message a line, as JSON in UTF-8. The file is written whole under a name that nobody reads, and only then
gets its own: killed at any moment, there is either no snapshot or a whole one. Only its owner can read it.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from labkit.errors import SnapshotError
from labkit.messages import Message

OWNER_ONLY = 0o700


def write_snapshot(messages: Sequence[Message], folder: str | Path) -> Path:
    """Exercise 5.2: write the whole history to `folder/memory_<time>.jsonl` and return that path.

    A new name each time, also three within a second and from several processes. Nothing that exists
    is ever overwritten, and no half file ever stands under such a name.

    Raises SnapshotError when it cannot be written; then nothing has changed.
    """
    folder = Path(folder)
    lines = [as_line(index, message) for index, message in enumerate(messages)]
    try:
        folder.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
        draft = write_draft(folder, b"".join(lines))
        try:
            return publish(draft, folder)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        what = f"The snapshot could not be written into {folder} ({error.strerror or error})."
        raise SnapshotError(
            what, "Make room or give write access there; the history is as it was."
        ) from error


def read_snapshot(path: str | Path) -> list[Message]:
    """The history in a snapshot, equal to the one that was written.

    Raises SnapshotError when the file cannot be read or is not a snapshot.
    """
    try:
        lines = Path(path).read_bytes().decode("utf-8").split("\n")  # not splitlines: text may hold U+2028
        return [as_message(json.loads(line)) for line in lines if line]
    except (OSError, ValueError) as error:
        what = f"The snapshot {path} cannot be read ({error})."
        raise SnapshotError(what, "Check the path; a snapshot holds one JSON message a line.") from error


# --- the steps --------------------------------------------------------------------------------------------


def as_line(index: int, message: Message) -> bytes:
    """One message as a line. Lone surrogates have no UTF-8: such a message is written with escapes."""
    try:
        return json.dumps(message, ensure_ascii=False).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(message).encode("ascii") + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        what = f"Message {index} cannot be written as JSON ({error})."
        raise SnapshotError(what, "A history holds only what JSON can express.") from error


def as_message(value: Any) -> Message:
    if not isinstance(value, dict):
        raise ValueError(f"a line holds a {type(value).__name__}, not a message")
    return value


def write_draft(folder: Path, content: bytes) -> Path:
    """The content in a file of its own, readable by the owner alone, and really on the disk."""
    handle, name = tempfile.mkstemp(prefix=".draft_", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)


def publish(draft: Path, folder: Path) -> Path:
    """Give the draft its name, a free one: memory_<time down to the microsecond>.jsonl."""
    for number in count(1):  # a clock may stand still, so it is not waited for
        path = folder / f"memory_{datetime.now():%Y%m%d_%H%M%S_%f}{f'_{number}' if number > 1 else ''}.jsonl"
        with contextlib.suppress(FileExistsError):  # somebody was here in the same microsecond
            move_to_free_name(draft, path)
            break
    sync_folder(folder)
    return path


def move_to_free_name(draft: Path, path: Path) -> None:
    """Move in one step, and raise FileExistsError rather than replace a file."""
    if os.name == "nt":
        draft.rename(path)  # on Windows a rename never replaces
        return
    try:
        os.link(draft, path)  # a second name for the same file: one step, and never over another
    except FileExistsError:
        raise
    except OSError:
        rename_with_claim(draft, path)  # file systems without hard links


def rename_with_claim(draft: Path, path: Path) -> None:
    """Rename on POSIX replaces: so first claim the name, in a file that only one process can make."""
    claim = path.with_name(f".{path.name}.claim")
    os.close(os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        if path.exists():
            raise FileExistsError(path)
        draft.rename(path)
    finally:
        claim.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut, where the system has a way to ask for that."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):  # some network file systems refuse; the file's content is safe already
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
