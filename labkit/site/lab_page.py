"""A lab as a page: text, code and what it gave; exercises as they are met, with hints and solution folded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any

from labkit.notebook_run import text_of_cell
from labkit.notebooks import exercise_of
from labkit.site.code import highlighted
from labkit.site.outputs import output_html
from labkit.site.prose import Heading, Prose


@dataclass(frozen=True)
class Exercise:
    """An exercise as the map of the series names it."""

    id: str
    names: str
    minutes: int

    @property
    def slug(self) -> str:
        """Its place on the lab's page."""
        return exercise_slug(self.id)


@dataclass(frozen=True)
class LabPage:
    """A lab's page without what stands around it."""

    name: str
    title: str
    body: str
    headings: tuple[Heading, ...]
    exercises: tuple[Exercise, ...]

    @property
    def file(self) -> str:
        """The page's file."""
        return f"{self.name}.html"


def exercise_slug(exercise: str) -> str:
    """The place of an exercise on its page.

    >>> exercise_slug("3.1")
    'exercise-3-1'
    """
    return f"exercise-{exercise.replace('.', '-')}"


def lab_page(name: str, shipped: dict[str, Any], ran: Any) -> LabPage:
    """The page of a lab: `shipped` is its notebook as learners get it, `ran` the solved one, with outputs."""
    prose = Prose()
    parts = [
        _cell(shipped_cell, ran_cell, prose)
        for shipped_cell, ran_cell in zip(shipped["cells"], ran["cells"], strict=True)
    ]
    top = next((each.text for each in prose.headings if each.level == 1), name)
    found = tuple(_exercise(about) for about in map(exercise_of, shipped["cells"]) if about)
    return LabPage(name, top, _unique_ids("\n".join(filter(None, parts))), tuple(prose.headings), found)


def _exercise(about: dict[str, Any]) -> Exercise:
    names = about["function"].partition(":")[2].replace(",", ", ")
    return Exercise(about["exercise"], names, about["minutes"])


def _cell(shipped: dict[str, Any], ran: Any, prose: Prose) -> str:
    if ran["cell_type"] == "markdown":
        return prose.html(text_of_cell(ran))
    about = exercise_of(shipped)
    code = _exercise_html(about, shipped, ran, prose) if about else highlighted(text_of_cell(ran))
    if ran["metadata"].get("jupyter", {}).get("source_hidden"):
        code = _folded("The code of this cell", code)
    shown = "".join(output_html(output, prose) for output in ran.get("outputs", []))
    return f'<div class="cell">{code}{_outputs(shown)}</div>'


def _outputs(shown: str) -> str:
    return f'<div class="outputs">{shown}</div>' if shown else ""


def _exercise_html(about: dict[str, Any], shipped: dict[str, Any], ran: Any, prose: Prose) -> str:
    """The cell that a learner starts from, then each hint and the solution, folded."""
    exercise = about["exercise"]
    facts = f"about {about['minutes']} minutes, difficulty {about['difficulty']} of 3"
    start, solved = (_without_first_comment(text_of_cell(cell)) for cell in (shipped, ran))
    folds = [
        _folded(f"Hint {number} of {len(about['hints'])}", prose.html(hint))
        for number, hint in enumerate(about["hints"], start=1)
    ]
    folds.append(
        _folded(f"Solution of exercise {exercise}", highlighted(solved, name=f"Solution of {exercise}"))
    )
    return (
        f'<div class="exercise" id="{exercise_slug(exercise)}">'
        f'<p class="tag"><strong>Exercise {exercise}</strong> <span>{escape(facts)}</span></p>'
        f"{highlighted(start, name=f'Exercise {exercise}')}{''.join(folds)}</div>"
    )


def _without_first_comment(code: str) -> str:
    """An exercise's cell without its first line, which says what the page says above it."""
    return re.sub(r"\A#[^\n]*\n", "", code)


def _folded(summary: str, html: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{html}</details>"


_ID = re.compile(r'\bid="([^"]+)"')


def _unique_ids(html: str) -> str:
    """The page with each id once: a picture that is shown twice brings its ids twice.

    A picture's own references follow it, because they stand in the same `<svg>`.
    """
    taken: set[str] = set()

    def renamed(match: re.Match[str]) -> str:
        svg, number = match.group(), 1
        ids = set(_ID.findall(svg))
        while any(_numbered(each, number) in taken for each in ids):
            number += 1
        taken.update(_numbered(each, number) for each in ids)
        for each in sorted(ids, key=len, reverse=True) if number > 1 else ():
            svg = re.sub(rf'(?<=["#\s]){re.escape(each)}(?=["\s)])', _numbered(each, number), svg)
        return svg

    return re.sub(r"<svg\b.*?</svg>", renamed, html, flags=re.S)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"
