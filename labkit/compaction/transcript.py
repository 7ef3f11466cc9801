"""Read a request for a summary back: which sections it asks for, and what happened in the history it holds.

The other side of `summary.py`, for the summariser that works by rules. It knows nothing but the request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from labkit.messages import Message, text_of

FENCE = re.compile(r"(?m)^<((?:history|earlier-summary)(?:-[0-9a-f]{8})?)>\n((?:.*\n)*?)</\1>$")
TITLE = re.compile(r"^#{1,4} +(.+?) *$", re.MULTILINE)
BLOCK = re.compile(r"^(?!>)(?:(assistant calls|result of) )?(.+):\n((?:>.*\n?)+)", re.MULTILINE)
FIELD = r'"(?:{names})"\s*:\s*"((?:[^"\\]|\\.)*)'

CHANGES = re.compile(r"(?i)write|edit|create|append|save|replace|patch|insert|delete|remove|update|move")
EDITS = re.compile(r"view|create|str_replace|insert|undo_edit")  # what an editor tool's "command" may be
LOOKS = re.compile(r"list|search|grep|find|glob|\bls\b", re.IGNORECASE)
KEY_LINE = re.compile(r"fail|error|passed|\bok\b|\bran \d|traceback|warning", re.IGNORECASE)
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@dataclass
class Happened:
    """What a history says happened. Paths and commands are keys in order; the values say the gist."""

    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)  # answers, without calls
    remarked: list[str] = field(default_factory=list)  # what was said beside a call
    read: dict[str, str] = field(default_factory=dict)
    changed: dict[str, str] = field(default_factory=dict)
    ran: dict[str, str] = field(default_factory=dict)
    answered: bool = True  # whether the newest request has its answer


@dataclass(frozen=True)
class Assignment:
    """A request for a summary, taken apart: titles asked for, the history as text, earlier summary."""

    titles: list[str]
    history: str
    earlier: str

    @property
    def chinese(self) -> bool:
        """Whether the titles are Chinese."""
        return bool(CHINESE.search("".join(self.titles)))


def read_assignment(messages: Sequence[Message]) -> Assignment:
    """Take a request for a summary apart. Without our fences, all that users say is the history."""
    said = [text_of(message.get("content")) for message in messages if message.get("role") == "user"]
    text = "\n\n".join(said)
    fences, outside, end = {}, [], 0
    for match in FENCE.finditer(text):
        fences[match.group(1).partition("-")[0]] = match.group(2).removesuffix("\n")
        outside.append(text[end : match.start()])
        end = match.end()
    titles = TITLE.findall("".join([*outside, text[end:]]))
    return Assignment(titles, fences.get("history", text if not fences else ""), fences.get("earlier", ""))


def read_history(text: str) -> Happened:
    """What happened, from the rendered history: requests, answers, files, commands."""
    happened = Happened()
    waiting: dict[str, list[str]] = {}  # tool name -> the arguments of its calls without a result yet
    blocks = BLOCK.findall(text + "\n")
    kinds = [kind for kind, *_ in blocks]
    for (kind, name, quoted), next_kind in zip(blocks, [*kinds[1:], ""], strict=False):
        content = "\n".join(line[2:] for line in quoted.splitlines())
        if kind == "assistant calls":
            waiting.setdefault(name, []).append(content)
        elif kind == "result of":
            arguments = waiting[name].pop(0) if waiting.get(name) else ""
            note_call(happened, name, arguments, content)
        elif name == "user":
            happened.asked.append(content)
            happened.answered = False
        elif name == "assistant" and next_kind == "assistant calls":
            happened.remarked.append(content)
        elif name == "assistant" and content.strip():
            happened.said.append(content)
            happened.answered = True
    for name, calls in waiting.items():
        for arguments in calls:
            note_call(happened, name, arguments, "no result")
    if not happened.asked and not happened.said and text.strip() and not blocks:
        happened.said.append(text)
    return happened


def note_call(happened: Happened, name: str, arguments: str, result: str) -> None:
    """Put one call with its result where it belongs: files read, files changed, or commands."""
    path = argument(arguments, "path|file|file_path|filePath|filename|filepath")
    command = argument(arguments, "command|cmd")
    if path and EDITS.fullmatch(command):
        name, command = command, ""
    failed = result.startswith("Error") or result == "no result"
    if command:
        happened.ran[command] = key_line(result)
    elif path and LOOKS.search(name) is None and not failed:
        if CHANGES.search(name):
            happened.changed.pop(path, None)
            happened.changed[path] = change_gist(arguments)
        else:
            happened.read.setdefault(path, first_line(result))
    else:
        what = path or argument(arguments, "pattern|query") or arguments.strip().removesuffix("{}")
        happened.ran[f"{name} {what}".strip()] = key_line(result)


def argument(arguments: str, names: str) -> str:
    """The first of these arguments that a call has, as text; also in JSON that was cut in the middle."""
    found = re.search(FIELD.format(names=names), arguments)
    if not found:
        return ""
    try:
        return str(json.loads(f'"{found.group(1)}"'))
    except ValueError:
        return found.group(1)


def change_gist(arguments: str) -> str:
    old, new = argument(arguments, "old|old_string|old_str"), argument(arguments, "new|new_string|new_str")
    if old or new:
        return f"{first_line(old, 40)} → {first_line(new, 40)}"
    return first_line(argument(arguments, "content|text|file_text|new_content"))


def first_line(text: str, most: int = 80) -> str:
    """The first line that says something, without the marks of a heading."""
    for line in text.splitlines():
        if line.strip("#> -=*\t"):
            return clip(re.sub(r"^\s*\d+[\t|:]\s*", "", line).strip("# \t"), most)
    return ""


@lru_cache(maxsize=1024)  # a session that is replayed again has the same results
def key_line(result: str, most: int = 120) -> str:
    """The line of a result that tells how it went: the last one that names a failure or a success, else the
    last.
    """
    lines = [line.strip() for line in result.splitlines() if line.strip()] or ["no output"]
    return clip(next((line for line in reversed(lines) if KEY_LINE.search(line)), lines[-1]), most)


def clip(text: str, most: int) -> str:
    """One line of at most `most` characters: cut between words, its end kept where that says more.

    >>> clip("read the article and write a review of it", 20)
    'read the article…'
    """
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    head = text[: most - 1]
    blank = head.rfind(" ")
    return (head[:blank] if blank > most // 2 else head).rstrip(" ,;:") + "…"
