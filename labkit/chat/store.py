"""Where chats are kept: one message a line, written whole beside and then moved into place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
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

    @classmethod
    def of_workspace(cls) -> ChatStore:
        """The store in the learner's own folder."""
        return cls(workspace() / "chats")

    def current(self) -> list[Message]:
        """The chat that was going on; empty when there is none. Raises SnapshotError when it is damaged."""
        path = self._path(CURRENT)
        return read_snapshot(path) if path.exists() else []

    def save_current(self, messages: Sequence[Message]) -> None:
        """Keep the chat that is going on: afterwards the file is the old or the new one, never half of it."""
        self._draft(messages).replace(self._path(CURRENT))

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

    def _path(self, name: str) -> Path:
        if not re.fullmatch(r"[\w-][\w.-]{0,63}", name):
            raise SnapshotError(
                f"{name!r} is no name for a chat.", "Use letters, digits, - and _, such as tide-mill."
            )
        return self.folder / f"{name}.jsonl"
