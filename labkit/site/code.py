"""Code with its parts marked by classes; the page's style gives them colours, in light and in dark."""

from __future__ import annotations

from html import escape

NARROW = 36
"""Columns that a phone shows. Longer lines scroll in their own box, which the keyboard must reach."""


def highlighted(code: str, language: str = "python", name: str = "Code") -> str:
    """Code as HTML. A language that Pygments does not know is shown as plain text.

    >>> print(highlighted("pass"))
    <pre class="code"><code><span class="k">pass</span></code></pre>
    """
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    shown = highlight(code.rstrip("\n"), lexer, HtmlFormatter(nowrap=True)).rstrip("\n")
    shown = shown.replace('<span class="w"> </span>', " ")
    return f'<pre class="code"{reachable(code, name)}><code>{shown}</code></pre>'


def reachable(text: str, name: str) -> str:
    """Attributes for a box whose text may be wider than a phone: in the order of Tab, with a name."""
    if all(len(line) <= NARROW for line in text.splitlines()):
        return ""
    return f' tabindex="0" role="group" aria-label="{escape(name)}"'
