"""Answers to exercise 5.2: right ones of different build, and wrong ones with the words meant for them."""

import json
import os
import tempfile
import time
import uuid
from datetime import datetime
from pathlib import Path

from labkit.compaction.snapshot import OWNER_ONLY, as_line, publish, write_draft
from labkit.errors import SnapshotError


def by_hand(messages, folder):
    folder = Path(folder)
    text = "".join(json.dumps(message) + "\n" for message in messages)
    draft = folder / f"draft_{uuid.uuid4().hex}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        return draft.rename(folder / f"memory_{time.time_ns()}_{uuid.uuid4().hex}.jsonl")
    except OSError as error:
        raise SnapshotError("It could not be written.") from error


def with_a_temporary_file(messages, folder):
    lines = []
    for message in messages:
        lines.append(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(b"\n".join(lines) + b"\n")
        try:
            return publish(Path(file.name), Path(folder))
        finally:
            Path(file.name).unlink(missing_ok=True)
    except OSError as error:
        raise SnapshotError(str(error)) from error


def now(form="%Y%m%d_%H%M%S_%f"):
    return f"memory_{datetime.now():{form}}.jsonl"


def free(folder):
    while (folder / now()).exists():
        pass
    return folder / now()


def variant(messages, folder, *, lines=None, write=None, name=free, error=SnapshotError):
    """A right answer by hand with one piece of it exchanged."""
    folder = Path(folder)
    content = (lines or (lambda messages: b"".join(as_line(0, m) for m in messages)))(messages)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = name(folder)
        if write:
            write(path, content)
        else:
            draft = write_draft(folder, content)
            draft.replace(path)
        return path
    except OSError as problem:
        raise error(str(problem)) from problem


def as_str(messages, folder):
    return variant(messages, folder, lines=lambda m: "".join(f"{each}\n" for each in m).encode())


def as_one_list(messages, folder):
    return variant(messages, folder, lines=lambda m: json.dumps(m).encode())


def indented(messages, folder):
    return variant(messages, folder, lines=lambda m: "\n".join(json.dumps(e, indent=1) for e in m).encode())


def without_the_system_message(messages, folder):
    return variant(messages[1:], folder)


def last_line_only(messages, folder):
    return variant(messages[-1:], folder)


def by_the_second(messages, folder):
    return variant(messages, folder, name=lambda folder: folder / now("%Y%m%d_%H%M%S"))


def one_name_for_all(messages, folder):
    return variant(messages, folder, name=lambda folder: folder / "memory_latest.jsonl")


def in_the_computers_encoding(messages, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages)
    draft = folder / f"draft_{uuid.uuid4().hex}"
    with open(draft, "w", errors="replace") as file:  # noqa: PLW1514, PTH123 - as a beginner writes it
        file.write(text)
    return draft.rename(free(folder))


def in_the_computers_encoding_by_path(messages, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"draft_{uuid.uuid4().hex}"
    draft.write_text("".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages))
    return draft.rename(free(folder))


def line_by_line(messages, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = free(folder)
    with path.open("w", encoding="utf-8") as file:
        for message in messages:
            file.write(json.dumps(message) + "\n")
    return path


def straight_under_its_name(messages, folder):
    return variant(messages, folder, write=lambda path, content: path.write_bytes(content))


def with_os_open(messages, folder):
    def write(path, content):
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        os.write(handle, content)
        os.close(handle)

    return variant(messages, folder, write=write)


def anything_as_text(messages, folder):
    def lines(messages):
        return "".join(json.dumps(message, default=str) + "\n" for message in messages).encode()

    return variant(messages, folder, lines=lines)


def leaves_the_draft(messages, folder):
    folder = Path(folder)
    lines = [as_line(index, message) for index, message in enumerate(messages)]
    folder.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
    draft = write_draft(folder, b"".join(lines))
    path = free(folder)
    path.hardlink_to(draft)
    return path


def needs_the_folder(messages, folder):
    return publish(write_draft(folder, b"".join(as_line(0, m) for m in messages)), folder)


def needs_a_path(messages, folder):
    folder.mkdir(parents=True, exist_ok=True)
    content = b"".join(as_line(index, message) for index, message in enumerate(messages))
    draft = write_draft(folder, content)
    try:
        return publish(draft, folder)
    finally:
        draft.unlink(missing_ok=True)


def lets_the_error_out(messages, folder):
    folder = Path(folder)
    content = b"".join(as_line(index, message) for index, message in enumerate(messages))
    folder.mkdir(parents=True, exist_ok=True)
    draft = write_draft(folder, content)
    try:
        return publish(draft, folder)
    finally:
        draft.unlink(missing_ok=True)


def gives_the_name_only(messages, folder):
    return by_hand(messages, folder).name


def another_form_of_name(messages, folder):
    return variant(messages, folder, name=lambda folder: folder / f"history_{uuid.uuid4().hex}.json")


def empties_the_list(messages, folder):
    path = by_hand(messages, folder)
    messages.clear()
    return path


RIGHT = [by_hand, with_a_temporary_file]
WRONG = [
    (as_str, "json-lines", "Python's way of writing a dict"),
    (as_one_list, "json-lines", "one list on one line"),
    (indented, "json-lines", "a line that is none"),
    (without_the_system_message, "json-lines", "nobody knows today which message"),
    (last_line_only, "json-lines", "The whole history"),
    (by_the_second, "new-name", "one took another's place"),
    (one_name_for_all, "new-name", "1 file: one took another's place"),
    (in_the_computers_encoding, "utf-8", "is no UTF-8"),
    (in_the_computers_encoding_by_path, "utf-8", "UnicodeEncodeError"),
    (line_by_line, "all-or-nothing", "one with 3 lines in it, of 7"),
    (straight_under_its_name, "draft-first", "half a file stands there"),
    (with_os_open, "draft-first", "killed now"),
    (anything_as_text, "all-or-nothing", "Exception is raised"),
    (leaves_the_draft, "no-rest", "1 file more"),
    (needs_the_folder, "file", "FileNotFoundError"),
    (needs_a_path, "text-path", "AttributeError"),
    (lets_the_error_out, "snapshot-error", "SnapshotError is raised"),
    (gives_the_name_only, "file", "the path of the new file"),
    (another_form_of_name, "file", "a name of another form"),
    (empties_the_list, "changed-input", "the arguments stay as they were"),
]
