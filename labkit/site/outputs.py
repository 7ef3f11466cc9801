"""What a cell gave, as a page shows it: the richest form that needs no running notebook."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

from labkit.site.code import reachable
from labkit.site.prose import Prose, boxed

WIDGET = "application/vnd.jupyter.widget-view+json"
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COLUMNS = re.compile(r"\S {2,}\S")
"""Text in columns keeps its lines and scrolls; all other text is wrapped, as in JupyterLab."""


def output_html(output: Any, prose: Prose) -> str:
    """One output of a cell; "" for one that shows nothing.

    A widget is shown by the static form that comes with it, or by a line that says where it lives.
    """
    kind = output["output_type"]
    if kind == "stream":
        return _text(output["text"], "Printed text")
    if kind == "error":
        return _text("\n".join(output["traceback"]), "Error")
    data = {mime: _joined(value) for mime, value in output.get("data", {}).items()}
    if "text/html" in data:
        return f'<div class="rich">{_tables_boxed(_without_scripts(data["text/html"]))}</div>'
    if "image/svg+xml" in data:
        return f'<div class="rich">{boxed(data["image/svg+xml"], "Picture")}</div>'
    for mime in ("image/png", "image/jpeg"):
        if mime in data:
            alt = escape(str(output.get("metadata", {}).get("alt") or data.get("text/plain", "Picture")))
            source = f"data:{mime};base64,{data[mime].strip()}"
            return f'<div class="rich"><img src="{source}" alt="{alt}"></div>'
    if "text/markdown" in data:
        return f'<div class="rich">{prose.html(data["text/markdown"])}</div>'
    if WIDGET in output.get("data", {}):
        return '<p class="note">Here JupyterLab shows controls to move.</p>'
    return _text(data.get("text/plain", ""), "Result")


def _text(text: str, name: str) -> str:
    plain = _ANSI.sub("", text).strip("\n")
    if not plain:
        return ""
    in_columns = _COLUMNS.search(plain) is not None
    look = f'class="printed"{reachable(plain, name)}' if in_columns else 'class="printed prose"'
    return f"<pre {look}>{escape(plain, quote=False)}</pre>"


def _joined(value: Any) -> str:
    return "".join(value) if isinstance(value, list) else str(value)


def _tables_boxed(html: str) -> str:
    """Each table in a box of its own, so that a wide one scrolls alone."""

    def box(match: re.Match[str]) -> str:
        name = re.match(r'<table\b[^>]*\baria-label="([^"]+)"', match.group()) or re.search(
            r"<caption\b[^>]*>(.*?)</caption>", match.group(), re.S
        )
        return boxed(match.group(), unescape(name[1]) if name else "Table")

    return re.sub(r"<table\b.*?</table>", box, html, flags=re.S)


def _without_scripts(html: str) -> str:
    return re.sub(r"<script\b.*?</script>", "", html, flags=re.S | re.I)
