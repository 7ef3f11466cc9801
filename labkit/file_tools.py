"""The six tools themselves. Their docstrings are what the model reads; a ToolError is what it is told."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

from labkit import command as commands
from labkit.errors import ToolError
from labkit.excerpts import line_excerpt, matching_lines
from labkit.sandbox import open_folder, path_parts
from labkit.tool_arguments import did_you_mean

MAX_FILE_BYTES = 8_000_000  # of a file that is read at once; a lab's snapshot is well below
MAX_WRITE_CHARACTERS = 2_000_000
MAX_ENTRIES = 200
MAX_MATCHES = 100
MAX_SEARCHED_BYTES = 50_000_000
MAX_SECONDS = 300
_SKIPPED = {".git", "__pycache__", ".ipynb_checkpoints"}


class PlaygroundTools:
    """The tools on one folder. `ask` is asked before a command runs; None lets every command run."""

    def __init__(self, root: str | os.PathLike[str], ask: Callable[[str], bool] | None = None) -> None:
        self._folder = open_folder(root)
        self._ask = ask

    def list_files(self, path: str = ".") -> str:
        """List what is in a folder of the playground: one path a line, with its size in bytes.

        Args:
            path: The folder. "." is the playground itself.
        """
        parts = self._parts(path)
        rows = [
            self._row([*parts, entry.name], entry.kind, entry.size)
            for entry in self._folder.entries(parts)
            if entry.name not in _SKIPPED
        ]
        if len(rows) > MAX_ENTRIES:
            rows[MAX_ENTRIES:] = [f"[... {len(rows) - MAX_ENTRIES} more are left out here ...]"]
        return "\n".join(rows) or "(the folder is empty)"

    def read_file(self, path: str, start_line: int = 1, max_lines: int = 2000) -> str:
        """Read a text file of the playground. What is left out of a long one is named.

        Args:
            path: The file, such as shop/README.md.
            start_line: The first line to read; the first line of a file is 1.
            max_lines: How many lines to read at most.
        """
        if start_line < 1 or max_lines < 1:
            raise ToolError("start_line and max_lines must be 1 or more.", "The first line of a file is 1.")
        # Only \n ends a line: splitlines() would also break at signs that may stand inside a JSON string.
        lines = re.findall(r"[^\n]*\n|[^\n]+", self._text(path).replace("\r\n", "\n"))
        if not lines:
            return f"({path} is empty)"
        if start_line > len(lines):
            raise ToolError(f"{path} has only {len(lines)} lines.", "Give a smaller start_line.")
        return line_excerpt(lines, start_line, max_lines)

    def write_file(self, path: str, content: str) -> str:
        """Write a whole text file in the playground: a new one, or in place of the old one.

        Args:
            path: The file. Folders on the way are made.
            content: The whole text of the file.
        """
        existed = self._write(path, content)
        lines = len(content.splitlines())
        done = "Replaced" if existed else "Wrote"
        return f"{done} {path}: {len(content):,} characters, {lines} line{'' if lines == 1 else 's'}."

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replace one piece of text in a file of the playground.

        Args:
            path: The file.
            old: The text as it stands in the file, exactly; it must occur exactly once.
            new: The text to put in its place.
        """
        text = self._text(path)
        if not old or old == new:
            raise ToolError("old is empty or equal to new: there is nothing to replace.", "Give both texts.")
        plain, wanted = (each.replace("\r\n", "\n") for each in (text, old))  # as read_file shows it
        first = plain.find(wanted)
        if first < 0:
            raise ToolError(f"the old text does not occur in {path}.", "Read the file and copy it exactly.")
        if first != plain.rfind(wanted):  # places may overlap
            fix = "Give more of the text around it, so that it occurs once."
            raise ToolError(f"the old text occurs {max(2, plain.count(wanted))} times in {path}.", fix)
        start, end = (_place(text, plain, at) for at in (first, first + len(wanted)))
        self._write(path, text[:start] + _in_line_ends_of(text, new) + text[end:])
        return f"Edited {path} at line {plain.count(chr(10), 0, first) + 1}."

    def search_text(self, pattern: str, path: str = ".") -> str:
        """Find a text in the files of the playground: path, line number and line of each match.

        Args:
            pattern: Plain text within one line, not a regular expression; upper and lower case are the same.
            path: The folder or file to search.
        """
        # Plain text: a regular expression from a model could run for hours on a single line.
        if not pattern or "\n" in pattern:
            raise ToolError("the pattern must be a text within one line.", "Search for one line of it.")
        found, searched, passed_over, budget = list[str](), 0, 0, MAX_SEARCHED_BYTES
        for file in self._files_below(self._parts(path)):
            data = self._to_search(file, budget)
            if data is None:
                passed_over += 1
                continue
            searched += 1
            budget -= len(data)
            found += matching_lines(_path(file), data.decode("utf-8", "replace"), pattern.casefold())
            if len(found) > MAX_MATCHES:
                found[MAX_MATCHES:] = [f"[more than {MAX_MATCHES} lines match; the rest is left out here]"]
                return "\n".join(found)
        not_searched = f"{_files(passed_over)} not searched: not text, too large or not readable"
        if not found:
            also = f"; {not_searched}" if passed_over else ""
            return f"No line contains {pattern!r} ({_files(searched)} searched{also})."
        return "\n".join(found + [f"[{not_searched}]"] * bool(passed_over))

    def run_command(self, command: str, timeout: int = 20) -> str:
        """Run a shell command in the playground's folder; it ends with all its processes at the time limit.

        Args:
            command: The command, such as: python -m unittest discover -s shop -t shop
            timeout: The time limit in seconds.

        Note:
            A command is not confined as the file tools are: it starts in the playground, but it is a program
            of its own and can open what the user can open. So with a real model it is asked for first.
        """
        if not command.strip():
            raise ToolError("the command is empty.", "Give a shell command.")
        if not 1 <= timeout <= MAX_SECONDS:
            raise ToolError(f"timeout must be 1 to {MAX_SECONDS} seconds.", "The default is 20.")
        if self._ask is not None and not self._ask(command):
            fix = "Do not try it again: go on without it, or ask what to do."
            raise ToolError("the user did not allow this command, and it was not run.", fix)
        result = str(commands.run(command, self._folder.root, timeout))
        # Paths as the other tools write them: what a lab counts then does not depend on where its folder is.
        for root in (str(self._folder.root.resolve()), str(self._folder.root)):
            result = result.replace(root + os.sep, "").replace(root, ".")
        return result

    # --- what the tools share -----------------------------------------------------------------------------

    def _parts(self, path: str) -> tuple[str, ...]:
        return path_parts(path, self._folder.root)

    def _text(self, path: str) -> str:
        parts = self._parts(path)
        self._check_there(parts)
        data = self._folder.read(parts, MAX_FILE_BYTES)
        if b"\0" in data:
            raise ToolError(f"{path} is not a text file ({len(data):,} bytes).", "Leave it as it is.")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            what = f"{path} is not UTF-8 text (byte {error.start + 1} of {len(data):,})."
            raise ToolError(what, "Convert it with run_command, if you know its encoding.") from error

    def _check_there(self, parts: Sequence[str]) -> None:
        """Raise ToolError with the nearest names when a file is missing in a folder that is there."""
        if parts and not self._folder.kind(parts):
            names = ["/".join([*parts[:-1], entry.name]) for entry in self._folder.entries(parts[:-1])]
            what = f"{'/'.join(parts)} does not exist{did_you_mean('/'.join(parts), names)}."
            raise ToolError(what, "Use list_files to see what is there.")

    def _write(self, path: str, content: str) -> bool:
        if len(content) > MAX_WRITE_CHARACTERS:
            what = f"the content has {len(content):,} characters; {MAX_WRITE_CHARACTERS:,} are the most."
            raise ToolError(what, "Write it in several files.")
        try:
            data = content.encode("utf-8")
        except UnicodeEncodeError as error:
            what = f"the content holds half a character at position {error.start + 1}."
            raise ToolError(what, "Send it again without that.") from error
        return self._folder.write(self._parts(path), data)

    @staticmethod
    def _row(parts: Sequence[str], kind: str, size: int) -> str:
        path = _path(parts)
        rows = {"file": f"  {size:,} bytes", "folder": "/", "link": "  (a link, not followed)"}
        return path + rows.get(kind, "  (not a file)")

    def _files_below(self, parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """The files to search, in the order of their paths; links are left out.

        A folder below that cannot be opened comes as if it were a file: that one cannot be read either.
        """
        if self._folder.kind(parts) == "file":
            yield parts
            return
        waiting = [parts]
        while waiting:
            folder = waiting.pop()
            try:
                entries = [entry for entry in self._folder.entries(folder) if entry.name not in _SKIPPED]
            except ToolError:
                if folder == parts:
                    raise
                yield folder
                continue
            yield from ((*folder, entry.name) for entry in entries if entry.kind == "file")
            waiting += [(*folder, entry.name) for entry in reversed(entries) if entry.kind == "folder"]

    def _to_search(self, parts: tuple[str, ...], budget: int) -> bytes | None:
        """A file's bytes; None when it cannot be read, is no text, or is more than may still be read."""
        try:
            data = self._folder.read(parts, min(MAX_FILE_BYTES, budget))
        except ToolError:  # the search counts it among what it has passed over
            return None
        return None if b"\0" in data else data


def _path(parts: Sequence[str]) -> str:
    """A path for a row of a result: what would break the row, such as a line end in a name, becomes "?"."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", "?", "/".join(parts))


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def _place(text: str, plain: str, at: int) -> int:
    """Where position `at` of the same text with plain line ends stands in the text itself."""
    line = plain.count("\n", 0, at)
    before = "\n".join(text.split("\n", line)[:line])
    return len(before) + bool(line) + at - (plain.rfind("\n", 0, at) + 1)


def _in_line_ends_of(text: str, new: str) -> str:
    """The new text with the line ends of a file's text: a model writes \\n whatever the file has."""
    first, newline, _ = text.partition("\n")
    if not newline:
        return new
    return new.replace("\r\n", "\n").replace("\n", "\r\n" if first.endswith("\r") else "\n")
