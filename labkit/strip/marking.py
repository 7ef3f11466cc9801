"""Words and numbers for drawings: safe in HTML, measured roughly, written alike everywhere."""

from __future__ import annotations

import html
import re
import unicodedata

# What XML 1.0 cannot hold: control characters, lone surrogates, U+FFFE and U+FFFF. Also the marks that turn
# the direction of writing: text of a tool result must not turn the caption around it.
_UNFIT = re.compile(
    "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


def clean(text: str) -> str:
    """Text without characters that break a drawing; each becomes U+FFFD.

    >>> clean("a\\x00b")
    'a�b'
    """
    return _UNFIT.sub("\ufffd", text)


def escape(text: str) -> str:
    """Text that may stand in HTML and SVG, in elements and in attributes."""
    return html.escape(clean(text))


def number(value: int | float) -> str:
    """A number as all pictures write it: 7,412.

    >>> number(7412)
    '7,412'
    """
    return f"{round(value):,}"


def text_width(text: str, size: float) -> float:
    """About how wide text is, in the unit of `size`, rather too wide than too narrow."""
    return size * sum(_width(character) for character in text)


def _width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in "iljtfrI.,:;'|!()[] ":
        return 0.37
    return 0.95 if character in "mwMW@%" else 0.64


def columns(text: str) -> int:
    """How many terminal columns text takes: two for wide characters, none for combining ones."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
