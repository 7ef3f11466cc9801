"""The words of the labs: one list, from which the glossary's page and the links to it are made."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("glossary.toml")
PAGE = "glossary.html"


@dataclass(frozen=True)
class Word:
    """A word, the lab that brings it in, what it means (Markdown), and its forms in a text (patterns)."""

    name: str
    lab: int
    text: str
    forms: tuple[str, ...]

    @property
    def slug(self) -> str:
        """Its place on the glossary's page."""
        return self.name.replace(" ", "-")


@cache
def words() -> tuple[Word, ...]:
    """All words, in the order of the alphabet.

    >>> [word.name for word in words()][:3]
    ['acknowledgement', 'agent', 'borrowed']
    """
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["word"]
    found = [
        Word(entry["name"], entry["lab"], entry["text"], tuple(entry.get("forms", [f"{entry['name']}s?"])))
        for entry in entries
    ]
    return tuple(sorted(found, key=lambda word: word.name))


class Linker:
    """Links each word once, where a page first uses it."""

    def __init__(self, without: Iterable[str] = (), page: str = PAGE) -> None:
        self._seen = set(without)
        self._page = page

    def link(self, text: str, escape: Callable[[str], str]) -> str:
        """The text, escaped, with links at the words that have not been linked before."""
        parts, end = [], 0
        for match in _pattern().finditer(text):
            word = words()[int(match.lastgroup[1:])] if match.lastgroup else None
            if word is None or word.name in self._seen:
                continue
            self._seen.add(word.name)
            parts.append(escape(text[end : match.start()]))
            parts.append(f'<a class="word" href="{self._page}#{word.slug}">{escape(match.group())}</a>')
            end = match.end()
        return "".join([*parts, escape(text[end:])])


@cache
def _pattern() -> re.Pattern[str]:
    """One pattern for all words; longer names come first, so that "tool call" is no use of "tool"."""
    numbered = sorted(enumerate(words()), key=lambda pair: -len(pair[1].name))
    groups = (
        f"(?P<w{number}>{'|'.join(form.replace(' ', chr(92) + 's') for form in word.forms)})"
        for number, word in numbered
    )
    return re.compile(rf"(?<![\w-])(?:{'|'.join(groups)})(?![\w-])", re.IGNORECASE)
