"""What summaries tell: the task, the files and commands they name, and where the snapshot of the old history
lies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from labkit.compaction.earlier import HEADING, WORDS_HEADING
from labkit.messages import Message, text_of
from labkit.understudy.marks import hide
from labkit.understudy.requests import parse

SNAPSHOT = re.compile(r"\[Context has been compressed\. Memory: ([^\]\n]+)\]")
_LABEL = re.compile(
    r"^\W*(?P<label>open|asked|(?:the )?(?:user(?:'s)?|goal|task|request)\b[^:：]{0,30}"
    r"|待办|要求|目标|任务|用户[^:：]{0,10})"
    r"\s*[:：]\s*(?P<text>.+)$",
    re.I,
)
"""A line of a summary that hands on what the user wants, as `- open: ...` does."""
WORK = {"read", "list", "search", "count", "summarise", "write", "run", "repair", "use"}


def is_summary(message: Message) -> bool:
    """Whether a message is a summary to be trusted: a user message under one of compaction's headings."""
    return message.get("role") == "user" and HEADING.match(text_of(message.get("content"))) is not None


@dataclass(frozen=True)
class Entry:
    """What a summary says of one file or command: `kind` is `read`, `changed` or `ran`."""

    kind: str
    key: str
    gist: str


_ENTRY = re.compile(
    r"^\s*[-*•]\s+(?:(?P<verb>read|changed|wrote|made|edited|ran|已读|已改|已写|已运行)\s*[:：]?\s+)?"
    r"(?P<key>`[^`]+`|[^\s:：]+\.\w{1,6}(?=\s*(?:[:：]|$))|(?:[\w./-]+ )*[\w./-]+?)"
    r"(?:\s*[:：]\s*(?P<gist>.*))?$",
    re.I,
)


@dataclass(frozen=True)
class Memory:
    """The trusted summaries of a request. `snapshot` is the path of the newest one that they name."""

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
        """The request that the summaries hand on: the last of the user's own words, or line, that asks for
        work.
        """
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

    @cached_property
    def entries(self) -> list[Entry]:
        """The lines that name a file or a command, with what the summary says was done to it."""
        found = []
        for text in self.texts:
            section = ""
            for line in text.partition(WORDS_HEADING)[0].splitlines():
                section = line if line.startswith("#") else section
                entry = _entry(line, section)
                found += [entry] if entry else []
        return found

    def files(self, kind: str) -> list[str]:
        """The files that were `read` or `changed`, as the summaries tell it."""
        return list(dict.fromkeys(entry.key for entry in self.entries if entry.kind == kind))

    def gist(self, path: str) -> str:
        """What a summary says of a file, beside its name."""
        return next((entry.gist for entry in reversed(self.entries) if entry.key == path.strip("./")), "")

    def ran(self, command: str) -> bool:
        """Whether a summary says that this command was run."""
        return any(entry.kind == "ran" and command in entry.key for entry in self.entries)

    def mentions(self, path: str) -> bool:
        """Whether a summary names this file."""
        return any(mark.text.strip("./") == path.strip("./") for line in self.lines for mark in hide(line)[1])

    def lines_about(self, path: str) -> list[str]:
        """The lines that name this file."""
        return [line for line in self.lines if path in line]

    @property
    def statements(self) -> list[str]:
        """The lines that tell something themselves, rather than that a file was read or a command run."""
        return [line for line in self.lines if not _entry(line, "")]


def _entry(line: str, section: str) -> Entry | None:
    """A line of the form `- read a.md: gist`, or `- a.md: gist` under a section that says what was done."""
    found = _ENTRY.match(line)
    if not found:
        return None
    kinds = (
        ("changed", r"chang|wr[io]t|made|改|写"),
        ("read", r"read|读"),
        ("ran", r"command|\bran\b|运行|命令"),
    )
    verb = found["verb"] or ""
    kind = next((kind for kind, words in kinds if re.search(words, verb or section, re.I)), "")
    key, gist = (found["key"].strip("`"), (found["gist"] or "").strip())
    is_file = re.fullmatch(r"[^\s:：]+\.\w{1,6}", key) is not None
    if not (is_file or kind == "ran") or (kind == "ran" and line.startswith("#")):
        return None
    return Entry(kind or "read", key.strip("./") if is_file else key, gist)


def asks_for_work(text: str) -> bool:
    """Whether a text asks for something to be done, rather than telling or asking something."""
    return any(step.kind in WORK for step in parse(text))
