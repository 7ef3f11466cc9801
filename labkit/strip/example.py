"""One history before and after a compaction at a safe cut: what the demo and README's picture show."""

from __future__ import annotations

from labkit.messages import Message, assistant, system, tool_call, tool_result, user


def example() -> tuple[list[Message], list[Message]]:
    """The history before the compaction, and after it."""
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
    return history, [history[0], summary, *history[5:]]
