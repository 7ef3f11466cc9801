"""Making a failing case small: fewer messages show the mistake better."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.checks.show import is_history
from labkit.messages import exchanges

TRIES = 60
"""How many smaller cases are tried at most: the check must stay quick, and a good small case is enough."""


def shrink(case: list[Any], still_breaks: Callable[[list[Any]], bool], tries: int = TRIES) -> list[Any]:
    """A shorter list that still breaks, made by leaving out items; an exchange stays or goes as a whole.

    Deterministic. `still_breaks` is asked `tries` times at most; the answer may be `case` itself.

    >>> shrink([1, 2, 3, 4, 5, 6], lambda items: 4 in items)
    [4]
    """
    units = _units(case)
    size = max(1, len(units) // 2)
    while tries > 0 and len(units) > 1:
        smaller = None
        for start in range(0, len(units), size):
            rest = units[:start] + units[start + size :]
            if not rest or tries <= 0:
                continue
            tries -= 1
            if still_breaks(_flat(rest)):
                smaller = rest
                break
        if smaller is not None:
            units, size = smaller, min(size, max(1, len(smaller) // 2))
        elif size == 1:
            break
        else:
            size = max(1, size // 2)
    return _flat(units)


def _units(case: list[Any]) -> list[list[Any]]:
    """The pieces that stay together: an assistant message with calls and the results that follow it."""
    if not is_history(case):
        return [[item] for item in case]
    joined = {
        index
        for exchange in exchanges(case)
        for index in range(exchange.index + 1, _end(case, exchange.index))
    }
    units: list[list[Any]] = []
    for index, message in enumerate(case):
        if index in joined and units:
            units[-1].append(message)
        else:
            units.append([message])
    return units


def _end(case: list[Any], start: int) -> int:
    end = start + 1
    while end < len(case) and case[end].get("role") == "tool":
        end += 1
    return end


def _flat(units: list[list[Any]]) -> list[Any]:
    return [item for unit in units for item in unit]
