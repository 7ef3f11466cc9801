"""Markdown to HTML as the pages need it: places to link to, words linked to the glossary, boxed tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

from labkit.site.code import highlighted
from labkit.site.glossary import Linker

_NOT_LINKED = {"heading", "link", "codespan", "table_head", "block_code"}


@dataclass(frozen=True)
class Heading:
    """A heading of a page: its level, its text, its place."""

    level: int
    text: str
    slug: str


def slug_of(text: str, taken: Iterable[str] = ()) -> str:
    """A place's name from its text: letters, digits and hyphens; a number behind it when it is taken.

    >>> slug_of("3. How long is a history?"), slug_of("Recap", taken=["recap"])
    ('3-how-long-is-a-history', 'recap-2')
    """
    base = re.sub(r"[^\w]+", "-", text.lower()).strip("-") or "part"
    slug, number = base, 1
    while slug in taken:
        number += 1
        slug = f"{base}-{number}"
    return slug


def boxed(html: str, name: str) -> str:
    """Something wide in a box of its own, which scrolls (by keyboard too) where the page is narrow."""
    return f'<div class="box" tabindex="0" role="group" aria-label="{escape(name)}">{html}</div>'


class Prose:
    """The Markdown of one page, piece by piece; `headings` are those that have come so far."""

    def __init__(self, linker: Linker | None = None, raw_html: bool = True) -> None:
        import mistune
        from mistune.plugins.table import table

        self.headings: list[Heading] = []
        self._markdown = mistune.Markdown(_renderer(self, linker or Linker(), raw_html), plugins=[table])

    def html(self, text: str) -> str:
        """A piece of the page."""
        return str(self._markdown(text))

    def inline(self, text: str) -> str:
        """A text without a paragraph around it."""
        return re.sub(r"^<p>(.*)</p>$", r"\1", self.html(text).strip(), flags=re.S)

    def add_heading(self, level: int, text: str) -> Heading:
        """Note a heading, under a name that nothing else on the page has."""
        plain = re.sub(r"<[^>]+>", "", text)
        heading = Heading(level, plain, slug_of(plain, [each.slug for each in self.headings]))
        self.headings.append(heading)
        return heading


def _renderer(prose: Prose, linker: Linker, raw_html: bool) -> Any:
    """mistune's HTML, with our own headings, links, code and tables. Made here: mistune is loaded late."""
    import mistune

    class Renderer(mistune.HTMLRenderer):
        depth = 0  # how many elements around the text forbid a link

        def render_tokens(self, tokens: Iterable[dict[str, Any]], state: Any) -> str:
            return super().render_tokens(_joined(tokens), state)

        def render_token(self, token: dict[str, Any], state: Any) -> str:
            inside = token["type"] in _NOT_LINKED
            self.depth += inside
            try:
                return super().render_token(token, state)
            finally:
                self.depth -= inside

        def text(self, text: str) -> str:
            return escape(text, quote=False) if self.depth else linker.link(text, _plain)

        def heading(self, text: str, level: int, **attrs: Any) -> str:
            heading = prose.add_heading(level, text)
            return f'<h{level} id="{heading.slug}">{text}</h{level}>\n'

        def link(self, text: str, url: str, title: str | None = None) -> str:
            return super().link(text, re.sub(r"^(\d\d_\w+)\.ipynb\b", r"\1.html", url), title)

        def block_code(self, code: str, info: str | None = None) -> str:
            return highlighted(code, (info or "").split(" ")[0] or "text")

        def table(self, text: str) -> str:
            return boxed(f"<table>\n{text}</table>", "Table")

        def table_cell(self, text: str, align: str | None = None, head: bool = False) -> str:
            style = f' style="text-align:{align}"' if align else ""
            return f'<th scope="col"{style}>{text}</th>\n' if head else f"<td{style}>{text}</td>\n"

    return Renderer(escape=not raw_html)


def _plain(text: str) -> str:
    return escape(text, quote=False)


def _joined(tokens: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Text that goes on in the next line as one text: a word of two parts may stand across the line's end."""
    joined: list[dict[str, Any]] = []
    for token in tokens:
        if token["type"] == "softbreak":
            token = {"type": "text", "raw": "\n"}
        if joined and token["type"] == "text" == joined[-1]["type"]:
            joined[-1] = {"type": "text", "raw": joined[-1]["raw"] + token["raw"]}
        else:
            joined.append(token)
    return joined
