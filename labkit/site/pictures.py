"""The pictures of README.md, made from data: `labkit render --pictures` writes them in a clone."""

from __future__ import annotations

from pathlib import Path

from labkit.errors import SetupError
from labkit.messages import assistant, system, tool_call, tool_result, user
from labkit.places import clone
from labkit.strip import Strip


def compaction_strip() -> Strip:
    """A history before and after a compaction at a safe cut, with the limit."""
    article = "The tide mill turned twice a day, whatever the miller wished. " * 60
    calls = [tool_call(name, "read_file", {"path": name}) for name in ("hello.txt", "notes.md")]
    history = [
        system("You are a coding agent. Use the tools."),
        user("Read big-article.md and give its main point in three sentences."),
        assistant(calls=[tool_call("a", "read_file", {"path": "big-article.md"})]),
        tool_result("a", article),
        assistant("The mill kept the harbour's hours. Work followed the water. Then the railway came."),
        user("Also read hello.txt and notes.md, and write a review."),
        assistant(calls=calls),
        tool_result("hello.txt", "Hello, reader."),
        tool_result("notes.md", "Reviews are due on Friday. Never praise the miller."),
    ]
    summary = user("[Earlier in this task] big-article.md was read; its point: work followed the water.")
    return Strip([history[0], summary, *history[5:]], limit=700, before=history, title="What compaction did")


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
