"""One thing that a request asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from labkit.understudy.marks import Mark


@dataclass(frozen=True)
class Step:
    """One thing to do. `clause` is the user's words for it, marks in place."""

    kind: str
    clause: str
    marks: tuple[Mark, ...] = ()
    number: int = 0
    name: str = ""
    arguments: str = ""
    traits: frozenset[str] = field(default_factory=frozenset)

    @property
    def paths(self) -> list[str]:
        """The files that the clause names, each once, in order."""
        return list(dict.fromkeys(mark.text for mark in self.marks if mark.is_path))

    @property
    def folders(self) -> list[str]:
        return [mark.text for mark in self.marks if mark.is_folder]

    @property
    def place(self) -> str:
        """The folder that the clause is about, marked or after `in`; empty when it names none."""
        if self.folders:
            return self.folders[-1].rstrip("/") or "."
        plain = (
            r"\b(?:in|under|inside|of)\s+(?:the\s+)?(?:folder\s+)?([A-Za-z][\w/-]*)"
            r"(?:\s+(?:folder|directory|project|package))?\s*(?:[,.:?!;]|$|and\b)"
        )
        found = re.search(plain, self.clause) or re.search(
            r"([A-Za-z][\w/-]*)\s*(?:文件夹|目录|项目)?\s*(?:[里中下]|的(?=\S{0,4}测试))", self.clause
        )
        return found[1] if found else ""

    @property
    def quoted(self) -> list[str]:
        """Marked words that name no file: a text to write, a pattern to search, a command."""
        return [mark.text for mark in self.marks if not mark.is_path]
