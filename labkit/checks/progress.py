"""What a learner has done, kept on disk: it outlives the kernel, and two notebooks may write at once.

One JSON file in the learner's folder, one record for each exercise. It is written whole and swapped in, and
read again before each change, under a lock file. A file that cannot be read is put aside, never overwritten.
What a later version of labkit wrote into it stays in it.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from labkit.places import STATE_FOLDER, find_workspace, state_file

_LOCK_SECONDS = 3.0  # a lock that is older was left by a kernel that was killed
_VERSION = 1
STATE_NAME = "progress.json"


@dataclass(frozen=True)
class Record:
    """One exercise: the last state, and what led there. `passed` stays true once it was passed."""

    state: str = "not started"
    passed: bool = False
    attempts: int = 0
    borrowed: bool = False
    hints: int = 0
    solution: bool = False
    idea: str = ""
    source: str = ""

    @property
    def shown(self) -> str:
        """The state that counts on the board: once passed is passed."""
        return "passed" if self.passed else self.state


def read() -> tuple[dict[str, Record], str]:
    """All records by exercise id, and a sentence when the file could not be read ("" when all is well)."""
    path = find_workspace() / STATE_FOLDER / STATE_NAME
    try:
        return _records(_parse(path.read_text(encoding="utf-8"))), ""
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError):
        return (
            {},
            f"{path.name} cannot be read. The next check puts it aside (it is not lost) and starts anew.",
        )


def record_of(exercise_id: str) -> Record:
    """The record of one exercise."""
    return read()[0].get(exercise_id, Record())


def change(exercise_id: str, how: Callable[[Record], Record]) -> str:
    """Change one record on disk; "" or a sentence on what went wrong (a check goes on without it)."""

    def apply(records: dict[str, Record]) -> dict[str, Record]:
        return {**records, exercise_id: how(records.get(exercise_id, Record()))}

    return _update(apply)


def forget(exercise_ids: list[str]) -> str:
    """Take these exercises' records out of the file. The answer is "" or a sentence on what went wrong."""
    return _update(lambda records: {key: value for key, value in records.items() if key not in exercise_ids})


def after_check(record: Record, state: str, idea: str, source: str) -> Record:
    """The record after a check. The same answer, checked again, is no new attempt; a stub is none at all."""
    tried = state != "not started" and source != record.source
    return replace(
        record,
        state=state,
        passed=record.passed or state == "passed",
        borrowed=state != "passed",
        attempts=record.attempts + tried,
        idea=idea,
        source=source if state != "not started" else record.source,
    )


def _update(how: Callable[[dict[str, Record]], dict[str, Record]]) -> str:
    try:
        path = state_file()
        with _lock(path.with_suffix(".lock")):
            data, note = _load(path)
            _write(path, _changed(data, how(_records(data))))
        return note
    except OSError as error:
        return f"Your progress could not be saved ({error.strerror or error}); `labkit doctor` says more."


def _load(path: Path) -> tuple[dict[str, Any], str]:
    new: dict[str, Any] = {"version": _VERSION, "exercises": {}}
    try:
        return _parse(path.read_text(encoding="utf-8")), ""
    except FileNotFoundError:
        return new, ""
    except ValueError:
        aside = _free_name(path.with_suffix(".damaged.json"))
        path.replace(aside)
        return (
            new,
            f"The file with your progress was damaged. It is kept as {aside.name}; counting starts anew.",
        )


def _parse(text: str) -> dict[str, Any]:
    """What a file's text holds; ValueError when it is not what `_write` writes."""
    data = json.loads(text)
    if not isinstance(data, dict) or not isinstance(data.get("exercises"), dict):
        raise ValueError("not a progress file")
    _records(data)
    return data


def _records(data: dict[str, Any]) -> dict[str, Record]:
    return {str(key): _record(value) for key, value in data["exercises"].items()}


def _changed(data: dict[str, Any], records: dict[str, Record]) -> dict[str, Any]:
    """What the file is to hold. What a later version put there, and its number, are not ours to drop."""
    before = data["exercises"]
    exercises = {key: {**before.get(key, {}), **asdict(records[key])} for key in sorted(records)}
    return {**data, "exercises": exercises}


def _record(value: Any) -> Record:
    if not isinstance(value, dict):
        raise ValueError("not a record")
    known = {f.name: value[f.name] for f in fields(Record) if f.name in value}
    defaults = asdict(Record())
    if any(type(part) is not type(defaults[name]) for name, part in known.items()):
        raise ValueError("a record of other types")
    return Record(**known)


def _write(path: Path, data: dict[str, Any]) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".progress-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
        _swap_in(Path(name), path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _swap_in(new: Path, path: Path) -> None:
    """Replace, a few times where needed: on Windows a file that somebody reads cannot be replaced at once."""
    for _ in range(20):
        try:
            new.replace(path)
            return
        except PermissionError:
            time.sleep(0.02)
    new.replace(path)


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the lock file. One that was left behind is taken over: no learner waits for a dead kernel."""
    give_up = time.monotonic() + 3 * _LOCK_SECONDS
    while True:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            if time.monotonic() > give_up:
                raise
            with contextlib.suppress(OSError):  # it was given back just now; the next round sees
                if time.time() - path.stat().st_mtime > _LOCK_SECONDS:
                    path.unlink(missing_ok=True)
            time.sleep(0.01)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _free_name(path: Path) -> Path:
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate
