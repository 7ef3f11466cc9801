"""The pages around the labs: frame, index with the map of the series, glossary, troubleshooting."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from labkit.site.glossary import PAGE as GLOSSARY
from labkit.site.glossary import Linker, words
from labkit.site.lab_page import LabPage
from labkit.site.pictures import compaction_strip
from labkit.site.prose import Heading, Prose, boxed, slug_of
from labkit.site.series import series
from labkit.site.troubles import PAGE as TROUBLESHOOTING
from labkit.site.troubles import Trouble, troubles

TEMPLATES = Path(__file__).with_name("templates")
INDEX = "index.html"
SERIES_NAME = "Agent Loop Labs"
MARK = '<meta name="generator" content="labkit render">'
"""In the head of every page: how labkit knows a page of its own."""


def site_pages(labs: Sequence[LabPage]) -> dict[str, str]:
    """All pages: file name and HTML, the index first."""
    pages = {INDEX: index_page(labs)}
    for place, lab in enumerate(labs):
        contents = [each for each in lab.headings if each.level == 2]
        before = labs[place - 1] if place else None
        after = labs[place + 1] if place + 1 < len(labs) else None
        pages[lab.file] = framed(lab.title, lab.body, contents=contents, before=before, after=after)
    pages[GLOSSARY] = glossary_page(labs)
    pages[TROUBLESHOOTING] = troubleshooting_page()
    return pages


def framed(title: str, body: str, page: str = "", **parts: Any) -> str:
    """A whole page: what it holds in the frame that all pages have."""
    full_title = title if title == SERIES_NAME else f"{title} · {SERIES_NAME}"
    return _filled(
        "page.html",
        title=full_title,
        body=body,
        page=page,
        style=_style(),
        series=SERIES_NAME,
        mark=MARK,
        links=[(INDEX, "All labs"), (GLOSSARY, "Glossary"), (TROUBLESHOOTING, "Troubleshooting")],
        **parts,
    )


def index_page(labs: Sequence[LabPage]) -> str:
    """The series as a map, and how to start."""
    there = {_number_of(lab): lab for lab in labs}
    body = _filled(
        "index.html",
        series=SERIES_NAME,
        picture=compaction_strip()._repr_html_(),
        labs=[(entry, there.get(entry.number)) for entry in series()],
        glossary=GLOSSARY,
        troubleshooting=TROUBLESHOOTING,
    )
    return framed(SERIES_NAME, body, page=INDEX)


def glossary_page(labs: Sequence[LabPage]) -> str:
    """All words with what they mean; each leads to the lab that brings it in."""
    there = {_number_of(lab): lab for lab in labs}
    rows = []
    for word in words():
        meaning = Prose(Linker(without=[word.name], page="")).inline(word.text)
        lab = there.get(word.lab)
        where = f'<a href="{lab.file}">lab {word.lab}</a>' if lab else f"lab {word.lab}"
        rows.append(
            f'<dt id="{word.slug}">{escape(word.name)}</dt><dd>{meaning} <small>From {where}.</small></dd>'
        )
    lead = "<p>The words of the labs, each with one meaning, the same everywhere.</p>"
    body = f'<h1 id="glossary">Glossary</h1>{lead}<dl class="words">{"".join(rows)}</dl>'
    return framed("Glossary", body, page=GLOSSARY)


def troubleshooting_page() -> str:
    """Every error of labkit with each of its texts, and what helps."""
    prose = Prose()
    prose.add_heading(1, "Troubleshooting")
    lead = prose.html(
        "An error of labkit says what happened and what to do about it, and names its place on this page. "
        "Here is more about each. Look for the error's name, or for a few words of its text; … stands for "
        "the particulars.\n\nWhatever is wrong, `labkit doctor` is a good first step: it looks at this "
        "computer's set-up and names one fix."
    )
    sections = "".join(_trouble_html(trouble, prose) for trouble in troubles())
    body = f'<h1 id="troubleshooting">Troubleshooting</h1>{lead}{sections}'
    contents = [each for each in prose.headings if each.level == 2]
    return framed("Troubleshooting", body, page=TROUBLESHOOTING, contents=contents)


def _trouble_html(trouble: Trouble, prose: Prose) -> str:
    prose.headings.append(Heading(2, trouble.name, trouble.slug))
    head = f'<h2 id="{trouble.slug}"><code>{trouble.name}</code></h2>{prose.html(trouble.about)}'
    if trouble.brief:
        rows = "".join(
            f"<tr><td><code>{escape(text.says)}</code></td><td>{prose.inline(text.help)}</td></tr>"
            for text in trouble.texts
        )
        columns = '<thead><tr><th scope="col">Text</th><th scope="col">What helps</th></tr></thead>'
        table = f"<table>{columns}<tbody>{rows}</tbody></table>"
        return head + boxed(table, f"Texts of {trouble.name}")
    entries = []
    for text in trouble.texts:
        slug = slug_of(text.says, [each.slug for each in prose.headings])
        prose.headings.append(Heading(3, text.says, slug))
        entries.append(f'<h3 class="says" id="{slug}">{escape(text.says)}</h3>{prose.html(text.help)}')
    return head + "".join(entries)


def _number_of(lab: LabPage) -> int:
    found = re.match(r"\d+", lab.name)
    return int(found.group()) if found else 0


def _filled(template: str, **values: Any) -> str:
    return str(_environment().get_template(template).render(**values))


@cache
def _environment() -> Any:
    import jinja2

    loader = jinja2.FileSystemLoader(TEMPLATES, encoding="utf-8")
    return jinja2.Environment(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.ChainableUndefined,
    )


@cache
def _style() -> str:
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")
