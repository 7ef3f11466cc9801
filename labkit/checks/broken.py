"""The judgement that an idea does not hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(eq=False)  # an exception is itself, and hashable
class Broken(Exception):
    """An idea does not hold: what a card is made from. The idea itself fills in an empty rule or step."""

    kind: str  # different, raised, endless, recursion, exit, memory, changed-input
    tried: str
    expected: str
    came: str
    rule: str = ""
    step: str = ""
    history: list[Any] | None = None
    marked: int | None = None
    error: BaseException | None = None
