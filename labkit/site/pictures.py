"""The pictures of README.md, made from data: `labkit render --pictures` writes them in a clone."""

from __future__ import annotations

from pathlib import Path

from labkit.errors import SetupError
from labkit.places import clone
from labkit.strip import Strip
from labkit.strip.example import example


def compaction_strip() -> Strip:
    """A history before and after a compaction at a safe cut, with the limit."""
    history, compacted = example()
    return Strip(compacted, limit=700, before=history, title="What compaction did")


def pictures() -> dict[str, str]:
    """Each picture's file name in labs/images, with its SVG. The same bytes each time."""
    return {"strip.svg": compaction_strip().svg() + "\n"}


def write_pictures(folder: Path | None = None) -> list[Path]:
    """Write the pictures into labs/images of this clone. SetupError where there is no clone."""
    root = clone()
    if folder is None and root is None:
        raise SetupError(
            "There is no clone here, and only a clone has a README with pictures.",
            "To read the labs as pages: labkit render.",
        )
    folder = folder or Path(root or "") / "labs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, svg in pictures().items():
        path = folder / name
        path.write_bytes(svg.encode("utf-8"))
        written.append(path)
    return written
