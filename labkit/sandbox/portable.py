"""A confined folder for systems that cannot open a name relative to an open folder (Windows).

Every name on the way is looked at before, and where the opened thing really lies is looked at after. A folder
swapped for a link in between is noticed before anything that was read is handed out; a draft that landed
elsewhere is removed again. That is weaker than `posix`, which leaves no such moment.
"""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from labkit.errors import ToolError
from labkit.sandbox.paths import Entry, check_writable, refusal, shown, too_large

# Windows has other names that lead elsewhere, junctions above all. Their reparse tags all have this bit set:
# https://learn.microsoft.com/windows/win32/fileio/reparse-point-tags
_NAME_SURROGATE = 0x2000_0000


class PortableFolder:
    """A folder that cannot be left; see `Folder` in `labkit.sandbox.paths`."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()

    def read(self, parts: Sequence[str], max_bytes: int) -> bytes:
        path = self._checked(parts, "file")
        try:
            with path.open("rb") as file:
                data = file.read(max_bytes + 1)
                opened = os.fstat(file.fileno())
        except OSError as error:
            raise _told(parts, error) from error
        self._still_inside(path, parts)
        with suppress(FileNotFoundError):  # taken away since it was opened: what was read was inside
            if not os.path.samestat(opened, path.lstat()):
                raise refusal(parts, "link", "file")
        if len(data) > max_bytes:
            raise too_large(parts, opened.st_size, max_bytes)
        return data

    def write(self, parts: Sequence[str], data: bytes) -> bool:
        if not parts:
            raise refusal(parts, "folder", "file")
        self._make_folders(parts[:-1])
        path = self.root.joinpath(*parts)
        found = _lstat(path)
        check_writable(parts, found, _kind(found))
        draft = path.with_name(f".{uuid.uuid4().hex}.draft")
        try:
            with draft.open("xb") as file:
                file.write(data)
            self._still_inside(draft, parts)
            if found:
                draft.chmod(stat.S_IMODE(found.st_mode) & 0o777)
            draft.replace(path)
        except OSError as error:
            raise _told(parts, error) from error
        finally:
            with suppress(OSError):  # a draft that stays must not hide what went wrong before
                draft.unlink(missing_ok=True)
        return found is not None

    def entries(self, parts: Sequence[str]) -> list[Entry]:
        path = self._checked(parts, "folder")
        try:
            names = sorted(child.name for child in path.iterdir())
        except OSError as error:
            raise _told(parts, error) from error
        self._still_inside(path, parts)
        return [_entry(path / name) for name in names]

    def kind(self, parts: Sequence[str]) -> str:
        if not parts:
            return "folder"
        return _kind(_lstat(self._checked(parts[:-1], "folder") / parts[-1]))

    def _checked(self, parts: Sequence[str], wanted: str) -> Path:
        """The path, when every name on the way is a real folder and the last is what was wanted."""
        path = self.root
        for depth, name in enumerate(parts, 1):
            path = path / name
            kind = _kind(_lstat(path))
            expected = wanted if depth == len(parts) else "folder"
            if kind != expected:
                raise refusal(parts[:depth], kind, expected)
        if not parts and wanted == "file":
            raise refusal(parts, "folder", wanted)
        return path

    def _make_folders(self, parts: Sequence[str]) -> None:
        for depth in range(1, len(parts) + 1):
            path = self.root.joinpath(*parts[:depth])
            if _lstat(path) is None:
                path.mkdir(exist_ok=True)
            self._checked(parts[:depth], "folder")

    def _still_inside(self, path: Path, parts: Sequence[str]) -> None:
        if not path.resolve().is_relative_to(self.root.resolve()):
            raise refusal(parts, "link", "file")


def _told(parts: Sequence[str], error: OSError) -> ToolError:
    return ToolError(f"{shown(parts)}: {error.strerror or error}.", "Try another path.")


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:  # an answer, not a failure: nothing is there
        return None
    except OSError as error:
        raise ToolError(f"{path.name}: {error.strerror or error}.", "Try another path.") from error


def _kind(found: os.stat_result | None) -> str:
    if found is None:
        return ""
    if stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", 0) & _NAME_SURROGATE:
        return "link"
    return "file" if stat.S_ISREG(found.st_mode) else "folder" if stat.S_ISDIR(found.st_mode) else "other"


def _entry(path: Path) -> Entry:
    found = _lstat(path)
    kind = _kind(found) or "other"
    return Entry(path.name, kind, found.st_size if found and kind == "file" else 0)
