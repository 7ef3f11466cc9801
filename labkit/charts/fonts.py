"""Fonts and the plain look of all charts: Chinese text too, and no warning about missing glyphs."""

from __future__ import annotations

import logging
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import matplotlib
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.text import Text

# Fonts with Chinese characters that systems bring along, best first.
CJK_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "SimHei",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Noto Sans CJK JP",
    "Noto Sans CJK TC",
    "Arial Unicode MS",
    "Droid Sans Fallback",
)

# Settings that are not about looks: they stay as the user has them.
NOT_LOOKS = ("backend", "docstring", "interactive", "keymap", "macosx", "timezone", "tk.", "toolbar", "web")
INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")


@cache
def cjk_fonts() -> tuple[str, ...]:
    """Those of `CJK_FONTS` that this machine has."""
    present = set(font_manager.get_font_names())
    return tuple(name for name in CJK_FONTS if name in present)


@contextmanager
def plain_style(ink: str) -> Iterator[None]:
    """matplotlib's settings for our charts, whatever the user's own are; `ink` for text and lines."""
    settings: dict[Any, Any] = {
        **dict.fromkeys(INKED, ink),
        "font.family": ["DejaVu Sans", *cjk_fonts()],
        "font.size": 9.5,
        "axes.titlesize": 10.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.8,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "hatch.linewidth": 0.7,
        "lines.linewidth": 1.8,
        "lines.markersize": 5,
        "savefig.bbox": None,
        "text.parse_math": False,  # a policy may be called $x$
        "svg.fonttype": "none",  # text stays text: the browser has more fonts than we
        "svg.hashsalt": "labkit",  # the same ids in every run
    }
    looks = {key for key in matplotlib.rcParamsDefault if not key.startswith(NOT_LOOKS)}
    default: dict[Any, Any] = {key: matplotlib.rcParamsDefault[key] for key in looks}
    with matplotlib.rc_context(default | settings):
        yield


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """Keep matplotlib from saying, glyph by glyph, that a font lacks a character, or a weight.

    In SVG the browser chooses the font, so nothing is missing there. For a PNG without a Chinese font
    `chart.save` says so, once and with what to do.
    """
    log = logging.getLogger("matplotlib.font_manager")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
            yield
    finally:
        log.setLevel(level)


def missing_font(figure: Figure) -> str:
    """What to do when a PNG has Chinese text and this machine no font for it; "" when all is well."""
    if cjk_fonts():
        return ""
    said = "".join(text.get_text() for text in figure.findobj(Text))
    if not any(unicodedata.east_asian_width(character) in "WF" for character in said):
        return ""
    return (
        "This machine has no font with Chinese characters that matplotlib knows; they are missing in the "
        "picture. Save it as .svg, or install one (such as Noto Sans CJK SC)."
    )
