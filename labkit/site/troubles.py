"""The troubleshooting page's entries: each labkit error, and each of its texts, with what to do."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from labkit.errors import TROUBLESHOOTING, LabkitError

FILE = Path(__file__).with_name("troubleshooting.toml")
PAGE = TROUBLESHOOTING


@dataclass(frozen=True)
class Text:
    """What an error says (… for the particulars), and what helps (Markdown)."""

    says: str
    help: str


@dataclass(frozen=True)
class Trouble:
    """One kind of error: its class's name, its place on the page, what it is about, its texts.

    `brief`: the texts are meant for the model; they are listed in one table.
    """

    name: str
    slug: str
    about: str
    texts: tuple[Text, ...]
    brief: bool = False


@cache
def troubles() -> tuple[Trouble, ...]:
    """All errors, those that a person meets most first.

    >>> troubles()[0].name, troubles()[0].slug
    ('SetupError', 'setup')
    """
    pages = {kind.__name__: kind.page for kind in error_classes()}
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["error"]
    return tuple(
        Trouble(
            entry["name"],
            pages[entry["name"]],
            entry["about"],
            tuple(Text(**text) for text in entry["text"]),
            entry.get("brief", False),
        )
        for entry in entries
    )


def error_classes() -> list[type[LabkitError]]:
    """LabkitError and every class of labkit below it."""
    import labkit.tools  # it brings an error of its own  # noqa: F401

    found: list[type[LabkitError]] = [LabkitError]
    for kind in found:
        found += [each for each in kind.__subclasses__() if each not in found]
    return [kind for kind in found if kind.__module__.startswith("labkit.")]
