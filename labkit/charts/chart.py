"""What every chart is: a figure, its finding as a title, a text for those who cannot see it, a table.

Figures are built without pyplot, so nothing is kept alive behind the reader's back. In a page the chart is
SVG whose text and lines have the colour of the page's own text; saved for a report it has a white ground.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from labkit.charts import fonts
from labkit.charts.fonts import plain_style, without_glyph_warnings
from labkit.palette import LIGHT_INK
from labkit.strip.marking import clean, columns, escape, number

INK = "#010203"  # stands for "the colour of the text around"; no palette has it
FONT = "var(--jp-ui-font-family, system-ui), system-ui, 'Noto Sans CJK SC', sans-serif"
CELL = "padding:2px 10px"
LONG_TABLE = 12  # rows; a longer table is folded

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Chart:
    """A chart: shown in a notebook as SVG with its table beneath, printed as title and table.

    `figure` is matplotlib's, `alt` says the picture in words and figures, `table` holds the numbers drawn,
    one dict a row.
    """

    figure: Figure
    title: str
    alt: str
    table: Rows

    def svg(self) -> str:
        """The picture as one `<svg>` element for a page. The same figure gives the same bytes."""
        return self._svg

    @cached_property
    def _svg(self) -> str:
        with plain_style(INK), without_glyph_warnings():
            out = StringIO()
            self.figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        return _for_a_page(out.getvalue(), self.title, self.alt)

    def _repr_html_(self) -> str:
        frame = f'<div style="overflow-x:auto" tabindex="0" role="group" aria-label="{escape(self.title)}">'
        return f'<div class="labkit-chart">{frame}{self._svg}</div>{self._html_table()}</div>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": str(self)}

    def __str__(self) -> str:
        return "\n".join([clean(self.title), *text_table(self.table)])

    def _html_table(self) -> str:
        if not self.table:
            return ""
        head = "".join(_html_head(name, value) for name, value in self.table[0].items())
        body = "".join(f"<tr>{''.join(map(_html_cell, row.values()))}</tr>" for row in self.table)
        caption = '<caption style="text-align:left;padding:4px 0">In numbers</caption>'
        name = escape(f"In numbers: {self.title}")
        table = (
            f'<table aria-label="{name}">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        )
        if len(self.table) <= LONG_TABLE:
            return table
        return f"<details><summary>The numbers as a table, {len(self.table)} rows</summary>{table}</details>"


def save(chart: Chart | Figure, path: str | Path) -> Path:
    """Write a chart for a report: `.svg`, `.png` or `.pdf` by the path's ending, dark on white.

    Raises ValueError for another ending. Parent folders are made.
    """
    path = Path(path)
    if path.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise ValueError(f"{path.name}: a chart is saved as .svg, .png or .pdf")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure = chart.figure if isinstance(chart, Chart) else chart
    dates = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[path.suffix.lower()[1:]]
    note = fonts.missing_font(figure) if path.suffix.lower() != ".svg" else ""
    if note:
        warnings.warn(note, UserWarning, stacklevel=2)
    with plain_style(LIGHT_INK), without_glyph_warnings():
        figure.savefig(path, dpi=160, facecolor="white", metadata=dates)
    return path


# --- SVG for a page ---------------------------------------------------------------------------------------


def _for_a_page(svg: str, title: str, alt: str) -> str:
    """matplotlib's SVG without prolog, with ids of its own, the page's colour and font, and its words."""
    body = svg[svg.index("<svg") :].strip()
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    body = body.replace(INK, "currentColor")
    body = re.sub(r"(font: [^'\";]*?px) [^;\"]*", rf"\1 {FONT}", body)
    key = "lc" + sha256((body + title + alt).encode("utf-8", "replace")).hexdigest()[:10]
    body = body.replace('id="label"', 'class="label"')  # there are many of them, and an id is given once
    body = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', body)
    body = re.sub(r'(href="|url\()#', rf"\1#{key}-", body)
    box = re.search(r'viewBox="([^"]+)"', body)
    size = box.group(1) if box else "0 0 576 288"
    look = "display:block;width:100%;min-width:520px;max-width:820px;height:auto"
    head = (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" viewBox="{size}"'
        f' role="img" aria-labelledby="{key}-title {key}-desc"'
        f' style="color:var(--jp-ui-font-color1, inherit);{look}">'
        f'<title id="{key}-title">{escape(title)}</title><desc id="{key}-desc">{escape(alt)}</desc>'
    )
    return head + body[body.index(">") + 1 :]


def _html_head(name: object, value: Any) -> str:
    """A column's head, aligned as what stands below it."""
    return f'<th scope="col" style="{_side(value)};{CELL}">{escape(str(name))}</th>'


def _html_cell(value: Any) -> str:
    words = number(value) if isinstance(value, int | float) else escape(str(value))
    return f'<td style="{_side(value)};{CELL}">{words}</td>'


def _side(value: Any) -> str:
    return f"text-align:{'right' if isinstance(value, int | float) else 'left'}"


# --- text -------------------------------------------------------------------------------------------------


def text_table(rows: Rows, most: int = 40) -> list[str]:
    """Rows as lines of text in columns; of a long table the first and the last rows."""
    if not rows:
        return []
    cut = len(rows) - most if len(rows) > most else 0
    shown = rows[: most // 2] + rows[-(most // 2) :] if cut else rows
    names = [str(name) for name in rows[0]]
    cells = [[_text_cell(value) for value in row.values()] for row in shown]
    wide = [max(columns(row[place]) for row in [names, *cells]) for place in range(len(names))]
    right = [isinstance(value, int | float) for value in rows[0].values()]
    lines = [_text_line(row, wide, right) for row in [names, *cells]]
    lines.insert(1, "  ".join("─" * width for width in wide))
    if cut:
        lines.insert(2 + most // 2, f"... {cut} more rows ...")
    return [line.rstrip() for line in lines]


def _text_cell(value: Any) -> str:
    return number(value) if isinstance(value, int | float) else " ".join(clean(str(value)).split())


def _text_line(cells: Sequence[str], wide: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for cell, width, to_the_right in zip(cells, wide, right, strict=True):
        space = " " * (width - columns(cell))
        padded.append(space + cell if to_the_right else cell + space)
    return "  ".join(padded)
