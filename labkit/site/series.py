"""The map of the series: what each lab is about, whether or not it is there yet."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("series.toml")


@dataclass(frozen=True)
class Lab:
    """A lab of the series: what the learner builds, and the trouble that it shows first."""

    number: int
    title: str
    builds: str
    trouble: str


@cache
def series() -> tuple[Lab, ...]:
    """All labs, in order.

    >>> series()[0].title, len(series())
    ('Minimal loop', 8)
    """
    return tuple(Lab(**entry) for entry in tomllib.loads(FILE.read_text(encoding="utf-8"))["lab"])
