"""A strip to look at: `python -m labkit.strip`."""

from __future__ import annotations

import sys

from labkit.messages import assistant, system, tool_call, tool_result, user
from labkit.strip import strip


def demo() -> None:
    """Two strips: a history with its legal cuts, and the same history before and after a compaction."""
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
    print(strip(history, limit=700, cuts=True, title="A history, its legal cuts, and a limit"))
    print()
    print(strip([history[0], summary, *history[5:]], limit=700, before=history, title="What compaction did"))


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a console without block characters still shows the rest
    demo()
