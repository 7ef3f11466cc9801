"""The site, made once for all tests that look at it, and its pages taken apart."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from click.testing import CliRunner

from labkit.cli import cli

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Site:
    """What `labkit render` made: the folder, and what the command printed."""

    folder: Path
    printed: str

    def pages(self) -> dict[str, str]:
        return {path.name: path.read_text(encoding="utf-8") for path in sorted(self.folder.glob("*.html"))}


@cache
def made_site() -> Site:
    """The site of all labs. Each lab runs once, however many tests ask."""
    folder = Path(tempfile.mkdtemp(prefix="labkit-site-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    done = CliRunner().invoke(cli, ["render", str(folder / "my pages 页")], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return Site(folder / "my pages 页", done.output)


@dataclass
class Element:
    """An element's start: its name, its attributes, those around it."""

    name: str
    attributes: dict[str, str]
    around: list[str]
    text: str = ""


@dataclass
class Parsed(HTMLParser):
    """A page's elements, in order."""

    elements: list[Element] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = Element(tag, {name: value or "" for name, value in attrs}, [each.name for each in self._open])
        self.elements.append(found)
        if tag not in {"meta", "img", "br", "hr", "input", "link"}:
            self._open.append(found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}, []))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().name != tag:
            pass

    def handle_data(self, data: str) -> None:
        for each in self._open:
            each.text += data

    def named(self, *names: str) -> list[Element]:
        return [each for each in self.elements if each.name in names]

    def ids(self) -> list[str]:
        return [each.attributes["id"] for each in self.elements if "id" in each.attributes]


def parsed(html: str) -> Parsed:
    page = Parsed()
    page.feed(html)
    page.close()
    return page
