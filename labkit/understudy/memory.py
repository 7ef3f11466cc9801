"""What summaries tell: the task, the files and commands they name, and where the snapshot of the old history lies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from labkit.compaction.earlier import HEADING, WORDS_HEADING
from labkit.messages import Message, text_of
from labkit.understudy.marks import hide
from labkit.understudy.requests import parse

SNAPSHOT = re.compile(r"\[Context has been compressed\. Memory: ([^\]\n]+)\]")
_LABEL = re.compile(
    r"^\W*(?P<label>open|asked|(?:the )?(?:user(?:'s)?|goal|task|request)\b[^:：]{0,30}|待办|要求|目标|任务|用户[^:：]{0,10})"
    r"\s*[:：]\s*(?P<text>.+)$",
    re.I,
)
"""A line of a summary that hands on what the user wants, as `- open: ...` does."""
WORK = {"read", "list", "search", "count", "summarise", "write", "run", "repair", "use"}


def is_summary(message: Message) -> bool:
    """Whether a message is a summary that may be trusted: a user message under one of compaction's headings."""
    return message.get("role") == "user" and HEADING.match(text_of(message.get("content"))) is not None


@dataclass(frozen=True)
class Memory:
    """The trusted summaries of a request, as text."""

    texts: list[str] = field(default_factory=list)
    snapshot: str = ""

    @classmethod
    def of(cls, messages: Sequence[Message]) -> Memory:
        texts = [text_of(message.get("content")) for message in messages if is_summary(message)]
        found = [place[1].strip() for text in texts for place in SNAPSHOT.finditer(text[:2000])]
        return cls([HEADING.sub("", text, count=1) for text in texts], found[-1] if found else "")

    @property
    def lines(self) -> list[str]:
        """Every line of the summaries with text in it, without headings and marker lines."""
        found = [line.strip() for text in self.texts for line in text.splitlines()]
        return [line for line in found if line and not line.startswith(("#", WORDS_HEADING))]

    @property
    def task(self) -> str:
        """The request that the summaries hand on: the last of the user's own words, or line, that asks for work."""
        for text in reversed(self.texts):
            summary, _, words = text.partition(WORDS_HEADING)
            labelled = [found for found in map(_LABEL.match, summary.splitlines()) if found]
            still_open = [found["text"] for found in labelled if found["label"].lower() in ("open", "待办")]
            wishes = [*(found["text"] for found in labelled), *words.splitlines(), *still_open]
            asking = [wish.strip('- "“”') for wish in wishes if asks_for_work(wish)]
            if asking:
                return asking[-1]
        return ""

    @property
    def requests(self) -> list[str]:
        """What the user asked for, as far as the summaries tell it, oldest first."""
        found: list[str] = []
        for text in self.texts:
            summary, _, words = text.partition(WORDS_HEADING)
            labelled = [match["text"] for match in map(_LABEL.match, summary.splitlines()) if match]
            found += [line.strip() for line in words.splitlines() if line.strip()] or labelled
        return list(dict.fromkeys(found))

    def mentions(self, path: str) -> bool:
        """Whether a summary names this file."""
        return any(mark.text.strip("./") == path.strip("./") for line in self.lines for mark in hide(line)[1])

    def lines_about(self, path: str) -> list[str]:
        """The lines that name this file."""
        return [line for line in self.lines if path in line]

    def tells_of(self, words: str, path: str = "") -> bool:
        """Whether a summary says that something was done: a line, or a section, with one of `words` and the path."""
        section = ""
        for text in self.texts:
            for line in text.partition(WORDS_HEADING)[0].splitlines():
                section = line if line.startswith("#") else section
                if path in line and re.search(words, f"{section} {line}", re.I):
                    return True
        return False


def asks_for_work(text: str) -> bool:
    """Whether a text asks for something to be done, rather than telling or asking something."""
    return any(step.kind in WORK for step in parse(text))
