"""Watching how a function writes: which files it opens for writing, on a computer with another encoding.

For the check of 5.2. While it watches, every `open` of Python goes through here; what runs is the real one.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR
FOREIGN = "cp1252"
"""The encoding of many a computer that is not set to UTF-8."""


class Watch:
    """The names of the files that were opened for writing, in order."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def note(self, file: Any, for_writing: bool) -> None:
        if for_writing and isinstance(file, str | os.PathLike):
            self.written.append(Path(file).name)


@contextlib.contextmanager
def watched(encoding: str = "") -> Iterator[Watch]:
    """Watch each opening of a file. A text file whose encoding is not named gets `encoding`, if given."""
    watch = Watch()
    real_open, real_os_open = io.open, os.open

    def noting_open(file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
        watch.note(file, any(letter in mode for letter in "wax+"))
        if encoding and "b" not in mode:
            rest, named = with_encoding(rest, named, encoding)
        return real_open(file, mode, *rest, **named)

    def noting_os_open(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        watch.note(path, bool(flags & WRITES))
        return real_os_open(path, flags, *rest, **named)

    try:
        io.open = builtins.open = noting_open
        os.open = noting_os_open
        yield watch
    finally:
        io.open = builtins.open = real_open
        os.open = real_os_open


def with_encoding(rest: tuple[Any, ...], named: dict[str, Any], encoding: str) -> tuple[Any, Any]:
    """`open`'s arguments after the mode, with this encoding put in if they name none.

    >>> with_encoding((), {}, "cp1252"), with_encoding((-1, "utf-8"), {}, "cp1252")
    (((), {'encoding': 'cp1252'}), ((-1, 'utf-8'), {}))
    """
    if len(rest) > 1:
        chosen = encoding if rest[1] in (None, "locale") else rest[1]
        return (rest[0], chosen, *rest[2:]), named
    if named.get("encoding") in (None, "locale"):
        return rest, {**named, "encoding": encoding}
    return rest, named
