"""The error tree: every message says what happened and what to do next.

LabkitError
├── StreamInterrupted    a streamed reply broke off (.partial holds what came)
├── TurnStopped          somebody asked for the end of this turn
├── ToolSchemaError      a function cannot become a tool (also a TypeError)
├── ToolError            what a tool, or its toolbox, tells the model
├── ModelError           the service refused: key, model name, reach, rate
│   └── InvalidHistory   it refused the history that was sent
├── CompactionError      three compactions in a row failed
├── ContextLimitError    what must be sent is larger than the limit
├── SnapshotError        a snapshot could not be written or read
├── VocabularyError      the tokenizer's vocabulary cannot be loaded
├── NotebookError        a lab's source or notebook is not as it should be
└── SetupError           this computer needs a hand (see `labkit doctor`)
"""

from __future__ import annotations

from typing import Any

TROUBLESHOOTING = "troubleshooting.html"
"""The page with an entry for every error, among those that `labkit render` makes."""


class LabkitError(Exception):
    """What went wrong, and what to do about it.

    `what` and `fix` are sentences; `page` is the error's place on the troubleshooting page. A traceback
    names that place beneath the text; `str(error)` does not.
    """

    page = "labkit-error"

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(f"{what} {fix}".strip())
        self.what = what
        self.fix = fix
        self.add_note(self.more)

    @property
    def more(self) -> str:
        """Where to read on.

        >>> SetupError("The port is taken.").more
        'More: troubleshooting.html#setup (`labkit render` makes the pages).'
        """
        return f"More: {TROUBLESHOOTING}#{self.page} (`labkit render` makes the pages)."


class StreamInterrupted(LabkitError):
    """A streamed reply broke off. `.partial` is a `Reply` with what came before that."""

    page = "stream-interrupted"

    def __init__(self, what: str, fix: str = "", *, partial: Any) -> None:
        super().__init__(what, fix)
        self.partial = partial


class TurnStopped(LabkitError):
    """A turn ended because somebody asked for it. The history is sound: it says which calls were not run."""

    page = "turn-stopped"


class ToolSchemaError(LabkitError, TypeError):
    """A function's signature cannot be expressed as a tool schema."""

    page = "tool-schema"


class ToolError(LabkitError):
    """A tool call could not be done. A tool raises it to tell the model what to do instead."""

    page = "tool-error"


class ModelError(LabkitError):
    """The model's service did not answer: wrong key or name, out of reach, or too busy."""

    page = "model"


class InvalidHistory(ModelError):
    """The service refused the history that was sent. The text holds its words."""

    page = "invalid-history"


class CompactionError(LabkitError):
    """Compaction failed three times in a row; the history is as it was."""

    page = "compaction"


class ContextLimitError(LabkitError):
    """What has to be sent is larger than the limit, and nothing more can be folded."""

    page = "context-limit"


class SnapshotError(LabkitError):
    """A snapshot could not be written or read; the history is as it was."""

    page = "snapshot"


class VocabularyError(LabkitError):
    """The tokenizer's vocabulary is missing or damaged."""

    page = "vocabulary"


class NotebookError(LabkitError):
    """A lab's source or notebook is not as it should be."""

    page = "notebook"


class SetupError(LabkitError):
    """Something about this computer's set-up stands in the way."""

    page = "setup"
