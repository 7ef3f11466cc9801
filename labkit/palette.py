"""Colours and patterns: one place, used by the strip, the charts and the check cards.

The hues are those of Okabe and Ito, made for people who see fewer colours
(https://jfly.uni-koeln.de/color/). Sky blue, orange and yellow are too light on white paper, so ours are
darker: each colour here has a contrast of at least 3 to 1 against white *and* against the dark theme's
#111111 (WCAG 2.2, 1.4.11). No meaning hangs on colour alone: each kind has a pattern, a hatch, a marker and
a glyph of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

# The grounds that drawings are looked at on: paper, and the dark theme of JupyterLab.
LIGHT_GROUND = "#ffffff"
DARK_GROUND = "#111111"
LIGHT_INK = "#1c1c1c"
DARK_INK = "#ececec"


@dataclass(frozen=True)
class Style:
    """How one kind of thing is drawn.

    `pattern` is SVG drawn in white on an 8 by 8 tile over the colour; `hatch` and `marker` are matplotlib's;
    `glyph` is one column of text in a terminal.
    """

    name: str
    colour: str
    pattern: str
    hatch: str
    glyph: str
    marker: str = "o"


_CROSSES = '<path d="M0 0L8 8M8 0L0 8"/>'
_SLASHES = '<path d="M-2 2L2 -2M0 8L8 0M6 10L10 6"/>'
_BACKSLASHES = '<path d="M-2 6L2 10M0 0L8 8M6 -2L10 2"/>'
_DOTS = '<circle cx="2" cy="2" r="1"/><circle cx="6" cy="6" r="1"/>'
_LINES = '<path d="M0 2H8M0 6H8"/>'
_POSTS = '<path d="M2 0V8M6 0V8"/>'
_PLUSSES = '<path d="M4 1V7M1 4H7"/>'

STYLES: dict[str, Style] = {
    "tools": Style("tool descriptions", "#b87900", _POSTS, "||", "‖", "P"),
    "system": Style("system", "#7a7a7a", _CROSSES, "xx", "▒", "X"),
    "user": Style("user", "#0072b2", "", "", "█", "o"),
    "assistant": Style("assistant", "#009e73", _SLASHES, "//", "▞", "s"),
    "call": Style("assistant with calls", "#009e73", _PLUSSES, "++", "▙", "D"),
    "tool": Style("tool result", "#d55e00", _DOTS, "..", "░", "^"),
    "summary": Style("summary", "#c46a9c", _LINES, "--", "≡", "v"),
    "other": Style("unknown role", "#7a7a7a", _BACKSLASHES, "\\\\", "?", "*"),
    # Not roles: what a request was billed for.
    "cached": Style("cached", "#2f8fc6", _BACKSLASHES, "\\\\", "░", "o"),
    "fresh": Style("fresh", "#d55e00", "", "", "█", "s"),
}

# What a reader meets from left to right, and from bottom to top.
ROLE_ORDER = ("tools", "system", "summary", "user", "assistant", "call", "tool", "other")

# A run of lines in one chart, told apart by colour, marker and dashes.
SERIES: tuple[tuple[str, str, str], ...] = (
    ("#0072b2", "o", "-"),
    ("#d55e00", "s", "--"),
    ("#009e73", "^", "-."),
    ("#c46a9c", "D", ":"),
    ("#b87900", "v", "-"),
    ("#2f8fc6", "P", "--"),
    ("#7a7a7a", "X", "-."),
)


def style_of(kind: str) -> Style:
    """The style of a role or kind; a role that we do not know has the style "other".

    >>> style_of("user").colour
    '#0072b2'
    >>> style_of("wizard").name
    'unknown role'
    """
    return STYLES.get(kind, STYLES["other"])


def contrast(first: str, second: str) -> float:
    """The contrast of two colours (`#rrggbb`), 1 to 21, by WCAG 2.2's formula.

    >>> round(contrast("#000000", "#ffffff"))
    21
    """
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
