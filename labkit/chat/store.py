"""Where chats are kept: one message a line, written whole beside and then moved into place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from labkit.compaction.snapshot import as_line, read_snapshot, write_draft
from labkit.errors import SnapshotError
from labkit.messages import Message
from labkit.places import workspace

CURRENT = "current"


@dataclass(frozen=True)
class ChatStore:
    """A folder of saved chats, and the chat that is going on."""

    folder: Path
    _known: list[bytes | None] = field(default_factory=list, compare=False, repr=False)
    """What the chat going on looked like when this store last read or wrote it."""

    @classmethod
    def of_workspace(cls) -> ChatStore:
        """The store in the learner's own folder."""
        return cls(workspace() / "chats")

    def current(self) -> list[Message]:
        """The chat that was going on; empty when there is none.

        Raises SnapshotError when it is damaged. It is put aside then, so that the next chat can begin.
        """
        path = self._path(CURRENT)
        try:
            kept = read_snapshot(path) if path.exists() else []
        except SnapshotError as error:
            if not path.is_file():
                raise
            aside = path.replace(self._free("damaged"))
            raise SnapshotError(
                f"The chat that was going on is damaged; it is kept as {aside}.",
                "Start again: the next chat begins afresh.",
            ) from error
        self._known[:] = [_bytes_of(path)]
        return kept

    def save_current(self, messages: Sequence[Message]) -> None:
        """Keep the chat that is going on: afterwards the file is the old or the new one, never half of it.

        When another chat has written there since, what it wrote is kept beside, under a name of its own.
        """
        path, draft = self._path(CURRENT), self._draft(messages)
        theirs = _bytes_of(path)
        if self._known and theirs is not None and theirs not in self._known:
            path.replace(self._free("other-chat"))
        draft.replace(path)
        self._known[:] = [_bytes_of(path)]

    def save(self, messages: Sequence[Message], name: str) -> Path:
        """Save a chat under a new name. Raises SnapshotError when the name is taken or is no plain name."""
        path = self._path(name)
        if path.exists():
            raise SnapshotError(
                f"There is a chat {name!r} already.", "Choose another name: nothing is overwritten."
            )
        self._draft(messages).replace(path)
        return path

    def load(self, name: str) -> list[Message]:
        """A saved chat. Raises SnapshotError, with the names there are, when there is none of that name."""
        path = self._path(name)
        if not path.exists():
            names = ", ".join(self.names()) or "none yet"
            raise SnapshotError(f"There is no saved chat {name!r}.", f"Saved chats: {names}.")
        return read_snapshot(path)

    def names(self) -> list[str]:
        """The names of the saved chats."""
        return sorted(path.stem for path in self.folder.glob("*.jsonl") if path.stem != CURRENT)

    def _draft(self, messages: Sequence[Message]) -> Path:
        content = b"".join(as_line(index, message) for index, message in enumerate(messages))
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return write_draft(self.folder, content)
        except OSError as error:
            what = f"The chat cannot be saved in {self.folder} ({error.strerror or error})."
            raise SnapshotError(what, "Make room, or check who may write there.") from error

    def _free(self, name: str) -> Path:
        number = 1
        while (path := self.folder / f"{name}-{number}.jsonl").exists():
            number += 1
        return path

    def _path(self, name: str) -> Path:
        if not re.fullmatch(r"[\w-][\w.-]{0,63}", name):
            raise SnapshotError(
                f"{name!r} is no name for a chat.", "Use letters, digits, - and _, such as tide-mill."
            )
        return self.folder / f"{name}.jsonl"


def _bytes_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
