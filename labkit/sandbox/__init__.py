"""A folder that cannot be left: paths are read strictly, links are never followed.

`paths` (what a path may look like) -> `posix` (walks folder by folder, no race between check and use) or
`portable` (for systems without such calls: checks before and after) -> `Folder`, which the playground uses.

What this does not cover: a hard link made from outside looks like any other file. Reading one is possible;
writing one is refused. And a command is a program of its own: see `labkit.command`.
"""

import os
from pathlib import Path

from labkit.sandbox.paths import Entry, Folder, path_parts
from labkit.sandbox.portable import PortableFolder
from labkit.sandbox.posix import SUPPORTED, PosixFolder

__all__ = ["Entry", "Folder", "PortableFolder", "PosixFolder", "open_folder", "path_parts"]


def open_folder(root: str | os.PathLike[str]) -> Folder:
    """The strictest kind of confined folder that this system offers."""
    return PosixFolder(Path(root)) if SUPPORTED else PortableFolder(Path(root))
