"""A confined folder where the system can open a name relative to an open folder (Linux, macOS).

A path is walked folder by folder, each opened relative to the one before and never through a link. So there
is no moment between a check and a use at which a folder could be swapped for a link to somewhere else.
"""

from __future__ import annotations

import errno
import os
import stat
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from labkit.errors import ToolError
from labkit.sandbox.paths import Entry, check_writable, refusal, shown, too_large

SUPPORTED = (
    hasattr(os, "O_NOFOLLOW")
    and hasattr(os, "O_DIRECTORY")
    and {os.open, os.stat, os.mkdir, os.rename, os.unlink} <= os.supports_dir_fd
    and os.scandir in os.supports_fd
)
# Looked up by name: they are missing on Windows, where this module is imported but not used.
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_AS_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINKS
_AS_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | _NO_LINKS
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)  # no other path would help
_AS_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS


class PosixFolder:
    """A folder that cannot be left; see `Folder` in `labkit.sandbox.paths`."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()

    def read(self, parts: Sequence[str], max_bytes: int) -> bytes:
        if not parts:
            raise refusal(parts, "folder", "file")
        with self._open(parts[:-1]) as folder:
            kind = _kind(_lstat(folder, parts[-1]))
            if kind != "file":  # asked before opening: to open a device can already do something
                raise refusal(parts, kind, "file")
            with _told(parts):
                descriptor = os.open(parts[-1], _AS_FILE, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):  # and once more of what was opened
                raise refusal(parts, "other", "file")
            if found.st_size > max_bytes:
                raise too_large(parts, found.st_size, max_bytes)
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:  # it has grown since
            raise too_large(parts, len(data), max_bytes)
        return data

    def write(self, parts: Sequence[str], data: bytes) -> bool:
        if not parts:
            raise refusal(parts, "folder", "file")
        with self._open(parts[:-1], make=True) as folder, _told(parts):
            found = _lstat(folder, parts[-1])
            check_writable(parts, found, _kind(found))
            draft = f".{uuid.uuid4().hex}.draft"
            descriptor = os.open(draft, _AS_NEW, 0o666, dir_fd=folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    if found:
                        os.fchmod(descriptor, found.st_mode & 0o777)
                    file.write(data)
                # Replaces the name itself: if it has become a link by now, the link goes, not its target.
                os.replace(draft, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):  # the draft has taken its place already
                    os.unlink(draft, dir_fd=folder)
                raise
        return found is not None

    def entries(self, parts: Sequence[str]) -> list[Entry]:
        with self._open(parts) as folder, _told(parts), os.scandir(folder) as found:
            return sorted((_entry(each) for each in found), key=lambda entry: entry.name)

    def kind(self, parts: Sequence[str]) -> str:
        if not parts:
            return "folder"
        with self._open(parts[:-1]) as folder:
            return _kind(_lstat(folder, parts[-1]))

    @contextmanager
    def _open(self, parts: Sequence[str], make: bool = False) -> Iterator[int]:
        """The folder at the end of a path, as an open descriptor."""
        folder = _open_root(self.root)
        try:
            for depth, name in enumerate(parts, 1):
                if make:
                    # A folder that is there already is as good as a new one.
                    with suppress(FileExistsError), _told(parts[:depth]):
                        os.mkdir(name, dir_fd=folder)
                below = _step(folder, name, parts[:depth])
                os.close(folder)
                folder = below
            yield folder
        finally:
            os.close(folder)


def _open_root(root: Path) -> int:
    try:
        # Links above the root are the user's own (/tmp is one on macOS), so this one call follows them.
        return os.open(root, _AS_FOLDER & ~getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        raise ToolError(f"the playground cannot be opened ({error.strerror}).", "Tell the user.") from error


def _step(folder: int, name: str, parts: Sequence[str]) -> int:
    try:
        return os.open(name, _AS_FOLDER, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EMLINK):
            kind = _kind(_lstat(folder, name))
            if kind != "folder":  # else it has changed under our hands, and the system's own words must do
                raise refusal(parts, kind, "folder") from error
        what = f"{shown(parts)} cannot be opened ({error.strerror})."
        raise ToolError(what, "Try another path.") from error


@contextmanager
def _told(parts: Sequence[str]) -> Iterator[None]:
    """The system's errors about a path, in words for the model. FileExistsError is left to the caller."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        fix = "Tell the user." if error.errno in _NO_ROOM else "Try another path."
        raise ToolError(f"{shown(parts)}: {error.strerror or error}.", fix) from error


def _lstat(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:  # an answer, not a failure: nothing is there
        return None
    except OSError as error:
        raise ToolError(f"{name}: {error.strerror}.", "Try another path.") from error


def _kind(found: os.stat_result | None) -> str:
    if found is None:
        return ""
    tests = {"file": stat.S_ISREG, "folder": stat.S_ISDIR, "link": stat.S_ISLNK}
    return next((kind for kind, test in tests.items() if test(found.st_mode)), "other")


def _entry(found: os.DirEntry[str]) -> Entry:
    try:
        state = found.stat(follow_symlinks=False)
    except OSError:
        return Entry(found.name, "other")  # gone since it was listed
    kind = _kind(state)
    return Entry(found.name, kind, state.st_size if kind == "file" else 0)
