"""What a path may look like, before any file is touched; and what a confined folder can do."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from labkit.errors import ToolError

MAX_NAME_BYTES = 255  # of one name, on the usual file systems
MAX_PATH_BYTES = 4096

_INSIDE = "Give a path inside the playground, with / between the names, such as shop/README.md."
_DRIVE = re.compile(r"[A-Za-z]:")
_ENCODED = re.compile(r"%(2e|2f|5c|00|7e)", re.IGNORECASE)  # . / \ NUL ~ as a web address writes them
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Entry:
    """One name in a folder. `kind` is "file", "folder", "link" or "other" (devices, pipes, sockets)."""

    name: str
    kind: str
    size: int = 0
    """Bytes, for a file."""


class Folder(Protocol):
    """A folder that cannot be left. All paths come as the names from the root down (see `path_parts`)."""

    root: Path

    def read(self, parts: Sequence[str], max_bytes: int) -> bytes:
        """A regular file's bytes. Raises ToolError when there is none, or more than max_bytes in it."""

    def write(self, parts: Sequence[str], data: bytes) -> bool:
        """Write a file whole or not at all, folders included; whether there was one before."""

    def entries(self, parts: Sequence[str]) -> list[Entry]:
        """What is in a folder, sorted by name."""

    def kind(self, parts: Sequence[str]) -> str:
        """The kind of what is there, as in Entry, or "" when nothing is."""


def path_parts(path: str, root: Path | None = None, windows: bool = os.name == "nt") -> tuple[str, ...]:
    """The names of a relative path from the root down; `.` gives none. Raises ToolError for any other path.

    A path that starts with the root's own absolute path is taken as relative to it. Nothing is resolved or
    decoded: what could be read in two ways is refused.

    >>> path_parts("./shop//README.md")
    ('shop', 'README.md')
    """
    relative = _below_root(path, root)
    reason = _path_problem(relative)
    parts = tuple(part for part in relative.split("/") if part not in ("", "."))
    for part in parts:
        reason = reason or _name_problem(part, windows)
    if reason:
        raise ToolError(f"the path {_shown(path)} is not allowed: {reason}.", _INSIDE)
    return parts


def _below_root(path: str, root: Path | None) -> str:
    for prefix in {str(root.absolute()), str(root.resolve())} if root else ():
        if path == prefix:
            return "."
        if path.startswith((prefix + "/", prefix + os.sep)):
            return path[len(prefix) + 1 :].replace(os.sep, "/")
    return path


def _path_problem(path: str) -> str:
    try:
        size = len(path.encode("utf-8"))
    except UnicodeEncodeError:
        return "it holds half a character"
    # Some file systems fold look-alikes, such as the full-width stop, into the plain sign: see both.
    folded = unicodedata.normalize("NFKC", path)
    if any(unicodedata.category(character) == "Cc" for character in path):
        return "it holds a control character"
    if size > MAX_PATH_BYTES:
        return "it is too long"
    for text in (path, folded):
        if "\\" in text:
            return "it holds a backslash"
        if text.startswith("/"):
            return "it is absolute"
        if _DRIVE.match(text):
            return "it names a drive"
        if text.startswith("~"):
            return "~ stands for a home folder"
        if ".." in [part.strip() for part in text.split("/")]:
            return ".. leads out of a folder"
    return "it is percent-encoded" if _ENCODED.search(folded) else ""


def _name_problem(name: str, windows: bool) -> str:
    if len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES:
        return f"a name in it is longer than {MAX_NAME_BYTES} bytes"
    if not windows:
        return ""
    if name.endswith((".", " ")):
        return "a name in it ends with a full stop or a space"
    if _DEVICE.fullmatch(name):
        return f"{name} is a device"
    return 'a name in it holds one of : * ? " < > |' if re.search(r'[:*?"<>|]', name) else ""


def _shown(path: str) -> str:
    return repr(path if len(path) <= 80 else path[:77] + "...")


def shown(parts: Sequence[str]) -> str:
    """A path as it is shown to the model."""
    return "/".join(parts) or "."


def refusal(parts: Sequence[str], kind: str, wanted: str) -> ToolError:
    """Why a path of this kind is not what was wanted ("file" or "folder")."""
    name = shown(parts)
    reasons = {
        "": (f"{name} does not exist.", "Use list_files to see what is there."),
        "link": (f"{name} is a link, and links are not followed.", "Use the file itself."),
        "file": (f"{name} is a file, not a folder.", "Read it with read_file."),
        "folder": (f"{name} is a folder, not a file.", "Use list_files to see what is in it."),
        "other": (f"{name} is not an ordinary {wanted} (a device, pipe or socket).", "Leave it alone."),
    }
    return ToolError(*reasons[kind])


def too_large(parts: Sequence[str], size: int, max_bytes: int) -> ToolError:
    """A file that is larger than what is read at once."""
    what = f"{shown(parts)} has {size:,} bytes; at most {max_bytes:,} can be read."
    return ToolError(what, "Look at a part of it with run_command, for example with head or tail.")


def check_writable(parts: Sequence[str], found: os.stat_result | None, kind: str) -> None:
    """Raise ToolError for a target that must not be written. `found` is its lstat, None when it is new."""
    if found is None:
        return
    if kind != "file":
        raise refusal(parts, kind, "file")
    if found.st_nlink > 1:
        what = f"{shown(parts)} is a hard link: it has another name too, perhaps outside the playground."
        raise ToolError(what, "Write to a new file instead.")
    if not found.st_mode & 0o200:
        raise ToolError(f"{shown(parts)} is read-only.", "Write to a new file instead.")
