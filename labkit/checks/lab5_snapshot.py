"""The check of 5.2: a snapshot is whole, readable, new, and never half."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise, case
from labkit.checks.lab5_watch import FOREIGN, watched
from labkit.checks.show import count, cut_short, show
from labkit.errors import SnapshotError
from labkit.messages import Message, assistant, system, tool_call, tool_result, user

write_snapshot = Exercise("5.2", "labkit.compaction.snapshot:write_snapshot")

NAMES = "memory_*.jsonl"
NAME = "memory_<time>.jsonl"
CHAT = [system("You are a coding agent."), user("Read notes.md."), assistant("It says: buy rope.")]
WORK = [
    *CHAT[:2],
    assistant(None, [tool_call("c1", "read_file", {"path": "notes.md"})]),
    tool_result("c1", "# Notes\n\n- Buy rope.\n"),
    assistant('It says: "buy rope".'),
]
FOREIGN_WORDS = [user("读 notes.md, s'il vous plaît \u2013 and 19 °C"), assistant("渡し船 costs 3 €.")]


def write(t: Attempt, history: list[Message], folder: Path) -> Path:
    """The path that the learner's function returns; breaks when it is no path of a file in the folder."""
    came: Any = t.call(history, folder)
    if not isinstance(came, Path):
        t.fail(
            f"the path of the new file: folder / {NAME!r}",
            f"{cut_short(str(came)) if isinstance(came, str) else show(came)} ({type(came).__name__})",
            step="Return the path that publish(draft, folder) gives you.",
        )
    t.expect(came.is_file(), "a file at the path that was returned", "there is none")
    t.expect(
        came.parent == folder and came.match(NAMES),
        f"a file {NAME} in the folder",
        f"{'in the folder' if came.parent == folder else 'elsewhere'}, a name of another form",
        rule="The folder holds many snapshots; they are found by the form of their names.",
    )
    return came


def fresh(body: Callable[..., None]) -> Callable[..., None]:
    """The idea, in a folder of its own that is removed afterwards. The card names it `folder`."""

    def in_a_folder(t: Attempt, *values: Any, **settings: Any) -> None:
        with TemporaryDirectory() as parent:
            many = f"history of {count(len(values[0]), 'message')}" if values else "history"
            t.trying(f"write_snapshot({many}, folder)")
            body(t, Path(parent) / ".memory", *values, **settings)

    return in_a_folder


def expect_whole(t: Attempt, path: Path, history: list[Message]) -> None:
    """The file holds the history, one message a line. Well-known mistakes get their own words."""
    content = path.read_bytes()
    try:
        lines = content.decode("utf-8").removesuffix("\n").split("\n")
        found = [json.loads(line) for line in lines]
    except UnicodeDecodeError as error:
        t.fail("a file in UTF-8", f"byte {error.start} of it, {content[error.start]:#x}, is no UTF-8")
    except ValueError:
        came, rule, step = not_json(lines)
        t.fail(f"{count(len(history), 'line')} of JSON", came, rule=rule, step=step)
    if found == [history] or (len(found) != len(history) and isinstance(found[0], list)):
        t.fail(
            f"{count(len(history), 'line')}, one message on each",
            "the whole history as one list on one line",
            rule="One message a line: a tool can search it and show the line, without the rest.",
            step="Write one line for each message.",
        )
    t.expect(
        len(found) == len(history),
        f"{count(len(history), 'line')}, one message on each",
        count(len(found), "line"),
        rule="The whole history: nobody knows today which message will be missed.",
        step="Write a line for each message, the system message too.",
    )
    t.equal(found, history)


def not_json(lines: list[str]) -> tuple[str, str, str]:
    """What came in place of JSON, in words, with rule and step. `lines` has at least one that is none."""
    bad = next(line for line in lines if not is_json(line))
    try:
        ast.literal_eval(bad)
    except (ValueError, SyntaxError):
        return f"a line that is none: {cut_short(bad)!r}", "", ""
    return (
        f"Python's way of writing a dict: {cut_short(bad)!r}",
        "str() of a dict is no JSON: single quotes, None for null. Only Python itself can read it.",
        "Make each line with as_line(index, message), or json.dumps(message).",
    )


def is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:  # the answer: it is none
        return False
    return True


# -- the ideas, in order


@write_snapshot.idea(
    "file",
    "A new file memory_<time>.jsonl stands in the folder, and its path is returned",
    rule="The path goes into the summary: it is the agent's way back.",
    step="Make the folder with folder.mkdir(...), write the draft, and return publish(draft, folder).",
    cases=[case(CHAT)],
    shrink=False,
)
@fresh
def a_file(t: Attempt, folder: Path, history: list[Message]) -> None:
    write(t, history, folder)


@write_snapshot.idea(
    "json-lines",
    "It holds every message, one a line, as JSON",
    rule="JSON reads back equal, in any language, and one line is one message.",
    step='b"".join(as_line(index, message) for index, message in enumerate(messages)).',
    cases=[case(CHAT), case(WORK)],
    shrink=False,
)
@fresh
def one_message_a_line(t: Attempt, folder: Path, history: list[Message]) -> None:
    expect_whole(t, write(t, history, folder), history)


@write_snapshot.idea(
    "utf-8",
    "It is UTF-8 on every computer, whatever that computer's own encoding is",
    rule="open() without an encoding takes the computer's own. There, a snapshot may break or be unreadable.",
    step='Write bytes (as_line makes them), or say encoding="utf-8" when you open the file.',
    cases=[case(FOREIGN_WORDS)],
    shrink=False,
)
@fresh
def utf_8(t: Attempt, folder: Path, history: list[Message]) -> None:
    t.trying(
        f"write_snapshot(history with letters of several scripts, folder), the computer set to {FOREIGN}"
    )
    with watched(FOREIGN):
        path = write(t, history, folder)
    expect_whole(t, path, history)


@write_snapshot.idea(
    "new-name",
    "Each snapshot has a name of its own, also within the same second",
    rule="The old snapshot is the only copy of an older history. Overwritten, that is gone.",
    step="publish(draft, folder) finds a free name. A name made of seconds is the same for a whole second.",
    shrink=False,
)
@fresh
def a_name_of_its_own(t: Attempt, folder: Path) -> None:
    histories = [[user(f"This is history {number}.")] for number in range(4)]
    t.trying("write_snapshot(...) four times, one directly after the other")
    paths = [write(t, history, folder) for history in histories]
    there = len(list(folder.glob(NAMES)))
    t.expect(len(set(paths)) == there == 4, "4 files", f"{count(there, 'file')}: one took another's place")
    for path, history in zip(paths, histories, strict=True):
        expect_whole(t, path, history)


@write_snapshot.idea(
    "all-or-nothing",
    "If a message cannot be written, there is no snapshot at all, and the caller is told",
    rule="A file that holds a part of the history looks whole. Somebody would trust it.",
    step="Make all lines first. Only when you have them all, touch the disk.",
    shrink=False,
)
@fresh
def all_or_nothing(t: Attempt, folder: Path) -> None:
    broken = [*CHAT, {"role": "user", "content": {"a set is no JSON"}}, *CHAT]
    t.trying("write_snapshot(history whose message 3 of 7 cannot be written as JSON, folder)")
    t.raises(Exception, broken, folder)
    for path in folder.glob(NAMES) if folder.is_dir() else ():
        lines = len(path.read_bytes().splitlines())
        t.fail(f"no {NAME} in the folder", f"one with {count(lines, 'line')} in it, of 7")


@write_snapshot.idea(
    "draft-first",
    "The file gets its name when it is whole, not before",
    rule="Killed in the middle of writing, a process leaves a part. It must not stand under the real name.",
    step="Write everything with write_draft(folder, content), then publish(draft, folder).",
    cases=[case(WORK)],
    shrink=False,
)
@fresh
def a_draft_first(t: Attempt, folder: Path, history: list[Message]) -> None:
    with watched() as watch:
        write(t, history, folder)
    written = [name for name in watch.written if Path(name).match(NAMES)]
    t.expect(
        not written,
        f"another name while it is being written, and {NAME} when it is whole",
        f"{NAME} itself was opened for writing: killed now, half a file stands there",
    )


@write_snapshot.idea(
    "no-rest",
    "No draft is left behind",
    rule="Each snapshot would leave its double, for nobody, until the disk is full.",
    step="In a finally: draft.unlink(missing_ok=True).",
    cases=[case(CHAT)],
    shrink=False,
)
@fresh
def nothing_left_behind(t: Attempt, folder: Path, history: list[Message]) -> None:
    path = write(t, history, folder)
    many = sum(1 for other in folder.rglob("*") if other != path and other.is_file())
    t.expect(not many, "one file in the folder", f"{count(many, 'file')} more, besides the snapshot")


@write_snapshot.idea(
    "text-path",
    "The folder may be given as text, and may be there already",
    rule="A path comes from settings as often as from pathlib.",
    step="folder = Path(folder), and mkdir with parents=True and exist_ok=True.",
    cases=[case(CHAT)],
    shrink=False,
)
@fresh
def folder_as_text(t: Attempt, folder: Path, history: list[Message]) -> None:
    deep = folder / "by" / "day"
    for _ in range(2):
        came: Any = t.call(history, str(deep))
        t.expect(isinstance(came, Path) and came.parent == deep, "a path in that folder", show(type(came)))


@write_snapshot.idea(
    "snapshot-error",
    "What the disk refuses is raised as SnapshotError",
    rule="The caller leaves the history alone when a snapshot fails. It needs one kind of error to look for.",
    step="except OSError as error: raise SnapshotError(what happened, what to do) from error.",
    cases=[case(CHAT)],
    shrink=False,
)
@fresh
def an_error_of_one_kind(t: Attempt, folder: Path, history: list[Message]) -> None:
    folder.write_text("a file stands where the folder should be", encoding="utf-8")
    t.trying("write_snapshot(history of 3 messages, folder), where folder cannot be made")
    t.raises(SnapshotError, history, folder)
