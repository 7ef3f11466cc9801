"""Marked words in a request: `code`, "quotes" and bare file names, taken out so that sentences can be split
safely.

Example: in "read notes.md, then count" the dot and the comma mean different things; once `notes.md` is a
mark, every dot that is left ends a sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = r"A-Za-z0-9_"
_NAME = rf"[{_WORD}][{_WORD}.-]*"
BARE_PATH = rf"(?<![{_WORD}./-])(?:\.{{0,2}}/)?\.?(?:{_NAME}/)*{_NAME}\.[A-Za-z][{_WORD}]{{0,5}}(?![{_WORD}])"
_MARKED = re.compile(
    r"`([^`\n]+)`|“([^”]+)”|「([^」]+)」|\"([^\"\n]+)\"|(?<!\w)'([^'\n]+)'(?!\w)|(" + BARE_PATH + ")"
    r"|(?:(?<=\s)|^)([\u4e00-\u9fff]+\.[A-Za-z]\w{0,5})(?!\w)"
)
_PLACE = re.compile("\ue000(\\d+)\ue001")  # private characters: no request holds them
_PATH = re.compile(r"^(?:\.{0,2}/)?[\w.()+ -]*(?:/[\w.()+ -]+)*/?$")
_NOT_A_FILE = ("e.g", "i.e", "etc.", "vs.")
_COMMAND = re.compile(r"(?:python\d?(?:\.\d+)?|pip|git|ls|cat|head|tail|wc|grep|echo|make|node|npm|sh|bash) ")


@dataclass(frozen=True)
class Mark:
    """One marked word: its text, and how it was marked (`code`, `quote` or `bare`)."""

    text: str
    style: str

    @property
    def is_path(self) -> bool:
        """Whether it names a file: it ends in an extension, and is no command.

        >>> Mark("run_tests.py", "code").is_path, Mark("python run_tests.py", "code").is_path
        (True, False)
        """
        if _COMMAND.match(self.text):
            return False
        return bool(re.search(r"\.[A-Za-z]\w{0,5}$", self.text)) and self.looks_like_a_place

    @property
    def is_folder(self) -> bool:
        """Whether it may name a folder: one word in `code`, or a word that ends in a slash."""
        one_word = re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", self.text) is not None
        return not self.is_path and one_word and (self.style == "code" or self.text.endswith("/"))

    @property
    def looks_like_a_place(self) -> bool:
        return _PATH.match(self.text) is not None and (" " not in self.text or self.style == "code")


def hide(text: str) -> tuple[str, list[Mark]]:
    """The text with every marked word replaced by a placeholder, and the marks."""
    marks: list[Mark] = []

    def take(found: re.Match[str]) -> str:
        style = ("code", "quote", "quote", "quote", "quote", "bare", "bare")[(found.lastindex or 1) - 1]
        word = found[found.lastindex or 0]
        if style == "bare" and word.lower().startswith(_NOT_A_FILE):
            return found[0]
        marks.append(Mark(word.strip(), style))
        return f"\ue000{len(marks) - 1}\ue001"

    return _MARKED.sub(take, text), marks


def marks_in(hidden: str, marks: list[Mark]) -> list[Mark]:
    """The marks whose placeholders stand in a piece of hidden text, in order."""
    return [marks[int(place)] for place in _PLACE.findall(hidden)]


def show(hidden: str, marks: list[Mark]) -> str:
    """The hidden text with its marks put back, in backticks where they were `code`."""

    def put(found: re.Match[str]) -> str:
        mark = marks[int(found[1])]
        return {"code": f"`{mark.text}`", "quote": f'"{mark.text}"'}.get(mark.style, mark.text)

    return _PLACE.sub(put, hidden)
